// SPDX-License-Identifier: Apache-2.0
// Projection step of a decoded token: up to three weights times one row, with the norm and residual
// work in front and the activation behind in the same launch. Memory-bound by design: weights are
// read once, 4-bit codes are expanded through a table in shared memory.
//
// The table maps a byte (two codes) to two fp16 code values and is replicated for the 32 banks, so
// that a look-up costs one conflict-free 4-byte read for two weights. Products run in packed fp16
// over eight terms at a time and are summed in fp32, where the block's absmax is applied; the input
// row is scaled by a power of two so that its elements stay below 16. The error stays below that of
// rounding the input to bf16.
//
// A block owns a contiguous range of rows. What does not depend on the step before (the table, the
// absmax of all its blocks, a prefetch of its codes into L2) happens before it waits for that step,
// so that consecutive steps overlap. One lane owns 16 neighbouring weights of a "slab" of 512;
// k_split warps share the slabs of a row group. Low-rank updates: project_lora.cuh.
#pragma once

#include "kernels/cuda/device/decode/project_blocks.cuh"

namespace kernels::cuda {

constexpr int kPrefetchBytes = 256 * 1024;

/// Loads of one lane's 16 weights.
template <WeightLayout LAYOUT>
struct Codes;
template <>
struct Codes<WeightLayout::Codes> {
    uint2 bits;
};
template <>
struct Codes<WeightLayout::Int8Row> {
    uint4 bits;
};
template <>
struct Codes<WeightLayout::BF16> {
    uint4 bits[2];
};

template <WeightLayout LAYOUT>
constexpr int kLaneBytes = LAYOUT == WeightLayout::Codes     ? 8
                           : LAYOUT == WeightLayout::Int8Row ? 16
                                                             : 32;

template <WeightLayout LAYOUT>
__device__ __forceinline__ Codes<LAYOUT> loadCodes(const uint8_t* at) {
    Codes<LAYOUT> codes;
    if constexpr (LAYOUT == WeightLayout::Codes) {
        codes.bits = __ldcs(reinterpret_cast<const uint2*>(at));
    } else if constexpr (LAYOUT == WeightLayout::Int8Row) {
        codes.bits = __ldcs(reinterpret_cast<const uint4*>(at));
    } else {
        codes.bits[0] = __ldcs(reinterpret_cast<const uint4*>(at));
        codes.bits[1] = __ldcs(reinterpret_cast<const uint4*>(at) + 1);
    }
    return codes;
}

/// Sum over the lane's 16 weights, without absmax or row scale. lane_table: shared-memory address
/// of the lane's copy of entry 0.
template <WeightLayout LAYOUT>
__device__ __forceinline__ float
dot16(const Codes<LAYOUT>& codes, const uint32_t (&x)[8], uint32_t lane_table) {
    if constexpr (LAYOUT == WeightLayout::Codes) {
        __half2 sum = __float2half2_rn(0.0F);
#pragma unroll
        for (int b = 0; b < 8; ++b) {
            // One byte by permutation, then base + byte * (32 copies * 4 bytes) as one
            // shift-and-add.
            const uint32_t entry =
                __byte_perm(b < 4 ? codes.bits.x : codes.bits.y, 0, 0x4440U + (b & 3));
            sum = __hfma2(asHalf2(loadShared(lane_table + (entry << 7))), asHalf2(x[b]), sum);
        }
        const float2 parts = __half22float2(sum);
        return parts.x + parts.y;
    } else if constexpr (LAYOUT == WeightLayout::Int8Row) {
        __half2 sum = __float2half2_rn(0.0F);
        const uint32_t words[4] = {codes.bits.x, codes.bits.y, codes.bits.z, codes.bits.w};
        const __half2 bias = __float2half2_rn(1152.0F); // 1024 + 128
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            // fp16 1024 + u for the bytes u = q + 128
            const uint32_t u = words[i] ^ 0x80808080U;
            const uint32_t low = __byte_perm(u, 0x64646464U, 0x4140);
            const uint32_t high = __byte_perm(u, 0x64646464U, 0x4342);
            sum = __hfma2(__hsub2(asHalf2(low), bias), asHalf2(x[2 * i]), sum);
            sum = __hfma2(__hsub2(asHalf2(high), bias), asHalf2(x[2 * i + 1]), sum);
        }
        const float2 parts = __half22float2(sum);
        return parts.x + parts.y;
    } else {
        float sum = 0.0F;
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            const uint4& four = codes.bits[i / 4];
            const uint32_t pair = (i & 3) == 0   ? four.x
                                  : (i & 3) == 1 ? four.y
                                  : (i & 3) == 2 ? four.z
                                                 : four.w;
            const float2 values = __half22float2(asHalf2(x[i]));
            sum = fmaf(__uint_as_float(pair << 16), values.x, sum);
            sum = fmaf(__uint_as_float(pair & 0xffff0000U), values.y, sum);
        }
        return sum;
    }
}

/// Row `row` of all weights one after another (pairs: of weight `which`).
struct RowAt {
    int weight;
    int row;
};
__device__ __forceinline__ RowAt locate(const ProjectKernelArgs& a, int row) {
    const int first = static_cast<int>(a.w[0].rows);
    if (a.count == 1 || row < first) {
        return {0, row};
    }
    const int second = static_cast<int>(a.w[1].rows);
    return row < first + second ? RowAt{1, row - first} : RowAt{2, row - first - second};
}

/// All rows of the block times the input. A warp has the codes of its next slab in flight while it
/// works on one, across row groups too.
template <WeightLayout LAYOUT, int R, int THREADS>
struct Multiplier {
    const ProjectKernelArgs& a;
    const Shared& s;
    bool is_pair;
    int first;
    int local_rows;
    int part, slabs, stride; // this warp: which share of the slabs; groups between two of its own
    int group, slab;         // fetched next
    const uint8_t* at[R];
    Codes<LAYOUT> ahead[R];

    __device__ __forceinline__
    Multiplier(const ProjectKernelArgs& args, const Shared& shared, int begin, int rows)
        : a(args), s(shared), is_pair(args.output == kOutputGatedPair), first(begin),
          local_rows(rows) {
        const int warp = threadIdx.x / 32;
        part = warp % a.k_split;
        slabs = a.x_elements / kSlab;
        stride = (THREADS / 32) / a.k_split;
        group = warp / a.k_split;
        slab = part;
        locateRows();
    }

    __device__ __forceinline__ void locateRows() {
        const int row_bytes = a.cols * kLaneBytes<LAYOUT> / 16;
        const int lane = threadIdx.x & 31;
        if (group * R >= local_rows) {
            return;
        }
#pragma unroll
        for (int r = 0; r < R; ++r) {
            // Rows beyond the range repeat the last one; their sums are dropped.
            const int local = group * R + r < local_rows ? group * R + r : local_rows - 1;
            const RowAt ref =
                is_pair ? RowAt{local & 1, first + local / 2} : locate(a, first + local);
            at[r] = static_cast<const uint8_t*>(a.w[ref.weight].data) +
                    static_cast<int64_t>(ref.row) * row_bytes + lane * kLaneBytes<LAYOUT>;
        }
    }

    __device__ __forceinline__ void fetch() {
        if (group * R >= local_rows || part >= slabs) {
            return;
        }
        if (slab * kSlab + static_cast<int>(threadIdx.x & 31) * 16 < a.cols) {
#pragma unroll
            for (int r = 0; r < R; ++r) {
                ahead[r] = loadCodes<LAYOUT>(at[r] + slab * 32 * kLaneBytes<LAYOUT>);
            }
        }
        slab += a.k_split;
        if (slab >= slabs) {
            slab = part;
            group += stride;
            locateRows();
        }
    }

    /// Needs the input. Leaves the sums in Shared::partial.
    __device__ __forceinline__ void run() {
#pragma unroll
        for (int r = 0; r < R; ++r) {
            ahead[r] = {};
        }
        fetch();
        const int lane = threadIdx.x & 31;
        const int blocks = LAYOUT == WeightLayout::Codes ? a.cols >> a.block_shift : 0;
        uint32_t lane_table = 0;
        if (LAYOUT == WeightLayout::Codes) {
            lane_table = sharedAddress(s.table + lane);
        }
        int this_group = static_cast<int>(threadIdx.x / 32) / a.k_split;
        int this_slab = part;
        float sums[R] = {};
        if (part >= slabs) { // more warps than slabs: nothing to add
            for (; this_group * R < local_rows; this_group += stride) {
                if (lane < R && this_group * R + lane < local_rows) {
                    s.partial[(this_group * R + lane) * a.k_split + part] = 0.0F;
                }
            }
            return;
        }
        while (this_group * R < local_rows) {
            Codes<LAYOUT> codes[R];
#pragma unroll
            for (int r = 0; r < R; ++r) {
                codes[r] = ahead[r];
            }
            fetch();
            const uint4 x0 = s.x[this_slab * 64 + lane];
            const uint4 x1 = s.x[this_slab * 64 + 32 + lane];
            const uint32_t x[8] = {x0.x, x0.y, x0.z, x0.w, x1.x, x1.y, x1.z, x1.w};
            // Lanes beyond the row hold zeros in x; their scale only has to be finite.
            int block = (this_slab * kSlab + lane * 16) >> a.block_shift;
            block = block < blocks ? block : blocks - 1;
#pragma unroll
            for (int r = 0; r < R; ++r) {
                const float dot = dot16<LAYOUT>(codes[r], x, lane_table);
                if constexpr (LAYOUT == WeightLayout::Codes) {
                    const int local =
                        this_group * R + r < local_rows ? this_group * R + r : local_rows - 1;
                    const int scale_row =
                        is_pair ? local / 2 + (local & 1) * (local_rows / 2) : local;
                    sums[r] = fmaf(dot, s.scales[scale_row * blocks + block], sums[r]);
                } else {
                    sums[r] += dot;
                }
            }
            this_slab += a.k_split;
            if (this_slab >= slabs) {
#pragma unroll
                for (int r = 0; r < R; ++r) {
                    const float sum = warpSum(sums[r]);
                    if (lane == 0 && this_group * R + r < local_rows) {
                        s.partial[(this_group * R + r) * a.k_split + part] = sum;
                    }
                    sums[r] = 0.0F;
                }
                this_slab = part;
                this_group += stride;
            }
        }
    }
};

template <WeightLayout LAYOUT, int R, int THREADS>
__device__ __forceinline__ void
multiply(const ProjectKernelArgs& a, const Shared& s, int begin, int local_rows) {
    Multiplier<LAYOUT, R, THREADS> multiplier(a, s, begin, local_rows);
    multiplier.run();
}

/// A range on its way into L2: one instruction of one thread where the range is aligned for it.
template <int THREADS>
__device__ __forceinline__ void prefetchRange(const void* data, int bytes) {
    if (kHasBulkPrefetch && ((reinterpret_cast<uintptr_t>(data) | bytes) & 15) == 0) {
        if (threadIdx.x == 0 && bytes > 0) {
            prefetchBulk(data, bytes);
        }
        return;
    }
#pragma unroll 1
    for (int at = threadIdx.x * 128; at < bytes; at += THREADS * 128) {
        prefetchL2(static_cast<const char*>(data) + at);
    }
}

/// Sends a block's codes and absmax on their way into L2; nothing waits for them.
template <int THREADS>
__device__ __forceinline__ void prefetchCodes(const ProjectKernelArgs& a, int block, int grid) {
    const WeightLayout layout = a.w[0].layout;
    const bool has_blocks = layout == WeightLayout::Blocks;
    const int lane_bytes = layout == WeightLayout::BF16      ? 32
                           : layout == WeightLayout::Int8Row ? 16
                                                             : 8;
    const int begin = firstOutput(a, block, grid);
    const int end = firstOutput(a, block + 1, grid);
    int before = 0;
    for (int j = 0; j < a.count; ++j) {
        const RowRange range = rowsOf(a, j, begin, end, before);
        before += static_cast<int>(a.w[j].rows);
        const int row_bytes = has_blocks ? a.w[j].block_size : a.cols / 16 * lane_bytes;
        const uint8_t* data =
            static_cast<const uint8_t*>(a.w[j].data) + static_cast<int64_t>(range.from) * row_bytes;
        int64_t bytes = static_cast<int64_t>(range.to - range.from) * row_bytes;
        bytes = bytes < kPrefetchBytes ? bytes : kPrefetchBytes;
        prefetchRange<THREADS>(data, static_cast<int>(bytes));
        if (layout == WeightLayout::Codes) {
            const WeightArgs& w = a.w[j];
            const int blocks = a.cols >> a.block_shift;
            const int width = w.absmax != nullptr ? 4 : 1;
            const char* scales = w.absmax != nullptr ? reinterpret_cast<const char*>(w.absmax)
                                                     : reinterpret_cast<const char*>(w.absmax_q);
            scales += static_cast<int64_t>(range.from) * blocks * width;
            const int scale_bytes = (range.to - range.from) * blocks * width;
            prefetchRange<THREADS>(scales, scale_bytes);
        }
    }
    prefetchLora<THREADS>(a, block, grid);
}

/// The parts of the dynamic shared memory; `blocks`: scales of a row.
template <WeightLayout LAYOUT>
__device__ __forceinline__ Shared placeStep(const ProjectKernelArgs& a, int blocks) {
    Shared s{};
    char* cursor = dynamicShared();
    if (LAYOUT == WeightLayout::Codes) {
        s.table = reinterpret_cast<uint32_t*>(cursor);
        cursor += kTableBytes;
        s.nested = reinterpret_cast<float*>(cursor);
        cursor += kNestedBytes;
    }
    s.x = reinterpret_cast<uint4*>(cursor);
    cursor += a.x_elements * 2;
    s.buffer = reinterpret_cast<float*>(cursor);
    cursor += 128 * sizeof(float);
    s.rows = reinterpret_cast<float4*>(cursor);
    cursor += inputRowBytes(a.input, a.cols);
    s.scales = reinterpret_cast<float*>(cursor);
    s.partial = s.scales + a.local_rows * blocks;
    return s;
}

/// absmax of every block of every row. A weight's part of the range is contiguous; a pair's two
/// parts lie behind each other.
template <int THREADS>
__device__ __forceinline__ void
fillScales(const ProjectKernelArgs& a, const Shared& s, int begin, int end, int blocks) {
    for (int i = threadIdx.x; i < a.count * 256; i += THREADS) {
        const WeightArgs& w = a.w[i / 256];
        s.nested[i] = w.absmax == nullptr ? w.nested_code[i % 256] : 0.0F;
    }
    __syncthreads();
    int before = 0; // rows of the weights before this one
    int local = 0;  // scales written
    for (int j = 0; j < a.count; ++j) {
        const RowRange range = rowsOf(a, j, begin, end, before);
        before += static_cast<int>(a.w[j].rows);
        if (range.to > range.from) {
            const int count = (range.to - range.from) * blocks;
            expandScales<THREADS>(a.w[j], s.nested + j * 256,
                                  static_cast<int64_t>(range.from) * blocks, count,
                                  s.scales + local);
            local += count;
        }
    }
}

/// One projection step, as a launch of its own.
template <WeightLayout LAYOUT, int THREADS>
__device__ __forceinline__ void projectStep(const ProjectKernelArgs& a) {
    const auto block = static_cast<int>(blockIdx.x);
    const auto grid = static_cast<int>(gridDim.x);
    const bool is_pair = a.output == kOutputGatedPair;
    // This block's outputs, and its rows: two an output where they come in pairs.
    const int begin = firstOutput(a, block, grid);
    const int end = firstOutput(a, block + 1, grid);
    const int local_rows = (end - begin) * (is_pair ? 2 : 1);
    const int blocks = LAYOUT == WeightLayout::Codes ? a.cols >> a.block_shift : 0;
    const Shared s = placeStep<LAYOUT>(a, blocks);
    // Made anew where it is used: not four registers for the whole step.
    const auto lora = [&] {
        return loraShared(a, s.partial + a.local_rows * a.k_split, end - begin);
    };

    if constexpr (LAYOUT == WeightLayout::Codes) {
        fillTable<THREADS>(s.table, a.w[0].code_table);
        fillScales<THREADS>(a, s, begin, end, blocks);
    }
    prefetchCodes<THREADS>(a, block, grid);
    if (a.lora_count + a.tap_count > 0) {
        placeUpdates<THREADS>(a, lora(), begin, end, local_rows);
    }
    const float undo = makeInput<THREADS>(a, s); // ends with a barrier
    if (a.lora_count > 0) {
        reduceInput<THREADS>(a, lora(), s.x, undo, begin, end);
    }
    if constexpr (LAYOUT == WeightLayout::Blocks) {
        multiplyBlocks<THREADS>(a, s, local_rows, [&](int local) {
            return is_pair ? RowAt{local & 1, begin + local / 2} : locate(a, begin + local);
        });
    } else if (LAYOUT == WeightLayout::Codes && a.rows_per_warp == 4) {
        multiply<LAYOUT, LAYOUT == WeightLayout::Codes ? 4 : 1, THREADS>(a, s, begin, local_rows);
    } else if (a.rows_per_warp == 2) {
        multiply<LAYOUT, 2, THREADS>(a, s, begin, local_rows);
    } else {
        multiply<LAYOUT, 1, THREADS>(a, s, begin, local_rows);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < end - begin; i += THREADS) {
        float sums[2] = {};
        const int count = is_pair ? 2 : 1;
#pragma unroll
        for (int j = 0; j < 2; ++j) {
            if (j < count) {
                const int local = i * count + j;
                for (int p = 0; p < a.k_split; ++p) {
                    sums[j] += s.partial[local * a.k_split + p];
                }
                sums[j] *= undo;
            }
        }
        const RowAt ref = is_pair ? RowAt{0, begin + i} : locate(a, begin + i);
        if constexpr (LAYOUT == WeightLayout::Int8Row) {
            sums[0] *= a.w[ref.weight].row_scale[ref.row];
            if (is_pair) {
                sums[1] *= a.w[1].row_scale[ref.row];
            }
        }
        if (a.lora_count > 0) {
            sums[0] += updateOf(a, lora(), ref.weight, i, local_rows);
            if (is_pair) {
                sums[1] += updateOf(a, lora(), 1, end - begin + i, local_rows);
            }
        }
        float value = sums[0];
        if (is_pair) {
            value = activated(a.activation, sums[0]) * sums[1];
        } else if (a.output == kOutputGatedMultiply) {
            value = activated(a.activation, sums[0]) * a.multiply[ref.row];
        }
        a.y[ref.weight][ref.row] = value;
        if (a.tap_count > 0) {
            lora().tap_y[i] = value;
        }
    }
    if (a.tap_count > 0) {
        __syncthreads();
        tapOutputs<THREADS>(a, lora(), block, end - begin);
    }
}

} // namespace kernels::cuda
