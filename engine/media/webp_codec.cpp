// SPDX-License-Identifier: Apache-2.0
// WebP through libwebp, where the build has it (BELFRY_HAS_WEBP). Still pictures only; the EXIF
// chunk gives the orientation. Without libwebp both functions refuse with that reason.
#include "engine/media/exif.h"
#include "engine/media/image_codecs.h"
#include "engine/media/no_memory.h"

#ifdef BELFRY_HAS_WEBP
#include <webp/decode.h>
#endif

namespace engine::media {

#ifdef BELFRY_HAS_WEBP

namespace {

constexpr size_t kRiffHeaderBytes = 12;

Error invalid(Sentence message) {
    return {ErrorCode::InvalidFile, std::move(message)};
}

/// Orientation from the EXIF chunk of an extended WebP; 1 without one.
int findOrientation(Bytes bytes) {
    size_t at = kRiffHeaderBytes;
    while (true) {
        const auto length = readLittle(bytes, at + 4, 4);
        if (!length) {
            return 1;
        }
        if (hasText(bytes, at, "EXIF")) {
            return exifOrientation(slice(bytes, at + 8, static_cast<size_t>(*length)));
        }
        at += 8 + static_cast<size_t>(*length) + (*length & 1U);
    }
}

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

} // namespace

Result<ImageInfo> readWebpHeader(Bytes bytes) {
    WebPBitstreamFeatures features{};
    const VP8StatusCode status =
        WebPGetFeatures(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(), &features);
    if (status != VP8_STATUS_OK) {
        return invalid(said("WebP header: %1", describeStatus(status)));
    }
    if (features.has_animation != 0) {
        return Error{ErrorCode::Unsupported,
                     said("an animated WebP; save one frame as a picture and give that")};
    }
    ImageInfo info;
    info.format = ImageFormat::WebP;
    info.stored = {features.width, features.height};
    info.orientation = findOrientation(bytes);
    return info;
}

Result<void>
decodeWebp(Bytes bytes, ImageSize size, std::span<uint8_t> rgb, std::vector<ReplyNote>& /*notes*/) {
    WebPBitstreamFeatures features{};
    (void)WebPGetFeatures(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(), &features);
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
    config.output.u.RGBA.rgba = rgb.data();
    config.output.u.RGBA.stride = static_cast<int>(size.width * 3);
    config.output.u.RGBA.size = rgb.size();
    const MemoryWatch memory; // a part that gets none may be told as damaged
    const VP8StatusCode status =
        WebPDecode(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(), &config);
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
                        std::vector<ReplyNote>& /*notes*/) {
    return readWebpHeader(bytes).error();
}

#endif

} // namespace engine::media
