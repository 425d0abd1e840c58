// SPDX-License-Identifier: Apache-2.0
// PNG (ISO/IEC 15948) through libpng, with the conversions of Pillow's convert("RGB"): palette and
// grey expanded, 16 bits cut to the high byte, transparency dropped, gamma and profiles ignored.
// All text, profile and time chunks are skipped unread: they can be compressed bombs.
#include "engine/media/exif.h"
#include "engine/media/image_codecs.h"
#include "engine/media/media_error.h"

#include <png.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstdlib>
#include <cstring>

namespace engine::media {

namespace {

using namespace std::string_view_literals;

constexpr size_t kSignatureBytes = 8;
constexpr size_t kMaxMessage = 200;

uint32_t chunkCrc(Bytes type_and_data) {
    // A chunk is at most 2^31 - 1 bytes by its format, so the length fits zlib's uInt.
    return static_cast<uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(type_and_data.data()),
                                       static_cast<uInt>(type_and_data.size())));
}

bool isDepthAllowed(uint8_t colour_type, uint8_t depth) {
    switch (colour_type) {
    case 0:
        return depth == 1 || depth == 2 || depth == 4 || depth == 8 || depth == 16;
    case 3:
        return depth == 1 || depth == 2 || depth == 4 || depth == 8;
    case 2:
    case 4:
    case 6:
        return depth == 8 || depth == 16;
    default:
        return false;
    }
}

/// Orientation from an eXIf chunk, which may stand before or after the picture data.
int findOrientation(Bytes bytes) {
    size_t at = kSignatureBytes;
    while (true) {
        const auto length = readBig(bytes, at, 4);
        if (!length || *length > 0x7fffffffU) {
            return 1;
        }
        const Bytes body = slice(bytes, at + 4, static_cast<size_t>(*length) + 4);
        if (body.empty() || hasText(body, 0, "IEND")) {
            return 1;
        }
        if (hasText(body, 0, "eXIf")) {
            const auto crc = readBig(bytes, at + 4 + body.size(), 4);
            return crc && *crc == chunkCrc(body) ? exifOrientation(body.subspan(4)) : 1;
        }
        at += 4 + body.size() + 4;
    }
}

/// What libpng's callbacks share with the decoder. Nothing here allocates: the error callback
/// leaves by longjmp, which runs no destructor.
struct PngSession {
    png_structp png = nullptr;
    png_infop info = nullptr;
    Bytes bytes;
    size_t at = 0;
    ImageSize size;
    uint8_t* rgb = nullptr;
    png_bytepp rows = nullptr;
    bool is_out_of_memory = false;
    std::array<char, kMaxMessage> message{};

    PngSession() = default;
    PngSession(const PngSession&) = delete;
    PngSession& operator=(const PngSession&) = delete;
    ~PngSession() { png_destroy_read_struct(&png, &info, nullptr); }
};

[[noreturn]] void onError(png_structp png, png_const_charp text) {
    auto* session = static_cast<PngSession*>(png_get_error_ptr(png));
    std::strncpy(session->message.data(), text, kMaxMessage - 1);
    png_longjmp(png, 1);
}

void onWarning(png_structp /*png*/, png_const_charp /*text*/) {
    // Warnings concern ancillary chunks, which cannot change the pixels we return.
}

/// Allocator for libpng and for zlib under it.
png_voidp onAllocate(png_structp png, png_alloc_size_t bytes) {
    void* const block = std::malloc(bytes);
    if (block == nullptr) {
        static_cast<PngSession*>(png_get_mem_ptr(png))->is_out_of_memory = true;
    }
    return block;
}

void onFree(png_structp /*png*/, png_voidp block) {
    std::free(block);
}

void onRead(png_structp png, png_bytep out, png_size_t size) {
    auto* session = static_cast<PngSession*>(png_get_io_ptr(png));
#ifndef BELFRY_PLANTED_OVERREAD // built once without this check: AddressSanitizer must notice
    if (size > session->bytes.size() - session->at) {
        png_error(png, "the file ends too early");
    }
#endif
    std::memcpy(out, session->bytes.data() + session->at, size);
    session->at += size;
}

/// The part that can leave by longjmp: plain data only. False: the message is in the session.
bool runPngDecoder(PngSession& session) {
    png_structp png = session.png;
    if (setjmp(png_jmpbuf(png)) != 0) {
        return false;
    }
    png_set_read_fn(png, &session, onRead);
    png_set_user_limits(png, static_cast<png_uint_32>(session.size.width),
                        static_cast<png_uint_32>(session.size.height));
    png_set_chunk_cache_max(png, 64);
    png_set_chunk_malloc_max(png, 1U << 20U);
    png_set_crc_action(png, PNG_CRC_ERROR_QUIT, PNG_CRC_WARN_DISCARD);
#ifdef PNG_SET_UNKNOWN_CHUNKS_SUPPORTED
    static constexpr png_byte kSkipped[] = "iCCP\0tEXt\0zTXt\0iTXt\0sPLT\0hIST\0eXIf\0tIME\0"
                                           "pHYs\0sCAL\0pCAL\0oFFs\0gAMA\0cHRM\0sRGB\0bKGD\0sBIT";
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, kSkipped, sizeof(kSkipped) / 5);
#endif
    png_read_info(png, session.info);
    if (png_get_image_width(png, session.info) != static_cast<png_uint_32>(session.size.width) ||
        png_get_image_height(png, session.info) != static_cast<png_uint_32>(session.size.height)) {
        png_error(png, "the header changed its size while being read");
    }
    const int colour = png_get_color_type(png, session.info);
    if (colour == PNG_COLOR_TYPE_PALETTE) {
        png_set_palette_to_rgb(png);
    } else if ((colour & PNG_COLOR_MASK_COLOR) == 0) {
        png_set_expand_gray_1_2_4_to_8(png);
        png_set_gray_to_rgb(png);
    }
    png_set_strip_16(png);
    png_set_strip_alpha(png);
    png_set_interlace_handling(png);
    png_read_update_info(png, session.info);
    if (png_get_rowbytes(png, session.info) != static_cast<size_t>(session.size.width) * 3) {
        png_error(png, "a pixel layout this reader does not know");
    }
    png_read_image(png, session.rows);
    // Chunks behind the picture data are not read: nothing in them changes a pixel.
    return true;
}

} // namespace

Result<ImageInfo> readPngHeader(Bytes bytes) {
    if (hasText(bytes, kSignatureBytes + 4, "CgBI")) {
        return Error{
            ErrorCode::Unsupported,
            said("a PNG in Apple's private variant (CgBI); open and save it as ordinary PNG")};
    }
    const auto length = readBig(bytes, kSignatureBytes, 4);
    const Bytes body = slice(bytes, kSignatureBytes + 4, 4 + 13);
    const auto crc = readBig(bytes, kSignatureBytes + 4 + 4 + 13, 4);
    if (!length || body.empty() || !crc) {
        return invalid(said("PNG header: the file ends after %1 bytes, the header alone has 33",
                            bytes.size()));
    }
    if (!hasText(body, 0, "IHDR") || *length != 13) {
        return invalid(said("PNG header: the first chunk is not an IHDR of 13 bytes"));
    }
    if (*crc != chunkCrc(body)) {
        return invalid(said("PNG header: its checksum (CRC) does not match, the file is damaged"));
    }
    ImageInfo info;
    info.format = ImageFormat::Png;
    info.stored.width = static_cast<int64_t>(*readBig(body, 4, 4));
    info.stored.height = static_cast<int64_t>(*readBig(body, 8, 4));
    const uint8_t depth = *readU8(body, 12);
    const uint8_t colour_type = *readU8(body, 13);
    if (!isDepthAllowed(colour_type, depth)) {
        return invalid(
            said("PNG header: colour type %1 with %2 bits does not exist", colour_type, depth));
    }
    if (*readU8(body, 14) != 0 || *readU8(body, 15) != 0 || *readU8(body, 16) > 1) {
        return invalid(said("PNG header: unknown compression, filter or interlace method"));
    }
    info.orientation = findOrientation(bytes);
    return info;
}

Result<void>
decodePng(Bytes bytes, ImageSize size, std::span<uint8_t> rgb, std::vector<Sentence>& /*notes*/) {
    PngSession session;
    session.bytes = bytes;
    session.size = size;
    session.rgb = rgb.data();
    std::vector<png_bytep> rows(static_cast<size_t>(size.height));
    for (size_t y = 0; y < rows.size(); ++y) {
        rows[y] = rgb.data() + y * static_cast<size_t>(size.width) * 3;
    }
    session.rows = rows.data();
    session.png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, &session, onError, onWarning,
                                           &session, onAllocate, onFree);
    session.info = session.png == nullptr ? nullptr : png_create_info_struct(session.png);
    if (session.is_out_of_memory) {
        return noMemoryFor(said("a PNG picture"));
    }
    if (session.info == nullptr) {
        return Error{ErrorCode::Internal, "libpng could not be started"};
    }
    if (!runPngDecoder(session)) {
        if (session.is_out_of_memory) {
            return noMemoryFor(said("a PNG picture"));
        }
        return invalid(said("PNG data is damaged: %1 (at byte %2 of %3)", session.message.data(),
                            session.at, bytes.size()));
    }
    return {};
}

} // namespace engine::media
