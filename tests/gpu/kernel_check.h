// SPDX-License-Identifier: Apache-2.0
// What the checks of GPU kernels share: random operands that lie on the host and on the card, and
// how a result is judged. Plain C++, so that it runs on machines without Qt.
#pragma once

#include "kernels/cpu/host_device.h"
#include "kernels/cpu/tables.h"
#include "kernels/cuda/cuda_device.h"
#include "kernels/cuda/driver.h"
#include "kernels/cuda/launch_sizes.h"
#include "kernels/cuda/ops.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace kernel_check {

using namespace kernels;

inline std::mt19937 g_random(7);
inline int g_failures = 0; ///< Checks that failed so far.

struct Buffer {
    Device* device = nullptr;
    void* data = nullptr;
    size_t bytes = 0;
    Buffer(Device& d, size_t n) : device(&d), data(d.allocate(n, 1)), bytes(n) {
        if (data == nullptr) {
            std::printf("no memory for %zu bytes\n", n);
            std::exit(1);
        }
    }
    ~Buffer() { device->free(data); }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    [[nodiscard]] float* f() const { return static_cast<float*>(data); }
};

/// The same bytes on the host and on the card.
template <typename T>
struct Pair {
    std::vector<T> host;
    std::unique_ptr<Buffer> card;
    Pair(Device& d, std::vector<T> values) : host(std::move(values)) {
        card = std::make_unique<Buffer>(d, host.size() * sizeof(T) + 64);
        d.copyIn(card->data, host.data(), host.size() * sizeof(T));
    }
    [[nodiscard]] const T* there() const { return static_cast<const T*>(card->data); }
};

/// Attention as on cards whose blocks have 99 KiB, as long as this lives.
struct AttentionLimit {
    cuda::Stream& stream;
    int before;
    explicit AttentionLimit(cuda::CudaDevice& d)
        : stream(d.stream()), before(stream.facts.shared_bytes) {
        stream.facts.shared_bytes = std::min(before, cuda::kSmallSharedBytes);
    }
    ~AttentionLimit() { stream.facts.shared_bytes = before; }
    AttentionLimit(const AttentionLimit&) = delete;
    AttentionLimit& operator=(const AttentionLimit&) = delete;
};

inline std::vector<float> normal(size_t n, float sigma = 1.0F) {
    std::normal_distribution<float> d(0.0F, sigma);
    std::vector<float> v(n);
    for (float& x : v) {
        x = d(g_random);
    }
    return v;
}

inline std::vector<uint8_t> bytes(size_t n) {
    std::vector<uint8_t> v(n);
    for (uint8_t& x : v) {
        x = static_cast<uint8_t>(g_random());
    }
    return v;
}

inline uint16_t toBf16(float x) {
    const auto u = std::bit_cast<uint32_t>(x);
    return static_cast<uint16_t>((u + 0x7fffU + ((u >> 16U) & 1U)) >> 16U);
}

inline double relativeError(const std::vector<float>& got, const std::vector<float>& want) {
    double error = 0.0;
    double norm = 0.0;
    for (size_t i = 0; i < got.size(); ++i) {
        const double d = static_cast<double>(got[i]) - static_cast<double>(want[i]);
        error += d * d;
        norm += static_cast<double>(want[i]) * static_cast<double>(want[i]);
    }
    return std::sqrt(error / (norm > 0 ? norm : 1));
}

inline void report(const std::string& what, Status status, double error, double bound) {
    const bool is_ok = status == Status::Ok && error <= bound;
    std::printf("%-58s %s %.2e (bound %.0e)\n", what.c_str(), is_ok ? "ok  " : "FAIL", error,
                bound);
    if (status != Status::Ok) {
        std::printf("    status %d\n", static_cast<int>(status));
    }
    g_failures += is_ok ? 0 : 1;
}

/// A random weight in one format, with views for both sides.
struct Weight {
    std::vector<std::unique_ptr<Pair<uint8_t>>> parts;
    WeightView host, card;
    template <typename T>
    const T* add(Device& d, const std::vector<T>& values, const T** there) {
        std::vector<uint8_t> raw(values.size() * sizeof(T));
        std::memcpy(raw.data(), values.data(), raw.size());
        parts.push_back(std::make_unique<Pair<uint8_t>>(d, std::move(raw)));
        *there = reinterpret_cast<const T*>(parts.back()->there());
        return reinterpret_cast<const T*>(parts.back()->host.data());
    }
    Weight(Device& d, WeightFormat format, int64_t rows, int64_t cols, bool nested) {
        host.format = format;
        host.rows = rows;
        host.cols = cols;
        const auto n = static_cast<size_t>(rows * cols);
        card = host;
        const void* there = nullptr;
        if (format == WeightFormat::BF16) {
            std::vector<uint16_t> v(n);
            for (auto& x : v) {
                x = toBf16(std::normal_distribution<float>(0, 0.05F)(g_random));
            }
            const uint16_t* t = nullptr;
            host.data = add(d, v, &t);
            there = t;
        } else if (kernels::hasBlocks(host)) {
            // What the scales say stays small: no byte of a block is above 0x1b, so that halves are
            // below 0.004 and MXFP4's exponents far from those of its largest values.
            std::vector<uint8_t> v(static_cast<size_t>(kernels::valueBytes(format, rows * cols)));
            for (uint8_t& x : v) {
                x = static_cast<uint8_t>(g_random() % 28);
            }
            const uint8_t* t = nullptr;
            host.data = add(d, v, &t);
            there = t;
        } else if (format == WeightFormat::F32) {
            const float* t = nullptr;
            host.data = add(d, normal(n, 0.05F), &t);
            there = t;
        } else if (format == WeightFormat::Int8Row) {
            const uint8_t* t = nullptr;
            host.data = add(d, bytes(n), &t);
            there = t;
            std::vector<float> scale(static_cast<size_t>(rows));
            for (float& s : scale) {
                s = 0.001F + 0.0001F * static_cast<float>(g_random() % 10);
            }
            host.row_scale = add(d, scale, &card.row_scale);
        } else {
            const uint8_t* t = nullptr;
            host.data = add(d, bytes(n * static_cast<size_t>(kernels::rowOf(format).bits) / 8), &t);
            there = t;
            const int block = format == WeightFormat::Int8 ? 32 : 64;
            host.block_size = card.block_size = block;
            const size_t blocks = n / static_cast<size_t>(block);
            if (nested) {
                host.absmax_q = add(d, bytes(blocks), &card.absmax_q);
                std::vector<float> outer((blocks + 255) / 256);
                for (float& x : outer) {
                    x = 0.02F + 0.001F * static_cast<float>(g_random() % 16);
                }
                host.nested_absmax = add(d, outer, &card.nested_absmax);
                std::vector<float> code(256);
                for (size_t i = 0; i < 256; ++i) {
                    code[i] = static_cast<float>(i) / 127.5F - 1.0F;
                }
                host.nested_code = add(d, code, &card.nested_code);
                host.nested_offset = card.nested_offset = 0.05F;
            } else {
                std::vector<float> absmax(blocks);
                for (float& x : absmax) {
                    x = 0.02F + 0.001F * static_cast<float>(g_random() % 64);
                }
                host.absmax = add(d, absmax, &card.absmax);
            }
        }
        card.data = there;
    }
};

inline std::vector<float> fetch(Device& d, const Buffer& b, size_t n) {
    std::vector<float> v(n);
    d.copyOut(v.data(), b.data, n * sizeof(float));
    d.synchronize();
    return v;
}

inline const char* formatName(WeightFormat f, bool nested) {
    switch (f) {
    case WeightFormat::BF16:
        return "bf16";
    case WeightFormat::F32:
        return "f32";
    case WeightFormat::Int8Row:
        return "int8";
    case WeightFormat::Nf4:
        return nested ? "nf4-dq" : "nf4";
    case WeightFormat::Fp4:
        return nested ? "fp4-dq" : "fp4";
    case WeightFormat::Int4:
        return "int4";
    case WeightFormat::Int8:
        return "int8 blocks";
    case WeightFormat::F16:
        return "f16";
    default:
        return "blocks";
    }
}

/// A random low-rank update [out, rank] [rank, in] for both sides.
struct Update {
    std::unique_ptr<Pair<uint8_t>> a_bytes, b_bytes;
    std::unique_ptr<Pair<float>> factor;
    MatView a_host, b_host;
    ProjectLora card;
    Update(Device& d, DType type, int64_t in, int64_t out, int64_t rank, int weight) {
        factor = std::make_unique<Pair<float>>(d, std::vector<float>{0.8F});
        const auto make = [&](int64_t rows, int64_t cols, std::unique_ptr<Pair<uint8_t>>& bytes,
                              MatView& there, MatView& here) {
            const std::vector<float> v = normal(static_cast<size_t>(rows * cols), 0.08F);
            std::vector<uint8_t> raw(v.size() * (type == DType::F32 ? 4 : 2));
            for (size_t i = 0; i < v.size(); ++i) {
                const uint16_t half = toBf16(v[i]);
                std::memcpy(raw.data() + i * (type == DType::F32 ? 4 : 2),
                            type == DType::F32 ? static_cast<const void*>(&v[i]) : &half,
                            type == DType::F32 ? 4 : 2);
            }
            bytes = std::make_unique<Pair<uint8_t>>(d, std::move(raw));
            here = {bytes->host.data(), type, rows, cols};
            there = {bytes->there(), type, rows, cols};
        };
        make(rank, in, a_bytes, card.a, a_host);
        make(out, rank, b_bytes, card.b, b_host);
        card.factor = factor->there();
        card.weight = weight;
    }
    /// y += factor * B A h on the host.
    void add(const std::vector<float>& h, std::vector<float>& y) const {
        const auto in = static_cast<int64_t>(h.size());
        const auto out = static_cast<int64_t>(y.size());
        std::vector<float> scratch(static_cast<size_t>(a_host.rows));
        cpuScalarOps().lora_accumulate(
            {}, {h.data(), 1, in, in}, a_host, b_host, {}, factor->host[0],
            {scratch.data(), 1, a_host.rows, a_host.rows}, {y.data(), 1, out, out});
    }
};

// kernel_check_ops.cpp: single functions of the table.
void checkLinear(cuda::CudaDevice& d, bool is_reference);
void checkAttention(cuda::CudaDevice& d, bool is_reference);
void checkProbes(cuda::CudaDevice& d);
// kernel_check_updates.cpp: low-rank updates of many rows.
void checkUpdates(cuda::CudaDevice& d, bool is_reference);
// kernel_check_steps.cpp: decode steps.
void checkSteps(cuda::CudaDevice& d, bool is_collected);
void checkLongRows(cuda::CudaDevice& d);
void checkStepUpdates(cuda::CudaDevice& d, bool is_collected);
// kernel_check_experts.cpp: routed experts of a token.
void checkExperts(cuda::CudaDevice& d);
void timeExperts(cuda::CudaDevice& d);
// kernel_check_rows.cpp: fused steps of many rows.
void checkRows(cuda::CudaDevice& d);
// kernel_check_chain.cpp: decoder layers of a few tokens in one launch.
void checkRowSteps(cuda::CudaDevice& d);
// kernel_check_edges.cpp: what stands before and behind the layers of a token.
void checkEdges(cuda::CudaDevice& d);
void timeEdges(cuda::CudaDevice& d);
/// Time by the card's clock of one of `repeats` calls of run(), recorded and replayed together.
double microseconds(cuda::CudaDevice& d, int repeats, const std::function<Status(int)>& run);
// kernel_times.cpp: beside what bytes and operations allow.
void timeKernels(cuda::CudaDevice& d);
void timeRowProducts(cuda::CudaDevice& d);

} // namespace kernel_check
