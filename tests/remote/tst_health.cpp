// SPDX-License-Identifier: Apache-2.0
// Whether a server is there: by /health where it has one, else by its list; loading, refusing,
// gone, another model than before; a ban on the network, and servers of this computer, for which
// there is none.
#include "tests/remote/remote_asking.h"
#include "tests/support/program/test_class.h"

#include <QTest>

#include <optional>

#include "remote/health.h"

using remote::Health;
using State = remote::Health::State;

Q_DECLARE_METATYPE(remote::Health::State)

namespace {

Health ask(const std::string& base,
           const std::string& model = {},
           const std::string& ban = {},
           bool is_server = true) {
    remote::Connection connection;
    connection.server = *remote::parseServer(base);
    connection.limits = support::shortLimits();
    connection.key = "k3y";
    const auto forbidden_by = [ban] { return ban; };
    return remote::askHealth(is_server ? app::serverHttp(forbidden_by) : app::qtHttp(forbidden_by),
                             connection, model, "belfry/test", {});
}

} // namespace

class TestHealth : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void states_data();
    void states();
    void goneAndBack();
    void saysNothing();
    void addresses();
    void ownComputerIsNeverForbidden();
};

void TestHealth::states_data() {
    support::addColumns<QByteArray, QByteArray, QByteArray, State>("health", "models", "model",
                                                                   "state");
    const QByteArray list = R"({"data":[{"id":"m","owned_by":"vllm"}]})";
    QTest::newRow("well") << QByteArray("200 OK") << QByteArray("500 x") << QByteArray()
                          << State::Reachable;
    QTest::newRow("well, and has it")
        << QByteArray("200 OK") << list << QByteArray("m") << State::Reachable;
    QTest::newRow("well, and has another")
        << QByteArray("200 OK") << list << QByteArray("n") << State::Refused;
    QTest::newRow("well, without a list") << QByteArray("200 OK") << QByteArray("404 Not Found")
                                          << QByteArray("m") << State::Reachable;
    QTest::newRow("loads") << QByteArray("503 Service Unavailable") << list << QByteArray()
                           << State::Loading;
    QTest::newRow("no such route")
        << QByteArray("404 Not Found") << list << QByteArray() << State::Reachable;
    QTest::newRow("a route with another key")
        << QByteArray("401 Unauthorized") << list << QByteArray() << State::Reachable;
    QTest::newRow("neither") << QByteArray("404 Not Found") << QByteArray("404 Not Found")
                             << QByteArray() << State::Gone;
    QTest::newRow("wrong key") << QByteArray("404 Not Found") << QByteArray("401 Unauthorized")
                               << QByteArray() << State::Refused;
    QTest::newRow("no time") << QByteArray("404 Not Found") << QByteArray("429 Too Many Requests")
                             << QByteArray() << State::Loading;
    QTest::newRow("failed") << QByteArray("500 x") << QByteArray("500 x") << QByteArray()
                            << State::Gone;
    QTest::newRow("no list") << QByteArray("404 Not Found") << QByteArray(R"({"data":7})")
                             << QByteArray() << State::Gone;
}

void TestHealth::states() {
    QFETCH(QByteArray, health);
    QFETCH(QByteArray, models);
    QFETCH(QByteArray, model);
    const auto answer = [](const QByteArray& what) {
        return what.startsWith('{') ? support::wholeAnswer("200 OK", what.toStdString())
                                    : support::wholeAnswer(what.toStdString(), "{}");
    };
    support::ChatStandin server({}, answer(models));
    server.setHealth(answer(health));
    const Health found = ask(server.base(), model.toStdString());
    QTEST(found.state, "state");
    QCOMPARE(found.error.has_value(), found.state != State::Reachable);
    QCOMPARE(server.numGets("/health"), size_t{1});
}

void TestHealth::goneAndBack() {
    int port = 0;
    {
        const support::ChatStandin server({});
        port = server.port();
        QCOMPARE(ask(server.base()).state, State::Reachable);
    }
    const std::string base = "http://127.0.0.1:" + std::to_string(port) + "/v1";
    const Health gone = ask(base);
    QCOMPARE(gone.state, State::Gone);
    QVERIFY(gone.error->message.find("cannot be reached") != std::string::npos);
    const support::ChatStandin again({}, {}, port);
    QCOMPARE(ask(base).state, State::Reachable);
}

/// Sends nothing of the user's but a key, to whoever it belongs to.
void TestHealth::saysNothing() {
    support::ChatStandin server({});
    QCOMPARE(ask(server.base(), "m").state, State::Reachable);
    for (const support::ChatRequestSeen& seen : server.requests()) {
        QCOMPARE(seen.method, std::string("GET"));
        QVERIFY(seen.body.empty());
        QCOMPARE(seen.headers.at("authorization"), std::string("Bearer k3y"));
    }
    support::ChatStandin silent({}, {support::hold()});
    silent.setHealth({support::hold()});
    std::stop_source stop;
    stop.request_stop();
    remote::Connection connection;
    connection.server = *remote::parseServer(silent.base());
    QCOMPARE(remote::askHealth(app::serverHttp([] { return std::string(); }), connection, {},
                               "belfry/test", stop.get_token())
                 .state,
             State::Stopped);
}

void TestHealth::addresses() {
    QCOMPARE(remote::healthUrl("https://gpu.example.org/v1"),
             std::string("https://gpu.example.org/health"));
    QCOMPARE(remote::healthUrl("http://localhost:8000/api/v1"),
             std::string("http://localhost:8000/api/health"));
    QCOMPARE(remote::healthUrl("http://localhost:8000/api"),
             std::string("http://localhost:8000/api/health"));
}

void TestHealth::ownComputerIsNeverForbidden() {
    const support::ChatStandin server({});
    QCOMPARE(ask(server.base(), {}, "the switch").state, State::Reachable);
    const std::string by_name = "http://localhost:" + std::to_string(server.port()) + "/v1";
    QCOMPARE(ask(by_name, {}, "the switch").state, State::Reachable);
    const size_t asked = server.requests().size();
    // Who fetches models is not let there either.
    const Health hub = ask(server.base(), {}, "the switch", false);
    QCOMPARE(hub.state, State::Forbidden);
    QVERIFY(hub.error->message.find("the switch") != std::string::npos);
    QCOMPARE(server.requests().size(), asked);
    // Names that only look like this computer's; nobody is asked, nor is a name looked up.
    for (const char* base : {"http://127.example/v1", "http://192.168.0.1/v1", "http://gpu/v1"}) {
        remote::Connection connection;
        connection.server = *remote::parseServer(base, true);
        const Health there = remote::askHealth(
            app::serverHttp([] { return std::string("the switch"); }), connection, {}, "x", {});
        QVERIFY2(there.state == State::Forbidden, base);
    }
}

TEST_CLASS_WITH(QCoreApplication, TestHealth)
#include "tst_health.moc"
