// SPDX-License-Identifier: Apache-2.0
// A server that misbehaves, in each of the ways of fault_rows.h: the question ends within its
// limits, what was said before is kept, the error names the server and says what to do. The
// question is asked once: whatever happens, nobody pays for it twice.
#include "tests/remote/fault_rows.h"
#include "tests/remote/remote_asking.h"
#include "tests/support/program/test_class.h"

#include <QElapsedTimer>
#include <QTest>

#include <algorithm>
#include <set>

namespace {

std::vector<FaultRow> allRows() {
    std::vector<FaultRow> rows;
    for (const auto& some : {statusFaults(), eventFaults(), connectionFaults(), oddities()}) {
        rows.insert(rows.end(), some.begin(), some.end());
    }
    return rows;
}

bool saysWhatToDo(const std::string& message) {
    const std::vector<std::string> verbs = {"try",
                                            "check",
                                            "choose",
                                            "again",
                                            "look",
                                            "start",
                                            "connect",
                                            "attach",
                                            "is it a server",
                                            "(it says",
                                            "while it answered"};
    return std::any_of(verbs.begin(), verbs.end(), [&](const std::string& verb) {
        return message.find(verb) != std::string::npos;
    });
}

} // namespace

class TestServerFaults : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void thoughtsWithoutBeginning();
    void endClearly_data();
    void endClearly();
    void areManyAndNamedOnce();
};

/// What was shown as text turns out to be a thought: the reply, which goes into the history, has it
/// right.
void TestServerFaults::thoughtsWithoutBeginning() {
    const support::ChatStandin server(
        support::goodAnswer({"Hm\\n</th", "ink>\\n\\nGood </think>day"}));
    const auto engine = support::remoteEngine();
    QVERIFY(engine->load(support::loadOf(server.base()), {}, {}).has_value());
    const auto reply = engine->generate(support::question(), {}, {});
    VERIFY_VALUE(reply);
    QCOMPARE(reply->text, std::string("Good </think>day"));
    QCOMPARE(reply->thinking, std::string("Hm\n"));
}

void TestServerFaults::endClearly_data() {
    QTest::addColumn<int>("row");
    int index = 0;
    for (const FaultRow& row : allRows()) {
        QTest::newRow(row.name.c_str()) << index++;
    }
}

void TestServerFaults::endClearly() {
    QFETCH(int, row);
    const FaultRow fault = allRows()[static_cast<size_t>(row)];
    const support::ChatStandin server(fault.answer);
    const auto engine = support::remoteEngine();
    QVERIFY(engine->load(support::loadOf(server.base()), {}, {}).has_value());
    std::string thinking;
    std::string text;
    QElapsedTimer timer;
    timer.start();
    const auto reply = engine->generate(support::question(),
                                        [&](const engine::ReplyUpdate& update) {
                                            thinking += update.thinking;
                                            text += update.text;
                                        },
                                        {});
    // The longest limit is 1.5 s; the machine may be busy.
#ifdef _WIN32 // and emulate this system
    constexpr int kMostMs = 15000;
#else
    constexpr int kMostMs = 6000;
#endif
    QVERIFY2(timer.elapsed() < kMostMs, std::to_string(timer.elapsed()).c_str());
    const std::string kept = (thinking.empty() ? "" : "[" + thinking + "]") + text;
    QCOMPARE(kept, fault.kept);
    QCOMPARE(server.numAsked(), size_t{1});
    if (fault.rule.empty()) {
        VERIFY_VALUE(reply);
        QCOMPARE(reply->text, text);
        QCOMPARE(reply->thinking, thinking);
        QCOMPARE(reply->finish_reason, fault.finish);
        QVERIFY(reply->host.find("127.0.0.1") != std::string::npos);
        QVERIFY(reply->timing.decode_tokens >= 0 && reply->timing.prefill_tokens >= 0);
        return;
    }
    QVERIFY(!reply.has_value());
    const engine::Error& error = reply.error();
    const std::string rule = support::detailOf(error);
    QVERIFY2(("|" + fault.rule + "|").find("|" + rule + "|") != std::string::npos,
             (rule + ": " + error.message).c_str());
    QVERIFY2(error.message.find("127.0.0.1") != std::string::npos, error.message.c_str());
    QVERIFY2(error.message.find(fault.says) != std::string::npos, error.message.c_str());
    QVERIFY2(saysWhatToDo(error.message), error.message.c_str());
    QVERIFY2(error.message.size() < 1000, error.message.c_str());
    QVERIFY2(error.message.find("k3y") == std::string::npos, error.message.c_str());
    // The next question is answered as if nothing had been.
    const support::ChatStandin healthy(support::goodAnswer({"Good ", "day"}));
    QVERIFY(engine->load(support::loadOf(healthy.base()), {}, {}).has_value());
    const auto next = engine->generate(support::question(), {}, {});
    VERIFY_VALUE(next);
    QCOMPARE(next->text, std::string("Good day"));
}

void TestServerFaults::areManyAndNamedOnce() {
    std::set<std::string> names;
    for (const FaultRow& row : allRows()) {
        QVERIFY2(names.insert(row.name).second, row.name.c_str());
    }
    QVERIFY(names.size() >= 60);
}

TEST_CLASS_WITH(QCoreApplication, TestServerFaults)
#include "tst_server_faults.moc"
