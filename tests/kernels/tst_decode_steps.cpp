// SPDX-License-Identifier: Apache-2.0
// Fused decode steps of the CPU tables against the single functions of the same table: equal to
// the bit for any number of threads. Operands end at a page that nobody may touch.
#include "kernels/cpu/thread_pool.h"
#include "tests/kernels/step_cases.h"
#include "tests/kernels/table_rows.h"
#include "tests/support/program/test_class.h"

#include <QTest>

#include <algorithm>
#include <limits>
#include <numeric>

using kernels::DType;
using kernels::OpTable;
using kernels::ProjectArgs;
using kernels::Queue;
using kernels::Status;
using kernels::WeightFormat;
using kernels::cpu::ThreadPool;
using namespace support;
using Input = ProjectArgs::Input;
using Output = ProjectArgs::Output;

namespace {

/// What project() stands for, from single functions on the calling thread.
struct Composed {
    std::vector<float> residual;
    std::vector<std::vector<float>> y;

    Composed(const OpTable& ops, const ProjectArgs& a) {
        const int64_t in = a.w[0].cols;
        std::vector<float> h(a.x, a.x + in);
        if (a.t != nullptr) {
            if (a.t_norm.data != nullptr) {
                ops.rms_norm_add({}, {a.t, 1, in, in}, a.t_norm, a.eps, 1.0F,
                                 {h.data(), 1, in, in});
            } else {
                ops.add_scaled({}, {a.t, 1, in, in}, 1.0F, {h.data(), 1, in, in});
            }
            ops.scale({}, {h.data(), 1, in, in}, a.scalar);
            residual = h;
        }
        if (a.norm.data != nullptr) {
            ops.rms_norm({}, {h.data(), 1, in, in}, a.norm, a.eps, {h.data(), 1, in, in});
        }
        for (int i = 0; i < a.count; ++i) {
            const int64_t rows = a.w[i].rows;
            y.emplace_back(sizeOf(rows));
            ops.linear({}, {h.data(), 1, in, in}, a.w[i], {y.back().data(), 1, rows, rows});
        }
        if (a.output != Output::Store) {
            const int64_t rows = a.w[0].rows;
            const float* other = a.output == Output::GatedPair ? y[1].data() : a.multiply;
            ops.gated_mul({}, a.activation, {y[0].data(), 1, rows, rows}, {other, 1, rows, rows},
                          {y[0].data(), 1, rows, rows});
            y.resize(1);
        }
    }
};

bool isSame(const float* a, const std::vector<float>& b) {
    return std::memcmp(a, b.data(), b.size() * sizeof(float)) == 0;
}

} // namespace

class TestDecodeSteps : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void projection_data();
    void projection();
    void refusesWhatItDoesNotTake();
    void experts_data();
    void experts();
    void attention_data();
    void attention();
    void largestLogit_data();
    void largestLogit();
};

void TestDecodeSteps::projection_data() {
    support::addColumns<QByteArray, WeightFormat, bool, int, qlonglong>("table", "format", "nested",
                                                                        "block", "cols");
    const struct {
        const char* name;
        WeightFormat format;
        bool is_nested;
        int block;
    } formats[] = {
        {"nf4", WeightFormat::Nf4, false, 64},     {"nf4-dq", WeightFormat::Nf4, true, 64},
        {"fp4", WeightFormat::Fp4, false, 128},    {"nf4-dq by 128", WeightFormat::Nf4, true, 128},
        {"int8", WeightFormat::Int8Row, false, 0}, {"bf16", WeightFormat::BF16, false, 0},
        {"f32", WeightFormat::F32, false, 0},      {"int8 blocks", WeightFormat::Int8, false, 32}};
    for (const char* table : fastTables()) {
        for (const auto& f : formats) {
            for (const qlonglong cols : {256, 832, 13}) {
                QTest::addRow("%s %s %lld columns", table, f.name, cols)
                    << QByteArray(table) << f.format << f.is_nested << (f.block > 0 ? f.block : 64)
                    << cols;
            }
        }
    }
}

void TestDecodeSteps::projection() {
    FETCH_TABLE(found)
    QFETCH(WeightFormat, format);
    QFETCH(bool, nested);
    QFETCH(int, block);
    QFETCH(qlonglong, cols);
    const OpTable& ops = *found;
    const struct {
        std::vector<int64_t> rows;
        Input input;
        Output output;
        bool is_plain = false;
    } steps[] = {{{300, 33, 7}, Input::ResidualNorm, Output::Store},
                 {{64, 32}, Input::Norm, Output::Store},
                 {{400, 400}, Input::ResidualNorm, Output::GatedPair},
                 {{29, 29}, Input::Plain, Output::GatedPair},
                 {{256}, Input::Residual, Output::GatedMultiply},
                 {{1}, Input::Plain, Output::Store},
                 {{40, 40}, Input::ResidualNorm, Output::GatedPair, true},
                 {{48}, Input::Residual, Output::GatedMultiply, true}};
    uint64_t seed = 1;
    for (const auto& step : steps) {
        ProjectCase c(format, nested, block, cols, step.rows, step.input, step.output, ++seed);
        if (step.is_plain) {
            makePlain(c.args);
        }
        const Composed want(ops, c.args);
        for (const int threads : {1, 2, 3}) {
            for (const auto& y : c.y) {
                std::fill_n(y.data(), y.size(), NAN);
            }
            ThreadPool pool(threads);
            QCOMPARE(ops.project({&pool}, c.args), Status::Ok);
            for (size_t i = 0; i < want.y.size(); ++i) {
                QVERIFY2(
                    isSame(c.y[i].data(), want.y[i]),
                    qPrintable(
                        QString("step %1, weight %2, %3 threads").arg(seed).arg(i).arg(threads)));
            }
            QVERIFY(want.residual.empty() || isSame(c.x_out.data(), want.residual));
        }
    }
}

void TestDecodeSteps::refusesWhatItDoesNotTake() {
    const OpTable* const found = kernels::findCpuOps(fastTables().front());
    if (found == nullptr) {
        QSKIP("this processor lacks the instructions");
    }
    const OpTable& ops = *found;
    const ProjectCase c(WeightFormat::Nf4, false, 64, 128, {32, 32}, Input::Norm, Output::Store);
    ProjectArgs args = c.args;
    args.lora_count = 1;
    QCOMPARE(ops.project({}, args), Status::Unsupported);
    args = c.args;
    args.w[1].format = WeightFormat::F32;
    QCOMPARE(ops.project({}, args), Status::Unsupported);
    args = c.args;
    args.count = 0;
    QCOMPARE(ops.project({}, args), Status::BadShape);
    args = c.args;
    args.y[1] = nullptr;
    QCOMPARE(ops.project({}, args), Status::BadShape);
    args = c.args;
    args.input = Input::Residual; // without t
    QCOMPARE(ops.project({}, args), Status::BadShape);
    kernels::AttendStepArgs attend;
    QCOMPARE(ops.attend_step({}, attend), Status::BadShape);
    QCOMPARE(ops.argmax({}, nullptr, 3, nullptr, nullptr), Status::BadShape);
}

void TestDecodeSteps::experts_data() {
    support::addColumns<QByteArray, WeightFormat, bool>("table", "format", "nested");
    for (const char* table : fastTables()) {
        QTest::addRow("%s nf4", table) << QByteArray(table) << WeightFormat::Nf4 << false;
        QTest::addRow("%s nf4-dq", table) << QByteArray(table) << WeightFormat::Nf4 << true;
        QTest::addRow("%s bf16", table) << QByteArray(table) << WeightFormat::BF16 << false;
        QTest::addRow("%s Q4_0", table) << QByteArray(table) << WeightFormat::Q4_0 << false;
    }
}

/// A few rows through routed experts are the products of single functions, added in the order of
/// the experts, for any number of threads; rows of one expert together as far as products of
/// several rows round alike.
void TestDecodeSteps::experts() {
    FETCH_TABLE(found)
    QFETCH(WeightFormat, format);
    QFETCH(bool, nested);
    const OpTable& ops = *found;
    constexpr int64_t kHidden = 192;
    constexpr int64_t kInner = 320;
    constexpr int64_t kExperts = 5;
    constexpr int64_t kTopK = 2;
    const TestWeight gate_up =
        makeWeight(format, kExperts * 2 * kInner, kHidden, 64, nested, DType::BF16, 1);
    const TestWeight down =
        makeWeight(format, kExperts * kHidden, kInner, 64, nested, DType::BF16, 2);
    const std::vector<int32_t> chosen = {3, 0, 3, 1, 4, 3, 1, 0};
    const Guarded<float> weight = randomFloats(8, 3);
    for (const int64_t rows : {1, 4}) {
        const Guarded<float> x = randomFloats(rows * kHidden, 4);
        std::vector<float> want(sizeOf(rows * kHidden), 0.0F);
        std::vector<int64_t> places(sizeOf(rows * kTopK));
        std::iota(places.begin(), places.end(), int64_t{0});
        std::ranges::stable_sort(places, {}, [&](int64_t place) { return chosen[sizeOf(place)]; });
        for (const int64_t place : places) {
            const int64_t e = chosen[sizeOf(place)];
            std::vector<float> both(sizeOf(kExperts * 2 * kInner));
            std::vector<float> y(sizeOf(kExperts * kHidden));
            const auto vector = [](std::vector<float>& v, int64_t first, int64_t cols) {
                return kernels::MutF32{v.data() + first, 1, cols, cols};
            };
            const int64_t row = place / kTopK;
            ops.linear({}, {x.data() + row * kHidden, 1, kHidden, kHidden}, gate_up.view,
                       vector(both, 0, kExperts * 2 * kInner));
            const auto act = vector(both, e * 2 * kInner, kInner);
            ops.gated_mul({}, kernels::kDefaultActivation, act,
                          vector(both, (e * 2 + 1) * kInner, kInner), act);
            ops.linear({}, act, down.view, vector(y, 0, kExperts * kHidden));
            ops.add_scaled({}, vector(y, e * kHidden, kHidden), weight[sizeOf(place)],
                           vector(want, row * kHidden, kHidden));
        }
        for (const int threads : {1, 2, 3}) {
            ThreadPool pool(threads);
            const Guarded<float> sum(sizeOf(rows * kHidden));
            kernels::ExpertRowsArgs args;
            args.x = {x.data(), rows, kHidden, kHidden};
            args.gate_up = gate_up.view;
            args.down = down.view;
            args.experts = kExperts;
            args.top_k = kTopK;
            args.chosen = chosen.data();
            args.weight = weight.data();
            args.sum = {sum.data(), rows, kHidden, kHidden};
            QCOMPARE(ops.expert_rows({&pool}, args), Status::Ok);
            QVERIFY2(rows > 1 ? relativeError(sum.data(), want) < 1e-2 : isSame(sum.data(), want),
                     qPrintable(QString("%1 rows, %2 threads").arg(rows).arg(threads)));
            args.experts = 4; // fewer than a choice names
            QCOMPARE(ops.expert_rows({&pool}, args), Status::BadShape);
        }
    }
}

void TestDecodeSteps::attention_data() {
    support::addColumns<QByteArray, qlonglong, qlonglong, qlonglong, bool>(
        "table", "size", "capacity", "window", "owner");
    for (const char* table : fastTables()) {
        for (const bool owner : {false, true}) {
            QTest::addRow("%s first, owner %d", table, owner)
                << QByteArray(table) << 1LL << 40LL << 0LL << owner;
            QTest::addRow("%s ring, owner %d", table, owner)
                << QByteArray(table) << 75LL << 40LL << 24LL << owner;
            QTest::addRow("%s long, owner %d", table, owner)
                << QByteArray(table) << 1200LL << 1300LL << 0LL << owner;
        }
    }
}

void TestDecodeSteps::attention() {
    FETCH_TABLE(found)
    QFETCH(qlonglong, size);
    QFETCH(qlonglong, capacity);
    QFETCH(qlonglong, window);
    QFETCH(bool, owner);
    const OpTable& ops = *found;
    for (const KvType type : {KvType::BF16, KvType::Q8}) {
        std::vector<float> first;
        for (const int threads : {1, 2, 3, 4}) {
            ThreadPool pool(threads);
            AttendCase c(8, 2, 64, size, capacity, window, owner, 1, type);
            if (threads == 4) {
                makePlain(c.args);
                c.compute(c.q.values(), c.k.values(), c.v.values());
                first.clear();
            }
            QCOMPARE(ops.attend_step({&pool}, c.args), Status::Ok);
            QVERIFY(relativeError(c.out.data(), c.want) < 1e-2); // products of bf16
            QVERIFY(c.distantRows() < 4e-3);
            if (first.empty()) {
                first = c.out.values();
            }
            QVERIFY(isSame(c.out.data(), first));
        }
    }
}

void TestDecodeSteps::largestLogit_data() {
    QTest::addColumn<QByteArray>("table");
    for (const char* table : fastTables()) {
        QTest::addRow("%s", table) << QByteArray(table);
    }
}

void TestDecodeSteps::largestLogit() {
    FETCH_TABLE(found)
    const OpTable& ops = *found;
    ThreadPool pool(3);
    constexpr int64_t kCount = 40009;
    const Guarded<float> logits(randomFloats(kCount, 5));
    std::vector<uint32_t> suppressed((kCount + 31) / 32, 0);
    const auto indexOf = [&](const uint32_t* hidden) {
        uint64_t best = 0;
        const Status status = ops.argmax({&pool}, logits.data(), kCount, hidden, &best);
        return status == Status::Ok
                   ? static_cast<int64_t>(0xffffffffU - static_cast<uint32_t>(best))
                   : -1;
    };
    // Equal values: the lowest index wins, also across pieces; suppressed ones are left out.
    for (const int64_t at : {40008, 30000, 77}) {
        logits[sizeOf(at)] = 50.0F;
        QCOMPARE(indexOf(nullptr), at);
        QCOMPARE(indexOf(suppressed.data()), at);
    }
    suppressed[77 / 32] |= 1U << (77U % 32U);
    QCOMPARE(indexOf(suppressed.data()), 30000);
    suppressed[30000 / 32] |= 1U << (30000U % 32U);
    QCOMPARE(indexOf(suppressed.data()), 40008);
    // Both zeros are one value; all values below zero are found, too.
    std::fill_n(logits.data(), logits.size(), -3.0F);
    logits[500] = -0.0F;
    logits[20000] = 0.0F;
    QCOMPARE(indexOf(nullptr), 500);
    // What is no number, whatever its sign, lies outside of all finite values.
    const float nan = std::numeric_limits<float>::quiet_NaN();
    for (const float value : {nan, -nan, std::numeric_limits<float>::infinity()}) {
        logits[501] = value;
        uint64_t best = 0;
        QCOMPARE(ops.argmax({&pool}, logits.data(), kCount, nullptr, &best), Status::Ok);
        QVERIFY(best >> 32U >= 0xff800000U);
        QCOMPARE(static_cast<uint32_t>(best), 0xffffffffU - 501U);
    }
    // Infinite first and no number later, in pieces of their own.
    logits[501] = std::numeric_limits<float>::infinity();
    logits[30000] = nan;
    QCOMPARE(indexOf(nullptr), 30000);
    // Nothing is left: the answer is below all values.
    std::fill(suppressed.begin(), suppressed.end(), 0xffffffffU);
    uint64_t best = 1;
    QCOMPARE(ops.argmax({&pool}, logits.data(), kCount, suppressed.data(), &best), Status::Ok);
    QCOMPARE(best, uint64_t{0});
}

TEST_CLASS(TestDecodeSteps)
#include "tst_decode_steps.moc"
