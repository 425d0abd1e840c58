// SPDX-License-Identifier: Apache-2.0
// Plan, ledger and meter agree: for every staged layout the meter's prediction is what belfry-cli
// plan prints, and after Apply measured equals predicted. An out-of-memory during Apply is rolled
// back and explained. The demo model with the real engine.
#include "tests/support/program/test_class.h"
#include "tests/support/thread_spy.h"
#include "tests/ui/layout/layout_fixture.h"
#include "ui/common/error_words.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>

#include <algorithm>

using engine::DeviceId;
using support::LayoutFixture;

namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20U;

engine::LoadRequest demoRequest(const char* map) {
    engine::LoadRequest request;
    request.model = "demo";
    request.device_map = map;
    request.quant = "nf4-dq";
    request.head = "int8";
    request.sim_gpus = {48 * kMiB, 32 * kMiB};
    request.adapters = {{"demo", 1.0, true}};
    return request;
}

/// What app/window/wiring does with applyRequested: move what is loaded, or load.
class Loader : public QObject {
public:
    explicit Loader(LayoutFixture& f) : f_(f) {
        QObject::connect(&f.view, &ui::LayoutView::applyRequested, this,
                         [this](const engine::LoadRequest& request) { apply(request); });
        QObject::connect(
            f.engine_thread.worker(), &app::EngineWorker::snapshotChanged, &f.view,
            [this](const std::shared_ptr<const engine::EngineSnapshot>& snapshot) {
                const bool is_busy = snapshot->state == engine::EngineSnapshot::State::Loading ||
                                     snapshot->state == engine::EngineSnapshot::State::Moving;
                f_.view.setBusy(is_busy ? ui::LayoutView::Busy::Loading : ui::LayoutView::Busy::No);
                f_.view.setApplied(snapshot->plan);
            });
    }

private:
    void apply(const engine::LoadRequest& request) {
        app::EngineWorker* worker = f_.engine_thread.worker();
        const std::stop_token stop = f_.engine_thread.begin();
        if (is_loaded_) {
            QMetaObject::invokeMethod(worker, [worker, request, stop] {
                worker->applyMap(QString::fromStdString(request.device_map), stop);
            });
        } else {
            is_loaded_ = true;
            QMetaObject::invokeMethod(worker,
                                      [worker, request, stop] { worker->load(request, stop); });
        }
    }
    LayoutFixture& f_;
    bool is_loaded_ = false;
};

/// Predicted bytes per device and part as belfry-cli plan prints them.
QJsonObject commandLinePlan(const std::string& map) {
    QTemporaryDir folder;
    const QString file = folder.filePath(QStringLiteral("map.json"));
    QFile out(file);
    if (!out.open(QIODevice::WriteOnly)) {
        return {};
    }
    out.write(QByteArray::fromStdString(map));
    out.close();
    QProcess process;
    process.start(qEnvironmentVariable("BELFRY_CLI"),
                  {QStringLiteral("plan"), QStringLiteral("demo"), QStringLiteral("--quant"),
                   QStringLiteral("nf4-dq"), QStringLiteral("--head"), QStringLiteral("int8"),
                   QStringLiteral("--sim-gpu"), QStringLiteral("48MiB,32MiB"),
                   QStringLiteral("--adapter"), QStringLiteral("demo"),
                   QStringLiteral("--device-map"), file, QStringLiteral("--json")});
    process.waitForFinished(30000);
    QJsonObject devices;
    const QJsonArray list = QJsonDocument::fromJson(process.readAllStandardOutput())
                                .object()
                                .value(QStringLiteral("devices"))
                                .toArray();
    for (const auto& value : list) {
        const QJsonObject device = value.toObject();
        devices[device.value(QStringLiteral("id")).toString()] =
            device.value(QStringLiteral("parts")).toObject();
    }
    return devices;
}

/// Empty when the meter shows these bytes for every device and part; else what differs.
QString difference(const ui::MemoryMeter& meter, const QJsonObject& devices) {
    if (devices.isEmpty()) {
        return QStringLiteral("belfry-cli gave no plan");
    }
    for (const ui::MeterDevice& device : meter.devices()) {
        const QString id = QString::fromStdString(device.id.toString());
        const QJsonObject parts = devices.value(id).toObject();
        for (const engine::MemoryPart part : engine::kMemoryParts) {
            const auto expected = static_cast<quint64>(
                parts.value(QString::fromLatin1(engine::memoryPartName(part))).toInteger(-1));
            if (expected != device.predicted[part]) {
                return QStringLiteral("%1 %2: meter %3, belfry-cli %4")
                    .arg(id, QString::fromLatin1(engine::memoryPartName(part)))
                    .arg(device.predicted[part])
                    .arg(expected);
            }
        }
    }
    return {};
}

} // namespace

class TestLayoutApply : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { ui::applyTheme(*qApp); }
    void meterEqualsPlanAndMeasurement();
    void outOfMemoryIsRolledBack();
};

void TestLayoutApply::meterEqualsPlanAndMeasurement() {
    LayoutFixture f(demoRequest("gpu"));
    const Loader loader(f);
    QVERIFY(f.isReady());
    f.meter.show();
    f.meter.setPrediction(f.view.stagedPlan());
    support::ThreadSpy loaded(f.engine_thread.worker(), &app::EngineWorker::loaded);
    support::ThreadSpy applied(f.engine_thread.worker(), &app::EngineWorker::mapApplied);
    support::ThreadSpy failed(f.engine_thread.worker(), &app::EngineWorker::mapFailed);
    f.view.apply();
    QTRY_COMPARE_WITH_TIMEOUT(loaded.count(), 1, 20000);
    QTRY_VERIFY(!f.view.hasChanges());

    // Six layouts by hand: towers, a split of the layers over two cards, disk, the cache, the head.
    const std::vector<std::pair<const char*, DeviceId>> moves = {
        {"vision", DeviceId::cpu()},      {"audio", DeviceId::sim(1)},
        {"layers.5-9", DeviceId::sim(1)}, {"ple", DeviceId::disk()},
        {"kv.sim:0", DeviceId::cpu()},    {"vision", DeviceId::sim(1)}};
    int count = 0;
    for (const auto& [id, device] : moves) {
        if (QByteArray(id) == "layers.5-9") {
            Q_EMIT f.view.blockWidget(QStringLiteral("layers.0-9"))->cutRequested(5);
        }
        QVERIFY2(f.view.blockWidget(QString::fromLatin1(id)) != nullptr, id);
        QVERIFY2(f.drag(QString::fromLatin1(id), device, true), id);
        QVERIFY2(f.view.hasChanges(), id);
        const QString staged = difference(f.meter, commandLinePlan(f.mapText()));
        QVERIFY2(staged.isEmpty(), qPrintable(QString::fromLatin1(id) + staged));
        f.view.apply();
        ++count;
        QTRY_VERIFY_WITH_TIMEOUT(applied.count() == count || failed.count() > 0, 20000);
        QVERIFY2(failed.isEmpty(),
                 failed.isEmpty() ? ""
                                  : failed.front().front().value<engine::Error>().message.c_str());
        QTRY_VERIFY(!f.view.hasChanges());
        QTRY_VERIFY(std::all_of(
            f.meter.devices().begin(), f.meter.devices().end(),
            [](const ui::MeterDevice& d) { return d.has_measured && d.measured == d.predicted; }));
    }
    // An adapter that goes is planned without, keeps the layout and asks for no other load.
    engine::LoadRequest bare = demoRequest("gpu");
    bare.adapters.clear();
    const std::string map = f.mapText();
    f.view.setRequest(bare);
    QTRY_COMPARE(f.meter.devices().front().predicted[engine::MemoryPart::Adapter], uint64_t{0});
    QCOMPARE(f.mapText(), map);
    QVERIFY(!f.view.hasChanges());
    f.view.undo(); // a step from before is planned without it, too
    QTRY_VERIFY(f.view.stagedPlan() != nullptr && f.view.hasChanges());
    QTRY_COMPARE(f.meter.devices().front().predicted[engine::MemoryPart::Adapter], uint64_t{0});
    f.view.redo();
    f.view.setRequest(demoRequest("gpu"));
    QTRY_VERIFY(f.meter.devices().front().predicted[engine::MemoryPart::Adapter] > 0);
    QCOMPARE(f.mapText(), map);

    // The same in words, for those who cannot see the bars.
    QVERIFY2(f.meter.accessibleDescription().contains(QStringLiteral("predicted")),
             qPrintable(f.meter.accessibleDescription()));
    const QString folder = qEnvironmentVariable("BELFRY_SCREENSHOTS");
    if (!folder.isEmpty()) {
        QTest::qWait(1200);
        f.meter.grab().save(folder + QStringLiteral("/meter-loaded.png"));
        f.view.grab().save(folder + QStringLiteral("/layout-two-gpus.png"));
    }
}

void TestLayoutApply::outOfMemoryIsRolledBack() {
    LayoutFixture f(demoRequest("towers-cpu"));
    const Loader loader(f);
    QVERIFY(f.isReady());
    f.view.apply();
    QTRY_VERIFY_WITH_TIMEOUT(!f.view.hasChanges(), 20000);
    const std::string before = f.mapText();
    QVERIFY(f.drag(QStringLiteral("vision"), DeviceId::sim(0), true));
    const std::string wanted = f.mapText();
    QVERIFY(f.view.stagedPlan()->fits);
    // As if another program had taken the memory between plan and move.
    app::EngineWorker* worker = f.engine_thread.worker();
    const auto setCapacity = [worker, &f](quint64 bytes) {
        QMetaObject::invokeMethod(worker, [&f, bytes] { f.sim.load()->setCapacity(bytes); });
    };
    QVERIFY(f.sim != nullptr);
    QVERIFY(f.meter.devices().front().id == DeviceId::sim(0));
    setCapacity(f.meter.devices().front().used());
    support::ThreadSpy failed(worker, &app::EngineWorker::mapFailed);
    support::ThreadSpy moved(worker, &app::EngineWorker::mapApplied);
    f.view.apply();
    QTRY_VERIFY_WITH_TIMEOUT(failed.count() + moved.count() == 1, 20000);
    QCOMPARE(failed.count(), 1);
    const auto error = failed.front().front().value<engine::Error>();
    QCOMPARE(error.code, engine::ErrorCode::OutOfMemory);
    auto* notice = f.view.findChild<ui::NoticeBar*>();
    QTRY_VERIFY(notice->isVisible());
    QVERIFY2(notice->text().contains(ui::errorWords(error).left(40)), qPrintable(notice->text()));
    const QString folder = qEnvironmentVariable("BELFRY_SCREENSHOTS");
    if (!folder.isEmpty()) {
        f.view.grab().save(folder + QStringLiteral("/layout-oom.png"));
    }
    // Rolled back: what is measured is the former plan; the change is still staged and works when
    // the memory is there again.
    QCOMPARE(f.mapText(), wanted);
    QVERIFY(f.view.hasChanges());
    f.view.revert();
    QCOMPARE(f.mapText(), before);
    QTRY_VERIFY(std::all_of(
        f.meter.devices().begin(), f.meter.devices().end(),
        [](const ui::MeterDevice& d) { return d.has_measured && d.measured == d.predicted; }));
    setCapacity(48 * kMiB);
    f.view.undo();
    support::ThreadSpy applied(worker, &app::EngineWorker::mapApplied);
    f.view.apply();
    QTRY_COMPARE_WITH_TIMEOUT(applied.count(), 1, 20000);
    QTRY_VERIFY(!f.view.hasChanges());
}

TEST_CLASS_WITH(QApplication, TestLayoutApply)
#include "tst_layout_apply.moc"
