// SPDX-License-Identifier: Apache-2.0
// Decoding through libsndfile from memory. Samples stream through one block buffer; what is kept is
// bounded by the 30 seconds that the tower takes, never by what a header declares.
#include "engine/media/audio.h"

#include "engine/media/audio_header.h"
#include "engine/media/media_file.h"
#include "engine/media/resample.h"

#include <sndfile.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>

namespace engine {

namespace {

using media::AudioContainer;
using media::Bytes;

constexpr int64_t kBlockFrames = 8192;
/// 36 dB above full scale. Float files beyond it are wrongly scaled or not audio at all.
constexpr double kMaxAmplitude = 64.0;
constexpr int64_t kUnknownFrames = -1;

Error invalid(std::string message) {
    return {ErrorCode::InvalidFile, std::move(message)};
}

std::string secondsText(double seconds) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.2f", seconds);
    return text.data();
}

/// The bytes as libsndfile's virtual file. Writing is impossible.
struct MemoryFile {
    Bytes bytes;
    sf_count_t at = 0;

    [[nodiscard]] sf_count_t size() const { return static_cast<sf_count_t>(bytes.size()); }
};

sf_count_t fileLength(void* user) {
    return static_cast<MemoryFile*>(user)->size();
}

sf_count_t fileTell(void* user) {
    return static_cast<MemoryFile*>(user)->at;
}

sf_count_t fileSeek(sf_count_t offset, int whence, void* user) {
    auto* file = static_cast<MemoryFile*>(user);
    const sf_count_t from = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? file->at : file->size();
    // from is within the file, so only offset can leave it; a wild offset is moved to the ends.
    const sf_count_t clamped = std::clamp<sf_count_t>(offset, -from, file->size() - from);
    file->at = from + clamped;
    return file->at;
}

sf_count_t fileRead(void* out, sf_count_t count, void* user) {
    auto* file = static_cast<MemoryFile*>(user);
    const sf_count_t size = std::clamp<sf_count_t>(count, 0, file->size() - file->at);
    if (size > 0) {
        std::memcpy(out, file->bytes.data() + file->at, static_cast<size_t>(size));
    }
    file->at += size;
    return size;
}

sf_count_t fileWrite(const void* /*data*/, sf_count_t /*count*/, void* /*user*/) {
    return 0;
}

struct CloseSound {
    void operator()(SNDFILE* sound) const { sf_close(sound); }
};

std::string_view encodingName(int format) {
    switch (format & SF_FORMAT_SUBMASK) {
    case SF_FORMAT_PCM_S8:
    case SF_FORMAT_PCM_U8:
        return "8-bit PCM";
    case SF_FORMAT_PCM_16:
        return "16-bit PCM";
    case SF_FORMAT_PCM_24:
        return "24-bit PCM";
    case SF_FORMAT_PCM_32:
        return "32-bit PCM";
    case SF_FORMAT_FLOAT:
        return "32-bit float";
    case SF_FORMAT_DOUBLE:
        return "64-bit float";
    case SF_FORMAT_ULAW:
        return "u-law";
    case SF_FORMAT_ALAW:
        return "A-law";
    case SF_FORMAT_IMA_ADPCM:
        return "IMA ADPCM";
    case SF_FORMAT_MS_ADPCM:
        return "Microsoft ADPCM";
    case SF_FORMAT_VORBIS:
        return "Vorbis";
    case SF_FORMAT_OPUS:
        return "Opus";
    case SF_FORMAT_MPEG_LAYER_I:
        return "layer I";
    case SF_FORMAT_MPEG_LAYER_II:
        return "layer II";
    case SF_FORMAT_MPEG_LAYER_III:
        return "layer III";
    default:
        return "";
    }
}

/// An opened recording. Not movable: libsndfile keeps a pointer to `memory`.
struct OpenSound {
    MemoryFile memory;
    SF_INFO sf{};
    std::unique_ptr<SNDFILE, CloseSound> sound;
    AudioInfo info;
    int64_t declared_frames = kUnknownFrames;

    OpenSound() = default;
    OpenSound(const OpenSound&) = delete;
    OpenSound& operator=(const OpenSound&) = delete;
    ~OpenSound() = default;
};

void setFrames(AudioInfo& info, int64_t frames) {
    info.frames = frames;
    info.seconds = static_cast<double>(frames) / static_cast<double>(info.sample_rate);
    info.samples_16k = media::resampledLength(frames, info.sample_rate);
}

Result<void> openSound(Bytes bytes, OpenSound& out) {
    ENGINE_ASSIGN(const AudioContainer container, media::checkAudioHeader(bytes));
    out.memory.bytes = bytes;
    SF_VIRTUAL_IO io{fileLength, fileSeek, fileRead, fileWrite, fileTell};
    out.sound.reset(sf_open_virtual(&io, SFM_READ, &out.sf, &out.memory));
    const std::string name(media::audioContainerName(container));
    if (!out.sound) {
        return invalid("the " + name + " file cannot be opened: " + sf_strerror(nullptr));
    }
    ENGINE_TRY(media::checkAudioShape(out.sf.channels, out.sf.samplerate));
    const std::string_view encoding = encodingName(out.sf.format);
    if (encoding.empty()) {
        return Error{ErrorCode::Unsupported,
                     "a " + name +
                         " recording in an encoding that is not read; save it as 16-bit WAV or "
                         "FLAC and give that"};
    }
    out.info.format = name + ", " + std::string(encoding);
    out.info.sample_rate = out.sf.samplerate;
    out.info.channels = out.sf.channels;
    // Streams that do not say how long they are come as 0 or as a huge number.
    const bool is_stream = container == AudioContainer::Flac || container == AudioContainer::Ogg ||
                           container == AudioContainer::Mp3;
    const bool is_unknown =
        out.sf.frames >= SF_COUNT_MAX / 2 || out.sf.frames < 0 || (out.sf.frames == 0 && is_stream);
    if (is_unknown) {
        return {};
    }
    out.declared_frames = out.sf.frames;
    if (out.declared_frames == 0) {
        return invalid("the " + name + " file holds no samples");
    }
    if (out.declared_frames / out.info.sample_rate > kMaxAudioFileSeconds) {
        return Error{ErrorCode::Unsupported,
                     "the recording declares " +
                         std::to_string(out.declared_frames / out.info.sample_rate / 60) +
                         " minutes, files of at most " + std::to_string(kMaxAudioFileSeconds / 60) +
                         " minutes are read"};
    }
    setFrames(out.info, out.declared_frames);
    return {};
}

Error wrongLength(const AudioInfo& info, std::string message) {
    return {ErrorCode::InvalidRequest,
            std::move(message),
            {{"seconds", secondsText(info.seconds)},
             {"samples_16k", std::to_string(info.samples_16k)}}};
}

Error tooLong(const AudioInfo& info, bool is_exact) {
    return wrongLength(info, std::string("the recording has ") + (is_exact ? "" : "more than ") +
                                 secondsText(info.seconds) + " seconds, the model hears at most " +
                                 std::to_string(kMaxAudioSeconds) + "; choose a part of it");
}

Error tooShort(const AudioInfo& info) {
    return wrongLength(info, "the recording has " + std::to_string(info.samples_16k) +
                                 " samples at 16 kHz (" + secondsText(info.seconds) +
                                 " seconds), the model needs at least " +
                                 std::to_string(kMinAudioSamples));
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
        return wrongLength(info,
                           "the part of the recording must start at 0 seconds or later and have "
                           "more than 0 and at most " +
                               std::to_string(kMaxAudioSeconds) + " seconds");
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
                return invalid("sample " + std::to_string(first_frame + i) + " of channel " +
                               std::to_string(c + 1) + " is " + text.data() +
                               ", expected a number between -1 and 1; save the recording again "
                               "with normal volume");
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
    while (at < end && !has_ended) {
        const auto got = static_cast<int64_t>(
            sf_readf_float(open.sound.get(), block.data(), std::min(kBlockFrames, end - at)));
        has_ended = got <= 0;
        const auto used = static_cast<size_t>(std::max<int64_t>(got, 0) * channels);
        ENGINE_TRY(appendMono(std::span(block).first(used), channels, at, range, mono));
        at += std::max<int64_t>(got, 0);
    }
    if (const int code = sf_error(open.sound.get()); code != SF_ERR_NO_ERROR) {
        return invalid(
            "the " + open.info.format + " data is damaged after " +
            secondsText(static_cast<double>(at) / static_cast<double>(open.info.sample_rate)) +
            " seconds: " + sf_error_number(code));
    }
    if (has_ended && at < known) {
        return invalid("the " + open.info.format +
                       " data is truncated or damaged: " + std::to_string(known) +
                       " samples are declared, " + std::to_string(at) + " could be read");
    }
    setFrames(open.info, has_ended || known < 0 ? at : known);
    if (!has_cut && at > longest) {
        return tooLong(open.info, false);
    }
    if (has_cut && at <= range.start) {
        return wrongLength(open.info, "the part starts after the end of the recording, which has " +
                                          secondsText(open.info.seconds) + " seconds");
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
    while (got > 0 && frames <= limit) {
        got = sf_readf_float(open.sound.get(), block.data(), kBlockFrames);
        frames += std::max<sf_count_t>(got, 0);
    }
    if (frames == 0) {
        return invalid("the " + open.info.format + " file holds no samples");
    }
    if (frames > limit) {
        return Error{ErrorCode::Unsupported, "the recording has more than " +
                                                 std::to_string(kMaxAudioFileSeconds / 60) +
                                                 " minutes, longer files are not read"};
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
        return invalid("the " + open.info.format + " file holds no samples");
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
