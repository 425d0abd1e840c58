// SPDX-License-Identifier: Apache-2.0
#include "engine/media/sound_listening.h"

#include "engine/media/media_file.h"
#include "engine/media/open_sound.h"

#include <soxr.h>

#include <algorithm>
#include <cmath>
#include <span>

namespace engine {

namespace {

using media::OpenSound;

constexpr int64_t kListenFrames = 8192;

/// Two channels of one block, appended: silence where a sample is no number.
void appendStereo(std::span<const float> block, int64_t channels, std::vector<float>& out) {
    const auto frames = static_cast<int64_t>(block.size()) / channels;
    const auto sound = [](float value) { return std::isfinite(value) ? value : 0.0F; };
    for (int64_t i = 0; i < frames; ++i) {
        const float* frame = block.data() + i * channels;
        if (channels == 2) {
            out.push_back(sound(frame[0]));
            out.push_back(sound(frame[1]));
            continue;
        }
        float sum = 0.0F;
        for (int64_t c = 0; c < channels; ++c) {
            sum += sound(frame[c]);
        }
        const float mean = sum / static_cast<float>(channels);
        out.push_back(mean);
        out.push_back(mean);
    }
}

/// Goes to a frame; formats that cannot jump are read up to it.
void goTo(OpenSound& open, int64_t frame, std::vector<float>& block) {
    if (frame <= 0 || open.seek(frame) == frame) {
        return;
    }
    open.seek(0);
    for (int64_t at = 0; at < frame;) {
        const auto got =
            static_cast<int64_t>(open.read(block.data(), std::min(kListenFrames, frame - at)));
        if (got <= 0) {
            return;
        }
        at += got;
    }
}

Result<std::vector<float>> toListeningRate(std::vector<float> stereo, int64_t rate) {
    if (rate == kListeningRate) {
        return stereo;
    }
    const size_t frames = stereo.size() / 2;
    const auto length = static_cast<size_t>(
        std::ceil(static_cast<double>(frames) * static_cast<double>(kListeningRate) /
                  static_cast<double>(rate)));
    std::vector<float> out(length * 2, 0.0F);
    const soxr_io_spec_t io = soxr_io_spec(SOXR_FLOAT32_I, SOXR_FLOAT32_I);
    const soxr_quality_spec_t quality = soxr_quality_spec(SOXR_HQ, 0);
    const soxr_runtime_spec_t one_thread = soxr_runtime_spec(1);
    size_t consumed = 0;
    size_t produced = 0;
    const soxr_error_t error = soxr_oneshot(
        static_cast<double>(rate), static_cast<double>(kListeningRate), 2, stereo.data(), frames,
        &consumed, out.data(), length, &produced, &io, &quality, &one_thread);
    if (error != nullptr) {
        return Error{ErrorCode::Internal, "resampling from " + std::to_string(rate) +
                                              " Hz to 48000 Hz failed: " + soxr_strerror(error)};
    }
    return out;
}

Result<ListeningPart> listen(std::span<const std::byte> bytes, double start_s, double length_s) {
    OpenSound open;
    ENGINE_TRY(media::openSound(bytes, open));
    const int64_t rate = open.info.sample_rate;
    const int64_t channels = open.info.channels;
    const int64_t first = std::llround(start_s * static_cast<double>(rate));
    const int64_t count = std::llround(length_s * static_cast<double>(rate));
    // A second more on both sides, so that the resampler sees the same samples at a seam whichever
    // part it works on; a whole second is a whole number of frames at every rate.
    const int64_t before = std::min<int64_t>(first, rate);
    const int64_t wanted = before + count + rate;
    std::vector<float> block(static_cast<size_t>(kListenFrames * channels));
    goTo(open, first - before, block);
    std::vector<float> stereo;
    int64_t read = 0;
    while (read < wanted) {
        const auto got =
            static_cast<int64_t>(open.read(block.data(), std::min(kListenFrames, wanted - read)));
        if (got <= 0) {
            break;
        }
        appendStereo(std::span(block).first(static_cast<size_t>(got * channels)), channels, stereo);
        read += got;
    }
    if (read <= before) {
        return Error{
            ErrorCode::InvalidRequest,
            said("nothing can be heard at %1 s: the recording ends before, or is damaged there",
                 start_s)};
    }
    ListeningPart part;
    part.start_s = static_cast<double>(first) / static_cast<double>(rate);
    part.is_last = read - before <= count;
    const auto toListening = [rate](int64_t frames) {
        return static_cast<size_t>(
            std::llround(static_cast<double>(frames) * static_cast<double>(kListeningRate) /
                         static_cast<double>(rate)));
    };
    ENGINE_ASSIGN(const std::vector<float> heard, toListeningRate(std::move(stereo), rate));
    const size_t from = std::min(toListening(before) * 2, heard.size());
    const size_t to =
        std::min(toListening(before + std::min(read - before, count)) * 2, heard.size());
    part.samples.reserve(to - from);
    for (size_t i = from; i < to; ++i) {
        part.samples.push_back(
            static_cast<int16_t>(std::lround(std::clamp(heard[i], -1.0F, 1.0F) * 32767.0F)));
    }
    return part;
}

/// Keeps the loudest of every two neighbours.
void halve(std::vector<float>& peaks) {
    const size_t half = (peaks.size() + 1) / 2;
    for (size_t i = 0; i < half; ++i) {
        const float second = 2 * i + 1 < peaks.size() ? peaks[2 * i + 1] : 0.0F;
        peaks[i] = std::max(peaks[2 * i], second);
    }
    peaks.resize(half);
}

Result<SoundPeaks>
peaksOf(std::span<const std::byte> bytes, size_t max_peaks, const std::stop_token& stop) {
    OpenSound open;
    ENGINE_TRY(media::openSound(bytes, open));
    const int64_t rate = open.info.sample_rate;
    const int64_t channels = open.info.channels;
    int64_t piece = std::max<int64_t>(rate / 100, 1);
    SoundPeaks result;
    std::vector<float> block(static_cast<size_t>(kListenFrames * channels));
    int64_t frames = 0;
    sf_count_t got = 1;
    while ((got = open.read(block.data(), kListenFrames)) > 0) {
        if (stop.stop_requested()) {
            return Error{ErrorCode::Cancelled, said("reading the recording was stopped")};
        }
        for (sf_count_t i = 0; i < got; ++i, ++frames) {
            float loudest = 0.0F;
            for (int64_t c = 0; c < channels; ++c) {
                const float value = std::abs(block[static_cast<size_t>(i * channels + c)]);
                loudest = std::max(loudest, std::isfinite(value) ? value : 0.0F);
            }
            auto place = static_cast<size_t>(frames / piece);
            if (place >= max_peaks) {
                halve(result.peaks);
                piece *= 2;
                place = static_cast<size_t>(frames / piece);
            }
            if (place >= result.peaks.size()) {
                result.peaks.push_back(0.0F);
            }
            result.peaks[place] = std::max(result.peaks[place], loudest);
        }
        if (frames > kMaxAudioFileSeconds * rate) {
            return Error{ErrorCode::Unsupported,
                         said("the recording has more than %1 minutes, longer files are not read",
                              kMaxAudioFileSeconds / 60)};
        }
    }
    if (frames == 0) {
        return Error{ErrorCode::InvalidFile,
                     said("the %1 file holds no samples that can be read", open.info.format)};
    }
    result.seconds = static_cast<double>(frames) / static_cast<double>(rate);
    const float loudest = *std::max_element(result.peaks.begin(), result.peaks.end());
    for (float& peak : result.peaks) {
        peak = loudest > 0.0F ? peak / loudest : 0.0F;
    }
    return result;
}

} // namespace

Result<ListeningPart>
readListeningPart(const std::filesystem::path& path, double start_s, double length_s) {
    // Written so that a NaN takes the branch.
    if (!(start_s >= 0.0 && start_s <= static_cast<double>(kMaxAudioFileSeconds) &&
          length_s > 0.0 && length_s <= kMaxListeningPart)) {
        return Error{
            ErrorCode::InvalidRequest,
            said("a part to listen to starts at 0 s or later and has more than 0 and at most %1 s",
                 static_cast<int>(kMaxListeningPart))};
    }
    ENGINE_ASSIGN(const auto bytes, media::readMediaFile(path, kMaxAudioFileBytes));
    auto part = listen(bytes, start_s, length_s);
    return part ? std::move(part) : media::withFileName(std::move(part).error(), path);
}

Result<SoundPeaks>
readSoundPeaks(const std::filesystem::path& path, size_t max_peaks, const std::stop_token& stop) {
    ENGINE_ASSIGN(const auto bytes, media::readMediaFile(path, kMaxAudioFileBytes));
    auto peaks = peaksOf(bytes, std::max<size_t>(max_peaks, 2), stop);
    return peaks ? std::move(peaks) : media::withFileName(std::move(peaks).error(), path);
}

} // namespace engine
