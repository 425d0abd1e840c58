// SPDX-License-Identifier: Apache-2.0
// Routed experts of one token in one cooperative launch, so that nobody has to ask the host which
// experts it takes: scores; gate and up of those chosen; down of them, weighted and summed in the
// order of the choice, with the norms behind. Barriers of the grid stand between these, in each
// of which what does not depend on the other blocks is done: the input of gate and up, weights of
// down on their way into L2. Every block chooses for itself. A warp makes one output: its weights
// are read once, as wide as they can be.
#include "kernels/cuda/device/common/expert_args.h"
#include "kernels/cuda/device/common/grid_barrier.cuh"
#include "kernels/cuda/device/decode/project_step.cuh"

using namespace kernels;
using namespace kernels::cuda;

namespace {

/// Two sums over the block, in every thread. buffer: [2, 33] in shared memory. Every warp adds up
/// what the warps have: no loop over 32 of them stands in anybody's way.
__device__ __forceinline__ float2 blockSums(float2 values, float* buffer) {
    values = make_float2(warpSum(values.x), warpSum(values.y));
    __syncthreads();
    if ((threadIdx.x & 31) == 0) {
        reinterpret_cast<float2*>(buffer)[threadIdx.x >> 5] = values;
    }
    __syncthreads();
    const auto lane = static_cast<int>(threadIdx.x & 31);
    const float2 of_warp = lane < kExpertWarps ? reinterpret_cast<const float2*>(buffer)[lane]
                                               : make_float2(0.0F, 0.0F);
    return make_float2(warpSum(of_warp.x), warpSum(of_warp.y));
}

__device__ __forceinline__ float blockLargest(float value, float* buffer) {
    value = warpMax(value);
    __syncthreads();
    if ((threadIdx.x & 31) == 0) {
        buffer[threadIdx.x >> 5] = value;
    }
    __syncthreads();
    return warpMax(buffer[threadIdx.x % kExpertWarps]);
}

/// A row of codes from element `first` of its weight on.
template <bool IS_NESTED>
struct CodeRow {
    const uint8_t* codes;
    const float* absmax;         ///< The row's first block;
    const uint8_t* absmax_codes; ///< nested: its code,
    float outer[2];              ///< what codes are times, and from the next 256 blocks on.
    int before;                  ///< Blocks of the same 256 in front of the row.
    int rest;                    ///< Elements of the first block that lie before the row.

    __device__ __forceinline__ CodeRow(const WeightArgs& w, int64_t first, int shift)
        : codes(static_cast<const uint8_t*>(w.data) + (first >> 1)) {
        const int64_t block = first >> shift;
        rest = static_cast<int>(first) & ((1 << shift) - 1);
        if constexpr (IS_NESTED) {
            absmax_codes = w.absmax_q + block;
            before = static_cast<int>(block) & 255;
            const int64_t at = block >> 8;
            const int64_t last = (w.rows * w.cols - 1) >> (shift + 8);
            outer[0] = w.nested_absmax[at];
            outer[1] = w.nested_absmax[at < last ? at + 1 : last];
        } else {
            absmax = w.absmax + block;
        }
    }
};

/// 16 codes and what their absmax is made of, asked for: nothing waits before it is wanted.
struct CodeChunk {
    Codes<WeightLayout::Codes> codes;
    uint32_t absmax; ///< The value's bits, or its code.
};

/// Chunk `chunk` of the row.
template <bool IS_NESTED>
__device__ __forceinline__ CodeChunk askFor(const CodeRow<IS_NESTED>& row, int shift, int chunk) {
    CodeChunk c{};
    c.codes = loadCodes<WeightLayout::Codes>(row.codes + 8 * chunk);
    const int block = (row.rest + 16 * chunk) >> shift;
    if constexpr (IS_NESTED) {
        c.absmax = row.absmax_codes[block];
    } else {
        c.absmax = __float_as_uint(row.absmax[block]);
    }
    return c;
}

/// Its absmax, as blockScale(). nested: values of codes, in shared memory.
template <bool IS_NESTED>
__device__ __forceinline__ float scaleOf(const WeightArgs& w,
                                         const float* nested,
                                         const CodeRow<IS_NESTED>& row,
                                         const CodeChunk& c,
                                         int shift,
                                         int chunk) {
    if constexpr (IS_NESTED) {
        const int block = (row.rest + 16 * chunk) >> shift;
        return __fadd_rn(
            __fmul_rn(nested[c.absmax], row.before + block < 256 ? row.outer[0] : row.outer[1]),
            w.nested_offset);
    } else {
        return __uint_as_float(c.absmax);
    }
}

/// The type of a layout without scales; -1: it has some.
__device__ __forceinline__ int elementOf(WeightLayout layout) {
    return layout == WeightLayout::BF16  ? kElementBf16
           : layout == WeightLayout::F16 ? kElementF16
           : layout == WeightLayout::F32 ? kElementF32
                                         : -1;
}

/// Row `expert` of the router times rms(x) * scale, and 1 / rms(x); by the whole block. nested:
/// codes of the router's absmax.
__device__ __forceinline__ float2 scoreOf(const WeightArgs& router,
                                          int expert,
                                          const float* x,
                                          const float* scale,
                                          float eps,
                                          const float* nested,
                                          float* buffer) {
    const auto hidden = static_cast<int>(router.cols);
    float squares = 0.0F;
    float dot = 0.0F;
    const auto at = [](const float* row) { return reinterpret_cast<uintptr_t>(row); };
    const bool is_four_bit = router.layout == WeightLayout::Codes;
    if (is_four_bit && hidden % 16 == 0 && (router.block_size & (router.block_size - 1)) == 0 &&
        router.expand_type == kElementBf16 && ((at(x) | at(scale)) & 15) == 0) {
        // 16 neighbours of one block a thread.
        if (threadIdx.x < 16) {
            buffer[threadIdx.x] = __uint_as_float(codesOf(router.code_table)[threadIdx.x]);
        }
        __syncthreads();
        const int shift = 31 - __clz(router.block_size);
        for (auto c = static_cast<int>(threadIdx.x); c < hidden / 16; c += kExpertThreads) {
            const int64_t first = static_cast<int64_t>(expert) * hidden + 16 * c;
            const Codes<WeightLayout::Codes> codes = loadCodes<WeightLayout::Codes>(
                static_cast<const uint8_t*>(router.data) + (first >> 1));
            const int64_t at = first >> shift;
            const float block = router.absmax != nullptr
                                    ? router.absmax[at]
                                    : __fadd_rn(__fmul_rn(nested[router.absmax_q[at]],
                                                          router.nested_absmax[at >> 8]),
                                                router.nested_offset);
#pragma unroll
            for (int k = 0; k < 16; k += 4) {
                const float4 values = loadFour(x + 16 * c + k);
                const float4 scales = loadFour(scale + 16 * c + k);
                const uint32_t two = (k < 8 ? codes.bits.x : codes.bits.y) >> (k % 8 * 4);
                const auto weight = [&](uint32_t code) {
                    return roundTo(kElementBf16, __fmul_rn(buffer[code & 15U], block));
                };
                squares += sumOfSquares(values);
                dot = fmaf(values.x * scales.x, weight(two >> 4), dot);
                dot = fmaf(values.y * scales.y, weight(two), dot);
                dot = fmaf(values.z * scales.z, weight(two >> 12), dot);
                dot = fmaf(values.w * scales.w, weight(two >> 8), dot);
            }
        }
    } else if (const int type = elementOf(router.layout);
               type >= 0 && hidden % 4 == 0 &&
               ((at(x) | at(scale) | reinterpret_cast<uintptr_t>(router.data)) & 15) == 0) {
        for (auto i = static_cast<int>(threadIdx.x) * 4; i < hidden; i += kExpertThreads * 4) {
            const float4 values = loadFour(x + i);
            const float4 scales = loadFour(scale + i);
            const float4 weights =
                loadFour(VectorArgs{static_cast<const char*>(router.data) +
                                        static_cast<int64_t>(expert) * hidden * elementBytes(type),
                                    type, 0},
                         i);
            squares += sumOfSquares(values);
            dot = fmaf(values.x * scales.x, weights.x, dot);
            dot = fmaf(values.y * scales.y, weights.y, dot);
            dot = fmaf(values.z * scales.z, weights.z, dot);
            dot = fmaf(values.w * scales.w, weights.w, dot);
        }
    } else {
        for (auto i = static_cast<int>(threadIdx.x); i < hidden; i += kExpertThreads) {
            const int64_t index = static_cast<int64_t>(expert) * hidden + i;
            squares = fmaf(x[i], x[i], squares);
            dot = fmaf(x[i] * scale[i], weightValue(router, expert, index), dot);
        }
    }
    const float2 sums = blockSums(make_float2(squares, dot), buffer);
    const float inverse = rsqrtf(sums.x / static_cast<float>(hidden) + eps);
    return make_float2(sums.y * inverse, inverse);
}

/// The experts with the top_k largest scores, the lower index of equals, with their weights; by the
/// whole block, from the scores of all. share: [experts], share_of: [top_k], in shared memory.
/// tells: a.chosen receives them.
__device__ __forceinline__ void chooseExperts(const ExpertsKernelArgs& a,
                                              float* share,
                                              float* share_of,
                                              ChosenExpert* pick,
                                              float* buffer,
                                              bool tells) {
    const auto thread = static_cast<int>(threadIdx.x);
    float largest = -INFINITY;
    for (int e = thread; e < a.experts; e += kExpertThreads) {
        share[e] = __ldcg(a.scores + e);
        largest = fmaxf(largest, share[e]);
    }
    largest = blockLargest(largest, buffer);
    float sum = 0.0F;
    for (int e = thread; e < a.experts; e += kExpertThreads) {
        const float p = expf(share[e] - largest);
        sum += p;
        share[e] = p >= 0.0F ? p : 0.0F; // a choice among numbers, even where the weights are none
    }
    sum = blockSums(make_float2(sum, 0.0F), buffer).x; // NaN where one score was none
    // Four lanes compare an expert with all.
    constexpr int kLanes = 4;
    const int part = thread % kLanes;
    for (int first = 0; first < a.experts; first += kExpertThreads / kLanes) {
        const int e = first + thread / kLanes;
        const float own = e < a.experts ? share[e] : 0.0F;
        int rank = 0;
#pragma unroll 8
        for (int other = part; other < a.experts; other += kLanes) {
            const float p = share[other];
            rank += p > own || (p == own && other < e) ? 1 : 0;
        }
#pragma unroll
        for (int offset = kLanes / 2; offset > 0; offset >>= 1) {
            rank += __shfl_xor_sync(0xffffffffU, rank, offset);
        }
        if (part == 0 && e < a.experts && rank < a.top_k) {
            pick[rank] = {e, own * a.expert_scale[e]};
            share_of[rank] = own;
        }
    }
    __syncthreads();
    if (thread < a.top_k) {
        float top = sum - sum; // 0, or no number
        for (int j = 0; j < a.top_k; ++j) {
            top += share_of[j];
        }
        pick[thread].weight /= top;
        if (tells && blockIdx.x == 0) {
            a.chosen->pick[thread] = pick[thread];
        }
    }
    __syncthreads();
}

/// Keeps those of the choice that have a place in gate_up and down, under its number. Returns how
/// many; by the whole block. count: [1], in shared memory.
__device__ __forceinline__ int
keepPlaced(const ExpertsKernelArgs& a, ChosenExpert* pick, int* count) {
    if (threadIdx.x < 32) {
        const auto lane = static_cast<int>(threadIdx.x);
        const ChosenExpert own = lane < a.top_k ? pick[lane] : ChosenExpert{0, 0.0F};
        const int place = lane < a.top_k ? a.place_of[own.expert] : -1;
        const uint32_t placed = __ballot_sync(0xffffffffU, place >= 0);
        __syncwarp();
        if (place >= 0) {
            pick[__popc(placed & ((1U << lane) - 1U))] = {place, own.weight};
        }
        count[0] = __popc(placed);
    }
    __syncthreads();
    return count[0];
}

/// Elements 8 u to 8 u + 7 of a row in shared memory lie in two planes, so that lanes with
/// neighbouring u meet different banks.
struct Planes {
    float4* low;
    float4* high;
    __device__ __forceinline__ explicit Planes(int units)
        : low(reinterpret_cast<float4*>(dynamicShared())), high(low + units) {}
};

__device__ __forceinline__ float
dot8(const uint4& weights, const float4& low, const float4& high, float sum) {
    sum = fmaf(__uint_as_float(weights.x << 16), low.x, sum);
    sum = fmaf(__uint_as_float(weights.x & 0xffff0000U), low.y, sum);
    sum = fmaf(__uint_as_float(weights.y << 16), low.z, sum);
    sum = fmaf(__uint_as_float(weights.y & 0xffff0000U), low.w, sum);
    sum = fmaf(__uint_as_float(weights.z << 16), high.x, sum);
    sum = fmaf(__uint_as_float(weights.z & 0xffff0000U), high.y, sum);
    sum = fmaf(__uint_as_float(weights.w << 16), high.z, sum);
    return fmaf(__uint_as_float(weights.w & 0xffff0000U), high.w, sum);
}

/// The input of gate and up: x behind its norm, four neighbours.
__device__ __forceinline__ float4 normedFour(const ExpertsKernelArgs& a, int i, float inverse) {
    return times(times(loadFour(a.x + i), loadFour(a.norm, i)), inverse);
}

/// The input of down, four neighbours; other blocks have written it in this launch.
__device__ __forceinline__ float4 resultFour(const ExpertsKernelArgs& a, int i) {
    return __ldcg(reinterpret_cast<const float4*>(a.act + i));
}

/// i / n for i below 2^20, where the launch has made sure of that. inverse: 1 / n.
__device__ __forceinline__ int quotient(int i, float inverse) {
    return static_cast<int>((static_cast<float>(i) + 0.5F) * inverse);
}

/// A lane's k-th piece of a row behind `base` of them. Rows come in turns of a fixed number of
/// pieces, all asked for before the first is used: a loop unrolled for as many as there are waits
/// for each of the rest by itself.
__device__ __forceinline__ int unitOf(int base, int k) {
    return base + 32 * k + static_cast<int>(threadIdx.x & 31);
}

/// Weights of 16 bits: a row of values in two planes, sums of its products with rows of weights.
struct PlainProducts {
    /// What does not depend on anybody.
    __device__ __forceinline__ PlainProducts(const ExpertsKernelArgs&, const float*) {}

    /// at(i): elements i to i + 3. Ends with a barrier. Returns the factor of the sums.
    template <typename At>
    __device__ __forceinline__ float take(int values, float*, const At& at) {
        const int units = values / 8;
        const Planes x(units);
        for (auto u = static_cast<int>(threadIdx.x); u < units; u += kExpertThreads) {
            x.low[u] = at(8 * u);
            x.high[u] = at(8 * u + 4);
        }
        __syncthreads();
        return 1.0F;
    }

    /// Rows `gate` and `up` times the row; the first lane's sums count.
    __device__ __forceinline__ float2 pair(const ExpertsKernelArgs& a, int64_t gate, int64_t up) {
        const int units = a.hidden / 8;
        const Planes x(units);
        const uint4* const g = static_cast<const uint4*>(a.gate_up.data) + gate * units;
        const uint4* const w = static_cast<const uint4*>(a.gate_up.data) + up * units;
        float2 sums = make_float2(0.0F, 0.0F);
        constexpr int kAtOnce = 4;
#pragma unroll 1
        for (int base = 0; base < units; base += kAtOnce * 32) {
            uint4 weights[kAtOnce][2];
#pragma unroll
            for (int k = 0; k < kAtOnce; ++k) {
                const int u = unitOf(base, k);
                weights[k][0] = u < units ? __ldcs(g + u) : make_uint4(0, 0, 0, 0);
                weights[k][1] = u < units ? __ldcs(w + u) : make_uint4(0, 0, 0, 0);
            }
#pragma unroll
            for (int k = 0; k < kAtOnce; ++k) {
                if (const int u = unitOf(base, k); u < units) {
                    sums.x = dot8(weights[k][0], x.low[u], x.high[u], sums.x);
                    sums.y = dot8(weights[k][1], x.low[u], x.high[u], sums.y);
                }
            }
        }
        return make_float2(warpSum(sums.x), warpSum(sums.y));
    }

    /// Output `output` of down, of all `picks` experts.
    __device__ __forceinline__ float
    down(const ExpertsKernelArgs& a, const ChosenExpert* pick, int picks, int output) {
        const int units = a.inner / 8;
        const int all = picks * units;
        const Planes x(all);
        const uint4* const rows =
            static_cast<const uint4*>(a.down.data) + static_cast<int64_t>(output) * units;
        const int64_t stride = static_cast<int64_t>(a.hidden) * units; // of experts
        const float inverse = 1.0F / static_cast<float>(units);
        float sum = 0.0F;
        constexpr int kAtOnce = 8;
#pragma unroll 1
        for (int base = 0; base < all; base += kAtOnce * 32) {
            uint4 weights[kAtOnce];
#pragma unroll
            for (int k = 0; k < kAtOnce; ++k) {
                const int u = unitOf(base, k);
                const int j = quotient(u < all ? u : 0, inverse);
                weights[k] = u < all ? __ldcs(rows + pick[j].expert * stride + (u - j * units))
                                     : make_uint4(0, 0, 0, 0);
            }
#pragma unroll
            for (int k = 0; k < kAtOnce; ++k) {
                if (const int u = unitOf(base, k); u < all) {
                    sum = dot8(weights[k], x.low[u], x.high[u], sum);
                }
            }
        }
        return warpSum(sum);
    }
};

/// Sums over the lane's half of the warp and over the other one.
__device__ __forceinline__ float2 halfSums(float sum) {
#pragma unroll
    for (int offset = 8; offset > 0; offset >>= 1) {
        sum += __shfl_xor_sync(0xffffffffU, sum, offset);
    }
    return make_float2(sum, __shfl_xor_sync(0xffffffffU, sum, 16));
}

/// A row of values as fp16 with a power of two, in two planes of chunks of 16.
struct HalfRow {
    uint4* x;
    int chunks = 0; ///< Chunks in the row.

    __device__ __forceinline__ explicit HalfRow(char* at) : x(reinterpret_cast<uint4*>(at)) {}

    __device__ __forceinline__ void load(int chunk, uint32_t (&values)[8]) const {
        const uint4 x0 = x[chunk];
        const uint4 x1 = x[chunks + chunk];
        const uint32_t words[8] = {x0.x, x0.y, x0.z, x0.w, x1.x, x1.y, x1.z, x1.w};
        memcpy(values, words, sizeof words);
    }

    template <typename At>
    __device__ __forceinline__ float take(int values, float* buffer, const At& at) {
        chunks = values / 16;
        constexpr int kHeld = 2; // fours of a thread that are read once
        float4 held[kHeld];
        float largest = 0.0F;
        const int first = static_cast<int>(threadIdx.x) * 4;
#pragma unroll
        for (int k = 0; k < kHeld; ++k) {
            const int i = first + k * kExpertThreads * 4;
            held[k] = i < values ? at(i) : make_float4(0.0F, 0.0F, 0.0F, 0.0F);
            largest = fmaxf(largest, largestOf(held[k]));
        }
        constexpr int kRest = kHeld * kExpertThreads * 4;
        for (int i = kRest + first; i < values; i += kExpertThreads * 4) {
            largest = fmaxf(largest, largestOf(at(i)));
        }
        const float factor = powerOfTwoFor(blockLargest(largest, buffer));
        const float down = 1.0F / factor;
        const auto store = [&](int i, const float4& v) {
            uint32_t* const to = reinterpret_cast<uint32_t*>(x) +
                                 ((i >> 3 & 1) * chunks + (i >> 4)) * 4 + (i >> 2 & 1) * 2;
            *reinterpret_cast<uint2*>(to) =
                make_uint2(bitsOf(__floats2half2_rn(v.x * down, v.y * down)),
                           bitsOf(__floats2half2_rn(v.z * down, v.w * down)));
        };
#pragma unroll
        for (int k = 0; k < kHeld; ++k) {
            const int i = first + k * kExpertThreads * 4;
            if (i < values) {
                store(i, held[k]);
            }
        }
        for (int i = kRest + first; i < values; i += kExpertThreads * 4) {
            store(i, at(i));
        }
        __syncthreads();
        return factor;
    }
};

/// 4-bit weights: the row of values lies behind a table of codes.
template <bool IS_NESTED>
struct CodeProducts : HalfRow {
    uint32_t* table;
    const float* nested; ///< [2, 256]: codes of nested absmax, of gate and up and of down.
    uint32_t lane_table;

    __device__ __forceinline__ CodeProducts(const ExpertsKernelArgs& a, const float* nested_codes)
        : HalfRow(dynamicShared() + kTableBytes),
          table(reinterpret_cast<uint32_t*>(dynamicShared())), nested(nested_codes),
          lane_table(sharedAddress(table + (threadIdx.x & 31))) {
        fillTable<kExpertThreads>(table, a.gate_up.code_table);
    }

    /// Chunk `chunk` of the row times 16 codes: as dot16(), in two sums that do not wait for each
    /// other.
    __device__ __forceinline__ float dot(const Codes<WeightLayout::Codes>& codes, int chunk) const {
        uint32_t values[8];
        load(chunk, values);
        __half2 sums[2] = {__float2half2_rn(0.0F), __float2half2_rn(0.0F)};
#pragma unroll
        for (int b = 0; b < 4; ++b) {
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                const uint32_t entry =
                    __byte_perm(half == 0 ? codes.bits.x : codes.bits.y, 0, 0x4440U + b);
                sums[half] = __hfma2(asHalf2(loadShared(lane_table + (entry << 7))),
                                     asHalf2(values[4 * half + b]), sums[half]);
            }
        }
        const float2 parts = __half22float2(__hadd2(sums[0], sums[1]));
        return parts.x + parts.y;
    }

    /// A lane's share of a row of `count` chunks: `own` and every APART-th behind it, times those
    /// of the input from `from` on. All of a turn are asked for before the first is used.
    template <int APART>
    __device__ __forceinline__ float share(const WeightArgs& w,
                                           const CodeRow<IS_NESTED>& row,
                                           const float* nested_codes,
                                           int shift,
                                           int own,
                                           int count,
                                           int from) const {
        constexpr int kAtOnce = 6;
        float sum = 0.0F;
#pragma unroll 1
        for (int first = 0; first < count; first += kAtOnce * APART) {
            CodeChunk chunk[kAtOnce];
#pragma unroll
            for (int k = 0; k < kAtOnce; ++k) {
                const int c = first + k * APART + own;
                if (c < count) {
                    chunk[k] = askFor(row, shift, c);
                } else {
                    chunk[k] = CodeChunk{};
                }
            }
#pragma unroll
            for (int k = 0; k < kAtOnce; ++k) {
                const int c = first + k * APART + own;
                const float value = dot(chunk[k].codes, c < count ? from + c : 0);
                sum = fmaf(c < count ? value : 0.0F,
                           scaleOf(w, nested_codes, row, chunk[k], shift, c), sum);
            }
        }
        return sum;
    }

    /// Half a warp a row.
    __device__ __forceinline__ float2 pair(const ExpertsKernelArgs& a, int64_t gate, int64_t up) {
        const auto lane = static_cast<int>(threadIdx.x & 31);
        const CodeRow<IS_NESTED> row(a.gate_up, (lane < 16 ? gate : up) * a.hidden, a.block_shift);
        const float sum = share<16>(a.gate_up, row, nested, a.block_shift, lane & 15, chunks, 0);
        return halfSums(sum);
    }

    /// Four lanes an expert.
    __device__ __forceinline__ float
    down(const ExpertsKernelArgs& a, const ChosenExpert* pick, int picks, int output) {
        const auto lane = static_cast<int>(threadIdx.x & 31);
        const int count = a.inner / 16;
        float sum = 0.0F;
        for (int j = lane >> 2; j < picks; j += 8) {
            const int64_t row = static_cast<int64_t>(pick[j].expert) * a.hidden + output;
            sum += share<4>(a.down, CodeRow<IS_NESTED>(a.down, row * a.inner, a.block_shift),
                            nested + 256, a.block_shift, lane & 3, count, j * count);
        }
        return warpSum(sum);
    }
};

/// GGUF's blocks: lanes take runs of 16 values (project_blocks.cuh).
struct BlockProducts : HalfRow {
    __device__ __forceinline__ BlockProducts(const ExpertsKernelArgs&, const float*)
        : HalfRow(dynamicShared()) {}

    /// As CodeProducts::share().
    template <int APART, WeightFormat F>
    __device__ __forceinline__ float
    share(const WeightArgs& w, int64_t row, int own, int count, int from) const {
        constexpr int kRuns = BlockFormat<F>::kValues / kRunValues;
        constexpr int kAtOnce = 4;
        const uint8_t* const data = static_cast<const uint8_t*>(w.data) + row * w.block_size;
        float sum = 0.0F;
#pragma unroll 1
        for (int first = own; first < count; first += kAtOnce * APART) {
            uint32_t words[kAtOnce][4];
            BlockRange ranges[kAtOnce];
#pragma unroll
            for (int k = 0; k < kAtOnce; ++k) {
                const int run = first + k * APART < count ? first + k * APART : own;
                const uint8_t* const block = data + run / kRuns * BlockFormat<F>::kBytes;
                codeWords<F>(codesAt<F>(block, run % kRuns), words[k]);
                ranges[k] = rangeOf<F>(block, run % kRuns);
            }
#pragma unroll
            for (int k = 0; k < kAtOnce; ++k) {
                const int run = first + k * APART;
                if (run < count) {
                    uint32_t values[8];
                    load(from + run, values);
                    sum = addRun<F>(words[k], ranges[k], values,
                                    hasOffset<F>() ? sumOfHalves(values) : 0.0F, sum);
                }
            }
        }
        return sum;
    }

    __device__ __forceinline__ float2 pair(const ExpertsKernelArgs& a, int64_t gate, int64_t up) {
        const auto lane = static_cast<int>(threadIdx.x & 31);
        const float sum = withBlockFormat(a.gate_up.format, [&](auto f) {
            return share<16, decltype(f)::kFormat>(a.gate_up, lane < 16 ? gate : up, lane & 15,
                                                   chunks, 0);
        });
        return halfSums(sum);
    }

    __device__ __forceinline__ float
    down(const ExpertsKernelArgs& a, const ChosenExpert* pick, int picks, int output) {
        const auto lane = static_cast<int>(threadIdx.x & 31);
        const int count = a.inner / kRunValues;
        float sum = 0.0F;
        for (int j = lane >> 2; j < picks; j += 8) {
            const int64_t row = static_cast<int64_t>(pick[j].expert) * a.hidden + output;
            sum += withBlockFormat(a.down.format, [&](auto f) {
                return share<4, decltype(f)::kFormat>(a.down, row, lane & 3, count, j * count);
            });
        }
        return warpSum(sum);
    }
};

/// Row `row` of a weight and the begin of its absmax on their way into L2, by one lane.
__device__ __forceinline__ void bring(const WeightArgs& w, int64_t row, int shift) {
    const bool is_four_bit = w.layout == WeightLayout::Codes;
    const auto count = static_cast<int>(w.cols);
    const int bytes = w.layout == WeightLayout::Blocks ? w.block_size
                      : is_four_bit                    ? count / 2
                                                       : count * 2;
    const char* const from = static_cast<const char*>(w.data) + row * bytes;
    if (kHasBulkPrefetch && ((reinterpret_cast<uintptr_t>(from) | bytes) & 15) == 0) {
        prefetchBulk(from, bytes);
    } else {
        for (int at = 0; at < bytes + 127; at += 128) {
            prefetchL2(from + (at < bytes ? at : bytes - 1));
        }
    }
    if (is_four_bit) {
        const int64_t block = row * count >> shift;
        if (w.absmax != nullptr) {
            prefetchL2(w.absmax + block);
        } else {
            prefetchL2(w.absmax_q + block);
        }
    }
}

/// What the launch reads of rows whose place is known, on its way into L2 at the very start.
__device__ __forceinline__ void askForRows(const ExpertsKernelArgs& a, int expert) {
    const auto ask = [](const void* from, int bytes) {
        for (int at = static_cast<int>(threadIdx.x) * 128; at < bytes; at += kExpertThreads * 128) {
            prefetchL2(static_cast<const char*>(from) + at);
        }
    };
    const WeightLayout layout = a.router.layout;
    const int row_bytes = layout == WeightLayout::Codes ? a.hidden / 2
                          : elementOf(layout) < 0       ? a.hidden
                                                  : a.hidden * elementBytes(elementOf(layout));
    ask(static_cast<const char*>(a.router.data) + static_cast<int64_t>(expert) * row_bytes,
        row_bytes);
    ask(a.router_scale, a.hidden * 4);
    ask(a.expert_scale, a.experts * 4);
    for (const VectorArgs* norm : {&a.norm, &a.t_norm, &a.out_norm}) {
        ask(norm->data, a.hidden * elementBytes(norm->type));
    }
}

/// The outputs of a warp are `apart` from each other: neighbours go to other blocks, so that all
/// have as many.
struct Turns {
    int first = static_cast<int>(threadIdx.x) / 32 * static_cast<int>(gridDim.x) +
                static_cast<int>(blockIdx.x);
    int apart = kExpertThreads / 32 * static_cast<int>(gridDim.x);
};

/// act of all picks: act(G h) * (U h) times the pick's weight. factor: of the products' input.
template <typename Products>
__device__ __forceinline__ void makeAct(const ExpertsKernelArgs& a,
                                        Products& products,
                                        const ChosenExpert* pick,
                                        int picks,
                                        float factor) {
    const Turns turns;
    const auto lane = static_cast<int>(threadIdx.x & 31);
    const float per_expert = 1.0F / static_cast<float>(a.inner);
    const auto rowOf = [&](int output) {
        const int j = quotient(output, per_expert);
        return static_cast<int64_t>(pick[j].expert) * 2 * a.inner + (output - j * a.inner);
    };
    // What comes behind the first output, so that memory always has something to do.
    for (int output = turns.first + turns.apart; output < picks * a.inner; output += turns.apart) {
        if ((lane & 15) == 0) {
            const int64_t row = rowOf(output) + (lane == 0 ? 0 : a.inner);
            bring(a.gate_up, row, a.block_shift);
        }
    }
    for (int output = turns.first; output < picks * a.inner; output += turns.apart) {
        const int64_t row = rowOf(output);
        const float2 sums = products.pair(a, row, row + a.inner);
        const float gate = sums.x * factor;
        const float up = sums.y * factor;
        if (lane == 0) {
            a.act[output] =
                activated(a.activation, gate) * up * pick[quotient(output, per_expert)].weight;
        }
    }
}

/// The warp's rows of down on their way into L2.
__device__ __forceinline__ void
bringDown(const ExpertsKernelArgs& a, const ChosenExpert* pick, int picks) {
    const Turns turns;
    const auto lane = static_cast<int>(threadIdx.x & 31);
    for (int output = turns.first; output < a.hidden; output += turns.apart) {
        if (lane < picks) {
            const int64_t row = static_cast<int64_t>(pick[lane].expert) * a.hidden + output;
            bring(a.down, row, a.block_shift);
        }
    }
}

/// sum of all picks, and the squares of this thread's outputs.
template <typename Products>
__device__ __forceinline__ float makeSum(const ExpertsKernelArgs& a,
                                         Products& products,
                                         const ChosenExpert* pick,
                                         int picks,
                                         float factor) {
    const Turns turns;
    float squares = 0.0F;
    for (int output = turns.first; output < a.hidden; output += turns.apart) {
        const float sum = products.down(a, pick, picks, output) * factor;
        if ((threadIdx.x & 31) == 0) {
            a.sum[output] = sum;
            squares = fmaf(sum, sum, squares);
        }
    }
    return squares;
}

/// Values of nested codes, [3, 256]: of gate and up, of down, of the router.
__device__ __forceinline__ void fillNested(const ExpertsKernelArgs& a, float* nested) {
    for (auto i = static_cast<int>(threadIdx.x); i < 3 * 256; i += kExpertThreads) {
        const WeightArgs& w = i < 256 ? a.gate_up : i < 512 ? a.down : a.router;
        nested[i] = w.nested_code != nullptr ? w.nested_code[i & 255] : 0.0F;
    }
    __syncthreads();
}

template <typename Products>
__device__ __forceinline__ void runExperts(const ExpertsKernelArgs& a) {
    BELFRY_SHARED(float, buffer, [66]);
    BELFRY_SHARED(float, share, [kMostExperts]);
    BELFRY_SHARED(float, nested, [3 * 256]);
    BELFRY_SHARED(float, share_of, [kMostChosen]);
    BELFRY_SHARED(ChosenExpert, pick, [kMostChosen]);
    const auto block = static_cast<int>(blockIdx.x);
    const auto grid = static_cast<int>(gridDim.x);
    const auto thread = static_cast<int>(threadIdx.x);
    GridBarrier barrier{a.barrier, grid, 0};
    askForRows(a, block < a.experts ? block : 0);
    Products products(a, nested);
    fillNested(a, nested);
    float inverse = 0.0F;
    for (int e = block; e == block || e < a.experts; e += grid) {
        const float2 both = scoreOf(a.router, e < a.experts ? e : 0, a.x, a.router_scale, a.eps,
                                    nested + 512, buffer);
        inverse = both.y;
        if (thread == 0 && e < a.experts) {
            a.scores[e] = both.x * a.input_scale;
        }
        __syncthreads(); // the buffer
    }
    barrier.arrive();
    float factor =
        products.take(a.hidden, buffer, [&](int i) { return normedFour(a, i, inverse); });
    barrier.wait();
    chooseExperts(a, share, share_of, pick, buffer, true);
    makeAct(a, products, pick, a.top_k, factor);
    barrier.arrive();
    bringDown(a, pick, a.top_k);
    // The dense branch's norm, too, while they come.
    const auto columns = static_cast<float>(a.hidden);
    float squares = 0.0F;
    for (int i = thread; i < a.hidden; i += kExpertThreads) {
        squares = fmaf(a.t[i], a.t[i], squares);
    }
    const float dense_scale =
        rsqrtf(blockSums(make_float2(squares, 0.0F), buffer).x / columns + a.eps);
    barrier.wait();
    factor = products.take(a.top_k * a.inner, buffer, [&](int i) { return resultFour(a, i); });
    squares = makeSum(a, products, pick, a.top_k, factor);
    squares = blockSums(make_float2(squares, 0.0F), buffer).x;
    if (thread == 0) {
        a.squares[block] = squares;
    }
    barrier.arrive();
    barrier.wait();
    // In every block the same numbers in the same order.
    squares = 0.0F;
    for (int b = thread; b < grid; b += kExpertThreads) {
        squares += __ldcg(a.squares + b);
    }
    const float routed_scale =
        rsqrtf(blockSums(make_float2(squares, 0.0F), buffer).x / columns + a.eps);
    const Turns turns;
    for (int output = turns.first; output < a.hidden && (thread & 31) == 0;
         output += turns.apart) {
        a.t[output] =
            a.t[output] * dense_scale * loadElement(a.t_norm.data, a.t_norm.type, output) +
            a.sum[output] * routed_scale * loadElement(a.out_norm.data, a.out_norm.type, output);
    }
    barrier.leave();
}

/// 1 / rms(x), by the whole block.
__device__ __forceinline__ float inverseOf(const ExpertsKernelArgs& a, float* buffer) {
    float squares = 0.0F;
    for (int i = static_cast<int>(threadIdx.x) * 4; i < a.hidden; i += kExpertThreads * 4) {
        squares += sumOfSquares(loadFour(a.x + i));
    }
    squares = blockSums(make_float2(squares, 0.0F), buffer).x;
    return rsqrtf(squares / static_cast<float>(a.hidden) + a.eps);
}

/// The part of the sum that is of experts with a place here. The choice stands in the scores.
template <typename Products>
__device__ __forceinline__ void runPlaced(const ExpertsKernelArgs& a) {
    BELFRY_SHARED(float, buffer, [66]);
    BELFRY_SHARED(float, share, [kMostExperts]);
    BELFRY_SHARED(float, nested, [3 * 256]);
    BELFRY_SHARED(float, share_of, [kMostChosen]);
    BELFRY_SHARED(ChosenExpert, pick, [kMostChosen]);
    BELFRY_SHARED(int, count, [1]);
    chooseExperts(a, share, share_of, pick, buffer, false);
    const int picks = keepPlaced(a, pick, count);
    const auto grid = static_cast<int>(gridDim.x);
    if (picks == 0) { // in every block
        for (int i = static_cast<int>(blockIdx.x) * kExpertThreads + static_cast<int>(threadIdx.x);
             i < a.hidden; i += grid * kExpertThreads) {
            a.sum[i] = 0.0F;
        }
        return;
    }
    GridBarrier barrier{a.barrier, grid, 0};
    Products products(a, nested);
    fillNested(a, nested);
    const float inverse = inverseOf(a, buffer);
    float factor =
        products.take(a.hidden, buffer, [&](int i) { return normedFour(a, i, inverse); });
    makeAct(a, products, pick, picks, factor);
    barrier.arrive();
    bringDown(a, pick, picks);
    barrier.wait();
    factor = products.take(picks * a.inner, buffer, [&](int i) { return resultFour(a, i); });
    (void)makeSum(a, products, pick, picks, factor);
    barrier.leave();
}

} // namespace

extern "C" {

// grid: ceil(rows / 8); block 256: a warp makes a row.
__global__ void belfry_choose_experts(const float* scores,
                                      int64_t stride,
                                      int64_t rows,
                                      int experts,
                                      int top_k,
                                      int32_t* chosen,
                                      float* share) {
    constexpr int kOfLane = kMostExperts / 32;
    const int64_t row = static_cast<int64_t>(blockIdx.x) * (blockDim.x / 32) + threadIdx.x / 32;
    if (row >= rows) {
        return;
    }
    const auto lane = static_cast<int>(threadIdx.x & 31);
    const float* const s = scores + row * stride;
    float p[kOfLane]; // of expert 32 i + lane; below 0: taken, or none
    float largest = -INFINITY;
#pragma unroll
    for (int i = 0; i < kOfLane; ++i) {
        const int e = 32 * i + lane;
        p[i] = e < experts ? s[e] : -INFINITY;
        largest = fmaxf(largest, p[i]);
    }
    largest = warpMax(largest);
    float sum = 0.0F;
#pragma unroll
    for (int i = 0; i < kOfLane; ++i) {
        const float value = expf(p[i] - largest);
        sum += 32 * i + lane < experts ? value : 0.0F;
        // A choice among numbers, even where the scores are none.
        p[i] = 32 * i + lane >= experts ? -1.0F : value >= 0.0F ? value : 0.0F;
    }
    sum = warpSum(sum); // NaN where one score was none
    float top = sum - sum;
    for (int j = 0; j < top_k; ++j) {
        float best = -1.0F;
        int of_best = kMostExperts;
#pragma unroll
        for (int i = 0; i < kOfLane; ++i) {
            if (p[i] > best) {
                best = p[i];
                of_best = 32 * i + lane;
            }
        }
#pragma unroll
        for (int offset = 16; offset > 0; offset >>= 1) {
            const float other = __shfl_xor_sync(0xffffffffU, best, offset);
            const int of_other = __shfl_xor_sync(0xffffffffU, of_best, offset);
            if (other > best || (other == best && of_other < of_best)) {
                best = other;
                of_best = of_other;
            }
        }
#pragma unroll
        for (int i = 0; i < kOfLane; ++i) {
            p[i] = 32 * i + lane == of_best ? -1.0F : p[i];
        }
        top += best;
        if (lane == 0) {
            chosen[row * top_k + j] = of_best;
            share[row * top_k + j] = best;
        }
    }
    __syncwarp();
    for (int j = lane; j < top_k; j += 32) {
        share[row * top_k + j] /= top;
    }
}

// One block of kExpertThreads. The choice and the input of gate and up to memory that the host
// reads.
__global__ void __launch_bounds__(kExpertThreads, 1)
    belfry_route_experts(const __grid_constant__ ExpertsKernelArgs a) {
    BELFRY_SHARED(float, buffer, [66]);
    BELFRY_SHARED(float, share, [kMostExperts]);
    BELFRY_SHARED(float, share_of, [kMostChosen]);
    BELFRY_SHARED(ChosenExpert, pick, [kMostChosen]);
    const float inverse = inverseOf(a, buffer);
    chooseExperts(a, share, share_of, pick, buffer, true);
    for (int i = static_cast<int>(threadIdx.x) * 4; i < a.hidden; i += kExpertThreads * 4) {
        *reinterpret_cast<float4*>(a.act + i) = normedFour(a, i, inverse);
    }
    __threadfence_system();
    __syncthreads();
    if (threadIdx.x == 0) {
        *const_cast<volatile int32_t*>(&a.chosen->is_ready) = 1;
    }
}

// One block of kExpertThreads. The sum lies where the host has written it; a part of it may be the
// card's own.
__global__ void __launch_bounds__(kExpertThreads, 1)
    belfry_merge_experts(const __grid_constant__ ExpertsKernelArgs a) {
    BELFRY_SHARED(float, buffer, [66]);
    constexpr int kMost = kMostExpertHidden / 4 / kExpertThreads + 1;
    float4 dense[kMost];
    float4 routed[kMost];
    float2 squares = make_float2(0.0F, 0.0F);
#pragma unroll
    for (int k = 0; k < kMost; ++k) {
        const int i = (k * kExpertThreads + static_cast<int>(threadIdx.x)) * 4;
        const float4 none = make_float4(0.0F, 0.0F, 0.0F, 0.0F);
        routed[k] = i < a.hidden ? __ldcg(reinterpret_cast<const float4*>(a.sum + i)) : none;
        if (a.own_sum != nullptr && i < a.hidden) {
            routed[k] = plus(routed[k], loadFour(a.own_sum + i));
        }
        dense[k] = i < a.hidden ? loadFour(a.t + i) : none;
        squares.x += sumOfSquares(dense[k]);
        squares.y += sumOfSquares(routed[k]);
    }
    squares = blockSums(squares, buffer);
    const auto columns = static_cast<float>(a.hidden);
    const float dense_scale = rsqrtf(squares.x / columns + a.eps);
    const float routed_scale = rsqrtf(squares.y / columns + a.eps);
#pragma unroll
    for (int k = 0; k < kMost; ++k) {
        const int i = (k * kExpertThreads + static_cast<int>(threadIdx.x)) * 4;
        if (i < a.hidden) {
            const float4 d = times(times(dense[k], loadFour(a.t_norm, i)), dense_scale);
            const float4 r = times(times(routed[k], loadFour(a.out_norm, i)), routed_scale);
            *reinterpret_cast<float4*>(a.t + i) =
                make_float4(d.x + r.x, d.y + r.y, d.z + r.z, d.w + r.w);
        }
    }
}

// grid: one block a multiprocessor, all resident (cooperative launch); block kExpertThreads;
// dynamic shared memory: expertBytes() of the longer of both inputs.
__global__ void __launch_bounds__(kExpertThreads, 1)
    belfry_experts_bf16(const __grid_constant__ ExpertsKernelArgs a) {
    runExperts<PlainProducts>(a);
}
__global__ void __launch_bounds__(kExpertThreads, 1)
    belfry_experts_four_bit(const __grid_constant__ ExpertsKernelArgs a) {
    runExperts<CodeProducts<false>>(a);
}

__global__ void __launch_bounds__(kExpertThreads, 1)
    belfry_experts_nested(const __grid_constant__ ExpertsKernelArgs a) {
    runExperts<CodeProducts<true>>(a);
}

__global__ void __launch_bounds__(kExpertThreads, 1)
    belfry_experts_blocks(const __grid_constant__ ExpertsKernelArgs a) {
    runExperts<BlockProducts>(a);
}

// As those above; what they need has been chosen.
__global__ void __launch_bounds__(kExpertThreads, 1)
    belfry_placed_experts_bf16(const __grid_constant__ ExpertsKernelArgs a) {
    runPlaced<PlainProducts>(a);
}

__global__ void __launch_bounds__(kExpertThreads, 1)
    belfry_placed_experts_four_bit(const __grid_constant__ ExpertsKernelArgs a) {
    runPlaced<CodeProducts<false>>(a);
}

__global__ void __launch_bounds__(kExpertThreads, 1)
    belfry_placed_experts_nested(const __grid_constant__ ExpertsKernelArgs a) {
    runPlaced<CodeProducts<true>>(a);
}

__global__ void __launch_bounds__(kExpertThreads, 1)
    belfry_placed_experts_blocks(const __grid_constant__ ExpertsKernelArgs a) {
    runPlaced<BlockProducts>(a);
}

} // extern "C"
