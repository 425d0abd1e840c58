// SPDX-License-Identifier: Apache-2.0
// Which product kernel serves which weight format and number of tokens, and the LoRA update.
// `Kit` names the kernels of one instruction set:
//
//   V         vector layer
//   FourBit   dot policy for aligned 4-bit rows;  Bf16  for bf16 rows;  Int8  for int8 rows
//   Blocks    dot policy for GGUF's blocks
//   FourBitOne  optional: in place of FourBit for one token, or for up to kFourBitOneTokens
//   Matmul    tile product for bf16, 4-bit and int8 weights;  MatmulExact  for F32 and F16
//   kDotLimits  where the packed path takes over
//   kName     OpTable::name
#pragma once

#include "kernels/cpu/shape_checks.h"
#include "kernels/cpu/simd/block_scales.h"
#include "kernels/cpu/simd/dot_dense.h"
#include "kernels/cpu/simd/dot_small_blocks.h"
#include "kernels/cpu/simd/gemm.h"
#include "kernels/cpu/simd/low_rank.h"

namespace kernels::cpu {

/// Up to this many tokens a weight row is read as stored and multiplied with 8 tokens at a time;
/// above, panels are packed. Measured per table on Zen 4 with a 1536 x 6144 weight.
struct DotLimits {
    int64_t bf16 = 0;
    int64_t four_bit = 0;
    int64_t int8 = 0;
    int64_t exact = 0; ///< F32 and F16.

    [[nodiscard]] constexpr int64_t of(WeightFormat format) const {
        switch (rowOf(format).layout) {
        case WeightLayout::BF16:
            return bf16;
        case WeightLayout::Codes:
        case WeightLayout::Int8Block:
        case WeightLayout::Blocks:
            return four_bit;
        case WeightLayout::Int8Row:
            return int8;
        case WeightLayout::F32:
        case WeightLayout::F16:
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
        const LoraTerm term{a, b, b_bias, scaling};
        return loraAccumulateAll(q, x, &term, 1, scratch, y);
    }

    static Status loraAccumulateAll(
        Queue q, MatF32 x, const LoraTerm* terms, int64_t count, MutF32 scratch, MutF32 y) {
        Status status = checkLoraTerms(x, terms, count, scratch, y);
        if (status != Status::Ok || y.rows == 0 || count == 0) {
            return status;
        }
        if (x.rows <= kDotTokens) {
            return LowRank<V>::accumulate(poolOf(q), x, terms, count, scratch, y);
        }
        // With many tokens the arithmetic decides, not the number of jobs.
        MutF32 hidden = scratch;
        for (int64_t i = 0; i < count && status == Status::Ok; ++i) {
            const LoraTerm& term = terms[i];
            hidden.cols = term.a.rows;
            status = multiply(poolOf(q), x, dense(term.a), Epilogue{}, hidden);
            if (status == Status::Ok) {
                Epilogue update;
                update.is_added = true;
                update.factor = term.scaling;
                status = multiply(poolOf(q), hidden, dense(term.b), update, y);
            }
            if (status == Status::Ok && term.b_bias.data != nullptr) {
                addBias(q, term.b_bias, term.scaling, y);
            }
            hidden.data += term.a.rows;
        }
        return status;
    }

    template <class Policy>
    struct DotTag {};

    /// fn(DotTag<Policy>, bytes of a row) with the policy for this weight and few tokens.
    template <typename Fn>
    static Status withDot(const WeightView& w, int64_t tokens, Fn fn) {
        switch (rowOf(w.format).layout) {
        case WeightLayout::F32:
            return fn(DotTag<NaturalDot<V, WeightFormat::F32>>(), 4 * w.cols);
        case WeightLayout::F16:
            return fn(DotTag<NaturalDot<V, WeightFormat::F16>>(), 2 * w.cols);
        case WeightLayout::BF16:
            return fn(DotTag<typename Kit::Bf16>(), 2 * w.cols);
        case WeightLayout::Int8Row:
            return fn(DotTag<typename Kit::Int8>(), w.cols);
        case WeightLayout::Int8Block:
            return fn(DotTag<ExpandingDot<V>>(), valueBytes(w.format, w.cols));
        case WeightLayout::Blocks:
            return fn(DotTag<typename Kit::Blocks>(), valueBytes(w.format, w.cols));
        case WeightLayout::Codes:
            break;
        }
        if (!BlockScales<V>::canServe(w)) {
            return SmallBlockDot<V>::canServe(w) ? fn(DotTag<SmallBlockDot<V>>(), w.cols / 2)
                                                 : fn(DotTag<ExpandingDot<V>>(), w.cols / 2);
        }
        if constexpr (requires { typename Kit::FourBitOne; }) {
            if (tokens <= fourBitOneTokens()) {
                return fn(DotTag<typename Kit::FourBitOne>(), w.cols / 2);
            }
        }
        return fn(DotTag<typename Kit::FourBit>(), w.cols / 2);
    }

private:
    static constexpr int64_t fourBitOneTokens() {
        if constexpr (requires { Kit::kFourBitOneTokens; }) {
            return Kit::kFourBitOneTokens;
        } else {
            return 1;
        }
    }

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
        parallelFor(poolOf(q), y.rows, 4, [&](int64_t begin, int64_t end) {
            const MutF32 rows{y.data + begin * y.stride, end - begin, y.cols, y.stride};
            LowRank<V>::addBias(bias, scaling, 0, y.cols, rows);
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
        return withDot(w, x.rows, [&]<class Policy>(DotTag<Policy> /*tag*/, int64_t row_bytes) {
            return DotProduct<Policy>::run(pool, x, w, row_bytes, e, y);
        });
    }
};

} // namespace kernels::cpu
