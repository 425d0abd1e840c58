// SPDX-License-Identifier: Apache-2.0
// Times of the kernels on a card, beside what the bytes and operations allow.
#include "tests/gpu/kernel_check.h"

namespace kernel_check {
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

namespace {

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

} // namespace

/// Fused products of a prompt, as the layers of E2B and E4B have them.
void timeRowProducts(cuda::CudaDevice& d) {
    struct Case {
        const char* name;
        int64_t in;
        std::vector<int64_t> outs;
        bool is_pair;
    };
    std::printf("\nfused products of a prompt\n");
    for (const int64_t rows : {512, 2048}) {
        for (const Case& c :
             {Case{"E2B q, k and v", 1536, {2048, 256, 256}, false},
              Case{"E2B o", 2048, {1536}, false}, Case{"E2B gate and up", 1536, {6144, 6144}, true},
              Case{"E2B down", 6144, {1536}, false},
              Case{"E4B gate and up", 2560, {10240, 10240}, true},
              Case{"E4B down", 10240, {2560}, false}}) {
            const Buffer x(d, static_cast<size_t>(rows * c.in) * 2);
            Pair<float> wide(d, normal(static_cast<size_t>(rows * c.in)));
            d.ops().scale_to_half(d.queue(), {wide.there(), rows, c.in, c.in}, 0.0F, 1.0F, x.data);
            for (const WeightFormat format :
                 {WeightFormat::BF16, WeightFormat::Int8Row, WeightFormat::Nf4}) {
                std::vector<std::unique_ptr<Weight>> w;
                std::vector<std::unique_ptr<Buffer>> y;
                ProductArgs a;
                a.output = c.is_pair ? ProductArgs::Output::GatedPair : ProductArgs::Output::Store;
                a.x = x.data;
                a.rows = rows;
                a.count = static_cast<int>(c.outs.size());
                int64_t outputs = 0;
                constexpr int kRoom = 4; // parts, as the engine has place for
                for (size_t i = 0; i < c.outs.size(); ++i) {
                    w.push_back(std::make_unique<Weight>(d, format, c.outs[i], c.in, true));
                    y.push_back(std::make_unique<Buffer>(
                        d, static_cast<size_t>(kRoom * rows * c.outs[i]) * 4));
                    a.w[i] = w.back()->card;
                    a.y[i] = y.back()->data;
                    outputs += c.outs[i];
                }
                int parts = 1;
                const double us = microseconds(d, 5, [&](int) {
                    a.parts = c.is_pair ? 1 : kRoom;
                    const Status status = d.ops().product(d.queue(), a);
                    parts = a.parts;
                    return status;
                });
                std::printf("  %4ld rows %-16s %-10s %9.1f us  %6.1f TFLOP/s, parts %d\n",
                            static_cast<long>(rows), c.name, formatName(format, true), us,
                            2.0 * static_cast<double>(rows * c.in * outputs) / us / 1e6, parts);
            }
        }
    }
}

void timeKernels(cuda::CudaDevice& d) {
    timeRowProducts(d);
    timeEdges(d);
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
                p.output = c.pair ? ProjectArgs::Output::GatedPair : ProjectArgs::Output::Store;
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
    std::printf("\nmatrix products\n");
    timeProducts(d);
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
        a.kv_type = KvType::BF16;
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
        const double pairs = window > 0  ? static_cast<double>(queries * window)
                             : dim == 64 ? static_cast<double>(queries * keys)
                                         : static_cast<double>(queries) * 3072.0;
        const auto time = [&](const char* form) {
            const double us =
                microseconds(d, 4, [&](int) { return d.ops().attention(d.queue(), a); });
            std::printf("  head %3ld window %4ld %9.1f us  %6.1f TFLOP/s%s\n",
                        static_cast<long>(dim), static_cast<long>(window), us,
                        pairs * 4.0 * static_cast<double>(dim * heads) / us / 1e6, form);
        };
        time("");
        if (dim >= 256) {
            const AttentionLimit limit(d);
            time(" in 99 KiB");
        }
    }
    for (const int64_t size : {512, 4096, 32768}) {
        for (const auto& [dim, type] : {std::pair{int64_t{256}, KvType::BF16},
                                        {256, KvType::Q8},
                                        {512, KvType::BF16},
                                        {512, KvType::Q8}}) {
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
            s.kv_type = type;
            s.capacity = ring;
            s.num_heads = 8;
            s.num_kv_heads = 1;
            s.head_dim = dim;
            s.window = dim == 256 ? 512 : 0;
            s.out = out.f();
            const double us =
                microseconds(d, 20, [&](int) { return d.ops().attend_step(d.queue(), s); });
            std::printf("  attend step head %3ld, %5ld tokens, %s %7.2f us\n",
                        static_cast<long>(dim), static_cast<long>(size),
                        type == KvType::Q8 ? "q8" : "bf16", us);
        }
    }
}

} // namespace kernel_check
