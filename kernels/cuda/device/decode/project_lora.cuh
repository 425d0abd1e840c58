// SPDX-License-Identifier: Apache-2.0
// Low-rank updates inside a projection step: y += factor * B (A h).
//
// A h is needed by every block. For short inputs every block computes it from its own copy of h (16
// ranks of 1536 inputs: 48 KB through L2, one row of A a warp); for long ones the step before,
// whose blocks made the input, has multiplied each block's piece (a "tap"), and only the sum over
// its blocks is left. B and the taps' A are constants of the block's own rows: they are placed in
// shared memory before the wait.
#pragma once

#include "kernels/cuda/device/decode/step_rows.cuh"

namespace kernels::cuda {

/// Pointers into dynamic shared memory.
struct LoraShared {
    float* a;     // [ranks]: A h
    float* b;     // [width, local rows]: factor * B; pairs: first all rows of one weight
    float* tap_a; // [tap ranks, outputs]
    float* tap_y; // [outputs]
};

__device__ __forceinline__ LoraShared loraShared(const ProjectKernelArgs& a,
                                                 float* memory,
                                                 int outputs) {
    LoraShared s{};
    s.a = memory;
    s.b = s.a + a.lora_first[3];
    s.tap_a = s.b + a.lora_width * a.local_rows;
    s.tap_y = s.tap_a + a.tap_ranks * outputs;
    return s;
}

/// Sends A (the blocks share its lines), the block's rows of B and its columns of the taps on their
/// way into L2.
template <int THREADS>
__device__ __forceinline__ void prefetchLora(const ProjectKernelArgs& a, int block, int grid) {
    const int begin = firstOutput(a, block, grid);
    const int end = firstOutput(a, block + 1, grid);
    for (int t = 0; t < a.lora_count; ++t) {
        const LoraArgs& term = a.lora[t];
        if (a.lora_sums == nullptr) {
            const int bytes = term.rank * a.cols * elementBytes(term.a_type);
            for (int at = (static_cast<int>(threadIdx.x) * grid + block) * 128; at < bytes;
                 at += THREADS * grid * 128) {
                prefetchL2(static_cast<const uint8_t*>(term.a) + at);
            }
        }
        const RowRange range = rowsOfWeight(a, term.weight, begin, end);
        const int row_bytes = term.rank * elementBytes(term.b_type);
        const uint8_t* rows =
            static_cast<const uint8_t*>(term.b) + static_cast<int64_t>(range.from) * row_bytes;
        for (int at = threadIdx.x * 128; at < (range.to - range.from) * row_bytes;
             at += THREADS * 128) {
            prefetchL2(rows + at);
        }
    }
    for (int t = 0; t < a.tap_count; ++t) {
        const TapArgs& tap = a.tap[t];
        const int width = elementBytes(tap.type);
        const int lines = (end - begin) * width / 128 + 1;
        for (int i = threadIdx.x; i < tap.rank * lines; i += THREADS) {
            const int row = i / lines;
            prefetchL2(static_cast<const uint8_t*>(tap.a) +
                       (static_cast<int64_t>(row) * a.outputs + begin) * width +
                       (i - row * lines) * 128);
        }
    }
}

/// Constants only: before the wait. local_rows: of this block.
template <int THREADS>
__device__ __noinline__ void
placeUpdates(const ProjectKernelArgs& a, LoraShared s, int begin, int end, int local_rows) {
    const bool is_pair = a.output == kOutputGatedPair;
    for (int t = 0; t < a.lora_count; ++t) {
        const LoraArgs& term = a.lora[t];
        const RowRange range = rowsOfWeight(a, term.weight, begin, end);
        const int count = (range.to - range.from) * term.rank;
        int slot = 0; // of the range's first row
        if (is_pair) {
            slot = term.weight * (end - begin);
        } else {
            for (int j = 0; j < term.weight; ++j) {
                const RowRange before = rowsOfWeight(a, j, begin, end);
                slot += before.to > before.from ? before.to - before.from : 0;
            }
        }
        const float factor = *term.factor;
        const int64_t first = static_cast<int64_t>(range.from) * term.rank;
        float* to = s.b + (term.first - a.lora_first[term.weight]) * local_rows + slot;
#pragma unroll 4
        for (int i = threadIdx.x; i < count; i += THREADS) {
            const int row = i / term.rank;
            to[(i - row * term.rank) * local_rows + row] =
                factor * loadElement(term.b, term.b_type, first + i);
        }
    }
    const int outputs = end - begin;
    for (int t = 0; t < a.tap_count; ++t) {
        const TapArgs& tap = a.tap[t];
#pragma unroll 4
        for (int i = threadIdx.x; i < tap.rank * outputs; i += THREADS) {
            const int row = i / outputs;
            s.tap_a[tap.first * outputs + i] =
                loadElement(tap.a, tap.type,
                            static_cast<int64_t>(row) * a.outputs + begin + (i - row * outputs));
        }
    }
}

/// Eight neighbouring elements; `index` is a multiple of 8.
template <int TYPE>
__device__ __forceinline__ void loadEight(const void* data, int64_t index, float (&v)[8]) {
    if constexpr (TYPE == kElementF32) {
        const float4* at = reinterpret_cast<const float4*>(static_cast<const float*>(data) + index);
        splitEight(__ldg(at), __ldg(at + 1), v);
    } else {
        splitEight<TYPE>(
            __ldg(reinterpret_cast<const uint4*>(static_cast<const uint16_t*>(data) + index)), v);
    }
}

/// One row of A times h, in lane 0; `x` as Shared::x.
template <int TYPE>
__device__ __forceinline__ float
dotRow(const void* data, int64_t first, const uint4* x, int cols, int slabs) {
    const int lane = threadIdx.x & 31;
    float sum = 0.0F;
#pragma unroll 3
    for (int slab = 0; slab < slabs; ++slab) {
        const int column = slab * kSlab + lane * 16;
        if (column < cols) {
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                float v[8];
                loadEight<TYPE>(data, first + column + half * 8, v);
                const uint4 bits = x[slab * 64 + half * 32 + lane];
                const uint32_t words[4] = {bits.x, bits.y, bits.z, bits.w};
#pragma unroll
                for (int i = 0; i < 4; ++i) {
                    const float2 pair = __half22float2(asHalf2(words[i]));
                    sum = fmaf(v[2 * i], pair.x, sum);
                    sum = fmaf(v[2 * i + 1], pair.y, sum);
                }
            }
        }
    }
    return warpSum(sum);
}

/// A h of the updates of the block's rows; the caller's next barrier completes it. `undo`: factor
/// of the scaling of x.
template <int THREADS>
__device__ __noinline__ void reduceInput(
    const ProjectKernelArgs& a, LoraShared s, const uint4* x, float undo, int begin, int end) {
    constexpr int kWarps = THREADS / 32;
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x & 31;
    if (a.lora_sums != nullptr) {
        for (int rank = warp; rank < a.lora_first[3]; rank += kWarps) {
            float sum = 0.0F;
#pragma unroll 5
            for (int part = lane; part < a.lora_parts; part += 32) {
                sum += loadFresh(a.lora_sums + rank * a.lora_parts + part);
            }
            sum = warpSum(sum);
            if (lane == 0) {
                s.a[rank] = sum;
            }
        }
        return;
    }
    const int slabs = a.x_elements / kSlab;
    int next = warp; // this warp's turn among the ranks that the block needs
    for (int t = 0; t < a.lora_count; ++t) {
        const LoraArgs& term = a.lora[t];
        const RowRange range = rowsOfWeight(a, term.weight, begin, end);
        if (range.to <= range.from) {
            continue;
        }
        for (; next < term.rank; next += kWarps) {
            const int64_t first = static_cast<int64_t>(next) * a.cols;
            const float sum =
                term.a_type == kElementBf16  ? dotRow<kElementBf16>(term.a, first, x, a.cols, slabs)
                : term.a_type == kElementF16 ? dotRow<kElementF16>(term.a, first, x, a.cols, slabs)
                                             : dotRow<kElementF32>(term.a, first, x, a.cols, slabs);
            if (lane == 0) {
                s.a[term.first + next] = sum * undo;
            }
        }
        next -= term.rank;
    }
}

/// What the updates add to one row; `slot`: its column in LoraShared::b.
__device__ __forceinline__ float
updateOf(const ProjectKernelArgs& a, LoraShared s, int weight, int slot, int local_rows) {
    const int first = a.lora_first[weight];
    const int ranks = a.lora_first[weight + 1] - first;
    float sum = 0.0F;
#pragma unroll 8
    for (int k = 0; k < ranks; ++k) {
        sum = fmaf(s.a[first + k], s.b[k * local_rows + slot], sum);
    }
    return sum;
}

/// The next step's A times this block's outputs, for the sum over all blocks.
template <int THREADS>
__device__ __noinline__ void
tapOutputs(const ProjectKernelArgs& a, LoraShared s, int block, int outputs) {
    const int lane = threadIdx.x & 31;
    for (int rank = threadIdx.x / 32; rank < a.tap_ranks; rank += THREADS / 32) {
        float sum = 0.0F;
        for (int i = lane; i < outputs; i += 32) {
            sum = fmaf(s.tap_a[rank * outputs + i], s.tap_y[i], sum);
        }
        sum = warpSum(sum);
        if (lane == 0) {
            a.tap_sums[rank * a.tap_parts + block] = sum;
        }
    }
}

} // namespace kernels::cuda
