// SPDX-License-Identifier: Apache-2.0
// Names and sizes of the element types.
#include "engine/files/tensor_source.h"

namespace engine {

size_t tensorTypeSize(TensorType type) {
    switch (type) {
    case TensorType::Bool:
    case TensorType::U8:
    case TensorType::I8:
        return 1;
    case TensorType::I16:
    case TensorType::U16:
    case TensorType::F16:
    case TensorType::BF16:
        return 2;
    case TensorType::I32:
    case TensorType::U32:
    case TensorType::F32:
        return 4;
    case TensorType::F64:
    case TensorType::I64:
    case TensorType::U64:
        return 8;
    case TensorType::Other:
        return 0;
    }
    return 0;
}

std::string_view tensorTypeName(TensorType type) {
    switch (type) {
    case TensorType::Bool:
        return "BOOL";
    case TensorType::U8:
        return "U8";
    case TensorType::I8:
        return "I8";
    case TensorType::I16:
        return "I16";
    case TensorType::U16:
        return "U16";
    case TensorType::F16:
        return "F16";
    case TensorType::BF16:
        return "BF16";
    case TensorType::I32:
        return "I32";
    case TensorType::U32:
        return "U32";
    case TensorType::F32:
        return "F32";
    case TensorType::F64:
        return "F64";
    case TensorType::I64:
        return "I64";
    case TensorType::U64:
        return "U64";
    case TensorType::Other:
        return "other";
    }
    return "other";
}

} // namespace engine
