// SPDX-License-Identifier: Apache-2.0
// Which product kernel serves which weight format and number of tokens, and the LoRA update.
// `Kit` names the kernels of one instruction set:
//
//   V         vector layer
//   FourBit   dot policy for aligned 4-bit rows;  Bf16  for bf16 rows;  Int8  for int8 rows
//   Matmul    tile product for bf16, 4-bit and int8 weights;  MatmulExact  for F32 and F16
//   kDotLimits  where the packed path takes over
//   kName     OpTable::name
#pragma once

#include "kernels/cpu/shape_checks.h"
#include "kernels/cpu/simd/block_scales.h"
#include "kernels/cpu/simd/dot.h"
#include "kernels/cpu/simd/gemm.h"

namespace kernels::cpu {

/// Up to this many tokens a weight row is read as stored and multiplied with 8 tokens at a time;
/// above, panels are packed. Measured per table on Zen 4 with a 1536 x 6144 weight.
struct DotLimits {
    int64_t bf16 = 0;
    int64_t four_bit = 0;
    int64_t int8 = 0;
    int64_t exact = 0; ///< F32 and F16.

    [[nodiscard]] constexpr int64_t of(WeightFormat format) const {
        switch (format) {
        case WeightFormat::BF16:
            return bf16;
        case WeightFormat::Nf4:
        case WeightFormat::Fp4:
            return four_bit;
        case WeightFormat::Int8Row:
            return int8;
        case WeightFormat::F32:
        case WeightFormat::F16:
            break;
        }
        return exact;
    }
};

template <class Kit>
struct Linear {
    using V = typename Kit::V;

    static Status linear(Queue q, MatF32 x, WeightView w, MutF32 y) {
        const Status status = checkLinear(x, w, y);
        return status == Status::Ok ? multiply(poolOf(q), x, w, Epilogue{}, y) : status;
    }

    static Status loraAccumulate(Queue q,
                                 MatF32 x,
                                 MatView a,
                                 MatView b,
                                 MatView b_bias,
                                 float scaling,
                                 MutF32 scratch,
                                 MutF32 y) {
        Status status = checkLora(x, a, b, b_bias, scratch, y);
        if (status != Status::Ok || y.rows == 0) {
            return status;
        }
        status = multiply(poolOf(q), x, dense(a), Epilogue{}, scratch);
        if (status != Status::Ok) {
            return status;
        }
        Epilogue update;
        update.is_added = true;
        update.factor = scaling;
        status = multiply(poolOf(q), scratch, dense(b), update, y);
        if (status == Status::Ok && b_bias.data != nullptr) {
            addBias(q, b_bias, scaling, y);
        }
        return status;
    }

    static ThreadPool* poolOf(Queue q) { return static_cast<ThreadPool*>(q.context); }

private:
    static WeightView dense(const MatView& m) {
        WeightView w;
        w.data = m.data;
        w.rows = m.rows;
        w.cols = m.cols;
        w.format = m.type == DType::F32   ? WeightFormat::F32
                   : m.type == DType::F16 ? WeightFormat::F16
                                          : WeightFormat::BF16;
        return w;
    }

    static void addBias(Queue q, const MatView& bias, float scaling, MutF32 y) {
        using E = Expand<V>;
        parallelFor(poolOf(q), y.rows, 4, [&](int64_t begin, int64_t end) {
            const auto factor = V::set1(scaling);
            for (int64_t t = begin; t < end; ++t) {
                float* row = y.data + t * y.stride;
                int64_t c = 0;
                for (; c + V::kWidth <= y.cols; c += V::kWidth) {
                    const auto b = E::loadDense(bias.data, bias.type, c);
                    V::store(row + c, V::fma(b, factor, V::load(row + c)));
                }
                if (c < y.cols) {
                    const int64_t n = y.cols - c;
                    const auto b = E::loadDensePart(bias.data, bias.type, c, n);
                    V::storePart(row + c, V::fma(b, factor, V::loadPart(row + c, n)), n);
                }
            }
        });
    }

    static Status multiply(ThreadPool* pool, MatF32 x, const WeightView& w, Epilogue e, MutF32 y) {
        if (x.rows == 0) {
            return Status::Ok;
        }
        if (w.format == WeightFormat::Int8Row) {
            e.row_factor = w.row_scale;
        }
        if (x.rows > Kit::kDotLimits.of(w.format)) {
            const bool is_exact = w.format == WeightFormat::F32 || w.format == WeightFormat::F16;
            return is_exact ? Gemm<typename Kit::MatmulExact>::run(pool, x, w, e, y)
                            : Gemm<typename Kit::Matmul>::run(pool, x, w, e, y);
        }
        switch (w.format) {
        case WeightFormat::F32:
            return runDot<NaturalDot<V, WeightFormat::F32>>(pool, x, w, 4 * w.cols, e, y);
        case WeightFormat::F16:
            return runDot<NaturalDot<V, WeightFormat::F16>>(pool, x, w, 2 * w.cols, e, y);
        case WeightFormat::BF16:
            return runDot<typename Kit::Bf16>(pool, x, w, 2 * w.cols, e, y);
        case WeightFormat::Int8Row:
            return runDot<typename Kit::Int8>(pool, x, w, w.cols, e, y);
        case WeightFormat::Nf4:
        case WeightFormat::Fp4:
            break;
        }
        if (BlockScales<V>::canServe(w)) {
            return runDot<typename Kit::FourBit>(pool, x, w, w.cols / 2, e, y);
        }
        return runDot<ExpandingDot<V>>(pool, x, w, w.cols / 2, e, y);
    }

    template <class Policy>
    static Status runDot(ThreadPool* pool,
                         MatF32 x,
                         const WeightView& w,
                         int64_t row_bytes,
                         const Epilogue& e,
                         MutF32 y) {
        return DotProduct<Policy>::run(pool, x, w, row_bytes, e, y);
    }
};

} // namespace kernels::cpu
