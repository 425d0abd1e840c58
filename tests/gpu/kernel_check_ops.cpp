// SPDX-License-Identifier: Apache-2.0
// Single functions of the CUDA table against the scalar CPU table: products, attention, probes.
#include "tests/gpu/kernel_check.h"

namespace kernel_check {

namespace {

struct LinearCase {
    int64_t rows, in, out;
};

void checkLinearOf(cuda::CudaDevice& d,
                   bool is_reference,
                   const LinearCase& c,
                   WeightFormat format,
                   bool nested,
                   const std::string& name) {
    Weight w(d, format, c.out, c.in, nested);
    Pair<float> x(d, normal(static_cast<size_t>(c.rows * c.in)));
    Buffer y(d, static_cast<size_t>(c.rows * c.out) * 4);
    std::vector<float> want(static_cast<size_t>(c.rows * c.out));
    if (is_reference) {
        w.host.expand_type = w.card.expand_type = DType::BF16;
    }
    cpuScalarOps().linear({}, {x.host.data(), c.rows, c.in, c.in}, w.host,
                          {want.data(), c.rows, c.out, c.out});
    const Status status = d.ops().linear(d.queue(), {x.there(), c.rows, c.in, c.in}, w.card,
                                         {y.f(), c.rows, c.out, c.out});
    const double error = relativeError(fetch(d, y, want.size()), want);
    report("linear " + name + " " + std::to_string(c.rows) + "x" + std::to_string(c.in) + "x" +
               std::to_string(c.out),
           status, error, is_reference ? 2e-6 : 4e-3);
}

} // namespace

void checkLinear(cuda::CudaDevice& d, bool is_reference) {
    for (const LinearCase c : {LinearCase{1, 1536, 512},
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
                                             {WeightFormat::Int8, false},
                                             {WeightFormat::BF16, false},
                                             {WeightFormat::F32, false}}) {
            checkLinearOf(d, is_reference, c, format, nested, formatName(format, nested));
        }
        for (int f = static_cast<int>(WeightFormat::Q4_0);
             c.in % 256 == 0 && f <= static_cast<int>(WeightFormat::Q2_0); ++f) {
            checkLinearOf(d, is_reference, c, static_cast<WeightFormat>(f), false,
                          "blocks " + std::to_string(f));
        }
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
                         {66, 600, 4, 1, 256, 30, false, false},
                         {130, 600, 2, 1, 512, 64, true, false},
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
        a.kv_type = c.bf16 ? KvType::BF16 : KvType::F32;
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
        const std::string what =
            std::to_string(c.queries) + " queries, head " + std::to_string(c.dim);
        const Status status = d.ops().attention(d.queue(), a);
        report("attention " + what, status, relativeError(fetch(d, out, want.size()), want),
               is_reference ? 5e-6 : 8e-3);
        if (!is_reference && c.dim >= 256) {
            const AttentionLimit limit(d);
            const Status small = d.ops().attention(d.queue(), a);
            report("attention in 99 KiB, " + what, small,
                   relativeError(fetch(d, out, want.size()), want), 8e-3);
        }
    }
}

/// The kernels that measure ceilings: what was read, and that sums are finite.
void checkProbes(cuda::CudaDevice& d) {
    constexpr unsigned kBlocks = 3;
    constexpr size_t kThreads = size_t{kBlocks} * 512;
    // Every word once, whatever the length: the combined bits of all threads tell.
    for (const size_t words : {size_t{5}, kThreads, 9 * kThreads + 77}) {
        const Pair<uint8_t> data(d, bytes(words * 16));
        const Buffer out(d, kThreads * sizeof(uint32_t));
        const Status status = d.stream().launch(cuda::KernelId::probe_read, kBlocks, 1, 1, 512, 0,
                                                reinterpret_cast<cuda::CuPointer>(data.card->data),
                                                static_cast<int64_t>(words),
                                                reinterpret_cast<cuda::CuPointer>(out.data));
        std::vector<uint32_t> got(kThreads);
        d.copyOut(got.data(), out.data, kThreads * sizeof(uint32_t));
        uint32_t found = 0;
        uint32_t expected = 0;
        for (const uint32_t bits : got) {
            found ^= bits;
        }
        for (size_t i = 0; i < words * 4; ++i) {
            uint32_t word = 0;
            std::memcpy(&word, data.host.data() + 4 * i, 4);
            expected ^= word;
        }
        report("probe reads " + std::to_string(words) + " words", status, found == expected ? 0 : 1,
               0);
    }
    const Buffer out(d, size_t{kBlocks} * 256 * sizeof(float));
    const Status status =
        d.stream().launch(cuda::KernelId::probe_multiply, kBlocks, 1, 1, 256, 0, int32_t{3},
                          reinterpret_cast<cuda::CuPointer>(out.data));
    const std::vector<float> sums = fetch(d, out, size_t{kBlocks} * 256);
    bool is_right = true;
    for (const float sum : sums) {
        // 3 rounds of 8 products give a lane 32 sums of 16 products of values in [0.5, 1).
        is_right = is_right && (d.facts().compute_capability < 80 ||
                                (sum >= 3 * 32 * 16 * 0.25F && sum <= 3 * 32 * 16 * 1.0F));
    }
    report("probe multiplies", status, is_right ? 0 : 1, 0);
}

} // namespace kernel_check
