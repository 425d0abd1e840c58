// SPDX-License-Identifier: Apache-2.0
// The quantizer's inner loops as the specification states them, one value at a time. Reference
// for the vector versions (quantize_x86.cpp) and the fallback where those are missing.

#include "engine/base/float_types.h"
#include "engine/quant/quantize_kernels.h"
#include "engine/quant/quantize_loops.h"

#include <bit>
#include <cstring>

namespace engine::quant_kernels {

const float kNf4Thresholds[15] = {
    -0.8480964004993439F,  -0.6106329262256622F,  -0.4599952697753906F,   -0.33967943489551544F,
    -0.23460740596055984F, -0.13791173323988914F, -0.045525018125772476F, 0.03979014977812767F,
    0.1202552504837513F,   0.2035212516784668F,   0.2920137718319893F,    0.3893125355243683F,
    0.5016634166240692F,   0.6427869200706482F,   0.8614784181118011F};

const float kFp4Thresholds[7] = {0.00260417F, 0.0859375F, 0.20833333F, 0.29166667F,
                                 0.4166667F,  0.583333F,  0.8333333F};

const uint8_t kFp4Order[8] = {0, 1, 6, 7, 4, 5, 2, 3};

float blockReciprocal(CodeBook book, float absmax) {
    const float exact = 1.0F / absmax;
    const auto bits = std::bit_cast<uint32_t>(absmax);
    const bool is_bf16 = (bits & 0xffffU) == 0 && (bits & 0x7f800000U) != 0;
    if (book != CodeBook::Fp4 || !is_bf16 || !(exact >= 0x1p-126F) || std::isinf(exact)) {
        return exact;
    }
    uint32_t corrected = std::bit_cast<uint32_t>(exact);
    switch ((bits >> 16) & 0x7fU) {
    case 6:
    case 13:
    case 37:
    case 38:
    case 51:
    case 61:
    case 65:
    case 66:
    case 81:
    case 91:
    case 109:
    case 115:
    case 116:
    case 118:
    case 121:
        ++corrected;
        break;
    case 4:
    case 11:
    case 20:
    case 22:
    case 127:
        --corrected;
        break;
    default:
        break;
    }
    return std::bit_cast<float>(corrected);
}

namespace {

uint32_t loadScalar(TensorType type, const std::byte* values, int64_t count, float* out) {
    uint32_t largest = 0;
    for (int64_t i = 0; i < count; ++i) {
        float value = 0.0F;
        if (type == TensorType::F32) {
            std::memcpy(&value, values + i * 4, 4);
        } else {
            uint16_t half = 0;
            std::memcpy(&half, values + i * 2, 2);
            value = type == TensorType::BF16 ? bf16ToFloat(half) : f16ToFloat(half);
        }
        out[i] = value;
        largest = std::max(largest, std::bit_cast<uint32_t>(value) & 0x7fffffffU);
    }
    return largest;
}

uint8_t encodeOne(CodeBook book, float y) {
    uint8_t code = 0;
    if (book == CodeBook::Nf4) {
        for (const float threshold : kNf4Thresholds) {
            code = static_cast<uint8_t>(code + (y > threshold ? 1 : 0));
        }
        return code;
    }
    for (const float threshold : kFp4Thresholds) {
        code = static_cast<uint8_t>(code + (std::fabs(y) > threshold ? 1 : 0));
    }
    return static_cast<uint8_t>(kFp4Order[code] | (y < 0.0F ? 8U : 0U));
}

void encodeScalar(
    CodeBook book, const float* values, int64_t count, float reciprocal, uint8_t* codes) {
    for (int64_t i = 0; i + 1 < count; i += 2) {
        const uint8_t high = encodeOne(book, values[i] * reciprocal);
        const uint8_t low = encodeOne(book, values[i + 1] * reciprocal);
        codes[i / 2] = static_cast<uint8_t>((high << 4U) | low);
    }
}

float nestScalar(const float* absmax, int64_t count, float offset, uint8_t* codes) {
    return nestLoop(absmax, count, offset, dynamicMidpoints().data(), codes);
}

void rowInt8Scalar(const float* values, int64_t count, float scale, int8_t* q) {
    rowInt8Loop(values, count, scale, q);
}

} // namespace

const Kernels& scalarKernels() {
    static const Kernels kTable = {"scalar", loadScalar, encodeScalar, nestScalar, rowInt8Scalar};
    return kTable;
}

} // namespace engine::quant_kernels
