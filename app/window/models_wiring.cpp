// SPDX-License-Identifier: Apache-2.0
#include "app/window/models_wiring.h"

#include "app/window/hub_thread.h"
#include "app/window/library_thread.h"
#include "app/window/planner_thread.h"
#include "ui/common/error_words.h"
#include "ui/library/downloads_panel.h"
#include "ui/library/get_page.h"
#include "ui/library/library_page.h"
#include "ui/model/recent_models.h"
#include "ui/window/main_window.h"

#include <QDesktopServices>
#include <QFileInfo>
#include <QMetaObject>
#include <QUrl>

namespace app {

namespace {

HubSettings hubSettings(const ui::Settings& settings) {
    return {settings.hub_endpoint, settings.uses_network, settings.proxy};
}

} // namespace

void connectLibrary(ui::MainWindow& window, LibraryThread& library) {
    ui::MainWindow* w = &window;
    ui::LibraryPage* page = window.modelsPage()->library();
    LibraryWorker* worker = library.worker();
    const auto with_worker = [worker](auto method) {
        return [worker, method](const auto&... arguments) {
            QMetaObject::invokeMethod(
                worker, [worker, method, arguments...] { (worker->*method)(arguments...); });
        };
    };
    const auto scan = [w, worker] {
        QMetaObject::invokeMethod(
            worker, [worker, recent = w->recentModels()->folders()] { worker->scan(recent); });
    };
    using ui::LibraryPage;
    QObject::connect(page, &LibraryPage::scanRequested, page, [page, scan] {
        page->showProblem({});
        scan();
    });
    QObject::connect(page, &LibraryPage::cancelRequested, worker, &LibraryWorker::cancel);
    QObject::connect(page, &LibraryPage::removalRequested, worker, &LibraryWorker::planRemoval);
    QObject::connect(page, &LibraryPage::removeRequested, worker,
                     [worker](const ui::LibraryRemoval& removal) { worker->remove(removal.path); });
    QObject::connect(page, &LibraryPage::folderAdded, page, with_worker(&LibraryWorker::addFolder));
    QObject::connect(page, &LibraryPage::folderRemoved, page,
                     with_worker(&LibraryWorker::removeFolder));
    QObject::connect(page, &LibraryPage::showRequested, page, [](const QString& path) {
        const QFileInfo info(path);
        QDesktopServices::openUrl(
            QUrl::fromLocalFile(info.isFile() ? info.path() : info.filePath()));
    });
    QObject::connect(worker, &LibraryWorker::contentsChanged, page, &LibraryPage::showContents);
    QObject::connect(worker, &LibraryWorker::scanningChanged, page, &LibraryPage::setScanning);
    QObject::connect(worker, &LibraryWorker::removalPlanned, page, &LibraryPage::showRemoval);
    QObject::connect(worker, &LibraryWorker::removed, page,
                     [w](const QString& path) { w->recentModels()->forget(path); });
    QObject::connect(worker, &LibraryWorker::failed, page, [page](const engine::Error& error) {
        page->showProblem(ui::errorSentence(error));
    });
}

void connectHub(ui::MainWindow& window,
                HubThread& hub,
                PlannerThread& planner,
                LibraryThread& library) {
    ui::MainWindow* w = &window;
    ui::GetPage* page = window.modelsPage()->get();
    HubThread* thread = &hub;
    HubWorker* worker = hub.worker();
    HubQueueWorker* queue = hub.queue();
    using ui::DownloadsPanel;
    using ui::GetPage;
    QObject::connect(page, &GetPage::searchRequested, thread, &HubThread::search);
    QObject::connect(page, &GetPage::moreRequested, thread, &HubThread::searchOn);
    QObject::connect(page, &GetPage::lookRequested, thread, &HubThread::look);
    QObject::connect(page, &GetPage::stopRequested, thread, &HubThread::stop);
    QObject::connect(page, &GetPage::tokenEntered, worker, &HubWorker::setToken);
    QObject::connect(page, &GetPage::tokenFactsRequested, worker, &HubWorker::tellToken);
    QObject::connect(page, &GetPage::downloadRequested, queue, &HubQueueWorker::begin);
    QObject::connect(page, &GetPage::planRequested, &planner, &PlannerThread::planAlternative);
    QObject::connect(page, &GetPage::pageRequested, page,
                     [](const QString& address) { QDesktopServices::openUrl(QUrl(address)); });
    QObject::connect(planner.worker(), &PlannerWorker::alternativePlanned, page,
                     &GetPage::showPlan);
    QObject::connect(worker, &HubWorker::found, page, &GetPage::showFound);
    QObject::connect(worker, &HubWorker::searchFailed, page, &GetPage::showSearchError);
    QObject::connect(worker, &HubWorker::offered, page, &GetPage::showOffer);
    QObject::connect(worker, &HubWorker::offerFailed, page, &GetPage::showOfferError);
    QObject::connect(worker, &HubWorker::networkChanged, page, &GetPage::setNetwork);
    const auto show_problem = [page](const engine::Error& error) {
        page->showProblem(ui::errorSentence(error));
    };
    QObject::connect(worker, &HubWorker::failed, page, show_problem);
    QObject::connect(queue, &HubQueueWorker::failed, page, show_problem);

    DownloadsPanel* downloads = page->downloads();
    QObject::connect(downloads, &DownloadsPanel::pauseRequested, queue, &HubQueueWorker::pause);
    QObject::connect(downloads, &DownloadsPanel::resumeRequested, queue, &HubQueueWorker::resume);
    QObject::connect(downloads, &DownloadsPanel::cancelRequested, queue, &HubQueueWorker::cancel);
    QObject::connect(downloads, &DownloadsPanel::clearRequested, queue, &HubQueueWorker::clear);
    QObject::connect(queue, &HubQueueWorker::downloadsChanged, page, &GetPage::showDownloads);
    LibraryWorker* files = library.worker();
    QObject::connect(
        queue, &HubQueueWorker::done, w,
        [w, files](const QString& id, const QString& folder, bool is_adapter) {
            w->tellDownloaded(id, folder, is_adapter);
            if (w->modelsPage()->library()->wasFilled()) {
                QMetaObject::invokeMethod(
                    files, [files, recent = w->recentModels()->folders()] { files->scan(recent); });
            }
        });
    QObject::connect(
        w, &ui::MainWindow::settingsEdited, thread,
        [thread](const ui::Settings& settings) { thread->setSettings(hubSettings(settings)); });
    hub.setSettings(hubSettings(window.settings()));
}

} // namespace app
