// SPDX-License-Identifier: Apache-2.0
// Sums of low-rank updates for few tokens (decode): two jobs whatever the number of adapters. The
// first multiplies x with the rows of all A, the second adds all B to each piece of y. Factors are
// read as stored and multiplied in fp32, also in tables whose base products round x to bf16: the
// factors are a few percent of the bytes, and an update is small beside what it is added to.
#pragma once

#include "kernels/cpu/scratch.h"
#include "kernels/cpu/simd/dot.h"

namespace kernels::cpu {

template <class V>
struct LowRank {
    /// Rows of A are few and long, so that a thread claims few: rank 16 should keep 4 threads busy.
    static constexpr int64_t kRowsPerChunk = 4;
    static constexpr int64_t kLeastChunkBytes = 4096;

    /// Shapes are checked by the caller; x has 1 to kDotTokens rows, count >= 1.
    static Status accumulate(ThreadPool* pool,
                             MatF32 x,
                             const LoraTerm* terms,
                             int64_t count,
                             MutF32 scratch,
                             MutF32 y) {
        MatF32 in = x;
        if (x.cols % V::kWidth != 0) { // products load whole vectors: pad with zeros
            in = padded(x, ScratchSlot::Activations);
            if (in.data == nullptr) {
                return Status::OutOfMemory;
            }
        }
        const int64_t row_bytes = 2 * x.cols;
        const int64_t grain = row_bytes * kRowsPerChunk >= kLeastChunkBytes
                                  ? kRowsPerChunk
                                  : kLeastChunkBytes / (row_bytes > 0 ? row_bytes : 1) + 1;
        parallelFor(pool, scratch.cols, grain, [&](int64_t begin, int64_t end) {
            int64_t first = 0; // of the term, in scratch
            for (int64_t i = 0; i < count && first < end; ++i) {
                const int64_t rank = terms[i].a.rows;
                const int64_t from = begin > first ? begin - first : 0;
                const int64_t to = end - first < rank ? end - first : rank;
                if (from < to) {
                    const MutF32 hidden{scratch.data + first, x.rows, rank, scratch.stride};
                    rows(terms[i].a, from, to, in, Epilogue{}, hidden);
                }
                first += rank;
            }
        });

        // The hidden values of each term, padded to whole vectors where a rank is none.
        bool is_padded = false;
        int64_t widths = 0;
        int64_t row_values = 0;
        for (int64_t i = 0; i < count; ++i) {
            const int64_t rank = terms[i].a.rows;
            is_padded = is_padded || rank % V::kWidth != 0;
            widths += (rank + V::kWidth - 1) / V::kWidth * V::kWidth;
            row_values += rank;
        }
        MatF32 hidden = scratch;
        if (is_padded) {
            float* copy = threadScratchOf<float>(ScratchSlot::Activations,
                                                 static_cast<size_t>(x.rows * widths));
            if (copy == nullptr) {
                return Status::OutOfMemory;
            }
            for (int64_t t = 0; t < x.rows; ++t) {
                const float* from = scratch.data + t * scratch.stride;
                float* to = copy + t * widths;
                for (int64_t i = 0; i < count; ++i) {
                    const int64_t rank = terms[i].a.rows;
                    copyPadded(from, rank, to);
                    from += rank;
                    to += (rank + V::kWidth - 1) / V::kWidth * V::kWidth;
                }
            }
            hidden = {copy, x.rows, widths, widths};
        }
        int64_t piece = kBytesPerChunk / 2 / (row_values > 0 ? row_values : 1);
        piece = piece / V::kWidth * V::kWidth;
        piece = piece < V::kWidth ? V::kWidth : piece;
        parallelFor(pool, y.cols, piece, [&](int64_t begin, int64_t end) {
            MatF32 h = hidden;
            for (int64_t i = 0; i < count; ++i) {
                const LoraTerm& term = terms[i];
                Epilogue update;
                update.is_added = true;
                update.factor = term.scaling;
                rows(term.b, begin, end, h, update, y);
                if (term.b_bias.data != nullptr) {
                    addBias(term.b_bias, term.scaling, begin, end, y);
                }
                h.data += (term.a.rows + V::kWidth - 1) / V::kWidth * V::kWidth;
            }
        });
        return Status::Ok;
    }

    /// y[:, begin..end) += scaling * bias[begin..end).
    static void addBias(const MatView& bias, float scaling, int64_t begin, int64_t end, MutF32 y) {
        using E = Expand<V>;
        const auto factor = V::set1(scaling);
        for (int64_t t = 0; t < y.rows; ++t) {
            float* row = y.data + t * y.stride;
            int64_t c = begin;
            for (; c + V::kWidth <= end; c += V::kWidth) {
                const auto b = E::loadDense(bias.data, bias.type, c);
                V::store(row + c, V::fma(b, factor, V::load(row + c)));
            }
            if (c < end) {
                const int64_t n = end - c;
                const auto b = E::loadDensePart(bias.data, bias.type, c, n);
                V::storePart(row + c, V::fma(b, factor, V::loadPart(row + c, n)), n);
            }
        }
    }

private:
    static void copyPadded(const float* from, int64_t count, float* to) {
        NaturalDot<V, WeightFormat::F32>::convert(from, count, to);
    }

    /// Rows of x with zeros up to whole vectors; data nullptr when there is no memory.
    static MatF32 padded(MatF32 x, ScratchSlot slot) {
        const int64_t width = (x.cols + V::kWidth - 1) / V::kWidth * V::kWidth;
        float* copy = threadScratchOf<float>(slot, static_cast<size_t>(x.rows * width));
        for (int64_t t = 0; copy != nullptr && t < x.rows; ++t) {
            copyPadded(x.data + t * x.stride, x.cols, copy + t * width);
        }
        return {copy, x.rows, x.cols, width};
    }

    /// Products of rows [begin, end) of a factor with x, whose rows end in whole vectors.
    static void rows(const MatView& factor,
                     int64_t begin,
                     int64_t end,
                     MatF32 x,
                     const Epilogue& epilogue,
                     MutF32 y) {
        switch (factor.type) {
        case DType::F32:
            return rowsOf<WeightFormat::F32>(factor, begin, end, x, epilogue, y);
        case DType::F16:
            return rowsOf<WeightFormat::F16>(factor, begin, end, x, epilogue, y);
        case DType::BF16:
            return rowsOf<WeightFormat::BF16>(factor, begin, end, x, epilogue, y);
        }
    }

    template <WeightFormat kFormat>
    static void rowsOf(const MatView& factor,
                       int64_t begin,
                       int64_t end,
                       MatF32 x,
                       const Epilogue& epilogue,
                       MutF32 y) {
        WeightView w;
        w.data = factor.data;
        w.format = kFormat;
        w.rows = factor.rows;
        w.cols = factor.cols;
        NaturalDot<V, kFormat> policy;
        policy.open(w);
        DotProduct<NaturalDot<V, kFormat>>::rows(policy, begin, end, x.data, x.stride, epilogue, y);
    }
};

} // namespace kernels::cpu
