// SPDX-License-Identifier: Apache-2.0
// belfry-cli serve as other programs see it, over a raw socket, with the demo model: streams,
// pictures and sounds, adapters as models, the same greedy tokens as chat gives, what is kept
// between turns, clients that go away, errors, half requests, the token's file, and how it ends.
#include "tests/support/golden.h"
#include "tests/support/program/test_class.h"
#include "tests/support/qt_files.h"
#include "tests/support/serve/raw_client.h"

#include <QElapsedTimer>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <chrono>
#include <csignal>

using namespace std::chrono_literals;

namespace {

QString sampleServe(const char* name) {
    const auto path = support::sourceDir() / "resources/demo_model/samples" / name;
    return QString::fromStdU16String(path.u16string());
}

QByteArray base64Of(const char* name) {
    return support::bytesOf(sampleServe(name)).toBase64();
}

QJsonObject jsonOf(const std::string& text) {
    return QJsonDocument::fromJson(QByteArray::fromStdString(text)).object();
}

QString contentOf(const QJsonObject& json) {
    const QJsonObject choice = json.value("choices").toArray().at(0).toObject();
    return choice.value("message").toObject().value("content").toString();
}

QByteArray textMessage(const char* role, const QByteArray& text) {
    return QByteArray(R"({"role":")") + role + R"(","content":")" + text + R"("})";
}

QByteArray chatBody(const QByteArray& messages, const QByteArray& more = {}) {
    return R"({"model":"demo","temperature":0,"messages":[)" + messages + "]" + more + "}";
}

/// One whose reply takes its time: all of `tokens`, drawn almost at random.
QByteArray longBody(int tokens) {
    return chatBody(textMessage("user", "Hi"),
                    R"(,"stream":true,"max_tokens":)" + QByteArray::number(tokens))
        .replace(R"("temperature":0)", R"("temperature":2)");
}

/// What a program listens to and how it is let in.
class Server {
public:
    explicit Server(
        QStringList words,
        const QProcessEnvironment& environment = QProcessEnvironment::systemEnvironment()) {
        process_.setProcessEnvironment(environment);
        words = QStringList{"serve", "demo", "--port", "0", "--json"} + words;
        process_.start(qEnvironmentVariable("BELFRY_CLI"), words);
        while (process_.waitForReadyRead(60'000)) {
            out_ += process_.readAllStandardOutput();
            if (!QJsonDocument::fromJson(out_).isNull()) {
                break;
            }
        }
        told = QJsonDocument::fromJson(out_).object();
        port = static_cast<uint16_t>(told.value("port").toInt());
        token = told.value("token").toString().toStdString();
    }
    ~Server() {
        process_.terminate();
        process_.waitForFinished(30'000);
    }

    /// Asks /health until the model is there.
    [[nodiscard]] bool isReady() const {
        for (int i = 0; i < 600 && process_.state() == QProcess::Running; ++i) {
            support::RawClient client(port);
            client.send(support::getText(port, "/health", ""));
            if (client.answer(10s).status == 200) {
                return true;
            }
            QTest::qWait(100);
        }
        return false;
    }
    [[nodiscard]] support::RawAnswer ask(const QByteArray& body,
                                         const char* path = "/v1/chat/completions") const {
        support::RawClient client(port);
        client.send(support::postText(port, path, token, body.toStdString()));
        return client.answer(120s);
    }
    /// Processes that it has started and that run.
    [[nodiscard]] QList<pid_t> children() const {
        const QString id = QString::number(process_.processId());
        QFile file(QString("/proc/%1/task/%1/children").arg(id));
        QList<pid_t> all;
        if (file.open(QIODevice::ReadOnly)) {
            for (const QByteArray& word : file.readAll().simplified().split(' ')) {
                if (!word.isEmpty()) {
                    all.append(word.toInt());
                }
            }
        }
        return all;
    }
    /// Ctrl-C; the exit code, -1 where it does not end.
    int interrupt() {
        ::kill(static_cast<pid_t>(process_.processId()), SIGINT);
        return process_.waitForFinished(30'000) ? process_.exitCode() : -1;
    }
    [[nodiscard]] QString errors() { return QString::fromUtf8(process_.readAllStandardError()); }

    QJsonObject told;
    uint16_t port = 0;
    std::string token;

private:
    QProcess process_;
    QByteArray out_;
};

} // namespace

class TestServe : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void cleanupTestCase();
    void tells();
    void sameAsChat_data();
    void sameAsChat();
    void stream();
    void keepsThePrefix();
    void adapters();
    void logprobs();
    void completions();
    void errors_data();
    void errors();
    void histories_data();
    void histories();
    void values();
    void clientGoesAway();
    void halfClosed();
    void otherPrograms();
    void tokensApart();
    void halfRequests();
    void manyClients();
    void tokenFile();
    void engineEnds();
    void endsInOrder();

private:
    std::unique_ptr<Server> server_;
};

void TestServe::initTestCase() {
    if (qEnvironmentVariable("BELFRY_CLI").isEmpty()) {
        QSKIP("BELFRY_CLI names no program: run through ctest");
    }
    server_ = std::make_unique<Server>(QStringList{"--adapter", "demo", "--context", "1024"});
    QVERIFY2(server_->port != 0, qPrintable(server_->errors()));
    QVERIFY(server_->isReady());
}

void TestServe::cleanupTestCase() {
    server_.reset();
}

void TestServe::tells() {
    const QString url = QString("http://127.0.0.1:%1/v1").arg(server_->port);
    QCOMPARE(server_->told.value("url").toString(), url);
    QVERIFY(server_->token.starts_with("bf-"));
    support::RawClient client(server_->port);
    client.send(support::getText(server_->port, "/v1/models", server_->token));
    const QJsonArray data = jsonOf(client.answer(10s).body).value("data").toArray();
    QCOMPARE(data.size(), 2);
    QCOMPARE(data.at(0).toObject().value("id").toString(), QString("demo"));
    QCOMPARE(data.at(0).toObject().value("max_model_len").toInt(), 1024);
    QCOMPARE(data.at(1).toObject().value("id").toString(), QString("demo-adapter"));
    QCOMPARE(data.at(1).toObject().value("parent").toString(), QString("demo"));
}

void TestServe::sameAsChat_data() {
    support::addColumns<QByteArray, QByteArray, QByteArray>("question", "picture", "sound");
    QTest::newRow("text") << QByteArray("What is a tower?") << QByteArray() << QByteArray();
    QTest::newRow("picture") << QByteArray("What do you see?")
                             << QByteArray("triangles_and_cross.png") << QByteArray();
    QTest::newRow("sound") << QByteArray("What do you hear?") << QByteArray()
                           << QByteArray("three_beeps.wav");
    QTest::newRow("both") << QByteArray("What do you see and hear?")
                          << QByteArray("triangles_and_cross.png") << QByteArray("three_beeps.wav");
}

void TestServe::sameAsChat() {
    QFETCH(QByteArray, question);
    QFETCH(QByteArray, picture);
    QFETCH(QByteArray, sound);
    static Server reference({"--precision", "f32"});
    QVERIFY(reference.isReady());
    QStringList words = {"chat",   "demo",          "--precision",
                         "f32",    "--temperature", "0",
                         "--json", "--prompt",      QString::fromUtf8(question)};
    QByteArray parts;
    if (!picture.isEmpty()) {
        words += {"--image", sampleServe(picture.constData())};
        parts += R"({"type":"image_url","image_url":{"url":"data:image/png;base64,)" +
                 base64Of(picture.constData()) + R"("}},)";
    }
    if (!sound.isEmpty()) {
        words += {"--audio", sampleServe(sound.constData())};
        parts += R"({"type":"input_audio","input_audio":{"format":"wav","data":")" +
                 base64Of(sound.constData()) + R"("}},)";
    }
    QProcess chat;
    chat.start(qEnvironmentVariable("BELFRY_CLI"), words);
    QVERIFY(chat.waitForFinished(120'000));
    const QJsonObject local = QJsonDocument::fromJson(chat.readAllStandardOutput()).object();
    QVERIFY(!local.value("reply").toString().isEmpty());
    const auto answer =
        reference.ask(chatBody(R"({"role":"user","content":[)" + parts +
                               R"({"type":"text","text":")" + question + R"("}]})"));
    QVERIFY2(answer.status == 200, answer.body.c_str());
    const QJsonObject json = jsonOf(answer.body);
    QCOMPARE(contentOf(json), local.value("reply").toString());
    QCOMPARE(json.value("usage").toObject().value("completion_tokens").toInt(),
             local.value("token_ids").toArray().size());
    QCOMPARE(json.value("usage").toObject().value("prompt_tokens").toInt(),
             local.value("input_ids").toArray().size());
}

void TestServe::stream() {
    const QByteArray question = textMessage("user", "What is a tower?");
    const QString whole = contentOf(jsonOf(server_->ask(chatBody(question)).body));
    const auto answer = server_->ask(
        chatBody(question, R"(,"stream":true,"stream_options":{"include_usage":true})"));
    QCOMPARE(answer.fields.at("content-type"), std::string("text/event-stream; charset=utf-8"));
    QVERIFY(answer.is_whole);
    QString joined;
    QString finish;
    int usage = 0;
    for (const QByteArray& line : QByteArray::fromStdString(answer.body).split('\n')) {
        const QJsonObject event = jsonOf(line.mid(6).toStdString());
        const QJsonObject choice = event.value("choices").toArray().at(0).toObject();
        joined += choice.value("delta").toObject().value("content").toString();
        finish = choice.value("finish_reason").toString(finish);
        usage += event.value("usage").toObject().value("completion_tokens").toInt();
    }
    QCOMPARE(joined, whole);
    QCOMPARE(finish, QString("stop"));
    QVERIFY(usage > 3);
    QVERIFY(answer.body.ends_with("data: [DONE]\n\n"));
}

void TestServe::keepsThePrefix() {
    const QByteArray first = textMessage("user", "What is a tower?");
    const QJsonObject one = jsonOf(server_->ask(chatBody(first)).body);
    const QByteArray more = first + "," + textMessage("assistant", contentOf(one).toUtf8()) + "," +
                            textMessage("user", "And a layer?");
    const QJsonObject two = jsonOf(server_->ask(chatBody(more)).body);
    const QJsonObject usage = two.value("usage").toObject();
    const int cached =
        usage.value("prompt_tokens_details").toObject().value("cached_tokens").toInt();
    // All of the first turn and its answer: only the new question is computed.
    const QJsonObject before = one.value("usage").toObject();
    QVERIFY2(cached >= before.value("total_tokens").toInt() - 2,
             QByteArray::number(cached).constData());
    QVERIFY(cached < usage.value("prompt_tokens").toInt());
}

void TestServe::adapters() {
    const QString adapter = server_->told.value("models").toArray().at(1).toString();
    const QByteArray question =
        R"({"role":"user","content":[{"type":"image_url","image_url":{"url":)"
        R"("data:image/png;base64,)" +
        base64Of("triangles_and_cross.png") + R"("}},{"type":"text","text":"What do you see?"}]})";
    const auto base = server_->ask(chatBody(question));
    const auto with = server_->ask(
        chatBody(question).replace(R"("model":"demo")", R"("model":")" + adapter.toUtf8() + '"'));
    QVERIFY2(with.status == 200, with.body.c_str());
    QCOMPARE(jsonOf(with.body).value("model").toString(), adapter);
    const auto again = server_->ask(chatBody(question));
    QCOMPARE(contentOf(jsonOf(again.body)), contentOf(jsonOf(base.body)));
}

void TestServe::logprobs() {
    const auto answer = server_->ask(
        chatBody(textMessage("user", "What is a tower?"), R"(,"logprobs":true,"top_logprobs":3)"));
    const QJsonObject json = jsonOf(answer.body);
    const QJsonArray content = json.value("choices")
                                   .toArray()
                                   .at(0)
                                   .toObject()
                                   .value("logprobs")
                                   .toObject()
                                   .value("content")
                                   .toArray();
    QString joined;
    for (const auto& value : content) {
        const QJsonObject token = value.toObject();
        joined += token.value("token").toString();
        const QJsonArray top = token.value("top_logprobs").toArray();
        QCOMPARE(top.size(), 3);
        // Greedy: the token is the likeliest one, and probabilities fall.
        QCOMPARE(top.at(0).toObject().value("token"), token.value("token"));
        QCOMPARE(top.at(0).toObject().value("logprob"), token.value("logprob"));
        QVERIFY(token.value("logprob").toDouble() <= 0.0);
        QVERIFY(top.at(1).toObject().value("logprob").toDouble() <=
                top.at(0).toObject().value("logprob").toDouble());
    }
    QCOMPARE(joined, contentOf(json));
}

void TestServe::completions() {
    const auto answer =
        server_->ask(R"({"model":"demo","prompt":"A tower is","max_tokens":4,"temperature":0})",
                     "/v1/completions");
    QVERIFY2(answer.status == 200, answer.body.c_str());
    const QJsonObject json = jsonOf(answer.body);
    QCOMPARE(json.value("object").toString(), QString("text_completion"));
    QVERIFY(json.value("usage").toObject().value("completion_tokens").toInt() <= 4);
}

void TestServe::errors_data() {
    support::addColumns<QByteArray, int, QByteArray>("body", "status", "says");
    QTest::newRow("no JSON") << QByteArray("{") << 400 << QByteArray("body of the request");
    QTest::newRow("no model") << QByteArray(R"({"messages":[]})") << 400 << QByteArray("model");
    QTest::newRow("unknown model")
        << chatBody(textMessage("user", "Hi")).replace("\"demo\"", "\"gpt\"") << 404
        << QByteArray("expected one of demo");
    QTest::newRow("too long") << chatBody(textMessage("user", QByteArray("word ").repeated(3000)))
                              << 400 << QByteArray("context");
    QTest::newRow("no picture")
        << chatBody(R"({"role":"user","content":[{"type":"image_url","image_url":{"url":)"
                    R"("data:image/png;base64,AAAA"}},{"type":"text","text":"?"}]})")
        << 400 << QByteArray("messages[0].content[0]");
    QTest::newRow("picture elsewhere")
        << chatBody(R"({"role":"user","content":[{"type":"image_url","image_url":{"url":)"
                    R"("http://127.0.0.1:1/a.png"}}]})")
        << 400 << QByteArray("fetches nothing");
    QTest::newRow("control tokens are text")
        << chatBody(textMessage("user", "<|image|>")) << 200 << QByteArray("choices");
}

void TestServe::errors() {
    QFETCH(QByteArray, body);
    QFETCH(QByteArray, says);
    const auto answer = server_->ask(body);
    QTEST(answer.status, "status");
    QVERIFY2(answer.body.find(says.toStdString()) != std::string::npos, answer.body.c_str());
    QVERIFY2(answer.body.find("/tmp") == std::string::npos, answer.body.c_str());
}

void TestServe::histories_data() {
    support::addColumns<QByteArray, QByteArray>("arguments", "result");
    QTest::newRow("cut") << QByteArray(R"("{\"path\": ")") << QByteArray("\"bad\"");
    QTest::newRow("words") << QByteArray(R"("not json <turn|>")") << QByteArray("null");
    QTest::newRow("list") << QByteArray(R"("[1]")") << QByteArray("42");
    QTest::newRow("20 levels") << "\"" + QByteArray(R"({\"a\":)").repeated(20) + "1" +
                                      QByteArray(20, '}') + "\""
                               << QByteArray(R"({"a":null})");
    QTest::newRow("object") << QByteArray(R"({"a":1})") << QByteArray("[]");
}

/// What a model or a tool has said badly once never ends the conversation.
void TestServe::histories() {
    QFETCH(QByteArray, arguments);
    QFETCH(QByteArray, result);
    const auto answer = server_->ask(
        chatBody(textMessage("user", "Hi") +
                     R"(,{"role":"assistant","content":null,"tool_calls":[{"id":"c","function":)"
                     R"({"name":"f","arguments":)" +
                     arguments + R"(}}]},{"role":"tool","tool_call_id":"c","content":)" + result +
                     R"(},{"role":"assistant","content":null,"reasoning_content":"hm"},)" +
                     textMessage("user", "And now?"),
                 R"(,"max_tokens":4)"));
    QVERIFY2(answer.status == 200, answer.body.c_str());
}

/// The likeliest token, whatever the temperature; as long as it will be.
void TestServe::values() {
    const QByteArray question = textMessage("user", "What is a tower?");
    const QString greedy = contentOf(jsonOf(server_->ask(chatBody(question)).body));
    const auto drawn = server_->ask(
        chatBody(question, R"(,"top_p":0,"max_tokens":-1,"stop":[""],"repetition_penalty":0)")
            .replace(R"("temperature":0)", R"("temperature":2)"));
    QVERIFY2(drawn.status == 200, drawn.body.c_str());
    QCOMPARE(contentOf(jsonOf(drawn.body)), greedy);
    QString local;
    for (const QStringList& words :
         {QStringList{"--temperature", "0"},
          QStringList{"--top-p", "0", "--max-tokens", "-1", "--repetition-penalty", "0"},
          QStringList{"--top-p=0", "--top-k=-1", "--seed=-1", "--max-tokens=0"}}) {
        QProcess chat;
        chat.start(qEnvironmentVariable("BELFRY_CLI"),
                   QStringList{"chat", "demo", "--json", "--prompt", "What is a tower?"} + words);
        QVERIFY(chat.waitForFinished(120'000));
        QVERIFY2(chat.exitCode() == 0, chat.readAllStandardError().constData());
        const QJsonObject reply = QJsonDocument::fromJson(chat.readAllStandardOutput()).object();
        local = local.isEmpty() ? reply.value("reply").toString() : local;
        QCOMPARE(reply.value("reply").toString(), local);
    }
}

void TestServe::clientGoesAway() {
    // A long reply that nobody waits for stops: the next one does not wait for its end.
    support::RawClient client(server_->port);
    client.send(support::postText(server_->port, "/v1/chat/completions", server_->token,
                                  longBody(1000).toStdString()));
    QVERIFY(client.waitFor("data: ", 60s));
    client.abort();
    QCOMPARE(server_->ask(chatBody(textMessage("user", "What is a tower?"))).status, 200);
}

/// Also with the next request behind its own; and one that only sends nothing more is answered.
void TestServe::halfClosed() {
    const std::string asked = support::postText(server_->port, "/v1/chat/completions",
                                                server_->token, longBody(900).toStdString());
    for (const std::string& behind :
         {std::string("\r\n"), support::getText(server_->port, "/v1/models", server_->token)}) {
        {
            support::RawClient leaves(server_->port);
            leaves.send(QByteArray::fromStdString(asked)
                            .replace(R"("stream":true)", R"("stream":null)")
                            .toStdString() +
                        behind);
            QTest::qWait(300);
        }
        support::RawClient client(server_->port);
        client.send(support::postText(
                        server_->port, "/v1/chat/completions", server_->token,
                        chatBody(textMessage("user", "What is a tower?"), R"(,"max_tokens":2)")
                            .toStdString()) +
                    support::getText(server_->port, "/v1/models", server_->token));
        client.endSending();
        QElapsedTimer since;
        since.start();
        const auto answer = client.answer(60s);
        QVERIFY2(answer.status == 200, answer.body.c_str());
        QVERIFY2(since.elapsed() < 5000, QByteArray::number(since.elapsed()).constData());
        QCOMPARE(client.answer(10s).status, 200);
        QVERIFY(client.isClosedWithin(10s));
    }
}

/// As they really ask: names without ports, slashes too many, pages, https.
void TestServe::otherPrograms() {
    const auto status = [&](const std::string& line, const std::string& host) {
        support::RawClient client(server_->port);
        client.send(line + " HTTP/1.1\r\nHost: " + host + "\r\nAuthorization: Bearer " +
                    server_->token + "\r\n\r\n");
        return client.answer(10s).status;
    };
    QCOMPARE(status("GET //v1/models/", "localhost"), 200);
    QCOMPARE(status("GET /v1/models/demo/", "127.0.0.1:443"), 200);
    QCOMPARE(status("GET http://localhost/v1//models", "localhost."), 200);
    QCOMPARE(status("GET /v1/models", "evil.example"), 421);
    support::RawClient tls(server_->port);
    tls.send(std::string("\x16\x03\x01\x00\xc8\x01\x00\x00\xc4\x03\x03", 11) +
             std::string(190, '\0'));
    const auto told = tls.answer(3s);
    QCOMPARE(told.status, 400);
    QVERIFY2(told.body.find("http://") != std::string::npos, told.body.c_str());
    QVERIFY(tls.isClosedWithin(5s));
    QProcess any;
    any.start(qEnvironmentVariable("BELFRY_CLI"), {"serve", "demo", "--allow-origin", "*"});
    QVERIFY(any.waitForFinished(60'000));
    QVERIFY(any.exitCode() != 0);
    QVERIFY(any.readAllStandardError().contains("--allow-origin *: would let every page ask"));
}

/// A prompt cannot be found out with another program's token.
void TestServe::tokensApart() {
    QTemporaryDir folder;
    QFile file(folder.filePath("tokens"));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.setPermissions(QFileDevice::ReadOwner | QFileDevice::WriteOwner);
    file.write("first-token-of-this-test\nsecond-token-of-this-test\n");
    file.close();
    Server server({"--token-file", file.fileName(), "--context", "512"});
    QVERIFY(server.isReady());
    const QByteArray body = chatBody(textMessage("user", "The number of my account is 12345678."),
                                     R"(,"max_tokens":1)");
    const auto cached = [&](const char* token) {
        server.token = token;
        const auto answer = server.ask(body);
        return jsonOf(answer.body)
            .value("usage")
            .toObject()
            .value("prompt_tokens_details")
            .toObject()
            .value("cached_tokens")
            .toInt(-1);
    };
    QVERIFY(cached("first-token-of-this-test") <= 1);
    QVERIFY(cached("first-token-of-this-test") > 8);
    QVERIFY(cached("second-token-of-this-test") <= 1);
    QVERIFY(cached("second-token-of-this-test") > 8);
    QVERIFY(cached("first-token-of-this-test") <= 1);
}

void TestServe::halfRequests() {
    std::vector<std::unique_ptr<support::RawClient>> halves;
    const std::string whole =
        support::postText(server_->port, "/v1/chat/completions", server_->token,
                          chatBody(textMessage("user", "Hi")).toStdString());
    for (size_t i = 1; i < 20; ++i) {
        halves.push_back(std::make_unique<support::RawClient>(server_->port));
        halves.back()->send(whole.substr(0, whole.size() * i / 20));
    }
    QCOMPARE(server_->ask(chatBody(textMessage("user", "Hi"))).status, 200);
    halves.clear();
    QCOMPARE(server_->ask(chatBody(textMessage("user", "Hi"))).status, 200);
}

void TestServe::manyClients() {
    // Each gets the answer to its own question, every third goes away before.
    const QByteArrayList questions = {"What is a tower?", "What is a layer?", "Hello"};
    QStringList expected;
    for (const QByteArray& question : questions) {
        expected += contentOf(jsonOf(server_->ask(chatBody(textMessage("user", question))).body));
    }
    for (int round = 0; round < 3; ++round) {
        std::vector<std::unique_ptr<support::RawClient>> clients;
        for (int i = 0; i < 30; ++i) {
            clients.push_back(std::make_unique<support::RawClient>(server_->port));
            clients.back()->send(
                support::postText(server_->port, "/v1/chat/completions", server_->token,
                                  chatBody(textMessage("user", questions[i % 3])).toStdString()));
        }
        for (size_t i = 0; i < clients.size(); i += 3) {
            clients[i]->abort();
        }
        for (size_t i = 0; i < clients.size(); ++i) {
            if (i % 3 != 0) {
                const auto answer = clients[i]->answer(120s);
                QVERIFY2(answer.status == 200, answer.body.c_str());
                QCOMPARE(contentOf(jsonOf(answer.body)), expected[int(i % 3)]);
            }
        }
    }
}

/// With a card the engine is a process of its own: its end costs what it was asked, and not the
/// server.
void TestServe::engineEnds() {
#ifndef BELFRY_FAKE_CUDA_FOLDER
    QSKIP("no fake driver library on this system");
#else
    const QTemporaryDir folder;
    const QString fault_file = folder.filePath("fault");
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    // The engine's process may read where libraries are looked for, and not much else.
    environment.insert("LD_LIBRARY_PATH", BELFRY_FAKE_CUDA_FOLDER ":" + folder.path());
    environment.insert("BELFRY_FAKE_FAULT_FILE", fault_file);
    const QStringList words = {"--device-map", "gpu", "--context", "512"};
    Server server(words, environment);
    if (!server.isReady()) {
        const QString why = server.errors();
        if (why.contains("no GPU kernels")) {
            QSKIP("this build has no GPU kernels");
        }
        QVERIFY2(false, qPrintable(why));
    }
    const QByteArray body = chatBody(textMessage("user", "Hello"), R"(,"max_tokens":3)");
    QCOMPARE(server.ask(body).status, 200);
    QCOMPARE(server.children().size(), 1);
    const pid_t former = server.children().front();
    // At rest: nobody had asked.
    QCOMPARE(::kill(former, SIGKILL), 0);
    QTRY_VERIFY_WITH_TIMEOUT(server.children().size() == 1 && server.children().front() != former,
                             30'000);
    QVERIFY(server.isReady());
    QCOMPARE(server.ask(body).status, 200);
    // A fault of the card in a reply: 503, and when to ask again.
    QFile mark(fault_file);
    QVERIFY(mark.open(QIODevice::WriteOnly) && mark.write("700") > 0);
    mark.close();
    const auto answer = server.ask(body);
    QVERIFY2(answer.status == 503, answer.body.c_str());
    QVERIFY(answer.fields.contains("retry-after"));
    QVERIFY2(answer.body.find("engine_restarted") != std::string::npos, answer.body.c_str());
    QVERIFY(QFile::remove(fault_file));
    QVERIFY(server.isReady());
    QCOMPARE(server.ask(body).status, 200);
    QVERIFY(server.errors().contains("it is started again"));
    // In this process where that is asked for: nothing was started for the engine.
    Server in_process(words + QStringList{"--in-process"}, environment);
    QVERIFY(in_process.isReady());
    QCOMPARE(in_process.ask(body).status, 200);
    QCOMPARE(in_process.children().size(), 0);
#endif
}

void TestServe::tokenFile() {
    QTemporaryDir folder;
    const QString path = folder.filePath("token");
    const QStringList words = {"--token-file", path, "--context", "256", "--name", "mine"};
    Server first(words);
    QVERIFY2(first.port != 0, qPrintable(first.errors()));
    QVERIFY(first.token.empty()); // it is in the file, and nowhere else
    QCOMPARE(first.told.value("models").toArray().at(0).toString(), QString("mine"));
    QFile file(path);
    QVERIFY(file.open(QIODevice::ReadOnly));
    const std::string token = file.readAll().trimmed().toStdString();
    for (const auto& [given, status] : {std::pair(token, 200), std::pair(token + "x", 401)}) {
        support::RawClient client(first.port);
        client.send(support::getText(first.port, "/v1/models", given));
        QCOMPARE(client.answer(10s).status, status);
    }
    QProcess second;
    second.start(qEnvironmentVariable("BELFRY_CLI"),
                 {"serve", "demo", "--port", QString::number(first.port)});
    QVERIFY(second.waitForFinished(60'000));
    QCOMPARE(second.exitCode(), 1);
    QVERIFY(second.readAllStandardError().contains("another program may have it"));
}

void TestServe::endsInOrder() {
    Server server({"--context", "1024"});
    QVERIFY(server.isReady());
    support::RawClient client(server.port);
    client.send(support::postText(server.port, "/v1/chat/completions", server.token,
                                  longBody(900).toStdString()));
    QVERIFY(client.waitFor("content", 60s));
    QElapsedTimer since;
    since.start();
    QCOMPARE(server.interrupt(), 0);
    QVERIFY(since.elapsed() < 10'000);
    // Either the reply was done, or its end is told.
    const auto answer = client.answer(10s);
    QVERIFY(answer.body.find("[DONE]") != std::string::npos ||
            answer.body.find("being ended") != std::string::npos);
}

TEST_CLASS_WITH(QCoreApplication, TestServe)
#include "tst_serve.moc"
