// SPDX-License-Identifier: Apache-2.0
// A conversation reuses the KV cache and still says what a fresh start would say: three turns with
// a picture and a sound against the same text from scratch; the second turn prefills only what is
// new; edit and regenerate roll the cache back, also where sliding layers have wrapped around.
#include "engine/families/config.h"
#include "engine/run/engine.h"
#include "tests/support/golden.h"
#include "tests/support/program/test_class.h"

#include <QTest>

namespace {

using engine::Message;
using engine::MessagePart;

const std::string kDemo = (support::sourceDir() / "resources/demo_model").string();

Message
user(const std::string& text, const std::string& image = "", const std::string& audio = "") {
    Message message;
    message.role = Message::Role::User;
    if (!image.empty()) {
        message.parts.push_back({MessagePart::Kind::Image, kDemo + "/samples/" + image});
    }
    if (!audio.empty()) {
        message.parts.push_back({MessagePart::Kind::Audio, kDemo + "/samples/" + audio});
    }
    message.parts.push_back({MessagePart::Kind::Text, text});
    return message;
}

Message assistant(const std::string& text) {
    Message message;
    message.role = Message::Role::Assistant;
    message.parts.push_back({MessagePart::Kind::Text, text});
    return message;
}

void load(engine::Engine& engine,
          const char* quant = "none",
          int64_t context = 1024,
          const QByteArray& kv = "auto") {
    engine::LoadRequest request;
    request.model = kDemo;
    request.device_map = "cpu";
    request.quant = quant;
    request.context = context;
    request.kv = kv.toStdString();
    request.threads = 2;
    const auto loaded = engine.load(request, {}, {});
    VERIFY_VALUE(loaded);
}

engine::Reply ask(engine::Engine& engine, const std::vector<Message>& messages, int64_t seed = -1) {
    engine::GenerateRequest request;
    request.messages = messages;
    request.sampling.temperature = seed < 0 ? 0.0 : 1.0;
    request.sampling.seed = seed;
    request.sampling.max_tokens = 32;
    auto reply = engine.generate(request, {}, {});
    if (!reply.has_value()) {
        qCritical("%s", reply.error().message.c_str());
        return {};
    }
    return std::move(*reply);
}

} // namespace

class TestConversation : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void threeTurnsAsFromScratch_data();
    void threeTurnsAsFromScratch();
    void editRollsBack_data();
    void editRollsBack();
    void regenerateRollsBack();
    void longConversationWrapsTheRing_data() { editRollsBack_data(); }
    void longConversationWrapsTheRing();
    void continuedReplyEqualsUninterrupted_data();
    void continuedReplyEqualsUninterrupted();
    void continuesOnlyReplies();
};

void TestConversation::threeTurnsAsFromScratch_data() {
    QTest::addColumn<QByteArray>("quant");
    QTest::newRow("bf16") << QByteArray("none");
    QTest::newRow("nf4-dq") << QByteArray("nf4-dq");
}

void TestConversation::threeTurnsAsFromScratch() {
    QFETCH(QByteArray, quant);
    engine::Engine kept;
    load(kept, quant.constData());
    const std::vector<Message> questions = {
        user("What do you see?", "triangles_and_cross.png"),
        user("What do you hear?", "", "three_beeps.wav"),
        user("What do you see and hear?"),
    };
    std::vector<Message> messages;
    int64_t held = 0;
    for (size_t turn = 0; turn < questions.size(); ++turn) {
        messages.push_back(questions[turn]);
        const engine::Reply reply = ask(kept, messages);
        QVERIFY(!reply.token_ids.empty());
        const auto total = static_cast<int64_t>(reply.input_ids.size());
        QCOMPARE(reply.timing.reused_tokens + reply.timing.prefill_tokens, total);
        // Everything up to the end of the former reply is there (its last token, the stop, was
        // sampled but never computed).
        QCOMPARE(reply.timing.reused_tokens, held);
        held = kept.contextUse().first;
        QCOMPARE(held, total + static_cast<int64_t>(reply.token_ids.size()) - 1);

        engine::Engine fresh;
        load(fresh, quant.constData());
        const engine::Reply again = ask(fresh, messages);
        QCOMPARE(again.timing.reused_tokens, int64_t{0});
        QCOMPARE(again.input_ids, reply.input_ids);
        QCOMPARE(again.token_ids, reply.token_ids);
        messages.push_back(assistant(reply.text));
    }
}

void TestConversation::editRollsBack_data() {
    QTest::addColumn<QByteArray>("kv");
    QTest::newRow("bf16") << QByteArray("auto");
    QTest::newRow("keys and values in q8") << QByteArray("q8");
}

void TestConversation::editRollsBack() {
    QFETCH(QByteArray, kv);
    engine::Engine engine;
    load(engine, "none", 1024, kv);
    std::vector<Message> messages = {user("What do you see?", "triangles_and_cross.png")};
    const engine::Reply first = ask(engine, messages);
    messages.push_back(assistant(first.text));
    messages.push_back(user("What do you hear?", "", "three_beeps.wav"));
    const engine::Reply second = ask(engine, messages);

    // The second question changes: what stood before it stays.
    std::vector<Message> edited = {messages[0], messages[1], user("How many triangles are there?")};
    const engine::Reply after = ask(engine, edited);
    const int64_t before_second = static_cast<int64_t>(first.input_ids.size()) +
                                  static_cast<int64_t>(first.token_ids.size()) - 1;
    QVERIFY(after.timing.reused_tokens >= before_second);
    QVERIFY(after.timing.reused_tokens < static_cast<int64_t>(second.input_ids.size()));
    int64_t common = 0;
    while (common < static_cast<int64_t>(after.input_ids.size()) &&
           common < static_cast<int64_t>(second.input_ids.size()) &&
           after.input_ids[static_cast<size_t>(common)] ==
               second.input_ids[static_cast<size_t>(common)]) {
        ++common;
    }
    QCOMPARE(after.timing.reused_tokens, common);

    // The first question changes: the picture before its text stays, nothing behind it.
    std::vector<Message> restarted = {user("Is there a cross?", "triangles_and_cross.png")};
    const engine::Reply other = ask(engine, restarted);
    QVERIFY(other.timing.reused_tokens > 0);
    QVERIFY(other.timing.reused_tokens < static_cast<int64_t>(first.input_ids.size()));

    // Another picture at the same place has the same ids and must not be taken for the former.
    std::vector<Message> exchanged = {user(
        "What do you see?", "../eval/fixed/" + [] {
            for (const auto& question : support::readJson(kDemo + "/eval/fixed/questions.json")) {
                if (question["image"].is_string()) {
                    return question["image"].get<std::string>();
                }
            }
            return std::string();
        }())};
    const engine::Reply exchanged_reply = ask(engine, exchanged);
    for (const auto& [reply, asked] : {std::pair(&after, &edited), std::pair(&other, &restarted),
                                       std::pair(&exchanged_reply, &exchanged)}) {
        engine::Engine fresh;
        load(fresh, "none", 1024, kv);
        QCOMPARE(ask(fresh, *asked).token_ids, reply->token_ids);
    }
}

void TestConversation::regenerateRollsBack() {
    engine::Engine engine;
    load(engine);
    const std::vector<Message> messages = {user("What do you see?", "triangles_and_cross.png")};
    const engine::Reply first = ask(engine, messages, 7);
    const auto total = static_cast<int64_t>(first.input_ids.size());
    const engine::Reply other = ask(engine, messages, 8);
    // Only the last prompt token is computed again, for its logits.
    QCOMPARE(other.timing.reused_tokens, total - 1);
    QCOMPARE(other.timing.prefill_tokens, int64_t{1});
    const engine::Reply again = ask(engine, messages, 7);
    QCOMPARE(again.timing.prefill_tokens, int64_t{1});
    QCOMPARE(again.token_ids, first.token_ids);
    QCOMPARE(engine.contextUse().first, total + static_cast<int64_t>(again.token_ids.size()) - 1);
}

void TestConversation::longConversationWrapsTheRing() {
    QFETCH(QByteArray, kv);
    engine::Engine engine;
    load(engine, "none", 2048, kv);
    const auto config = engine.loadedConfig();
    QVERIFY(config.has_value());
    // Each turn is long enough that the sliding layers' ring has wrapped in the end.
    std::vector<Message> messages;
    std::string words;
    for (int i = 0; i < 60; ++i) {
        words += "red circle and blue square, ";
    }
    int64_t reused = 0;
    for (int turn = 0; turn < 3; ++turn) {
        messages.push_back(user(words + "what is number " + std::to_string(turn) + "?"));
        const engine::Reply reply = ask(engine, messages);
        QVERIFY(!reply.token_ids.empty());
        QVERIFY(turn == 0 || reply.timing.reused_tokens > reused);
        reused = reply.timing.reused_tokens;
        messages.push_back(assistant(reply.text));
    }
    QVERIFY(engine.contextUse().first > 2 * config->text.sliding_window);
    // Back to the first turn: the sliding layers no longer hold its window, so all of it is
    // computed again, and correctly.
    const std::vector<Message> first = {messages.front()};
    const engine::Reply back = ask(engine, first);
    engine::Engine fresh;
    load(fresh, "none", 2048, kv);
    QCOMPARE(back.token_ids, ask(fresh, first).token_ids);
}

void TestConversation::continuedReplyEqualsUninterrupted_data() {
    QTest::addColumn<int>("cut_at");
    QTest::newRow("after the first token") << 1;
    QTest::newRow("in the middle") << 4;
    QTest::newRow("twice in a row") << -3;
}

void TestConversation::continuedReplyEqualsUninterrupted() {
    QFETCH(int, cut_at);
    const std::vector<Message> messages = {user("What do you see?", "triangles_and_cross.png")};
    engine::Engine whole_engine;
    load(whole_engine);
    const engine::Reply whole = ask(whole_engine, messages);
    QVERIFY(whole.token_ids.size() > 7);

    const bool is_twice = cut_at < 0;
    engine::Engine engine;
    load(engine);
    engine::GenerateRequest request;
    request.messages = messages;
    request.sampling.temperature = 0.0;
    request.sampling.max_tokens = std::abs(cut_at);
    auto part = engine.generate(request, {}, {});
    QVERIFY(part.has_value());
    QCOMPARE(part->finish_reason, std::string("length"));
    std::vector<int32_t> ids = part->token_ids;
    std::string streamed = part->text;
    for (int step = is_twice ? 0 : 1; step < 2; ++step) {
        engine::GenerateRequest more = request;
        more.messages.push_back(assistant(part->text));
        more.continues_reply = true;
        more.sampling.max_tokens = step == 0 ? 2 : 32;
        const engine::UpdateCallback update = [&](const engine::ReplyUpdate& delta) {
            streamed += delta.text;
        };
        part = engine.generate(more, update, {});
        VERIFY_VALUE(part);
        // The cache is taken over: all but the last token of the cut reply was computed.
        QCOMPARE(part->timing.prefill_tokens, int64_t{1});
        std::vector<int32_t> expected_input = whole.input_ids;
        expected_input.insert(expected_input.end(), ids.begin(), ids.end());
        QCOMPARE(part->input_ids, expected_input);
        ids.insert(ids.end(), part->token_ids.begin(), part->token_ids.end());
        QCOMPARE(part->text, streamed);
    }
    QCOMPARE(ids, whole.token_ids);
    QCOMPARE(part->text, whole.text);
    QCOMPARE(part->finish_reason, whole.finish_reason);

    // In a later session only the text is left; it goes on all the same.
    engine::Engine later;
    load(later);
    engine::GenerateRequest first = request;
    auto cut = later.generate(first, {}, {});
    QVERIFY(cut.has_value());
    engine::Engine fresh;
    load(fresh);
    engine::GenerateRequest more = request;
    more.messages.push_back(assistant(cut->text));
    more.continues_reply = true;
    more.sampling.max_tokens = 32;
    const auto rest = fresh.generate(more, {}, {});
    QVERIFY(rest.has_value());
    QCOMPARE(rest->text, whole.text);

    // The next turn finds the whole reply in the cache.
    std::vector<Message> next = messages;
    next.push_back(assistant(whole.text));
    next.push_back(user("How many triangles are there?"));
    const engine::Reply after = ask(engine, next);
    QCOMPARE(after.timing.reused_tokens,
             static_cast<int64_t>(whole.input_ids.size() + whole.token_ids.size()) - 1);
}

void TestConversation::continuesOnlyReplies() {
    engine::Engine engine;
    load(engine);
    engine::GenerateRequest request;
    request.messages = {user("What do you see?")};
    request.continues_reply = true;
    const auto refused = engine.generate(request, {}, {});
    QVERIFY(!refused.has_value());
    QCOMPARE(refused.error().code, engine::ErrorCode::InvalidRequest);
}

TEST_CLASS(TestConversation)
#include "tst_conversation.moc"
