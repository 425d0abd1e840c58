// SPDX-License-Identifier: Apache-2.0
// The quantizer's inner loops as the specification states them, one value at a time. Reference
// for the vector versions (quantize_x86.cpp) and the fallback where those are missing.

#include "engine/base/float_types.h"
#include "engine/quant/quantize_kernels.h"
#include "engine/quant/quantize_loops.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

namespace engine::quant_kernels {

// fp32 midpoints by bit pattern: four of the exact midpoints lie between two fp32 numbers, and a
// decimal spelling with few digits would round some of them the other way.
const float kNf4Thresholds[15] = {
    std::bit_cast<float>(0xbf591cd8U), std::bit_cast<float>(0xbf1c5270U),
    std::bit_cast<float>(0xbeeb8480U), std::bit_cast<float>(0xbeadea76U),
    std::bit_cast<float>(0xbe703cecU), std::bit_cast<float>(0xbe0d38bcU),
    std::bit_cast<float>(0xbd3a7871U), std::bit_cast<float>(0x3d22faffU),
    std::bit_cast<float>(0x3df64862U), std::bit_cast<float>(0x3e5067e0U),
    std::bit_cast<float>(0x3e9582d4U), std::bit_cast<float>(0x3ec753f9U),
    std::bit_cast<float>(0x3f006d04U), std::bit_cast<float>(0x3f248dafU),
    std::bit_cast<float>(0x3f5c89daU)};

const float kFp4Thresholds[7] = {0.00260417F, 0.0859375F, 0.20833333F, 0.29166667F,
                                 0.4166667F,  0.583333F,  0.8333333F};

const uint8_t kFp4Order[8] = {0, 1, 6, 7, 4, 5, 2, 3};

float blockReciprocal(kernels::WeightFormat book, float absmax) {
    const float exact = 1.0F / absmax;
    const auto bits = std::bit_cast<uint32_t>(absmax);
    const bool is_bf16 = (bits & 0xffffU) == 0 && (bits & 0x7f800000U) != 0;
    if (book != kernels::WeightFormat::Fp4 || !is_bf16 || !(exact >= 0x1p-126F) ||
        std::isinf(exact)) {
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

/// The code whose value is nearest: for formats that nobody else has rules for.
uint8_t nearestCode(kernels::WeightFormat book, float y) {
    const std::array<float, 16>& values = codeBook(book);
    const auto isNearer = [y](float a, float b) { return std::fabs(a - y) < std::fabs(b - y); };
    return static_cast<uint8_t>(std::min_element(values.begin(), values.end(), isNearer) -
                                values.begin());
}

uint8_t encodeOne(kernels::WeightFormat book, float y) {
    uint8_t code = 0;
    if (book == kernels::WeightFormat::Nf4) {
        for (const float threshold : kNf4Thresholds) {
            code = static_cast<uint8_t>(code + (y > threshold ? 1 : 0));
        }
        return code;
    }
    if (book != kernels::WeightFormat::Fp4) {
        return nearestCode(book, y);
    }
    for (const float threshold : kFp4Thresholds) {
        code = static_cast<uint8_t>(code + (std::fabs(y) > threshold ? 1 : 0));
    }
    return static_cast<uint8_t>(kFp4Order[code] | (y < 0.0F ? 8U : 0U));
}

void encodeScalar(kernels::WeightFormat book,
                  const float* values,
                  int64_t count,
                  float reciprocal,
                  uint8_t* codes) {
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
