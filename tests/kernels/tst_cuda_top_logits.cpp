// SPDX-License-Identifier: Apache-2.0
// The candidates of a choice among the k most probable tokens, from the kernel run on the CPU,
// against a sort of the whole row: every token with exactly its logit, none twice, those equal to
// the k-th among them; and where they are not to be told, that the host is sent to the row. Rows
// and results end at a page that nobody may touch, threads run in orders drawn from
// seeds.
#include "kernels/cpu/tables.h"
#include "tests/kernels/kernel_cases.h"
#include "tests/support/cuda_emulator/emulated_card.h"
#include "tests/support/program/test_class.h"
#include "tests/support/top_logits.h"

#include <QTest>

#include <bit>
#include <functional>
#include <random>

using kernels::Status;
using kernels::TokenLogit;
using kernels::TopLogits;
using namespace support;

using Row = std::vector<float>;
using Change = std::function<void(Row&)>;
Q_DECLARE_METATYPE(Change)

namespace {

constexpr int kSentinel = -77;

/// As a model's head makes them: most far below a few.
Row rowOf(int count, uint64_t seed) {
    std::mt19937_64 random(seed);
    std::exponential_distribution<float> upper(0.4F);
    Row row(sizeOf((int64_t{count} + 3) / 4 * 4),
            1e30F); // aligned to 16 bytes; nobody's logits
    for (int i = 0; i < count; ++i) {
        row[sizeOf(i)] = upper(random) * 3.0F - 12.0F;
    }
    return row;
}

/// Sorted by token, logits as bits.
std::vector<std::pair<int32_t, uint32_t>> sorted(const TopLogits& top) {
    std::vector<std::pair<int32_t, uint32_t>> all;
    for (int i = 0; i < top.count; ++i) {
        all.emplace_back(top.entry[i].token, std::bit_cast<uint32_t>(top.entry[i].logit));
    }
    std::sort(all.begin(), all.end());
    return all;
}

/// What is wrong with the kernel's answer for a row; empty: nothing.
QString wrongWith(EmulatedCard& card,
                  const Row& start,
                  int count,
                  float cap,
                  const std::vector<uint32_t>& suppressed,
                  int wanted,
                  bool must_tell) {
    const Guarded<float> logits(start);
    const Guarded<uint32_t> skipped(suppressed);
    const Guarded<TopLogits> top(1);
    top[0].count = kSentinel;
    for (TokenLogit& entry : top[0].entry) {
        entry = {kSentinel, 0.0F};
    }
    auto& d = card.device();
    if (d.ops().top_logits(d.queue(), logits.data(), count, cap,
                           suppressed.empty() ? nullptr : skipped.data(), wanted,
                           top.data()) != Status::Ok) {
        return "refused";
    }
    if (const std::string wrong = card.finish(); !wrong.empty()) {
        return QString::fromStdString(wrong);
    }
    Row capped = start;
    if (cap > 0.0F) {
        kernels::cpuScalarOps().soft_cap({}, {capped.data(), 1, count, count}, cap);
    }
    for (size_t i = 0; i < capped.size(); ++i) {
        const bool is_same =
            std::bit_cast<uint32_t>(logits[i]) == std::bit_cast<uint32_t>(capped[i]);
        if (!is_same && !(std::isnan(capped[i]) && std::isnan(logits[i])) &&
            !(std::abs(logits[i] - capped[i]) <= 1e-5F)) {
            return QString("logit %1 is %2").arg(i).arg(static_cast<double>(logits[i]));
        }
    }
    const TopLogits want =
        topLogits(logits.data(), count, suppressed.empty() ? nullptr : suppressed.data(), wanted);
    if (top[0].count == TopLogits::kSeeRow && !must_tell) {
        return {};
    }
    if (top[0].count != want.count) {
        return QString("%1 candidates, expected %2").arg(top[0].count).arg(want.count);
    }
    if (sorted(top[0]) != sorted(want)) {
        return "other candidates";
    }
    for (int i = std::max(0, want.count); i < TopLogits::kMost && want.count >= 0; ++i) {
        if (top[0].entry[i].token != kSentinel) {
            return "more entries than counted";
        }
    }
    return {};
}

} // namespace

class TestCudaTopLogits : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void candidates_data();
    void candidates();
    void suppressed();
    void countsBeginAnew();
    void neighboursOfOneSize();
    void largestVocabulary();
    void pageLocked();
    void refuses();
};

void TestCudaTopLogits::candidates_data() {
    QTest::addColumn<Change>("change");
    QTest::addColumn<bool>("is_told"); // of more than 512 tokens, without a cap
    const auto add = [](const char* name, bool is_told, const Change& change) {
        QTest::newRow(name) << change << is_told;
    };
    const auto each = [](const std::function<float(float, size_t)>& value) {
        return Change([value](Row& row) {
            for (size_t i = 0; i < row.size(); ++i) {
                row[i] = value(row[i], i);
            }
        });
    };
    add("as a model makes them", true, [](Row&) {});
    add("below zero", true, each([](float x, size_t) { return x - 300.0F; }));
    add("ties at the bar", true, each([](float x, size_t) { return std::round(x / 4) * 4; }));
    add("far above the cap", true, each([](float x, size_t) { return x + 900.0F; }));
    add("all equal", false, each([](float, size_t) { return 3.5F; }));
    add("both zeros at the bar", true, each([](float x, size_t i) {
            return i % 97 == 0 ? x + 20.0F : i % 61 == 0 ? 0.0F : i % 53 == 0 ? -0.0F : -5.0F;
        }));
    add("few above minus infinity", true,
        each([](float x, size_t i) { return i % 211 == 2 ? x : -INFINITY; }));
    add("none above minus infinity", true, each([](float, size_t) { return -INFINITY; }));
    add("the smallest numbers", true, each([](float, size_t i) {
            return std::bit_cast<float>(static_cast<uint32_t>(i * 2654435761U % 100003U) |
                                        static_cast<uint32_t>(i % 2 == 0 ? 0x80000000U : 0U));
        }));
    add("the largest numbers", true, each([](float, size_t i) {
            return std::bit_cast<float>(0x7f7fffffU -
                                        static_cast<uint32_t>(i * 2654435761U % 100003U));
        }));
    add("all at the end", true, [](Row& row) {
        for (size_t i = row.size() - std::min<size_t>(row.size(), 300); i < row.size(); ++i) {
            row[i] += 40.0F;
        }
    });
    add("NaN", false, [](Row& row) { row[row.size() / 2] = NAN; });
    add("negative NaN at the beginning", false,
        [](Row& row) { row[0] = std::bit_cast<float>(0xffc00001U); });
    add("infinity", false, [](Row& row) { row[row.size() / 3] = INFINITY; });
}

/// Rows of one token up to several portions of the grid, k from 1 to the most, in several orders.
void TestCudaTopLogits::candidates() {
    QFETCH(Change, change);
    QFETCH(bool, is_told);
    EmulatedCardOptions options;
    options.multiprocessors = 2;
    EmulatedCard card(options);
    int told = 0;
    for (const int count : {1, 2, 31, 129, 513, 4099, 8193, 20011}) {
        for (const int wanted : {1, 3, 64, TopLogits::kMostWanted}) {
            for (const float cap : {0.0F, 30.0F}) {
                // Orders beside the fixed one take long: for some.
                for (const uint64_t seed : {0, 1, 2, 3}) {
                    if (seed > 0 && (count > 5000 || wanted == 3)) {
                        continue;
                    }
                    card.run.seed = seed;
                    Row row = rowOf(count, seed + sizeOf(count));
                    Row shown(row.begin(), row.begin() + count);
                    change(shown);
                    std::copy(shown.begin(), shown.end(), row.begin());
                    const QString wrong = wrongWith(card, row, count, cap, {}, wanted, true);
                    const TopLogits want = topLogits(row.data(), count, nullptr, wanted);
                    told += cap == 0.0F && want.count >= 0 && count > 512 ? 1 : 0;
                    QVERIFY2(wrong.isEmpty(), qPrintable(QString("%1 of %2, cap %3, seed %4: %5")
                                                             .arg(wanted)
                                                             .arg(count)
                                                             .arg(static_cast<double>(cap))
                                                             .arg(seed)
                                                             .arg(wrong)));
                }
            }
        }
    }
    QCOMPARE(told > 0, is_told);
}

/// What is left out is neither counted nor a bar; NaN in it sends the host to the row all the same.
void TestCudaTopLogits::suppressed() {
    EmulatedCard card({});
    for (const uint64_t seed : {0, 1, 2, 3}) {
        card.run.seed = seed;
        for (const int count : {5, 700, 5003}) {
            Row row = rowOf(count, seed);
            std::vector<uint32_t> words(sizeOf((count + 31) / 32), 0);
            for (int i = 0; i < count; i += 5) { // the largest of all
                row[sizeOf(i)] += 50.0F;
                words[sizeOf(i / 32)] |= 1U << (i % 32);
            }
            for (const int wanted : {1, 64, 256}) {
                QCOMPARE(wrongWith(card, row, count, 30.0F, words, wanted, true), QString());
                QCOMPARE(wrongWith(card, row, count, 30.0F, {}, wanted, true), QString());
            }
            std::vector<uint32_t> all(words.size(), 0xffffffffU);
            QCOMPARE(wrongWith(card, row, count, 30.0F, all, 64, true), QString());
            row[0] = NAN;
            QCOMPARE(wrongWith(card, row, count, 30.0F, words, 64, true), QString());
        }
    }
}

/// Rows one behind the other, whole and broken ones, and the greedy choice, which counts its blocks
/// in the same place.
void TestCudaTopLogits::countsBeginAnew() {
    constexpr int kCount = 9001;
    for (const uint64_t seed : {0, 1, 2}) {
        EmulatedCardOptions options;
        options.multiprocessors = 1; // two rounds of the grid
        options.run.seed = seed;
        EmulatedCard card(options);
        auto& d = card.device();
        for (int round = 0; round < 4; ++round) {
            Row row = rowOf(kCount, seed + sizeOf(round));
            row[77] = round % 2 == 1 ? NAN : 90.0F;
            QCOMPARE(wrongWith(card, row, kCount, 30.0F, {}, 64, true), QString());
            row[77] = 90.0F;
            const Guarded<float> logits(row);
            const Guarded<uint64_t> best(1);
            QCOMPARE(
                d.ops().cap_argmax(d.queue(), logits.data(), kCount, 30.0F, nullptr, best.data()),
                Status::Ok);
            QCOMPARE(card.finish(), std::string());
            QCOMPARE(static_cast<int>(0xffffffffU - static_cast<uint32_t>(best[0])), 77);
        }
    }
}

/// In falling order the largest are in few groups: all is told for as long as there is room for
/// what these hold, and never anything else than the candidates.
void TestCudaTopLogits::neighboursOfOneSize() {
    EmulatedCard card({});
    constexpr int kCount = 20011;
    Row row = rowOf(kCount, 5);
    std::sort(row.begin(), row.begin() + kCount, std::greater<>());
    for (const int wanted : {1, 40, 64}) {
        QCOMPARE(wrongWith(card, row, kCount, 30.0F, {}, wanted, true), QString());
    }
    QCOMPARE(wrongWith(card, row, kCount, 30.0F, {}, 256, false), QString());
}

/// As many tokens as groups may have, and one more.
void TestCudaTopLogits::largestVocabulary() {
    EmulatedCardOptions options;
    options.multiprocessors = 40;
    EmulatedCard card(options);
    auto& d = card.device();
    constexpr int kMost = 262144;
    const Row row = rowOf(kMost, 9);
    QCOMPARE(wrongWith(card, row, kMost, 30.0F, {}, 64, true), QString());
    Guarded<float> more(rowOf(kMost + 1, 9));
    Guarded<TopLogits> top(1);
    QCOMPARE(d.ops().top_logits(d.queue(), more.data(), kMost + 1, 0.0F, nullptr, 64, top.data()),
             Status::Unsupported);
}

void TestCudaTopLogits::pageLocked() {
    EmulatedCard card({});
    auto& d = card.device();
    constexpr int kCount = 5003;
    auto* const shown = static_cast<TopLogits*>(d.allocateHost(sizeof(TopLogits)));
    auto* const mapped = static_cast<TopLogits*>(d.kernelAddress(shown));
    QVERIFY(mapped != nullptr);
    const Guarded<float> logits(rowOf(kCount, 3));
    const TopLogits want = topLogits(logits.data(), kCount, nullptr, 64);
    shown->count = TopLogits::kSeeRow;
    QCOMPARE(d.ops().top_logits(d.queue(), logits.data(), kCount, 0.0F, nullptr, 64, mapped),
             Status::Ok);
    QCOMPARE(card.finish(), std::string());
    QCOMPARE(shown->count, 64);
    QVERIFY(sorted(*shown) == sorted(want));
    d.freeHost(shown);
}

void TestCudaTopLogits::refuses() {
    EmulatedCard card({});
    auto& d = card.device();
    const Guarded<float> logits(rowOf(64, 1));
    const Guarded<TopLogits> top(1);
    const auto call = [&](float* row, int64_t count, float cap, int wanted, TopLogits* to) {
        return d.ops().top_logits(d.queue(), row, count, cap, nullptr, wanted, to);
    };
    QCOMPARE(call(nullptr, 64, 0.0F, 5, top.data()), Status::BadShape);
    QCOMPARE(call(logits.data(), 0, 0.0F, 5, top.data()), Status::BadShape);
    QCOMPARE(call(logits.data(), 64, -1.0F, 5, top.data()), Status::BadShape);
    QCOMPARE(call(logits.data(), 64, 0.0F, 0, top.data()), Status::BadShape);
    QCOMPARE(call(logits.data(), 64, 0.0F, TopLogits::kMostWanted + 1, top.data()),
             Status::BadShape);
    QCOMPARE(call(logits.data(), 64, 0.0F, 5, nullptr), Status::BadShape);
    QCOMPARE(call(logits.data() + 1, 60, 0.0F, 5, top.data()), Status::Unsupported);
    d.setScratch(nullptr, 0);
    QCOMPARE(call(logits.data(), 64, 0.0F, 5, top.data()), Status::Unsupported);
    QVERIFY(card.ran().empty());
}

TEST_CLASS(TestCudaTopLogits)
#include "tst_cuda_top_logits.moc"
