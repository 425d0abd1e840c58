// SPDX-License-Identifier: Apache-2.0
// A layout editor with the real planner thread (and, on demand, the real engine) and what a user
// does to it.
#pragma once

#include "app/common/program_paths.h"
#include "app/engines/engine_worker.h"
#include "app/window/planner_thread.h"
#include "engine/api/load_request.h"
#include "engine/api/model_summary.h"
#include "engine/devices/device_set.h"
#include "ui/layout/block_widget.h"
#include "ui/layout/drag_ghost.h"
#include "ui/layout/lane_widget.h"
#include "ui/layout/layout_view.h"
#include "ui/layout/notice_bar.h"
#include "ui/meter/memory_meter.h"
#include "ui/style/theme.h"

#include <QApplication>
#include <QLabel>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>

#include <atomic>
#include <memory>

namespace support {

constexpr uint64_t kGiB = uint64_t{1} << 30U;

class LayoutFixture {
public:
    explicit LayoutFixture(const engine::LoadRequest& request, QSize size = {1100, 760})
        : options_(makeOptions()), engine_thread(options_), planner(options_) {
        app::connectLayout(view, planner, *engine_thread.worker());
        QObject::connect(&view, &ui::LayoutView::stagedPlanChanged, &meter,
                         [this](const std::shared_ptr<const engine::PlacementPlan>& plan) {
                             meter.setPrediction(plan, false);
                         });
        QObject::connect(&view, &ui::LayoutView::heldPlanChanged, &meter, [this] {
            meter.setPrediction(view.heldPlan() != nullptr ? view.heldPlan() : view.stagedPlan());
        });
        QObject::connect(engine_thread.worker(), &app::EngineWorker::snapshotChanged, &meter,
                         &ui::MemoryMeter::showSnapshot);
        view.resize(size);
        meter.resize(288, size.height());
        view.show();
        engine::Engine engine(options_);
        std::vector<std::string> adapters;
        for (const engine::AdapterChoice& adapter : request.adapters) {
            adapters.push_back(adapter.folder);
        }
        auto summary = engine.inspect(request.model, adapters);
        if (summary.has_value()) {
            model = std::make_shared<const engine::ModelSummary>(std::move(summary).value());
        }
        view.setModel(model);
        view.setRequest(request);
    }

    /// The first plan has arrived.
    bool isReady() {
        return QTest::qWaitFor([this] { return view.stagedPlan() != nullptr; }, 10000) &&
               QTest::qWaitForWindowExposed(&view);
    }

    QPoint inView(QWidget* widget, QPoint point) { return widget->mapTo(&view, point); }

    /// Mouse: press in the middle, move in steps to the lane; `drops` lets go there.
    bool drag(const QString& id, engine::DeviceId to, bool drops) {
        ui::BlockWidget* block = view.blockWidget(id);
        ui::LaneWidget* lane = view.lane(to);
        if (block == nullptr || lane == nullptr) {
            return false;
        }
        const QPoint start(30, 20);
        QTest::mousePress(block, Qt::LeftButton, {}, start);
        const QPoint end = block->mapFromGlobal(
            lane->mapToGlobal(QPoint(lane->width() / 2, lane->height() * 2 / 5)));
        for (int i = 1; i <= 6; ++i) {
            QTest::mouseMove(block, start + (end - start) * i / 6);
        }
        auto* price = view.findChild<ui::PriceCard*>();
        const bool is_priced = QTest::qWaitFor(
            [&] {
                return view.isHolding() && lane->preview().has_value() && price->isVisible() &&
                       !price->text().contains(QStringLiteral("…"));
            },
            5000);
        if (drops) {
            QTest::mouseRelease(block, Qt::LeftButton, {}, end);
        }
        return is_priced;
    }

    std::string mapText() { return view.stagedPlan()->map_text; }

    static const engine::ModulePlacement* module(const engine::PlacementPlan& plan,
                                                 const char* name) {
        for (const engine::ModulePlacement& m : plan.modules) {
            if (m.name == name) {
                return &m;
            }
        }
        return nullptr;
    }

    /// sim:0 of what is loaded; belongs to the engine thread.
    std::atomic<kernels::cpu::HostDevice*> sim = nullptr;

private:
    engine::EngineOptions makeOptions() {
        app::registerEngineTypes();
        engine::EngineOptions options;
        options.demo_folder = app::demoModelFolder();
        options.on_devices = [this](engine::OwnedDevices& devices) {
            const auto it = devices.set.find(engine::DeviceId::sim(0));
            sim = it == devices.set.end() ? nullptr
                                          : dynamic_cast<kernels::cpu::HostDevice*>(it->second);
        };
        return options;
    }
    engine::EngineOptions options_;

public:
    app::EngineThread engine_thread;
    app::PlannerThread planner;
    ui::LayoutView view;
    ui::MemoryMeter meter;
    std::shared_ptr<const engine::ModelSummary> model;
};

inline engine::LoadRequest e2bRequest(const char* map, uint64_t gpu_bytes = 8 * kGiB) {
    engine::LoadRequest request;
    request.model = "shape:e2b";
    request.device_map = map;
    request.quant = "nf4-dq";
    request.head = "int8";
    request.sim_gpus = {gpu_bytes};
    return request;
}

} // namespace support
