// SPDX-License-Identifier: Apache-2.0
// Routed experts of one token as kernels of a card, run on the CPU, against a sum in double over
// exactly expanded weights: every format, choices with ties, scores that are no numbers. Operands
// end at a page that nobody may touch, threads run in orders drawn from seeds.
#include "kernels/cpu/tables.h"
#include "tests/kernels/kernel_cases.h"
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

namespace {

size_t atCudaExperts(int64_t index) {
    return static_cast<size_t>(index);
}

struct Shape {
    int64_t hidden = 256, inner = 64, experts = 12, top_k = 3;
};

/// A weight whose products are of the size of their input's.
TestWeight
weightOf(WeightFormat format, int64_t rows, int64_t cols, bool is_nested, uint64_t seed) {
    return makeWeight(format, rows, cols, 64, is_nested, DType::BF16, seed);
}

std::vector<float> expanded(const kernels::WeightView& w) {
    std::vector<float> values(atCudaExperts(w.rows * w.cols));
    std::vector<int32_t> ids(atCudaExperts(w.rows));
    std::iota(ids.begin(), ids.end(), 0);
    kernels::cpuScalarOps().gather_rows({}, w, ids.data(), w.rows, 0, 1.0F,
                                        {values.data(), w.rows, w.cols, w.cols});
    return values;
}

/// The operands of one step.
struct CudaExpertsCase {
    Shape shape;
    TestWeight router, gate_up, down;
    Guarded<float> x, t, router_scale, expert_scale, scores, chosen, act, sum;
    Guarded<uint8_t> t_norm, norm, out_norm;
    ExpertsStepArgs args;

    CudaExpertsCase(
        const Shape& s, WeightFormat format, WeightFormat of_router, bool is_nested, uint64_t seed)
        : shape(s), router(weightOf(of_router, s.experts, s.hidden, false, seed)),
          gate_up(weightOf(format, s.experts * 2 * s.inner, s.hidden, is_nested, seed + 1)),
          down(weightOf(format, s.experts * s.hidden, s.inner, is_nested, seed + 2)),
          x(randomFloats(s.hidden, seed + 3, 2.0F)), t(randomFloats(s.hidden, seed + 4)),
          router_scale(randomFloats(s.hidden, seed + 5, 0.5F)),
          expert_scale(randomFloats(s.experts, seed + 6)), scores(atCudaExperts(s.experts)),
          chosen(atCudaExperts(ExpertsStepArgs::chosenFloats(s.top_k))),
          act(atCudaExperts(s.top_k * s.inner)), sum(atCudaExperts(s.hidden)),
          t_norm(stored(randomFloats(s.hidden, seed + 7), DType::BF16)),
          norm(stored(randomFloats(s.hidden, seed + 8), DType::F32)),
          out_norm(stored(randomFloats(s.hidden, seed + 9), DType::F16)) {
        args.x = x.data();
        args.t = t.data();
        args.router = router.view;
        args.router_scale = router_scale.data();
        args.expert_scale = expert_scale.data();
        args.input_scale = 1.0F / std::sqrt(static_cast<float>(s.hidden));
        args.gate_up = gate_up.view;
        args.down = down.view;
        args.t_norm = {t_norm.data(), DType::BF16, 1, s.hidden};
        args.norm = {norm.data(), DType::F32, 1, s.hidden};
        args.out_norm = {out_norm.data(), DType::F16, 1, s.hidden};
        args.experts = s.experts;
        args.top_k = s.top_k;
        args.scores = scores.data();
        args.chosen = chosen.data();
        args.act = act.data();
        args.sum = sum.data();
    }
    [[nodiscard]] int32_t expertAt(int64_t j) const {
        int32_t expert = 0;
        std::memcpy(&expert, chosen.data() + 2 + 2 * j, sizeof expert);
        return expert;
    }
};

double valueOf(const kernels::MatView& vector, int64_t i) {
    return static_cast<double>(kernels::cpu::loadElement(vector.data, vector.type, i));
}

double inverseRms(const std::vector<double>& row) {
    double squares = 0;
    for (const double v : row) {
        squares += v * v;
    }
    return 1.0 / std::sqrt(squares / static_cast<double>(row.size()) + 1e-6);
}

struct Answer {
    std::vector<int32_t> experts;
    std::vector<double> t;
};

/// From the formula (engine/families/gemma4/ARCHITECTURE.md, experts), in double.
Answer answerOf(const CudaExpertsCase& c) {
    const Shape& s = c.shape;
    const ExpertsStepArgs& a = c.args;
    std::vector<double> x(c.x.data(), c.x.data() + s.hidden);
    std::vector<double> dense(c.t.data(), c.t.data() + s.hidden);
    const double inverse = inverseRms(x);
    const std::vector<float> router = expanded(a.router);
    const std::vector<float> gate_up = expanded(a.gate_up);
    const std::vector<float> down = expanded(a.down);
    std::vector<double> p(atCudaExperts(s.experts));
    for (int64_t e = 0; e < s.experts; ++e) {
        for (int64_t i = 0; i < s.hidden; ++i) {
            p[atCudaExperts(e)] += x[atCudaExperts(i)] * inverse *
                                   static_cast<double>(c.router_scale[atCudaExperts(i)]) *
                                   static_cast<double>(a.input_scale) *
                                   static_cast<double>(router[atCudaExperts(e * s.hidden + i)]);
        }
    }
    Answer answer;
    std::vector<int32_t> order(atCudaExperts(s.experts));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&p](int32_t i, int32_t j) {
        return p[atCudaExperts(i)] > p[atCudaExperts(j)];
    });
    answer.experts.assign(order.begin(), order.begin() + s.top_k);
    double top = 0;
    for (const int32_t e : answer.experts) {
        top += std::exp(p[atCudaExperts(e)] - p[atCudaExperts(order[0])]);
    }
    std::vector<double> sum(atCudaExperts(s.hidden));
    for (const int32_t e : answer.experts) {
        const double w = std::exp(p[atCudaExperts(e)] - p[atCudaExperts(order[0])]) / top *
                         static_cast<double>(c.expert_scale[atCudaExperts(e)]);
        std::vector<double> act(atCudaExperts(s.inner));
        for (int64_t r = 0; r < s.inner; ++r) {
            double pair[2] = {};
            for (int64_t half = 0; half < 2; ++half) {
                const int64_t row = (e * 2 + half) * s.inner + r;
                for (int64_t i = 0; i < s.hidden; ++i) {
                    pair[half] += x[atCudaExperts(i)] * inverse * valueOf(a.norm, i) *
                                  static_cast<double>(gate_up[atCudaExperts(row * s.hidden + i)]);
                }
            }
            const double g = pair[0];
            act[atCudaExperts(r)] =
                0.5 * g * (1 + std::tanh(0.7978845608028654 * (g + 0.044715 * g * g * g))) *
                pair[1];
        }
        for (int64_t i = 0; i < s.hidden; ++i) {
            for (int64_t r = 0; r < s.inner; ++r) {
                sum[atCudaExperts(i)] +=
                    w * act[atCudaExperts(r)] *
                    static_cast<double>(down[atCudaExperts((e * s.hidden + i) * s.inner + r)]);
            }
        }
    }
    const double dense_inverse = inverseRms(dense);
    const double sum_inverse = inverseRms(sum);
    answer.t.resize(atCudaExperts(s.hidden));
    for (int64_t i = 0; i < s.hidden; ++i) {
        answer.t[atCudaExperts(i)] =
            dense[atCudaExperts(i)] * dense_inverse * valueOf(a.t_norm, i) +
            sum[atCudaExperts(i)] * sum_inverse * valueOf(a.out_norm, i);
    }
    return answer;
}

double relativeErrorOf(const Guarded<float>& got, const std::vector<double>& want) {
    double error = 0;
    double norm = 0;
    for (size_t i = 0; i < want.size(); ++i) {
        const double d = static_cast<double>(got[i]) - want[i];
        error += d * d;
        norm += want[i] * want[i];
    }
    return std::isfinite(error) ? std::sqrt(error / norm) : INFINITY;
}

} // namespace

class TestCudaExperts : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void sums_data();
    void sums();
    void tiesGoToTheLowerIndex();
    void noNumbers();
    void rows();
    void products_data();
    void products();
    void chosenOfRows_data();
    void chosenOfRows();
    void refuses();
};

void TestCudaExperts::sums_data() {
    QTest::addColumn<int>("format");
    QTest::addColumn<int>("router");
    QTest::addColumn<bool>("is_nested");
    QTest::addColumn<QList<int>>("shape");
    QTest::addColumn<double>("bound");
    const auto add = [](const char* name, WeightFormat format, WeightFormat router, bool is_nested,
                        const QList<int>& shape) {
        // Sums in fp32; with codes, fp16 products of scaled rows as in all decode steps.
        QTest::newRow(name) << static_cast<int>(format) << static_cast<int>(router) << is_nested
                            << shape << (format == WeightFormat::BF16 ? 1e-5 : 4e-3);
    };
    using enum WeightFormat;
    add("bf16", BF16, BF16, false, {256, 64, 12, 3});
    add("bf16, widths of 8", BF16, Nf4, false, {264, 40, 5, 2});
    add("bf16, all experts", BF16, Int8Row, false, {128, 16, 4, 4});
    add("nf4", Nf4, Nf4, false, {256, 64, 12, 3});
    add("nf4, nested", Nf4, F32, true, {320, 128, 9, 4});
    add("nf4, blocks across rows", Nf4, BF16, false, {96, 32, 6, 2});
    add("fp4", Fp4, F16, false, {256, 192, 6, 2});
    add("bf16, more experts than threads", BF16, BF16, false, {64, 8, 300, 32});
}

void TestCudaExperts::sums() {
    QFETCH(int, format);
    QFETCH(int, router);
    QFETCH(bool, is_nested);
    QFETCH(QList<int>, shape);
    QFETCH(double, bound);
    for (const uint64_t seed : {1U, 2U}) {
        EmulatedCardOptions options;
        options.run.seed = seed;
        EmulatedCard card(options);
        auto& d = card.device();
        const CudaExpertsCase c({shape[0], shape[1], shape[2], shape[3]},
                                static_cast<WeightFormat>(format),
                                static_cast<WeightFormat>(router), is_nested, 100 * seed);
        const Answer want = answerOf(c);
        QCOMPARE(d.ops().experts_step(d.queue(), c.args), Status::Ok);
        QCOMPARE(card.finish(), std::string());
        for (int64_t j = 0; j < c.shape.top_k; ++j) {
            QCOMPARE(c.expertAt(j), want.experts[atCudaExperts(j)]);
        }
        const double error = relativeErrorOf(c.t, want.t);
        QVERIFY2(error <= bound, qPrintable(QString::number(error)));
        QCOMPARE(card.ran().size(), size_t{1});
    }
}

void TestCudaExperts::tiesGoToTheLowerIndex() {
    EmulatedCard card({});
    auto& d = card.device();
    CudaExpertsCase c({64, 16, 40, 4}, WeightFormat::BF16, WeightFormat::BF16, false, 5);
    // Rows of zeros score the same, and above those whose scores are made small.
    std::memset(c.router.bytes.data(), 0, c.router.bytes.size());
    const auto score = [&c](int64_t expert, float value) {
        for (int64_t i = 0; i < c.shape.hidden; ++i) {
            kernels::cpu::storeElement(
                c.router.bytes.data(), DType::BF16, expert * c.shape.hidden + i,
                value * c.x[atCudaExperts(i)] * c.router_scale[atCudaExperts(i)]);
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
        CudaExpertsCase c({64, 16, 8, 2}, WeightFormat::BF16, WeightFormat::BF16, false, 6);
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
        const Guarded<float> scores(atCudaExperts(kRows * kExperts));
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
                    want += row[atCudaExperts(i)] * static_cast<double>(scale[atCudaExperts(i)]) *
                            static_cast<double>(values[atCudaExperts(e * kHidden + i)]);
                }
                want *= 0.25 * inverseRms(row);
                QVERIFY(std::abs(static_cast<double>(scores[atCudaExperts(r * kExperts + e)]) -
                                 want) <= 1e-5 * (1 + std::abs(want)));
            }
        }
    }
    EmulatedCard card({});
    auto& d = card.device();
    // Places 5 to 7 of row 4, 0, 4, where each row has two of eight places.
    const Guarded<float> x = randomFloats(3 * kHidden, 6);
    const Guarded<float> y = randomFloats(5 * kHidden, 7);
    const std::vector<float> before = y.values();
    const Guarded<int32_t> places(std::vector<int32_t>{1, 6, 0, 2, 3, 4, 8, 9, 5, 7});
    const Guarded<float> weights = randomFloats(10, 9);
    QCOMPARE(d.ops().sum_experts(d.queue(), matrix(x, 3, kHidden), places.data(), 2, weights.data(),
                                 5, matrix(y, 5, kHidden)),
             Status::Ok);
    QCOMPARE(card.finish(), std::string());
    const int32_t rows[3] = {4, 0, 4};
    for (int64_t r = 0; r < 5; ++r) {
        for (int64_t c = 0; c < kHidden; ++c) {
            double want = static_cast<double>(before[atCudaExperts(r * kHidden + c)]);
            for (int64_t i = 0; i < 3; ++i) {
                want += rows[i] == r ? static_cast<double>(weights[atCudaExperts(5 + i)]) *
                                           static_cast<double>(x[atCudaExperts(i * kHidden + c)])
                                     : 0.0;
            }
            QVERIFY(std::abs(static_cast<double>(y[atCudaExperts(r * kHidden + c)]) - want) < 1e-5);
        }
    }
    QCOMPARE(d.ops().sum_experts(d.queue(), matrix(x, 3, kHidden), nullptr, 2, weights.data(), 5,
                                 matrix(y, 5, kHidden)),
             Status::BadShape);
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
    QTest::newRow("16 bits, many rows") << bf16 << false << 64 << 136 << false << many;
}

/// The rows of all experts but the first, which stand behind those of another launch.
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
    const auto experts = static_cast<int64_t>(counts.size()) + 1;
    const TestWeight w =
        weightOf(static_cast<WeightFormat>(format), experts * all_outputs, columns, is_nested, 11);
    std::vector<int32_t> first = {0, 5}; // the first expert's rows are elsewhere
    for (const int64_t count : counts) {
        first.push_back(first.back() + static_cast<int32_t>(count));
    }
    const int64_t count = first.back() - 5;
    const Guarded<int32_t> places(first);
    const Guarded<float> values = randomFloats(count * columns, 12);
    const Guarded<uint16_t> x(atCudaExperts(count * columns));
    QCOMPARE(d.ops().take_expert_rows(d.queue(), matrix(values, count, columns), nullptr, count,
                                      x.data()),
             Status::Ok);
    const Guarded<float> y(atCudaExperts(count * outputs));
    const Guarded<uint16_t> gated(atCudaExperts(count * outputs));
    kernels::ExpertProductArgs args;
    args.x = x.data();
    args.w = w.view;
    args.is_gated = is_gated;
    args.y = is_gated ? static_cast<void*>(gated.data()) : y.data();
    args.first = places.data();
    args.experts = experts;
    args.begin = 1;
    args.end = experts;
    args.place = 5;
    args.count = count;
    args.most = *std::max_element(counts.begin(), counts.end());
    QCOMPARE(d.ops().expert_products(d.queue(), args), Status::Ok);
    QCOMPARE(card.finish(), std::string());
    const std::vector<float> weights = expanded(w.view);
    double error = 0;
    double norm = 0;
    for (int64_t e = 1; e < experts; ++e) {
        for (int64_t r = first[atCudaExperts(e)] - 5; r < first[atCudaExperts(e + 1)] - 5; ++r) {
            const auto sumOf = [&](int64_t row) {
                double sum = 0;
                for (int64_t i = 0; i < columns; ++i) {
                    sum += static_cast<double>(
                               kernels::cpu::loadElement(x.data(), DType::BF16, r * columns + i)) *
                           static_cast<double>(
                               weights[atCudaExperts((e * all_outputs + row) * columns + i)]);
                }
                return sum;
            };
            for (int64_t o = 0; o < outputs; ++o) {
                const double g = sumOf(o);
                const double want =
                    is_gated
                        ? 0.5 * g *
                              (1 + std::tanh(0.7978845608028654 * (g + 0.044715 * g * g * g))) *
                              sumOf(outputs + o)
                        : g;
                const double got = static_cast<double>(
                    is_gated ? kernels::cpu::loadElement(gated.data(), DType::BF16, r * outputs + o)
                             : y[atCudaExperts(r * outputs + o)]);
                error += (got - want) * (got - want);
                norm += want * want;
            }
        }
    }
    // Weights are rounded to bf16, a gated result is.
    QVERIFY2(std::isfinite(error) && std::sqrt(error / norm) < 4e-3,
             qPrintable(QString::number(std::sqrt(error / norm))));
    args.most = 0;
    QCOMPARE(d.ops().expert_products(d.queue(), args), Status::BadShape);
}

void TestCudaExperts::chosenOfRows_data() {
    QTest::addColumn<int>("experts");
    QTest::addColumn<int>("top_k");
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
        scores[atCudaExperts(experts + e)] = 1.5F;                      // all alike
        scores[atCudaExperts(2 * experts + e)] = e % 2 == 0 ? 80 : -80; // pairs alike, far apart
    }
    scores[atCudaExperts(3 * experts + 1)] = NAN;
    const Guarded<int32_t> chosen(std::vector<int32_t>(atCudaExperts(kRows * top_k), -1));
    const Guarded<float> share(atCudaExperts(kRows * top_k));
    QCOMPARE(d.ops().choose_experts(d.queue(), matrix(scores, kRows, experts), top_k, chosen.data(),
                                    share.data()),
             Status::Ok);
    QCOMPARE(card.finish(), std::string());
    for (int64_t r = 0; r < kRows; ++r) {
        std::vector<int32_t> order(atCudaExperts(experts));
        std::iota(order.begin(), order.end(), 0);
        const float* const s = scores.data() + r * experts;
        std::stable_sort(order.begin(), order.end(),
                         [s](int32_t a, int32_t b) { return s[a] > s[b]; });
        double top = 0;
        for (int j = 0; j < top_k; ++j) {
            top += std::exp(static_cast<double>(s[order[atCudaExperts(j)]]) -
                            static_cast<double>(s[order[0]]));
        }
        std::set<int32_t> seen;
        for (int j = 0; j < top_k; ++j) {
            const int32_t e = chosen[atCudaExperts(r * top_k + j)];
            QVERIFY(e >= 0 && e < experts && seen.insert(e).second);
            if (r == 3) {
                QVERIFY(std::isnan(share[atCudaExperts(r * top_k + j)]));
                continue;
            }
            QCOMPARE(e, order[atCudaExperts(j)]);
            const double want =
                std::exp(static_cast<double>(s[e]) - static_cast<double>(s[order[0]])) / top;
            QVERIFY(std::abs(static_cast<double>(share[atCudaExperts(r * top_k + j)]) - want) <
                    1e-6);
        }
    }
    QCOMPARE(d.ops().choose_experts(d.queue(), matrix(scores, kRows, experts), experts + 1,
                                    chosen.data(), share.data()),
             Status::BadShape);
}

void TestCudaExperts::refuses() {
    EmulatedCard card({});
    auto& d = card.device();
    const CudaExpertsCase c({64, 16, 8, 2}, WeightFormat::BF16, WeightFormat::BF16, false, 7);
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
    const CudaExpertsCase other({64, 16, 8, 2}, WeightFormat::F32, WeightFormat::BF16, false, 8);
    QCOMPARE(d.ops().experts_step(d.queue(), other.args), Status::Unsupported);
    const CudaExpertsCase many({64, 16, 64, 40}, WeightFormat::BF16, WeightFormat::BF16, false, 9);
    QCOMPARE(d.ops().experts_step(d.queue(), many.args), Status::Unsupported);
    QVERIFY(card.ran().empty());
}

TEST_CLASS(TestCudaExperts)
#include "tst_cuda_experts.moc"
