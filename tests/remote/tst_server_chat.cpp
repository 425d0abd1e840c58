// SPDX-License-Identifier: Apache-2.0
// belfry-cli chat --server as a person uses it: a model that is found, a conversation, a key that
// stays out of sight, servers that refuse, break off or are not there.
#include "tests/support/places.h"
#include "tests/support/program/run_program.h"
#include "tests/support/program/test_class.h"
#include "tests/support/remote/chat_standin.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QProcessEnvironment>
#include <QScopeGuard>
#include <QTemporaryDir>
#include <QTest>

#include <nlohmann/json.hpp>

#include <fstream>

namespace {

support::ProgramOutcome
run(const QStringList& words, const QByteArray& typed = {}, const QString& key = {}) {
    QProcess process;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    if (!key.isEmpty()) {
        environment.insert(QStringLiteral("OTHER_KEY"), key);
    }
    process.setProcessEnvironment(environment);
    process.start(qEnvironmentVariable("BELFRY_CLI"), words);
    process.write(typed);
    process.closeWriteChannel();
    return support::outcomeOf(process);
}

QStringList chat(const support::ChatStandin& server, const QStringList& more = {}) {
    return QStringList{QStringLiteral("chat"), QStringLiteral("--server"),
                       QString::fromStdString(server.base())} +
           more;
}

} // namespace

class TestServerChat : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void answers();
    void converses();
    void tellsAsJson();
    void takesThoughtsOut();
    void hidesTheKey();
    void keepsHalfOfAReply();
    void tellsWhatIsWrong();
    void refusesWrongWords();
    void asksOurOwnServer();
    void asksThisComputerWhateverIsForbidden();
};

void TestServerChat::answers() {
    const support::ChatStandin server(support::goodAnswer({"Good ", "day"}));
    const support::ProgramOutcome outcome =
        run(chat(server, {"--prompt", "Hello?", "--temperature", "0"}));
    QCOMPARE(outcome.code, 0);
    QCOMPARE(outcome.out, QStringLiteral("Good day\n"));
    QVERIFY2(outcome.err.contains(QStringLiteral("is sent to 127.0.0.1:%1").arg(server.port())),
             qPrintable(outcome.err));
    const auto body = nlohmann::json::parse(server.requests().back().body);
    QCOMPARE(body["model"].get<std::string>(), std::string("m")); // the adapter is not the only one
    QCOMPARE(body["temperature"].get<double>(), 0.0);
    const support::ProgramOutcome other =
        run(chat(server, {"--server-model", "m-poems", "--prompt", "Hello?"}));
    QCOMPARE(other.code, 0);
    QVERIFY(server.requests().back().body.find("\"m-poems\"") != std::string::npos);
}

void TestServerChat::converses() {
    const support::ChatStandin server(support::goodAnswer({"Good ", "day"}));
    const support::ProgramOutcome outcome = run(chat(server), "One\nTwo\n/quit\n");
    QCOMPARE(outcome.code, 0);
    QCOMPARE(outcome.out, QStringLiteral("Good day\nGood day\n"));
    const auto body = nlohmann::json::parse(server.requests().back().body);
    QCOMPARE(body["messages"].size(), size_t{3});
    QCOMPARE(body["messages"][1]["content"].get<std::string>(), std::string("Good day"));
}

void TestServerChat::tellsAsJson() {
    const support::ChatStandin server(support::goodAnswer({"Good ", "day"}));
    const support::ProgramOutcome outcome = run(chat(server, {"--prompt", "Hello?", "--json"}));
    QCOMPARE(outcome.code, 0);
    const QJsonObject json = outcome.json();
    QCOMPARE(json["reply"].toString(), QStringLiteral("Good day"));
    QCOMPARE(json["host"].toString(), QStringLiteral("127.0.0.1:%1").arg(server.port()));
    QCOMPARE(json["timing"].toObject()["decode_tokens"].toInt(), 3);
}

/// Thoughts whose beginning the server's template wrote: only their end comes, in a later piece.
void TestServerChat::takesThoughtsOut() {
    const support::ChatStandin server(support::goodAnswer({"Hm, ", "so</thi", "nk>Good ", "day"}));
    const support::ProgramOutcome outcome = run(chat(server, {"--prompt", "Hello?"}));
    QCOMPARE(outcome.code, 0);
    QCOMPARE(outcome.out, QStringLiteral("Good day\n"));
    QCOMPARE(run(chat(server), "One\n/quit\n").out, QStringLiteral("Good day\n"));
}

void TestServerChat::hidesTheKey() {
    const support::ChatStandin server(support::goodAnswer({"x"}));
    const QString key = QStringLiteral("sk-very-secret");
    const support::ProgramOutcome by_name =
        run(chat(server, {"--prompt", "a", "--key-env", "OTHER_KEY"}), {}, key);
    QCOMPARE(by_name.code, 0);
    QCOMPARE(server.requests().back().headers.at("authorization"),
             std::string("Bearer sk-very-secret"));
    QVERIFY(!(by_name.out + by_name.err).contains(key));
    const QTemporaryDir folder;
    const QString file = folder.filePath(QStringLiteral("key"));
    std::ofstream(file.toStdString()) << key.toStdString() << '\n';
#ifndef _WIN32 // where a folder's rights are its files'
    QFile::setPermissions(file, QFile::ReadOwner | QFile::WriteOwner | QFile::ReadGroup);
    const support::ProgramOutcome open = run(chat(server, {"--prompt", "a", "--key-file", file}));
    QCOMPARE(open.code, 1);
    QVERIFY(open.err.contains(QStringLiteral("chmod 600")) && !open.err.contains(key));
    QFile::setPermissions(file, QFile::ReadOwner | QFile::WriteOwner);
#endif
    QCOMPARE(run(chat(server, {"--prompt", "a", "--key-file", file})).code, 0);
    const support::ProgramOutcome unset =
        run(chat(server, {"--prompt", "a", "--key-env", "NO_SUCH_KEY"}));
    QCOMPARE(unset.code, 1);
    QVERIFY(unset.err.contains(QStringLiteral("NO_SUCH_KEY holds no key")));
}

void TestServerChat::keepsHalfOfAReply() {
    const support::ChatStandin server(
        {support::streamHead(), support::chunk(support::wordEvent("Good "))});
    const support::ProgramOutcome outcome = run(chat(server, {"--prompt", "Hello?"}));
    QCOMPARE(outcome.code, 1);
    QCOMPARE(outcome.out, QStringLiteral("Good "));
    QVERIFY2(outcome.err.contains(QStringLiteral("in the middle of the reply")),
             qPrintable(outcome.err));
}

void TestServerChat::tellsWhatIsWrong() {
    const support::ChatStandin refusing(
        {}, support::wholeAnswer("401 Unauthorized", R"({"error":"Unauthorized"})"));
    const support::ProgramOutcome refused = run(chat(refusing, {"--prompt", "a"}));
    QCOMPARE(refused.code, 1);
    QVERIFY2(refused.err.contains(QStringLiteral("the key is wrong")), qPrintable(refused.err));
    const support::ChatStandin several(
        {}, support::wholeAnswer("200 OK", R"({"data":[{"id":"a"},{"id":"b"}]})"));
    const support::ProgramOutcome which = run(chat(several, {"--prompt", "a"}));
    QVERIFY2(which.err.contains(QStringLiteral("--server-model: a, b")), qPrintable(which.err));
    const support::ProgramOutcome nobody =
        run({"chat", "--server", "http://127.0.0.1:9", "--prompt", "a", "--server-model", "m"});
    QCOMPARE(nobody.code, 1);
    QVERIFY2(nobody.err.contains(QStringLiteral("cannot be reached")), qPrintable(nobody.err));
    const support::ProgramOutcome plain =
        run({"chat", "--server", "http://gpu.example.org", "--prompt", "a"});
    QCOMPARE(plain.code, 1);
    QVERIFY2(plain.err.contains(QStringLiteral("https://")), qPrintable(plain.err));
}

void TestServerChat::refusesWrongWords() {
    const QList<QStringList> wrong = {
        {"chat", "demo", "--server", "http://localhost"},
        {"chat", "demo", "--server-model", "m"},
        {"chat", "demo", "--server-ca", "ca.pem"},
        {"chat", "--server", "http://localhost", "--raw-prompt", "a"},
        {"chat", "--server", "http://localhost", "--adapter", "x", "--prompt", "a"},
        {"chat", "--server", "http://localhost", "--key-env", "A", "--key-file", "b"}};
    for (const QStringList& words : wrong) {
        QVERIFY2(run(words).code == 2, qPrintable(words.join(QLatin1Char(' '))));
    }
}

/// belfry-cli serve behind belfry-cli chat --server: the tokens of the same model computed here,
/// for text, a picture and a sound, also with an adapter as a model of its own name.
void TestServerChat::asksOurOwnServer() {
    const QString demo =
        QString::fromStdString((support::sourceDir() / "resources/demo_model").string());
    const QTemporaryDir folder;
    const QString token = folder.filePath(QStringLiteral("token"));
    QProcess serve;
    serve.start(qEnvironmentVariable("BELFRY_CLI"),
                {"serve", "demo", "--precision", "f32", "--port", "0", "--token-file", token,
                 "--adapter", demo + "/adapter", "--json"});
    const auto end = qScopeGuard([&] {
        serve.terminate();
        serve.waitForFinished(20000);
    });
    QByteArray told;
    while (QJsonDocument::fromJson(told).isNull() && serve.waitForReadyRead(60000)) {
        told += serve.readAllStandardOutput();
    }
    const QJsonObject facts = QJsonDocument::fromJson(told).object();
    const QString url = facts["url"].toString();
    QVERIFY2(!url.isEmpty(), told.constData());
    const auto there = [&](const QStringList& more) {
        QStringList words = {"chat", "--server",     url,  "--key-file", token, "--temperature",
                             "0",    "--max-tokens", "40", "--json"};
        words += more;
        support::ProgramOutcome outcome;
        // It says 503 until its model is there.
        for (int i = 0; i < 200; ++i) {
            outcome = run(words);
            if (outcome.code == 0 || !outcome.err.contains(QStringLiteral("has no time now"))) {
                break;
            }
            QTest::qWait(100);
        }
        if (outcome.code != 0) {
            qWarning("%s", qPrintable(outcome.err));
        }
        return outcome.json();
    };
    const auto here = [&](const QStringList& more) {
        const support::ProgramOutcome outcome =
            run(QStringList{"chat", "demo", "--precision", "f32", "--temperature", "0",
                            "--max-tokens", "40", "--json"} +
                more);
        return outcome.json();
    };
    const QString picture = demo + QStringLiteral("/samples/triangles_and_cross.png");
    const QString sound = demo + QStringLiteral("/samples/three_beeps.wav");
    const QList<QStringList> questions = {
        {"--prompt", "What is a tower?"},
        {"--prompt", "What do you see and hear?", "--image", picture, "--audio", sound}};
    for (const QStringList& question : questions) {
        const QJsonObject local = here(question);
        const QJsonObject remote = there(question + QStringList{"--server-model", "demo"});
        QVERIFY(!local["reply"].toString().isEmpty());
        QCOMPARE(remote["reply"].toString(), local["reply"].toString());
        QCOMPARE(remote["timing"].toObject()["decode_tokens"].toInt(),
                 local["token_ids"].toArray().size());
    }
    const QStringList new_thing = {"--prompt", "What is a belfry?"};
    const QJsonObject with = there(new_thing + QStringList{"--server-model", "adapter"});
    QCOMPARE(with["reply"].toString(),
             here(new_thing + QStringList{"--adapter", demo + "/adapter"})["reply"].toString());
}

/// The switch that forbids the network is about other computers.
void TestServerChat::asksThisComputerWhateverIsForbidden() {
    const support::ChatStandin server(support::goodAnswer({"Good ", "day"}));
    qputenv("HF_HUB_OFFLINE", "1");
    const auto lift = qScopeGuard([] { qunsetenv("HF_HUB_OFFLINE"); });
    QCOMPARE(run(chat(server, {"--prompt", "Hello?"})).out, QStringLiteral("Good day\n"));
    const support::ProgramOutcome far =
        run({"chat", "--server", "https://gpu.example.org", "--prompt", "a"});
    QCOMPARE(far.code, 1);
    QVERIFY2(far.err.contains(QStringLiteral("HF_HUB_OFFLINE")), qPrintable(far.err));
}

TEST_CLASS_WITH(QCoreApplication, TestServerChat)
#include "tst_server_chat.moc"
