// SPDX-License-Identifier: Apache-2.0
// Low-rank updates of many rows on tensor cores: y += sum of scaling * ((x A^T) B^T + bias),
// operands rounded to bf16, sums in fp32. Two launches for all updates of a linear layer: x is read
// once as it is and y once, which is what both cost.
//
// Fragments are loaded straight from memory: the products of a row may be summed in any order, so a
// lane takes four neighbouring elements of k (4 t to 4 t + 3 of 16) for the two pairs that the
// instruction wants, from both operands alike.
#include "kernels/cuda/device/prompt/lora_rows.cuh"

using namespace kernels::cuda;

namespace {

constexpr int kDownThreads = 256;
constexpr int kDownRows = 16;
constexpr int kUpThreads = 128;
constexpr int kUpRows = 64;
constexpr int kUpCols = 64;

} // namespace

extern "C" {

/// scratch[row, first + r] = sum_k x[row, k] a[r, k] for every update. grid (ceil(rows / 16), tiles
/// of 16 ranks), block 256: the warps share k. cols % 64 == 0; x aligned to 16 bytes.
__global__ void __launch_bounds__(kDownThreads)
    belfry_lora_down_tensor(const float* x,
                            int64_t x_stride,
                            int64_t rows,
                            const __grid_constant__ LoraBatchArgs batch,
                            float* scratch,
                            int64_t s_stride) {
    BELFRY_SHARED(float, sums, [kDownThreads / 32][kDownRows * 16]);
    int t = 0;
    while (t + 1 < batch.count && batch.term[t + 1].tile <= static_cast<int>(blockIdx.y)) {
        ++t;
    }
    const LoraTermArgs& term = batch.term[t];
    const int rank0 = (static_cast<int>(blockIdx.y) - term.tile) * 16;
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x & 31;
    const int group = lane / 4;
    const int place = (lane & 3) * 4;
    const int64_t row0 = static_cast<int64_t>(blockIdx.x) * kDownRows;
    // Rows beyond the matrix repeat the last one; their sums are dropped.
    const int64_t low = row0 + group < rows ? row0 + group : rows - 1;
    const int64_t high = row0 + group + 8 < rows ? row0 + group + 8 : rows - 1;
    const float* x_low = x + low * x_stride + place;
    const float* x_high = x + high * x_stride + place;
    float c[2][4] = {};
    for (int k0 = warp * 64; k0 < batch.cols; k0 += kDownThreads / 32 * 64) {
#pragma unroll
        for (int k = k0; k < k0 + 64; k += 16) {
            const float4 upper = __ldg(reinterpret_cast<const float4*>(x_low + k));
            const float4 lower = __ldg(reinterpret_cast<const float4*>(x_high + k));
            const uint32_t a[4] = {packed(upper.x, upper.y), packed(lower.x, lower.y),
                                   packed(upper.z, upper.w), packed(lower.z, lower.w)};
#pragma unroll
            for (int n = 0; n < 2; ++n) {
                const int rank = rank0 + n * 8 + group;
                const uint2 b = loadFour(term.a, term.a_type,
                                         static_cast<int64_t>(rank) * batch.cols + k + place,
                                         rank < term.rank ? 4 : 0, true);
                multiplyAdd(c[n], a, b.x, b.y);
            }
        }
    }
#pragma unroll
    for (int n = 0; n < 2; ++n) {
        const int at = group * 16 + n * 8 + (lane & 3) * 2;
        sums[warp][at] = c[n][0];
        sums[warp][at + 1] = c[n][1];
        sums[warp][at + 128] = c[n][2];
        sums[warp][at + 129] = c[n][3];
    }
    __syncthreads();
    const int64_t row = row0 + threadIdx.x / 16;
    const int rank = rank0 + static_cast<int>(threadIdx.x & 15);
    float sum = 0.0F;
#pragma unroll
    for (int w = 0; w < kDownThreads / 32; ++w) {
        sum += sums[w][threadIdx.x];
    }
    if (row < rows && rank < term.rank) {
        scratch[row * s_stride + term.first + rank] = sum;
    }
}

/// y[row, n] += sum over the updates of scaling * (sum_r scratch[row, first + r] b[n, r] +
/// bias[n]). grid (ceil(rows / 64), ceil(cols / 64)), block 128: a warp has 16 rows. y_cols and
/// y_stride even.
__global__ void __launch_bounds__(kUpThreads)
    belfry_lora_up_tensor(const float* scratch,
                          int64_t s_stride,
                          const __grid_constant__ LoraBatchArgs batch,
                          float* y,
                          int64_t y_stride,
                          int64_t rows,
                          int y_cols) {
    const int lane = threadIdx.x & 31;
    const int group = lane / 4;
    const int place = (lane & 3) * 4;
    const int64_t row0 = static_cast<int64_t>(blockIdx.x) * kUpRows + threadIdx.x / 32 * 16;
    const int col0 = static_cast<int>(blockIdx.y) * kUpCols;
    const int64_t row[2] = {row0 + group, row0 + group + 8};
    float c[kUpCols / 8][4];
#pragma unroll
    for (int n = 0; n < kUpCols / 8; ++n) {
        const int col = col0 + n * 8 + (lane & 3) * 2;
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            float2 value = make_float2(0.0F, 0.0F);
            if (row[half] < rows && col < y_cols) {
                value = *reinterpret_cast<const float2*>(y + row[half] * y_stride + col);
            }
            c[n][half * 2] = value.x;
            c[n][half * 2 + 1] = value.y;
        }
    }
    for (int t = 0; t < batch.count; ++t) {
        const LoraTermArgs& term = batch.term[t];
        const bool is_whole = term.rank % 4 == 0;
        for (int k0 = 0; k0 < term.rank; k0 += 16) {
            float v[2][4];
#pragma unroll
            for (int half = 0; half < 2; ++half) {
#pragma unroll
                for (int i = 0; i < 4; ++i) {
                    const int rank = k0 + place + i;
                    v[half][i] =
                        row[half] < rows && rank < term.rank
                            ? term.scaling * scratch[row[half] * s_stride + term.first + rank]
                            : 0.0F;
                }
            }
            const uint32_t a[4] = {packed(v[0][0], v[0][1]), packed(v[1][0], v[1][1]),
                                   packed(v[0][2], v[0][3]), packed(v[1][2], v[1][3])};
#pragma unroll
            for (int n = 0; n < kUpCols / 8; ++n) {
                const int col = col0 + n * 8 + group;
                const uint2 b = loadFour(term.b, term.b_type,
                                         static_cast<int64_t>(col) * term.rank + k0 + place,
                                         col < y_cols ? term.rank - k0 - place : 0, is_whole);
                multiplyAdd(c[n], a, b.x, b.y);
            }
        }
        if (term.bias.data == nullptr) {
            continue;
        }
#pragma unroll
        for (int n = 0; n < kUpCols / 8; ++n) {
#pragma unroll
            for (int i = 0; i < 2; ++i) {
                const int col = col0 + n * 8 + (lane & 3) * 2 + i;
                if (col < y_cols) {
                    const float bias =
                        term.scaling * loadElement(term.bias.data, term.bias.type, col);
                    c[n][i] += bias;
                    c[n][2 + i] += bias;
                }
            }
        }
    }
#pragma unroll
    for (int n = 0; n < kUpCols / 8; ++n) {
        const int col = col0 + n * 8 + (lane & 3) * 2;
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            if (row[half] < rows && col < y_cols) {
                *reinterpret_cast<float2*>(y + row[half] * y_stride + col) =
                    make_float2(c[n][half * 2], c[n][half * 2 + 1]);
            }
        }
    }
}

} // extern "C"
