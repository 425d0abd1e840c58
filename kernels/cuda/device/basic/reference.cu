// SPDX-License-Identifier: Apache-2.0
// Plain fp32 kernels for every format and shape: the reference precision of the GPU, and what odd
// shapes fall back to. Written to be right for all operands, not fast.
#include "kernels/cuda/device/common/kv_codes.cuh"

using namespace kernels::cuda;

namespace {

constexpr int kTile = 32;

} // namespace

extern "C" {

/// y[t,n] = sum_k x[t,k] w[n,k], exact weights, fp32 sums. grid (ceil(N/32), ceil(M/32)), block
/// 256: each thread owns four outputs of a 32 x 32 tile.
__global__ void belfry_linear_reference(
    const float* x, int64_t x_stride, WeightArgs w, float* y, int64_t y_stride, int64_t m) {
    BELFRY_SHARED(float, xs, [kTile][kTile + 1]);
    BELFRY_SHARED(float, ws, [kTile][kTile + 1]);
    const int64_t n0 = static_cast<int64_t>(blockIdx.x) * kTile;
    const int64_t m0 = static_cast<int64_t>(blockIdx.y) * kTile;
    const int lane = threadIdx.x & 31;
    const int part = threadIdx.x >> 5; // 0..7
    float sums[4] = {};
    for (int64_t k0 = 0; k0 < w.cols; k0 += kTile) {
        const int64_t k = k0 + lane;
        for (int i = part; i < kTile; i += 8) {
            const int64_t row = m0 + i;
            const int64_t n = n0 + i;
            xs[i][lane] = row < m && k < w.cols ? x[row * x_stride + k] : 0.0F;
            ws[i][lane] = n < w.rows && k < w.cols ? weightValue(w, n, n * w.cols + k) : 0.0F;
        }
        __syncthreads();
        for (int kk = 0; kk < kTile; ++kk) {
            const float weight = ws[lane][kk];
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                sums[i] += xs[part + 8 * i][kk] * weight;
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i) {
        const int64_t row = m0 + part + 8 * i;
        if (row < m && n0 + lane < w.rows) {
            y[row * y_stride + n0 + lane] = sums[i];
        }
    }
}

/// scratch[t,r] = sum_k x[t,k] a[r,k]. grid (rank, tokens), block 128.
__global__ void belfry_lora_down(
    const float* x, int64_t x_stride, VectorArgs a, int cols, float* scratch, int64_t s_stride) {
    BELFRY_SHARED(float, buffer, [33]);
    const float* row = x + blockIdx.y * x_stride;
    const int64_t first = static_cast<int64_t>(blockIdx.x) * cols;
    float sum = 0.0F;
    for (int k = threadIdx.x; k < cols; k += blockDim.x) {
        sum += row[k] * loadElement(a.data, a.type, first + k);
    }
    sum = blockSum(sum, buffer);
    if (threadIdx.x == 0) {
        scratch[blockIdx.y * s_stride + blockIdx.x] = sum;
    }
}

/// y[t,n] += scaling * (sum_r scratch[t,r] b[n,r] + bias[n]). grid (tokens, ceil(N/256)).
__global__ void belfry_lora_up(const float* scratch,
                               int64_t s_stride,
                               VectorArgs b,
                               VectorArgs bias,
                               int rank,
                               float scaling,
                               float* y,
                               int64_t y_stride,
                               int cols) {
    const int n = blockIdx.y * blockDim.x + threadIdx.x;
    if (n >= cols) {
        return;
    }
    const float* u = scratch + blockIdx.x * s_stride;
    float sum = bias.data == nullptr ? 0.0F : loadElement(bias.data, bias.type, n);
    for (int r = 0; r < rank; ++r) {
        sum += u[r] * loadElement(b.data, b.type, static_cast<int64_t>(n) * rank + r);
    }
    y[blockIdx.x * y_stride + n] += scaling * sum;
}

/// Attention with an online softmax, any mask and head size up to 512. grid (queries, heads), block
/// 128: keys in tiles of 128, one score a thread, then one thread a few output columns.
__global__ void belfry_attention_reference(AttentionKernelArgs a) {
    BELFRY_SHARED(float, query, [512]);
    BELFRY_SHARED(float, weights, [128]);
    BELFRY_SHARED(float, buffer, [33]);
    const int64_t row = blockIdx.x;
    const int head = blockIdx.y;
    const int kv_head = head / (a.num_heads / a.num_kv_heads);
    const int64_t base_q = (row * a.num_heads + head) * a.head_dim;
    const int q_type = a.is_half != 0 ? kElementBf16 : kElementF32;
    for (int d = threadIdx.x; d < a.head_dim; d += blockDim.x) {
        query[d] = loadElement(a.q, q_type, base_q + d);
    }
    float largest = -INFINITY;
    float sum = 0.0F;
    float out[4] = {};
    for (int64_t first = 0; first < a.keys; first += 128) {
        __syncthreads();
        const int64_t key = first + threadIdx.x;
        float score = -INFINITY;
        if (key < a.keys && isVisible(a, row, key)) {
            float dot = 0.0F;
            for (int d = 0; d < a.head_dim; ++d) {
                dot += query[d] * kvValue(a.rows, a.k, key, kv_head, a.head_dim, d);
            }
            score = dot * a.scale;
        }
        const float tile_max = blockMax(score, buffer);
        const float next = fmaxf(largest, tile_max);
        if (next == -INFINITY) {
            continue; // uniform: no visible key so far
        }
        const float weight = score == -INFINITY ? 0.0F : expf(score - next);
        const float correction = largest == -INFINITY ? 0.0F : expf(largest - next);
        weights[threadIdx.x] = weight;
        sum = sum * correction + blockSum(weight, buffer);
        largest = next;
        const int count = static_cast<int>(a.keys - first < 128 ? a.keys - first : 128);
        for (int i = 0; i < 4; ++i) {
            const int d = threadIdx.x + 128 * i;
            if (d < a.head_dim) {
                float total = out[i] * correction;
                for (int j = 0; j < count; ++j) {
                    if (weights[j] != 0.0F) {
                        total +=
                            weights[j] * kvValue(a.rows, a.v, first + j, kv_head, a.head_dim, d);
                    }
                }
                out[i] = total;
            }
        }
    }
    for (int i = 0; i < 4; ++i) {
        const int d = threadIdx.x + 128 * i;
        if (d < a.head_dim) {
            const float value = sum > 0.0F ? out[i] / sum : 0.0F;
            if (a.is_half != 0) {
                reinterpret_cast<__nv_bfloat16*>(a.out)[base_q + d] = __float2bfloat16_rn(value);
            } else {
                a.out[base_q + d] = value;
            }
        }
    }
}

/// Banded attention of the audio tower (kernels/ops.h). grid (frames, heads), block 128; reach and
/// head_dim at most 128... columns in steps of the block.
__global__ void belfry_audio_attention(const float* q,
                                       const float* k,
                                       const float* v,
                                       const float* rel,
                                       float* out,
                                       int num_heads,
                                       int head_dim,
                                       int reach,
                                       float cap) {
    BELFRY_SHARED(float, weights, [128]);
    const int frame = blockIdx.x;
    const int head = blockIdx.y;
    const int64_t row = static_cast<int64_t>(num_heads) * head_dim;
    const int64_t offset = static_cast<int64_t>(head) * head_dim;
    const int count = frame + 1 < reach ? frame + 1 : reach;
    const float* query = q + frame * row + offset;
    const int warp = threadIdx.x >> 5;
    const int lane = threadIdx.x & 31;
    for (int distance = warp; distance < count; distance += blockDim.x / 32) {
        const float* key = k + (frame - distance) * row + offset;
        const float* relative = rel + distance * row + offset;
        float sum = 0.0F;
        for (int d = lane; d < head_dim; d += 32) {
            sum += query[d] * (key[d] + relative[d]);
        }
        sum = warpSum(sum);
        if (lane == 0) {
            weights[distance] = cap * tanhf(sum / cap);
        }
    }
    __syncthreads();
    float largest = -INFINITY;
    for (int i = 0; i < count; ++i) {
        largest = fmaxf(largest, weights[i]);
    }
    float sum = 0.0F;
    for (int i = 0; i < count; ++i) {
        sum += expf(weights[i] - largest);
    }
    for (int d = threadIdx.x; d < head_dim; d += blockDim.x) {
        float total = 0.0F;
        for (int i = 0; i < count; ++i) {
            total += expf(weights[i] - largest) * v[(frame - i) * row + offset + d];
        }
        out[frame * row + offset + d] = total / sum;
    }
}

/// 3x3 stride-2 convolution, LayerNorm over channels, ReLU (kernels/ops.h). grid (mel_out,
/// time_out), block = threads over channels; out_ch at most 1024.
__global__ void belfry_subsample_conv(const float* in,
                                      int64_t time,
                                      int64_t mel,
                                      int in_ch,
                                      int out_ch,
                                      const float* weight,
                                      const float* norm,
                                      float eps,
                                      float* out) {
    BELFRY_SHARED(float, buffer, [33]);
    float* patch = reinterpret_cast<float*>(dynamicShared()); // [9, in_ch]
    for (int i = threadIdx.x; i < 9 * in_ch; i += blockDim.x) {
        const int tap = i / in_ch;
        const int64_t t = 2 * static_cast<int64_t>(blockIdx.y) + tap / 3 - 1;
        const int64_t m = 2 * static_cast<int64_t>(blockIdx.x) + tap % 3 - 1;
        patch[i] =
            t >= 0 && t < time && m >= 0 && m < mel ? in[(t * mel + m) * in_ch + i % in_ch] : 0.0F;
    }
    __syncthreads();
    const int channel = threadIdx.x;
    // Nine products as they are, their sums with what each addition rounds away (Knuth's two-sum):
    // the norm divides by what is left of 1152 terms that nearly cancel, and the towers behind
    // adapters of great strength enlarge that a hundredfold.
    float value = 0.0F;
    float rest = 0.0F;
    if (channel < out_ch) {
        for (int c = 0; c < in_ch; ++c) {
            float term = 0.0F;
            for (int tap = 0; tap < 9; ++tap) {
                term += weight[(static_cast<int64_t>(channel) * in_ch + c) * 9 + tap] *
                        patch[tap * in_ch + c];
            }
            const float sum = value + term;
            const float part = sum - value;
            rest += (value - (sum - part)) + (term - part);
            value = sum;
        }
    }
    const float mean = blockSum(channel < out_ch ? value + rest : 0.0F, buffer) / out_ch;
    const float centred = channel < out_ch ? (value - mean) + rest : 0.0F;
    const float variance = blockSum(centred * centred, buffer) / out_ch;
    if (channel < out_ch) {
        const float normed = centred / sqrtf(variance + eps) * norm[channel];
        const int64_t position = static_cast<int64_t>(blockIdx.y) * gridDim.x + blockIdx.x;
        out[position * out_ch + channel] = normed < 0.0F ? 0.0F : normed;
    }
}

} // extern "C"
