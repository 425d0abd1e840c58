// SPDX-License-Identifier: Apache-2.0
// Routed experts of a token against single functions of the scalar CPU table, and their time at the
// published size beside what their bytes allow.
#include "tests/gpu/card_copies.h"
#include "tests/kernels/expert_cases.h"

namespace kernel_check {

using support::ExpertsCase;

void checkExperts(cuda::CudaDevice& d) {
    for (const WeightFormat format : {WeightFormat::BF16, WeightFormat::Nf4}) {
        const ExpertsCase c({704, 192, 24, 6}, format, WeightFormat::BF16, false, 1);
        const support::Answer want = support::answerOf(c);
        const CardCopies copies(d, c);
        const Status status = d.ops().experts_step(d.queue(), copies.moved(c.args));
        copies.bringBack();
        report(std::string("experts ") + formatName(format, false), status,
               support::relativeErrorOf(c.t, want.t), format == WeightFormat::BF16 ? 1e-4 : 4e-3);
    }
}

void timeExperts(cuda::CudaDevice& d) {
    constexpr support::ExpertsShape kPublished{2816, 704, 32, 8}; // a quarter of its experts
    for (const WeightFormat format : {WeightFormat::BF16, WeightFormat::Nf4}) {
        const bool is_nested = format == WeightFormat::Nf4; // as the model's are
        // Another layer each time: no weight is in L2.
        std::vector<std::unique_ptr<CardCopies>> copies;
        std::vector<ExpertsStepArgs> layers;
        for (uint64_t i = 0; i < 3; ++i) {
            const ExpertsCase c(kPublished, format, WeightFormat::BF16, is_nested, 10 * i);
            copies.push_back(std::make_unique<CardCopies>(d, c));
            layers.push_back(copies.back()->moved(c.args));
        }
        const double time = microseconds(d, 60, [&](int i) {
            return d.ops().experts_step(d.queue(), layers[static_cast<size_t>(i % 3)]);
        });
        const double values = 3.0 * 2816 * 704 * 8;
        const double bytes = values * (format == WeightFormat::BF16 ? 2.0 : 0.5 + 1.0 / 64);
        std::printf("experts of 26B-A4B, %-6s %8.2f us, %7.0f GB/s\n", formatName(format, false),
                    time, bytes / time / 1e3);
    }
    constexpr int64_t kRows = 512;
    constexpr int64_t kExperts = 128;
    const Pair<float> x(d, normal(support::sizeOf(kRows * kPublished.hidden)));
    const Pair<float> scale(d, normal(support::sizeOf(kPublished.hidden)));
    const Buffer scores(d, support::sizeOf(kRows * kExperts) * 4);
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
