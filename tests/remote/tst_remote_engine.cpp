// SPDX-License-Identifier: Apache-2.0
// What goes to a server and what comes of it: requests, models, keys, stopping, attachments.
#include "tests/remote/remote_asking.h"
#include "tests/support/places.h"

#include <QElapsedTimer>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <nlohmann/json.hpp>

#include <atomic>
#include <thread>

#ifndef _WIN32
#include <sys/stat.h>
#endif

#include "tests/support/program/test_class.h"

#include "remote/chat_request.h"
#include "remote/media_data.h"
#include "remote/server_error.h"

using remote::Product;
using remote::Reach;

class TestRemoteEngine : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void addresses_data();
    void addresses();
    void reaches();
    void asksAndAnswers();
    void asksOnlyWhatProductsTake();
    void listsModelsAndAdapters();
    void findsThePath();
    void needsNoList();
    void stopsAtOnce();
    void tellsOneReplyFromAnother();
    void callsOfTools();
    void sendsMediaAsData();
    void keys();
    void refusesTheRest();
};

void TestRemoteEngine::addresses_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QByteArray>("base"); // or the rule of the error
    const auto row = [](const char* text, const char* base) {
        QTest::newRow(text) << QByteArray(text) << QByteArray(base);
    };
    row("https://gpu.example.org/v1", "https://gpu.example.org/v1");
    row("  https://gpu.example.org/  ", "https://gpu.example.org/v1");
    row("HTTPS://GPU.example.org", "https://gpu.example.org/v1");
    row("https://a.example/v1/chat/completions", "https://a.example/v1");
    row("https://a.example/v1/models/", "https://a.example/v1");
    row("https://a.example/api", "https://a.example/api");
    row("https://a.example/v1#some/model", "https://a.example/v1");
    row("gpu.example.org", "https://gpu.example.org/v1");
    row("localhost:8000", "http://localhost:8000/v1");
    row("http://127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1");
    row("http://[::1]:8000", "http://[::1]:8000/v1");
    row("192.168.1.20:8000", "http://192.168.1.20:8000/v1");
    row("tower:8000", "http://tower:8000/v1");
    row("http://gpu.example.org/v1", "RemotePlain");
    row("http://8.8.8.8", "RemotePlain");
    row("http://0x7f000001/", "RemotePlain");
    row("http://0xaaaaaaaa/", "RemotePlain");
    row("http://2130706433/", "RemotePlain");
    row("http://172.32.0.1", "RemotePlain");
    row("http://10.0.0.1.example.org", "RemotePlain");
    row("https://me:secret@a.example/v1", "RemoteAddress");
    row("ftp://a.example", "RemoteAddress");
    row("file:///etc/passwd", "RemoteAddress");
    row("", "RemoteAddress");
    row("two words", "RemoteAddress");
}

void TestRemoteEngine::addresses() {
    QFETCH(QByteArray, text);
    QFETCH(QByteArray, base);
    const auto server = remote::parseServer(text.toStdString());
    if (base.startsWith("Remote")) {
        QVERIFY(!server.has_value());
        QCOMPARE(support::detailOf(server.error()), base.toStdString());
        return;
    }
    VERIFY_VALUE(server);
    QCOMPARE(server->base, base.toStdString());
    // Where it is written again, it is the same.
    QCOMPARE(remote::parseServer(server->base)->base, server->base);
}

void TestRemoteEngine::reaches() {
    for (const char* host : {"localhost", "a.localhost", "127.8.8.8", "[::1]"}) {
        QVERIFY2(remote::reachOf(host) == Reach::Loopback, host);
    }
    for (const char* host :
         {"10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.0.1", "169.254.1.1", "100.64.0.1",
          "[fd00::1]", "[fe80::1]", "tower", "nas.local", "box.lan"}) {
        QVERIFY2(remote::reachOf(host) == Reach::Private, host);
    }
    for (const char* host :
         {"example.org", "11.1.2.3", "172.15.0.1", "192.169.0.1", "100.128.0.1", "[fd::1]",
          "[2001:db8::1]", "1.2.3", "256.1.1.1", "127.1", "local", "localhost.example.org"}) {
        if (std::string(host) != "local") {
            QVERIFY2(remote::reachOf(host) == Reach::Public, host);
        }
    }
    QVERIFY(remote::parseServer("http://gpu.example.org", true).has_value());
}

void TestRemoteEngine::asksAndAnswers() {
    const support::ChatStandin server(support::goodAnswer({"Good ", "day"}));
    const auto engine = support::remoteEngine("k3y");
    QVERIFY(engine->load(support::loadOf(server.base()), {}, {}).has_value());
    QCOMPARE(engine->summary()->max_context, int64_t{4096});
    QCOMPARE(engine->capabilities().host, engine::serverHost(server.base()));
    QVERIFY(!engine->capabilities().places_parts);
    engine::GenerateRequest request = support::question("Hello\xff?");
    request.messages.insert(request.messages.begin(),
                            {engine::Message::Role::System,
                             {{engine::MessagePart::Kind::Text, "Be short.", 0.0, 0.0}}});
    request.sampling.temperature = 0.5;
    request.sampling.top_k = 20;
    request.sampling.seed = 11;
    request.sampling.max_tokens = 30;
    request.is_thinking = true;
    int updates = 0;
    const auto reply =
        engine->generate(request, [&](const engine::ReplyUpdate& /*update*/) { ++updates; }, {});
    VERIFY_VALUE(reply);
    QCOMPARE(updates, 2);
    QCOMPARE(reply->id, uint64_t{7});
    QCOMPARE(reply->seed, uint64_t{11});
    QCOMPARE(reply->timing.prefill_tokens, int64_t{5});
    QCOMPARE(reply->timing.reused_tokens, int64_t{2});
    QCOMPARE(reply->timing.decode_tokens, int64_t{3});
    QCOMPARE(engine->contextUse(), (std::pair<int64_t, int64_t>{10, 4096}));
    const support::ChatRequestSeen seen = server.requests().back();
    QCOMPARE(seen.path, std::string("/v1/chat/completions"));
    QCOMPARE(seen.headers.at("authorization"), std::string("Bearer k3y"));
    QCOMPARE(seen.headers.at("content-type"), std::string("application/json"));
    QCOMPARE(seen.headers.at("user-agent"), std::string("belfry/test"));
    QVERIFY(!seen.headers.contains("cookie"));
    const nlohmann::json body = nlohmann::json::parse(seen.body);
    QCOMPARE(body["model"].get<std::string>(), std::string("m"));
    QCOMPARE(body["messages"][0]["role"].get<std::string>(), std::string("system"));
    QCOMPARE(body["messages"][1]["content"].get<std::string>(), std::string("Hello\xef\xbf\xbd?"));
    QVERIFY(body["stream"].get<bool>());
    QCOMPARE(body["temperature"].get<double>(), 0.5);
    QCOMPARE(body["top_k"].get<int>(), 20);
    QCOMPARE(body["max_tokens"].get<int>(), 30);
    QVERIFY(body["chat_template_kwargs"]["enable_thinking"].get<bool>());
    QVERIFY(!body.contains("top_p"));
}

void TestRemoteEngine::asksOnlyWhatProductsTake() {
    engine::GenerateRequest request = support::question();
    request.sampling.top_k = 20;
    request.sampling.min_p = 0.1;
    request.sampling.repetition_penalty = 1.1;
    request.image_tokens = 560;
    const auto body = [&](Product product) {
        return nlohmann::json::parse(*remote::chatRequest(request, "m", product));
    };
    const nlohmann::json other = body(Product::Other);
    for (const char* name :
         {"top_k", "min_p", "repetition_penalty", "chat_template_kwargs", "mm_processor_kwargs"}) {
        QVERIFY2(!other.contains(name), name);
        QVERIFY2(body(Product::Vllm).contains(name), name);
    }
    QVERIFY(body(Product::LlamaServer).contains("repeat_penalty"));
    QVERIFY(!body(Product::LlamaServer).contains("mm_processor_kwargs"));
}

void TestRemoteEngine::listsModelsAndAdapters() {
    const support::ChatStandin server(support::goodAnswer({"x"}));
    remote::Connection connection;
    connection.server = *remote::parseServer(server.base());
    const auto list = remote::listModels(app::qtHttp([] { return std::string(); }), connection,
                                         "belfry/test", {});
    QVERIFY(list.has_value());
    QCOMPARE(list->models.size(), size_t{2});
    QVERIFY(list->product == Product::Vllm);
    QCOMPARE(list->find("m-poems")->parent, std::string("m"));
    const auto engine = support::remoteEngine();
    const auto missing = engine->inspect(engine::serverModel(server.base(), "raven"), {});
    QVERIFY(!missing.has_value());
    QCOMPARE(support::detailOf(missing.error()), std::string("RemoteMissing"));
    QVERIFY(missing.error().message.find("m, m-poems") != std::string::npos);
    QVERIFY(remote::readModelList(R"([{"id":"bare list"}])", "h").has_value());
    const auto odd = remote::readModelList(
        R"({"data":[{"id":""},{"id":7},7,{"id":"a\nb"},{"id":"a"},{"id":"a","max_model_len":-1}]})",
        "h");
    QVERIFY(odd.has_value());
    QCOMPARE(odd->models.size(), size_t{1});
    QVERIFY(!remote::readModelList("<html>", "h").has_value());
    QVERIFY(!remote::readModelList(R"({"data":7})", "h").has_value());
}

/// An address without "/v1" whose list is below it.
void TestRemoteEngine::findsThePath() {
    const support::ChatStandin server(
        support::goodAnswer({"x"}),
        support::wholeAnswer("404 Not Found", R"({"detail":"Not Found"})"));
    remote::Connection connection;
    const std::string root = server.base().substr(0, server.base().size() - 3);
    connection.server = *remote::parseServer(root + "/openai");
    QVERIFY(!remote::listModels(app::qtHttp([] { return std::string(); }), connection,
                                "belfry/test", {})
                 .has_value());
    QCOMPARE(server.requests().size(), size_t{2});
    QCOMPARE(server.requests()[0].path, std::string("/openai/models"));
    QCOMPARE(server.requests()[1].path, std::string("/openai/v1/models"));
}

void TestRemoteEngine::needsNoList() {
    const support::ChatStandin server(
        support::goodAnswer({"Good ", "day"}),
        support::wholeAnswer("404 Not Found", R"({"detail":"Not Found"})"));
    const auto engine = support::remoteEngine();
    QVERIFY(engine->load(support::loadOf(server.base(), "any"), {}, {}).has_value());
    QVERIFY(!engine->capabilities().samples_freely);
    QCOMPARE(engine->generate(support::question(), {}, {})->text, std::string("Good day"));
}

/// The connection is closed while the server still talks.
void TestRemoteEngine::stopsAtOnce() {
    support::ChatScript endless = {support::streamHead()};
    for (int i = 0; i < 1000; ++i) {
        endless.push_back(support::chunk(support::wordEvent("x")));
        endless.push_back(support::wait(20));
    }
    support::ChatStandin server(endless);
    const auto engine = support::remoteEngine();
    QVERIFY(engine->load(support::loadOf(server.base()), {}, {}).has_value());
    std::stop_source stop;
    int pieces = 0;
    QElapsedTimer since_stop;
    const auto reply = engine->generate(
        support::question(),
        [&](const engine::ReplyUpdate& /*update*/) {
            if (++pieces == 3) {
                stop.request_stop();
                since_stop.start();
            }
        },
        stop.get_token());
    QVERIFY(since_stop.elapsed() < 2000);
    QVERIFY(reply.has_value());
    QCOMPARE(reply->finish_reason, std::string("cancelled"));
    QVERIFY(!reply->text.empty());
    QTRY_COMPARE(server.numClosedByClient(), 1);
    // Before the first word there is nothing to keep.
    server.setAnswer({support::hold()});
    std::stop_source at_once;
    at_once.request_stop();
    const auto none = engine->generate(support::question(), {}, at_once.get_token());
    QVERIFY(!none.has_value());
    QVERIFY(none.error().code == engine::ErrorCode::Cancelled);
}

/// Two questions, one after the other, to a server that changes its mind.
void TestRemoteEngine::tellsOneReplyFromAnother() {
    support::ChatStandin server(support::goodAnswer({"One"}));
    const auto engine = support::remoteEngine();
    QVERIFY(engine->load(support::loadOf(server.base()), {}, {}).has_value());
    QCOMPARE(engine->generate(support::question(), {}, {})->text, std::string("One"));
    server.setAnswer(support::goodAnswer({"Two"}));
    QCOMPARE(engine->generate(support::question(), {}, {})->text, std::string("Two"));
    engine->unload();
    QVERIFY(!engine->generate(support::question(), {}, {}).has_value());
}

void TestRemoteEngine::callsOfTools() {
    support::ChatScript script = {
        support::streamHead(),
        support::chunk(support::deltaEvent(
            R"({"tool_calls":[{"index":0,"id":"c1","type":"function","function":)"
            R"({"name":"weather","arguments":""}}]})")),
        support::chunk(support::deltaEvent(
            R"({"tool_calls":[{"index":0,"function":{"arguments":"{\"city\":"}},)"
            R"({"index":1,"function":{"name":"clock","arguments":"{}"}}]})")),
        support::chunk(support::deltaEvent(
            R"({"tool_calls":[{"index":0,"function":{"arguments":"\"Bern\"}"}}]})")),
        support::chunk(support::deltaEvent("{}", "\"tool_calls\"")),
        support::chunk(support::event("[DONE]")),
        support::streamEnd()};
    const support::ChatStandin server(script);
    const auto engine = support::remoteEngine();
    QVERIFY(engine->load(support::loadOf(server.base()), {}, {}).has_value());
    engine::GenerateRequest request = support::question("Weather?");
    request.tools = {
        {"weather", "Tells it.", R"({"type":"object","properties":{"n":{"minimum":2}}})"},
        {"clock", ""}};
    engine::Message asking;
    asking.role = engine::Message::Role::Assistant;
    asking.calls = {{"c0", "clock", "{}"}};
    engine::Message result;
    result.role = engine::Message::Role::Tool;
    result.call_id = "c0";
    result.parts = {{engine::MessagePart::Kind::Text, "noon"}};
    request.messages.push_back(asking);
    request.messages.push_back(result);
    const auto reply = engine->generate(request, {}, {});
    VERIFY_VALUE(reply);
    const nlohmann::json body = nlohmann::json::parse(server.requests().back().body);
    QCOMPARE(body["tools"].size(), size_t{2});
    const nlohmann::json function = body["tools"][0]["function"];
    QCOMPARE(function["name"].get<std::string>(), std::string("weather"));
    QCOMPARE(function["parameters"]["properties"]["n"]["minimum"].get<int>(), 2);
    QVERIFY(!body["tools"][1]["function"].contains("parameters"));
    QCOMPARE(body["messages"][1]["tool_calls"][0]["function"]["arguments"].get<std::string>(),
             std::string("{}"));
    QCOMPARE(body["messages"][2]["role"].get<std::string>(), std::string("tool"));
    QCOMPARE(body["messages"][2]["tool_call_id"].get<std::string>(), std::string("c0"));
    QCOMPARE(reply->finish_reason, std::string("tool_calls"));
    QCOMPARE(reply->tool_calls.size(), size_t{2});
    QVERIFY((reply->tool_calls[0] == engine::ToolCall{"c1", "weather", R"({"city":"Bern"})"}));
    QVERIFY((reply->tool_calls[1] == engine::ToolCall{"call_2", "clock", "{}"}));
    QCOMPARE(reply->notes.size(), size_t{2});
}

/// As data, decoded and written anew: the file's own bytes, which may tell where a picture was
/// taken, do not leave.
void TestRemoteEngine::sendsMediaAsData() {
    const std::filesystem::path samples =
        support::sourceDir() / "resources" / "demo_model" / "samples";
    const std::string picture = (samples / "triangles_and_cross.png").string();
    const std::string sound = (samples / "three_beeps.wav").string();
    engine::GenerateRequest request = support::question("What?");
    auto& parts = request.messages.front().parts;
    parts.insert(parts.begin(), {engine::MessagePart::Kind::Image, picture, 0.0, 0.0});
    parts.insert(parts.begin() + 1, {engine::MessagePart::Kind::Audio, sound, 0.1, 0.25});
    const auto text = remote::chatRequest(request, "m", Product::Vllm);
    VERIFY_VALUE(text);
    QVERIFY(text->find(samples.string()) == std::string::npos);
    const nlohmann::json content = nlohmann::json::parse(*text)["messages"][0]["content"];
    QCOMPARE(content[0]["type"].get<std::string>(), std::string("image_url"));
    const std::string url = content[0]["image_url"]["url"].get<std::string>();
    QVERIFY(url.starts_with("data:image/png;base64,"));
    QVERIFY(QByteArray::fromBase64(QByteArray::fromStdString(url.substr(22)))
                .startsWith("\x89PNG\r\n"));
    const QByteArray wav = QByteArray::fromBase64(
        QByteArray::fromStdString(content[1]["input_audio"]["data"].get<std::string>()));
    QVERIFY(wav.startsWith("RIFF"));
    QCOMPARE(wav.size(), 44 + 2 * 4000); // a quarter of a second
    QCOMPARE(content[2]["text"].get<std::string>(), std::string("What?"));
    const auto engine = support::remoteEngine();
    QVERIFY(engine->checkMedia("", {picture}, {sound}).has_value());
    QVERIFY(!engine->checkMedia("", {sound}, {}).has_value());
    const auto cost = engine->mediaCost(parts[0], 0);
    QVERIFY(cost.has_value());
    QVERIFY(cost->description.starts_with("PNG, "));
    QCOMPARE(remote::base64(std::as_bytes(std::span("foob", 4))), std::string("Zm9vYg=="));
}

void TestRemoteEngine::keys() {
    const QTemporaryDir folder;
    const std::string path = folder.filePath(QStringLiteral("keys/a")).toStdString();
    QVERIFY(remote::writeKeyFile(path, "sk-1").has_value());
    QCOMPARE(*remote::readKeyFile(path), std::string("sk-1"));
    QVERIFY(remote::writeKeyFile(path, "sk-2").has_value());
    QCOMPARE(*remote::readKeyFile(path), std::string("sk-2"));
#ifndef _WIN32 // where a folder's rights are its files'
    QFile file(QString::fromStdString(path));
    QVERIFY(file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ReadOther));
    const auto open = remote::readKeyFile(path);
    QVERIFY(!open.has_value());
    QVERIFY(open.error().message.find("chmod 600") != std::string::npos);
    QVERIFY(open.error().message.find("sk-2") == std::string::npos);
#endif
    QVERIFY(!remote::readKeyFile(path + "x").has_value());
#ifndef _WIN32
    // At no instant may others read it, whatever the user's mask is.
    const mode_t mask = ::umask(0);
    std::atomic<bool> is_over{false};
    std::atomic<int> open_sightings{0};
    std::thread watcher([&] {
        const std::string fresh = path + ".new";
        while (!is_over) {
            struct stat facts {};
            open_sightings += ::stat(fresh.c_str(), &facts) == 0 && (facts.st_mode & 077U) != 0;
        }
    });
    bool is_written = true;
    for (int i = 0; i < 2'000; ++i) {
        is_written = is_written && remote::writeKeyFile(path, "sk-3").has_value();
    }
    is_over = true;
    watcher.join();
    ::umask(mask);
    QVERIFY(is_written);
    QCOMPARE(open_sightings.load(), 0);
#endif
    for (const char* bad : {"", "  \n", "two words", "line\r\nX-Evil: 1", "\xc3\xa4"}) {
        const auto key = remote::checkedKey(bad, "SOME_KEY");
        QVERIFY2(!key.has_value(), bad);
        QVERIFY(key.error().message.find("Evil") == std::string::npos);
    }
    QCOMPARE(*remote::checkedKey(" sk-3\n", "SOME_KEY"), std::string("sk-3"));
    // Without one none is sent.
    const support::ChatStandin server(support::goodAnswer({"x"}));
    const auto engine = support::remoteEngine("");
    QVERIFY(engine->load(support::loadOf(server.base()), {}, {}).has_value());
    QVERIFY(!server.requests().back().headers.contains("authorization"));
}

void TestRemoteEngine::refusesTheRest() {
    const support::ChatStandin server(support::goodAnswer({"x"}));
    const auto engine = support::remoteEngine();
    QVERIFY(engine->load(support::loadOf(server.base()), {}, {}).has_value());
    engine::GenerateRequest raw;
    raw.raw_prompt = "<bos>";
    QVERIFY(engine->generate(raw, {}, {}).error().code == engine::ErrorCode::Unsupported);
    engine::GenerateRequest more = support::question();
    more.continues_reply = true;
    QVERIFY(engine->generate(more, {}, {}).error().code == engine::ErrorCode::Unsupported);
    QCOMPARE(server.numAsked(), size_t{0});
    engine::LoadRequest with_adapter = support::loadOf(server.base());
    with_adapter.adapters = {{"somewhere", 1.0, true}};
    QVERIFY(!engine->load(with_adapter, {}, {}).has_value());
    QVERIFY(engine->isLoaded());
}

TEST_CLASS_WITH(QCoreApplication, TestRemoteEngine)
#include "tst_remote_engine.moc"
