// SPDX-License-Identifier: Apache-2.0
// The engine's process dies, hangs or lies: the call that ran ends with an error that says so,
// another process loads the same model to the same places, and nothing is tried for ever.
#include "engine/api/device_loss.h"
#include "tests/ipc/asking.h"
#include "tests/support/processes.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#ifndef _WIN32
#include <sys/wait.h>
#endif

#include "tests/support/program/test_class.h"

#include <cerrno>
#include <chrono>
#include <string>

#include "ipc/child.h"
#include "ipc/frame.h"
#include "ipc/messages.h"

using asking::Log;
using engine::ErrorCode;

namespace {

const std::string kProcessFaultsHost = BELFRY_HOST_PROGRAM;

void plan(const QTemporaryDir& folder, const char* where, const QByteArray& what) {
    QFile file(folder.filePath(QString::fromLatin1(where)));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(what);
}

std::vector<std::string> hostWords(const char* kind, const QTemporaryDir& folder) {
    return {kProcessFaultsHost, kind, folder.path().toStdString()};
}

bool says(const engine::Error& error, const char* words) {
    return error.message.find(words) != std::string::npos;
}

} // namespace

class TestProcessFaults : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void cleanup();
    void diesInAReply_data();
    void diesInAReply();
    void diesInAPrompt();
    void diesInALoad();
    void diesInEveryLoad();
    void diesAtRest();
    void isLostAtRest();
    void losesItsCard();
    void diesAgainAndAgain();
    void hangs();
    void doesNotStop();
    void isStoppedWhileLoadingAgain();
    void cannotBeStarted();
    void isNoEngine_data();
    void isNoEngine();
    void isOfAnotherVersion();
    void isGreetedByAnotherVersion();
    void callbackThrows();
};

void TestProcessFaults::cleanup() {
#ifndef _WIN32
    QCOMPARE(::waitpid(-1, nullptr, WNOHANG), -1); // nothing is left
    QCOMPARE(errno, ECHILD);
#endif
}

void TestProcessFaults::diesInAReply_data() {
    support::addColumns<QByteArray, QByteArray>("way", "name");
    QTest::newRow("killed") << QByteArray("kill") << QByteArray(support::kKilledName);
    QTest::newRow("crashed") << QByteArray("crash") << QByteArray(support::kCrashedName);
    QTest::newRow("aborted") << QByteArray("abort") << QByteArray(support::kAbortedName);
}

void TestProcessFaults::diesInAReply() {
    QFETCH(const QByteArray, way);
    QFETCH(const QByteArray, name);
    const QTemporaryDir folder;
    Log log;
    ipc::ProcessEngine engine(asking::options(hostWords("card", folder), log));
    engine::LoadRequest request = asking::demoRequest("towers-cpu");
    QVERIFY(engine.load(request, {}, {}).has_value());
    const std::string adapter = asking::demoFolder() + "/adapter";
    QVERIFY(engine.setAdapters({{adapter, 0.25, true}}, {}).has_value());
    const int64_t former = engine.process().id();
    const std::string map = engine.currentPlan()->map_text;

    plan(folder, "token", way);
    std::string said;
    const auto reply = engine.generate(
        asking::question(40), [&](const engine::ReplyUpdate& update) { said += update.text; }, {});
    QVERIFY(!reply.has_value());
    QVERIFY2(!said.empty(), reply.error().message.c_str()); // what came before is the caller's
    QVERIFY2(says(reply.error(), name.constData()), reply.error().message.c_str());
    QVERIFY(engine::wasStartedAgain(reply.error()));
    QVERIFY(engine.isLoaded());
    QVERIFY(engine.process().id() != 0 && engine.process().id() != former);

    const auto began = std::chrono::steady_clock::now();
    const auto next = engine.generate(asking::question(3), {}, {});
    VERIFY_VALUE(next);
    // Five seconds on a machine with nothing else to do.
    QVERIFY(std::chrono::steady_clock::now() - began < std::chrono::seconds(60));
    QCOMPARE(engine.currentPlan()->map_text, map);
    QCOMPARE(engine.loadedRequest().adapters.size(), size_t{1});
    QCOMPARE(engine.loadedRequest().adapters.front().strength, 0.25);
    QVERIFY(log.has("loads the model again") && log.has("loaded again"));
}

void TestProcessFaults::diesInAPrompt() {
    const QTemporaryDir folder;
    Log log;
    ipc::ProcessEngine engine(asking::options(hostWords("cpu", folder), log));
    QVERIFY(engine.load(asking::demoRequest("cpu"), {}, {}).has_value());
    plan(folder, "step", "kill");
    const auto reply = engine.generate(asking::question(5), {}, {});
    QVERIFY(!reply.has_value() && engine::wasStartedAgain(reply.error()));
    QVERIFY(engine.generate(asking::question(5), {}, {}).has_value());
}

/// The load of another model fails: the one that was there comes back.
void TestProcessFaults::diesInALoad() {
    const QTemporaryDir folder;
    Log log;
    ipc::ProcessEngine engine(asking::options(hostWords("cpu", folder), log));
    plan(folder, "load", "crash");
    const auto first = engine.load(asking::demoRequest("cpu"), {}, {});
    QVERIFY(!first.has_value() && !engine.isLoaded());
    QVERIFY2(says(first.error(), support::kCrashedName) && says(first.error(), "--in-process"),
             first.error().message.c_str());
    QVERIFY(!engine::wasStartedAgain(first.error()));
    QVERIFY(engine.load(asking::demoRequest("cpu"), {}, {}).has_value());
    plan(folder, "load", "kill");
    engine::LoadRequest other = asking::demoRequest("cpu");
    other.quant = "nf4";
    const auto second = engine.load(other, {}, {});
    QVERIFY(!second.has_value() && engine::wasStartedAgain(second.error()));
    QVERIFY(engine.isLoaded());
    QCOMPARE(engine.loadedRequest().quant, std::string("none"));
    QVERIFY(engine.generate(asking::question(3), {}, {}).has_value());
}

/// A model that kills the process whenever it is loaded is loaded again once, not for ever.
void TestProcessFaults::diesInEveryLoad() {
    const QTemporaryDir folder;
    Log log;
    ipc::ProcessEngine engine(asking::options(hostWords("cpu", folder), log));
    QVERIFY(engine.load(asking::demoRequest("cpu"), {}, {}).has_value());
    plan(folder, "always", {});
    plan(folder, "load", "kill");
    plan(folder, "step", "kill");
    const auto reply = engine.generate(asking::question(3), {}, {});
    QVERIFY(!reply.has_value() && engine::wasStartedAgain(reply.error()));
    const auto next = engine.generate(asking::question(3), {}, {});
    QVERIFY(!next.has_value() && !engine::wasStartedAgain(next.error()));
    QVERIFY2(says(next.error(), "more than once"), next.error().message.c_str());
    QVERIFY(!engine.isLoaded());
    QCOMPARE(engine.process().id(), int64_t{0});
    // The way on: a load of the user's.
    QVERIFY(QFile::remove(folder.filePath(QStringLiteral("load"))));
    QVERIFY(QFile::remove(folder.filePath(QStringLiteral("step"))));
    QVERIFY(engine.load(asking::demoRequest("cpu"), {}, {}).has_value());
    QVERIFY(engine.generate(asking::question(3), {}, {}).has_value());
}

/// The system's memory killer asks nobody: the meter notices, who owns the engine is told, and how
/// far the model is on its way; then it is there again.
void TestProcessFaults::diesAtRest() {
    using Kind = engine::Recovery::Kind;
    const QTemporaryDir folder;
    Log log;
    std::vector<engine::Recovery> told;
    ipc::ProcessOptions options = asking::options(hostWords("cpu", folder), log);
    options.on_recovery = [&told](const engine::Recovery& recovery) { told.push_back(recovery); };
    ipc::ProcessEngine engine(options);
    QVERIFY(engine.load(asking::demoRequest("cpu"), {}, {}).has_value());
    QVERIFY(told.empty());
    const int64_t former = engine.process().id();
    QVERIFY(support::killProcess(former));
    QTRY_VERIFY_WITH_TIMEOUT((static_cast<void>(engine.memory()), log.has("loaded again")), 60000);
    QVERIFY(engine.isLoaded() && engine.process().id() != former);
    QVERIFY(engine.generate(asking::question(3), {}, {}).has_value());
    QVERIFY(told.size() > 2);
    QCOMPARE(told.front().kind, Kind::Ended);
    QVERIFY2(says(told.front().why, support::kKilledName), told.front().why.message.c_str());
    QVERIFY(told.front().is_at_rest);
    QCOMPARE(told.back().kind, Kind::Back);
    for (size_t i = 1; i + 1 < told.size(); ++i) {
        QCOMPARE(told[i].kind, Kind::Loading);
        QVERIFY(!told[i].progress.stage.empty());
        QVERIFY(told[i].progress.bytes_done <= told[i].progress.bytes_total);
    }
}

/// Where it is not tried again, nobody waits for it.
void TestProcessFaults::isLostAtRest() {
    using Kind = engine::Recovery::Kind;
    const QTemporaryDir folder;
    Log log;
    std::vector<engine::Recovery> told;
    ipc::ProcessOptions options = asking::options(hostWords("cpu", folder), log);
    options.on_recovery = [&told](const engine::Recovery& recovery) { told.push_back(recovery); };
    ipc::ProcessEngine engine(options);
    QVERIFY(engine.load(asking::demoRequest("cpu"), {}, {}).has_value());
    plan(folder, "load", "crash"); // of the load that brings it back
    QVERIFY(support::killProcess(engine.process().id()));
    QTRY_VERIFY_WITH_TIMEOUT((static_cast<void>(engine.memory()), !engine.isLoaded()), 60000);
    QCOMPARE(told.front().kind, Kind::Ended);
    QCOMPARE(told.back().kind, Kind::Lost);
    QVERIFY2(says(told.back().why, "more than once"), told.back().why.message.c_str());
    QVERIFY(told.back().is_at_rest);
}

/// A kernel's fault: the driver gives this process no card any more, and gives the next one its.
void TestProcessFaults::losesItsCard() {
    const QTemporaryDir folder;
    Log log;
    ipc::ProcessEngine engine(asking::options(hostWords("card", folder), log));
    QVERIFY(engine.load(asking::demoRequest("gpu"), {}, {}).has_value());
    plan(folder, "token", "card");
    const auto reply = engine.generate(asking::question(40), {}, {});
    QVERIFY(!reply.has_value());
    QCOMPARE(reply.error().code, ErrorCode::DeviceLost);
    QVERIFY(engine::wasStartedAgain(reply.error()) && !engine::needsNewProcess(reply.error()));
    QVERIFY2(says(reply.error(), "ILLEGAL_ADDRESS") &&
                 !says(reply.error(), "Start the program again"),
             reply.error().message.c_str());
    const auto next = engine.generate(asking::question(3), {}, {});
    VERIFY_VALUE(next);
    QCOMPARE(engine.loadedRequest().device_map, std::string("gpu"));
}

void TestProcessFaults::diesAgainAndAgain() {
    const QTemporaryDir folder;
    Log log;
    ipc::ProcessEngine engine(asking::options(hostWords("card", folder), log));
    QVERIFY(engine.load(asking::demoRequest("gpu"), {}, {}).has_value());
    plan(folder, "always", {});
    plan(folder, "token", "crash");
    for (int i = 1; i <= 3; ++i) {
        const auto reply = engine.generate(asking::question(40), {}, {});
        QVERIFY(!reply.has_value());
        QCOMPARE(engine::wasStartedAgain(reply.error()), i < 3);
    }
    QVERIFY(!engine.isLoaded());
}

void TestProcessFaults::hangs() {
    const QTemporaryDir folder;
    Log log;
    ipc::ProcessOptions options = asking::options(hostWords("cpu", folder), log);
    ipc::ProcessEngine engine(options);
    QVERIFY(engine.load(asking::demoRequest("cpu"), {}, {}).has_value());
    // The engine is busy, the process is not dead: nobody is in a hurry.
    plan(folder, "step", "sleep 300");
    QVERIFY(engine.generate(asking::question(3), {}, {}).has_value());

    Log other;
    options = asking::options({kProcessFaultsHost, "idle"}, other);
    options.patience = std::chrono::milliseconds(400);
    ipc::ProcessEngine silent(options);
    const auto answer = silent.inspect("demo", {});
    QVERIFY(!answer.has_value() && says(answer.error(), "said nothing"));
}

void TestProcessFaults::doesNotStop() {
    const QTemporaryDir folder;
    Log log;
    ipc::ProcessOptions options = asking::options(hostWords("cpu", folder), log);
    options.patience = std::chrono::seconds(3);
    ipc::ProcessEngine engine(options);
    QVERIFY(engine.load(asking::demoRequest("cpu"), {}, {}).has_value());
    plan(folder, "step", "sleep 600000");
    std::stop_source stop;
    stop.request_stop();
    const auto reply = engine.generate(asking::question(3), {}, stop.get_token());
    // Stopped before it began, or in the sleep.
    if (!reply.has_value() && reply.error().code != ErrorCode::Cancelled) {
        QVERIFY2(says(reply.error(), "did not stop"), reply.error().message.c_str());
        QVERIFY(engine::wasStartedAgain(reply.error()));
    }
    QFile::remove(folder.filePath(QStringLiteral("step")));
    const auto next = engine.generate(asking::question(3), {}, {});
    VERIFY_VALUE(next);
}

/// A stop does not cost the model that is on its way back.
void TestProcessFaults::isStoppedWhileLoadingAgain() {
    const QTemporaryDir folder;
    Log log;
    ipc::ProcessEngine engine(asking::options(hostWords("cpu", folder), log));
    QVERIFY(engine.load(asking::demoRequest("cpu"), {}, {}).has_value());
    plan(folder, "step", "kill");
    plan(folder, "load", "sleep 1000");
    QVERIFY(!engine.generate(asking::question(3), {}, {}).has_value());
    std::stop_source stop;
    stop.request_stop();
    const auto stopped = engine.generate(asking::question(3), {}, stop.get_token());
    QVERIFY(!stopped.has_value());
    QCOMPARE(stopped.error().code, ErrorCode::Cancelled);
    QVERIFY(engine.isLoaded());
    QVERIFY(engine.generate(asking::question(3), {}, {}).has_value());
}

void TestProcessFaults::cannotBeStarted() {
    Log log;
    ipc::ProcessEngine engine(asking::options({"/nowhere/belfry", "--run-engine"}, log));
    const auto answer = engine.inspect("demo", {});
    QVERIFY(!answer.has_value());
    QVERIFY2(says(answer.error(), "/nowhere/belfry") && says(answer.error(), "--in-process"),
             answer.error().message.c_str());
    QVERIFY(engine.memory().empty() && engine.machineMemory().empty());
}

void TestProcessFaults::isNoEngine_data() {
    support::addColumns<std::vector<std::string>, QByteArray>("says_it", "words");
    const auto row = [](const char* title, std::vector<std::string> says_it, const char* words) {
        QTest::newRow(title) << std::move(says_it) << QByteArray(words);
    };
    row("ends at once", {"exit", "3"}, "status 3");
    row("noise", {"noise"}, "cannot be read");
    row("zeros for ever", {"zeros"}, "cannot be read");
    row("a huge length", {"bytes", "ffffffff40"}, "cannot be read");
    row("an answer of garbage", {"bytes", "0c000000400100000000000000616263"}, "cannot be read");
    row("another call's answer", {"bytes", "0c000000403f00000000000000616263"}, "cannot be read");
    row("a flood", {"flood"}, "cannot be read");
    row("half a message", {"cut", "0c0000"}, "status 0");
}

void TestProcessFaults::isNoEngine() {
    QFETCH(std::vector<std::string>, says_it);
    QFETCH(const QByteArray, words);
    Log log;
    says_it.insert(says_it.begin(), kProcessFaultsHost);
    ipc::ProcessEngine engine(asking::options(says_it, log));
    const auto answer = engine.load(asking::demoRequest("cpu"), {}, {});
    QVERIFY(!answer.has_value());
    QVERIFY2(says(answer.error(), words.constData()), answer.error().message.c_str());
    QVERIFY(!engine.isLoaded());
    QCOMPARE(engine.process().id(), int64_t{0});
}

void TestProcessFaults::isOfAnotherVersion() {
    const QTemporaryDir folder;
    Log log;
    ipc::ProcessOptions options = asking::options(hostWords("cpu", folder), log);
    options.program = "Belfry 9";
    ipc::ProcessEngine engine(options);
    const auto answer = engine.inspect("demo", {});
    QVERIFY(!answer.has_value() && says(answer.error(), "was updated"));
}

/// Whose greeting cannot be read: it learns what answers it all the same.
void TestProcessFaults::isGreetedByAnotherVersion() {
    auto child = ipc::Child::start({kProcessFaultsHost, "cpu"});
    QVERIFY(child.has_value());
    QVERIFY((*child)->pipe().write(ipc::frameBytes(ipc::Kind::Hello, 1, "x")));
    ipc::FrameCutter cutter;
    char byte = 0;
    while (!cutter.hasFrame() && (*child)->pipe().read(&byte, 1) == 1) {
        QVERIFY(cutter.feed({&byte, 1}));
    }
    QVERIFY(cutter.hasFrame());
    ipc::Answer<ipc::Welcome> answer;
    std::string why;
    QVERIFY2(ipc::decode(cutter.take().payload, answer, why), why.c_str());
    QVERIFY(answer.value.has_value());
    QCOMPARE(answer.value->program, std::string("test"));
    QCOMPARE((*child)->end(std::chrono::seconds(60)).code, 2U);
}

void TestProcessFaults::callbackThrows() {
    const QTemporaryDir folder;
    Log log;
    ipc::ProcessEngine engine(asking::options(hostWords("cpu", folder), log));
    QVERIFY(engine.load(asking::demoRequest("cpu"), {}, {}).has_value());
    bool was_thrown = false;
    try {
        static_cast<void>(engine.generate(
            asking::question(30), [](const engine::ReplyUpdate&) { throw std::bad_alloc(); }, {}));
    } catch (const std::bad_alloc&) {
        was_thrown = true;
    }
    QVERIFY(was_thrown);
    QVERIFY(engine.generate(asking::question(3), {}, {}).has_value());
}

TEST_CLASS_WITH(QCoreApplication, TestProcessFaults)
#include "tst_process_faults.moc"
