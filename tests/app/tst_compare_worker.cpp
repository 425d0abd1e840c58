// SPDX-License-Identifier: Apache-2.0
// Comparing adapter sets with the real engine and the demo model, on this thread and in a process
// of its own: each column is what the chat itself would have answered with those adapters and that
// seed, the base is not loaded again, and the adapters of the chat are in force afterwards, also
// after a stop, and after the engine's process died in a column.
#include "app/common/program_paths.h"
#include "app/engines/engine_worker.h"

#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>

#ifdef BELFRY_HOST_PROGRAM
#include "engine/api/device_loss.h"
#include "tests/support/program/test_class.h"

#include "ipc/process_engine.h"
#endif

namespace {

using Sets = std::vector<std::vector<engine::AdapterChoice>>;

engine::GenerateRequest question() {
    engine::GenerateRequest request;
    engine::MessagePart part;
    part.text = "What is a tower?";
    request.messages = {{engine::Message::Role::User, {part}}};
    request.sampling.max_tokens = 24;
    request.sampling.temperature = 0.8;
    request.sampling.seed = 11;
    return request;
}

} // namespace

class TestCompareWorker : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase_data();
    void initTestCase();
    void init();
    void columnsAreWhatTheChatWouldAnswer();
    void otherLoadsComeAndGo();
    void stopRestoresTheAdapters();
    void aColumnDies();

private:
    /// The demo model with its adapter at half strength. `words`: of a process; empty: this thread.
    void load(const std::vector<std::string>& words, const char* map);
    std::string replyOf(double strength, bool is_enabled);
    [[nodiscard]] std::string adapterFolder() const { return app::demoModelFolder() + "/adapter"; }
    [[nodiscard]] static std::vector<engine::AdapterChoice>
    adaptersIn(const QSignalSpy& snapshots) {
        return snapshots.last()
            .at(0)
            .value<std::shared_ptr<const engine::EngineSnapshot>>()
            ->adapters;
    }

    std::unique_ptr<app::EngineWorker>
        worker_; // in this thread: every call is done when it returns
};

void TestCompareWorker::initTestCase_data() {
    QTest::addColumn<bool>("is_process");
    QTest::newRow("thread") << false;
#ifdef BELFRY_HOST_PROGRAM
    QTest::newRow("process") << true;
#endif
}

void TestCompareWorker::initTestCase() {
    app::registerEngineTypes();
    QVERIFY(!app::demoModelFolder().empty());
}

void TestCompareWorker::init() {
    QFETCH_GLOBAL(const bool, is_process);
#ifdef BELFRY_HOST_PROGRAM
    load(is_process ? std::vector<std::string>{BELFRY_HOST_PROGRAM, "cpu"}
                    : std::vector<std::string>(),
         "cpu");
#else
    QVERIFY(!is_process);
    load({}, "cpu");
#endif
}

void TestCompareWorker::load(const std::vector<std::string>& words, const char* map) {
    engine::EngineOptions options;
    options.demo_folder = app::demoModelFolder();
    app::EngineFactory factory(options);
#ifdef BELFRY_HOST_PROGRAM
    if (!words.empty()) {
        factory = app::EngineFactory([words](const app::EngineEvents& events) {
            ipc::ProcessOptions process;
            process.words = words;
            process.program = "test";
            process.host.demo_folder = app::demoModelFolder();
            process.host.writable = {words.back()}; // where the faults lie
            process.on_step = events.on_step;
            process.on_recovery = events.on_recovery;
            return app::EngineSwitch(std::make_unique<ipc::ProcessEngine>(std::move(process)));
        });
    }
#endif
    worker_ = std::make_unique<app::EngineWorker>(factory);
    engine::LoadRequest request;
    request.model = "demo";
    request.device_map = map;
    request.context = 512;
    request.adapters = {{adapterFolder(), 0.5, true}};
    QSignalSpy loaded(worker_.get(), &app::EngineWorker::loaded);
    QSignalSpy failed(worker_.get(), &app::EngineWorker::loadFailed);
    worker_->load(request, {});
    QVERIFY2(failed.isEmpty(),
             failed.isEmpty() ? "" : failed.first().at(0).value<engine::Error>().message.c_str());
    QCOMPARE(loaded.size(), 1);
}

std::string TestCompareWorker::replyOf(double strength, bool is_enabled) {
    worker_->setAdapters({{adapterFolder(), strength, is_enabled}}, {});
    QSignalSpy replies(worker_.get(), &app::EngineWorker::replyFinished);
    worker_->generate(question(), {});
    return replies.isEmpty() ? "no reply" : replies.first().at(1).value<engine::Reply>().text;
}

void TestCompareWorker::columnsAreWhatTheChatWouldAnswer() {
    const std::string base = replyOf(1.0, false);
    const std::string full = replyOf(1.0, true);
    QVERIFY2(base != full, "the demo adapter changes the answer to this question");
    worker_->setAdapters({{adapterFolder(), 0.5, true}}, {});
    QSignalSpy loaded(worker_.get(), &app::EngineWorker::loaded);
    QSignalSpy started(worker_.get(), &app::EngineWorker::compareStarted);
    QSignalSpy replied(worker_.get(), &app::EngineWorker::compareReplied);
    QSignalSpy finished(worker_.get(), &app::EngineWorker::compareFinished);
    QSignalSpy snapshots(worker_.get(), &app::EngineWorker::snapshotChanged);
    const Sets sets{{{adapterFolder(), 1.0, false}},
                    {{adapterFolder(), 1.0, true}},
                    {}}; // names nothing: the base as well
    worker_->compare(3, question(), sets, {});
    QCOMPARE(started.size(), 3);
    QCOMPARE(replied.size(), 3);
    QCOMPARE(finished.size(), 1);
    QCOMPARE(loaded.size(), 0);
    const auto column = [&](int index) { return replied.at(index).at(2).value<engine::Reply>(); };
    QCOMPARE(column(0).text, base);
    QCOMPARE(column(1).text, full);
    QCOMPARE(column(2).text, base);
    for (int i = 0; i < 3; ++i) {
        QCOMPARE(column(i).seed, uint64_t{11});
        QCOMPARE(replied.at(i).at(1).toInt(), i);
    }
    const auto after = adaptersIn(snapshots);
    QCOMPARE(after.size(), size_t{1});
    QCOMPARE(after[0].strength, 0.5);
    QVERIFY(after[0].is_enabled);
}

/// Two placements answer alike, another precision is loaded for its column, and what was loaded is
/// back at the end, after a stop as well; snapshots tell of nothing else meanwhile.
void TestCompareWorker::otherLoadsComeAndGo() {
    worker_->setAdapters({{adapterFolder(), 0.5, true}}, {});
    QSignalSpy replied(worker_.get(), &app::EngineWorker::compareReplied);
    QSignalSpy failed(worker_.get(), &app::EngineWorker::compareFailed);
    QSignalSpy loading(worker_.get(), &app::EngineWorker::compareLoading);
    QSignalSpy snapshots(worker_.get(), &app::EngineWorker::snapshotChanged);
    const auto plan_of = [](const QList<QVariant>& snapshot) {
        return snapshot.at(0).value<std::shared_ptr<const engine::EngineSnapshot>>()->plan;
    };
    engine::LoadRequest placed;
    placed.model = "demo";
    placed.context = 512;
    placed.device_map = "towers-cpu";
    placed.sim_gpus = {uint64_t{1} << 30U};
    engine::LoadRequest packed = placed;
    packed.device_map = "cpu";
    packed.quant = "nf4";
    const Sets sets(3, {{adapterFolder(), 1.0, true}});
    const auto reply = [&](int column) { return replied.at(column).at(2).value<engine::Reply>(); };
    std::stop_source stop;
    worker_->compare(6, question(), sets, stop.get_token(), {{}, placed, packed});
    QVERIFY2(failed.isEmpty(),
             failed.isEmpty() ? "" : failed.first().at(2).value<engine::Error>().message.c_str());
    QCOMPARE(replied.size(), 3);
    QCOMPARE(reply(1).text, reply(0).text);
    QVERIFY(!reply(2).text.empty()); // of a demo that is sure of itself in 4 bits, too
    const auto columns = [&] {
        QList<int> made;
        for (const QList<QVariant>& one : loading) {
            if (made.isEmpty() || made.last() != one.at(1).toInt()) {
                made.append(one.at(1).toInt());
            }
        }
        return made;
    };
    QCOMPARE(columns(), (QList<int>{1, 2, -1}));
    for (const QList<QVariant>& snapshot : snapshots) { // all the same: what the chat has
        const auto plan = plan_of(snapshot);
        QVERIFY(plan != nullptr && plan->find("model.language_model.norm.weight") != nullptr);
        QCOMPARE(plan->map_text, plan_of(snapshots.first())->map_text);
    }
    const auto after = adaptersIn(snapshots);
    QCOMPARE(after.size(), size_t{1});
    QCOMPARE(after[0].strength, 0.5);
    // Stopped while a column loads.
    replied.clear();
    loading.clear();
    connect(worker_.get(), &app::EngineWorker::compareLoading, worker_.get(),
            [&](quint64, int column) {
                if (column == 1) {
                    stop.request_stop();
                }
            });
    worker_->compare(7, question(), sets, stop.get_token(), {{}, placed, packed});
    QVERIFY(replied.size() <= 2);
    QCOMPARE(adaptersIn(snapshots).at(0).strength, 0.5);
    QCOMPARE(plan_of(snapshots.last())->map_text, plan_of(snapshots.first())->map_text);
}

void TestCompareWorker::stopRestoresTheAdapters() {
    worker_->setAdapters({{adapterFolder(), 0.5, true}}, {});
    QSignalSpy replied(worker_.get(), &app::EngineWorker::compareReplied);
    QSignalSpy finished(worker_.get(), &app::EngineWorker::compareFinished);
    QSignalSpy snapshots(worker_.get(), &app::EngineWorker::snapshotChanged);
    std::stop_source stop;
    connect(worker_.get(), &app::EngineWorker::compareStarted, worker_.get(),
            [&](quint64, int column) {
                if (column == 1) {
                    stop.request_stop();
                }
            });
    const Sets sets(3, {{adapterFolder(), 2.0, true}});
    // Long enough that the process hears of the stop before its answer ends, on a busy machine too.
    engine::GenerateRequest request = question();
    request.sampling.ignores_eos = true;
    request.sampling.max_tokens = 400;
    worker_->compare(4, request, sets, stop.get_token());
    QCOMPARE(finished.size(), 1);
    QCOMPARE(replied.size(), 2); // the second one stopped, the third never began
    QCOMPARE(replied.at(1).at(2).value<engine::Reply>().finish_reason, std::string("cancelled"));
    QCOMPARE(adaptersIn(snapshots).at(0).strength, 0.5);
}

/// What it had written is kept beside the reason, the next column is answered, and the chat goes on
/// with its own adapters in the same places.
void TestCompareWorker::aColumnDies() {
    QFETCH_GLOBAL(const bool, is_process);
    if (!is_process) {
        QSKIP("what kills an engine on a thread kills the program");
    }
#ifdef BELFRY_HOST_PROGRAM
    const QTemporaryDir faults;
    load({BELFRY_HOST_PROGRAM, "card", faults.path().toStdString()}, "towers-cpu");
    QSignalSpy updates(worker_.get(), &app::EngineWorker::compareUpdated);
    QSignalSpy replied(worker_.get(), &app::EngineWorker::compareReplied);
    QSignalSpy failed(worker_.get(), &app::EngineWorker::compareFailed);
    QSignalSpy finished(worker_.get(), &app::EngineWorker::compareFinished);
    QSignalSpy snapshots(worker_.get(), &app::EngineWorker::snapshotChanged);
    connect(worker_.get(), &app::EngineWorker::compareStarted, worker_.get(),
            [&faults](quint64, int column) {
                if (column == 1) {
                    QFile file(faults.filePath(QStringLiteral("token")));
                    QVERIFY(file.open(QIODevice::WriteOnly));
                    file.write("kill");
                }
            });
    const Sets sets{{}, {{adapterFolder(), 1.0, true}}, {{adapterFolder(), 2.0, true}}};
    worker_->compare(5, question(), sets, {});
    QCOMPARE(finished.size(), 1);
    QCOMPARE(replied.size(), 2);
    QCOMPARE(replied.at(0).at(1).toInt(), 0);
    QCOMPARE(replied.at(1).at(1).toInt(), 2);
    QCOMPARE(failed.size(), 1);
    QCOMPARE(failed.first().at(1).toInt(), 1);
    QVERIFY(engine::wasStartedAgain(failed.first().at(2).value<engine::Error>()));
    const bool has_half =
        std::any_of(updates.begin(), updates.end(), [](const QList<QVariant>& update) {
            return update.at(1).toInt() == 1 &&
                   !update.at(2).value<engine::ReplyUpdate>().text.empty();
        });
    QVERIFY(has_half);
    const auto after =
        snapshots.last().at(0).value<std::shared_ptr<const engine::EngineSnapshot>>();
    QVERIFY(after->state == engine::EngineSnapshot::State::Ready && after->plan != nullptr);
    QCOMPARE(after->bytes_total, uint64_t{0}); // it is there again
    QCOMPARE(after->adapters.size(), size_t{1});
    QCOMPARE(after->adapters[0].strength, 0.5);
    QVERIFY(after->adapters[0].is_enabled);
    QCOMPARE(after->plan->find({engine::PartRole::FinalNorm, -1})->compute,
             engine::DeviceId::cuda(0));
#endif
}

TEST_CLASS_WITH(QCoreApplication, TestCompareWorker)
#include "tst_compare_worker.moc"
