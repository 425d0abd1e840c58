// SPDX-License-Identifier: Apache-2.0
// Finds and checks the keys that make up a quantized weight (bitsandbytes 4-bit, LLM.int8()). One
// rule, one error; the order of the checks is that of engine/quant/NF4.md. Bulk data is read only
// by readPacked(); the loader reads it in pieces itself.

#include "engine/quant/quant_state.h"

#include "engine/base/float_types.h"
#include "engine/base/sentence_english.h"
#include "engine/quant/quant_state_error.h"
#include "engine/quant/w4a16.h"
#include "kernels/block_formats.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace engine {

namespace {

constexpr std::string_view kStateMarker = ".quant_state.bitsandbytes__";
constexpr uint64_t kMaxStateBytes = 4096;
constexpr std::string_view kWeightEnd = ".weight";

uint64_t elementsOf(const TensorInfo& info) {
    const size_t size = tensorTypeSize(info.type);
    return size == 0 ? 0 : info.size_bytes / size;
}

std::string joined(std::string_view a, std::string_view b) {
    std::string text(a);
    text += b;
    return text;
}

/// All packed-state keys of a weight (should be one).
std::vector<const TensorInfo*> stateKeys(const TensorSource& source, std::string_view weight) {
    const std::string prefix = joined(weight, kStateMarker);
    const auto& all = source.tensors();
    auto it = std::lower_bound(
        all.begin(), all.end(), prefix,
        [](const TensorInfo& info, const std::string& wanted) { return info.name < wanted; });
    std::vector<const TensorInfo*> keys;
    for (; it != all.end() && it->name.starts_with(prefix); ++it) {
        keys.push_back(&*it);
    }
    return keys;
}

template <typename T>
Result<std::vector<T>> readAll(const TensorSource& source, const TensorInfo& info) {
    std::vector<T> values(info.size_bytes / sizeof(T));
    ENGINE_TRY(source.read(info, 0, std::as_writable_bytes(std::span(values))));
    return values;
}

/// A helper tensor with an exact type and number of elements.
Result<const TensorInfo*> needHelper(const TensorSource& source,
                                     std::string_view weight,
                                     std::string_view name,
                                     TensorType type,
                                     uint64_t count) {
    const TensorInfo* info = source.find(joined(weight, joined(".", name)));
    const std::string rule(name);
    const Sentence expected = said("%1 with %2 entries", tensorTypeName(type), count);
    if (info == nullptr) {
        return quantStateError(weight, rule + "_missing", expected, said("no key .%1", rule));
    }
    if (info->type != type) {
        return quantStateError(weight, rule + "_dtype", expected, described(*info));
    }
    if (elementsOf(*info) != count) {
        return quantStateError(weight, rule + "_count", expected, described(*info));
    }
    return info;
}

Result<const TensorInfo*> stateOf(const TensorSource& source, std::string_view weight) {
    const auto keys = stateKeys(source, weight);
    if (keys.empty()) {
        return quantStateError(weight, "state_key",
                               said("one key .quant_state.bitsandbytes__nf4 or __fp4"),
                               said("none"));
    }
    if (keys.size() > 1) {
        return quantStateError(weight, "state_key",
                               said("one key .quant_state.bitsandbytes__nf4 or __fp4"),
                               said("%1 such keys", keys.size()));
    }
    return keys.front();
}

Result<PackedState> readState(const TensorSource& source, std::string_view weight) {
    ENGINE_ASSIGN(const TensorInfo* found, stateOf(source, weight));
    const TensorInfo& key = *found;
    const std::string_view suffix =
        std::string_view(key.name).substr(weight.size() + kStateMarker.size());
    if (key.type != TensorType::U8) {
        return quantStateError(weight, "state_type", said("U8, the bytes of a JSON text"),
                               described(key));
    }
    if (key.size_bytes == 0 || key.size_bytes > kMaxStateBytes) {
        return quantStateError(weight, "state_size", said("1 to 4096 bytes"),
                               std::to_string(key.size_bytes));
    }
    ENGINE_ASSIGN(const auto text, readAll<char>(source, key));
    return parsePackedState(weight, suffix, std::string_view(text.data(), text.size()));
}

Result<void> checkCodes(std::string_view weight, const TensorInfo& codes, uint64_t n) {
    if (codes.type == TensorType::Other) {
        return quantStateError(weight, "weight_dtype", said("a storage type with whole bytes"),
                               described(codes));
    }
    if (codes.size_bytes != (n + 1) / 2) {
        return quantStateError(weight, "weight_bytes", said("%1 bytes of codes", (n + 1) / 2),
                               said("%1 bytes, %2", codes.size_bytes, described(codes)));
    }
    return {};
}

/// quant_map must be the published code book; +0.0 and -0.0 count as equal.
Result<void>
checkCodeBook(const TensorSource& source, std::string_view weight, kernels::WeightFormat book) {
    ENGINE_ASSIGN(const TensorInfo* info,
                  needHelper(source, weight, "quant_map", TensorType::F32, 16));
    ENGINE_ASSIGN(const auto stored, readAll<float>(source, *info));
    for (size_t i = 0; i < stored.size(); ++i) {
        if (!(stored[i] == codeBook(book)[i])) {
            return quantStateError(
                weight, "quant_map",
                said("the published 4-bit code table (entry %1 is %2)", i, codeBook(book)[i]),
                said("an unknown 4-bit code table, %1 there", stored[i]));
        }
    }
    return {};
}

Result<void> openNested(const TensorSource& source,
                        std::string_view weight,
                        uint64_t blocks,
                        PackedWeight& packed) {
    const bool has_absmax = source.find(joined(weight, ".nested_absmax")) != nullptr;
    const bool has_map = source.find(joined(weight, ".nested_quant_map")) != nullptr;
    if (!packed.state.is_nested) {
        if (has_absmax || has_map) {
            return quantStateError(weight, "nested_keys",
                                   said("no nested keys, since the state has none"),
                                   has_absmax ? ".nested_absmax" : ".nested_quant_map");
        }
        return {};
    }
    const uint64_t groups = (blocks + kNestedBlockSize - 1) / kNestedBlockSize;
    ENGINE_ASSIGN(packed.nested_absmax,
                  needHelper(source, weight, "nested_absmax", TensorType::F32, groups));
    ENGINE_ASSIGN(const TensorInfo* map,
                  needHelper(source, weight, "nested_quant_map", TensorType::F32, 256));
    ENGINE_ASSIGN(packed.nested_code, readAll<float>(source, *map));
    for (size_t i = 0; i < packed.nested_code.size(); ++i) {
        if (!std::isfinite(packed.nested_code[i])) {
            return quantStateError(weight, "nested_quant_map", said("finite values"),
                                   said("%1 at entry %2", packed.nested_code[i], i));
        }
    }
    return {};
}

} // namespace

std::string quotedForMessage(std::string_view text) {
    constexpr size_t kMaxShown = 60;
    std::string shown = "\"";
    for (const char c : text.substr(0, kMaxShown)) {
        shown += static_cast<unsigned char>(c) < 0x20U || c == 0x7f || c == '"' ? '?' : c;
    }
    return shown + (text.size() > kMaxShown ? "...\"" : "\"");
}

std::string shownShape(const std::vector<int64_t>& shape) {
    std::string text = "[";
    for (size_t i = 0; i < shape.size(); ++i) {
        text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
    }
    return text + "]";
}

std::string described(TensorType type, const std::vector<int64_t>& shape) {
    return std::string(tensorTypeName(type)) + " " + shownShape(shape);
}

std::string described(const TensorInfo& info) {
    return described(info.type, info.shape);
}

Error quantStateError(std::string_view layer,
                      std::string_view rule,
                      const Argument& expected,
                      const Argument& found) {
    return {ErrorCode::InvalidFile,
            said("%1: quantized weight breaks the rule %2: expected %3, found %4. Download the "
                 "checkpoint again, or quantize from the unpacked model.",
                 layer, rule, expected, found),
            {{"layer", std::string(layer)},
             {"rule", std::string(rule)},
             {"expected", inEnglish(expected)},
             {"found", inEnglish(found)}}};
}

bool isQuantHelper(std::string_view name, std::string* weight) {
    const auto give = [&](std::string_view base) {
        if (weight != nullptr) {
            *weight = std::string(base);
        }
        return true;
    };
    if (const auto at = name.find(kStateMarker); at != std::string_view::npos) {
        return give(name.substr(0, at));
    }
    for (const std::string_view end :
         {".absmax", ".quant_map", ".nested_absmax", ".nested_quant_map"}) {
        if (name.ends_with(end) && name.substr(0, name.size() - end.size()).ends_with(kWeightEnd)) {
            return give(name.substr(0, name.size() - end.size()));
        }
    }
    for (const std::string_view end : {".SCB", ".weight_format"}) {
        if (name.ends_with(end)) {
            return give(joined(name.substr(0, name.size() - end.size()), kWeightEnd));
        }
    }
    return isW4A16Helper(name, weight);
}

StoredWeight describeStored(const TensorSource& source, std::string_view weight, int64_t n) {
    StoredWeight stored;
    const TensorInfo* info = source.find(weight);
    if (info == nullptr) {
        return stored;
    }
    stored.stored_bytes = info->size_bytes;
    const auto addBytes = [&](std::string_view name) {
        if (const TensorInfo* helper = source.find(name); helper != nullptr) {
            stored.stored_bytes += helper->size_bytes;
        }
    };
    if (const auto keys = stateKeys(source, weight); !keys.empty()) {
        stored.kind = StoredAs::Packed4Bit;
        const std::string_view key = keys.front()->name;
        const FormatRow* const row = formatOfOption(key.substr(key.rfind("__") + 2));
        const Format named = row != nullptr && hasCodes(row->format) ? row->format : kFourBitFormat;
        const bool is_nested = source.find(joined(weight, ".nested_absmax")) != nullptr;
        stored.format = codesFormat(weightFormat(named), is_nested);
        stored.type = TensorType::BF16;
        if (const TensorInfo* absmax = source.find(joined(weight, ".absmax")); absmax != nullptr) {
            const auto blocks = static_cast<int64_t>(elementsOf(*absmax));
            const auto fits = [&](int32_t size) { return (n + size - 1) / size == blocks; };
            for (int32_t size = 32; !fits(stored.block_size) && size <= 4096; size *= 2) {
                stored.block_size = fits(size) ? size : stored.block_size;
            }
        }
        for (const std::string_view end :
             {".absmax", ".quant_map", ".nested_absmax", ".nested_quant_map"}) {
            addBytes(joined(weight, end));
        }
        stored.stored_bytes += keys.front()->size_bytes;
        return stored;
    }
    if (std::string plain; isW4A16Codes(weight, &plain)) {
        stored.kind = StoredAs::W4A16;
        stored.format = kW4A16Format;
        stored.type = TensorType::BF16;
        stored.block_size = kW4A16Group;
        for (const std::string_view end : {"_scale", "_shape"}) {
            addBytes(joined(plain, end));
        }
        return stored;
    }
    const std::string stem(
        weight.substr(0, weight.size() - (weight.ends_with(kWeightEnd) ? kWeightEnd.size() : 0)));
    if (info->type == TensorType::I8 && source.find(stem + ".SCB") != nullptr) {
        stored.kind = StoredAs::Int8Rows;
        stored.format = Format::Bf16;
        stored.type = TensorType::I8;
        addBytes(stem + ".SCB");
        addBytes(stem + ".weight_format");
        return stored;
    }
    if (const auto blocks = blockFormatOf(info->type)) {
        stored.kind = StoredAs::Blocks;
        stored.format = codesFormat(*blocks, false);
        stored.type = TensorType::F32;
        return stored;
    }
    stored.kind = StoredAs::Dense;
    stored.type = info->type;
    stored.format = info->type == TensorType::BF16  ? Format::Bf16
                    : info->type == TensorType::F16 ? Format::F16
                    : info->type == TensorType::F32 ? Format::F32
                                                    : Format::AsStored;
    return stored;
}

Result<void> checkBlocks(std::string_view weight,
                         kernels::WeightFormat format,
                         int64_t first_block,
                         std::span<const std::byte> blocks) {
    const auto* const bytes = reinterpret_cast<const uint8_t*>(blocks.data());
    const auto block_bytes = static_cast<size_t>(kernels::rowOf(format).block_bytes);
    return kernels::withBlockFormat(format, [&](auto row) -> Result<void> {
        constexpr kernels::WeightFormat kF = decltype(row)::kFormat;
        for (size_t at = 0; at + block_bytes <= blocks.size(); at += block_bytes) {
            const kernels::BlockRange range = kernels::rangeOf<kF>(bytes + at, 0);
            const bool is_number = std::isfinite(range.scale) && std::isfinite(range.offset) &&
                                   (kF != kernels::WeightFormat::MXFP4 || bytes[at] != 255);
            if (!is_number) {
                return Error{ErrorCode::InvalidFile,
                             said("%1: the scale of block %2 is not a finite number; the file is "
                                  "damaged, download it again",
                                  weight, first_block + static_cast<int64_t>(at / block_bytes)),
                             {{"tensor", std::string(weight)}, {"rule", "block_scale"}}};
            }
        }
        return {};
    });
}

Result<PackedWeight>
openPacked(const TensorSource& source, std::string_view weight, int64_t rows, int64_t cols) {
    PackedWeight packed;
    packed.layer = std::string(weight);
    packed.rows = rows;
    packed.cols = cols;
    packed.codes = source.find(weight);
    if (packed.codes == nullptr) {
        return quantStateError(weight, "weight_missing", said("packed codes"),
                               said("no such tensor"));
    }
    ENGINE_ASSIGN(packed.state, readState(source, weight));
    const PackedState& state = packed.state;
    if (state.has_shape && (state.rows != rows || state.cols != cols)) {
        return quantStateError(weight, "module_shape",
                               said("the module's shape %1", shownShape({rows, cols})),
                               shownShape({state.rows, state.cols}));
    }
    const auto n = static_cast<uint64_t>(rows) * static_cast<uint64_t>(cols);
    ENGINE_TRY(checkCodes(weight, *packed.codes, n));
    const auto block = static_cast<uint64_t>(state.block_size);
    const uint64_t blocks = (n + block - 1) / block;
    ENGINE_ASSIGN(packed.absmax,
                  needHelper(source, weight, "absmax",
                             state.is_nested ? TensorType::U8 : TensorType::F32, blocks));
    ENGINE_TRY(checkCodeBook(source, weight, state.book));
    ENGINE_TRY(openNested(source, weight, blocks, packed));
    return packed;
}

Result<void> checkPackedHeaders(const TensorSource& source,
                                std::string_view weight,
                                int64_t rows,
                                int64_t cols) {
    ENGINE_TRY(stateOf(source, weight));
    const auto n = static_cast<uint64_t>(rows) * static_cast<uint64_t>(cols);
    if (const TensorInfo* codes = source.find(weight); codes != nullptr) {
        ENGINE_TRY(checkCodes(weight, *codes, n));
    }
    // The block size stands in the state; here it is the one that the scales' number fits.
    const bool is_nested = source.find(joined(weight, ".nested_absmax")) != nullptr ||
                           source.find(joined(weight, ".nested_quant_map")) != nullptr;
    const auto block =
        static_cast<uint64_t>(describeStored(source, weight, rows * cols).block_size);
    const uint64_t blocks = (n + block - 1) / block;
    ENGINE_TRY(
        needHelper(source, weight, "absmax", is_nested ? TensorType::U8 : TensorType::F32, blocks));
    ENGINE_TRY(needHelper(source, weight, "quant_map", TensorType::F32, 16));
    if (is_nested) {
        const uint64_t groups = (blocks + kNestedBlockSize - 1) / kNestedBlockSize;
        ENGINE_TRY(needHelper(source, weight, "nested_absmax", TensorType::F32, groups));
        ENGINE_TRY(needHelper(source, weight, "nested_quant_map", TensorType::F32, 256));
    }
    return {};
}

Result<void>
checkStatistics(std::string_view layer, std::string_view rule, std::span<const float> values) {
    const auto bad = std::find_if(values.begin(), values.end(),
                                  [](float v) { return !std::isfinite(v) || v < 0.0F; });
    if (bad == values.end()) {
        return {};
    }
    return quantStateError(layer, joined(rule, std::isfinite(*bad) ? "_negative" : "_finite"),
                           said("finite values that are not negative"),
                           said("%1 at entry %2", static_cast<double>(*bad), bad - values.begin()));
}

Result<QuantizedTensor>
readPacked(const TensorSource& source, std::string_view weight, int64_t rows, int64_t cols) {
    ENGINE_ASSIGN(PackedWeight packed, openPacked(source, weight, rows, cols));
    QuantizedTensor tensor;
    tensor.format = packed.state.book;
    tensor.block_size = packed.state.block_size;
    tensor.dtype = packed.state.dtype;
    tensor.rows = rows;
    tensor.cols = cols;
    ENGINE_ASSIGN(tensor.codes, readAll<uint8_t>(source, *packed.codes));
    if (packed.state.is_nested) {
        ENGINE_ASSIGN(tensor.absmax_q, readAll<uint8_t>(source, *packed.absmax));
        ENGINE_ASSIGN(tensor.nested_absmax, readAll<float>(source, *packed.nested_absmax));
        ENGINE_TRY(checkStatistics(weight, "nested_absmax", tensor.nested_absmax));
        tensor.nested_code = std::move(packed.nested_code);
        tensor.nested_offset = packed.state.nested_offset;
    } else {
        ENGINE_ASSIGN(tensor.absmax, readAll<float>(source, *packed.absmax));
        ENGINE_TRY(checkStatistics(weight, "absmax", tensor.absmax));
    }
    return tensor;
}

Result<Int8Weight>
openInt8(const TensorSource& source, std::string_view weight, int64_t rows, int64_t cols) {
    Int8Weight result;
    result.layer = std::string(weight);
    result.rows = rows;
    result.cols = cols;
    result.values = source.find(weight);
    if (result.values == nullptr || result.values->type != TensorType::I8 ||
        result.values->shape != std::vector<int64_t>{rows, cols}) {
        return quantStateError(weight, "int8_weight", said("I8 %1", shownShape({rows, cols})),
                               result.values == nullptr ? said("no such tensor")
                                                        : asItIs(described(*result.values)));
    }
    const std::string stem(weight.substr(0, weight.size() - kWeightEnd.size()));
    const TensorInfo* scales = source.find(stem + ".SCB");
    if (scales == nullptr || scales->type != TensorType::F32 ||
        elementsOf(*scales) != static_cast<uint64_t>(rows)) {
        return quantStateError(weight, "int8_scb", said("SCB as F32 [%1]", rows),
                               scales == nullptr ? said("no key .SCB")
                                                 : asItIs(described(*scales)));
    }
    if (const TensorInfo* layout = source.find(stem + ".weight_format"); layout != nullptr) {
        uint8_t value = 0;
        if (layout->type != TensorType::U8 || layout->size_bytes != 1) {
            return quantStateError(weight, "int8_weight_format", said("one U8"),
                                   described(*layout));
        }
        ENGINE_TRY(source.read(*layout, 0, std::as_writable_bytes(std::span(&value, 1))));
        if (value != 0) {
            return quantStateError(weight, "int8_weight_format", said("0 (row-major)"),
                                   std::to_string(value));
        }
    }
    ENGINE_ASSIGN(result.row_absmax, readAll<float>(source, *scales));
    ENGINE_TRY(checkStatistics(weight, "int8_scb", result.row_absmax));
    return result;
}

void int8RowsToBf16(const Int8Weight& weight,
                    int64_t first_row,
                    int64_t count,
                    const int8_t* values,
                    uint16_t* out,
                    const ParallelFor& parallel) {
    const auto convert = [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
            const float absmax = weight.row_absmax[static_cast<size_t>(first_row + row)];
            for (int64_t i = row * weight.cols; i < (row + 1) * weight.cols; ++i) {
                out[i] = floatToBf16(static_cast<float>(values[i]) * absmax / 127.0F);
            }
        }
    };
    if (parallel) {
        parallel(count, convert);
    } else {
        convert(0, count);
    }
}

} // namespace engine
