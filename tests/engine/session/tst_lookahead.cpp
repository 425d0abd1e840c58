// SPDX-License-Identifier: Apache-2.0
// Steps that run ahead of the token they belong to (engine/forward/decode_step.h): every text is
// the one without them, whatever ends it and whatever follows (another reply, a shorter prompt, a
// longer one, other adapters, a move), also where the ring of sliding layers is as short as it can
// be; no step runs past max_tokens or the context, and at most one for nothing. On devices in host
// memory, whose replays run at once or as late as a card may.
#include "tests/support/engine/golden_engine.h"
#include "tests/support/engine/hidden_device.h"

#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <tuple>

namespace fs = std::filesystem;

namespace {

constexpr uint64_t kCapacity = uint64_t{512} << 20;
constexpr int kWindow = 12; ///< Of the golden models.

/// What a story saw: everything that a user could see of it.
struct Seen {
    std::vector<std::vector<int32_t>> tokens;
    std::vector<std::string> reasons;
    std::vector<int64_t> held, reused;
    std::vector<std::vector<float>> logits;
    int replays = 0;
};

std::string errorOf(const engine::Result<void>& result) {
    return result.has_value() ? std::string() : result.error().message;
}

class Chat {
public:
    Chat(bool looks_ahead, support::HiddenCounts& counts) : counts_(&counts) {
        engine::EngineOptions options;
        options.decode.looks_ahead = looks_ahead;
        options.gpus = support::hiddenAccess(2, kCapacity, counts);
        engine_ = std::make_unique<engine::Engine>(options);
    }
    Chat(const Chat&) = delete;
    Chat& operator=(const Chat&) = delete;

    engine::Engine& engine() { return *engine_; }
    Seen seen;

    /// cancel_after: tokens; 0: never.
    std::vector<int32_t> say(const std::vector<int32_t>& ids,
                             int max_tokens,
                             int64_t cancel_after = 0,
                             bool ignores_eos = true) {
        engine::GenerateRequest request;
        request.raw_ids = ids;
        request.sampling.temperature = 0.0;
        request.sampling.ignores_eos = ignores_eos;
        request.sampling.max_tokens = max_tokens;
        std::stop_source stop;
        const auto update = [&](const engine::ReplyUpdate& value) {
            if (cancel_after > 0 && value.tokens >= cancel_after) {
                stop.request_stop();
            }
        };
        const int before = counts_->replays;
        const auto reply = engine_->generate(request, update, stop.get_token());
        seen.replays = counts_->replays - before;
        if (!reply.has_value()) {
            seen.reasons.push_back(reply.error().message);
            return {};
        }
        seen.tokens.push_back(reply->token_ids);
        seen.reasons.push_back(reply->finish_reason);
        seen.reused.push_back(reply->timing.reused_tokens);
        seen.held.push_back(engine_->contextUse().first);
        return reply->token_ids;
    }
    void logits(const std::vector<int32_t>& ids, int64_t rows) {
        engine::GenerateRequest request;
        request.raw_ids = ids;
        const auto result = engine_->logits(request, rows, {});
        seen.logits.push_back(result.has_value() ? result->logits : std::vector<float>());
        seen.held.push_back(engine_->contextUse().first);
    }

private:
    std::unique_ptr<engine::Engine> engine_;
    support::HiddenCounts* counts_;
};

std::vector<int32_t> numbers(int count, int first = 20) {
    std::vector<int32_t> ids = {2};
    for (int i = 1; i < count; ++i) {
        ids.push_back(first + i * 7 % 150);
    }
    return ids;
}

std::vector<int32_t> joined(std::vector<int32_t> a, const std::vector<int32_t>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

engine::LoadRequest requestOf(int chunk, int64_t context = 256) {
    engine::LoadRequest request = support::goldenRequest("e2b");
    request.is_reference_precision = false; // the step needs the 16-bit cache
    request.device_map = "gpu";
    request.prefill_chunk = chunk;
    request.context = context;
    return request;
}

double difference(const std::vector<float>& a, const std::vector<float>& b) {
    double largest = a.size() == b.size() && !a.empty() ? 0.0 : INFINITY;
    for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
        largest = std::max(largest, static_cast<double>(std::abs(a[i] - b[i])));
    }
    return largest;
}

} // namespace

class TestLookahead : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void init() { counts_ = {}; }
    void sameTexts_data();
    void sameTexts();
    void rewinds_data();
    void rewinds();
    void stopsAtAnEndToken_data() { timings(); }
    void stopsAtAnEndToken();
    void adaptersAndMoves_data() { timings(); }
    void adaptersAndMoves();
    void runsNothingPastTheEnd_data() { timings(); }
    void runsNothingPastTheEnd();
    void onlyWhereTheDeviceChooses();
    void cleanup();

private:
    static void timings() {
        QTest::addColumn<bool>("is_late");
        QTest::newRow("replays at once") << false;
        QTest::newRow("replays when waited for") << true;
    }
    support::HiddenCounts counts_;
};

void TestLookahead::cleanup() {
    QCOMPARE(counts_.host_pointers, 0);
    QCOMPARE(counts_.open, 0);
    QCOMPARE(counts_.leaked, size_t{0});
    QCOMPARE(counts_.locked, 0);
    QCOMPARE(counts_.too_early, 0);
}

void TestLookahead::sameTexts_data() {
    QTest::addColumn<bool>("is_late");
    QTest::addColumn<std::string>("map");
    QTest::addColumn<int>("locked"); ///< Tables that the card reads in the host's memory.
    const std::string tables = R"({"version": 1, "default": "cuda:0", "map": {
        "model.language_model.embed_tokens": "cpu",
        "model.language_model.embed_tokens_per_layer": "cpu",
        "lm_head": {"store": "cuda:0", "compute": "cuda:0", "duplicate_tied": true}}})";
    for (const auto& [name, map, locked] : {std::tuple{"gpu", std::string("gpu"), 0},
                                            {"ple-cpu", std::string("ple-cpu"), 1},
                                            {"both tables on the CPU", tables, 2}}) {
        QTest::addRow("%s, replays at once", name) << false << map << locked;
        QTest::addRow("%s, replays when waited for", name) << true << map << locked;
    }
}

/// Replies that run out, are cancelled after any number of tokens, said again and gone on with.
void TestLookahead::sameTexts() {
    QFETCH(bool, is_late);
    QFETCH(std::string, map);
    QFETCH(int, locked);
    counts_.is_late = is_late;
    std::vector<Seen> all;
    std::vector<int> wasted;
    for (const bool looks_ahead : {false, true}) {
        Chat chat(looks_ahead, counts_);
        engine::LoadRequest request = requestOf(16);
        request.device_map = map;
        QCOMPARE(errorOf(chat.engine().load(request, {}, {})), std::string());
        const std::vector<int32_t> prompt = numbers(9);
        chat.say(prompt, 40); // the ring wraps
        QCOMPARE(counts_.locked, locked);
        const std::vector<int32_t> text = chat.seen.tokens.back();
        for (int after = 1; after <= 20; ++after) {
            chat.say(prompt, 40, after);
            wasted.push_back(chat.seen.replays);
            QCOMPARE(static_cast<int>(chat.seen.tokens.back().size()), after);
        }
        chat.say(joined(prompt, text), 12, 5);
        chat.say(joined(prompt, text), 12);
        chat.logits(joined(joined(prompt, text), numbers(6, 33)), 3);
        chat.say(numbers(30, 60), 30, 29);
        chat.logits(joined(numbers(30, 60), numbers(40, 3)), 3);
        QCOMPARE(support::memoryDifference(chat.engine()), std::string());
        all.push_back(std::move(chat.seen));
    }
    QCOMPARE(all[1].tokens, all[0].tokens);
    QCOMPARE(all[1].reasons, all[0].reasons);
    QCOMPARE(all[1].held, all[0].held);
    constexpr int64_t kRing = kWindow - 1 + 16;
    for (size_t i = 1; i < all[0].reused.size(); ++i) {
        // A ring that was just full: the step that ran for nothing has taken its first row, which
        // the beginning of the prompt needs (see rewinds()).
        const bool is_first_row_gone = all[0].held[i - 1] == kRing && all[1].reused[i] == 0;
        QVERIFY(all[1].reused[i] == all[0].reused[i] || is_first_row_gone);
    }
    QCOMPARE(all[0].logits.size(), size_t{2});
    QCOMPARE(all[1].logits, all[0].logits);
    // A cancelled reply has run one step more, and no other.
    for (size_t i = 0; i < 20; ++i) {
        QVERIFY(wasted[20 + i] >= wasted[i]);
        QVERIFY(wasted[20 + i] <= wasted[i] + 1);
    }
    QVERIFY(wasted[20 + 10] == wasted[10] + 1);
}

void TestLookahead::rewinds_data() {
    QTest::addColumn<int>("chunk");
    QTest::addColumn<bool>("is_late");
    for (const int chunk : {1, 2, 3, 8}) {
        for (const bool is_late : {false, true}) {
            QTest::addRow("%d rows beside the window, %s", chunk, is_late ? "late" : "at once")
                << chunk << is_late;
        }
    }
}

/// After a cancelled reply the cache goes back by any number of tokens: a ring of window - 1 +
/// chunk rows allows `chunk` of them. The step that ran for nothing has overwritten its oldest row:
/// the rewind that needs that one starts over, every other one takes what it took before.
void TestLookahead::rewinds() {
    QFETCH(int, chunk);
    QFETCH(bool, is_late);
    counts_.is_late = is_late;
    std::vector<std::unique_ptr<Chat>> chats;
    for (const bool looks_ahead : {false, true}) {
        chats.push_back(std::make_unique<Chat>(looks_ahead, counts_));
        QCOMPARE(errorOf(chats.back()->engine().load(requestOf(chunk), {}, {})), std::string());
    }
    constexpr int kMostBack = 8;
    const std::vector<int32_t> prompt = numbers(7);
    int started_over = 0;
    for (const int said : {3, kWindow + chunk + 4}) {
        for (int back = 1; back <= chunk + 3; ++back) {
            std::vector<int32_t> shorter;
            for (const auto& chat : chats) {
                const auto text = joined(prompt, chat->say(prompt, 60, said));
                const auto held = static_cast<size_t>(chat->engine().contextUse().first);
                shorter.assign(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(held) -
                                                 std::min<int>(back, kMostBack));
                shorter.push_back(150); // another token than was there
                chat->say(shorter, 6);
                chat->logits(shorter, 1);
            }
            const Seen& plain = chats[0]->seen;
            const Seen& ahead = chats[1]->seen;
            QCOMPARE(ahead.tokens, plain.tokens);
            QCOMPARE(ahead.held, plain.held);
            if (ahead.reused.back() == plain.reused.back()) {
                QVERIFY(difference(ahead.logits.back(), plain.logits.back()) < 1e-4);
                continue;
            }
            QCOMPARE(ahead.reused.back(), int64_t{0});
            QCOMPARE(std::min(back, kMostBack), chunk); // the rewind that needs the oldest row
            ++started_over;
            // Many rows at once are rounded otherwise: as in a chat that begins with them.
            Chat fresh(false, counts_);
            QCOMPARE(errorOf(fresh.engine().load(requestOf(chunk), {}, {})), std::string());
            fresh.say(shorter, 6);
            fresh.logits(shorter, 1);
            QCOMPARE(ahead.tokens.back(), fresh.seen.tokens.back());
            QVERIFY(difference(ahead.logits.back(), fresh.seen.logits.back()) < 1e-4);
        }
    }
    // Without a row to spare nothing looks ahead.
    QCOMPARE(chats[1]->seen.replays > 0, true);
    QCOMPARE(started_over, chunk == 1 ? 0 : chunk == kMostBack ? 4 : 1);
}

/// The token that ends a text is known a step late.
void TestLookahead::stopsAtAnEndToken() {
    QFETCH(bool, is_late);
    counts_.is_late = is_late;
    const std::vector<int32_t> prompt = numbers(9);
    std::vector<int32_t> text;
    {
        Chat chat(false, counts_);
        QCOMPARE(errorOf(chat.engine().load(requestOf(16), {}, {})), std::string());
        text = chat.say(prompt, 24, 0, false);
        QCOMPARE(static_cast<int>(text.size()), 24);
    }
    // The first token at or behind the eighth that did not come before it.
    size_t end = 7;
    while (std::find(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end), text[end]) !=
           text.begin() + static_cast<std::ptrdiff_t>(end)) {
        ++end;
        QVERIFY(end < text.size());
    }
    QTemporaryDir folder;
    const fs::path model = support::goldenDir() / "e2b" / "model";
    for (const auto& entry : fs::directory_iterator(model)) {
        const fs::path name = entry.path().filename();
        if (name != "generation_config.json") {
            fs::copy_file(entry.path(), fs::path(folder.path().toStdString()) / name);
        }
    }
    auto generation = support::readJson(model / "generation_config.json");
    generation["eos_token_id"] = {1, text[end]};
    std::ofstream(fs::path(folder.path().toStdString()) / "generation_config.json")
        << generation.dump();
    std::vector<Seen> all;
    std::vector<int> replays;
    for (const bool looks_ahead : {false, true}) {
        Chat chat(looks_ahead, counts_);
        engine::LoadRequest request = requestOf(16);
        request.model = folder.path().toStdString();
        const auto loaded = chat.engine().load(request, {}, {});
        QVERIFY2(loaded.has_value(), errorOf(loaded).c_str());
        const auto first = chat.say(prompt, 24, 0, false);
        replays.push_back(chat.seen.replays);
        QCOMPARE(first, std::vector<int32_t>(text.begin(),
                                             text.begin() + static_cast<std::ptrdiff_t>(end) + 1));
        QCOMPARE(chat.seen.reasons.back(), std::string("stop"));
        chat.say(joined(joined(prompt, first), numbers(5, 44)), 24, 0, false);
        chat.say(prompt, static_cast<int>(end) + 1, 0, false); // the end is the last one anyway
        replays.push_back(chat.seen.replays);
        all.push_back(std::move(chat.seen));
    }
    QCOMPARE(all[1].tokens, all[0].tokens);
    QCOMPARE(all[1].reasons, all[0].reasons);
    QCOMPARE(all[1].held, all[0].held);
    QCOMPARE(all[1].reused, all[0].reused);
    QCOMPARE(replays[2], replays[0] + 1);
    QCOMPARE(replays[3], replays[1]);
}

void TestLookahead::adaptersAndMoves() {
    QFETCH(bool, is_late);
    counts_.is_late = is_late;
    std::vector<Seen> all;
    const std::string adapter = support::goldenAdapter("e2b", "text");
    for (const bool looks_ahead : {false, true}) {
        Chat chat(looks_ahead, counts_);
        engine::LoadRequest request = requestOf(16);
        request.adapters.push_back({adapter, 1.0, true});
        QCOMPARE(errorOf(chat.engine().load(request, {}, {})), std::string());
        const std::vector<int32_t> prompt = numbers(9);
        for (const double strength : {0.5, 1.5, 0.0, 1.0}) {
            chat.say(prompt, 30, 12);
            QCOMPARE(errorOf(chat.engine().setAdapters({{adapter, strength, true}}, {})),
                     std::string());
        }
        for (const std::string map : {"lean", "ple-cpu", "lean", "gpu", "ple-cpu", "cpu", "gpu"}) {
            chat.say(prompt, 30, 17);
            QCOMPARE(errorOf(chat.engine().applyMap(map, {}, {})), std::string());
            QCOMPARE(counts_.locked, 0);
            chat.say(joined(prompt, chat.seen.tokens.back()), 6);
            QCOMPARE(counts_.locked, map == "ple-cpu" ? 1 : 0);
        }
        chat.say(prompt, 30, 9);
        chat.engine().unload();
        QCOMPARE(counts_.too_early, 0);
        all.push_back(std::move(chat.seen));
    }
    QCOMPARE(all[1].tokens, all[0].tokens);
    QCOMPARE(all[1].held, all[0].held);
    QCOMPARE(all[1].reused, all[0].reused);
}

void TestLookahead::runsNothingPastTheEnd() {
    QFETCH(bool, is_late);
    counts_.is_late = is_late;
    std::vector<std::vector<int>> replays(2);
    std::vector<Seen> all;
    for (const bool looks_ahead : {false, true}) {
        Chat chat(looks_ahead, counts_);
        QCOMPARE(errorOf(chat.engine().load(requestOf(16, 48), {}, {})), std::string());
        for (const int most : {1, 2, 3, 4, 11}) {
            chat.say(numbers(9, 20 + most), most);
            QCOMPARE(chat.seen.reasons.back(), std::string("length"));
            replays[looks_ahead ? 1 : 0].push_back(chat.seen.replays);
        }
        for (const int most : {0, 500}) { // until the context is full
            chat.say(numbers(9, 70 + most), most);
            QCOMPARE(chat.seen.reasons.back(), std::string("context"));
            QCOMPARE(chat.seen.held.back(), int64_t{48});
            replays[looks_ahead ? 1 : 0].push_back(chat.seen.replays);
        }
        all.push_back(std::move(chat.seen));
    }
    QCOMPARE(replays[1], replays[0]);
    QCOMPARE(all[1].tokens, all[0].tokens);
}

/// Drawn tokens, a repetition penalty and tables elsewhere: one step at a time, as ever.
void TestLookahead::onlyWhereTheDeviceChooses() {
    const std::vector<int32_t> prompt = numbers(9);
    for (const std::string kind : {"drawn", "penalty", "table elsewhere"}) {
        std::vector<int> replays;
        std::vector<std::vector<int32_t>> tokens;
        for (const bool looks_ahead : {false, true}) {
            Chat chat(looks_ahead, counts_);
            engine::LoadRequest request = requestOf(16);
            // "lean" does not let its table be locked.
            request.device_map = kind == "table elsewhere" ? "lean" : "gpu";
            QCOMPARE(errorOf(chat.engine().load(request, {}, {})), std::string());
            engine::GenerateRequest turn;
            turn.raw_ids = prompt;
            turn.sampling.temperature = kind == "drawn" ? 1.0 : 0.0;
            turn.sampling.repetition_penalty = kind == "penalty" ? 1.3 : 1.0;
            turn.sampling.seed = 5;
            turn.sampling.ignores_eos = true;
            turn.sampling.max_tokens = 30;
            std::stop_source stop;
            const auto reply = chat.engine().generate(
                turn,
                [&](const engine::ReplyUpdate& value) {
                    if (value.tokens >= 20) {
                        stop.request_stop();
                    }
                },
                stop.get_token());
            QVERIFY(reply.has_value());
            QCOMPARE(counts_.locks, 0);
            tokens.push_back(reply->token_ids);
            replays.push_back(counts_.replays);
            counts_.replays = 0;
        }
        QCOMPARE(tokens[1], tokens[0]);
        QCOMPARE(replays[1], replays[0]);
        QVERIFY2(replays[0] >= 19, kind.c_str());
    }
}

QTEST_APPLESS_MAIN(TestLookahead)
#include "tst_lookahead.moc"
