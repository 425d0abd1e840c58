// SPDX-License-Identifier: Apache-2.0
// From a request to what its client gets, with an engine that answers by script: shapes of answers
// and events, order and turns, a full queue, a model that is not there yet, clients that go away,
// stops, adapters as models, errors without paths of this computer.
#include "app/serve/job.h"
#include "app/serve/service.h"
#include "tests/support/program/test_class.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTest>

#include <filesystem>
#include <fstream>

using namespace serve;

namespace {

/// What one client was sent.
struct Sent {
    int status = 0;
    std::string body; ///< Whole, or all events.
    HttpFields fields;
    bool is_stream = false, is_finished = false;
    std::function<void()> gone;
};

class TestExchange final : public Exchange {
public:
    explicit TestExchange(std::shared_ptr<Sent> sent) : sent_(std::move(sent)) {}
    void answer(HttpAnswer answer) override {
        sent_->status = answer.status;
        sent_->body = answer.body;
        sent_->fields = answer.fields;
        sent_->is_finished = true;
    }
    void begin(HttpAnswer head) override {
        sent_->status = head.status;
        sent_->is_stream = true;
    }
    void send(std::string piece) override { sent_->body += piece; }
    void finish() override { sent_->is_finished = true; }
    void onGone(std::function<void()> gone) override { sent_->gone = std::move(gone); }

private:
    std::shared_ptr<Sent> sent_;
};

/// Says its pieces, one an update, and remembers what it was asked.
class ScriptedEngine final : public engine::EngineClient {
public:
    std::vector<std::string> pieces = {"Hel", "lo"};
    std::string thinking;
    std::string finish_reason = "stop";
    std::vector<engine::ToolCall> calls;
    std::optional<engine::Error> error, logits_error;
    std::function<void(size_t piece)> before_piece;
    std::vector<engine::GenerateRequest> asked;
    std::vector<std::string> files; ///< Contents of the media that were there.
    engine::LoadRequest loaded;
    int adapter_changes = 0;

    engine::Capabilities capabilities() const override { return {}; }
    engine::Result<engine::ModelSummary> inspect(const std::string&,
                                                 const std::vector<std::string>&) override {
        return engine::ModelSummary();
    }
    engine::Result<void> load(const engine::LoadRequest&,
                              const engine::ProgressCallback&,
                              const std::stop_token&) override {
        return {};
    }
    void unload() override {}
    bool isLoaded() const override { return true; }
    const engine::LoadRequest& loadedRequest() const override { return loaded; }
    std::shared_ptr<const engine::ModelSummary> summary() const override { return nullptr; }
    double loadSeconds() const override { return 0.0; }
    std::vector<engine::Sentence> loadNotes() const override { return {}; }
    std::pair<int64_t, int64_t> contextUse() const override { return {0, 4096}; }
    engine::Result<void> setAdapters(const std::vector<engine::AdapterChoice>& adapters,
                                     const std::stop_token&) override {
        loaded.adapters = adapters;
        ++adapter_changes;
        return {};
    }

    engine::Result<engine::LogitsResult> logits(const engine::GenerateRequest& request,
                                                int64_t /*rows*/,
                                                const std::stop_token& /*stop*/) override {
        asked.push_back(request);
        if (logits_error.has_value()) {
            return *logits_error;
        }
        return engine::LogitsResult();
    }

    engine::Result<engine::Reply> generate(const engine::GenerateRequest& request,
                                           const engine::UpdateCallback& update,
                                           const std::stop_token& stop) override {
        asked.push_back(request);
        for (const engine::Message& message : request.messages) {
            for (const engine::MessagePart& part : message.parts) {
                if (part.kind != engine::MessagePart::Kind::Text) {
                    std::ifstream file(part.text, std::ios::binary);
                    files.emplace_back(std::istreambuf_iterator<char>(file),
                                       std::istreambuf_iterator<char>());
                }
            }
        }
        if (error.has_value()) {
            return *error;
        }
        engine::Reply reply;
        reply.input_ids.resize(12);
        reply.timing.reused_tokens = 5;
        reply.finish_reason = finish_reason;
        reply.tool_calls = calls;
        if (!thinking.empty()) {
            update({"", thinking, 0});
        }
        for (size_t i = 0; i < pieces.size(); ++i) {
            if (before_piece) {
                before_piece(i);
            }
            if (stop.stop_requested()) {
                reply.finish_reason = "cancelled";
                break;
            }
            engine::ReplyUpdate value{pieces[i], "", static_cast<int64_t>(i) + 1};
            if (request.logprobs >= 0) {
                value.logprobs = {
                    {{7, pieces[i], -0.5}, {{7, pieces[i], -0.5}, {8, "\xe2", -1.5}}}};
            }
            reply.token_ids.push_back(7);
            update(value);
        }
        return reply;
    }
};

QJsonObject jsonOf(const std::string& text) {
    return QJsonDocument::fromJson(QByteArray::fromStdString(text)).object();
}

QJsonObject choiceOf(const QJsonObject& json) {
    return json.value("choices").toArray().at(0).toObject();
}

/// The objects of a stream; the last line must be the end mark.
std::vector<QJsonObject> eventsOf(const std::string& text) {
    std::vector<QJsonObject> events;
    for (const QByteArray& event : QByteArray::fromStdString(text).split('\n')) {
        if (event.startsWith("data: {")) {
            events.push_back(jsonOf(event.mid(6).toStdString()));
        }
    }
    return events;
}

ServiceOptions options() {
    ServiceOptions options;
    options.gate.tokens = {"token-of-this-test"};
    options.model = "tiny";
    options.adapters = {{"red", {"/models/red", 0.7}}, {"blue", {"/models/blue"}}};
    options.most_waiting = 3;
    return options;
}

QByteArray chat(const char* model = "tiny", const char* more = "", const char* text = "Hi") {
    return QByteArray(R"({"model":")") + model + R"(","messages":[{"role":"user","content":")" +
           text + "\"}]" + more + "}";
}

class ServiceFixture {
public:
    explicit ServiceFixture(ServiceOptions with = options())
        : folder(MediaFolder::create().value()), service(std::move(with), folder) {
        service.setReady(4096);
    }

    std::shared_ptr<Sent>
    ask(const QByteArray& body, const char* path = "/v1/chat/completions", size_t token = 0) {
        auto sent = std::make_shared<Sent>();
        HttpRequest request;
        request.head.method = body.isEmpty() ? "GET" : "POST";
        request.head.target = path;
        request.admission.token = token;
        request.body = body.toStdString();
        service.onRequest(std::move(request), std::make_shared<TestExchange>(sent));
        return sent;
    }
    /// Answers what waits; how many.
    int runAll() {
        int count = 0;
        while (const auto job = service.take(std::chrono::milliseconds(0))) {
            service.run(engine, *job);
            ++count;
        }
        return count;
    }

    ScriptedEngine engine;
    std::shared_ptr<MediaFolder> folder;
    Service service;
};

} // namespace

class TestService : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void whole();
    void stream();
    void toolCalls();
    void completion();
    void logprobs();
    void stopTexts();
    void models();
    void adapters();
    void tokensApart();
    void order();
    void busy();
    void goneClients();
    void silence();
    void media();
    void errors_data();
    void errors();
    void end();
};

void TestService::whole() {
    ServiceFixture f;
    f.engine.thinking = "Hm.";
    const auto sent = f.ask(chat());
    QVERIFY(!sent->is_finished);
    QCOMPARE(f.runAll(), 1);
    QCOMPARE(sent->status, 200);
    const QJsonObject json = jsonOf(sent->body);
    QVERIFY(json.value("id").toString().startsWith("chatcmpl-"));
    QCOMPARE(json.value("object").toString(), QString("chat.completion"));
    QCOMPARE(json.value("model").toString(), QString("tiny"));
    const QJsonObject choice = choiceOf(json);
    QCOMPARE(choice.value("finish_reason").toString(), QString("stop"));
    const QJsonObject message = choice.value("message").toObject();
    QCOMPARE(message.value("role").toString(), QString("assistant"));
    QCOMPARE(message.value("content").toString(), QString("Hello"));
    QCOMPARE(message.value("reasoning_content").toString(), QString("Hm."));
    const QJsonObject usage = json.value("usage").toObject();
    QCOMPARE(usage.value("prompt_tokens").toInt(), 12);
    QCOMPARE(usage.value("completion_tokens").toInt(), 2);
    QCOMPARE(usage.value("total_tokens").toInt(), 14);
    QCOMPARE(usage.value("prompt_tokens_details").toObject().value("cached_tokens").toInt(), 5);
    for (const char* reason : {"length", "context"}) {
        f.engine.finish_reason = reason;
        const auto cut = f.ask(chat());
        f.runAll();
        QCOMPARE(choiceOf(jsonOf(cut->body)).value("finish_reason").toString(), QString("length"));
    }
}

void TestService::stream() {
    ServiceFixture f;
    f.engine.thinking = "Hm.";
    const auto sent =
        f.ask(chat("tiny", R"(,"stream":true,"stream_options":{"include_usage":true})"));
    f.runAll();
    QVERIFY(sent->is_stream && sent->is_finished);
    const auto events = eventsOf(sent->body);
    QCOMPARE(events.size(), size_t{6}); // role, thinking, two pieces, the end, usage
    const auto delta = [&](size_t i) { return choiceOf(events[i]).value("delta").toObject(); };
    QCOMPARE(delta(0).value("role").toString(), QString("assistant"));
    QCOMPARE(delta(1).value("reasoning_content").toString(), QString("Hm."));
    QVERIFY(!delta(1).contains("content"));
    QCOMPARE(delta(2).value("content").toString(), QString("Hel"));
    QCOMPARE(delta(3).value("content").toString(), QString("lo"));
    QVERIFY(choiceOf(events[3]).value("finish_reason").isNull());
    QCOMPARE(choiceOf(events[4]).value("finish_reason").toString(), QString("stop"));
    QVERIFY(events[5].value("choices").toArray().isEmpty());
    QCOMPARE(events[5].value("usage").toObject().value("completion_tokens").toInt(), 2);
    for (const QJsonObject& event : events) {
        QCOMPARE(event.value("object").toString(), QString("chat.completion.chunk"));
        QCOMPARE(event.value("id"), events[0].value("id"));
    }
    QVERIFY(sent->body.ends_with("data: [DONE]\n\n"));
    const auto plain = f.ask(chat("tiny", R"(,"stream":true)"));
    f.runAll();
    QVERIFY(plain->body.find("usage") == std::string::npos);
}

void TestService::toolCalls() {
    ServiceFixture f;
    f.engine.pieces = {};
    f.engine.finish_reason = "tool_calls";
    f.engine.calls = {{"c1", "get_weather", R"({"city":"Paris"})"}, {"c2", "now", "{}"}};
    const char* const tools = R"(,"tools":[{"type":"function","function":{"name":"get_weather"}},)"
                              R"({"type":"function","function":{"name":"now"}}])";
    const auto sent = f.ask(chat("tiny", tools));
    f.runAll();
    QCOMPARE(f.engine.asked.back().tools.size(), size_t{2});
    const QJsonObject choice = choiceOf(jsonOf(sent->body));
    QCOMPARE(choice.value("finish_reason").toString(), QString("tool_calls"));
    QVERIFY(choice.value("message").toObject().value("content").isNull());
    const QJsonArray calls = choice.value("message").toObject().value("tool_calls").toArray();
    QCOMPARE(calls.size(), 2);
    QVERIFY(!calls[0].toObject().contains("index"));
    QCOMPARE(calls[0].toObject().value("id").toString(), QString("c1"));
    QCOMPARE(calls[0].toObject().value("type").toString(), QString("function"));
    const QJsonObject function = calls[0].toObject().value("function").toObject();
    QCOMPARE(function.value("name").toString(), QString("get_weather"));
    QCOMPARE(function.value("arguments").toString(), QString(R"({"city":"Paris"})"));
    // As events: words, then the calls, then the end.
    f.engine.pieces = {"Let me see."};
    const auto stream = f.ask(chat("tiny", (QByteArray(tools) + R"(,"stream":true)").constData()));
    f.runAll();
    const auto events = eventsOf(stream->body);
    QCOMPARE(events.size(), size_t{4});
    const QJsonObject delta = choiceOf(events[2]).value("delta").toObject();
    QVERIFY(!delta.contains("content"));
    QCOMPARE(delta.value("tool_calls").toArray().at(1).toObject().value("index").toInt(), 1);
    QCOMPARE(choiceOf(events[3]).value("finish_reason").toString(), QString("tool_calls"));
    // One alone, where the client takes no more; none behind a stop.
    const auto one =
        f.ask(chat("tiny", (QByteArray(tools) + R"(,"parallel_tool_calls":false)").constData()));
    f.runAll();
    const auto listed = [](const std::shared_ptr<Sent>& answer) {
        return choiceOf(jsonOf(answer->body)).value("message").toObject().value("tool_calls");
    };
    QCOMPARE(listed(one).toArray().size(), 1);
    const auto stopped = f.ask(chat("tiny", (QByteArray(tools) + R"(,"stop":"me")").constData()));
    f.runAll();
    QVERIFY(listed(stopped).isUndefined());
    QCOMPARE(choiceOf(jsonOf(stopped->body)).value("finish_reason").toString(), QString("stop"));
    // Cut in a call: what there is of it, and why.
    f.engine.finish_reason = "length";
    const auto cut = f.ask(chat("tiny", tools));
    f.runAll();
    QCOMPARE(choiceOf(jsonOf(cut->body)).value("finish_reason").toString(), QString("length"));
}

void TestService::completion() {
    ServiceFixture f;
    const auto sent = f.ask(R"({"model":"tiny","prompt":"Once"})", "/v1/completions");
    f.runAll();
    const QJsonObject json = jsonOf(sent->body);
    QCOMPARE(json.value("object").toString(), QString("text_completion"));
    QCOMPARE(choiceOf(json).value("text").toString(), QString("Hello"));
    QCOMPARE(f.engine.asked[0].raw_prompt, std::string("<bos>Once"));
    const auto stream =
        f.ask(R"({"model":"tiny","prompt":"<bos>Once","stream":true})", "/v1/completions");
    f.runAll();
    QCOMPARE(f.engine.asked[1].raw_prompt, std::string("<bos>Once"));
    QCOMPARE(choiceOf(eventsOf(stream->body)[0]).value("text").toString(), QString("Hel"));
}

void TestService::logprobs() {
    ServiceFixture f;
    const auto sent = f.ask(chat("tiny", R"(,"logprobs":true,"top_logprobs":2)"));
    f.runAll();
    const QJsonArray content =
        choiceOf(jsonOf(sent->body)).value("logprobs").toObject().value("content").toArray();
    QCOMPARE(content.size(), 2);
    const QJsonObject first = content.at(0).toObject();
    QCOMPARE(first.value("token").toString(), QString("Hel"));
    QCOMPARE(first.value("logprob").toDouble(), -0.5);
    QCOMPARE(first.value("bytes").toArray(), (QJsonArray{72, 101, 108}));
    const QJsonObject half = first.value("top_logprobs").toArray().at(1).toObject();
    QCOMPARE(half.value("token").toString(), QString(QChar(0xfffd)));
    QCOMPARE(half.value("bytes").toArray(), QJsonArray{0xe2});
    const auto none = f.ask(chat());
    f.runAll();
    QVERIFY(choiceOf(jsonOf(none->body)).value("logprobs").isNull());
}

void TestService::stopTexts() {
    ServiceFixture f;
    f.engine.pieces = {"one", " EN", "D two", " three"};
    const auto sent = f.ask(chat("tiny", R"(,"stop":"END")"));
    f.runAll();
    const QJsonObject choice = choiceOf(jsonOf(sent->body));
    QCOMPARE(choice.value("message").toObject().value("content").toString(), QString("one "));
    QCOMPARE(choice.value("finish_reason").toString(), QString("stop"));
    // The engine did not write on.
    QCOMPARE(jsonOf(sent->body).value("usage").toObject().value("completion_tokens").toInt(), 3);
}

void TestService::models() {
    ServiceFixture f;
    const QJsonArray data = jsonOf(f.ask({}, "/v1/models")->body).value("data").toArray();
    QCOMPARE(data.size(), 3);
    QCOMPARE(data.at(0).toObject().value("id").toString(), QString("tiny"));
    QVERIFY(data.at(0).toObject().value("parent").isNull());
    QCOMPARE(data.at(0).toObject().value("max_model_len").toInt(), 4096);
    QCOMPARE(data.at(1).toObject().value("parent").toString(), QString("tiny"));
    QCOMPARE(jsonOf(f.ask({}, "/v1/models/blue")->body).value("id").toString(), QString("blue"));
    QCOMPARE(f.ask({}, "/v1/models/green")->status, 404);
    const auto unknown = f.ask(chat("green"));
    QCOMPARE(unknown->status, 404);
    QCOMPARE(jsonOf(unknown->body).value("error").toObject().value("code").toString(),
             QString("model_not_found"));
    QVERIFY(unknown->body.find("tiny, red, blue") != std::string::npos);
    QCOMPARE(f.ask({}, "/")->status, 200);
}

void TestService::adapters() {
    ServiceFixture f;
    f.engine.loaded.adapters = {{"/models/red", 0.7}, {"/models/blue"}};
    const auto enabled = [&] {
        std::vector<std::string> names;
        for (const auto& adapter : f.engine.loaded.adapters) {
            if (adapter.is_enabled) {
                names.push_back(adapter.folder);
            }
        }
        return names;
    };
    f.ask(chat("red"));
    f.runAll();
    QCOMPARE(enabled(), std::vector<std::string>{"/models/red"});
    QCOMPARE(f.engine.loaded.adapters[0].strength, 0.7);
    f.ask(chat("red"));
    f.runAll();
    QCOMPARE(f.engine.adapter_changes, 1); // nothing to change the second time
    f.ask(chat("tiny"));
    f.runAll();
    QCOMPARE(enabled(), std::vector<std::string>());
    ServiceOptions fixed = options();
    fixed.switches_adapters = false;
    ServiceFixture g(fixed);
    QCOMPARE(g.ask(chat("red"))->status, 404);
    g.ask(chat("tiny"));
    g.runAll();
    QCOMPARE(g.engine.adapter_changes, 0);
}

/// What was computed for one token is reused for it alone: before another's request the engine has
/// a prompt that holds nothing of it.
void TestService::tokensApart() {
    ServiceOptions with = options();
    with.gate.tokens = {"token-of-this-test", "token-of-another"};
    ServiceFixture f(with);
    const auto run = [&](size_t token) {
        const auto sent = f.ask(chat(), "/v1/chat/completions", token);
        f.runAll();
        return sent->status;
    };
    for (const size_t token : {0, 0, 1, 1, 0}) {
        QCOMPARE(run(token), 200);
    }
    std::string order;
    for (const engine::GenerateRequest& request : f.engine.asked) {
        order += request.messages.empty() ? "|" + request.raw_prompt + "|" : "x";
    }
    QCOMPARE(order, std::string("xx|<bos>|xx|<bos>|x"));
    // Where that fails the words are there still: the next request does not find them either.
    f.engine.asked.clear();
    f.engine.logits_error = engine::Error{engine::ErrorCode::OutOfMemory, "no memory"};
    QVERIFY(run(1) >= 500);
    f.engine.logits_error.reset();
    QCOMPARE(run(1), 200);
    QCOMPARE(f.engine.asked.size(), size_t{3});
    QCOMPARE(f.engine.asked[1].raw_prompt, std::string("<bos>"));
    ServiceFixture alone;
    for (int i = 0; i < 3; ++i) {
        alone.ask(chat());
        alone.runAll();
    }
    QCOMPARE(alone.engine.asked.size(), size_t{3});
}

void TestService::order() {
    ServiceFixture f;
    f.ask(chat("tiny", "", "a1"), "/v1/chat/completions", 1);
    f.ask(chat("tiny", "", "a2"), "/v1/chat/completions", 1);
    f.ask(chat("tiny", "", "b1"), "/v1/chat/completions", 2);
    QCOMPARE(f.runAll(), 3);
    QByteArrayList order;
    for (const auto& request : f.engine.asked) {
        order += QByteArray::fromStdString(request.messages[0].parts[0].text);
    }
    QCOMPARE(order, (QByteArrayList{"a1", "b1", "a2"}));
    QCOMPARE(f.service.counts().answered, uint64_t{3});
}

void TestService::busy() {
    ServiceFixture f;
    for (int i = 0; i < 3; ++i) {
        QCOMPARE(f.ask(chat())->status, 0);
    }
    const auto full = f.ask(chat());
    QCOMPARE(full->status, 429);
    QCOMPARE(full->fields.at(0), (std::pair<std::string, std::string>("Retry-After", "5")));
    QCOMPARE(f.runAll(), 3);
    f.service.setLoading();
    const auto loading = f.ask(chat());
    QCOMPARE(loading->status, 503);
    QCOMPARE(loading->fields.at(0).first, std::string("Retry-After"));
    QCOMPARE(f.ask({}, "/health")->status, 503);
    f.service.setReady(4096);
    QCOMPARE(f.ask({}, "/health")->body, std::string(R"({"status":"ok"})"));
}

void TestService::goneClients() {
    ServiceFixture f;
    const auto first = f.ask(chat("tiny", R"(,"stream":true)"));
    const auto second = f.ask(chat());
    const auto third = f.ask(chat());
    second->gone();
    f.engine.before_piece = [&](size_t piece) {
        if (piece == 1 && f.engine.asked.size() == 1) {
            first->gone();
        }
    };
    QCOMPARE(f.runAll(), 2); // the second never reached the engine
    QCOMPARE(f.engine.asked.size(), size_t{2});
    QVERIFY(first->body.find(R"("content":"lo")") == std::string::npos);
    QCOMPARE(third->status, 200);
    // Who waits and goes makes room.
    const auto waiting = f.ask(chat());
    f.ask(chat());
    f.ask(chat());
    waiting->gone();
    f.service.onTick();
    QCOMPARE(f.ask(chat())->status, 0);
}

void TestService::silence() {
    ServiceOptions quick = options();
    quick.comment_interval = std::chrono::milliseconds(0);
    ServiceFixture f(quick);
    const auto stream = f.ask(chat("tiny", R"(,"stream":true)"));
    const auto whole = f.ask(chat());
    f.service.onTick();
    QVERIFY(stream->is_stream && stream->body.ends_with(": keep-alive\n\n"));
    QCOMPARE(whole->body, std::string());
    f.engine.error = engine::Error{engine::ErrorCode::InvalidRequest, engine::said("too long")};
    f.runAll();
    // The head is out already: the error comes as an event.
    QCOMPARE(stream->status, 200);
    QVERIFY(stream->is_finished && stream->body.find(R"(data: {"error":)") != std::string::npos);
    QCOMPARE(whole->status, 400);
}

void TestService::media() {
    ServiceFixture f;
    const auto sent = f.ask(
        R"({"model":"tiny","messages":[{"role":"user","content":[{"type":"image_url",)"
        R"("image_url":{"url":"data:image/png;base64,AQID"}},{"type":"text","text":"What?"}]}]})");
    QCOMPARE(f.runAll(), 1);
    QCOMPARE(f.engine.files, std::vector<std::string>{"\1\2\3"});
    const std::filesystem::path file = f.engine.asked[0].messages[0].parts[0].text;
    QCOMPARE(sent->status, 200);
    QVERIFY(!std::filesystem::exists(file)); // gone with its request
    QVERIFY(std::filesystem::exists(file.parent_path()));
#ifndef _WIN32
    QCOMPARE(std::filesystem::status(file.parent_path()).permissions(),
             std::filesystem::perms::owner_all);
#endif
}

void TestService::errors_data() {
    support::addColumns<int, int, QByteArray>("code", "status", "type");
    using engine::ErrorCode;
    QTest::newRow("request") << int(ErrorCode::InvalidRequest) << 400
                             << QByteArray("invalid_request_error");
    QTest::newRow("file") << int(ErrorCode::InvalidFile) << 400
                          << QByteArray("invalid_request_error");
    QTest::newRow("unsupported") << int(ErrorCode::Unsupported) << 400
                                 << QByteArray("invalid_request_error");
    QTest::newRow("memory") << int(ErrorCode::OutOfMemory) << 500 << QByteArray("server_error");
    QTest::newRow("card") << int(ErrorCode::DeviceLost) << 500 << QByteArray("server_error");
    QTest::newRow("fault") << int(ErrorCode::Internal) << 500 << QByteArray("server_error");
}

void TestService::errors() {
    QFETCH(int, code);
    ServiceFixture f;
    f.engine.loaded.model = "/home/me/models/tiny";
    f.engine.loaded.adapters = {{"/models/red", 0.7}, {"/models/blue"}};
    const auto sent =
        f.ask(R"({"model":"tiny","messages":[{"role":"user","content":[{"type":"image_url",)"
              R"("image_url":{"url":"data:image/png;base64,AQID"}}]}]})");
    const auto job = f.service.take(std::chrono::milliseconds(0));
    const std::string path = job->request.generate.messages[0].parts[0].text;
    f.engine.error =
        engine::Error{engine::ErrorCode(code), engine::said("%1: not a picture of %2 for %3", path,
                                                            "/home/me/models/tiny", "/models/red")};
    f.service.run(f.engine, *job);
    QTEST(sent->status, "status");
    const QJsonObject error = jsonOf(sent->body).value("error").toObject();
    QTEST(error.value("type").toString().toUtf8(), "type");
    QCOMPARE(error.value("param").toString(), QString("messages[0].content[0]"));
    QCOMPARE(error.value("message").toString(),
             QString("messages[0].content[0]: not a picture of tiny for red"));
    QVERIFY(error.value("code").isNull());
}

void TestService::end() {
    ServiceFixture f;
    const auto running = f.ask(chat("tiny", R"(,"stream":true)"));
    const auto waiting = f.ask(chat());
    f.engine.before_piece = [&](size_t piece) {
        if (piece == 1) {
            f.service.shutDown();
        }
    };
    QCOMPARE(f.runAll(), 1);
    QVERIFY(running->is_finished);
    QVERIFY(running->body.find("being ended") != std::string::npos);
    QCOMPARE(waiting->status, 503);
    QCOMPARE(f.ask(chat())->status, 503);
}

TEST_CLASS(TestService)
#include "tst_service.moc"
