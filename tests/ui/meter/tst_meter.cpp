// SPDX-License-Identifier: Apache-2.0
// When the engine's worker publishes the state of the memory: between the layers of a prompt and of
// a tower, not only with the text of a reply; and, while nothing runs, when another program takes
// or gives memory. The pace is a parameter here, so that nothing depends on the machine's speed.
#include "app/common/program_paths.h"
#include "app/engines/engine_worker.h"
#include "engine/devices/gpu_access.h"
#include "kernels/cuda/cards.h"
#include "tests/support/cuda/fake_driver.h"
#include "tests/support/program/test_class.h"
#include "ui/meter/memory_meter.h"

#include <QTest>

#include <limits>

using app::EngineWorker;
using engine::EngineSnapshot;
using support::FakeDriver;

namespace {

constexpr int kNever = std::numeric_limits<int>::max();

struct Seen {
    int snapshots = 0, before_text = 0;
    bool has_text = false, has_failed = false;
    std::shared_ptr<const EngineSnapshot> last;

    void listenTo(EngineWorker& worker) {
        QObject::connect(&worker, &EngineWorker::snapshotChanged, &worker,
                         [this](const std::shared_ptr<const EngineSnapshot>& snapshot) {
                             ++snapshots;
                             before_text += has_text ? 0 : 1;
                             last = snapshot;
                         });
        QObject::connect(
            &worker, &EngineWorker::replyUpdated, &worker,
            [this](quint64 /*id*/, const engine::ReplyUpdate& /*update*/) { has_text = true; });
        const auto fail = [this](const engine::Error& error) {
            qWarning("%s", error.message.c_str());
            has_failed = true;
        };
        QObject::connect(&worker, &EngineWorker::loadFailed, &worker, fail);
        QObject::connect(&worker, &EngineWorker::replyFailed, &worker,
                         [fail](quint64 /*id*/, const engine::Error& error) { fail(error); });
    }
};

engine::GenerateRequest question(const std::string& picture) {
    engine::GenerateRequest request;
    engine::Message message;
    if (!picture.empty()) {
        message.parts.push_back({engine::MessagePart::Kind::Image, picture});
    }
    message.parts.push_back({engine::MessagePart::Kind::Text, "What do you see?"});
    request.messages.push_back(message);
    request.sampling.temperature = 0.0;
    request.sampling.max_tokens = 3;
    return request;
}

} // namespace

class TestMeter : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void betweenLayers_data();
    void betweenLayers();
    void otherProgramsWhileIdle();
    void assumedContext();
    void otherProgramsWithNothingLoaded();
};

void TestMeter::betweenLayers_data() {
    QTest::addColumn<bool>("has_picture");
    QTest::newRow("prompt") << false;
    QTest::newRow("prompt and tower") << true;
}

void TestMeter::betweenLayers() {
    QFETCH(bool, has_picture);
    engine::EngineOptions options;
    options.demo_folder = app::demoModelFolder();
    const std::string picture =
        has_picture ? options.demo_folder + "/samples/circles_and_square.png" : std::string();
    engine::LoadRequest request;
    request.model = "demo";
    request.device_map = "cpu";
    for (const int interval : {0, kNever}) {
        EngineWorker worker(options, interval);
        Seen seen;
        seen.listenTo(worker);
        worker.load(request, {});
        QVERIFY(!seen.has_failed);
        const auto model = seen.last->model;
        const auto layers = static_cast<int>(model->layers.size());
        const auto tower_layers = static_cast<int>(has_picture ? model->vision_layers : 0);
        QVERIFY(layers > 0 && (!has_picture || tower_layers > 0));
        seen.snapshots = seen.before_text = 0;
        worker.generate(question(picture), {});
        QVERIFY(!seen.has_failed && seen.has_text);
        if (interval == kNever) {
            QCOMPARE(seen.snapshots, 2); // begin and end of the reply
        } else {
            QVERIFY2(seen.before_text >= 1 + layers + tower_layers,
                     qPrintable(QString::number(seen.before_text)));
            QVERIFY(!seen.last->memory.empty());
        }
        QVERIFY(seen.last->state == EngineSnapshot::State::Ready);
    }
}

void TestMeter::otherProgramsWhileIdle() {
    FakeDriver fake;
    engine::EngineOptions options;
    options.demo_folder = app::demoModelFolder();
    options.gpus = std::make_shared<const engine::GpuAccess>(
        engine::cudaAccess(&fake.driver(), {}, FakeDriver::images()));
    engine::LoadRequest request;
    request.model = "demo";
    request.device_map = "gpu";
    EngineWorker worker(options, 1);
    Seen seen;
    seen.listenTo(worker);
    worker.startMeter();
    worker.load(request, {});
    QVERIFY(!seen.has_failed);
    const auto others = [&]() -> quint64 {
        for (const engine::DeviceMemory& device : seen.last->memory) {
            if (device.id == engine::DeviceId::cuda(0)) {
                return device.used_by_others;
            }
        }
        return 0;
    };
    // The card tells one figure; what the driver took for this program is subtracted from it.
    constexpr quint64 kMore = 512ULL << 20U;
    fake.setUsedByOthers(0, 2 * kMore);
    QTRY_VERIFY(others() > 0);
    const quint64 before = others();
    fake.setUsedByOthers(0, 3 * kMore);
    QTRY_COMPARE(others(), before + kMore);
    QVERIFY(seen.last->state == EngineSnapshot::State::Ready);
    fake.setUsedByOthers(0, 2 * kMore);
    QTRY_COMPARE(others(), before);
}

/// Nothing measures the context of a card that only a driver knows: the figure is called assumed,
/// one that was measured is not.
void TestMeter::assumedContext() {
    FakeDriver fake;
    engine::EngineOptions options;
    options.demo_folder = app::demoModelFolder();
    options.gpus = std::make_shared<const engine::GpuAccess>(
        engine::cudaAccess(&fake.driver(), {}, FakeDriver::images()));
    engine::LoadRequest request;
    request.model = "demo";
    request.device_map = "gpu";
    EngineWorker worker(options, 1);
    Seen seen;
    seen.listenTo(worker);
    worker.load(request, {});
    QVERIFY(!seen.has_failed);
    ui::MemoryMeter meter;
    meter.showSnapshot(seen.last);
    QVERIFY2(meter.text().contains(QStringLiteral("driver (assumed) 640")),
             qPrintable(meter.text()));

    auto measured = std::make_shared<engine::EngineSnapshot>(*seen.last);
    auto plan = std::make_shared<engine::PlacementPlan>(*measured->plan);
    QVERIFY(!plan->notes.empty());
    plan->notes.clear();
    measured->plan = plan;
    meter.showSnapshot(measured);
    QVERIFY2(!meter.text().contains(QStringLiteral("assumed")), qPrintable(meter.text()));

    QVERIFY(kernels::cuda::isContextAssumed(fake.driver(), 1)); // never opened
    const kernels::cuda::ContextRecord record(fake.driver(), 1, 300U << 20U);
    QVERIFY(!kernels::cuda::isContextAssumed(fake.driver(), 1));
}

void TestMeter::otherProgramsWithNothingLoaded() {
    engine::DeviceInfo card;
    card.id = engine::DeviceId::cuda(0);
    card.description = "Test card";
    card.capacity = 8ULL << 30U;
    card.free = 6ULL << 30U;
    auto gpus = std::make_shared<engine::GpuAccess>();
    gpus->glance = [&card] { return std::vector<engine::DeviceInfo>{card}; };
    engine::EngineOptions options;
    options.demo_folder = app::demoModelFolder();
    options.gpus = gpus;
    EngineWorker worker(options, 1);
    Seen seen;
    seen.listenTo(worker);
    worker.startMeter();
    const auto card_now = [&]() -> const engine::DeviceMemory* {
        if (seen.last == nullptr) {
            return nullptr;
        }
        for (const engine::DeviceMemory& device : seen.last->memory) {
            if (device.id == card.id) {
                return &device;
            }
        }
        return nullptr;
    };
    QTRY_VERIFY(card_now() != nullptr);
    QVERIFY(seen.last->state == EngineSnapshot::State::Empty);
    QCOMPARE(quint64{card_now()->capacity}, quint64{card.capacity});
    QCOMPARE(quint64{card_now()->used_by_others}, quint64{2} << 30U);
    card.free = 5ULL << 30U;
    QTRY_COMPARE(quint64{card_now()->used_by_others}, quint64{3} << 30U);
    // With a model on the processor the card's other programs are still told.
    engine::LoadRequest request;
    request.model = "demo";
    request.device_map = "cpu";
    worker.load(request, {});
    QVERIFY(!seen.has_failed);
    QVERIFY(card_now() != nullptr);
    card.free = 4ULL << 30U;
    QTRY_COMPARE(quint64{card_now()->used_by_others}, quint64{4} << 30U);
    QVERIFY(seen.last->state == EngineSnapshot::State::Ready);
}

TEST_CLASS_WITH(QApplication, TestMeter)
#include "tst_meter.moc"
