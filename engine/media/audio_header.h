// SPDX-License-Identifier: Apache-2.0
// Looks at a recording's header before libsndfile does: which formats are let through, and the
// damage that libsndfile would report without saying what it found (no channels, no samples).
// Lengths that do not fit the file, of programs that write to a pipe or of recordings that were cut
// short, are put right: what is there is played, and a note says so. Decodes nothing.
#pragma once

#include "engine/api/sentence.h"
#include "engine/base/result.h"
#include "engine/media/byte_reader.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace engine::media {

enum class AudioContainer { Wav = 1, Aiff, Au, Flac, Ogg, Mp3 };

/// "WAV", "AIFF", "AU", "FLAC", "Ogg", "MP3".
std::string_view audioContainerName(AudioContainer container);

/// Bytes of the header that are to be read in place of the file's.
struct HeaderPatch {
    size_t offset = 0, size = 0; ///< From AudioHeader::begin; size <= 8.
    std::array<uint8_t, 8> bytes{};
};

struct AudioHeader {
    AudioContainer container = AudioContainer::Wav;
    std::vector<HeaderPatch> patches;
    size_t begin = 0; ///< Where the recording begins: behind what stands before an MP3 stream.
    size_t end = 0;   ///< Where it ends; before the end of the file when its last page is cut.
    std::optional<Sentence> note = {}; ///< What the user should know: cut short.
};

/// Errors: InvalidFile (empty, damaged or without samples, with what was declared and found),
/// Unsupported (another format, named by content).
Result<AudioHeader> checkAudioHeader(Bytes bytes);

/// Channels and rate within the limits of audio.h. Errors: InvalidFile (0), Unsupported (outside).
Result<void> checkAudioShape(int64_t channels, int64_t sample_rate);

} // namespace engine::media
