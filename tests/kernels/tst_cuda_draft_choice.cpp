// SPDX-License-Identifier: Apache-2.0
// The end of a draft, from the kernels run on the CPU, against loops over the whole table: the
// largest logit's token, the lowest of equals, none that is suppressed, infinite or no number; of a
// head in groups only among the nearest groups, of equal ones the first. Rounds of several drafts
// are counted as they go. Rows and results end at a page that nobody may touch.
#include "tests/kernels/kernel_cases.h"
#include "tests/support/cuda_emulator/emulated_card.h"
#include "tests/support/program/test_class.h"

#include <QTest>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

using kernels::DraftChoiceArgs;
using kernels::DraftNumbers;
using kernels::Status;
using kernels::WeightFormat;
using namespace support;

namespace {

std::vector<float> normalRow(int64_t count, uint64_t seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<float> normal;
    std::vector<float> row(sizeOf(count));
    std::generate(row.begin(), row.end(), [&] { return normal(random); });
    return row;
}

bool isSet(const std::vector<uint32_t>& bits, int64_t index) {
    return (bits[sizeOf(index / 32)] >> (index % 32) & 1U) != 0;
}

/// Chooses among these tokens; -1: none may be drafted.
int32_t largest(const std::vector<int32_t>& tokens,
                const std::vector<float>& logits,
                const std::vector<uint32_t>& suppressed) {
    int32_t best = -1;
    float most = -std::numeric_limits<float>::infinity();
    for (size_t i = 0; i < tokens.size(); ++i) {
        const bool may = std::isfinite(logits[i]) && !isSet(suppressed, tokens[i]);
        if (may && (logits[i] > most || (logits[i] == most && tokens[i] < best))) {
            most = logits[i];
            best = tokens[i];
        }
    }
    return best;
}

EmulatedCardOptions cardOptions() {
    EmulatedCardOptions options;
    options.multiprocessors = 6;
    return options;
}

/// A table in groups with what is drafted from it.
struct Groups {
    int64_t tokens, groups, top, cols;
    WeightFormat format;
};

} // namespace
Q_DECLARE_METATYPE(Groups)

class TestDraftChoice : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void ofAllTokens();
    void ofGroups_data();
    void ofGroups();
    void whatIsRefused();
};

void TestDraftChoice::ofAllTokens() {
    EmulatedCard card(cardOptions());
    auto& d = card.device();
    for (const int64_t count : {int64_t{3}, int64_t{2048}, int64_t{5003}}) {
        std::vector<float> start = normalRow((count + 3) / 4 * 4, 1); // aligned to 16 bytes
        std::fill(start.begin() + count, start.end(), 1e30F);         // nobody's logits
        std::vector<uint32_t> bits(sizeOf((count + 31) / 32), 0);
        std::vector<int32_t> tokens(sizeOf(count));
        std::iota(tokens.begin(), tokens.end(), 0);
        const Guarded<DraftNumbers> numbers(1);
        const Guarded<int32_t> told(DraftNumbers::kMost);
        numbers[0] = {};
        numbers[0].at.token = 1;
        std::vector<int32_t> expected;
        // Equal ones, one larger that is suppressed, one that is no number, none at all.
        for (int round = 0; round < 5; ++round) {
            if (round == 1) {
                start[sizeOf(count - 1)] = start[sizeOf(count / 2)] = 50.0F;
            } else if (round == 2) {
                start[0] = 60.0F;
                bits[0] |= 1U;
            } else if (round == 3) {
                start[sizeOf(count / 2)] = std::numeric_limits<float>::quiet_NaN();
            } else if (round == 4) {
                std::fill(start.begin(), start.end(), -std::numeric_limits<float>::infinity());
            }
            const int32_t want = largest(tokens, start, bits);
            expected.push_back(want >= 0 ? want : expected.back());
            const Guarded<float> logits(start);
            const Guarded<uint32_t> skipped(bits);
            DraftChoiceArgs args;
            args.logits = logits.data();
            args.tokens = count;
            args.suppressed = skipped.data();
            args.numbers = numbers.data();
            args.told = round % 2 == 0 ? told.data() : nullptr;
            QCOMPARE(d.ops().choose_draft(d.queue(), args), Status::Ok);
            QCOMPARE(card.finish(), std::string());
            QCOMPARE(numbers[0].count, round + 1);
            QCOMPARE(numbers[0].at.token, expected.back());
            QCOMPARE(numbers[0].draft[round], expected.back());
            if (args.told != nullptr) {
                QCOMPARE(told[sizeOf(round)], expected.back());
            }
        }
        QVERIFY(expected[1] == static_cast<int32_t>(count / 2));
    }
}

void TestDraftChoice::ofGroups_data() {
    QTest::addColumn<Groups>("is");
    QTest::newRow("bf16") << Groups{1024, 32, 4, 48, WeightFormat::BF16};
    QTest::newRow("float16") << Groups{2048, 64, 8, 256, WeightFormat::F16};
    QTest::newRow("float32") << Groups{768, 8, 8, 520, WeightFormat::F32};
    QTest::newRow("many groups") << Groups{6144, 2048, 32, 16, WeightFormat::BF16};
    QTest::newRow("one group") << Groups{700, 7, 1, 64, WeightFormat::BF16};
}

void TestDraftChoice::ofGroups() {
    QFETCH(const Groups, is);
    EmulatedCard card(cardOptions());
    auto& d = card.device();
    const int64_t size = is.tokens / is.groups;
    const bool is_wide = is.format == WeightFormat::F32;
    const std::vector<float> values = normalRow(is.tokens * is.cols, 3);
    std::vector<uint16_t> halves(is_wide ? 0 : values.size());
    std::vector<float> exact(values);
    for (size_t i = 0; i < halves.size(); ++i) {
        // Rounded to eight bits, which both formats of 16 bits hold.
        const uint32_t bits = std::bit_cast<uint32_t>(values[i]) & 0xffff0000U;
        exact[i] = std::bit_cast<float>(bits);
        halves[i] = static_cast<uint16_t>(bits >> 16U);
        if (is.format == WeightFormat::F16) {
            const auto half = static_cast<_Float16>(exact[i]);
            exact[i] = static_cast<float>(half);
            halves[i] = std::bit_cast<uint16_t>(half);
        }
    }
    const Guarded<uint16_t> narrow(halves);
    const Guarded<float> wide(is_wide ? values : std::vector<float>());
    std::vector<int32_t> order(sizeOf(is.tokens));
    for (int64_t i = 0; i < is.tokens; ++i) {
        order[sizeOf(i)] = static_cast<int32_t>((i * 5 + 11) % is.tokens);
    }
    const Guarded<int32_t> ordering(order);
    const std::vector<float> x = normalRow(is.cols, 4);
    const std::vector<float> norm = normalRow(is.cols, 5);
    const Guarded<float> row(x);
    const Guarded<float> weights(norm);
    double squares = 0.0;
    for (const float value : x) {
        squares += static_cast<double>(value) * value;
    }
    const auto inverse =
        static_cast<float>(1.0 / std::sqrt(squares / static_cast<double>(is.cols) + 1e-6));
    std::vector<uint32_t> bits(sizeOf((is.tokens + 31) / 32), 0);
    const Guarded<DraftNumbers> numbers(1);
    numbers[0] = {};
    // Other centroids each time; many that are equal, so that the first ones count; all of them.
    for (int round = 0; round < 4; ++round) {
        std::vector<float> nearness = normalRow(is.groups, 10 + static_cast<uint64_t>(round));
        for (float& value : nearness) {
            value = round == 2 ? std::round(value) : round == 3 ? 0.5F : value;
        }
        std::vector<int32_t> groups(sizeOf(is.groups));
        std::iota(groups.begin(), groups.end(), 0);
        std::stable_sort(groups.begin(), groups.end(), [&nearness](int32_t a, int32_t b) {
            return nearness[sizeOf(a)] > nearness[sizeOf(b)];
        });
        groups.resize(sizeOf(is.top));
        std::vector<int32_t> tokens;
        std::vector<float> logits;
        for (const int32_t group : groups) {
            for (int64_t i = 0; i < size; ++i) {
                const int64_t r = group * size + i;
                double sum = 0.0;
                for (int64_t c = 0; c < is.cols; ++c) {
                    sum += static_cast<double>(exact[sizeOf(r * is.cols + c)]) * x[sizeOf(c)] *
                           inverse * norm[sizeOf(c)];
                }
                tokens.push_back(order[sizeOf(r)]);
                logits.push_back(static_cast<float>(sum));
            }
        }
        const int32_t want = largest(tokens, logits, bits);
        const Guarded<float> centroids(nearness);
        const Guarded<uint32_t> skipped(bits);
        DraftChoiceArgs args;
        args.logits = centroids.data();
        args.tokens = is.tokens;
        args.suppressed = skipped.data();
        args.groups = is.groups;
        args.top = is.top;
        args.table.data = is_wide ? static_cast<const void*>(wide.data()) : narrow.data();
        args.table.format = is.format;
        args.table.rows = is.tokens;
        args.table.cols = is.cols;
        args.ordering = ordering.data();
        args.x = row.data();
        args.norm = {weights.data(), kernels::DType::F32, 1, is.cols};
        args.numbers = numbers.data();
        QCOMPARE(d.ops().choose_draft(d.queue(), args), Status::Ok);
        QCOMPARE(card.finish(), std::string());
        QCOMPARE(numbers[0].draft[round], want);
        bits[sizeOf(want / 32)] |= 1U << (want % 32); // another one next time
    }
    QCOMPARE(numbers[0].count, 4);
}

void TestDraftChoice::whatIsRefused() {
    EmulatedCard card(cardOptions());
    auto& d = card.device();
    std::vector<float> logits(64, 0.0F);
    DraftNumbers numbers{};
    DraftChoiceArgs args;
    args.tokens = 64;
    args.numbers = &numbers;
    QCOMPARE(d.ops().choose_draft(d.queue(), args), Status::BadShape);
    args.logits = logits.data();
    args.groups = 7; // not a divisor
    args.top = 2;
    QCOMPARE(d.ops().choose_draft(d.queue(), args), Status::BadShape);
    std::vector<int32_t> ordering(64);
    std::vector<uint8_t> codes(64 * 64);
    std::vector<float> scales(64), x(64);
    args.groups = 8;
    args.ordering = ordering.data();
    args.x = x.data();
    args.table.data = codes.data();
    args.table.row_scale = scales.data();
    args.table.format = WeightFormat::Int8Row;
    args.table.rows = args.table.cols = 64;
    QCOMPARE(d.ops().choose_draft(d.queue(), args), Status::Unsupported);
    QCOMPARE(numbers.count, 0);
}

TEST_CLASS(TestDraftChoice)
#include "tst_cuda_draft_choice.moc"
