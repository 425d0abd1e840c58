// SPDX-License-Identifier: Apache-2.0
// Confirming drafts changes no distribution: 100,000 draws of two tokens against the sampler's own
// probabilities (a planted bias must be found), texts with a repetition penalty against sampling
// one by one, and the ends of a text. How many drafts a round has follows from costs and
// acceptance.
#include "engine/run/confirm_drafts.h"
#include "engine/run/draft_policy.h"
#include "tests/support/program/test_class.h"

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

/// A text that is written as the policy says, at made-up costs: a token by itself takes 1.
struct Text {
    double acceptance = 0.0;
    double draft_s = 0.0; ///< For a draft,
    double row_s = 0.0;   ///< for each row of a check behind its first.
    double setup_s = 0.0; ///< For the first check of so many rows, on top.
    double seconds = 0.0, setups_s = 0.0;
    int64_t tokens = 0;
    bool has_row = true;
    /// What the first two rounds of a number of rows cost beyond what was guessed: the first may
    /// set something up, so two are needed to know.
    double unforeseen = 0.0;
    std::vector<int> checks = std::vector<int>(20, 0);
    engine::RandomSource random{3}, noise{4};
    double held_up = 0.0; ///< Share of steps that take ten times as long.

    [[nodiscard]] double delay() { return noise.uniform() < held_up ? 10.0 : 1.0; }

    void write(engine::DraftPolicy& policy, int64_t count) {
        for (const int64_t end = tokens + count; tokens < end;) {
            const int64_t drafts = policy.next(end - tokens - 1, has_row);
            if (drafts == 0) {
                const double taken = delay();
                policy.notePlain(taken);
                seconds += taken;
                ++tokens;
                has_row = false;
                continue;
            }
            round(policy, has_row ? drafts : 0);
            has_row = true;
        }
    }

    void round(engine::DraftPolicy& policy, int64_t drafts) {
        int64_t accepted = 0;
        while (accepted < drafts && random.uniform() < acceptance) {
            ++accepted;
        }
        const auto rows = static_cast<size_t>(drafts) + 1;
        double check_s = 1.0 + row_s * static_cast<double>(drafts);
        const double drafting_s = draft_s * static_cast<double>(drafts);
        const double loss = drafting_s + check_s - static_cast<double>(accepted + 1);
        if (checks[rows] == 0) {
            unforeseen += std::max(0.0, loss);
            check_s += setup_s;
            setups_s += setup_s;
        } else if (checks[rows] == 1) {
            // It counts on a row at the price of a token and on a draft at a third of one.
            unforeseen += std::max(0.0, (row_s - 1.0) * static_cast<double>(drafts)) +
                          std::max(0.0, (draft_s - 0.3) * static_cast<double>(drafts));
        }
        ++checks[rows];
        check_s *= delay();
        policy.noteRound(drafts, accepted, drafting_s, check_s);
        seconds += drafting_s + check_s;
        tokens += accepted + 1;
    }
};

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
    void neverMuchSlower_data();
    void neverMuchSlower();
    void firstRoundsSetUp();
    void noiseIsNoReason();
    void fixedStaysOn();
    void looksAgain();
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
    QCOMPARE_LT(of_first, 50.0);
    QCOMPARE_LT(of_second, 50.0);
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
    QTest::addColumn<double>("row_s"); ///< For each row behind the first; a token by itself: 1.
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
    Text text{acceptance, draft_s, row_s};
    engine::DraftPolicy policy(0, 0);
    policy.beginReply();
    QCOMPARE(policy.next(16, true), int64_t{0}); // tokens by themselves are timed first
    text.write(policy, 3000);
    const bool pays = most > 0;
    QCOMPARE(policy.isOff(), !pays);
    QCOMPARE(policy.report().is_off, !pays);
    QCOMPARE(policy.report().gain > 1.0, pays);
    QVERIFY(policy.report().rounds > 0);
    QCOMPARE(policy.next(0, true), int64_t{0});
    if (pays) {
        const auto found = static_cast<int>(policy.next(16, true));
        QVERIFY2(found >= least && found <= most, qPrintable(QString::number(found)));
        QCOMPARE_LT(text.seconds, 3000.0);
    } else {
        policy.beginReply();
        QVERIFY(policy.report().is_off); // and by how much is told again
        QVERIFY(policy.report().gain > 0.0 && policy.report().gain < 1.0);
        QCOMPARE(policy.report().rounds, int64_t{0});
    }
}

void TestDraftRules::neverMuchSlower_data() {
    support::addColumns<double, double, double>("acceptance", "draft_s", "row_s");
    for (const double acceptance : {0.0, 0.3, 0.65}) {
        for (const double draft_s : {0.05, 0.5, 3.0}) {
            for (const double row_s : {0.1, 0.6, 1.5, 6.0}) {
                QTest::addRow("%.2f accepted, a draft %.2f, a row %.1f", acceptance, draft_s, row_s)
                    << acceptance << draft_s << row_s;
            }
        }
    }
}

/// Texts of every length, in replies of every length: 2 %, or four tokens of a short text.
void TestDraftRules::neverMuchSlower() {
    QFETCH(double, acceptance);
    QFETCH(double, draft_s);
    QFETCH(double, row_s);
    for (const int64_t reply : {5, 40, 700}) {
        Text text{acceptance, draft_s, row_s};
        engine::DraftPolicy policy(0, 4);
        while (text.tokens < 6000) {
            policy.beginReply();
            text.has_row = true; // of the prompt
            text.write(policy, reply);
            const auto tokens = static_cast<double>(text.tokens);
            const double most = (1.0 + engine::DraftPolicy::kMostLoss) * tokens +
                                engine::DraftPolicy::kFreeTokens + text.unforeseen;
            QVERIFY2(text.seconds <= most,
                     qPrintable(QStringLiteral("%1 s for %2 tokens, at most %3")
                                    .arg(text.seconds)
                                    .arg(tokens)
                                    .arg(most)));
        }
    }
}

/// The first check of so many rows and the first draft of all take long: once, and that is no
/// reason to leave drafts out.
void TestDraftRules::firstRoundsSetUp() {
    Text text{0.8, 0.05, 0.1};
    text.setup_s = 40.0;
    engine::DraftPolicy policy(0, 3);
    policy.beginReply();
    text.write(policy, 200);
    QVERIFY(!policy.isOff());
    QVERIFY(policy.next(16, true) >= 3);
    QVERIFY2(text.seconds - text.setups_s < 150.0,
             qPrintable(QString::number(text.seconds - text.setups_s)));
}

/// One step in twenty is held up, whatever it is: drafts that pay go on.
void TestDraftRules::noiseIsNoReason() {
    for (const uint64_t seed : {1, 2, 3, 4, 5}) {
        Text text{0.8, 0.05, 0.1};
        text.noise = engine::RandomSource(seed);
        text.held_up = 0.05;
        engine::DraftPolicy policy(0, 3);
        int64_t rounds = 0;
        for (int reply = 0; reply < 60; ++reply) {
            policy.beginReply();
            text.has_row = true;
            text.write(policy, 50);
            rounds += policy.report().rounds;
            // Nothing happens without a word.
            QVERIFY(policy.report().rounds > 0 || policy.report().is_off);
        }
        QVERIFY2(rounds > 400, qPrintable(QString::number(rounds))); // of 3000 tokens
        QVERIFY(!policy.isOff());
    }
}

void TestDraftRules::fixedStaysOn() {
    engine::DraftPolicy policy(4, 2);
    policy.beginReply();
    QCOMPARE(policy.next(16, true), int64_t{4});
    QCOMPARE(policy.next(16, false), int64_t{4});
    QCOMPARE(policy.next(3, true), int64_t{3});
    policy.notePlain(1.0);
    for (int round = 0; round < 50; ++round) {
        policy.noteRound(4, 0, 1.0, 5.0);
    }
    QCOMPARE(policy.next(16, true), int64_t{4});
    QVERIFY(!policy.isOff());
    QCOMPARE(policy.report().rounds, int64_t{50});
    QCOMPARE(policy.report().tokensPerRound(), 1.0);
    QVERIFY(policy.report().gain < 0.2);
}

void TestDraftRules::looksAgain() {
    // A text of which nothing is guessed, then one that is guessed well: code behind prose.
    Text text{0.0, 0.1, 0.3};
    engine::DraftPolicy policy(0, 2);
    policy.beginReply();
    text.write(policy, 300);
    QVERIFY(policy.isOff());
    const int64_t rounds = policy.report().rounds;
    text.acceptance = 0.95;
    text.write(policy, 1500);
    QVERIFY(!policy.isOff());
    QVERIFY(policy.report().rounds > rounds);
    QVERIFY(policy.next(16, true) > 0);
    // Where a check costs as much as its rows one by one, it hardly ever looks.
    Text hopeless{0.9, 2.0, 4.0};
    engine::DraftPolicy off(0, 2);
    off.beginReply();
    hopeless.write(off, 10000);
    QVERIFY(off.isOff());
    QCOMPARE_LT(off.report().rounds, 40);
}

TEST_CLASS(TestDraftRules)
#include "tst_draft_rules.moc"
