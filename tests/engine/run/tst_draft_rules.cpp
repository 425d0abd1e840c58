// SPDX-License-Identifier: Apache-2.0
// Confirming drafts changes no distribution: 100,000 draws of two tokens against the sampler's own
// probabilities (a planted bias must be found), texts with a repetition penalty against sampling
// one by one, and the ends of a text. How many drafts a round has follows from costs and
// acceptance.
#include "engine/run/confirm_drafts.h"
#include "engine/run/draft_policy.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <map>

namespace {

constexpr int64_t kVocab = 40;

/// Rows of made-up logits with a few likely tokens each.
std::vector<float> rowsOfLogits(int rows) {
    std::vector<float> logits;
    for (int row = 0; row < rows; ++row) {
        for (int id = 0; id < kVocab; ++id) {
            logits.push_back(2.0F * std::sin(0.7F * static_cast<float>(id * (row + 3)) + 1.0F));
        }
    }
    return logits;
}

engine::SamplingOptions optionsOf(uint64_t seed) {
    engine::SamplingOptions options;
    options.temperature = 0.8;
    options.top_k = 12;
    options.top_p = 0.95;
    options.suppressed = {3};
    options.seed = seed;
    return options;
}

engine::Sampler samplerOf(const engine::SamplingOptions& options) {
    auto sampler = engine::Sampler::create(options, kVocab);
    Q_ASSERT(sampler.has_value());
    return std::move(sampler).value();
}

std::vector<engine::Sampler::Candidate> candidatesOf(std::span<const float> row) {
    engine::Sampler sampler = samplerOf(optionsOf(1));
    return sampler.distribution(row).value();
}

/// sum (seen - expected)^2 / expected over the candidates; infinite where another token was seen.
double chiSquare(const std::map<int32_t, int>& seen,
                 const std::vector<engine::Sampler::Candidate>& candidates) {
    int total = 0;
    for (const auto& [id, count] : seen) {
        total += count;
        const bool is_known = std::any_of(candidates.begin(), candidates.end(),
                                          [id = id](const auto& c) { return c.id == id; });
        if (!is_known) {
            return std::numeric_limits<double>::infinity();
        }
    }
    double sum = 0.0;
    for (const auto& candidate : candidates) {
        const double expected = candidate.probability * total;
        const auto it = seen.find(candidate.id);
        const double difference = (it == seen.end() ? 0 : it->second) - expected;
        sum += difference * difference / expected;
    }
    return sum;
}

} // namespace

class TestDraftRules : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void drawsFromTheModel();
    void sameTextAsOneByOne();
    void endsWithTheText();
    void forcedAcceptance();
    void choosesByCost_data();
    void choosesByCost();
    void fixedStaysOn();
    void triesAgainWhereItWasClose();
};

void TestDraftRules::drawsFromTheModel() {
    constexpr int kDraws = 100000;
    const std::vector<float> logits = rowsOfLogits(2);
    const auto first = candidatesOf(std::span(logits).first(kVocab));
    const auto second = candidatesOf(std::span(logits).last(kVocab));
    QVERIFY(first.size() >= 5 && second.size() >= 5);
    // A likely draft and a less likely one.
    const std::vector<int32_t> drafts = {first[1].id, second[2].id};
    engine::Sampler sampler = samplerOf(optionsOf(7));
    engine::ForcedAcceptance by_model(-1.0);
    std::map<int32_t, int> seen_first, seen_second;
    for (int draw = 0; draw < kDraws; ++draw) {
        std::vector<int32_t> text;
        const auto outcome =
            engine::confirmDrafts(logits, kVocab, drafts, sampler, by_model, [&](int32_t id) {
                text.push_back(id);
                return true;
            });
        QVERIFY(!outcome.error.has_value());
        if (outcome.other.has_value()) {
            text.push_back(*outcome.other);
        }
        ++seen_first[text[0]];
        if (text.size() > 1) {
            ++seen_second[text[1]];
        }
    }
    // Degrees of freedom are at most 11: above 50 is seen once in a million such tests.
    const double of_first = chiSquare(seen_first, first);
    const double of_second = chiSquare(seen_second, second);
    qInfo("chi-square %.1f and %.1f, of %zu and %zu tokens", of_first, of_second, first.size(),
          second.size());
    QVERIFY2(of_first < 50.0, qPrintable(QString::number(of_first)));
    QVERIFY2(of_second < 50.0, qPrintable(QString::number(of_second)));
}

void TestDraftRules::sameTextAsOneByOne() {
    constexpr int kRows = 6;
    const std::vector<float> logits = rowsOfLogits(kRows);
    int confirmed = 0;
    for (uint64_t seed = 1; seed <= 300; ++seed) {
        engine::SamplingOptions options = optionsOf(seed);
        options.repetition_penalty = 1.4;
        const std::vector<int32_t> history = {5, 9, static_cast<int32_t>(seed % kVocab)};
        engine::Sampler plain = samplerOf(options);
        plain.setHistory(history);
        std::vector<int32_t> expected;
        for (int row = 0; row < kRows; ++row) {
            expected.push_back(
                plain.sample(std::span(logits).subspan(static_cast<size_t>(row * kVocab), kVocab))
                    .value());
            plain.accept(expected.back());
        }
        // Drafts that are right up to some row.
        std::vector<int32_t> drafts(expected.begin(), expected.end());
        const size_t wrong = seed % (kRows + 1);
        if (wrong < drafts.size()) {
            drafts[wrong] = (drafts[wrong] + 1) % static_cast<int32_t>(kVocab);
        }
        engine::Sampler sampler = samplerOf(options);
        sampler.setHistory(history);
        engine::ForcedAcceptance by_model(-1.0);
        std::vector<int32_t> text;
        const auto outcome =
            engine::confirmDrafts(logits, kVocab, drafts, sampler, by_model, [&](int32_t id) {
                sampler.accept(id);
                text.push_back(id);
                return true;
            });
        QCOMPARE(outcome.count, wrong);
        QCOMPARE(outcome.other.has_value(), wrong < drafts.size());
        if (outcome.other.has_value()) {
            text.push_back(*outcome.other);
        }
        confirmed += static_cast<int>(outcome.count);
        const std::vector<int32_t> beginning(
            expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(text.size()));
        QCOMPARE(text, beginning);
    }
    QVERIFY(confirmed > 500);
}

void TestDraftRules::endsWithTheText() {
    const std::vector<float> logits = rowsOfLogits(3);
    engine::SamplingOptions options;
    options.temperature = 0.0;
    engine::Sampler sampler = samplerOf(options);
    std::vector<int32_t> greedy;
    for (size_t row = 0; row < 3; ++row) {
        greedy.push_back(sampler.sample(std::span(logits).subspan(row * kVocab, kVocab)).value());
    }
    engine::ForcedAcceptance by_model(-1.0);
    int said = 0;
    const auto outcome = engine::confirmDrafts(logits, kVocab, greedy, sampler, by_model,
                                               [&](int32_t) { return ++said < 2; });
    QVERIFY(outcome.has_ended);
    QVERIFY(!outcome.other.has_value());
    QCOMPARE(outcome.count, size_t{1}); // the second one is said, but in no cache
    QCOMPARE(said, 2);
}

void TestDraftRules::forcedAcceptance() {
    engine::ForcedAcceptance forced(0.65);
    QVERIFY(forced.isOn());
    int accepted = 0;
    constexpr int kDraws = 20000;
    for (int i = 0; i < kDraws; ++i) {
        accepted += forced.choice(i % 2 == 0 ? 7 : 8, 7, kVocab) == 7 ? 1 : 0;
    }
    QVERIFY(std::abs(accepted - 13000) < 400);
}

void TestDraftRules::choosesByCost_data() {
    QTest::addColumn<double>("acceptance");
    QTest::addColumn<double>("draft_s");
    QTest::addColumn<double>("row_s"); ///< Of each row behind the first; a token by itself: 1.
    QTest::addColumn<int>("least");
    QTest::addColumn<int>("most");
    QTest::newRow("good drafts, rows for nothing") << 0.9 << 0.02 << 0.01 << 5 << 16;
    QTest::newRow("usual drafts, cheap rows") << 0.65 << 0.05 << 0.1 << 2 << 4;
    QTest::newRow("usual drafts, a third of the price") << 0.65 << 0.05 << 0.35 << 1 << 2;
    QTest::newRow("rows at full price") << 0.65 << 0.05 << 1.0 << 0 << 0;
    QTest::newRow("bad drafts") << 0.02 << 0.1 << 0.2 << 0 << 0;
}

void TestDraftRules::choosesByCost() {
    QFETCH(double, acceptance);
    QFETCH(double, draft_s);
    QFETCH(double, row_s);
    QFETCH(int, least);
    QFETCH(int, most);
    engine::DraftPolicy policy(0, 0);
    policy.beginReply();
    QCOMPARE(policy.next(16), int64_t{0}); // tokens by themselves are timed first
    for (int i = 0; i < 3; ++i) {
        policy.notePlain(1.0);
    }
    engine::ForcedAcceptance chance(acceptance);
    for (int round = 0; round < 400; ++round) {
        const int64_t drafts = policy.next(16);
        if (drafts == 0) {
            break;
        }
        int64_t accepted = 0;
        while (accepted < drafts && chance.choice(1, 0, kVocab) == 0) {
            ++accepted;
        }
        policy.noteRound(drafts, accepted, draft_s * static_cast<double>(drafts),
                         1.0 + row_s * static_cast<double>(drafts));
    }
    const auto found = static_cast<int>(policy.next(16));
    QVERIFY2(found >= least && found <= most, qPrintable(QString::number(found)));
    QCOMPARE(policy.isOff(), most == 0);
    QCOMPARE(policy.report().is_off, most == 0);
    QCOMPARE(policy.report().gain > 1.0, most > 0);
    QCOMPARE(policy.next(0), int64_t{0});
}

void TestDraftRules::fixedStaysOn() {
    engine::DraftPolicy policy(4, 2);
    policy.beginReply();
    QCOMPARE(policy.next(16), int64_t{4});
    QCOMPARE(policy.next(3), int64_t{3});
    policy.notePlain(1.0);
    for (int round = 0; round < 50; ++round) {
        policy.noteRound(4, 0, 1.0, 5.0);
    }
    QCOMPARE(policy.next(16), int64_t{4});
    QVERIFY(!policy.isOff());
    QCOMPARE(policy.report().rounds, int64_t{50});
    QCOMPARE(policy.report().tokensPerRound(), 1.0);
    QVERIFY(policy.report().gain < 0.2);
}

void TestDraftRules::triesAgainWhereItWasClose() {
    const auto drafted = [](double check_s) {
        engine::DraftPolicy policy(0, 1);
        policy.beginReply();
        for (int i = 0; i < 3; ++i) {
            policy.notePlain(1.0);
        }
        for (int round = 0; round < 40 && !policy.isOff(); ++round) {
            policy.noteRound(1, round % 2, 0.05, check_s);
        }
        return policy;
    };
    engine::DraftPolicy close = drafted(1.6);
    QVERIFY(close.isOff());
    close.beginReply();
    QVERIFY(!close.isOff());
    engine::DraftPolicy hopeless = drafted(4.0);
    QVERIFY(hopeless.isOff());
    hopeless.beginReply();
    QVERIFY(hopeless.isOff());
    QVERIFY(hopeless.report().is_off);
}

QTEST_APPLESS_MAIN(TestDraftRules)
#include "tst_draft_rules.moc"
