// SPDX-License-Identifier: Apache-2.0
#include "app/window/planner_thread.h"

#include "app/common/library_roots.h"
#include "app/store/save_file.h"
#include "app/window/fit_planner.h"
#include "app/window/load_profiles.h"
#include "engine/base/assistant_folder.h"
#include "engine/base/paths.h"
#include "ui/explore/fit_page.h"
#include "ui/layout/layout_view.h"
#include "ui/model/model_panel.h"
#include "ui/model/profile_menu.h"
#include "ui/window/main_window.h"
#include "ui/window/notice_strip.h"

#include <QBuffer>
#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>
#include <QMetaObject>

#include <filesystem>
#include <new>
#include <system_error>

#include "models/comparisons.h"

namespace app {

namespace {

/// A device map is text of a few KiB; anything near this is a wrong file.
constexpr qint64 kMaxMapBytes = 4 << 20;

engine::Error noMemory() {
    return {engine::ErrorCode::OutOfMemory,
            engine::said("the system has no memory left for making a plan; close other programs")};
}

} // namespace

PlannerWorker::PlannerWorker(engine::EngineOptions options, const std::atomic<quint64>* wanted)
    : wanted_(wanted), engine_(std::move(options)) {}

void PlannerWorker::plan(quint64 ticket,
                         const engine::LoadRequest& request,
                         const HeldBytes& held) {
    if (ticket < wanted_->load()) {
        return;
    }
    try {
        auto plan = engine_.plan(request, held);
        if (plan.has_value()) {
            Q_EMIT planned(ticket,
                           std::make_shared<const engine::PlacementPlan>(std::move(plan).value()));
        } else {
            Q_EMIT planFailed(ticket, plan.error());
        }
    } catch (const std::bad_alloc&) {
        Q_EMIT planFailed(ticket, noMemory());
    }
}

void PlannerWorker::planAlternative(quint64 ticket,
                                    const engine::LoadRequest& request,
                                    const HeldBytes& held) {
    try {
        if (auto plan = engine_.plan(request, held); plan.has_value()) {
            Q_EMIT alternativePlanned(
                ticket, std::make_shared<const engine::PlacementPlan>(std::move(plan).value()));
        }
    } catch (const std::bad_alloc&) {
        return; // there is no proposal then; the plan itself tells the lack of memory
    }
}

void PlannerWorker::planFit(quint64 ticket,
                            const engine::LoadRequest& request,
                            const HeldBytes& held) {
    try {
        const auto point = fitPoint(engine_, request, held);
        if (point.has_value()) {
            Q_EMIT fitPlanned(ticket, *point);
        } else {
            Q_EMIT fitFailed(ticket, point.error());
        }
    } catch (const std::bad_alloc&) {
        Q_EMIT fitFailed(ticket, noMemory());
    }
}

void PlannerWorker::readFitModel(quint64 ticket, const QString& model) {
    try {
        auto summary = engine_.readHeaders(model.toStdString());
        if (summary.has_value()) {
            Q_EMIT fitModelRead(
                ticket, std::make_shared<const engine::ModelSummary>(std::move(summary).value()));
        } else {
            Q_EMIT fitFailed(ticket, summary.error());
        }
    } catch (const std::bad_alloc&) {
        Q_EMIT fitFailed(ticket, noMemory());
    }
}

void PlannerWorker::readComparisons(const QString& model) {
    const auto all = models::readComparisons(comparisonsFile());
    Q_EMIT comparisonsRead(
        model, all ? models::comparisonsOf(engine::pathFromUtf8(model.toStdString()), *all)
                   : std::vector<engine::Comparison>());
}

void PlannerWorker::readProfile(const QString& file) {
    const auto text = app::readFile(file, kMaxMapBytes);
    auto profile = text.has_value() ? readProfileText(file, *text)
                                    : engine::Result<ui::LoadProfile>(text.error());
    if (profile.has_value()) {
        Q_EMIT profileRead(*profile);
    } else {
        Q_EMIT profileFailed(file, profile.error());
    }
}

void PlannerWorker::writeProfile(const QString& file, const ui::LoadProfile& profile) {
    const auto saved = saveFile(file, profileText(profile), engine::NoPlainFile::WriteInto);
    if (saved.has_value()) {
        Q_EMIT profileWritten(file);
    } else {
        Q_EMIT profileFailed(file, saved.error());
    }
}

void PlannerWorker::exportMap(quint64 ticket,
                              const engine::LoadRequest& request,
                              engine::MapExport::Kind kind) {
    try {
        auto text = engine_.exportMap(request, kind);
        if (text.has_value()) {
            Q_EMIT exported(ticket, *text);
        } else {
            Q_EMIT exportFailed(ticket, text.error());
        }
    } catch (const std::bad_alloc&) {
        Q_EMIT exportFailed(ticket, noMemory());
    }
}

void PlannerWorker::readMap(const QString& file) {
    const auto fail = [&](const engine::Sentence& why) {
        Q_EMIT mapReadFailed(file, {engine::ErrorCode::InvalidFile,
                                    engine::said("%1: %2", file.toStdString(), why)});
    };
    auto read = app::readFile(file, kMaxMapBytes);
    if (!read.has_value()) {
        Q_EMIT mapReadFailed(file, read.error());
        return;
    }
    QByteArray content = *std::move(read);
    if (content.startsWith("\xEF\xBB\xBF")) { // a byte order mark, as some editors write it
        content.remove(0, 3);
    }
    if (!content.trimmed().startsWith('{')) {
        fail(engine::said("does not begin with a JSON object; expected a device map in "
                          "accelerate's form or Belfry's version 1"));
        return;
    }
    Q_EMIT mapRead(file, QString::fromUtf8(content));
}

void PlannerWorker::writeText(const QString& file, const QString& text) {
    const auto saved = saveFile(file, text.toUtf8(), engine::NoPlainFile::WriteInto);
    if (!saved.has_value()) {
        Q_EMIT textWriteFailed(file, saved.error());
        return;
    }
    Q_EMIT textWritten(file);
}

void PlannerWorker::writePicture(const QString& file, const QImage& picture) {
    QByteArray png;
    QBuffer buffer(&png);
    buffer.open(QIODevice::WriteOnly);
    picture.save(&buffer, "PNG");
    const auto saved = saveFile(file, png, engine::NoPlainFile::WriteInto);
    if (!saved.has_value()) {
        Q_EMIT textWriteFailed(file, saved.error());
        return;
    }
    Q_EMIT textWritten(file);
}

void PlannerWorker::checkFolders(const QStringList& folders) {
    ui::FolderFactsByPath facts;
    for (const QString& folder : folders) {
        ui::FolderFacts found;
        if (!folder.startsWith(QStringLiteral("shape:"))) { // a name, no place
            const std::filesystem::path path =
                engine::pathFromUtf8(engine_.modelFolder(folder.toStdString()));
            std::error_code error;
            found.is_missing = std::filesystem::status(path, error).type() ==
                               std::filesystem::file_type::not_found;
            found.assistant =
                QString::fromStdString(engine::utf8Of(engine::assistantFolderOf(path)));
        }
        facts.insert(folder, found);
    }
    Q_EMIT foldersChecked(facts);
}

PlannerThread::PlannerThread(engine::EngineOptions options, QObject* parent)
    : QObject(parent), worker_(new PlannerWorker(std::move(options), &wanted_)) {
    worker_->moveToThread(&thread_);
    connect(&thread_, &QThread::finished, worker_, &QObject::deleteLater);
    thread_.setObjectName(QStringLiteral("planner"));
    thread_.start();
}

PlannerThread::~PlannerThread() {
    wanted_ = ~quint64{0}; // what is still queued is skipped
    thread_.quit();
    thread_.wait();
}

void PlannerThread::plan(quint64 ticket, const engine::LoadRequest& request) {
    QMetaObject::invokeMethod(worker_, [worker = worker_, ticket, request, held = held_] {
        worker->plan(ticket, request, held);
    });
}

void PlannerThread::planAlternative(quint64 ticket, const engine::LoadRequest& request) {
    QMetaObject::invokeMethod(worker_, [worker = worker_, ticket, request, held = held_] {
        worker->planAlternative(ticket, request, held);
    });
}

void PlannerThread::planFit(quint64 ticket, const engine::LoadRequest& request) {
    QMetaObject::invokeMethod(worker_, [worker = worker_, ticket, request, held = held_] {
        worker->planFit(ticket, request, held);
    });
}

void connectFit(ui::FitPage& page, PlannerThread& planner) {
    ui::FitPage* p = &page;
    PlannerWorker* worker = planner.worker();
    QObject::connect(p, &ui::FitPage::pointRequested, &planner, &PlannerThread::planFit);
    QObject::connect(p, &ui::FitPage::modelRequested, worker, &PlannerWorker::readFitModel);
    QObject::connect(p, &ui::FitPage::comparisonsRequested, worker,
                     &PlannerWorker::readComparisons);
    QObject::connect(worker, &PlannerWorker::fitPlanned, p, &ui::FitPage::showPoint);
    QObject::connect(worker, &PlannerWorker::fitModelRead, p, &ui::FitPage::showModel);
    QObject::connect(worker, &PlannerWorker::fitFailed, p, &ui::FitPage::showFailure);
    QObject::connect(worker, &PlannerWorker::comparisonsRead, p, &ui::FitPage::showComparisons);
}

void connectLoadForm(ui::MainWindow& window, PlannerThread& planner) {
    ui::MainWindow* w = &window;
    ui::ModelPanel* panel = window.modelPanel();
    ui::ProfileMenu* menu = panel->profileMenu();
    PlannerWorker* worker = planner.worker();
    QObject::connect(panel, &ui::ModelPanel::alternativeRequested, &planner,
                     &PlannerThread::planAlternative);
    QObject::connect(worker, &PlannerWorker::alternativePlanned, panel,
                     &ui::ModelPanel::showAlternative);
    QObject::connect(panel, &ui::ModelPanel::comparisonsRequested, worker,
                     &PlannerWorker::readComparisons);
    QObject::connect(worker, &PlannerWorker::comparisonsRead, panel,
                     &ui::ModelPanel::showComparisons);
    QObject::connect(menu, &ui::ProfileMenu::importRequested, worker, &PlannerWorker::readProfile);
    QObject::connect(menu, &ui::ProfileMenu::exportRequested, worker, &PlannerWorker::writeProfile);
    QObject::connect(worker, &PlannerWorker::profileRead, menu, &ui::ProfileMenu::keep);
    QObject::connect(worker, &PlannerWorker::profileRead, w, [w](const ui::LoadProfile& profile) {
        w->notice()->showPassing(
            QCoreApplication::translate("app::Profiles", "The profile %1 was imported")
                .arg(profile.name),
            {});
    });
    QObject::connect(worker, &PlannerWorker::profileWritten, w, [w](const QString& file) {
        w->notice()->showPassing(
            QCoreApplication::translate("app::Profiles", "The profile was exported"),
            QDir::toNativeSeparators(file));
    });
    QObject::connect(
        worker, &PlannerWorker::profileFailed, w,
        [w](const QString& /*file*/, const engine::Error& error) {
            w->notice()->showError(
                QCoreApplication::translate("app::Profiles", "The profile was not read or written"),
                error);
        });
}

void connectLayout(ui::LayoutView& view, PlannerThread& planner, EngineWorker& worker) {
    ui::LayoutView* v = &view;
    PlannerThread* thread = &planner;
    PlannerWorker* plans = planner.worker();
    using ui::LayoutView;
    QObject::connect(v, &LayoutView::planRequested, thread, &PlannerThread::plan);
    QObject::connect(v, &LayoutView::plansForgotten, thread, &PlannerThread::forgetBefore);
    QObject::connect(v, &LayoutView::exportRequested, plans, &PlannerWorker::exportMap);
    QObject::connect(v, &LayoutView::mapFileChosen, plans, &PlannerWorker::readMap);
    QObject::connect(v, &LayoutView::saveRequested, plans, &PlannerWorker::writeText);
    QObject::connect(v, &LayoutView::pictureSaveRequested, plans, &PlannerWorker::writePicture);
    QObject::connect(plans, &PlannerWorker::planned, v, &LayoutView::showPlan);
    QObject::connect(plans, &PlannerWorker::planFailed, v, &LayoutView::showPlanError);
    QObject::connect(plans, &PlannerWorker::exported, v, &LayoutView::showExport);
    QObject::connect(plans, &PlannerWorker::exportFailed, v, &LayoutView::showExportError);
    QObject::connect(plans, &PlannerWorker::mapRead, v, &LayoutView::showMapText);
    QObject::connect(plans, &PlannerWorker::mapReadFailed, v, &LayoutView::showMapFileError);
    QObject::connect(plans, &PlannerWorker::textWritten, v, &LayoutView::showSaved);
    QObject::connect(plans, &PlannerWorker::textWriteFailed, v, &LayoutView::showMapFileError);
    QObject::connect(&worker, &EngineWorker::mapFailed, v, &LayoutView::showApplyError);
    QObject::connect(&worker, &EngineWorker::loadFailed, v, &LayoutView::showApplyError);
    QObject::connect(&worker, &EngineWorker::snapshotChanged, thread,
                     [thread](const std::shared_ptr<const engine::EngineSnapshot>& snapshot) {
                         HeldBytes held;
                         for (const engine::DeviceMemory& device : snapshot->memory) {
                             held[device.id] = device.measured.total();
                         }
                         thread->setHeldBytes(std::move(held));
                     });
}

} // namespace app
