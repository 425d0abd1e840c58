// SPDX-License-Identifier: Apache-2.0
// Tokens that the host draws among the few that the device names
// (engine/forward/token/decode_step.h): for every seed and all settings the text is the one drawn
// from whole rows of logits, no row travels where none is needed, and whatever is in between (rows
// that tell nothing, greedy replies, a cancelled one, other settings, adapters, a move) changes
// nothing. On devices in host memory, whose replays run at once or as late as a card may.
#include "tests/support/engine/golden_engine.h"
#include "tests/support/engine/hidden_device.h"
#include "tests/support/program/test_class.h"

#include <QTest>

#include <set>

namespace {

constexpr uint64_t kCapacity = uint64_t{512} << 20;

using Settings = engine::SamplingParameters;

Settings settingsOf(double temperature, int64_t top_k, double top_p = 1.0, double min_p = 0.0) {
    Settings settings;
    settings.temperature = temperature;
    settings.top_k = top_k;
    settings.top_p = top_p;
    settings.min_p = min_p;
    settings.repetition_penalty = 1.0;
    settings.seed = 1;
    settings.max_tokens = 25;
    settings.ignores_eos = true;
    return settings;
}

class Chat {
public:
    Chat(bool has_top, support::HiddenCounts& counts) : counts_(&counts) {
        engine::EngineOptions options;
        options.decode.has_candidates = has_top;
        options.gpus = support::hiddenAccess(2, kCapacity, counts);
        engine_ = std::make_unique<engine::Engine>(options);
    }
    Chat(const Chat&) = delete;
    Chat& operator=(const Chat&) = delete;

    engine::Engine& engine() { return *engine_; }
    std::vector<std::vector<int32_t>> texts;
    std::vector<std::string> reasons;
    std::vector<int64_t> held, reused;
    int reads = 0; ///< Copies from the device, of the last reply.
    int tops = 0;  ///< Rows whose candidates it looked for.

    void load(const std::string& map) {
        engine::LoadRequest request = support::goldenRequest("e2b");
        request.is_reference_precision = false; // the step needs the 16-bit cache
        request.device_map = map;
        request.prefill_chunk = 16;
        request.context = 128;
        VERIFY_VALUE(engine_->load(request, {}, {}));
    }
    std::vector<int32_t> say(const Settings& settings, int salt = 0, int64_t cancel_after = 0) {
        engine::GenerateRequest request;
        for (int i = 0; i < 9; ++i) {
            request.raw_ids.push_back(i == 0 ? 2 : 20 + (i * 7 + salt) % 150);
        }
        request.sampling = settings;
        std::stop_source stop;
        const auto update = [&](const engine::ReplyUpdate& value) {
            if (cancel_after > 0 && value.tokens >= cancel_after) {
                stop.request_stop();
            }
        };
        reads = -counts_->reads;
        tops = -counts_->tops;
        const auto reply = engine_->generate(request, update, stop.get_token());
        reads += counts_->reads;
        tops += counts_->tops;
        reasons.push_back(reply.has_value() ? reply->finish_reason : reply.error().message);
        texts.push_back(reply.has_value() ? reply->token_ids : std::vector<int32_t>());
        held.push_back(engine_->contextUse().first);
        reused.push_back(reply.has_value() ? reply->timing.reused_tokens : -1);
        return texts.back();
    }

private:
    std::unique_ptr<engine::Engine> engine_;
    support::HiddenCounts* counts_;
};

} // namespace

class TestDrawnTokens : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void init() { counts_ = {}; }
    void sameTexts_data();
    void sameTexts();
    void byCopies();
    void rowsThatTellNothing_data();
    void rowsThatTellNothing();
    void otherSettingsSeeTheRow();
    void inTurns_data();
    void inTurns();
    void cleanup();

private:
    support::HiddenCounts counts_;
};

void TestDrawnTokens::cleanup() {
    QCOMPARE(counts_.host_pointers, 0);
    QCOMPARE(counts_.open, 0);
    QCOMPARE(counts_.leaked, size_t{0});
    QCOMPARE(counts_.locked, 0);
    QCOMPARE(counts_.too_early, 0);
}

void TestDrawnTokens::sameTexts_data() {
    QTest::addColumn<std::string>("map");
    QTest::addColumn<bool>("is_late");
    QTest::addColumn<bool>("is_told"); // the fused step serves this map
    for (const bool is_late : {false, true}) {
        const char* when = is_late ? "when waited for" : "at once";
        QTest::addRow("all on the card, %s", when) << std::string("gpu") << is_late << true;
        QTest::addRow("a locked table, %s", when) << std::string("ple-cpu") << is_late << true;
        QTest::addRow("a table elsewhere, %s", when) << std::string("lean") << is_late << true;
        QTest::addRow("on the processor, %s", when) << std::string("cpu") << is_late << false;
    }
}

void TestDrawnTokens::sameTexts() {
    QFETCH(std::string, map);
    QFETCH(bool, is_late);
    QFETCH(bool, is_told);
    counts_.is_late = is_late;
    const std::vector<Settings> all = {settingsOf(1.0, 64, 0.95),       // as published
                                       settingsOf(1.0, 64),             // no top_p
                                       settingsOf(0.6, 20, 0.8),        //
                                       settingsOf(1.4, 40, 1.0, 0.02),  // min_p
                                       settingsOf(3.0, 100, 0.9, 0.01), // all of them
                                       settingsOf(1.0, 1),              //
                                       settingsOf(8.0, 256)};
    std::vector<std::vector<std::vector<int32_t>>> texts;
    for (const bool has_top : {false, true}) {
        Chat chat(has_top, counts_);
        chat.load(map);
        for (Settings settings : all) {
            for (int64_t seed = 1; seed <= 4; ++seed) {
                settings.seed = seed;
                QCOMPARE(chat.say(settings, static_cast<int>(seed)).size(), size_t{25});
                QCOMPARE(chat.tops, has_top && is_told ? 24 : 0);
                if (is_told) {
                    QVERIFY2(has_top ? chat.reads < 5 : chat.reads >= 24,
                             qPrintable(QString::number(chat.reads)));
                }
            }
        }
        QCOMPARE(support::memoryDifference(chat.engine()), std::string());
        texts.push_back(chat.texts);
    }
    QCOMPARE(texts[1], texts[0]);
    // The seeds matter: else everything above would hold of greedy choice, too.
    QVERIFY(std::set<std::vector<int32_t>>(texts[0].begin(), texts[0].end()).size() > 20);
}

/// Where kernels cannot write to the host's memory the candidates are copied.
void TestDrawnTokens::byCopies() {
    counts_.has_copies_only = true;
    std::vector<std::vector<std::vector<int32_t>>> texts;
    for (const bool has_top : {false, true}) {
        Chat chat(has_top, counts_);
        chat.load("gpu");
        for (int64_t seed = 1; seed <= 4; ++seed) {
            Settings settings = settingsOf(1.0, 64, 0.95);
            settings.seed = seed;
            chat.say(settings);
            QCOMPARE(chat.tops, has_top ? 24 : 0);
            // A recorded copy counts once.
            QVERIFY(has_top ? chat.reads < 5 : chat.reads >= 24);
        }
        texts.push_back(chat.texts);
    }
    QCOMPARE(texts[1], texts[0]);
}

void TestDrawnTokens::rowsThatTellNothing_data() {
    QTest::addColumn<int>("untold_rows");
    QTest::newRow("every third") << 3;
    QTest::newRow("all") << 1;
}

/// The host draws from the row itself, token by token as it comes.
void TestDrawnTokens::rowsThatTellNothing() {
    QFETCH(int, untold_rows);
    std::vector<std::vector<std::vector<int32_t>>> texts;
    for (const bool has_top : {false, true}) {
        counts_.untold_rows = untold_rows;
        Chat chat(has_top, counts_);
        chat.load("gpu");
        for (int64_t seed = 1; seed <= 4; ++seed) {
            Settings settings = settingsOf(1.0, 64, 0.95);
            settings.seed = seed;
            chat.say(settings);
            QCOMPARE(chat.tops, has_top ? 24 : 0);
            QVERIFY(chat.reads >= 24 / untold_rows);
        }
        chat.say(settingsOf(0.0, 0)); // and the device's own choice
        texts.push_back(chat.texts);
    }
    QCOMPARE(texts[1], texts[0]);
}

/// A penalty changes any logit, and without top_k any token may be drawn.
void TestDrawnTokens::otherSettingsSeeTheRow() {
    Chat chat(true, counts_);
    chat.load("gpu");
    Settings penalty = settingsOf(1.0, 64);
    penalty.repetition_penalty = 1.2;
    for (const Settings& settings : {settingsOf(1.0, 0, 0.95), settingsOf(1.0, 257), penalty}) {
        QCOMPARE(chat.say(settings).size(), size_t{25});
        QCOMPARE(chat.tops, 0);
        QVERIFY(chat.reads >= 24);
    }
    chat.say(settingsOf(0.0, 64));
    QCOMPARE(chat.tops, 0);
    QVERIFY(chat.reads < 5);
}

void TestDrawnTokens::inTurns_data() {
    QTest::addColumn<bool>("is_late");
    QTest::newRow("replays at once") << false;
    QTest::newRow("replays when waited for") << true;
}

/// Replies of all kinds behind each other, some cancelled: greedy ones and drawn ones in turn.
void TestDrawnTokens::inTurns() {
    QFETCH(bool, is_late);
    counts_.is_late = is_late;
    std::vector<std::vector<std::vector<int32_t>>> texts;
    std::vector<std::vector<std::string>> reasons;
    std::vector<std::vector<int64_t>> held, reused;
    const std::string adapter = support::goldenAdapter("e2b", "text");
    for (const bool has_top : {false, true}) {
        Chat chat(has_top, counts_);
        chat.load("gpu");
        const auto round = [&](int64_t cancel_after) {
            chat.say(settingsOf(0.0, 64), 1, cancel_after);
            chat.say(settingsOf(1.0, 64, 0.95), 1, cancel_after);
            chat.say(settingsOf(1.0, 64, 0.95), 2, cancel_after); // the same recording
            chat.say(settingsOf(1.0, 3), 2, cancel_after);
            chat.say(settingsOf(1.0, 0, 0.9), 2, cancel_after);
            chat.say(settingsOf(0.0, 64), 2, cancel_after);
            engine::GenerateRequest request;
            request.raw_ids = {2, 44, 45};
            QVERIFY(chat.engine().logits(request, 1, {}).has_value());
        };
        round(0);
        round(7);
        VERIFY_VALUE(chat.engine().setAdapters({{adapter, 1.0, true}}, {}));
        round(0);
        VERIFY_VALUE(chat.engine().setAdapters({{adapter, 0.3, true}}, {}));
        round(1);
        for (const std::string map : {"ple-cpu", "cpu", "gpu"}) {
            VERIFY_VALUE(chat.engine().applyMap(map, {}, {}));
            round(5);
        }
        chat.say(settingsOf(1.0, 64, 0.95)); // until the context is full
        Settings all = settingsOf(1.0, 64, 0.95);
        all.max_tokens = 0;
        chat.say(all);
        QCOMPARE(chat.reasons.back(), std::string("context"));
        texts.push_back(chat.texts);
        reasons.push_back(chat.reasons);
        held.push_back(chat.held);
        reused.push_back(chat.reused);
    }
    QCOMPARE(texts[1], texts[0]);
    QCOMPARE(reasons[1], reasons[0]);
    QCOMPARE(held[1], held[0]);
    QCOMPARE(reused[1], reused[0]);
}

TEST_CLASS(TestDrawnTokens)
#include "tst_drawn_tokens.moc"
