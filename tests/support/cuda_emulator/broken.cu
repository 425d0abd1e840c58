// SPDX-License-Identifier: Apache-2.0
// Kernels with a mistake each, for the emulator's own test: it must find them. Never built by nvcc.
#include "kernels/cuda/device/common/common.cuh"

using namespace kernels::cuda;

extern "C" {

/// out[i] = in[n - 1 - i] through shared memory; `waits` = 0 leaves out the barrier.
__global__ void belfry_broken_reverse(const float* in, float* out, int waits) {
    BELFRY_SHARED(float, row, [256]);
    row[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
    if (waits != 0) {
        __syncthreads();
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = row[blockDim.x - 1 - threadIdx.x];
}

/// The sum of a block's values in steps; `waits` = 0 leaves out the barrier between two steps.
__global__ void belfry_broken_sum(const float* in, float* out, int waits) {
    float* values = reinterpret_cast<float*>(dynamicShared());
    values[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    for (int step = blockDim.x / 2; step > 0; step /= 2) {
        if (threadIdx.x < step) {
            values[threadIdx.x] += values[threadIdx.x + step];
        }
        if (waits != 0) {
            __syncthreads();
        }
    }
    if (threadIdx.x == 0) {
        out[0] = values[0];
    }
}

/// Reads shared memory before its asynchronous copy was waited for.
__global__ void belfry_broken_copy(const float* in, float* out, int waits) {
    BELFRY_SHARED(float4, row, [32]);
    copyAsync16(&row[threadIdx.x], in + 4 * threadIdx.x);
    if (waits != 0) {
        waitForCopies();
    }
    out[threadIdx.x] = row[threadIdx.x].x;
}

/// Half of a warp goes to a barrier, the other half into a warp exchange.
__global__ void belfry_broken_meeting(float* out) {
    float value = threadIdx.x;
    if (threadIdx.x < 16) {
        __syncthreads();
    } else {
        value = __shfl_xor_sync(0xffffffffU, value, 1);
    }
    out[threadIdx.x] = value;
}

/// Writes one element behind the dynamic shared memory; `reads` != 0: reads it as a shared address.
__global__ void belfry_broken_bounds(float* out, int count, int reads) {
    float* values = reinterpret_cast<float*>(dynamicShared());
    if (reads != 0) {
        out[0] = __uint_as_float(loadShared(sharedAddress(values + count)));
    } else {
        values[count] = 1.0F;
    }
}

/// All blocks wait until each has arrived: more blocks than a card holds never get there.
__global__ void belfry_broken_grid(int32_t* arrived) {
    if (threadIdx.x == 0) {
        addRelease(arrived, 1);
        while (loadAcquire(arrived) < static_cast<int>(gridDim.x)) {
        }
    }
    __syncthreads();
}

} // extern "C"
