// SPDX-License-Identifier: Apache-2.0
// The kernel that runs the layers of a few tokens with weights read once (device/stream_rows.cu) on
// the CPU: decoder layers and a head, against the scalar table token by token, in several thread
// orders.
#include "tests/kernels/row_cases.h"
#include "tests/support/cuda_emulator/emulated_card.h"
#include "tests/support/sampled_points.h"

#include <QTest>

#include <string>
#include <vector>

using kernels::Status;
using namespace support;

namespace {

/// Inputs of 11 bits, sums of 8-bit and 4-bit weights; values of the cache in bf16.
constexpr double kBound = 2e-2;
constexpr double kFirstBound = 2e-3; ///< Of the first projection alone.

} // namespace

class TestCudaRows : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void chain_data();
    void chain();
    void longRows_data();
    void longRows();
    void refused_data();
    void refused();
};

void TestCudaRows::chain_data() {
    QTest::addColumn<RowShape>("shape");
    QTest::addColumn<int>("multiprocessors");
    QTest::addColumn<int>("seed");
    int seed = 0;
    const auto row = [&](const char* name, int multiprocessors, const auto& change) {
        RowShape shape;
        change(shape);
        const int number = seed++;
        if (support::kTakesPart && (multiprocessors > 4 || number % 3 != 0)) {
            return; // a row takes minutes there
        }
        QTest::newRow(name) << shape << multiprocessors << number;
    };
    row("four rows, nested nf4", 4, [](RowShape&) {});
    row("three rows", 5, [](RowShape& s) { s.rows = 3; });
    row("two rows", 4, [](RowShape& s) { s.rows = 2; });
    row("one row", 4, [](RowShape& s) { s.rows = 1; });
    row("no token before", 4, [](RowShape& s) { s.before = 0; });
    row("fp4, plain absmax", 4, [](RowShape& s) {
        s.format = WeightFormat::Fp4;
        s.is_nested = false;
    });
    row("8-bit", 4, [](RowShape& s) { s.format = WeightFormat::Int8Row; });
    row("two kv heads, keys are values", 4, [](RowShape& s) {
        s.kv_heads = 2;
        s.k_is_v = true;
    });
    row("no per-layer input", 4, [](RowShape& s) { s.ple = 0; });
    row("one part, more keys than at a time", 4, [](RowShape& s) { s.before = 60; });
    row("parts", 16, [](RowShape& s) {
        s.before = 400;
        s.capacity = 512;
    });
    row("heads of 256, parts", 9, [](RowShape& s) {
        s.dim = 256;
        s.heads = 2;
        s.before = 250;
        s.capacity = 256;
    });
    row("heads of 512", 6, [](RowShape& s) {
        s.dim = 512;
        s.heads = 2;
        s.rows = 3;
        s.before = 150;
        s.capacity = 256;
    });
    row("window in a ring that wraps", 12, [](RowShape& s) {
        s.before = 398;
        s.window = 90;
        s.capacity = 100;
    });
    row("window smaller than the rows", 4, [](RowShape& s) {
        s.before = 77;
        s.window = 2;
        s.capacity = 16;
    });
    row("stretches, passes and long rows", 16, [](RowShape& s) {
        s.layers = 1;
        s.hidden = 1600;
        s.inter = 192;
    });
    row("wide rows", 16, [](RowShape& s) {
        s.layers = 1;
        s.inter = 6400;
    });
    // As long as those of 12B and 31B (device/stream_rows_large.cu).
    row("long rows", 16, [](RowShape& s) {
        s.layers = 1;
        s.hidden = 3200;
        s.inter = 192;
        s.rows = 3;
    });
    row("long rows, 8-bit", 16, [](RowShape& s) {
        s.layers = 1;
        s.hidden = 3200;
        s.inter = 192;
        s.ple = 0;
        s.rows = 2;
        s.format = WeightFormat::Int8Row;
    });
    row("the widest rows", 24, [](RowShape& s) {
        s.layers = 1;
        s.ple = 0;
        s.inter = 12288;
        s.rows = 4;
    });
}

void TestCudaRows::chain() {
    QFETCH(RowShape, shape);
    QFETCH(int, multiprocessors);
    QFETCH(int, seed);
    EmulatedCardOptions options;
    options.multiprocessors = multiprocessors;
    options.run.seed = static_cast<uint64_t>(seed);
    EmulatedCard card(options);
    RowChain chain(shape);
    chain.compute();
    // The second one meets what the first one left; wide shapes take long.
    const int turns = shape.hidden > 1000 || shape.inter > 1000 ? 1 : 2;
    for (int turn = 0; turn < turns; ++turn) {
        QCOMPARE(chain.run(card.device()), Status::Ok);
        QCOMPARE(QString::fromStdString(card.finish()), QString());
        QVERIFY2(chain.firstError() < kFirstBound, qPrintable(QString::number(chain.firstError())));
        QVERIFY2(chain.cacheError() < kBound, qPrintable(QString::number(chain.cacheError())));
        QVERIFY2(chain.error() < kBound, qPrintable(QString::number(chain.error())));
    }
    QCOMPARE(card.ran(), std::vector<std::string>(sizeOf(turns), shape.hidden > 3072
                                                                     ? "belfry_stream_rows_large"
                                                                     : "belfry_stream_rows"));
}

// Rows with the columns of 12B and 31B, of few outputs, in a list of their form.
void TestCudaRows::longRows_data() {
    QTest::addColumn<WeightFormat>("format");
    QTest::addColumn<int64_t>("cols");
    QTest::addColumn<bool>("hasNorm");
    QTest::newRow("31B, residual row") << WeightFormat::Nf4 << int64_t{5376} << true;
    QTest::newRow("31B, head in 8 bits") << WeightFormat::Int8Row << int64_t{5376} << true;
    QTest::newRow("31B, down") << WeightFormat::Nf4 << int64_t{21504} << false;
    QTest::newRow("31B, o of full layers") << WeightFormat::Nf4 << int64_t{16384} << false;
    QTest::newRow("31B, o of sliding layers, 8-bit")
        << WeightFormat::Int8Row << int64_t{8192} << false;
    QTest::newRow("12B, down") << WeightFormat::Nf4 << int64_t{15360} << false;
}

void TestCudaRows::longRows() {
    QFETCH(WeightFormat, format);
    QFETCH(int64_t, cols);
    QFETCH(bool, hasNorm);
    constexpr int64_t kRows = 3;
    constexpr int64_t kOutputs = 40;
    const auto input = hasNorm ? ProjectArgs::Input::Norm : ProjectArgs::Input::Plain;
    EmulatedCardOptions options;
    options.multiprocessors = 4; // one for each row of the residual stream
    EmulatedCard card(options);
    ProjectCase first(WeightFormat::Nf4, true, 64, 3200, {16}, ProjectArgs::Input::Norm,
                      ProjectArgs::Output::Store, 1);
    ProjectCase step(format, format == WeightFormat::Nf4, 64, cols, {kOutputs}, input,
                     ProjectArgs::Output::Store, 30);
    Guarded<float> first_x(randomFloats(kMost * 3200, 5));
    Guarded<float> x(randomFloats(kMost * cols, 6));
    Guarded<float> first_y(sizeOf(kMost * 16));
    Guarded<float> y(sizeOf(kMost * kOutputs));
    Guarded<int32_t> count(1);
    count[0] = static_cast<int32_t>(kRows);
    std::vector<float> want;
    for (int64_t r = 0; r < kRows; ++r) {
        const float* const row = x.data() + r * cols;
        step.readFrom(row, std::vector<float>(row, row + cols));
        want.insert(want.end(), step.want[0].begin(), step.want[0].end());
    }
    first.args.x = first_x.data();
    first.args.y[0] = first_y.data();
    step.args.x = x.data();
    step.args.y[0] = y.data();
    const auto& ops = card.device().ops();
    const auto queue = card.device().queue();
    QCOMPARE(ops.begin_rows(queue, count.data()), Status::Ok);
    QCOMPARE(ops.project(queue, first.args), Status::Ok);
    QCOMPARE(ops.project(queue, step.args), Status::Ok);
    QCOMPARE(ops.end_steps(queue), Status::Ok);
    QCOMPARE(QString::fromStdString(card.finish()), QString());
    const double error = relativeError(y.data(), want);
    QVERIFY2(error < kProjectBound, qPrintable(QString::number(error)));
    QCOMPARE(card.ran(), std::vector<std::string>(1, "belfry_stream_rows_large"));
}

void TestCudaRows::refused_data() {
    QTest::addColumn<int>("capability");
    QTest::addColumn<int>("sharedBytes");
    QTest::newRow("no bulk copies") << 89 << 101376;
    QTest::newRow("99 KiB") << 120 << 101376;
    QTest::newRow("163 KiB, 8.0") << 80 << 166912;
}

// Cards without the form refuse it at the beginning or with the first step, and launch nothing.
void TestCudaRows::refused() {
    QFETCH(int, capability);
    QFETCH(int, sharedBytes);
    EmulatedCardOptions options;
    options.capability = capability;
    options.shared_bytes = sharedBytes;
    EmulatedCard card(options);
    RowChain chain{RowShape{}};
    QCOMPARE(chain.run(card.device()), Status::Unsupported);
    QCOMPARE(QString::fromStdString(card.finish()), QString());
    QVERIFY(card.ran().empty());
}

QTEST_GUILESS_MAIN(TestCudaRows)
#include "tst_cuda_rows.moc"
