// SPDX-License-Identifier: Apache-2.0
// Low-rank updates where shared memory has no room for their operands: stream_large.cu, whose rows
// fill it, stream_async.cu and its forms, which have less than half of it; and of bf16
// weights, stream_half.cu, which take four times as long to come as an update does. A and B stay in
// memory. As in stream_lora.cuh a warp of the block does nothing else: it asks for both in L2 while
// the steps before are at work, multiplies its units of A by the input once that is there, collects
// the sums of all blocks, A h, and multiplies the block's rows of B while the others multiply
// weights: whoever makes results adds one number a row.
#pragma once

#include "kernels/cuda/device/decode/stream_lora.cuh"

namespace kernels::cuda {

/// What a step's updates have in the work memory: what they add to the block's rows of each weight
/// (as updatesOf()), and A h.
struct DirectUpdates {
    char* memory; ///< [directUpdateBytes()]
    int local_rows;
    int weights;

    __device__ __forceinline__ DirectUpdates(char* work, const ProjectKernelArgs& a)
        : memory(work + a.direct_at * 16), local_rows(a.local_rows), weights(a.count) {}
    [[nodiscard]] __device__ __forceinline__ float* of(int weight) const {
        return reinterpret_cast<float*>(memory) + weight * local_rows;
    }
    /// [ranks], each times the factor of its update.
    [[nodiscard]] __device__ __forceinline__ float* ranks() const {
        return reinterpret_cast<float*>(memory + streamUpdateBytes(weights, local_rows));
    }
};

/// A row of B: its first 32 bytes may be asked for before A h is there. Most adapters have no more.
struct DirectRow {
    uint4 first[2] = {};
    const char* at = nullptr;

    __device__ __forceinline__ void load(const char* row, int bytes) {
        at = row;
        first[0] = *reinterpret_cast<const uint4*>(at);
        if (bytes > 16) {
            first[1] = *reinterpret_cast<const uint4*>(at + 16);
        }
    }
    /// Times A h of its update.
    template <int TYPE>
    [[nodiscard]] __device__ __forceinline__ float times(const float* h, int rank) const {
        constexpr int kRanks = kPieceRanks<TYPE>;
        float sum = dotPiece<TYPE>(first[0], h, 0.0F);
        if (rank > kRanks) {
            sum = dotPiece<TYPE>(first[1], h + kRanks, sum);
        }
        if (rank > 2 * kRanks) {
            sum += dotRanks<TYPE>(at + 32, h + 2 * kRanks, rank - 2 * kRanks);
        }
        return sum;
    }
    [[nodiscard]] __device__ __forceinline__ float times(int type, const float* h, int rank) const {
        return type == kElementBf16  ? times<kElementBf16>(h, rank)
               : type == kElementF16 ? times<kElementF16>(h, rank)
                                     : times<kElementF32>(h, rank);
    }
};

/// An update as its lane has it.
struct DirectTerm {
    const char* b = nullptr; ///< [rows of the weight, rank]
    int first = 0;           ///< Ranks before its own.
    int rank = 0;
    int type = 0; ///< Element type of B.

    /// That of another lane, each its own. All lanes.
    [[nodiscard]] __device__ __forceinline__ DirectTerm of(int lane) const {
        constexpr uint32_t kAll = 0xffffffffU;
        const auto bits = reinterpret_cast<uint64_t>(b);
        const auto low = __shfl_sync(kAll, static_cast<uint32_t>(bits), lane);
        const auto high = __shfl_sync(kAll, static_cast<uint32_t>(bits >> 32), lane);
        DirectTerm other;
        other.b = reinterpret_cast<const char*>(static_cast<uint64_t>(high) << 32 | low);
        other.first = __shfl_sync(kAll, first, lane);
        other.rank = __shfl_sync(kAll, rank, lane);
        other.type = __shfl_sync(kAll, type, lane);
        return other;
    }
    [[nodiscard]] __device__ __forceinline__ int rowBytes() const {
        return rank * elementBytes(type);
    }
};

/// What the warp reads of a step's arguments long before it: they are in memory, not in the ring of
/// steps.
struct DirectStep {
    UnitTask unit;   ///< The block's first one.
    TileMap map;     ///< The block's rows.
    DirectTerm term; ///< Lane t: update t.
    uint32_t of[3];  ///< Updates of each weight, a bit each.
    DirectRow row;   ///< For the lane's first row, its weight's first update.
    int units, shift, updates;

    __device__ __forceinline__ DirectStep(const ProjectKernelArgs& a, const Exchange& exchange)
        : map(a, exchange.block), units(a.lora_units), shift(a.lora_shift), updates(a.lora_count) {
        const int lane = static_cast<int>(threadIdx.x) & 31;
        if (exchange.block < units) {
            unit = UnitTask(a, exchange.block);
        }
        int weight = -1;
        if (lane < updates) {
            const LoraArgs& update = a.lora[lane];
            term.b = static_cast<const char*>(update.b);
            term.first = update.first;
            term.rank = update.rank;
            term.type = update.b_type;
            weight = update.weight;
        }
#pragma unroll
        for (int j = 0; j < 3; ++j) {
            of[j] = __ballot_sync(0xffffffffU, weight == j);
        }
    }

    /// Rows of all weights.
    [[nodiscard]] __device__ __forceinline__ int rows() const {
        return map.rows[0] + map.rows[1] + map.rows[2];
    }
    /// For row i of those: its weight, and its number among that weight's rows of the block.
    __device__ __forceinline__ int weightOf(int i, int& local) const {
        const int weight = i < map.rows[0] ? 0 : i < map.rows[0] + map.rows[1] ? 1 : 2;
        local = i - (weight > 0 ? map.rows[0] : 0) - (weight > 1 ? map.rows[1] : 0);
        return weight;
    }
    [[nodiscard]] __device__ __forceinline__ uint32_t updatesOf(int weight) const {
        return weight == 0 ? of[0] : weight == 1 ? of[1] : of[2];
    }

    /// A of the block's units and B of its rows on their way into L2.
    __device__ __forceinline__ void prefetch(const ProjectKernelArgs& a,
                                             const Exchange& exchange) const {
        constexpr int kLine = 128;
        const int lane = static_cast<int>(threadIdx.x) & 31;
#pragma unroll 1
        for (int u = exchange.block; u < units; u += exchange.grid) {
            const UnitTask task = u == exchange.block ? unit : UnitTask(a, u);
#pragma unroll 1
            for (int at = lane * kLine; at < task.bytes; at += 32 * kLine) {
                prefetchL2(task.at + at);
            }
        }
#pragma unroll 1
        for (int t = 0; t < updates; ++t) {
            const DirectTerm own = term.of(t);
            const int weight = a.lora[t].weight;
            const char* const begin =
                own.b + static_cast<int64_t>(map.fromOf(weight)) * own.rowBytes();
            const int bytes = map.rowsOfWeight(weight) * own.rowBytes();
#pragma unroll 1
            for (int at = lane * kLine; at < bytes; at += 32 * kLine) {
                prefetchL2(begin + at);
            }
        }
    }

    /// The first row of every lane on its way.
    __device__ __forceinline__ void loadRow() {
        int local = 0;
        const int i = static_cast<int>(threadIdx.x) & 31;
        const int weight = weightOf(i, local);
        const uint32_t own = i < rows() ? updatesOf(weight) : 0;
        const DirectTerm update = term.of(own != 0 ? __ffs(static_cast<int>(own)) - 1 : 0);
        if (own != 0) {
            const int bytes = update.rowBytes();
            row.load(update.b + static_cast<int64_t>(map.fromOf(weight) + local) * bytes, bytes);
        }
    }

    /// B (A h) of the block's rows, zero of rows without an update.
    __device__ __forceinline__ void multiply(const DirectUpdates& to) const {
        const float* const h = to.ranks();
        const int all = rows();
#pragma unroll 1
        for (int base = 0; base < all; base += 32) {
            const int i = base + (static_cast<int>(threadIdx.x) & 31);
            int local = 0;
            const int weight = weightOf(i, local);
            uint32_t left = i < all ? updatesOf(weight) : 0;
            DirectRow own = row;
            bool is_loaded = base == 0;
            float sum = 0.0F;
            // As often as the weight with most updates has some.
#pragma unroll 1
            while (__ballot_sync(0xffffffffU, left != 0) != 0) {
                const DirectTerm update =
                    term.of(left != 0 ? __ffs(static_cast<int>(left)) - 1 : 0);
                if (left != 0) {
                    const int bytes = update.rowBytes();
                    if (!is_loaded) {
                        own.load(update.b +
                                     static_cast<int64_t>(map.fromOf(weight) + local) * bytes,
                                 bytes);
                    }
                    sum += own.times(update.type, h + update.first, update.rank);
                    left &= left - 1;
                }
                is_loaded = false;
            }
            if (i < all) {
                to.of(weight)[local] = sum;
            }
        }
    }
};

/// Eight of A times eight neighbours of an input in two parts of bf16 (storeHalves()).
__device__ __forceinline__ float dotHalves(const char* halves, const float (&v)[8]) {
    float sum = 0.0F;
#pragma unroll
    for (int part = 0; part < 2; ++part) {
        float x[8];
        splitEight<kElementBf16>(*reinterpret_cast<const uint4*>(halves + part * 32), x);
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            sum = fmaf(v[i], x[i], sum);
        }
    }
    return sum;
}

/// Columns that all lanes take at a time: eight neighbours each.
constexpr int kDirectStride = 256;

/// A of the block's first unit that is in registers before the input is there, if it has 16 bits.
struct DirectAhead {
    static constexpr int kPieces = 4;
    uint4 pieces[kPieces] = {};
    __device__ __forceinline__ void load(const UnitTask& task) {
        const int first = (static_cast<int>(threadIdx.x) & 31) * 8;
        if (task.type == kElementF32) {
            return;
        }
#pragma unroll
        for (int i = 0; i < kPieces; ++i) {
            const int column = first + i * kDirectStride;
            if (column < task.columns) {
                pieces[i] = *reinterpret_cast<const uint4*>(task.at + column * 2);
            }
        }
    }
};

/// Eight neighbours of the input, of which the lane has those of every 256.
struct PlaneColumns { // of 4-bit and 8-bit weights
    const char* plane;
    const float* scale;
    int block_bytes;
    __device__ __forceinline__
    PlaneColumns(const UnitTask& task, const StreamWork& w, bool is_four_bit, bool is_wide)
        : block_bytes(w.block_bytes) {
        const int lane = static_cast<int>(threadIdx.x) & 31;
        const int block = (task.column >> 6) + (lane >> 3);
        plane = w.planes + block * block_bytes + planeOffset((lane & 7) * 2, is_four_bit, is_wide);
        scale = w.scales + block;
    }
    __device__ __forceinline__ float times(const float (&v)[8], float sum) const {
        return fmaf(dotPlane(plane, v), *scale, sum);
    }
    __device__ __forceinline__ void next() {
        plane += kDirectStride / 64 * block_bytes;
        scale += kDirectStride / 64;
    }
};
struct HalfColumns { // of bf16 weights
    const char* halves;
    __device__ __forceinline__ HalfColumns(const UnitTask& task, const StreamWork& w) {
        const int first = (static_cast<int>(threadIdx.x) & 31) * 8;
        halves = w.planes + ((task.column + first) >> 4) * 64 + (first & 8) * 2;
    }
    __device__ __forceinline__ float times(const float (&v)[8], float sum) const {
        return sum + dotHalves(halves, v);
    }
    __device__ __forceinline__ void next() { halves += kDirectStride / 16 * 64; }
};

struct MemoryColumns { // of an input that is in shared memory in part only
    const float* x;
    __device__ __forceinline__ MemoryColumns(const UnitTask& task, const float* input)
        : x(input + task.column + (static_cast<int>(threadIdx.x) & 31) * 8) {}
    __device__ __forceinline__ float times(const float (&v)[8], float sum) const {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            const float4 four = loadFour(x + 4 * i);
            sum = fmaf(v[4 * i], four.x, sum);
            sum = fmaf(v[4 * i + 1], four.y, sum);
            sum = fmaf(v[4 * i + 2], four.z, sum);
            sum = fmaf(v[4 * i + 3], four.w, sum);
        }
        return sum;
    }
    __device__ __forceinline__ void next() {
        x += kDirectStride;
    }
};

/// This lane's columns of a unit times the input. ahead: of this unit, or nullptr. Of what is in
/// memory some has to be on its way at a time.
template <int TYPE, typename COLUMNS>
__device__ __forceinline__ float
directSum(const UnitTask& task, COLUMNS input, const DirectAhead* ahead) {
    const int lane = static_cast<int>(threadIdx.x) & 31;
    const char* row = task.at + lane * 8 * elementBytes(TYPE);
    int left = task.columns - lane * 8;
    float sum = 0.0F;
    if constexpr (TYPE != kElementF32) {
        if (ahead != nullptr) {
#pragma unroll
            for (int i = 0; i < DirectAhead::kPieces; ++i) {
                if (left > 0) {
                    float v[8];
                    splitEight<TYPE>(ahead->pieces[i], v);
                    sum = input.times(v, sum);
                    input.next();
                }
                left -= kDirectStride;
            }
            row += DirectAhead::kPieces * kDirectStride * elementBytes(TYPE);
        }
    }
#pragma unroll 4
    for (; left > 0; left -= kDirectStride) {
        float v[8];
        eightOf<TYPE>(row, 0, v);
        sum = input.times(v, sum);
        row += kDirectStride * elementBytes(TYPE);
        input.next();
    }
    __syncwarp();
    return sum;
}

/// How a step has its input; read before it comes.
template <typename FORM>
struct DirectInput {
    StreamWork w;
    const float* x; ///< The same in memory, of rows that are in shared memory in part only.
    bool is_half;
    bool is_four_bit;
    bool is_wide;
    __device__ __forceinline__ DirectInput(char* work, const ProjectKernelArgs& a)
        : w(streamWork<FORM>(work, a)), x(holdsPart<FORM>(a) ? a.x : nullptr),
          is_half(isHalf<FORM>(a)), is_four_bit(a.w[0].layout != WeightLayout::Int8Row),
          is_wide(isWide(a)) {}
    [[nodiscard]] __device__ __forceinline__ float sumOf(const UnitTask& task,
                                                         const DirectAhead* ahead) const {
        return task.type == kElementBf16  ? sumOf<kElementBf16>(task, ahead)
               : task.type == kElementF16 ? sumOf<kElementF16>(task, ahead)
                                          : sumOf<kElementF32>(task, ahead);
    }

private:
    template <int TYPE>
    [[nodiscard]] __device__ __forceinline__ float sumOf(const UnitTask& task,
                                                         const DirectAhead* ahead) const {
        if constexpr (FORM::kHasHalves) {
            if (is_half) {
                return directSum<TYPE>(task, HalfColumns(task, w), ahead);
            }
        }
        if constexpr (FORM::kHoldsPart) {
            if (x != nullptr) {
                return directSum<TYPE>(task, MemoryColumns(task, x), ahead);
            }
        }
        return directSum<TYPE>(task, PlaneColumns(task, w, is_four_bit, is_wide), ahead);
    }
};

/// The sums of all units of the grid, those of a rank added: A h.
__device__ __forceinline__ void
collectDirect(const uint64_t* slots, int units, int shift, uint32_t tag, float* sums) {
    const int lane = static_cast<int>(threadIdx.x) & 31;
    constexpr int kAtOnce = 4;
#pragma unroll 1
    for (int first = 0; first < units; first += 32 * kAtOnce) {
        Tagged v[kAtOnce];
        bool is_there = false;
        while (!is_there) {
            is_there = true;
#pragma unroll
            for (int i = 0; i < kAtOnce; ++i) {
                const int unit = first + i * 32 + lane;
                v[i] = {0.0F, tag};
                if (unit < units) {
                    v[i] = loadTagged(slots + unit * kUnitSlot);
                }
                is_there = is_there && v[i].tag == tag;
            }
        }
        __syncwarp();
        // Chunks of a rank are neighbours, a power of two of them up to 32.
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) {
            const int unit = first + i * 32 + lane;
            float sum = v[i].value;
#pragma unroll 1
            for (int other = (1 << shift) / 2; other > 0; other /= 2) {
                sum += __shfl_xor_sync(0xffffffffU, sum, other);
            }
            if (unit < units && (unit & ((1 << shift) - 1)) == 0) {
                sums[unit >> shift] = sum;
            }
        }
    }
}

/// The warp for updates, for the whole token: the layout.unit_steps steps with updates. steps: in
/// memory; work: the work memory.
template <typename FORM>
__device__ __forceinline__ void runDirectUnits(const TokenStep* steps,
                                               const StreamLayout& layout,
                                               char* work,
                                               const UnitSignalsOf<FORM>& signals,
                                               const Exchange& exchange,
                                               long long* trace) {
    const int lane = static_cast<int>(threadIdx.x) & 31;
    int step = layout.first_unit_step;
    DirectStep own(steps[step].project, exchange);
    own.prefetch(steps[step].project, exchange);
#pragma unroll 1
    for (int i = 0; i < layout.unit_steps; ++i) {
        const ProjectKernelArgs& a = steps[step].project;
        const StepClocks clocks{trace, step};
        const uint32_t parity = static_cast<uint32_t>(i) & 1U;
        const uint32_t tag = exchange.markOf(step);
        const DirectInput<FORM> input(work, a);
        uint64_t* const slots = a.lora_slots;
        const int next = a.lora_next;
        const DirectUpdates updates(work, a);
        const float factor = exchange.block < own.units ? *own.unit.factor : 0.0F;
        signals.begun().wait(parity);
        DirectAhead ahead;
        if (exchange.block < own.units) {
            ahead.load(own.unit);
        }
        own.loadRow();
        clocks.noteUnit(0);
        signals.input().wait(parity);
#pragma unroll 1
        for (int u = exchange.block; u < own.units; u += exchange.grid) {
            const bool is_first = u == exchange.block;
            const UnitTask task = is_first ? own.unit : UnitTask(a, u);
            const float all =
                warpSum(is_first ? input.sumOf(task, &ahead) : input.sumOf(task, nullptr));
            if (lane == 0) {
                storeTagged(slots + u * kUnitSlot, all * (is_first ? factor : *task.factor), tag);
            }
        }
        clocks.noteUnit(1);
        collectDirect(slots, own.units, own.shift, tag, updates.ranks());
        __syncwarp();
        clocks.noteUnit(2);
        own.multiply(updates);
        __syncwarp();
        if (lane == 0) {
            signals.ready().arrive();
        }
        clocks.noteUnit(3);
        step += next;
        if (i + 1 < layout.unit_steps) {
            own = DirectStep(steps[step].project, exchange);
            own.prefetch(steps[step].project, exchange);
        }
    }
}

} // namespace kernels::cuda
