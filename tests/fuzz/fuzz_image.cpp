// SPDX-License-Identifier: Apache-2.0
// Any bytes as a picture: an error with a message, or pixels of the size that the header said. Half
// of the mutations go behind the checks that stop a random one: chunk checksums and the deflated
// stream of a PNG, the entropy-coded data of a JPEG, the coded part of a WebP. libpng, libjpeg and
// libwebp are the system's, not instrumented: what is seen of them is what they do to our memory
// (AddressSanitizer's allocator and their calls of memcpy and such), not which branches they take.
#include "engine/media/image.h"
#include "tests/engine/media/picture_mutations.h"
#include "tests/fuzz/require.h"

using fuzz::require;
using support::ByteVector;

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace {

/// Larger ones only cost time.
constexpr int64_t kMostPixels = 1 << 18;

ByteVector mutatedInside(const ByteVector& picture, support::Random& random) {
    const bool is_png = picture[0] == 0x89;
    const bool is_jpeg = picture[0] == 0xff;
    switch (random() % 5) {
    case 0:
        return is_png    ? support::changedScanLines(picture, random)
               : is_jpeg ? support::changedEntropyData(picture, random)
                         : support::changedWebpData(picture, random);
    case 1:
        return is_png    ? support::changedChunkOrder(picture, random)
               : is_jpeg ? support::changedJpegTables(picture, random)
                         : support::changedWebpChunks(picture, random);
    case 2:
        return is_png ? support::changedPalette(picture, random)
                      : support::changedEntropyData(picture, random);
    case 3:
        return is_png ? support::changedDeflate(picture, random)
                      : support::changedWebpData(picture, random);
    default:
        return support::withChangedScanLines(picture, random, [](ByteVector& raw) {
            const size_t size = LLVMFuzzerMutate(raw.data(), raw.size(), raw.size());
            raw.resize(size);
        });
    }
}

} // namespace

extern "C" size_t
LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
    support::Random random(seed);
    ByteVector picture(data, data + size);
    if (size > 16 && random() % 2 == 0) {
        picture = mutatedInside(picture, random);
    } else {
        picture.resize(max_size);
        picture.resize(LLVMFuzzerMutate(picture.data(), size, max_size));
        const auto pieces = support::pngPieces(picture);
        if (!pieces.empty() && random() % 4 != 0) {
            picture = support::pngOfPieces(pieces); // with right checksums
        }
    }
    if (picture.size() > max_size) {
        return size;
    }
    std::copy(picture.begin(), picture.end(), data);
    return picture.size();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const auto bytes = std::as_bytes(std::span(data, size));
    const auto info = engine::probeImage(bytes);
    if (!info) {
        require(!info.error().message.empty());
        require(!engine::decodeImage(bytes).has_value());
        return 0;
    }
    const engine::ImageSize shown = info->displayed;
    require(shown.width > 0 && shown.height > 0 && shown.width <= engine::kMaxImageSide &&
            shown.height <= engine::kMaxImageSide &&
            shown.width * shown.height <= engine::kMaxImagePixels);
    if (shown.width * shown.height > kMostPixels) {
        return 0;
    }
    const auto image = engine::decodeImage(bytes);
    if (!image) {
        require(!image.error().message.empty());
        return 0;
    }
    require(image->width == shown.width && image->height == shown.height);
    require(image->rgb.size() == static_cast<size_t>(shown.width * shown.height * 3));
    if (size % 16 == 0) {
        const auto patches = engine::preprocessImage(*image, 70);
        require(patches ? patches->soft_tokens <= 70 : !patches.error().message.empty());
    }
    return 0;
}
