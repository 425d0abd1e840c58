// SPDX-License-Identifier: Apache-2.0
// The decode launch of cards without bulk copies or with little shared memory
// (device/stream_async.cu, of bf16 weights device/stream_async_half.cu, of long rows
// device/stream_async_large.cu) on the CPU: chains of steps on cards as they are sold, against the
// scalar table and, to the bit, against what stream.cu, stream_half.cu and stream_large.cu make of
// them on a card with as many multiprocessors.
#include "kernels/cuda/launch_sizes.h"
#include "tests/kernels/stream_chain.h"
#include "tests/support/cuda_emulator/emulated_card.h"
#include "tests/support/sampled_points.h"

#include <QTest>

#include <algorithm>
#include <bit>
#include <vector>

using kernels::Status;
using kernels::WeightFormat;
using namespace support;

namespace {

struct CardKind {
    const char* name;
    int capability;
    int shared_bytes;
};
constexpr CardKind kSmall = {"8.6", 86, 101376};
constexpr CardKind kMiddle = {"8.0", 80, 166912};
constexpr CardKind kAda = {"8.9", 89, 101376};
constexpr CardKind kLate = {"12.0", 120, 101376};

EmulatedCardOptions optionsOf(const CardKind& kind, int multiprocessors, int seed) {
    EmulatedCardOptions options;
    options.capability = kind.capability;
    options.shared_bytes = kind.shared_bytes;
    options.multiprocessors = multiprocessors;
    options.run.seed = static_cast<uint64_t>(seed);
    options.run.resident_threads = 512U * static_cast<unsigned>(multiprocessors);
    return options;
}

/// Everything that a chain left, in one row, as bits. has_head: that of its last step, too.
std::vector<uint32_t> leftBy(Chain& chain, bool has_head = true) {
    std::vector<uint32_t> all;
    const auto add = [&](const std::vector<float>& values) {
        for (const float value : values) {
            all.push_back(std::bit_cast<uint32_t>(value));
        }
    };
    for (const auto& p : chain.projections) {
        if (!has_head && p == chain.projections.back()) {
            break;
        }
        for (const auto& y : p->y) {
            add(y.values());
        }
        if (p->args.t != nullptr) {
            add(p->x_out.values());
        }
    }
    for (const auto& a : chain.attentions) {
        add(a->out.values());
    }
    return all;
}

/// Its rows are those of stream_large.cu.
bool isLong(const ChainShape& shape) {
    return shape.is_large ||
           (shape.hidden > kernels::cuda::kShortRow && shape.format != WeightFormat::BF16);
}

QString ranOn(const EmulatedCard& card) {
    QStringList names;
    for (const std::string& name : card.ran()) {
        names << QString::fromStdString(name);
    }
    return names.join(' ');
}

} // namespace

class TestCudaStreamAsync : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void chain_data();
    void chain();
    void longRows_data();
    void longRows();
    void forced();
    void headOfHalves();
    void updatesGoElsewhere();
    void chunksAhead_data();
    void chunksAhead();
    void realShapesFit_data();
    void realShapesFit();
    void halfShapesFit_data();
    void halfShapesFit();
    void longShapesFit_data();
    void longShapesFit();
};

void TestCudaStreamAsync::chain_data() {
    QTest::addColumn<ChainShape>("shape");
    QTest::addColumn<CardKind>("kind");
    QTest::addColumn<int>("multiprocessors");
    QTest::addColumn<int>("seed");
    int seed = 0;
    const auto row = [&](const char* name, const CardKind& kind, int multiprocessors,
                         const auto& change) {
        ChainShape shape;
        change(shape);
        const int number = seed++;
        if (support::kTakesPart && (multiprocessors > 4 || number % 6 != 0)) {
            return; // a row takes minutes there
        }
        QTest::addRow("%s, %s", kind.name, name) << shape << kind << multiprocessors << number;
    };
    row("nested nf4", kSmall, 4, [](ChainShape&) {});
    row("nested nf4", kMiddle, 5, [](ChainShape&) {});
    row("nested nf4", kLate, 7, [](ChainShape&) {});
    row("fp4, plain absmax", kAda, 3, [](ChainShape& s) {
        s.format = WeightFormat::Fp4;
        s.is_nested = false;
    });
    row("blocks of 128", kSmall, 5, [](ChainShape& s) {
        s.block = 128;
        s.hidden = 256;
        s.inter = 384;
        s.ple = 128;
    });
    row("8-bit", kSmall, 4, [](ChainShape& s) { s.format = WeightFormat::Int8Row; });
    // Rows of gate and up in a block whose sums do not fit beside each other.
    row("pairs in passes", kSmall, 3, [](ChainShape& s) {
        s.layers = 1;
        s.heads = 1;
        s.hidden = 1536;
        s.inter = 960;
        s.ple = 0;
    });
    row("pairs in passes, their results wide", kSmall, 11, [](ChainShape& s) {
        s.layers = 1;
        s.heads = 1;
        s.hidden = 64;
        s.inter = 6400;
        s.ple = 0;
    });
    row("parts", kSmall, 4, [](ChainShape& s) { s.tokens = 200; });
    row("heads of 512 by head", kSmall, 6, [](ChainShape& s) {
        s.dim = 512;
        s.heads = 2;
        s.tokens = 140;
        s.scale = 0.1F;
    });
    row("tiles of 512, hidden rows, the new one in the second tile", kSmall, 3, [](ChainShape& s) {
        s.dim = 512;
        s.heads = 1;
        s.tokens = 300;
        s.window = 90;
        s.hole = 50;
        s.scale = 0.1F;
    });
    row("tiles of 512 in the place of the keys, a reader", kAda, 4, [](ChainShape& s) {
        s.dim = 512;
        s.heads = 2;
        s.kv_heads = 2;
        s.tokens = 150;
        s.is_reader = true;
        s.scale = 0.1F;
    });
    row("tiles of 256, hidden rows, the new one in the first tile", kSmall, 4, [](ChainShape& s) {
        s.dim = 256;
        s.heads = 2;
        s.tokens = 400;
        s.window = 90;
        s.hole = 150;
        s.scale = 0.1F;
    });
    row("window in a ring", kMiddle, 5, [](ChainShape& s) {
        s.tokens = 400;
        s.window = 90;
        s.is_ring = true;
    });
    row("keys are values, two kv heads", kSmall, 4, [](ChainShape& s) {
        s.k_is_v = true;
        s.kv_heads = 2;
    });
    // bf16: attention in work memory, as there is no table of codes.
    const auto inHalves = [&](const char* name, const CardKind& kind, int multiprocessors,
                              const auto& change) {
        row(name, kind, multiprocessors, [&](ChainShape& s) {
            s.format = WeightFormat::BF16;
            s.is_nested = false;
            change(s);
        });
    };
    inHalves("bf16", kSmall, 4, [](ChainShape&) {});
    inHalves("bf16, a ring, a reader", kLate, 7, [](ChainShape& s) {
        s.tokens = 400;
        s.window = 90;
        s.is_ring = true;
        s.is_reader = true;
    });
    inHalves("bf16, tiles of 512, hidden rows", kAda, 3, [](ChainShape& s) {
        s.dim = 512;
        s.heads = 1;
        s.tokens = 300;
        s.window = 90;
        s.hole = 50;
        s.scale = 0.1F;
    });
    inHalves("bf16, rows of several pieces, wide ones among them", kSmall, 28, [](ChainShape& s) {
        s.layers = 1;
        s.heads = 2;
        s.hidden = 320;
        s.inter = 6400;
        s.ple = 0;
    });
    inHalves("bf16, a head in nf4", kSmall, 5, [](ChainShape& s) {
        s.hidden = 128;
        s.head = WeightFormat::Nf4;
    });
    // A residual row as long as that of 12B.
    inHalves("bf16, long rows", kMiddle, 4, [](ChainShape& s) {
        s.layers = 1;
        s.hidden = 3840;
        s.head = WeightFormat::BF16;
    });
    inHalves("bf16, rank 16", kSmall, 4, [](ChainShape& s) { s.rank = 16; });
    inHalves("bf16, rows of several pieces, two adapters, fp32", kMiddle, 28, [](ChainShape& s) {
        s.layers = 1;
        s.heads = 2;
        s.hidden = 320;
        s.inter = 6400;
        s.ple = 0;
        s.rank = 4;
        s.other_rank = 8;
        s.update_type = kernels::DType::F32;
    });
    // Adapters stay in memory (device/stream_direct.cuh).
    row("rank 16", kSmall, 4, [](ChainShape& s) { s.rank = 16; });
    row("rank 16 of attention and MLP, blocks without a unit", kMiddle, 20, [](ChainShape& s) {
        s.layers = 1;
        s.rank = 16;
        s.has_projections_only = true;
    });
    row("rank 64, 8-bit", kAda, 5, [](ChainShape& s) {
        s.layers = 1;
        s.rank = 64;
        s.format = WeightFormat::Int8Row;
    });
    row("two adapters, fp16, in every second step", kLate, 7, [](ChainShape& s) {
        s.rank = 8;
        s.other_rank = 24;
        s.update_type = kernels::DType::F16;
        s.every = 2;
    });
    row("two adapters, fp32, a reader, not of the second weight", kSmall, 4, [](ChainShape& s) {
        s.rank = 4;
        s.other_rank = 12;
        s.update_type = kernels::DType::F32;
        s.is_reader = true;
        s.without = 1;
    });
    row("wide results, rank 8", kSmall, 11, [](ChainShape& s) {
        s.layers = 1;
        s.heads = 1;
        s.hidden = 64;
        s.inter = 6400;
        s.ple = 0;
        s.rank = 8;
    });
    // As small cards have them: blocks without a row. More take minutes here; what they plan is in
    // realShapesFit().
    const auto isSmall = [](ChainShape& s) {
        s.layers = 1;
        s.ple = 0;
    };
    // Rows as long as those of 12B and 31B; 26B, whose queries, keys and values are more than
    // packets.
    row("long rows", kSmall, 4, [](ChainShape& s) {
        s.hidden = 3200;
        s.tokens = 200;
    });
    row("long rows, gate and up in passes, 8-bit", kMiddle, 3, [](ChainShape& s) {
        s.hidden = 3200;
        s.format = WeightFormat::Int8Row;
        s.layers = 1;
        s.heads = 1;
        s.inter = 320;
        s.ple = 0;
    });
    row("long rows, fp4, plain absmax, tiles of 512", kLate, 4, [](ChainShape& s) {
        s.hidden = 3328;
        s.format = WeightFormat::Fp4;
        s.is_nested = false;
        s.dim = 512;
        s.heads = 2;
        s.tokens = 260;
        s.layers = 1;
        s.ple = 0;
        s.scale = 0.1F;
    });
    row("more queries, keys and values than packets", kAda, 16, [](ChainShape& s) {
        s.heads = 16;
        s.kv_heads = 8;
        s.dim = 256;
        s.ple = 0;
        s.layers = 1;
        s.tokens = 40;
        s.is_large = true;
    });
    row("long rows, rank 16", kSmall, 4, [](ChainShape& s) {
        s.hidden = 3200;
        s.rank = 16;
        s.tokens = 100;
    });
    row("long rows, two adapters, fp16, in every second step", kLate, 7, [](ChainShape& s) {
        s.hidden = 3200;
        s.rank = 8;
        s.other_rank = 24;
        s.update_type = kernels::DType::F16;
        s.every = 2;
        s.layers = 1;
    });
    row("20 multiprocessors", kSmall, 20, isSmall);
    row("46 multiprocessors", kSmall, 46, isSmall);
}

void TestCudaStreamAsync::chain() {
    QFETCH(ChainShape, shape);
    QFETCH(CardKind, kind);
    QFETCH(int, multiprocessors);
    QFETCH(int, seed);
    const bool is_half = shape.format == WeightFormat::BF16;
    Chain own(shape, shape.layers);
    {
        EmulatedCard card(optionsOf(kind, multiprocessors, seed));
        for (int turn = 0; turn < 2; ++turn) { // the second one meets what the first one left
            QCOMPARE(own.run(card.device()), Status::Ok);
            QCOMPARE(QString::fromStdString(card.finish()), QString());
            const double error = own.error();
            QVERIFY2(error < kStreamBound, qPrintable(QString::number(error)));
        }
        const QString kernel = QString("belfry_stream_async") + (is_half ? "_half" : "") +
                               (isLong(shape) ? "_large" : "") + (shape.rank > 0 ? "_updates" : "");
        QCOMPARE(ranOn(card), kernel + " " + kernel);
    }
    const bool is_long = isLong(shape);
    if (shape.rank > 0 || (is_long && shape.format == WeightFormat::Int8Row) ||
        (is_half && shape.hidden > kernels::cuda::kShortRow)) {
        // Sums of ranks, or of parts of a row, in another order; norms of fp32 in this length leave
        // stream_half.cu no room.
        return;
    }
    Chain other(shape, shape.layers);
    EmulatedCard large(optionsOf({"9.0", 90, 232448}, multiprocessors, 0));
    QCOMPARE(other.run(large.device()), Status::Ok);
    QCOMPARE(QString::fromStdString(large.finish()), QString());
    QCOMPARE(ranOn(large), QString("belfry_stream") + (is_long   ? "_large"
                                                       : is_half ? "_half"
                                                                 : ""));
    // The head has 8 bits, and its long rows come in parts.
    QVERIFY(leftBy(own, !is_long) == leftBy(other, !is_long));
}

// Rows with the columns of 12B and 31B, of few outputs, in a list of their form. Of down and of
// attention's results one part of the columns is in shared memory at a time.
void TestCudaStreamAsync::longRows_data() {
    QTest::addColumn<WeightFormat>("format");
    QTest::addColumn<bool>("isNested");
    QTest::addColumn<int64_t>("cols");
    QTest::addColumn<bool>("isPlain");
    QTest::addColumn<int64_t>("rank");
    QTest::addColumn<int64_t>("outputs");
    const auto row = [](const char* name, WeightFormat format, bool is_nested, int64_t cols,
                        bool is_plain, int64_t rank = 0, int64_t outputs = 50) {
        QTest::newRow(name) << format << is_nested << cols << is_plain << rank << outputs;
    };
    row("31B, residual row", WeightFormat::Nf4, true, 5376, false);
    row("31B, head in 8 bits", WeightFormat::Int8Row, false, 5376, false);
    row("31B, down", WeightFormat::Nf4, true, 21504, true);
    row("31B, down, plain absmax", WeightFormat::Fp4, false, 21504, true);
    row("31B, down in 8 bits", WeightFormat::Int8Row, false, 21504, true);
    row("31B, o of full layers", WeightFormat::Nf4, true, 16384, true);
    row("31B, o of sliding layers", WeightFormat::Nf4, true, 8192, true);
    row("12B, down", WeightFormat::Nf4, true, 15360, true);
    row("31B, residual row, rank 16", WeightFormat::Nf4, true, 5376, false, 16);
    row("31B, down, rank 16", WeightFormat::Nf4, true, 21504, true, 16);
    row("31B, down in 8 bits, rank 8", WeightFormat::Int8Row, false, 21504, true, 8);
    // The first part of the input is made again for the second pass.
    row("31B, down in passes", WeightFormat::Nf4, true, 21504, true, 0, 1000);
}

void TestCudaStreamAsync::longRows() {
    QFETCH(WeightFormat, format);
    QFETCH(bool, isNested);
    QFETCH(int64_t, cols);
    QFETCH(bool, isPlain);
    QFETCH(int64_t, rank);
    QFETCH(int64_t, outputs);
    using kernels::ProjectArgs;
    EmulatedCard card(optionsOf(kSmall, 3, 1));
    // What makes the list one of long rows, and what else is in it.
    ProjectCase first(WeightFormat::Nf4, true, 64, 3200, {16}, ProjectArgs::Input::Norm,
                      ProjectArgs::Output::Store, 1);
    ProjectCase step(format, isNested, 64, cols, {outputs},
                     isPlain ? ProjectArgs::Input::Plain : ProjectArgs::Input::ResidualNorm,
                     ProjectArgs::Output::Store, 30);
    if (rank > 0) {
        step.addUpdate(0, rank, kernels::DType::BF16, 60);
        step.compute(cols, {outputs});
    }
    if (outputs > 50) {
        using namespace kernels::cuda;
        const StreamSizes sizes = asyncLargeSizes(3, outputs, cols, false, isPlain, 1, 4,
                                                  asyncLargeRoom(kSmall.shared_bytes - 1024));
        QVERIFY(sizes.pass_tiles << sizes.tile_shift < outputs / 3);
    }
    const auto& ops = card.device().ops();
    const auto queue = card.device().queue();
    QCOMPARE(ops.begin_steps(queue), Status::Ok);
    QCOMPARE(ops.project(queue, first.args), Status::Ok);
    QCOMPARE(ops.project(queue, step.args), Status::Ok);
    QCOMPARE(ops.end_steps(queue), Status::Ok);
    QCOMPARE(QString::fromStdString(card.finish()), QString());
    double residual = 0.0;
    QVERIFY(first.error(&residual) < kProjectBound);
    const double error = step.error(&residual);
    QVERIFY2(error < kProjectBound, qPrintable(QString::number(error)));
    QVERIFY2(residual < kResidualBound, qPrintable(QString::number(residual)));
    const QString kernel = "belfry_stream_async_large";
    QCOMPARE(ranOn(card), kernel + " " + kernel + (rank > 0 ? "_updates" : ""));
}

// A card of 9.0 takes the form when it is asked to; measured or not, the same comes out.
void TestCudaStreamAsync::forced() {
    std::vector<uint32_t> results[2];
    for (const bool is_measured : {false, true}) {
        EmulatedCardOptions options;
        options.multiprocessors = 3;
        options.card.has_bulk_copies = false;
        options.card.shared_bytes = kernels::cuda::kSmallSharedBytes;
        options.card.has_kernel_times = is_measured;
        EmulatedCard card(options);
        Chain chain(ChainShape{}, 1);
        QCOMPARE(chain.run(card.device()), Status::Ok);
        QCOMPARE(QString::fromStdString(card.finish()), QString());
        QCOMPARE(card.ran(), std::vector<std::string>{is_measured ? "belfry_stream_async_traced"
                                                                  : "belfry_stream_async"});
        results[is_measured ? 1 : 0] = leftBy(chain);
    }
    QVERIFY(results[0] == results[1]);
}

// With few places for weights layers of 4 bits and a head of bf16 are a launch each.
void TestCudaStreamAsync::headOfHalves() {
    ChainShape shape;
    shape.hidden = 128;
    shape.head = WeightFormat::BF16;
    Chain chain(shape, 1);
    EmulatedCard card(optionsOf(kSmall, 4, 1));
    QCOMPARE(chain.run(card.device()), Status::Ok);
    QCOMPARE(QString::fromStdString(card.finish()), QString());
    const double error = chain.error();
    QVERIFY2(error < kStreamBound, qPrintable(QString::number(error)));
    QCOMPARE(ranOn(card), QString("belfry_stream_async belfry_token"));
}

// A token with updates whose B is not in pieces of 16 bytes goes through the launch with barriers
// as a whole from the first of them on.
void TestCudaStreamAsync::updatesGoElsewhere() {
    ChainShape shape;
    shape.rank = 4;
    shape.has_projections_only = true;
    Chain chain(shape, 2);
    EmulatedCard card(optionsOf(kSmall, 4, 1));
    QCOMPARE(chain.run(card.device()), Status::Ok);
    QCOMPARE(QString::fromStdString(card.finish()), QString());
    double residual = 0.0;
    const double error = chain.projections.back()->error(&residual);
    QVERIFY2(error < kStreamBound, qPrintable(QString::number(error)));
    QCOMPARE(card.ran(), std::vector<std::string>{"belfry_token"});
}

// What is on its way into the card's cache leaves half of it alone.
void TestCudaStreamAsync::chunksAhead_data() {
    QTest::addColumn<int>("mebibytes");
    QTest::addColumn<int>("multiprocessors");
    QTest::addColumn<int>("ahead");
    QTest::newRow("A100") << 40 << 108 << 8;
    QTest::newRow("RTX 3090") << 6 << 82 << 2;
    QTest::newRow("RTX 4090") << 72 << 128 << 8;
    QTest::newRow("RTX 3060") << 3 << 28 << 4;
    QTest::newRow("none") << 0 << 28 << 0;
}

void TestCudaStreamAsync::chunksAhead() {
    QFETCH(int, mebibytes);
    QFETCH(int, multiprocessors);
    QFETCH(int, ahead);
    QCOMPARE(kernels::cuda::asyncAhead(int64_t{40} << 20, 108, 13856, 11), 0);
    QCOMPARE(kernels::cuda::asyncAhead(int64_t{mebibytes} << 20, multiprocessors, 13856, 2), ahead);
}

void TestCudaStreamAsync::realShapesFit_data() {
    QTest::addColumn<int>("hidden");
    QTest::addColumn<int>("inter");
    QTest::addColumn<int>("shared");
    QTest::newRow("E2B in 99 KiB") << 1536 << 12288 << 101376;
    QTest::newRow("E4B in 99 KiB") << 2560 << 10240 << 101376;
    QTest::newRow("E2B in 163 KiB") << 1536 << 12288 << 166912;
    QTest::newRow("E4B in 163 KiB") << 2560 << 10240 << 166912;
}

/// The steps that need most, with as few sums at a time as they can do with, and what the driver
/// may keep for itself included.
void TestCudaStreamAsync::realShapesFit() {
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

void TestCudaStreamAsync::halfShapesFit_data() {
    realShapesFit_data();
    QTest::newRow("12B in 163 KiB") << 3840 << 15360 << 166912;
}

/// The same of bf16 weights, without a table of codes.
void TestCudaStreamAsync::halfShapesFit() {
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

void TestCudaStreamAsync::longShapesFit_data() {
    QTest::addColumn<int>("hidden");
    QTest::addColumn<int>("inter");
    QTest::addColumn<int>("queries"); // values of sliding and of full layers
    QTest::addColumn<int>("fullQueries");
    QTest::newRow("12B") << 3840 << 15360 << 4096 << 8192;
    QTest::newRow("26B") << 2816 << 2112 << 4096 << 8192;
    QTest::newRow("31B") << 5376 << 21504 << 8192 << 16384;
}

/// All projections of a layer and attention beside two chunks and more, on small and large cards.
void TestCudaStreamAsync::longShapesFit() {
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

QTEST_GUILESS_MAIN(TestCudaStreamAsync)
#include "tst_cuda_stream_async.moc"
