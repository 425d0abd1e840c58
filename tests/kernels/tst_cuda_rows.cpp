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
    row("long rows, plain ones in parts", 24, [](RowShape& s) {
        s.layers = 1;
        s.hidden = 5376;
        s.inter = 6400;
        s.ple = 0;
    });
    row("long rows, 8-bit", 16, [](RowShape& s) {
        s.layers = 1;
        s.hidden = 3200;
        s.inter = 4096;
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
