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
    support::addColumns<WeightFormat, DType, int>("format", "type", "seed");
    int seed = 0;
    for (const WeightFormat format :
         {WeightFormat::Nf4, WeightFormat::Int8Row, WeightFormat::BF16}) {
        for (const DType type : {DType::BF16, DType::F16, DType::F32}) {
            QTest::addRow("%s, adapter type %d", formatName(format), static_cast<int>(type))
                << format << type << seed++ % 3;
        }
    }
}

/// Three weights with one, no and two updates; then the same step with another factor.
void TestCudaLora::steps() {
    QFETCH(WeightFormat, format);
    QFETCH(DType, type);
    QFETCH(int, seed);
    const int64_t cols = 576; // two slabs, the second short
    ProjectCase c(format, true, 64, cols, {40, 9, 11}, ProjectArgs::Input::Norm,
                  ProjectArgs::Output::Store);
    c.addUpdate(0, 16, type, 50);
    c.addUpdate(2, 5, type, 60);
    c.addUpdate(2, 24, type, 70);
    EmulatedCard card(withSeed(seed));
    auto& d = card.device();
    for (const float factor : {0.75F, -2.0F}) {
        for (const auto& update : c.updates) {
            update->factor[0] = factor;
        }
        c.compute();
        QCOMPARE(d.ops().project(d.queue(), c.args), Status::Ok);
        QCOMPARE(card.finish(), std::string());
        double residual = 0.0;
        QCOMPARE_LE(c.error(&residual), kProjectBound);
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
    ProjectCase pair(WeightFormat::Nf4, true, 64, 320, {128, 128}, ProjectArgs::Input::Plain,
                     ProjectArgs::Output::GatedPair);
    pair.addUpdate(0, 4, DType::BF16, 10);
    pair.addUpdate(1, 16, DType::BF16, 20);
    pair.compute();
    ProjectCase behind(WeightFormat::Nf4, true, 64, 128, {30}, ProjectArgs::Input::Plain,
                       ProjectArgs::Output::Store, 30);
    behind.addUpdate(0, 16, DType::BF16, 30);
    behind.addUpdate(0, 3, DType::F32, 40);
    behind.readFrom(pair.args.y[0], pair.want[0]);
    EmulatedCard card(withSeed(seed));
    auto& d = card.device();
    Guarded<float> sums(sizeOf(19 * 64));
    std::fill_n(sums.data(), sums.size(), NAN);
    pair.args.tap_count = 2;
    pair.args.tap[0] = behind.args.lora[0].a;
    pair.args.tap[1] = behind.args.lora[1].a;
    pair.args.tap_sums = sums.data();
    pair.args.tap_parts = d.ops().project_parts(d.queue(), pair.args);
    QVERIFY(pair.args.tap_parts > 1);
    behind.args.lora_sums = sums.data();
    behind.args.lora_parts = pair.args.tap_parts;
    QCOMPARE(d.ops().project(d.queue(), pair.args), Status::Ok);
    QCOMPARE(d.ops().project(d.queue(), behind.args), Status::Ok);
    QCOMPARE(card.finish(), std::string());
    double residual = 0.0;
    QCOMPARE_LE(pair.error(&residual), kProjectBound);
    QCOMPARE_LE(behind.error(&residual), 2 * kProjectBound);
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
    support::addColumns<qlonglong, DType, bool, int>("rows", "type", "tensor", "seed");
    QTest::addRow("4 rows") << qlonglong{4} << DType::BF16 << false << 0;
    QTest::addRow("5 rows") << qlonglong{5} << DType::BF16 << true << 1;
    QTest::addRow("33 rows") << qlonglong{33} << DType::BF16 << true << 2;
    QTest::addRow("70 rows, fp16") << qlonglong{70} << DType::F16 << true << 0;
    QTest::addRow("70 rows, fp32") << qlonglong{70} << DType::F32 << true << 1;
}

/// Three updates at once, one with a bias, ranks that fill no tile.
void TestCudaLora::manyRows() {
    QFETCH(qlonglong, rows);
    QFETCH(DType, type);
    QFETCH(bool, tensor);
    QFETCH(int, seed);
    const int64_t in = 192;
    const int64_t out = 72;
    const Update updates[3] = {
        {0, in, out, 16, type, 1}, {0, in, out, 3, type, 3}, {0, in, out, 20, type, 5}};
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
    QCOMPARE_LE(relativeError(y.data(), want), kManyRowsBound);
}

TEST_CLASS(TestCudaLora)
#include "tst_cuda_lora.moc"
