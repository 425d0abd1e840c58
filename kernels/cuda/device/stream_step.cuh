// SPDX-License-Identifier: Apache-2.0
// One projection of stream.cu: the input as fp16, the block's rows times it in tiles of 16
// from the ring, and what is done with the sums. The warps share the columns of every tile, unit by
// unit, so that a block with two rows is as busy as one with two hundred.
#pragma once

#include "kernels/cuda/device/stream_lora.cuh"
#include "kernels/cuda/device/weight_ring.cuh"

namespace kernels::cuda {

/// Tiles [first, end) of the block: sums of this warp's columns into w.partial. A warp takes units
/// `warp` and `warp` + 12 of every chunk. Written for few instructions: the loop is bound by them.
__device__ __forceinline__ void multiplyTiles(const ProjectKernelArgs& a,
                                              const StreamWork& w,
                                              WeightRing& ring,
                                              const CodeTable& table,
                                              int first,
                                              int end) {
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x & 31;
    const bool is_four_bit = a.w[0].format != kFormatInt8Row;
    const HalfInput input = halfInput(w, isWide(a));
    const int row_units = a.units;
    // What is the same for all whole chunks.
    const uint32_t codes_at = (lane >> 2) * chunkRowBytes(kChunkUnits) + (lane & 3) * 8 +
                              warp * kUnitBytes;
    const uint32_t short_codes_at =
        (lane >> 2) * chunkRowBytes(row_units % kChunkUnits) + (lane & 3) * 8 + warp * kUnitBytes;
    const uint32_t scales_at = kChunkCodeBytes + (lane >> 2) * 8 + warp * (kTileRows * 4);
    float* to = w.partial + (lane >> 2) * kComputeWarps + warp;
    UnitInput x[2] = {};
    float sums[2] = {};
    int unit = warp; // of the row, the first one's
    const int last_chunk = row_units - kChunkUnits; // behind this unit a chunk is the row's last
    int tile = first;
    bool is_fresh = true; // the input is not there yet
#pragma unroll 1
    while (tile < end) {
        const int chunk = unit - warp;
        const bool is_whole = chunk <= last_chunk;
        const uint32_t at = ring.chunkAddress();
        const uint32_t codes = at + (is_whole ? codes_at : short_codes_at);
        const uint32_t row8 =
            8 * (is_whole ? chunkRowBytes(kChunkUnits) : chunkRowBytes(row_units % kChunkUnits));
        if (is_fresh) {
            // Also what lies behind the row's end is read: memory of this block, times zero.
            x[0].load(input, unit < row_units ? unit : 0, is_four_bit);
            x[1].load(input, unit + kComputeWarps < row_units ? unit + kComputeWarps : 0,
                      is_four_bit);
            x[1].scale = unit + kComputeWarps < row_units ? x[1].scale : 0.0F;
        }
        ring.full().wait(ring.parity);
        if (unit < row_units) {
            const uint32_t next = unit + kComputeWarps < row_units ? kComputeWarps : 0;
            const uint2 first0 = loadShared8(codes);
            const uint2 second0 = loadShared8(codes + row8);
            const uint2 first1 = loadShared8(codes + next * kUnitBytes);
            const uint2 second1 = loadShared8(codes + next * kUnitBytes + row8);
            float c[2][4] = {};
            if (is_four_bit) {
                const uint2 absmax0 = loadShared8(at + scales_at);
                const uint2 absmax1 = loadShared8(at + scales_at + next * (kTileRows * 4));
                multiplyCodes(c[0], table, first0, second0, x[0].x);
                multiplyCodes(c[1], table, first1, second1, x[1].x);
                addScaled(c[0], x[0].scale, absmax0, sums);
                addScaled(c[1], x[1].scale, absmax1, sums);
            } else {
                const uint2 ones = make_uint2(0x3f800000U, 0x3f800000U);
                multiplyBytes(c[0], first0, second0, x[0].x[0]);
                multiplyBytes(c[1], first1, second1, x[1].x[0]);
                addScaled(c[0], x[0].scale, ones, sums);
                addScaled(c[1], x[1].scale, ones, sums);
            }
        }
        ring.release();
        unit += kChunkUnits;
        if (chunk + kChunkUnits >= row_units) {
            if ((lane & 3) == 0) {
                to[0] = sums[0];
                to[8 * kComputeWarps] = sums[1];
            }
            to += kTileRows * kComputeWarps;
            sums[0] = 0.0F;
            sums[1] = 0.0F;
            is_fresh = row_units > kChunkUnits; // else it stays in registers
            unit = warp;
            ++tile;
        }
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
                                              char* norms,
                                              int norm_bytes,
                                              const TokenStep* next,
                                              WeightRing& ring,
                                              const CodeTable& table,
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
    const int begin = firstOutput(a, exchange.block);
    if (has_units) {
        placeUnits<kComputeThreads>(a, streamUnits(a, w), exchange.block, exchange.grid, begin,
                                    firstOutput(a, exchange.block + 1), exchange.markOf(step));
    }
    makePlanes(a, w, row, norms, norm_bytes, exchange, step, clocks);
    if (has_units) {
        publishPlanes(a, static_cast<int>(memory - dynamicShared()), exchange.block, exchange.grid);
    }
    if (next != nullptr) {
        prefetchNorms(*next, norms, norm_bytes);
    }
    clocks.note(2);
#pragma unroll 1
    for (int first = 0; first < map.first[3]; first += a.pass_tiles) {
        const int end = map.first[3] < first + a.pass_tiles ? map.first[3] : first + a.pass_tiles;
        if (first > 0) {
            syncCompute(); // the sums of the pass before have been read
        }
        multiplyTiles(a, w, ring, table, first, end);
        if (has_units && first == 0) {
            collectUnits<kComputeThreads>(a, streamUnits(a, w));
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
                        float value = rowSum(w, i) * factor * (is_four_bit ? 1.0F : a.w[weight].row_scale[at]);
            if (has_units) {
                const int slot = is_pair ? i
                                         : at +
                                               (weight == 0   ? 0
                                                : weight == 1 ? second
                                                              : third) -
                                               begin;
                value = fmaf(factor, unitUpdateOf(a, streamUnits(a, w), weight, slot), value);
            }
            if (a.output != kOutputStore) {
                float other = 0.0F;
                if (is_pair) {
                    other = rowSum(w, map.first[1] * kTileRows + i) * factor *
                            (is_four_bit ? 1.0F : a.w[1].row_scale[at]);
                    if (has_units) {
                        other = fmaf(factor, unitUpdateOf(a, streamUnits(a, w), 1, map.rows[0] + i),
                                     other);
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
