// SPDX-License-Identifier: Apache-2.0
// JPEG (ITU-T T.81, JFIF, EXIF) through libjpeg-turbo with its default transforms, the ones Pillow
// uses. Baseline, extended and progressive Huffman, 8 bits, 1, 3 or 4 components. CMYK and YCCK
// are taken as inverted (the Adobe convention; Pillow does the same). Refused by header: 12-bit,
// lossless, hierarchical and arithmetic coding.
#include "engine/media/exif.h"
#include "engine/media/image_codecs.h"
#include "engine/media/media_error.h"

// jpeglib.h needs size_t and FILE declared before it, so it cannot stand in the sorted group.
// jerror.h needs jpeglib.h before it: the message numbers depend on the library's version (Ubuntu
// has 8).
#include <cstddef>
#include <cstdio>
//
#include <jpeglib.h>
//
#include <jerror.h>

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstring>
#include <optional>

namespace engine::media {

namespace {

using namespace std::string_view_literals;

constexpr long kMaxDecoderMemory = 1L << 30;      ///< bytes; progressive pictures are held whole
constexpr int64_t kMcuRows = 32;                  ///< pixel rows of the tallest coding unit
constexpr int64_t kMaxScanPixels = 2'000'000'000; ///< scans * pixels, bounds the time

Error unsupported(Sentence message) {
    return {ErrorCode::Unsupported, std::move(message)};
}

std::optional<Phrase> unsupportedProcess(uint8_t marker) {
    switch (marker) {
    case 0xc3:
        return phrase("lossless");
    case 0xc5:
    case 0xc6:
    case 0xc7:
        return phrase("hierarchical");
    case 0xc9:
    case 0xca:
    case 0xcb:
    case 0xcd:
    case 0xce:
    case 0xcf:
        return phrase("arithmetic-coded");
    default:
        return std::nullopt;
    }
}

bool isStartOfFrame(uint8_t marker) {
    return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
}

/// The frame header's facts into info. segment starts behind the two length bytes.
Result<void> readFrame(uint8_t marker, Bytes segment, ImageInfo& info) {
    const auto precision = readU8(segment, 0);
    const auto height = readBig(segment, 1, 2);
    const auto width = readBig(segment, 3, 2);
    const auto components = readU8(segment, 5);
    if (!precision || !height || !width || !components) {
        return invalid(said("JPEG header: the frame header is too short"));
    }
    if (const auto name = unsupportedProcess(marker)) {
        return unsupported(said("a %1 JPEG; save it as ordinary JPEG or PNG and give that", *name));
    }
    if (*precision != 8) {
        return unsupported(
            said("a JPEG with %1 bits per value, 8 are supported; save it as 8-bit JPEG or PNG",
                 *precision));
    }
    if (*components != 1 && *components != 3 && *components != 4) {
        return unsupported(
            said("a JPEG with %1 components; 1 (grey), 3 (colour) and 4 (CMYK) are supported",
                 *components));
    }
    info.stored = {static_cast<int64_t>(*width), static_cast<int64_t>(*height)};
    return {};
}

/// What libjpeg's callbacks share with the decoder; client_data points here.
struct Session {
    jpeg_error_mgr errors{};
    jpeg_progress_mgr progress{};
    jpeg_decompress_struct jpeg{};
    std::jmp_buf on_error{};
    Bytes bytes;
    ImageSize size;
    uint8_t* rgb = nullptr;
    uint8_t* cmyk_row = nullptr;
    int max_scans = 0;
    bool has_ended_early = false;   ///< The source ran dry before the end marker.
    bool has_short_picture = false; ///< Rows are missing although the end marker is there.
    bool has_missing_data = false;  ///< The entropy decoder had to invent coefficients.
    bool is_other_picture = false;  ///< The frame differs from the header we checked.
    bool has_too_many_scans = false;
    std::array<char, JMSG_LENGTH_MAX> message{};
    std::array<char, JMSG_LENGTH_MAX> warning{};

    Session() = default;
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
    ~Session() { jpeg_destroy_decompress(&jpeg); }
};

Session& sessionOf(j_common_ptr jpeg) {
    return *static_cast<Session*>(jpeg->client_data);
}

[[noreturn]] void onError(j_common_ptr jpeg) {
    Session& session = sessionOf(jpeg);
    jpeg->err->format_message(jpeg, session.message.data());
    std::longjmp(session.on_error, 1);
}

void onMessage(j_common_ptr jpeg, int level) {
    if (level >= 0) {
        return; // traces
    }
    Session& session = sessionOf(jpeg);
    if (jpeg->err->msg_code == JWRN_JPEG_EOF) {
        session.has_ended_early = true;
        return;
    }
    if (jpeg->err->msg_code == JWRN_HIT_MARKER) {
        session.has_missing_data = true;
        // A real end marker long before the last row: the file is whole, the picture is not.
        const auto rows_left = static_cast<int64_t>(session.size.height) -
                               static_cast<int64_t>(session.jpeg.output_scanline);
        session.has_short_picture =
            session.has_short_picture ||
            (session.jpeg.unread_marker == JPEG_EOI && rows_left > kMcuRows);
    }
    if (session.warning[0] == '\0') {
        jpeg->err->format_message(jpeg, session.warning.data());
    }
}

void onOutput(j_common_ptr /*jpeg*/) {}

void onProgress(j_common_ptr jpeg) {
    Session& session = sessionOf(jpeg);
    if (session.jpeg.input_scan_number > session.max_scans) {
        session.has_too_many_scans = true;
        std::longjmp(session.on_error, 1);
    }
}

/// Product of two 8-bit fractions, rounded to nearest.
uint8_t mulDiv255(unsigned a, unsigned b) {
    const unsigned t = a * b + 128;
    return static_cast<uint8_t>(((t >> 8U) + t) >> 8U);
}

/// One row of inverted CMYK (255 = no ink) to RGB.
void convertCmykRow(const uint8_t* cmyk, int64_t width, uint8_t* rgb) {
    for (int64_t x = 0; x < width; ++x) {
        const unsigned white = cmyk[4 * x + 3];
        for (int64_t c = 0; c < 3; ++c) {
            const unsigned ink = 255U - cmyk[4 * x + c];
            rgb[3 * x + c] = static_cast<uint8_t>(white - mulDiv255(ink, white));
        }
    }
}

/// The part that can leave by longjmp: plain data only. False: the session says why.
bool runDecoder(Session& session) {
    jpeg_decompress_struct& jpeg = session.jpeg;
    jpeg.err = jpeg_std_error(&session.errors);
    session.errors.error_exit = onError;
    session.errors.emit_message = onMessage;
    session.errors.output_message = onOutput;
    jpeg.client_data = &session;
    if (setjmp(session.on_error) != 0) {
        return false;
    }
    jpeg_create_decompress(&jpeg);
    jpeg.client_data = &session; // creation clears the structure
    jpeg.mem->max_memory_to_use = kMaxDecoderMemory;
    session.progress.progress_monitor = onProgress;
    jpeg.progress = &session.progress;
    jpeg_mem_src(&jpeg, reinterpret_cast<const unsigned char*>(session.bytes.data()),
                 static_cast<unsigned long>(session.bytes.size()));
    jpeg_read_header(&jpeg, TRUE);
    const bool is_cmyk = jpeg.num_components == 4;
    if (jpeg.image_width != static_cast<JDIMENSION>(session.size.width) ||
        jpeg.image_height != static_cast<JDIMENSION>(session.size.height)) {
        session.is_other_picture = true;
        return false;
    }
    jpeg.out_color_space = is_cmyk ? JCS_CMYK : JCS_RGB;
    const bool has_scans = jpeg_has_multiple_scans(&jpeg) != FALSE;
    jpeg_start_decompress(&jpeg);
    const size_t row_bytes = static_cast<size_t>(session.size.width) * 3;
    while (jpeg.output_scanline < jpeg.output_height) {
        uint8_t* rgb_row = session.rgb + jpeg.output_scanline * row_bytes;
        JSAMPROW row = is_cmyk ? session.cmyk_row : rgb_row;
        if (jpeg_read_scanlines(&jpeg, &row, 1) == 1 && is_cmyk) {
            convertCmykRow(session.cmyk_row, session.size.width, rgb_row);
        }
    }
    // In a picture of several scans anything may be missing at the end, and libjpeg cannot tell.
    session.has_missing_data = session.has_missing_data || has_scans;
    return true;
}

} // namespace

Result<ImageInfo> readJpegHeader(Bytes bytes) {
    ImageInfo info;
    info.format = ImageFormat::Jpeg;
    bool has_exif = false;
    size_t at = 2;
    while (true) {
        // Markers are 0xff, any number of 0xff fill bytes, then the code. Bytes that do not belong
        // anywhere are skipped, as libjpeg does: some programs leave them between segments.
        auto byte = readU8(bytes, at);
        while (byte && *byte != 0xff) {
            byte = readU8(bytes, ++at);
        }
        while (byte && *byte == 0xff) {
            byte = readU8(bytes, ++at);
        }
        if (!byte) {
            break;
        }
        const uint8_t marker = *byte;
        ++at;
        if (marker <= 0x01 || (marker >= 0xd0 && marker <= 0xd7)) {
            continue; // no marker at all, or one without a length
        }
        if (marker == 0xd9 || marker == 0xda) {
            return invalid(said("JPEG header: the picture data starts before any frame header"));
        }
        const auto length = readBig(bytes, at, 2);
        if (!length) {
            break;
        }
        if (*length < 2) {
            return invalid(
                said("JPEG header: a segment declares %1 bytes, less than its own length field",
                     *length));
        }
        const size_t body_bytes = static_cast<size_t>(*length) - 2;
        const Bytes segment = slice(bytes, at + 2, body_bytes);
        if (segment.size() != body_bytes) {
            break;
        }
        if (marker == 0xe1 && !has_exif && hasText(segment, 0, "Exif\0\0"sv)) {
            has_exif = true;
            info.orientation = exifOrientation(segment);
        }
        if (isStartOfFrame(marker)) {
            ENGINE_TRY(readFrame(marker, segment, info));
            return info;
        }
        at += static_cast<size_t>(*length);
    }
    return invalid(
        said("JPEG header: the file ends after %1 bytes, before the frame header", bytes.size()));
}

Result<void>
decodeJpeg(Bytes bytes, ImageSize size, std::span<uint8_t> rgb, std::vector<Sentence>& notes) {
    Session session;
    session.bytes = bytes;
    session.size = size;
    session.rgb = rgb.data();
    const int64_t scans = kMaxScanPixels / (size.width * size.height);
    session.max_scans = static_cast<int>(std::clamp<int64_t>(scans, 30, 500));
    // One row of CMYK is small; having it always spares knowing the component count here.
    std::vector<uint8_t> cmyk_row(static_cast<size_t>(size.width) * 4);
    session.cmyk_row = cmyk_row.data();
    const bool is_complete = runDecoder(session);
    if (session.has_too_many_scans) {
        return Error{ErrorCode::Unsupported, said("a JPEG with more than %1 progressive scans; "
                                                  "save it again with any picture program",
                                                  session.max_scans)};
    }
    if (session.is_other_picture) {
        return invalid(said("JPEG header: it describes two different pictures"));
    }
    if (!is_complete && session.errors.msg_code == JERR_OUT_OF_MEMORY) {
        return noMemoryFor(said("a JPEG picture"));
    }
    if (!is_complete) {
        return invalid(said("JPEG data is damaged: %1", session.message.data()));
    }
    if (session.has_ended_early && session.has_missing_data) {
        return invalid(said(
            "JPEG data is truncated: the file ends after %1 bytes, before the picture is complete",
            bytes.size()));
    }
    if (session.has_short_picture) {
        return invalid(
            said("JPEG data is incomplete: it ends before the last of its %1 rows", size.height));
    }
    if (session.warning[0] != '\0') {
        notes.push_back(
            said("the picture has a flaw (%1) and may look wrong", session.warning.data()));
    }
    return {};
}

} // namespace engine::media
