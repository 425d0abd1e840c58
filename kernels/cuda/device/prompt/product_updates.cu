// SPDX-License-Identifier: Apache-2.0
// First half of the low-rank updates of a product of many rows: what every rank makes of every row
// (product_updates.cuh has the second).
#include "kernels/cuda/device/prompt/gemm_tiles.cuh"
#include "kernels/cuda/device/prompt/lora_rows.cuh"

using namespace kernels::cuda;

namespace {

constexpr int kRankThreads = 256;
[[maybe_unused]] constexpr int kRankWarps = kRankThreads / 32;
[[maybe_unused]] constexpr int kRankRows = 16;
/// Steps of 32 columns whose loads a warp has under way together.
[[maybe_unused]] constexpr int kTogether = 4;
[[maybe_unused]] constexpr int kPieces = kUpdateBlock / kUpdatePiece;

/// Rows of A of a lane: of every piece of a block of columns one, or none.
struct RankRows {
    const void* from[kPieces]; ///< nullptr: none.
    int64_t at[kPieces];       ///< Its first element.
    int type[kPieces];
};

/// This warp's share of k of two rows of x. IS_BF16: all of A is.
template <bool IS_BF16>
__device__ __forceinline__ void multiplyRanks(float (&c)[kPieces][4],
                                              const __nv_bfloat16* x_low,
                                              const __nv_bfloat16* x_high,
                                              int columns,
                                              const RankRows& rows,
                                              const InputBounds& bounds) {
    const int place = threadIdx.x % 4 * 8; // of 32 columns
    const uint4 zeros = make_uint4(0, 0, 0, 0);
    for (int first = threadIdx.x / 32 * 32; first < columns;
         first += kTogether * kRankWarps * 32) {
        uint4 x[kTogether][2];
        uint4 b[kTogether][kPieces];
#pragma unroll
        for (int i = 0; i < kTogether; ++i) {
            const int k = first + i * kRankWarps * 32 + place;
            const bool is_inside = k < columns;
            x[i][0] = is_inside ? __ldg(reinterpret_cast<const uint4*>(x_low + k)) : zeros;
            x[i][1] = is_inside ? __ldg(reinterpret_cast<const uint4*>(x_high + k)) : zeros;
#pragma unroll
            for (int n = 0; n < kPieces; ++n) {
                b[i][n] = zeros;
                if (is_inside && rows.from[n] != nullptr) {
                    b[i][n] = loadEight(rows.from[n], IS_BF16 ? kElementBf16 : rows.type[n],
                                        rows.at[n] + k);
                }
            }
        }
#pragma unroll
        for (int i = 0; i < kTogether; ++i) {
            uint32_t a[2][4] = {{x[i][0].x, x[i][1].x, x[i][0].y, x[i][1].y},
                                {x[i][0].z, x[i][1].z, x[i][0].w, x[i][1].w}};
#pragma unroll
            for (int e = 0; e < 8; ++e) {
                a[e / 4][e % 4] = boundHalves(a[e / 4][e % 4], bounds.low, bounds.high);
            }
#pragma unroll
            for (int n = 0; n < kPieces; ++n) {
                multiplyAdd(c[n], a[0], b[i][n].x, b[i][n].y);
                multiplyAdd(c[n], a[1], b[i][n].z, b[i][n].w);
            }
        }
    }
}

} // namespace

extern "C" {

/// h[row, first + r] = bf16(factor * sum_k bounded(x[row, k]) a[r, k]) of every update, zeros in
/// columns without a rank. grid (ceil(m / 16), blocks of 16 columns of h), block 256: the warps
/// share k, a multiple of 8.
__global__ void __launch_bounds__(kRankThreads)
    belfry_product_ranks(const __grid_constant__ ProductUpdatesArgs u) {
#if __CUDA_ARCH__ >= 800
    letDependentsStart(); // those that wait for h (product_codes.cu); x is there already
    BELFRY_SHARED(float, sums, [kRankWarps][kRankRows * kUpdateBlock]);
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    const int group = lane / 4;
    const int column0 = static_cast<int>(blockIdx.y) * kUpdateBlock;
    const int64_t row0 = static_cast<int64_t>(blockIdx.x) * kRankRows;
    // Rows beyond the matrix repeat the last one; their sums are dropped.
    const int64_t low = row0 + group < u.m ? row0 + group : u.m - 1;
    const int64_t high = row0 + group + 8 < u.m ? row0 + group + 8 : u.m - 1;
    const __nv_bfloat16* const x_low = static_cast<const __nv_bfloat16*>(u.x) + low * u.k;
    const __nv_bfloat16* const x_high = static_cast<const __nv_bfloat16*>(u.x) + high * u.k;
    RankRows rows;
    bool is_bf16 = true;
#pragma unroll
    for (int n = 0; n < kPieces; ++n) {
        const int owner = u.owner[blockIdx.y * kPieces + n];
        const ProductUpdateArgs& update = u.update[owner == kNoUpdate ? 0 : owner];
        const int rank = column0 + n * kUpdatePiece + group - update.first;
        rows.from[n] = owner != kNoUpdate && rank < update.rank ? update.a : nullptr;
        rows.at[n] = static_cast<int64_t>(rank) * u.k;
        rows.type[n] = update.a_type;
        is_bf16 = is_bf16 && (owner == kNoUpdate || update.a_type == kElementBf16);
    }
    // A block of columns begins with an update, and all of them are of one weight.
    const int weight = u.update[u.owner[blockIdx.y * kPieces]].weight;
    const InputBounds bounds = inputBounds(u.in_low[weight], u.in_high[weight]);
    float c[kPieces][4] = {};
    if (is_bf16) {
        multiplyRanks<true>(c, x_low, x_high, u.k, rows, bounds);
    } else {
        multiplyRanks<false>(c, x_low, x_high, u.k, rows, bounds);
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
