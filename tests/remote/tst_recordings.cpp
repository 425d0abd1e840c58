// SPDX-License-Identifier: Apache-2.0
// Frozen answers of other servers (tests/data/servers/README.md), played again.
#include "tests/remote/remote_asking.h"
#include "tests/support/files.h"
#include "tests/support/places.h"
#include "tests/support/program/test_class.h"

#include <QTest>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace {

std::filesystem::path servers() {
    return support::sourceDir() / "tests/data/servers";
}

std::string recorded(const char* name) {
    return support::textOf(servers() / "transformers-5.24" / name);
}

/// As uvicorn sends a stream.
support::ChatScript streamed(const char* name) {
    return {support::streamHead(), support::chunk(recorded(name)), support::streamEnd()};
}

engine::Result<engine::Reply> ask(support::ChatScript answer, std::string* told = nullptr) {
    const support::ChatStandin server(std::move(answer),
                                      support::wholeAnswer("200 OK", recorded("models.json")));
    const auto engine = support::remoteEngine();
    ENGINE_TRY(engine->load(support::loadOf(server.base(), "demo"), {}, {}));
    return engine->generate(support::question(),
                            [told](const engine::ReplyUpdate& update) {
                                if (told != nullptr) {
                                    *told += update.text;
                                }
                            },
                            {});
}

} // namespace

class TestRecordings : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void streams();
    void whole();
    void refusal();
    void everyRecording_data();
    void everyRecording();
};

void TestRecordings::streams() {
    std::string told;
    const auto text = ask(streamed("text.sse"), &told);
    VERIFY_VALUE(text);
    QCOMPARE(text->text, std::string("A tower is the part of a model that turns pictures or sounds "
                                     "into soft tokens."));
    QCOMPARE(told, text->text);
    QCOMPARE(text->finish_reason, std::string("stop"));
    QCOMPARE(text->timing.prefill_tokens, int64_t{14});
    QCOMPARE(text->timing.decode_tokens, int64_t{18});
    const auto picture = ask(streamed("picture.sse"));
    QVERIFY(picture.has_value());
    QCOMPARE(picture->text, std::string("I see two yellow triangles and one purple cross."));
}

void TestRecordings::whole() {
    const auto reply = ask(support::wholeAnswer("200 OK", recorded("whole.json")));
    VERIFY_VALUE(reply);
    QCOMPARE(reply->text, std::string("A tower is the part of"));
    QCOMPARE(reply->finish_reason, std::string("length"));
    QCOMPARE(reply->timing.decode_tokens, int64_t{6});
}

void TestRecordings::refusal() {
    const auto reply = ask(support::wholeAnswer("400 Bad Request", recorded("unknown_model.json")));
    QVERIFY(!reply.has_value());
    QCOMPARE(support::detailOf(reply.error()), std::string("RemoteRequest"));
    QVERIFY(reply.error().message.find("Server is pinned to") != std::string::npos);
}

/// Each server's, whichever there are: the list has the model, and what was asked for is read to
/// its end.
void TestRecordings::everyRecording_data() {
    support::addColumns<QString, QString>("server", "stream");
    for (const auto& folder : std::filesystem::directory_iterator(servers())) {
        for (const char* name : {"text.sse", "picture.sse", "sound.sse"}) {
            if (std::filesystem::exists(folder.path() / name)) {
                const QString server = QString::fromStdString(folder.path().filename().string());
                QTest::addRow("%s %s", qPrintable(server), name)
                    << server << QString::fromLatin1(name);
            }
        }
    }
}

void TestRecordings::everyRecording() {
    QFETCH(QString, server);
    QFETCH(QString, stream);
    const std::filesystem::path folder = servers() / server.toStdString();
    const auto list = remote::readModelList(support::textOf(folder / "models.json"), "host");
    VERIFY_VALUE(list);
    QVERIFY(list->find("demo") != nullptr);
    const support::ChatStandin standin(
        {support::streamHead(), support::chunk(support::textOf(folder / stream.toStdString())),
         support::streamEnd()},
        support::wholeAnswer("200 OK", support::textOf(folder / "models.json")));
    const auto engine = support::remoteEngine();
    QVERIFY(engine->load(support::loadOf(standin.base(), "demo"), {}, {}).has_value());
    const auto reply = engine->generate(support::question(), {}, {});
    VERIFY_VALUE(reply);
    QVERIFY(!reply->text.empty() && reply->text.find('\0') == std::string::npos);
    QCOMPARE(reply->finish_reason, std::string("stop"));
    QVERIFY(reply->timing.decode_tokens > 0);
}

TEST_CLASS_WITH(QCoreApplication, TestRecordings)
#include "tst_recordings.moc"
