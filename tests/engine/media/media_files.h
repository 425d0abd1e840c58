// SPDX-License-Identifier: Apache-2.0
// One small good file of every kind that is read.
#pragma once

#include "tests/engine/media/picture_files.h"
#include "tests/engine/media/sound_files.h"

#include <string_view>

#ifdef BELFRY_HAS_WEBP
#include <webp/encode.h>
#endif

namespace support {

/// "png", "png palette", "jpeg progressive", "flac", ...; empty: there is no such kind.
inline ByteVector mediaFile(std::string_view kind) {
    const auto clip = sine(440.0, 0.5, 16000, 3000);
    const auto sound = [&](int format) { return encodeSound(clip, 1, 16000, format); };
    if (kind.starts_with("png palette")) {
        PngHeader h;
        h.colour = 3;
        h.interlace = 1;
        ByteVector chunks = pngChunk("PLTE", ByteVector(48, 77));
        putBytes(chunks, pngChunk("tRNS", ByteVector(9, 5)));
        putBytes(chunks, pngChunk("eXIf", exifBlock(6, true)));
        return pngFile(h, pngScanLines(h, [](int64_t x, int64_t, int) { return unsigned(x); }),
                       chunks);
    }
    if (kind.starts_with("png")) {
        return smallPng();
    }
    if (kind == "jpeg") {
        return smallJpeg(
            {.quality = 80, .has_subsampling = true, .app1 = exifSegment(exifBlock(8, false))});
    }
    if (kind == "jpeg progressive") {
        return smallJpeg({.quality = 80, .is_progressive = true});
    }
    if (kind == "jpeg cmyk") {
        return jpegFile(17, 13, ByteVector(size_t{17} * 13 * 4, 99),
                        {.input = JCS_CMYK, .stored = JCS_YCCK});
    }
#ifdef BELFRY_HAS_WEBP
    if (kind.starts_with("webp")) {
        ByteVector rgb;
        const bool is_noise = kind.ends_with("noise"); // mostly pixels, few tables
        uint32_t state = 1;
        for (int i = 0; i < 40 * 30 * 3; ++i) {
            state = state * 1664525U + 1013904223U;
            rgb.push_back(static_cast<uint8_t>(is_noise ? state >> 24U : i * 7));
        }
        uint8_t* memory = nullptr;
        const size_t size = kind.starts_with("webp lossless")
                                ? WebPEncodeLosslessRGB(rgb.data(), 40, 30, 120, &memory)
                                : WebPEncodeRGB(rgb.data(), 40, 30, 120, 70.0F, &memory);
        ByteVector out(memory, memory + size);
        WebPFree(memory);
        return out;
    }
#endif
    if (kind == "wav") {
        return smallWav(3000);
    }
    if (kind == "wav float") {
        return wavFile(float32(clip), {.format = 3, .rate = 44100, .bits = 32});
    }
    if (kind == "wav adpcm") {
        return sound(SF_FORMAT_WAV | SF_FORMAT_IMA_ADPCM);
    }
    if (kind == "flac") {
        return sound(SF_FORMAT_FLAC | SF_FORMAT_PCM_16);
    }
    if (kind == "vorbis") {
        return sound(SF_FORMAT_OGG | SF_FORMAT_VORBIS);
    }
    if (kind == "opus") {
        return sound(SF_FORMAT_OGG | SF_FORMAT_OPUS);
    }
    if (kind == "mp3") {
        return sound(SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III);
    }
    return kind == "aiff" ? sound(SF_FORMAT_AIFF | SF_FORMAT_PCM_16) : ByteVector{};
}

} // namespace support
