// SPDX-License-Identifier: Apache-2.0
// Makes PNG files (own writer over zlib, every depth, Adam7) and JPEG files (libjpeg) for tests.
#pragma once

#include "tests/engine/media/byte_writer.h"

#include <jpeglib.h>
#include <zlib.h>

#include <cstdio>
#include <functional>
#include <string>

namespace support {

inline ByteVector pngChunk(std::string_view type, const ByteVector& data) {
    ByteVector body;
    putText(body, type);
    putBytes(body, data);
    ByteVector out;
    putBig(out, data.size(), 4);
    putBytes(out, body);
    putBig(out, crc32(0, body.data(), static_cast<uInt>(body.size())), 4);
    return out;
}

struct PngHeader {
    uint32_t width = 11;
    uint32_t height = 9;
    uint8_t depth = 8;
    uint8_t colour = 2; ///< 0 grey, 2 RGB, 3 palette, 4 grey + alpha, 6 RGBA
    uint8_t compression = 0;
    uint8_t filter = 0;
    uint8_t interlace = 0;
};

inline int pngChannels(uint8_t colour) {
    return colour == 2 ? 3 : colour == 4 ? 2 : colour == 6 ? 4 : 1;
}

inline ByteVector pngHeaderChunk(const PngHeader& h) {
    ByteVector data;
    putBig(data, h.width, 4);
    putBig(data, h.height, 4);
    for (const uint8_t v : {h.depth, h.colour, h.compression, h.filter, h.interlace}) {
        data.push_back(v);
    }
    return pngChunk("IHDR", data);
}

inline ByteVector deflated(const ByteVector& raw) {
    uLongf size = compressBound(raw.size());
    ByteVector out(size);
    compress2(out.data(), &size, raw.data(), raw.size(), 6);
    out.resize(size);
    return out;
}

/// The value of one sample, 0 .. 2^depth - 1.
using PngSample = std::function<unsigned(int64_t x, int64_t y, int channel)>;

/// Scan lines with filter type 0, in Adam7 order when the header says so.
inline ByteVector pngScanLines(const PngHeader& h, const PngSample& sample) {
    struct Pass {
        int64_t x0, y0, dx, dy;
    };
    std::vector<Pass> passes = {{0, 0, 1, 1}};
    if (h.interlace == 1) {
        passes = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4},
                  {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};
    }
    ByteVector raw;
    for (const Pass& pass : passes) {
        if (pass.x0 >= h.width) {
            continue;
        }
        for (int64_t y = pass.y0; y < h.height; y += pass.dy) {
            raw.push_back(0);
            unsigned bits = 0;
            int filled = 0;
            for (int64_t x = pass.x0; x < h.width; x += pass.dx) {
                for (int c = 0; c < pngChannels(h.colour); ++c) {
                    const unsigned value = sample(x, y, c);
                    if (h.depth == 16) {
                        putBig(raw, value, 2);
                        continue;
                    }
                    bits = (bits << h.depth) | value;
                    filled += h.depth;
                    if (filled == 8) {
                        raw.push_back(static_cast<uint8_t>(bits));
                        bits = 0;
                        filled = 0;
                    }
                }
            }
            if (filled > 0) {
                raw.push_back(static_cast<uint8_t>(bits << (8 - filled)));
            }
        }
    }
    return raw;
}

inline ByteVector pngSignature() {
    return fromText("\x89PNG\r\n\x1a\n");
}

/// Signature, header, the given chunks, one IDAT, IEND.
inline ByteVector
pngFile(const PngHeader& h, const ByteVector& raw, const ByteVector& chunks_before_data = {}) {
    ByteVector out = pngSignature();
    putBytes(out, pngHeaderChunk(h));
    putBytes(out, chunks_before_data);
    putBytes(out, pngChunk("IDAT", deflated(raw)));
    putBytes(out, pngChunk("IEND", {}));
    return out;
}

/// An ordinary small RGB picture with some structure.
inline ByteVector smallPng(uint32_t width = 40, uint32_t height = 30) {
    PngHeader h;
    h.width = width;
    h.height = height;
    return pngFile(h, pngScanLines(h, [](int64_t x, int64_t y, int c) {
                       return static_cast<unsigned>((x * 7 + y * y * 3 + int64_t{c} * 60) & 255);
                   }));
}

struct JpegOptions {
    int quality = 100;
    bool is_progressive = false;
    bool has_subsampling = false;
    J_COLOR_SPACE input = JCS_RGB; ///< also the number of components
    J_COLOR_SPACE stored = JCS_YCbCr;
    ByteVector app1 = {}; ///< written as an APP1 segment when not empty
};

/// pixels: [height, width, components of options.input].
inline ByteVector
jpegFile(int width, int height, ByteVector pixels, const JpegOptions& options = {}) {
    jpeg_compress_struct jpeg{};
    jpeg_error_mgr errors{};
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    unsigned char* memory = nullptr;
    unsigned long size = 0;
    jpeg_mem_dest(&jpeg, &memory, &size);
    jpeg.image_width = static_cast<JDIMENSION>(width);
    jpeg.image_height = static_cast<JDIMENSION>(height);
    jpeg.in_color_space = options.input;
    jpeg.input_components = options.input == JCS_GRAYSCALE ? 1 : options.input == JCS_CMYK ? 4 : 3;
    jpeg_set_defaults(&jpeg);
    jpeg_set_colorspace(&jpeg, options.stored);
    jpeg_set_quality(&jpeg, options.quality, TRUE);
    if (!options.has_subsampling) {
        for (int i = 0; i < jpeg.num_components; ++i) {
            jpeg.comp_info[i].h_samp_factor = 1;
            jpeg.comp_info[i].v_samp_factor = 1;
        }
    }
    if (options.is_progressive) {
        jpeg_simple_progression(&jpeg);
    }
    jpeg_start_compress(&jpeg, TRUE);
    if (!options.app1.empty()) {
        jpeg_write_marker(&jpeg, JPEG_APP0 + 1, options.app1.data(),
                          static_cast<unsigned>(options.app1.size()));
    }
    while (jpeg.next_scanline < jpeg.image_height) {
        JSAMPROW row = pixels.data() + static_cast<size_t>(jpeg.next_scanline) *
                                           static_cast<size_t>(width * jpeg.input_components);
        jpeg_write_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_compress(&jpeg);
    ByteVector out(memory, memory + size);
    jpeg_destroy_compress(&jpeg);
    std::free(memory);
    return out;
}

/// An ordinary small colour picture.
inline ByteVector
smallJpeg(const JpegOptions& options = {.quality = 80}, int width = 40, int height = 30) {
    ByteVector pixels;
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            pixels.push_back(static_cast<uint8_t>(x * 6));
            pixels.push_back(static_cast<uint8_t>(y * 8));
            pixels.push_back(static_cast<uint8_t>((x * y) & 255));
        }
    }
    return jpegFile(width, height, std::move(pixels), options);
}

/// A TIFF block with one directory of two entries: a resolution unit and the orientation.
inline ByteVector exifBlock(unsigned orientation, bool big_endian, uint16_t type = 3) {
    ByteVector out;
    const auto put = [&](uint64_t value, int size) {
        big_endian ? putBig(out, value, size) : putLittle(out, value, size);
    };
    putText(out, big_endian ? "MM" : "II");
    put(42, 2);
    put(8, 4); // offset of the directory
    put(2, 2); // entries
    put(0x0128, 2);
    put(3, 2);
    put(1, 4);
    put(2, 2);
    put(0, 2);
    put(0x0112, 2);
    put(type, 2);
    put(1, 4);
    if (type == 4) {
        put(orientation, 4);
    } else {
        put(orientation, 2);
        put(0, 2);
    }
    put(0, 4); // no further directory
    return out;
}

inline ByteVector exifSegment(const ByteVector& block) {
    ByteVector out = fromText(std::string_view("Exif\0\0", 6));
    putBytes(out, block);
    return out;
}

} // namespace support
