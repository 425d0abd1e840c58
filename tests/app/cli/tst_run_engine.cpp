// SPDX-License-Identifier: Apache-2.0
// belfry-cli as the engine's process of another program (app/engines/process_engines.h): it says
// what the engine says here, and killed in the middle of a reply it costs that reply. More ends:
// tests/ipc/tst_process_faults.cpp.
#include "app/common/version.h"
#include "app/engines/process_engines.h"
#include "engine/api/device_loss.h"
#include "engine/devices/gpu_access.h"
#include "engine/run/engine.h"
#include "tests/ipc/asking.h"
#include "tests/support/processes.h"
#include "tests/support/program/test_class.h"

#include <QTest>

#include <memory>
#include <string>

using asking::Log;

namespace {

ipc::ProcessOptions programOptions(Log& log) {
    ipc::ProcessOptions options = asking::options(
        {qEnvironmentVariable("BELFRY_CLI").toStdString(), std::string(app::kRunEngine)}, log);
    options.program = app::versionLine();
    return options;
}

} // namespace

class TestRunEngine : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void saysTheSame();
    void diesInAReply();
};

void TestRunEngine::saysTheSame() {
    Log log;
    engine::Engine here(asking::threadOptions());
    ipc::ProcessEngine there(programOptions(log));
    for (engine::EngineClient* engine :
         {static_cast<engine::EngineClient*>(&here), static_cast<engine::EngineClient*>(&there)}) {
        const auto loaded = engine->load(asking::demoRequest("cpu"), {}, {});
        VERIFY_VALUE(loaded);
    }
    for (const char* text : {"Hello", "What is a bell tower?"}) {
        const auto a = here.generate(asking::question(24, text), {}, {});
        const auto b = there.generate(asking::question(24, text), {}, {});
        QVERIFY(a.has_value() && b.has_value());
        QCOMPARE(a->token_ids.size(), size_t{24});
        QCOMPARE(b->token_ids, a->token_ids);
        QCOMPARE(b->text, a->text);
    }
    QVERIFY(log.has(asking::kLimit));
}

void TestRunEngine::diesInAReply() {
    Log log;
    ipc::ProcessEngine there(programOptions(log));
    QVERIFY(there.load(asking::demoRequest("cpu"), {}, {}).has_value());
    const auto before = there.generate(asking::question(24), {}, {});
    QVERIFY(before.has_value());
    const int64_t former = there.process().id();
    std::string half;
    const auto reply = there.generate(asking::question(2000),
                                      [&](const engine::ReplyUpdate& update) {
                                          if (half.empty()) {
                                              QVERIFY(support::killProcess(former));
                                          }
                                          half += update.text;
                                      },
                                      {});
    QVERIFY(!reply.has_value() && !half.empty());
    QVERIFY2(reply.error().message.find(support::kKilledName) != std::string::npos,
             reply.error().message.c_str());
    QVERIFY(engine::wasStartedAgain(reply.error()));
    QVERIFY(!support::isRunning(former));
    QVERIFY(there.process().id() != former && support::isRunning(there.process().id()));
    const auto after = there.generate(asking::question(24), {}, {});
    VERIFY_VALUE(after);
    QCOMPARE(after->token_ids, before->token_ids);
}

TEST_CLASS_WITH(QCoreApplication, TestRunEngine)
#include "tst_run_engine.moc"
