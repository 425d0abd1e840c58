// SPDX-License-Identifier: Apache-2.0
// A recording as the user hears and sees it: parts of it as 48 kHz stereo for a loudspeaker, and
// the peaks that a waveform is drawn from. The same decoder as for the audio tower, so what can be
// sent can be heard. Memory is bounded by the part that is asked for, not by the length of the
// file.
#pragma once

#include "engine/api/listening.h"
#include "engine/base/result.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <vector>

namespace engine {

/// Decodes [start_s, start_s + length_s) of a file; less when the recording ends before. Mono is
/// heard on both sides, of more than two channels the mean is. Parts that follow each other join
/// without a seam. Damage after the first samples ends the recording there.
/// Errors: as readAudioFile(); InvalidRequest (length not in (0, kMaxListeningPart], or a start at
/// or after the end).
Result<ListeningPart>
readListeningPart(const std::filesystem::path& path, double start_s, double length_s);

/// Reads a whole file, at most `max_peaks` (at least 2) peaks of 10 ms or more.
/// Errors: as readAudioFile(), but any length up to kMaxAudioFileSeconds; Cancelled.
Result<SoundPeaks>
readSoundPeaks(const std::filesystem::path& path, size_t max_peaks, const std::stop_token& stop);

} // namespace engine
