// SPDX-License-Identifier: Apache-2.0
// Products of bf16 rows with up to three 4-bit weights as they are stored (code_tiles.cuh).
#include "kernels/cuda/device/prompt/code_tiles.cuh"

using namespace kernels::cuda;

namespace {

__device__ __forceinline__ TileSource allOf(const ProductKernelArgs& a) {
    return {a.x, a.m, 0, 0};
}

/// y[i] = W[i] x in fp32, in gridDim.z parts of k one behind the other.
template <typename FORM, bool HAS_UPDATES>
__device__ __forceinline__ void storeProduct(const ProductCodesArgs& args,
                                             const ProductUpdatesArgs* u) {
#if __CUDA_ARCH__ >= 800
    const ProductKernelArgs& a = args.product;
    const int column = static_cast<int>(blockIdx.y);
    const int weight = a.count > 2 && column >= a.first_tile[2]   ? 2
                       : a.count > 1 && column >= a.first_tile[1] ? 1
                                                                  : 0;
    const int n = a.n[weight];
    const int64_t m0 = static_cast<int64_t>(blockIdx.x) * FORM::kRows;
    const int n0 = (column - a.first_tile[weight]) * kOutputs;
    const int k = static_cast<int>(a.k);
    const int k_begin = static_cast<int>(blockIdx.z) * a.k_part;
    const int k_end = k_begin + a.k_part < k ? k_begin + a.k_part : k;
    CodeTile<false, FORM> tile;
    bool is_first = false;
    if constexpr (HAS_UPDATES) {
        is_first = tile.multiply(args, allOf(a), m0, weight, n0, k_begin, k_end, [&](auto& sums) {
            waitForPredecessor();
            if (blockIdx.z + 1 == gridDim.z) { // once
                addUpdates<false>(sums, *u, weight, m0,
                                  n0 + static_cast<int>(threadIdx.x) / 32 * kWarpOutputs, n);
            }
        });
    } else {
        is_first = tile.multiply(args, allOf(a), m0, weight, n0, k_begin, k_end);
    }
    if (!is_first) {
        return;
    }
    const int64_t stride = a.stride[weight];
    tile.store(static_cast<float*>(a.y[weight]) + static_cast<int64_t>(blockIdx.z) * a.m * stride,
               stride, m0, a.m, n0, n);
#endif
}

/// y[0] = act(W[0] x) * (W[1] x) in bf16; a tile has 64 rows of each weight.
template <typename FORM, bool HAS_UPDATES>
__device__ __forceinline__ void pairProduct(const ProductCodesArgs& args,
                                            const ProductUpdatesArgs* u) {
#if __CUDA_ARCH__ >= 800
    const ProductKernelArgs& a = args.product;
    const int n = a.n[0];
    const int64_t m0 = static_cast<int64_t>(blockIdx.x) * FORM::kRows;
    const int n0 = static_cast<int>(blockIdx.y) * (kOutputs / 2);
    CodeTile<true, FORM> tile;
    bool is_first = false;
    if constexpr (HAS_UPDATES) {
        is_first =
            tile.multiply(args, allOf(a), m0, 0, n0, 0, static_cast<int>(a.k), [&](auto& sums) {
                waitForPredecessor();
                addUpdates<true>(sums, *u, 0, m0,
                                 n0 + static_cast<int>(threadIdx.x) / 32 * (kWarpOutputs / 2), n);
            });
    } else {
        is_first = tile.multiply(args, allOf(a), m0, 0, n0, 0, static_cast<int>(a.k));
    }
    if (!is_first) {
        return;
    }
    tile.storeGated(a.activation, static_cast<__nv_bfloat16*>(a.y[0]), a.stride[0], m0, a.m, n0, n);
#endif
}

} // namespace

extern "C" {

// grid: (ceil(m / rows of a tile), column tiles of all weights, parts of k); block 128 threads a
// group, productCodesShared() bytes of shared memory. Even numbers of outputs; k and parts of it
// are multiples of kProductCodesColumns; absmax of 64 columns. _updates: with low-rank updates.
// They begin beside belfry_product_ranks, which makes h and stands right before them: behind all
// that comes from codes they wait for it.
// Many rows.
__global__ void __launch_bounds__(128, 3)
    belfry_product_codes(const __grid_constant__ ProductCodesArgs args) {
    storeProduct<TileForm<4, 1>, false>(args, nullptr);
}
__global__ void __launch_bounds__(128, 3)
    belfry_product_codes_pair(const __grid_constant__ ProductCodesArgs args) {
    pairProduct<TileForm<4, 1>, false>(args, nullptr);
}
__global__ void __launch_bounds__(128, 3)
    belfry_product_codes_updates(const __grid_constant__ ProductCodesArgs args,
                                 const __grid_constant__ ProductUpdatesArgs u) {
    storeProduct<TileForm<4, 1>, true>(args, &u);
}
__global__ void __launch_bounds__(128, 3)
    belfry_product_codes_pair_updates(const __grid_constant__ ProductCodesArgs args,
                                      const __grid_constant__ ProductUpdatesArgs u) {
    pairProduct<TileForm<4, 1>, true>(args, &u);
}

// Up to 16, up to 32.
__global__ void __launch_bounds__(384, 2)
    belfry_product_codes_16(const __grid_constant__ ProductCodesArgs args) {
    storeProduct<TileForm<1, 3>, false>(args, nullptr);
}
__global__ void __launch_bounds__(384, 2)
    belfry_product_codes_16_pair(const __grid_constant__ ProductCodesArgs args) {
    pairProduct<TileForm<1, 3>, false>(args, nullptr);
}
__global__ void __launch_bounds__(384, 2)
    belfry_product_codes_16_updates(const __grid_constant__ ProductCodesArgs args,
                                    const __grid_constant__ ProductUpdatesArgs u) {
    storeProduct<TileForm<1, 3>, true>(args, &u);
}
__global__ void __launch_bounds__(384, 2)
    belfry_product_codes_16_pair_updates(const __grid_constant__ ProductCodesArgs args,
                                         const __grid_constant__ ProductUpdatesArgs u) {
    pairProduct<TileForm<1, 3>, true>(args, &u);
}
__global__ void __launch_bounds__(256, 2)
    belfry_product_codes_32(const __grid_constant__ ProductCodesArgs args) {
    storeProduct<TileForm<2, 2>, false>(args, nullptr);
}
__global__ void __launch_bounds__(256, 2)
    belfry_product_codes_32_pair(const __grid_constant__ ProductCodesArgs args) {
    pairProduct<TileForm<2, 2>, false>(args, nullptr);
}
__global__ void __launch_bounds__(256, 2)
    belfry_product_codes_32_updates(const __grid_constant__ ProductCodesArgs args,
                                    const __grid_constant__ ProductUpdatesArgs u) {
    storeProduct<TileForm<2, 2>, true>(args, &u);
}
__global__ void __launch_bounds__(256, 2)
    belfry_product_codes_32_pair_updates(const __grid_constant__ ProductCodesArgs args,
                                         const __grid_constant__ ProductUpdatesArgs u) {
    pairProduct<TileForm<2, 2>, true>(args, &u);
}

} // extern "C"
