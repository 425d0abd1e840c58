// SPDX-License-Identifier: Apache-2.0
// The input row of a projection in stream.cu: residual, norms, and its form as fp16 for the tensor
// cores (half_products.cuh). A thread takes the same four neighbours of the row in every step; a
// warp's 128 columns share a scale, of a wide row its 192. Values of a wide row come with 11 bits,
// and one fp16 holds them. The factor of the last norm is not applied here but to the
// products, so that nobody waits for it.
#pragma once

#include "kernels/cuda/device/decode/exchange.cuh"
#include "kernels/cuda/device/decode/half_products.cuh"
#include "kernels/cuda/device/decode/project_input.cuh"
#include "kernels/cuda/device/decode/stream_form.cuh"

namespace kernels::cuda {

/// Work memory of a projection (streamProjectBytes()).
struct StreamWork {
    char* planes;    ///< [cols / 64] blocks of fp16: planeOffset()
    float* scales;   ///< [cols / 64]
    float* buffer;   ///< [128]: sums of warps.
    float4* taken;   ///< [cols / 4]: x or t
    float* partial;  ///< [rows of a pass, stretches (of a wide row 1), kComputeWarps]
    int block_bytes; ///< Bytes of 64 columns: 256, in a wide row 128.
    bool has_sums;   ///< AsyncLargeForm: of the parts before, which are added to.
};

__device__ __forceinline__ bool isWide(const ProjectKernelArgs& a) {
    return a.cols > kPackets;
}

/// Its input has one part of fp16.
template <typename FORM>
__device__ __forceinline__ bool hasWidePlane(const ProjectKernelArgs& a) {
    return isWide(a) && !isHalf<FORM>(a);
}

/// One part of the input is there at a time.
template <typename FORM>
__device__ __forceinline__ bool holdsPart(const ProjectKernelArgs& a) {
    return FORM::kHoldsPart && isWide(a);
}
/// Columns of the input that are there at a time.
template <typename FORM>
__device__ __forceinline__ int heldColumns(const ProjectKernelArgs& a) {
    return holdsPart<FORM>(a) ? a.units << (a.w[0].layout == WeightLayout::Int8Row ? 5 : 6)
                              : a.cols;
}

/// A row of packets that every thread takes at once: it stays in registers, and the residual row
/// and the norms that it meets are there before it comes.
__device__ __forceinline__ bool isShort(const ProjectKernelArgs& a) {
    return a.input != kInputPlain && a.link == kLinkPackets && a.cols <= kShortRow;
}

template <typename FORM = BulkForm>
__device__ __forceinline__ StreamWork streamWork(char* memory, const ProjectKernelArgs& a) {
    StreamWork w{};
    const int cols = heldColumns<FORM>(a);
    const bool is_wide = hasWidePlane<FORM>(a);
    w.block_bytes = is_wide ? 128 : 256;
    w.buffer = reinterpret_cast<float*>(memory);
    // With little shared memory: who has no norm needs no sums for it.
    const int sums = FORM::kIsBulk || a.input != kInputPlain ? kStreamNormSums : 0;
    w.scales = reinterpret_cast<float*>(memory + sums);
    w.planes = memory + sums +
               (!FORM::kIsBulk   ? asyncScaleBytes(cols)
                : FORM::kIsLarge ? kLargeScaleBytes
                                 : kStreamScaleBytes);
    char* const taken = w.planes + cols * (is_wide ? 2 : 4);
    w.taken = reinterpret_cast<float4*>(taken);
    const bool has_taken =
        a.input != kInputPlain && !FORM::kIsLarge && (FORM::kIsBulk || !isShort(a));
    w.partial = reinterpret_cast<float*>(taken + streamTakenBytes(cols, !has_taken));
    return w;
}

/// What the warp for updates and the others tell each other. A step with updates is one phase of
/// the first four; its operands one of one of the others, in turn. Updates whose B stays in memory
/// (stream_direct.cuh) have the first three.
template <typename FORM>
struct UnitSignalsOf {
    using Barrier = typename FORM::Barrier;
    char* memory; ///< [FORM::kSignals]
    // Constants of the kernel.
    bool are_used = true;      ///< Some of its steps have low-rank updates.
    bool is_begin_told = true; ///< begun() has a phase for each of these.
    bool is_direct = false;    ///< Their B stays in memory.

    [[nodiscard]] __device__ __forceinline__ Barrier at(int which) const {
        return {reinterpret_cast<uint64_t*>(memory) + which};
    }
    /// The step has begun: those before it are over.
    [[nodiscard]] __device__ __forceinline__ Barrier begun() const { return at(0); }
    /// Its input is there; of an early step what is added to the residual row, as it came.
    [[nodiscard]] __device__ __forceinline__ Barrier input() const { return at(1); }
    /// What updates add to the block's rows is there.
    [[nodiscard]] __device__ __forceinline__ Barrier ready() const { return at(2); }
    /// The warp has read the residual row of an early step as it was before.
    [[nodiscard]] __device__ __forceinline__ Barrier prepared() const { return at(3); }
    /// A of the block's units and B of its rows are there.
    [[nodiscard]] __device__ __forceinline__ Barrier operands(int which) const {
        return at(4 + which);
    }
    /// One thread, at the start; then fenceBarriers() and a barrier of the block.
    __device__ __forceinline__ void init() const {
        for (int i = 0; i < FORM::kSignals; ++i) {
            at(i).init(i == 1 ? kComputeWarps : 1);
        }
    }
    /// The step has updates, and the parity of their number.
    [[nodiscard]] __device__ __forceinline__ bool areOf(const ProjectKernelArgs& a) const {
        return are_used && (is_direct ? a.direct_at != 0 : a.lora_units > 0);
    }
    [[nodiscard]] __device__ __forceinline__ uint32_t turnOf(const ProjectKernelArgs& a) const {
        return static_cast<uint32_t>(is_direct ? a.direct_turn : a.lora_turn);
    }
    /// Every compute warp: what it has of the input is there. No block of code of its own, which
    /// steps without updates would jump over.
    __device__ __forceinline__ void giveInput(bool has_units) const {
        if (!are_used) {
            return;
        }
        __syncwarp();
        if (has_units && (threadIdx.x & 31) == 0) {
            input().arrive();
        }
    }
};
using UnitSignals = UnitSignalsOf<BulkForm>;

/// Where columns 4 c to 4 c + 3 of a block of 64 lie, as eight bytes, from the block's start: the
/// eight columns that a lane takes at a time of every unit lie together, those of four lanes next
/// to each other. Of a narrow row the lower parts are 64 bytes further.
__device__ __forceinline__ int planeOffset(int c, bool is_four_bit, bool is_wide) {
    const int eight = (c & 15) >> 1;
    const int place = is_four_bit ? (eight & 1) * 4 + (eight >> 1) : eight;
    return (place >> 2) * (is_wide ? 64 : 128) + (place & 3) * 16 + (c & 1) * 8;
}

/// The power of two that brings `largest` (not negative) to 2^14 .. 2^15 and its inverse. Infinity
/// and NaN stay what they are.
struct PowerScale {
    float up;
    float down;
};
__device__ __forceinline__ PowerScale powerScale(float largest) {
    const int exponent = static_cast<int>(__float_as_uint(largest) >> 23);
    const int up = 268 - exponent;
    const int bounded = up > 253 ? 253 : up;
    return {__uint_as_float(static_cast<uint32_t>(bounded) << 23),
            __uint_as_float(static_cast<uint32_t>(254 - bounded) << 23)};
}

/// Two values as two parts of bf16.
struct TwoHalves {
    uint32_t high, low;
    __device__ __forceinline__ TwoHalves(float x, float y) {
        const __nv_bfloat162 upper = __floats2bfloat162_rn(x, y);
        const float2 back = __bfloat1622float2(upper);
        const __nv_bfloat162 lower = __floats2bfloat162_rn(x - back.x, y - back.y);
        memcpy(&high, &upper, 4);
        memcpy(&low, &lower, 4);
    }
};
__device__ __forceinline__ void storeHalves(const StreamWork& w, int column, float x, float y) {
    char* const to = w.planes + (column >> 4) * 64 + (column & 15) * 2;
    const TwoHalves two(x, y);
    *reinterpret_cast<uint32_t*>(to) = two.high;
    *reinterpret_cast<uint32_t*>(to + 32) = two.low;
}

/// Columns 4 c to 4 c + 3 as two parts of fp16, for bf16 weights of bf16. All lanes of the warp;
/// `is_there` tells whose columns exist.
template <typename FORM>
__device__ __forceinline__ void storePlanes(const ProjectKernelArgs& a,
                                            const StreamWork& w,
                                            int c,
                                            const float4& v,
                                            bool is_four_bit,
                                            bool is_there) {
    if (isHalf<FORM>(a)) {
        if (is_there) {
            const TwoHalves first(v.x, v.y);
            const TwoHalves second(v.z, v.w);
            char* const to = w.planes + (c >> 2) * 64 + (c & 3) * 8;
            *reinterpret_cast<uint2*>(to) = make_uint2(first.high, second.high);
            *reinterpret_cast<uint2*>(to + 32) = make_uint2(first.low, second.low);
        }
        return;
    }
    // Bits of floats that are not negative are in order too. One scale for 128 columns.
    const PowerScale scale =
        powerScale(__uint_as_float(warpMaxBits(__float_as_uint(largestOf(v)))));
    const float4 s = make_float4(v.x * scale.up, v.y * scale.up, v.z * scale.up, v.w * scale.up);
    const __half2 first = __floats2half2_rn(s.x, s.y);
    const __half2 second = __floats2half2_rn(s.z, s.w);
    const float2 first_back = __half22float2(first);
    const float2 second_back = __half22float2(second);
    if (!is_there) {
        return;
    }
    char* const to = w.planes + (c >> 4) * 256 + planeOffset(c, is_four_bit, false);
    *reinterpret_cast<uint2*>(to) = make_uint2(bitsOf(first), bitsOf(second));
    *reinterpret_cast<uint2*>(to + 64) =
        make_uint2(bitsOf(__floats2half2_rn(s.x - first_back.x, s.y - first_back.y)),
                   bitsOf(__floats2half2_rn(s.z - second_back.x, s.w - second_back.y)));
    if ((c & 15) == 0) {
        w.scales[c >> 4] = scale.down;
    }
}

/// Sum over the compute warps of what each put into buffer[warp]; after a barrier. Aligned to 16.
__device__ __forceinline__ float sumOfWarps(const float* buffer) {
    float sum = 0.0F;
#pragma unroll
    for (int i = 0; i < kComputeWarps / 4; ++i) {
        const float4 v = reinterpret_cast<const float4*>(buffer)[i];
        sum += (v.x + v.y) + (v.z + v.w);
    }
    return sum;
}

/// What t is multiplied by beside its norm's weight: sumOfWarps(buffer) are its squares.
__device__ __forceinline__ float addedScale(const ProjectKernelArgs& a, const float* buffer) {
    return a.t_norm.data != nullptr ? rsqrtf(sumOfWarps(buffer) * a.inverse_cols + a.eps) * a.scalar
                                    : a.scalar;
}

/// Arguments and norms of the steps to come, fetched by one thread, by AsyncForm's of one warp.
template <typename FORM>
struct StepFetcherOf {
    using Barrier = typename FORM::Barrier;
    char* shared; ///< The block's shared memory: where offsets count from.
    int norms;    ///< Offset of two vectors of norm_bytes for this step and two for the next.
    int norm_bytes;

    [[nodiscard]] __device__ __forceinline__ TokenStep& stepAt(int index) const {
        return *reinterpret_cast<TokenStep*>(shared + FORM::kStepsOffset +
                                             index % kStepRing * FORM::kStepBytes);
    }
    [[nodiscard]] __device__ __forceinline__ char* normsOf(int index) const {
        return shared + norms + (index & 1) * 2 * norm_bytes;
    }
    [[nodiscard]] __device__ __forceinline__ Barrier barrier(int which) const {
        return {reinterpret_cast<uint64_t*>(shared + FORM::kBarriersOffset) + which};
    }
    [[nodiscard]] __device__ __forceinline__ CopyBarrier normBarrier(int index) const {
        static_assert(FORM::kIsBulk, "others read norms where they are");
        return barrier(kStepRing + (index & 1));
    }
    /// One thread, at the start; then fenceBarriers() and a barrier of the block.
    __device__ __forceinline__ void init() const {
        for (int i = 0; i < (FORM::kIsBulk ? kStepRing + 2 : kStepRing); ++i) {
            barrier(i).init(FORM::kIsBulk ? 1 : 32);
        }
    }
    __device__ __forceinline__ void askForStep(const TokenStep* steps, int index) const {
        const Barrier there = barrier(index % kStepRing);
        if constexpr (FORM::kIsBulk) {
            there.expect(sizeof(TokenStep));
            copyBulk(sharedAddress(&stepAt(index)), steps + index, sizeof(TokenStep), there);
            there.arrive();
        } else {
            const int at = (threadIdx.x & 31) * 16;
            if (at < FORM::kStepBytes) {
                copyAsync16(reinterpret_cast<char*>(&stepAt(index)) + at,
                            reinterpret_cast<const char*>(steps + index) + at);
            }
            there.arriveBehindCopies();
        }
    }
    __device__ __forceinline__ void waitForStep(int index) const {
        barrier(index % kStepRing).wait(index / kStepRing & 1);
    }
    /// The step itself has to be there. AsyncForm: no further than into L2.
    __device__ __forceinline__ void askForNorms(int index) const {
        const TokenStep& step = stepAt(index);
        const bool is_attend = step.kind == kStepAttend;
        const VectorArgs first = is_attend ? step.attend.q_norm : step.project.norm;
        const VectorArgs second = is_attend ? step.attend.k_norm : step.project.t_norm;
        const int count = is_attend ? step.attend.head_dim : step.project.cols;
        const bool is_brought = !FORM::kIsBulk || is_attend || bringsNorms<FORM>(count);
        const int first_bytes = is_brought ? bytesOf(first, count) : 0;
        const int second_bytes = is_brought ? bytesOf(second, count) : 0;
        if constexpr (FORM::kIsBulk) {
            const CopyBarrier there = normBarrier(index);
            there.expect(first_bytes + second_bytes);
            if (first_bytes > 0) {
                copyBulk(sharedAddress(normsOf(index)), first.data, first_bytes, there);
            }
            if (second_bytes > 0) {
                copyBulk(sharedAddress(normsOf(index) + norm_bytes), second.data, second_bytes,
                         there);
            }
            there.arrive();
        } else {
#pragma unroll 1
            for (int at = (threadIdx.x & 31) * 128; at < first_bytes; at += 32 * 128) {
                prefetchL2(static_cast<const char*>(first.data) + at);
            }
#pragma unroll 1
            for (int at = (threadIdx.x & 31) * 128; at < second_bytes; at += 32 * 128) {
                prefetchL2(static_cast<const char*>(second.data) + at);
            }
        }
    }
    __device__ __forceinline__ void waitForNorms(int index) const {
        normBarrier(index).wait(index >> 1 & 1);
    }

private:
    static __device__ __forceinline__ int bytesOf(const VectorArgs& vector, int count) {
        return vector.data == nullptr ? 0 : count * (vector.type == kElementF32 ? 4 : 2);
    }
};
using StepFetcher = StepFetcherOf<BulkForm>;

/// A wide row: its packets (or values in memory) to fp16. A lane takes two packets, six columns, at
/// a time, so that a warp has three blocks of 64: they share a scale, and nobody waits for the
/// whole row. Ends with a barrier.
template <typename FORM>
__device__ __forceinline__ void makeWidePlane(const ProjectKernelArgs& a,
                                              const StreamWork& w,
                                              const UnitSignalsOf<FORM>& units,
                                              bool has_units,
                                              const Exchange& exchange,
                                              int step) {
    const int lane = threadIdx.x & 31;
    const bool is_four_bit = a.w[0].layout != WeightLayout::Int8Row;
    const bool is_linked = a.link == kLinkWide;
    const int cols = a.cols;
    const int pairs = (cols + 5) / 6;
    const uint2* const packets = exchange.widePackets(a.wide_region);
    const uint32_t mark = exchange.wideMark(a.wide_region, a.wide_use);
    if (a.link == kLinkFlags) {
        exchange.waitForFlags(step - 1, exchange.grid);
    }
    constexpr int kAtOnce = 3;
#pragma unroll 1
    for (int first = threadIdx.x; first - lane < pairs; first += kAtOnce * kComputeThreads) {
        uint4 v[kAtOnce];
        bool is_there = !is_linked;
        while (!is_there) {
            is_there = true;
#pragma unroll
            for (int i = 0; i < kAtOnce; ++i) {
                const int p = first + i * kComputeThreads;
                v[i] = make_uint4(0, mark << 25, 0, mark << 25);
                if (p < pairs) {
                    v[i] = loadPackets(packets + 2 * p);
                }
            }
#pragma unroll
            for (int i = 0; i < kAtOnce; ++i) {
                is_there = is_there && (v[i].y >> 25) == mark && (v[i].w >> 25) == mark;
            }
        }
        __syncwarp();
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) {
            const int p = first + i * kComputeThreads;
            if (p - lane >= pairs) {
                break; // the whole warp
            }
            WideValues values = wideValues(v[i]);
            if (!is_linked) {
#pragma unroll
                for (int j = 0; j < 3; ++j) {
                    const bool is_column = 6 * p + 2 * j < cols;
                    const float2 two = __ldcg(
                        reinterpret_cast<const float2*>(a.x + (is_column ? 6 * p + 2 * j : 0)));
                    values.at[2 * j] = is_column ? two.x : 0.0F;
                    values.at[2 * j + 1] = is_column ? two.y : 0.0F;
                }
            }
            uint32_t largest = 0;
#pragma unroll
            for (int j = 0; j < 6; ++j) {
                const uint32_t bits = __float_as_uint(values.at[j]) & 0x7fffffffU;
                largest = bits > largest ? bits : largest;
            }
            const PowerScale scale = powerScale(__uint_as_float(warpMaxBits(largest)));
            const int block = (p >> 5) * kWideBlocks + lane;
            if (lane < kWideBlocks && block * 64 < cols) {
                w.scales[block] = scale.down;
            }
#pragma unroll
            for (int j = 0; j < 3; ++j) {
                const int column = 6 * p + 2 * j;
                if (column < cols && isHalf<FORM>(a)) {
                    storeHalves(w, column, values.at[2 * j], values.at[2 * j + 1]);
                } else if (column < cols) {
                    const int c = column >> 2;
                    *reinterpret_cast<uint32_t*>(w.planes + (c >> 4) * 128 +
                                                 planeOffset(c, is_four_bit, true) +
                                                 (column & 2) * 2) =
                        bitsOf(__floats2half2_rn(values.at[2 * j] * scale.up,
                                                 values.at[2 * j + 1] * scale.up));
                }
            }
        }
    }
    units.giveInput(has_units);
    syncCompute();
}

/// Fours of a short row that a thread takes at once.
constexpr int kShortFours = kShortRow / 4 / kComputeThreads;

/// makePlanes() of such a row. has_units: the step has updates, and `units` are told of its input.
template <typename FORM>
__device__ __forceinline__ void makeShortPlanes(const ProjectKernelArgs& a,
                                                const StreamWork& w,
                                                const UnitSignalsOf<FORM>& units,
                                                bool has_units,
                                                float4* row,
                                                const char* norms,
                                                int norm_bytes,
                                                const Exchange& exchange,
                                                int step,
                                                const StepClocks& clocks) {
    const bool is_four_bit = a.w[0].layout != WeightLayout::Int8Row;
    const bool has_norm = a.norm.data != nullptr;
    // AsyncForm does not have what is behind an update's first arguments.
    const bool is_early = FORM::kIsBulk && has_units && a.lora_is_early != 0;
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x & 31;
    const int fours = a.cols / 4;
    const float scalar = a.scalar;
    // The same for all lanes of a warp, and for each lane.
    const bool has_second = static_cast<int>(threadIdx.x & ~31U) + kComputeThreads < fours;
    float4 x[kShortFours] = {};
    float4 t_norm[kShortFours] = {};
    float4 norm[kShortFours] = {};
#pragma unroll
    for (int i = 0; i < kShortFours; ++i) {
        const int c = static_cast<int>(threadIdx.x) + i * kComputeThreads;
        if (c < fours) {
            x[i] = times(a.keeps_row != 0 ? row[c] : loadFour(a.x + 4 * c), scalar);
            t_norm[i] = loadFour(normOf(a.t_norm, norms + norm_bytes, FORM::kIsBulk), 4 * c);
            norm[i] = loadFour(normOf(a.norm, norms, FORM::kIsBulk), 4 * c);
        }
    }
    float4 v[kShortFours];
    takeShort(exchange.packetsOf(step - 1 + kPacketSteps), fours, exchange.markOf(step - 1), v);
    clocks.note(1);
    float sum = warpSum(sumOfSquares(v[0]) + sumOfSquares(v[1]));
    if (lane == 0) {
        w.buffer[warp] = sum;
    }
#pragma unroll
    for (int i = 0; i < kShortFours; ++i) {
        const int c = static_cast<int>(threadIdx.x) + i * kComputeThreads;
        if (is_early && c < fours) {
            w.taken[c] = v[i];
        }
    }
    units.giveInput(is_early);
    if (is_early && threadIdx.x == 0) {
        // The row is about to be replaced.
        units.prepared().wait(static_cast<uint32_t>(a.lora_turn));
    }
    syncCompute();
    const float scale = addedScale(a, w.buffer);
    sum = 0.0F;
#pragma unroll
    for (int i = 0; i < kShortFours; ++i) {
        const int c = static_cast<int>(threadIdx.x) + i * kComputeThreads;
        v[i] = make_float4(
            fmaf(v[i].x * scale, t_norm[i].x, x[i].x), fmaf(v[i].y * scale, t_norm[i].y, x[i].y),
            fmaf(v[i].z * scale, t_norm[i].z, x[i].z), fmaf(v[i].w * scale, t_norm[i].w, x[i].w));
        if (c < fours) {
            row[c] = v[i];
            if (exchange.block == 0) {
                *reinterpret_cast<float4*>(a.x_out + 4 * c) = v[i];
            }
        }
        sum += sumOfSquares(v[i]); // zeros behind the end
        v[i] = times(v[i], norm[i]);
    }
    const bool is_there = static_cast<int>(threadIdx.x) < fours;
    if (static_cast<int>(threadIdx.x & ~31U) < fours) {
        storePlanes<FORM>(a, w, threadIdx.x, v[0], is_four_bit, is_there);
    }
    if (has_second) {
        storePlanes<FORM>(a, w, threadIdx.x + kComputeThreads, v[1], is_four_bit,
                          static_cast<int>(threadIdx.x) + kComputeThreads < fours);
    }
    if (has_norm) {
        sum = warpSum(sum);
        if (lane == 0) {
            w.buffer[64 + warp] = sum;
        }
    }
    units.giveInput(has_units && !is_early);
    syncCompute();
}

/// makePlanes() of a row without residual or norm that is not wide: two fours a thread at a time,
/// from packets to fp16.
template <typename FORM>
__device__ __forceinline__ void makePlainPlanes(const ProjectKernelArgs& a,
                                                const StreamWork& w,
                                                const UnitSignalsOf<FORM>& units,
                                                bool has_units,
                                                const Exchange& exchange,
                                                int step,
                                                const StepClocks& clocks) {
    const bool is_four_bit = a.w[0].layout != WeightLayout::Int8Row;
    const int fours = a.cols / 4;
    const bool is_linked = a.link == kLinkPackets;
    const uint2* const packets = exchange.packetsOf(step - 1 + kPacketSteps);
    const uint32_t mark = exchange.markOf(step - 1);
    if (a.link == kLinkFlags) {
        exchange.waitForFlags(step - 1, exchange.grid);
    }
#pragma unroll 1
    for (int first = 0; first < fours; first += kShortFours * kComputeThreads) {
        float4 v[kShortFours] = {};
        if (is_linked) {
            takeShort(packets + 4 * first, fours - first, mark, v);
        }
        clocks.note(1);
#pragma unroll
        for (int i = 0; i < kShortFours; ++i) {
            const int c = first + i * kComputeThreads + static_cast<int>(threadIdx.x);
            if (!is_linked && c < fours) {
                v[i] = loadFour(a.x + 4 * c);
            }
            if ((c & ~31) < fours) {
                storePlanes<FORM>(a, w, c, v[i], is_four_bit, c < fours);
            }
        }
    }
    units.giveInput(has_units);
    syncCompute();
}

/// Makes the planes; ends with a barrier. Sums of squares for the last norm are left in buffer[64 +
/// warp]. row: the residual row in shared memory; norms: there too, `norm_bytes` apart. Loops are
/// not unrolled: what runs once in a step costs as much for its instructions' way into the cache as
/// for itself.
template <typename FORM>
__device__ __forceinline__ void makePlanes(const ProjectKernelArgs& a,
                                           const StreamWork& w,
                                           const UnitSignalsOf<FORM>& units,
                                           bool has_units,
                                           float4* row,
                                           const char* norms,
                                           int norm_bytes,
                                           const Exchange& exchange,
                                           int step,
                                           const StepClocks& clocks) {
    const bool has_residual = a.input == kInputResidualNorm || a.input == kInputResidual;
    const bool is_four_bit = a.w[0].layout != WeightLayout::Int8Row;
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x & 31;
    const int fours = a.cols / 4;
    float sum = 0.0F;
    if (isShort(a)) {
        makeShortPlanes<FORM>(a, w, units, has_units, row, norms, norm_bytes, exchange, step,
                              clocks);
        return;
    }
    if (isWide(a)) {
        makeWidePlane<FORM>(a, w, units, has_units, exchange, step);
        clocks.note(1);
        return;
    }
    if (a.input == kInputPlain) {
        makePlainPlanes<FORM>(a, w, units, has_units, exchange, step, clocks);
        return;
    }
    // Read before the wait, so that nothing behind it has to wait for them.
    const bool has_norm = a.norm.data != nullptr;
    const bool is_brought = bringsNorms<FORM>(a.cols);
    const VectorArgs own_norm = normOf(a.norm, norms, is_brought);
    const VectorArgs own_t_norm = normOf(a.t_norm, norms + norm_bytes, is_brought);
    const float scalar = a.scalar;
    const bool keeps_row = a.keeps_row != 0;
    float* const x_out = a.x_out;
    if (a.link == kLinkPackets) {
        sum = takeValues(exchange.packetsOf(step - 1 + kPacketSteps), 0, fours,
                         exchange.markOf(step - 1), w.taken);
    } else {
        if (a.link == kLinkFlags) {
            exchange.waitForFlags(step - 1, exchange.grid);
        }
        const float* const from = has_residual ? a.t : a.x;
#pragma unroll 4
        for (int c = threadIdx.x; c < fours; c += kComputeThreads) {
            const float4 v = loadFour(from + 4 * c);
            w.taken[c] = v;
            sum += sumOfSquares(v);
        }
    }
    clocks.note(1);
    float scale = 0.0F;
    if (has_residual) {
        sum = warpSum(sum);
        if (lane == 0) {
            w.buffer[warp] = sum;
        }
        syncCompute();
        scale = addedScale(a, w.buffer);
    }
    sum = 0.0F;
#pragma unroll 1
    for (int c0 = threadIdx.x & ~31; c0 < fours; c0 += kComputeThreads) {
        const int c = c0 + lane;
        const bool is_there = c < fours;
        float4 v = is_there ? w.taken[c] : make_float4(0.0F, 0.0F, 0.0F, 0.0F);
        if (is_there) {
            if (has_residual) {
                const float4 x = keeps_row ? row[c] : loadFour(a.x + 4 * c);
                const float4 t_norm = loadFour(own_t_norm, 4 * c);
                v.x = fmaf(v.x * scale, t_norm.x, x.x * scalar);
                v.y = fmaf(v.y * scale, t_norm.y, x.y * scalar);
                v.z = fmaf(v.z * scale, t_norm.z, x.z * scalar);
                v.w = fmaf(v.w * scale, t_norm.w, x.w * scalar);
                if (exchange.block == 0) {
                    *reinterpret_cast<float4*>(x_out + 4 * c) = v;
                }
            }
            row[c] = v;
            if (has_norm) {
                sum += sumOfSquares(v);
                const float4 norm = loadFour(own_norm, 4 * c);
                v.x *= norm.x;
                v.y *= norm.y;
                v.z *= norm.z;
                v.w *= norm.w;
            }
        }
        storePlanes<FORM>(a, w, c, v, is_four_bit, is_there);
    }
    if (has_norm) {
        sum = warpSum(sum);
        if (lane == 0) {
            w.buffer[64 + warp] = sum;
        }
    }
    units.giveInput(has_units);
    syncCompute();
}

} // namespace kernels::cuda
