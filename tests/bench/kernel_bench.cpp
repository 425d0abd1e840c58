// SPDX-License-Identifier: Apache-2.0
// Speed of the CPU kernels beside what the machine can do: decode products against the streaming
// read bandwidth, products of many tokens and attention against the arithmetic peak. Shapes are
// those of Gemma 4 E2B. Other programs on the machine lower every figure, so each is the best of
// several runs. Usage: belfry_kernel_bench [seconds per figure] [table] [part: gemv gemm attention
// jobs steps other] [threads] [format of decode products]
#include "kernels/cpu/host_device.h"
#include "kernels/cpu/machine_probe.h"
#include "kernels/cpu/tables.h"
#include "kernels/weight_formats.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

namespace {

using kernels::DType;
using kernels::KvType;
using kernels::OpTable;
using kernels::WeightFormat;
using kernels::WeightView;

constexpr int64_t kRotatingBytes = int64_t{400} << 20; ///< Far more than any last-level cache here.

bool g_counts_cpu_time = false; ///< One thread: CPU time of this thread.

double now() {
    if (g_counts_cpu_time) {
        timespec t{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

struct Seconds {
    double fastest = 0.0;
    double median = 0.0;
};

/// Seconds of a call, of those made during `budget` after one to warm up.
Seconds timed(double budget, const std::function<void()>& call) {
    call();
    std::vector<double> all;
    const double end = now() + budget;
    for (int i = 0; i < 3 || now() < end; ++i) {
        const double start = now();
        call();
        all.push_back(now() - start);
    }
    std::sort(all.begin(), all.end());
    return {all.front(), all[all.size() / 2]};
}

double fastest(double budget, const std::function<void()>& call) {
    return timed(budget, call).fastest;
}

class Bench {
public:
    Bench(kernels::cpu::ThreadPool& pool, const OpTable& ops, double budget)
        : pool_(&pool), device_(0, &pool, ops), ops_(ops), budget_(budget) {}

    /// Measured first; every line is set against it.
    void probe(kernels::cpu::ThreadPool& pool) {
        rates_ = kernels::cpu::measureCpu(pool, 4.0);
        std::printf("machine: %d threads; read %.1f GB/s (one thread %.1f), copy %.1f GB/s\n",
                    rates_.threads, rates_.read_gb_per_s, rates_.read_gb_per_s_one,
                    rates_.copy_gb_per_s);
        std::printf("         fp32 %.0f GFLOP/s (one thread %.0f), bf16 %.0f (one thread %.0f)\n",
                    rates_.fp32_gflops, rates_.fp32_gflops_one, rates_.bf16_gflops,
                    rates_.bf16_gflops_one);
        std::printf("table:   %s\n", ops_.name);
    }

    /// wanted: the name of a format, or nothing for all.
    void gemv(const std::string& wanted) {
        std::printf("\n%-34s %9s %8s %7s %9s\n", "decode products", "us", "GB/s", "of read",
                    "in cache");
        const struct {
            int64_t in, out;
        } shapes[] = {{1536, 1536}, {1536, 6144}, {6144, 1536}, {1536, 12288}, {12288, 1536}};
        for (const WeightFormat format :
             {WeightFormat::BF16, WeightFormat::Nf4, WeightFormat::Fp4, WeightFormat::Int8Row,
              WeightFormat::F16, WeightFormat::F32, WeightFormat::Int4, WeightFormat::Q4_0,
              WeightFormat::Q8_0, WeightFormat::Q4_K, WeightFormat::Q5_K, WeightFormat::Q6_K,
              WeightFormat::Q5_0, WeightFormat::Q2_K, WeightFormat::Q3_K, WeightFormat::IQ4_NL}) {
            for (const bool nested : {false, true}) {
                if ((nested && format != WeightFormat::Nf4) ||
                    (!wanted.empty() && name(format, nested) != wanted)) {
                    continue;
                }
                double bytes_all = 0.0;
                double seconds_all = 0.0;
                double read_seconds_all = 0.0;
                double cache_seconds_all = 0.0;
                for (const auto& shape : shapes) {
                    for (const int tokens : {1, 2, 4, 8}) {
                        if (tokens > 1 && shape.out != 6144) {
                            continue;
                        }
                        const double bytes =
                            decodeLine(format, nested, shape.in, shape.out, tokens);
                        if (tokens == 1) {
                            bytes_all += bytes;
                            seconds_all += last_seconds_;
                            cache_seconds_all += last_cache_seconds_;
                            read_seconds_all += bytes / last_read_ / 1e9;
                        }
                    }
                }
                std::printf("%-34s %9s %8.1f %6.0f%% %9.1f\n",
                            (name(format, nested) + " all shapes").c_str(), "",
                            bytes_all / seconds_all / 1e9, percent(read_seconds_all, seconds_all),
                            bytes_all / cache_seconds_all / 1e9);
            }
        }
        if (!wanted.empty()) {
            return;
        }
        decodeLine(WeightFormat::BF16, false, 1536, 262144, 1);
        decodeLine(WeightFormat::Int8Row, false, 1536, 262144, 1);
    }

    void gemm() {
        const double peak = peakOf();
        std::printf("\n%-34s %9s %8s %7s\n", "products of many tokens", "ms", "GFLOP/s", "of peak");
        for (const WeightFormat format :
             {WeightFormat::BF16, WeightFormat::Nf4, WeightFormat::Int8Row, WeightFormat::F32}) {
            gemmLine(format, 2520, 768, 768,
                     format == WeightFormat::F32 ? rates_.fp32_gflops : peak);
            gemmLine(format, 2520, 768, 3072,
                     format == WeightFormat::F32 ? rates_.fp32_gflops : peak);
            gemmLine(format, 2520, 3072, 768,
                     format == WeightFormat::F32 ? rates_.fp32_gflops : peak);
        }
        for (const WeightFormat format : {WeightFormat::BF16, WeightFormat::Nf4}) {
            for (const int64_t tokens : {9, 16, 24, 25, 32, 48, 64, 128, 512}) {
                gemmLine(format, tokens, 1536, 6144, peak);
            }
        }
    }

    void attention() {
        const double peak = peakOf();
        std::printf("\n%-34s %9s %8s %7s\n", "attention", "ms", "GFLOP/s", "of peak");
        attentionLine("vision 2520 x 12 x 64, f32", 2520, 2520, 12, 12, 64, KvType::F32, false,
                      peak);
        attentionLine("vision 2520 x 12 x 64, bf16", 2520, 2520, 12, 12, 64, KvType::BF16, false,
                      peak);
        attentionLine("prefill 512 at 4k, 8/1 x 512", 512, 4096, 8, 1, 512, KvType::BF16, true,
                      peak);
        attentionLine("prefill 512, 8/1 x 256", 512, 1024, 8, 1, 256, KvType::BF16, true, peak);
        std::printf("\n%-34s %9s %8s %7s\n", "decode attention", "ms", "GB/s", "of read");
        for (const int64_t keys : {512, 4096, 32768}) {
            attentionLine("", 1, keys, 8, 1, 512, KvType::BF16, true, 0.0);
            attentionLine("", 1, keys, 8, 1, 512, KvType::Q8, true, 0.0);
        }
        attentionLine("", 1, 512, 8, 1, 256, KvType::BF16, true, 0.0);
    }

    void other() {
        std::printf("\n%-34s %9s %8s\n", "other", "us", "GB/s");
        const int64_t rows = 2520;
        const int64_t cols = 3072;
        float* x = floats(rows * cols);
        float* y = floats(rows * cols);
        const kernels::MutF32 mx{x, rows, cols, cols};
        const kernels::MutF32 my{y, rows, cols, cols};
        const double bytes = static_cast<double>(rows * cols) * 4.0;
        const kernels::Queue q = device_.queue();
        std::vector<int32_t> position(static_cast<size_t>(rows * 12), 100);
        std::vector<float> freq(256, 0.01F);
        line("gated_mul 2520 x 3072", 3 * bytes,
             [&] { ops_.gated_mul(q, kernels::Activation::GeluTanh, mx, my, my); });
        line("sigmoid_mul 2520 x 3072", 3 * bytes, [&] { ops_.sigmoid_mul(q, mx, my, my); });
        line("rms_norm 2520 x 3072", 2 * bytes, [&] { ops_.rms_norm(q, mx, {}, 1e-6F, my); });
        line("clamp 2520 x 3072", 2 * bytes, [&] { ops_.clamp(q, mx, -1.0F, 1.0F, my); });
        const kernels::MutF32 heads{x, rows, 768, 768};
        line("rope 2520 x 12 x 64", 2.0 * 4.0 * 2520 * 768,
             [&] { ops_.rope(q, heads, 64, 0, 32, position.data(), freq.data()); });
        const kernels::MutF32 one{x, 1, 12288, 12288};
        line("gated_mul 1 x 12288", 3.0 * 4 * 12288,
             [&] { ops_.gated_mul(q, kernels::Activation::GeluTanh, one, one, one); });
        const kernels::MutF32 small{x, 1, 1536, 1536};
        line("rms_norm 1 x 1536", 2.0 * 4 * 1536,
             [&] { ops_.rms_norm(q, small, {}, 1e-6F, small); });
        device_.free(x);
        device_.free(y);
    }

    /// What a job costs beside its work: nothing to do, and chunks of some microseconds.
    void jobs() {
        constexpr int kChunks = 8;
        const int threads = pool_->size();
        std::printf("\n%-34s %9s %8s\n", "us of a job beside its chunks", "fastest", "median");
        for (const double chunk : {0.0, 1.0, 4.0}) {
            const int count = chunk > 0.0 ? kChunks : 1;
            const Seconds job = timed(budget_, [&] {
                kernels::cpu::parallelFor(
                    pool_, int64_t{count} * threads, 1, [&](int64_t, int64_t) {
                        for (const double end = now() + chunk * 1e-6; chunk > 0.0 && now() < end;) {
                        }
                    });
            });
            char label[64];
            std::snprintf(label, sizeof(label), "%d a thread, %.0f us each", count, chunk);
            std::printf("%-34s %9.1f %8.1f\n", label, job.fastest * 1e6 - count * chunk,
                        job.median * 1e6 - count * chunk);
        }
    }

    /// What stands between the products of a decoded token. A product of few rows is nearly all
    /// preparation of its input.
    void steps() {
        std::printf("\n%-34s %9s %8s\n", "us of a decode step", "fastest", "median");
        for (const int64_t dim : {256, 512}) {
            for (const int64_t keys : {1, 16, 64, 128, 256, 512}) {
                attendLine(keys, 8, dim);
            }
        }
        using Input = kernels::ProjectArgs::Input;
        projectLine("input: norm, 1536", Input::Norm, 1536);
        projectLine("input: residual and norm, 1536", Input::ResidualNorm, 1536);
        projectLine("input: residual, 1536", Input::Residual, 1536);
        for (const int64_t in : {256, 2048, 6144, 12288}) {
            projectLine(("input: plain, " + std::to_string(in)).c_str(), Input::Plain, in);
        }
        constexpr int64_t kLogits = 262144;
        float* logits = floats(kLogits);
        stepLine("soft cap of 262144", [&] {
            ops_.soft_cap(device_.queue(), {logits, 1, kLogits, kLogits}, 30.0F);
        });
        uint64_t best = 0;
        stepLine("largest of 262144",
                 [&] { ops_.argmax(device_.queue(), logits, kLogits, nullptr, &best); });
        device_.free(logits);
    }

private:
    static double percent(double a, double b) { return b > 0.0 ? 100.0 * a / b : 0.0; }
    [[nodiscard]] double peakOf() const {
        return std::strcmp(ops_.name, "cpu-avx512bf16") == 0 ? rates_.bf16_gflops
                                                             : rates_.fp32_gflops;
    }

    static std::string name(WeightFormat format, bool nested) {
        switch (format) {
        case WeightFormat::F32:
            return "f32";
        case WeightFormat::F16:
            return "f16";
        case WeightFormat::BF16:
            return "bf16";
        case WeightFormat::Nf4:
            return nested ? "nf4 nested" : "nf4";
        case WeightFormat::Fp4:
            return "fp4";
        case WeightFormat::Int8Row:
            return "int8 rows";
        case WeightFormat::Int4:
            return "int4";
        case WeightFormat::Int8:
            return "int8 blocks";
        case WeightFormat::Q4_0:
            return "Q4_0";
        case WeightFormat::Q8_0:
            return "Q8_0";
        case WeightFormat::Q4_K:
            return "Q4_K";
        case WeightFormat::Q5_K:
            return "Q5_K";
        case WeightFormat::Q6_K:
            return "Q6_K";
        case WeightFormat::Q5_0:
            return "Q5_0";
        case WeightFormat::Q2_K:
            return "Q2_K";
        case WeightFormat::Q3_K:
            return "Q3_K";
        case WeightFormat::IQ4_NL:
            return "IQ4_NL";
        default:
            return "?"; // not measured here
        }
    }

    float* floats(int64_t count) {
        auto* p = static_cast<float*>(device_.allocate(static_cast<size_t>(count) * 4, 0));
        for (int64_t i = 0; i < count; ++i) {
            p[i] = static_cast<float>((i * 7919) % 1000) * 1e-3F - 0.5F;
        }
        return p;
    }

    /// Values with a scale: of W4A16 files 32, of bitsandbytes' formats 64.
    static int32_t blockOf(WeightFormat format) { return format == WeightFormat::Int4 ? 32 : 64; }

    /// Bytes of one weight of a format, with its scales.
    static int64_t weightBytes(WeightFormat format, bool nested, int64_t n) {
        const kernels::WeightFormatRow& row = kernels::rowOf(format);
        const bool has_codes = row.layout == kernels::WeightLayout::Codes;
        return kernels::valueBytes(format, n) +
               (has_codes ? n / blockOf(format) * (nested ? 1 : 4) : 0);
    }

    /// Rotating copies of a weight: copy i starts at i * bytes of one large block.
    struct Weights {
        char* base = nullptr;
        int64_t bytes = 0;
        int64_t copies = 0;
        WeightView view;
        std::vector<float> nested_code = std::vector<float>(256, 0.5F);
        std::vector<float> nested_absmax;
        std::vector<float> row_scale;

        [[nodiscard]] WeightView copy(int64_t i, bool nested) const {
            WeightView w = view;
            char* p = base + (i % copies) * bytes;
            w.data = p;
            char* scales = p + w.rows * w.cols / 2;
            if (kernels::hasCodes(w)) {
                if (nested) {
                    w.absmax_q = reinterpret_cast<uint8_t*>(scales);
                } else {
                    w.absmax = reinterpret_cast<float*>(scales);
                }
            }
            return w;
        }
    };

    Weights makeWeights(WeightFormat format, bool nested, int64_t in, int64_t out, int64_t total) {
        Weights w;
        const int64_t n = in * out;
        w.bytes = (weightBytes(format, nested, n) + 63) / 64 * 64;
        w.copies = (total + w.bytes - 1) / w.bytes;
        w.base = static_cast<char*>(device_.allocate(static_cast<size_t>(w.bytes * w.copies), 0));
        for (int64_t i = 0; i < w.bytes * w.copies; ++i) {
            // Ordinary numbers in every format: products of tiny ones take a hundred times as long.
            w.base[i] = static_cast<char>(0x38 + i % 8);
        }
        w.view.format = format;
        w.view.rows = out;
        w.view.cols = in;
        w.view.block_size = blockOf(format);
        w.view.expand_type = DType::BF16;
        w.nested_absmax.assign(static_cast<size_t>(n / 64 / 256 + 1), 0.5F);
        w.row_scale.assign(static_cast<size_t>(out), 0.01F);
        if (nested) {
            w.view.nested_absmax = w.nested_absmax.data();
            w.view.nested_code = w.nested_code.data();
            w.view.nested_offset = 0.5F;
        }
        w.view.row_scale = w.row_scale.data();
        return w;
    }

    double decodeLine(WeightFormat format, bool nested, int64_t in, int64_t out, int64_t tokens) {
        Weights w = makeWeights(format, nested, in, out, kRotatingBytes);
        float* x = floats(tokens * in);
        float* y = floats(tokens * out);
        // One pass over all copies per measurement, so that nothing is found in a cache. The same
        // memory is read plainly in between: the bandwidth left by other programs changes.
        double reading = 1e30;
        double pass = 1e30;
        const auto multiplyAll = [&] {
            for (int64_t i = 0; i < w.copies; ++i) {
                ops_.linear(device_.queue(), {x, tokens, in, in}, w.copy(i, nested),
                            {y, tokens, out, out});
            }
        };
        const double end = now() + budget_;
        for (int i = 0; i < 4 || now() < end; ++i) {
            double start = now();
            kernels::cpu::readMemory(pool_, w.base, w.bytes * w.copies);
            reading = std::min(reading, now() - start);
            start = now();
            multiplyAll();
            pass = std::min(pass, now() - start);
        }
        last_read_ = static_cast<double>(w.bytes * w.copies) / reading / 1e9;
        last_seconds_ = pass / static_cast<double>(w.copies);
        const auto bytes = static_cast<double>(weightBytes(format, nested, in * out));
        char label[64];
        std::snprintf(label, sizeof(label), "%s %lldx%lld, %lld tok", name(format, nested).c_str(),
                      static_cast<long long>(in), static_cast<long long>(out),
                      static_cast<long long>(tokens));
        std::printf("%-34s %9.1f %8.1f %6.0f%%", label, last_seconds_ * 1e6,
                    bytes / last_seconds_ / 1e9, percent(bytes / last_seconds_ / 1e9, last_read_));
        if (tokens == 1) { // the arithmetic bound
            last_cache_seconds_ =
                kernels::cpu::productSecondsFromCache(*pool_, ops_, w.copy(0, nested));
            std::printf(" %9.1f", bytes / last_cache_seconds_ / 1e9);
        }
        std::printf("\n");
        std::fflush(stdout);
        device_.free(x);
        device_.free(y);
        device_.free(w.base);
        return bytes;
    }

    void gemmLine(WeightFormat format, int64_t tokens, int64_t in, int64_t out, double peak) {
        Weights w = makeWeights(format, false, in, out, 1);
        float* x = floats(tokens * in);
        float* y = floats(tokens * out);
        const double seconds = fastest(budget_, [&] {
            ops_.linear(device_.queue(), {x, tokens, in, in}, w.copy(0, false),
                        {y, tokens, out, out});
        });
        const double flops = 2.0 * static_cast<double>(tokens) * static_cast<double>(in * out);
        char label[64];
        std::snprintf(label, sizeof(label), "%s %lldx%lldx%lld", name(format, false).c_str(),
                      static_cast<long long>(tokens), static_cast<long long>(in),
                      static_cast<long long>(out));
        std::printf("%-34s %9.2f %8.0f %6.0f%%\n", label, seconds * 1e3, flops / seconds / 1e9,
                    percent(flops / seconds / 1e9, peak));
        std::fflush(stdout);
        device_.free(x);
        device_.free(y);
        device_.free(w.base);
    }

    void attentionLine(const char* label,
                       int64_t queries,
                       int64_t keys,
                       int64_t heads,
                       int64_t kv_heads,
                       int64_t dim,
                       KvType type,
                       bool causal,
                       double peak) {
        float* q = floats(queries * heads * dim);
        float* out = floats(queries * heads * dim);
        const int64_t kv_bytes = keys * kernels::kvRowBytes(type, kv_heads, dim);
        // Caches of several layers, so that decode does not find its keys in the cache.
        const int64_t copies = queries == 1 ? kRotatingBytes / (2 * kv_bytes) + 1 : 1;
        const int64_t floats_per_cache = (kv_bytes + 3) / 4;
        float* k = floats(copies * floats_per_cache);
        float* v = floats(copies * floats_per_cache);
        if (type == KvType::BF16) {
            for (int64_t i = 0; i < copies * floats_per_cache * 2; ++i) {
                reinterpret_cast<uint16_t*>(k)[i] = static_cast<uint16_t>(0x3d00 + i % 97);
                reinterpret_cast<uint16_t*>(v)[i] = static_cast<uint16_t>(0x3d00 + i % 89);
            }
        }
        std::vector<int32_t> query_position(static_cast<size_t>(queries));
        std::vector<int32_t> key_position(static_cast<size_t>(keys));
        for (int64_t i = 0; i < keys; ++i) {
            key_position[static_cast<size_t>(i)] = static_cast<int32_t>(i);
        }
        for (int64_t i = 0; i < queries; ++i) {
            query_position[static_cast<size_t>(i)] = static_cast<int32_t>(keys - queries + i);
        }
        kernels::AttentionArgs args;
        args.q = q;
        args.out = out;
        args.kv_type = type;
        args.queries = queries;
        args.keys = keys;
        args.num_heads = heads;
        args.num_kv_heads = kv_heads;
        args.head_dim = dim;
        args.scale = 0.1F;
        args.mask.query_position = query_position.data();
        args.mask.key_position = key_position.data();
        args.mask.causal = causal;
        const double pass = fastest(budget_, [&] {
            for (int64_t i = 0; i < copies; ++i) {
                args.k = k + i * floats_per_cache;
                args.v = v + i * floats_per_cache;
                ops_.attention(device_.queue(), args);
            }
        });
        const double seconds = pass / static_cast<double>(copies);
        if (queries == 1) {
            const double rate = 2.0 * static_cast<double>(kv_bytes) / seconds / 1e9;
            std::printf("%lld keys%s, %lld/%lld heads x %lld %14.3f %8.1f %6.0f%%\n",
                        static_cast<long long>(keys), type == KvType::Q8 ? " in q8" : "",
                        static_cast<long long>(heads), static_cast<long long>(kv_heads),
                        static_cast<long long>(dim), seconds * 1e3, rate,
                        percent(rate, rates_.read_gb_per_s));
        } else {
            double pairs = static_cast<double>(queries) * static_cast<double>(keys);
            if (causal) {
                pairs -= static_cast<double>(queries) * static_cast<double>(queries) / 2.0;
            }
            const double flops = 4.0 * pairs * static_cast<double>(heads * dim);
            std::printf("%-34s %9.2f %8.0f %6.0f%%\n", label, seconds * 1e3, flops / seconds / 1e9,
                        percent(flops / seconds / 1e9, peak));
        }
        std::fflush(stdout);
        device_.free(q);
        device_.free(k);
        device_.free(v);
        device_.free(out);
    }

    /// A layer that owns keys and values, one kv head.
    void attendLine(int64_t keys, int64_t heads, int64_t dim) {
        std::vector<int32_t> positions(static_cast<size_t>(keys));
        for (int64_t i = 0; i < keys; ++i) {
            positions[static_cast<size_t>(i)] = static_cast<int32_t>(i);
        }
        const std::vector<float> norm(static_cast<size_t>(dim), 1.0F);
        std::vector<float> inv_freq(static_cast<size_t>(dim / 2));
        for (int64_t i = 0; i < dim / 2; ++i) {
            inv_freq[static_cast<size_t>(i)] = 1.0F / static_cast<float>(1 + i);
        }
        float* rows = floats((2 * heads + 2) * dim);
        float* cache = floats(keys * dim); // bf16, keys and values
        const auto position = static_cast<int32_t>(keys - 1);
        const auto count = static_cast<int32_t>(keys);
        kernels::AttendStepArgs args;
        args.q = rows;
        args.k = rows + heads * dim;
        args.v = args.k + dim;
        args.out = rows + (heads + 2) * dim;
        args.q_norm = args.k_norm = {norm.data(), DType::F32, 1, dim};
        args.inv_freq = inv_freq.data();
        args.position = args.slot = &position;
        args.key_position = positions.data();
        args.key_count = &count;
        args.cache_k = cache;
        args.cache_v = reinterpret_cast<char*>(cache) + 2 * keys * dim;
        args.capacity = keys;
        args.num_heads = heads;
        args.num_kv_heads = 1;
        args.head_dim = dim;
        const std::string label =
            "attention, " + std::to_string(keys) + " keys of " + std::to_string(dim);
        stepLine(label.c_str(), [&] { ops_.attend_step(device_.queue(), args); });
        device_.free(rows);
        device_.free(cache);
    }

    void projectLine(const char* label, kernels::ProjectArgs::Input input, int64_t in) {
        constexpr int64_t kRows = 8;
        Weights w = makeWeights(WeightFormat::Nf4, true, in, kRows * pool_->size(), 1);
        float* rows = floats(3 * in + w.view.rows);
        const std::vector<float> norm(static_cast<size_t>(in), 1.0F);
        kernels::ProjectArgs args;
        args.input = input;
        args.x = rows;
        args.t = rows + in;
        args.x_out = rows + 2 * in;
        args.norm = args.t_norm = {norm.data(), DType::F32, 1, in};
        args.count = 1;
        args.w[0] = w.copy(0, true);
        args.y[0] = rows + 3 * in;
        stepLine(label, [&] { ops_.project(device_.queue(), args); });
        device_.free(rows);
        device_.free(w.base);
    }

    void stepLine(const char* label, const std::function<void()>& call) {
        const Seconds step = timed(budget_, call);
        std::printf("%-34s %9.2f %8.2f\n", label, step.fastest * 1e6, step.median * 1e6);
        std::fflush(stdout);
    }

    void line(const char* label, double bytes, const std::function<void()>& call) {
        const double seconds = fastest(budget_, call);
        std::printf("%-34s %9.1f %8.1f\n", label, seconds * 1e6, bytes / seconds / 1e9);
    }

    kernels::cpu::ThreadPool* pool_;
    kernels::cpu::HostDevice device_;
    const OpTable& ops_;
    double budget_;
    kernels::cpu::MachineRates rates_;
    double last_seconds_ = 0.0;
    double last_cache_seconds_ = 0.0; ///< The last product with weights from the cache.
    double last_read_ = 0.0;          ///< GB/s of a plain read of the last weights.
};

} // namespace

int main(int argc, char** argv) {
    const double budget = argc > 1 ? std::atof(argv[1]) : 0.3;
    const std::string table = argc > 2 ? argv[2] : "best";
    const std::string part = argc > 3 ? argv[3] : "all";
    const int threads =
        argc > 4 ? std::atoi(argv[4]) : kernels::cpu::ThreadPool::availableProcessors();
    const OpTable* ops =
        table == "best" ? &kernels::bestCpuOps() : kernels::findCpuOps(table.c_str());
    if (ops == nullptr) {
        std::fprintf(stderr, "no such table on this machine: %s\n", table.c_str());
        return 2;
    }
    g_counts_cpu_time = threads == 1;
    kernels::cpu::ThreadPool pool(threads);
    Bench bench(pool, *ops, budget);
    if (part != "jobs" && part != "steps") {
        bench.probe(pool);
    }
    const auto wants = [&](const char* name) { return part == "all" || part == name; };
    if (wants("gemv")) {
        bench.gemv(argc > 5 ? argv[5] : "");
    }
    if (wants("gemm")) {
        bench.gemm();
    }
    if (wants("attention")) {
        bench.attention();
    }
    if (wants("jobs")) {
        bench.jobs();
    }
    if (wants("steps")) {
        bench.steps();
    }
    if (wants("other")) {
        bench.other();
    }
    return 0;
}
