// SPDX-License-Identifier: Apache-2.0
// One projection of stream.cu: the input as fp16, the block's rows times it in tiles of 16
// from the ring, and what is done with the sums. The warps share the columns of every tile, unit by
// unit, so that a block with two rows is as busy as one with two hundred.
#pragma once

#include "kernels/cuda/device/stream_lora.cuh"
#include "kernels/cuda/device/weight_ring.cuh"

namespace kernels::cuda {

/// Tiles [first, end) of the block: sums of this warp's columns into w.partial. A warp takes units
/// `warp` and `warp` + 12 of every chunk. The loop is bound by its instructions: whatever can be is
/// outside, and nothing branches that need not. HAS_REST: a row's last chunk is not a whole one.
template <bool IS_FOUR_BIT, bool HAS_REST>
__device__ __forceinline__ void multiplyTiles(const ProjectKernelArgs& a,
                                              const StreamWork& w,
                                              WeightRing& ring,
                                              const CodeTable& table,
                                              int first,
                                              int end) {
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x & 31;
    const HalfInput input = halfInput(w, isWide(a));
    const int whole = a.units / kChunkUnits;
    const int rest = a.units - whole * kChunkUnits;
    const int chunks = whole + (HAS_REST && rest > 0 ? 1 : 0);
    const int four = lane >> 2 & 3; // of rows, and which of them: tileRow()
    const int in_four = lane >> 4;
    const uint32_t lane_at = (lane & 3) * 8 + warp * kUnitBytes;
    const uint32_t whole_at =
        four * fourRowsBytes(kChunkUnits) + in_four * kChunkUnits * kUnitBytes + lane_at;
    const uint32_t rest_at = four * fourRowsBytes(rest) + in_four * rest * kUnitBytes + lane_at;
    const uint32_t absmax_at = kChunkCodeBytes + (lane >> 2) * 8 + warp * (kTileRows * 4);
    // Blocks of 64 columns: from the warp's first unit to its second, which is as many chunks'
    // half.
    constexpr uint32_t kBlocks = IS_FOUR_BIT ? kComputeWarps : kComputeWarps / 2;
    const uint32_t block = IS_FOUR_BIT ? warp : warp >> 1;
    const uint32_t first_x =
        input.at + block * input.stride + (IS_FOUR_BIT ? 0 : (warp & 1) * input.half);
    const uint32_t first_scale = input.scales + block * 4;
    const uint32_t next_x = kBlocks * input.stride;
    const uint32_t next_scale = kBlocks * 4;
    float* to = w.partial + tileRow(lane >> 2) * kComputeWarps + warp;
    uint4 x[2][2] = {};
#pragma unroll 1
    for (int tile = first; tile < end; ++tile) {
        float sums[2] = {};
        uint32_t x_at = first_x;
        uint32_t scale_at = first_scale;
#pragma unroll 1
        for (int c = 0; c < chunks; ++c) {
            const bool is_whole = !HAS_REST || c < whole;
            const bool has_second = is_whole || warp + kComputeWarps < rest;
            const uint32_t at = ring.chunkAddress();
            const uint32_t codes = at + (is_whole ? whole_at : rest_at);
            const uint32_t two_rows = 2 * kUnitBytes * (is_whole ? kChunkUnits : rest);
            const uint32_t second = has_second ? kComputeWarps : 0;
            ring.full().wait(ring.parity);
            if (is_whole || warp < rest) {
                const uint2 first0 = loadShared8(codes);
                const uint2 second0 = loadShared8(codes + two_rows);
                const uint2 first1 = loadShared8(codes + second * kUnitBytes);
                const uint2 second1 = loadShared8(codes + second * kUnitBytes + two_rows);
                const uint32_t x1_at = x_at + (has_second ? next_x : 0);
                loadShared16If(input.has_column, x[0][0], x_at);
                loadShared16If(input.has_column, x[1][0], x1_at);
                if (IS_FOUR_BIT) {
                    loadShared16If(input.has_column, x[0][1], x_at + input.half);
                    loadShared16If(input.has_column, x[1][1], x1_at + input.half);
                }
                const float scale0 = __uint_as_float(loadShared(scale_at));
                const float scale1 =
                    has_second ? __uint_as_float(loadShared(scale_at + next_scale)) : 0.0F;
                float sum0[4] = {};
                float sum1[4] = {};
                if (IS_FOUR_BIT) {
                    const uint2 absmax0 = loadShared8(at + absmax_at);
                    const uint2 absmax1 = loadShared8(at + absmax_at + second * (kTileRows * 4));
                    multiplyCodes(sum0, table, first0, second0, x[0]);
                    multiplyCodes(sum1, table, first1, second1, x[1]);
                    addScaled(sum0, __uint_as_float(absmax0.x) * scale0,
                              __uint_as_float(absmax0.y) * scale0, sums);
                    addScaled(sum1, __uint_as_float(absmax1.x) * scale1,
                              __uint_as_float(absmax1.y) * scale1, sums);
                } else {
                    multiplyBytes(sum0, first0, second0, x[0][0]);
                    multiplyBytes(sum1, first1, second1, x[1][0]);
                    addScaled(sum0, scale0, scale0, sums);
                    addScaled(sum1, scale1, scale1, sums);
                }
            } else {
                __syncwarp();
            }
            ring.release();
            x_at += 2 * next_x;
            scale_at += 2 * next_scale;
        }
        if ((lane & 3) == 0) {
            to[0] = sums[0];
            to[2 * kComputeWarps] = sums[1];
        }
        to += kTileRows * kComputeWarps;
    }
}

/// What a warp multiplies with one of its units of 4-bit weights.
struct UnitInput {
    uint4 x[2];
    float scale;
};

/// COUNT units of a chunk, 12 units from one to the next: the lane's two rows times the input,
/// added to `sums`. All codes are on their way before one is needed.
template <int COUNT>
__device__ __forceinline__ void multiplyUnits(float (&sums)[2],
                                              const CodeTable& table,
                                              uint32_t codes,
                                              uint32_t two_rows,
                                              uint32_t absmax,
                                              const UnitInput* input) {
    uint2 first[COUNT];
    uint2 second[COUNT];
    uint2 scales[COUNT];
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
        first[i] = loadShared8(codes + i * kComputeWarps * kUnitBytes);
        second[i] = loadShared8(codes + i * kComputeWarps * kUnitBytes + two_rows);
        scales[i] = loadShared8(absmax + i * kComputeWarps * (kTileRows * 4));
    }
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
        float sum[4] = {};
        multiplyCodes(sum, table, first[i], second[i], input[i].x);
        addScaled(sum, __uint_as_float(scales[i].x) * input[i].scale,
                  __uint_as_float(scales[i].y) * input[i].scale, sums);
    }
}

/// multiplyTiles() for 4-bit rows of one or two chunks: their input stays in registers.
template <int CHUNKS>
__device__ __forceinline__ void multiplyShortRows(const ProjectKernelArgs& a,
                                                  const StreamWork& w,
                                                  WeightRing& ring,
                                                  const CodeTable& table,
                                                  int first,
                                                  int end) {
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x & 31;
    const int units = a.units;
    UnitInput x[2 * CHUNKS] = {};
    {
        const HalfInput input = halfInput(w, false);
#pragma unroll
        for (int i = 0; i < 2 * CHUNKS; ++i) {
            const int unit = i * kComputeWarps + warp;
            if (unit < units) {
                const uint32_t at = input.at + unit * input.stride;
                loadShared16If(input.has_column, x[i].x[0], at);
                loadShared16If(input.has_column, x[i].x[1], at + input.half);
                x[i].scale = __uint_as_float(loadShared(input.scales + unit * 4));
            }
        }
    }
    const int four = lane >> 2 & 3; // of rows, and which of them: tileRow()
    const int in_four = lane >> 4;
    const uint32_t lane_at = (lane & 3) * 8 + warp * kUnitBytes;
    const uint32_t absmax_at = kChunkCodeBytes + (lane >> 2) * 8 + warp * (kTileRows * 4);
    float* to = w.partial + tileRow(lane >> 2) * kComputeWarps + warp;
#pragma unroll 1
    for (int tile = first; tile < end; ++tile) {
        float sums[2] = {};
#pragma unroll
        for (int c = 0; c < CHUNKS; ++c) {
            const int row_units = c < CHUNKS - 1 ? kChunkUnits : units - c * kChunkUnits;
            const uint32_t at = ring.chunkAddress();
            const uint32_t codes =
                at + lane_at + four * fourRowsBytes(row_units) + in_four * row_units * kUnitBytes;
            const uint32_t two_rows = 2 * row_units * kUnitBytes;
            ring.full().wait(ring.parity);
            if (warp + kComputeWarps < row_units) {
                multiplyUnits<2>(sums, table, codes, two_rows, at + absmax_at, x + 2 * c);
            } else if (warp < row_units) {
                multiplyUnits<1>(sums, table, codes, two_rows, at + absmax_at, x + 2 * c);
            } else {
                __syncwarp();
            }
            ring.release();
        }
        if ((lane & 3) == 0) {
            to[0] = sums[0];
            to[2 * kComputeWarps] = sums[1];
        }
        to += kTileRows * kComputeWarps;
    }
}

/// Sum of one row over the warps; `row` counts from the first tile of the pass.
__device__ __forceinline__ float rowSum(const StreamWork& w, int row) {
    const float4* const at = reinterpret_cast<const float4*>(w.partial + row * kComputeWarps);
    float sum = 0.0F;
#pragma unroll
    for (int i = 0; i < kComputeWarps / 4; ++i) {
        const float4 v = at[i];
        sum += (v.x + v.y) + (v.z + v.w);
    }
    return sum;
}

/// x times the logistic function of 2 sqrt(2 / pi) (x + 0.044715 x^3): the tanh form of GELU.
__device__ __forceinline__ float geluFast(float x) {
    constexpr float kTwoRootTwoOverPi = 1.5957691216057308F;
    const float inner = kTwoRootTwoOverPi * (x + 0.044715F * x * x * x);
    return __fdividef(x, 1.0F + __expf(-inner));
}

/// Where a thread's result goes, known before there is anything to multiply.
struct ResultRow {
    bool is_there;
    int weight;
    int at;                    ///< Row of the weight;
    int local;                 ///< counted from the block's first.
    int packet;                ///< Number among all results of the step.
    float scale, second_scale; ///< Of 8-bit weights; of a pair's second weight.
    float multiply;
};

/// i: row of the pass, counted from tile `first`.
__device__ __forceinline__ ResultRow
resultRow(const ProjectKernelArgs& a, const TileMap& map, int first, int rows, int i) {
    ResultRow r{};
    const bool is_pair = a.output == kOutputGeluPair;
    const int tile = first + (i >> 4);
    r.weight = is_pair ? 0 : map.weightOf(tile);
    const int local = i + (first - map.tileOf(r.weight)) * kTileRows;
    r.is_there = i >= 0 && i < rows && local < map.rowsOfWeight(r.weight);
    r.at = map.fromOf(r.weight) + local;
    r.local = local;
    r.packet = r.at;
    if (r.weight > 0) {
        r.packet +=
            static_cast<int>(a.w[0].rows) + (r.weight > 1 ? static_cast<int>(a.w[1].rows) : 0);
    }
    r.scale = 1.0F;
    r.second_scale = 1.0F;
    if (r.is_there && a.w[0].format == kFormatInt8Row) {
        r.scale = a.w[r.weight].row_scale[r.at];
        r.second_scale = is_pair ? a.w[1].row_scale[r.at] : 1.0F;
    }
    if (r.is_there && a.output == kOutputGeluMultiply) {
        r.multiply = a.multiply[r.at];
    }
    return r;
}

/// Rows of a warp that publishes packets of three: the last two lanes have none.
constexpr int kWideRows = 30;

__device__ __forceinline__ void streamProject(const ProjectKernelArgs& a,
                                              char* memory,
                                              float4* row,
                                              const char* norms,
                                              int norm_bytes,
                                              WeightRing& ring,
                                              const CodeTable& table,
                                              const UnitSignals& units,
                                              const Exchange& exchange,
                                              int step,
                                              const StepClocks& clocks) {
    const StreamWork w = streamWork(memory, a);
    const bool is_pair = a.output == kOutputGeluPair;
    const bool is_four_bit = a.w[0].format != kFormatInt8Row;
    const bool has_units = a.lora_units > 0;
    const bool is_wide_result = a.publish == kLinkWide;
    const int lane = threadIdx.x & 31;
    // A thread's first row of a pass, and from that to its next one.
    const int own = !is_wide_result    ? static_cast<int>(threadIdx.x)
                    : lane < kWideRows ? static_cast<int>(threadIdx.x) / 32 * kWideRows + lane
                                       : -(1 << 20);
    const int stride = is_wide_result ? kWideRows * kComputeWarps : kComputeThreads;
    if (has_units && threadIdx.x == 0) {
        units.begun().arrive();
    }
    int tiles = 0;
#pragma unroll 1
    for (int first = 0; first < tiles || first == 0; first += a.pass_tiles) {
        // Made anew where it is needed: nobody has registers for it while products are made.
        const TileMap map(a, exchange.block);
        tiles = map.first[3];
        const int end = tiles < first + a.pass_tiles ? tiles : first + a.pass_tiles;
        // Pairs come in one pass: the first weight's rows.
        const int rows = is_pair ? map.rows[0] : (end - first) * kTileRows;
        ResultRow r = resultRow(a, map, first, rows, own);
        if (first == 0) {
            makePlanes(a, w, row, norms, norm_bytes, exchange, step, clocks);
            if (has_units && threadIdx.x == 0) {
                units.input().arrive();
            }
            clocks.note(2);
        } else {
            syncCompute(); // the sums of the pass before have been read
        }
        if (!is_four_bit) {
            multiplyTiles<false, true>(a, w, ring, table, first, end);
        } else if (a.units <= kChunkUnits) {
            multiplyShortRows<1>(a, w, ring, table, first, end);
        } else if (a.units <= 2 * kChunkUnits) {
            multiplyShortRows<2>(a, w, ring, table, first, end);
        } else if (a.units % kChunkUnits == 0) {
            multiplyTiles<true, false>(a, w, ring, table, first, end);
        } else {
            multiplyTiles<true, true>(a, w, ring, table, first, end);
        }
        if (has_units && first == 0) {
            units.ready().wait(static_cast<uint32_t>(a.lora_turn));
        }
        syncCompute();
        clocks.note(3);
#pragma unroll 1
        for (int base = 0; base < rows; base += stride) {
            const int i = base + own;
            if (base > 0) {
                r = resultRow(a, TileMap(a, exchange.block), first, rows, i);
            }
            float value = 0.0F;
            if (r.is_there) {
                float factor = 1.0F;
                if (a.norm.data != nullptr) {
                    factor = rsqrtf(sumOfWarps(w.buffer + 64) * a.inverse_cols + a.eps);
                }
                value = rowSum(w, i) * factor * r.scale;
                if (has_units) {
                    value = fmaf(factor, updateOf(a, memory, r.weight, r.local), value);
                }
                if (a.output != kOutputStore) {
                    float other = r.multiply;
                    if (is_pair) {
                        other = rowSum(w, tiles / 2 * kTileRows + i) * factor * r.second_scale;
                        if (has_units) {
                            other = fmaf(factor, updateOf(a, memory, 1, r.local), other);
                        }
                    }
                    value = geluFast(value) * other;
                }
                if (a.publish == kLinkPackets) {
                    exchange.publish(step, r.packet, value);
                }
            }
            if (is_wide_result) {
                const float next = __shfl_down_sync(0xffffffffU, value, 1);
                const float third = __shfl_down_sync(0xffffffffU, value, 2);
                if (r.is_there && lane % 3 == 0) {
                    uint2* const to = exchange.widePackets(a.wide_region);
                    const uint32_t mark = exchange.wideMark(a.wide_region, a.publish_use);
                    exchange.publishWide(to, mark, r.at / 3, value, next, third);
                    // One more fills the last one's pair.
                    if (r.at + 3 >= a.outputs && (r.at / 3 & 1) == 0) {
                        exchange.publishWide(to, mark, r.at / 3 + 1, 0.0F, 0.0F, 0.0F);
                    }
                }
            }
            if (r.is_there) {
                a.y[r.weight][r.at] = value; // also for who reads it after the launch
            }
        }
    }
    if (a.publish == kLinkFlags) {
        exchange.raiseFlag(step);
    }
}

} // namespace kernels::cuda
