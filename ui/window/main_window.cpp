// SPDX-License-Identifier: Apache-2.0
#include "ui/window/main_window.h"

#include "engine/api/load_request.h"
#include "engine/api/model_address.h"
#include "ui/chat/chat_request.h"
#include "ui/chat/chat_view.h"
#include "ui/common/error_words.h"
#include "ui/common/shortcuts.h"
#include "ui/compare/compare_pane.h"
#include "ui/dialogs/log_buffer.h"
#include "ui/explore/fit_page.h"
#include "ui/history/history_pane.h"
#include "ui/layout/layout_view.h"
#include "ui/meter/memory_meter.h"
#include "ui/model/adapter_bar.h"
#include "ui/model/chosen_chip.h"
#include "ui/model/folder_words.h"
#include "ui/model/model_button.h"
#include "ui/model/model_panel.h"
#include "ui/model/recent_models.h"
#include "ui/model/session.h"
#include "ui/style/format.h"
#include "ui/style/motion.h"
#include "ui/style/page_stack.h"
#include "ui/style/theme.h"
#include "ui/style/usual_widgets.h"
#include "ui/window/drop_overlay.h"
#include "ui/window/notice_strip.h"
#include "ui/window/status_strip.h"
#include "ui/window/tab_mark.h"
#include "ui/window/unusable_page.h"
#include "ui/window/welcome_page.h"

#include <QAbstractButton>
#include <QAction>
#include <QApplication>
#include <QButtonGroup>
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QFile>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QMenu>
#include <QMimeData>
#include <QPushButton>
#include <QShortcut>
#include <QSplitter>
#include <QStackedWidget>
#include <QUrl>
#include <QVBoxLayout>

#include <algorithm>
#include <functional>
#include <map>
#include <string_view>
#include <utility>

namespace ui {

namespace {

constexpr int kSideWidth = 224;
constexpr int kMeterWidth = 296;
constexpr int kLeastSideWidth = 180; ///< At the usual text size.

QFrame* line(QFrame::Shape shape, QWidget* parent) {
    auto* frame = new QFrame(parent);
    frame->setFrameShape(shape);
    frame->setFixedSize(shape == QFrame::HLine ? QSize(QWIDGETSIZE_MAX, 1)
                                               : QSize(1, QWIDGETSIZE_MAX));
    frame->setSizePolicy(shape == QFrame::HLine ? QSizePolicy::Expanding : QSizePolicy::Fixed,
                         shape == QFrame::HLine ? QSizePolicy::Fixed : QSizePolicy::Expanding);
    return frame;
}

/// A PEFT folder or a GGUF file.
bool isAdapter(const QString& path) {
    if (!QFileInfo(path).isFile()) {
        return QFileInfo::exists(path + QStringLiteral("/adapter_config.json"));
    }
    const std::string_view mark = engine::kGgufAdapterMark;
    QFile file(path);
    return path.endsWith(QStringLiteral(".gguf"), Qt::CaseInsensitive) &&
           file.open(QIODevice::ReadOnly) &&
           file.read(engine::kGgufMarkBytes)
               .contains(QByteArray(mark.data(), static_cast<qsizetype>(mark.size())));
}

/// Named as weights of a model are, ours or another program's: told apart when it is chosen.
bool isModelFile(const QString& path) {
    const QString name = QFileInfo(path).fileName().toLower();
    for (const char* suffix : {".gguf", ".safetensors", ".safetensors.index.json", ".bin", ".pt",
                               ".pth", ".ckpt", ".onnx", ".litertlm", ".task", ".tflite"}) {
        if (name.endsWith(QLatin1String(suffix))) {
            return true;
        }
    }
    return name == QStringLiteral("config.json");
}

} // namespace

MainWindow::MainWindow(const WindowSetup& setup, QWidget* parent)
    : QMainWindow(parent), setup_(setup), session_(new Session(this)),
      recent_(new RecentModels(this)) {
    setObjectName(QStringLiteral("mainWindow"));
    setShortcutKeys(setup_.settings.shortcuts);
    setWindowTitle(tr("Belfry"));
    setWindowIcon(icon(QStringLiteral("belfry")));
    setAcceptDrops(true);
    resize(1280, 800);
    auto* central = new QWidget(this);
    auto* column = columnIn(central, {0, 0, 0, 0}, 0);
    setCentralWidget(central);
    auto* bar = new QWidget(central);
    setArea(bar, Area::Surface);
    buildTopBar(bar);
    column->addWidget(bar);
    column->addWidget(line(QFrame::HLine, central));
    body_ = new PageStack(central);
    splitter_ = named("mainSplitter", new QSplitter(Qt::Horizontal, body_));
    splitter_->setChildrenCollapsible(false);
    splitter_->addWidget(buildSide());
    splitter_->addWidget(buildCentre());
    meter_ = named("memoryMeter", new MemoryMeter(splitter_));
    meter_side_ = meter_;
    splitter_->addWidget(meter_);
    splitter_->setStretchFactor(1, 1);
    splitter_->setSizes({kSideWidth, 1280 - kSideWidth - kMeterWidth, kMeterWidth});
    body_->addWidget(splitter_);
    models_ = new ModelsPage(body_);
    fit_ = new FitPage(models_);
    models_->setFit(fit_);
    body_->addWidget(models_);
    column->addWidget(body_, 1);
    notice_ = new NoticeStrip(central);
    model_panel_ = new ModelPanel(session_, recent_, setup_.has_demo_model, this);
    overlay_ = new DropOverlay(this);
    recent_->setFolders(setup_.settings.recent_models);
    engine::LoadRequest options = session_->request();
    options.device_map = setup_.settings.device_map.toStdString();
    options.quant = setup_.settings.quant.toStdString();
    options.context = setup_.settings.context;
    options.threads = setup_.settings.threads;
    if (setup_.settings.uses_cache) {
        options.cache_folder = setup_.facts.cache_folder.toStdString();
    }
    session_->setOptions(options);
    buildActions();
    connectPages();
    connectNotice();
    connectSession();
    connectChat();
    connectHistory();
    connectProfiles();
    connectModels();
    connectFit();
    connectAgain();
    connectGuide();
    refresh();
    setTab(Tab::Chat);
}

MainWindow::~MainWindow() = default;

void MainWindow::buildTopBar(QWidget* bar) {
    auto* row = rowIn(bar, {Theme::kPadding, 8, Theme::kPadding, 8}, Theme::kGap);
    model_button_ = new ModelButton(session_, bar);
    chosen_chip_ = new ChosenChip(session_, bar);
    adapter_bar_ = new AdapterBar(session_, bar);
    QSizePolicy keeps_room = adapter_bar_->sizePolicy();
    keeps_room.setRetainSizeWhenHidden(true); // what stands right of it stays there
    adapter_bar_->setSizePolicy(keeps_room);
    status_ = new StatusStrip(session_, bar);
    menu_button_ = pushButton("menuButton", QString(), bar, "settings", ButtonKind::Flat);
    setIconButton(menu_button_, 16, Theme::kControlHeight);
    menu_button_->setAccessibleName(tr("Settings and help"));
    menu_button_->setToolTip(tr("Settings and help"));
    row->addWidget(model_button_);
    row->addWidget(chosen_chip_);
    row->addWidget(adapter_bar_, 1);
    row->addWidget(status_);
    row->addWidget(menu_button_);
}

QWidget* MainWindow::buildSide() {
    history_ = named("historyPane", new HistoryPane(splitter_));
    const auto fit = [this] {
        history_->setMinimumWidth(kLeastSideWidth * textZoom() / 100);
        fitPanes();
    };
    history_->setMinimumWidth(kLeastSideWidth * textZoom() / 100);
    connect(&ThemeNotifier::instance(), &ThemeNotifier::changed, this, fit, Qt::QueuedConnection);
    connect(history_, &HistoryPane::newChatRequested, this, &MainWindow::newChatRequested);
    side_ = history_;
    return side_;
}

QWidget* MainWindow::buildCentre() {
    auto* centre = new QWidget(splitter_);
    setArea(centre, Area::Window);
    auto* column = columnIn(centre, {0, 0, 0, 0}, 0);

    tab_bar_ = new QWidget(centre);
    // Narrower than its contents: fitTabs() then makes two rows of it.
    tab_bar_->setMinimumWidth(320);
    auto* rows = columnIn(tab_bar_, {0, 0, 0, 0}, 0);
    tab_row_ = new QHBoxLayout;
    tab_row_->setSpacing(4);
    tab_row_->addStrut(Theme::kControlHeight + 8); // as high without the chat's header as with it
    header_row_ = new QHBoxLayout;
    for (QHBoxLayout* row : {tab_row_, header_row_}) {
        row->setContentsMargins(Theme::kPadding, 6, Theme::kPadding, 6);
    }
    // The line stays at its place when the chat's header is in a row of its own, below it.
    QFrame* tabs_line = line(QFrame::HLine, tab_bar_);
    tabs_line->setObjectName(QStringLiteral("tabsLine"));
    rows->addLayout(tab_row_);
    rows->addWidget(tabs_line);
    rows->addLayout(header_row_);
    // Where the list of chats has given way, the way back to it.
    side_button_ = pushButton("showSideButton", QString(), tab_bar_, "sidebar");
    side_button_->setAccessibleName(tr("Show the list of chats"));
    setKeyToolTip(side_button_, side_button_->accessibleName(), QStringLiteral("toggleSidebar"));
    setIconButton(side_button_, 16, Theme::kControlHeight);
    setButtonKind(side_button_, ButtonKind::Flat);
    side_button_->hide();
    tab_row_->addWidget(side_button_);
    connect(side_button_, &QPushButton::clicked, this, [this] { togglePane(side_pane_, side_); });
    tabs_ = new QButtonGroup(this);
    const auto add_tab = [&](Tab tab, const QString& text, const QString& icon_name,
                             const QString& object_name, const QString& action) {
        auto* button = new QPushButton(text, tab_bar_);
        button->setObjectName(object_name);
        button->setCheckable(true);
        button->setIcon(icon(icon_name));
        button->setAccessibleName(text);
        setKeyToolTip(button, text, action);
        setButtonKind(button, ButtonKind::Tab);
        tabs_->addButton(button, static_cast<int>(tab));
        tab_row_->addWidget(button);
    };
    add_tab(Tab::Chat, tr("Chat"), QStringLiteral("chat"), QStringLiteral("chatTab"),
            QStringLiteral("showChat"));
    add_tab(Tab::Layout, tr("Layout"), QStringLiteral("layout"), QStringLiteral("layoutTab"),
            QStringLiteral("showLayout"));
    add_tab(Tab::Both, tr("Both"), QStringLiteral("both"), QStringLiteral("bothTab"),
            QStringLiteral("showBoth"));
    waiting_mark_ = new TabMark(tabs_->button(static_cast<int>(Tab::Layout)));
    column->addWidget(tab_bar_);

    panes_ = named("paneSplitter", new QSplitter(Qt::Horizontal, centre));
    panes_->setChildrenCollapsible(false);
    chat_side_ = new QWidget(panes_);
    auto* chat_column = columnIn(chat_side_, {0, 0, 0, 0}, 0);
    chat_stack_ = new PageStack(chat_side_);
    welcome_ = new WelcomePage(recent_, setup_.has_demo_model, chat_stack_);
    unusable_ = new UnusablePage(setup_.has_demo_model, chat_stack_);
    chat_ = named("chatView", new ChatView(chat_stack_));
    compare_ = named("comparePane", new ComparePane(chat_stack_));
    samples_ = new SamplesStrip(chat_side_);
    chat_stack_->addWidget(welcome_);
    chat_stack_->addWidget(unusable_);
    chat_stack_->addWidget(chat_);
    chat_stack_->addWidget(compare_);
    chat_column->addWidget(samples_);
    chat_column->addWidget(chat_stack_, 1);
    layout_ = named("layoutView", new LayoutView(panes_));
    layout_footer_ = layout_->findChild<QWidget*>(QStringLiteral("layoutFooter"));
    panes_->addWidget(chat_side_);
    panes_->addWidget(layout_);
    panes_->setStretchFactor(0, 1);
    panes_->setStretchFactor(1, 1);
    column->addWidget(panes_, 1);
    tab_row_->addSpacing(12);
    tab_row_->addStretch();
    header_row_->addWidget(chat_->headerBar(), 1);
    connect(tabs_, &QButtonGroup::idClicked, this,
            [this](int id) { setTab(static_cast<Tab>(id)); });
    return centre;
}

void MainWindow::buildActions() {
    const std::map<QString, std::function<void()>> actions = {
        {QStringLiteral("chooseFolder"), [this] { chooseFolder(); }},
        {QStringLiteral("modelPanel"), [this] { openModelPanel(); }},
        {QStringLiteral("library"), [this] { showModels(ModelsPage::Page::Library); }},
        {QStringLiteral("getModel"), [this] { showModels(ModelsPage::Page::Get); }},
        {QStringLiteral("whatFits"), [this] { showFit(); }},
        {QStringLiteral("load"), [this] { session_->load(); }},
        {QStringLiteral("eject"), [this] { session_->eject(); }},
        {QStringLiteral("newChat"), [this] { Q_EMIT newChatRequested(); }},
        {QStringLiteral("searchChats"),
         [this] {
             if (side_->isHidden()) {
                 togglePane(side_pane_, side_);
             }
             history_->focusSearch();
         }},
        {QStringLiteral("deleteChat"), [this] { history_->removeCurrent(); }},
        {QStringLiteral("showChat"),
         [this] {
             setTab(Tab::Chat);
             focusPane();
         }},
        {QStringLiteral("showLayout"),
         [this] {
             setTab(Tab::Layout);
             focusPane();
         }},
        {QStringLiteral("showBoth"),
         [this] {
             setTab(Tab::Both);
             focusPane();
         }},
        {QStringLiteral("toggleSidebar"), [this] { togglePane(side_pane_, side_); }},
        {QStringLiteral("toggleMeter"), [this] { togglePane(meter_pane_, meter_side_); }},
        {QStringLiteral("zoomIn"),
         [this] {
             setup_.settings.text_zoom = std::min(200, setup_.settings.text_zoom + 10);
             setSettings(setup_.settings);
         }},
        {QStringLiteral("zoomOut"),
         [this] {
             setup_.settings.text_zoom = std::max(70, setup_.settings.text_zoom - 10);
             setSettings(setup_.settings);
         }},
        {QStringLiteral("zoomReset"),
         [this] {
             setup_.settings.text_zoom = 100;
             setSettings(setup_.settings);
         }},
        {QStringLiteral("settings"), [this] { openSettings(); }},
        {QStringLiteral("computer"), [this] { openComputer(); }},
        {QStringLiteral("diagnostics"), [this] { openDiagnostics(); }},
        {QStringLiteral("shortcuts"), [this] { openShortcuts(); }},
        {QStringLiteral("quit"), [this] { close(); }},
    };
    std::map<QString, QAction*> made;
    for (const Shortcut& shortcut : shortcuts()) {
        const auto found = actions.find(shortcut.action);
        if (found == actions.end()) {
            continue; // a pane handles these keys itself
        }
        auto* action = new QAction(shortcut.text, this);
        action->setObjectName(QStringLiteral("action_") + shortcut.action);
        addAction(action);
        connect(action, &QAction::triggered, this, found->second);
        made[shortcut.action] = action;
    }
    applyShortcuts();
    auto* menu = new QMenu(menu_button_);
    menu->addAction(made.at(QStringLiteral("library")));
    menu->addAction(made.at(QStringLiteral("getModel")));
    menu->addAction(made.at(QStringLiteral("whatFits")));
    menu->addSeparator();
    menu->addAction(made.at(QStringLiteral("settings")));
    menu->addAction(made.at(QStringLiteral("shortcuts")));
    if (setup_.has_network) {
        menu->addAction(tr("Connect to a server…"), this, &MainWindow::openServers)
            ->setObjectName(QStringLiteral("action_servers"));
    }
    menu->addAction(tr("Other programs…"), this, &MainWindow::openServing);
    QMenu* help = menu->addMenu(tr("Help"));
    help->addAction(made.at(QStringLiteral("computer")));
    help->addAction(made.at(QStringLiteral("diagnostics")));
    help->addAction(tr("About Belfry"), this, &MainWindow::openAbout);
    menu->addSeparator();
    menu->addAction(made.at(QStringLiteral("toggleSidebar")));
    menu->addAction(made.at(QStringLiteral("toggleMeter")));
    menu->addSeparator();
    menu->addAction(made.at(QStringLiteral("quit")));
    connect(menu_button_, &QPushButton::clicked, this, [this, menu] {
        menu->popup(menu_button_->mapToGlobal(
            QPoint(menu_button_->width() - menu->sizeHint().width(), menu_button_->height() + 4)));
    });
}

void MainWindow::applyShortcuts() {
    own_keys_.clear();
    for (const Shortcut& shortcut : shortcuts()) {
        if (shortcut.isFixed()) {
            continue;
        }
        if (shortcut.group != layoutGroup()) {
            own_keys_ += shortcut.keys;
        }
        if (auto* action = findChild<QAction*>(QStringLiteral("action_") + shortcut.action)) {
            action->setShortcuts(shortcut.keys);
        } else if (auto* of_pane =
                       findChild<QShortcut*>(QStringLiteral("shortcut_") + shortcut.action)) {
            of_pane->setKeys(shortcut.keys);
        }
    }
}

void MainWindow::connectPages() {
    connect(model_button_, &QPushButton::clicked, this,
            [this] { model_panel_->isVisible() ? model_panel_->closeFlyout() : openModelPanel(); });
    connect(model_panel_, &ModelPanel::folderDialogRequested, this, &MainWindow::chooseFolder);
    connect(model_panel_, &ModelPanel::fileDialogRequested, this, &MainWindow::chooseFile);
    connect(model_panel_, &ModelPanel::assistantDialogRequested, this,
            &MainWindow::chooseAssistant);
    connect(model_panel_, &ModelPanel::serverDialogRequested, this, &MainWindow::openServers);
    connect(model_panel_, &ModelPanel::serverLaunchRequested, this, &MainWindow::openServerLaunch);
    model_panel_->setHasServers(setup_.has_network);
    connect(model_panel_, &ModelPanel::locateRequested, this, &MainWindow::locateFolder);
    connect(adapter_bar_, &AdapterBar::addRequested, this, &MainWindow::chooseAdapter);
    connect(adapter_bar_, &AdapterBar::reportRequested, this, &MainWindow::openCoverage);
    connect(status_, &StatusStrip::whyRequested, this, &MainWindow::openModelPanel);
    connect(status_, &StatusStrip::servingRequested, this, &MainWindow::openServing);
    connect(chosen_chip_, &ChosenChip::whyRequested, this, &MainWindow::openModelPanel);
    connect(welcome_, &WelcomePage::folderDialogRequested, this, &MainWindow::chooseFolder);
    connect(unusable_, &UnusablePage::folderDialogRequested, this, &MainWindow::chooseFolder);
    const auto load_demo = [this] { session_->chooseAndLoad(QStringLiteral("demo")); };
    connect(welcome_, &WelcomePage::demoRequested, this, load_demo);
    connect(welcome_, &WelcomePage::serverDialogRequested, this, &MainWindow::openServers);
    welcome_->setHasServers(setup_.has_network);
    connect(unusable_, &UnusablePage::demoRequested, this, load_demo);
    connect(unusable_, &UnusablePage::serverDialogRequested, this, &MainWindow::openServers);
    connect(recent_, &RecentModels::factsChanged, this, &MainWindow::refreshEmptyState);
    connect(recent_, &RecentModels::factsChanged, this, &MainWindow::tellWhyNotLoadable);
    connect(welcome_, &WelcomePage::folderChosen, this, [this](const QString& folder) {
        session_->chooseModel(folder);
        openModelPanel();
    });
    connect(samples_, &SamplesStrip::sampleChosen, this, [this](const Sample& sample) {
        const auto list = [](const QString& file) {
            return file.isEmpty() ? QStringList() : QStringList{file};
        };
        chat_->insertSample(sample.question, list(sample.image), list(sample.audio), true);
    });
}

void MainWindow::connectNotice() {
    place_timer_.setSingleShot(true);
    connect(&place_timer_, &QTimer::timeout, this, &MainWindow::placeNotice);
    connect(notice_, &NoticeStrip::changed, this, &MainWindow::placeNotice);
    connect(chat_, &ChatView::overlaysPlaced, &place_timer_, qOverload<>(&QTimer::start));
    connect(panes_, &QSplitter::splitterMoved, &place_timer_, qOverload<>(&QTimer::start));
}

void MainWindow::connectSession() {
    connect(session_, &Session::changed, this, &MainWindow::refresh);
    connect(session_, &Session::failed, this, &MainWindow::showFailure);
    connect(session_, &Session::deviceLost, this, &MainWindow::showDeviceLost);
    connect(session_, &Session::applied, this, &MainWindow::showStandIn);
    connect(session_, &Session::planInputChanged, this, [this] {
        if (!engine::isServerModel(session_->model().toStdString())) {
            layout_->setRequest(session_->request());
        }
    });
    connect(session_, &Session::snapshotChanged, this,
            [this](const std::shared_ptr<const engine::EngineSnapshot>& snapshot) {
                meter_->showSnapshot(snapshot);
                if (welcome_->isVisible() ||
                    snapshot->state == engine::EngineSnapshot::State::Empty) {
                    welcome_->showMemory(snapshot->memory);
                }
                chat_->showSnapshot(snapshot);
                layout_->setApplied(snapshot->plan, session_->shownModel().toStdString());
            });
    connect(session_, &Session::modelChosen, this, [this](const QString& folder) {
        notice_->hide();
        recent_->check(folder); // what it is, should it be no model
    });
    connect(session_, &Session::modelRead, this, [this](const QString& folder) {
        if (folder != QStringLiteral("demo")) {
            recent_->note(folder);
        }
    });
    connect(recent_, &RecentModels::foldersChanged, this, [this](const QStringList& folders) {
        setup_.settings.recent_models = folders;
        Q_EMIT settingsEdited(setup_.settings);
    });

    connect(layout_, &LayoutView::stagedPlanChanged, this,
            [this](const std::shared_ptr<const engine::PlacementPlan>& plan) {
                showPrediction();
                if (!layout_->isWhatIf()) {
                    model_panel_->showPlan(plan); // what Load there would do is done here
                }
            });
    connect(layout_, &LayoutView::heldPlanChanged, this, &MainWindow::showPrediction);
    connect(layout_, &LayoutView::serverLaunchRequested, this, &MainWindow::openServerLaunch);
    connect(layout_, &LayoutView::applyRequested, session_, &Session::apply);
    connect(layout_, &LayoutView::waitingChangesChanged, this, &MainWindow::showWaitingChanges);
}

void MainWindow::connectChat() {
    // Actions of the chat act wherever the focus is, and while only the layout is shown.
    const QList<QShortcut*> of_chat = chat_->findChildren<QShortcut*>();
    for (QShortcut* shortcut : of_chat) {
        shortcut->setParent(this);
        if (shortcut->objectName() != QLatin1String("shortcut_copyCode")) {
            connect(shortcut, &QShortcut::activated, this, &MainWindow::revealChat);
        }
    }
    // Text fields would keep some keys to themselves (Ctrl+U and Ctrl+K delete there).
    QApplication::instance()->installEventFilter(this);

    connect(chat_, &ChatView::generateRequested, session_, &Session::noteGenerating);
    connect(chat_, &ChatView::compareRequested, this, &MainWindow::showInCompare);
    connect(compare_, &ComparePane::closeRequested, this, [this] { setComparing(false); });
    connect(chat_, &ChatView::turnFinished, this, &MainWindow::refreshEmptyState);
    connect(chat_, &ChatView::chatChanged, this, &MainWindow::refreshEmptyState);
    connect(chat_, &ChatView::generatingChanged, this, &MainWindow::refreshEmptyState);
    connect(chat_, &ChatView::towersRequested, this, [this] {
        session_->chooseLoaded();
        engine::LoadRequest options = session_->request();
        options.is_text_only = false;
        session_->setOptions(options);
        session_->isInspecting() ? session_->loadWhenRead() : session_->load();
    });
    connect(chat_, &ChatView::largerContextRequested, this, [this](qint64 tokens) {
        engine::LoadRequest options = session_->request();
        options.context = tokens;
        session_->setOptions(options);
        openModelPanel();
    });
}

void MainWindow::connectHistory() {
    // Who picks a chat wants to see it.
    const auto show_chat = [this] {
        notice_->leaveView();
        closeModels();
        if (tab_ == Tab::Layout) {
            setTab(Tab::Chat);
        }
    };
    connect(history_, &HistoryPane::chatChosen, this, show_chat);
    connect(history_, &HistoryPane::importRequested, this, show_chat);
    connect(history_, &HistoryPane::undoOffered, this, [this](const QString& text) {
        offered_undo_ = text;
        if (side_->isHidden()) { // else it is offered there
            notice_->showAction(text, {}, tr("Undo"), [this] { history_->undoRemove(); });
            notice_->keep();
        }
    });
    connect(history_, &HistoryPane::undoWithdrawn, this,
            [this] { notice_->withdraw(offered_undo_); });
    connect(this, &MainWindow::newChatRequested, this, show_chat);
}

void MainWindow::refresh() {
    const bool is_loaded = session_->isLoaded();
    const auto& snapshot = session_->snapshot();
    // What is on a server has no places here.
    layout_->setModel(engine::isServerModel(session_->model().toStdString()) ? nullptr
                                                                             : session_->summary(),
                      session_->modelName());
    if (is_loaded && session_->state() != Session::State::Loading) {
        layout_->setLoadedModel(session_->loadedRequest().model);
    }
    layout_->setBusy(!session_->isBusy()                               ? LayoutView::Busy::No
                     : session_->state() == Session::State::Generating ? LayoutView::Busy::Reply
                                                                       : LayoutView::Busy::Loading);
    if (!asked_stop_.isEmpty() && session_->state() != Session::State::Loading &&
        session_->state() != Session::State::Applying) {
        notice_->withdraw(std::exchange(asked_stop_, QString()));
    }
    offerCapabilities();
    if (session_->state() == Session::State::Loading) {
        layout_->leaveWhatIf(); // what is loaded is loaded here
    }
    compare_->setReady(session_->state() == Session::State::Ready);
    showPrediction();
    tellWhyNotLoadable();
    chat_->setModel(is_loaded ? snapshot->model : session_->summary(), is_loaded);
    const QString shown = session_->shownModel();
    setWindowTitle(shown.isEmpty() ? tr("Belfry") : tr("%1 - Belfry").arg(Session::nameOf(shown)));
    // Who answers is said where it matters: while another one is chosen beside it.
    chat_->setAnswerer(is_loaded && !session_->isChosenLoaded() && !session_->model().isEmpty()
                           ? Session::nameOf(session_->loadedModel())
                           : QString());
    refreshEmptyState();
}

void MainWindow::offerCapabilities() {
    const engine::Capabilities can = session_->capabilities();
    const auto offer = [this](const char* action, bool is_offered) {
        findChild<QAction*>(QStringLiteral("action_") + QLatin1String(action))
            ->setEnabled(is_offered);
    };
    offer("showLayout", can.places_parts);
    offer("showBoth", can.places_parts);
    offer("toggleMeter", can.tells_memory);
    for (QAbstractButton* tab : tabs_->buttons()) {
        tab->setVisible(can.places_parts); // without a layout there is nothing to choose from
    }
    if (!can.places_parts && tab_ != Tab::Chat) {
        setTab(Tab::Chat);
    }
    adapter_bar_->setVisible(can.takes_adapters);
    if (std::exchange(can_tell_memory_, can.tells_memory) != can.tells_memory) {
        fitPanes();
    }
}

void MainWindow::showPrediction() {
    // Another computer's memory is shown beside its layout only: elsewhere the meter is this one's.
    const bool is_what_if = layout_->isWhatIf();
    const bool shows_it = is_what_if && tab_ != Tab::Chat && !areModelsShown();
    // Beside what is measured stands what was predicted for the same model, not for the chosen one.
    const bool is_other = !shows_it && session_->isChosenBeside();
    const auto held = is_other ? nullptr : layout_->heldPlan();
    meter_->setPrediction(held != nullptr ? held
                          : shows_it      ? layout_->stagedPlan()
                          : is_other      ? session_->snapshot()->plan
                                          : layout_->planHere(),
                          shows_it);
    status_->setBesideWhatIf(is_what_if);
    chosen_chip_->setBesideWhatIf(is_what_if);
    model_panel_->setBesideWhatIf(is_what_if);
}

void MainWindow::tellWhyNotLoadable() {
    const auto& summary = session_->summary();
    const QString why =
        summary != nullptr && summary->is_header_only ? weightsProblem() : QString();
    status_->setWhyNotLoadable(why);
    chosen_chip_->setWhyNotLoadable(why);
    // Where another model is loaded, that one answers.
    chat_->setLoadState(session_->state() == Session::State::Loading || session_->isAboutToLoad(),
                        session_->isLoaded() ? QString() : why);
}

void MainWindow::setSamples(const std::vector<Sample>& samples,
                            const std::vector<QImage>& thumbnails) {
    samples_->setSamples(samples, thumbnails);
    refreshEmptyState();
}

void MainWindow::setSettings(const Settings& settings) {
    const std::string cache =
        settings.uses_cache ? setup_.facts.cache_folder.toStdString() : std::string();
    const bool is_load_changed = settings.threads != session_->request().threads ||
                                 cache != session_->request().cache_folder;
    if (setup_.settings.reduces_motion != settings.reduces_motion) {
        setMotion(!settings.reduces_motion);
    }
    setup_.settings = settings;
    setThemeChoice(settings.theme);
    if (textZoom() != settings.text_zoom) {
        setTextZoom(settings.text_zoom);
    }
    if (is_load_changed) {
        engine::LoadRequest options = session_->request();
        options.threads = settings.threads;
        options.cache_folder = cache;
        session_->setOptions(options);
    }
    Q_EMIT settingsEdited(settings);
}

void MainWindow::stop() {
    if (chat_->isGenerating()) {
        chat_->stop();
    } else if (session_->state() == Session::State::Loading ||
               session_->state() == Session::State::Applying) {
        stopLoading();
    } else {
        session_->cancel();
    }
}

void MainWindow::openPath(const QString& path) {
    const QFileInfo info(path);
    // A file of a model stands for its folder.
    const bool is_part =
        info.isFile() && (info.fileName() == QStringLiteral("config.json") ||
                          path.endsWith(QStringLiteral(".safetensors")) ||
                          path.endsWith(QStringLiteral(".safetensors.index.json")));
    if (is_part && QFileInfo::exists(info.path() + QStringLiteral("/config.json"))) {
        openPath(info.path());
    } else if (info.isFile() && path.endsWith(QStringLiteral(".belfry-map.json"))) {
        openMap(path);
    } else if (isAdapter(path) || (info.isFile() && (isPictureFile(path) || isSoundFile(path)))) {
        takeFiles({path});
    } else if (path != session_->model()) {
        session_->chooseModel(path);
    }
}

void MainWindow::openMap(const QString& file) {
    if (layout_->stagedPlan() == nullptr) {
        notice_->showAction(tr("The map %1 needs a model").arg(QFileInfo(file).fileName()),
                            tr("It says where the parts of a model go. Choose a model, then open "
                               "the map again."),
                            tr("Choose a model"), [this] { openModelPanel(); });
        return;
    }
    setTab(Tab::Layout);
    Q_EMIT layout_->mapFileChosen(file);
}

void MainWindow::takeFiles(const QStringList& paths) {
    QStringList media;
    for (const QString& path : paths) {
        if (isAdapter(path)) {
            session_->addAdapter(path);
        } else if (!QFileInfo(path).isDir() && isModelFile(path)) {
            openPath(path);
            openModelPanel();
        } else if (!QFileInfo(path).isDir()) {
            media.append(path);
        } else {
            session_->chooseModel(path);
            openModelPanel();
        }
    }
    if (!media.isEmpty()) {
        setTab(tab_ == Tab::Layout ? Tab::Chat : tab_);
        chat_->attachFiles(media);
    }
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
    const QList<QUrl> urls = event->mimeData()->urls();
    if (urls.isEmpty() || !urls.first().isLocalFile()) {
        return;
    }
    const QFileInfo first(urls.first().toLocalFile());
    is_drop_refused_ = !first.isDir() && !isModelFile(first.filePath()) &&
                       std::none_of(urls.begin(), urls.end(), [](const QUrl& url) {
                           const QString file = url.toLocalFile();
                           return isPictureFile(file) || isSoundFile(file);
                       });
    if (is_drop_refused_) {
        overlay_->open(
            tr("%1 cannot be attached: Belfry takes pictures (PNG, JPEG, WebP), sounds "
               "(WAV, FLAC, OGG, MP3), GGUF files and folders with a model or an adapter")
                .arg(first.fileName()),
            QStringLiteral("alert"));
        event->accept(); // else nobody tells when it leaves; dragMoveEvent() refuses
        return;
    }
    const bool is_gguf = first.suffix().compare(QStringLiteral("gguf"), Qt::CaseInsensitive) == 0;
    if (!first.isDir() && isModelFile(first.filePath()) && !is_gguf) {
        overlay_->open(tr("Drop to see what this file is"), QStringLiteral("folder"));
    } else if (!first.isDir() && !is_gguf) {
        overlay_->open(tr("Drop to attach to the next message"), QStringLiteral("image"));
    } else if (isAdapter(first.filePath())) {
        overlay_->open(tr("Drop to add this adapter"), QStringLiteral("adapter"));
    } else {
        overlay_->open(tr("Drop to choose this model"), QStringLiteral("folder"));
    }
    event->acceptProposedAction();
}

void MainWindow::dragMoveEvent(QDragMoveEvent* event) {
    event->setAccepted(!is_drop_refused_);
}

void MainWindow::dragLeaveEvent(QDragLeaveEvent* /*event*/) {
    overlay_->hide();
}

void MainWindow::dropEvent(QDropEvent* event) {
    overlay_->hide();
    QStringList paths;
    const QList<QUrl> urls = event->mimeData()->urls();
    for (const QUrl& url : urls) {
        if (url.isLocalFile()) {
            paths.append(url.toLocalFile());
        }
    }
    event->acceptProposedAction();
    takeFiles(paths);
}

void MainWindow::keyPressEvent(QKeyEvent* event) {
    // Not an action: panes use Esc first (a held block, an open panel, an edited message).
    if (event->key() == Qt::Key_Escape) {
        stop();
        return;
    }
    // What has the focus has nothing to undo itself.
    if (event->matches(QKeySequence::Undo) && history_->canUndo()) {
        history_->undoRemove();
        return;
    }
    // Typed while the focus is on a button or nowhere: the next message, where a chat is shown.
    const QWidget* focused = focusWidget();
    const bool is_in_pane =
        focused != nullptr && (layout_->isAncestorOf(focused) || history_->isAncestorOf(focused) ||
                               model_panel_->isAncestorOf(focused) ||
                               models_->isAncestorOf(focused) || focused == models_);
    const bool is_idle = focused == nullptr || focused == this ||
                         qobject_cast<const QAbstractButton*>(focused) != nullptr;
    if (is_idle && !is_in_pane && chat_->takeKey(event)) {
        return;
    }
    QMainWindow::keyPressEvent(event);
}

bool MainWindow::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::ShortcutOverride) {
        const auto* key = static_cast<QKeyEvent*>(event);
        const auto* widget = qobject_cast<QWidget*>(watched);
        const Qt::KeyboardModifiers held = key->modifiers() & ~Qt::KeypadModifier;
        if (widget != nullptr && widget->window() == this &&
            own_keys_.contains(
                QKeySequence(QKeyCombination(held, static_cast<Qt::Key>(key->key()))))) {
            event->ignore();
            return true; // the action's, not the field's
        }
        return false;
    }
    const bool is_moved = event->type() == QEvent::Resize || event->type() == QEvent::Move;
    if (is_moved && watched == tab_bar_ && event->type() == QEvent::Resize) {
        fitTabs();
    }
    if (is_moved && (watched == panes_ || watched == chat_side_ || watched == layout_footer_)) {
        place_timer_.start();
    }
    return QMainWindow::eventFilter(watched, event);
}

void MainWindow::resizeEvent(QResizeEvent* event) {
    QMainWindow::resizeEvent(event);
    fitPanes();
    // Once more when the splitter has its new width: sizes set before are scaled with it.
    QMetaObject::invokeMethod(this, &MainWindow::fitPanes, Qt::QueuedConnection);
    placeNotice();
    if (overlay_ != nullptr && overlay_->isVisible()) {
        overlay_->setGeometry(rect());
    }
}

void MainWindow::closeEvent(QCloseEvent* event) {
    Q_EMIT closing();
    QMainWindow::closeEvent(event);
}

} // namespace ui
