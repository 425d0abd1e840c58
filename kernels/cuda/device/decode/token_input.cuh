// SPDX-License-Identifier: Apache-2.0
// What stands before the layers of a decoded token, in one launch: its row of the embedding, the
// per-layer projection of that row, norms of its slices, and the token's row of the per-layer
// table.
//
// A block has 32 rows of the projection and makes the embedding row for itself (a few KB, which all
// blocks read at the same time). Its codes and absmax are constants: they are on their way before
// the token's number is known. A slice's norm needs all its rows: the last of its blocks that is
// done makes it. Small operands may lie in page-locked memory of the host.
#pragma once

#include "kernels/cuda/device/decode/project_step.cuh"

namespace kernels::cuda {

/// Rows of a warp whose codes are in flight together.
constexpr int kTokenWarpRows = kTokenRows * 32 / kEdgeThreads;

/// Four neighbours of a table's row, scaled; zeros for a number outside.
__device__ __forceinline__ float4 tableFour(const WeightArgs& table,
                                            int32_t token,
                                            int column,
                                            float scale) {
    if (token < 0 || token >= table.rows) {
        return make_float4(0.0F, 0.0F, 0.0F, 0.0F);
    }
    const int64_t at = token * table.cols + column;
    return make_float4(
        scale * weightValue(table, token, at), scale * weightValue(table, token, at + 1),
        scale * weightValue(table, token, at + 2), scale * weightValue(table, token, at + 3));
}

template <WeightLayout LAYOUT>
struct TokenProduct {
    /// Slabs of a row in flight together: what the registers hold.
    static constexpr int kDepth = LAYOUT == WeightLayout::Codes     ? 3
                                  : LAYOUT == WeightLayout::Int8Row ? 2
                                                                    : 1;

    const WeightArgs& w;
    int slabs;
    const uint8_t* at[kTokenWarpRows];
    Codes<LAYOUT> codes[kDepth][kTokenWarpRows];

    __device__ __forceinline__ TokenProduct(const WeightArgs& weight, int all, int begin)
        : w(weight), slabs(all) {
        const int64_t row_bytes = w.cols * kLaneBytes<LAYOUT> / 16;
        const int first = begin + static_cast<int>(threadIdx.x) / 32 * kTokenWarpRows;
#pragma unroll
        for (int r = 0; r < kTokenWarpRows; ++r) {
            at[r] = static_cast<const uint8_t*>(w.data) + (first + r) * row_bytes +
                    (threadIdx.x & 31) * kLaneBytes<LAYOUT>;
        }
    }
    __device__ __forceinline__ void fetch(int first) {
        const int lane = threadIdx.x & 31;
#pragma unroll
        for (int d = 0; d < kDepth; ++d) {
#pragma unroll
            for (int r = 0; r < kTokenWarpRows; ++r) {
                codes[d][r] = {};
                if ((first + d) * kSlab + lane * 16 < w.cols) {
                    codes[d][r] = loadCodes<LAYOUT>(at[r] + (first + d) * 32 * kLaneBytes<LAYOUT>);
                }
            }
        }
    }
    /// The first codes have been fetched. sums: of this lane.
    __device__ __forceinline__ void
    run(const Shared& s, int block_shift, float (&sums)[kTokenWarpRows]) {
        const int lane = threadIdx.x & 31;
        const int local = static_cast<int>(threadIdx.x) / 32 * kTokenWarpRows;
        const int blocks =
            LAYOUT == WeightLayout::Codes ? static_cast<int>(w.cols) >> block_shift : 0;
        const uint32_t table = LAYOUT == WeightLayout::Codes ? sharedAddress(s.table + lane) : 0;
#pragma unroll 1
        for (int first = 0; first < slabs; first += kDepth) {
            if (first > 0) {
                fetch(first);
            }
#pragma unroll
            for (int d = 0; d < kDepth; ++d) {
                const int slab = first + d;
                if (slab >= slabs) {
                    break;
                }
                const uint4 x0 = s.x[slab * 64 + lane];
                const uint4 x1 = s.x[slab * 64 + 32 + lane];
                const uint32_t x[8] = {x0.x, x0.y, x0.z, x0.w, x1.x, x1.y, x1.z, x1.w};
                // Lanes beyond the row hold zeros in x; their scale only has to be finite.
                int block = (slab * kSlab + lane * 16) >> block_shift;
                block = block < blocks ? block : blocks - 1;
#pragma unroll
                for (int r = 0; r < kTokenWarpRows; ++r) {
                    const float dot = dot16<LAYOUT>(codes[d][r], x, table);
                    if constexpr (LAYOUT == WeightLayout::Codes) {
                        sums[r] = fmaf(dot, s.scales[(local + r) * blocks + block], sums[r]);
                    } else {
                        sums[r] += dot;
                    }
                }
            }
        }
    }
};

/// One slice from its raw products and the token's part, all of which are in memory.
__device__ __forceinline__ void finishSlice(const TokenInputKernelArgs& a, int slice, float* sums) {
    constexpr int kMost = kMaxTokenWidth / kEdgeThreads;
    float* const y = a.y + static_cast<int64_t>(slice) * a.width;
    const float* const t = a.t + static_cast<int64_t>(slice) * a.width;
    float value[kMost];
    float part[kMost];
    float sum = 0.0F;
#pragma unroll
    for (int k = 0; k < kMost; ++k) {
        const int i = k * kEdgeThreads + static_cast<int>(threadIdx.x);
        value[k] = i < a.width ? __ldcg(y + i) * a.before : 0.0F;
        part[k] = i < a.width ? __ldcg(t + i) : 0.0F;
        sum += value[k] * value[k];
    }
    sum = blockSum(sum, sums);
    const float inverse = 1.0F / sqrtf(sum / static_cast<float>(a.width) + a.eps);
#pragma unroll
    for (int k = 0; k < kMost; ++k) {
        const int i = k * kEdgeThreads + static_cast<int>(threadIdx.x);
        if (i < a.width) {
            const float norm = loadElement(a.norm.data, a.norm.type, i);
            y[i] = (value[k] * inverse * norm + part[k]) * a.after;
        }
    }
}

/// The parts of the dynamic shared memory.
template <WeightLayout LAYOUT>
__device__ __forceinline__ Shared placeTokenInputs(const TokenInputKernelArgs& a, int cols) {
    Shared s{};
    char* cursor = dynamicShared();
    if (LAYOUT == WeightLayout::Codes) {
        s.table = reinterpret_cast<uint32_t*>(cursor);
        cursor += kTableBytes;
        s.nested = reinterpret_cast<float*>(cursor);
        cursor += kNestedBytes / 3;
    }
    s.x = reinterpret_cast<uint4*>(cursor);
    cursor += a.x_elements * 2;
    s.rows = reinterpret_cast<float4*>(cursor);
    cursor += cols * 4;
    s.buffer = reinterpret_cast<float*>(cursor);
    cursor += 64 * sizeof(float);
    s.scales = reinterpret_cast<float*>(cursor);
    return s;
}

template <WeightLayout LAYOUT>
__device__ __forceinline__ void tokenInputs(const TokenInputKernelArgs& a) {
    BELFRY_SHARED(float, raw, [kTokenRows]);
    BELFRY_SHARED(float, sums, [33]);
    BELFRY_SHARED(int32_t, numbers, [2]); // the token; whether this block is a slice's last one
    const WeightArgs& w = a.projection;
    const int cols = static_cast<int>(w.cols);
    const int begin = static_cast<int>(blockIdx.x) * kTokenRows;
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int lane = threadIdx.x & 31;
    const Shared s = placeTokenInputs<LAYOUT>(a, cols);

    // What everything behind it needs is asked for before anything else.
    const int32_t token_number =
        threadIdx.x == 0 ? *static_cast<const volatile int32_t*>(a.token) : 0;
    float part = 0.0F;
    if (a.token_part != nullptr && threadIdx.x < kTokenRows) {
        part = static_cast<const volatile float*>(a.token_part)[begin + threadIdx.x];
    }
    TokenProduct<LAYOUT> product(w, a.x_elements / kSlab, begin);
    product.fetch(0);
    if (kHasBulkPrefetch && threadIdx.x == 0 && product.slabs > TokenProduct<LAYOUT>::kDepth) {
        const int bytes = kTokenRows * (cols * kLaneBytes<LAYOUT> / 16);
        prefetchBulk(static_cast<const uint8_t*>(w.data) + static_cast<int64_t>(blockIdx.x) * bytes,
                     bytes);
    }
    if constexpr (LAYOUT == WeightLayout::Codes) {
        fillTable<kEdgeThreads>(s.table, w.code_table);
        for (int i = threadIdx.x; i < 256; i += kEdgeThreads) {
            s.nested[i] = w.absmax == nullptr ? w.nested_code[i] : 0.0F;
        }
        __syncthreads();
        const int count = kTokenRows * (cols >> a.block_shift);
        expandScales<kEdgeThreads>(w, s.nested, static_cast<int64_t>(blockIdx.x) * count, count,
                                   s.scales);
    }
    if (threadIdx.x == 0) {
        numbers[0] = token_number;
    }
    __syncthreads();
    const int32_t token = numbers[0];
    if (a.token_part == nullptr && threadIdx.x < kTokenRows && token >= 0 && token < a.table.rows) {
        part = a.table_scale *
               weightValue(a.table, token,
                           token * a.table.cols + begin + static_cast<int>(threadIdx.x));
    }
    float largest = 0.0F;
#pragma unroll 2
    for (int c = threadIdx.x; c < cols / 4; c += kEdgeThreads) {
        const bool has_row = a.embedding.data == nullptr;
        const float4 v = has_row ? *reinterpret_cast<const float4*>(a.x + 4 * c)
                                 : tableFour(a.embedding, token, 4 * c, a.embedding_scale);
        s.rows[c] = v;
        if (!has_row && blockIdx.x == 0) {
            *reinterpret_cast<float4*>(a.x + 4 * c) = v;
        }
        largest = fmaxf(largest, largestOf(v));
    }
    const float factor =
        powerOfTwoFor(blockSumAndMax(0.0F, largest, kEdgeThreads / 32, s.buffer).y);
#pragma unroll 2
    for (int c = threadIdx.x; 4 * c < a.x_elements; c += kEdgeThreads) {
        storeFour(s, 4 * c, 4 * c < cols ? s.rows[c] : make_float4(0.0F, 0.0F, 0.0F, 0.0F),
                  1.0F / factor);
    }
    __syncthreads();

    float products[kTokenWarpRows] = {};
    product.run(s, a.block_shift, products);
#pragma unroll
    for (int r = 0; r < kTokenWarpRows; ++r) {
        const float sum = warpSum(products[r]) * factor;
        if (lane == 0) {
            raw[warp * kTokenWarpRows + r] = sum;
        }
    }
    __syncthreads();
    const int slice = begin / a.width;
    if (threadIdx.x < kTokenRows) {
        float value = raw[threadIdx.x];
        if constexpr (LAYOUT == WeightLayout::Int8Row) {
            value *= w.row_scale[begin + threadIdx.x];
        }
        a.y[begin + threadIdx.x] = value;
        a.t[begin + threadIdx.x] = part;
        __threadfence();
        __syncwarp();
        if (threadIdx.x == 0 && a.width > kTokenRows) {
            const int done = atomicAdd(&a.counters->slices[slice], 1);
            numbers[1] = done == a.width / kTokenRows - 1 ? 1 : 0;
        }
    }
    __syncthreads();
    if (a.width <= kTokenRows) { // whole slices: nobody else has a part of them
        for (int at = slice; at < (begin + kTokenRows) / a.width; ++at) {
            finishSlice(a, at, sums);
        }
        return;
    }
    if (numbers[1] == 0) {
        return;
    }
    __threadfence();
    finishSlice(a, slice, sums);
    if (threadIdx.x == 0) {
        a.counters->slices[slice] = 0;
    }
}

} // namespace kernels::cuda
