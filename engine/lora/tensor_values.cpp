// SPDX-License-Identifier: Apache-2.0
#include "engine/lora/tensor_values.h"

#include "engine/base/float_types.h"

#include <cstring>
#include <vector>

namespace engine {

bool isFloatType(TensorType type) {
    return type == TensorType::F32 || type == TensorType::F16 || type == TensorType::BF16;
}

void expandToFloats(TensorType type, std::span<const std::byte> bytes, std::span<float> out) {
    if (type == TensorType::F32) {
        std::memcpy(out.data(), bytes.data(), out.size_bytes());
        return;
    }
    for (size_t i = 0; i < out.size(); ++i) {
        uint16_t bits = 0;
        std::memcpy(&bits, bytes.data() + 2 * i, 2);
        out[i] = type == TensorType::F16 ? f16ToFloat(bits) : bf16ToFloat(bits);
    }
}

void roundFromFloats(TensorType type, std::span<const float> values, std::span<std::byte> out) {
    if (type == TensorType::F32) {
        std::memcpy(out.data(), values.data(), values.size_bytes());
        return;
    }
    for (size_t i = 0; i < values.size(); ++i) {
        const uint16_t bits =
            type == TensorType::F16 ? floatToF16(values[i]) : floatToBf16(values[i]);
        std::memcpy(out.data() + 2 * i, &bits, 2);
    }
}

Result<void> readFloatRange(const TensorSource& source,
                            const TensorInfo& tensor,
                            uint64_t first,
                            std::span<float> out) {
    const size_t size = tensorTypeSize(tensor.type);
    if (tensor.type == TensorType::F32) {
        return source.read(tensor, first * size, std::as_writable_bytes(out));
    }
    std::vector<std::byte> bytes(out.size() * size);
    ENGINE_TRY(source.read(tensor, first * size, bytes));
    expandToFloats(tensor.type, bytes, out);
    return {};
}

} // namespace engine
