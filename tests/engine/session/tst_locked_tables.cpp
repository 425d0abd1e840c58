// SPDX-License-Identifier: Apache-2.0
// Tables that a card reads in the host's memory (engine/forward/token/step_inputs.h): they are
// locked with the first tokens of a chat and unlocked before the model moves or goes, and every
// text is the one that tables on the card give, whatever ends it and whatever adapters do. On
// devices in host memory, whose replays run at once or as late as a card may.
#include "tests/support/engine/golden_engine.h"
#include "tests/support/engine/hidden_device.h"
#include "tests/support/program/test_class.h"

#include <QTest>

namespace {

constexpr uint64_t kLockedCapacity = uint64_t{512} << 20;

engine::LoadRequest lockedRequest(const std::string& map) {
    engine::LoadRequest request = support::goldenRequest("e2b");
    request.is_reference_precision = false; // the step needs the 16-bit cache
    request.device_map = map;
    request.prefill_chunk = 16;
    request.context = 256;
    return request;
}

/// The greedy reply to a short prompt, cancelled after so many tokens; 0: never.
std::vector<int32_t> sayLocked(engine::Engine& engine, int max_tokens, int64_t cancel_after = 0) {
    const engine::GenerateRequest request =
        support::greedyRequest({2, 27, 34, 41, 48, 55, 62, 69, 76}, max_tokens);
    std::stop_source stop;
    const auto reply = engine.generate(
        request,
        [&](const engine::ReplyUpdate& value) {
            if (cancel_after > 0 && value.tokens >= cancel_after) {
                stop.request_stop();
            }
        },
        stop.get_token());
    return reply.has_value() ? reply->token_ids : std::vector<int32_t>();
}

} // namespace

class TestLockedTables : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void init() { counts_ = {}; }
    void sameTexts_data() { timings(); }
    void sameTexts();
    void adaptersAndMoves_data() { timings(); }
    void adaptersAndMoves();
    void cleanup();

private:
    static void timings() {
        QTest::addColumn<bool>("is_late");
        QTest::newRow("replays at once") << false;
        QTest::newRow("replays when waited for") << true;
    }
    [[nodiscard]] std::unique_ptr<engine::Engine> open() {
        engine::EngineOptions options;
        options.gpus = support::hiddenAccess(2, kLockedCapacity, counts_);
        return std::make_unique<engine::Engine>(options);
    }
    support::HiddenCounts counts_;
};

void TestLockedTables::cleanup() {
    QCOMPARE(counts_.host_pointers, 0);
    QCOMPARE(counts_.open, 0);
    QCOMPARE(counts_.leaked, size_t{0});
    QCOMPARE(counts_.locked, 0);
    QCOMPARE(counts_.too_early, 0);
}

void TestLockedTables::sameTexts() {
    QFETCH(bool, is_late);
    counts_.is_late = is_late;
    const std::string tables = R"({"version": 1, "default": "cuda:0", "map": {
        "model.language_model.embed_tokens": "cpu",
        "model.language_model.embed_tokens_per_layer": "cpu",
        "lm_head": {"store": "cuda:0", "compute": "cuda:0", "duplicate_tied": true}}})";
    std::vector<int32_t> text;
    const std::vector<std::pair<std::string, int>> maps = {{"gpu", 0}, {"ple-cpu", 1}, {tables, 2}};
    for (const auto& [map, locked] : maps) {
        const auto engine = open();
        VERIFY_VALUE(engine->load(lockedRequest(map), {}, {}));
        const std::vector<int32_t> said = sayLocked(*engine, 40); // the ring wraps
        QCOMPARE(counts_.locked, locked);
        QCOMPARE(said.size(), size_t{40});
        if (text.empty()) {
            text = said;
        }
        QCOMPARE(said, text);
        for (const int64_t after : {1, 2, 7, 19}) {
            const std::vector<int32_t> begun = sayLocked(*engine, 40, after);
            QCOMPARE(begun, std::vector<int32_t>(text.begin(), text.begin() + after));
        }
        QCOMPARE(sayLocked(*engine, 40), text);
        QCOMPARE(support::memoryDifference(*engine), std::string());
    }
}

void TestLockedTables::adaptersAndMoves() {
    QFETCH(bool, is_late);
    counts_.is_late = is_late;
    const std::string adapter = support::goldenAdapter("e2b", "text");
    const auto engine = open();
    engine::LoadRequest request = lockedRequest("gpu");
    request.adapters.push_back({adapter, 1.0, true});
    VERIFY_VALUE(engine->load(request, {}, {}));
    const std::vector<int32_t> text = sayLocked(*engine, 12);
    for (const double strength : {0.5, 1.5, 0.0, 1.0}) {
        sayLocked(*engine, 30, 12);
        VERIFY_VALUE(engine->setAdapters({{adapter, strength, true}}, {}));
    }
    QCOMPARE(sayLocked(*engine, 12), text);
    for (const std::string map : {"lean", "ple-cpu", "lean", "gpu", "ple-cpu", "cpu", "gpu"}) {
        sayLocked(*engine, 30, 17);
        VERIFY_VALUE(engine->applyMap(map, {}, {}));
        QCOMPARE(counts_.locked, 0);
        sayLocked(*engine, 6);
        QCOMPARE(counts_.locked, map == "ple-cpu" ? 1 : 0);
    }
    QCOMPARE(sayLocked(*engine, 12), text);
    engine->unload();
    QCOMPARE(counts_.too_early, 0);
}

TEST_CLASS(TestLockedTables)
#include "tst_locked_tables.moc"
