// SPDX-License-Identifier: Apache-2.0
// Routed experts of the rows of a prompt: rows of each expert stand side by side, and one launch
// multiplies those of many experts with their 4-bit weights (code_tiles.cuh).
#include "kernels/cuda/device/prompt/code_tiles.cuh"
#include "kernels/cuda/device/common/expert_args.h"

using namespace kernels::cuda;

namespace {

#if __CUDA_ARCH__ >= 800
/// The rows of an expert among those of x, from first row `m0` on.
struct ExpertTile {
    int expert;
    int64_t before; ///< Rows of x in front of the expert's.
    int64_t rows;
    int64_t m0;

    __device__ __forceinline__ ExpertTile(const ExpertProductKernelArgs& a, int tile_rows)
        : expert(a.expert + static_cast<int>(blockIdx.z)), before(a.first[expert] - a.place),
          rows(a.first[expert + 1] - a.first[expert]),
          m0(static_cast<int64_t>(blockIdx.x) * tile_rows) {}
    [[nodiscard]] __device__ __forceinline__ const void* inputOf(const ProductKernelArgs& a) const {
        return static_cast<const __nv_bfloat16*>(a.x) + before * a.k;
    }
};
#endif

/// y = W x of every expert, in fp32.
template <typename FORM>
__device__ __forceinline__ void storeExperts(const ExpertProductKernelArgs& args) {
#if __CUDA_ARCH__ >= 800
    const ProductKernelArgs& a = args.codes.product;
    const ExpertTile own(args, FORM::kRows);
    if (own.m0 >= own.rows) {
        return;
    }
    const int n = a.n[0];
    const int n0 = static_cast<int>(blockIdx.y) * kOutputs;
    CodeTile<false, FORM> tile;
    if (tile.multiply(args.codes, {own.inputOf(a), own.rows, own.expert * n, 0}, own.m0, 0, n0, 0,
                      static_cast<int>(a.k))) {
        tile.store(static_cast<float*>(a.y[0]) + own.before * a.stride[0], a.stride[0], own.m0,
                   own.rows, n0, n);
    }
#endif
}

/// y = act(gate x) * (up x) of every expert, in bf16. An expert has its rows of gate, then
/// those of up.
template <typename FORM>
__device__ __forceinline__ void gatedExperts(const ExpertProductKernelArgs& args) {
#if __CUDA_ARCH__ >= 800
    const ProductKernelArgs& a = args.codes.product;
    const ExpertTile own(args, FORM::kRows);
    if (own.m0 >= own.rows) {
        return;
    }
    const int n = a.n[0];
    const int n0 = static_cast<int>(blockIdx.y) * (kOutputs / 2);
    const int first = own.expert * 2 * n;
    CodeTile<true, FORM> tile;
    if (tile.multiply(args.codes, {own.inputOf(a), own.rows, first, first + n}, own.m0, 0, n0, 0,
                      static_cast<int>(a.k))) {
        tile.storeGated(a.activation,
                        static_cast<__nv_bfloat16*>(a.y[0]) + own.before * a.stride[0], a.stride[0],
                        own.m0, own.rows, n0, n);
    }
#endif
}

} // namespace

extern "C" {

// grid: (row tiles of the busiest expert, column tiles of one, experts); block 128 threads a group,
// productCodesShared() bytes of shared memory. Even numbers of outputs; columns a multiple of 64.
__global__ void __launch_bounds__(128, 3)
    belfry_product_experts(const __grid_constant__ ExpertProductKernelArgs args) {
    storeExperts<TileForm<4, 1, true>>(args);
}
__global__ void __launch_bounds__(128, 3)
    belfry_product_experts_gated(const __grid_constant__ ExpertProductKernelArgs args) {
    gatedExperts<TileForm<4, 1, true>>(args);
}
__global__ void __launch_bounds__(256, 2)
    belfry_product_experts_32(const __grid_constant__ ExpertProductKernelArgs args) {
    storeExperts<TileForm<2, 2, true>>(args);
}
__global__ void __launch_bounds__(256, 2)
    belfry_product_experts_32_gated(const __grid_constant__ ExpertProductKernelArgs args) {
    gatedExperts<TileForm<2, 2, true>>(args);
}
__global__ void __launch_bounds__(384, 2)
    belfry_product_experts_16(const __grid_constant__ ExpertProductKernelArgs args) {
    storeExperts<TileForm<1, 3, true>>(args);
}
__global__ void __launch_bounds__(384, 2)
    belfry_product_experts_16_gated(const __grid_constant__ ExpertProductKernelArgs args) {
    gatedExperts<TileForm<1, 3, true>>(args);
}

// grid: rows of y; block 256. Row i of y is row rows[i] of x, without rows row i, as bf16.
__global__ void
belfry_take_rows(const float* x, int64_t stride, const int32_t* rows, __nv_bfloat16* y, int cols) {
    const int64_t i = blockIdx.x;
    const float* const from = x + (rows != nullptr ? rows[i] : i) * stride;
    auto* const to = reinterpret_cast<__nv_bfloat162*>(y + i * cols);
    for (auto c = static_cast<int>(threadIdx.x); c < cols / 2; c += static_cast<int>(blockDim.x)) {
        to[c] = __floats2bfloat162_rn(from[2 * c], from[2 * c + 1]);
    }
}

// grid: (rows of total, tiles of 256 columns); block 256. total[r,:] += weights[p] * x[p - place,:]
// for those places p of row r, in their order, that are among the `count` from `place` on.
__global__ void belfry_sum_experts(const float* x,
                                   int64_t stride,
                                   const int32_t* places,
                                   int top_k,
                                   const float* weights,
                                   int64_t place,
                                   int64_t count,
                                   float* total,
                                   int64_t total_stride,
                                   int cols) {
    const int64_t row = blockIdx.x;
    const auto col = static_cast<int>(blockIdx.y * blockDim.x + threadIdx.x);
    if (col >= cols) {
        return;
    }
    float* const to = total + row * total_stride + col;
    float sum = *to;
    for (int j = 0; j < top_k; ++j) {
        const int64_t at = places[row * top_k + j] - place;
        if (at >= 0 && at < count) {
            sum = fmaf(weights[place + at], x[at * stride + col], sum);
        }
    }
    *to = sum;
}

} // extern "C"
