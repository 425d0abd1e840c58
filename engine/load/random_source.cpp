// SPDX-License-Identifier: Apache-2.0
// Random weights on demand; see random_source.h. A value is a function of (seed, tensor, element)
// alone: four bytes of an integer hash are summed, which gives a bell curve with a sigma of 147.8
// steps; one multiplication and one rounding make it bf16.

#include "engine/load/random_source.h"

#include "engine/base/float_types.h"
#include "engine/families/tensor_list.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <string_view>

namespace engine {

namespace {

constexpr float kHashSigma = 147.80F; ///< sqrt(4 * (256^2 - 1) / 12)

struct Recipe {
    float mean = 0.0F;
    float sigma = 1.0F;
    uint32_t seed = 0;
};

uint32_t hashName(std::string_view name, uint64_t seed) {
    uint64_t value = seed ^ 0x9e3779b97f4a7c15ULL;
    for (const char c : name) {
        value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
        value ^= value >> 29U;
    }
    return static_cast<uint32_t>(value ^ (value >> 32U));
}

Recipe recipeFor(const ExpectedTensor& tensor, uint64_t seed) {
    Recipe recipe;
    recipe.seed = hashName(tensor.name, seed);
    const std::string_view name = tensor.name;
    const auto inputs = [&] {
        int64_t n = 1;
        for (size_t i = 1; i < tensor.shape.size(); ++i) {
            n *= tensor.shape[i];
        }
        return static_cast<float>(std::max<int64_t>(1, n));
    };
    switch (tensor.kind) {
    case TensorKind::Linear:
        recipe.sigma = 1.0F / std::sqrt(inputs());
        return recipe;
    case TensorKind::Embedding:
    case TensorKind::Experts:
        recipe.sigma = 1.0F / std::sqrt(static_cast<float>(tensor.shape.back()));
        return recipe;
    case TensorKind::ClipScalar:
        recipe.mean = name.ends_with("_min") ? -30.0F : 30.0F;
        recipe.sigma = 0.5F;
        return recipe;
    case TensorKind::Vector:
        break;
    }
    if (tensor.shape.size() >= 3 ||
        name.find("position_embedding_table") != std::string_view::npos) {
        recipe.sigma =
            name.find("conv") != std::string_view::npos ? 1.0F / std::sqrt(inputs()) : 0.02F;
    } else if (name.ends_with("bias") || name.ends_with("per_dim_scale")) {
        recipe.sigma = 0.02F;
    } else { // norm weights, layer scalars, router and standardization scales
        recipe.mean = 1.0F;
        recipe.sigma = 0.05F;
    }
    return recipe;
}

inline uint32_t hash32(uint32_t x) {
    x ^= x >> 16U;
    x *= 0x21f0aaadU;
    x ^= x >> 15U;
    x *= 0x735a2d97U;
    x ^= x >> 15U;
    return x;
}

/// Elements [first, first + count) of a tensor, count <= 2^31. Written so that compilers vectorise
/// it. One form under ThreadSanitizer: the loader would choose between several before it runs.
#if defined(__x86_64__) && defined(__GNUC__) && defined(__linux__) && !defined(__SANITIZE_THREAD__)
__attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#endif
void generate(uint64_t first, int64_t count, uint32_t seed, float mean, float scale, uint16_t* out) {
    // Low and high half of the element index enter separately, so that tables of more than 2^32
    // elements do not repeat.
    const auto high = static_cast<uint32_t>(first >> 32U);
    const uint32_t base = seed + high * 0x9e3779b9U;
    const auto low = static_cast<uint32_t>(first);
    for (int64_t i = 0; i < count; ++i) {
        const uint32_t h = hash32((low + static_cast<uint32_t>(i)) ^ base);
        const uint32_t sum = (h & 0xffU) + ((h >> 8U) & 0xffU) + ((h >> 16U) & 0xffU) + (h >> 24U);
        const float value = mean + static_cast<float>(static_cast<int32_t>(sum) - 510) * scale;
        const auto bits = std::bit_cast<uint32_t>(value);
        out[i] = static_cast<uint16_t>((bits + 0x7fffU + ((bits >> 16U) & 1U)) >> 16U);
    }
}

class RandomSource final : public TensorSource {
public:
    RandomSource(const ModelConfig& config, uint64_t seed) : seed_(seed) {
        std::vector<std::pair<TensorInfo, Recipe>> made;
        for (const ExpectedTensor& tensor : listTensors(config)) {
            if (tensor.is_unused) {
                continue;
            }
            TensorInfo info;
            info.name = tensor.name;
            info.type = TensorType::BF16;
            info.shape = tensor.shape;
            info.size_bytes = static_cast<uint64_t>(tensor.numElements()) * 2;
            made.emplace_back(std::move(info), recipeFor(tensor, seed));
        }
        std::sort(made.begin(), made.end(),
                  [](const auto& a, const auto& b) { return a.first.name < b.first.name; });
        uint64_t offset = 0;
        for (auto& [info, recipe] : made) {
            info.file_offset = offset;
            offset += info.size_bytes;
            infos_.push_back(std::move(info));
            recipes_.push_back(recipe);
        }
        names_ = {"random weights, seed " + std::to_string(seed)};
    }

    [[nodiscard]] const std::vector<TensorInfo>& tensors() const override { return infos_; }
    [[nodiscard]] const TensorInfo* find(std::string_view name) const override {
        const auto it = std::lower_bound(
            infos_.begin(), infos_.end(), name,
            [](const TensorInfo& info, std::string_view wanted) { return info.name < wanted; });
        return it != infos_.end() && it->name == name ? &*it : nullptr;
    }
    [[nodiscard]] const std::vector<std::string>& fileNames() const override { return names_; }

    [[nodiscard]] Result<void>
    read(const TensorInfo& tensor, uint64_t offset, std::span<std::byte> out) const override {
        if (offset > tensor.size_bytes || out.size() > tensor.size_bytes - offset) {
            return Error{ErrorCode::InvalidFile,
                         said("%1: a range outside the tensor was asked for", tensor.name),
                         {}};
        }
        const TensorInfo* own = find(tensor.name);
        if (own == nullptr) {
            return Error{
                ErrorCode::InvalidFile, said("%1: there is no such tensor", tensor.name), {}};
        }
        const Recipe& recipe = recipes_[static_cast<size_t>(own - infos_.data())];
        constexpr int64_t kPiece = 4096;
        std::array<uint16_t, kPiece> values{};
        uint64_t byte = offset;
        while (!out.empty()) {
            // Pieces end at multiples of 4096 elements, so the high half of the index is constant.
            const uint64_t element = byte / 2;
            const auto count =
                static_cast<int64_t>(kPiece - static_cast<int64_t>(element % kPiece));
            const int64_t left = static_cast<int64_t>((out.size() + (byte % 2) + 1) / 2);
            const int64_t length = std::min(count, left);
            generate(element, length, recipe.seed, recipe.mean, recipe.sigma / kHashSigma,
                     values.data());
            const size_t skip = byte % 2;
            const size_t bytes = std::min(out.size(), static_cast<size_t>(length) * 2 - skip);
            std::memcpy(out.data(), reinterpret_cast<const std::byte*>(values.data()) + skip,
                        bytes);
            out = out.subspan(bytes);
            byte += bytes;
        }
        return {};
    }
    /// A file of this seed that never changes; to be numbered on whenever values come out
    /// otherwise.
    [[nodiscard]] std::optional<FileStamp> fileStamp(int /*file_index*/) const override {
        constexpr int64_t kRecipes = 1;
        return FileStamp{seed_, 0, kRecipes, 0};
    }

private:
    uint64_t seed_;
    std::vector<TensorInfo> infos_;
    std::vector<Recipe> recipes_;
    std::vector<std::string> names_;
};

} // namespace

std::unique_ptr<TensorSource> makeRandomSource(const ModelConfig& config, uint64_t seed) {
    return std::make_unique<RandomSource>(config, seed);
}

} // namespace engine
