// SPDX-License-Identifier: Apache-2.0
// Routed experts of one token in three launches, so that nobody has to ask the host which experts
// it takes: scores and choice; gate and up of those chosen; down of them, weighted and summed in
// the order of the choice, with the norms behind. What needs the results of all blocks is done by
// the last one. A warp makes one output: its weights are read once, as wide as they can be.
#include "kernels/cuda/device/expert_args.h"
#include "kernels/cuda/device/project_step.cuh"

using namespace kernels::cuda;

namespace {

__device__ __forceinline__ Codes<kFormatNf4> codesAt(const WeightArgs& w, int64_t first) {
    return loadCodes<kFormatNf4>(static_cast<const uint8_t*>(w.data) + (first >> 1));
}

/// Row `expert` of the router times rms(x) * scale, and 1 / rms(x); by the whole block.
__device__ __forceinline__ float2 scoreOf(const WeightArgs& router,
                                          int expert,
                                          const float* x,
                                          const float* scale,
                                          float eps,
                                          float* buffer) {
    const auto hidden = static_cast<int>(router.cols);
    float squares = 0.0F;
    float dot = 0.0F;
    const auto at = [](const float* row) { return reinterpret_cast<uintptr_t>(row); };
    const bool is_four_bit = router.format == kFormatNf4 || router.format == kFormatFp4;
    if (is_four_bit && hidden % 16 == 0 && (router.block_size & (router.block_size - 1)) == 0 &&
        router.expand_type == kElementBf16 && ((at(x) | at(scale)) & 15) == 0) {
        // 16 neighbours of one block a thread.
        if (threadIdx.x < 16) {
            buffer[threadIdx.x] = __uint_as_float(
                router.format == kFormatFp4 ? kFp4Codes[threadIdx.x] : kNf4Codes[threadIdx.x]);
        }
        __syncthreads();
        const int shift = 31 - __clz(router.block_size);
        for (auto c = static_cast<int>(threadIdx.x); c < hidden / 16; c += kExpertThreads) {
            const int64_t first = static_cast<int64_t>(expert) * hidden + 16 * c;
            const Codes<kFormatNf4> codes = codesAt(router, first);
            const float block = blockScale(router, first >> shift);
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
    } else {
#pragma unroll 4
        for (auto i = static_cast<int>(threadIdx.x); i < hidden; i += kExpertThreads) {
            const int64_t index = static_cast<int64_t>(expert) * hidden + i;
            squares = fmaf(x[i], x[i], squares);
            dot = fmaf(x[i] * scale[i], weightValue(router, expert, index), dot);
        }
    }
    squares = blockSum(squares, buffer);
    dot = blockSum(dot, buffer);
    const float inverse = rsqrtf(squares / static_cast<float>(hidden) + eps);
    return make_float2(dot * inverse, inverse);
}

/// Whether this block is the last one of its launch; then the count begins anew. Writes of all
/// blocks can be seen behind it (past the first cache).
__device__ __forceinline__ bool isLastBlock(EdgeCounters* counters, int* flag) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        flag[0] = atomicAdd(&counters->done, 1) == static_cast<int>(gridDim.x) - 1 ? 1 : 0;
        __threadfence();
        if (flag[0] != 0) {
            counters->done = 0;
        }
    }
    __syncthreads();
    return flag[0] != 0;
}

/// The top_k largest shares, the lower index of equals, with the weights of their experts; by the
/// whole block. share [experts] in shared memory, none negative or NaN; sum: of all, NaN where one
/// score was none.
__device__ __forceinline__ void
chooseExperts(const ExpertsKernelArgs& a, const float* share, ChosenExpert* pick, float sum) {
    const auto thread = static_cast<int>(threadIdx.x);
    for (int e = thread; e < a.experts; e += kExpertThreads) {
        const float own = share[e];
        int rank = 0;
#pragma unroll 8
        for (int other = 0; other < a.experts; ++other) {
            const float p = share[other];
            rank += p > own || (p == own && other < e) ? 1 : 0;
        }
        if (rank < a.top_k) {
            pick[rank] = {e, own};
        }
    }
    __syncthreads();
    if (thread < a.top_k) {
        float top = 0.0F;
        for (int j = 0; j < a.top_k; ++j) {
            top += pick[j].weight / sum;
        }
        const ChosenExpert own = pick[thread];
        a.chosen->pick[thread] = {own.expert, own.weight / sum / top * a.expert_scale[own.expert]};
    }
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

/// The input of down: what the chosen experts made, each times its weight.
__device__ __forceinline__ float4 weightedFour(const ExpertsKernelArgs& a, int i) {
    return times(loadFour(a.act + i), a.chosen->pick[i / a.inner].weight);
}

/// Which experts were chosen, in shared memory; a barrier has to follow.
__device__ __forceinline__ void fetchChoice(const ExpertsKernelArgs& a, int* expert) {
    if (static_cast<int>(threadIdx.x) < a.top_k) {
        expert[threadIdx.x] = a.chosen->pick[threadIdx.x].expert;
    }
}

/// i / n for i below 2^20, where the launch has made sure of that. inverse: 1 / n.
__device__ __forceinline__ int quotient(int i, float inverse) {
    return static_cast<int>((static_cast<float>(i) + 0.5F) * inverse);
}

/// t = rms(t) * t_norm + rms(sum) * out_norm, by one block.
template <int THREADS>
__device__ __forceinline__ void joinBranches(const ExpertsKernelArgs& a, float* buffer) {
    constexpr int kOwn = kMostExpertHidden / THREADS;
    float dense[kOwn];
    float routed[kOwn];
    float dense_squares = 0.0F;
    float routed_squares = 0.0F;
#pragma unroll
    for (int k = 0; k < kOwn; ++k) {
        const int i = static_cast<int>(threadIdx.x) + k * THREADS;
        dense[k] = i < a.hidden ? __ldcg(a.t + i) : 0.0F;
        routed[k] = i < a.hidden ? __ldcg(a.sum + i) : 0.0F;
        dense_squares = fmaf(dense[k], dense[k], dense_squares);
        routed_squares = fmaf(routed[k], routed[k], routed_squares);
    }
    const auto n = static_cast<float>(a.hidden);
    const float dense_scale = rsqrtf(blockSum(dense_squares, buffer) / n + a.eps);
    const float routed_scale = rsqrtf(blockSum(routed_squares, buffer) / n + a.eps);
#pragma unroll
    for (int k = 0; k < kOwn; ++k) {
        const int i = static_cast<int>(threadIdx.x) + k * THREADS;
        if (i < a.hidden) {
            a.t[i] = dense[k] * dense_scale * loadElement(a.t_norm.data, a.t_norm.type, i) +
                     routed[k] * routed_scale * loadElement(a.out_norm.data, a.out_norm.type, i);
        }
    }
}

/// A row of values in the form that products with codes read, by all threads, behind the launch
/// before. at(i): elements i to i + 3. Returns the factor that undoes
/// its scaling.
template <int THREADS, typename At>
__device__ __forceinline__ float makeHalves(const Shared& s, int values, const At& at) {
    fillTable<THREADS>(s.table, s.block);
    waitForPredecessor();
    float largest = 0.0F;
    for (int i = static_cast<int>(threadIdx.x) * 4; i < values; i += THREADS * 4) {
        largest = fmaxf(largest, largestOf(at(i)));
    }
    const float factor = powerOfTwoFor(blockMax(largest, s.buffer));
    const float down = 1.0F / factor;
    for (int i = static_cast<int>(threadIdx.x) * 4; i < values; i += THREADS * 4) {
        const float4 v = at(i);
        const __half2 low = __floats2half2_rn(v.x * down, v.y * down);
        const __half2 high = __floats2half2_rn(v.z * down, v.w * down);
        // Chunks of 16, their halves in two planes.
        uint32_t* const to = reinterpret_cast<uint32_t*>(s.x) +
                             ((i >> 3 & 1) * (values / 16) + (i >> 4)) * 4 + (i >> 2 & 1) * 2;
        to[0] = bitsOf(low);
        to[1] = bitsOf(high);
    }
    __syncthreads();
    return factor;
}

/// Shared memory of products with codes; `block` holds the format of the table.
__device__ __forceinline__ Shared placeHalves(int format, float* buffer) {
    Shared s{};
    s.table = reinterpret_cast<uint32_t*>(dynamicShared());
    s.x = reinterpret_cast<uint4*>(dynamicShared() + kTableBytes);
    s.buffer = buffer;
    s.block = format;
    return s;
}

/// Chunk `chunk` of the row in shared memory times the 16 codes of `w` from element `first` on.
__device__ __forceinline__ float dotCodes(const WeightArgs& w,
                                          const Codes<kFormatNf4>& codes,
                                          int64_t first,
                                          int block_shift,
                                          const Shared& s,
                                          int chunk,
                                          int chunks,
                                          uint32_t lane_table) {
    const uint4 x0 = s.x[chunk];
    const uint4 x1 = s.x[chunks + chunk];
    const uint32_t x[8] = {x0.x, x0.y, x0.z, x0.w, x1.x, x1.y, x1.z, x1.w};
    return dot16<kFormatNf4>(codes, x, lane_table) * blockScale(w, first >> block_shift);
}

} // namespace

extern "C" {

// grid: (ceil(experts / kScoreExperts), ceil(rows / kScoreRows)); block 256. A weight that was read
// serves all rows of the block, a value of x all its experts.
__global__ void __launch_bounds__(kExpertThreads, 2) belfry_router_scores(const float* x,
                                                                          int64_t stride,
                                                                          int64_t rows,
                                                                          WeightArgs router,
                                                                          const float* scale,
                                                                          float factor,
                                                                          float eps,
                                                                          float* scores,
                                                                          int64_t score_stride) {
    constexpr int kWarps = kExpertThreads / 32;
    constexpr int kSums = kScoreRows * (kScoreExperts + 1); // scores, then squares of a row
    BELFRY_SHARED(float, sums, [kWarps][kSums]);
    const auto thread = static_cast<int>(threadIdx.x);
    const auto hidden = static_cast<int>(router.cols);
    const int64_t first_row = static_cast<int64_t>(blockIdx.y) * kScoreRows;
    const int64_t first_expert = static_cast<int64_t>(blockIdx.x) * kScoreExperts;
    // What lies behind the last row or expert repeats it; nobody stores it.
    const auto rowAt = [&](int r) { return first_row + r < rows ? first_row + r : rows - 1; };
    const auto expertAt = [&](int e) {
        return first_expert + e < router.rows ? first_expert + e : router.rows - 1;
    };
    float dot[kScoreRows][kScoreExperts] = {};
    float squares[kScoreRows] = {};
#pragma unroll 1
    for (int i = thread; i < hidden; i += kExpertThreads) {
        const float factor_of = scale[i];
        float values[kScoreRows];
#pragma unroll
        for (int r = 0; r < kScoreRows; ++r) {
            values[r] = x[rowAt(r) * stride + i];
        }
        float weights[kScoreExperts];
#pragma unroll
        for (int e = 0; e < kScoreExperts; ++e) {
            weights[e] = weightValue(router, expertAt(e), expertAt(e) * hidden + i);
        }
#pragma unroll
        for (int r = 0; r < kScoreRows; ++r) {
            squares[r] = fmaf(values[r], values[r], squares[r]);
            const float scaled = values[r] * factor_of;
#pragma unroll
            for (int e = 0; e < kScoreExperts; ++e) {
                dot[r][e] = fmaf(scaled, weights[e], dot[r][e]);
            }
        }
    }
    const auto put = [&](int at, float value) {
        value = warpSum(value);
        if (thread % 32 == 0) {
            sums[thread / 32][at] = value;
        }
    };
#pragma unroll
    for (int r = 0; r < kScoreRows; ++r) {
#pragma unroll
        for (int e = 0; e < kScoreExperts; ++e) {
            put(r * kScoreExperts + e, dot[r][e]);
        }
        put(kScoreRows * kScoreExperts + r, squares[r]);
    }
    __syncthreads();
    const int row = thread / kScoreExperts;
    const int expert = thread % kScoreExperts;
    if (row >= kScoreRows || first_row + row >= rows || first_expert + expert >= router.rows) {
        return;
    }
    float score = 0.0F;
    float square = 0.0F;
    for (int w = 0; w < kWarps; ++w) {
        score += sums[w][thread];
        square += sums[w][kScoreRows * kScoreExperts + row];
    }
    const float inverse = rsqrtf(square / static_cast<float>(hidden) + eps);
    scores[(first_row + row) * score_stride + first_expert + expert] = score * inverse * factor;
}

// grid: (rows of x, tiles of 256 columns); block 256.
__global__ void belfry_scatter_add(const float* x,
                                   int64_t x_stride,
                                   const int32_t* rows,
                                   const float* factor,
                                   float* y,
                                   int64_t y_stride,
                                   int cols) {
    const auto row = static_cast<int64_t>(blockIdx.x);
    const auto col = static_cast<int>(blockIdx.y * blockDim.x + threadIdx.x);
    if (col < cols) {
        float* const to = y + rows[row] * y_stride + col;
        *to = *to + factor[row] * x[row * x_stride + col]; // as axpby adds
    }
}

// grid: experts; block 256.
__global__ void __launch_bounds__(kExpertThreads)
    belfry_experts_route(const __grid_constant__ ExpertsKernelArgs a) {
    BELFRY_SHARED(float, buffer, [33]);
    BELFRY_SHARED(float, share, [kMostExperts]);
    BELFRY_SHARED(ChosenExpert, pick, [kMostChosen]);
    BELFRY_SHARED(int, flag, [1]);
    waitForPredecessor();
    const auto expert = static_cast<int>(blockIdx.x);
    const auto thread = static_cast<int>(threadIdx.x);
    const float2 both = scoreOf(a.router, expert, a.x, a.router_scale, a.eps, buffer);
    if (thread == 0) {
        a.scores[expert] = both.x * a.input_scale;
        if (expert == 0) {
            a.chosen->inverse = both.y;
        }
    }
    if (!isLastBlock(a.counters, flag)) {
        return;
    }
    float largest = -INFINITY;
    for (int e = thread; e < a.experts; e += kExpertThreads) {
        share[e] = __ldcg(a.scores + e);
        largest = fmaxf(largest, share[e]);
    }
    largest = blockMax(largest, buffer);
    float sum = 0.0F;
    for (int e = thread; e < a.experts; e += kExpertThreads) {
        const float p = expf(share[e] - largest);
        sum += p;
        share[e] = p >= 0.0F ? p : 0.0F; // a choice among numbers, even where the weights are none
    }
    chooseExperts(a, share, pick, blockSum(sum, buffer));
}

// grid: top_k * inner / 8 outputs, block 256; dynamic shared memory: expertBytes(hidden).
__global__ void __launch_bounds__(kExpertThreads, 2)
    belfry_experts_up_bf16(const __grid_constant__ ExpertsKernelArgs a) {
    waitForPredecessor();
    const int units = a.hidden / 8;
    const Planes x(units);
    const float inverse = a.chosen->inverse;
    for (auto u = static_cast<int>(threadIdx.x); u < units; u += kExpertThreads) {
        x.low[u] = normedFour(a, 8 * u, inverse);
        x.high[u] = normedFour(a, 8 * u + 4, inverse);
    }
    __syncthreads();
    const auto lane = static_cast<int>(threadIdx.x & 31);
    const int output = static_cast<int>(blockIdx.x * (kExpertThreads / 32) + (threadIdx.x >> 5));
    if (output >= a.top_k * a.inner) {
        return;
    }
    const int j = output / a.inner;
    const int64_t row =
        static_cast<int64_t>(a.chosen->pick[j].expert) * 2 * a.inner + (output - j * a.inner);
    const uint4* const gate = static_cast<const uint4*>(a.gate_up.data) + row * units;
    const uint4* const up = gate + static_cast<int64_t>(a.inner) * units;
    float sums[2] = {};
#pragma unroll 4
    for (int u = lane; u < units; u += 32) {
        const uint4 g = __ldcs(gate + u);
        const uint4 w = __ldcs(up + u);
        sums[0] = dot8(g, x.low[u], x.high[u], sums[0]);
        sums[1] = dot8(w, x.low[u], x.high[u], sums[1]);
    }
    sums[0] = warpSum(sums[0]);
    sums[1] = warpSum(sums[1]);
    if (lane == 0) {
        a.act[output] = geluTanh(sums[0]) * sums[1];
    }
}

// grid: top_k * inner / 16 outputs, block 512; dynamic shared memory: expertBytes(hidden).
__global__ void __launch_bounds__(kExpertCodeThreads, 3)
    belfry_experts_up_four_bit(const __grid_constant__ ExpertsKernelArgs a) {
    BELFRY_SHARED(float, buffer, [33]);
    const Shared s = placeHalves(a.gate_up.format, buffer);
    const float undo = makeHalves<kExpertCodeThreads>(
        s, a.hidden, [&](int i) { return normedFour(a, i, a.chosen->inverse); });
    const auto lane = static_cast<int>(threadIdx.x & 31);
    const int output =
        static_cast<int>(blockIdx.x * (kExpertCodeThreads / 32) + (threadIdx.x >> 5));
    if (output >= a.top_k * a.inner) {
        return;
    }
    const int j = output / a.inner;
    const int64_t row =
        static_cast<int64_t>(a.chosen->pick[j].expert) * 2 * a.inner + (output - j * a.inner);
    const int64_t gate = row * a.hidden;
    const int64_t up = gate + static_cast<int64_t>(a.inner) * a.hidden;
    const uint32_t lane_table = sharedAddress(s.table + lane);
    const int chunks = a.hidden / 16;
    float sums[2] = {};
#pragma unroll 3
    for (int c = lane; c < chunks; c += 32) {
        const Codes<kFormatNf4> g = codesAt(a.gate_up, gate + 16 * c);
        const Codes<kFormatNf4> w = codesAt(a.gate_up, up + 16 * c);
        sums[0] += dotCodes(a.gate_up, g, gate + 16 * c, a.block_shift, s, c, chunks, lane_table);
        sums[1] += dotCodes(a.gate_up, w, up + 16 * c, a.block_shift, s, c, chunks, lane_table);
    }
    sums[0] = warpSum(sums[0]) * undo;
    sums[1] = warpSum(sums[1]) * undo;
    if (lane == 0) {
        a.act[output] = geluTanh(sums[0]) * sums[1];
    }
}

// grid: hidden / 8 outputs, block 256; dynamic shared memory: expertBytes(top_k * inner).
__global__ void __launch_bounds__(kExpertThreads)
    belfry_experts_down_bf16(const __grid_constant__ ExpertsKernelArgs a) {
    BELFRY_SHARED(float, buffer, [33]);
    BELFRY_SHARED(int, flag, [1]);
    BELFRY_SHARED(int, expert, [kMostChosen]);
    waitForPredecessor();
    const int units = a.inner / 8;
    const int all = a.top_k * units;
    const Planes x(all);
    fetchChoice(a, expert);
    for (auto u = static_cast<int>(threadIdx.x); u < all; u += kExpertThreads) {
        x.low[u] = weightedFour(a, 8 * u);
        x.high[u] = weightedFour(a, 8 * u + 4);
    }
    __syncthreads();
    const auto lane = static_cast<int>(threadIdx.x & 31);
    const int output = static_cast<int>(blockIdx.x * (kExpertThreads / 32) + (threadIdx.x >> 5));
    if (output < a.hidden) {
        const uint4* const rows =
            static_cast<const uint4*>(a.down.data) + static_cast<int64_t>(output) * units;
        const int64_t stride = static_cast<int64_t>(a.hidden) * units; // of experts
        const float inverse = 1.0F / static_cast<float>(units);
        float sum = 0.0F;
#pragma unroll 8
        for (int u = lane; u < all; u += 32) {
            const int j = quotient(u, inverse);
            const uint4 w = __ldcs(rows + expert[j] * stride + (u - j * units));
            sum = dot8(w, x.low[u], x.high[u], sum);
        }
        sum = warpSum(sum);
        if (lane == 0) {
            a.sum[output] = sum;
        }
    }
    if (isLastBlock(a.counters, flag)) {
        joinBranches<kExpertThreads>(a, buffer);
    }
}

// grid: hidden / 16 outputs, block 512; dynamic shared memory: expertBytes(top_k * inner).
__global__ void __launch_bounds__(kExpertCodeThreads, 3)
    belfry_experts_down_four_bit(const __grid_constant__ ExpertsKernelArgs a) {
    BELFRY_SHARED(float, buffer, [33]);
    BELFRY_SHARED(int, flag, [1]);
    BELFRY_SHARED(int, expert, [kMostChosen]);
    const Shared s = placeHalves(a.down.format, buffer);
    const float undo = makeHalves<kExpertCodeThreads>(s, a.top_k * a.inner,
                                                      [&](int i) { return weightedFour(a, i); });
    fetchChoice(a, expert);
    __syncthreads();
    const auto lane = static_cast<int>(threadIdx.x & 31);
    const int output =
        static_cast<int>(blockIdx.x * (kExpertCodeThreads / 32) + (threadIdx.x >> 5));
    if (output < a.hidden) {
        const uint32_t lane_table = sharedAddress(s.table + lane);
        const int row_chunks = a.inner / 16;
        const int chunks = a.top_k * row_chunks;
        const float inverse = 1.0F / static_cast<float>(row_chunks);
        float sum = 0.0F;
#pragma unroll 4
        for (int c = lane; c < chunks; c += 32) {
            const int j = quotient(c, inverse);
            const int64_t row = static_cast<int64_t>(expert[j]) * a.hidden + output;
            const int64_t first = row * a.inner + 16 * (c - j * row_chunks);
            sum += dotCodes(a.down, codesAt(a.down, first), first, a.block_shift, s, c, chunks,
                            lane_table);
        }
        sum = warpSum(sum) * undo;
        if (lane == 0) {
            a.sum[output] = sum;
        }
    }
    if (isLastBlock(a.counters, flag)) {
        joinBranches<kExpertCodeThreads>(a, buffer);
    }
}

} // extern "C"
