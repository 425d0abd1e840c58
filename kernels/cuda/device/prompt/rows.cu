// SPDX-License-Identifier: Apache-2.0
// What stands between the products of many rows: residual sums and norms of whole rows, norms and
// RoPE of heads, each in one pass that writes what the next product or the attention reads (bf16).
#include "kernels/cuda/device/common/kv_codes.cuh"

using namespace kernels::cuda;

namespace {

constexpr int kRowThreads = 256;

__device__ __forceinline__ float4 load4(const VectorArgs& v, int column) {
    if (v.type == kElementF32 && (reinterpret_cast<uintptr_t>(v.data) & 15U) == 0) {
        return *reinterpret_cast<const float4*>(static_cast<const float*>(v.data) + column);
    }
    return make_float4(loadElement(v.data, v.type, column), loadElement(v.data, v.type, column + 1),
                       loadElement(v.data, v.type, column + 2),
                       loadElement(v.data, v.type, column + 3));
}

__device__ __forceinline__ float squares(float4 v) {
    return v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
}

__device__ __forceinline__ uint2 half4(float4 v) {
    const __nv_bfloat162 low = __floats2bfloat162_rn(v.x, v.y);
    const __nv_bfloat162 high = __floats2bfloat162_rn(v.z, v.w);
    return make_uint2(*reinterpret_cast<const uint32_t*>(&low),
                      *reinterpret_cast<const uint32_t*>(&high));
}

__device__ __forceinline__ void storeHalf(void* to, int64_t index, float value) {
    static_cast<__nv_bfloat16*>(to)[index] = __float2bfloat16_rn(value);
}

/// x = (x + rms(t) t_norm) scalar, where there is t (a sum over parts), t_norm or not; h = rms(x)
/// norm, or x. One row, of up to 1024 PIECES columns: so many float4 of a thread stay in registers.
template <int PIECES>
__device__ __forceinline__ void normRow(const NormRowsKernelArgs& a) {
    BELFRY_SHARED(float, buffer, [33]);
    const int64_t row = blockIdx.x;
    float* const x = a.x + row * a.cols;
    const float cols = static_cast<float>(a.cols);
    float4 value[PIECES];
#pragma unroll
    for (int i = 0; i < PIECES; ++i) {
        const int column = (i * kRowThreads + static_cast<int>(threadIdx.x)) * 4;
        value[i] = column < a.cols ? *reinterpret_cast<const float4*>(x + column)
                                   : make_float4(0.0F, 0.0F, 0.0F, 0.0F);
    }
    if (a.t != nullptr) {
        float4 added[PIECES] = {};
        // A part at a time, so that all pieces of it are on their way together.
        const float* from = a.t + row * a.cols + static_cast<int>(threadIdx.x) * 4;
#pragma unroll 1
        for (int part = 0; part < a.parts; ++part) {
#pragma unroll
            for (int i = 0; i < PIECES; ++i) {
                const int column = (i * kRowThreads + static_cast<int>(threadIdx.x)) * 4;
                if (column < a.cols) {
                    const float4 t = *reinterpret_cast<const float4*>(from + i * kRowThreads * 4);
                    added[i].x += t.x;
                    added[i].y += t.y;
                    added[i].z += t.z;
                    added[i].w += t.w;
                }
            }
            from += a.rows * a.cols;
        }
        float sum = 0.0F;
#pragma unroll
        for (int i = 0; i < PIECES; ++i) {
            sum += squares(added[i]);
        }
        sum = blockSum(sum, buffer);
        const bool has_norm = a.has_t_norm != 0;
        const float inverse = has_norm ? 1.0F / sqrtf(sum / cols + a.eps) : 1.0F;
#pragma unroll
        for (int i = 0; i < PIECES; ++i) {
            const int column = (i * kRowThreads + static_cast<int>(threadIdx.x)) * 4;
            if (column < a.cols) {
                const float4 w =
                    has_norm ? load4(a.t_norm, column) : make_float4(1.0F, 1.0F, 1.0F, 1.0F);
                value[i].x = (value[i].x + added[i].x * inverse * w.x) * a.scalar;
                value[i].y = (value[i].y + added[i].y * inverse * w.y) * a.scalar;
                value[i].z = (value[i].z + added[i].z * inverse * w.z) * a.scalar;
                value[i].w = (value[i].w + added[i].w * inverse * w.w) * a.scalar;
                *reinterpret_cast<float4*>(x + column) = value[i];
            }
        }
    }
    if (a.h == nullptr) {
        return;
    }
    float inverse = 1.0F;
    if (a.has_norm != 0) {
        float sum = 0.0F;
#pragma unroll
        for (int i = 0; i < PIECES; ++i) {
            sum += squares(value[i]);
        }
        sum = blockSum(sum, buffer);
        inverse = 1.0F / sqrtf(sum / cols + a.eps);
    }
#pragma unroll
    for (int i = 0; i < PIECES; ++i) {
        const int column = (i * kRowThreads + static_cast<int>(threadIdx.x)) * 4;
        if (column < a.cols) {
            float4 v = value[i];
            if (a.has_norm != 0) {
                const float4 w = load4(a.norm, column);
                v = make_float4(v.x * inverse * w.x, v.y * inverse * w.y, v.z * inverse * w.z,
                                v.w * inverse * w.w);
            }
            *reinterpret_cast<uint2*>(static_cast<__nv_bfloat16*>(a.h) + row * a.cols + column) =
                half4(v);
        }
    }
}

} // namespace

extern "C" {

/// Rows of up to 4096 columns, cols % 4 == 0. grid: rows; block 256.
__global__ void __launch_bounds__(kRowThreads)
    belfry_norm_rows(const __grid_constant__ NormRowsKernelArgs a) {
    normRow<4>(a);
}

/// The same of up to 8192 columns.
__global__ void __launch_bounds__(kRowThreads)
    belfry_norm_rows_wide(const __grid_constant__ NormRowsKernelArgs a) {
    normRow<8>(a);
}

/// Heads of q, k and v of one row: a warp each. q and k: rms norm with weight, if there is one, and
/// half-split RoPE (position_2: the head's halves turn separately, by the two positions); v: rms
/// norm alone, or nothing. k and v go to rows of a KV cache. grid: (rows, blocks of a row's heads);
/// block: a multiple of 32. dim: even, up to 512.
__global__ void belfry_head_rows(const __grid_constant__ HeadRowsKernelArgs a) {
    constexpr int kMostPairs = 8; // of a lane: 512 elements
    const int64_t row = blockIdx.x;
    const int lane = threadIdx.x % 32;
    const int warps = static_cast<int>(blockDim.x) / 32;
    const int half = a.dim / 2;
    const int jobs = a.heads + (a.k != nullptr ? 2 * a.kv_heads : 0);
    for (int job = static_cast<int>(blockIdx.y) * warps + static_cast<int>(threadIdx.x) / 32;
         job < jobs; job += static_cast<int>(gridDim.y) * warps) {
        const int kind = job < a.heads ? 0 : job < a.heads + a.kv_heads ? 1 : 2; // q, k, v
        const int count = kind == 0 ? a.heads : a.kv_heads;
        const int head = kind == 0 ? job : kind == 1 ? job - a.heads : job - a.heads - a.kv_heads;
        const int64_t width = static_cast<int64_t>(count) * a.dim;
        const float* from = (kind == 0   ? a.q
                             : kind == 1 ? a.k
                                         : a.v) +
                            row * width + static_cast<int64_t>(head) * a.dim;
        // Pair p of a head: the elements that one angle turns.
        const int turns = a.position_2 != nullptr ? 2 : 1;
        const int span = half / turns; // pairs of a rotation
        float first[kMostPairs] = {};
        float second[kMostPairs] = {};
        // As in normRow().
#pragma unroll 1
        for (int part = 0; part < a.parts; ++part) {
#pragma unroll
            for (int i = 0; i < kMostPairs; ++i) {
                const int pair = i * 32 + lane;
                if (pair < half) {
                    const float* const value = from + (pair < span ? pair : pair + span);
                    first[i] += value[0];
                    second[i] += value[span];
                }
            }
            from += a.rows * width;
        }
        float sum = 0.0F;
#pragma unroll
        for (int i = 0; i < kMostPairs; ++i) {
            sum += first[i] * first[i] + second[i] * second[i];
        }
        sum = warpSum(sum);
        const VectorArgs& weight = kind == 0 ? a.q_norm : a.k_norm;
        const bool is_normed = kind < 2 ? weight.data != nullptr : a.norms_values != 0;
        const float inverse =
            is_normed ? 1.0F / sqrtf(sum / static_cast<float>(a.dim) + a.eps) : 1.0F;
#pragma unroll
        for (int i = 0; i < kMostPairs; ++i) {
            const int pair = i * 32 + lane;
            if (pair >= half) {
                continue;
            }
            const bool is_second = pair >= span;
            const int at = is_second ? pair + span : pair;
            float u = first[i] * inverse;
            float v = second[i] * inverse;
            if (kind < 2) {
                if (is_normed) {
                    u *= loadElement(weight.data, weight.type, at);
                    v *= loadElement(weight.data, weight.type, at + span);
                }
                const int32_t* position = is_second ? a.position_2 : a.position;
                const float angle = __fmul_rn(static_cast<float>(position[row]),
                                              a.inv_freq[is_second ? pair - span : pair]);
                float sine = 0.0F;
                float cosine = 0.0F;
                sincosf(angle, &sine, &cosine);
                const float turned = u * cosine - v * sine;
                v = v * cosine + u * sine;
                u = turned;
            }
            first[i] = u;
            second[i] = v;
        }
        const auto each = [&](const auto& store) {
#pragma unroll
            for (int i = 0; i < kMostPairs; ++i) {
                const int pair = i * 32 + lane;
                if (pair < half) {
                    store(head * a.dim + (pair < span ? pair : pair + span), first[i], second[i]);
                }
            }
        };
        if (kind == 0) {
            each([&](int at, float u, float v) {
                storeHalf(a.q_to, row * width + at, u);
                storeHalf(a.q_to, row * width + at + span, v);
            });
            continue;
        }
        uint32_t largest = 0;
        if (a.kv.scales_at != 0) {
            each([&](int, float u, float v) {
                largest = max(largest, max(magnitudeOf(u), magnitudeOf(v)));
            });
            largest = warpMaxBits(largest);
        }
        const KvCoder coder(largest);
#pragma unroll
        for (int j = 0; j < 2; ++j) {
            void* const data = kind == 1 ? a.k_to[j] : a.v_to[j];
            if (data == nullptr || row < a.first[j]) {
                continue;
            }
            const int64_t slot = a.slot[j] != nullptr ? a.slot[j][row - a.first[j]] : row;
            if (slot < 0 || slot >= a.capacity[j]) {
                continue;
            }
            char* const to = static_cast<char*>(data) + slot * a.kv.bytes;
            if (a.kv.scales_at == 0) {
                each([&](int at, float u, float v) {
                    storeHalf(to, at, u);
                    storeHalf(to, at + span, v);
                });
                continue;
            }
            each([&](int at, float u, float v) {
                to[at] = static_cast<char>(coder.code(u));
                to[at + span] = static_cast<char>(coder.code(v));
            });
            if (lane == 0) {
                *reinterpret_cast<float*>(to + a.kv.scales_at + 4 * head) = coder.scale;
            }
        }
    }
}

/// Every slice of a row: y = (rms(y before) norm + t) after. grid: (rows, slices); block 64; cols a
/// multiple of 4, at most 1024.
__global__ void __launch_bounds__(64) belfry_per_layer_rows(float* y,
                                                            int64_t y_stride,
                                                            const float* t,
                                                            int64_t t_stride,
                                                            VectorArgs norm,
                                                            int cols,
                                                            float eps,
                                                            float before,
                                                            float after) {
    BELFRY_SHARED(float, buffer, [33]);
    constexpr int kPieces = 4;
    float* const row = y + blockIdx.x * y_stride + static_cast<int64_t>(blockIdx.y) * cols;
    const float* const added = t + blockIdx.x * t_stride + static_cast<int64_t>(blockIdx.y) * cols;
    float4 value[kPieces];
    float sum = 0.0F;
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
        const int column = (i * 64 + static_cast<int>(threadIdx.x)) * 4;
        value[i] = make_float4(0.0F, 0.0F, 0.0F, 0.0F);
        if (column < cols) {
            const float4 v = *reinterpret_cast<const float4*>(row + column);
            value[i] = make_float4(v.x * before, v.y * before, v.z * before, v.w * before);
        }
        sum += squares(value[i]);
    }
    sum = blockSum(sum, buffer);
    const float inverse = 1.0F / sqrtf(sum / static_cast<float>(cols) + eps);
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
        const int column = (i * 64 + static_cast<int>(threadIdx.x)) * 4;
        if (column < cols) {
            const float4 w = load4(norm, column);
            const float4 u = *reinterpret_cast<const float4*>(added + column);
            *reinterpret_cast<float4*>(row + column) =
                make_float4((value[i].x * inverse * w.x + u.x) * after,
                            (value[i].y * inverse * w.y + u.y) * after,
                            (value[i].z * inverse * w.z + u.z) * after,
                            (value[i].w * inverse * w.w + u.w) * after);
        }
    }
}

/// y[i] = bf16((x[i] + shift) * scale), count % 4 == 0.
__global__ void
belfry_scale_to_half(const float* x, float scale, float shift, void* y, int64_t count) {
    const int64_t i = (static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) * 4;
    if (i < count) {
        const float4 v = *reinterpret_cast<const float4*>(x + i);
        *reinterpret_cast<uint2*>(static_cast<__nv_bfloat16*>(y) + i) = half4(make_float4(
            __fmul_rn(__fadd_rn(v.x, shift), scale), __fmul_rn(__fadd_rn(v.y, shift), scale),
            __fmul_rn(__fadd_rn(v.z, shift), scale), __fmul_rn(__fadd_rn(v.w, shift), scale)));
    }
}

/// y[token] = factor * sum of the side x side rows of x [grid_h * grid_w, cols] that it stands for.
/// grid: (tokens, column tiles).
__global__ void
belfry_pool_rows(const float* x, int grid_w, int side, float factor, float* y, int cols) {
    const int c = blockIdx.y * blockDim.x + threadIdx.x;
    if (c >= cols) {
        return;
    }
    const int across = grid_w / side;
    const int64_t top = static_cast<int64_t>(blockIdx.x / across) * side;
    const int64_t left = static_cast<int64_t>(blockIdx.x % across) * side;
    float sum = 0.0F;
    for (int r = 0; r < side; ++r) {
        for (int i = 0; i < side; ++i) {
            sum += x[((top + r) * grid_w + left + i) * cols + c];
        }
    }
    y[static_cast<int64_t>(blockIdx.x) * cols + c] = sum * factor;
}

/// y = act(sum of t's parts) * multiply in bf16: what a gated product leaves. t [parts, rows,
/// cols]; cols and both strides are even; two elements a thread.
__global__ void belfry_gate_rows(Activation activation,
                                 const float* t,
                                 int parts,
                                 int64_t rows,
                                 int cols,
                                 const float* multiply,
                                 int64_t multiply_stride,
                                 __nv_bfloat16* y) {
    const int64_t i = 2 * (static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x);
    const int64_t count = rows * cols;
    if (i >= count) {
        return;
    }
    float2 sum = make_float2(0.0F, 0.0F);
    for (int part = 0; part < parts; ++part) {
        const float2 two = *reinterpret_cast<const float2*>(t + part * count + i);
        sum.x += two.x;
        sum.y += two.y;
    }
    const float* by = multiply + i / cols * multiply_stride + i % cols;
    *reinterpret_cast<__nv_bfloat162*>(y + i) = __floats2bfloat162_rn(
        activated(activation, sum.x) * by[0], activated(activation, sum.y) * by[1]);
}

} // extern "C"
