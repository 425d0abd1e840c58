// SPDX-License-Identifier: Apache-2.0
// Projection step of a decoded token: up to three weights times one row, with the norm and residual
// work in front and the activation behind in the same launch. Memory-bound by design: weights are
// read once, 4-bit codes are expanded through a table in shared memory.
//
// The table maps a byte (two codes) to two fp16 code values and is replicated for the 32 banks, so
// that a look-up costs one conflict-free 4-byte read for two weights. Products run in packed fp16
// over eight terms at a time and are summed in fp32, where the block's absmax is applied; the input
// row is scaled by a power of two so that its largest element is between 8 and 16. The error stays
// below that of rounding the input to bf16.
//
// One lane owns 16 neighbouring weights of a "slab" of 512. Row groups are dealt out over all warps
// of the grid; k_split warps of a block may share a group.
#include "kernels/cuda/device/common.cuh"

using namespace kernels::cuda;

namespace {

constexpr int kThreads = 512;
constexpr int kWarps = kThreads / 32;
constexpr int kSlab = 512;
constexpr int kTableBytes = 256 * 32 * 4;

struct Shared {
    uint32_t* table;  // [256, 32] half2, 4-bit formats
    float* nested;    // [3, 256], nested 4-bit formats: one table a weight
    uint4* x;         // [slabs, 2, 32]: 16 fp16 values a lane
    float* row;       // [cols] fp32, residual inputs
    float* reduce;    // [2, 16, 4]
    float* buffer;    // [33]
};

__device__ __forceinline__ float vectorAt(const VectorArgs& v, int i) {
    return v.data == nullptr ? 1.0F : loadElement(v.data, v.type, i);
}

__device__ __forceinline__ void fillTable(const Shared& s, int format) {
    const uint32_t* codes = format == kFormatFp4 ? kFp4Codes : kNf4Codes;
    // Thread t fills four of the 32 copies of entries t / 8, t / 8 + 64, ...
    for (int entry = threadIdx.x / 8; entry < 256; entry += kThreads / 8) {
        const __half2 pair = __floats2half2_rn(__uint_as_float(codes[entry >> 4]),
                                               __uint_as_float(codes[entry & 15]));
        const uint32_t bits = *reinterpret_cast<const uint32_t*>(&pair);
        reinterpret_cast<uint4*>(s.table)[entry * 8 + (threadIdx.x & 7)] =
            make_uint4(bits, bits, bits, bits);
    }
}

/// Makes h in fp16 in shared memory; returns the factor that undoes its scaling.
__device__ float makeInput(const ProjectKernelArgs& a, const Shared& s) {
    const int n = a.cols;
    const float* source = a.x;
    float inverse = 1.0F;
    const bool is_normed = a.input == kInputNorm || a.input == kInputResidualNorm;
    if (a.input == kInputResidualNorm || a.input == kInputResidual) {
        float sum = 0.0F;
        for (int i = threadIdx.x; i < n; i += kThreads) {
            sum += a.t[i] * a.t[i];
        }
        sum = blockSum(sum, s.buffer);
        const float scale = 1.0F / sqrtf(sum / static_cast<float>(n) + a.eps);
        for (int i = threadIdx.x; i < n; i += kThreads) {
            const float r = (a.x[i] + a.t[i] * scale * vectorAt(a.t_norm, i)) * a.scalar;
            s.row[i] = r;
            if (blockIdx.x == 0) {
                a.x_out[i] = r;
            }
        }
        source = s.row; // every thread reads back only what it wrote itself
    }
    float largest = 0.0F;
    if (is_normed) {
        float sum = 0.0F;
        for (int i = threadIdx.x; i < n; i += kThreads) {
            sum += source[i] * source[i];
        }
        sum = blockSum(sum, s.buffer);
        inverse = 1.0F / sqrtf(sum / static_cast<float>(n) + a.eps);
    }
    for (int i = threadIdx.x; i < n; i += kThreads) {
        const float h = is_normed ? source[i] * inverse * vectorAt(a.norm, i) : source[i];
        largest = fmaxf(largest, fabsf(h));
    }
    largest = blockMax(largest, s.buffer);
    // 2^exponent <= largest < 2^(exponent + 1); zero and non-finite rows stay as they are.
    int exponent = 3;
    if (largest > 0.0F && largest < INFINITY) {
        exponent = ilogbf(largest);
    }
    const float down = scalbnf(1.0F, 3 - exponent);
    __half* x = reinterpret_cast<__half*>(s.x);
    for (int i = threadIdx.x; i < a.x_elements; i += kThreads) {
        float h = 0.0F;
        if (i < n) {
            h = is_normed ? source[i] * inverse * vectorAt(a.norm, i) : source[i];
        }
        // slab, lane, half of the lane's 16, element
        const int at = (i & ~(kSlab - 1)) + ((i >> 3) & 1) * 256 + ((i >> 4) & 31) * 8 + (i & 7);
        x[at] = __float2half_rn(h * down);
    }
    __syncthreads();
    return scalbnf(1.0F, exponent - 3);
}

struct RowRef {
    const WeightArgs* w;
    int64_t row;
    int weight; // index of w
};

template <int FORMAT>
struct Codes;
template <>
struct Codes<kFormatNf4> {
    uint2 bits;
};
template <>
struct Codes<kFormatInt8Row> {
    uint4 bits;
};
template <>
struct Codes<kFormatBf16> {
    uint4 bits[2];
};

template <int FORMAT>
__device__ __forceinline__ Codes<FORMAT> loadCodes(const WeightArgs& w, int64_t index) {
    Codes<FORMAT> codes;
    if constexpr (FORMAT == kFormatNf4) {
        codes.bits =
            __ldcs(reinterpret_cast<const uint2*>(static_cast<const uint8_t*>(w.data) + index / 2));
    } else if constexpr (FORMAT == kFormatInt8Row) {
        codes.bits =
            __ldcs(reinterpret_cast<const uint4*>(static_cast<const uint8_t*>(w.data) + index));
    } else {
        const uint4* at =
            reinterpret_cast<const uint4*>(static_cast<const uint8_t*>(w.data) + index * 2);
        codes.bits[0] = __ldcs(at);
        codes.bits[1] = __ldcs(at + 1);
    }
    return codes;
}

__device__ __forceinline__ __half2 asHalf2(uint32_t bits) {
    return *reinterpret_cast<const __half2*>(&bits);
}

/// Sum over the lane's 16 weights, without absmax or row scale.
template <int FORMAT>
__device__ __forceinline__ float
dot16(const Codes<FORMAT>& codes, const uint32_t (&x)[8], const uint32_t* lane_table) {
    if constexpr (FORMAT == kFormatNf4) {
        __half2 sum = __float2half2_rn(0.0F);
        const char* table = reinterpret_cast<const char*>(lane_table);
#pragma unroll
        for (int b = 0; b < 8; ++b) {
            const uint32_t word = b < 4 ? codes.bits.x : codes.bits.y;
            const int shift = 8 * (b & 3) - 7; // entry * 32 copies * 4 bytes = byte << 7
            const uint32_t offset = (shift < 0 ? word << 7 : word >> (shift < 0 ? 0 : shift)) & 0x7f80U;
            sum = __hfma2(asHalf2(*reinterpret_cast<const uint32_t*>(table + offset)),
                          asHalf2(x[b]), sum);
        }
        const float2 parts = __half22float2(sum);
        return parts.x + parts.y;
    } else if constexpr (FORMAT == kFormatInt8Row) {
        __half2 sum = __float2half2_rn(0.0F);
        const uint32_t words[4] = {codes.bits.x, codes.bits.y, codes.bits.z, codes.bits.w};
        const __half2 bias = __float2half2_rn(1152.0F); // 1024 + 128
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            // fp16 1024 + u for the bytes u = q + 128
            const uint32_t u = words[i] ^ 0x80808080U;
            const uint32_t low = __byte_perm(u, 0x64646464U, 0x4140);
            const uint32_t high = __byte_perm(u, 0x64646464U, 0x4342);
            sum = __hfma2(__hsub2(asHalf2(low), bias), asHalf2(x[2 * i]), sum);
            sum = __hfma2(__hsub2(asHalf2(high), bias), asHalf2(x[2 * i + 1]), sum);
        }
        const float2 parts = __half22float2(sum);
        return parts.x + parts.y;
    } else {
        float sum = 0.0F;
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            const uint4& four = codes.bits[i / 4];
            const uint32_t pair = (i & 3) == 0   ? four.x
                                  : (i & 3) == 1 ? four.y
                                  : (i & 3) == 2 ? four.z
                                                 : four.w;
            const float2 values = __half22float2(asHalf2(x[i]));
            sum = fmaf(__uint_as_float(pair << 16), values.x, sum);
            sum = fmaf(__uint_as_float(pair & 0xffff0000U), values.y, sum);
        }
        return sum;
    }
}

template <int FORMAT>
__device__ __forceinline__ float
scaleAt(const WeightArgs& w, int64_t index, int shift, const float* nested) {
    if constexpr (FORMAT == kFormatNf4) {
        const int64_t block = index >> shift;
        if (w.absmax != nullptr) {
            return w.absmax[block];
        }
        return __fadd_rn(__fmul_rn(nested[w.absmax_q[block]], w.nested_absmax[block >> 8]),
                         w.nested_offset);
    } else {
        return 1.0F;
    }
}

/// Sums of R rows over this warp's slabs; every lane gets them.
template <int FORMAT, int R>
__device__ __forceinline__ void dotRows(const ProjectKernelArgs& a,
                                        const Shared& s,
                                        const RowRef (&rows)[R],
                                        int part,
                                        float (&sums)[R]) {
    const int lane = threadIdx.x & 31;
    const int slabs = a.x_elements / kSlab;
#pragma unroll
    for (int r = 0; r < R; ++r) {
        sums[r] = 0.0F;
    }
#pragma unroll 2
    for (int slab = part; slab < slabs; slab += a.k_split) {
        const int column = slab * kSlab + lane * 16;
        if (column < a.cols) {
            Codes<FORMAT> codes[R];
            float scales[R];
#pragma unroll
            for (int r = 0; r < R; ++r) {
                const int64_t index = rows[r].row * a.cols + column;
                codes[r] = loadCodes<FORMAT>(*rows[r].w, index);
                scales[r] = scaleAt<FORMAT>(*rows[r].w, index, a.block_shift,
                                            s.nested + rows[r].weight * 256);
            }
            const uint4 x0 = s.x[slab * 64 + lane];
            const uint4 x1 = s.x[slab * 64 + 32 + lane];
            const uint32_t x[8] = {x0.x, x0.y, x0.z, x0.w, x1.x, x1.y, x1.z, x1.w};
#pragma unroll
            for (int r = 0; r < R; ++r) {
                sums[r] = fmaf(dot16<FORMAT>(codes[r], x, s.table + lane), scales[r], sums[r]);
            }
        }
    }
#pragma unroll
    for (int r = 0; r < R; ++r) {
        sums[r] = warpSum(sums[r]);
    }
}

template <int FORMAT, int R>
__device__ __forceinline__ void project(const ProjectKernelArgs& a) {
    extern __shared__ __align__(16) char memory[];
    Shared s{};
    char* cursor = memory;
    if (FORMAT == kFormatNf4) {
        s.table = reinterpret_cast<uint32_t*>(cursor);
        cursor += kTableBytes;
        s.nested = reinterpret_cast<float*>(cursor);
        cursor += 3 * 1024;
    }
    s.x = reinterpret_cast<uint4*>(cursor);
    cursor += a.x_elements * 2;
    s.reduce = reinterpret_cast<float*>(cursor);
    cursor += 2 * kWarps * 4 * sizeof(float);
    s.buffer = reinterpret_cast<float*>(cursor);
    cursor += 36 * sizeof(float);
    s.row = reinterpret_cast<float*>(cursor);

#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#endif
    if (FORMAT == kFormatNf4) {
        fillTable(s, a.w[0].format);
        for (int i = threadIdx.x; i < a.count * 256; i += kThreads) {
            const WeightArgs& w = a.w[i / 256];
            s.nested[i] = w.absmax == nullptr ? w.nested_code[i % 256] : 0.0F;
        }
    }
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
    const float undo = makeInput(a, s); // ends with a barrier, which covers the table too

    const bool is_pair = a.output == kOutputGeluPair;
    constexpr int kUnits = R; // outputs of a group; a pair needs R / 2 of each weight
    const int per_group = is_pair ? (R > 1 ? R / 2 : 1) : kUnits;
    int64_t total = a.w[0].rows;
    if (!is_pair) {
        for (int i = 1; i < a.count; ++i) {
            total += a.w[i].rows;
        }
    }
    const int64_t groups = total / per_group;
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x & 31;
    const int part = warp % a.k_split;
    const int local = warp / a.k_split;
    const int concurrent = kWarps / a.k_split;
    const int64_t stride = static_cast<int64_t>(gridDim.x) * concurrent;
    int turn = 0;
    // Every warp of the block makes the same number of turns: the reduction has a barrier.
    for (int64_t first = blockIdx.x; first < groups; first += stride, turn ^= 1) {
        const int64_t group = first + static_cast<int64_t>(local) * gridDim.x;
        const bool is_active = group < groups;
        RowRef rows[R];
        int segment = 0;
        int64_t row0 = group * per_group;
        if (is_active) {
            if (!is_pair) {
                while (row0 >= a.w[segment].rows) {
                    row0 -= a.w[segment].rows;
                    ++segment;
                }
            }
#pragma unroll
            for (int r = 0; r < R; ++r) {
                rows[r] = is_pair ? RowRef{&a.w[r & 1], row0 + r / 2, r & 1}
                                  : RowRef{&a.w[segment], row0 + r, segment};
            }
        }
        float sums[R];
        if (is_active) {
            dotRows<FORMAT, R>(a, s, rows, part, sums);
        }
        if (a.k_split > 1) {
            float* reduce = s.reduce + turn * kWarps * 4;
            if (is_active && lane == 0) {
#pragma unroll
                for (int r = 0; r < R; ++r) {
                    reduce[warp * 4 + r] = sums[r];
                }
            }
            __syncthreads();
            if (is_active && part == 0) {
#pragma unroll
                for (int r = 0; r < R; ++r) {
                    float sum = 0.0F;
                    for (int p = 0; p < a.k_split; ++p) {
                        sum += reduce[(warp + p) * 4 + r];
                    }
                    sums[r] = sum;
                }
            }
        }
        if (!is_active || part != 0 || lane != 0) {
            continue;
        }
#pragma unroll
        for (int r = 0; r < R; ++r) {
            sums[r] *= undo;
            if constexpr (FORMAT == kFormatInt8Row) {
                sums[r] *= rows[r].w->row_scale[rows[r].row];
            }
        }
        if (is_pair) {
#pragma unroll
            for (int r = 0; r + 1 < R; r += 2) {
                a.y[0][row0 + r / 2] = geluTanh(sums[r]) * sums[r + 1];
            }
        } else {
#pragma unroll
            for (int r = 0; r < R; ++r) {
                a.y[segment][row0 + r] = a.output == kOutputGeluMultiply
                                             ? geluTanh(sums[r]) * a.multiply[row0 + r]
                                             : sums[r];
            }
        }
    }
}

template <int FORMAT>
__device__ __forceinline__ void projectRows(const ProjectKernelArgs& a) {
    if (a.rows_per_warp == 4) {
        project<FORMAT, 4>(a);
    } else if (a.rows_per_warp == 2) {
        project<FORMAT, 2>(a);
    } else {
        project<FORMAT, 1>(a);
    }
}

} // namespace

extern "C" {

// grid: multiprocessors, block 512; shared memory: projectSharedBytes() of the launch.
__global__ void __launch_bounds__(kThreads, 1)
    belfry_project_four_bit(const __grid_constant__ ProjectKernelArgs a) {
    projectRows<kFormatNf4>(a);
}
__global__ void __launch_bounds__(kThreads, 1)
    belfry_project_int8(const __grid_constant__ ProjectKernelArgs a) {
    projectRows<kFormatInt8Row>(a);
}
__global__ void __launch_bounds__(kThreads, 1)
    belfry_project_bf16(const __grid_constant__ ProjectKernelArgs a) {
    projectRows<kFormatBf16>(a);
}

} // extern "C"
