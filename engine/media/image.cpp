// SPDX-License-Identifier: Apache-2.0
// The main path of a picture: recognise, read the header, check the limits, decode, turn upright.
#include "engine/media/image.h"

#include "engine/media/image_codecs.h"
#include "engine/media/media_file.h"
#include "engine/media/orientation.h"

#include <cstdio>

namespace engine {

namespace {

using namespace std::string_view_literals;
using media::Bytes;

Result<ImageInfo> readHeader(Bytes bytes) {
    if (bytes.empty()) {
        return Error{ErrorCode::InvalidFile, said("the picture is empty (0 bytes)")};
    }
    if (media::hasText(bytes, 0, "\x89PNG\r\n\x1a\n"sv)) {
        return media::readPngHeader(bytes);
    }
    if (media::hasText(bytes, 0, "\xff\xd8\xff"sv)) {
        return media::readJpegHeader(bytes);
    }
    if (media::hasText(bytes, 0, "RIFF") && media::hasText(bytes, 8, "WEBP")) {
        return media::readWebpHeader(bytes);
    }
    return Error{ErrorCode::Unsupported,
                 said("expected a picture (PNG, JPEG or WebP), found %1; if it is a picture, save "
                      "it as PNG or JPEG and give that",
                      media::describeContent(bytes))};
}

/// The limits, after the header and before anything is allocated.
Result<void> checkSize(ImageSize size) {
    if (size.width <= 0 || size.height <= 0) {
        return Error{ErrorCode::InvalidFile,
                     said("the picture declares %1; both sides must be at least 1",
                          media::describeSize(size))};
    }
    if (size.width > kMaxImageSide || size.height > kMaxImageSide) {
        return Error{ErrorCode::Unsupported,
                     said("the picture has %1, at most %2 along one side are read; give a smaller "
                          "version or a part of it",
                          media::describeSize(size), kMaxImageSide)};
    }
    const int64_t pixels = size.width * size.height;
    if (pixels > kMaxImagePixels) {
        std::array<char, 32> megapixels{};
        std::snprintf(megapixels.data(), megapixels.size(), "%.1f",
                      static_cast<double>(pixels) / 1e6);
        return Error{ErrorCode::Unsupported,
                     said("the picture has %1 (%2 megapixels), at most %3 megapixels are read; "
                          "give a smaller version of it",
                          media::describeSize(size), megapixels.data(),
                          kMaxImagePixels / 1'000'000)};
    }
    return {};
}

} // namespace

std::string media::describeSize(ImageSize size) {
    return std::to_string(size.width) + " x " + std::to_string(size.height) + " pixels";
}

std::string_view imageFormatName(ImageFormat format) {
    switch (format) {
    case ImageFormat::Png:
        return "PNG";
    case ImageFormat::Jpeg:
        return "JPEG";
    case ImageFormat::WebP:
        return "WebP";
    }
    return "unknown";
}

Result<ImageInfo> probeImage(std::span<const std::byte> bytes) {
    ENGINE_ASSIGN(ImageInfo info, readHeader(bytes));
    ENGINE_TRY(checkSize(info.stored));
    info.displayed = media::orientedSize(info.stored, info.orientation);
    return info;
}

Result<DecodedImage> decodeImage(std::span<const std::byte> bytes) {
    ENGINE_ASSIGN(const ImageInfo info, probeImage(bytes));
    DecodedImage image;
    image.width = info.stored.width;
    image.height = info.stored.height;
    image.rgb.resize(static_cast<size_t>(image.width * image.height * 3));
    switch (info.format) {
    case ImageFormat::Png:
        ENGINE_TRY(media::decodePng(bytes, info.stored, image.rgb, image.notes));
        break;
    case ImageFormat::Jpeg:
        ENGINE_TRY(media::decodeJpeg(bytes, info.stored, image.rgb, image.notes));
        break;
    case ImageFormat::WebP:
        ENGINE_TRY(media::decodeWebp(bytes, info.stored, image.rgb, image.notes));
        break;
    }
    return media::orient(std::move(image), info.orientation);
}

Result<ImageInfo> probeImageFile(const std::filesystem::path& path) {
    ENGINE_ASSIGN(const auto bytes, media::readMediaFile(path, kMaxImageFileBytes));
    auto info = probeImage(bytes);
    return info ? std::move(info) : media::withFileName(std::move(info).error(), path);
}

Result<DecodedImage> readImageFile(const std::filesystem::path& path) {
    ENGINE_ASSIGN(const auto bytes, media::readMediaFile(path, kMaxImageFileBytes));
    auto image = decodeImage(bytes);
    return image ? std::move(image) : media::withFileName(std::move(image).error(), path);
}

} // namespace engine
