// SPDX-License-Identifier: Apache-2.0
// Any bytes as a recording: an error with a message, or finite samples within the limits.
// libsndfile and the decoders under it are the system's, not instrumented (see fuzz_image.cpp).
#include "engine/media/audio.h"
#include "tests/fuzz/require.h"

#include <cmath>

using fuzz::require;

/// libsndfile 1.2.0 keeps a Vorbis header of 6 KB for every Ogg file that it refuses to open (see
/// tests/engine/media/sound_files.h); every other leak is a finding.
// NOLINTNEXTLINE(readability-identifier-naming): the sanitizer's name
extern "C" __attribute__((used)) const char* __lsan_default_suppressions() {
    return "leak:vorbis_info_init";
}

namespace {

/// `is_part`: of a recording whose own length `source` tells.
void checkClip(const engine::DecodedAudio& audio, bool is_part) {
    const auto count = static_cast<int64_t>(audio.samples.size());
    require(count >= engine::kMinAudioSamples && count <= engine::kMaxAudioSamples);
    require(is_part || count == audio.source.samples_16k);
    for (const float sample : audio.samples) {
        require(std::isfinite(sample));
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const auto bytes = std::as_bytes(std::span(data, size));
    const auto info = engine::probeAudio(bytes);
    if (!info) {
        require(!info.error().message.empty());
        return 0;
    }
    require(info->sample_rate >= engine::kMinAudioFileRate &&
            info->sample_rate <= engine::kMaxAudioFileRate);
    require(info->channels >= 1 && info->channels <= engine::kMaxAudioFileChannels);
    require(std::isfinite(info->seconds) && info->seconds >= 0.0 && !info->format.empty());
    if (size % 4 == 0) {
        const auto part = engine::decodeAudio(bytes, engine::AudioCut{0.01, 0.05});
        if (part) {
            checkClip(*part, true);
        } else {
            require(!part.error().message.empty());
        }
        return 0;
    }
    const auto audio = engine::decodeAudio(bytes);
    if (!audio) {
        require(!audio.error().message.empty());
        return 0;
    }
    checkClip(*audio, false);
    if (size % 16 == 1 && audio->samples.size() < 16'000) {
        require(engine::logMel(audio->samples).has_value());
    }
    return 0;
}
