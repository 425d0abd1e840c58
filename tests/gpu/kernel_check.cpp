// SPDX-License-Identifier: Apache-2.0
// GPU kernels against the scalar CPU table on random operands, and their times beside what the
// bytes and operations allow. Plain C++: runs on machines without Qt. Usage: belfry_gpu_kernels
// [--time]
#include "kernels/cpu/host_device.h"
#include "kernels/cpu/tables.h"
#include "kernels/cuda/cuda_device.h"
#include "kernels/cuda/driver.h"
#include "kernels/cuda/ops.h"
#include "kernels/cuda/plan.h"
#ifdef BELFRY_EMULATED_CARD
#include "tests/support/cuda_emulator/emulated_card.h"
#endif

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

namespace {

using namespace kernels;

std::mt19937 g_random(7);
int g_failures = 0;

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

std::vector<float> normal(size_t n, float sigma = 1.0F) {
    std::normal_distribution<float> d(0.0F, sigma);
    std::vector<float> v(n);
    for (float& x : v) {
        x = d(g_random);
    }
    return v;
}

std::vector<uint8_t> bytes(size_t n) {
    std::vector<uint8_t> v(n);
    for (uint8_t& x : v) {
        x = static_cast<uint8_t>(g_random());
    }
    return v;
}

uint16_t toBf16(float x) {
    const auto u = std::bit_cast<uint32_t>(x);
    return static_cast<uint16_t>((u + 0x7fffU + ((u >> 16U) & 1U)) >> 16U);
}

double relativeError(const std::vector<float>& got, const std::vector<float>& want) {
    double error = 0.0;
    double norm = 0.0;
    for (size_t i = 0; i < got.size(); ++i) {
        const double d = static_cast<double>(got[i]) - static_cast<double>(want[i]);
        error += d * d;
        norm += static_cast<double>(want[i]) * static_cast<double>(want[i]);
    }
    return std::sqrt(error / (norm > 0 ? norm : 1));
}

void report(const std::string& what, Status status, double error, double bound) {
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
            host.data = add(d, bytes(n / 2), &t);
            there = t;
            host.block_size = card.block_size = 64;
            const size_t blocks = n / 64;
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

std::vector<float> fetch(Device& d, const Buffer& b, size_t n) {
    std::vector<float> v(n);
    d.copyOut(v.data(), b.data, n * sizeof(float));
    d.synchronize();
    return v;
}

const char* formatName(WeightFormat f, bool nested) {
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
    default:
        return "f16";
    }
}

void checkLinear(cuda::CudaDevice& d, bool is_reference) {
    const OpTable& cpu = cpuScalarOps();
    struct Case {
        int64_t rows, in, out;
    };
    for (const Case c : {Case{1, 1536, 512},
                         {1, 256, 1536},
                         {1, 2560, 640},
                         {3, 1536, 256},
                         {17, 512, 192},
                         {130, 1024, 320},
                         {5, 96, 40}}) {
        for (const auto& [format, nested] : {std::pair{WeightFormat::Nf4, true},
                                             {WeightFormat::Nf4, false},
                                             {WeightFormat::Fp4, false},
                                             {WeightFormat::Int8Row, false},
                                             {WeightFormat::BF16, false},
                                             {WeightFormat::F32, false}}) {
            Weight w(d, format, c.out, c.in, nested);
            Pair<float> x(d, normal(static_cast<size_t>(c.rows * c.in)));
            Buffer y(d, static_cast<size_t>(c.rows * c.out) * 4);
            std::vector<float> want(static_cast<size_t>(c.rows * c.out));
            if (is_reference) {
                w.host.expand_type = w.card.expand_type = DType::BF16;
            }
            cpu.linear({}, {x.host.data(), c.rows, c.in, c.in}, w.host,
                       {want.data(), c.rows, c.out, c.out});
            const Status status = d.ops().linear(d.queue(), {x.there(), c.rows, c.in, c.in}, w.card,
                                                 {y.f(), c.rows, c.out, c.out});
            const double error = relativeError(fetch(d, y, want.size()), want);
            report("linear " + std::string(formatName(format, nested)) + " " +
                       std::to_string(c.rows) + "x" + std::to_string(c.in) + "x" +
                       std::to_string(c.out),
                   status, error, is_reference ? 2e-6 : 4e-3);
        }
    }
}

/// Products of many rows by cuBLASLt, where it is asked for, against our own kernels.
void checkLargeProducts(cuda::CudaDevice& d) {
    cuda::Blas* const blas = d.stream().blas;
    if (blas == nullptr) {
        std::printf("%-58s %s\n", "products by cuBLASLt", "not asked for (BELFRY_CUBLASLT)");
        return;
    }
    struct Case {
        int64_t rows, in, out;
    };
    for (const Case c : {Case{512, 1536, 6144}, {2048, 6144, 1536}, {300, 2560, 256}}) {
        Weight w(d, WeightFormat::Nf4, c.out, c.in, true);
        Pair<float> x(d, normal(static_cast<size_t>(c.rows * c.in)));
        Buffer y(d, static_cast<size_t>(c.rows * c.out) * 4);
        const auto run = [&](cuda::Blas* by, Status* status) {
            const std::vector<float> poison(static_cast<size_t>(c.rows * c.out), NAN);
            d.copyIn(y.data, poison.data(), poison.size() * sizeof(float));
            d.stream().blas = by;
            *status = d.ops().linear(d.queue(), {x.there(), c.rows, c.in, c.in}, w.card,
                                     {y.f(), c.rows, c.out, c.out});
            return fetch(d, y, static_cast<size_t>(c.rows * c.out));
        };
        Status status = Status::Ok;
        const std::vector<float> want = run(nullptr, &status);
        const std::vector<float> got = run(blas, &status);
        report("linear by cuBLASLt " + std::to_string(c.rows) + "x" + std::to_string(c.in) + "x" +
                   std::to_string(c.out),
               status, relativeError(got, want), 1e-5);
    }
}

void checkAttention(cuda::CudaDevice& d, bool is_reference) {
    struct Case {
        int64_t queries, keys, heads, kv, dim, window;
        bool causal, bf16;
    };
    for (const Case c : {Case{1, 70, 8, 1, 256, 0, true, true},
                         {70, 150, 8, 1, 256, 64, true, true},
                         {100, 300, 8, 2, 512, 0, true, true},
                         {65, 65, 12, 12, 64, 0, false, false},
                         {33, 90, 4, 2, 32, 40, true, true}}) {
        Pair<float> q(d, normal(static_cast<size_t>(c.queries * c.heads * c.dim), 0.3F));
        const auto n = static_cast<size_t>(c.keys * c.kv * c.dim);
        std::vector<float> kf = normal(n);
        std::vector<float> vf = normal(n);
        std::vector<uint16_t> kb(n);
        std::vector<uint16_t> vb(n);
        for (size_t i = 0; i < n; ++i) {
            kb[i] = toBf16(kf[i]);
            vb[i] = toBf16(vf[i]);
        }
        Pair<float> k32(d, kf);
        Pair<float> v32(d, vf);
        Pair<uint16_t> k16(d, kb);
        Pair<uint16_t> v16(d, vb);
        std::vector<int32_t> kp(static_cast<size_t>(c.keys));
        for (size_t i = 0; i < kp.size(); ++i) {
            kp[i] = static_cast<int32_t>((i * 7 + 3) % kp.size()); // any order
        }
        kp[5] = -1;
        std::vector<int32_t> qp(static_cast<size_t>(c.queries));
        for (size_t i = 0; i < qp.size(); ++i) {
            qp[i] = static_cast<int32_t>(c.keys - c.queries + static_cast<int64_t>(i));
        }
        std::vector<int32_t> qb(qp.size(), -1);
        std::vector<int32_t> kbk(kp.size(), -1);
        for (size_t i = 0; i < kp.size(); ++i) {
            kbk[i] = kp[i] >= 40 && kp[i] < 52 ? 0 : -1;
        }
        for (size_t i = 0; i < qp.size(); ++i) {
            qb[i] = qp[i] >= 40 && qp[i] < 52 ? 0 : -1;
        }
        Pair<int32_t> kpos(d, kp);
        Pair<int32_t> qpos(d, qp);
        Pair<int32_t> kblk(d, kbk);
        Pair<int32_t> qblk(d, qb);
        Buffer out(d, q.host.size() * 4);
        std::vector<float> want(q.host.size());
        AttentionArgs a;
        a.queries = c.queries;
        a.keys = c.keys;
        a.num_heads = c.heads;
        a.num_kv_heads = c.kv;
        a.head_dim = c.dim;
        a.kv_type = c.bf16 ? DType::BF16 : DType::F32;
        a.mask.window = c.window;
        a.mask.causal = c.causal;
        a.q = q.host.data();
        a.k = c.bf16 ? static_cast<const void*>(k16.host.data()) : k32.host.data();
        a.v = c.bf16 ? static_cast<const void*>(v16.host.data()) : v32.host.data();
        a.mask.query_position = qp.data();
        a.mask.key_position = kp.data();
        a.mask.query_block = qb.data();
        a.mask.key_block = kbk.data();
        a.out = want.data();
        cpuScalarOps().attention({}, a);
        a.q = q.there();
        a.k = c.bf16 ? static_cast<const void*>(k16.there()) : k32.there();
        a.v = c.bf16 ? static_cast<const void*>(v16.there()) : v32.there();
        a.mask.query_position = qpos.there();
        a.mask.key_position = kpos.there();
        a.mask.query_block = qblk.there();
        a.mask.key_block = kblk.there();
        a.out = out.f();
        const Status status = d.ops().attention(d.queue(), a);
        report("attention " + std::to_string(c.queries) + " queries, head " + std::to_string(c.dim),
               status, relativeError(fetch(d, out, want.size()), want), is_reference ? 5e-6 : 8e-3);
    }
}

/// Steps one by one as launches of their own, or collected into one.
void checkSteps(cuda::CudaDevice& d, bool is_collected) {
    const std::string form = is_collected ? "collected: " : "";
    const auto begin = [&] { return is_collected ? d.ops().begin_steps(d.queue()) : Status::Ok; };
    const auto end = [&](Status status) {
        const Status ended = is_collected ? d.ops().end_steps(d.queue()) : Status::Ok;
        return status == Status::Ok ? ended : status;
    };
    // The projection step with residual and norms against single functions of the CPU.
    const OpTable& cpu = cpuScalarOps();
    const int64_t in = 1536;
    const int64_t out = 2048;
    Pair<float> x(d, normal(1536));
    Pair<float> t(d, normal(1536));
    Pair<float> tn(d, normal(1536));
    Pair<float> n(d, normal(1536));
    for (const auto& [format, nested] : {std::pair{WeightFormat::Nf4, true},
                                         {WeightFormat::Int8Row, false},
                                         {WeightFormat::BF16, false}}) {
        Weight gate(d, format, out, in, nested);
        Weight up(d, format, out, in, nested);
        std::vector<float> r = x.host;
        cpu.rms_norm_add({}, {t.host.data(), 1, in, in}, {tn.host.data(), DType::F32, 1, in}, 1e-6F,
                         1.0F, {r.data(), 1, in, in});
        cpu.scale({}, {r.data(), 1, in, in}, 0.7F);
        std::vector<float> h(1536);
        cpu.rms_norm({}, {r.data(), 1, in, in}, {n.host.data(), DType::F32, 1, in}, 1e-6F,
                     {h.data(), 1, in, in});
        std::vector<float> a(2048);
        std::vector<float> b(2048);
        cpu.linear({}, {h.data(), 1, in, in}, gate.host, {a.data(), 1, out, out});
        cpu.linear({}, {h.data(), 1, in, in}, up.host, {b.data(), 1, out, out});
        std::vector<float> want = a;
        cpu.gelu_mul({}, {a.data(), 1, out, out}, {b.data(), 1, out, out},
                     {want.data(), 1, out, out});
        Buffer y(d, 2048 * 4);
        Buffer sum(d, 1536 * 4);
        ProjectArgs p;
        p.input = ProjectArgs::Input::ResidualNorm;
        p.output = ProjectArgs::Output::GeluPair;
        p.x = x.there();
        p.t = t.there();
        p.t_norm = {tn.there(), DType::F32, 1, in};
        p.norm = {n.there(), DType::F32, 1, in};
        p.scalar = 0.7F;
        p.x_out = sum.f();
        p.count = 2;
        p.w[0] = gate.card;
        p.w[1] = up.card;
        p.y[0] = y.f();
        Status status = begin();
        if (status == Status::Ok) {
            status = end(d.ops().project(d.queue(), p));
        }
        report(form + "project pair " + std::string(formatName(format, nested)), status,
               relativeError(fetch(d, y, want.size()), want), 4e-3);
        report(form + "project residual " + std::string(formatName(format, nested)), status,
               relativeError(fetch(d, sum, r.size()), r), 1e-6);
    }
    // The attention step against norm, RoPE, store and attention of the CPU.
    struct Case {
        int64_t heads, kv, dim, size, ring, window;
        bool owner;
    };
    for (const Case c : {Case{8, 1, 256, 5, 64, 0, true},
                         {8, 1, 256, 600, 768, 512, true},
                         {8, 1, 512, 300, 4096, 0, true},
                         {8, 2, 256, 700, 768, 512, false},
                         {8, 1, 256, 900, 768, 512, true},
                         {8, 2, 512, 2500, 4096, 0, true},
                         {4, 2, 32, 40, 64, 16, true},
                         {8, 1, 512, 1, 4096, 0, true}}) {
        const auto stride = static_cast<size_t>(c.kv * c.dim);
        const auto used = std::min(c.size, c.ring);
        std::vector<float> kf = normal(static_cast<size_t>(c.ring) * stride);
        std::vector<float> vf = normal(kf.size());
        std::vector<uint16_t> kb(kf.size());
        std::vector<uint16_t> vb(kf.size());
        for (size_t i = 0; i < kf.size(); ++i) {
            kb[i] = toBf16(kf[i]);
            vb[i] = toBf16(vf[i]);
        }
        std::vector<int32_t> positions(static_cast<size_t>(c.ring), -1);
        for (int64_t p = 0; p < c.size; ++p) {
            positions[static_cast<size_t>(p % c.ring)] = static_cast<int32_t>(p);
        }
        const auto position = static_cast<int32_t>(c.size - 1);
        const auto slot = static_cast<int32_t>((c.size - 1) % c.ring);
        Pair<uint16_t> ck(d, kb);
        Pair<uint16_t> cv(d, vb);
        Pair<int32_t> kpos(d, positions);
        Pair<int32_t> ints(d, {position, slot, static_cast<int32_t>(used)});
        Pair<float> q(d, normal(static_cast<size_t>(c.heads * c.dim)));
        Pair<float> k(d, normal(stride));
        Pair<float> v(d, normal(stride));
        Pair<float> qn(d, normal(static_cast<size_t>(c.dim)));
        Pair<float> kn(d, normal(static_cast<size_t>(c.dim), 0.1F));
        std::vector<float> freq(static_cast<size_t>(c.dim / 2));
        for (size_t i = 0; i < freq.size(); ++i) {
            freq[i] = static_cast<float>(
                std::pow(10000.0, -2.0 * static_cast<double>(i) / static_cast<double>(c.dim)));
        }
        Pair<float> inv(d, freq);
        std::vector<float> qh = q.host;
        cpu.rms_norm({}, {qh.data(), c.heads, c.dim, c.dim}, {qn.host.data(), DType::F32, 1, c.dim},
                     1e-6F, {qh.data(), c.heads, c.dim, c.dim});
        cpu.rope({}, {qh.data(), 1, c.heads * c.dim, c.heads * c.dim}, c.dim, 0, c.dim, &position,
                 freq.data());
        if (c.owner) {
            std::vector<float> kh = k.host;
            std::vector<float> vh = v.host;
            const auto width = static_cast<int64_t>(stride);
            cpu.rms_norm({}, {kh.data(), c.kv, c.dim, c.dim},
                         {kn.host.data(), DType::F32, 1, c.dim}, 1e-6F,
                         {kh.data(), c.kv, c.dim, c.dim});
            cpu.rope({}, {kh.data(), 1, width, width}, c.dim, 0, c.dim, &position, freq.data());
            cpu.rms_norm({}, {vh.data(), c.kv, c.dim, c.dim}, {}, 1e-6F,
                         {vh.data(), c.kv, c.dim, c.dim});
            cpu.store_rows({}, {kh.data(), 1, width, width}, &slot, DType::BF16, kb.data(), c.ring);
            cpu.store_rows({}, {vh.data(), 1, width, width}, &slot, DType::BF16, vb.data(), c.ring);
        }
        std::vector<float> want(q.host.size());
        AttentionArgs a;
        a.q = qh.data();
        a.k = kb.data();
        a.v = vb.data();
        a.kv_type = DType::BF16;
        a.queries = 1;
        a.keys = used;
        a.num_heads = c.heads;
        a.num_kv_heads = c.kv;
        a.head_dim = c.dim;
        a.mask.window = c.window;
        a.mask.query_position = &position;
        a.mask.key_position = positions.data();
        a.out = want.data();
        cpu.attention({}, a);
        Buffer out(d, want.size() * 4);
        AttendStepArgs s;
        s.q = q.there();
        s.k = c.owner ? k.there() : nullptr;
        s.v = c.owner ? v.there() : nullptr;
        s.q_norm = {qn.there(), DType::F32, 1, c.dim};
        s.k_norm = {kn.there(), DType::F32, 1, c.dim};
        s.inv_freq = inv.there();
        s.position = ints.there();
        s.slot = ints.there() + 1;
        s.key_count = ints.there() + 2;
        s.key_position = kpos.there();
        s.cache_k = ck.card->data;
        s.cache_v = cv.card->data;
        s.capacity = c.ring;
        s.num_heads = c.heads;
        s.num_kv_heads = c.kv;
        s.head_dim = c.dim;
        s.window = c.window;
        s.is_ring = c.window > 0 || c.dim == 512;
        s.out = out.f();
        Status status = Status::Ok;
        for (int i = 0; i < 2 && status == Status::Ok; ++i) { // twice: counters must come back to 0
            status = begin();
            if (status == Status::Ok) {
                status = end(d.ops().attend_step(d.queue(), s));
            }
        }
        report(form + "attend step head " + std::to_string(c.dim) + ", " + std::to_string(c.size) +
                   " tokens",
               status, relativeError(fetch(d, out, want.size()), want),
               form.empty() ? 2e-5 : 1e-4); // collected: queries as sums of two bf16 numbers
        std::vector<uint16_t> back(kb.size());
        d.copyOut(back.data(), ck.card->data, back.size() * 2);
        d.synchronize();
        size_t wrong = 0;
        for (size_t i = 0; i < back.size(); ++i) {
            const auto da = static_cast<int>(back[i]);
            const auto db = static_cast<int>(kb[i]);
            wrong += std::abs(da - db) > 1 ? 1 : 0; // one unit in the last place
        }
        report(form + "attend step cache", Status::Ok, static_cast<double>(wrong), 0);
        // And the projection behind it, which merges the parts itself where they are few; then a
        // second one, behind a barrier.
        const auto width = static_cast<int64_t>(want.size());
        Weight o(d, WeightFormat::Nf4, 192, width, true);
        Weight last(d, WeightFormat::Nf4, 64, 192, true);
        std::vector<float> t(192);
        std::vector<float> result(64);
        cpu.linear({}, {want.data(), 1, width, width}, o.host, {t.data(), 1, 192, 192});
        cpu.linear({}, {t.data(), 1, 192, 192}, last.host, {result.data(), 1, 64, 64});
        Buffer t_card(d, 192 * 4);
        Buffer result_card(d, 64 * 4);
        ProjectArgs p;
        p.x = s.out;
        p.count = 1;
        p.w[0] = o.card;
        p.y[0] = t_card.f();
        ProjectArgs p2 = p;
        p2.x = t_card.f();
        p2.w[0] = last.card;
        p2.y[0] = result_card.f();
        status = begin();
        if (status == Status::Ok) {
            status = d.ops().attend_step(d.queue(), s);
            status = status == Status::Ok ? d.ops().project(d.queue(), p) : status;
            status = end(status == Status::Ok ? d.ops().project(d.queue(), p2) : status);
        }
        report(form + "attention and two projections", status,
               relativeError(fetch(d, result_card, result.size()), result), 4e-3);
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

/// Updates of many rows as launches of their own: three at once, one with a bias.
void checkUpdates(cuda::CudaDevice& d, bool is_reference) {
    for (const int64_t rows : {1, 5, 70, 300}) {
        for (const DType type : {DType::BF16, DType::F32}) {
            const int64_t in = 576;
            const int64_t out = 328;
            const Update updates[3] = {
                {d, type, in, out, 16, 0}, {d, type, in, out, 3, 0}, {d, type, in, out, 40, 0}};
            Pair<float> x(d, normal(static_cast<size_t>(rows * in)));
            Pair<float> bias(d, normal(static_cast<size_t>(out)));
            Pair<float> y(d, normal(static_cast<size_t>(rows * out)));
            std::vector<float> want = y.host;
            std::vector<float> scratch(static_cast<size_t>(rows * 59));
            Buffer there(d, scratch.size() * 4);
            LoraTerm on_host[3];
            LoraTerm on_card[3];
            for (int i = 0; i < 3; ++i) {
                on_host[i] = {updates[i].a_host, updates[i].b_host, {}, 0.5F};
                on_card[i] = {updates[i].card.a, updates[i].card.b, {}, 0.5F};
            }
            on_host[1].b_bias = {bias.host.data(), DType::F32, 1, out};
            on_card[1].b_bias = {bias.there(), DType::F32, 1, out};
            cpuScalarOps().lora_accumulate_all({}, {x.host.data(), rows, in, in}, on_host, 3,
                                               {scratch.data(), rows, 59, 59},
                                               {want.data(), rows, out, out});
            const Status status = d.ops().lora_accumulate_all(
                d.queue(), {x.there(), rows, in, in}, on_card, 3, {there.f(), rows, 59, 59},
                {static_cast<float*>(y.card->data), rows, out, out});
            report("updates of " + std::to_string(rows) + " rows, " +
                       (type == DType::BF16 ? "bf16" : "fp32"),
                   status, relativeError(fetch(d, *y.card, want.size()), want),
                   is_reference ? 2e-6 : 4e-3);
        }
    }
}

/// Low-rank updates inside projection steps: three weights with one, none and two updates; a pair
/// whose outputs are multiplied with the next step's A, and that next step.
void checkStepUpdates(cuda::CudaDevice& d, bool is_collected) {
    const OpTable& cpu = cpuScalarOps();
    const auto run = [&](const std::function<Status()>& steps) {
        if (is_collected && d.ops().begin_steps(d.queue()) != Status::Ok) {
            return Status::Unsupported;
        }
        const Status status = steps();
        const Status ended = is_collected ? d.ops().end_steps(d.queue()) : Status::Ok;
        return status == Status::Ok ? ended : status;
    };
    const auto product = [&](const std::vector<float>& h, const Weight& w, int64_t out) {
        const auto in = static_cast<int64_t>(h.size());
        std::vector<float> y(static_cast<size_t>(out));
        cpu.linear({}, {h.data(), 1, in, in}, w.host, {y.data(), 1, out, out});
        return y;
    };
    for (const auto& [format, nested] : {std::pair{WeightFormat::Nf4, true},
                                         {WeightFormat::Int8Row, false},
                                         {WeightFormat::BF16, false}}) {
        for (const DType type : {DType::BF16, DType::F32}) {
            const std::string name = std::string(formatName(format, nested)) +
                                     (is_collected ? ", collected" : "") +
                                     (type == DType::BF16 ? ", bf16" : ", fp32") + " adapter";
            // Ranks of eight: A h is shared out over the blocks (lora_units.cuh).
            const bool is_shared = is_collected && type == DType::BF16;
            const int64_t in = 1536;
            const int64_t outs[3] = {2048, 256, 192};
            Pair<float> x(d, normal(1536));
            Pair<float> n(d, normal(1536));
            std::vector<float> h(1536);
            cpu.rms_norm({}, {x.host.data(), 1, in, in}, {n.host.data(), DType::F32, 1, in}, 1e-6F,
                         {h.data(), 1, in, in});
            Weight w[3] = {{d, format, outs[0], in, nested},
                           {d, format, outs[1], in, nested},
                           {d, format, outs[2], in, nested}};
            const Update updates[3] = {{d, type, in, outs[0], 16, 0},
                                       {d, type, in, outs[2], is_shared ? 8 : 5, 2},
                                       {d, type, in, outs[2], 64, 2}};
            Buffer y(d, (2048 + 256 + 192) * 4);
            ProjectArgs p;
            p.input = ProjectArgs::Input::Norm;
            p.x = x.there();
            p.norm = {n.there(), DType::F32, 1, in};
            p.count = 3;
            float* to = y.f();
            std::vector<float> want;
            for (int j = 0; j < 3; ++j) {
                p.w[j] = w[j].card;
                p.y[j] = to;
                to += outs[j];
                p.lora[j] = updates[j].card;
                std::vector<float> one = product(h, w[j], outs[j]);
                for (const Update& update : updates) {
                    if (update.card.weight == j) {
                        update.add(h, one);
                    }
                }
                want.insert(want.end(), one.begin(), one.end());
            }
            p.lora_count = 3;
            Status status = run([&] { return d.ops().project(d.queue(), p); });
            report("project with updates " + name, status,
                   relativeError(fetch(d, y, want.size()), want), 4e-3);

            // A pair with taps, then the step that takes its output.
            const int64_t middle = 2048;
            Weight gate(d, format, middle, in, nested);
            Weight up(d, format, middle, in, nested);
            Weight down(d, format, in, middle, nested);
            const Update on_gate(d, type, in, middle, 16, 0);
            const Update on_up(d, type, in, middle, 8, 1);
            const Update first(d, type, middle, in, 16, 0);
            const Update second(d, type, middle, in, is_shared ? 8 : 3, 0);
            std::vector<float> a = product(h, gate, middle);
            std::vector<float> b = product(h, up, middle);
            on_gate.add(h, a);
            on_up.add(h, b);
            cpu.gelu_mul({}, {a.data(), 1, middle, middle}, {b.data(), 1, middle, middle},
                         {a.data(), 1, middle, middle});
            std::vector<float> last = product(a, down, in);
            first.add(a, last);
            second.add(a, last);
            Buffer wide(d, 2048 * 4);
            Buffer result(d, 1536 * 4);
            ProjectArgs pair;
            pair.input = ProjectArgs::Input::Norm;
            pair.output = ProjectArgs::Output::GeluPair;
            pair.x = x.there();
            pair.norm = {n.there(), DType::F32, 1, in};
            pair.count = 2;
            pair.w[0] = gate.card;
            pair.w[1] = up.card;
            pair.y[0] = wide.f();
            pair.lora_count = 2;
            pair.lora[0] = on_gate.card;
            pair.lora[1] = on_up.card;
            pair.tap_count = 2;
            pair.tap[0] = first.card.a;
            pair.tap[1] = second.card.a;
            Buffer sums(d, size_t{19} * 1024 * 4);
            pair.tap_sums = sums.f();
            ProjectArgs behind;
            behind.x = wide.f();
            behind.count = 1;
            behind.w[0] = down.card;
            behind.y[0] = result.f();
            behind.lora_count = 2;
            behind.lora[0] = first.card;
            behind.lora[1] = second.card;
            for (const bool has_sums : {true, false}) {
                status = run([&] {
                    pair.tap_count = 2;
                    pair.tap_parts = d.ops().project_parts(d.queue(), pair);
                    pair.tap_count = pair.tap_parts > 0 ? 2 : 0;
                    behind.lora_sums = has_sums && pair.tap_count > 0 ? sums.f() : nullptr;
                    behind.lora_parts = pair.tap_parts;
                    const Status outcome = d.ops().project(d.queue(), pair);
                    return outcome == Status::Ok ? d.ops().project(d.queue(), behind) : outcome;
                });
                report("project pair with updates " + name, status,
                       relativeError(fetch(d, wide, a.size()), a), 4e-3);
                report(std::string("project ") + (has_sums ? "with taps " : "without taps ") + name,
                       status, relativeError(fetch(d, result, last.size()), last), 5e-3);
            }
        }
    }
}

double microseconds(cuda::CudaDevice& d, int repeats, const std::function<Status(int)>& run) {
    const cuda::Driver& driver = *d.stream().driver;
    cuda::CuEvent start = nullptr;
    cuda::CuEvent end = nullptr;
    driver.eventCreate(&start, 0);
    driver.eventCreate(&end, 0);
    for (int i = 0; i < 3; ++i) {
        run(i);
    }
    d.beginCapture();
    for (int i = 0; i < repeats; ++i) {
        run(i);
    }
    GraphHandle graph = nullptr;
    if (d.endCapture(&graph) != Status::Ok) {
        return -1;
    }
    d.replay(graph);
    d.synchronize();
    std::vector<double> times;
    for (int i = 0; i < 5; ++i) {
        driver.eventRecord(start, d.stream().handle);
        d.replay(graph);
        driver.eventRecord(end, d.stream().handle);
        d.synchronize();
        float ms = 0;
        driver.eventElapsedTime(&ms, start, end);
        times.push_back(static_cast<double>(ms) * 1000.0 / repeats);
    }
    d.freeGraph(graph);
    std::sort(times.begin(), times.end());
    return times[2];
}

void timeProducts(cuda::CudaDevice& d) {
    for (const int64_t rows : {64, 512, 2048, 4096}) {
        for (const auto& [in, out] :
             {std::pair<int64_t, int64_t>{1536, 6144}, {6144, 1536}, {2560, 10240}}) {
            for (const WeightFormat format : {WeightFormat::BF16, WeightFormat::Nf4}) {
                Weight w(d, format, out, in, true);
                Pair<float> a(d, normal(static_cast<size_t>(rows * in)));
                Buffer b(d, static_cast<size_t>(rows * out) * 4);
                const double us = microseconds(d, 5, [&](int) {
                    return d.ops().linear(d.queue(), {a.there(), rows, in, in}, w.card,
                                          {b.f(), rows, out, out});
                });
                std::printf("  %4ld x %5ld x %5ld %-6s %9.1f us  %6.1f TFLOP/s\n",
                            static_cast<long>(rows), static_cast<long>(in), static_cast<long>(out),
                            formatName(format, true), us,
                            2.0 * static_cast<double>(rows * in * out) / us / 1e6);
            }
        }
    }
}

void timeKernels(cuda::CudaDevice& d) {
    Pair<float> x(d, normal(12288));
    Pair<float> t(d, normal(12288));
    Pair<float> n(d, normal(12288));
    Buffer y(d, 262144 * 4);
    Buffer sum(d, 12288 * 4);
    Buffer sums(d, size_t{1} << 20U);
    std::printf("\nprojection steps, one row (rotating over buffers larger than L2)\n");
    struct Case {
        const char* name;
        WeightFormat format;
        int64_t in, out;
        bool pair;
    };
    for (const auto& [overlap, rank] : {std::pair{false, 0}, {true, 0}, {true, 16}}) {
        d.stream().is_overlapping = overlap;
        std::printf("programmatic dependent launch: %s, adapter rank %d\n", overlap ? "on" : "off",
                    rank);
        for (const Case c : {Case{"qkv E2B", WeightFormat::Nf4, 1536, 2560, false},
                             {"o E2B", WeightFormat::Nf4, 2048, 1536, false},
                             {"gate/up 6144", WeightFormat::Nf4, 1536, 6144, true},
                             {"gate/up 12288", WeightFormat::Nf4, 1536, 12288, true},
                             {"down 6144", WeightFormat::Nf4, 6144, 1536, false},
                             {"down 12288", WeightFormat::Nf4, 12288, 1536, false},
                             {"ple gate", WeightFormat::Nf4, 1536, 256, false},
                             {"ple projection", WeightFormat::Nf4, 256, 1536, false},
                             {"gate/up E4B", WeightFormat::Nf4, 2560, 10240, true},
                             {"head int8", WeightFormat::Int8Row, 1536, 262144, false},
                             {"head bf16", WeightFormat::BF16, 1536, 262144, false}}) {
            const int64_t weights = c.in * c.out * (c.pair ? 2 : 1);
            const double size =
                static_cast<double>(weights) * (c.format == WeightFormat::Nf4    ? 0.516
                                                : c.format == WeightFormat::BF16 ? 2.0
                                                                                 : 1.0);
            const int copies = static_cast<int>(std::max(1.0, std::min(24.0, 150e6 / size)));
            std::vector<std::unique_ptr<Weight>> w;
            for (int i = 0; i < copies * (c.pair ? 2 : 1); ++i) {
                w.push_back(std::make_unique<Weight>(d, c.format, c.out, c.in, true));
            }
            std::vector<std::unique_ptr<Update>>
                updates; // down: A was multiplied by the step before
            for (int i = 0; rank > 0 && c.out < 100000 && i < copies * (c.pair ? 2 : 1); ++i) {
                updates.push_back(std::make_unique<Update>(d, DType::BF16, c.in, c.out, rank,
                                                           c.pair ? i % 2 : 0));
            }
            const std::unique_ptr<Update> next =
                rank > 0 && c.pair ? std::make_unique<Update>(d, DType::BF16, c.out, 1536, rank, 0)
                                   : nullptr;
            const double us = microseconds(d, 2 * copies, [&](int i) {
                ProjectArgs p;
                p.input =
                    c.in <= 2560 ? ProjectArgs::Input::ResidualNorm : ProjectArgs::Input::Plain;
                p.output = c.pair ? ProjectArgs::Output::GeluPair : ProjectArgs::Output::Store;
                p.x = x.there();
                p.t = t.there();
                p.t_norm = {n.there(), DType::F32, 1, c.in};
                p.norm = {n.there(), DType::F32, 1, c.in};
                p.x_out = sum.f();
                p.count = c.pair ? 2 : 1;
                for (int j = 0; j < p.count; ++j) {
                    p.w[j] = w[static_cast<size_t>((i % copies) * p.count + j)]->card;
                }
                p.y[0] = y.f();
                for (int j = 0; !updates.empty() && j < p.count; ++j) {
                    p.lora[p.lora_count++] =
                        updates[static_cast<size_t>((i % copies) * p.count + j)]->card;
                }
                if (rank > 0 && c.in > 4096) {
                    p.lora_sums = sums.f();
                    p.lora_parts = 132;
                }
                if (next != nullptr) {
                    p.tap[p.tap_count++] = next->card.a;
                    p.tap_parts = d.ops().project_parts(d.queue(), p);
                    p.tap_sums = sums.f();
                }
                return d.ops().project(d.queue(), p);
            });
            std::printf("  %-16s %8.2f us  %7.0f GB/s\n", c.name, us, size / us / 1e3);
        }
    }
    d.stream().is_overlapping = false;
    const uint64_t free_before = d.freeBytes();
    for (const bool is_own : {true, false}) {
        cuda::Blas* const blas = d.stream().blas;
        if (!is_own && blas == nullptr) {
            std::printf("\nmatrix products by cuBLASLt: BELFRY_CUBLASLT is not set or names no "
                        "library\n");
            break;
        }
        std::printf("\nmatrix products, %s\n", is_own ? "own kernels" : "cuBLASLt");
        d.stream().blas = is_own ? nullptr : blas;
        timeProducts(d);
        d.stream().blas = blas;
    }
    std::printf("  device memory taken meanwhile: %.1f MiB\n",
                static_cast<double>(free_before - std::min(free_before, d.freeBytes())) /
                    1048576.0);
    std::printf("\nlow-rank updates of many rows, rank 16\n");
    for (const int64_t rows : {64, 512, 2048}) {
        for (const auto& [in, out] :
             {std::pair<int64_t, int64_t>{1536, 6144}, {6144, 1536}, {1536, 2048}}) {
            const Update update(d, DType::BF16, in, out, 16, 0);
            Pair<float> a(d, normal(static_cast<size_t>(rows * in)));
            Buffer b(d, static_cast<size_t>(rows * out) * 4);
            Buffer between(d, static_cast<size_t>(rows * 16) * 4);
            const LoraTerm term{update.card.a, update.card.b, {}, 1.0F};
            const double us = microseconds(d, 5, [&](int) {
                return d.ops().lora_accumulate_all(d.queue(), {a.there(), rows, in, in}, &term, 1,
                                                   {between.f(), rows, 16, 16},
                                                   {b.f(), rows, out, out});
            });
            std::printf("  %4ld x %5ld x %5ld %9.1f us  %7.0f GB/s\n", static_cast<long>(rows),
                        static_cast<long>(in), static_cast<long>(out), us,
                        static_cast<double>(rows * (in * 4 + out * 8)) / us / 1e3);
        }
    }
    std::printf("\nattention\n");
    for (const auto& [dim, window] : {std::pair<int64_t, int64_t>{256, 512}, {512, 0}, {64, 0}}) {
        const int64_t queries = dim == 64 ? 2520 : 2048;
        const int64_t keys = dim == 64 ? 2520 : 4096;
        const int64_t heads = dim == 64 ? 12 : 8;
        const int64_t kv = dim == 64 ? 12 : 1;
        Pair<float> q(d, normal(static_cast<size_t>(queries * heads * dim)));
        Pair<uint16_t> k(d, std::vector<uint16_t>(static_cast<size_t>(keys * kv * dim), 0x3c00));
        std::vector<int32_t> kp(static_cast<size_t>(keys));
        for (size_t i = 0; i < kp.size(); ++i) {
            kp[i] = static_cast<int32_t>(i);
        }
        std::vector<int32_t> qp(static_cast<size_t>(queries));
        for (size_t i = 0; i < qp.size(); ++i) {
            qp[i] = static_cast<int32_t>(keys - queries + static_cast<int64_t>(i));
        }
        Pair<int32_t> kpos(d, kp);
        Pair<int32_t> qpos(d, qp);
        Buffer out(d, q.host.size() * 4);
        AttentionArgs a;
        a.q = q.there();
        a.k = k.there();
        a.v = k.there();
        a.kv_type = DType::BF16;
        a.queries = queries;
        a.keys = keys;
        a.num_heads = heads;
        a.num_kv_heads = kv;
        a.head_dim = dim;
        a.mask.query_position = qpos.there();
        a.mask.key_position = kpos.there();
        a.mask.window = window;
        a.mask.causal = dim != 64;
        a.out = out.f();
        const double us = microseconds(d, 4, [&](int) { return d.ops().attention(d.queue(), a); });
        const double pairs = window > 0  ? static_cast<double>(queries * window)
                             : dim == 64 ? static_cast<double>(queries * keys)
                                         : static_cast<double>(queries) * 3072.0;
        std::printf("  head %3ld window %4ld %9.1f us  %6.1f TFLOP/s\n", static_cast<long>(dim),
                    static_cast<long>(window), us,
                    pairs * 4.0 * static_cast<double>(dim * heads) / us / 1e6);
    }
    for (const int64_t size : {512, 4096, 32768}) {
        for (const int64_t dim : {256, 512}) {
            const int64_t ring = dim == 256 ? 1023 : 32768;
            Pair<uint16_t> cache(d, std::vector<uint16_t>(static_cast<size_t>(ring * dim), 0x3c00));
            std::vector<int32_t> kp(static_cast<size_t>(ring), -1);
            for (int64_t p = 0; p < size; ++p) {
                kp[static_cast<size_t>(p % ring)] = static_cast<int32_t>(p);
            }
            Pair<int32_t> kpos(d, kp);
            Pair<int32_t> ints(d, {static_cast<int32_t>(size - 1),
                                   static_cast<int32_t>((size - 1) % ring),
                                   static_cast<int32_t>(std::min(size, ring))});
            Pair<float> q(d, normal(static_cast<size_t>(8 * dim)));
            Pair<float> kv(d, normal(static_cast<size_t>(dim)));
            Buffer out(d, static_cast<size_t>(8 * dim) * 4);
            AttendStepArgs s;
            s.q = q.there();
            s.k = kv.there();
            s.v = kv.there();
            s.q_norm = {n.there(), DType::F32, 1, dim};
            s.k_norm = {n.there(), DType::F32, 1, dim};
            s.inv_freq = x.there();
            s.position = ints.there();
            s.slot = ints.there() + 1;
            s.key_count = ints.there() + 2;
            s.key_position = kpos.there();
            s.cache_k = cache.card->data;
            s.cache_v = cache.card->data;
            s.capacity = ring;
            s.num_heads = 8;
            s.num_kv_heads = 1;
            s.head_dim = dim;
            s.window = dim == 256 ? 512 : 0;
            s.out = out.f();
            const double us =
                microseconds(d, 20, [&](int) { return d.ops().attend_step(d.queue(), s); });
            std::printf("  attend step head %3ld, %5ld tokens %7.2f us\n", static_cast<long>(dim),
                        static_cast<long>(size), us);
        }
    }
}

void checkCard(cuda::CudaDevice& d, bool is_reference, bool is_timed) {
    std::printf("%s, table %s\n", d.name().c_str(), d.ops().name);
    const size_t scratch_bytes = cuda::scratchBytes(4096, 12288);
    Buffer scratch(d, scratch_bytes);
    d.setScratch(scratch.data, scratch_bytes);
    checkLinear(d, is_reference);
    checkAttention(d, is_reference);
    checkUpdates(d, is_reference);
    if (!is_reference) {
        checkLargeProducts(d);
        checkSteps(d, false);
        checkStepUpdates(d, false);
        if (d.ops().begin_steps(d.queue()) == Status::Ok) {
            d.ops().end_steps(d.queue());
            checkSteps(d, true);
            checkStepUpdates(d, true);
        } else {
            std::printf("steps are not collected on this card\n");
        }
        if (is_timed) {
            timeKernels(d);
        }
    }
    std::printf("last failure: %s\n", d.lastFailure().c_str());
    d.setScratch(nullptr, 0);
}

} // namespace

#ifdef BELFRY_EMULATED_CARD
/// The same checks with the kernels run on the CPU. Usage: belfry_emulated_kernels
/// [multiprocessors] [seed].
int main(int argc, char** argv) {
    for (const bool is_reference : {true, false}) {
        support::EmulatedCardOptions options;
        options.multiprocessors = argc > 1 ? std::atoi(argv[1]) : 8;
        options.run.seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0;
        options.run.resident_threads = 1024U * static_cast<unsigned>(options.multiprocessors);
        options.is_reference = is_reference;
        support::EmulatedCard card(options);
        checkCard(card.device(), is_reference, false);
        if (const std::string wrong = card.finish(); !wrong.empty()) {
            std::printf("%s\n", wrong.c_str());
            ++g_failures;
        }
    }
    std::printf("%d failures\n", g_failures);
    return g_failures == 0 ? 0 : 1;
}
#else
int main(int argc, char** argv) {
    std::string why;
    const cuda::Driver* driver = cuda::systemDriver(&why);
    if (driver == nullptr) {
        std::printf("no GPU: %s\n", why.c_str());
        return 2;
    }
    for (const bool is_reference : {true, false}) {
        cuda::CudaDeviceOptions options;
        options.driver = driver;
        options.is_reference = is_reference;
        options.ops = &cuda::cudaOps(is_reference);
        auto opened = cuda::CudaDevice::create(options);
        if (opened.device == nullptr) {
            std::printf("cuda:0: %s\n", opened.message.c_str());
            return 1;
        }
        checkCard(*opened.device, is_reference, argc > 1 && std::string(argv[1]) == "--time");
    }
    std::printf("%d failures\n", g_failures);
    return g_failures == 0 ? 0 : 1;
}
#endif
