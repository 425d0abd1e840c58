// SPDX-License-Identifier: Apache-2.0
// Library and Get a model in place of chat and layout: how they come up, and where their wishes go.
#include "ui/chat/chat_view.h"
#include "ui/common/error_words.h"
#include "ui/library/downloads_panel.h"
#include "ui/library/get_page.h"
#include "ui/library/library_page.h"
#include "ui/model/model_panel.h"
#include "ui/model/session.h"
#include "ui/window/main_window.h"
#include "ui/window/notice_strip.h"
#include "ui/window/unusable_page.h"
#include "ui/window/welcome_page.h"

#include <QDir>
#include <QFileDialog>
#include <QSplitter>
#include <QStackedWidget>

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
