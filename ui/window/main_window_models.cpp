// SPDX-License-Identifier: Apache-2.0
// Library, Get a model and What fits in place of chat and layout: how they come up, and where their
// wishes go.
#include "ui/chat/chat_view.h"
#include "ui/common/error_words.h"
#include "ui/explore/fit_page.h"
#include "ui/layout/layout_view.h"
#include "ui/library/downloads_panel.h"
#include "ui/library/get_page.h"
#include "ui/library/library_page.h"
#include "ui/model/model_panel.h"
#include "ui/model/recent_models.h"
#include "ui/model/session.h"
#include "ui/style/format.h"
#include "ui/window/main_window.h"
#include "ui/window/notice_strip.h"
#include "ui/window/unusable_page.h"
#include "ui/window/welcome_page.h"

#include <QDir>
#include <QFileDialog>
#include <QSplitter>
#include <QStackedWidget>

#include <utility>

namespace ui {

void MainWindow::showModels(ModelsPage::Page page) {
    model_panel_->hide();
    notice_->leaveView();
    models_->setPage(page);
    body_->setCurrentWidget(models_);
    models_->setPage(page); // once more, shown: the library looks when it never did
    models_->setFocus(Qt::OtherFocusReason);
    showPrediction();
    place_timer_.start();
}

void MainWindow::closeModels() {
    if (body_->currentWidget() == models_) {
        notice_->leaveView();
        body_->setCurrentWidget(splitter_);
        showPrediction();
        fitPanes();
        place_timer_.start();
        focusPane();
    }
}

bool MainWindow::areModelsShown() const {
    return body_->currentWidget() == models_;
}

void MainWindow::loadFound(const QString& path) {
    closeModels();
    session_->chooseAndLoad(path, models_->library()->projectorOf(path));
}

void MainWindow::addFoundAdapter(const QString& path) {
    closeModels();
    session_->addAdapter(path);
}

void MainWindow::connectModels() {
    connect(models_, &ModelsPage::backRequested, this, &MainWindow::closeModels);
    LibraryPage* library = models_->library();
    connect(library, &LibraryPage::loadRequested, this, &MainWindow::loadFound);
    connect(library, &LibraryPage::adapterRequested, this, &MainWindow::addFoundAdapter);
    connect(library, &LibraryPage::optionsRequested, this, [this](const QString& path) {
        closeModels();
        session_->chooseModel(path, models_->library()->projectorOf(path));
        openModelPanel();
    });
    connect(library, &LibraryPage::folderDialogRequested, this, [this, library] {
        QFileDialog* dialog = folderDialog(tr("A folder in which models are"));
        connect(dialog, &QFileDialog::fileSelected, library, &LibraryPage::folderAdded);
        dialog->open();
    });
    connect(library, &LibraryPage::getRequested, this, [this](const QString& id) {
        if (!id.isEmpty()) {
            models_->get()->lookAt(id);
        }
        showModels(ModelsPage::Page::Get);
    });
    connect(library, &LibraryPage::adaptersWanted, this, [this](const QString& id) {
        models_->get()->prepareAdapters(id);
        showModels(ModelsPage::Page::Get);
    });
    const auto tell_loaded = [this, library] { library->setLoaded(session_->loadedModel()); };
    connect(session_, &Session::changed, library, tell_loaded);
    GetPage* get = models_->get();
    connect(get, &GetPage::loadRequested, this, &MainWindow::loadFound);
    connect(get, &GetPage::settingsRequested, this, &MainWindow::openSettings);
    connect(get->downloads(), &DownloadsPanel::loadRequested, this, &MainWindow::loadFound);
    connect(get->downloads(), &DownloadsPanel::adapterRequested, this,
            &MainWindow::addFoundAdapter);
    connect(welcome_, &WelcomePage::getRequested, this,
            [this] { showModels(ModelsPage::Page::Get); });
    connect(unusable_, &UnusablePage::getRequested, this,
            [this] { showModels(ModelsPage::Page::Get); });
    connect(welcome_, &WelcomePage::libraryRequested, this,
            [this] { showModels(ModelsPage::Page::Library); });
    connect(model_panel_, &ModelPanel::libraryRequested, this,
            [this] { showModels(ModelsPage::Page::Library); });
}

void MainWindow::showFit() {
    fit_->setModels(session_->request(), recent_->folders());
    showModels(ModelsPage::Page::Fit);
}

void MainWindow::takeFit(const FitChoice& choice) {
    closeModels();
    const QString model = fromUtf8(choice.request.model);
    if (model != session_->model()) {
        session_->chooseModel(model, fromUtf8(choice.request.projector));
    }
    session_->setOptions(choice.request);
    if (choice.computer.name.isEmpty()) {
        openModelPanel();
        return;
    }
    setTab(Tab::Layout);
    looks_at_ = choice.computer;
    lookAtWaiting();
}

void MainWindow::lookAtWaiting() {
    // What is read of the model begins the layout anew: before that it would be left again.
    const bool is_planned = session_->summary() != nullptr && layout_->planHere() != nullptr &&
                            layout_->stagedRequest().model == session_->model().toStdString();
    if (is_planned && looks_at_.has_value()) {
        layout_->lookAt(*std::exchange(looks_at_, std::nullopt));
    }
}

void MainWindow::connectFit() {
    connect(models_, &ModelsPage::fitOpened, this, &MainWindow::showFit);
    connect(fit_, &FitPage::planChosen, this, &MainWindow::takeFit);
    connect(fit_, &FitPage::told, this,
            [this](const QString& words) { notice_->showPassing(words, {}); });
    connect(fit_, &FitPage::offerChosen, this,
            [this](const FitChoice& choice, const QString& folder) {
                session_->rememberFor(folder, choice.request);
                showModels(ModelsPage::Page::Get);
                notice_->showPassing(tr("Kept for when it is here: %1, %2 tokens")
                                         .arg(quantName(fromUtf8(choice.request.quant)),
                                              formatCount(choice.request.context)),
                                     {});
            });
    connect(layout_, &LayoutView::drawingRequested, this, &MainWindow::showFit);
    connect(layout_, &LayoutView::stagedPlanChanged, this, &MainWindow::lookAtWaiting,
            Qt::QueuedConnection);
    connect(session_, &Session::changed, this, &MainWindow::lookAtWaiting, Qt::QueuedConnection);
    connect(session_, &Session::modelChosen, this, [this] { looks_at_.reset(); });
    const auto open = [this](auto select) {
        return [this, select](const auto& of) {
            fit_->setModels(session_->request(), recent_->folders());
            (fit_->*select)(of);
            showModels(ModelsPage::Page::Fit);
        };
    };
    connect(models_->get(), &GetPage::drawingRequested, this, open(&FitPage::selectModel));
    connect(models_->get(), &GetPage::drawingOfOfferRequested, this, open(&FitPage::selectOffer));
}

void MainWindow::tellDownloaded(const QString& id, const QString& folder, bool is_adapter) {
    if (areModelsShown() && models_->page() == ModelsPage::Page::Get) {
        return; // its row says so
    }
    notice_->showAction(
        tr("%1 is here, whole and checked").arg(id), QDir::toNativeSeparators(folder),
        is_adapter ? tr("Add to the model") : tr("Load"),
        [this, folder, is_adapter] { is_adapter ? addFoundAdapter(folder) : loadFound(folder); });
    notice_->keep();
}

} // namespace ui
