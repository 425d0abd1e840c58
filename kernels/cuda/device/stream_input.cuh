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
    float4* taken;   ///< [cols / 4]: x or t
    float* partial;  ///< [pass_tiles * 16, kComputeWarps]
    float* results;  ///< [pass_tiles * 16]
};

__device__ __forceinline__ StreamWork streamWork(char* memory, int cols, int pass_tiles) {
    StreamWork w{};
    w.planes = memory;
    memory += 2 * cols;
    w.zeros = reinterpret_cast<uint32_t*>(memory);
    memory += 16;
    w.buffer = reinterpret_cast<float*>(memory);
    memory += 512;
    w.scales = reinterpret_cast<float*>(memory);
    memory += (cols / 64 * 4 + 15) & ~15;
    w.taken = reinterpret_cast<float4*>(memory);
    memory += cols * 4 + 64; // a wide row comes in sixes
    w.partial = reinterpret_cast<float*>(memory);
    w.results = w.partial + pass_tiles * kTileRows * kComputeWarps;
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

/// Columns 4 c to 4 c + 3 as bytes: q = 128 high + low, low from 0 to 127. All lanes of the warp;
/// `is_there` tells whose columns exist. pairs: selector that puts neighbours in the order in which
/// they lie in a weight's bytes.
__device__ __forceinline__ void
storePlanes(const StreamWork& w, int c, const float4& v, uint32_t pairs, bool is_there) {
    const float largest = halfWarpMax(largestOf(v));
    // An infinite value makes the scale infinite, and so the products. fmaxf drops a NaN: it only
    // gets on through the norms' sums of squares.
    const bool is_usable = largest > 1e-30F && largest < INFINITY;
    const float up = is_usable ? __fdividef(static_cast<float>(kInputLevels), largest) : 0.0F;
    // Rounded to an integer in the low bits: 1.5 * 2^23 leaves no others.
    constexpr float kMagic = 12582912.0F;
    const uint32_t q[4] = {
        __float_as_uint(fmaf(v.x, up, kMagic)), __float_as_uint(fmaf(v.y, up, kMagic)),
        __float_as_uint(fmaf(v.z, up, kMagic)), __float_as_uint(fmaf(v.w, up, kMagic))};
    const uint32_t first = permuteBytes(q[0], q[1], pairs);
    const uint32_t second = permuteBytes(q[2], q[3], pairs);
    if (!is_there) {
        return;
    }
    uint32_t* const to = reinterpret_cast<uint32_t*>(w.planes + (c >> 4) * 128) + (c & 15);
    to[0] = permuteBytes(first << 1, second << 1, 0x7531U);
    to[16] = permuteBytes(first, second, 0x6420U) & 0x7f7f7f7fU;
    if ((c & 15) == 0) {
        w.scales[c >> 4] = largest * (1.0F / static_cast<float>(kInputLevels));
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

/// Sum over the compute warps of what each put into buffer[warp]; after a barrier. Aligned to 16.
__device__ __forceinline__ float sumOfWarps(const float* buffer) {
    float sum = 0.0F;
#pragma unroll
    for (int i = 0; i < kComputeWarps / 4; ++i) {
        const float4 v = reinterpret_cast<const float4*>(buffer)[i];
        sum += (v.x + v.y) + (v.z + v.w);
    }
    return sum;
}

/// Sends the norms of a step on their way into shared memory, as they are stored; the copies are
/// waited for at the end of the step that runs meanwhile.
__device__ __forceinline__ void
prefetchNorms(const VectorArgs& first, const VectorArgs& second, int count, char* to, int stride) {
#pragma unroll 1
    for (int which = 0; which < 2; ++which) {
        const VectorArgs& vector = which == 0 ? first : second;
        const int bytes = vector.data == nullptr ? 0 : count * (vector.type == kElementF32 ? 4 : 2);
        for (int at = threadIdx.x * 16; at < bytes; at += kComputeThreads * 16) {
            copyAsync16(to + which * stride + at, static_cast<const char*>(vector.data) + at);
        }
    }
}
__device__ __forceinline__ void prefetchNorms(const TokenStep& step, char* to, int stride) {
    if (step.kind == kStepAttend) {
        prefetchNorms(step.attend.q_norm, step.attend.k_norm, step.attend.head_dim, to, stride);
    } else {
        prefetchNorms(step.project.norm, step.project.t_norm, step.project.cols, to, stride);
    }
}

/// Makes the planes; ends with a barrier. Sums of squares for the last norm are left in
/// buffer[64 + warp]. row: the residual row in shared memory; norms: there too, `norm_bytes` apart.
/// Loops are not unrolled: what runs once in a step costs as much for its instructions' way into
/// the cache as for itself.
__device__ __forceinline__ void makePlanes(const ProjectKernelArgs& a,
                                           const StreamWork& w,
                                           float4* row,
                                           const char* norms,
                                           int norm_bytes,
                                           const Exchange& exchange,
                                           int step,
                                           const StepClocks& clocks) {
    const bool has_residual = a.input == kInputResidualNorm || a.input == kInputResidual;
    const bool is_plain = a.input == kInputPlain;
    const bool is_four_bit = a.w[0].format != kFormatInt8Row;
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x & 31;
    const int fours = a.cols / 4;
    if (threadIdx.x < 4) {
        w.zeros[threadIdx.x] = 0;
    }
    float sum = 0.0F;
    if (a.link == kLinkPackets) {
        sum = takeValues(exchange.packetsOf(step - 1 + kPacketSteps), 0, fours,
                         exchange.markOf(step - 1), w.taken);
    } else if (a.link == kLinkWide) {
        takeWide(exchange.widePackets(a.wide_region), a.cols,
                 exchange.wideMark(a.wide_region, a.wide_use), reinterpret_cast<float*>(w.taken));
        syncCompute();
    } else {
        if (a.link == kLinkFlags) {
            exchange.waitForFlags(step - 1, exchange.grid);
        }
        const float* const from = has_residual ? a.t : a.x;
#pragma unroll 4
        for (int c = threadIdx.x; c < fours; c += kComputeThreads) {
            const float4 v = loadFour(from + 4 * c);
            w.taken[c] = v;
            sum += sumOfSquares(v);
        }
    }
    clocks.note(1);
    float scale = 0.0F;
    if (has_residual) {
        sum = warpSum(sum);
        if (lane == 0) {
            w.buffer[warp] = sum;
        }
        syncCompute();
        scale = rsqrtf(sumOfWarps(w.buffer) * a.inverse_cols + a.eps) * a.scalar;
    }
    sum = 0.0F;
    const uint32_t pairs = is_four_bit ? 0x1054U : 0x5410U;
#pragma unroll 1
    for (int c0 = threadIdx.x & ~31; c0 < fours; c0 += kComputeThreads) {
        const int c = c0 + lane;
        const bool is_there = c < fours;
        float4 v = is_there ? w.taken[c] : make_float4(0.0F, 0.0F, 0.0F, 0.0F);
        if (!is_plain && is_there) {
            if (has_residual) {
                const float4 x = a.keeps_row != 0 ? row[c] : loadFour(a.x + 4 * c);
                const float4 t_norm =
                    loadFour(VectorArgs{norms + norm_bytes, a.t_norm.type, 0}, 4 * c);
                v.x = fmaf(v.x * scale, t_norm.x, x.x * a.scalar);
                v.y = fmaf(v.y * scale, t_norm.y, x.y * a.scalar);
                v.z = fmaf(v.z * scale, t_norm.z, x.z * a.scalar);
                v.w = fmaf(v.w * scale, t_norm.w, x.w * a.scalar);
                if (exchange.block == 0) {
                    *reinterpret_cast<float4*>(a.x_out + 4 * c) = v;
                }
            }
            row[c] = v;
            if (a.norm.data != nullptr) {
                sum += sumOfSquares(v);
                const float4 norm = loadFour(VectorArgs{norms, a.norm.type, 0}, 4 * c);
                v.x *= norm.x;
                v.y *= norm.y;
                v.z *= norm.z;
                v.w *= norm.w;
            }
        }
        storePlanes(w, c, v, pairs, is_there);
    }
    if (a.norm.data != nullptr) {
        sum = warpSum(sum);
        if (lane == 0) {
            w.buffer[64 + warp] = sum;
        }
    }
    syncCompute();
}

} // namespace kernels::cuda
