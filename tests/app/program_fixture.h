// SPDX-License-Identifier: Apache-2.0
// The whole program as main() builds it: window, engine thread, planner, chat store and wiring,
// with its data in a folder of the test's own. Can be closed and opened again on the same folder.
#pragma once

#include "app/common/program_paths.h"
#include "app/engines/engine_worker.h"
#include "app/start/startup_facts.h"
#include "app/store/chat_store.h"
#include "app/window/computer_facts.h"
#include "app/window/planner_thread.h"
#include "app/window/settings_store.h"
#include "app/window/wiring.h"
#include "engine/api/load_request.h"
#include "engine/devices/device_set.h"
#include "engine/devices/gpu_access.h"
#include "ui/chat/chat_view.h"
#include "ui/dialogs/log_buffer.h"
#include "ui/layout/block_widget.h"
#include "ui/layout/lane_widget.h"
#include "ui/layout/layout_view.h"
#include "ui/meter/memory_meter.h"
#include "ui/model/session.h"
#include "ui/window/main_window.h"
#include "ui/window/notice_strip.h"

#include <QApplication>
#include <QDir>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTest>
#include <QThreadPool>

#include <atomic>
#include <memory>

namespace support {

constexpr uint64_t kGiB = uint64_t{1} << 30U;

/// Cards instead of this machine's; one access per thread that uses it. nullptr: the machine's.
struct ProgramCards {
    std::shared_ptr<const engine::GpuAccess> engine, planner;
};

/// Settings of somebody who knows the guide of the first hour: its cards would stand where tests
/// look for other notices.
inline ui::Settings settingsAfterGuide() {
    ui::Settings settings;
    settings.guide_cards = ui::kGuideCards;
    return settings;
}

class Program {
public:
    explicit Program(const QString& folder,
                     ui::Settings settings = settingsAfterGuide(),
                     const ProgramCards& cards = {},
                     const app::EngineFactory* other_engine = nullptr,
                     const std::shared_ptr<engine::CardInquiry>& inquiry = nullptr)
        : demo(app::demoModelFolder()), settings_store(folder + QStringLiteral("/settings.ini")) {
        app::registerEngineTypes();
        app::registerStoreTypes();
        ui::applyTheme(*qobject_cast<QApplication*>(QApplication::instance()));
        ui::setThemeChoice(settings.theme);
        engine::EngineOptions options;
        options.demo_folder = demo;
        options.on_devices = [this](engine::OwnedDevices& devices) {
            const auto it = devices.set.find(engine::DeviceId::sim(0));
            sim = it == devices.set.end() ? nullptr
                                          : dynamic_cast<kernels::cpu::HostDevice*>(it->second);
        };
        options.gpus = cards.engine;
        engine_thread = std::make_unique<app::EngineThread>(
            other_engine != nullptr ? *other_engine : app::EngineFactory(options));
        options.gpus = cards.planner;
        planner = std::make_unique<app::PlannerThread>(options);
        store = std::make_unique<app::ChatStoreThread>(
            app::StoreOptions{folder + QStringLiteral("/data"), {}});
        ui::WindowSetup setup;
        setup.has_demo_model = !demo.empty();
        setup.settings = std::move(settings);
        setup.log = &log;
        auto facts = app::readStartupFacts(demo, folder + QStringLiteral("/data"),
                                           folder + QStringLiteral("/cache"));
        setup.facts = facts.system;
        window = std::make_unique<ui::MainWindow>(setup);
        wiring = std::make_unique<app::Wiring>(window.get(), engine_thread.get(), planner.get(),
                                               store->store(), &settings_store);
        window->setSamples(facts.samples, facts.thumbnails);
        app::connectComputer(*window, inquiry, folder + QStringLiteral("/data"),
                             folder + QStringLiteral("/cache"));
        window->show();
        // Shortcuts act in the active window only; without a window manager nobody activates it.
        window->activateWindow();
        (void)QTest::qWaitForWindowActive(window.get(), 5000);
    }

    ~Program() {
        window->close();
        QThreadPool::globalInstance()->waitForDone(); // answers to the window
        wiring.reset();
        window.reset();
        planner.reset();
        engine_thread.reset();
        store.reset();
    }

    template <typename T = QPushButton>
    T* find(const char* object_name) {
        return window->findChild<T*>(QString::fromLatin1(object_name));
    }
    ui::Session& session() { return *window->session(); }
    ui::ChatView& chat() { return *window->chatView(); }
    QPlainTextEdit* input() { return find<QPlainTextEdit>("messageInput"); }
    QString sample(const char* name) {
        return QString::fromStdString(demo) + QStringLiteral("/samples/") +
               QString::fromLatin1(name);
    }

    /// Chooses with one simulated GPU and waits for the first plan.
    bool choose(const QString& model, const char* map, uint64_t gpu_bytes) {
        engine::LoadRequest options = session().request();
        options.device_map = map;
        options.sim_gpus = {gpu_bytes};
        session().setOptions(options);
        session().chooseModel(model);
        return QTest::qWaitFor(
            [this] {
                return session().summary() != nullptr &&
                       window->layoutView()->stagedPlan() != nullptr;
            },
            20000);
    }
    bool load() {
        session().load();
        return QTest::qWaitFor([this] { return session().state() == ui::Session::State::Ready; },
                               60000);
    }
    /// Types and presses Enter.
    void ask(const QString& text) {
        input()->setPlainText(text);
        QTest::keyClick(input(), Qt::Key_Return);
    }
    bool waitForReply(size_t turns) {
        return QTest::qWaitFor(
            [&] {
                return !chat().isGenerating() && chat().chat().turns.size() == turns &&
                       session().state() == ui::Session::State::Ready;
            },
            60000);
    }
    /// Presses on a block, moves to a lane in steps, waits for the price; `drops` lets go there.
    bool drag(const QString& block_id, engine::DeviceId to, bool drops = true) {
        ui::LayoutView* view = window->layoutView();
        QTest::qWait(20); // a view that has just been opened takes its place
        ui::BlockWidget* block = view->blockWidget(block_id);
        ui::LaneWidget* lane = view->lane(to);
        if (block == nullptr || lane == nullptr) {
            return false;
        }
        const QPoint start(24, 12);
        QTest::mousePress(block, Qt::LeftButton, {}, start);
        const QPoint end = block->mapFromGlobal(
            lane->mapToGlobal(QPoint(lane->width() / 2, lane->height() * 2 / 5)));
        for (int i = 1; i <= 6; ++i) {
            QTest::mouseMove(block, start + (end - start) * i / 6);
        }
        const bool is_priced = QTest::qWaitFor(
            [&] { return view->isHolding() && lane->preview().has_value(); }, 10000);
        if (drops) {
            QTest::mouseRelease(block, Qt::LeftButton, {}, end);
        }
        return is_priced;
    }
    bool waitForPlace(const QString& block_id, engine::DeviceId place) {
        return QTest::qWaitFor(
            [&] {
                const ui::BlockWidget* block = window->layoutView()->blockWidget(block_id);
                return block != nullptr && block->block().store == place;
            },
            10000);
    }
    /// Saves a picture of the window when $BELFRY_SCREENSHOTS is set.
    void shot(const char* name) {
        const QString to = qEnvironmentVariable("BELFRY_SCREENSHOTS");
        if (!to.isEmpty()) {
            // Layouts settle over a few rounds of the event loop.
            for (int i = 0; i < 4; ++i) {
                QCoreApplication::sendPostedEvents();
                QCoreApplication::processEvents();
            }
            window->grab().save(QStringLiteral("%1/%2.png").arg(to, QString::fromUtf8(name)));
        }
    }

    /// Memory of the simulated GPU from now on, as if other programs took or gave some.
    void setGpuMemory(quint64 bytes) {
        QMetaObject::invokeMethod(engine_thread->worker(), [this, bytes] {
            if (kernels::cpu::HostDevice* device = sim.load()) {
                device->setCapacity(bytes);
            }
        });
    }

    std::string demo;
    std::atomic<kernels::cpu::HostDevice*> sim{nullptr}; ///< Set on the engine thread.
    app::SettingsStore settings_store;
    ui::LogBuffer log;
    std::unique_ptr<app::EngineThread> engine_thread;
    std::unique_ptr<app::PlannerThread> planner;
    std::unique_ptr<app::ChatStoreThread> store;
    std::unique_ptr<ui::MainWindow> window;
    std::unique_ptr<app::Wiring> wiring;
};

} // namespace support
