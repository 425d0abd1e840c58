// SPDX-License-Identifier: Apache-2.0
// Decoding through libsndfile from memory. Samples stream through one block buffer; what is kept is
// bounded by the 30 seconds that the tower takes, never by what a header declares.
#include "engine/media/audio.h"

#include "engine/media/media_error.h"
#include "engine/media/media_file.h"
#include "engine/media/open_sound.h"
#include "engine/media/resample.h"

#include <sndfile.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace engine {

namespace {

using media::OpenSound;
using media::openSound;
using media::setFrames;

constexpr int64_t kBlockFrames = 8192;
/// 36 dB above full scale. Float files beyond it are wrongly scaled or not audio at all.
constexpr double kMaxAmplitude = 64.0;
constexpr int64_t kUnknownFrames = OpenSound::kUnknownFrames;

std::string secondsText(double seconds) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.2f", seconds);
    return text.data();
}

Error wrongLength(const AudioInfo& info, Sentence message) {
    return {ErrorCode::InvalidRequest,
            std::move(message),
            {{"seconds", secondsText(info.seconds)},
             {"samples_16k", std::to_string(info.samples_16k)}}};
}

Error tooLong(const AudioInfo& info, bool is_exact) {
    const std::string seconds = secondsText(info.seconds);
    return wrongLength(
        info,
        is_exact
            ? said("the recording has %1 seconds, the model hears at most %2; choose a part of it",
                   seconds, kMaxAudioSeconds)
            : said("the recording has more than %1 seconds, the model hears at most %2; choose a "
                   "part of it",
                   seconds, kMaxAudioSeconds));
}

Error tooShort(const AudioInfo& info) {
    return wrongLength(
        info,
        said("the recording has %1 samples at 16 kHz (%2 seconds), the model needs at least %3",
             info.samples_16k, secondsText(info.seconds), kMinAudioSamples));
}

/// First frame and number of frames to keep; the number is kUnknownFrames for "to the end".
struct FrameRange {
    int64_t start = 0;
    int64_t count = kUnknownFrames;
};

Result<FrameRange> rangeOf(const std::optional<AudioCut>& cut, const AudioInfo& info) {
    if (!cut) {
        return FrameRange{};
    }
    const auto rate = static_cast<double>(info.sample_rate);
    const bool is_valid =
        cut->start_s >= 0.0 && cut->start_s <= static_cast<double>(kMaxAudioFileSeconds) &&
        cut->length_s > 0.0 && cut->length_s <= static_cast<double>(kMaxAudioSeconds);
    if (!is_valid) {
        return wrongLength(info, said("the part of the recording must start at 0 seconds or later "
                                      "and have more than 0 and at most %1 seconds",
                                      kMaxAudioSeconds));
    }
    return FrameRange{static_cast<int64_t>(std::llround(cut->start_s * rate)),
                      static_cast<int64_t>(std::llround(cut->length_s * rate))};
}

/// Mixes one block down to mono, keeping the frames inside the range.
Result<void> appendMono(std::span<const float> block,
                        int64_t channels,
                        int64_t first_frame,
                        const FrameRange& range,
                        std::vector<float>& mono) {
    const int64_t frames = static_cast<int64_t>(block.size()) / channels;
    for (int64_t i = std::max<int64_t>(0, range.start - first_frame); i < frames; ++i) {
        if (range.count >= 0 && first_frame + i >= range.start + range.count) {
            break;
        }
        double sum = 0.0;
        for (int64_t c = 0; c < channels; ++c) {
            const auto sample = static_cast<double>(block[static_cast<size_t>(i * channels + c)]);
            // Written so that a NaN takes the branch.
            if (!(std::abs(sample) <= kMaxAmplitude)) {
                std::array<char, 32> text{};
                std::snprintf(text.data(), text.size(), "%g", sample);
                return media::invalid(
                    said("sample %1 of channel %2 is %3, expected a number between -1 "
                         "and 1; save the recording again with normal volume",
                         first_frame + i, c + 1, text.data()));
            }
            sum += sample;
        }
        mono.push_back(static_cast<float>(sum / static_cast<double>(channels)));
    }
    return {};
}

/// Reads the range. Leaves in info what was really read. The whole file is read when no cut is
/// wanted, and the reading ends early when it proves too long.
Result<std::vector<float>> readRange(OpenSound& open, const FrameRange& range) {
    const int64_t channels = open.info.channels;
    const int64_t longest = open.info.sample_rate * kMaxAudioSeconds;
    const bool has_cut = range.count >= 0;
    const int64_t end = has_cut ? range.start + range.count : longest + 1;
    std::vector<float> block(static_cast<size_t>(kBlockFrames * channels));
    std::vector<float> mono;
    const int64_t known = open.declared_frames;
    const int64_t expected = std::clamp<int64_t>(known, 0, end) - range.start;
    mono.reserve(static_cast<size_t>(std::clamp<int64_t>(expected, 0, longest + 1)));
    int64_t at = 0;
    bool has_ended = false;
    const media::MemoryWatch memory;
    while (at < end && !has_ended) {
        const auto got =
            static_cast<int64_t>(open.read(block.data(), std::min(kBlockFrames, end - at)));
        has_ended = got <= 0;
        const auto used = static_cast<size_t>(std::max<int64_t>(got, 0) * channels);
        ENGINE_TRY(appendMono(std::span(block).first(used), channels, at, range, mono));
        at += std::max<int64_t>(got, 0);
    }
    const int code = sf_error(open.sound.get());
    // Without a declared length a decoder that gets no memory looks like the end.
    const bool may_be_short = has_ended && (known < 0 || at < known);
    if ((code != SF_ERR_NO_ERROR || may_be_short) && memory.hasRunOut()) {
        return media::noMemoryFor(said("a recording"));
    }
    // The decoder has come to the end of the file and there is less in it than it declares.
    const bool is_short = has_ended && at > 0 && at < known && open.memory.at >= open.memory.size();
    if (is_short && open.info.notes.empty()) {
        const auto rate = static_cast<double>(open.info.sample_rate);
        open.info.notes.push_back(said("the %1 recording declares %2 seconds and has %3: it was "
                                       "cut short or is damaged behind; what is there is played",
                                       open.info.format,
                                       secondsText(static_cast<double>(known) / rate),
                                       secondsText(static_cast<double>(at) / rate)));
    }
    if (code != SF_ERR_NO_ERROR && !is_short) {
        return media::invalid(
            said("the %1 data is damaged after %2 seconds: %3", open.info.format,
                 secondsText(static_cast<double>(at) / static_cast<double>(open.info.sample_rate)),
                 sf_error_number(code)));
    }
    if (has_ended && at < known && !is_short) {
        return media::invalid(
            said("the %1 data is truncated or damaged: %2 samples are declared, %3 could be read",
                 open.info.format, known, at));
    }
    setFrames(open.info, has_ended || known < 0 ? at : known);
    if (!has_cut && at > longest) {
        return tooLong(open.info, false);
    }
    if (has_cut && at <= range.start) {
        return wrongLength(
            open.info, said("the part starts after the end of the recording, which has %1 seconds",
                            secondsText(open.info.seconds)));
    }
    return mono;
}

} // namespace

Result<AudioInfo> probeAudio(std::span<const std::byte> bytes) {
    OpenSound open;
    ENGINE_TRY(openSound(bytes, open));
    if (open.declared_frames >= 0) {
        return open.info;
    }
    // A stream without a length: count what is there, up to the limit, keeping nothing.
    const int64_t limit = kMaxAudioFileSeconds * open.info.sample_rate;
    std::vector<float> block(static_cast<size_t>(kBlockFrames * open.info.channels));
    int64_t frames = 0;
    sf_count_t got = 1;
    const media::MemoryWatch memory;
    while (got > 0 && frames <= limit) {
        got = open.read(block.data(), kBlockFrames);
        frames += std::max<sf_count_t>(got, 0);
    }
    if (got <= 0 && memory.hasRunOut()) {
        return media::noMemoryFor(said("a recording"));
    }
    if (frames == 0) {
        return media::invalid(said("the %1 file holds no samples", open.info.format));
    }
    if (frames > limit) {
        return Error{ErrorCode::Unsupported,
                     said("the recording has more than %1 minutes, longer files are not read",
                          kMaxAudioFileSeconds / 60)};
    }
    setFrames(open.info, frames);
    return open.info;
}

Result<DecodedAudio> decodeAudio(std::span<const std::byte> bytes,
                                 const std::optional<AudioCut>& cut) {
    OpenSound open;
    ENGINE_TRY(openSound(bytes, open));
    ENGINE_ASSIGN(const FrameRange range, rangeOf(cut, open.info));
    if (!cut && open.declared_frames >= 0 && open.info.samples_16k > kMaxAudioSamples) {
        return tooLong(open.info, true);
    }
    ENGINE_ASSIGN(const std::vector<float> mono, readRange(open, range));
    if (mono.empty()) {
        return media::invalid(said("the %1 file holds no samples", open.info.format));
    }
    DecodedAudio audio;
    audio.source = open.info;
    ENGINE_ASSIGN(audio.samples, media::resampleTo16k(mono, open.info.sample_rate));
    if (static_cast<int64_t>(audio.samples.size()) < kMinAudioSamples) {
        AudioInfo part = audio.source;
        setFrames(part, static_cast<int64_t>(mono.size()));
        return tooShort(part);
    }
    return audio;
}

Result<AudioInfo> probeAudioFile(const std::filesystem::path& path) {
    ENGINE_ASSIGN(const auto bytes, media::readMediaFile(path, kMaxAudioFileBytes));
    auto info = probeAudio(bytes);
    return info ? std::move(info) : media::withFileName(std::move(info).error(), path);
}

Result<DecodedAudio> readAudioFile(const std::filesystem::path& path,
                                   const std::optional<AudioCut>& cut) {
    ENGINE_ASSIGN(const auto bytes, media::readMediaFile(path, kMaxAudioFileBytes));
    auto audio = decodeAudio(bytes, cut);
    return audio ? std::move(audio) : media::withFileName(std::move(audio).error(), path);
}

} // namespace engine
