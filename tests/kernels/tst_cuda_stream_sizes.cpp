// SPDX-License-Identifier: Apache-2.0
// What the decode launch plans, above all on cards without bulk copies or with little shared memory
// (device/decode/stream_async*.cu): real shapes fit on cards as they are sold.
#include "kernels/cuda/launch_sizes.h"
#include "kernels/weight_formats.h"
#include "tests/support/program/test_class.h"

#include <QTest>

#include <algorithm>
#include <utility>

using kernels::WeightFormat;

class TestCudaStreamSizes : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void chunksAhead_data();
    void chunksAhead();
    void realShapesFit_data();
    void realShapesFit();
    void halfShapesFit_data();
    void halfShapesFit();
    void blockShapesFit_data();
    void blockShapesFit();
    void longShapesFit_data();
    void longShapesFit();
};

// What is on its way into the card's cache leaves half of it alone.
void TestCudaStreamSizes::chunksAhead_data() {
    support::addColumns<int, int, int>("mebibytes", "multiprocessors", "ahead");
    QTest::newRow("A100") << 40 << 108 << 8;
    QTest::newRow("RTX 3090") << 6 << 82 << 2;
    QTest::newRow("RTX 4090") << 72 << 128 << 8;
    QTest::newRow("RTX 3060") << 3 << 28 << 4;
    QTest::newRow("none") << 0 << 28 << 0;
}

void TestCudaStreamSizes::chunksAhead() {
    QFETCH(int, mebibytes);
    QFETCH(int, multiprocessors);
    QFETCH(int, ahead);
    QCOMPARE(kernels::cuda::asyncAhead(int64_t{40} << 20, 108, 13856, 11), 0);
    QCOMPARE(kernels::cuda::asyncAhead(int64_t{mebibytes} << 20, multiprocessors, 13856, 2), ahead);
}

void TestCudaStreamSizes::realShapesFit_data() {
    support::addColumns<int, int, int>("hidden", "inter", "shared");
    QTest::newRow("E2B in 99 KiB") << 1536 << 12288 << 101376;
    QTest::newRow("E4B in 99 KiB") << 2560 << 10240 << 101376;
    QTest::newRow("E2B in 163 KiB") << 1536 << 12288 << 166912;
    QTest::newRow("E4B in 163 KiB") << 2560 << 10240 << 166912;
}

/// The steps that need most, with as few sums at a time as they can do with, and what the driver
/// may keep for itself included.
void TestCudaStreamSizes::realShapesFit() {
    using namespace kernels::cuda;
    QFETCH(int, hidden);
    QFETCH(int, inter);
    QFETCH(int, shared);
    constexpr int kKept = 1024;
    for (const int multiprocessors : {20, 28, 46, 58, 84, 108, 128, 132, 170}) {
        const StreamSizes pair =
            streamProjectSizes(multiprocessors, inter, hidden, true, true, 2, 4, 3, 6, true);
        const StreamSizes down =
            streamProjectSizes(multiprocessors, hidden, inter, false, true, 1, 4, 1, 2, true);
        QVERIFY(pair.units > 0 && down.units > 0);
        QVERIFY(pair.pass_tiles <= 6);
        const int work =
            std::max({asyncProjectBytes(hidden, pair.pass_tiles * kTileRows, false, false),
                      asyncProjectBytes(inter, down.pass_tiles << down.tile_shift, false, true),
                      asyncAttendBytes(512) - kDenseTableBytes});
        const int room = asyncWorkRoom(shared - kKept);
        QVERIFY(work <= room);
        const int codes = std::max((pair.units * kUnitBytes) << pair.tile_shift,
                                   (down.units * kUnitBytes) << down.tile_shift);
        const StreamLayout layout = asyncLayoutFor(shared - kKept, hidden * 4, room, codes);
        QVERIFY2(layout.chunk_count >= kAsyncFewestChunks, qPrintable(QString::number(work)));
        QVERIFY(layout.chunks + layout.chunk_count * layout.chunk_bytes <= shared - kKept);
    }
}

void TestCudaStreamSizes::halfShapesFit_data() {
    realShapesFit_data();
    QTest::newRow("12B in 163 KiB") << 3840 << 15360 << 166912;
}

/// The same of bf16 weights, without a table of codes.
void TestCudaStreamSizes::halfShapesFit() {
    using namespace kernels::cuda;
    QFETCH(int, hidden);
    QFETCH(int, inter);
    QFETCH(int, shared);
    constexpr int kKept = 1024;
    for (const int multiprocessors : {20, 28, 46, 58, 84, 108, 128, 132, 170}) {
        const StreamSizes pair =
            streamProjectSizes(multiprocessors, inter, hidden, true, true, 2, 16, 3, 6, true);
        const StreamSizes down =
            streamProjectSizes(multiprocessors, hidden, inter, false, true, 1, 16, 1, 2, true);
        QVERIFY(pair.units > 0 && down.units > 0);
        const int work = std::max(
            {asyncHalfBytes(hidden, pair.pass_tiles * kTileRows, hidden > kShortRow, false),
             asyncHalfBytes(inter, down.pass_tiles * kTileRows, false, true),
             asyncAttendBytes(512)});
        int codes = 0;
        for (const StreamSizes& sizes : {pair, down}) {
            QCOMPARE(sizes.units % sizes.pieces, 0);
            codes = std::max(codes, (sizes.units / sizes.pieces * kUnitBytes) << sizes.tile_shift);
        }
        QVERIFY(codes <= kChunkCodeBytes);
        const StreamLayout layout = asyncLayoutFor(shared - kKept, hidden * 4, work, codes, false);
        QVERIFY2(layout.chunk_count >= (shared > 101376 ? 5 : kAsyncFewestChunks),
                 qPrintable(QString::number(work)));
        QVERIFY(layout.chunks + layout.chunk_count * layout.chunk_bytes <= shared - kKept);
    }
}

void TestCudaStreamSizes::blockShapesFit_data() {
    support::addColumns<int, int, WeightFormat>("hidden", "inter", "format");
    for (const WeightFormat format : {WeightFormat::Q4_0, WeightFormat::Q4_K, WeightFormat::Q5_K,
                                      WeightFormat::Q6_K, WeightFormat::Q8_0}) {
        const auto number = static_cast<int>(format);
        QTest::addRow("E2B, format %d", number) << 1536 << 12288 << format;
        QTest::addRow("E4B, format %d", number) << 2560 << 10240 << format;
        QTest::addRow("12B, format %d", number) << 3840 << 15360 << format;
    }
}

/// Rows in blocks on cards with 227 KiB: chunks hold their pieces, and four chunks and more fit
/// beside the work of the largest step.
void TestCudaStreamSizes::blockShapesFit() {
    using namespace kernels::cuda;
    QFETCH(int, hidden);
    QFETCH(int, inter);
    QFETCH(WeightFormat, format);
    constexpr int kShared = 232448;
    const auto rowsOf = [&](int cols) {
        const int values = kernels::rowOf(format).block_values;
        return BlockRows{kernels::valueBytes(format, cols), std::max(1, values / 64),
                         kBlockChunkBytes};
    };
    for (const int multiprocessors : {108, 132, 148}) {
        const StreamSizes pair = streamProjectSizes(multiprocessors, inter, hidden, true, false, 2,
                                                    0, 3, 6, true, rowsOf(hidden));
        const StreamSizes down = streamProjectSizes(multiprocessors, hidden, inter, false, true, 1,
                                                    0, 1, kMostPassTiles, false, rowsOf(inter));
        for (const auto& [sizes, cols] : {std::pair{pair, hidden}, {down, inter}}) {
            QCOMPARE(sizes.units, cols / 64);
            QCOMPARE(sizes.units % sizes.pieces, 0);
            QVERIFY(sizes.slot_bytes << sizes.tile_shift <= kBlockChunkBytes);
            QVERIFY(sizes.slot_bytes * sizes.pieces >= rowsOf(cols).bytes);
            QCOMPARE(sizes.slot_bytes % 32, 16); // rows begin in different banks
        }
        const int norms = hidden > kShortRow ? 0 : hidden * 4;
        const int work = std::max({pair.work_bytes, down.work_bytes, asyncAttendBytes(512)});
        const StreamLayout layout =
            streamLayoutFor(1024, kShared, hidden * 4, norms, work, kBlockChunkBytes, false);
        QVERIFY(layout.chunk_count >= 4);
        QCOMPARE(layout.work, -layout.table);
        QVERIFY(layout.table + kCodeTableBytes >= work);
        QVERIFY(layout.table + layout.chunks + layout.chunk_count * kBlockChunkBytes <= kShared);
    }
}

void TestCudaStreamSizes::longShapesFit_data() {
    QTest::addColumn<int>("hidden");
    QTest::addColumn<int>("inter");
    QTest::addColumn<int>("queries"); // values of sliding and of full layers
    QTest::addColumn<int>("fullQueries");
    QTest::newRow("12B") << 3840 << 15360 << 4096 << 8192;
    QTest::newRow("26B") << 2816 << 2112 << 4096 << 8192;
    QTest::newRow("31B") << 5376 << 21504 << 8192 << 16384;
}

/// All projections of a layer and attention beside two chunks and more, on small and large cards.
void TestCudaStreamSizes::longShapesFit() {
    using namespace kernels::cuda;
    QFETCH(int, hidden);
    QFETCH(int, inter);
    QFETCH(int, queries);
    QFETCH(int, fullQueries);
    struct Projection {
        int outputs, cols;
        bool is_pair, is_plain;
        int weights, bits;
    };
    const Projection projections[] = {
        {2 * queries, hidden, false, false, 3, 4}, {2 * fullQueries, hidden, false, false, 2, 4},
        {hidden, queries, false, true, 1, 4},      {hidden, fullQueries, false, true, 1, 4},
        {inter, hidden, true, false, 2, 4},        {hidden, inter, false, true, 1, 4},
        {262144, hidden, false, false, 1, 8},
    };
    constexpr int kKept = 1024;
    for (const int shared : {101376, 166912}) {
        const int room = asyncLargeRoom(shared - kKept);
        for (const int multiprocessors : {28, 46, 58, 84, 108, 128, 132, 170}) {
            int codes = 0;
            int work = std::max(0, asyncAttendBytes(512) - kDenseTableBytes);
            for (const Projection& p : projections) {
                const StreamSizes sizes =
                    asyncLargeSizes(multiprocessors, p.outputs, p.cols, p.is_pair, p.is_plain,
                                    p.weights, p.bits, room);
                QVERIFY2(sizes.units > 0, qPrintable(QString::number(p.cols)));
                QVERIFY(sizes.work_bytes <= room);
                QCOMPARE(sizes.units * sizes.pieces, p.cols * p.bits / 8 / kUnitBytes);
                codes = std::max(codes, (sizes.units * kUnitBytes) << sizes.tile_shift);
                work = std::max(work, sizes.work_bytes);
            }
            const StreamLayout layout = asyncLayoutFor(shared - kKept, 0, work, codes);
            QVERIFY2(layout.chunk_count >= (shared > 101376 ? 5 : kAsyncFewestChunks),
                     qPrintable(QString::number(layout.chunk_count)));
            QVERIFY(layout.chunks + layout.chunk_count * layout.chunk_bytes <= shared - kKept);
        }
    }
}

TEST_CLASS_WITH(QCoreApplication, TestCudaStreamSizes)
#include "tst_cuda_stream_sizes.moc"
