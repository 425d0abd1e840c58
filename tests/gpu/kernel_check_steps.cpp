// SPDX-License-Identifier: Apache-2.0
// Steps of a decoded token against the scalar CPU table.
#include "tests/gpu/kernel_check.h"

namespace kernel_check {

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
        const auto activation = nested ? kernels::Activation::GeluTanh : kernels::Activation::Silu;
        cpu.gated_mul({}, activation, {a.data(), 1, out, out}, {b.data(), 1, out, out},
                      {want.data(), 1, out, out});
        Buffer y(d, 2048 * 4);
        Buffer sum(d, 1536 * 4);
        ProjectArgs p;
        p.input = ProjectArgs::Input::ResidualNorm;
        p.output = ProjectArgs::Output::GatedPair;
        p.activation = activation;
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
        Buffer attended(d, want.size() * 4);
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
        s.out = attended.f();
        Status status = Status::Ok;
        for (int i = 0; i < 2 && status == Status::Ok; ++i) { // twice: counters must come back to 0
            status = begin();
            if (status == Status::Ok) {
                status = end(d.ops().attend_step(d.queue(), s));
            }
        }
        report(form + "attend step head " + std::to_string(c.dim) + ", " + std::to_string(c.size) +
                   " tokens",
               status, relativeError(fetch(d, attended, want.size()), want),
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
        std::vector<float> merged(192);
        std::vector<float> result(64);
        cpu.linear({}, {want.data(), 1, width, width}, o.host, {merged.data(), 1, 192, 192});
        cpu.linear({}, {merged.data(), 1, 192, 192}, last.host, {result.data(), 1, 64, 64});
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

/// Columns of 31B, in a list that begins with a residual row of it: norm and a few outputs, then
/// rows without norm.
void checkLongRows(cuda::CudaDevice& d) {
    const OpTable& cpu = cpuScalarOps();
    const int64_t hidden = 5376;
    const int64_t out = 400;
    Pair<float> x(d, normal(5376));
    Pair<float> n(d, normal(5376));
    Weight first(d, WeightFormat::Nf4, 64, hidden, true);
    std::vector<float> h(5376);
    std::vector<float> want_first(64);
    cpu.rms_norm({}, {x.host.data(), 1, hidden, hidden}, {n.host.data(), DType::F32, 1, hidden},
                 1e-6F, {h.data(), 1, hidden, hidden});
    cpu.linear({}, {h.data(), 1, hidden, hidden}, first.host, {want_first.data(), 1, 64, 64});
    for (const auto& [format, cols] : {std::pair{WeightFormat::Nf4, int64_t{8192}},
                                       {WeightFormat::Nf4, int64_t{16384}},
                                       {WeightFormat::Nf4, int64_t{21504}},
                                       {WeightFormat::Int8Row, int64_t{21504}}}) {
        Pair<float> row(d, normal(static_cast<size_t>(cols)));
        Weight w(d, format, out, cols, format == WeightFormat::Nf4);
        std::vector<float> want(400);
        cpu.linear({}, {row.host.data(), 1, cols, cols}, w.host, {want.data(), 1, out, out});
        Buffer y_first(d, 64 * 4);
        Buffer y(d, 400 * 4);
        ProjectArgs p;
        p.input = ProjectArgs::Input::Norm;
        p.x = x.there();
        p.norm = {n.there(), DType::F32, 1, hidden};
        p.count = 1;
        p.w[0] = first.card;
        p.y[0] = y_first.f();
        ProjectArgs plain;
        plain.x = row.there();
        plain.count = 1;
        plain.w[0] = w.card;
        plain.y[0] = y.f();
        Status status = d.ops().begin_steps(d.queue());
        if (status == Status::Ok) {
            status = d.ops().project(d.queue(), p);
            status = status == Status::Ok ? d.ops().project(d.queue(), plain) : status;
            const Status ended = d.ops().end_steps(d.queue());
            status = status == Status::Ok ? ended : status;
        }
        const std::string name = std::string(formatName(format, format == WeightFormat::Nf4)) +
                                 " " + std::to_string(cols);
        report("collected: norm of 5376 before " + name, status,
               relativeError(fetch(d, y_first, want_first.size()), want_first), 4e-3);
        report("collected: long row " + name, status, relativeError(fetch(d, y, want.size()), want),
               4e-3);
    }
}

} // namespace kernel_check
