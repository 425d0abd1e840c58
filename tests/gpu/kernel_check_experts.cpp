// SPDX-License-Identifier: Apache-2.0
// Routed experts of a token against single functions of the scalar CPU table, and their time at the
// published size beside what their bytes allow.
#include "tests/gpu/kernel_check.h"

#include <numeric>

namespace kernel_check {

namespace {

struct Shape {
    int64_t hidden, inner, experts, top_k;
};

size_t at(int64_t i) {
    return static_cast<size_t>(i);
}

/// Rows [first, first + rows) of a weight of one host.
WeightView rowsOf(WeightView w, int64_t first, int64_t rows) {
    const int64_t element = first * w.cols;
    const bool is_four_bit = w.format == WeightFormat::Nf4;
    w.data = static_cast<const uint8_t*>(w.data) + (is_four_bit ? element / 2 : element * 2);
    if (is_four_bit) {
        w.absmax += element / w.block_size;
    }
    w.rows = rows;
    return w;
}

/// A step's operands on both sides.
struct Experts {
    Shape shape;
    Weight router, gate_up, down;
    Pair<float> x, dense, router_scale, expert_scale, norm, t_norm, out_norm;
    Buffer t, scores, chosen, act, sum;
    ExpertsStepArgs args;

    Experts(cuda::CudaDevice& d, const Shape& s, WeightFormat format, bool is_nested = false)
        : shape(s), router(d, WeightFormat::BF16, s.experts, s.hidden, false),
          gate_up(d, format, s.experts * 2 * s.inner, s.hidden, is_nested),
          down(d, format, s.experts * s.hidden, s.inner, is_nested), x(d, normal(at(s.hidden))),
          dense(d, normal(at(s.hidden))), router_scale(d, normal(at(s.hidden), 8.0F)),
          expert_scale(d, normal(at(s.experts))), norm(d, normal(at(s.hidden))),
          t_norm(d, normal(at(s.hidden))), out_norm(d, normal(at(s.hidden))),
          t(d, at(s.hidden) * 4), scores(d, at(s.experts) * 4),
          chosen(d, at(ExpertsStepArgs::chosenFloats(s.top_k)) * 4),
          act(d, at(s.top_k * s.inner) * 4), sum(d, at(s.hidden) * 4) {
        d.copyIn(t.data, dense.host.data(), t.bytes);
        args.x = x.there();
        args.t = t.f();
        args.router = router.card;
        args.router_scale = router_scale.there();
        args.expert_scale = expert_scale.there();
        args.input_scale = 1.0F / std::sqrt(static_cast<float>(s.hidden));
        args.gate_up = gate_up.card;
        args.down = down.card;
        args.t_norm = {t_norm.there(), DType::F32, 1, s.hidden};
        args.norm = {norm.there(), DType::F32, 1, s.hidden};
        args.out_norm = {out_norm.there(), DType::F32, 1, s.hidden};
        args.experts = s.experts;
        args.top_k = s.top_k;
        args.scores = scores.f();
        args.chosen = chosen.f();
        args.act = act.f();
        args.sum = sum.f();
    }

    /// What single functions make of it.
    [[nodiscard]] std::vector<float> onHost() const {
        const OpTable& cpu = cpuScalarOps();
        const int64_t n = shape.hidden;
        const auto row = [](std::vector<float>& v) {
            const auto size = static_cast<int64_t>(v.size());
            return MutF32{v.data(), 1, size, size};
        };
        std::vector<float> z(at(n));
        std::vector<float> h(at(n));
        const MatF32 input{x.host.data(), 1, n, n};
        cpu.rms_norm({}, input, {}, 1e-6F, row(z));
        cpu.scale_columns({}, row(z), router_scale.host.data());
        cpu.scale({}, row(z), args.input_scale);
        cpu.rms_norm({}, input, {norm.host.data(), DType::F32, 1, n}, 1e-6F, row(h));
        std::vector<float> score(at(shape.experts));
        cpu.linear({}, row(z), router.host, row(score));
        std::vector<int> order(at(shape.experts));
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(),
                         [&score](int a, int b) { return score[at(a)] > score[at(b)]; });
        double top = 0;
        for (int64_t j = 0; j < shape.top_k; ++j) {
            top += std::exp(static_cast<double>(score[at(order[at(j)])] - score[at(order[0])]));
        }
        std::vector<float> total(at(n));
        for (int64_t j = 0; j < shape.top_k; ++j) {
            const int64_t e = order[at(j)];
            const double p = std::exp(static_cast<double>(score[at(e)] - score[at(order[0])]));
            std::vector<float> gate(at(shape.inner));
            std::vector<float> up(at(shape.inner));
            std::vector<float> down_row(at(n));
            cpu.linear({}, row(h), rowsOf(gate_up.host, e * 2 * shape.inner, shape.inner),
                       row(gate));
            cpu.linear({}, row(h), rowsOf(gate_up.host, (e * 2 + 1) * shape.inner, shape.inner),
                       row(up));
            cpu.gated_mul({}, kernels::Activation::GeluTanh, row(gate), row(up), row(gate));
            cpu.linear({}, row(gate), rowsOf(down.host, e * n, n), row(down_row));
            cpu.add_scaled({}, row(down_row),
                           static_cast<float>(p / top) * expert_scale.host[at(e)], row(total));
        }
        std::vector<float> want(at(n));
        std::vector<float> dense_row = dense.host;
        cpu.rms_norm({}, row(dense_row), {t_norm.host.data(), DType::F32, 1, n}, 1e-6F, row(want));
        cpu.rms_norm({}, row(total), {out_norm.host.data(), DType::F32, 1, n}, 1e-6F, row(total));
        cpu.add_scaled({}, row(total), 1.0F, row(want));
        return want;
    }
};

} // namespace

void checkExperts(cuda::CudaDevice& d) {
    for (const WeightFormat format : {WeightFormat::BF16, WeightFormat::Nf4}) {
        const Experts experts(d, {704, 192, 24, 6}, format);
        const Status status = d.ops().experts_step(d.queue(), experts.args);
        report(std::string("experts ") + formatName(format, false), status,
               relativeError(fetch(d, experts.t, 704), experts.onHost()),
               format == WeightFormat::BF16 ? 1e-4 : 4e-3);
    }
}

void timeExperts(cuda::CudaDevice& d) {
    constexpr Shape kPublished{2816, 704, 32, 8}; // a quarter of its experts
    for (const WeightFormat format : {WeightFormat::BF16, WeightFormat::Nf4}) {
        const bool is_nested = format == WeightFormat::Nf4; // as the model's are
        // Another layer each time: no weight is in L2.
        std::vector<std::unique_ptr<Experts>> layers;
        for (int i = 0; i < 3; ++i) {
            layers.push_back(std::make_unique<Experts>(d, kPublished, format, is_nested));
        }
        const double time = microseconds(
            d, 60, [&](int i) { return d.ops().experts_step(d.queue(), layers[at(i % 3)]->args); });
        const double values = 3.0 * 2816 * 704 * 8;
        const double bytes = values * (format == WeightFormat::BF16 ? 2.0 : 0.5 + 1.0 / 64);
        std::printf("experts of 26B-A4B, %-6s %8.2f us, %7.0f GB/s\n", formatName(format, false),
                    time, bytes / time / 1e3);
    }
    constexpr int64_t kRows = 512;
    constexpr int64_t kExperts = 128;
    const Pair<float> x(d, normal(at(kRows * kPublished.hidden)));
    const Pair<float> scale(d, normal(at(kPublished.hidden)));
    const Buffer scores(d, at(kRows * kExperts) * 4);
    for (const WeightFormat format : {WeightFormat::BF16, WeightFormat::Nf4}) {
        const Weight router(d, format, kExperts, kPublished.hidden, true);
        const double time = microseconds(d, 10, [&](int) {
            return d.ops().router_scores(
                d.queue(), {x.there(), kRows, kPublished.hidden, kPublished.hidden}, router.card,
                scale.there(), 1.0F, 1e-6F, {scores.f(), kRows, kExperts, kExperts});
        });
        std::printf("scores of 512 rows of 26B-A4B, %-6s %8.2f us\n", formatName(format, false),
                    time);
    }
}

} // namespace kernel_check
