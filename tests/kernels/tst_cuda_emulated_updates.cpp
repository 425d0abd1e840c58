// SPDX-License-Identifier: Apache-2.0
// Low-rank updates inside the products of many rows, run by the emulator through the real launches:
// all kernels that take them against the scalar table, with parts of k, bounds, panels of a weight
// and adapters of every type. Leaving out an update, its factor or the bounds of its input must
// show.
#include "kernels/cuda/launch_sizes.h"
#include "tests/kernels/product_cases.h"
#include "tests/support/cuda_emulator/emulated_card.h"
#include "tests/support/program/test_class.h"

#include <QTest>

#include <algorithm>
#include <memory>
#include <string>

using kernels::ProductArgs;
using kernels::Status;
using namespace support;

namespace {

/// Operands and A x are rounded to bf16.
constexpr double kBound = 5e-3;
/// What must come of leaving something out.
constexpr double kVisible = 5 * kBound;

/// Runs the product on a card with room for `parts`; finish() tells what went wrong.
Status run(ProductCase& c, EmulatedCard& card, int parts) {
    c.makeRoom(parts);
    const Status status = card.device().ops().product(card.device().queue(), c.args);
    static_cast<void>(card.finish()); // as long as the operands are there
    return status;
}

} // namespace

class TestCudaEmulatedUpdates : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void product_data();
    void product();
    void panels_data();
    void panels();
    void followsFactors();
    void refusals();
};

void TestCudaEmulatedUpdates::product_data() {
    QTest::addColumn<WeightFormat>("format");
    QTest::addColumn<bool>("nested");
    QTest::addColumn<ProductCase::Output>("output");
    QTest::addColumn<int>("rows");
    QTest::addColumn<int>("in");
    QTest::addColumn<QList<int>>("outs");
    QTest::addColumn<QList<int>>("ranks"); // weight, rank, weight, rank ...
    QTest::addColumn<DType>("type");
    QTest::addColumn<bool>("bounded");
    QTest::addColumn<int>("parts"); // there are
    QTest::addColumn<int>("multiprocessors");
    QTest::addColumn<QString>("kernel");
    int seed = 0;
    const auto add = [&](WeightFormat format, bool nested, ProductCase::Output output, int rows,
                         int in, const QList<int>& outs, const QList<int>& ranks, DType type,
                         bool bounded, int parts, int multiprocessors, const char* kernel) {
        QTest::addRow("%d: %s, %s%s, %d rows", seed++, kernel, formatName(format),
                      bounded ? ", bounds" : "", rows)
            << format << nested << output << rows << in << outs << ranks << type << bounded << parts
            << multiprocessors << QString(kernel);
    };
    constexpr auto kNf4 = WeightFormat::Nf4;
    constexpr auto kBf16 = WeightFormat::BF16;
    constexpr DType kTypes[] = {DType::BF16, DType::F16, DType::F32};
    // Codes. Updates of all weights, of some, two of one; ranks that fill a block of columns or
    // not, with B at odd addresses.
    for (const DType type : kTypes) {
        add(kNf4, true, ProductCase::Output::Store, 70, 256, {192, 64, 32}, {0, 16, 1, 16, 2, 16},
            type, false, 1, 3, "belfry_product_codes_updates");
        add(kNf4, false, ProductCase::Output::GatedPair, 80, 256, {80, 80}, {0, 8, 1, 5}, type,
            false, 1, 3, "belfry_product_codes_pair_updates");
    }
    add(WeightFormat::Fp4, true, ProductCase::Output::Store, 90, 1024, {128}, {0, 72, 0, 8},
        DType::BF16, false, 4, 8, "belfry_product_codes_updates");
    // Few rows: groups of warps share the columns, one of them without any.
    add(kNf4, true, ProductCase::Output::Store, 20, 256, {132, 36}, {1, 5, 1, 72}, DType::BF16,
        false, 1, 3, "belfry_product_codes_32_updates");
    add(kNf4, false, ProductCase::Output::Store, 3, 1280, {136, 40}, {0, 16, 1, 8}, DType::BF16,
        false, 2, 3, "belfry_product_codes_16_updates");
    add(WeightFormat::Fp4, true, ProductCase::Output::GatedPair, 16, 768, {80, 80}, {0, 8, 1, 40},
        DType::BF16, false, 1, 3, "belfry_product_codes_16_pair_updates");
    add(kNf4, true, ProductCase::Output::GatedPair, 17, 768, {64, 64}, {1, 16}, DType::BF16, false,
        1, 3, "belfry_product_codes_32_pair_updates");
    add(WeightFormat::Fp4, true, ProductCase::Output::Store, 40, 1024, {128}, {0, 72, 0, 8},
        DType::BF16, false, 4, 8, "belfry_product_codes_updates");
    add(kNf4, true, ProductCase::Output::GatedPair, 70, 256, {64, 64}, {1, 16, 1, 3}, DType::BF16,
        false, 1, 3, "belfry_product_codes_pair_updates");
    add(kNf4, true, ProductCase::Output::GatedPair, 33, 512, {96, 96}, {0, 72}, DType::F16, false,
        1, 3, "belfry_product_codes_pair_updates");
    add(kNf4, true, ProductCase::Output::GatedMultiply, 40, 512, {64}, {0, 16, 0, 5}, DType::BF16,
        false, 1, 8, "belfry_gate_rows");
    // The same by warp groups.
    for (const DType type : kTypes) {
        add(kNf4, true, ProductCase::Output::Store, 140, 256, {192, 64, 32}, {0, 16, 1, 16, 2, 16},
            type, false, 1, 3, "belfry_product_wide_128_updates");
        add(kNf4, false, ProductCase::Output::GatedPair, 70, 256, {80, 80}, {0, 8, 1, 5}, type,
            false, 1, 3, "belfry_product_wide_pair_128_updates");
    }
    add(kNf4, true, ProductCase::Output::Store, 200, 256, {136, 40}, {1, 5, 1, 72}, DType::BF16,
        false, 1, 3, "belfry_product_wide_192_updates");
    add(WeightFormat::Fp4, true, ProductCase::Output::Store, 40, 1024, {128}, {0, 72, 0, 8},
        DType::BF16, false, 4, 8, "belfry_product_wide_256_updates");
    add(kNf4, true, ProductCase::Output::GatedPair, 260, 256, {64, 64}, {1, 16, 1, 3}, DType::BF16,
        false, 1, 3, "belfry_product_wide_pair_256_updates");
    add(kNf4, true, ProductCase::Output::GatedPair, 193, 512, {96, 96}, {0, 72}, DType::F16, false,
        1, 3, "belfry_product_wide_pair_192_updates");
    // Weights in 16 bits, or expanded to them; first by warp groups.
    for (const DType type : kTypes) {
        add(kBf16, false, ProductCase::Output::Store, 140, 192, {192, 64, 32}, {0, 16, 1, 16, 2, 5},
            type, false, 1, 3, "belfry_product_half_128_updates");
        add(WeightFormat::Int8Row, false, ProductCase::Output::GatedPair, 70, 128, {80, 80},
            {0, 8, 1, 5}, type, false, 1, 3, "belfry_product_half_pair_128_updates");
    }
    add(kBf16, false, ProductCase::Output::Store, 200, 256, {136, 40}, {1, 5, 1, 72}, DType::BF16,
        false, 1, 3, "belfry_product_half_192_updates");
    add(kBf16, false, ProductCase::Output::Store, 130, 64, {336}, {0, 16, 0, 5}, DType::BF16, false,
        1, 3, "belfry_product_half_320_updates");
    add(kBf16, false, ProductCase::Output::Store, 40, 1024, {128}, {0, 72, 0, 8}, DType::BF16,
        false, 4, 8, "belfry_product_half_256_updates");
    add(kBf16, false, ProductCase::Output::GatedPair, 260, 64, {64, 64}, {1, 16, 1, 3}, DType::BF16,
        false, 1, 3, "belfry_product_half_pair_256_updates");
    add(kBf16, false, ProductCase::Output::GatedPair, 193, 72, {96, 96}, {0, 72}, DType::F16, false,
        1, 3, "belfry_product_half_pair_192_updates");
    add(kBf16, false, ProductCase::Output::Store, 130, 192, {128, 130, 64}, {0, 16, 1, 8, 2, 72},
        DType::BF16, true, 1, 3, "belfry_product_128_updates");
    add(kNf4, true, ProductCase::Output::Store, 70, 192, {100, 36}, {0, 5, 0, 16, 1, 16},
        DType::F32, true, 1, 64, "belfry_product_64_updates");
    add(kBf16, false, ProductCase::Output::Store, 20, 1024, {64}, {0, 16}, DType::F16, false, 4, 8,
        "belfry_product_64_updates");
    add(WeightFormat::Int8Row, false, ProductCase::Output::Store, 33, 72, {40, 20, 6}, {0, 3, 2, 8},
        DType::BF16, false, 1, 64, "belfry_product_64_updates");
    for (const DType type : kTypes) {
        add(kBf16, false, ProductCase::Output::GatedPair, 130, 256, {136, 136}, {0, 16, 1, 72},
            type, true, 1, 3, "belfry_product_pair_128_updates");
        add(kNf4, true, ProductCase::Output::GatedPair, 50, 128, {96, 96}, {0, 8, 1, 5, 1, 16},
            type, true, 1, 64, "belfry_product_pair_64_updates");
    }
    add(WeightFormat::Int8Row, false, ProductCase::Output::GatedMultiply, 70, 256, {64}, {0, 16},
        DType::BF16, false, 1, 3, "belfry_product_gate_updates");
    add(kBf16, false, ProductCase::Output::GatedMultiply, 40, 128, {50}, {0, 72, 0, 5}, DType::F32,
        true, 1, 3, "belfry_product_gate_updates");
}

void TestCudaEmulatedUpdates::product() {
    QFETCH(WeightFormat, format);
    QFETCH(bool, nested);
    QFETCH(ProductCase::Output, output);
    QFETCH(int, rows);
    QFETCH(int, in);
    QFETCH(QList<int>, outs);
    QFETCH(QList<int>, ranks);
    QFETCH(DType, type);
    QFETCH(bool, bounded);
    QFETCH(int, parts);
    QFETCH(int, multiprocessors);
    QFETCH(QString, kernel);
    ProductCase::Ranks pairs;
    for (int i = 0; i < ranks.size(); i += 2) {
        pairs.emplace_back(ranks[i], ranks[i + 1]);
    }
    ProductCase c(format, nested, output, rows, in, {outs.begin(), outs.end()}, pairs, type,
                  bounded);
    EmulatedCardOptions options;
    options.multiprocessors = multiprocessors;
    options.run.seed = static_cast<uint64_t>(rows % 3);
    // By warp groups where the row says so.
    const QStringList words = kernel.split(QLatin1Char('_'));
    const bool is_wide =
        words.contains(QStringLiteral("wide")) || words.contains(QStringLiteral("half"));
    options.card.wide_rows = is_wide ? words[words.size() - 2].toInt() : -1;
    EmulatedCard card(options);
    QCOMPARE(run(c, card, parts), Status::Ok);
    QCOMPARE(card.finish(), std::string());
    QCOMPARE(c.args.parts, parts);
    QVERIFY(std::find(card.ran().begin(), card.ran().end(), "belfry_product_ranks") !=
            card.ran().end());
    QCOMPARE(QString::fromStdString(card.ran().back()), kernel);
    // Only products of codes wait for what is before them, and only for what makes their h.
    const auto& launches = card.fake().launches();
    for (size_t i = 0; i < launches.size(); ++i) {
        QCOMPARE(launches[i].is_overlapping,
                 launches[i].kernel.starts_with("belfry_product_codes") ||
                     launches[i].kernel.starts_with("belfry_product_wide"));
        QVERIFY(!launches[i].is_overlapping || launches[i - 1].kernel == "belfry_product_ranks");
    }
    const std::vector<float> want = c.want({});
    QCOMPARE_LE(c.error(), kBound);
    // The operands are such that a mistake would have been seen.
    for (int i = 0; i < c.args.update_count; ++i) {
        const double without = relativeError(c.want({i, true, true}).data(), want);
        QVERIFY2(without >= kVisible, qPrintable(QString("%1: %2").arg(i).arg(without)));
    }
    QVERIFY(relativeError(c.want({-1, false, true}).data(), want) >= kVisible);
    QVERIFY(!bounded || relativeError(c.want({-1, true, false}).data(), want) >= kVisible);
}

void TestCudaEmulatedUpdates::panels_data() {
    support::addColumns<ProductCase::Output, QList<int>, QString>("output", "outs", "launches");
    QTest::addRow("pair") << ProductCase::Output::GatedPair << QList<int>{300, 300}
                          << "product_ranks expand_group product_pair_64_updates expand_group "
                             "product_pair_64_updates expand_group product_pair_64_updates";
    QTest::addRow("weights one by one")
        << ProductCase::Output::Store << QList<int>{300, 40}
        << "product_ranks expand_group product_64_updates expand_group product_64_updates "
           "product_ranks expand_group product_64_updates";
}

/// Little scratch memory: a weight comes in panels, weights one after the other.
void TestCudaEmulatedUpdates::panels() {
    QFETCH(ProductCase::Output, output);
    QFETCH(QList<int>, outs);
    QFETCH(QString, launches);
    ProductCase c(WeightFormat::Nf4, true, output, 40, 192, {outs.begin(), outs.end()},
                  {{0, 5}, {0, 16}, {1, 8}}, DType::BF16, true);
    EmulatedCardOptions options;
    options.multiprocessors = 64;
    EmulatedCard card(options);
    auto& d = card.device();
    const size_t bytes = kernels::cuda::kWorkOffset + size_t{128} * 2 * 192 * 2 + 40 * 64 * 2;
    void* const scratch = d.allocate(bytes, 1);
    d.setScratch(scratch, bytes);
    const Status status = run(c, card, 1);
    d.setScratch(nullptr, 0);
    d.free(scratch);
    QCOMPARE(status, Status::Ok);
    QCOMPARE(card.finish(), std::string());
    QString ran;
    for (const std::string& kernel : card.ran()) {
        ran += (ran.isEmpty() ? "" : " ") + QString::fromStdString(kernel).remove("belfry_");
    }
    QCOMPARE(ran, launches);
    QCOMPARE_LE(c.error(), kBound);
}

/// Factors are read when the product runs. Strength nought leaves the product without updates.
void TestCudaEmulatedUpdates::followsFactors() {
    ProductCase c(WeightFormat::Nf4, true, ProductCase::Output::Store, 40, 256, {64, 32},
                  {{0, 16}, {1, 8}, {1, 16}}, DType::BF16, false);
    EmulatedCard card{EmulatedCardOptions{}};
    for (const float factor : {0.75F, -2.0F, 0.0F}) {
        for (auto& update : c.updates) {
            update->factor[0] = factor;
        }
        QCOMPARE(run(c, card, 1), Status::Ok);
        QCOMPARE(card.finish(), std::string());
        QCOMPARE_LE(c.error(), kBound);
    }
}

void TestCudaEmulatedUpdates::refusals() {
    EmulatedCard card{EmulatedCardOptions{}};
    const auto statusOf = [&](const ProductCase::Ranks& ranks, const auto& change) {
        ProductCase c(WeightFormat::Nf4, true, ProductCase::Output::Store, 8, 256, {64, 32}, ranks,
                      DType::BF16, false);
        change(c.args);
        return run(c, card, 1);
    };
    const auto asIs = [](ProductArgs&) {};
    QCOMPARE(statusOf({{1, 4}}, [](ProductArgs& a) { a.updates[0].weight = 2; }), Status::BadShape);
    QCOMPARE(statusOf({{1, 4}}, [](ProductArgs& a) { a.updates[0].factor = nullptr; }),
             Status::BadShape);
    QCOMPARE(statusOf({{1, 4}}, [](ProductArgs& a) { a.updates[0].b.rows = 31; }),
             Status::BadShape);
    QCOMPARE(statusOf({{1, 4}, {0, 4}}, asIs), Status::BadShape); // weights out of order
    // More than the kernels have room for: nothing is enqueued.
    QCOMPARE(statusOf({{1, 4}, {1, 4}, {1, 4}, {1, 4}, {1, 4}}, asIs), Status::Unsupported);
    QCOMPARE(statusOf({{1, 510}, {1, 8}}, asIs), Status::Unsupported);
    QVERIFY(card.ran().empty());
    // As many as there may be.
    QCOMPARE(statusOf({{0, 512}, {1, 128}, {1, 128}, {1, 128}, {1, 121}}, asIs), Status::Ok);
    QCOMPARE(card.finish(), std::string());
}

TEST_CLASS(TestCudaEmulatedUpdates)
#include "tst_cuda_emulated_updates.moc"
