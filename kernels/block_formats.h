// SPDX-License-Identifier: Apache-2.0
// The block formats of GGUF files, as their bytes lie there: every 16 values of a block share a
// scale and, in some formats, an offset:
//
//   value = scale * code + offset      in fp32, the product rounded first
//
// with scale and offset of rangeOf() and the whole numbers of codeOf(). Layouts: llama.cpp's
// ggml-common.h; the results are gguf-py's bit for bit (tests/kernels/tst_block_formats.cpp).
// Processor and card read the one definition. Blocks are not aligned: scales are read by bytes.
#pragma once

#include "kernels/weight_formats.h"

#include <bit>
#include <cstdint>

namespace kernels {

#if defined(__CUDACC__)
#define BLOCK_INLINE static __host__ __device__ __forceinline__
#elif defined(__GNUC__)
#define BLOCK_INLINE [[maybe_unused]] static inline __attribute__((always_inline))
#else
#define BLOCK_INLINE [[maybe_unused]] static inline
#endif

/// A format as a type, with what its row says: device code calls no function of the host.
template <WeightFormat F>
struct BlockFormat {
    static constexpr WeightFormat kFormat = F;
    static constexpr int kValues = rowOf(F).block_values;
    static constexpr int kBytes = rowOf(F).block_bytes;
};

/// Values that share scale and offset in every format.
inline constexpr int kRunValues = 16;

/// What 16 values of a block share.
struct BlockRange {
    float scale;
    float offset; ///< Only where hasOffset().
};

/// Where the codes of 16 values stand.
struct CodeRun {
    const uint8_t* low = nullptr;  ///< First byte of their low bits,
    int low_shift = 0;             ///< which begin there.
    const uint8_t* high = nullptr; ///< First byte of their further bits,
    int high_shift = 0;
    uint32_t bits = 0; ///< Or these themselves, the first value's lowest.
};

template <WeightFormat F>
BLOCK_INLINE constexpr bool hasOffset() {
    return F == WeightFormat::Q4_1 || F == WeightFormat::Q5_1 || F == WeightFormat::Q2_K ||
           F == WeightFormat::Q4_K || F == WeightFormat::Q5_K;
}

BLOCK_INLINE float bitsToFloat(uint32_t bits) {
#if defined(__CUDA_ARCH__)
    return __uint_as_float(bits);
#else
    return std::bit_cast<float>(bits);
#endif
}

/// A product and a sum that no compiler fuses.
BLOCK_INLINE float blockProduct(float a, float b) {
#if defined(__CUDA_ARCH__)
    return __fmul_rn(a, b);
#else
    return a * b;
#endif
}
BLOCK_INLINE float blockSum(float a, float b) {
#if defined(__CUDA_ARCH__)
    return __fadd_rn(a, b);
#else
    return a + b;
#endif
}

BLOCK_INLINE uint32_t readU16(const uint8_t* at) {
    return at[0] | static_cast<uint32_t>(at[1]) << 8U;
}

/// An IEEE half as fp32; exact.
BLOCK_INLINE float readHalf(const uint8_t* at) {
    const uint32_t half = readU16(at);
    const uint32_t exponent = half >> 10U & 31U;
    const uint32_t mantissa = half & 1023U;
    const uint32_t sign = (half & 0x8000U) << 16U;
    if (exponent == 0) {
        const float value = blockProduct(static_cast<float>(mantissa), 0x1p-24F);
        return sign != 0 ? -value : value;
    }
    return bitsToFloat(sign | mantissa << 13U | (exponent == 31 ? 255U : exponent + 112U) << 23U);
}

/// The 6-bit scale and minimum of 32 values in Q4_K and Q5_K, `group` 0 to 7.
BLOCK_INLINE void readPackedSix(const uint8_t* s, int group, uint32_t& scale, uint32_t& minimum) {
    if (group < 4) {
        scale = s[group] & 63U;
        minimum = s[group + 4] & 63U;
    } else {
        scale = (s[group + 4] & 15U) | static_cast<uint32_t>(s[group - 4] >> 6U) << 4U;
        minimum = (s[group + 4] >> 4U) | static_cast<uint32_t>(s[group] >> 6U) << 4U;
    }
}

/// Scale and offset of values [16 * run, 16 * run + 16) of a block.
template <WeightFormat F>
BLOCK_INLINE BlockRange rangeOf(const uint8_t* block, int run) {
    if constexpr (F == WeightFormat::Q4_1 || F == WeightFormat::Q5_1) {
        return {readHalf(block), readHalf(block + 2)};
    } else if constexpr (F == WeightFormat::Q2_K) {
        const uint8_t both = block[run];
        return {blockProduct(readHalf(block + 80), static_cast<float>(both & 15U)),
                -blockProduct(readHalf(block + 82), static_cast<float>(both >> 4U))};
    } else if constexpr (F == WeightFormat::Q3_K) {
        const uint8_t* const s = block + 96;
        const uint32_t low = run < 8 ? s[run] & 15U : s[run - 8] >> 4U;
        const uint32_t high = static_cast<uint32_t>(s[8 + run % 4] >> run / 4 * 2) & 3U;
        return {blockProduct(readHalf(block + 108),
                             static_cast<float>(static_cast<int>(low | high << 4U) - 32)),
                0.0F};
    } else if constexpr (F == WeightFormat::Q4_K || F == WeightFormat::Q5_K) {
        uint32_t scale = 0;
        uint32_t minimum = 0;
        readPackedSix(block + 4, run / 2, scale, minimum);
        return {blockProduct(readHalf(block), static_cast<float>(scale)),
                -blockProduct(readHalf(block + 2), static_cast<float>(minimum))};
    } else if constexpr (F == WeightFormat::Q6_K) {
        return {blockProduct(readHalf(block + 208),
                             static_cast<float>(static_cast<int8_t>(block[192 + run]))),
                0.0F};
    } else if constexpr (F == WeightFormat::IQ4_XS) {
        const int group = run / 2;
        const uint32_t low = static_cast<uint32_t>(block[4 + group / 2] >> group % 2 * 4) & 15U;
        const uint32_t high = readU16(block + 2) >> group * 2 & 3U;
        return {blockProduct(readHalf(block),
                             static_cast<float>(static_cast<int>(low | high << 4U) - 32)),
                0.0F};
    } else if constexpr (F == WeightFormat::MXFP4) {
        // 2^(e - 128), as the codes are doubled; the two smallest are subnormal.
        const uint32_t e = block[0];
        return {bitsToFloat(e >= 2 ? (e - 1) << 23U : 0x200000U << e), 0.0F};
    } else {
        return {readHalf(block), 0.0F};
    }
}

// NOLINTBEGIN(bugprone-implicit-widening-of-multiplication-result): offsets within a block
/// Where the codes of values [16 * run, 16 * run + 16) of a block stand.
template <WeightFormat F>
BLOCK_INLINE CodeRun codesAt(const uint8_t* block, int run) {
    CodeRun codes;
    const int half = run / 8;     // 128 values, of the formats with 256
    const int part = run % 8 / 2; // 32 of these
    const int within = run % 2 * 16;
    if constexpr (F == WeightFormat::Q8_0) {
        codes.low = block + 2 + within;
    } else if constexpr (F == WeightFormat::Q2_0) {
        codes.low = block + 2 + run * 4;
    } else if constexpr (F == WeightFormat::Q2_K) {
        codes.low = block + 16 + half * 32 + within;
        codes.low_shift = part * 2;
    } else if constexpr (F == WeightFormat::Q3_K) {
        codes.low = block + 32 + half * 32 + within;
        codes.low_shift = part * 2;
        codes.high = block + within;
        codes.high_shift = half * 4 + part;
    } else if constexpr (F == WeightFormat::Q4_K || F == WeightFormat::Q5_K) {
        const int group = run / 2;
        codes.low = block + (F == WeightFormat::Q4_K ? 16 : 48) + group / 2 * 32 + within;
        codes.low_shift = group % 2 * 4;
        codes.high = block + 16 + within;
        codes.high_shift = group;
    } else if constexpr (F == WeightFormat::Q6_K) {
        codes.low = block + half * 64 + part % 2 * 32 + within;
        codes.low_shift = part / 2 * 4;
        codes.high = block + 128 + half * 32 + within;
        codes.high_shift = part * 2;
    } else if constexpr (F == WeightFormat::IQ4_XS) {
        codes.low = block + 8 + run / 2 * 16;
        codes.low_shift = run % 2 * 4;
    } else {
        constexpr bool kHasHigh = F == WeightFormat::Q5_0 || F == WeightFormat::Q5_1;
        constexpr int kHighAt = F == WeightFormat::Q5_0 ? 2 : 4;
        constexpr int kLowAt = kHasHigh                   ? kHighAt + 4
                               : F == WeightFormat::Q4_1  ? 4
                               : F == WeightFormat::MXFP4 ? 1
                                                          : 2;
        codes.low = block + kLowAt;
        codes.low_shift = run * 4;
        codes.bits = kHasHigh ? readU16(block + kHighAt + run * 2) : 0;
    }
    return codes;
}
// NOLINTEND(bugprone-implicit-widening-of-multiplication-result)

/// The 16 whole numbers that codes of IQ4_NL and IQ4_XS stand for.
BLOCK_INLINE int unevenCode(uint32_t code) {
    constexpr int8_t kValues[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                    1,    13,   25,  38,  53,  69,  89,  113};
    return kValues[code];
}

/// Twice the values of the codes of MXFP4: sign, two bits of exponent, one of mantissa.
BLOCK_INLINE int doubledE2M1(uint32_t code) {
    constexpr int8_t kValues[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
    return kValues[code];
}

/// The code of value i, 0 to 15, of a run as the whole number that the scale multiplies.
template <WeightFormat F>
BLOCK_INLINE int codeOf(const CodeRun& codes, int i) {
    if constexpr (F == WeightFormat::Q8_0) {
        return static_cast<int8_t>(codes.low[i]);
    } else if constexpr (F == WeightFormat::Q2_0) {
        return static_cast<int>(codes.low[i / 4] >> i % 4 * 2 & 3) - 1;
    } else if constexpr (F == WeightFormat::Q2_K) {
        return codes.low[i] >> codes.low_shift & 3;
    } else if constexpr (F == WeightFormat::Q3_K) {
        return (codes.low[i] >> codes.low_shift & 3) -
               4 * (1 - (codes.high[i] >> codes.high_shift & 1));
    } else {
        const int low = codes.low[i] >> codes.low_shift & 15;
        if constexpr (F == WeightFormat::Q4_0) {
            return low - 8;
        } else if constexpr (F == WeightFormat::Q5_0 || F == WeightFormat::Q5_1) {
            const int high = static_cast<int>(codes.bits >> static_cast<uint32_t>(i) & 1U) * 16;
            return (low | high) - (F == WeightFormat::Q5_0 ? 16 : 0);
        } else if constexpr (F == WeightFormat::Q5_K) {
            return low | (codes.high[i] >> codes.high_shift & 1) << 4;
        } else if constexpr (F == WeightFormat::Q6_K) {
            return (low | (codes.high[i] >> codes.high_shift & 3) << 4) - 32;
        } else if constexpr (F == WeightFormat::IQ4_NL || F == WeightFormat::IQ4_XS) {
            return unevenCode(static_cast<uint32_t>(low));
        } else if constexpr (F == WeightFormat::MXFP4) {
            return doubledE2M1(static_cast<uint32_t>(low));
        } else {
            return low; // Q4_1, Q4_K
        }
    }
}

/// The value of a code.
template <WeightFormat F>
BLOCK_INLINE float blockValue(const BlockRange& range, int code) {
    const float product = blockProduct(range.scale, static_cast<float>(code));
    return hasOffset<F>() ? blockSum(product, range.offset) : product;
}

/// Calls fn(BlockFormat<F>{}) for a format of blocks.
#if defined(__CUDACC__)
#pragma nv_exec_check_disable // fn may be of the card alone
#endif
template <typename Fn>
BLOCK_INLINE auto withBlockFormat(WeightFormat format, Fn&& fn) {
    switch (format) {
    case WeightFormat::Q4_1:
        return fn(BlockFormat<WeightFormat::Q4_1>{});
    case WeightFormat::Q5_0:
        return fn(BlockFormat<WeightFormat::Q5_0>{});
    case WeightFormat::Q5_1:
        return fn(BlockFormat<WeightFormat::Q5_1>{});
    case WeightFormat::Q8_0:
        return fn(BlockFormat<WeightFormat::Q8_0>{});
    case WeightFormat::Q2_K:
        return fn(BlockFormat<WeightFormat::Q2_K>{});
    case WeightFormat::Q3_K:
        return fn(BlockFormat<WeightFormat::Q3_K>{});
    case WeightFormat::Q4_K:
        return fn(BlockFormat<WeightFormat::Q4_K>{});
    case WeightFormat::Q5_K:
        return fn(BlockFormat<WeightFormat::Q5_K>{});
    case WeightFormat::Q6_K:
        return fn(BlockFormat<WeightFormat::Q6_K>{});
    case WeightFormat::IQ4_NL:
        return fn(BlockFormat<WeightFormat::IQ4_NL>{});
    case WeightFormat::IQ4_XS:
        return fn(BlockFormat<WeightFormat::IQ4_XS>{});
    case WeightFormat::MXFP4:
        return fn(BlockFormat<WeightFormat::MXFP4>{});
    case WeightFormat::Q2_0:
        return fn(BlockFormat<WeightFormat::Q2_0>{});
    default:
        return fn(BlockFormat<WeightFormat::Q4_0>{});
    }
}

/// Value i of a flat array of blocks, `index` counted from `data`.
BLOCK_INLINE float blockElement(WeightFormat format, const void* data, int64_t index) {
    return withBlockFormat(format, [&](auto row) {
        constexpr WeightFormat kF = decltype(row)::kFormat;
        constexpr int kPerBlock = BlockFormat<kF>::kValues;
        const uint8_t* const block =
            static_cast<const uint8_t*>(data) + index / kPerBlock * BlockFormat<kF>::kBytes;
        const int at = static_cast<int>(index % kPerBlock);
        return blockValue<kF>(rangeOf<kF>(block, at / kRunValues),
                              codeOf<kF>(codesAt<kF>(block, at / kRunValues), at % kRunValues));
    });
}

/// Values [first, first + count) of a flat array of blocks of format F.
template <WeightFormat F>
BLOCK_INLINE void expandBlocks(const void* data, int64_t first, int64_t count, float* out) {
    constexpr int kPerBlock = BlockFormat<F>::kValues;
    const auto* const bytes = static_cast<const uint8_t*>(data);
    for (int64_t i = 0; i < count;) {
        const int64_t index = first + i;
        const uint8_t* const block = bytes + index / kPerBlock * BlockFormat<F>::kBytes;
        const int run = static_cast<int>(index % kPerBlock) / kRunValues;
        const int begin = static_cast<int>(index % kRunValues);
        const BlockRange range = rangeOf<F>(block, run);
        const CodeRun codes = codesAt<F>(block, run);
        if (begin == 0 && count - i >= kRunValues) {
            for (int k = 0; k < kRunValues; ++k) {
                out[i + k] = blockValue<F>(range, codeOf<F>(codes, k));
            }
            i += kRunValues;
        } else {
            for (int k = begin; k < kRunValues && i < count; ++k, ++i) {
                out[i] = blockValue<F>(range, codeOf<F>(codes, k));
            }
        }
    }
}

} // namespace kernels
