// SPDX-License-Identifier: Apache-2.0
// What kernels/cuda/device/common/ptx.cuh writes as PTX, emulated. Included by that header in place
// of it.
#pragma once

#include "kernels/cpu/float_types.h"

#include "emulated_device.h"

/// One block's shared variable: the key is an address of its own for every variable (and every
/// instance of a template).
#define BELFRY_SHARED(type, name, dims)                                                            \
    static char name##_key;                                                                        \
    auto& name = *static_cast<std::add_pointer_t<type dims>>(                                      \
        ::emulator::staticShared(&name##_key, sizeof(type dims), alignof(type)))

namespace emulator {

inline float bf16At(uint32_t pair, bool is_high) {
    return std::bit_cast<float>(is_high ? pair & 0xffff0000U : pair << 16U);
}

inline float f16At(uint32_t pair, bool is_high) {
    return kernels::cpu::f16ToFloat(static_cast<uint16_t>(is_high ? pair >> 16U : pair & 0xffffU));
}

/// Lane: words 0-3 c, 4-7 a, 8-9 b; becomes d in words 0-3. The fragments of mma.m16n8k16 with
/// 16-bit operands (PTX ISA, "Matrix Fragments for mma.m16n8k16").
template <float (*ELEMENT)(uint32_t, bool)>
void combineMultiplyAdd(Lane (&lanes)[32], uint32_t) {
    float a[16][16];
    float b[8][16]; // [n][k]
    for (int lane = 0; lane < 32; ++lane) {
        const uint32_t* const w = lanes[lane].word;
        const int group = lane / 4;
        const int in_group = lane % 4;
        for (int r = 0; r < 4; ++r) {
            const int row = group + (r & 1) * 8;
            const int column = in_group * 2 + (r >> 1) * 8;
            a[row][column] = ELEMENT(w[4 + r], false);
            a[row][column + 1] = ELEMENT(w[4 + r], true);
        }
        for (int r = 0; r < 2; ++r) {
            const int k = in_group * 2 + r * 8;
            b[group][k] = ELEMENT(w[8 + r], false);
            b[group][k + 1] = ELEMENT(w[8 + r], true);
        }
    }
    for (int lane = 0; lane < 32; ++lane) {
        for (int r = 0; r < 4; ++r) {
            const int row = lane / 4 + (r >> 1) * 8;
            const int column = lane % 4 * 2 + (r & 1);
            float sum = 0.0F;
            for (int k = 0; k < 16; ++k) {
                sum += a[row][k] * b[column][k];
            }
            lanes[lane].word[r] =
                std::bit_cast<uint32_t>(std::bit_cast<float>(lanes[lane].word[r]) + sum);
        }
    }
}

/// Lane: words 0-1 the address of a row of 16 bytes (lane i: row i % 8 of matrix i / 8); becomes
/// this lane's pair of each matrix in words 0-3.
template <bool IS_TRANSPOSED>
inline void combineLoadMatrix(Lane (&lanes)[32], uint32_t) {
    uint16_t matrix[4][8][8];
    for (int i = 0; i < 32; ++i) {
        const void* at = nullptr;
        std::memcpy(&at, lanes[i].word, sizeof(at));
        std::memcpy(matrix[i / 8][i % 8], at, 16);
    }
    for (int i = 0; i < 32; ++i) {
        for (int m = 0; m < 4; ++m) {
            const int row = i / 4;
            const int column = i % 4 * 2;
            const uint32_t low = IS_TRANSPOSED ? matrix[m][column][row] : matrix[m][row][column];
            const uint32_t high =
                IS_TRANSPOSED ? matrix[m][column + 1][row] : matrix[m][row][column + 1];
            lanes[i].word[m] = low | (high << 16U);
        }
    }
}

/// Lane: words 0-3 its part of the left operand of a warp's product; becomes rows lane / 4 and
/// lane / 4 + 8 of that operand, 16 columns each.
inline void combineGroupOperand(Lane (&lanes)[32], uint32_t) {
    uint32_t own[32][4];
    for (int i = 0; i < 32; ++i) {
        std::copy_n(lanes[i].word, 4, own[i]);
    }
    for (int i = 0; i < 32; ++i) {
        for (int r = 0; r < 2; ++r) {
            for (int pair = 0; pair < 8; ++pair) {
                lanes[i].word[r * 8 + pair] = own[i / 4 * 4 + pair % 4][r + pair / 4 * 2];
            }
        }
    }
}

template <bool IS_TRANSPOSED>
inline void loadMatrix(uint32_t (&r)[4], uint32_t from) {
    Lane lane{};
    const void* const at = sharedPointer(from, 16, 16);
    std::memcpy(lane.word, &at, sizeof(at));
    exchange(Exchange::LoadMatrix, 0xffffffffU, combineLoadMatrix<IS_TRANSPOSED>, lane);
    std::copy_n(lane.word, 4, r);
}

} // namespace emulator

namespace kernels::cuda {

inline char* dynamicShared() {
    return ::emulator::dynamicShared();
}
inline uint32_t sharedAddress(const void* pointer) {
    return ::emulator::sharedNumber(pointer);
}
inline uint32_t loadShared(uint32_t address) {
    uint32_t value = 0;
    std::memcpy(&value, ::emulator::sharedPointer(address, 4, 4), 4);
    return value;
}
inline void tellShared(int32_t* at, int value) {
    *at = value;
    ::emulator::noteAtomicWrite();
    ::emulator::noteProgress();
}
inline int askShared(const int32_t* at) {
    ::emulator::yieldToOthers();
    return *at;
}
inline void prefetchL2(const void*) {}
constexpr bool kHasBulkPrefetch = true;
inline void prefetchBulk(const void* at, int bytes) {
    if (((reinterpret_cast<uintptr_t>(at) | static_cast<uintptr_t>(bytes)) & 15) != 0) {
        ::emulator::fail("prefetchBulk: not aligned to 16 bytes");
    }
}
inline void letDependentsStart() {}
inline void waitForPredecessor() {}

inline void copyAsync16(uint32_t to, const void* from, bool is_valid) {
    ::emulator::copyLater(::emulator::sharedPointer(to, 16, 16), is_valid ? from : nullptr);
}
inline void copyAsync16(void* shared, const void* global) {
    copyAsync16(sharedAddress(shared), global, true);
}
inline void commitCopies() {
    ::emulator::commitCopies();
}
template <int LEFT>
inline void waitForCopyGroups() {
    ::emulator::finishCopies(LEFT);
}
inline void waitForCopies() {
    ::emulator::finishCopies(-1);
}

inline void loadMatrix4(uint32_t (&r)[4], uint32_t from) {
    ::emulator::loadMatrix<false>(r, from);
}
inline void loadMatrix4Transposed(uint32_t (&r)[4], uint32_t from) {
    ::emulator::loadMatrix<true>(r, from);
}
template <float (*ELEMENT)(uint32_t, bool)>
void emulatedMultiplyAdd(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    ::emulator::Lane lane{};
    std::memcpy(lane.word, c, 16);
    std::copy_n(a, 4, lane.word + 4);
    lane.word[8] = b0;
    lane.word[9] = b1;
    ::emulator::exchange(::emulator::Exchange::MultiplyAdd, 0xffffffffU,
                         ::emulator::combineMultiplyAdd<ELEMENT>, lane);
    std::memcpy(c, lane.word, 16);
}
inline void multiplyAdd(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    emulatedMultiplyAdd<::emulator::bf16At>(c, a, b0, b1);
}
inline uint32_t multiplyHalves(uint32_t a, uint32_t b) {
    uint32_t result = 0;
    for (const bool is_high : {false, true}) {
        // Exact in fp32, rounded to even once.
        const auto bits = std::bit_cast<uint32_t>(::emulator::bf16At(a, is_high) *
                                                  ::emulator::bf16At(b, is_high));
        const uint32_t rounded = (bits + 0x7fffU + (bits >> 16U & 1U)) >> 16U;
        result |= rounded << (is_high ? 16U : 0U);
    }
    return result;
}
inline uint32_t multiplyAddPairs(uint32_t a, uint32_t b, uint32_t c) {
    uint32_t result = 0;
    for (const bool is_high : {false, true}) {
        // Exact in fp64, but for sums of which bf16 keeps nothing of the lower part.
        const double exact = static_cast<double>(::emulator::bf16At(a, is_high)) *
                                 static_cast<double>(::emulator::bf16At(b, is_high)) +
                             static_cast<double>(::emulator::bf16At(c, is_high));
        auto value = static_cast<float>(exact);
        // Rounded to odd first, so that the second rounding is the only one.
        auto bits = std::bit_cast<uint32_t>(value);
        if (static_cast<double>(value) != exact && (bits & 1U) == 0) {
            const bool is_too_large = std::fabs(static_cast<double>(value)) > std::fabs(exact);
            bits = is_too_large ? bits - 1 : bits + 1;
        }
        const uint32_t rounded = (bits + 0x7fffU + (bits >> 16U & 1U)) >> 16U;
        result |= rounded << (is_high ? 16U : 0U);
    }
    return result;
}
inline void multiplyAddHalves(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    emulatedMultiplyAdd<::emulator::f16At>(c, a, b0, b1);
}

inline uint32_t boundHalves(uint32_t pair, uint32_t low, uint32_t high) {
    uint32_t result = 0;
    for (const bool is_high : {false, true}) {
        const float value = ::emulator::bf16At(pair, is_high);
        const float least = ::emulator::bf16At(low, is_high);
        const float most = ::emulator::bf16At(high, is_high);
        const float bounded = value < least ? least : value > most ? most : value;
        result |= is_high ? std::bit_cast<uint32_t>(bounded) & 0xffff0000U
                          : std::bit_cast<uint32_t>(bounded) >> 16U;
    }
    return result;
}

inline int loadRelaxed(const int32_t* at) {
    ::emulator::yieldToOthers();
    return *at;
}
inline int loadAcquire(const int32_t* at) {
    ::emulator::yieldToOthers();
    return *at;
}
struct Tagged {
    float value;
    uint32_t tag;
};
inline void storeTagged(uint64_t* at, float value, uint32_t tag) {
    *at = static_cast<uint64_t>(tag) << 32U | std::bit_cast<uint32_t>(value);
    ::emulator::noteAtomicWrite();
    ::emulator::yieldToOthers();
}
inline Tagged loadTagged(const uint64_t* at) {
    ::emulator::yieldToOthers();
    return {std::bit_cast<float>(static_cast<uint32_t>(*at)), static_cast<uint32_t>(*at >> 32U)};
}
inline void addRelease(int32_t* at, int value) {
    *at += value;
    ::emulator::noteAtomicWrite();
    ::emulator::yieldToOthers();
}

inline void
syncSome(int id, int threads, const std::source_location& place = std::source_location::current()) {
    ::emulator::someBarrier(id, threads, place);
}
inline uint32_t permuteBytes(uint32_t low, uint32_t high, uint32_t selector) {
    return __byte_perm(low, high, selector); // the emulated one knows signs
}
inline uint32_t warpMaxBits(uint32_t value) {
    for (int lanes = 16; lanes > 0; lanes /= 2) {
        const uint32_t other = __shfl_xor_sync(0xffffffffU, value, lanes);
        value = other > value ? other : value;
    }
    return value;
}
template <uint32_t MASK>
uint32_t maskAndSet(uint32_t value, uint32_t bits) {
    return (value & MASK) | bits;
}
inline uint32_t loadShared2(uint32_t address) {
    uint16_t value = 0;
    std::memcpy(&value, ::emulator::sharedPointer(address, 2, 2), 2);
    return value;
}
inline uint2 loadShared8(uint32_t address) {
    uint2 value{};
    std::memcpy(&value, ::emulator::sharedPointer(address, 8, 8), 8);
    return value;
}
inline uint4 loadShared16(uint32_t address) {
    uint4 value{};
    std::memcpy(&value, ::emulator::sharedPointer(address, 16, 16), 16);
    return value;
}

struct CopyBarrier {
    uint64_t* at;

    void init(int arrivals) const { ::emulator::initCopyBarrier(at, arrivals); }
    void expect(int bytes) const { ::emulator::expectCopies(at, bytes); }
    void arrive() const { ::emulator::arriveAtCopyBarrier(at); }
    void wait(uint32_t parity) const { ::emulator::waitForPhase(at, parity); }
};
struct AsyncBarrier {
    uint64_t* at;

    void init(int arrivals) const { ::emulator::initCopyBarrier(at, arrivals); }
    void arrive() const { ::emulator::arriveAtCopyBarrier(at); }
    void arriveBehindCopies() const { ::emulator::arriveBehindCopies(at); }
    void wait(uint32_t parity) const { CopyBarrier{at}.wait(parity); }
};
inline void fenceBarriers() {}
inline void fenceBulkCopies() {}
inline void copyBulk(uint32_t shared, const void* global, int bytes, CopyBarrier barrier) {
    if (((reinterpret_cast<uintptr_t>(global) | static_cast<uintptr_t>(bytes)) & 15) != 0) {
        ::emulator::fail("copyBulk: not aligned to 16 bytes");
    }
    ::emulator::copyBulk(::emulator::sharedPointer(shared, static_cast<size_t>(bytes), 16), global,
                         static_cast<size_t>(bytes), barrier.at);
}
inline uint64_t evictFirst() {
    return 0;
}
inline void copyAsyncOnce16(uint32_t shared, const void* global, uint64_t /*policy*/) {
    copyAsync16(shared, global, true);
}
inline void copyBulkOnce(
    uint32_t shared, const void* global, int bytes, CopyBarrier barrier, uint64_t /*policy*/) {
    copyBulk(shared, global, bytes, barrier);
}

inline uint4 loadPackets(const uint2* at) {
    if (reinterpret_cast<uintptr_t>(at) % 16 != 0) {
        ::emulator::fail("loadPackets: not aligned to 16 bytes");
    }
    ::emulator::yieldToOthers();
    return {at[0].x, at[0].y, at[1].x, at[1].y};
}
inline uint2 loadPacket(const uint2* at) {
    ::emulator::yieldToOthers();
    return *at;
}
inline void storePacket(uint2* at, uint32_t value, uint32_t mark) {
    *at = {value, mark};
    ::emulator::noteAtomicWrite();
    ::emulator::noteProgress();
}
inline uint4 loadRowPacket(const uint4* at) {
    if (reinterpret_cast<uintptr_t>(at) % 16 != 0) {
        ::emulator::fail("loadRowPacket: not aligned to 16 bytes");
    }
    ::emulator::yieldToOthers();
    return *at;
}
inline void storeRowPacket(uint4* at, const uint4& v) {
    if (reinterpret_cast<uintptr_t>(at) % 16 != 0) {
        ::emulator::fail("storeRowPacket: not aligned to 16 bytes");
    }
    *at = v;
    ::emulator::noteAtomicWrite();
    ::emulator::noteProgress();
}
inline void storeRelease(int32_t* at, int value) {
    *at = value;
    ::emulator::noteAtomicWrite();
    ::emulator::noteProgress();
    ::emulator::yieldToOthers();
}

/// A map as the fake driver makes it: address, columns, rows, bytes between rows, rows of a box.
inline void copyTile(uint32_t shared, const void* map, int row, int column, CopyBarrier barrier) {
    static const char kZeros[16] = {};
    uint64_t words[5];
    std::memcpy(words, map, sizeof words);
    const auto rows = static_cast<int>(words[4]);
    if (shared % 1024 != 0) {
        ::emulator::fail("copyTile: a tile that does not begin at a multiple of 1024");
    }
    auto* const to =
        static_cast<char*>(::emulator::sharedPointer(shared, static_cast<size_t>(rows) * 128, 16));
    for (int r = 0; r < rows; ++r) {
        for (int chunk = 0; chunk < 8; ++chunk) {
            const bool is_inside = static_cast<uint64_t>(row + r) < words[2] &&
                                   static_cast<uint64_t>(column + chunk * 8) < words[1];
            const char* const from = is_inside ? reinterpret_cast<const char*>(words[0]) +
                                                     static_cast<uint64_t>(row + r) * words[3] +
                                                     static_cast<uint64_t>(column + chunk * 8) * 2
                                               : kZeros;
            ::emulator::copyBulk(to + r * 128 + (chunk ^ (r & 7)) * 16, from, 16, barrier.at);
        }
    }
}
template <int COUNT>
inline void giveRegisters() {}
template <int COUNT>
inline void takeRegisters() {}
inline void beginProducts() {}
inline void commitProducts() {
    ::emulator::commitProducts();
}
/// The warp waits as a whole: whoever goes on knows of all its lanes' parts.
template <int LEFT>
inline void waitForProducts() {
    ::emulator::finishProducts(LEFT);
    __syncwarp();
}
/// The part of one thread: rows lane / 4 and lane / 4 + 8 of its warp's 16, columns 2 (lane % 4)
/// and the next of every eight. The right operand is read when the product runs.
template <int N>
inline void multiplyGroup(float (&d)[N / 2], const uint32_t (&a)[4], uint64_t b) {
    ::emulator::Lane lane{};
    std::copy_n(a, 4, lane.word);
    ::emulator::exchange(::emulator::Exchange::GroupOperand, 0xffffffffU,
                         ::emulator::combineGroupOperand, lane);
    if (b >> 62U != 1 || (b >> 32U & 0x3fffU) != 64) {
        ::emulator::fail("multiplyGroup: only tiles of 128 bytes a row, swizzled, are emulated");
    }
    const unsigned in_quad = ::emulator::laneId() % 4U;
    ::emulator::productLater([lane, b, in_quad, sums = &d[0]] {
        const auto address = static_cast<uint32_t>(b & 0x3fffU) << 4U;
        const uint32_t tile = address & ~1023U;
        const uint32_t first = (address & 1023U) / 16U; // chunk of the row
        const char* const rows = static_cast<const char*>(
            ::emulator::sharedPointer(tile, static_cast<size_t>(N) * 128, 16));
        for (unsigned n = 0; n < N; ++n) {
            if (n % 8 / 2 != in_quad) {
                continue;
            }
            float x[16];
            for (unsigned half = 0; half < 2; ++half) {
                uint32_t words[4];
                std::memcpy(words, rows + n * 128 + ((first + half) ^ (n & 7U)) * 16, 16);
                for (unsigned i = 0; i < 8; ++i) {
                    x[half * 8 + i] = ::emulator::bf16At(words[i / 2], i % 2 != 0);
                }
            }
            for (unsigned r = 0; r < 2; ++r) {
                float sum = 0.0F;
                for (unsigned k = 0; k < 16; ++k) {
                    sum += ::emulator::bf16At(lane.word[r * 8 + k / 2], k % 2 != 0) * x[k];
                }
                sums[n / 8 * 4 + r * 2 + n % 2] += sum;
            }
        }
    });
}

/// Row `row` of an operand in shared memory, which has `rows`, as groupOperand() describes it.
inline void groupRow(uint64_t operand, unsigned row, unsigned rows, float (&values)[16]) {
    const auto address = static_cast<uint32_t>(operand & 0x3fffU) << 4U;
    const uint32_t first = (address & 1023U) / 16U; // chunk of the row
    const char* const tile = static_cast<const char*>(
        ::emulator::sharedPointer(address & ~1023U, static_cast<size_t>(rows) * 128, 16));
    for (unsigned half = 0; half < 2; ++half) {
        uint32_t words[4];
        std::memcpy(words, tile + row * 128 + ((first + half) ^ (row & 7U)) * 16, 16);
        for (unsigned i = 0; i < 8; ++i) {
            values[half * 8 + i] = ::emulator::bf16At(words[i / 2], i % 2 != 0);
        }
    }
}
/// multiplyGroup() with both operands read when the product runs.
template <int N>
inline void multiplyTiles(float (&d)[N / 2], uint64_t a, uint64_t b) {
    for (const uint64_t operand : {a, b}) {
        if (operand >> 62U != 1 || (operand >> 32U & 0x3fffU) != 64) {
            ::emulator::fail(
                "multiplyTiles: only tiles of 128 bytes a row, swizzled, are emulated");
        }
    }
    __syncwarp();
    const unsigned lane = ::emulator::laneId();
    const unsigned warp = threadIdx.x / 32U % 4U;
    ::emulator::productLater([a, b, lane, warp, sums = &d[0]] {
        float left[2][16];
        for (unsigned r = 0; r < 2; ++r) {
            groupRow(a, warp * 16 + lane / 4 + r * 8, 64, left[r]);
        }
        for (unsigned n = 0; n < N; ++n) {
            if (n % 8 / 2 != lane % 4) {
                continue;
            }
            float right[16];
            groupRow(b, n, N, right);
            for (unsigned r = 0; r < 2; ++r) {
                float sum = 0.0F;
                for (unsigned k = 0; k < 16; ++k) {
                    sum += left[r][k] * right[k];
                }
                sums[n / 8 * 4 + r * 2 + n % 2] += sum;
            }
        }
    });
}

} // namespace kernels::cuda
