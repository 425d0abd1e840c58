// SPDX-License-Identifier: Apache-2.0
// From an upright picture to the vision tower's patches: target size, resize, cut, divide by 255.
// Formulas: engine/families/gemma4/ARCHITECTURE.md, 4.1 and 4.2.
#include "engine/media/image.h"
#include "engine/media/image_codecs.h"
#include "engine/media/resize.h"

#include <algorithm>
#include <cmath>

namespace engine {

namespace {

constexpr int64_t kMaxSourceSide = 1'000'000'000; ///< keeps height * width inside int64_t
constexpr int64_t kMaxPatchSide = 1024;

Error badRequest(Sentence message) {
    return {ErrorCode::InvalidRequest, std::move(message)};
}

Result<void> checkPatchSizes(int64_t token_budget, int64_t patch_size, int64_t pooling) {
    if (std::find(kSoftTokenBudgets.begin(), kSoftTokenBudgets.end(), token_budget) ==
        kSoftTokenBudgets.end()) {
        return badRequest(
            said("image token budget %1: expected 70, 140, 280, 560 or 1120", token_budget));
    }
    if (patch_size < 1 || patch_size > kMaxPatchSide || pooling < 1 || pooling > kMaxPatchSide) {
        return badRequest(said("patch size %1 with pooling %2: both must be from 1 to %3",
                               patch_size, pooling, kMaxPatchSide));
    }
    return {};
}

} // namespace

Result<ImageSize> targetSize(int64_t height,
                             int64_t width,
                             int64_t token_budget,
                             int64_t patch_size,
                             int64_t pooling,
                             int64_t max_positions) {
    ENGINE_TRY(checkPatchSizes(token_budget, patch_size, pooling));
    if (height < 1 || width < 1 || height > kMaxSourceSide || width > kMaxSourceSide) {
        return badRequest(
            said("a picture of %1 cannot be resized", media::describeSize({width, height})));
    }
    const int64_t unit = patch_size * pooling;
    const auto unit_f = static_cast<double>(unit);
    const int64_t target_pixels = pooling * pooling * token_budget * patch_size * patch_size;
    // The order of these double operations decides the floor when a side is nearly whole.
    const double factor =
        std::sqrt(static_cast<double>(target_pixels) / static_cast<double>(height * width));
    const auto fit = [&](int64_t side) {
        return static_cast<int64_t>(std::floor(factor * static_cast<double>(side) / unit_f)) * unit;
    };
    ImageSize target{fit(width), fit(height)};
    if (target.width == 0 && target.height == 0) {
        return Error{ErrorCode::Unsupported,
                     said("a picture of %1 has no size within %2 image tokens",
                          media::describeSize({width, height}), token_budget)};
    }
    if (target.height == 0) {
        target.height = unit;
        target.width = std::min(width / height * unit, token_budget * unit);
    } else if (target.width == 0) {
        target.width = unit;
        target.height = std::min(height / width * unit, token_budget * unit);
    }
    const int64_t longest = std::max(target.width, target.height) / patch_size;
    if (longest > max_positions) {
        return Error{
            ErrorCode::Unsupported,
            said(
                "a picture of %1 would need %2 patches along one side, the model has %3 positions; "
                "cut it into less elongated parts or choose a smaller image token budget",
                media::describeSize({width, height}), longest, max_positions)};
    }
    return target;
}

int64_t imageTokens(ImageSize target, int64_t patch_size, int64_t pooling) {
    const int64_t unit = patch_size * pooling;
    return unit < 1 ? 0 : (target.width / unit) * (target.height / unit);
}

Result<DecodedImage> resizeToTarget(const DecodedImage& image, ImageSize target) {
    const bool is_whole = image.width > 0 && image.height > 0 && image.width <= kMaxImageSide &&
                          image.height <= kMaxImageSide &&
                          image.rgb.size() == static_cast<size_t>(image.width * image.height * 3);
    if (!is_whole) {
        return badRequest(said("a picture of %1 comes with %2 bytes of pixels",
                               media::describeSize({image.width, image.height}), image.rgb.size()));
    }
    if (target.width < 1 || target.height < 1 || target.width > kMaxImageSide ||
        target.height > kMaxImageSide || target.width * target.height > kMaxImagePixels) {
        return badRequest(said("cannot resize a picture to %1", media::describeSize(target)));
    }
    DecodedImage resized;
    resized.width = target.width;
    resized.height = target.height;
    resized.notes = image.notes;
    resized.rgb =
        media::resizeBicubic(image.rgb, image.height, image.width, target.height, target.width);
    return resized;
}

Result<PatchGrid> preprocessImage(const DecodedImage& image,
                                  int64_t token_budget,
                                  int64_t patch_size,
                                  int64_t pooling,
                                  int64_t max_positions) {
    ENGINE_ASSIGN(const ImageSize target, targetSize(image.height, image.width, token_budget,
                                                     patch_size, pooling, max_positions));
    ENGINE_ASSIGN(const DecodedImage resized, resizeToTarget(image, target));
    std::array<float, 256> levels{};
    for (size_t i = 0; i < levels.size(); ++i) {
        levels[i] = static_cast<float>(i) / 255.0F;
    }
    PatchGrid grid;
    grid.grid_w = target.width / patch_size;
    grid.grid_h = target.height / patch_size;
    grid.soft_tokens = imageTokens(target, patch_size, pooling);
    grid.patch_values = patch_size * patch_size * 3;
    const int64_t count = grid.grid_w * grid.grid_h;
    grid.patches.resize(static_cast<size_t>(count * grid.patch_values));
    grid.pos_x.reserve(static_cast<size_t>(count));
    grid.pos_y.reserve(static_cast<size_t>(count));
    float* out = grid.patches.data();
    for (int64_t row = 0; row < grid.grid_h; ++row) {
        for (int64_t column = 0; column < grid.grid_w; ++column) {
            grid.pos_x.push_back(static_cast<int32_t>(column));
            grid.pos_y.push_back(static_cast<int32_t>(row));
            for (int64_t y = 0; y < patch_size; ++y) {
                const uint8_t* from =
                    resized.rgb.data() +
                    ((row * patch_size + y) * target.width + column * patch_size) * 3;
                for (int64_t i = 0; i < patch_size * 3; ++i) {
                    *out++ = levels[from[i]];
                }
            }
        }
    }
    return grid;
}

} // namespace engine
