// SPDX-License-Identifier: Apache-2.0
// Mono resampling to the tower's 16 kHz with soxr at its HQ setting (20 bits), the quality the
// usual Python loaders use. The mel features are computed from this resampler on every system.
#pragma once

#include "engine/base/result.h"

#include <cstdint>
#include <span>
#include <vector>

namespace engine::media {

/// ceil(frames * 16000 / sample_rate); frames and sample_rate within the limits of audio.h.
int64_t resampledLength(int64_t frames, int64_t sample_rate);

/// [resampledLength(mono.size())] samples; a 16 kHz input is returned unchanged.
/// Errors: OutOfMemory, Internal (soxr's own message).
Result<std::vector<float>> resampleTo16k(std::span<const float> mono, int64_t sample_rate);

} // namespace engine::media
