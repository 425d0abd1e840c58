// SPDX-License-Identifier: Apache-2.0
// The audio tower's own functions with vector code: banded attention with relative keys, the
// strided convolution of the front end (as a matrix product over gathered 3x3 neighbourhoods, in
// fp32), and the depthwise causal convolution.
#pragma once

#include "kernels/cpu/scratch.h"
#include "kernels/cpu/simd/elementwise.h"
#include "kernels/cpu/simd/gemm.h"
#include "kernels/cpu/simd/math.h"

#include <atomic>
#include <cmath>

namespace kernels::cpu {

/// P: fp32 tile product policy.
template <class P>
struct Audio {
    using V = typename P::V;
    using F = typename V::F;
    using L = Lanes<V>;

    static Status attention(Queue q, const AudioAttentionArgs& args) {
        const Status status = checkAudioAttention(args);
        if (status != Status::Ok) {
            return status;
        }
        std::atomic<bool> is_failed{false};
        parallelFor(poolOf(q), args.frames * args.num_heads, 16, [&](int64_t begin, int64_t end) {
            // Distances beyond the first frame do not occur.
            const int64_t most = args.reach < args.frames ? args.reach : args.frames;
            float* scores = threadScratchOf<float>(ScratchSlot::Attention,
                                                   static_cast<size_t>(most + V::kWidth));
            if (scores == nullptr) {
                is_failed.store(true, std::memory_order_relaxed);
                return;
            }
            for (int64_t i = begin; i < end; ++i) {
                attendOneHead(args, i / args.num_heads, i % args.num_heads, scores);
            }
        });
        return is_failed.load() ? Status::OutOfMemory : Status::Ok;
    }

    static Status subsampleConv(Queue q, const SubsampleConvArgs& args) {
        const Status status = checkSubsampleConv(args);
        if (status != Status::Ok || args.time == 0) {
            return status;
        }
        const int64_t taps = 9 * args.in_ch;
        const int64_t panels = (args.out_ch + P::kCols - 1) / P::kCols;
        float* rows =
            threadScratchOf<float>(ScratchSlot::Rows, static_cast<size_t>(args.out_ch * taps));
        float* packed = threadScratchOf<float>(ScratchSlot::Activations,
                                               static_cast<size_t>(panels * taps * P::kCols));
        if (rows == nullptr || packed == nullptr) {
            return Status::OutOfMemory;
        }
        packKernel(args, rows, packed);
        const int64_t time_out = (args.time + 1) / 2;
        std::atomic<bool> is_failed{false};
        parallelFor(poolOf(q), time_out, 1, [&](int64_t begin, int64_t end) {
            const int64_t mel_out = (args.mel + 1) / 2;
            float* patches = threadScratchOf<float>(ScratchSlot::Attention,
                                                    static_cast<size_t>(mel_out * (taps + 16)));
            if (patches == nullptr) {
                is_failed.store(true, std::memory_order_relaxed);
                return;
            }
            for (int64_t t = begin; t < end; ++t) {
                convolveFrame(args, t, packed, patches);
            }
        });
        return is_failed.load() ? Status::OutOfMemory : Status::Ok;
    }

    static Status causalConv1d(Queue q, MatF32 x, const float* w, int64_t taps, MutF32 y) {
        if (!isSameShape(x, y) || w == nullptr || taps <= 0) {
            return Status::BadShape;
        }
        float* by_tap =
            threadScratchOf<float>(ScratchSlot::Activations, static_cast<size_t>(taps * x.cols));
        if (by_tap == nullptr) {
            return Status::OutOfMemory;
        }
        for (int64_t c = 0; c < x.cols; ++c) {
            for (int64_t k = 0; k < taps; ++k) {
                by_tap[k * x.cols + c] = w[c * taps + k];
            }
        }
        parallelFor(poolOf(q), x.rows, 4, [&](int64_t begin, int64_t end) {
            for (int64_t t = begin; t < end; ++t) {
                const int64_t first = taps - 1 - t > 0 ? taps - 1 - t : 0;
                L::each(x.cols, [&](int64_t c, int64_t n) {
                    F acc = V::zero();
                    for (int64_t k = first; k < taps; ++k) {
                        const float* source = x.data + (t + 1 - taps + k) * x.stride + c;
                        acc = V::fma(L::load(by_tap + k * x.cols + c, n), L::load(source, n), acc);
                    }
                    L::save(y.data + t * y.stride + c, n, acc);
                });
            }
        });
        return Status::Ok;
    }

private:
    static void
    attendOneHead(const AudioAttentionArgs& args, int64_t frame, int64_t head, float* scores) {
        const int64_t dim = args.head_dim;
        const int64_t row = args.num_heads * dim;
        const int64_t offset = head * dim;
        const float* q = args.q + frame * row + offset;
        const int64_t count = args.reach < frame + 1 ? args.reach : frame + 1;
        for (int64_t distance = 0; distance < count; ++distance) {
            const float* k = args.k + (frame - distance) * row + offset;
            const float* r = args.rel + distance * row + offset;
            F acc = V::zero();
            L::each(dim, [&](int64_t d, int64_t n) {
                acc = V::fma(L::load(q + d, n), V::add(L::load(k + d, n), L::load(r + d, n)), acc);
            });
            scores[distance] = V::sum(acc);
        }
        const float total = softmax(args.cap, count, scores);
        float* out = args.out + frame * row + offset;
        L::each(dim, [&](int64_t d, int64_t n) {
            F acc = V::zero();
            for (int64_t distance = 0; distance < count; ++distance) {
                const float* v = args.v + (frame - distance) * row + offset + d;
                acc = V::fma(V::set1(scores[distance]), L::load(v, n), acc);
            }
            L::save(out + d, n, V::mul(acc, V::set1(1.0F / total)));
        });
    }

    /// Caps the scores, turns them into exponentials and returns their sum. The cap bounds the
    /// exponent, so the largest possible score serves as the maximum.
    static float softmax(float cap, int64_t count, float* scores) {
        const F limit = V::set1(cap);
        float largest = -cap;
        L::each(count, [&](int64_t i, int64_t n) {
            const F capped = V::mul(limit, Math<V>::tanh(V::div(L::load(scores + i, n), limit)));
            L::save(scores + i, n, capped);
        });
        for (int64_t i = 0; i < count; ++i) {
            largest = scores[i] > largest ? scores[i] : largest;
        }
        float total = 0.0F;
        L::each(count, [&](int64_t i, int64_t n) {
            const F e = Math<V>::exp(V::sub(L::load(scores + i, n), V::set1(largest)));
            L::save(scores + i, n, e);
        });
        for (int64_t i = 0; i < count; ++i) {
            total += scores[i];
        }
        return total;
    }

    /// [out, in, 3, 3] -> rows [out, tap, in] -> packed panels.
    static void packKernel(const SubsampleConvArgs& args, float* rows, float* packed) {
        const int64_t taps = 9 * args.in_ch;
        for (int64_t o = 0; o < args.out_ch; ++o) {
            for (int64_t c = 0; c < args.in_ch; ++c) {
                for (int64_t tap = 0; tap < 9; ++tap) {
                    rows[o * taps + tap * args.in_ch + c] =
                        args.weight[(o * args.in_ch + c) * 9 + tap];
                }
            }
        }
        for (int64_t first = 0; first < args.out_ch; first += P::kCols) {
            const float* pointers[P::kCols] = {};
            for (int64_t c = 0; c < P::kCols && first + c < args.out_ch; ++c) {
                pointers[c] = rows + (first + c) * taps;
            }
            packColumns<P>(pointers, taps, packed + first * taps);
        }
    }

    static void convolveFrame(const SubsampleConvArgs& args,
                              int64_t t_out,
                              const float* packed,
                              float* patches) {
        const int64_t taps = 9 * args.in_ch;
        const int64_t stride = taps + 16;
        const int64_t mel_out = (args.mel + 1) / 2;
        for (int64_t m_out = 0; m_out < mel_out; ++m_out) {
            for (int64_t tap = 0; tap < 9; ++tap) {
                const int64_t t = 2 * t_out + tap / 3 - 1;
                const int64_t m = 2 * m_out + tap % 3 - 1;
                float* patch = patches + m_out * stride + tap * args.in_ch;
                const bool is_inside = t >= 0 && t < args.time && m >= 0 && m < args.mel;
                const float* source = args.in + (t * args.mel + m) * args.in_ch;
                L::each(args.in_ch, [&](int64_t c, int64_t n) {
                    L::save(patch + c, n, is_inside ? L::load(source + c, n) : V::zero());
                });
            }
        }
        float* out = args.out + t_out * mel_out * args.out_ch;
        TileArgs<float> tile;
        tile.a = patches;
        tile.a_stride = stride;
        tile.depth = taps;
        tile.c_stride = args.out_ch;
        for (int64_t first = 0; first < args.out_ch; first += P::kCols) {
            tile.b = packed + first * taps;
            tile.cols = args.out_ch - first < P::kCols ? args.out_ch - first : P::kCols;
            tile.c = out + first;
            multiplyTiles<P>(tile, mel_out);
        }
        for (int64_t r = 0; r < mel_out; ++r) {
            normAndRelu(args, out + r * args.out_ch);
        }
    }

    /// LayerNorm over the channels of one position (weight only), then max(0, .).
    static void normAndRelu(const SubsampleConvArgs& args, float* x) {
        const int64_t count = args.out_ch;
        F acc = V::zero();
        L::each(count, [&](int64_t c, int64_t n) { acc = V::add(acc, L::load(x + c, n)); });
        const float mean = V::sum(acc) / static_cast<float>(count);
        const F middle = V::set1(mean);
        float squares = 0.0F;
        L::each(count, [&](int64_t c, int64_t n) {
            F lanes = V::sub(L::load(x + c, n), middle);
            L::save(x + c, n, lanes);
            lanes = L::load(x + c, n); // zeros behind the last channel
            squares += V::sum(V::mul(lanes, lanes));
        });
        const float inverse = 1.0F / std::sqrt(squares / static_cast<float>(count) + args.eps);
        L::each(count, [&](int64_t c, int64_t n) {
            const F normed =
                V::mul(V::mul(L::load(x + c, n), V::set1(inverse)), L::load(args.norm + c, n));
            L::save(x + c, n, V::max(V::zero(), normed));
        });
    }
};

} // namespace kernels::cpu
