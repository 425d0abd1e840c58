// SPDX-License-Identifier: Apache-2.0
// What the window opens over itself: panels, dialogs, and the notice after a card was lost.
#include "engine/api/error_cause.h"
#include "engine/api/model_address.h"
#include "engine/api/placement.h"
#include "engine/api/server_launch.h"
#include "ui/chat/chat_view.h"
#include "ui/common/error_words.h"
#include "ui/common/issue_words.h"
#include "ui/common/shortcuts.h"
#include "ui/dialogs/about_dialog.h"
#include "ui/dialogs/computer_dialog.h"
#include "ui/dialogs/coverage_dialog.h"
#include "ui/dialogs/launch_dialog.h"
#include "ui/dialogs/log_buffer.h"
#include "ui/dialogs/server_dialog.h"
#include "ui/dialogs/serving_dialog.h"
#include "ui/dialogs/settings_dialog.h"
#include "ui/dialogs/shortcut_editor.h"
#include "ui/dialogs/shortcuts_dialog.h"
#include "ui/layout/layout_view.h"
#include "ui/library/get_page.h"
#include "ui/model/folder_words.h"
#include "ui/model/model_button.h"
#include "ui/model/model_panel.h"
#include "ui/model/profile_menu.h"
#include "ui/model/recent_models.h"
#include "ui/model/session.h"
#include "ui/style/format.h"
#include "ui/window/main_window.h"
#include "ui/window/notice_strip.h"
#include "ui/window/status_strip.h"

#include <QAbstractButton>
#include <QButtonGroup>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>

namespace ui {

namespace {

/// From here on a load is not thrown away by one key.
constexpr double kLongLoadS = 3.0;

} // namespace

void MainWindow::openModelPanel() {
    recent_->check(session_->model());
    model_panel_->openBelow(model_button_);
}

QFileDialog* MainWindow::folderDialog(const QString& title) {
    auto* dialog = new QFileDialog(this, title);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::Directory);
    dialog->setOption(QFileDialog::ShowDirsOnly);
    return dialog;
}

void MainWindow::chooseFolder() {
    QFileDialog* dialog = folderDialog(tr("Choose a Gemma 4 model folder"));
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& folder) {
        session_->chooseModel(folder);
        openModelPanel();
    });
    dialog->open();
}

void MainWindow::chooseFile() {
    auto* dialog = new QFileDialog(this, tr("Choose a model’s GGUF file"), QString(),
                                   tr("GGUF files (*.gguf);;All files (*)"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFile);
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& file) {
        session_->chooseModel(file);
        openModelPanel();
    });
    dialog->open();
}

void MainWindow::chooseAssistant() {
    QFileDialog* dialog = folderDialog(tr("Choose the folder of the drafting assistant"));
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& folder) {
        engine::LoadRequest options = session_->request();
        options.draft = QDir::cleanPath(folder).toStdString();
        session_->setOptions(options);
        openModelPanel();
    });
    dialog->open();
}

void MainWindow::openServers() {
    if (server_ != nullptr) {
        server_->raise();
        return;
    }
    server_ = new ServerDialog(servers_, this);
    server_->setAttribute(Qt::WA_DeleteOnClose);
    connect(server_, &ServerDialog::testRequested, this, &MainWindow::serverTestRequested);
    connect(server_, &ServerDialog::forgetKeyRequested, this, &MainWindow::serverKeyForgotten);
    connect(server_, &ServerDialog::connectRequested, this, &MainWindow::serverConnectRequested);
    model_panel_->closeFlyout();
    server_->open();
    Q_EMIT serversOpened();
}

void MainWindow::showKeyPlace(KeyPlace place) {
    if (server_ != nullptr) {
        server_->showKeyPlace(place);
    }
}

void MainWindow::showServerState(const ServerState& state) {
    status_->showServerState(state);
    chat_->showServerState(state);
    model_panel_->showServerState(state);
}

void MainWindow::showServerAnswer(const ServerAnswer& answer) {
    if (server_ != nullptr) {
        server_->showAnswer(answer);
    }
}

void MainWindow::showServerProblem(const ServerProblem& problem) {
    if (server_ != nullptr) {
        server_->showProblem(problem);
    }
}

std::vector<std::string> MainWindow::serverModels() const {
    for (int row = 0; row < recent_->rowCount(); ++row) {
        const std::string model =
            recent_->index(row).data(RecentModels::FolderRole).toString().toStdString();
        if (engine::isServerModel(model)) {
            return {model};
        }
    }
    return {};
}

void MainWindow::openServerLaunch() {
    const auto plan = layout_->stagedPlan();
    const auto summary = session_->summary();
    if (launch_ != nullptr || plan == nullptr || summary == nullptr) {
        return;
    }
    launch_ = new LaunchDialog(this);
    launch_->setAttribute(Qt::WA_DeleteOnClose);
    const auto ask = [this, plan, summary](const engine::ServerCards& cards) {
        engine::LoadRequest request = layout_->stagedRequest();
        request.adapters = session_->request().adapters; // strengths need no new plan
        Q_EMIT serverLaunchRequested(request, summary, plan, cards);
    };
    connect(launch_, &LaunchDialog::cardsChosen, this, ask);
    ask({});
    launch_->open();
}

void MainWindow::showServerLaunch(const engine::ServerLaunch& launch) {
    if (launch_ != nullptr) {
        launch_->showLaunch(launch);
    }
}

void MainWindow::locateFolder(const QString& folder) {
    QFileDialog* dialog = folderDialog(tr("Where is %1 now?").arg(QFileInfo(folder).fileName()));
    connect(dialog, &QFileDialog::fileSelected, this, [this, folder](const QString& now) {
        recent_->replace(folder, now);
        session_->chooseModel(now);
        openModelPanel();
    });
    dialog->open();
}

void MainWindow::chooseAdapter() {
    auto* dialog = new QFileDialog(
        this, tr("Choose an adapter: a GGUF file, or the adapter_config.json of a PEFT folder"),
        QString(), tr("Adapters (adapter_config.json *.gguf)"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFile);
    connect(dialog, &QFileDialog::fileSelected, session_, [this](const QString& file) {
        const bool is_gguf = file.endsWith(QStringLiteral(".gguf"), Qt::CaseInsensitive);
        session_->addAdapter(is_gguf ? file : QFileInfo(file).path());
    });
    dialog->open();
}

void MainWindow::connectProfiles() {
    ProfileMenu* menu = model_panel_->profileMenu();
    connect(menu, &ProfileMenu::saveRequested, this, [this, menu](const QString& name) {
        engine::LoadRequest load = session_->request();
        load.adapters = session_->adapters();
        menu->keep({name, std::move(load), chat_->chat().sampling});
        notice_->showPassing(tr("The profile %1 was saved").arg(name), {});
    });
    connect(menu, &ProfileMenu::chosen, this, [this](const LoadProfile& profile) {
        engine::LoadRequest options = profile.load;
        options.threads = session_->request().threads;
        options.cache_folder = session_->request().cache_folder;
        session_->setOptions(options);
        chat_->setSampling(profile.sampling);
        if (session_->setAdapters(profile.load.adapters)) {
            notice_->showPassing(tr("The profile %1 is chosen").arg(profile.name),
                                 tr("Load makes it true."));
        } else {
            notice_->showNotice(
                tr("The adapters of the profile %1 were not added").arg(profile.name),
                tr("Another model is loaded than the one that is chosen. Load it, "
                   "then choose the profile again."));
        }
    });
}

void MainWindow::openCoverage(int index) {
    if (index < 0 || index >= static_cast<int>(session_->adapters().size())) {
        return;
    }
    const engine::AdapterSummary* coverage =
        session_->coverage(session_->adapters()[static_cast<size_t>(index)].folder);
    if (coverage == nullptr) {
        return;
    }
    auto* dialog = new CoverageDialog(*coverage, session_->modelName(), this);
    const QString folder = fromUtf8(coverage->folder);
    const auto set_ready = [this, dialog] {
        // Another folder may be chosen than the one that is loaded.
        dialog->setReady(session_->state() == Session::State::Ready &&
                         session_->loadedModel() == session_->model());
    };
    set_ready();
    connect(session_, &Session::changed, dialog, set_ready);
    connect(dialog, &CoverageDialog::effectRequested, session_,
            [this, folder] { session_->measureEffect(folder); });
    connect(session_, &Session::effectMeasured, dialog,
            [dialog, folder](const QString& of, const engine::AdapterSummary::Effect& effect) {
                if (of == folder) {
                    dialog->showEffect(effect);
                }
            });
    connect(session_, &Session::effectFailed, dialog,
            [dialog, folder](const QString& of, const engine::Error& error) {
                if (of == folder) {
                    dialog->showEffectError(error);
                }
            });
    dialog->open();
}

void MainWindow::stopLoading() {
    const bool is_load = session_->state() == Session::State::Loading;
    const QString name = Session::nameOf(session_->shownModel());
    if (session_->jobSeconds() >= kLongLoadS) {
        asked_stop_ = is_load ? tr("%1 is being loaded").arg(name) : tr("Parts are being moved");
        notice_->showAction(
            asked_stop_, tr("It goes on. Should it stop? What was there before stays."),
            is_load ? tr("Stop loading") : tr("Stop moving"), [this] { session_->cancel(); });
        notice_->keep();
        return;
    }
    session_->cancel();
    notice_->showAction(is_load ? tr("Loading of %1 was stopped").arg(name)
                                : tr("Moving was stopped"),
                        tr("By the Esc key."), tr("Resume"), [this] { session_->resume(); });
}

void MainWindow::showWaitingChanges(int count) {
    waiting_mark_->setVisible(count > 0);
    QAbstractButton* tab = tabs_->button(static_cast<int>(Tab::Layout));
    const QString text = tab->text().remove(QLatin1Char('&'));
    const QString waiting =
        count == 1 ? tr("1 change waits for Apply") : tr("%1 changes wait for Apply").arg(count);
    // accessibleName() is what the tab is called: fitTabs() measures it.
    tab->setAccessibleDescription(count > 0 ? waiting : QString());
    setKeyToolTip(tab, count > 0 ? tr("%1: %2").arg(text, waiting) : text,
                  QStringLiteral("showLayout"));
}

void MainWindow::showFailure(const QString& what, const engine::Error& error) {
    if (session_->needsRestart() && !session_->isLoaded()) {
        offerRestart(what, errorSentence(error), false);
        return;
    }
    if (error.cause != nullptr && engine::isRefusedByEstimate(error.cause->errors)) {
        notice_->showAction(
            what, errorSentence(error) + QLatin1Char('\n') + loadAnywayWords(), tr("Load anyway"),
            [this, wanted = session_->askedRequest()] { session_->loadAnyway(wanted); },
            NoticeStrip::Kind::Error);
        notice_->offerAlso(tr("Options…"), [this] { openModelPanel(); });
        notice_->keep();
        return;
    }
    const QString plain = adapterProblem(error);
    plain.isEmpty() ? notice_->showError(what, error)
                    : notice_->showFolded(what, plain, errorSentence(error));
    notice_->keep(); // nothing runs until the user has done something about it
}

void MainWindow::showDeviceLost(const engine::Error& error, bool was_reloading) {
    const QString detail = errorSentence(error);
    if (!session_->needsRestart() && !was_reloading) {
        notice_->showAction(
            tr("The graphics card stopped answering"),
            detail + QLatin1Char('\n') +
                tr("Loading again starts the engine anew; every part goes where it was, and the "
                   "chat stays."),
            tr("Load again"), [this] { session_->loadAgain(); }, NoticeStrip::Kind::Error);
        notice_->keep();
        return;
    }
    offerRestart(was_reloading ? tr("The graphics card still does not answer")
                               : tr("The graphics card stopped answering"),
                 detail, !session_->isCpuStandingIn());
}

void MainWindow::offerRestart(const QString& what, const QString& detail, bool offers_cpu) {
    notice_->showAction(
        what,
        detail + QLatin1Char('\n') +
            tr("Your chats are saved, also what there is of the reply. After a restart Belfry is "
               "where you are now: this chat, the same model, layout and adapters."),
        tr("Restart Belfry"), [this] { Q_EMIT restartRequested(); }, NoticeStrip::Kind::Error);
    notice_->keep();
    if (offers_cpu) {
        notice_->offerAlso(tr("Go on on the processor"), [this] { session_->loadOnCpu(); });
    }
}

void MainWindow::showStandIn() {
    if (session_->isCpuStandingIn()) {
        notice_->showAction(
            tr("Everything runs on the processor for now"),
            tr("The graphics card is there again after a restart, with everything where it was."),
            tr("Restart Belfry"), [this] { Q_EMIT restartRequested(); });
        notice_->keep();
    }
}

void MainWindow::openSettings() {
    auto* dialog = new SettingsDialog(setup_.settings, models_->get()->network(),
                                      setup_.facts.data_folder, setup_.facts.cache_folder, this);
    connect(dialog, &SettingsDialog::settingsEdited, this, [this](Settings settings) {
        // The page edits a copy; these lists have editors of their own.
        settings.shortcuts = setup_.settings.shortcuts;
        settings.recent_models = setup_.settings.recent_models;
        settings.guide_cards = setup_.settings.guide_cards;
        setSettings(settings);
    });
    connect(dialog, &SettingsDialog::shortcutsRequested, this, &MainWindow::openShortcutEditor);
    dialog->open();
}

void MainWindow::openDiagnostics() {
    if (setup_.log != nullptr) {
        (new DiagnosticsDialog(setup_.facts, session_, setup_.log, this))->open();
    }
}

void MainWindow::openServing() {
    if (serving_ == nullptr) {
        serving_ = new ServingDialog(this);
        connect(serving_, &ServingDialog::switched, this, &MainWindow::servingSwitched);
    }
    serving_->showState(serving_state_);
    serving_->open();
}

void MainWindow::showServing(const ServingState& state) {
    serving_state_ = state;
    status_->showServing(state);
    if (serving_ != nullptr) {
        serving_->showState(state);
    }
}

void MainWindow::openComputer() {
    if (computer_ == nullptr) {
        computer_ = new ComputerDialog(this);
        connect(computer_, &ComputerDialog::refreshRequested, this, &MainWindow::computerRequested);
    }
    computer_->open();
    Q_EMIT computerRequested();
}

void MainWindow::showComputer(const std::vector<engine::ComputerSection>& sections,
                              const QString& text) {
    if (computer_ != nullptr) {
        computer_->showFacts(sections, text);
    }
}

void MainWindow::openAbout() {
    (new AboutDialog(setup_.facts, this))->open();
}

void MainWindow::openShortcuts() {
    auto* dialog = new ShortcutsDialog(this);
    connect(dialog, &ShortcutsDialog::changeRequested, this, &MainWindow::openShortcutEditor);
    dialog->open();
}

void MainWindow::openShortcutEditor() {
    auto* editor = new ShortcutEditor(this);
    connect(editor, &ShortcutEditor::keysEdited, this, [this](const ShortcutKeys& keys) {
        setup_.settings.shortcuts = keys;
        applyShortcuts();
        Q_EMIT settingsEdited(setup_.settings);
    });
    editor->open();
}

} // namespace ui
