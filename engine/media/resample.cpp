// SPDX-License-Identifier: Apache-2.0
#include "engine/media/resample.h"

#include "engine/media/audio.h"
#include "engine/media/media_error.h"

#include <soxr.h>

#include <string>

namespace engine::media {

int64_t resampledLength(int64_t frames, int64_t sample_rate) {
    return (frames * kAudioSampleRate + sample_rate - 1) / sample_rate;
}

Result<std::vector<float>> resampleTo16k(std::span<const float> mono, int64_t sample_rate) {
    if (sample_rate == kAudioSampleRate) {
        return std::vector<float>(mono.begin(), mono.end());
    }
    const int64_t length = resampledLength(static_cast<int64_t>(mono.size()), sample_rate);
    // soxr rounds the length to nearest; what it leaves at the end stays zero.
    std::vector<float> out(static_cast<size_t>(length), 0.0F);
    const soxr_io_spec_t io = soxr_io_spec(SOXR_FLOAT32_I, SOXR_FLOAT32_I);
    const soxr_quality_spec_t quality = soxr_quality_spec(SOXR_HQ, 0);
    const soxr_runtime_spec_t one_thread = soxr_runtime_spec(1);
    size_t consumed = 0;
    size_t produced = 0;
    // All samples go through its first stage at once.
    if (!hasRoomFor(kSoundRoom + (mono.size() + out.size()) * 2 * sizeof(double))) {
        return noMemoryFor(said("a recording"));
    }
    const MemoryWatch memory;
    const soxr_error_t error = soxr_oneshot(
        static_cast<double>(sample_rate), static_cast<double>(kAudioSampleRate), 1, mono.data(),
        mono.size(), &consumed, out.data(), out.size(), &produced, &io, &quality, &one_thread);
    if (error != nullptr && memory.hasRunOut()) {
        return noMemoryFor(said("a recording"));
    }
    if (error != nullptr) {
        return Error{ErrorCode::Internal, "resampling from " + std::to_string(sample_rate) +
                                              " Hz to 16000 Hz failed: " + soxr_strerror(error)};
    }
    return out;
}

} // namespace engine::media
