// SPDX-License-Identifier: Apache-2.0
// First half of the low-rank updates of a product of many rows: what every rank makes of every row
// (product_updates.cuh has the second).
#include "kernels/cuda/device/gemm_tiles.cuh"
#include "kernels/cuda/device/lora_rows.cuh"

using namespace kernels::cuda;

namespace {

constexpr int kRankThreads = 256;
constexpr int kRankWarps = kRankThreads / 32;
constexpr int kRankRows = 16;

} // namespace

extern "C" {

/// h[row, first + r] = bf16(factor * sum_k bounded(x[row, k]) a[r, k]) of every update, zeros in
/// columns without a rank. grid (ceil(m / 16), blocks of 16 columns of h), block 256: the warps
/// share k, a multiple of 8.
__global__ void __launch_bounds__(kRankThreads)
    belfry_product_ranks(const __grid_constant__ ProductUpdatesArgs u) {
#if __CUDA_ARCH__ >= 800
    BELFRY_SHARED(float, sums, [kRankWarps][kRankRows * kUpdateBlock]);
    constexpr int kPieces = kUpdateBlock / kUpdatePiece;
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    const int group = lane / 4;
    const int place = lane % 4 * 8; // of 32 columns of k
    const int column0 = static_cast<int>(blockIdx.y) * kUpdateBlock;
    const int64_t row0 = static_cast<int64_t>(blockIdx.x) * kRankRows;
    // Rows beyond the matrix repeat the last one; their sums are dropped.
    const int64_t low = row0 + group < u.m ? row0 + group : u.m - 1;
    const int64_t high = row0 + group + 8 < u.m ? row0 + group + 8 : u.m - 1;
    const __nv_bfloat16* const x_low = static_cast<const __nv_bfloat16*>(u.x) + low * u.k;
    const __nv_bfloat16* const x_high = static_cast<const __nv_bfloat16*>(u.x) + high * u.k;
    const void* from[kPieces];
    int type[kPieces];
    int64_t at[kPieces];
#pragma unroll
    for (int n = 0; n < kPieces; ++n) {
        const int owner = u.owner[blockIdx.y * kPieces + n];
        const ProductUpdateArgs& update = u.update[owner == kNoUpdate ? 0 : owner];
        const int rank = column0 + n * kUpdatePiece + group - update.first;
        from[n] = owner != kNoUpdate && rank < update.rank ? update.a : nullptr;
        type[n] = update.a_type;
        at[n] = static_cast<int64_t>(rank) * u.k;
    }
    // A block of columns begins with an update, and all of them are of one weight.
    const int weight = u.update[u.owner[blockIdx.y * kPieces]].weight;
    const bool is_bounded = u.is_bounded != 0;
    const InputBounds bounds = inputBounds(u.in_low[weight], u.in_high[weight]);
    float c[kPieces][4] = {};
#pragma unroll 2
    for (int k = warp * 32 + place; k < u.k + place; k += kRankWarps * 32) {
        const bool is_inside = k < u.k; // of this lane's columns
        uint4 upper = make_uint4(0, 0, 0, 0);
        uint4 lower = make_uint4(0, 0, 0, 0);
        uint4 b[kPieces];
        if (is_inside) {
            upper = __ldg(reinterpret_cast<const uint4*>(x_low + k));
            lower = __ldg(reinterpret_cast<const uint4*>(x_high + k));
        }
#pragma unroll
        for (int n = 0; n < kPieces; ++n) {
            b[n] = is_inside && from[n] != nullptr ? loadEight(from[n], type[n], at[n] + k)
                                                   : make_uint4(0, 0, 0, 0);
        }
        uint32_t a[2][4] = {{upper.x, lower.x, upper.y, lower.y},
                            {upper.z, lower.z, upper.w, lower.w}};
        if (is_bounded) {
#pragma unroll
            for (int i = 0; i < 8; ++i) {
                a[i / 4][i % 4] = boundHalves(a[i / 4][i % 4], bounds.low, bounds.high);
            }
        }
#pragma unroll
        for (int n = 0; n < kPieces; ++n) {
            multiplyAdd(c[n], a[0], b[n].x, b[n].y);
            multiplyAdd(c[n], a[1], b[n].z, b[n].w);
        }
    }
#pragma unroll
    for (int n = 0; n < kPieces; ++n) {
        float* const to = &sums[warp][group * kUpdateBlock + n * kUpdatePiece + lane % 4 * 2];
        to[0] = c[n][0];
        to[1] = c[n][1];
        to[8 * kUpdateBlock] = c[n][2];
        to[8 * kUpdateBlock + 1] = c[n][3];
    }
    __syncthreads();
    const int64_t row = row0 + threadIdx.x / kUpdateBlock;
    const int column = column0 + static_cast<int>(threadIdx.x) % kUpdateBlock;
    if (row >= u.m) {
        return;
    }
    float sum = 0.0F;
#pragma unroll
    for (int w = 0; w < kRankWarps; ++w) {
        sum += sums[w][threadIdx.x];
    }
    const int owner = u.owner[column / kUpdatePiece];
    const bool is_rank =
        owner != kNoUpdate && column - u.update[owner].first < u.update[owner].rank;
    static_cast<__nv_bfloat16*>(u.h)[row * u.first_block[3] * kUpdateBlock + column] =
        __float2bfloat16_rn(is_rank ? *u.update[owner].factor * sum : 0.0F);
#endif
}

} // extern "C"
