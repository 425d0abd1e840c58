// SPDX-License-Identifier: Apache-2.0
// The input row of a projection in stream.cu: residual, norms, and its form as two planes of signed
// bytes (byte_planes.cuh). A thread takes the same four neighbours of the row in every step, 16
// threads the 64 columns that share a scale. The factor of the last norm is not applied here but to
// the products, so that nobody waits for it.
#pragma once

#include "kernels/cuda/device/byte_planes.cuh"
#include "kernels/cuda/device/exchange.cuh"
#include "kernels/cuda/device/project_input.cuh"

namespace kernels::cuda {

/// Work memory of a projection (streamProjectBytes()).
struct StreamWork {
    char* planes;    ///< [cols / 64, 2, 64] signed bytes: high, low.
    float* scales;   ///< [cols / 64]
    uint32_t* zeros; ///< [4]
    float* buffer;   ///< [128]: sums of warps.
    float* partial;  ///< [pass_tiles * 16, kComputeWarps]
};

__device__ __forceinline__ StreamWork streamWork(char* memory, int cols) {
    StreamWork w{};
    w.planes = memory;
    memory += 2 * cols;
    w.zeros = reinterpret_cast<uint32_t*>(memory);
    memory += 16;
    w.buffer = reinterpret_cast<float*>(memory);
    memory += 512;
    w.scales = reinterpret_cast<float*>(memory);
    memory += (cols / 64 * 4 + 15) & ~15;
    w.partial = reinterpret_cast<float*>(memory);
    return w;
}

/// Largest of 16 neighbouring lanes.
__device__ __forceinline__ float halfWarpMax(float value) {
#pragma unroll
    for (int offset = 8; offset > 0; offset >>= 1) {
        value = fmaxf(value, __shfl_xor_sync(0xffffffffU, value, offset));
    }
    return value;
}

__device__ __forceinline__ uint32_t packBytes(int a, int b, int c, int d) {
    const uint32_t low = permuteBytes(static_cast<uint32_t>(a), static_cast<uint32_t>(b), 0x0040U);
    const uint32_t high = permuteBytes(static_cast<uint32_t>(c), static_cast<uint32_t>(d), 0x0040U);
    return permuteBytes(low, high, 0x5410U);
}

/// Columns 4 c to 4 c + 3 as bytes; all lanes of the warp, `is_there` tells whose columns exist.
/// is_four_bit: in the order in which codes lie in their words, neighbours swapped.
__device__ __forceinline__ void
storePlanes(const StreamWork& w, int c, const float4& v, bool is_four_bit, bool is_there) {
    const float largest = halfWarpMax(largestOf(v));
    // A row that is not finite keeps a scale that is not, and so do its products.
    const bool is_usable = largest > 0.0F && largest < INFINITY;
    const float up = is_usable ? static_cast<float>(kInputLevels) / largest : 0.0F;
    const float values[4] = {v.x, v.y, v.z, v.w};
    int high[4];
    int low[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const int q = __float2int_rn(values[i] * up);
        high[i] = (q + 64) >> 7;
        low[i] = q - high[i] * 128;
    }
    if (!is_there) {
        return;
    }
    const int block = c >> 4;
    uint32_t* const to =
        reinterpret_cast<uint32_t*>(w.planes + block * 128) + (c & 15);
    const int odd = is_four_bit ? 1 : 0;
    to[0] = packBytes(high[odd], high[1 - odd], high[2 + odd], high[3 - odd]);
    to[16] = packBytes(low[odd], low[1 - odd], low[2 + odd], low[3 - odd]);
    if ((c & 15) == 0) {
        w.scales[block] = largest / static_cast<float>(kInputLevels);
    }
}

/// This lane's view of the planes for the products.
__device__ __forceinline__ PlaneInput planeInput(const StreamWork& w, bool is_four_bit) {
    const int lane = threadIdx.x & 31;
    const int plane = lane >> 2;
    const int t = lane & 3;
    PlaneInput input{};
    const bool has_column = plane < 2;
    input.at = has_column ? sharedAddress(w.planes) + plane * 64 + t * (is_four_bit ? 16 : 8)
                          : sharedAddress(w.zeros);
    input.stride = has_column ? 128 : 0;
    input.half = has_column ? 32 : 0;
    input.scales = sharedAddress(w.scales);
    return input;
}

/// Sum over the compute warps of what each put into buffer[warp]; after a barrier.
__device__ __forceinline__ float sumOfWarps(const float* buffer) {
    float sum = 0.0F;
#pragma unroll
    for (int i = 0; i < kComputeWarps; ++i) {
        sum += buffer[i];
    }
    return sum;
}

/// Makes the planes; ends with a barrier. Sums of squares for the last norm are left in
/// buffer[64 + warp]. row: the residual row in shared memory.
__device__ __forceinline__ void
makePlanes(const ProjectKernelArgs& a, const StreamWork& w, float4* row, const Exchange& exchange, int step, const StepClocks& clocks) {
    const bool has_residual = a.input == kInputResidualNorm || a.input == kInputResidual;
    const bool is_normed = a.input == kInputNorm || a.input == kInputResidualNorm;
    const bool is_four_bit = a.w[0].format == kFormatNf4 || a.w[0].format == kFormatFp4;
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x & 31;
    const int fours = a.cols / 4;
    const int rounds = (fours + kComputeThreads - 1) / kComputeThreads;
    const uint2* packets = exchange.packetsOf(step - 1 + kPacketSteps);
    const uint32_t mark = exchange.markOf(step - 1);
    if (threadIdx.x < 4) {
        w.zeros[threadIdx.x] = 0;
    }
    if (!has_residual && !is_normed) {
        if (a.link == kLinkFlags) {
            exchange.waitForFlags(step - 1, exchange.grid);
        }
        constexpr int kAtOnce = 3;
        for (int i = 0; i < rounds; i += kAtOnce) {
            const int c0 = threadIdx.x + i * kComputeThreads;
            float4 v[kAtOnce];
            if (a.link == kLinkPackets) {
                takeFours<kAtOnce>(packets, c0, kComputeThreads, fours, mark, v);
            } else {
#pragma unroll
                for (int j = 0; j < kAtOnce; ++j) {
                    const int c = c0 + j * kComputeThreads;
                    v[j] = c < fours ? loadFour(a.x + 4 * c) : make_float4(0.0F, 0.0F, 0.0F, 0.0F);
                }
            }
            if (i == 0) {
                clocks.note(1);
            }
#pragma unroll
            for (int j = 0; j < kAtOnce; ++j) {
                const int c = c0 + j * kComputeThreads;
                storePlanes(w, c, v[j], is_four_bit, c < fours);
            }
        }
        syncCompute();
        return;
    }
    float scale = 0.0F;
    constexpr int kMostRounds = 4; // rows of up to 6144
    float4 t[kMostRounds];
    float4 norm[kMostRounds];
    float4 t_norm[kMostRounds];
    // On their way while this block waits.
#pragma unroll
    for (int i = 0; i < kMostRounds; ++i) {
        const int c = threadIdx.x + i * kComputeThreads;
        norm[i] = make_float4(1.0F, 1.0F, 1.0F, 1.0F);
        t_norm[i] = norm[i];
        if (c < fours) {
            norm[i] = is_normed ? loadFour(a.norm, 4 * c) : norm[i];
            t_norm[i] = has_residual ? loadFour(a.t_norm, 4 * c) : norm[i];
        }
    }
    if (has_residual) {
        float sum = 0.0F;
        if (a.link == kLinkPackets) {
#pragma unroll
            for (int i = 0; i < kMostRounds; i += 2) {
                if (i < rounds) {
                    float4 pair[2];
                    takeFours<2>(packets, threadIdx.x + i * kComputeThreads, kComputeThreads, fours,
                                 mark, pair);
                    t[i] = pair[0];
                    t[i + 1] = pair[1];
                }
            }
        } else {
            if (a.link == kLinkFlags) {
                exchange.waitForFlags(step - 1, exchange.grid);
            }
#pragma unroll
            for (int i = 0; i < kMostRounds; ++i) {
                const int c = threadIdx.x + i * kComputeThreads;
                t[i] = c < fours ? loadFour(a.t + 4 * c) : make_float4(0.0F, 0.0F, 0.0F, 0.0F);
            }
        }
        clocks.note(1);
#pragma unroll
        for (int i = 0; i < kMostRounds; ++i) {
            if (i < rounds) {
                sum += sumOfSquares(t[i]);
            }
        }
        sum = warpSum(sum);
        if (lane == 0) {
            w.buffer[warp] = sum;
        }
        syncCompute();
        scale = rsqrtf(sumOfWarps(w.buffer) / static_cast<float>(a.cols) + a.eps);
    }
    float sum = 0.0F;
#pragma unroll
    for (int i = 0; i < kMostRounds; ++i) {
        if (i >= rounds) {
            break;
        }
        const int c = threadIdx.x + i * kComputeThreads;
        const bool is_there = c < fours;
        float4 v = make_float4(0.0F, 0.0F, 0.0F, 0.0F);
        if (is_there) {
            v = a.keeps_row != 0 ? row[c] : loadFour(a.x + 4 * c);
            if (has_residual) {
                const float4& weight = t_norm[i];
                v.x = (v.x + t[i].x * scale * weight.x) * a.scalar;
                v.y = (v.y + t[i].y * scale * weight.y) * a.scalar;
                v.z = (v.z + t[i].z * scale * weight.z) * a.scalar;
                v.w = (v.w + t[i].w * scale * weight.w) * a.scalar;
                if (exchange.block == 0) {
                    *reinterpret_cast<float4*>(a.x_out + 4 * c) = v;
                }
            }
            row[c] = v;
            sum += sumOfSquares(v);
            v.x *= norm[i].x;
            v.y *= norm[i].y;
            v.z *= norm[i].z;
            v.w *= norm[i].w;
        }
        storePlanes(w, c, v, is_four_bit, is_there);
    }
    if (is_normed) {
        sum = warpSum(sum);
        if (lane == 0) {
            w.buffer[64 + warp] = sum;
        }
    }
    syncCompute();
}

} // namespace kernels::cuda
