// SPDX-License-Identifier: Apache-2.0
// Sums of low-rank updates for few tokens (decode): two jobs whatever the number of adapters. The
// first multiplies x with the rows of all A, the second adds all B to each piece of y. Factors are
// read as stored and multiplied in fp32, also in tables whose base products round x to bf16: the
// factors are a few percent of the bytes, and an update is small beside what it is added to.
#pragma once

#include "kernels/cpu/scratch.h"
#include "kernels/cpu/simd/dot_dense.h"

namespace kernels::cpu {

template <class V>
struct LowRank {
    /// Bytes of a factor that a thread claims at once. Factors are small (48 KiB for rank 16 and
    /// 1536 columns), so that larger chunks would leave threads without work.
    static constexpr int64_t kChunkBytes = 8192;
    /// Elements by which a prefetch runs ahead: factors are too short for the processor's own.
    static constexpr int64_t kAhead = 1024;
    using F = typename V::F;

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
        const int64_t grain = chunkRows(x.cols, 1);
        parallelFor(pool, scratch.cols, grain, [&](int64_t begin, int64_t end) {
            int64_t first = 0; // of the term, in scratch
            for (int64_t i = 0; i < count && first < end; ++i) {
                const int64_t rank = terms[i].a.rows;
                const int64_t from = begin > first ? begin - first : 0;
                const int64_t to = end - first < rank ? end - first : rank;
                if (from < to) {
                    const MutF32 hidden{scratch.data + first, x.rows, rank, scratch.stride};
                    withElements<V>(terms[i].a.type, [&]<class E>(E) {
                        hiddenRows<E>(terms[i].a, from, to, in, hidden);
                    });
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
        parallelFor(pool, y.cols, chunkRows(row_values, V::kWidth),
                    [&](int64_t begin, int64_t end) {
                        MatF32 h = hidden;
                        for (int64_t i = 0; i < count; ++i) {
                            const LoraTerm& term = terms[i];
                            withElements<V>(term.b.type, [&]<class E>(E) {
                                addRows<E>(term.b, begin, end, h, term.scaling, y);
                            });
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
        const auto factor = V::set1(scaling);
        for (int64_t t = 0; t < y.rows; ++t) {
            float* row = y.data + t * y.stride + begin;
            Lanes<V>::each(end - begin, [&](int64_t c, int64_t n) {
                const auto b = Expand<V>::loadSome(bias.data, bias.type, begin + c, n);
                Lanes<V>::save(row + c, n, V::fma(b, factor, Lanes<V>::load(row + c, n)));
            });
        }
    }

private:
    /// Rows of `values` 16-bit values each that make a chunk, a multiple of `step`.
    static int64_t chunkRows(int64_t values, int64_t step) {
        const int64_t rows = kChunkBytes / 2 / (values > 0 ? values : 1) / step * step;
        return rows < step ? step : rows;
    }

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

    /// hidden[:, begin..end) = x times rows [begin, end) of A; rows of x end in whole vectors.
    template <class Elements>
    static void hiddenRows(const MatView& a, int64_t begin, int64_t end, MatF32 x, MutF32 hidden) {
        if (x.rows > 1) {
            return products<Elements>(a, begin, end, x, Epilogue{}, hidden);
        }
        constexpr int kChains = 4;
        constexpr int64_t kStep = kChains * V::kWidth;
        for (int64_t r = begin; r < end; ++r) {
            const int64_t first = r * a.cols;
            F acc[kChains] = {V::zero(), V::zero(), V::zero(), V::zero()};
            int64_t k = 0;
            for (; k + kStep <= a.cols; k += kStep) {
#pragma GCC unroll 4
                for (int c = 0; c < kChains; ++c) {
                    const int64_t at = k + c * V::kWidth;
                    Elements::askAhead(a.data, first + at + kAhead);
                    acc[c] =
                        V::fma(Elements::load(a.data, first + at), V::load(x.data + at), acc[c]);
                }
            }
            for (; k < a.cols; k += V::kWidth) {
                const F w = a.cols - k >= V::kWidth
                                ? Elements::load(a.data, first + k)
                                : Elements::loadPart(a.data, first + k, a.cols - k);
                acc[0] = V::fma(w, V::load(x.data + k), acc[0]);
            }
            hidden.data[r] = V::sum(V::add(V::add(acc[0], acc[1]), V::add(acc[2], acc[3])));
        }
    }

    /// y[:, begin..end) += scaling * hidden B^T; rows of hidden end in whole vectors.
    template <class Elements>
    static void
    addRows(const MatView& b, int64_t begin, int64_t end, MatF32 hidden, float scaling, MutF32 y) {
        const int64_t whole = b.cols / V::kWidth * V::kWidth;
        const int64_t rest = b.cols - whole;
        const F factor = V::set1(scaling);
        int64_t n = begin;
        for (; n + V::kWidth <= end; n += V::kWidth) {
            for (int64_t t = 0; t < y.rows; ++t) {
                const float* h = hidden.data + t * hidden.stride;
                // One vector per row of B, kept in registers, added up by one transpose.
                F sums[V::kWidth];
#pragma GCC unroll 16
                for (int r = 0; r < V::kWidth; ++r) {
                    const int64_t first = (n + r) * b.cols;
                    Elements::askAhead(b.data, first + kAhead);
                    F sum = V::zero();
                    for (int64_t k = 0; k < whole; k += V::kWidth) {
                        sum = V::fma(Elements::load(b.data, first + k), V::load(h + k), sum);
                    }
                    if (rest > 0) {
                        const F w = Elements::loadPart(b.data, first + whole, rest);
                        sum = V::fma(w, V::load(h + whole), sum);
                    }
                    sums[V::slotOfRow(r)] = sum;
                }
                float* out = y.data + t * y.stride + n;
                V::store(out, V::fma(V::transposeSum(sums), factor, V::load(out)));
            }
        }
        if (n < end) {
            Epilogue update;
            update.is_added = true;
            update.factor = scaling;
            products<Elements>(b, n, end, hidden, update, y);
        }
    }

    template <class Elements>
    static void products(const MatView& factor,
                         int64_t begin,
                         int64_t end,
                         MatF32 x,
                         const Epilogue& epilogue,
                         MutF32 y) {
        WeightView w;
        w.data = factor.data;
        w.rows = factor.rows;
        w.cols = factor.cols;
        DenseDot<Elements> policy;
        policy.open(w);
        DotProduct<DenseDot<Elements>>::rows(policy, begin, end, x.data, x.stride, epilogue, y);
    }
};

} // namespace kernels::cpu
