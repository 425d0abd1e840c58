// SPDX-License-Identifier: Apache-2.0
// Norms, rotary embedding, activations, convolutions, gather and store of every table against the
// reference, with odd widths, strides and in-place calls; and the vector exponential, tanh and
// sine through the functions that use them, over their whole range.
#include "tests/kernels/kernel_cases.h"
#include "tests/kernels/table_rows.h"
#include "tests/support/golden.h"
#include "tests/support/program/test_class.h"

#include <QTest>

#include <functional>

using kernels::DType;
using kernels::KvType;
using kernels::MatView;
using kernels::OpTable;
using kernels::Status;
using kernels::WeightFormat;
using namespace support;

namespace {

constexpr double kElementwiseNmseFp32 = 1e-12;

/// A call on one table: reads nothing but its inputs, writes `y`.
using ElementwiseCall = std::function<Status(const OpTable&, kernels::MutF32 y)>;

/// Runs the call on the reference and on the table, both starting from the same y.
QString difference(const OpTable& ops,
                   const Guarded<float>& start,
                   int64_t rows,
                   int64_t cols,
                   int64_t stride,
                   const ElementwiseCall& call,
                   double bound = kElementwiseNmseFp32) {
    const Guarded<float> expected(start.values());
    const Guarded<float> actual(start.values());
    const Status reference = call(kernels::cpuScalarOps(), {expected.data(), rows, cols, stride});
    const Status status = call(ops, {actual.data(), rows, cols, stride});
    if (reference != Status::Ok || status != Status::Ok) {
        return "refused";
    }
    if (expected.values() == start.values()) {
        return "the call changed nothing";
    }
    const double error = nmse(actual.values(), expected.values());
    return error <= bound ? QString() : QString("NMSE %1").arg(error);
}

} // namespace

class TestElementwise : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void matchesReference_data();
    void matchesReference();
    void rope_data();
    void rope();
    void norms_data();
    void norms();
    void gather_data();
    void gather();
    void store_data();
    void store();
    void subsampleConv_data();
    void subsampleConv();
    void functionRange_data();
    void functionRange();
    void ropeAtLargePositions_data();
    void ropeAtLargePositions();
    void clampKeepsNan_data();
    void clampKeepsNan();
    void refusesBadShapes();
};

void TestElementwise::matchesReference_data() {
    support::addColumns<QByteArray, int, int>("table", "rows", "cols");
    for (const char* table : fastTables()) {
        for (const int rows : {1, 3, 40}) {
            for (const int cols : {1, 7, 16, 33, 768, 5000}) {
                QTest::addRow("%s %d x %d", table, rows, cols) << QByteArray(table) << rows << cols;
            }
        }
    }
}

void TestElementwise::matchesReference() {
    FETCH_TABLE(ops)
    QFETCH(int, rows);
    QFETCH(int, cols);
    const kernels::Queue q = testQueue();
    const int64_t stride = cols + 5;
    const auto a = randomFloats(rows * stride, 1, 2.0F);
    const auto b = randomFloats(rows * stride, 2, 2.0F);
    const auto columns = randomFloats(cols, 4);
    const auto taps = randomFloats(cols * 5, 5);
    const auto start = randomFloats(rows * stride, 6);
    const auto mat = [&](const Guarded<float>& m) { return matrix(m, rows, cols, stride); };
    const std::vector<std::pair<const char*, ElementwiseCall>> calls = {
        {"gated_mul, GELU",
         [&](const OpTable& o, kernels::MutF32 y) {
             return o.gated_mul(q, kernels::Activation::GeluTanh, mat(a), mat(b), y);
         }},
        {"gated_mul, GELU, in place",
         [&](const OpTable& o, kernels::MutF32 y) {
             return o.gated_mul(q, kernels::Activation::GeluTanh, y, mat(b), y);
         }},
        {"gated_mul, SiLU",
         [&](const OpTable& o, kernels::MutF32 y) {
             return o.gated_mul(q, kernels::Activation::Silu, mat(a), mat(b), y);
         }},
        {"gated_mul, SiLU, in place",
         [&](const OpTable& o, kernels::MutF32 y) {
             return o.gated_mul(q, kernels::Activation::Silu, y, mat(b), y);
         }},
        {"sigmoid_mul",
         [&](const OpTable& o, kernels::MutF32 y) { return o.sigmoid_mul(q, mat(a), mat(b), y); }},
        {"sigmoid_mul, all in one place",
         [&](const OpTable& o, kernels::MutF32 y) { return o.sigmoid_mul(q, y, y, y); }},
        {"causal_conv1d",
         [&](const OpTable& o, kernels::MutF32 y) {
             return o.causal_conv1d(q, mat(a), taps.data(), 5, y);
         }},
        {"clamp",
         [&](const OpTable& o, kernels::MutF32 y) { return o.clamp(q, mat(a), -0.5F, 0.75F, y); }},
        {"add_scaled",
         [&](const OpTable& o, kernels::MutF32 y) { return o.add_scaled(q, mat(a), 0.5F, y); }},
        {"scale", [&](const OpTable& o, kernels::MutF32 y) { return o.scale(q, y, -1.75F); }},
        {"scale_columns", [&](const OpTable& o,
                              kernels::MutF32 y) { return o.scale_columns(q, y, columns.data()); }},
        {"add_columns",
         [&](const OpTable& o, kernels::MutF32 y) { return o.add_columns(q, y, columns.data()); }},
        {"soft_cap", [&](const OpTable& o, kernels::MutF32 y) { return o.soft_cap(q, y, 1.5F); }},
    };
    for (const auto& [name, call] : calls) {
        const QString problem = difference(*ops, start, rows, cols, stride, call);
        QVERIFY2(problem.isEmpty(), qPrintable(QString("%1: %2").arg(name, problem)));
    }
}

void TestElementwise::rope_data() {
    QTest::addColumn<QByteArray>("table");
    QTest::addColumn<QList<int>>("layout"); // heads, head_dim, offset, dim
    for (const char* table : fastTables()) {
        for (const QList<int>& l :
             {QList<int>{8, 256, 0, 256}, QList<int>{2, 512, 0, 512}, QList<int>{12, 64, 0, 32},
              QList<int>{12, 64, 32, 32}, QList<int>{16, 72, 36, 36}, QList<int>{3, 12, 0, 6},
              QList<int>{1, 2, 0, 2}, QList<int>{2, 10, 3, 0}}) {
            QTest::addRow("%s %d heads of %d, columns %d+%d", table, l[0], l[1], l[2], l[3])
                << QByteArray(table) << l;
        }
    }
}

void TestElementwise::rope() {
    FETCH_TABLE(ops)
    QFETCH(QList<int>, layout);
    const int64_t rows = 9;
    const int64_t cols = int64_t{layout[0]} * layout[1];
    Guarded<int32_t> position(rows);
    for (int i = 0; i < rows; ++i) {
        position[static_cast<size_t>(i)] = i * i * 7;
    }
    Guarded<float> freq(static_cast<size_t>(layout[3] / 2));
    for (size_t j = 0; j < freq.size(); ++j) {
        freq[j] = static_cast<float>(std::pow(10000.0, -2.0 * static_cast<double>(j) / layout[3]));
    }
    const auto start = randomFloats(rows * cols, 3);
    const ElementwiseCall call = [&](const OpTable& o, kernels::MutF32 y) {
        return o.rope(testQueue(), y, layout[1], layout[2], layout[3], position.data(),
                      freq.data());
    };
    const QString problem = difference(*ops, start, rows, cols, cols, call, 1e-11);
    if (layout[3] == 0) {
        QCOMPARE(problem, QString("the call changed nothing"));
    } else {
        QCOMPARE(problem, QString());
    }
}

void TestElementwise::norms_data() {
    QTest::addColumn<QByteArray>("table");
    QTest::addColumn<int>("cols");
    QTest::addColumn<int>("type"); // 0: no weight
    for (const char* table : fastTables()) {
        for (const int cols : {1, 12, 64, 256, 1536, 1537, 5376}) {
            for (const int type : {0, 1, 2, 3}) {
                QTest::addRow("%s %d columns, weight type %d", table, cols, type)
                    << QByteArray(table) << cols << type;
            }
        }
    }
}

void TestElementwise::norms() {
    FETCH_TABLE(ops)
    QFETCH(int, cols);
    QFETCH(int, type);
    const int64_t rows = 11;
    const auto dtype = type == 0 ? DType::F32 : static_cast<DType>(type);
    const auto weight = stored(randomFloats(cols, 1), dtype);
    const MatView view{type == 0 ? nullptr : weight.data(), dtype, 1, cols};
    const auto x = randomFloats(rows * cols, 2, 30.0F);
    const auto start = randomFloats(rows * cols, 3);
    const kernels::MatF32 mx = matrix(x, rows, cols);
    const std::vector<std::pair<const char*, ElementwiseCall>> calls = {
        {"rms_norm",
         [&](const OpTable& o, kernels::MutF32 y) {
             return o.rms_norm(testQueue(), mx, view, 1e-6F, y);
         }},
        {"rms_norm in place",
         [&](const OpTable& o, kernels::MutF32 y) {
             return o.rms_norm(testQueue(), y, view, 1e-6F, y);
         }},
        {"rms_norm_add",
         [&](const OpTable& o, kernels::MutF32 y) {
             return o.rms_norm_add(testQueue(), mx, view, 1e-6F, 0.5F, y);
         }},
    };
    for (const auto& [name, call] : calls) {
        const QString problem = difference(*ops, start, rows, cols, cols, call);
        QVERIFY2(problem.isEmpty(), qPrintable(QString("%1: %2").arg(name, problem)));
    }
}

void TestElementwise::gather_data() {
    QTest::addColumn<QByteArray>("table");
    QTest::addColumn<WeightFormat>("format");
    QTest::addColumn<QList<int>>("layout"); // table columns, first column, columns taken, block
    QTest::addColumn<bool>("nested");
    QTest::addColumn<DType>("expand");
    for (const char* table : fastTables()) {
        for (const WeightFormat format :
             {WeightFormat::F32, WeightFormat::F16, WeightFormat::BF16, WeightFormat::Int8Row,
              WeightFormat::Int8, WeightFormat::Nf4, WeightFormat::Fp4}) {
            for (const QList<int>& l :
                 {QList<int>{64, 0, 64, 64}, QList<int>{100, 3, 90, 64}, QList<int>{99, 0, 99, 32},
                  QList<int>{512, 256, 256, 128}, QList<int>{13, 12, 1, 4096}}) {
                for (const bool nested : {false, true}) {
                    if (nested && kernels::rowOf(format).layout != kernels::WeightLayout::Codes) {
                        continue;
                    }
                    for (const DType expand : {DType::F32, DType::F16, DType::BF16}) {
                        QTest::addRow("%s %s %d columns, %d+%d, block %d%s, to type %d", table,
                                      formatName(format), l[0], l[1], l[2], l[3],
                                      nested ? " nested" : "", static_cast<int>(expand))
                            << QByteArray(table) << format << l << nested << expand;
                    }
                }
            }
        }
    }
}

/// Bit for bit: this is the expansion that towers and embeddings rely on.
void TestElementwise::gather() {
    FETCH_TABLE(ops)
    QFETCH(WeightFormat, format);
    QFETCH(QList<int>, layout);
    QFETCH(bool, nested);
    QFETCH(DType, expand);
    const TestWeight w = makeWeight(format, 30, layout[0], layout[3], nested, expand, 5);
    const std::vector<int32_t> ids = {29, 0, 7, 7, 28};
    const auto count = static_cast<int64_t>(ids.size());
    const auto expected = randomFloats(count * layout[2], 1);
    const auto actual = randomFloats(count * layout[2], 2);
    QCOMPARE(kernels::cpuScalarOps().gather_rows(testQueue(), w.view, ids.data(), count, layout[1],
                                                 39.25F, matrix(expected, count, layout[2])),
             Status::Ok);
    QCOMPARE(ops->gather_rows(testQueue(), w.view, ids.data(), count, layout[1], 39.25F,
                              matrix(actual, count, layout[2])),
             Status::Ok);
    QVERIFY(std::memcmp(actual.data(), expected.data(), actual.size() * sizeof(float)) == 0);
}

void TestElementwise::store_data() {
    support::addColumns<QByteArray, KvType, int>("table", "type", "cols");
    for (const char* table : fastTables()) {
        for (const KvType type : {KvType::F32, KvType::F16, KvType::BF16, KvType::Q8}) {
            for (const int cols : {1, 12, 256, 1030}) {
                QTest::addRow("%s type %d, %d columns", table, static_cast<int>(type), cols)
                    << QByteArray(table) << type << cols;
            }
        }
    }
}

void TestElementwise::store() {
    FETCH_TABLE(ops)
    QFETCH(KvType, type);
    QFETCH(int, cols);
    const auto src = randomFloats(4 * cols, 1, 100.0F);
    // Values at the edges: ties, overflow to infinity, subnormals, minus zero.
    const std::vector<float> edges = {65519.9F, 65520.0F, -1e30F, 1.00390625F, 1.01171875F,
                                      6e-8F,    2.9e-8F,  -0.0F,  1e-40F,      3.3e38F};
    for (size_t i = 0; i < edges.size() && i < src.size(); ++i) {
        src[i] = edges[i];
    }
    const std::vector<int32_t> slot = {5, 0, 3, 2};
    const int64_t heads = cols % 2 == 0 ? 2 : 1;
    const auto size = static_cast<size_t>(6 * kernels::kvRowBytes(type, heads, cols / heads));
    const Guarded<uint8_t> expected(std::vector<uint8_t>(size, 0xaa));
    const Guarded<uint8_t> actual(std::vector<uint8_t>(size, 0xaa));
    QCOMPARE(kernels::cpuScalarOps().store_rows(testQueue(), matrix(src, 4, cols), slot.data(),
                                                type, heads, expected.data(), 6),
             Status::Ok);
    QCOMPARE(ops->store_rows(testQueue(), matrix(src, 4, cols), slot.data(), type, heads,
                             actual.data(), 6),
             Status::Ok);
    QVERIFY(std::memcmp(expected.data(), actual.data(), size) == 0);
    const std::vector<int32_t> outside = {5, 0, 6, 2};
    QCOMPARE(ops->store_rows(testQueue(), matrix(src, 4, cols), outside.data(), type, heads,
                             actual.data(), 6),
             Status::BadShape);
}

void TestElementwise::subsampleConv_data() {
    QTest::addColumn<QByteArray>("table");
    QTest::addColumn<QList<int>>("dims"); // time, mel, in, out
    for (const char* table : fastTables()) {
        for (const QList<int>& d :
             {QList<int>{20, 128, 1, 128}, QList<int>{9, 64, 128, 32}, QList<int>{1, 1, 1, 1},
              QList<int>{7, 5, 3, 37}, QList<int>{2, 2, 20, 8}}) {
            QTest::addRow("%s %dx%d, %d to %d channels", table, d[0], d[1], d[2], d[3])
                << QByteArray(table) << d;
        }
    }
}

void TestElementwise::subsampleConv() {
    FETCH_TABLE(ops)
    QFETCH(QList<int>, dims);
    const auto in = randomFloats(int64_t{dims[0]} * dims[1] * dims[2], 1);
    const auto weight = randomFloats(int64_t{9} * dims[2] * dims[3], 2);
    const auto norm = randomFloats(dims[3], 3);
    const int64_t size = int64_t{(dims[0] + 1) / 2} * ((dims[1] + 1) / 2) * dims[3];
    const auto expected = randomFloats(size, 4);
    const auto actual = randomFloats(size, 5);
    kernels::SubsampleConvArgs args;
    args.in = in.data();
    args.time = dims[0];
    args.mel = dims[1];
    args.in_ch = dims[2];
    args.out_ch = dims[3];
    args.weight = weight.data();
    args.norm = norm.data();
    args.out = expected.data();
    QCOMPARE(kernels::cpuScalarOps().subsample_conv(testQueue(), args), Status::Ok);
    args.out = actual.data();
    QCOMPARE(ops->subsample_conv(testQueue(), args), Status::Ok);
    if (dims[3] == 1) { // one channel normalises to zero
        QCOMPARE(actual[0], 0.0F);
        QCOMPARE(expected[0], 0.0F);
        return;
    }
    const double error = nmse(actual.values(), expected.values());
    QVERIFY2(error <= kElementwiseNmseFp32, qPrintable(QString("NMSE %1").arg(error)));
}

void TestElementwise::functionRange_data() {
    QTest::addColumn<QByteArray>("table");
    for (const char* table : fastTables()) {
        QTest::addRow("%s", table) << QByteArray(table);
    }
}

/// Relative error against double over the whole range: tanh (soft_cap with cap 1), and the
/// exponential through x * sigmoid(x).
void TestElementwise::functionRange() {
    FETCH_TABLE(ops)
    const int64_t n = 200001;
    Guarded<float> x(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) {
        x[static_cast<size_t>(i)] = static_cast<float>(i - n / 2) * 9e-4F; // -90 to 90
    }
    x[0] = -1e6F;
    x[1] = 1e6F;
    x[2] = 1e-20F;
    const Guarded<float> y(x.values());
    QCOMPARE(ops->soft_cap(testQueue(), matrix(y, 1, n), 1.0F), Status::Ok);
    double worst_tanh = 0.0;
    for (size_t i = 0; i < x.size(); ++i) {
        const double exact = std::tanh(static_cast<double>(x[i]));
        const double error = std::fabs(static_cast<double>(y[i]) - exact);
        worst_tanh = std::max(worst_tanh, exact == 0.0 ? error : error / std::fabs(exact));
    }
    QVERIFY2(worst_tanh < 1e-6, qPrintable(QString("tanh %1").arg(worst_tanh)));
    QCOMPARE(ops->sigmoid_mul(testQueue(), matrix(x, 1, n), matrix(x, 1, n), matrix(y, 1, n)),
             Status::Ok);
    double worst_exp = 0.0;
    for (size_t i = 2; i < x.size(); ++i) {
        const auto value = static_cast<double>(x[i]);
        if (value < -80.0 || value == 0.0) {
            continue; // e^-x leaves the range of normal fp32
        }
        const double exact = value / (1.0 + std::exp(-value));
        worst_exp = std::max(worst_exp, std::fabs(static_cast<double>(y[i]) / exact - 1.0));
    }
    QVERIFY2(worst_exp < 1e-6, qPrintable(QString("exp %1").arg(worst_exp)));
    QVERIFY(std::fabs(y[0]) < 1e-30F); // -1e6 * sigmoid(-1e6) vanishes
    QCOMPARE(y[1], 1e6F);
}

void TestElementwise::ropeAtLargePositions_data() {
    functionRange_data();
}

/// Sine and cosine at positions up to 262143 with frequency 1: absolute error below 1e-6.
void TestElementwise::ropeAtLargePositions() {
    FETCH_TABLE(ops)
    const int64_t rows = 4000;
    Guarded<int32_t> position(static_cast<size_t>(rows));
    for (int64_t i = 0; i < rows; ++i) {
        position[static_cast<size_t>(i)] = static_cast<int32_t>(i * 262143 / (rows - 1));
    }
    const float freq = 1.0F;
    Guarded<float> x(static_cast<size_t>(2 * rows));
    for (size_t i = 0; i < x.size(); ++i) {
        x[i] = i % 2 == 0 ? 1.0F : 0.0F;
    }
    QCOMPARE(ops->rope(testQueue(), matrix(x, rows, 2), 2, 0, 2, position.data(), &freq),
             Status::Ok);
    for (int64_t i = 0; i < rows; ++i) {
        const auto angle = static_cast<double>(position[static_cast<size_t>(i)]);
        QVERIFY(std::fabs(static_cast<double>(x[static_cast<size_t>(2 * i)]) - std::cos(angle)) <
                1e-6);
        QVERIFY(std::fabs(static_cast<double>(x[static_cast<size_t>(2 * i + 1)]) -
                          std::sin(angle)) < 1e-6);
    }
}

void TestElementwise::clampKeepsNan_data() {
    QTest::addColumn<QByteArray>("table");
    for (const char* table :
         {"cpu-scalar", "cpu-avx2", "cpu-avx512", "cpu-avx512vnni", "cpu-avx512bf16"}) {
        QTest::addRow("%s", table) << QByteArray(table);
    }
}

void TestElementwise::clampKeepsNan() {
    FETCH_TABLE(ops)
    const Guarded<float> x(std::vector<float>{NAN, -INFINITY, INFINITY, 0.25F, 9.0F});
    QCOMPARE(ops->clamp({}, matrix(x, 1, 5), -2.0F, 3.0F, matrix(x, 1, 5)), Status::Ok);
    QVERIFY(std::isnan(x[0]));
    QCOMPARE(x[1], -2.0F);
    QCOMPARE(x[2], 3.0F);
    QCOMPARE(x[3], 0.25F);
    QCOMPARE(x[4], 3.0F);
}

void TestElementwise::refusesBadShapes() {
    for (const char* name :
         {"cpu-scalar", "cpu-avx2", "cpu-avx512", "cpu-avx512vnni", "cpu-avx512bf16"}) {
        const OpTable* ops = kernels::findCpuOps(name);
        if (ops == nullptr) {
            continue;
        }
        const auto x = randomFloats(64, 1);
        const auto small = matrix(x, 2, 8);
        const auto large = matrix(x, 2, 16);
        const int32_t position[2] = {0, 1};
        const float freq[8] = {};
        QCOMPARE(ops->gated_mul({}, kernels::Activation::GeluTanh, small, large, small),
                 Status::BadShape);
        QCOMPARE(ops->gated_mul({}, kernels::Activation::Silu, small, large, small),
                 Status::BadShape);
        QCOMPARE(ops->sigmoid_mul({}, small, large, small), Status::BadShape);
        QCOMPARE(ops->sigmoid_mul({}, large, small, small), Status::BadShape);
        QCOMPARE(ops->rms_norm({}, small, {x.data(), DType::F32, 1, 7}, 1e-6F, small),
                 Status::BadShape);
        QCOMPARE(ops->rope({}, small, 3, 0, 2, position, freq), Status::BadShape);
        QCOMPARE(ops->rope({}, small, 8, 4, 6, position, freq), Status::BadShape);
        QCOMPARE(ops->rope({}, small, 8, 0, 3, position, freq), Status::BadShape);
        QCOMPARE(ops->soft_cap({}, small, 0.0F), Status::BadShape);
        QCOMPARE(ops->causal_conv1d({}, small, nullptr, 5, small), Status::BadShape);
        const TestWeight w = makeWeight(WeightFormat::BF16, 4, 8, 0, false, DType::BF16, 1);
        const int32_t outside[2] = {0, 4};
        QCOMPARE(ops->gather_rows({}, w.view, outside, 2, 0, 1.0F, small), Status::BadShape);
        const int32_t inside[2] = {0, 3};
        QCOMPARE(ops->gather_rows({}, w.view, inside, 2, 1, 1.0F, small), Status::BadShape);
        QCOMPARE(ops->gather_rows({}, w.view, inside, 2, 0, 1.0F, small), Status::Ok);
    }
}

TEST_CLASS(TestElementwise)
#include "tst_elementwise.moc"
