// SPDX-License-Identifier: Apache-2.0
// Low-rank updates against the scalar CPU table: many rows, and inside decode steps.
#include "tests/gpu/kernel_check.h"

namespace kernel_check {

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
            // Ranks of eight: A h is shared out over the blocks (stream_lora.cuh).
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
            cpu.gated_mul({}, kernels::Activation::GeluTanh, {a.data(), 1, middle, middle},
                          {b.data(), 1, middle, middle}, {a.data(), 1, middle, middle});
            std::vector<float> last = product(a, down, in);
            first.add(a, last);
            second.add(a, last);
            Buffer wide(d, 2048 * 4);
            Buffer result(d, 1536 * 4);
            ProjectArgs pair;
            pair.input = ProjectArgs::Input::Norm;
            pair.output = ProjectArgs::Output::GatedPair;
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

} // namespace kernel_check
