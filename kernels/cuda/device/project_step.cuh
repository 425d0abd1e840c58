// SPDX-License-Identifier: Apache-2.0
// Projection step of a decoded token: up to three weights times one row, with the norm and residual
// work in front and the activation behind in the same launch. Memory-bound by design: weights are
// read once, 4-bit codes are expanded through a table in shared memory.
//
// The table maps a byte (two codes) to two fp16 code values and is replicated for the 32 banks, so
// that a look-up costs one conflict-free 4-byte read for two weights. Products run in packed fp16
// over eight terms at a time and are summed in fp32, where the block's absmax is applied; the input
// row is scaled by a power of two so that its elements stay below 16. The error stays below that of
// rounding the input to bf16.
//
// A block owns a contiguous range of rows. What does not depend on the step before (the table, the
// absmax of all its blocks, a prefetch of its codes into L2) happens before it waits for that step,
// so that consecutive steps overlap. One lane owns 16 neighbouring weights of a "slab" of 512;
// k_split warps share the slabs of a row group. Low-rank updates: project_lora.cuh.
//
// The body is shared by the single launch (project.cu) and by the kernel that runs a whole token
// (token.cu): THREADS is the size of a block, Wait what it does before it reads what other blocks
// wrote.
#pragma once

#include "kernels/cuda/device/common.cuh"
#include "kernels/cuda/device/project_lora.cuh"

namespace kernels::cuda {

constexpr int kTableBytes = 256 * 32 * 4;
constexpr int kNestedBytes = 3 * 256 * 4;
constexpr int kFactorBytes = 64 * 4 * 4;
constexpr int kPrefetchBytes = 256 * 1024;
/// Input elements that a thread keeps in registers: rows of up to 4096, of up to 6144 in a resident
/// block.
template <int THREADS>
constexpr int kHeld = THREADS == 512 ? 8 : 6144 / THREADS;

/// Cache rows of one attention part when `count` rows are in use. Few rows: as many parts as their
/// reader merges itself; else all parts there may be.
__device__ __forceinline__ int attendChunk(int count, int splits, int direct_splits) {
    if (direct_splits > 0) {
        const int chunk = ((count + direct_splits - 1) / direct_splits + 31) & ~31;
        if (chunk <= kDirectKeys) {
            return chunk < 32 ? 32 : chunk;
        }
    }
    const int chunk = ((count + splits - 1) / splits + 31) & ~31;
    return chunk < 64 ? 64 : chunk;
}
__device__ __forceinline__ int attendParts(int count, int splits, int direct_splits) {
    const int chunk = attendChunk(count, splits, direct_splits);
    return (count + chunk - 1) / chunk;
}

/// Values of the kernel beyond its arguments; pointers into dynamic shared memory.
struct Shared {
    uint32_t* table; // [256, 32] half2
    float* nested;   // [3, 256]: nested codes of each weight
    float* scales;   // [local rows, blocks of a row]: absmax; pairs: first all rows of one weight
    uint4* x;        // [slabs, 2, 32]: 16 fp16 values a lane
    float* partial;  // [local rows, k_split]
    float* buffer;   // [3, 32]
    float* factors;  // [64 heads, 4]: share of each attention part; resident blocks only
    int block;       // which of how many blocks this is
    int grid;
};

__device__ __forceinline__ float vectorAt(const VectorArgs& v, int i) {
    return v.data == nullptr ? 1.0F : loadElement(v.data, v.type, i);
}

/// Sum or maximum over the warps; `buffer` [THREADS / 32] is used once in a step.
template <bool IS_MAX, int THREADS>
__device__ __forceinline__ float blockReduce(float value, float* buffer) {
    value = IS_MAX ? warpMax(value) : warpSum(value);
    if ((threadIdx.x & 31) == 0) {
        buffer[threadIdx.x >> 5] = value;
    }
    __syncthreads();
    const float4* fours = reinterpret_cast<const float4*>(buffer);
    float result = IS_MAX ? -INFINITY : 0.0F;
#pragma unroll
    for (int i = 0; i < THREADS / 128; ++i) {
        const float4 four = fours[i];
        result = IS_MAX ? fmaxf(result, fmaxf(fmaxf(four.x, four.y), fmaxf(four.z, four.w)))
                        : result + ((four.x + four.y) + (four.z + four.w));
    }
    return result;
}

template <int THREADS>
__device__ __forceinline__ void fillTable(uint32_t* table, int format) {
    const uint32_t* codes = format == kFormatFp4 ? kFp4Codes : kNf4Codes;
    // Thread t fills four of the 32 copies of entries t / 8, t / 8 + THREADS / 8, ...
    for (int entry = threadIdx.x / 8; entry < 256; entry += THREADS / 8) {
        const __half2 pair = __floats2half2_rn(__uint_as_float(codes[entry >> 4]),
                                               __uint_as_float(codes[entry & 15]));
        const uint32_t bits = *reinterpret_cast<const uint32_t*>(&pair);
        reinterpret_cast<uint4*>(table)[entry * 8 + (threadIdx.x & 7)] =
            make_uint4(bits, bits, bits, bits);
    }
}

/// absmax of blocks [first, first + count), exactly as blockScale(); `nested` is the table of nested
/// codes in shared memory. Four in flight a thread.
template <int THREADS>
__device__ __forceinline__ void
expandScales(const WeightArgs& w, const float* nested, int64_t first, int count, float* out) {
    constexpr int kInFlight = 4;
    for (int i0 = threadIdx.x; i0 < count; i0 += THREADS * kInFlight) {
        float outer[kInFlight];
        int code[kInFlight];
#pragma unroll
        for (int j = 0; j < kInFlight; ++j) {
            const int i = i0 + j * THREADS;
            outer[j] = 0.0F;
            code[j] = 0;
            if (i < count) {
                if (w.absmax != nullptr) {
                    outer[j] = w.absmax[first + i];
                } else {
                    code[j] = w.absmax_q[first + i];
                    outer[j] = w.nested_absmax[(first + i) >> 8];
                }
            }
        }
#pragma unroll
        for (int j = 0; j < kInFlight; ++j) {
            const int i = i0 + j * THREADS;
            if (i < count) {
                out[i] = w.absmax != nullptr
                             ? outer[j]
                             : __fadd_rn(__fmul_rn(nested[code[j]], outer[j]), w.nested_offset);
            }
        }
    }
}

/// Where element i of the input lies in Shared::x: slab, half of the lane's 16, lane, element.
__device__ __forceinline__ int inputSlot(int i) {
    return (i & ~(kSlab - 1)) + ((i >> 3) & 1) * 256 + ((i >> 4) & 31) * 8 + (i & 7);
}

/// 2^(exponent - 3) for largest in [2^exponent, 2^(exponent + 1)): dividing by it leaves elements
/// below 16. 1 for zero and non-finite rows.
__device__ __forceinline__ float powerOfTwoFor(float largest) {
    if (!(largest > 0.0F && largest < INFINITY)) {
        return 1.0F;
    }
    int exponent = static_cast<int>(__float_as_uint(largest) >> 23) - 127;
    exponent = exponent < -100 ? -100 : exponent > 100 ? 100 : exponent;
    return __uint_as_float(static_cast<uint32_t>(exponent - 3 + 127) << 23);
}

/// The plain input of a resident block: the row as it is, or the attention before merged from its
/// parts. Rows of up to 12288 elements are read once.
template <int THREADS, typename Wait>
__device__ __forceinline__ float
makePlainInput(const ProjectKernelArgs& a, const Shared& s, __half* x, const Wait& wait) {
    constexpr int HELD = 12288 / THREADS;
    const int n = a.cols;
    const int count = a.input == kInputAttention ? *a.key_count : 0;
    wait();
    const int parts =
        a.input == kInputAttention ? attendParts(count, a.splits, a.direct_splits) : 0;
    const bool merges = parts > 0 && parts <= a.direct_splits;
    const int span = a.head_dim + 2;
    if (merges) {
        const int heads = n / a.head_dim;
        if (threadIdx.x < heads) {
            const float* tail = a.partial +
                                static_cast<int64_t>(threadIdx.x) * a.splits * span + a.head_dim;
            float largest = -INFINITY;
            float m[4];
            float l[4];
#pragma unroll
            for (int p = 0; p < 4; ++p) {
                m[p] = p < parts ? loadFresh(tail + p * span) : -INFINITY;
                l[p] = p < parts ? loadFresh(tail + p * span + 1) : 0.0F;
                largest = fmaxf(largest, m[p]);
            }
            float sum = 0.0F;
#pragma unroll
            for (int p = 0; p < 4; ++p) {
                m[p] = m[p] == -INFINITY ? 0.0F : expf(m[p] - largest);
                sum += m[p] * l[p];
            }
#pragma unroll
            for (int p = 0; p < 4; ++p) {
                s.factors[threadIdx.x * 4 + p] = sum > 0.0F ? m[p] / sum : 0.0F;
            }
        }
        __syncthreads();
    }
    const auto valueAt = [&](int i) {
        if (!merges) {
            return loadFresh(a.x + i);
        }
        const int h = i / a.head_dim;
        const float* column = a.partial + static_cast<int64_t>(h) * a.splits * span + i -
                              h * a.head_dim;
        float value = 0.0F;
#pragma unroll
        for (int p = 0; p < 4; ++p) {
            if (p < parts) {
                value = fmaf(s.factors[h * 4 + p], loadFresh(column + p * span), value);
            }
        }
        return value;
    };
    float held[HELD];
    float largest = 0.0F;
#pragma unroll
    for (int j = 0; j < HELD; ++j) {
        const int i = threadIdx.x + j * THREADS;
        held[j] = i < n ? valueAt(i) : 0.0F;
        largest = fmaxf(largest, fabsf(held[j]));
    }
    for (int i = threadIdx.x + HELD * THREADS; i < n; i += THREADS) {
        largest = fmaxf(largest, fabsf(valueAt(i)));
    }
    const float factor = powerOfTwoFor(blockReduce<true, THREADS>(largest, s.buffer));
    const float down = 1.0F / factor;
#pragma unroll
    for (int j = 0; j < HELD; ++j) {
        const int i = threadIdx.x + j * THREADS;
        if (i < a.x_elements) {
            x[inputSlot(i)] = __float2half_rn(held[j] * down);
        }
    }
    for (int i = threadIdx.x + HELD * THREADS; i < a.x_elements; i += THREADS) {
        x[inputSlot(i)] = __float2half_rn(i < n ? valueAt(i) * down : 0.0F);
    }
    __syncthreads();
    return factor;
}

/// Makes h in fp16 in shared memory; returns the factor that undoes its scaling. Everything before
/// the wait reads constants only.
template <int THREADS, bool IS_RESIDENT, typename Wait>
__device__ __forceinline__ float
makeInput(const ProjectKernelArgs& a, const Shared& s, const Wait& wait) {
    constexpr int HELD = kHeld<THREADS>;
    __half* x = reinterpret_cast<__half*>(s.x);
    const int n = a.cols;
    const bool has_residual = a.input == kInputResidualNorm || a.input == kInputResidual;
    const bool is_normed = a.input == kInputNorm || a.input == kInputResidualNorm;
    if (!has_residual && !is_normed) {
        if constexpr (IS_RESIDENT) {
            return makePlainInput<THREADS>(a, s, x, wait);
        }
        wait();
        float largest = 0.0F;
#pragma unroll 6
        for (int i = threadIdx.x; i < n; i += THREADS) {
            largest = fmaxf(largest, fabsf(loadFresh(a.x + i)));
        }
        const float factor = powerOfTwoFor(blockReduce<true, THREADS>(largest, s.buffer));
        const float down = 1.0F / factor;
#pragma unroll 6
        for (int i = threadIdx.x; i < a.x_elements; i += THREADS) {
            x[inputSlot(i)] = __float2half_rn(i < n ? loadFresh(a.x + i) * down : 0.0F);
        }
        __syncthreads();
        return factor;
    }

    // n <= HELD * THREADS (the launch checks it): everything stays in registers.
    float norm[HELD];
    float t_norm[HELD];
    float largest_norm = 0.0F;
#pragma unroll
    for (int j = 0; j < HELD; ++j) {
        const int i = threadIdx.x + j * THREADS;
        norm[j] = 1.0F;
        t_norm[j] = 1.0F;
        if (i < n) {
            norm[j] = is_normed ? vectorAt(a.norm, i) : 1.0F;
            t_norm[j] = has_residual ? vectorAt(a.t_norm, i) : 1.0F;
            largest_norm = fmaxf(largest_norm, fabsf(norm[j]));
        }
    }
    // |rms(r) * norm| <= sqrt(n) * max |norm|: a bound that needs no activations.
    float factor = 1.0F;
    if (is_normed) {
        factor = powerOfTwoFor(blockReduce<true, THREADS>(largest_norm, s.buffer) *
                               sqrtf(static_cast<float>(n)));
    }
    wait();
    float r[HELD];
    if (has_residual) {
        float t[HELD];
        float sum = 0.0F;
#pragma unroll
        for (int j = 0; j < HELD; ++j) {
            const int i = threadIdx.x + j * THREADS;
            t[j] = i < n ? loadFresh(a.t + i) : 0.0F;
            r[j] = i < n ? loadFresh(a.x + i) : 0.0F;
            sum += t[j] * t[j];
        }
        sum = blockReduce<false, THREADS>(sum, s.buffer + 32);
        const float scale = rsqrtf(sum / static_cast<float>(n) + a.eps);
#pragma unroll
        for (int j = 0; j < HELD; ++j) {
            const int i = threadIdx.x + j * THREADS;
            r[j] = (r[j] + t[j] * scale * t_norm[j]) * a.scalar;
            if (s.block == 0 && i < n) {
                a.x_out[i] = r[j];
            }
        }
    } else {
#pragma unroll
        for (int j = 0; j < HELD; ++j) {
            const int i = threadIdx.x + j * THREADS;
            r[j] = i < n ? loadFresh(a.x + i) : 0.0F;
        }
    }
    if (is_normed) {
        float sum = 0.0F;
#pragma unroll
        for (int j = 0; j < HELD; ++j) {
            sum += r[j] * r[j];
        }
        sum = blockReduce<false, THREADS>(sum, s.buffer + 64);
        const float inverse = rsqrtf(sum / static_cast<float>(n) + a.eps);
#pragma unroll
        for (int j = 0; j < HELD; ++j) {
            r[j] *= inverse * norm[j];
        }
    } else {
        float largest = 0.0F;
#pragma unroll
        for (int j = 0; j < HELD; ++j) {
            largest = fmaxf(largest, fabsf(r[j]));
        }
        factor = powerOfTwoFor(blockReduce<true, THREADS>(largest, s.buffer + 64));
    }
    const float down = 1.0F / factor;
#pragma unroll
    for (int j = 0; j < HELD; ++j) {
        const int i = threadIdx.x + j * THREADS;
        if (i < a.x_elements) {
            x[inputSlot(i)] = __float2half_rn(r[j] * down); // r is 0 beyond n
        }
    }
    __syncthreads();
    return factor;
}

/// Loads of one lane's 16 weights.
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
constexpr int kLaneBytes = FORMAT == kFormatNf4 ? 8 : FORMAT == kFormatInt8Row ? 16 : 32;

template <int FORMAT>
__device__ __forceinline__ Codes<FORMAT> loadCodes(const uint8_t* at) {
    Codes<FORMAT> codes;
    if constexpr (FORMAT == kFormatNf4) {
        codes.bits = __ldcs(reinterpret_cast<const uint2*>(at));
    } else if constexpr (FORMAT == kFormatInt8Row) {
        codes.bits = __ldcs(reinterpret_cast<const uint4*>(at));
    } else {
        codes.bits[0] = __ldcs(reinterpret_cast<const uint4*>(at));
        codes.bits[1] = __ldcs(reinterpret_cast<const uint4*>(at) + 1);
    }
    return codes;
}


/// Sum over the lane's 16 weights, without absmax or row scale. lane_table: shared-memory address of
/// the lane's copy of entry 0.
template <int FORMAT>
__device__ __forceinline__ float
dot16(const Codes<FORMAT>& codes, const uint32_t (&x)[8], uint32_t lane_table) {
    if constexpr (FORMAT == kFormatNf4) {
        __half2 sum = __float2half2_rn(0.0F);
#pragma unroll
        for (int b = 0; b < 8; ++b) {
            // One byte by permutation, then base + byte * (32 copies * 4 bytes) as one shift-and-add.
            const uint32_t entry =
                __byte_perm(b < 4 ? codes.bits.x : codes.bits.y, 0, 0x4440U + (b & 3));
            sum = __hfma2(asHalf2(loadShared(lane_table + (entry << 7))), asHalf2(x[b]), sum);
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

/// Row `row` of all weights one after another (pairs: of weight `which`).
struct RowAt {
    int weight;
    int row;
};
__device__ __forceinline__ RowAt locate(const ProjectKernelArgs& a, int row) {
    const int first = static_cast<int>(a.w[0].rows);
    if (a.count == 1 || row < first) {
        return {0, row};
    }
    const int second = static_cast<int>(a.w[1].rows);
    return row < first + second ? RowAt{1, row - first} : RowAt{2, row - first - second};
}

/// All rows of the block. The loads of a warp's next slab are in flight while it works on this one,
/// across row groups too.
template <int FORMAT, int R, int THREADS>
__device__ __forceinline__ void multiply(const ProjectKernelArgs& a,
                                         const Shared& s,
                                         bool is_pair,
                                         int first,
                                         int local_rows) {
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x & 31;
    const int part = warp % a.k_split;
    const int slabs = a.x_elements / kSlab;
    const int row_bytes = a.cols * kLaneBytes<FORMAT> / 16;
    const int blocks = FORMAT == kFormatNf4 ? a.cols >> a.block_shift : 0;
    const int stride = (THREADS / 32) / a.k_split;
    uint32_t lane_table = 0;
    if (FORMAT == kFormatNf4) {
        lane_table = sharedAddress(s.table + lane);
    }
    const uint8_t* at[R];
    Codes<FORMAT> next[R] = {};
    const auto locateRows = [&](int group) {
#pragma unroll
        for (int r = 0; r < R; ++r) {
            // Rows beyond the range repeat the last one; their sums are dropped.
            const int local = group * R + r < local_rows ? group * R + r : local_rows - 1;
            const RowAt ref = is_pair ? RowAt{local & 1, first + local / 2} : locate(a, first + local);
            at[r] = static_cast<const uint8_t*>(a.w[ref.weight].data) +
                    static_cast<int64_t>(ref.row) * row_bytes + lane * kLaneBytes<FORMAT>;
        }
    };
    const auto load = [&](int slab) {
        if (slab * kSlab + lane * 16 < a.cols) {
#pragma unroll
            for (int r = 0; r < R; ++r) {
                next[r] = loadCodes<FORMAT>(at[r] + slab * 32 * kLaneBytes<FORMAT>);
            }
        }
    };
    int group = warp / a.k_split;
    int slab = part;
    if (group >= stride || group * R >= local_rows) {
        return; // left over where k_split does not divide the warps, or where rows are few
    }
    float sums[R] = {};
    if (part < slabs) {
        locateRows(group);
        load(slab);
    }
    while (true) {
        Codes<FORMAT> codes[R];
#pragma unroll
        for (int r = 0; r < R; ++r) {
            codes[r] = next[r];
        }
        const int this_group = group;
        const int this_slab = slab;
        slab += a.k_split;
        const bool ends_row = slab >= slabs;
        if (ends_row) {
            slab = part;
            group += stride;
        }
        const bool has_next = group * R < local_rows;
        if (has_next && part < slabs) {
            if (ends_row) {
                locateRows(group);
            }
            load(slab);
        }
        if (part < slabs) {
            const uint4 x0 = s.x[this_slab * 64 + lane];
            const uint4 x1 = s.x[this_slab * 64 + 32 + lane];
            const uint32_t x[8] = {x0.x, x0.y, x0.z, x0.w, x1.x, x1.y, x1.z, x1.w};
            // Lanes beyond the row hold zeros in x; their scale only has to be finite.
            int block = (this_slab * kSlab + lane * 16) >> a.block_shift;
            block = block < blocks ? block : blocks - 1;
#pragma unroll
            for (int r = 0; r < R; ++r) {
                const float dot = dot16<FORMAT>(codes[r], x, lane_table);
                if constexpr (FORMAT == kFormatNf4) {
                    const int local =
                        this_group * R + r < local_rows ? this_group * R + r : local_rows - 1;
                    const int scale_row =
                        is_pair ? local / 2 + (local & 1) * (local_rows / 2) : local;
                    sums[r] = fmaf(dot, s.scales[scale_row * blocks + block], sums[r]);
                } else {
                    sums[r] += dot;
                }
            }
        }
        if (ends_row) {
#pragma unroll
            for (int r = 0; r < R; ++r) {
                const float sum = warpSum(sums[r]);
                if (lane == 0 && this_group * R + r < local_rows) {
                    s.partial[(this_group * R + r) * a.k_split + part] = sum;
                }
                sums[r] = 0.0F;
            }
        }
        if (!has_next) {
            return;
        }
    }
}

/// Sends a block's codes and absmax on their way into L2; nothing waits for them.
template <int THREADS>
__device__ __forceinline__ void prefetchCodes(const ProjectKernelArgs& a, int block, int grid) {
    const int format = a.w[0].format;
    const int lane_bytes = format == kFormatBf16 ? 32 : format == kFormatInt8Row ? 16 : 8;
    const int row_bytes = a.cols / 16 * lane_bytes;
    const int begin = firstOutput(a, block, grid);
    const int end = firstOutput(a, block + 1, grid);
    int before = 0;
    for (int j = 0; j < a.count; ++j) {
        const RowRange range = rowsOf(a, j, begin, end, before);
        before += static_cast<int>(a.w[j].rows);
        const uint8_t* data =
            static_cast<const uint8_t*>(a.w[j].data) + static_cast<int64_t>(range.from) * row_bytes;
        int64_t bytes = static_cast<int64_t>(range.to - range.from) * row_bytes;
        bytes = bytes < kPrefetchBytes ? bytes : kPrefetchBytes;
        for (int64_t at = threadIdx.x * 128; at < bytes; at += THREADS * 128) {
            prefetchL2(data + at);
        }
        if (format == kFormatNf4 || format == kFormatFp4) {
            const WeightArgs& w = a.w[j];
            const int blocks = a.cols >> a.block_shift;
            const int width = w.absmax != nullptr ? 4 : 1;
            const char* scales = w.absmax != nullptr ? reinterpret_cast<const char*>(w.absmax)
                                                     : reinterpret_cast<const char*>(w.absmax_q);
            scales += static_cast<int64_t>(range.from) * blocks * width;
            const int scale_bytes = (range.to - range.from) * blocks * width;
            for (int at = threadIdx.x * 128; at < scale_bytes; at += THREADS * 128) {
                prefetchL2(scales + at);
            }
        }
    }
    prefetchLora<THREADS>(a, block, grid);
}

/// One projection step: the part of `block` among `grid` blocks. `memory`: dynamic shared memory as
/// planned; IS_RESIDENT: the block lives for many steps, its table of code values is filled and the
/// codes were prefetched by the steps before.
template <int FORMAT, int THREADS, bool IS_RESIDENT, typename Wait>
__device__ __forceinline__ void
projectStep(const ProjectKernelArgs& a, char* memory, int block, int grid, const Wait& wait) {
    const bool is_pair = a.output == kOutputGeluPair;
    // This block's outputs, and its rows: two an output where they come in pairs.
    const int begin = firstOutput(a, block, grid);
    const int end = firstOutput(a, block + 1, grid);
    const int local_rows = (end - begin) * (is_pair ? 2 : 1);
    const int blocks = FORMAT == kFormatNf4 ? a.cols >> a.block_shift : 0;
    Shared s{};
    s.block = block;
    s.grid = grid;
    char* cursor = memory;
    if (FORMAT == kFormatNf4) {
        s.table = reinterpret_cast<uint32_t*>(cursor);
    }
    if (FORMAT == kFormatNf4 || IS_RESIDENT) {
        cursor += kTableBytes;
        s.nested = reinterpret_cast<float*>(cursor);
        cursor += kNestedBytes;
    }
    if (IS_RESIDENT) {
        s.factors = reinterpret_cast<float*>(cursor);
        cursor += kFactorBytes;
    }
    s.x = reinterpret_cast<uint4*>(cursor);
    cursor += a.x_elements * 2;
    s.buffer = reinterpret_cast<float*>(cursor);
    cursor += 96 * sizeof(float);
    s.partial = reinterpret_cast<float*>(cursor);
    cursor += a.local_rows * a.k_split * sizeof(float);
    s.scales = reinterpret_cast<float*>(cursor);
    // Made anew where it is used: not four registers for the whole step.
    const auto lora = [&] {
        return loraShared(a, s.scales + a.local_rows * blocks, end - begin);
    };

    if constexpr (FORMAT == kFormatNf4) {
        if (!IS_RESIDENT) {
            fillTable<THREADS>(s.table, a.w[0].format);
        }
        for (int i = threadIdx.x; i < a.count * 256; i += THREADS) {
            const WeightArgs& w = a.w[i / 256];
            s.nested[i] = w.absmax == nullptr ? w.nested_code[i % 256] : 0.0F;
        }
        __syncthreads();
        // absmax of every block of every row. A weight's part of the range is contiguous; a pair's
        // two parts lie behind each other.
        int before = 0; // rows of the weights before this one
        int local = 0;  // scales written
        for (int j = 0; j < a.count; ++j) {
            const RowRange range = rowsOf(a, j, begin, end, before);
            before += static_cast<int>(a.w[j].rows);
            if (range.to > range.from) {
                const int count = (range.to - range.from) * blocks;
                expandScales<THREADS>(a.w[j], s.nested + j * 256,
                                      static_cast<int64_t>(range.from) * blocks, count,
                                      s.scales + local);
                local += count;
            }
        }
    }
    if (!IS_RESIDENT) {
        prefetchCodes<THREADS>(a, block, grid);
    }
    if (a.lora_count + a.tap_count > 0) {
        placeUpdates<THREADS>(a, lora(), begin, end, local_rows);
    }
    const float undo = makeInput<THREADS, IS_RESIDENT>(a, s, wait); // ends with a barrier
    if (a.lora_count > 0) {
        reduceInput<THREADS>(a, lora(), s.x, undo, begin, end);
    }
    if (FORMAT == kFormatNf4 && a.rows_per_warp == 4) {
        multiply<FORMAT, FORMAT == kFormatNf4 ? 4 : 1, THREADS>(a, s, is_pair, begin, local_rows);
    } else if (a.rows_per_warp == 2) {
        multiply<FORMAT, 2, THREADS>(a, s, is_pair, begin, local_rows);
    } else {
        multiply<FORMAT, 1, THREADS>(a, s, is_pair, begin, local_rows);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < end - begin; i += THREADS) {
        float sums[2] = {};
        const int count = is_pair ? 2 : 1;
#pragma unroll
        for (int j = 0; j < 2; ++j) {
            if (j < count) {
                const int local = i * count + j;
                for (int p = 0; p < a.k_split; ++p) {
                    sums[j] += s.partial[local * a.k_split + p];
                }
                sums[j] *= undo;
            }
        }
        const RowAt ref = is_pair ? RowAt{0, begin + i} : locate(a, begin + i);
        if constexpr (FORMAT == kFormatInt8Row) {
            sums[0] *= a.w[ref.weight].row_scale[ref.row];
            if (is_pair) {
                sums[1] *= a.w[1].row_scale[ref.row];
            }
        }
        if (a.lora_count > 0) {
            sums[0] += updateOf(a, lora(), ref.weight, i, local_rows);
            if (is_pair) {
                sums[1] += updateOf(a, lora(), 1, end - begin + i, local_rows);
            }
        }
        float value = sums[0];
        if (is_pair) {
            value = geluTanh(sums[0]) * sums[1];
        } else if (a.output == kOutputGeluMultiply) {
            value = geluTanh(sums[0]) * a.multiply[ref.row];
        }
        a.y[ref.weight][ref.row] = value;
        if (a.tap_count > 0) {
            lora().tap_y[i] = value;
        }
    }
    if (a.tap_count > 0) {
        __syncthreads();
        tapOutputs<THREADS>(a, lora(), block, end - begin);
    }
}

} // namespace kernels::cuda
