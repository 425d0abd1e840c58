// SPDX-License-Identifier: Apache-2.0
// Norms, RoPE and element-wise steps on fp32 activations. One block a row where a row needs a sum,
// else one thread an element.
#include "kernels/cuda/device/common/kv_codes.cuh"
#include "kernels/cuda/device/common/logit_keys.cuh"

using namespace kernels::cuda;

extern "C" {

__global__ void belfry_fill_f32(float* data, int64_t count, float value) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < count) {
        data[i] = value;
    }
}

/// y = rms(x) * weight, or y += alpha * rms(x) * weight. grid: rows.
__global__ void belfry_rms_norm(const float* x,
                                int64_t x_stride,
                                VectorArgs weight,
                                float* y,
                                int64_t y_stride,
                                int cols,
                                float eps,
                                float alpha,
                                int adds) {
    BELFRY_SHARED(float, buffer, [33]);
    const float* in = x + blockIdx.x * x_stride;
    float* out = y + blockIdx.x * y_stride;
    float sum = 0.0F;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        sum += in[c] * in[c];
    }
    sum = blockSum(sum, buffer);
    const float inverse = alpha / sqrtf(sum / static_cast<float>(cols) + eps);
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        const float w = weight.data == nullptr ? 1.0F : loadElement(weight.data, weight.type, c);
        const float value = in[c] * inverse * w;
        out[c] = adds != 0 ? out[c] + value : value;
    }
}

/// Half-split RoPE in place. grid: (rows, heads); threads over pairs.
__global__ void belfry_rope(float* x,
                            int64_t stride,
                            int head_dim,
                            int offset,
                            int dim,
                            const int32_t* position,
                            const float* inv_freq) {
    const int half = dim / 2;
    float* head = x + blockIdx.x * stride + static_cast<int64_t>(blockIdx.y) * head_dim + offset;
    const float at = static_cast<float>(position[blockIdx.x]);
    for (int j = threadIdx.x; j < half; j += blockDim.x) {
        float sine = 0.0F;
        float cosine = 0.0F;
        sincosf(__fmul_rn(at, inv_freq[j]), &sine, &cosine);
        const float a = head[j];
        const float b = head[j + half];
        head[j] = a * cosine - b * sine;
        head[j + half] = b * cosine + a * sine;
    }
}

__global__ void belfry_gated_mul(Activation activation,
                                 const float* gate,
                                 int64_t gate_stride,
                                 const float* up,
                                 int64_t up_stride,
                                 float* y,
                                 int64_t y_stride,
                                 int cols) {
    const int c = blockIdx.y * blockDim.x + threadIdx.x;
    if (c < cols) {
        y[blockIdx.x * y_stride + c] = activated(activation, gate[blockIdx.x * gate_stride + c]) *
                                       up[blockIdx.x * up_stride + c];
    }
}

__global__ void belfry_sigmoid_mul(const float* x,
                                   int64_t x_stride,
                                   const float* gate,
                                   int64_t gate_stride,
                                   float* y,
                                   int64_t y_stride,
                                   int cols) {
    const int c = blockIdx.y * blockDim.x + threadIdx.x;
    if (c < cols) {
        y[blockIdx.x * y_stride + c] =
            x[blockIdx.x * x_stride + c] / (1.0F + expf(-gate[blockIdx.x * gate_stride + c]));
    }
}

__global__ void belfry_causal_conv1d(const float* x,
                                     int64_t x_stride,
                                     const float* w,
                                     int taps,
                                     float* y,
                                     int64_t y_stride,
                                     int cols) {
    const int c = blockIdx.y * blockDim.x + threadIdx.x;
    if (c >= cols) {
        return;
    }
    float sum = 0.0F;
    for (int k = 0; k < taps; ++k) {
        const int64_t source = static_cast<int64_t>(blockIdx.x) + 1 - taps + k;
        if (source >= 0) {
            sum += w[c * taps + k] * x[source * x_stride + c];
        }
    }
    y[blockIdx.x * y_stride + c] = sum;
}

__global__ void belfry_clamp(
    const float* x, int64_t x_stride, float lo, float hi, float* y, int64_t y_stride, int cols) {
    const int c = blockIdx.y * blockDim.x + threadIdx.x;
    if (c < cols) {
        float value = x[blockIdx.x * x_stride + c];
        value = value < lo ? lo : value; // comparisons with NaN are false: NaN passes through
        y[blockIdx.x * y_stride + c] = value > hi ? hi : value;
    }
}

/// y = y * b + a * x; x may be nullptr (scale only).
__global__ void belfry_axpby(
    const float* x, int64_t x_stride, float a, float* y, int64_t y_stride, float b, int cols) {
    const int c = blockIdx.y * blockDim.x + threadIdx.x;
    if (c < cols) {
        float* out = y + blockIdx.x * y_stride + c;
        const float scaled = *out * b;
        *out = x == nullptr ? scaled : scaled + a * x[blockIdx.x * x_stride + c];
    }
}

/// x[t,c] = x[t,c] * s[c] + b[c]; either may be nullptr.
__global__ void belfry_columns(float* x, int64_t stride, const float* s, const float* b, int cols) {
    const int c = blockIdx.y * blockDim.x + threadIdx.x;
    if (c < cols) {
        float value = x[blockIdx.x * stride + c];
        value = s == nullptr ? value : value * s[c];
        x[blockIdx.x * stride + c] = b == nullptr ? value : value + b[c];
    }
}

__global__ void belfry_soft_cap(float* x, int64_t stride, float cap, int cols) {
    const int c = blockIdx.y * blockDim.x + threadIdx.x;
    if (c < cols) {
        float* value = x + blockIdx.x * stride + c;
        *value = cap * tanhf(*value / cap);
    }
}

/// logits = cap tanh(logits / cap) (as they are where cap is 0) and the key of the largest among
/// those not suppressed, which the last block that is done writes to best. logits aligned to 16;
/// grid: any; block 512.
__global__ void __launch_bounds__(512) belfry_cap_argmax(float* logits,
                                                         int count,
                                                         const uint32_t* suppressed,
                                                         unsigned long long* best,
                                                         float cap,
                                                         EdgeCounters* counters) {
    BELFRY_SHARED(unsigned long long, warps, [16]);
    unsigned long long mine = 0;
    const int stride = static_cast<int>(gridDim.x * blockDim.x) * 4;
    for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) * 4; i < count;
         i += stride) {
        const int left = count - i < 4 ? count - i : 4;
        // Four neighbours are in one word.
        const uint32_t skipped = suppressed == nullptr ? 0U : suppressed[i >> 5] >> (i & 31);
        float value[4] = {};
        if (left == 4) {
            const float4 four = *reinterpret_cast<const float4*>(logits + i);
            value[0] = four.x;
            value[1] = four.y;
            value[2] = four.z;
            value[3] = four.w;
        } else {
            for (int k = 0; k < left; ++k) {
                value[k] = logits[i + k];
            }
        }
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            value[k] = cap > 0.0F ? cap * tanhf(value[k] / cap) : value[k];
            const bool is_out = k >= left || (skipped >> k & 1U) != 0U;
            const unsigned long long key = logitKey(value[k], i + k, is_out);
            mine = key > mine ? key : mine;
        }
        if (left == 4) {
            *reinterpret_cast<float4*>(logits + i) =
                make_float4(value[0], value[1], value[2], value[3]);
        } else {
            for (int k = 0; k < left; ++k) {
                logits[i + k] = value[k];
            }
        }
    }
    mine = warpLargest(mine);
    if ((threadIdx.x & 31) == 0) {
        warps[threadIdx.x >> 5] = mine;
    }
    __syncthreads();
    if (threadIdx.x >= 32) {
        return;
    }
    mine = warpLargest(threadIdx.x < blockDim.x / 32 ? warps[threadIdx.x] : 0);
    if (threadIdx.x == 0) {
        atomicMax(&counters->best, mine);
        __threadfence();
        if (atomicAdd(&counters->done, 1) == static_cast<int>(gridDim.x) - 1) {
            __threadfence();
            *best = __ldcg(&counters->best);
            counters->best = 0;
            counters->done = 0;
        }
    }
}

/// y[i,:] = scale * table[ids[i], offset : offset + cols]. An id outside the table gives zeros (the
/// caller has checked).
__global__ void belfry_gather_rows(WeightArgs table,
                                   const int32_t* ids,
                                   int64_t col_offset,
                                   float scale,
                                   float* y,
                                   int64_t y_stride,
                                   int cols) {
    const int c = blockIdx.y * blockDim.x + threadIdx.x;
    if (c < cols) {
        const int64_t id = ids[blockIdx.x];
        const bool is_inside = id >= 0 && id < table.rows;
        y[blockIdx.x * y_stride + c] =
            is_inside ? scale * weightValue(table, id, id * table.cols + col_offset + c) : 0.0F;
    }
}

__global__ void belfry_store_rows(const float* src,
                                  int64_t src_stride,
                                  const int32_t* slot,
                                  int type,
                                  void* dst,
                                  int64_t capacity,
                                  int cols) {
    const int c = blockIdx.y * blockDim.x + threadIdx.x;
    const int64_t to = slot[blockIdx.x];
    if (c >= cols || to < 0 || to >= capacity) {
        return;
    }
    const float value = src[blockIdx.x * src_stride + c];
    const int64_t index = to * cols + c;
    if (type == kElementF32) {
        static_cast<float*>(dst)[index] = value;
    } else if (type == kElementF16) {
        static_cast<__half*>(dst)[index] = __float2half_rn(value);
    } else {
        static_cast<__nv_bfloat16*>(dst)[index] = __float2bfloat16_rn(value);
    }
}

/// Rows with codes and scales. grid (rows, heads), block 32.
__global__ void belfry_store_code_rows(const float* src,
                                       int64_t src_stride,
                                       const int32_t* slot,
                                       KvRowArgs rows,
                                       void* dst,
                                       int64_t capacity,
                                       int dim) {
    const int head = blockIdx.y;
    const float* const from = src + blockIdx.x * src_stride + static_cast<int64_t>(head) * dim;
    const int64_t to = slot[blockIdx.x];
    if (to < 0 || to >= capacity) {
        return;
    }
    uint32_t largest = 0;
    for (int d = threadIdx.x; d < dim; d += 32) {
        largest = max(largest, magnitudeOf(from[d]));
    }
    const KvCoder coder(warpMaxBits(largest));
    char* const row = static_cast<char*>(dst) + to * rows.bytes;
    for (int d = threadIdx.x; d < dim; d += 32) {
        row[head * dim + d] = static_cast<char>(coder.code(from[d]));
    }
    if (threadIdx.x == 0) {
        *reinterpret_cast<float*>(row + rows.scales_at + 4 * head) = coder.scale;
    }
}

/// fp32 rows to bf16 rows, [rows, cols] contiguous; cols even.
__global__ void
belfry_to_bf16(const float* x, int64_t x_stride, __nv_bfloat16* y, int64_t rows, int cols) {
    const int64_t pair = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    const int64_t pairs = cols / 2;
    if (pair < rows * pairs) {
        const int64_t row = pair / pairs;
        const int64_t c = (pair - row * pairs) * 2;
        const float2 value = *reinterpret_cast<const float2*>(x + row * x_stride + c);
        *reinterpret_cast<__nv_bfloat162*>(y + row * cols + c) = __float22bfloat162_rn(value);
    }
}

} // extern "C"
