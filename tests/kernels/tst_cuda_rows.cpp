// SPDX-License-Identifier: Apache-2.0
// The kernel that runs the layers of a few tokens with weights read once
// (device/small_batch/stream_rows.cu) on the CPU: decoder layers and a head, against the scalar
// table token by token, in several thread orders.
#include "tests/kernels/row_cases.h"
#include "tests/support/cuda_emulator/emulated_card.h"
#include "tests/support/program/test_class.h"
#include "tests/support/sampled_points.h"

#include <QTest>

#include <string>
#include <vector>

using kernels::Status;
using namespace support;

namespace {

/// Inputs of 11 bits, sums of 8-bit and 4-bit weights; values of the cache in bf16.
constexpr double kCudaRowsBound = 2e-2;
constexpr double kFirstBound = 2e-3; ///< For the first projection alone.

} // namespace

class TestCudaRows : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void chain_data();
    void chain();
    void longRows_data();
    void longRows();
    void realShapesFit_data();
    void realShapesFit();
    void refused_data();
    void refused();
};

void TestCudaRows::chain_data() {
    support::addColumns<RowShape, int, int>("shape", "multiprocessors", "seed");
    int seed = 0;
    const auto row = [&](const char* name, int multiprocessors, const RowShape& shape) {
        const int number = seed++;
        if (support::kTakesPart && (multiprocessors > 4 || number % 3 != 0)) {
            return; // a row takes minutes there
        }
        QTest::newRow(name) << shape << multiprocessors << number;
    };
    row("four rows, nested nf4", 4, {});
    row("three rows", 5, {.rows = 3});
    row("two rows", 4, {.rows = 2});
    row("one row", 4, {.rows = 1});
    row("no token before", 4, {.before = 0});
    row("fp4, plain absmax", 4, {.format = WeightFormat::Fp4, .is_nested = false});
    row("8-bit", 4, {.format = WeightFormat::Int8Row});
    row("two kv heads, keys are values", 4, {.kv_heads = 2, .k_is_v = true});
    row("no per-layer input", 4, {.ple = 0});
    row("one part, more keys than at a time", 4, {.before = 60});
    row("parts", 16, {.before = 400, .capacity = 512});
    row("heads of 256, parts", 9, {.before = 250, .heads = 2, .dim = 256, .capacity = 256});
    row("heads of 512", 6, {.rows = 3, .before = 150, .heads = 2, .dim = 512, .capacity = 256});
    row("window in a ring that wraps", 12, {.before = 398, .window = 90, .capacity = 100});
    row("q8, parts, two kv heads", 16,
        {.before = 400, .kv_heads = 2, .capacity = 512, .kv_type = KvType::Q8});
    row("q8, heads of 256, keys are values", 9,
        {.before = 250,
         .heads = 2,
         .dim = 256,
         .capacity = 256,
         .k_is_v = true,
         .kv_type = KvType::Q8});
    row("q8, heads of 512", 6,
        {.rows = 3, .before = 150, .heads = 2, .dim = 512, .capacity = 256, .kv_type = KvType::Q8});
    row("q8, window in a ring that wraps", 12,
        {.before = 398, .window = 90, .capacity = 100, .kv_type = KvType::Q8});
    row("q8, long rows", 16,
        {.rows = 3, .hidden = 3200, .inter = 192, .layers = 1, .kv_type = KvType::Q8});
    row("window smaller than the rows", 4, {.before = 77, .window = 2, .capacity = 16});
    row("stretches, passes and long rows", 16, {.hidden = 1600, .inter = 192, .layers = 1});
    row("wide rows", 16, {.inter = 6400, .layers = 1});
    row("no norms but in front, SiLU", 4, {.is_plain = true});
    row("no norms but in front, SiLU, parts, updates", 16,
        {.before = 400, .ple = 0, .capacity = 512, .ranks = {8}, .is_plain = true});
    row("no norms but in front, SiLU, long rows", 16,
        {.hidden = 3200, .inter = 192, .layers = 1, .is_plain = true});
    row("updates of every weight", 4, {.ranks = {8}});
    row("updates, three rows, some weights without, other ranks", 5,
        {.rows = 3, .ranks = {16, 0, 0, 8, 24, 0, 64}});
    row("updates in fp32, one row", 4, {.rows = 1, .ranks = {4, 12}, .update_type = DType::F32});
    row("updates in fp16 of 8-bit weights", 7,
        {.format = WeightFormat::Int8Row, .ranks = {16}, .update_type = DType::F16});
    row("updates, more sums than threads of a block", 4, {.layers = 1, .ranks = {128, 96}});
    row("updates of wide rows", 16, {.rows = 3, .inter = 6400, .layers = 1, .ranks = {16}});
    // As long as those of 12B and 31B (device/small_batch/stream_rows_large.cu).
    row("updates of long rows", 16,
        {.rows = 3, .hidden = 3200, .inter = 192, .layers = 1, .ranks = {16, 8}});
    row("long rows", 16, {.rows = 3, .hidden = 3200, .inter = 192, .layers = 1});
    row("long rows, 8-bit", 16,
        {.rows = 2,
         .format = WeightFormat::Int8Row,
         .hidden = 3200,
         .inter = 192,
         .ple = 0,
         .layers = 1});
    row("the widest rows", 24, {.rows = 4, .inter = 12288, .ple = 0, .layers = 1});
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
        QCOMPARE_LT(chain.firstError(), kFirstBound);
        QCOMPARE_LT(chain.cacheError(), kCudaRowsBound);
        QCOMPARE_LT(chain.error(), kCudaRowsBound);
    }
    const std::string kernel =
        shape.hidden > 3072 ? "belfry_stream_rows_large" : "belfry_stream_rows";
    QCOMPARE(card.ran(), std::vector<std::string>(
                             sizeOf(turns), kernel + (shape.ranks.empty() ? "" : "_updates")));
}

// Rows with the columns of 12B and 31B, of few outputs, in a list of their form.
void TestCudaRows::longRows_data() {
    support::addColumns<WeightFormat, int64_t, bool>("format", "cols", "hasNorm");
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
    QCOMPARE_LT(relativeError(y.data(), want), kProjectBound);
    QCOMPARE(card.ran(), std::vector<std::string>(1, "belfry_stream_rows_large"));
}

void TestCudaRows::realShapesFit_data() {
    support::addColumns<int, int, int, int, int>("hidden", "inter", "heads", "kvHeads", "perLayer");
    QTest::newRow("E2B") << 1536 << 6144 << 8 << 1 << 256;
    QTest::newRow("E2B, layers without keys") << 1536 << 12288 << 8 << 0 << 256;
    QTest::newRow("E4B") << 2560 << 10240 << 8 << 2 << 256;
    QTest::newRow("12B") << 3840 << 15360 << 16 << 8 << 0;
    QTest::newRow("31B") << 5376 << 21504 << 32 << 16 << 0;
}

// Projections of a layer with updates of every weight are taken, on cards of 9.0.
void TestCudaRows::realShapesFit() {
    QFETCH(int, hidden);
    QFETCH(int, inter);
    QFETCH(int, heads);
    QFETCH(int, kvHeads);
    QFETCH(int, perLayer);
    Guarded<uint8_t> place(256); // nobody reads operands before the launch
    Guarded<int32_t> count(1);
    for (const int multiprocessors : {114, 132}) {
        EmulatedCardOptions options;
        options.multiprocessors = multiprocessors;
        EmulatedCard card(options);
        const auto& ops = card.device().ops();
        const auto queue = card.device().queue();
        auto* const floats = reinterpret_cast<float*>(place.data());
        for (const int64_t rank : {0, 8, 16, 64, 128}) {
            QCOMPARE(ops.begin_rows(queue, count.data()), Status::Ok);
            int made = 0; // places of results, which tell steps apart
            float* left = nullptr;
            float* residual = floats;
            const auto project = [&](int64_t cols, const std::vector<int64_t>& rows,
                                     ProjectArgs::Input input, ProjectArgs::Output output) {
                ProjectArgs p;
                p.input = input;
                p.output = output;
                p.count = static_cast<int>(rows.size());
                p.x = input == ProjectArgs::Input::Plain ? left : residual;
                p.norm = {place.data(), DType::BF16, 1, cols};
                if (input == ProjectArgs::Input::ResidualNorm ||
                    input == ProjectArgs::Input::Residual) {
                    p.t = left;
                    p.t_norm = p.norm;
                    residual = floats + 4 * (++made % 16);
                    p.x_out = residual;
                }
                if (input == ProjectArgs::Input::Plain || input == ProjectArgs::Input::Residual) {
                    p.norm = {};
                }
                p.multiply = floats;
                for (size_t i = 0; i < rows.size(); ++i) {
                    kernels::WeightView& w = p.w[i];
                    w.format = WeightFormat::Nf4;
                    w.rows = rows[i];
                    w.cols = cols;
                    w.data = place.data();
                    w.block_size = 64;
                    w.absmax = floats;
                    p.y[i] = floats + 4 * (++made % 16);
                    if (rank > 0) {
                        p.lora[p.lora_count++] = {static_cast<int>(i),
                                                  {place.data(), DType::BF16, rank, cols},
                                                  {place.data(), DType::BF16, rows[i], rank},
                                                  floats};
                    }
                }
                left = p.y[0];
                return ops.project(queue, p);
            };
            using Input = ProjectArgs::Input;
            using Output = ProjectArgs::Output;
            std::vector<int64_t> qkv(kvHeads > 0 ? 3 : 1, int64_t{kvHeads} * 256);
            qkv[0] = int64_t{heads} * 256;
            QCOMPARE(project(hidden, qkv, Input::Norm, Output::Store), Status::Ok);
            const auto& before = card.device().stream().steps.steps.back().project;
            kernels::AttendStepArgs attend;
            attend.q = before.y[0];
            attend.k = kvHeads > 0 ? before.y[1] : nullptr;
            attend.v = kvHeads > 0 ? before.y[2] : nullptr;
            attend.q_norm = attend.k_norm = {place.data(), DType::BF16, 1, 256};
            attend.inv_freq = floats;
            attend.position = attend.slot = attend.key_position = attend.key_count = count.data();
            attend.cache_k = attend.cache_v = place.data();
            attend.capacity = 4096;
            attend.num_heads = heads;
            attend.num_kv_heads = std::max(1, kvHeads);
            attend.head_dim = 256;
            attend.is_ring = true;
            attend.out = floats + 4 * (++made % 16);
            QCOMPARE(ops.attend_step(queue, attend), Status::Ok);
            left = attend.out;
            QCOMPARE(project(int64_t{heads} * 256, {hidden}, Input::Plain, Output::Store),
                     Status::Ok);
            QCOMPARE(project(hidden, {inter, inter}, Input::ResidualNorm, Output::GatedPair),
                     Status::Ok);
            QCOMPARE(project(inter, {hidden}, Input::Plain, Output::Store), Status::Ok);
            if (perLayer > 0) {
                QCOMPARE(project(hidden, {perLayer}, Input::Residual, Output::GatedMultiply),
                         Status::Ok);
                QCOMPARE(project(perLayer, {hidden}, Input::Plain, Output::Store), Status::Ok);
            }
            card.device().stream().steps.steps.clear(); // no launch
            QCOMPARE(ops.end_steps(queue), Status::Ok);
        }
        QVERIFY(card.ran().empty());
    }
}

void TestCudaRows::refused_data() {
    support::addColumns<int, int>("capability", "sharedBytes");
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

TEST_CLASS_WITH(QCoreApplication, TestCudaRows)
#include "tst_cuda_rows.moc"
