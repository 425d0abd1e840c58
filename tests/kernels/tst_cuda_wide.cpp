// SPDX-License-Identifier: Apache-2.0
// Products by warp groups, of 4-bit weights (device/prompt/product_wide.cu) and of 16-bit ones or
// what is expanded to them (device/prompt/product_wide_half.cu), run by the emulator: every size of
// a tile, both outputs, edges of rows, outputs and columns, parts of the columns, nested and plain
// absmax, more tiles than blocks, in several orders of threads; and what wideSizes() and
// halfSizes() choose.
#include "kernels/cuda/launch_sizes.h"
#include "tests/kernels/step_cases.h"
#include "tests/support/cuda_emulator/emulated_card.h"
#include "tests/support/program/test_class.h"

#include <QTest>

#include <algorithm>

using kernels::DType;
using kernels::MutF32;
using kernels::ProductArgs;
using kernels::Status;
using kernels::WeightFormat;
using kernels::cuda::CodesSizes;
using kernels::cuda::codesSizes;
using kernels::cuda::HalfSizes;
using kernels::cuda::halfSizes;
using kernels::cuda::wideSizes;
using kernels::cuda::WideSizes;
using namespace support;

namespace {

/// x, a weight (rounded three times) and, of a pair, the result in bf16.
constexpr double kWideBound = 5e-3;

struct CudaWideCase {
    int64_t rows = 0, in = 0;
    std::vector<int64_t> outputs;
    WeightFormat format = WeightFormat::Nf4;
    bool is_nested = true;
    bool is_pair = false;
    int room = 1; ///< For parts.
};

/// Largest error of a product on the card beside the scalar table; -1 with a failed check.
double errorOf(EmulatedCard& card, const CudaWideCase& c) {
    const Guarded<float> drawn = randomFloats(c.rows * c.in, 7);
    const Guarded<uint8_t> x = stored(drawn, DType::BF16);
    std::vector<float> rounded(sizeOf(c.rows * c.in));
    for (size_t i = 0; i < rounded.size(); ++i) {
        rounded[i] = kernels::cpu::bf16ToFloat(reinterpret_cast<const uint16_t*>(x.data())[i]);
    }
    ProductArgs a;
    a.output = c.is_pair ? ProductArgs::Output::GatedPair : ProductArgs::Output::Store;
    a.activation = c.is_nested ? kernels::Activation::GeluTanh : kernels::Activation::Silu;
    a.x = x.data();
    a.rows = c.rows;
    a.count = static_cast<int>(c.outputs.size());
    a.parts = c.room;
    std::vector<TestWeight> weights;
    std::vector<Guarded<float>> results;
    std::vector<std::vector<float>> want;
    for (size_t i = 0; i < c.outputs.size(); ++i) {
        const int64_t out = c.outputs[i];
        weights.push_back(makeWeight(c.format, out, c.in, 64, c.is_nested, DType::F32, 100 + i));
        results.emplace_back(sizeOf(c.room * c.rows * out));
        std::fill_n(results.back().data(), results.back().size(), std::nanf(""));
        want.emplace_back(sizeOf(c.rows * out));
        reference().linear({}, {rounded.data(), c.rows, c.in, c.in}, weights.back().view,
                           {want.back().data(), c.rows, out, out});
    }
    for (size_t i = 0; i < c.outputs.size(); ++i) {
        a.w[i] = weights[i].view;
        a.y[i] = results[i].data();
    }
    const Status status = card.device().ops().product(card.device().queue(), a);
    const std::string wrong = card.finish();
    if (status != Status::Ok || !wrong.empty()) {
        qWarning("%d %s", static_cast<int>(status), wrong.c_str());
        return -1.0;
    }
    if (c.is_pair) {
        const MutF32 gate{want[0].data(), c.rows, c.outputs[0], c.outputs[0]};
        reference().gated_mul({}, a.activation, gate,
                              {want[1].data(), c.rows, c.outputs[0], c.outputs[0]}, gate);
        std::vector<float> got(want[0].size());
        for (size_t i = 0; i < got.size(); ++i) {
            got[i] =
                kernels::cpu::bf16ToFloat(reinterpret_cast<const uint16_t*>(results[0].data())[i]);
        }
        return relativeError(got.data(), want[0]);
    }
    double worst = 0.0;
    for (size_t i = 0; i < want.size(); ++i) {
        std::vector<float> got(want[i].size(), 0.0F);
        for (size_t e = 0; e < got.size() * static_cast<size_t>(a.parts); ++e) {
            got[e % got.size()] += results[i].data()[e];
        }
        worst = std::max(worst, relativeError(got.data(), want[i]));
    }
    return worst;
}

/// Names of the kernels by warp groups that ran.
std::vector<std::string> wideOnes(const EmulatedCard& card) {
    std::vector<std::string> names;
    std::copy_if(card.ran().begin(), card.ran().end(), std::back_inserter(names),
                 [](const std::string& name) {
                     return name.find("_wide_") != std::string::npos ||
                            name.find("product_half_") != std::string::npos;
                 });
    return names;
}

} // namespace

class TestCudaWide : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void products_data();
    void products();
    void halves_data();
    void halves();
    void panels();
    void otherKernelsTakeTheRest();
    void otherKernelsTakeTheRestOfHalves();
    void plans_data();
    void plans();
    void fewRows_data();
    void fewRows();
    void halfPlans_data();
    void halfPlans();
};

void TestCudaWide::products_data() {
    support::addColumns<int, int, int>("tile", "number", "seed");
    for (const int tile : {128, 192, 256}) {
        for (int number = 0; number < 6; ++number) {
            for (const int seed : {0, 1, 2, 3}) {
                if (seed == 0 || number == 1 || number == 4) {
                    QTest::addRow("tile %d, case %d, seed %d", tile, number, seed)
                        << tile << number << seed;
                }
            }
        }
    }
}

void TestCudaWide::products() {
    QFETCH(int, tile);
    QFETCH(int, number);
    QFETCH(int, seed);
    const CudaWideCase cases[] = {
        {70, 256, {192, 64, 72}, WeightFormat::Nf4, true, false, 1},
        {260, 512, {136}, WeightFormat::Fp4, true, false, 2},
        {40, 1024, {128}, WeightFormat::Nf4, false, false, 4},
        {300, 256, {200, 200}, WeightFormat::Nf4, true, true, 1},
        {270, 768, {72, 72}, WeightFormat::Fp4, false, true, 1},
        {3, 2560, {8}, WeightFormat::Nf4, true, false, 3},
    };
    const CudaWideCase& c = cases[number];
    EmulatedCardOptions options;
    options.run.seed = static_cast<uint64_t>(seed);
    options.card.wide_rows = tile;
    EmulatedCard card(options);
    const double error = errorOf(card, c);
    QVERIFY(error >= 0.0);
    QCOMPARE_LT(error, kWideBound);
    const std::string name =
        std::string("belfry_product_wide_") + (c.is_pair ? "pair_" : "") + std::to_string(tile);
    QCOMPARE(wideOnes(card), std::vector<std::string>{name});
}

void TestCudaWide::halves_data() {
    support::addColumns<int, int, int>("tile", "number", "seed");
    for (const int tile : {128, 192, 256, 320}) {
        for (int number = 0; number < 7; ++number) {
            for (const int seed : {0, 1, 2, 3}) {
                const bool is_pair = number == 3 || number == 4;
                if ((seed == 0 || number == 1 || number == 4) && !(is_pair && tile == 320)) {
                    QTest::addRow("tile %d, case %d, seed %d", tile, number, seed)
                        << tile << number << seed;
                }
            }
        }
    }
}

void TestCudaWide::halves() {
    QFETCH(int, tile);
    QFETCH(int, number);
    QFETCH(int, seed);
    constexpr auto kBf16 = WeightFormat::BF16;
    constexpr auto kInt8 = WeightFormat::Int8Row;
    const CudaWideCase cases[] = {
        {70, 256, {344, 64, 72}, kBf16, false, false, 1},
        {260, 512, {136}, kInt8, false, false, 2},
        {40, 1024, {128}, kBf16, false, false, 4},
        {130, 1088, {200, 200}, kBf16, false, true, 1},
        {270, 328, {72, 72}, kInt8, false, true, 1},
        {3, 2560, {8}, kBf16, false, false, 3},
        {150, 72, {520}, kBf16, false, false, 1},
    };
    const CudaWideCase& c = cases[number];
    EmulatedCardOptions options;
    options.multiprocessors = number == 6 ? 1 : 2;
    options.run.seed = static_cast<uint64_t>(seed);
    options.card.wide_rows = tile;
    EmulatedCard card(options);
    const double error = errorOf(card, c);
    QVERIFY(error >= 0.0);
    QCOMPARE_LT(error, kWideBound);
    const std::string name =
        std::string("belfry_product_half_") + (c.is_pair ? "pair_" : "") + std::to_string(tile);
    QCOMPARE(wideOnes(card), std::vector<std::string>{name});
}

/// Cards without warp groups, few rows, bounds, outputs that are no multiple of eight.
void TestCudaWide::otherKernelsTakeTheRest() {
    {
        EmulatedCardOptions options;
        options.capability = 80;
        EmulatedCard card(options);
        const double error = errorOf(card, {130, 256, {64}, WeightFormat::Nf4, true, false, 1});
        QVERIFY(error >= 0.0 && error < kWideBound);
        QVERIFY(wideOnes(card).empty());
    }
    EmulatedCard card{EmulatedCardOptions{}};
    for (const CudaWideCase& c :
         {CudaWideCase{64, 256, {64}, WeightFormat::Nf4, true, false, 1},
          CudaWideCase{130, 256, {66}, WeightFormat::Nf4, true, false, 1}}) {
        const double error = errorOf(card, c);
        QVERIFY(error >= 0.0 && error < kWideBound);
        QVERIFY(wideOnes(card).empty());
    }
    const double error = errorOf(card, {65, 256, {64}, WeightFormat::Nf4, true, false, 1});
    QVERIFY(error >= 0.0 && error < kWideBound);
    QCOMPARE(wideOnes(card).size(), size_t{1});
}

/// An expanded weight that its panel does not hold at once: the outputs of each launch lie where
/// they belong, all of them in as many parts.
void TestCudaWide::panels() {
    EmulatedCardOptions options;
    options.multiprocessors = 4;
    EmulatedCard card(options);
    const double error = errorOf(card, {66, 12288, {536}, WeightFormat::Int8Row, false, false, 1});
    QVERIFY2(error >= 0.0 && error < kWideBound, qPrintable(QString::number(error)));
    QVERIFY(wideOnes(card).size() > 1);
}

void TestCudaWide::otherKernelsTakeTheRestOfHalves() {
    constexpr auto kBf16 = WeightFormat::BF16;
    {
        EmulatedCardOptions options;
        options.capability = 80;
        EmulatedCard card(options);
        const double error = errorOf(card, {130, 256, {64}, kBf16, false, false, 1});
        QVERIFY(error >= 0.0 && error < kWideBound);
        QVERIFY(wideOnes(card).empty());
    }
    EmulatedCard card{EmulatedCardOptions{}};
    for (const CudaWideCase& c : {CudaWideCase{64, 256, {64}, kBf16, false, false, 1},
                                  CudaWideCase{130, 256, {66}, kBf16, false, false, 1}}) {
        const double error = errorOf(card, c);
        QVERIFY(error >= 0.0 && error < kWideBound);
        QVERIFY(wideOnes(card).empty());
    }
    const double error = errorOf(card, {65, 256, {64}, kBf16, false, false, 1});
    QVERIFY(error >= 0.0 && error < kWideBound);
    QCOMPARE(wideOnes(card).size(), size_t{1});
}

void TestCudaWide::plans_data() {
    support::addColumns<int, int, int, int, int, int>("rows", "outputs", "columns", "room", "tile",
                                                      "parts");
    // On 132 multiprocessors; outputs of E4B.
    QTest::addRow("gate and up of a chunk") << 2048 << 20480 << 2560 << 1 << 256 << 1;
    QTest::addRow("gate and up of a picture's prompt") << 300 << 20480 << 2560 << 1 << 192 << 1;
    QTest::addRow("gate and up of 128 rows") << 128 << 20480 << 2560 << 1 << 128 << 1;
    QTest::addRow("few outputs, no room") << 300 << 2560 << 10240 << 1 << 128 << 1;
    QTest::addRow("few outputs in parts") << 300 << 2560 << 10240 << 4 << 192 << 3;
    QTest::addRow("no more parts than pieces") << 100 << 256 << 512 << 8 << 128 << 2;
}

void TestCudaWide::plans() {
    QFETCH(int, rows);
    QFETCH(int, outputs);
    QFETCH(int, columns);
    QFETCH(int, room);
    const WideSizes sizes = wideSizes(132, rows, (outputs + 127) / 128, columns / 256, room, 0);
    QTEST(sizes.rows, "tile");
    QTEST(sizes.parts, "parts");
}

void TestCudaWide::fewRows_data() {
    QTest::addColumn<int>("rows");
    QTest::addColumn<int>("shared"); // KiB of a block
    QTest::addColumn<QList<int>>("product");
    QTest::addColumn<QList<int>>("sizes");
    // 132 multiprocessors. Tiles of outputs, pieces of columns, room for parts; fragments, groups,
    // parts, pieces of a part.
    QTest::addRow("q, k and v of E2B: a piece a group")
        << 8 << 227 << QList<int>{20, 6, 9} << QList<int>{1, 3, 2, 3};
    QTest::addRow("down of 31B") << 16 << 227 << QList<int>{42, 84, 9} << QList<int>{1, 3, 6, 14};
    QTest::addRow("down of 31B, more rows")
        << 17 << 227 << QList<int>{42, 84, 9} << QList<int>{2, 2, 6, 14};
    QTest::addRow("a pair") << 33 << 227 << QList<int>{336, 21, 1} << QList<int>{4, 1, 1, 21};
    QTest::addRow("99 KiB, few rows")
        << 16 << 99 << QList<int>{42, 84, 9} << QList<int>{1, 3, 6, 14};
    QTest::addRow("99 KiB, 64 rows")
        << 64 << 99 << QList<int>{42, 84, 9} << QList<int>{4, 1, 9, 10};
    QTest::addRow("many rows") << 300 << 227 << QList<int>{12, 6, 9} << QList<int>{4, 1, 6, 1};
    QTest::addRow("no room for parts")
        << 4 << 227 << QList<int>{12, 6, 1} << QList<int>{1, 3, 1, 6};
}

void TestCudaWide::fewRows() {
    QFETCH(int, rows);
    QFETCH(int, shared);
    QFETCH(QList<int>, product);
    const CodesSizes got = codesSizes(132, shared << 10, rows, product[0], product[1], product[2]);
    const QList<int> sizes{got.fragments, got.groups, got.parts, static_cast<int>(got.part)};
    QTEST(sizes, "sizes");
}

void TestCudaWide::halfPlans_data() {
    support::addColumns<int, QList<int>, bool, int, int, int, int>(
        "rows", "outputs", "is_pair", "columns", "room", "tile", "parts");
    // On 132 multiprocessors; outputs of E2B.
    QTest::addRow("gate and up of a chunk")
        << 2048 << QList<int>{6144, 6144} << true << 1536 << 1 << 256 << 1;
    QTest::addRow("down of a chunk") << 2048 << QList<int>{1536} << false << 6144 << 1 << 192 << 1;
    QTest::addRow("down of E4B") << 2048 << QList<int>{2560} << false << 10240 << 4 << 320 << 1;
    QTest::addRow("q, k and v of a chunk, no room")
        << 2048 << QList<int>{2048, 256, 256} << false << 1536 << 1 << 192 << 1;
    QTest::addRow("few rows, no room") << 128 << QList<int>{1536} << false << 6144 << 1 << 128 << 1;
    QTest::addRow("few rows in parts") << 128 << QList<int>{1536} << false << 6144 << 8 << 128 << 8;
    QTest::addRow("no more parts than columns")
        << 100 << QList<int>{256} << false << 512 << 8 << 128 << 2;
}

void TestCudaWide::halfPlans() {
    QFETCH(int, rows);
    QFETCH(QList<int>, outputs);
    QFETCH(bool, is_pair);
    QFETCH(int, columns);
    QFETCH(int, room);
    const std::vector<int64_t> of(outputs.begin(), outputs.end());
    const HalfSizes sizes =
        halfSizes(132, rows, of.data(), static_cast<int>(of.size()), is_pair, columns, 1, room, 0);
    QTEST(sizes.outputs, "tile");
    QTEST(sizes.parts, "parts");
    // A panel's number of parts is given.
    QCOMPARE(halfSizes(132, rows, of.data(), static_cast<int>(of.size()), is_pair, columns,
                       sizes.parts, sizes.parts, 0)
                 .parts,
             sizes.parts);
}

TEST_CLASS(TestCudaWide)
#include "tst_cuda_wide.moc"
