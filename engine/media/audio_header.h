// SPDX-License-Identifier: Apache-2.0
// Looks at a recording's header before libsndfile does: which formats are let through, and the
// damage that libsndfile would repair silently or report without saying what it found (a data chunk
// longer than the file, no channels, a cut Ogg page). Decodes nothing, allocates nothing.
#pragma once

#include "engine/base/result.h"
#include "engine/media/byte_reader.h"

#include <cstdint>
#include <string_view>

namespace engine::media {

enum class AudioContainer { Wav = 1, Aiff, Flac, Ogg, Mp3 };

/// "WAV", "AIFF", "FLAC", "Ogg", "MP3".
std::string_view audioContainerName(AudioContainer container);

/// Errors: InvalidFile (empty, damaged or truncated, with what was declared and found), Unsupported
/// (another format, named by content).
Result<AudioContainer> checkAudioHeader(Bytes bytes);

/// Channels and rate within the limits of audio.h. Errors: InvalidFile (0), Unsupported (outside).
Result<void> checkAudioShape(int64_t channels, int64_t sample_rate);

} // namespace engine::media
