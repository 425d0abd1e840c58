// SPDX-License-Identifier: Apache-2.0
#include "engine/media/audio_header.h"

#include "engine/media/audio.h"
#include "engine/media/media_error.h"
#include "engine/media/media_file.h"

#include <algorithm>

namespace engine::media {

namespace {

using namespace std::string_view_literals;

/// Programs that write to a pipe cannot go back to fill in a length. These lengths are no claim at
/// all; others (2000000000, sox's 0x7ffff000) look like those of a recording that was cut short.
bool isUnknownLength(uint64_t length) {
    return length >= 0x7fffff00U;
}

/// What is said where a file declares more than it has.
std::optional<Sentence> shortNote(std::string_view format, uint64_t declared, uint64_t left) {
    return said(
        "the %1 recording declares %2 bytes of sound and has %3: it was cut short or written "
        "without knowing its length; what is there is played",
        format, declared, left);
}

HeaderPatch patchOf(size_t offset, size_t size, uint64_t value, bool big_endian) {
    HeaderPatch patch;
    patch.offset = offset;
    patch.size = size;
    for (size_t i = 0; i < size; ++i) {
        const size_t shift = 8 * (big_endian ? size - 1 - i : i);
        patch.bytes[i] = static_cast<uint8_t>((value >> shift) & 0xffU);
    }
    return patch;
}

/// Whether chunks, each with a name of printable characters, fill the file from `at` to its end.
bool areChunks(Bytes bytes, size_t at, bool big_endian) {
    while (at < bytes.size()) {
        const auto size = readUnsigned(bytes, at + 4, 4, big_endian);
        if (!size || *size > bytes.size() - at - 8) {
            return false;
        }
        for (size_t i = 0; i < 4; ++i) {
            const uint8_t c = *readU8(bytes, at + i);
            if (c < 0x20 || c > 0x7e) {
                return false;
            }
        }
        at += 8 + static_cast<size_t>(*size + (*size & 1U));
    }
    return true;
}

/// A four-letter chunk name with other bytes shown as '?'.
std::string chunkName(Bytes bytes, size_t at) {
    std::string name;
    for (size_t i = 0; i < 4; ++i) {
        const uint8_t c = readU8(bytes, at + i).value_or(0);
        name.push_back(c >= 0x20 && c < 0x7f ? static_cast<char>(c) : '?');
    }
    return name;
}

Error truncatedChunk(std::string_view format, std::string_view chunk, uint64_t size, size_t left) {
    return invalid(
        said("%1 file is truncated: its '%2' chunk declares %3 bytes, the file has %4 left", format,
             chunk, size, left));
}

/// The fmt chunk of a WAV file. Layout: format tag, channels, rate, bytes/s, block align, bits.
Result<void> checkWavFormat(Bytes chunk, bool big_endian) {
    const auto channels = readUnsigned(chunk, 2, 2, big_endian);
    const auto rate = readUnsigned(chunk, 4, 4, big_endian);
    const auto align = readUnsigned(chunk, 12, 2, big_endian);
    const auto bits = readUnsigned(chunk, 14, 2, big_endian);
    if (!channels || !rate || !align || !bits) {
        return invalid(said("WAV header: the 'fmt ' chunk has %1 bytes, at least 16 are needed",
                            chunk.size()));
    }
    ENGINE_TRY(checkAudioShape(static_cast<int64_t>(*channels), static_cast<int64_t>(*rate)));
    if (*align == 0) {
        return invalid(said("WAV header: a block of samples has 0 bytes"));
    }
    if (*bits > 64) {
        return invalid(said("WAV header: %1 bits per sample", *bits));
    }
    return {};
}

Error noSamples(std::string_view format, uint64_t declared, size_t left) {
    return invalid(said("the %1 file holds no samples: it declares %2 bytes of them, %3 follow",
                        format, declared, left));
}

/// The data chunk at `at`: its length as declared here or, in RF64 files, in the ds64 chunk, whose
/// data starts at `wide_at` (0: none).
Result<void>
checkWavData(Bytes bytes, size_t at, size_t wide_at, bool big_endian, AudioHeader& header) {
    const size_t left = bytes.size() - at - 8;
    const bool is_wide = wide_at != 0;
    const size_t size_at = is_wide ? wide_at + 8 : at + 4;
    const size_t size_bytes = is_wide ? 8 : 4;
    const uint64_t size = readUnsigned(bytes, size_at, size_bytes, big_endian).value_or(0);
    const bool is_empty = size == 0 && areChunks(bytes, at + 8, big_endian);
    if (left == 0 || is_empty) {
        return noSamples("WAV", size, left);
    }
    if (size != 0 && size <= left) {
        return {};
    }
    header.patches.push_back(patchOf(size_at, size_bytes, left, big_endian));
    if (is_wide || !isUnknownLength(size)) {
        header.note = shortNote("WAV", size, left);
    }
    return {};
}

Result<void> checkWav(Bytes bytes, bool big_endian, AudioHeader& header) {
    const bool has_wide_sizes = hasText(bytes, 0, "RF64") || hasText(bytes, 0, "BW64");
    size_t wide_at = 0;
    bool has_format = false;
    size_t at = 12;
    while (true) {
        const auto size = readUnsigned(bytes, at + 4, 4, big_endian);
        if (!size) {
            return invalid(said("WAV header: the file ends after %1 bytes without a %2 chunk",
                                bytes.size(), has_format ? "'data'" : "'fmt '"));
        }
        const size_t left = bytes.size() - at - 8;
        if (hasText(bytes, at, "data")) {
            if (!has_format) {
                return invalid(said("WAV header: the samples start before any 'fmt ' chunk"));
            }
            return checkWavData(bytes, at, wide_at, big_endian, header);
        }
        if (*size > left) {
            return truncatedChunk("WAV", chunkName(bytes, at), *size, left);
        }
        if (has_wide_sizes && hasText(bytes, at, "ds64") && *size >= 24) {
            wide_at = at + 8;
        }
        if (hasText(bytes, at, "fmt ")) {
            has_format = true;
            ENGINE_TRY(
                checkWavFormat(slice(bytes, at + 8, static_cast<size_t>(*size)), big_endian));
        }
        at += 8 + static_cast<size_t>(*size + (*size & 1U));
    }
}

/// Bytes of one sample of all channels; 0 where a packet holds several.
uint64_t aiffFrameBytes(Bytes bytes, size_t comm) {
    const uint64_t channels = readBig(bytes, comm + 8, 2).value_or(0);
    const uint64_t bits = readBig(bytes, comm + 14, 2).value_or(0);
    const bool is_compressed = hasText(bytes, 8, "AIFC");
    if (is_compressed && (hasText(bytes, comm + 26, "ulaw") || hasText(bytes, comm + 26, "alaw") ||
                          hasText(bytes, comm + 26, "ULAW") || hasText(bytes, comm + 26, "ALAW"))) {
        return channels;
    }
    constexpr std::array<std::string_view, 10> kPlain = {"NONE", "none", "sowt", "twos", "raw ",
                                                         "fl32", "FL32", "fl64", "in24", "in32"};
    const bool is_plain =
        !is_compressed || std::any_of(kPlain.begin(), kPlain.end(), [&](std::string_view name) {
            return hasText(bytes, comm + 26, name);
        });
    return is_plain ? channels * ((bits + 7) / 8) : 0;
}

Result<void> checkAiff(Bytes bytes, AudioHeader& header) {
    size_t comm = 0;
    size_t sound = 0;
    uint64_t sound_bytes = 0;
    size_t at = 12;
    while (comm == 0 || sound == 0) {
        const auto size = readBig(bytes, at + 4, 4);
        if (!size) {
            return invalid(said("AIFF header: the file ends after %1 bytes without a %2 chunk",
                                bytes.size(), comm != 0 ? "'SSND'" : "'COMM'"));
        }
        const size_t left = bytes.size() - at - 8;
        if (hasText(bytes, at, "SSND")) {
            sound = at;
            sound_bytes = *size;
            if (left > 8 && (*size > left || (*size <= 8 && !areChunks(bytes, at + 16, true)))) {
                header.patches.push_back(patchOf(at + 4, 4, left, true));
                header.note =
                    isUnknownLength(*size) ? std::nullopt : shortNote("AIFF", *size, left);
                sound_bytes = left;
            }
            if (sound_bytes > left) {
                return truncatedChunk("AIFF", "SSND", *size, left);
            }
            at += 8 + static_cast<size_t>(sound_bytes + (sound_bytes & 1U));
            continue;
        }
        if (*size > left) {
            return truncatedChunk("AIFF", chunkName(bytes, at), *size, left);
        }
        if (hasText(bytes, at, "COMM")) {
            comm = at;
            const auto channels = readBig(bytes, at + 8, 2);
            if (*size < 18 || !channels) {
                return invalid(said(
                    "AIFF header: the 'COMM' chunk has %1 bytes, at least 18 are needed", *size));
            }
            // The rate is an 80-bit float; libsndfile reads it and we check the result.
            ENGINE_TRY(checkAudioShape(static_cast<int64_t>(*channels), kAudioSampleRate));
        }
        at += 8 + static_cast<size_t>(*size + (*size & 1U));
    }
    // The number of samples stands a second time in COMM.
    const uint64_t frame_bytes = aiffFrameBytes(bytes, comm);
    const uint64_t offset = readBig(bytes, sound + 8, 4).value_or(0);
    if (frame_bytes != 0 && sound_bytes > 8 && offset < sound_bytes - 8) {
        const uint64_t frames = (sound_bytes - 8 - offset) / frame_bytes;
        const uint64_t declared = readBig(bytes, comm + 10, 4).value_or(0);
        if (declared > frames || (declared == 0 && frames > 0)) {
            header.patches.push_back(patchOf(comm + 10, 4, frames, true));
        }
    }
    return {};
}

/// Sun's format: a header of six numbers and text, then samples to the end.
Result<void> checkAu(Bytes bytes, AudioHeader& header) {
    const bool is_big = hasText(bytes, 0, ".snd");
    const auto number = [&](size_t index) { return readUnsigned(bytes, 4 * index, 4, is_big); };
    const auto start = number(1);
    const auto size = number(2);
    const auto rate = number(4);
    const auto channels = number(5);
    if (!channels) {
        return invalid(
            said("AU header: the file ends after %1 bytes, 24 are needed", bytes.size()));
    }
    ENGINE_TRY(checkAudioShape(static_cast<int64_t>(*channels), static_cast<int64_t>(*rate)));
    if (*start < 24 || *start > bytes.size()) {
        return invalid(said("AU header: the samples should begin at byte %1 of a file of %2",
                            *start, bytes.size()));
    }
    const uint64_t left = bytes.size() - *start;
    if (left == 0) {
        return noSamples("AU", *size, 0);
    }
    if (*size == 0 || *size > left) {
        header.patches.push_back(patchOf(8, 4, left, is_big));
        header.note = isUnknownLength(*size) ? std::nullopt : shortNote("AU", *size, left);
    }
    return {};
}

Result<void> checkFlac(Bytes bytes, size_t start) {
    const auto block = readBig(bytes, start + 4, 4);
    const auto facts = readBig(bytes, start + 8 + 10, 8);
    if (!block || !facts) {
        return invalid(
            said("FLAC header: the file ends after %1 bytes, inside the stream information",
                 bytes.size()));
    }
    if ((*block & 0x7fffffffU) != 34) {
        return invalid(
            said("FLAC header: the first block is not a stream information of 34 bytes"));
    }
    // 20 bits rate, 3 bits channels - 1, 5 bits depth - 1, 36 bits number of samples.
    const auto rate = static_cast<int64_t>(*facts >> 44U);
    const auto channels = static_cast<int64_t>((*facts >> 41U) & 7U) + 1;
    return checkAudioShape(channels, rate);
}

/// Walks the pages of an Ogg file; each says how long it is. A last page that is cut is left out.
Result<void> checkOgg(Bytes bytes, AudioHeader& header) {
    const auto segments = readU8(bytes, 26);
    if (!segments) {
        return invalid(
            said("Ogg header: the file ends after %1 bytes, inside the first page", bytes.size()));
    }
    const Bytes packet = bytes.subspan(std::min<size_t>(bytes.size(), 27U + *segments));
    if (hasText(packet, 0, "Speex   ") || hasText(packet, 0, "\x80theora"sv) ||
        hasText(packet, 0, "fishead\0"sv)) {
        return Error{ErrorCode::Unsupported,
                     said("an Ogg file with %1; Ogg Vorbis and Opus recordings are supported, save "
                          "it as one of these or as WAV",
                          hasText(packet, 0, "Speex") ? phrase("Speex speech") : phrase("video"))};
    }
    size_t at = 0;
    while (hasText(bytes, at, "OggS")) {
        const auto count = readU8(bytes, at + 26);
        const Bytes lacing = count ? slice(bytes, at + 27, *count) : Bytes{};
        size_t page_bytes = 27 + lacing.size();
        for (const std::byte part : lacing) {
            page_bytes += std::to_integer<size_t>(part);
        }
        if (!count || lacing.size() != *count || page_bytes > bytes.size() - at) {
            if (at == 0) {
                return invalid(said("Ogg file is truncated: the page at byte 0 is longer than the "
                                    "%1 bytes that are left",
                                    bytes.size()));
            }
            header.end = at;
            header.note = said(
                "the Ogg recording ends inside a page: it was cut short; what is there is played");
            return {};
        }
        at += page_bytes;
    }
    return {};
}

/// Bytes of the layer III frame whose header is given, 0 when it is no valid header or the bit rate
/// is free. Tables: ISO/IEC 11172-3 and 13818-3.
size_t mp3FrameBytes(uint64_t head) {
    constexpr std::array<uint16_t, 16> kRates1 = {0,   32,  40,  48,  56,  64,  80,  96,
                                                  112, 128, 160, 192, 224, 256, 320, 0}; // kbit/s
    constexpr std::array<uint16_t, 16> kRates2 = {0,  8,  16, 24,  32,  40,  48,  56,
                                                  64, 80, 96, 112, 128, 144, 160, 0};
    constexpr std::array<uint32_t, 4> kHertz = {44100, 48000, 32000, 0};
    const uint64_t version = (head >> 19U) & 3U; // 0: 2.5, 2: 2, 3: 1
    const bool is_layer3 = ((head >> 17U) & 3U) == 1U;
    if ((head >> 21U) != 0x7ffU || version == 1 || !is_layer3) {
        return 0;
    }
    const size_t index = (head >> 12U) & 15U;
    const size_t kilobits = version == 3 ? kRates1[index] : kRates2[index];
    const size_t hertz = kHertz[(head >> 10U) & 3U] / (version == 3 ? 1U : version == 2 ? 2U : 4U);
    const size_t factor = version == 3 ? 144'000U : 72'000U;
    return hertz == 0 || kilobits == 0 ? 0 : factor * kilobits / hertz + ((head >> 9U) & 1U);
}

/// The decoder prints its own complaints about MP3 files that end in the first frame or before the
/// size that the encoder noted in it (the Xing or Info header), so these are found here.
Result<void> checkMp3(Bytes bytes, size_t start, AudioHeader& header) {
    const uint64_t head = readBig(bytes, start, 4).value_or(0);
    const size_t frame_bytes = mp3FrameBytes(head);
    if (frame_bytes == 0) {
        return {}; // other layers, or padding before the first frame
    }
    const size_t left = bytes.size() - start;
    if (frame_bytes + 4 > left) {
        return invalid(
            said("MP3 file is truncated: it ends after %1 bytes of sound, inside the first frame",
                 left));
    }
    const bool is_mono = ((head >> 6U) & 3U) == 3U;
    const bool is_version1 = ((head >> 19U) & 3U) == 3U;
    const size_t side_bytes = is_version1 ? (is_mono ? 17U : 32U) : (is_mono ? 9U : 17U);
    const size_t note = start + 4 + side_bytes;
    if (!hasText(bytes, note, "Xing") && !hasText(bytes, note, "Info")) {
        return {};
    }
    const uint64_t flags = readBig(bytes, note + 4, 4).value_or(0);
    const size_t size_at = note + 8 + ((flags & 1U) != 0 ? 4U : 0U);
    const uint64_t declared = (flags & 2U) != 0 ? readBig(bytes, size_at, 4).value_or(0) : 0;
    if (declared > left) {
        header.patches.push_back(patchOf(size_at, 4, left, true));
        header.note = shortNote("MP3", declared, left);
    }
    return {};
}

/// Bytes of the ID3v2 tags at the start of the file, which both MP3 and FLAC files may carry.
size_t id3TagBytes(Bytes bytes) {
    size_t at = 0;
    while (at < bytes.size() && bytes.size() - at >= 10 && hasText(bytes, at, "ID3")) {
        size_t size = 0;
        for (size_t i = 6; i < 10; ++i) {
            size = (size << 7U) | (*readU8(bytes, at + i) & 0x7fU);
        }
        at += 10 + size;
    }
    return at;
}

/// Where, from `start` on, the first of two layer III frames of one kind begins that follow each
/// other: recorders leave zeros before them, cut streams the rest of a frame.
std::optional<size_t> findMp3(Bytes bytes, size_t start) {
    constexpr size_t kFarthest = size_t{64} << 10U;
    constexpr uint64_t kKind = 0xfffe0c00U; // marks, version, layer, sample rate
    const size_t end = std::min(bytes.size(), start + kFarthest);
    for (size_t at = start; at < end; ++at) {
        const uint64_t head = readBig(bytes, at, 4).value_or(0);
        const size_t frame_bytes = mp3FrameBytes(head);
        if (frame_bytes == 0 || frame_bytes > bytes.size() - at) {
            continue;
        }
        const uint64_t next = readBig(bytes, at + frame_bytes, 4).value_or(0);
        if (mp3FrameBytes(next) != 0 && (next & kKind) == (head & kKind)) {
            return at;
        }
    }
    return std::nullopt;
}

/// What other recordings can begin with by chance.
bool isWeaklyKnown(Phrase content) {
    const std::string_view name(content.text);
    return name == "unknown data"sv || name == "text"sv || name == "an AAC recording"sv ||
           name == "a Netpbm picture"sv;
}

} // namespace

std::string_view audioContainerName(AudioContainer container) {
    switch (container) {
    case AudioContainer::Wav:
        return "WAV";
    case AudioContainer::Aiff:
        return "AIFF";
    case AudioContainer::Au:
        return "AU";
    case AudioContainer::Flac:
        return "FLAC";
    case AudioContainer::Ogg:
        return "Ogg";
    case AudioContainer::Mp3:
        return "MP3";
    }
    return "unknown";
}

Result<void> checkAudioShape(int64_t channels, int64_t sample_rate) {
    if (channels < 1) {
        return invalid(said("the recording declares %1 channels", channels));
    }
    if (channels > kMaxAudioFileChannels) {
        return Error{ErrorCode::Unsupported,
                     said("the recording has %1 channels, at most %2 are read", channels,
                          kMaxAudioFileChannels)};
    }
    if (sample_rate < 1) {
        return invalid(said("the recording declares a sample rate of %1 Hz", sample_rate));
    }
    if (sample_rate < kMinAudioFileRate || sample_rate > kMaxAudioFileRate) {
        return Error{ErrorCode::Unsupported,
                     said("the recording has a sample rate of %1 Hz, from %2 to %3 Hz are read",
                          sample_rate, kMinAudioFileRate, kMaxAudioFileRate)};
    }
    return {};
}

Result<AudioHeader> checkAudioHeader(Bytes bytes) {
    if (bytes.empty()) {
        return invalid(said("the recording is empty (0 bytes)"));
    }
    AudioHeader header;
    header.end = bytes.size();
    const auto is = [&](AudioContainer container) {
        header.container = container;
        return true;
    };
    const bool is_wav =
        hasText(bytes, 8, "WAVE") && (hasText(bytes, 0, "RIFF") || hasText(bytes, 0, "RIFX") ||
                                      hasText(bytes, 0, "RF64") || hasText(bytes, 0, "BW64"));
    if (is_wav && is(AudioContainer::Wav)) {
        if (hasText(bytes, 0, "BW64")) {
            header.patches.push_back(patchOf(0, 4, 0x52463634U, true)); // RF64: alike so far
        }
        ENGINE_TRY(checkWav(bytes, hasText(bytes, 0, "RIFX"), header));
        return header;
    }
    if (hasText(bytes, 0, "FORM") && (hasText(bytes, 8, "AIFF") || hasText(bytes, 8, "AIFC")) &&
        is(AudioContainer::Aiff)) {
        ENGINE_TRY(checkAiff(bytes, header));
        return header;
    }
    if ((hasText(bytes, 0, ".snd") || hasText(bytes, 0, "dns.")) && is(AudioContainer::Au)) {
        ENGINE_TRY(checkAu(bytes, header));
        return header;
    }
    const size_t tag_bytes = id3TagBytes(bytes);
    if (tag_bytes >= bytes.size()) {
        return invalid(
            said("MP3 file is truncated: it ends inside its ID3 tag of %1 bytes", tag_bytes));
    }
    if (hasText(bytes, tag_bytes, "fLaC") && is(AudioContainer::Flac)) {
        ENGINE_TRY(checkFlac(bytes, tag_bytes));
        return header;
    }
    if (hasText(bytes, 0, "OggS") && is(AudioContainer::Ogg)) {
        ENGINE_TRY(checkOgg(bytes, header));
        return header;
    }
    const Phrase content = describeContent(bytes);
    const bool is_mp3 = tag_bytes != 0 || std::string_view(content.text) == "an MP3 recording"sv;
    const std::optional<size_t> frames =
        is_mp3 || isWeaklyKnown(content) ? findMp3(bytes, tag_bytes) : std::nullopt;
    if ((is_mp3 || frames) && is(AudioContainer::Mp3)) {
        const size_t start = frames.value_or(tag_bytes);
        ENGINE_TRY(checkMp3(bytes, start, header));
        header.begin = start == tag_bytes ? 0 : start;
        for (HeaderPatch& patch : header.patches) {
            patch.offset -= header.begin;
        }
        return header;
    }
    return Error{ErrorCode::Unsupported,
                 said("expected a recording (WAV, FLAC, Ogg, MP3, AIFF or AU), found %1; if it is "
                      "a recording, save it as WAV or FLAC and give that",
                      content)};
}

} // namespace engine::media
