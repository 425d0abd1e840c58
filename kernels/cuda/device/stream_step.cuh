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
    const int four = lane >> 2 & 3;  // of rows, and which of them: tileRow()
    const int in_four = lane >> 4;
    const uint32_t lane_at = (lane & 3) * 8 + warp * kUnitBytes;
    const uint32_t whole_at =
        four * fourRowsBytes(kChunkUnits) + in_four * kChunkUnits * kUnitBytes + lane_at;
    const uint32_t rest_at = four * fourRowsBytes(rest) + in_four * rest * kUnitBytes + lane_at;
    const uint32_t absmax_at = kChunkCodeBytes + (lane >> 2) * 8 + warp * (kTileRows * 4);
    // Blocks of 64 columns: from the warp's first unit to its second, which is as many chunks' half.
    constexpr uint32_t kBlocks = IS_FOUR_BIT ? kComputeWarps : kComputeWarps / 2;
    const uint32_t block = IS_FOUR_BIT ? warp : warp >> 1;
    const uint32_t first_x =
        input.at + block * input.stride + (IS_FOUR_BIT ? 0 : (warp & 1) * input.half);
    const uint32_t first_scale = input.scales + block * input.scale_stride;
    const uint32_t next_x = kBlocks * input.stride;
    const uint32_t next_scale = kBlocks * input.scale_stride;
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

__device__ __forceinline__ void streamProject(const ProjectKernelArgs& a,
                                              char* memory,
                                              float4* row,
                                              const char* norms,
                                              int norm_bytes,
                                              WeightRing& ring,
                                              const CodeTable& table,
                                              UnitSignals& units,
                                              const Exchange& exchange,
                                              int step,
                                              const StepClocks& clocks) {
    const StreamWork w = streamWork(memory, a);
    const TileMap map(a, exchange.block);
    const bool is_pair = a.output == kOutputGeluPair;
    const bool is_four_bit = a.w[0].format != kFormatInt8Row;
    const int second = static_cast<int>(a.w[0].rows);
    const int third = second + (a.count > 1 ? static_cast<int>(a.w[1].rows) : 0);
    const bool has_units = a.lora_units > 0;
    if (has_units && threadIdx.x == 0) {
        units.begun().arrive();
    }
    makePlanes(a, w, row, norms, norm_bytes, exchange, step, clocks);
    if (has_units && threadIdx.x == 0) {
        units.input().arrive();
    }
    clocks.note(2);
#pragma unroll 1
    for (int first = 0; first < map.first[3]; first += a.pass_tiles) {
        const int end = map.first[3] < first + a.pass_tiles ? map.first[3] : first + a.pass_tiles;
        if (first > 0) {
            syncCompute(); // the sums of the pass before have been read
        }
        if (!is_four_bit) {
            multiplyTiles<false, true>(a, w, ring, table, first, end);
        } else if (a.units % kChunkUnits == 0) {
            multiplyTiles<true, false>(a, w, ring, table, first, end);
        } else {
            multiplyTiles<true, true>(a, w, ring, table, first, end);
        }
        if (has_units && first == 0) {
            units.ready().wait(units.parity);
            units.parity ^= 1U;
        }
        syncCompute();
        clocks.note(3);
        // Pairs come in one pass: the first weight's rows.
        const int rows = is_pair ? map.rows[0] : (end - first) * kTileRows;
#pragma unroll 1
        for (int i = threadIdx.x; i < rows; i += kComputeThreads) {
            const int tile = first + (i >> 4);
            const int weight = is_pair ? 0 : map.weightOf(tile);
            const int local = i + (first - map.tileOf(weight)) * kTileRows;
            if (local >= map.rowsOfWeight(weight)) {
                continue;
            }
            const int at = map.fromOf(weight) + local;
            float factor = 1.0F;
            if (a.norm.data != nullptr) {
                factor = rsqrtf(sumOfWarps(w.buffer + 64) * a.inverse_cols + a.eps);
            }
            float value =
                rowSum(w, i) * factor * (is_four_bit ? 1.0F : a.w[weight].row_scale[at]);
            if (has_units) {
                value = fmaf(factor, unitUpdateOf(a, memory + a.lora_at, weight, local), value);
            }
            if (a.output != kOutputStore) {
                float other = 0.0F;
                if (is_pair) {
                    other = rowSum(w, map.first[1] * kTileRows + i) * factor *
                            (is_four_bit ? 1.0F : a.w[1].row_scale[at]);
                    if (has_units) {
                        other = fmaf(factor, unitUpdateOf(a, memory + a.lora_at, 1, i), other);
                    }
                } else {
                    other = a.multiply[at];
                }
                value = geluFast(value) * other;
            }
            a.y[weight][at] = value; // also for who reads it after the launch
            if (a.publish == kLinkWide) {
                w.results[i] = value;
            } else if (a.publish == kLinkPackets) {
                exchange.publish(step,
                                 at + (weight == 0   ? 0
                                       : weight == 1 ? second
                                                     : third),
                                 value);
            }
        }
    }
    if (a.publish == kLinkFlags) {
        exchange.raiseFlag(step);
    } else if (a.publish == kLinkWide) {
        syncCompute();
        uint2* const to = exchange.widePackets(a.wide_region) + map.from[0] / 3;
        const uint32_t mark = exchange.wideMark(a.wide_region, a.publish_use);
        // The last packet may be short, and one more fills its pair.
        const int packets = (map.rows[0] + 2) / 3;
        for (int i = threadIdx.x; i < packets; i += kComputeThreads) {
            const bool has[2] = {3 * i + 1 < map.rows[0], 3 * i + 2 < map.rows[0]};
            exchange.publishWide(to, mark, i, w.results[3 * i],
                                 has[0] ? w.results[3 * i + 1] : 0.0F,
                                 has[1] ? w.results[3 * i + 2] : 0.0F);
        }
        const bool is_last = map.rows[0] > 0 && map.from[0] + map.rows[0] == a.outputs;
        if (is_last && threadIdx.x == 0 && ((map.from[0] / 3 + packets) & 1) != 0) {
            exchange.publishWide(to, mark, packets, 0.0F, 0.0F, 0.0F);
        }
    }
}

} // namespace kernels::cuda
