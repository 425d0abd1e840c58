// SPDX-License-Identifier: Apache-2.0
// B (A h) in stream.cu (stream_lora.cuh) by tensor cores: 16 ranks of an update are a tile, the
// sums of a chunk of A's columns a column of the right operand. What needs no sums is worked out
// before they come.
#pragma once

#include "kernels/cuda/device/common/common.cuh"

namespace kernels::cuda {

/// A pair of numbers as bf16, and what that leaves of them.
struct SplitPair {
    uint32_t high;
    uint32_t low;
};
__device__ __forceinline__ SplitPair splitPair(float first, float second) {
    const auto pack = [](float a, float b) {
        const __nv_bfloat162 pair = __floats2bfloat162_rn(a, b);
        uint32_t bits = 0;
        memcpy(&bits, &pair, sizeof bits);
        return bits;
    };
    const uint32_t high = pack(first, second);
    return {high, pack(first - __uint_as_float(high << 16),
                       second - __uint_as_float(high & 0xffff0000U))};
}

/// This lane's part of the right operand: four ranks of its column in two pairs. Columns stand in
/// pairs for the same chunks, even ones for what bf16 holds of their sum, odd ones for what it
/// leaves. Zero where there is no such rank.
struct RankValues {
    uint32_t pairs[2];
};

/// Columns of A h that are collected at once: the chunks of a tile of ranks lie together in them.
__device__ __forceinline__ int columnsAtOnce(const ProjectKernelArgs& a) {
    return a.lora_shift == 0 ? kLoraTileColumns / 2 : kLoraTileColumns;
}
/// The lane's column of A h among those from `first` on. One chunk: two columns of the operand are
/// the same one.
__device__ __forceinline__ int columnOf(const ProjectKernelArgs& a, int first) {
    const int lane = static_cast<int>(threadIdx.x) & 31;
    return first + (lane >> (a.lora_shift == 0 ? 3 : 2));
}

/// columnsAtOnce() columns of A h of the whole grid.
struct RankPackets {
    const uint64_t* at; ///< This lane's first one.
    int tile;           ///< The tile of its column.
    int shift;          ///< log2 of the chunks of a tile.
    uint32_t published; ///< Bits of its four: what nobody publishes is zero.

    __device__ __forceinline__ RankPackets(const ProjectKernelArgs& a, int first);
    /// Waits for them and adds the chunks of each rank.
    __device__ __forceinline__ RankValues take(uint32_t tag) const;
};

__device__ __forceinline__ RankPackets::RankPackets(const ProjectKernelArgs& a, int first)
    : shift(a.lora_shift) {
    const int lane = static_cast<int>(threadIdx.x) & 31;
    const int column = columnOf(a, first);
    at = a.lora_slots +
         (column / kLoraTileColumns * 128 + column % kLoraTileColumns * 4 + (lane & 3)) * kUnitSlot;
    tile = column >> shift;
    published = tile < a.lora_tiles ? 0xfU : 0U;
    if (a.lora_is_ragged != 0 && published != 0) {
        int t = 0;
        while (t + 1 < a.lora_count && tile >= a.lora[t + 1].tile) {
            ++t;
        }
        const int left = a.lora[t].rank - (tile - a.lora[t].tile) * kLoraTileRanks;
        const bool is_wide = a.lora[t].b_type == kElementF32;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const int k = is_wide ? i * 4 + (lane & 3) : (i & 1) + (lane & 3) * 2 + (i >> 1) * 8;
            published &= k < left ? 0xfU : ~(1U << i);
        }
    }
}

__device__ __forceinline__ RankValues RankPackets::take(uint32_t tag) const {
    const int lane = static_cast<int>(threadIdx.x) & 31;
    Tagged v[4];
    do {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            v[i] = {0.0F, tag};
            if ((published >> i & 1U) != 0) {
                v[i] = loadTagged(at + i * 32 * kUnitSlot);
            }
        }
    } while (v[0].tag != tag || v[1].tag != tag || v[2].tag != tag || v[3].tag != tag);
    __syncwarp();
    // Chunks of a tile are neighbours: 1, 2, 4 or 8 columns.
#pragma unroll
    for (int chunks = 8; chunks > 1; chunks /= 2) {
        if (1 << shift >= chunks) {
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                v[i].value += __shfl_xor_sync(0xffffffffU, v[i].value, 2 * chunks);
            }
        }
    }
    const SplitPair first_pair = splitPair(v[0].value, v[1].value);
    const SplitPair second_pair = splitPair(v[2].value, v[3].value);
    const bool is_low = (lane & 4) != 0;
    return {
        {is_low ? first_pair.low : first_pair.high, is_low ? second_pair.low : second_pair.high}};
}

/// 16 rows of B, 16 ranks of each, as a left operand: rows lane / 4 and those eight further of two
/// pairs of ranks, in the lanes' order of them (packetOfRank()). low: what bf16 leaves.
struct RankTile {
    uint32_t high[4];
    uint32_t low[4];
};

/// from: address of this lane's row (of lanes i and i + 16 row i) and its 16 bytes; next: from
/// there to those eight ranks further (fp32).
__device__ __forceinline__ RankTile loadTile(int type, uint32_t from, int next) {
    RankTile tile = {};
    loadMatrix4(tile.high, from);
    if (type == kElementBf16) {
        return tile;
    }
    float2 pairs[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        pairs[i] = __half22float2(asHalf2(tile.high[i]));
    }
    if (type == kElementF32) {
        // A tile of 16 bytes has four ranks: i and i + 4 are a pair.
        uint32_t more[4];
        loadMatrix4(more, from + next);
        const auto pairOf = [](uint32_t a, uint32_t b) {
            return make_float2(__uint_as_float(a), __uint_as_float(b));
        };
        pairs[0] = pairOf(tile.high[0], tile.high[2]);
        pairs[1] = pairOf(tile.high[1], tile.high[3]);
        pairs[2] = pairOf(more[0], more[2]);
        pairs[3] = pairOf(more[1], more[3]);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const SplitPair split = splitPair(pairs[i].x, pairs[i].y);
        tile.high[i] = split.high;
        tile.low[i] = split.low;
    }
    return tile;
}

/// The block's rows of B times a tile of ranks: everything about it that needs no sums, as what
/// stands between these and results is on everybody's way.
struct TileRows {
    RankTile tile; ///< The first 16 rows.
    uint32_t from; ///< Where the lane's row of them lies, as loadTile() takes it,
    uint32_t last; ///< and the block's last one: behind it is nothing to read.
    int next;
    int row_bytes;
    int rows;
    int type;
    int left;     ///< Rows from the lane's first one on; 0: the lane has none.
    uint32_t own; ///< Bits of the values of the lane's column: all where it is of this tile.
    float* to;    ///< The lane's first row's sum.
    bool is_more; ///< There are sums already.

    /// own_tile: of the lane's column of A h, counted as the job's; shift: log2 of the chunks of a
    /// tile; work: the work memory; sums: of the step's rows (updatesOf()).
    __device__ __forceinline__
    TileRows(const UnitJob& job, int own_tile, int shift, const char* work, float* sums)
        : row_bytes(job.row_bytes), rows(job.rows), type(job.type), is_more(job.is_more != 0) {
        const int lane = static_cast<int>(threadIdx.x) & 31;
        // Behind a row's last rank is nothing to read: what is read instead is times zero.
        const int more = (lane & 16) < job.left_bytes ? lane & 16 : 0;
        next = more + 32 < job.left_bytes ? 32 : 0;
        const uint32_t first = sharedAddress(work) + job.b + more;
        last = first + (rows - 1) * row_bytes;
        from = first + (lane & 15) * row_bytes;
        from = from < last ? from : last;
        tile = loadTile(type, from, next);
        own = own_tile == job.tile ? 0xffffffffU : 0U;
        // One of every four lanes has the first two of the tile's columns of the operand.
        const int own_pair = shift == 0 ? job.tile : job.tile << shift >> 1;
        left = (lane & 3) == own_pair ? rows - (lane >> 2) : 0;
        to = sums + job.to + (lane >> 2);
    }

    /// Multiplies up to 16 rows that have no sums yet: straight on.
    __device__ __forceinline__ void multiplyFew(const RankValues& all) const {
        const uint32_t first = all.pairs[0] & own;
        const uint32_t second = all.pairs[1] & own;
        float c[4] = {};
        multiplyAdd(c, tile.high, first, second);
        if (type != kElementBf16) {
            multiplyAdd(c, tile.low, first, second);
        }
        if (left > 0) {
            to[0] = c[0] + c[1];
        }
        if (left > 8) {
            to[8] = c[2] + c[3];
        }
    }

    /// Multiplies any number of rows.
    __device__ __forceinline__ void multiply(const RankValues& all) {
        const bool is_bf16 = type == kElementBf16;
        const uint32_t first = all.pairs[0] & own;
        const uint32_t second = all.pairs[1] & own;
#pragma unroll 1
        for (;;) {
            float c[4] = {};
            multiplyAdd(c, tile.high, first, second);
            if (!is_bf16) {
                multiplyAdd(c, tile.low, first, second);
            }
            rows -= 16;
            if (rows > 0) {
                // The next rows are read while these are multiplied.
                from += 16 * row_bytes;
                from = from < last ? from : last;
                tile = loadTile(type, from, next);
            }
            // Rows lane / 4 and those eight further, in two columns.
            float low = c[0] + c[1];
            float high = c[2] + c[3];
            if (is_more) {
                __syncwarp(); // of the tile before they are other lanes'
                if (left > 0) {
                    low += to[0];
                }
                if (left > 8) {
                    high += to[8];
                }
            }
            if (left > 0) {
                to[0] = low;
            }
            if (left > 8) {
                to[8] = high;
            }
            if (rows <= 0) {
                break;
            }
            left -= 16;
            to += 16;
        }
    }
};

} // namespace kernels::cuda
