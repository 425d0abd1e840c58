// SPDX-License-Identifier: Apache-2.0
// Pictures to plain tensors: PNG, JPEG (and WebP where the build has it) to 8-bit RGB, then to the
// patches of the vision tower (shared format: Gemma 4, patch grid in row-major order). Sizes are
// read from the header and checked before anything is allocated. Leaves out: colour profiles and
// gamma (the reference ignores them too), animation (first frame or refusal), XMP orientation.
#pragma once

#include "engine/api/sentence.h"
#include "engine/base/result.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// Limits before decoding. A picture over one of them is refused with its own size in the message.
inline constexpr int64_t kMaxImagePixels = 128'000'000; ///< Cameras of phones have 108 million.
inline constexpr int64_t kMaxImageSide = 131'072;       ///< Pixels along one side.
inline constexpr size_t kMaxImageFileBytes = 256U << 20U;

/// Soft-token budgets the vision tower was trained for; other values are refused.
inline constexpr std::array<int64_t, 5> kSoftTokenBudgets = {70, 140, 280, 560, 1120};
inline constexpr int64_t kDefaultSoftTokenBudget = 280;

enum class ImageFormat { Png = 1, Jpeg, WebP };

/// "PNG", "JPEG", "WebP".
std::string_view imageFormatName(ImageFormat format);

struct ImageSize {
    int64_t width = 0;  ///< pixels
    int64_t height = 0; ///< pixels
    friend bool operator==(const ImageSize&, const ImageSize&) = default;
};

/// What the header of a picture says.
struct ImageInfo {
    ImageFormat format = ImageFormat::Png;
    ImageSize stored;    ///< As the file stores it.
    ImageSize displayed; ///< After the EXIF orientation; the size to give to targetSize().
    int orientation = 1; ///< EXIF orientation 1..8; 1 when absent or not valid.
};

/// 8-bit RGB, rows top to bottom, upright (EXIF orientation applied).
struct DecodedImage {
    int64_t width = 0;
    int64_t height = 0;
    std::vector<uint8_t> rgb; ///< [height, width, 3]
    /// Harmless findings of the decoder ("corrupt JPEG data: ..."), for a hint beside the picture.
    std::vector<Sentence> notes;
};

/// The vision tower's input for one picture at its true size (no padding).
struct PatchGrid {
    int64_t grid_w = 0;       ///< patches per row
    int64_t grid_h = 0;       ///< rows of patches
    int64_t soft_tokens = 0;  ///< (grid_w / pooling) * (grid_h / pooling)
    int64_t patch_values = 0; ///< values per patch: patch_size^2 * 3
    std::vector<float>
        patches; ///< [grid_h * grid_w, patch_values], pixel / 255, order (y, x, channel)
    std::vector<int32_t> pos_x; ///< [grid_h * grid_w], column of each patch, from 0
    std::vector<int32_t> pos_y; ///< [grid_h * grid_w], row of each patch, from 0
};

/// Format, size and orientation from the header alone; no pixel is decoded. Refuses what
/// decodeImage() would refuse by its header.
/// Errors: InvalidFile (empty, broken header), Unsupported (other formats, named by content; too
/// many pixels; 12-bit JPEG; WebP in a build without it).
Result<ImageInfo> probeImage(std::span<const std::byte> bytes);

/// Decodes to upright RGB8. Transparency is dropped, grey repeated, palettes expanded, 16 bits cut
/// to their high byte, CMYK converted, all as Pillow's convert("RGB") does it (except 16-bit grey,
/// which older Pillow versions clip to white).
/// Errors: as probeImage(), InvalidFile for broken or truncated data, OutOfMemory.
Result<DecodedImage> decodeImage(std::span<const std::byte> bytes);

/// probeImage() / decodeImage() of a file. Further errors: InvalidFile (cannot be read, not a
/// regular file), Unsupported (larger than kMaxImageFileBytes).
Result<ImageInfo> probeImageFile(const std::filesystem::path& path);
Result<DecodedImage> readImageFile(const std::filesystem::path& path);

/// The size a picture of height x width pixels is resized to. Pure; both sides of the answer are
/// multiples of patch_size * pooling, and it never has more than token_budget soft tokens.
/// Errors: InvalidRequest (budget not in kSoftTokenBudgets, sizes not positive), Unsupported (an
/// aspect ratio without a size, or more than max_positions patches along one side).
Result<ImageSize> targetSize(int64_t height,
                             int64_t width,
                             int64_t token_budget,
                             int64_t patch_size = 16,
                             int64_t pooling = 3,
                             int64_t max_positions = 10240);

/// Soft tokens of a picture already brought to targetSize().
int64_t imageTokens(ImageSize target, int64_t patch_size = 16, int64_t pooling = 3);

/// Resizes to targetSize() (antialiased bicubic, equal to Pillow's bit for bit) and cuts patches.
/// max_positions is the model's position_embedding_size. Errors: as targetSize().
Result<PatchGrid> preprocessImage(const DecodedImage& image,
                                  int64_t token_budget,
                                  int64_t patch_size = 16,
                                  int64_t pooling = 3,
                                  int64_t max_positions = 10240);

/// As preprocessImage() without the floats: the resized picture.
Result<DecodedImage> resizeToTarget(const DecodedImage& image, ImageSize target);

} // namespace engine
