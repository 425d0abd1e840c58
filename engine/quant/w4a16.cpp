// SPDX-License-Identifier: Apache-2.0
// Finds, checks and repacks W4A16 weights; see w4a16.h. One rule, one error, in the order of
// NF4.md: what says that the weight has another form comes before what says that it is damaged.

#include "engine/quant/w4a16.h"

#include "engine/base/float_types.h"
#include "engine/base/sentence_english.h"
#include "engine/quant/quant_state_error.h"

#include <array>
#include <cmath>
#include <cstring>
#include <vector>

namespace engine {

namespace {

constexpr std::string_view kCodesEnd = "_packed";
constexpr const char* kScalesEnd = "_scale";
constexpr const char* kShapeEnd = "_shape";
constexpr int kBits = 4;
constexpr int64_t kWordBits = 32;
/// Eight steps are one scale in memory: its codes count in eighths.
constexpr float kStepsPerScale = 8.0F;

/// Tensors beside the codes that make them another form, and what each of them means.
struct OtherForm {
    std::string_view end, rule;
    Phrase expected;
};
constexpr std::array<OtherForm, 4> kOtherForms = {{
    {"_zero_point", "w4a16_zero_point", phrase("symmetric codes, without zero points")},
    {"_g_idx", "w4a16_g_idx", phrase("groups in the order of the columns, without actorder")},
    {"_global_scale", "w4a16_global_scale",
     phrase("scales of groups alone, none for the whole tensor as in NVFP4")},
    {"_chan_scale", "w4a16_chan_scale",
     phrase("scales of groups alone, none for channels beside them")},
}};

/// Where a check stands: the tensor that it is about, and the rule.
struct Place {
    const std::string& tensor;
    std::string_view rule;
};

std::vector<std::pair<std::string, std::string>>
detailsOf(const Place& at, const Argument& expected, const Argument& found) {
    return {{"layer", at.tensor},
            {"rule", std::string(at.rule)},
            {"expected", inEnglish(expected)},
            {"found", inEnglish(found)}};
}

Error broken(const Place& at, const Argument& expected, const Argument& found) {
    return {ErrorCode::InvalidFile,
            said("%1: a weight packed by compressed-tensors breaks the rule %2: expected %3, found "
                 "%4. Download the model again, or use the 16-bit one.",
                 at.tensor, at.rule, expected, found),
            detailsOf(at, expected, found)};
}

Error otherForm(const Place& at, const Argument& expected, const Argument& found) {
    return {
        ErrorCode::Unsupported,
        said("%1: of what compressed-tensors packs, W4A16 can be read (pack-quantized, 4 bits, "
             "symmetric, groups of 32), and this breaks its rule %2: expected %3, found %4. Use "
             "a W4A16 model of that form or the 16-bit one.",
             at.tensor, at.rule, expected, found),
        detailsOf(at, expected, found)};
}

/// NAME.weight of NAME.weight_packed.
std::string weightOf(std::string_view packed) {
    return std::string(packed.substr(0, packed.size() - kCodesEnd.size()));
}

Result<void> checkForm(const TensorSource& source, const std::string& weight) {
    for (const OtherForm& form : kOtherForms) {
        const std::string name = weight + std::string(form.end);
        if (const TensorInfo* info = source.find(name); info != nullptr) {
            return otherForm({name, form.rule}, form.expected, described(*info));
        }
    }
    return {};
}

Result<void> checkCodes(const TensorInfo& codes, int64_t rows, int64_t cols) {
    const auto wordsOf = [cols](int64_t bits) { return (cols * bits + kWordBits - 1) / kWordBits; };
    const std::vector<int64_t> shape = {rows, wordsOf(kBits)};
    if (codes.type != TensorType::I32) {
        return otherForm({codes.name, "w4a16_codes_dtype"}, described(TensorType::I32, shape),
                         described(codes));
    }
    if (codes.shape == shape) {
        return {};
    }
    for (const int bits : {8, 2, 3, 5, 6, 7, 1}) {
        if (codes.shape == std::vector<int64_t>{rows, wordsOf(bits)}) {
            return otherForm({codes.name, "w4a16_bits"}, said("codes of %1 bits", kBits),
                             said("codes of %1 bits, %2", bits, described(codes)));
        }
    }
    return broken({codes.name, "w4a16_codes_shape"}, described(TensorType::I32, shape),
                  described(codes));
}

Result<void> checkScales(const TensorInfo& scales, int64_t rows, int64_t cols) {
    const std::vector<int64_t> shape = {rows, cols / kW4A16Group};
    if (scales.type != TensorType::BF16) {
        return otherForm({scales.name, "w4a16_scale_dtype"}, described(TensorType::BF16, shape),
                         described(scales));
    }
    if (scales.shape == shape) {
        return {};
    }
    const bool is_of_rows = scales.shape.size() == 2 && scales.shape[0] == rows;
    const int64_t groups = is_of_rows ? scales.shape[1] : 0;
    if (groups > 0 && cols % groups == 0) {
        return otherForm({scales.name, "w4a16_group"}, said("groups of %1", kW4A16Group),
                         said("groups of %1, %2", cols / groups, described(scales)));
    }
    return broken({scales.name, "w4a16_scale_shape"}, described(TensorType::BF16, shape),
                  described(scales));
}

} // namespace

bool isW4A16Codes(std::string_view name, std::string* weight) {
    if (!name.ends_with(kCodesEnd)) {
        return false;
    }
    name.remove_suffix(kCodesEnd.size());
    if (weight != nullptr) {
        *weight = std::string(name);
    }
    return name.ends_with(".weight");
}

bool isW4A16Helper(std::string_view name, std::string* weight) {
    const auto isHelper = [&](std::string_view end) {
        if (!name.ends_with(end) ||
            !name.substr(0, name.size() - end.size()).ends_with(".weight")) {
            return false;
        }
        if (weight != nullptr) {
            *weight = std::string(name.substr(0, name.size() - end.size()));
        }
        return true;
    };
    if (isHelper(kScalesEnd) || isHelper(kShapeEnd)) {
        return true;
    }
    for (const OtherForm& form : kOtherForms) {
        if (isHelper(form.end)) {
            return true;
        }
    }
    return false;
}

Result<W4A16Weight>
checkW4A16Headers(const TensorSource& source, std::string_view packed, int64_t rows, int64_t cols) {
    const std::string codes_name(packed);
    const std::string weight = weightOf(packed);
    const std::string scales_name = weight + kScalesEnd;
    W4A16Weight found;
    found.codes = source.find(packed);
    if (found.codes == nullptr) {
        return broken({codes_name, "w4a16_codes_missing"}, said("packed codes"),
                      said("no such tensor"));
    }
    ENGINE_TRY(checkForm(source, weight));
    ENGINE_TRY(checkCodes(*found.codes, rows, cols));
    // In memory blocks run over the whole matrix, so a row has to end with a group.
    if (cols % kW4A16Group != 0) {
        return otherForm({codes_name, "w4a16_columns"},
                         said("rows of a multiple of %1 values", kW4A16Group),
                         said("rows of %1", cols));
    }
    found.scales = source.find(scales_name);
    if (found.scales == nullptr) {
        return broken({scales_name, "w4a16_scale_missing"},
                      described(TensorType::BF16, {rows, cols / kW4A16Group}),
                      said("no such tensor"));
    }
    ENGINE_TRY(checkScales(*found.scales, rows, cols));
    const std::string shape_name = weight + kShapeEnd;
    const TensorInfo* shape = source.find(shape_name);
    if (shape == nullptr || shape->type != TensorType::I64 ||
        shape->shape != std::vector<int64_t>{2}) {
        return broken({shape_name, "w4a16_shape_tensor"}, described(TensorType::I64, {2}),
                      shape == nullptr ? said("no such tensor") : asItIs(described(*shape)));
    }
    return found;
}

Result<W4A16Weight>
openW4A16(const TensorSource& source, std::string_view packed, int64_t rows, int64_t cols) {
    ENGINE_ASSIGN(const W4A16Weight weight, checkW4A16Headers(source, packed, rows, cols));
    const std::string shape_name = weightOf(packed) + kShapeEnd;
    std::array<int64_t, 2> shape{};
    ENGINE_TRY(source.read(*source.find(shape_name), 0, std::as_writable_bytes(std::span(shape))));
    if (shape != std::array{rows, cols}) {
        return broken({shape_name, "w4a16_shape"}, shownShape({rows, cols}),
                      shownShape({shape[0], shape[1]}));
    }
    return weight;
}

Result<void> readW4A16Codes(const TensorSource& source,
                            const W4A16Weight& weight,
                            uint64_t offset,
                            std::span<std::byte> out) {
    ENGINE_TRY(source.read(*weight.codes, offset, out));
    // The file has the even element of a pair in the low nibble, memory in the high one. Both
    // number the codes from -8 upwards.
    for (std::byte& pair : out) {
        pair = (pair << 4) | (pair >> 4);
    }
    return {};
}

Result<void> readW4A16Scales(const TensorSource& source,
                             const W4A16Weight& weight,
                             int64_t first,
                             std::span<std::byte> out) {
    const size_t count = out.size() / sizeof(float);
    std::vector<uint16_t> stored(count);
    ENGINE_TRY(source.read(*weight.scales, static_cast<uint64_t>(first) * sizeof(uint16_t),
                           std::as_writable_bytes(std::span(stored))));
    for (size_t i = 0; i < count; ++i) {
        const float step = bf16ToFloat(stored[i]);
        const float scale = kStepsPerScale * step; // exact, unless it leaves the range
        if (!std::isfinite(scale)) {
            return broken(
                {weight.scales->name, "w4a16_scale_finite"}, said("finite scales below 2^125"),
                said("%1 at entry %2", static_cast<double>(step), first + static_cast<int64_t>(i)));
        }
        std::memcpy(out.data() + i * sizeof(float), &scale, sizeof(float));
    }
    return {};
}

} // namespace engine
