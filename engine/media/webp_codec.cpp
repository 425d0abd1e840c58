// SPDX-License-Identifier: Apache-2.0
// WebP through libwebp, where the build has it (BELFRY_HAS_WEBP); of an animation the first frame,
// black where it does not cover the picture. The EXIF chunk gives the orientation. Without libwebp
// both functions refuse with that reason.
#include "engine/media/exif.h"
#include "engine/media/image_codecs.h"
#include "engine/media/media_error.h"

#ifdef BELFRY_HAS_WEBP
#include <webp/decode.h>
#endif

namespace engine::media {

#ifdef BELFRY_HAS_WEBP

namespace {

constexpr size_t kRiffHeaderBytes = 12;

Phrase describeStatus(VP8StatusCode status) {
    switch (status) {
    case VP8_STATUS_NOT_ENOUGH_DATA:
        return phrase("the file is truncated");
    case VP8_STATUS_OUT_OF_MEMORY:
        return phrase("not enough memory");
    case VP8_STATUS_UNSUPPORTED_FEATURE:
        return phrase("it uses an unknown feature");
    default:
        return phrase("the bit stream is damaged");
    }
}

/// What the first chunk of this name holds; empty without one.
Bytes findChunk(Bytes bytes, std::string_view name) {
    size_t at = kRiffHeaderBytes;
    while (true) {
        const auto length = readLittle(bytes, at + 4, 4);
        if (!length) {
            return {};
        }
        if (hasText(bytes, at, name)) {
            return slice(bytes, at + 8, static_cast<size_t>(*length));
        }
        at += 8 + static_cast<size_t>(*length) + (*length & 1U);
    }
}

/// The bit stream to decode and its place in the picture.
struct Frame {
    Bytes bytes;
    int64_t x = 0, y = 0;
    WebPBitstreamFeatures features{};
};

VP8StatusCode readFeatures(Bytes bytes, WebPBitstreamFeatures& out) {
    return WebPGetFeatures(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(), &out);
}

/// The whole file, or of an animation the chunks of its first frame, which libwebp reads like those
/// of a file. Errors: InvalidFile.
Result<Frame> firstFrame(Bytes bytes, const WebPBitstreamFeatures& whole) {
    if (whole.has_animation == 0) {
        return Frame{bytes, 0, 0, whole};
    }
    // Place and size in units of 2 and from 1, duration, flags: 16 bytes, then its chunks.
    constexpr size_t kFrameHeaderBytes = 16;
    const Bytes chunk = findChunk(bytes, "ANMF");
    if (chunk.size() <= kFrameHeaderBytes) {
        return invalid(said("WebP header: an animation without a whole frame"));
    }
    Frame frame;
    frame.bytes = chunk.subspan(kFrameHeaderBytes);
    frame.x = static_cast<int64_t>(readLittle(chunk, 0, 3).value_or(0)) * 2;
    frame.y = static_cast<int64_t>(readLittle(chunk, 3, 3).value_or(0)) * 2;
    const VP8StatusCode status = readFeatures(frame.bytes, frame.features);
    if (status != VP8_STATUS_OK) {
        return invalid(said("WebP header: %1", describeStatus(status)));
    }
    if (frame.x + frame.features.width > whole.width ||
        frame.y + frame.features.height > whole.height) {
        return invalid(said("WebP header: the first frame does not lie within the picture"));
    }
    return frame;
}

} // namespace

Result<ImageInfo> readWebpHeader(Bytes bytes) {
    WebPBitstreamFeatures features{};
    const VP8StatusCode status = readFeatures(bytes, features);
    if (status != VP8_STATUS_OK) {
        return invalid(said("WebP header: %1", describeStatus(status)));
    }
    ENGINE_TRY(firstFrame(bytes, features));
    ImageInfo info;
    info.format = ImageFormat::WebP;
    info.stored = {features.width, features.height};
    const Bytes exif = findChunk(bytes, "EXIF");
    info.orientation = exif.empty() ? 1 : exifOrientation(exif);
    return info;
}

Result<void>
decodeWebp(Bytes bytes, ImageSize size, std::span<uint8_t> rgb, std::vector<Sentence>& /*notes*/) {
    WebPBitstreamFeatures whole{};
    (void)readFeatures(bytes, whole);
    ENGINE_ASSIGN(const Frame frame, firstFrame(bytes, whole));
    const WebPBitstreamFeatures& features = frame.features;
    // Tables and some rows; all pixels of what is stored without loss, which transparency is, too.
    constexpr int kLossy = 1;
    const bool has_all = features.format != kLossy || features.has_alpha != 0;
    if (!hasRoomFor((size_t{8} << 20U) +
                    (has_all ? static_cast<size_t>(size.width * size.height * 8) : 0))) {
        return noMemoryFor(said("a WebP picture"));
    }
    WebPDecoderConfig config{};
    if (WebPInitDecoderConfig(&config) == 0) {
        return Error{ErrorCode::Internal, "libwebp does not fit the headers it was built with"};
    }
    config.output.colorspace = MODE_RGB;
    config.output.is_external_memory = 1;
    const auto start = static_cast<size_t>((frame.y * size.width + frame.x) * 3);
    config.output.u.RGBA.rgba = rgb.data() + start;
    config.output.u.RGBA.stride = static_cast<int>(size.width * 3);
    config.output.u.RGBA.size = rgb.size() - start;
    const MemoryWatch memory; // a part that gets none may be told as damaged
    const VP8StatusCode status = WebPDecode(reinterpret_cast<const uint8_t*>(frame.bytes.data()),
                                            frame.bytes.size(), &config);
    WebPFreeDecBuffer(&config.output);
    if (status == VP8_STATUS_OUT_OF_MEMORY || (status != VP8_STATUS_OK && memory.hasRunOut())) {
        return noMemoryFor(said("a WebP picture"));
    }
    if (status != VP8_STATUS_OK) {
        return invalid(said("WebP data: %1", describeStatus(status)));
    }
    return {};
}

#else

Result<ImageInfo> readWebpHeader(Bytes /*bytes*/) {
    return Error{ErrorCode::Unsupported,
                 said("a WebP picture, which this build cannot read (built without libwebp); save "
                      "it as PNG or JPEG and give that")};
}

Result<void> decodeWebp(Bytes bytes,
                        ImageSize /*size*/,
                        std::span<uint8_t> /*rgb*/,
                        std::vector<Sentence>& /*notes*/) {
    return readWebpHeader(bytes).error();
}

#endif

} // namespace engine::media
