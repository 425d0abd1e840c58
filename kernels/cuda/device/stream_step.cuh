// SPDX-License-Identifier: Apache-2.0
// One projection of stream.cu: the input as byte planes, the block's rows times it in tiles of 16
// from the ring, and what is done with the sums. The warps share the columns of every tile, unit by
// unit, so that a block with two rows is as busy as one with two hundred.
#pragma once

#include "kernels/cuda/device/stream_lora.cuh"
#include "kernels/cuda/device/weight_ring.cuh"

namespace kernels::cuda {

/// Tiles [first, end) of the block: sums of this warp's columns into w.partial.
__device__ __forceinline__ void multiplyTiles(const ProjectKernelArgs& a,
                                              const StreamWork& w,
                                              WeightRing& ring,
                                              int first,
                                              int end,
                                              const StepClocks& clocks) {
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x & 31;
    const int g = lane >> 2;
    const bool is_four_bit = a.w[0].format != kFormatInt8Row;
    const CodePlanes planes = a.w[0].format == kFormatFp4 ? kFp4Planes : kNf4Planes;
    const PlaneInput input = planeInput(w, is_four_bit);
    const int row_units = a.units;
    const int chunk_units = a.chunk_units;
    float* to = w.partial + g * kComputeWarps + warp;
    long long waited = 0;
#pragma unroll 1
    for (int tile = first; tile < end; ++tile, to += kTileRows * kComputeWarps) {
        float sums[2] = {};
        int unit = warp; // of the row, this warp's next
#pragma unroll 1
        for (int chunk = 0; chunk < row_units; chunk += chunk_units) {
            const int left = row_units - chunk;
            const int units = left < chunk_units ? left : chunk_units;
            const int stride = chunkRowBytes(units);
            const uint32_t at = sharedAddress(ring.chunk());
            const uint32_t codes = at + g * stride + (lane & 3) * 8 - chunk * kUnitBytes;
            const uint32_t scales = at + kChunkCodeBytes + g * 8 - chunk * (kTileRows * 4);
            const long long before = clocks.now();
            ring.full().wait(ring.parity);
            waited += clocks.now() - before;
            if (is_four_bit) {
#pragma unroll 1
                for (; unit < chunk + units; unit += 2 * kComputeWarps) {
                    // Two units at a time where there are two: one's products hide the other's.
                    const int other = unit + kComputeWarps;
                    const bool has_other = other < chunk + units;
                    CodeSums sum;
                    CodeSums more;
                    const uint32_t codes0 = codes + unit * kUnitBytes;
                    sum.multiply(planes, loadShared8(codes0), loadShared8(codes0 + 8 * stride),
                                 loadShared16(input.at + unit * input.stride));
                    if (has_other) {
                        const uint32_t codes1 = codes + other * kUnitBytes;
                        more.multiply(planes, loadShared8(codes1), loadShared8(codes1 + 8 * stride),
                                      loadShared16(input.at + other * input.stride));
                    }
                    sum.addTo(sums, __uint_as_float(loadShared(input.scales + unit * 4)),
                              loadShared8(scales + unit * (kTileRows * 4)));
                    if (!has_other) {
                        unit += kComputeWarps;
                        break;
                    }
                    more.addTo(sums, __uint_as_float(loadShared(input.scales + other * 4)),
                               loadShared8(scales + other * (kTileRows * 4)));
                }
            } else {
#pragma unroll 2
                for (; unit < chunk + units; unit += kComputeWarps) {
                    const int block = unit >> 1;
                    const uint2 x =
                        loadShared8(input.at + block * input.stride + (unit & 1) * input.half);
                    const float x_scale = __uint_as_float(loadShared(input.scales + block * 4));
                    multiplyUnit8(codes + unit * kUnitBytes, 8 * stride, x, x_scale, sums);
                }
            }
            __syncwarp();
            if (lane == 0) {
                ring.empty().arrive();
            }
            ring.next();
        }
        if ((lane & 3) == 0) {
            to[0] = sums[0];
            to[8 * kComputeWarps] = sums[1];
        }
    }
    clocks.add(5, waited);
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
                                              const Exchange& exchange,
                                              int step,
                                              const StepClocks& clocks) {
    const StreamWork w = streamWork(memory, a.cols, a.pass_tiles);
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
        publishPlanes(a, w, streamUnits(a, w), exchange);
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
        multiplyTiles(a, w, ring, first, end, clocks);
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
            const float norm = is_four_bit ? factor * (1.0F / kPlaneScale) : factor;
            float value = rowSum(w, i) * norm * (is_four_bit ? 1.0F : a.w[weight].row_scale[at]);
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
                    other = rowSum(w, map.first[1] * kTileRows + i) * norm *
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
