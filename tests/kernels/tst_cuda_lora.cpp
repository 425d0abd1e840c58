// SPDX-License-Identifier: Apache-2.0
// Low-rank updates on a card, run by the emulator: inside projection steps, with the next step's A
// multiplied by the step before, and of many rows.
#include "tests/kernels/step_cases.h"
#include "tests/support/cuda_emulator/emulated_card.h"
#include "tests/support/program/test_class.h"

#include <QTest>

#include <algorithm>

using kernels::DType;
using kernels::LoraTerm;
using kernels::MatView;
using kernels::ProjectArgs;
using kernels::Status;
using kernels::WeightFormat;
using namespace support;

namespace {

/// Rounded to bf16: one operand and the sum of A h.
constexpr double kManyRowsBound = 6e-3;

EmulatedCardOptions withSeed(int seed) {
    EmulatedCardOptions options;
    options.run.seed = static_cast<uint64_t>(seed);
    return options;
}

std::vector<float> product(const std::vector<float>& h, const TestWeight& w) {
    const auto in = static_cast<int64_t>(h.size());
    std::vector<float> y(sizeOf(w.view.rows));
    reference().linear({}, {h.data(), 1, in, in}, w.view, {y.data(), 1, w.view.rows, w.view.rows});
    return y;
}

} // namespace

class TestCudaLora : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void steps_data();
    void steps();
    void taps_data();
    void taps();
    void refusals();
    void manyRows_data();
    void manyRows();
};

void TestCudaLora::steps_data() {
    QTest::addColumn<int>("format");
    QTest::addColumn<int>("type");
    QTest::addColumn<int>("seed");
    int seed = 0;
    for (const WeightFormat format :
         {WeightFormat::Nf4, WeightFormat::Int8Row, WeightFormat::BF16}) {
        for (const DType type : {DType::BF16, DType::F16, DType::F32}) {
            QTest::addRow("%s, adapter type %d", formatName(format), static_cast<int>(type))
                << static_cast<int>(format) << static_cast<int>(type) << seed++ % 3;
        }
    }
}

/// Three weights with one, no and two updates; then the same step with another factor.
void TestCudaLora::steps() {
    QFETCH(int, format);
    QFETCH(int, type);
    QFETCH(int, seed);
    const int64_t cols = 576; // two slabs, the second short
    const auto dtype = static_cast<DType>(type);
    ProjectCase c(static_cast<WeightFormat>(format), true, 64, cols, {40, 9, 11},
                  ProjectArgs::Input::Norm, ProjectArgs::Output::Store);
    Update updates[3] = {
        {0, cols, 40, 16, dtype, 50}, {2, cols, 11, 5, dtype, 60}, {2, cols, 11, 24, dtype, 70}};
    c.args.lora_count = 3;
    for (int i = 0; i < 3; ++i) {
        c.args.lora[i] = updates[i].lora;
    }
    std::vector<float> h = c.x.values();
    reference().rms_norm({}, {h.data(), 1, cols, cols}, c.args.norm, c.args.eps,
                         {h.data(), 1, cols, cols});
    const std::vector<std::vector<float>> base = c.want;
    EmulatedCard card(withSeed(seed));
    auto& d = card.device();
    for (const float factor : {0.75F, -2.0F}) {
        c.want = base;
        for (Update& update : updates) {
            update.factor[0] = factor;
            update.add(h, c.want[sizeOf(update.lora.weight)]);
        }
        QCOMPARE(d.ops().project(d.queue(), c.args), Status::Ok);
        QCOMPARE(card.finish(), std::string());
        double residual = 0.0;
        const double error = c.error(&residual);
        QVERIFY2(error <= kProjectBound, qPrintable(QString::number(error)));
    }
}

void TestCudaLora::taps_data() {
    QTest::addColumn<int>("seed");
    for (const int seed : {0, 1, 2, 3}) {
        QTest::addRow("seed %d", seed) << seed;
    }
}

/// A pair with updates multiplies the A of the step that takes its output.
void TestCudaLora::taps() {
    QFETCH(int, seed);
    const int64_t cols = 320;
    const int64_t middle = 128;
    const int64_t out = 30;
    const TestWeight gate = makeWeight(WeightFormat::Nf4, middle, cols, 64, true, DType::BF16, 1);
    const TestWeight up = makeWeight(WeightFormat::Nf4, middle, cols, 64, true, DType::BF16, 2);
    const TestWeight down = makeWeight(WeightFormat::Nf4, out, middle, 64, true, DType::BF16, 3);
    const Update on_gate(0, cols, middle, 4, DType::BF16, 10);
    const Update on_up(1, cols, middle, 16, DType::BF16, 20);
    const Update first(0, middle, out, 16, DType::BF16, 30);
    const Update second(0, middle, out, 3, DType::F32, 40);
    const Guarded<float> x = randomFloats(cols, 5);
    std::vector<float> h = x.values();
    std::vector<float> want = product(h, gate);
    std::vector<float> other = product(h, up);
    on_gate.add(h, want);
    on_up.add(h, other);
    reference().gated_mul({}, kernels::Activation::GeluTanh, {want.data(), 1, middle, middle},
                          {other.data(), 1, middle, middle}, {want.data(), 1, middle, middle});
    std::vector<float> last = product(want, down);
    first.add(want, last);
    second.add(want, last);
    EmulatedCard card(withSeed(seed));
    auto& d = card.device();
    Guarded<float> y(sizeOf(middle));
    Guarded<float> result(sizeOf(out));
    Guarded<float> sums(sizeOf(19 * 64));
    std::fill_n(sums.data(), sums.size(), NAN);
    ProjectArgs pair;
    pair.output = ProjectArgs::Output::GatedPair;
    pair.x = x.data();
    pair.count = 2;
    pair.w[0] = gate.view;
    pair.w[1] = up.view;
    pair.y[0] = y.data();
    pair.lora_count = 2;
    pair.lora[0] = on_gate.lora;
    pair.lora[1] = on_up.lora;
    pair.tap_count = 2;
    pair.tap[0] = first.lora.a;
    pair.tap[1] = second.lora.a;
    pair.tap_sums = sums.data();
    ProjectArgs behind;
    behind.x = y.data();
    behind.count = 1;
    behind.w[0] = down.view;
    behind.y[0] = result.data();
    behind.lora_count = 2;
    behind.lora[0] = first.lora;
    behind.lora[1] = second.lora;
    behind.lora_sums = sums.data();
    pair.tap_parts = d.ops().project_parts(d.queue(), pair);
    behind.lora_parts = pair.tap_parts;
    QVERIFY(pair.tap_parts > 1);
    QCOMPARE(d.ops().project(d.queue(), pair), Status::Ok);
    QCOMPARE(d.ops().project(d.queue(), behind), Status::Ok);
    QCOMPARE(card.finish(), std::string());
    const double error = relativeError(y.data(), want);
    QVERIFY2(error <= kProjectBound, qPrintable(QString::number(error)));
    const double last_error = relativeError(result.data(), last);
    QVERIFY2(last_error <= 2 * kProjectBound, qPrintable(QString::number(last_error)));
}

void TestCudaLora::refusals() {
    ProjectCase c(WeightFormat::Nf4, true, 64, 128, {16, 16}, ProjectArgs::Input::Plain,
                  ProjectArgs::Output::Store);
    const Update update(1, 128, 16, 4, DType::BF16, 1);
    EmulatedCard card(withSeed(0));
    auto& d = card.device();
    c.args.lora_count = 1;
    c.args.lora[0] = update.lora;
    c.args.lora[0].weight = 2; // there are two weights
    QCOMPARE(d.ops().project(d.queue(), c.args), Status::BadShape);
    c.args.lora[0] = update.lora;
    c.args.lora[0].factor = nullptr;
    QCOMPARE(d.ops().project(d.queue(), c.args), Status::BadShape);
    c.args.lora[0] = update.lora;
    c.args.lora[0].b.rows = 15;
    QCOMPARE(d.ops().project(d.queue(), c.args), Status::BadShape);
    c.args.lora[0] = update.lora;
    c.args.tap_count = 1; // two results: which one would be the next step's input?
    c.args.tap[0] = {update.lora.a.data, DType::BF16, 4, 16};
    c.args.tap_sums = c.x_out.data();
    c.args.tap_parts = 4;
    QCOMPARE(d.ops().project(d.queue(), c.args), Status::BadShape);
    QCOMPARE(card.finish(), std::string());
}

void TestCudaLora::manyRows_data() {
    QTest::addColumn<qlonglong>("rows");
    QTest::addColumn<int>("type");
    QTest::addColumn<bool>("tensor");
    QTest::addColumn<int>("seed");
    QTest::addRow("4 rows") << qlonglong{4} << static_cast<int>(DType::BF16) << false << 0;
    QTest::addRow("5 rows") << qlonglong{5} << static_cast<int>(DType::BF16) << true << 1;
    QTest::addRow("33 rows") << qlonglong{33} << static_cast<int>(DType::BF16) << true << 2;
    QTest::addRow("70 rows, fp16") << qlonglong{70} << static_cast<int>(DType::F16) << true << 0;
    QTest::addRow("70 rows, fp32") << qlonglong{70} << static_cast<int>(DType::F32) << true << 1;
}

/// Three updates at once, one with a bias, ranks that fill no tile.
void TestCudaLora::manyRows() {
    QFETCH(qlonglong, rows);
    QFETCH(int, type);
    QFETCH(bool, tensor);
    QFETCH(int, seed);
    const int64_t in = 192;
    const int64_t out = 72;
    const auto dtype = static_cast<DType>(type);
    const Update updates[3] = {
        {0, in, out, 16, dtype, 1}, {0, in, out, 3, dtype, 3}, {0, in, out, 20, dtype, 5}};
    const Guarded<float> x = randomFloats(rows * in, 7);
    const Guarded<float> bias = randomFloats(out, 8);
    Guarded<float> y = randomFloats(rows * out, 9);
    std::vector<float> want = y.values();
    LoraTerm terms[3];
    for (int i = 0; i < 3; ++i) {
        terms[i] = {updates[i].lora.a, updates[i].lora.b, {}, 0.5F + static_cast<float>(i)};
    }
    terms[1].b_bias = {bias.data(), DType::F32, 1, out};
    std::vector<float> sums(sizeOf(rows * 39));
    reference().lora_accumulate_all({}, {x.data(), rows, in, in}, terms, 3,
                                    {sums.data(), rows, 39, 39}, {want.data(), rows, out, out});
    Guarded<float> scratch(sizeOf(rows * 39));
    EmulatedCard card(withSeed(seed));
    auto& d = card.device();
    QCOMPARE(d.ops().lora_accumulate_all(d.queue(), {x.data(), rows, in, in}, terms, 3,
                                         {scratch.data(), rows, 39, 39},
                                         {y.data(), rows, out, out}),
             Status::Ok);
    QCOMPARE(card.finish(), std::string());
    const bool used_tensor_cores = std::find(card.ran().begin(), card.ran().end(),
                                             "belfry_lora_up_tensor") != card.ran().end();
    QCOMPARE(used_tensor_cores, tensor);
    const double error = relativeError(y.data(), want);
    QVERIFY2(error <= kManyRowsBound, qPrintable(QString::number(error)));
}

TEST_CLASS(TestCudaLora)
#include "tst_cuda_lora.moc"
