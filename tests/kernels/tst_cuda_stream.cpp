// SPDX-License-Identifier: Apache-2.0
// The kernel that runs a whole token without a barrier over the grid (device/stream.cu) on the CPU:
// chains of steps as a decoder has them, against the scalar table, in several thread orders.
#include "tests/kernels/stream_chain.h"
#include "tests/support/cuda_emulator/emulated_card.h"
#include "tests/support/sampled_points.h"

#include <QTest>

#include <vector>

using kernels::DType;
using kernels::Status;
using kernels::WeightFormat;
using namespace support;

class TestCudaStream : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void chain_data();
    void chain();
    void longRows_data();
    void longRows();
    void heads_data();
    void heads();
    void measured_data();
    void measured();
    void formsAskedFor_data();
    void formsAskedFor();
    void tableElsewhere();
};

void TestCudaStream::chain_data() {
    QTest::addColumn<ChainShape>("shape");
    QTest::addColumn<int>("multiprocessors");
    QTest::addColumn<int>("seed");
    const auto row = [](const char* name, int multiprocessors, int seed, const auto& change) {
        ChainShape shape;
        change(shape);
        if (support::kTakesPart && shape.heads > 8) {
            return; // minutes there
        }
        QTest::newRow(name) << shape << multiprocessors << seed;
    };
    row("nested nf4", 4, 0, [](ChainShape&) {});
    row("one token", 3, 1, [](ChainShape& s) { s.tokens = 1; });
    row("fp4, plain absmax", 3, 2, [](ChainShape& s) {
        s.format = WeightFormat::Fp4;
        s.is_nested = false;
    });
    row("blocks of 128", 5, 3, [](ChainShape& s) {
        s.block = 128;
        s.hidden = 256;
        s.inter = 384;
        s.ple = 128;
    });
    row("8-bit", 4, 4, [](ChainShape& s) { s.format = WeightFormat::Int8Row; });
    row("parts", 4, 5, [](ChainShape& s) { s.tokens = 200; });
    row("window in a ring", 5, 6, [](ChainShape& s) {
        s.tokens = 400;
        s.window = 90;
    });
    row("two kv heads", 4, 7, [](ChainShape& s) {
        s.kv_heads = 2;
        s.tokens = 100;
    });
    row("keys are values", 4, 8, [](ChainShape& s) { s.k_is_v = true; });
    row("a reader", 4, 9, [](ChainShape& s) {
        s.is_reader = true;
        s.tokens = 130;
    });
    row("no per-layer input", 3, 10, [](ChainShape& s) { s.ple = 0; });
    row("wide heads and rows", 28, 11, [](ChainShape& s) {
        s.hidden = 1600;
        s.dim = 512;
        s.heads = 2;
        s.tokens = 40;
        s.inter = 6400;
    });
    row("bf16", 4, 50, [](ChainShape& s) {
        s.format = WeightFormat::BF16;
        s.is_nested = false;
    });
    row("bf16, a ring, a reader", 7, 51, [](ChainShape& s) {
        s.format = WeightFormat::BF16;
        s.is_nested = false;
        s.is_reader = true;
        s.tokens = 200;
        s.window = 90;
        s.is_ring = true;
    });
    row("bf16, rows of several pieces, wide ones among them", 28, 52, [](ChainShape& s) {
        s.format = WeightFormat::BF16;
        s.is_nested = false;
        s.hidden = 320;
        s.dim = 64;
        s.heads = 2;
        s.inter = 6400;
    });
    // Adapters of bf16 weights stay in memory (device/stream_direct.cuh).
    row("bf16, rank 16", 4, 53, [](ChainShape& s) {
        s.format = WeightFormat::BF16;
        s.is_nested = false;
        s.rank = 16;
    });
    row("bf16, rows of several pieces, two adapters, fp32", 28, 54, [](ChainShape& s) {
        s.format = WeightFormat::BF16;
        s.is_nested = false;
        s.hidden = 320;
        s.heads = 2;
        s.inter = 6400;
        s.layers = 1;
        s.rank = 8;
        s.other_rank = 4;
        s.update_type = DType::F32;
    });
    // Rows as long as those of 12B and 31B (device/stream_large.cu). The residual row is in memory.
    row("long rows", 4, 60, [](ChainShape& s) {
        s.hidden = 3200;
        s.tokens = 200;
    });
    row("long rows, 8-bit", 5, 61, [](ChainShape& s) {
        s.hidden = 3200;
        s.format = WeightFormat::Int8Row;
        s.layers = 1;
    });
    row("long rows, fp4, plain absmax, blocks of 128", 4, 62, [](ChainShape& s) {
        s.hidden = 3328;
        s.format = WeightFormat::Fp4;
        s.is_nested = false;
        s.block = 128;
        s.inter = 384;
        s.ple = 128;
        s.tokens = 30;
    });
    row("long rows, wide results of attention behind flags", 16, 63, [](ChainShape& s) {
        s.hidden = 3136;
        s.dim = 512;
        s.heads = 16;
        s.kv_heads = 2;
        s.inter = 192;
        s.ple = 0;
        s.layers = 1;
        s.tokens = 40;
    });
    // 26B: the row leaves no room for chunks, queries, keys and values none for packets.
    row("rows that leave no room for weights", 4, 64, [](ChainShape& s) {
        s.hidden = 2816;
        s.ple = 0;
        s.tokens = 100;
        s.is_large = true;
    });
    row("more queries, keys and values than packets", 16, 65, [](ChainShape& s) {
        s.heads = 16;
        s.kv_heads = 8;
        s.dim = 256;
        s.ple = 0;
        s.tokens = 40;
        s.is_large = true;
    });
    // Their adapters stay in memory (device/stream_direct.cuh).
    const auto isLong = [](ChainShape& s) {
        s.hidden = 3200;
        s.rank = 16;
    };
    row("long rows, rank 16", 4, 66, [&](ChainShape& s) {
        isLong(s);
        s.tokens = 100;
    });
    row("long rows, rank 8: blocks without a unit", 24, 67, [&](ChainShape& s) {
        isLong(s);
        s.rank = 8;
        s.layers = 1;
    });
    row("long rows, rank 64, 8-bit", 5, 68, [&](ChainShape& s) {
        isLong(s);
        s.rank = 64;
        s.format = WeightFormat::Int8Row;
        s.layers = 1;
    });
    row("long rows, two adapters, fp16, in every second step", 7, 69, [&](ChainShape& s) {
        isLong(s);
        s.rank = 8;
        s.other_rank = 24;
        s.update_type = DType::F16;
        s.every = 2;
    });
    row("long rows, two adapters, fp32, not of the first weight", 4, 70, [&](ChainShape& s) {
        isLong(s);
        s.rank = 4;
        s.other_rank = 12;
        s.update_type = DType::F32;
        s.without = 0;
        s.layers = 1;
    });
    row("rows that leave no room for weights, rank 16", 4, 71, [](ChainShape& s) {
        s.hidden = 2816;
        s.ple = 0;
        s.is_large = true;
        s.rank = 16;
    });
    // Adapters: their operands come while the step before runs, or, where there is no room for both
    // or no step with updates near, when the step begins (placeStreamUnits()). There are no plans
    // where that happens, where blocks have many units (few multiprocessors) or many tiles of
    // ranks.
    row("rank 16", 4, 12, [](ChainShape& s) {
        s.rank = 16;
        s.is_planned = false;
    });
    row("rank 8, two kv heads, fp4", 5, 13, [](ChainShape& s) {
        s.rank = 8;
        s.kv_heads = 2;
        s.format = WeightFormat::Fp4;
        s.is_planned = false;
    });
    row("rank 64: a block has many units", 6, 14, [](ChainShape& s) {
        s.rank = 64;
        s.is_planned = false;
    });
    row("rank 16 in every second step", 4, 15, [](ChainShape& s) {
        s.rank = 16;
        s.every = 2;
        s.is_planned = false;
    });
    row("rank 16 in every fifth step, 8-bit", 4, 16, [](ChainShape& s) {
        s.rank = 16;
        s.every = 5;
        s.format = WeightFormat::Int8Row;
        s.is_planned = false;
    });
    row("rank 8, not of the second weight: q, v and gate", 4, 21, [](ChainShape& s) {
        s.rank = 8;
        s.without = 1;
    });
    row("rank 8, not of the first weight: k, v and up", 4, 22, [](ChainShape& s) {
        s.rank = 8;
        s.without = 0;
    });
    row("two adapters, fp16", 3, 17, [](ChainShape& s) {
        s.rank = 8;
        s.other_rank = 24;
        s.update_type = DType::F16;
        s.is_planned = false;
    });
    row("two adapters, fp32, a reader", 4, 18, [](ChainShape& s) {
        s.rank = 4;
        s.other_rank = 12;
        s.update_type = DType::F32;
        s.is_reader = true;
        s.is_planned = false;
    });
    row("rank 4: ranks in parts", 16, 19, [](ChainShape& s) {
        s.layers = 1;
        s.rank = 4;
        s.update_type = DType::F32;
    });
    row("rank 8: blocks without a unit", 24, 23, [](ChainShape& s) {
        s.layers = 1;
        s.rank = 8;
    });
    row("rank 16: blocks without a unit", 24, 23, [](ChainShape& s) { s.rank = 16; });
    // Operands of q, k and v come two steps without updates ahead; the early units among them.
    row("rank 16 of attention and MLP", 4, 24, [](ChainShape& s) {
        s.rank = 16;
        s.has_projections_only = true;
        s.is_planned = false;
    });
    const auto isEarly = [](ChainShape& s) {
        s.layers = 3;
        s.rank = 16;
        s.is_reader = true;
        s.has_projections_only = true;
    };
    row("rank 16 of attention and MLP, early", 24, 25, isEarly);
    row("rank 16 of attention and MLP, early, fp16", 24, 43, [&](ChainShape& s) {
        isEarly(s);
        s.update_type = DType::F16;
    });
    // The updating warp late: the others are as far ahead as they can be.
    row("rank 16 of attention and MLP, early, starving", 24, 42, isEarly);
    row("rank 32: several tiles of a weight", 24, 27, [](ChainShape& s) {
        s.layers = 1;
        s.rank = 32;
        s.k_is_v = true;
    });
    row("rank 16 of attention and MLP, early, not planned", 24, 25, [&](ChainShape& s) {
        isEarly(s);
        s.is_planned = false;
        s.may_plan = false;
    });
    const auto hasWideRows = [](ChainShape& s) {
        s.layers = 1;
        s.rank = 8;
        s.inter = 6400;
        s.ple = 0;
    };
    row("rank 8 of wide rows", 16, 20, [&](ChainShape& s) {
        hasWideRows(s);
        s.is_planned = false;
    });
    row("rank 8 of wide rows, blocks of one unit", 24, 26, hasWideRows);
}

/// The kernels that ran, but for what makes plans of updates.
std::vector<std::string> layersOf(const EmulatedCard& card) {
    std::vector<std::string> names = card.ran();
    std::erase(names, "belfry_stream_plans");
    return names;
}

void TestCudaStream::chain() {
    QFETCH(ChainShape, shape);
    QFETCH(int, multiprocessors);
    QFETCH(int, seed);
    EmulatedCardOptions options;
    options.multiprocessors = multiprocessors;
    options.run.seed = static_cast<uint64_t>(seed);
    options.card.has_update_plans = shape.may_plan;
    EmulatedCard card(options);
    Chain chain(shape, shape.layers);
    // The second one meets what the first one left; the widest shape takes long.
    const int turns = shape.heads > 8 ? 1 : 2;
    for (int turn = 0; turn < turns; ++turn) {
        QCOMPARE(chain.run(card.device()), Status::Ok);
        QCOMPARE(QString::fromStdString(card.finish()), QString());
        double residual = 0.0;
        QVERIFY(chain.projections.front()->error(&residual) < kProjectionBound);
        const double error = chain.error();
        QVERIFY2(error < kStreamBound, qPrintable(QString::number(error)));
    }
    std::string kernel = "belfry_stream";
    if (shape.format == WeightFormat::BF16) {
        kernel += shape.rank > 0 ? "_half_updates" : "_half";
    } else if (shape.is_large || shape.hidden > 3072) {
        kernel += shape.rank > 0 ? "_large_updates" : "_large";
    } else if (shape.rank > 0) {
        kernel += shape.is_planned ? "_updates" : "_any_updates";
    }
    QCOMPARE(layersOf(card), std::vector<std::string>(sizeOf(turns), kernel));
}

// Rows with the columns of 12B and 31B, of few outputs, in a list of their form.
void TestCudaStream::longRows_data() {
    QTest::addColumn<WeightFormat>("format");
    QTest::addColumn<bool>("isNested");
    QTest::addColumn<int64_t>("cols");
    QTest::addColumn<int>("input");
    QTest::addColumn<int64_t>("rank");
    const int plain = static_cast<int>(kernels::ProjectArgs::Input::Plain);
    const int residual = static_cast<int>(kernels::ProjectArgs::Input::ResidualNorm);
    const auto row = [](const char* name, WeightFormat format, bool is_nested, int64_t cols,
                        int input, int64_t rank = 0) {
        QTest::newRow(name) << format << is_nested << cols << input << rank;
    };
    row("31B, residual row", WeightFormat::Nf4, true, 5376, residual);
    row("31B, head in 8 bits", WeightFormat::Int8Row, false, 5376, residual);
    row("31B, down", WeightFormat::Nf4, true, 21504, plain);
    row("31B, down, plain absmax", WeightFormat::Fp4, false, 21504, plain);
    row("31B, down in 8 bits", WeightFormat::Int8Row, false, 21504, plain);
    row("31B, o of full layers", WeightFormat::Nf4, true, 16384, plain);
    row("31B, o of sliding layers", WeightFormat::Nf4, true, 8192, plain);
    row("12B, residual row", WeightFormat::Nf4, true, 3840, residual);
    row("12B, down", WeightFormat::Nf4, true, 15360, plain);
    row("12B, o of sliding layers", WeightFormat::Nf4, true, 4096, plain);
    row("31B, residual row, rank 16", WeightFormat::Nf4, true, 5376, residual, 16);
    row("31B, down, rank 16", WeightFormat::Nf4, true, 21504, plain, 16);
    row("31B, down in 8 bits, rank 8", WeightFormat::Int8Row, false, 21504, plain, 8);
}

void TestCudaStream::longRows() {
    QFETCH(WeightFormat, format);
    QFETCH(bool, isNested);
    QFETCH(int64_t, cols);
    QFETCH(int, input);
    QFETCH(int64_t, rank);
    using kernels::ProjectArgs;
    EmulatedCardOptions options;
    options.multiprocessors = 3;
    EmulatedCard card(options);
    // What makes the list one of long rows, and what else is in it.
    ProjectCase first(WeightFormat::Nf4, true, 64, 3200, {16}, ProjectArgs::Input::Norm,
                      ProjectArgs::Output::Store, 1);
    ProjectCase step(format, isNested, 64, cols, {50}, static_cast<ProjectArgs::Input>(input),
                     ProjectArgs::Output::Store, 30);
    if (rank > 0) {
        step.addUpdate(0, rank, DType::BF16, 60);
        step.compute(cols, {50});
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
    const std::string kernel = "belfry_stream_large";
    QCOMPARE(layersOf(card),
             (std::vector<std::string>{kernel, rank > 0 ? kernel + "_updates" : kernel}));
}

// Attention by heads (device/stream_attend_heads.cuh) against the reference and against attention
// by tiles. A block takes 48 keys, four a warp; the number of parts of a head is that of the blocks
// over that of the heads. Above 48 keys a part, it is by tiles: then both runs are the same.
void TestCudaStream::heads_data() {
    QTest::addColumn<ChainShape>("shape");
    QTest::addColumn<int>("multiprocessors");
    QTest::addColumn<int>("seed");
    QTest::addColumn<bool>("isByHead");
    int seed = 0;
    const auto row = [&](const char* name, int multiprocessors, bool is_by_head,
                         const auto& change) {
        ChainShape shape;
        shape.hidden = 64;
        shape.inter = 64;
        shape.ple = 0;
        shape.heads = 2;
        shape.scale = 0.1F;
        change(shape);
        QTest::newRow(name) << shape << multiprocessors << seed++ << is_by_head;
    };
    row("two tokens", 2, true, [](ChainShape& s) { s.tokens = 2; });
    row("one full part", 2, true, [](ChainShape& s) { s.tokens = 48; });
    row("above it", 3, false, [](ChainShape& s) { s.tokens = 49; });
    row("two parts, blocks without one", 5, true, [](ChainShape& s) { s.tokens = 49; });
    row("two full parts", 4, true, [](ChainShape& s) { s.tokens = 96; });
    row("above them", 4, false, [](ChainShape& s) { s.tokens = 97; });
    row("one key a warp, an empty part", 7, true, [](ChainShape& s) {
        s.heads = 1;
        s.tokens = 61;
    });
    row("heads of 256, two kv heads", 12, true, [](ChainShape& s) {
        s.dim = 256;
        s.heads = 4;
        s.kv_heads = 2;
        s.tokens = 100;
        s.hole = 50;
    });
    row("heads of 512, one key a warp", 5, true, [](ChainShape& s) {
        s.dim = 512;
        s.heads = 1;
        s.tokens = 50;
    });
    row("heads of 512, several keys", 6, true, [](ChainShape& s) {
        s.dim = 512;
        s.tokens = 140;
    });
    row("heads of 32", 4, true, [](ChainShape& s) {
        s.dim = 32;
        s.tokens = 70;
    });
    row("a ring that wraps", 4, true, [](ChainShape& s) {
        s.tokens = 300;
        s.window = 90;
        s.is_ring = true;
    });
    row("the new row among the others", 6, true, [](ChainShape& s) {
        s.heads = 1;
        s.tokens = 300;
        s.window = 90;
    });
    row("a window and a hole", 4, true, [](ChainShape& s) {
        s.tokens = 80;
        s.window = 60;
        s.hole = 50;
    });
    row("a window that hides whole warps and parts", 8, true, [](ChainShape& s) {
        s.heads = 1;
        s.tokens = 90;
        s.window = 3;
    });
    row("a reader", 6, true, [](ChainShape& s) {
        s.tokens = 75;
        s.is_reader = true;
    });
    row("a reader of a ring", 4, true, [](ChainShape& s) {
        s.tokens = 300;
        s.window = 40;
        s.is_ring = true;
        s.is_reader = true;
    });
    row("keys are values", 4, true, [](ChainShape& s) {
        s.tokens = 60;
        s.k_is_v = true;
    });
    // Parts of several tiles, in all places that the new row has: rows of one gap and of several.
    row("tiles of 32, hidden rows, the new one in the second tile", 3, false, [](ChainShape& s) {
        s.dim = 32;
        s.tokens = 300;
        s.window = 90;
    });
    row("tiles of 256, hidden rows, the new one in the first tile", 4, false, [](ChainShape& s) {
        s.dim = 256;
        s.tokens = 400;
        s.window = 90;
        s.hole = 150;
    });
    row("tiles of 256 of a ring, the new row in the last tile", 2, false, [](ChainShape& s) {
        s.dim = 256;
        s.tokens = 300;
        s.window = 200;
        s.is_ring = true;
    });
    row("tiles of 512, hidden rows, the new one in the second tile", 3, false, [](ChainShape& s) {
        s.dim = 512;
        s.heads = 1;
        s.tokens = 300;
        s.window = 90;
        s.hole = 50;
    });
    row("tiles of 512, two kv heads, a reader", 4, false, [](ChainShape& s) {
        s.dim = 512;
        s.kv_heads = 2;
        s.tokens = 150;
        s.is_reader = true;
    });
}

void TestCudaStream::heads() {
    QFETCH(ChainShape, shape);
    QFETCH(int, multiprocessors);
    QFETCH(int, seed);
    QFETCH(bool, isByHead);
    const int layers = shape.is_reader ? 2 : 1;
    Chain by_heads(shape, layers);
    Chain by_tiles(shape, layers);
    for (Chain* chain : {&by_heads, &by_tiles}) {
        EmulatedCardOptions options;
        options.card.has_attention_by_heads = chain == &by_heads;
        options.multiprocessors = multiprocessors;
        options.run.seed = static_cast<uint64_t>(seed);
        EmulatedCard card(options);
        // The second turn meets what the first one left.
        const int turns = chain == &by_heads ? 2 : 1;
        for (int turn = 0; turn < turns; ++turn) {
            QCOMPARE(chain->run(card.device()), Status::Ok);
            QCOMPARE(QString::fromStdString(card.finish()), QString());
            QVERIFY2(chain->error() < kStreamBound, qPrintable(QString::number(chain->error())));
        }
        QCOMPARE(card.ran(), std::vector<std::string>(sizeOf(turns), "belfry_stream"));
    }
    for (size_t i = 0; i < by_heads.attentions.size(); ++i) {
        const AttendCase& a = *by_heads.attentions[i];
        const AttendCase& b = *by_tiles.attentions[i];
        const std::vector<float> want = b.out.values();
        const double error = relativeError(a.out.data(), want);
        // The second layer: a cached value of the first may have gone to the other neighbour.
        QVERIFY2(error < (i == 0 ? kAttendBound : kStreamBound),
                 qPrintable(QString::number(error)));
        QCOMPARE(a.out.values() == want, !isByHead);
        QVERIFY(relativeError(a.out.data(), a.want) < kStreamBound);
    }
    QVERIFY(by_heads.attentions.front()->cache_k.values() ==
            by_tiles.attentions.front()->cache_k.values());
    QVERIFY(by_heads.attentions.front()->cache_v.values() ==
            by_tiles.attentions.front()->cache_v.values());
}

void TestCudaStream::measured_data() {
    QTest::addColumn<int>("rank");
    QTest::addColumn<int>("multiprocessors");
    QTest::addColumn<QString>("kernel");
    QTest::newRow("no updates") << 0 << 3 << "belfry_stream";
    QTest::newRow("planned updates") << 8 << 12 << "belfry_stream_updates";
    QTest::newRow("any updates") << 8 << 3 << "belfry_stream_any_updates";
}

// Kernels that note clocks (CardOptions::has_kernel_times) are kernels of their own: they compute
// the same.
void TestCudaStream::measured() {
    QFETCH(int, rank);
    QFETCH(int, multiprocessors);
    QFETCH(QString, kernel);
    ChainShape shape;
    shape.rank = rank;
    std::vector<float> results[2];
    for (const bool is_measured : {false, true}) {
        EmulatedCardOptions options;
        options.card.has_kernel_times = is_measured;
        options.multiprocessors = multiprocessors;
        EmulatedCard card(options);
        Chain chain(shape, 1);
        QCOMPARE(chain.run(card.device()), Status::Ok);
        QCOMPARE(QString::fromStdString(card.finish()), QString());
        const double error = chain.error();
        QVERIFY2(error < kStreamBound, qPrintable(QString::number(error)));
        results[is_measured ? 1 : 0] = chain.projections.back()->y[0].values();
        const std::string wanted = kernel.toStdString() + (is_measured ? "_traced" : "");
        QCOMPARE(layersOf(card), std::vector<std::string>({wanted}));
    }
    QVERIFY(results[0] == results[1]);
}

void TestCudaStream::formsAskedFor_data() {
    QTest::addColumn<bool>("hasStreamedLaunch");
    QTest::addColumn<int>("sharedBytes");
    QTest::addColumn<QString>("kernel");
    QTest::newRow("fastest") << true << 0 << "belfry_stream";
    QTest::newRow("with barriers") << false << 0 << "belfry_token";
    QTest::newRow("99 KiB") << true << 1024 * 99 << "belfry_stream_async";
}

/// A card takes what CardOptions leave it, and computes the same with that.
void TestCudaStream::formsAskedFor() {
    QFETCH(bool, hasStreamedLaunch);
    QFETCH(int, sharedBytes);
    QFETCH(QString, kernel);
    EmulatedCardOptions options;
    options.multiprocessors = 3;
    options.card.has_streamed_launch = hasStreamedLaunch;
    options.card.shared_bytes = sharedBytes;
    {
        EmulatedCard card(options);
        Chain chain(ChainShape(), 1);
        QCOMPARE(chain.run(card.device()), Status::Ok);
        QCOMPARE(QString::fromStdString(card.finish()), QString());
        // What comes out at the end: token.cu leaves it to the reader to add attention's parts.
        double residual = 0.0;
        const double error = chain.projections.back()->error(&residual);
        QVERIFY2(error < kStreamBound, qPrintable(QString::number(error)));
        QCOMPARE(card.ran(), std::vector<std::string>{kernel.toStdString()});
    }
    // Without a launch for a token nothing is collected.
    options.card.has_token_launch = false;
    EmulatedCard single(options);
    QCOMPARE(single.device().ops().begin_steps(single.device().queue()), Status::Unsupported);
}

// A card whose shared memory begins elsewhere than it says computes nothing rather than nonsense.
void TestCudaStream::tableElsewhere() {
    EmulatedCardOptions options;
    options.multiprocessors = 3;
    options.reserved_shared = 2048;
    EmulatedCard card(options);
    Chain chain(ChainShape{}, 1);
    QCOMPARE(chain.run(card.device()), Status::Ok);
    QVERIFY(card.finish().find("__trap()") != std::string::npos);
}

QTEST_GUILESS_MAIN(TestCudaStream)
#include "tst_cuda_stream.moc"
