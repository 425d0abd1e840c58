// SPDX-License-Identifier: Apache-2.0
// Rows of GGUF's blocks as products take them: a byte per code, and for 16 values each a scale and
// an offset, whatever the format. Products are then written once for all formats (dot_blocks.h).
#pragma once

#include "kernels/block_formats.h"
#include "kernels/cpu/simd/expand_blocks.h"
#include "kernels/cpu/simd/lanes.h"

#include <cstdint>

namespace kernels::cpu {

constexpr int kPartValues = 256; ///< The largest block.
constexpr int kPartRuns = kPartValues / kRunValues;

/// kPartValues values of a row: scale * byte + offset. What is behind the row's end has scale and
/// offset 0.
struct BlockPart {
    alignas(64) int8_t codes[kPartValues];
    float scale[kPartRuns];
    float offset[kPartRuns];
};

/// Writes whole parts for `values` of a row from `at` on, which begins a block.
using UnpackBlocks = void (*)(const uint8_t* at, int64_t values, BlockPart* out);

/// Run by run, with signed bytes.
template <class V>
struct SignedBlockCodes {
    template <WeightFormat F>
    static void unpack(const uint8_t* at, int64_t values, BlockPart* out) {
        for (; values > 0; values -= kPartValues, at += bytesOfPart<F>(), ++out) {
            askAhead<F>(at);
            if (values >= kPartValues) {
                runs<F>(at, kPartRuns, 0, *out);
            } else {
                runs<F>(at, static_cast<int>(values / kRunValues), 0, *out);
            }
        }
    }

    template <WeightFormat F>
    static constexpr int64_t bytesOfPart() {
        return int64_t{kPartValues / BlockFormat<F>::kValues} * BlockFormat<F>::kBytes;
    }

    /// The block with run `run` of a part, and the run's number within it.
    struct Place {
        const uint8_t* block;
        int run;
    };
    template <WeightFormat F>
    static KERNELS_INLINE Place placeOf(const uint8_t* part, int run) {
        constexpr int kRuns = BlockFormat<F>::kValues / kRunValues;
        return {part + int64_t{run / kRuns} * BlockFormat<F>::kBytes, run % kRuns};
    }

    /// The first `count` runs of a part, the bytes `bias` above the codes.
    template <WeightFormat F>
    static KERNELS_INLINE void runs(const uint8_t* at, int count, int bias, BlockPart& out) {
#pragma GCC unroll 16
        for (int run = 0; run < kPartRuns; ++run) {
            if (run >= count) {
                out.scale[run] = out.offset[run] = 0.0F;
                continue;
            }
            const Place place = placeOf<F>(at, run);
            const __m128i codes =
                ExpandBlocks<V>::template codesOf<F>(codesAt<F>(place.block, place.run));
            _mm_store_si128(reinterpret_cast<__m128i*>(out.codes) + run,
                            _mm_add_epi8(codes, _mm_set1_epi8(static_cast<char>(bias))));
            range<F>(place, bias, run, out);
        }
    }

    template <WeightFormat F>
    static KERNELS_INLINE void range(const Place& place, int bias, int run, BlockPart& out) {
        const BlockRange range = rangeOf<F>(place.block, place.run);
        out.scale[run] = range.scale;
        out.offset[run] =
            (hasOffset<F>() ? range.offset : 0.0F) - range.scale * static_cast<float>(bias);
    }

    /// Far enough for memory; requests for what is behind the weight do no harm.
    template <WeightFormat F>
    static KERNELS_INLINE void askAhead(const uint8_t* at) {
        for (int64_t i = 0; i < bytesOfPart<F>(); i += 64) {
            _mm_prefetch(at + kBytesAhead + i, _MM_HINT_T0);
        }
    }

    static constexpr int64_t kBytesAhead = 4096;
};

} // namespace kernels::cpu
