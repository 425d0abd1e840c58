// SPDX-License-Identifier: Apache-2.0
// The measuring loops of machine_probe.h for one vector layer.
#pragma once

#include "kernels/cpu/simd/vec_avx2.h"

#include <cstddef>

namespace kernels::cpu {

template <class V>
struct Probe {
    using F = typename V::F;
    static constexpr int kChains = 12; ///< Enough to cover the latency of two units.

    static uint64_t read(const void* data, size_t bytes) {
        const char* p = static_cast<const char*>(data);
        constexpr size_t kLane = sizeof(typename V::I);
        typename V::I acc[4] = {V::iset1(0), V::iset1(0), V::iset1(0), V::iset1(0)};
        for (size_t i = 0; i + 4 * kLane <= bytes; i += 4 * kLane) {
#pragma GCC unroll 4
            for (size_t j = 0; j < 4; ++j) {
                acc[j] = V::iadd(acc[j], V::loadLanes(p + i + j * kLane));
            }
        }
        uint64_t words[kLane / 8];
        V::storeLanes(words, V::iadd(V::iadd(acc[0], acc[1]), V::iadd(acc[2], acc[3])));
        uint64_t result = 0;
        for (const uint64_t word : words) {
            result += word;
        }
        return result;
    }

    static double fp32(int64_t rounds) {
        F acc[kChains];
        for (int c = 0; c < kChains; ++c) {
            acc[c] = V::set1(1.0F);
        }
        // Hidden from the optimizer, so that the loop cannot be shortened.
        float factor_value = 0.999F;
        __asm__ volatile("" : "+m"(factor_value));
        const F factor = V::set1(factor_value);
        for (int64_t i = 0; i < rounds; ++i) {
#pragma GCC unroll 12
            for (int c = 0; c < kChains; ++c) {
                acc[c] = V::fma(acc[c], factor, factor);
            }
        }
        F total = acc[0];
        for (int c = 1; c < kChains; ++c) {
            total = V::add(total, acc[c]);
        }
        volatile float sink = V::sum(total);
        (void)sink;
        return static_cast<double>(rounds) * kChains * static_cast<double>(V::kWidth) * 2.0;
    }
};

} // namespace kernels::cpu
