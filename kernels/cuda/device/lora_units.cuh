// SPDX-License-Identifier: Apache-2.0
// Low-rank updates of the steps that stay resident (token.cu): A h is made once in the whole grid.
//
// All blocks have the same input h at about the same time. A unit is one row of A times a range of
// columns. One warp of a block takes one unit (rarely two), of which it has placed A in shared
// memory before the wait, and publishes the sum together with a tag that no step before has used:
// who sees the tag has the value, no barrier is needed. While a block multiplies its own rows the
// values of the others arrive; its last warp collects them. B of the block's rows is copied as it
// is, before the wait, and added where the rows are finished.
//
// The slots of a step may be overwritten by the next one: between the two lies a grid-wide barrier
// that every block reaches only after it has collected.
#pragma once

#include "kernels/cuda/device/step_rows.cuh"
#include "kernels/cuda/device/unit_piece.cuh"

namespace kernels::cuda {

/// Pointers into dynamic shared memory, each aligned to 16 bytes.
struct LoraUnits {
    float* sums;    // [units]: as published
    float* reduced; // [ranks]: A h
    float* factors; // [updates]
    uint32_t* tag;  // [1]
    char* b;        // [local rows, lora_pitch]: B as stored; pairs: first all rows of one weight
    char* rows;     // [own units, lora_columns]: A as stored
};

__device__ __forceinline__ LoraUnits loraUnits(const ProjectKernelArgs& a, float* memory) {
    LoraUnits s{};
    // By its offset, so that compilers still see that it is shared memory.
    const auto offset = static_cast<int>(reinterpret_cast<char*>(memory) - dynamicShared());
    s.sums = reinterpret_cast<float*>(dynamicShared() + ((offset + 15) & ~15));
    s.reduced = s.sums + (a.lora_units + 3) / 4 * 4;
    s.factors = s.sums + loraUnitSums(a.lora_units, a.lora_first[3]);
    s.tag = reinterpret_cast<uint32_t*>(s.factors + kMaxLora);
    s.b = reinterpret_cast<char*>(s.factors + kLoraUnitNumbers);
    s.rows = s.b + a.lora_pitch * a.local_rows;
    return s;
}

/// A of the block's units on its way into L2.
template <int THREADS>
__device__ __noinline__ void prefetchUnits(const ProjectKernelArgs& a, int block, int grid) {
    for (int unit = block; unit < a.lora_units; unit += grid) {
        const UnitPiece piece(a, unit / a.lora_chunks, unit % a.lora_chunks);
        for (int at = threadIdx.x * 128; at < piece.bytes; at += THREADS * 128) {
            prefetchL2(piece.at + at);
        }
    }
}

/// Constants only: before the wait. Copies are under way when this returns. [begin, end): outputs
/// of the block; tag: of this step, 0 = from the number of the launch.
template <int THREADS>
__device__ __noinline__ void placeUnits(const ProjectKernelArgs& a,
                                        LoraUnits s,
                                        int block,
                                        int grid,
                                        int begin,
                                        int end,
                                        uint32_t tag = 0) {
    const bool is_pair = a.output == kOutputGeluPair;
    int before = 0; // rows of the weights before this one
    int weight = 0;
    for (int t = 0; t < a.lora_count; ++t) {
        const LoraArgs& term = a.lora[t];
        for (; weight < term.weight; ++weight) {
            before += static_cast<int>(a.w[weight].rows);
        }
        const RowRange range = rowsOf(a, weight, begin, end, before);
        const int slot = is_pair ? weight * (end - begin) : before + range.from - begin;
        const int row_bytes = term.rank * elementBytes(term.b_type);
        const int pieces = row_bytes / 16;
        const char* const from =
            static_cast<const char*>(term.b) + static_cast<int64_t>(range.from) * row_bytes;
        char* const to = s.b + slot * a.lora_pitch + term.b_offset;
        for (int c = threadIdx.x; c < (range.to - range.from) * pieces; c += THREADS) {
            const int row = c / pieces;
            copyAsync16(to + row * a.lora_pitch + (c - row * pieces) * 16, from + c * 16);
        }
    }
    // The last warp: what it and only it reads before the next barrier.
    const int lane = static_cast<int>(threadIdx.x) - (THREADS - 32);
    if (lane < 0) {
        return;
    }
    char* to = s.rows;
    for (int unit = block; unit < a.lora_units; unit += grid) {
        const UnitPiece piece(a, unit / a.lora_chunks, unit % a.lora_chunks);
        for (int at = lane * 16; at < piece.bytes; at += 32 * 16) {
            copyAsync16(to + at, piece.at + at);
        }
        to += a.lora_columns * 4;
    }
    if (lane < a.lora_count) {
        s.factors[lane] = *a.lora[lane].factor;
    }
    if (lane == 31) {
        // The top bit: never a tag that a caller gives.
        *s.tag = tag != 0 ? tag
                          : (static_cast<uint32_t>(__ldcg(a.lora_epoch)) * 1024U +
                             static_cast<uint32_t>(a.lora_step)) |
                                0x80000000U;
    }
}

/// Sixteen neighbouring elements in shared memory times sixteen of x.
template <int TYPE>
__device__ __forceinline__ float
dotSixteen(const char* row, const uint4& low, const uint4& high, float sum) {
    const uint32_t x[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        float v[8];
        eightOf<TYPE>(row, half, v);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const float2 pair = __half22float2(asHalf2(x[4 * half + i]));
            sum = fmaf(v[2 * i], pair.x, sum);
            sum = fmaf(v[2 * i + 1], pair.y, sum);
        }
    }
    return sum;
}

/// The last warp: this block's units, as soon as the input is there. x: as Shared::x; undo: factor
/// of its scaling.
template <int THREADS>
__device__ __noinline__ void publishUnits(
    const ProjectKernelArgs& a, LoraUnits s, const uint4* x, float undo, int block, int grid) {
    const int lane = static_cast<int>(threadIdx.x) - (THREADS - 32);
    if (lane < 0 || block >= a.lora_units) {
        return;
    }
    waitForCopies();
    __syncwarp();
    const char* from = s.rows;
    for (int unit = block; unit < a.lora_units; unit += grid) {
        const UnitPiece piece(a, unit / a.lora_chunks, unit % a.lora_chunks);
        const int width = elementBytes(piece.type);
        float sum = 0.0F;
#pragma unroll 1
        for (int at = lane * 16; at < piece.columns; at += kSlab) {
            const int slab = (piece.column + at) / kSlab;
            const uint4 low = x[slab * 64 + lane];
            const uint4 high = x[slab * 64 + 32 + lane];
            const char* const row = from + at * width;
            sum = piece.type == kElementBf16  ? dotSixteen<kElementBf16>(row, low, high, sum)
                  : piece.type == kElementF16 ? dotSixteen<kElementF16>(row, low, high, sum)
                                              : dotSixteen<kElementF32>(row, low, high, sum);
        }
        sum = warpSum(sum);
        if (lane == 0) {
            storeTagged(a.lora_slots + unit, sum * undo, *s.tag);
        }
        from += a.lora_columns * 4;
    }
}

/// The last warp: the values of all blocks. The caller's next barrier shows them to the block.
template <int THREADS>
__device__ __noinline__ void collectUnits(const ProjectKernelArgs& a, LoraUnits s) {
    const int lane = static_cast<int>(threadIdx.x) - (THREADS - 32);
    waitForCopies(); // of B, by every thread
    if (lane < 0) {
        return;
    }
    const uint32_t tag = *s.tag;
    constexpr int kAtOnce = 4;
    for (int first = lane; first < a.lora_units; first += 32 * kAtOnce) {
        Tagged value[kAtOnce];
        bool is_complete = false;
        while (!is_complete) {
            is_complete = true;
#pragma unroll
            for (int i = 0; i < kAtOnce; ++i) {
                const int unit = first + i * 32;
                value[i] = loadTagged(a.lora_slots + (unit < a.lora_units ? unit : first));
            }
#pragma unroll
            for (int i = 0; i < kAtOnce; ++i) {
                is_complete = is_complete && value[i].tag == tag;
            }
        }
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) {
            if (first + i * 32 < a.lora_units) {
                s.sums[first + i * 32] = value[i].value;
            }
        }
    }
    __syncwarp();
    for (int rank = lane; rank < a.lora_first[3]; rank += 32) {
        float sum = 0.0F;
        for (int chunk = 0; chunk < a.lora_chunks; ++chunk) {
            sum += s.sums[rank * a.lora_chunks + chunk];
        }
        s.reduced[rank] = sum;
    }
}

/// What the updates of a weight add to one row; `slot`: its row in LoraUnits::b.
__device__ __forceinline__ float
unitUpdateOf(const ProjectKernelArgs& a, const LoraUnits& s, int weight, int slot) {
    float total = 0.0F;
#pragma unroll 1
    for (int t = 0; t < a.lora_count; ++t) {
        const LoraArgs& term = a.lora[t];
        if (term.weight == weight) {
            const char* const row = s.b + slot * a.lora_pitch + term.b_offset;
            const float* const h = s.reduced + term.first;
            const float sum =
                term.b_type == kElementBf16  ? dotRanks<kElementBf16>(row, h, term.rank)
                : term.b_type == kElementF16 ? dotRanks<kElementF16>(row, h, term.rank)
                                             : dotRanks<kElementF32>(row, h, term.rank);
            total = fmaf(s.factors[t], sum, total);
        }
    }
    return total;
}

} // namespace kernels::cuda
