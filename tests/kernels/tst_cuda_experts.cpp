// SPDX-License-Identifier: Apache-2.0
// Routed experts of one token as kernels of a card, run on the CPU, against a sum in double over
// exactly expanded weights: every format, choices with ties, scores that are no numbers. Operands
// end at a page that nobody may touch, threads run in orders drawn from seeds.
#include "kernels/cpu/tables.h"
#include "tests/kernels/expert_cases.h"
#include "tests/support/cuda_emulator/emulated_card.h"
#include "tests/support/program/test_class.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

using kernels::DType;
using kernels::ExpertsStepArgs;
using kernels::Status;
using kernels::WeightFormat;
using kernels::WeightView;
using namespace support;

class TestCudaExperts : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void sums_data();
    void sums();
    void endsAroundAnotherSum();
    void placed_data();
    void placed();
    void tiesGoToTheLowerIndex();
    void noNumbers();
    void rows();
    void products_data();
    void products();
    void order_data();
    void order();
    void chosenOfRows_data();
    void chosenOfRows();
    void refuses();
};

void TestCudaExperts::sums_data() {
    support::addColumns<WeightFormat, WeightFormat, bool, QList<int>, double>(
        "format", "router", "is_nested", "shape", "bound");
    const auto add = [](const char* name, WeightFormat format, WeightFormat router, bool is_nested,
                        const QList<int>& shape) {
        // Sums in fp32; with codes, fp16 products of scaled rows as in all decode steps.
        QTest::newRow(name) << format << router << is_nested << shape
                            << (format == WeightFormat::BF16 ? 1e-5 : 4e-3);
    };
    using enum WeightFormat;
    add("bf16", BF16, BF16, false, {256, 64, 12, 3});
    add("bf16, widths of 8", BF16, Nf4, false, {264, 40, 5, 2});
    add("bf16, all experts", BF16, Int8Row, false, {128, 16, 4, 4});
    add("nf4", Nf4, Nf4, false, {256, 64, 12, 3});
    add("nf4, nested", Nf4, F32, true, {320, 128, 9, 4});
    add("nf4, blocks across rows", Nf4, BF16, false, {96, 32, 6, 2});
    add("fp4", Fp4, F16, false, {256, 192, 6, 2});
    add("Q4_0", Q4_0, BF16, false, {256, 64, 12, 3});
    add("Q4_K, widths of 256", Q4_K, F32, false, {512, 256, 9, 4});
    add("Q5_1", Q5_1, F32, false, {320, 96, 6, 2});
    add("bf16, more experts than threads", BF16, BF16, false, {64, 8, 300, 32});
}

void TestCudaExperts::sums() {
    QFETCH(WeightFormat, format);
    QFETCH(WeightFormat, router);
    QFETCH(bool, is_nested);
    QFETCH(QList<int>, shape);
    QFETCH(double, bound);
    for (const uint64_t seed : {1U, 2U}) {
        EmulatedCardOptions options;
        options.run.seed = seed;
        EmulatedCard card(options);
        auto& d = card.device();
        const ExpertsCase c({shape[0], shape[1], shape[2], shape[3]}, format, router, is_nested,
                            100 * seed);
        const Answer want = answerOf(c);
        QCOMPARE(d.ops().experts_step(d.queue(), c.args), Status::Ok);
        QCOMPARE(card.finish(), std::string());
        for (int64_t j = 0; j < c.shape.top_k; ++j) {
            QCOMPARE(c.expertAt(j), want.experts[sizeOf(j)]);
        }
        QCOMPARE_LE(relativeErrorOf(c.t, want.t), bound);
        QCOMPARE(card.ran().size(), size_t{1});
    }
}

/// The two ends of the step give what the whole gives where the sum between them is the same.
void TestCudaExperts::endsAroundAnotherSum() {
    for (const ExpertsShape& shape :
         {ExpertsShape{256, 64, 12, 3}, ExpertsShape{3080, 8, 300, 8}}) {
        EmulatedCard card({});
        auto& d = card.device();
        const ExpertsCase whole(shape, WeightFormat::BF16, WeightFormat::Nf4, false, 7);
        QCOMPARE(d.ops().experts_step(d.queue(), whole.args), Status::Ok);
        const ExpertsCase c(shape, WeightFormat::BF16, WeightFormat::Nf4, false, 7);
        const Answer want = answerOf(c);
        const Guarded<float> h(sizeOf(shape.hidden));
        ExpertsStepArgs args = c.args;
        args.act = h.data();
        args.gate_up = {};
        args.down = {};
        QCOMPARE(d.ops().route_experts(d.queue(), args), Status::Ok);
        QCOMPARE(card.finish(), std::string());
        int32_t is_ready = 0;
        std::memcpy(&is_ready, c.chosen.data(), sizeof is_ready);
        QCOMPARE(is_ready, 1);
        // As the host computes it.
        std::vector<int32_t> chosen;
        std::vector<float> weights;
        for (int64_t j = 0; j < shape.top_k; ++j) {
            chosen.push_back(c.expertAt(j));
            QCOMPARE(chosen.back(), whole.expertAt(j));
            weights.push_back(c.chosen[sizeOf(3 + 2 * j)]);
            QCOMPARE_LE(std::abs(weights.back() - whole.chosen[sizeOf(3 + 2 * j)]), 1e-4F);
        }
        kernels::ExpertRowsArgs rows;
        rows.x = matrix(h, 1, shape.hidden);
        rows.gate_up = c.gate_up.view;
        rows.down = c.down.view;
        rows.experts = shape.experts;
        rows.top_k = shape.top_k;
        rows.chosen = chosen.data();
        rows.weight = weights.data();
        rows.sum = matrix(c.sum, 1, shape.hidden);
        QCOMPARE(kernels::bestCpuOps().expert_rows({}, rows), Status::Ok);
        QCOMPARE(d.ops().merge_experts(d.queue(), args), Status::Ok);
        QCOMPARE(card.finish(), std::string());
        QCOMPARE_LE(relativeErrorOf(c.t, want.t), 1e-2); // the host rounds to bf16
        QCOMPARE(d.ops().route_experts(d.queue(), {}), Status::BadShape);
    }
}

void TestCudaExperts::placed_data() {
    support::addColumns<WeightFormat, bool, QList<int>>("format", "is_nested", "shape");
    using enum WeightFormat;
    QTest::newRow("bf16") << BF16 << false << QList<int>{256, 64, 12, 3};
    QTest::newRow("nf4") << Nf4 << false << QList<int>{256, 64, 12, 3};
    QTest::newRow("nf4, nested") << Nf4 << true << QList<int>{256, 64, 9, 4};
    QTest::newRow("Q4_K") << Q4_K << false << QList<int>{512, 256, 9, 4};
}

/// Experts of which the card has none, one or all, under other numbers, and the host the rest: the
/// sum of both is that of all.
void TestCudaExperts::placed() {
    QFETCH(WeightFormat, format);
    QFETCH(bool, is_nested);
    QFETCH(QList<int>, shape);
    const ExpertsShape size = {shape[0], shape[1], shape[2], shape[3]};
    const ExpertsCase bank({size.hidden, size.inner, size.top_k + 1, size.top_k}, format,
                           WeightFormat::BF16, is_nested, 77);
    for (const int64_t here : {int64_t{0}, int64_t{1}, size.top_k}) {
        EmulatedCard card({});
        auto& d = card.device();
        const ExpertsCase c(size, format, WeightFormat::BF16, is_nested, 31);
        std::vector<int32_t> place_of(sizeOf(size.experts), -1);
        const std::vector<int32_t> choice = answerOf(c).experts;
        for (int64_t j = 0; j < here; ++j) {
            place_of[sizeOf(choice[sizeOf(size.top_k - 1 - j)])] = static_cast<int32_t>(j + 1);
        }
        const Answer want = answerOf(c, &bank, place_of);
        const Guarded<float> h(sizeOf(size.hidden));
        ExpertsStepArgs ends = c.args;
        ends.act = h.data();
        ends.gate_up = {};
        ends.down = {};
        QCOMPARE(d.ops().route_experts(d.queue(), ends), Status::Ok);
        ExpertsStepArgs placed = c.args;
        placed.gate_up = bank.gate_up.view;
        placed.down = bank.down.view;
        placed.place_of = place_of.data();
        placed.places = bank.shape.experts;
        const Guarded<float> own(sizeOf(size.hidden));
        placed.sum = own.data();
        QCOMPARE(d.ops().placed_experts(d.queue(), placed), Status::Ok);
        QCOMPARE(card.finish(), std::string());
        std::vector<int32_t> chosen;
        std::vector<float> weights;
        for (int64_t j = 0; j < size.top_k; ++j) {
            QCOMPARE(c.expertAt(j), choice[sizeOf(j)]);
            if (place_of[sizeOf(c.expertAt(j))] < 0) {
                chosen.push_back(c.expertAt(j));
                weights.push_back(c.chosen[sizeOf(3 + 2 * j)]);
            }
        }
        std::fill_n(c.sum.data(), size.hidden, 0.0F);
        if (!chosen.empty()) {
            kernels::ExpertRowsArgs rows;
            rows.x = matrix(h, 1, size.hidden);
            rows.gate_up = c.gate_up.view;
            rows.down = c.down.view;
            rows.experts = size.experts;
            rows.top_k = static_cast<int64_t>(chosen.size());
            rows.chosen = chosen.data();
            rows.weight = weights.data();
            rows.sum = matrix(c.sum, 1, size.hidden);
            QCOMPARE(kernels::bestCpuOps().expert_rows({}, rows), Status::Ok);
        }
        ends.own_sum = own.data();
        QCOMPARE(d.ops().merge_experts(d.queue(), ends), Status::Ok);
        QCOMPARE(card.finish(), std::string());
        QCOMPARE_LE(relativeErrorOf(c.t, want.t), 1e-2); // the host rounds to bf16
        placed.place_of = nullptr;
        QCOMPARE(d.ops().placed_experts(d.queue(), placed), Status::BadShape);
    }
}

void TestCudaExperts::tiesGoToTheLowerIndex() {
    EmulatedCard card({});
    auto& d = card.device();
    ExpertsCase c({64, 16, 40, 4}, WeightFormat::BF16, WeightFormat::BF16, false, 5);
    // Rows of zeros score the same, and above those whose scores are made small.
    std::memset(c.router.bytes.data(), 0, c.router.bytes.size());
    const auto score = [&c](int64_t expert, float value) {
        for (int64_t i = 0; i < c.shape.hidden; ++i) {
            kernels::cpu::storeElement(c.router.bytes.data(), DType::BF16,
                                       expert * c.shape.hidden + i,
                                       value * c.x[sizeOf(i)] * c.router_scale[sizeOf(i)]);
        }
    };
    score(0, -1.0F);
    score(33, 1.0F);
    QCOMPARE(d.ops().experts_step(d.queue(), c.args), Status::Ok);
    QCOMPARE(card.finish(), std::string());
    QCOMPARE(c.expertAt(0), 33);
    QCOMPARE(c.expertAt(1), 1);
    QCOMPARE(c.expertAt(2), 2);
    QCOMPARE(c.expertAt(3), 3);
}

/// Not a number in, not a number out, and nothing is read outside the weights.
void TestCudaExperts::noNumbers() {
    for (const float bad : {NAN, INFINITY}) {
        EmulatedCard card({});
        auto& d = card.device();
        ExpertsCase c({64, 16, 8, 2}, WeightFormat::BF16, WeightFormat::BF16, false, 6);
        c.router_scale[3] = bad;
        QCOMPARE(d.ops().experts_step(d.queue(), c.args), Status::Ok);
        QCOMPARE(card.finish(), std::string());
        for (int64_t j = 0; j < 2; ++j) {
            QVERIFY(c.expertAt(j) >= 0 && c.expertAt(j) < 8);
        }
        QVERIFY(std::isnan(c.t[0]));
    }
}

/// Scores of several rows, and rows added where they belong.
void TestCudaExperts::rows() {
    constexpr int64_t kRows = 19; // no multiple of what a block takes, nor is the next but one
    constexpr int64_t kHidden = 72;
    constexpr int64_t kExperts = 11;
    for (const WeightFormat format :
         {WeightFormat::BF16, WeightFormat::Int8Row, WeightFormat::Nf4}) {
        EmulatedCard card({});
        auto& d = card.device();
        const TestWeight router = weightOf(format, kExperts, kHidden, false, 3);
        const Guarded<float> x = randomFloats(kRows * kHidden, 4);
        const Guarded<float> scale = randomFloats(kHidden, 5);
        const Guarded<float> scores(sizeOf(kRows * kExperts));
        QCOMPARE(d.ops().router_scores(d.queue(), matrix(x, kRows, kHidden), router.view,
                                       scale.data(), 0.25F, 1e-6F, matrix(scores, kRows, kExperts)),
                 Status::Ok);
        QCOMPARE(card.finish(), std::string());
        const std::vector<float> values = expanded(router.view);
        for (int64_t r = 0; r < kRows; ++r) {
            const std::vector<double> row(x.data() + r * kHidden, x.data() + (r + 1) * kHidden);
            for (int64_t e = 0; e < kExperts; ++e) {
                double want = 0;
                for (int64_t i = 0; i < kHidden; ++i) {
                    want += row[sizeOf(i)] * static_cast<double>(scale[sizeOf(i)]) *
                            static_cast<double>(values[sizeOf(e * kHidden + i)]);
                }
                want *= 0.25 * inverseRms(row);
                // Both operands keep 16 bits.
                QVERIFY(std::abs(static_cast<double>(scores[sizeOf(r * kExperts + e)]) - want) <=
                        4e-5 * (1 + std::abs(want)));
            }
        }
    }
    EmulatedCard card({});
    auto& d = card.device();
    // Places 5 to 7 of row 4, 0, 4, where each row has two of eight places; x has one more on each
    // side, which belongs to other experts.
    const Guarded<float> x = randomFloats(5 * kHidden, 6);
    const Guarded<int32_t> first(std::vector<int32_t>{0, 5, 7, 8, 10});
    const Guarded<float> y = randomFloats(5 * kHidden, 7);
    const std::vector<float> before = y.values();
    const Guarded<int32_t> places(std::vector<int32_t>{1, 6, 0, 2, 3, 4, 8, 9, 5, 7});
    const Guarded<float> weights = randomFloats(10, 9); // of these
    kernels::ExpertSumArgs sum;
    sum.x = matrix(x, 5, kHidden);
    sum.place = 4;
    sum.places = places.data();
    sum.weights = weights.data();
    sum.top_k = 2;
    sum.first = first.data() + 1;
    sum.experts = 2;
    sum.total = matrix(y, 5, kHidden);
    QCOMPARE(d.ops().sum_experts(d.queue(), sum), Status::Ok);
    QCOMPARE(card.finish(), std::string());
    const int32_t rows[3] = {4, 0, 4};
    const int32_t choices[3] = {8, 1, 9};
    for (int64_t r = 0; r < 5; ++r) {
        for (int64_t c = 0; c < kHidden; ++c) {
            double want = static_cast<double>(before[sizeOf(r * kHidden + c)]);
            for (int64_t i = 0; i < 3; ++i) {
                want += rows[i] == r ? static_cast<double>(weights[sizeOf(choices[i])]) *
                                           static_cast<double>(x[sizeOf((i + 1) * kHidden + c)])
                                     : 0.0;
            }
            QVERIFY(std::abs(static_cast<double>(y[sizeOf(r * kHidden + c)]) - want) < 1e-5);
        }
    }
    // All experts: places 4 to 6 of rows 2, 4 and 0.
    sum.x.rows = 3;
    sum.first = nullptr;
    const std::vector<float> so_far = y.values();
    QCOMPARE(d.ops().sum_experts(d.queue(), sum), Status::Ok);
    QCOMPARE(card.finish(), std::string());
    for (int64_t c = 0; c < kHidden; ++c) {
        QCOMPARE(y[sizeOf(2 * kHidden + c)],
                 std::fmaf(weights[5], x[sizeOf(c)], so_far[sizeOf(2 * kHidden + c)]));
    }
    sum.places = nullptr;
    QCOMPARE(d.ops().sum_experts(d.queue(), sum), Status::BadShape);
    QCOMPARE(d.ops().router_scores(d.queue(), matrix(x, 3, kHidden), WeightView(), nullptr, 1.0F,
                                   1e-6F, matrix(y, 3, kHidden)),
             Status::BadShape);
}

void TestCudaExperts::products_data() {
    QTest::addColumn<int>("format");
    QTest::addColumn<bool>("is_nested");
    QTest::addColumn<int>("outputs"); // gated: of gate and of up
    QTest::addColumn<int>("columns");
    QTest::addColumn<bool>("is_gated");
    QTest::addColumn<std::vector<int64_t>>("counts"); // rows of each expert
    const auto nf4 = static_cast<int>(WeightFormat::Nf4);
    const auto fp4 = static_cast<int>(WeightFormat::Fp4);
    const auto bf16 = static_cast<int>(WeightFormat::BF16);
    const std::vector<int64_t> few = {3, 0, 16, 1};
    const std::vector<int64_t> some = {30, 32, 0, 33};
    const std::vector<int64_t> many = {70, 129, 1, 64};
    QTest::newRow("up, few rows") << nf4 << false << 130 << 256 << false << few;
    QTest::newRow("up, nested, columns of 26B's down") << nf4 << true << 64 << 704 << false << few;
    QTest::newRow("some rows") << nf4 << true << 128 << 192 << false << some;
    QTest::newRow("many rows") << fp4 << true << 66 << 320 << false << many;
    QTest::newRow("gated, few rows") << nf4 << true << 96 << 704 << true << few;
    QTest::newRow("gated, some rows") << nf4 << false << 64 << 256 << true << some;
    QTest::newRow("gated, many rows") << nf4 << true << 66 << 64 << true << many;
    QTest::newRow("16 bits, few rows") << bf16 << false << 70 << 72 << false << few;
    QTest::newRow("16 bits, gated") << bf16 << false << 66 << 136 << true << some;
    QTest::newRow("16 bits, many rows") << bf16 << false << 136 << 264 << false << many;
    for (const auto& [format, columns] : {std::pair{WeightFormat::Int4, 352},
                                          {WeightFormat::Q4_0, 96},
                                          {WeightFormat::Q4_1, 288},
                                          {WeightFormat::Q5_0, 704},
                                          {WeightFormat::Q5_1, 64},
                                          {WeightFormat::Q8_0, 704},
                                          {WeightFormat::Q2_K, 256},
                                          {WeightFormat::Q3_K, 512},
                                          {WeightFormat::Q4_K, 512},
                                          {WeightFormat::Q5_K, 768},
                                          {WeightFormat::Q6_K, 512},
                                          {WeightFormat::IQ4_NL, 160},
                                          {WeightFormat::IQ4_XS, 256},
                                          {WeightFormat::MXFP4, 224},
                                          {WeightFormat::Q2_0, 192}}) {
        QTest::addRow("blocks of %s", formatName(format))
            << static_cast<int>(format) << false << 80 << columns << false << many;
        QTest::addRow("blocks of %s, gated", formatName(format))
            << static_cast<int>(format) << false << 70 << columns << true << few;
    }
}

/// Rows that are taken from where they stand, and results that are; of the latter all columns but
/// the first two and the last two.
void TestCudaExperts::products() {
    QFETCH(const int, format);
    QFETCH(const bool, is_nested);
    QFETCH(const int, outputs);
    QFETCH(const int, columns);
    QFETCH(const bool, is_gated);
    QFETCH(const std::vector<int64_t>, counts);
    const int64_t all_outputs = is_gated ? 2 * outputs : outputs;
    EmulatedCard card({});
    auto& d = card.device();
    const auto experts = static_cast<int64_t>(counts.size());
    const TestWeight w =
        weightOf(static_cast<WeightFormat>(format), experts * all_outputs, columns, is_nested, 11);
    std::vector<int32_t> first = {0};
    for (const int64_t count : counts) {
        first.push_back(first.back() + static_cast<int32_t>(count));
    }
    const int64_t count = first.back();
    const int64_t rows = is_gated ? count / 2 + 1 : count;
    std::vector<int32_t> from(sizeOf(count)); // each row at two places, but for the last
    for (int64_t i = 0; i < count; ++i) {
        from[sizeOf(i)] = static_cast<int32_t>(is_gated ? (i * 7 + 3) % rows : i);
    }
    const Guarded<int32_t> places(first);
    const Guarded<int32_t> row_of(from);
    const Guarded<float> values = randomFloats(rows * columns, 12);
    const Guarded<uint16_t> x(sizeOf(rows * columns));
    QCOMPARE(d.ops().scale_to_half(d.queue(), matrix(values, rows, columns), 0.0F, 1.0F, x.data()),
             Status::Ok);
    kernels::ExpertProductArgs args;
    args.x = x.data();
    args.rows = is_gated ? row_of.data() : nullptr;
    args.w = w.view;
    args.is_gated = is_gated;
    args.begin = is_gated ? 0 : 2;
    args.end = is_gated ? outputs : outputs - 2;
    args.first = places.data();
    args.experts = experts;
    args.places = count;
    const int64_t stored = args.end - args.begin;
    const Guarded<float> y(sizeOf(count * stored));
    const Guarded<uint16_t> gated(sizeOf(count * stored));
    args.y = is_gated ? static_cast<void*>(gated.data()) : y.data();
    // Weights without scales of their own are there expert by expert, where these are aligned.
    const int64_t bytes = kernels::valueBytes(w.view.format, all_outputs * columns);
    const bool is_split = w.view.absmax == nullptr && w.view.absmax_q == nullptr && bytes % 16 == 0;
    for (int64_t e = 0; e < experts; e += is_split ? 1 : experts) {
        args.experts = is_split ? 1 : experts;
        args.first = places.data() + e;
        args.w.rows = args.experts * all_outputs;
        args.w.data = static_cast<const std::byte*>(w.view.data) + e * bytes;
        QCOMPARE(d.ops().expert_products(d.queue(), args), Status::Ok);
    }
    QCOMPARE(card.finish(), std::string());
    const std::vector<float> weights = expanded(w.view);
    double error = 0;
    double norm = 0;
    for (int64_t e = 0; e < experts; ++e) {
        for (int64_t place = first[sizeOf(e)]; place < first[sizeOf(e + 1)]; ++place) {
            const auto sumOf = [&](int64_t row) {
                double sum = 0;
                for (int64_t i = 0; i < columns; ++i) {
                    sum +=
                        static_cast<double>(kernels::cpu::loadElement(
                            x.data(), DType::BF16, from[sizeOf(place)] * columns + i)) *
                        static_cast<double>(weights[sizeOf((e * all_outputs + row) * columns + i)]);
                }
                return sum;
            };
            for (int64_t o = args.begin; o < args.end; ++o) {
                const double g = sumOf(o);
                const double want =
                    is_gated
                        ? 0.5 * g *
                              (1 + std::tanh(0.7978845608028654 * (g + 0.044715 * g * g * g))) *
                              sumOf(outputs + o)
                        : g;
                const int64_t at = place * stored + o - args.begin;
                const double got = static_cast<double>(
                    is_gated ? kernels::cpu::loadElement(gated.data(), DType::BF16, at)
                             : y[sizeOf(at)]);
                error += (got - want) * (got - want);
                norm += want * want;
            }
        }
    }
    // Weights are rounded to bf16, a gated result is.
    QVERIFY2(std::isfinite(error) && std::sqrt(error / norm) < 4e-3,
             qPrintable(QString::number(std::sqrt(error / norm))));
    args.places = 0;
    QCOMPARE(d.ops().expert_products(d.queue(), args), Status::BadShape);
}

void TestCudaExperts::order_data() {
    support::addColumns<int, int, int>("rows", "experts", "top_k");
    QTest::newRow("one row") << 1 << 4 << 2;
    QTest::newRow("of 26B-A4B") << 77 << 128 << 8;
    QTest::newRow("all experts") << 50 << 3 << 3;
}

/// Places of a stable sort by expert.
void TestCudaExperts::order() {
    QFETCH(const int, rows);
    QFETCH(const int, experts);
    QFETCH(const int, top_k);
    EmulatedCard card({});
    auto& d = card.device();
    const int64_t count = int64_t{rows} * top_k;
    std::vector<int32_t> choices(sizeOf(count));
    for (int64_t i = 0; i < count; ++i) { // distinct ones in each row; some experts have no row
        choices[sizeOf(i)] = static_cast<int32_t>((i / top_k * i / top_k + i % top_k) % experts);
    }
    const Guarded<int32_t> chosen(choices);
    const Guarded<float> scale = randomFloats(experts, 3);
    const Guarded<float> share = randomFloats(count, 4);
    const std::vector<float> before = share.values();
    const Guarded<int32_t> row(sizeOf(count));
    const Guarded<int32_t> place(sizeOf(count));
    const Guarded<int32_t> first(sizeOf(experts + 1));
    kernels::ExpertOrderArgs args;
    args.chosen = chosen.data();
    args.rows = rows;
    args.top_k = top_k;
    args.experts = experts;
    args.scale = scale.data();
    args.share = share.data();
    args.row = row.data();
    args.place = place.data();
    args.first = first.data();
    QCOMPARE(d.ops().order_experts(d.queue(), args), Status::Ok);
    QCOMPARE(card.finish(), std::string());
    std::vector<int32_t> order(sizeOf(count));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&choices](int32_t a, int32_t b) {
        return choices[static_cast<size_t>(a)] < choices[static_cast<size_t>(b)];
    });
    for (int64_t i = 0; i < count; ++i) {
        const int32_t choice = order[sizeOf(i)];
        QCOMPARE(row[sizeOf(i)], choice / top_k);
        QCOMPARE(place[sizeOf(choice)], static_cast<int32_t>(i));
        QCOMPARE(share[sizeOf(choice)],
                 before[sizeOf(choice)] * scale[sizeOf(choices[sizeOf(choice)])]);
    }
    for (int e = 0; e <= experts; ++e) {
        const auto less = std::count_if(choices.begin(), choices.end(),
                                        [e](int32_t choice) { return choice < e; });
        QCOMPARE(first[sizeOf(e)], static_cast<int32_t>(less));
    }
    args.top_k = 0;
    QCOMPARE(d.ops().order_experts(d.queue(), args), Status::BadShape);
}

void TestCudaExperts::chosenOfRows_data() {
    support::addColumns<int, int>("experts", "top_k");
    QTest::newRow("fewer than a warp has lanes") << 11 << 3;
    QTest::newRow("of 26B-A4B") << 128 << 8;
    QTest::newRow("a rest, and more than lanes are chosen") << 70 << 40;
    QTest::newRow("all of them") << 5 << 5;
}

/// The largest of a row in falling order, equal ones by index; of no numbers some experts all the
/// same.
void TestCudaExperts::chosenOfRows() {
    QFETCH(const int, experts);
    QFETCH(const int, top_k);
    constexpr int64_t kRows = 19;
    EmulatedCard card({});
    auto& d = card.device();
    const Guarded<float> scores = randomFloats(kRows * experts, 8);
    for (int e = 0; e < experts; ++e) {
        scores[sizeOf(experts + e)] = 1.5F;                      // all alike
        scores[sizeOf(2 * experts + e)] = e % 2 == 0 ? 80 : -80; // pairs alike, far apart
    }
    scores[sizeOf(3 * experts + 1)] = NAN;
    const Guarded<int32_t> chosen(std::vector<int32_t>(sizeOf(kRows * top_k), -1));
    const Guarded<float> share(sizeOf(kRows * top_k));
    QCOMPARE(d.ops().choose_experts(d.queue(), matrix(scores, kRows, experts), top_k, chosen.data(),
                                    share.data()),
             Status::Ok);
    QCOMPARE(card.finish(), std::string());
    for (int64_t r = 0; r < kRows; ++r) {
        std::vector<int32_t> order(sizeOf(experts));
        std::iota(order.begin(), order.end(), 0);
        const float* const s = scores.data() + r * experts;
        std::stable_sort(order.begin(), order.end(),
                         [s](int32_t a, int32_t b) { return s[a] > s[b]; });
        double top = 0;
        for (int j = 0; j < top_k; ++j) {
            top += std::exp(static_cast<double>(s[order[sizeOf(j)]]) -
                            static_cast<double>(s[order[0]]));
        }
        std::set<int32_t> seen;
        for (int j = 0; j < top_k; ++j) {
            const int32_t e = chosen[sizeOf(r * top_k + j)];
            QVERIFY(e >= 0 && e < experts && seen.insert(e).second);
            if (r == 3) {
                QVERIFY(std::isnan(share[sizeOf(r * top_k + j)]));
                continue;
            }
            QCOMPARE(e, order[sizeOf(j)]);
            const double want =
                std::exp(static_cast<double>(s[e]) - static_cast<double>(s[order[0]])) / top;
            QVERIFY(std::abs(static_cast<double>(share[sizeOf(r * top_k + j)]) - want) < 1e-6);
        }
    }
    QCOMPARE(d.ops().choose_experts(d.queue(), matrix(scores, kRows, experts), experts + 1,
                                    chosen.data(), share.data()),
             Status::BadShape);
}

void TestCudaExperts::refuses() {
    EmulatedCard card({});
    auto& d = card.device();
    const ExpertsCase c({64, 16, 8, 2}, WeightFormat::BF16, WeightFormat::BF16, false, 7);
    const auto call = [&](auto change) {
        ExpertsStepArgs args = c.args;
        change(args);
        return d.ops().experts_step(d.queue(), args);
    };
    QCOMPARE(call([](ExpertsStepArgs& a) { a.x = nullptr; }), Status::BadShape);
    QCOMPARE(call([](ExpertsStepArgs& a) { a.top_k = 9; }), Status::BadShape);
    QCOMPARE(call([](ExpertsStepArgs& a) { a.top_k = 0; }), Status::BadShape);
    QCOMPARE(call([](ExpertsStepArgs& a) { a.down.rows -= 1; }), Status::BadShape);
    QCOMPARE(call([](ExpertsStepArgs& a) { a.gate_up.cols = 32; }), Status::BadShape);
    const ExpertsCase other({64, 16, 8, 2}, WeightFormat::F32, WeightFormat::BF16, false, 8);
    QCOMPARE(d.ops().experts_step(d.queue(), other.args), Status::Unsupported);
    const ExpertsCase many({64, 16, 64, 40}, WeightFormat::BF16, WeightFormat::BF16, false, 9);
    QCOMPARE(d.ops().experts_step(d.queue(), many.args), Status::Unsupported);
    QVERIFY(card.ran().empty());
}

TEST_CLASS(TestCudaExperts)
#include "tst_cuda_experts.moc"
