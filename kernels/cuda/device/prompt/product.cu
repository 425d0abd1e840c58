// SPDX-License-Identifier: Apache-2.0
// Products of bf16 rows with up to three weights in one launch, with what a layer does before and
// behind them: bounds of inputs and outputs, the product of a gated MLP, the gate of the
// per-layer inputs. Results that the next product reads are bf16. Low-rank updates have kernels of
// their own. Needs sm_80.
#include "kernels/cuda/device/prompt/gemm_tiles.cuh"
#include "kernels/cuda/device/prompt/product_updates.cuh"

using namespace kernels::cuda;

namespace {

[[maybe_unused]] __device__ __forceinline__ float bounded(float value, float low, float high) {
    value = value < low ? low : value; // comparisons with NaN are false: NaN passes through
    return value > high ? high : value;
}

/// Sums of this block's tile, with bounded inputs where there are bounds.
template <int BM,
          int BN,
          int WM,
          int WN,
          int STAGES,
          bool IS_PAIR,
          typename CopyA,
          typename CopyB,
          typename Add>
__device__ __forceinline__ void sumsOf(float (&sums)[BM / WM / 16][BN / WN / 8][4],
                                       CopyA& copy_a,
                                       CopyB& copy_b,
                                       int k_begin,
                                       int k_end,
                                       const ProductKernelArgs& a,
                                       int weight,
                                       const Add& add) {
    InputBounds bounds[2] = {};
    if (a.is_bounded == 0) {
        multiplyTiles<BM, BN, WM, WN, STAGES, 0>(sums, copy_a, copy_b, k_begin, k_end, bounds, add);
        return;
    }
    bounds[0] = inputBounds(a.in_low[weight], a.in_high[weight]);
    if constexpr (IS_PAIR) {
        bounds[1] = inputBounds(a.in_low[1], a.in_high[1]);
        multiplyTiles<BM, BN, WM, WN, STAGES, 2>(sums, copy_a, copy_b, k_begin, k_end, bounds, add);
    } else {
        multiplyTiles<BM, BN, WM, WN, STAGES, 1>(sums, copy_a, copy_b, k_begin, k_end, bounds, add);
    }
}

/// The updates of a tile that begins at row m0 and output n0; a pair has half as many outputs.
template <int BM, int BN, int WM, int WN, bool IS_PAIR>
struct AddUpdates {
    const ProductUpdatesArgs& updates;
    int64_t m0;
    int weight, n0, n;
    template <typename Sums>
    __device__ __forceinline__ void operator()(Sums& sums) const {
        const int warp = threadIdx.x / 32;
        if (blockIdx.z + 1 == gridDim.z) { // once
            addUpdates<IS_PAIR>(sums, updates, weight, m0 + (warp % WM) * (BM / WM),
                                n0 + (warp / WM) * (BN / WN / (IS_PAIR ? 2 : 1)), n);
        }
    }
};

/// y[i] = bounded(W[i] bounded(x)) in fp32, in gridDim.z parts of k one behind the other; or
/// IS_GATE: y[0] = act(W[0] x) * multiply in bf16.
template <int BM, int BN, int WM, int WN, int STAGES, bool IS_GATE, bool HAS_UPDATES = false>
__device__ __forceinline__ void product(const ProductKernelArgs& a,
                                        const ProductUpdatesArgs* updates = nullptr) {
#if __CUDA_ARCH__ >= 800
    constexpr int kThreads = WM * WN * 32;
    constexpr int kTilesM = BM / WM / 16;
    constexpr int kTilesN = BN / WN / 8;
    const int column = static_cast<int>(blockIdx.y);
    const int weight = a.count > 2 && column >= a.first_tile[2]   ? 2
                       : a.count > 1 && column >= a.first_tile[1] ? 1
                                                                  : 0;
    const int n = a.n[weight];
    const int64_t m0 = static_cast<int64_t>(blockIdx.x) * BM;
    const int n0 = (column - a.first_tile[weight]) * BN;
    const int k = static_cast<int>(a.k);
    const int k_begin = static_cast<int>(blockIdx.z) * a.k_part;
    const int k_end = k_begin + a.k_part < k ? k_begin + a.k_part : k;
    TileCopy<BM, kThreads> copy_a(static_cast<const __nv_bfloat16*>(a.x), m0, a.m, k);
    TileCopy<BN, kThreads> copy_b(static_cast<const __nv_bfloat16*>(a.w[weight]), n0, n, k);
    float sums[kTilesM][kTilesN][4] = {};
    if constexpr (HAS_UPDATES) {
        sumsOf<BM, BN, WM, WN, STAGES, false>(
            sums, copy_a, copy_b, k_begin, k_end, a, weight,
            AddUpdates<BM, BN, WM, WN, false>{*updates, m0, weight, n0, n});
    } else {
        sumsOf<BM, BN, WM, WN, STAGES, false>(sums, copy_a, copy_b, k_begin, k_end, a, weight,
                                              NothingElse{});
    }
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    const int64_t row0 = m0 + (warp % WM) * (BM / WM) + lane / 4;
    const int col0 = n0 + (warp / WM) * (BN / WN) + (lane % 4) * 2;
    const int64_t stride = a.stride[weight];
    const float low = a.out_low[weight];
    const float high = a.out_high[weight];
#pragma unroll
    for (int i = 0; i < kTilesM; ++i) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int64_t row = row0 + i * 16 + half * 8;
            if (row >= a.m) {
                continue;
            }
#pragma unroll
            for (int j = 0; j < kTilesN; ++j) {
                const int col = col0 + j * 8; // n is even
                if (col >= n) {
                    continue;
                }
                const float v0 = bounded(sums[i][j][half * 2], low, high);
                const float v1 = bounded(sums[i][j][half * 2 + 1], low, high);
                if constexpr (IS_GATE) {
                    const float* by = a.multiply + row * a.multiply_stride + col;
                    *reinterpret_cast<__nv_bfloat162*>(static_cast<__nv_bfloat16*>(a.y[0]) +
                                                       row * stride + col) =
                        __floats2bfloat162_rn(activated(a.activation, v0) * by[0],
                                              activated(a.activation, v1) * by[1]);
                } else {
                    float* to = static_cast<float*>(a.y[weight]) +
                                static_cast<int64_t>(blockIdx.z) * a.m * stride + row * stride +
                                col;
                    *reinterpret_cast<float2*>(to) = make_float2(v0, v1);
                }
            }
        }
    }
#endif
}

/// y[0] = act(bounded(W[0] bounded(x))) * bounded(W[1] bounded(x)) in bf16. A tile holds both
/// weights in turns of eight rows, so that a thread has both results of an output.
template <int BM, int BN, int WM, int WN, int STAGES, bool HAS_UPDATES = false>
__device__ __forceinline__ void pairProduct(const ProductKernelArgs& a,
                                            const ProductUpdatesArgs* updates = nullptr) {
#if __CUDA_ARCH__ >= 800
    constexpr int kThreads = WM * WN * 32;
    constexpr int kTilesM = BM / WM / 16;
    constexpr int kTilesN = BN / WN / 8;
    const int n = a.n[0];
    const int64_t m0 = static_cast<int64_t>(blockIdx.x) * BM;
    const int n0 = static_cast<int>(blockIdx.y) * (BN / 2);
    const int k = static_cast<int>(a.k);
    TileCopy<BM, kThreads> copy_a(static_cast<const __nv_bfloat16*>(a.x), m0, a.m, k);
    TileCopy<BN, kThreads> copy_b(static_cast<const __nv_bfloat16*>(a.w[0]),
                                  static_cast<const __nv_bfloat16*>(a.w[1]), n0, n, k);
    float sums[kTilesM][kTilesN][4] = {};
    if constexpr (HAS_UPDATES) {
        sumsOf<BM, BN, WM, WN, STAGES, true>(
            sums, copy_a, copy_b, 0, k, a, 0,
            AddUpdates<BM, BN, WM, WN, true>{*updates, m0, 0, n0, n});
    } else {
        sumsOf<BM, BN, WM, WN, STAGES, true>(sums, copy_a, copy_b, 0, k, a, 0, NothingElse{});
    }
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    const int64_t row0 = m0 + (warp % WM) * (BM / WM) + lane / 4;
    const int col0 = n0 + (warp / WM) * (BN / WN / 2) + (lane % 4) * 2;
    const int64_t stride = a.stride[0];
    withActivation(a.activation, [&](const auto& act) {
#pragma unroll
        for (int i = 0; i < kTilesM; ++i) {
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                const int64_t row = row0 + i * 16 + half * 8;
                if (row >= a.m) {
                    continue;
                }
#pragma unroll
                for (int j = 0; j < kTilesN; j += 2) {
                    const int col = col0 + j * 4; // n is even
                    if (col >= n) {
                        continue;
                    }
                    float v[2];
#pragma unroll
                    for (int e = 0; e < 2; ++e) {
                        const float gate =
                            bounded(sums[i][j][half * 2 + e], a.out_low[0], a.out_high[0]);
                        const float up =
                            bounded(sums[i][j + 1][half * 2 + e], a.out_low[1], a.out_high[1]);
                        v[e] = act(gate) * up;
                    }
                    *reinterpret_cast<__nv_bfloat162*>(static_cast<__nv_bfloat16*>(a.y[0]) +
                                                       row * stride + col) =
                        __floats2bfloat162_rn(v[0], v[1]);
                }
            }
        }
    });
#endif
}

} // namespace

extern "C" {

// Store: grid (ceil(m / tile), column tiles of all weights, parts); pair: grid (ceil(m / tile),
// ceil(n / (tile / 2))). 128: block 256, 98304 bytes of shared memory; 64: block 128, 65536. Even
// numbers of outputs, k % 8 == 0.
__global__ void __launch_bounds__(256, 2)
    belfry_product_128(const __grid_constant__ ProductKernelArgs a) {
    product<128, 128, 2, 4, 3, false>(a);
}
__global__ void __launch_bounds__(128, 3)
    belfry_product_64(const __grid_constant__ ProductKernelArgs a) {
    product<64, 64, 2, 2, 4, false>(a);
}
__global__ void __launch_bounds__(128, 3)
    belfry_product_gate(const __grid_constant__ ProductKernelArgs a) {
    product<64, 64, 2, 2, 4, true>(a);
}
__global__ void __launch_bounds__(256, 2)
    belfry_product_pair_128(const __grid_constant__ ProductKernelArgs a) {
    pairProduct<128, 128, 2, 4, 3>(a);
}
__global__ void __launch_bounds__(128, 3)
    belfry_product_pair_64(const __grid_constant__ ProductKernelArgs a) {
    pairProduct<64, 64, 2, 2, 4>(a);
}

// The same with low-rank updates, added before the bounds of the results.
__global__ void __launch_bounds__(256, 2)
    belfry_product_128_updates(const __grid_constant__ ProductKernelArgs a,
                               const __grid_constant__ ProductUpdatesArgs u) {
    product<128, 128, 2, 4, 3, false, true>(a, &u);
}
__global__ void __launch_bounds__(128, 3)
    belfry_product_64_updates(const __grid_constant__ ProductKernelArgs a,
                              const __grid_constant__ ProductUpdatesArgs u) {
    product<64, 64, 2, 2, 4, false, true>(a, &u);
}
__global__ void __launch_bounds__(128, 3)
    belfry_product_gate_updates(const __grid_constant__ ProductKernelArgs a,
                                const __grid_constant__ ProductUpdatesArgs u) {
    product<64, 64, 2, 2, 4, true, true>(a, &u);
}
__global__ void __launch_bounds__(256, 2)
    belfry_product_pair_128_updates(const __grid_constant__ ProductKernelArgs a,
                                    const __grid_constant__ ProductUpdatesArgs u) {
    pairProduct<128, 128, 2, 4, 3, true>(a, &u);
}
__global__ void __launch_bounds__(128, 3)
    belfry_product_pair_64_updates(const __grid_constant__ ProductKernelArgs a,
                                   const __grid_constant__ ProductUpdatesArgs u) {
    pairProduct<64, 64, 2, 2, 4, true>(a, &u);
}

} // extern "C"
