// SPDX-License-Identifier: Apache-2.0
// Inputs for the kernel tests: seeded values, weights in every storage format, and buffers that
// end at a page nobody may touch, so that a read or write behind the end is a crash in every
// build, not only under a sanitizer.
#pragma once

#include "kernels/cpu/float_types.h"
#include "kernels/cpu/kv_rows.h"
#include "kernels/cpu/tables.h"
#include "kernels/cpu/thread_pool.h"
#include "kernels/ops.h"
#include "kernels/weight_formats.h"
#include "tests/support/pages.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace support {

inline size_t sizeOf(int64_t n) {
    return static_cast<size_t>(n);
}

/// Splitmix64: the same values on every machine.
class Rng {
public:
    explicit Rng(uint64_t seed) : state_(seed) {}
    uint64_t next() {
        state_ += 0x9e3779b97f4a7c15U;
        uint64_t z = state_;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
        return z ^ (z >> 31);
    }
    /// Uniform in [-1, 1).
    float uniform() { return static_cast<float>(next() >> 40) * 0x1p-23F - 1.0F; }
    /// Roughly normal, standard deviation 1.
    float normal() { return (uniform() + uniform() + uniform()) + uniform() * 1e-3F; }
    int64_t below(int64_t n) { return static_cast<int64_t>(next() % static_cast<uint64_t>(n)); }

private:
    uint64_t state_;
};

/// Memory whose last byte is the last byte before an inaccessible page.
template <typename T>
class Guarded {
public:
    Guarded() = default;
    explicit Guarded(size_t count) : count_(count) {
        const size_t page = pageBytes();
        bytes_ = (count * sizeof(T) + page - 1) / page * page;
        base_ = takePages(bytes_ + page);
        forbidPages(static_cast<char*>(base_) + bytes_, page);
        data_ = reinterpret_cast<T*>(static_cast<char*>(base_) + bytes_ - count * sizeof(T));
    }
    explicit Guarded(const std::vector<T>& values) : Guarded(values.size()) {
        if (!values.empty()) {
            std::memcpy(data_, values.data(), values.size() * sizeof(T));
        }
    }
    Guarded(Guarded&& other) noexcept { swap(other); }
    Guarded& operator=(Guarded&& other) noexcept {
        swap(other);
        return *this;
    }
    Guarded(const Guarded&) = delete;
    Guarded& operator=(const Guarded&) = delete;
    ~Guarded() {
        if (base_ != nullptr) {
            givePages(base_, bytes_ + pageBytes());
        }
    }
    [[nodiscard]] T* data() const { return data_; }
    [[nodiscard]] size_t size() const { return count_; }
    T& operator[](size_t i) const { return data_[i]; }
    [[nodiscard]] std::vector<T> values() const { return {data_, data_ + count_}; }

private:
    void swap(Guarded& other) noexcept {
        std::swap(base_, other.base_);
        std::swap(bytes_, other.bytes_);
        std::swap(data_, other.data_);
        std::swap(count_, other.count_);
    }
    void* base_ = nullptr;
    size_t bytes_ = 0; ///< Up to the page that nobody may touch.
    T* data_ = nullptr;
    size_t count_ = 0;
};

inline Guarded<float> randomFloats(int64_t count, uint64_t seed, float size = 1.0F) {
    Rng rng(seed);
    Guarded<float> result(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) {
        result[static_cast<size_t>(i)] = rng.normal() * size;
    }
    return result;
}

/// `values` stored as `type`.
inline Guarded<uint8_t> stored(const Guarded<float>& values, kernels::DType type) {
    Guarded<uint8_t> result(values.size() * static_cast<size_t>(kernels::cpu::elementSize(type)));
    for (size_t i = 0; i < values.size(); ++i) {
        kernels::cpu::storeElement(result.data(), type, static_cast<int64_t>(i), values[i]);
    }
    return result;
}

/// Rows of a KV cache.
inline Guarded<uint8_t>
storedRows(const Guarded<float>& values, kernels::KvType type, int64_t heads, int64_t dim) {
    const auto row = static_cast<size_t>(kernels::kvRowBytes(type, heads, dim));
    const auto width = static_cast<size_t>(heads * dim);
    Guarded<uint8_t> result(values.size() / width * row);
    std::fill_n(result.data(), result.size(), uint8_t{0});
    for (size_t i = 0; i < values.size() / width; ++i) {
        kernels::cpu::storeKvRow(values.data() + i * width, type, heads, dim,
                                 result.data() + i * row);
    }
    return result;
}

/// The values of `count` rows.
inline std::vector<float>
rowValues(const void* data, kernels::KvType type, int64_t heads, int64_t dim, int64_t count) {
    std::vector<float> values;
    for (int64_t row = 0; row < count; ++row) {
        for (int64_t head = 0; head < heads; ++head) {
            const kernels::cpu::KvHeadRows rows(data, type, heads, dim, head);
            const std::byte* const at = rows.codes + row * rows.row_bytes;
            for (int64_t d = 0; d < dim; ++d) {
                values.push_back(
                    kernels::hasScales(type)
                        ? kernels::cpu::loadCode<kernels::KvType::Q8>(at, d) * rows.scale(row)
                        : kernels::cpu::loadElement(at, kernels::cpu::kvElement(type), d));
            }
        }
    }
    return values;
}

/// Formats of blocks, and their names.
inline constexpr std::pair<kernels::WeightFormat, const char*> kBlockFormats[] = {
    {kernels::WeightFormat::Q4_0, "Q4_0"},     {kernels::WeightFormat::Q4_1, "Q4_1"},
    {kernels::WeightFormat::Q5_0, "Q5_0"},     {kernels::WeightFormat::Q5_1, "Q5_1"},
    {kernels::WeightFormat::Q8_0, "Q8_0"},     {kernels::WeightFormat::Q2_K, "Q2_K"},
    {kernels::WeightFormat::Q3_K, "Q3_K"},     {kernels::WeightFormat::Q4_K, "Q4_K"},
    {kernels::WeightFormat::Q5_K, "Q5_K"},     {kernels::WeightFormat::Q6_K, "Q6_K"},
    {kernels::WeightFormat::IQ4_NL, "IQ4_NL"}, {kernels::WeightFormat::IQ4_XS, "IQ4_XS"},
    {kernels::WeightFormat::MXFP4, "MXFP4"},   {kernels::WeightFormat::Q2_0, "Q2_0"},
};

/// Random blocks whose scales are small numbers: each of a block's halves is set, wherever it is.
inline void fillBlocks(kernels::WeightFormat format, Guarded<uint8_t>& bytes, Rng& rng) {
    using kernels::WeightFormat;
    const auto halvesOf = [format]() -> std::vector<size_t> {
        switch (format) {
        case WeightFormat::Q4_1:
        case WeightFormat::Q5_1:
        case WeightFormat::Q4_K:
        case WeightFormat::Q5_K:
            return {0, 2};
        case WeightFormat::Q2_K:
            return {80, 82};
        case WeightFormat::Q3_K:
            return {108};
        case WeightFormat::Q6_K:
            return {208};
        default:
            return {0};
        }
    };
    for (size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = static_cast<uint8_t>(rng.next());
    }
    const auto block_bytes = static_cast<size_t>(kernels::rowOf(format).block_bytes);
    for (size_t block = 0; block < bytes.size(); block += block_bytes) {
        if (format == WeightFormat::MXFP4) {
            bytes[block] = static_cast<uint8_t>(118 + rng.next() % 6);
            continue;
        }
        for (const size_t half : halvesOf()) {
            uint16_t bits = 0;
            kernels::cpu::storeElement(&bits, kernels::DType::F16, 0,
                                       0.002F + 0.02F * std::fabs(rng.uniform()));
            std::memcpy(&bytes[block + half], &bits, sizeof bits);
        }
    }
}

/// A weight of any format with its memory. Values are random, scales plausible (one of them zero).
struct TestWeight {
    Guarded<uint8_t> bytes;
    Guarded<float> scales;
    Guarded<uint8_t> scale_codes;
    Guarded<float> nested_absmax;
    Guarded<float> nested_code;
    kernels::WeightView view;
};

inline TestWeight makeWeight(kernels::WeightFormat format,
                             int64_t rows,
                             int64_t cols,
                             int32_t block_size,
                             bool is_nested,
                             kernels::DType expand_type,
                             uint64_t seed) {
    using kernels::WeightFormat;
    Rng rng(seed);
    TestWeight w;
    const int64_t count = rows * cols;
    w.view.format = format;
    w.view.rows = rows;
    w.view.cols = cols;
    const kernels::WeightLayout layout = kernels::rowOf(format).layout;
    switch (layout) {
    case kernels::WeightLayout::F32:
        w.bytes = stored(randomFloats(count, seed), kernels::DType::F32);
        break;
    case kernels::WeightLayout::F16:
        w.bytes = stored(randomFloats(count, seed), kernels::DType::F16);
        break;
    case kernels::WeightLayout::BF16:
        w.bytes = stored(randomFloats(count, seed), kernels::DType::BF16);
        break;
    case kernels::WeightLayout::Int8Row:
    case kernels::WeightLayout::Int8Block:
    case kernels::WeightLayout::Codes:
        w.bytes =
            Guarded<uint8_t>(static_cast<size_t>((count * kernels::rowOf(format).bits + 7) / 8));
        for (size_t i = 0; i < w.bytes.size(); ++i) {
            w.bytes[i] = static_cast<uint8_t>(rng.next());
        }
        break;
    case kernels::WeightLayout::Blocks:
        w.bytes = Guarded<uint8_t>(static_cast<size_t>(kernels::valueBytes(format, count)));
        fillBlocks(format, w.bytes, rng);
        break;
    }
    w.view.data = w.bytes.data();
    if (format == WeightFormat::Int8Row) {
        w.scales = Guarded<float>(static_cast<size_t>(rows));
        for (int64_t i = 0; i < rows; ++i) {
            w.scales[static_cast<size_t>(i)] = 0.01F + 0.02F * std::fabs(rng.uniform());
        }
        w.view.row_scale = w.scales.data();
    }
    const bool is_int8 = layout == kernels::WeightLayout::Int8Block;
    if (layout != kernels::WeightLayout::Codes && !is_int8) {
        return w;
    }
    w.view.block_size = block_size;
    w.view.expand_type = expand_type;
    const int64_t blocks = (count + block_size - 1) / block_size;
    if (!is_nested) {
        w.scales = Guarded<float>(static_cast<size_t>(blocks));
        for (int64_t i = 0; i < blocks; ++i) {
            float scale = 0.5F + std::fabs(rng.uniform());
            if (format == WeightFormat::Int4) {
                // As many bits as those that are read or made have: fp16's.
                scale = std::bit_cast<float>(std::bit_cast<uint32_t>(scale) & 0xffffe000U);
            }
            w.scales[static_cast<size_t>(i)] = i == 1 ? 0.0F : is_int8 ? scale / 50.0F : scale;
        }
        w.view.absmax = w.scales.data();
        return w;
    }
    w.scale_codes = Guarded<uint8_t>(static_cast<size_t>(blocks));
    for (int64_t i = 0; i < blocks; ++i) {
        w.scale_codes[static_cast<size_t>(i)] = static_cast<uint8_t>(rng.next());
    }
    w.nested_absmax = Guarded<float>(static_cast<size_t>((blocks + 255) / 256));
    for (size_t i = 0; i < w.nested_absmax.size(); ++i) {
        w.nested_absmax[i] = 0.3F + 0.2F * rng.uniform();
    }
    w.nested_code = Guarded<float>(256);
    for (int i = 0; i < 256; ++i) {
        w.nested_code[static_cast<size_t>(i)] =
            static_cast<float>(i - 127) / 128.0F + 0.001F * rng.uniform();
    }
    w.view.absmax_q = w.scale_codes.data();
    w.view.nested_absmax = w.nested_absmax.data();
    w.view.nested_code = w.nested_code.data();
    w.view.nested_offset = 0.7F;
    return w;
}

inline const char* formatName(kernels::WeightFormat format) {
    switch (format) {
    case kernels::WeightFormat::F32:
        return "f32";
    case kernels::WeightFormat::F16:
        return "f16";
    case kernels::WeightFormat::BF16:
        return "bf16";
    case kernels::WeightFormat::Nf4:
        return "nf4";
    case kernels::WeightFormat::Fp4:
        return "fp4";
    case kernels::WeightFormat::Int8Row:
        return "int8";
    case kernels::WeightFormat::Int4:
        return "int4";
    case kernels::WeightFormat::Int8:
        return "int8 blocks";
    default:
        break;
    }
    const auto* const found = std::find_if(std::begin(kBlockFormats), std::end(kBlockFormats),
                                           [&](const auto& row) { return row.first == format; });
    return found == std::end(kBlockFormats) ? "?" : found->second;
}

/// Names of the tables that are compared with the reference; a test skips those that the machine
/// lacks.
inline const std::vector<const char*>& fastTables() {
    static const std::vector<const char*> names = {"cpu-avx2", "cpu-avx512", "cpu-avx512vnni",
                                                   "cpu-avx512bf16"};
    return names;
}

/// One pool of two threads for all tests, whatever the machine has.
inline kernels::Queue testQueue() {
    static kernels::cpu::ThreadPool pool(2);
    return {&pool};
}

inline kernels::MutF32
matrix(const Guarded<float>& m, int64_t rows, int64_t cols, int64_t stride = 0) {
    return {m.data(), rows, cols, stride == 0 ? cols : stride};
}

} // namespace support
