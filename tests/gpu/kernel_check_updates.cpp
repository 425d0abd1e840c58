// SPDX-License-Identifier: Apache-2.0
// Low-rank updates of many rows against the scalar CPU table.
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

} // namespace kernel_check
