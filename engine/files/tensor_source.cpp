// SPDX-License-Identifier: Apache-2.0
// Names and sizes of the element types.
#include "engine/files/tensor_source.h"

namespace engine {

namespace {

struct TypeRow {
    std::string_view name;
    size_t bytes; ///< An element has so many; 0: none of its own.
};

/// In the order of TensorType.
constexpr TypeRow kTypes[] = {
    {"BOOL", 1}, {"U8", 1},   {"I8", 1},     {"I16", 2},    {"U16", 2},   {"F16", 2},  {"BF16", 2},
    {"I32", 4},  {"U32", 4},  {"F32", 4},    {"F64", 8},    {"I64", 8},   {"U64", 8},  {"Q4_0", 0},
    {"Q4_1", 0}, {"Q5_0", 0}, {"Q5_1", 0},   {"Q8_0", 0},   {"Q2_K", 0},  {"Q3_K", 0}, {"Q4_K", 0},
    {"Q5_K", 0}, {"Q6_K", 0}, {"IQ4_NL", 0}, {"IQ4_XS", 0}, {"MXFP4", 0}, {"Q2_0", 0}, {"other", 0},
};
static_assert(std::size(kTypes) == static_cast<size_t>(TensorType::Other));

const TypeRow& rowOf(TensorType type) {
    return kTypes[static_cast<size_t>(type) - 1];
}

} // namespace

size_t tensorTypeSize(TensorType type) {
    return rowOf(type).bytes;
}

std::string_view tensorTypeName(TensorType type) {
    return rowOf(type).name;
}

std::optional<kernels::WeightFormat> blockFormatOf(TensorType type) {
    if (type < TensorType::Q4_0 || type > TensorType::Q2_0) {
        return std::nullopt;
    }
    return static_cast<kernels::WeightFormat>(static_cast<int>(kernels::WeightFormat::Q4_0) +
                                              static_cast<int>(type) -
                                              static_cast<int>(TensorType::Q4_0));
}

} // namespace engine
