// SPDX-License-Identifier: Apache-2.0
// Frozen answers of other servers (tests/data/servers/README.md), played again.
#include "tests/remote/remote_asking.h"
#include "tests/support/places.h"

#include <QTest>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace {

std::string recorded(const char* name) {
    const std::ifstream file(support::sourceDir() / "tests/data/servers/transformers-5.24" / name,
                             std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
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
};

void TestRecordings::streams() {
    std::string told;
    const auto text = ask(streamed("text.sse"), &told);
    QVERIFY2(text.has_value(), text.has_value() ? "" : text.error().message.c_str());
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
    QVERIFY2(reply.has_value(), reply.has_value() ? "" : reply.error().message.c_str());
    QCOMPARE(reply->text, std::string("A tower is the part of"));
    QCOMPARE(reply->finish_reason, std::string("length"));
    QCOMPARE(reply->timing.decode_tokens, int64_t{6});
}

void TestRecordings::refusal() {
    const auto reply = ask(support::wholeAnswer("400 Bad Request", recorded("unknown_model.json")));
    QVERIFY(!reply.has_value());
    QCOMPARE(support::ruleOf(reply.error()), std::string("RemoteRequest"));
    QVERIFY(reply.error().message.find("Server is pinned to") != std::string::npos);
}

QTEST_GUILESS_MAIN(TestRecordings)
#include "tst_recordings.moc"
