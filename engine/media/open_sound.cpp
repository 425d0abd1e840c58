// SPDX-License-Identifier: Apache-2.0
#include "engine/media/open_sound.h"

#include "engine/media/media_error.h"
#include "engine/media/resample.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <utility>

namespace engine::media {

namespace {

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
        const auto begin = static_cast<size_t>(file->at);
        for (const HeaderPatch& patch : file->patches) {
            for (size_t i = 0; i < patch.size; ++i) {
                const size_t at = patch.offset + i;
                if (at >= begin && at - begin < static_cast<size_t>(size)) {
                    static_cast<uint8_t*>(out)[at - begin] = patch.bytes[i];
                }
            }
        }
    }
    file->at += size;
    return size;
}

sf_count_t fileWrite(const void* /*data*/, sf_count_t /*count*/, void* /*user*/) {
    return 0;
}

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

} // namespace

#ifdef __GLIBC__

namespace {

struct Silence {
    std::mutex mutex;
    int depth = 0;
    FILE* told = nullptr; ///< stderr as it was.
    FILE* nothing = fopencookie(nullptr, "w", {nullptr, discard, nullptr, nullptr});

    static ssize_t discard(void* /*cookie*/, const char* /*bytes*/, size_t size) {
        return static_cast<ssize_t>(size);
    }
};

Silence& silence() {
    static Silence it;
    return it;
}

} // namespace

QuietDecoder::QuietDecoder() {
    Silence& it = silence();
    const std::lock_guard lock(it.mutex);
    if (it.nothing != nullptr && it.depth++ == 0) {
        it.told = std::exchange(stderr, it.nothing);
    }
}

QuietDecoder::~QuietDecoder() {
    Silence& it = silence();
    const std::lock_guard lock(it.mutex);
    if (it.nothing != nullptr && --it.depth == 0) {
        stderr = it.told;
    }
}

#endif

void CloseSound::operator()(SNDFILE* sound) const {
    const QuietDecoder quiet;
    sf_close(sound);
}

sf_count_t OpenSound::read(float* values, sf_count_t frames) {
    const QuietDecoder quiet;
    return sf_readf_float(sound.get(), values, frames);
}

sf_count_t OpenSound::seek(sf_count_t frame) {
    const QuietDecoder quiet;
    return sf_seek(sound.get(), frame, SEEK_SET);
}

void setFrames(AudioInfo& info, int64_t frames) {
    info.frames = frames;
    info.seconds = static_cast<double>(frames) / static_cast<double>(info.sample_rate);
    info.samples_16k = resampledLength(frames, info.sample_rate);
}

Result<void> openSound(Bytes bytes, OpenSound& out) {
    ENGINE_ASSIGN(AudioHeader header, checkAudioHeader(bytes));
    const AudioContainer container = header.container;
    out.memory.bytes = bytes.subspan(header.begin, header.end - header.begin);
    out.memory.patches = std::move(header.patches);
    if (header.note.has_value()) {
        out.info.notes.push_back(*std::move(header.note));
    }
    SF_VIRTUAL_IO io{fileLength, fileSeek, fileRead, fileWrite, fileTell};
    if (!hasRoomFor(kSoundRoom)) {
        return noMemoryFor(said("a recording"));
    }
    const MemoryWatch memory;
    {
        const QuietDecoder quiet;
        out.sound.reset(sf_open_virtual(&io, SFM_READ, &out.sf, &out.memory));
    }
    const std::string name(audioContainerName(container));
    if (!out.sound && memory.hasRunOut()) {
        return noMemoryFor(said("a recording"));
    }
    if (!out.sound) {
        return invalid(said("the %1 file cannot be opened: %2", name, sf_strerror(nullptr)));
    }
    ENGINE_TRY(checkAudioShape(out.sf.channels, out.sf.samplerate));
    const std::string_view encoding = encodingName(out.sf.format);
    if (encoding.empty()) {
        return Error{ErrorCode::Unsupported, said("a %1 recording in an encoding that is not read; "
                                                  "save it as 16-bit WAV or FLAC and give that",
                                                  name)};
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
        return invalid(said("the %1 file holds no samples", name));
    }
    if (out.declared_frames / out.info.sample_rate > kMaxAudioFileSeconds) {
        return Error{ErrorCode::Unsupported,
                     said("the recording declares %1 minutes, files of at most %2 minutes are read",
                          out.declared_frames / out.info.sample_rate / 60,
                          kMaxAudioFileSeconds / 60)};
    }
    setFrames(out.info, out.declared_frames);
    return {};
}

} // namespace engine::media
