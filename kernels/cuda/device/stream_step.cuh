// SPDX-License-Identifier: Apache-2.0
// One projection of stream.cu: the input as byte planes, the block's rows times it in tiles of 16
// from the ring, and what is done with the sums. The warps share the columns of every tile, unit by
// unit, so that a block with two rows is as busy as one with two hundred.
#pragma once

#include "kernels/cuda/device/stream_input.cuh"
#include "kernels/cuda/device/weight_ring.cuh"

namespace kernels::cuda {

/// Tiles [first, end) of the block: sums of this warp's columns into w.partial.
template <bool IS_FOUR_BIT>
__device__ __forceinline__ void multiplyTiles(const ProjectKernelArgs& a,
                                              const StreamWork& w,
                                              const CodePlanes& planes,
                                              WeightRing& ring,
                                              int first,
                                              int end,
                                              const StepClocks& clocks) {
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x & 31;
    const int g = lane >> 2;
    const int t = lane & 3;
    const PlaneInput input = planeInput(w, IS_FOUR_BIT);
#pragma unroll 1
    for (int tile = first; tile < end; ++tile) {
        float sums[2] = {};
        int unit = warp; // of the row, this warp's next
#pragma unroll 1
        for (int chunk = 0; chunk < a.units; chunk += a.chunk_units) {
            const int units = a.units - chunk < a.chunk_units ? a.units - chunk : a.chunk_units;
            const int stride = chunkRowBytes(units);
            const long long before = clocks.now();
            ring.full().wait(ring.parity);
            clocks.add(5, clocks.now() - before);
            const uint32_t codes = sharedAddress(ring.chunk()) + g * stride + t * 8;
            const uint32_t scales = sharedAddress(ring.chunk()) + kChunkCodeBytes + g * 8;
#pragma unroll 1
            for (; unit < chunk + units; unit += kComputeWarps) {
                const int at = unit - chunk;
                if constexpr (IS_FOUR_BIT) {
                    const uint4 x = loadShared16(input.at + unit * input.stride);
                    const float x_scale = __uint_as_float(loadShared(input.scales + unit * 4));
                    multiplyUnit4(planes, codes + at * kUnitBytes, 8 * stride, x, x_scale,
                                  loadShared8(scales + at * (kTileRows * 4)), sums);
                } else {
                    const int block = unit >> 1;
                    const uint2 x = loadShared8(input.at + block * input.stride +
                                                (unit & 1) * input.half);
                    const float x_scale = __uint_as_float(loadShared(input.scales + block * 4));
                    multiplyUnit8(codes + at * kUnitBytes, 8 * stride, x, x_scale, sums);
                }
            }
            __syncwarp();
            if (lane == 0) {
                ring.empty().arrive();
            }
            ring.next();
        }
        if (t == 0) {
            float* const to = w.partial + ((tile - first) * kTileRows + g) * kComputeWarps + warp;
            to[0] = sums[0];
            to[8 * kComputeWarps] = sums[1];
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

template <bool IS_FOUR_BIT>
__device__ __forceinline__ void streamProject(const ProjectKernelArgs& a,
                                              char* memory,
                                              float4* row,
                                              WeightRing& ring,
                                              const Exchange& exchange,
                                              int step,
                                              const StepClocks& clocks) {
    const StreamWork w = streamWork(memory, a.cols);
    const TileMap map(a, exchange.block, exchange.grid);
    const bool is_pair = a.output == kOutputGeluPair;
    CodePlanes planes{};
    if (IS_FOUR_BIT) {
        planes = a.w[0].format == kFormatFp4 ? kFp4Planes : kNf4Planes;
    }
    const int begin = firstOutput(a, exchange.block, exchange.grid);
    makePlanes(a, w, row, exchange, step, clocks);
    clocks.note(2);
    for (int first = 0; first < map.first[3]; first += a.pass_tiles) {
        const int end = map.first[3] < first + a.pass_tiles ? map.first[3] : first + a.pass_tiles;
        if (first > 0) {
            syncCompute(); // the sums of the pass before have been read
        }
        multiplyTiles<IS_FOUR_BIT>(a, w, planes, ring, first, end, clocks);
        syncCompute();
        clocks.note(3);
        float factor = IS_FOUR_BIT ? 1.0F / kPlaneScale : 1.0F;
        if (a.input == kInputNorm || a.input == kInputResidualNorm) {
            factor *= rsqrtf(sumOfWarps(w.buffer + 64) / static_cast<float>(a.cols) + a.eps);
        }
        // Pairs come in one pass: the first weight's rows.
        const int rows = is_pair ? map.rows[0] : (end - first) * kTileRows;
        for (int i = threadIdx.x; i < rows; i += kComputeThreads) {
            const int tile = first + i / kTileRows;
            const int weight = is_pair ? 0 : map.weightOf(tile);
            const int local = i - (map.firstOf(weight) - first) * kTileRows;
            if (local >= map.rowsOfWeight(weight)) {
                continue;
            }
            const int at = map.fromOf(weight) + local;
            float value = rowSum(w, i) * factor;
            if (!IS_FOUR_BIT) {
                value *= a.w[weight].row_scale[at];
            }
            if (is_pair) {
                float up = rowSum(w, map.first[1] * kTileRows + i) * factor;
                if (!IS_FOUR_BIT) {
                    up *= a.w[1].row_scale[at];
                }
                value = geluTanh(value) * up;
            } else if (a.output == kOutputGeluMultiply) {
                value = geluTanh(value) * a.multiply[at];
            }
            if (a.publish == kLinkPackets) {
                int before = weight > 0 ? static_cast<int>(a.w[0].rows) : 0;
                before += weight > 1 ? static_cast<int>(a.w[1].rows) : 0;
                exchange.publish(step, before + at, value);
            } else {
                a.y[weight][at] = value;
            }
        }
    }
    if (a.publish == kLinkFlags) {
        exchange.raiseFlag(step);
    }
}

} // namespace kernels::cuda
