// SPDX-License-Identifier: Apache-2.0
// Low-rank updates inside the products of many rows, run by the emulator through the real launches:
// all kernels that take them against the scalar table, with parts of k, bounds, panels of a weight
// and adapters of every type. Leaving out an update, its factor or the bounds of its input must
// show.
#include "kernels/cuda/launch_sizes.h"
#include "tests/kernels/step_cases.h"
#include "tests/support/cuda_emulator/emulated_card.h"
#include "tests/support/program/test_class.h"

#include <QTest>

#include <algorithm>
#include <memory>
#include <string>

using kernels::MutF32;
using kernels::ProductArgs;
using kernels::Status;
using namespace support;

namespace {

/// Operands and A x are rounded to bf16.
constexpr double kBound = 5e-3;
/// What must come of leaving something out.
constexpr double kVisible = 5 * kBound;

using Output = ProductArgs::Output;
/// (weight, rank) of each.
using Ranks = std::vector<std::pair<int, int>>;

struct CudaEmulatedUpdatesCase {
    CudaEmulatedUpdatesCase(WeightFormat format,
                            bool is_nested,
                            Output output,
                            int64_t rows,
                            int64_t in,
                            const std::vector<int64_t>& outs,
                            const Ranks& ranks,
                            DType type,
                            bool is_bounded)
        : rows_(rows), in_(in) {
        x = Guarded<uint16_t>(sizeOf(rows * in));
        const Guarded<float> values = randomFloats(rows * in, 1);
        for (size_t i = 0; i < x.size(); ++i) {
            x[i] = kernels::cpu::floatToBf16(values[i]);
        }
        args.output = output;
        args.activation = is_nested ? kernels::Activation::GeluTanh : kernels::Activation::Silu;
        args.x = x.data();
        args.rows = rows;
        args.count = static_cast<int>(outs.size());
        multiply = randomFloats(rows * outs[0], 2);
        args.multiply = {multiply.data(), rows, outs[0], outs[0]};
        for (size_t i = 0; i < outs.size(); ++i) {
            weights.push_back(makeWeight(format, outs[i], in, 64, is_nested, DType::BF16, 10 + i));
            args.w[i] = weights.back().view;
            if (is_bounded) { // other bounds for each weight; exact in bf16
                const auto n = static_cast<float>(i);
                args.bounds[i] = {-0.5F - n, 0.75F + n, -4.0F * (n + 1), 6.0F + n};
            }
        }
        for (const auto& [weight, rank] : ranks) {
            const auto seed = static_cast<uint64_t>(100 + 2 * args.update_count);
            updates.push_back(std::make_unique<Update>(
                weight, in, outs[static_cast<size_t>(weight)], rank, type, seed));
            Update& update = *updates.back();
            // About as large as the product without it.
            update.a_bytes = stored(randomFloats(rank * in, seed, 0.5F), type);
            update.b_bytes = stored(randomFloats(update.lora.b.rows * rank, seed + 1,
                                                 1.5F / std::sqrt(static_cast<float>(rank))),
                                    type);
            update.lora.a.data = update.a_bytes.data();
            update.lora.b.data = update.b_bytes.data();
            args.updates[args.update_count++] = update.lora;
        }
    }

    struct Variant {
        int left_out = -1; ///< This update.
        bool has_factors = true;
        bool has_input_bounds = true; ///< For the updates.
    };
    /// Results of all weights one behind the other.
    [[nodiscard]] std::vector<float> want(const Variant& variant) const {
        std::vector<std::vector<float>> y;
        std::vector<float> values(sizeOf(rows_ * in_));
        for (size_t i = 0; i < values.size(); ++i) {
            values[i] = kernels::cpu::bf16ToFloat(x[i]);
        }
        for (int i = 0; i < args.count; ++i) {
            const int64_t out = args.w[i].rows;
            const ProductArgs::Bounds& bounds = args.bounds[i];
            std::vector<float> inside(values.size());
            const MutF32 bounded{inside.data(), rows_, in_, in_};
            reference().clamp({}, {values.data(), rows_, in_, in_}, bounds.in_low, bounds.in_high,
                              bounded);
            y.emplace_back(sizeOf(rows_ * out));
            const MutF32 to{y.back().data(), rows_, out, out};
            reference().linear({}, bounded, args.w[i], to);
            for (int u = 0; u < args.update_count; ++u) {
                const kernels::ProjectLora& update = args.updates[u];
                if (update.weight != i || u == variant.left_out) {
                    continue;
                }
                std::vector<float> scratch(sizeOf(rows_ * update.a.rows));
                reference().lora_accumulate(
                    {}, {variant.has_input_bounds ? inside.data() : values.data(), rows_, in_, in_},
                    update.a, update.b, {}, variant.has_factors ? *update.factor : 1.0F,
                    {scratch.data(), rows_, update.a.rows, update.a.rows}, to);
            }
            reference().clamp({}, to, bounds.out_low, bounds.out_high, to);
        }
        const int64_t out = args.w[0].rows;
        if (args.output != Output::Store) {
            const float* const other =
                args.output == Output::GatedPair ? y[1].data() : multiply.data();
            const MutF32 first{y[0].data(), rows_, out, out};
            reference().gated_mul({}, args.activation, first, {other, rows_, out, out}, first);
            y.resize(1);
        }
        std::vector<float> all;
        for (const std::vector<float>& one : y) {
            all.insert(all.end(), one.begin(), one.end());
        }
        return all;
    }

    /// The same from the card; room for `parts`.
    Status run(EmulatedCard& card, int parts, std::vector<float>& got) {
        got.clear();
        args.parts = parts;
        std::vector<Guarded<float>> sums;
        Guarded<uint16_t> halves(sizeOf(rows_ * args.w[0].rows));
        std::fill_n(halves.data(), halves.size(), uint16_t{0x7fc0});
        for (int i = 0; i < args.count; ++i) {
            sums.emplace_back(sizeOf(rows_ * args.w[i].rows * parts));
            args.y[i] = sums.back().data();
        }
        if (args.output != Output::Store) {
            args.y[0] = halves.data();
            args.y[1] = nullptr;
        }
        const Status status = card.device().ops().product(card.device().queue(), args);
        if (status != Status::Ok || !card.finish().empty()) {
            return status;
        }
        if (args.output != Output::Store) {
            for (size_t i = 0; i < halves.size(); ++i) {
                got.push_back(kernels::cpu::bf16ToFloat(halves[i]));
            }
            return status;
        }
        for (int i = 0; i < args.count; ++i) {
            const size_t size = sizeOf(rows_ * args.w[i].rows);
            std::vector<float> one(size, 0.0F);
            for (size_t e = 0; e < size * sizeOf(args.parts); ++e) {
                one[e % size] += sums[static_cast<size_t>(i)][e];
            }
            got.insert(got.end(), one.begin(), one.end());
        }
        return status;
    }

    Guarded<uint16_t> x;
    Guarded<float> multiply;
    std::vector<TestWeight> weights;
    std::vector<std::unique_ptr<Update>> updates;
    ProductArgs args;

private:
    int64_t rows_, in_;
};

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
    QTest::addColumn<Output>("output");
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
    const auto add = [&](WeightFormat format, bool nested, Output output, int rows, int in,
                         const QList<int>& outs, const QList<int>& ranks, DType type, bool bounded,
                         int parts, int multiprocessors, const char* kernel) {
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
        add(kNf4, true, Output::Store, 70, 256, {192, 64, 32}, {0, 16, 1, 16, 2, 16}, type, false,
            1, 3, "belfry_product_codes_updates");
        add(kNf4, false, Output::GatedPair, 80, 256, {80, 80}, {0, 8, 1, 5}, type, false, 1, 3,
            "belfry_product_codes_pair_updates");
    }
    add(WeightFormat::Fp4, true, Output::Store, 90, 1024, {128}, {0, 72, 0, 8}, DType::BF16, false,
        4, 8, "belfry_product_codes_updates");
    // Few rows: groups of warps share the columns, one of them without any.
    add(kNf4, true, Output::Store, 20, 256, {132, 36}, {1, 5, 1, 72}, DType::BF16, false, 1, 3,
        "belfry_product_codes_32_updates");
    add(kNf4, false, Output::Store, 3, 1280, {136, 40}, {0, 16, 1, 8}, DType::BF16, false, 2, 3,
        "belfry_product_codes_16_updates");
    add(WeightFormat::Fp4, true, Output::GatedPair, 16, 768, {80, 80}, {0, 8, 1, 40}, DType::BF16,
        false, 1, 3, "belfry_product_codes_16_pair_updates");
    add(kNf4, true, Output::GatedPair, 17, 768, {64, 64}, {1, 16}, DType::BF16, false, 1, 3,
        "belfry_product_codes_32_pair_updates");
    add(WeightFormat::Fp4, true, Output::Store, 40, 1024, {128}, {0, 72, 0, 8}, DType::BF16, false,
        4, 8, "belfry_product_codes_updates");
    add(kNf4, true, Output::GatedPair, 70, 256, {64, 64}, {1, 16, 1, 3}, DType::BF16, false, 1, 3,
        "belfry_product_codes_pair_updates");
    add(kNf4, true, Output::GatedPair, 33, 512, {96, 96}, {0, 72}, DType::F16, false, 1, 3,
        "belfry_product_codes_pair_updates");
    add(kNf4, true, Output::GatedMultiply, 40, 512, {64}, {0, 16, 0, 5}, DType::BF16, false, 1, 8,
        "belfry_gate_rows");
    // The same by warp groups.
    for (const DType type : kTypes) {
        add(kNf4, true, Output::Store, 140, 256, {192, 64, 32}, {0, 16, 1, 16, 2, 16}, type, false,
            1, 3, "belfry_product_wide_128_updates");
        add(kNf4, false, Output::GatedPair, 70, 256, {80, 80}, {0, 8, 1, 5}, type, false, 1, 3,
            "belfry_product_wide_pair_128_updates");
    }
    add(kNf4, true, Output::Store, 200, 256, {136, 40}, {1, 5, 1, 72}, DType::BF16, false, 1, 3,
        "belfry_product_wide_192_updates");
    add(WeightFormat::Fp4, true, Output::Store, 40, 1024, {128}, {0, 72, 0, 8}, DType::BF16, false,
        4, 8, "belfry_product_wide_256_updates");
    add(kNf4, true, Output::GatedPair, 260, 256, {64, 64}, {1, 16, 1, 3}, DType::BF16, false, 1, 3,
        "belfry_product_wide_pair_256_updates");
    add(kNf4, true, Output::GatedPair, 193, 512, {96, 96}, {0, 72}, DType::F16, false, 1, 3,
        "belfry_product_wide_pair_192_updates");
    // Weights in 16 bits, or expanded to them; first by warp groups.
    for (const DType type : kTypes) {
        add(kBf16, false, Output::Store, 140, 192, {192, 64, 32}, {0, 16, 1, 16, 2, 5}, type, false,
            1, 3, "belfry_product_half_128_updates");
        add(WeightFormat::Int8Row, false, Output::GatedPair, 70, 128, {80, 80}, {0, 8, 1, 5}, type,
            false, 1, 3, "belfry_product_half_pair_128_updates");
    }
    add(kBf16, false, Output::Store, 200, 256, {136, 40}, {1, 5, 1, 72}, DType::BF16, false, 1, 3,
        "belfry_product_half_192_updates");
    add(kBf16, false, Output::Store, 130, 64, {336}, {0, 16, 0, 5}, DType::BF16, false, 1, 3,
        "belfry_product_half_320_updates");
    add(kBf16, false, Output::Store, 40, 1024, {128}, {0, 72, 0, 8}, DType::BF16, false, 4, 8,
        "belfry_product_half_256_updates");
    add(kBf16, false, Output::GatedPair, 260, 64, {64, 64}, {1, 16, 1, 3}, DType::BF16, false, 1, 3,
        "belfry_product_half_pair_256_updates");
    add(kBf16, false, Output::GatedPair, 193, 72, {96, 96}, {0, 72}, DType::F16, false, 1, 3,
        "belfry_product_half_pair_192_updates");
    add(kBf16, false, Output::Store, 130, 192, {128, 130, 64}, {0, 16, 1, 8, 2, 72}, DType::BF16,
        true, 1, 3, "belfry_product_128_updates");
    add(kNf4, true, Output::Store, 70, 192, {100, 36}, {0, 5, 0, 16, 1, 16}, DType::F32, true, 1,
        64, "belfry_product_64_updates");
    add(kBf16, false, Output::Store, 20, 1024, {64}, {0, 16}, DType::F16, false, 4, 8,
        "belfry_product_64_updates");
    add(WeightFormat::Int8Row, false, Output::Store, 33, 72, {40, 20, 6}, {0, 3, 2, 8}, DType::BF16,
        false, 1, 64, "belfry_product_64_updates");
    for (const DType type : kTypes) {
        add(kBf16, false, Output::GatedPair, 130, 256, {136, 136}, {0, 16, 1, 72}, type, true, 1, 3,
            "belfry_product_pair_128_updates");
        add(kNf4, true, Output::GatedPair, 50, 128, {96, 96}, {0, 8, 1, 5, 1, 16}, type, true, 1,
            64, "belfry_product_pair_64_updates");
    }
    add(WeightFormat::Int8Row, false, Output::GatedMultiply, 70, 256, {64}, {0, 16}, DType::BF16,
        false, 1, 3, "belfry_product_gate_updates");
    add(kBf16, false, Output::GatedMultiply, 40, 128, {50}, {0, 72, 0, 5}, DType::F32, true, 1, 3,
        "belfry_product_gate_updates");
}

void TestCudaEmulatedUpdates::product() {
    QFETCH(WeightFormat, format);
    QFETCH(bool, nested);
    QFETCH(Output, output);
    QFETCH(int, rows);
    QFETCH(int, in);
    QFETCH(QList<int>, outs);
    QFETCH(QList<int>, ranks);
    QFETCH(DType, type);
    QFETCH(bool, bounded);
    QFETCH(int, parts);
    QFETCH(int, multiprocessors);
    QFETCH(QString, kernel);
    Ranks pairs;
    for (int i = 0; i < ranks.size(); i += 2) {
        pairs.emplace_back(ranks[i], ranks[i + 1]);
    }
    CudaEmulatedUpdatesCase c(format, nested, output, rows, in, {outs.begin(), outs.end()}, pairs,
                              type, bounded);
    EmulatedCardOptions options;
    options.multiprocessors = multiprocessors;
    options.run.seed = static_cast<uint64_t>(rows % 3);
    // By warp groups where the row says so.
    const QStringList words = kernel.split(QLatin1Char('_'));
    const bool is_wide =
        words.contains(QStringLiteral("wide")) || words.contains(QStringLiteral("half"));
    options.card.wide_rows = is_wide ? words[words.size() - 2].toInt() : -1;
    EmulatedCard card(options);
    std::vector<float> got;
    QCOMPARE(c.run(card, parts, got), Status::Ok);
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
    QCOMPARE_LE(relativeError(got.data(), want), kBound);
    // The operands are such that a mistake would have been seen.
    for (int i = 0; i < c.args.update_count; ++i) {
        const double without = relativeError(c.want({i, true, true}).data(), want);
        QVERIFY2(without >= kVisible, qPrintable(QString("%1: %2").arg(i).arg(without)));
    }
    QVERIFY(relativeError(c.want({-1, false, true}).data(), want) >= kVisible);
    QVERIFY(!bounded || relativeError(c.want({-1, true, false}).data(), want) >= kVisible);
}

void TestCudaEmulatedUpdates::panels_data() {
    support::addColumns<Output, QList<int>, QString>("output", "outs", "launches");
    QTest::addRow("pair") << Output::GatedPair << QList<int>{300, 300}
                          << "product_ranks expand_group product_pair_64_updates expand_group "
                             "product_pair_64_updates expand_group product_pair_64_updates";
    QTest::addRow("weights one by one")
        << Output::Store << QList<int>{300, 40}
        << "product_ranks expand_group product_64_updates expand_group product_64_updates "
           "product_ranks expand_group product_64_updates";
}

/// Little scratch memory: a weight comes in panels, weights one after the other.
void TestCudaEmulatedUpdates::panels() {
    QFETCH(Output, output);
    QFETCH(QList<int>, outs);
    QFETCH(QString, launches);
    CudaEmulatedUpdatesCase c(WeightFormat::Nf4, true, output, 40, 192, {outs.begin(), outs.end()},
                              {{0, 5}, {0, 16}, {1, 8}}, DType::BF16, true);
    EmulatedCardOptions options;
    options.multiprocessors = 64;
    EmulatedCard card(options);
    auto& d = card.device();
    const size_t bytes = kernels::cuda::kWorkOffset + size_t{128} * 2 * 192 * 2 + 40 * 64 * 2;
    void* const scratch = d.allocate(bytes, 1);
    d.setScratch(scratch, bytes);
    std::vector<float> got;
    const Status status = c.run(card, 1, got);
    d.setScratch(nullptr, 0);
    d.free(scratch);
    QCOMPARE(status, Status::Ok);
    QCOMPARE(card.finish(), std::string());
    QString ran;
    for (const std::string& kernel : card.ran()) {
        ran += (ran.isEmpty() ? "" : " ") + QString::fromStdString(kernel).remove("belfry_");
    }
    QCOMPARE(ran, launches);
    QCOMPARE_LE(relativeError(got.data(), c.want({})), kBound);
}

/// Factors are read when the product runs. Strength nought leaves the product without updates.
void TestCudaEmulatedUpdates::followsFactors() {
    CudaEmulatedUpdatesCase c(WeightFormat::Nf4, true, Output::Store, 40, 256, {64, 32},
                              {{0, 16}, {1, 8}, {1, 16}}, DType::BF16, false);
    EmulatedCard card{EmulatedCardOptions{}};
    for (const float factor : {0.75F, -2.0F, 0.0F}) {
        for (auto& update : c.updates) {
            update->factor[0] = factor;
        }
        std::vector<float> got;
        QCOMPARE(c.run(card, 1, got), Status::Ok);
        QCOMPARE(card.finish(), std::string());
        QCOMPARE_LE(relativeError(got.data(), c.want({})), kBound);
    }
}

void TestCudaEmulatedUpdates::refusals() {
    EmulatedCard card{EmulatedCardOptions{}};
    std::vector<float> got;
    const auto statusOf = [&](const Ranks& ranks, const auto& change) {
        CudaEmulatedUpdatesCase c(WeightFormat::Nf4, true, Output::Store, 8, 256, {64, 32}, ranks,
                                  DType::BF16, false);
        change(c.args);
        return c.run(card, 1, got);
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
