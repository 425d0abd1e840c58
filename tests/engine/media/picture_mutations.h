// SPDX-License-Identifier: Apache-2.0
// Changes in pictures that decoders do not stop at: filtered scan lines before they are deflated,
// palettes, the order of chunks, entropy-coded segments and tables of JPEG, the coded part of WebP.
// Checksums and lengths around a change are made right again. Every function returns the picture
// unchanged when it is not one of its format.
#pragma once

#include "tests/engine/media/byte_writer.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <random>
#include <string>

namespace support {

using Random = std::mt19937;

/// Changes bytes in place; never the number of them.
using ChangeBytes = std::function<void(ByteVector&)>;

/// 1 to `most` bytes, each anew, one bit of it, or a copy of a neighbour.
inline void changeSome(ByteVector& bytes, Random& random, unsigned most) {
    for (unsigned n = 1 + random() % most; n > 0 && !bytes.empty(); --n) {
        const size_t at = random() % bytes.size();
        switch (random() % 4) {
        case 0:
            bytes[at] ^= static_cast<uint8_t>(1U << (random() % 8));
            break;
        case 1:
            bytes[at] = random() % 2 == 0 ? 0 : 0xff;
            break;
        case 2:
            bytes[at] = bytes[(at + random() % 16) % bytes.size()];
            break;
        default:
            bytes[at] = static_cast<uint8_t>(random());
            break;
        }
    }
}

// ---- PNG
// -----------------------------------------------------------------------------------------

struct PngPiece {
    std::string type; ///< Four bytes.
    ByteVector data;
};

/// The chunks up to the first one that is not whole; nothing when the signature is not PNG's.
inline std::vector<PngPiece> pngPieces(const ByteVector& png) {
    std::vector<PngPiece> pieces;
    if (png.size() < 8 || std::memcmp(png.data(), "\x89PNG\r\n\x1a\n", 8) != 0) {
        return pieces;
    }
    for (size_t at = 8; at + 12 <= png.size();) {
        const size_t length = (size_t{png[at]} << 24U) | (size_t{png[at + 1]} << 16U) |
                              (size_t{png[at + 2]} << 8U) | png[at + 3];
        if (length > png.size() - at - 12) {
            break;
        }
        const auto* data = png.data() + at + 8;
        pieces.push_back({std::string(reinterpret_cast<const char*>(png.data()) + at + 4, 4),
                          ByteVector(data, data + length)});
        at += 12 + length;
    }
    return pieces;
}

/// Signature and chunks with right lengths and checksums.
inline ByteVector pngOfPieces(const std::vector<PngPiece>& pieces) {
    ByteVector out = fromText("\x89PNG\r\n\x1a\n");
    for (const PngPiece& piece : pieces) {
        ByteVector body = fromText(piece.type);
        putBytes(body, piece.data);
        putBig(out, piece.data.size(), 4);
        putBytes(out, body);
        putBig(out, crc32(0, body.data(), static_cast<uInt>(body.size())), 4);
    }
    return out;
}

/// What a zlib stream holds, at most `limit` bytes; nothing when it is damaged before that.
inline std::optional<ByteVector> inflatedBytes(const ByteVector& stream, size_t limit) {
    z_stream state{};
    if (inflateInit(&state) != Z_OK) {
        return std::nullopt;
    }
    ByteVector out(limit);
    state.next_in = const_cast<Bytef*>(stream.data()); // zlib reads only
    state.avail_in = static_cast<uInt>(stream.size());
    state.next_out = out.data();
    state.avail_out = static_cast<uInt>(out.size());
    const int result = inflate(&state, Z_FINISH);
    out.resize(state.total_out);
    inflateEnd(&state);
    return result == Z_STREAM_END ? std::optional(std::move(out)) : std::nullopt;
}

/// A zlib stream of the bytes. level: 0 to 9; strategy: 0 to 4 (stored, Huffman only, fixed, ...).
inline ByteVector deflatedBytes(const ByteVector& raw, int level, int strategy) {
    z_stream state{};
    if (deflateInit2(&state, level, Z_DEFLATED, 15, 8, strategy) != Z_OK) {
        return {};
    }
    ByteVector out(deflateBound(&state, raw.size()));
    state.next_in = const_cast<Bytef*>(raw.data()); // zlib reads only
    state.avail_in = static_cast<uInt>(raw.size());
    state.next_out = out.data();
    state.avail_out = static_cast<uInt>(out.size());
    deflate(&state, Z_FINISH);
    out.resize(state.total_out);
    deflateEnd(&state);
    return out;
}

/// The picture with its scan lines (each with its filter byte in front) changed by `change`, then
/// compressed anew in one way of `random`, in one to four IDAT chunks.
inline ByteVector
withChangedScanLines(const ByteVector& png, Random& random, const ChangeBytes& change) {
    std::vector<PngPiece> pieces = pngPieces(png);
    ByteVector stream;
    size_t first = pieces.size();
    for (size_t i = 0; i < pieces.size(); ++i) {
        if (pieces[i].type == "IDAT") {
            first = std::min(first, i);
            putBytes(stream, pieces[i].data);
        }
    }
    auto raw = inflatedBytes(stream, size_t{1} << 20U);
    if (first == pieces.size() || !raw.has_value()) {
        return png;
    }
    change(*raw);
    stream = deflatedBytes(*raw, static_cast<int>(random() % 10), static_cast<int>(random() % 5));
    std::erase_if(pieces, [](const PngPiece& piece) { return piece.type == "IDAT"; });
    const size_t parts = 1 + random() % 4;
    for (size_t i = parts; i > 0; --i) {
        const auto begin = static_cast<ptrdiff_t>(stream.size() * (i - 1) / parts);
        const auto end = static_cast<ptrdiff_t>(stream.size() * i / parts);
        pieces.insert(pieces.begin() + static_cast<ptrdiff_t>(first),
                      {"IDAT", ByteVector(stream.begin() + begin, stream.begin() + end)});
    }
    return pngOfPieces(pieces);
}

/// Any bytes of the scan lines, filter bytes too; one in four pictures has a filter that does not
/// exist.
inline ByteVector changedScanLines(const ByteVector& png, Random& random) {
    return withChangedScanLines(png, random, [&](ByteVector& raw) {
        ByteVector changed = raw;
        changeSome(changed, random, 30);
        raw = changed;
    });
}

/// Every line with another of the five filters: what is stored is then the difference to other
/// neighbours. `line_bytes` is 1 + the bytes of a line's pixels.
inline ByteVector changedFilters(const ByteVector& png, size_t line_bytes, Random& random) {
    return withChangedScanLines(png, random, [&](ByteVector& raw) {
        for (size_t at = 0; at < raw.size(); at += line_bytes) {
            raw[at] = static_cast<uint8_t>(random() % 5);
        }
        const size_t at = random() % raw.size();
        raw[at] = at % line_bytes == 0 ? raw[at] : static_cast<uint8_t>(random());
    });
}

/// The compressed stream itself, under right chunk checksums.
inline ByteVector changedDeflate(const ByteVector& png, Random& random) {
    std::vector<PngPiece> pieces = pngPieces(png);
    for (PngPiece& piece : pieces) {
        if (piece.type == "IDAT") {
            changeSome(piece.data, random, 2);
        }
    }
    return pieces.empty() ? png : pngOfPieces(pieces);
}

/// Colours, their number and their transparency; nothing happens to pictures without PLTE.
inline ByteVector changedPalette(const ByteVector& png, Random& random) {
    std::vector<PngPiece> pieces = pngPieces(png);
    for (PngPiece& piece : pieces) {
        if (piece.type == "PLTE" || piece.type == "tRNS") {
            changeSome(piece.data, random, 8);
            const size_t unit = piece.type == "PLTE" ? 3 : 1;
            if (random() % 3 == 0) {
                piece.data.resize(unit * (1 + random() % 40), static_cast<uint8_t>(random()));
            }
            if (random() % 12 == 0 && !piece.data.empty()) {
                piece.data.pop_back(); // no whole number of colours
            }
        }
    }
    return pieces.empty() ? png : pngOfPieces(pieces);
}

/// Chunks swapped, twice, gone or strange. The header stays first three times of four.
inline ByteVector changedChunkOrder(const ByteVector& png, Random& random) {
    std::vector<PngPiece> pieces = pngPieces(png);
    if (pieces.size() < 3) {
        return png;
    }
    const size_t fixed = random() % 4 == 0 ? 0 : 1;
    const auto any = [&] { return fixed + random() % (pieces.size() - fixed); };
    for (unsigned n = 1 + random() % 2; n > 0; --n) {
        const size_t at = any();
        switch (random() % 5) {
        case 0:
            std::swap(pieces[at], pieces[any()]);
            break;
        case 1:
            pieces.insert(pieces.begin() + static_cast<ptrdiff_t>(any()), PngPiece(pieces[at]));
            break;
        case 2:
            if (pieces.size() > 3) {
                pieces.erase(pieces.begin() + static_cast<ptrdiff_t>(at));
            }
            break;
        default: {
            static const std::array<const char*, 8> kTypes = {"tEXt", "gAMA", "xxXx", "XXXX",
                                                              "tRNS", "iCCP", "sBIT", "acTL"};
            ByteVector data(random() % 20);
            changeSome(data, random, 20);
            pieces.insert(pieces.begin() + static_cast<ptrdiff_t>(at),
                          {kTypes[random() % kTypes.size()], std::move(data)});
            break;
        }
        }
    }
    return pngOfPieces(pieces);
}

// ---- JPEG
// ----------------------------------------------------------------------------------------

struct ByteRange {
    size_t begin = 0, end = 0;
};

/// Where the segments with marker FF `marker` have their content (without marker and length).
inline std::vector<ByteRange> jpegSegments(const ByteVector& jpeg, uint8_t marker) {
    std::vector<ByteRange> found;
    for (size_t at = 2; at + 4 <= jpeg.size();) {
        if (jpeg[at] != 0xff || jpeg[at + 1] < 0xc0) {
            ++at; // entropy-coded data, restart markers
            continue;
        }
        const size_t length = size_t{jpeg[at + 2]} * 256 + jpeg[at + 3];
        if (jpeg[at + 1] >= 0xd0 && jpeg[at + 1] <= 0xd9) {
            at += 2;
            continue;
        }
        if (length < 2 || at + 2 + length > jpeg.size()) {
            break;
        }
        if (jpeg[at + 1] == marker) {
            found.push_back({at + 4, at + 2 + length});
        }
        at += 2 + length;
    }
    return found;
}

/// Bytes behind a start of scan; no marker comes to be or goes.
inline ByteVector changedEntropyData(ByteVector jpeg, Random& random) {
    std::vector<size_t> places;
    for (const ByteRange& scan : jpegSegments(jpeg, 0xda)) {
        for (size_t at = scan.end; at + 1 < jpeg.size(); ++at) {
            if (jpeg[at] == 0xff && jpeg[at + 1] != 0) {
                break; // the next marker
            }
            if (jpeg[at] != 0xff && jpeg[at - 1] != 0xff) {
                places.push_back(at);
            }
        }
    }
    for (unsigned n = 1 + random() % 20; n > 0 && !places.empty(); --n) {
        const auto value = static_cast<uint8_t>(random());
        jpeg[places[random() % places.size()]] = value == 0xff ? 0xfe : value;
    }
    return jpeg;
}

/// Values of the quantization tables, counts and symbols of the Huffman tables, or the components'
/// tables in a scan's header.
inline ByteVector changedJpegTables(ByteVector jpeg, Random& random) {
    static const std::array<uint8_t, 3> kMarkers = {0xdb, 0xc4, 0xda};
    const std::vector<ByteRange> segments = jpegSegments(jpeg, kMarkers[random() % 3]);
    if (!segments.empty()) {
        const ByteRange& range = segments[random() % segments.size()];
        ByteVector part(jpeg.begin() + static_cast<ptrdiff_t>(range.begin),
                        jpeg.begin() + static_cast<ptrdiff_t>(range.end));
        changeSome(part, random, 2);
        std::copy(part.begin(), part.end(), jpeg.begin() + static_cast<ptrdiff_t>(range.begin));
    }
    return jpeg;
}

// ---- WebP
// ----------------------------------------------------------------------------------------

/// Bytes of the coded picture: VP8 behind the part that names its size; VP8L, whose prefix codes
/// come first and rarely survive a change, three times of four behind these.
inline ByteVector changedWebpData(ByteVector webp, Random& random) {
    constexpr size_t kData = 20; // RIFF, size, WEBP, name and size of the first chunk
    if (webp.size() < kData + 16) {
        return webp;
    }
    const bool is_lossless = std::memcmp(webp.data() + 12, "VP8L", 4) == 0;
    const size_t begin = !is_lossless        ? kData + 10
                         : random() % 4 == 0 ? kData + 5
                                             : kData + (webp.size() - kData) * 2 / 3;
    ByteVector part(webp.begin() + static_cast<ptrdiff_t>(begin), webp.end());
    changeSome(part, random, 3);
    std::copy(part.begin(), part.end(), webp.begin() + static_cast<ptrdiff_t>(begin));
    return webp;
}

/// Unknown chunks before or behind the picture, the picture twice, an odd size, in a RIFF whose
/// sizes are right.
inline ByteVector changedWebpChunks(const ByteVector& webp, Random& random) {
    if (webp.size() < 20) {
        return webp;
    }
    const ByteVector picture(webp.begin() + 12, webp.end());
    const auto strange = [&] {
        static const std::array<const char*, 6> kNames = {"EXIF", "XMP ", "ICCP",
                                                          "ALPH", "junk", "VP8 "};
        const size_t size = random() % 13;
        ByteVector chunk = fromText(kNames[random() % kNames.size()]);
        putLittle(chunk, size, 4);
        chunk.resize(chunk.size() + size + size % 2, static_cast<uint8_t>(random()));
        return chunk;
    };
    ByteVector body = fromText("WEBP");
    const unsigned kind = random() % 4;
    if (kind == 0) {
        putBytes(body, strange());
    }
    putBytes(body, picture);
    if (kind == 1) {
        putBytes(body, picture);
    }
    for (unsigned n = kind >= 2 ? 1 + random() % 3 : 0; n > 0; --n) {
        putBytes(body, strange());
    }
    ByteVector out = fromText("RIFF");
    putLittle(out, body.size(), 4);
    putBytes(out, body);
    return out;
}

} // namespace support
