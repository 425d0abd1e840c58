// SPDX-License-Identifier: Apache-2.0
// The window: top bar (model, adapters, state), chats at the left, chat and layout in the centre,
// memory at the right. Composes the panes and carries values between them; what concerns the
// engine or the store is connected in app/window/wiring.cpp.
#pragma once

#include "ui/common/server_state.h"
#include "ui/dialogs/diagnostics.h"
#include "ui/dialogs/server_values.h"
#include "ui/dialogs/serving_state.h"
#include "ui/dialogs/settings_values.h"
#include "ui/layout/what_if.h"
#include "ui/library/models_page.h"
#include "ui/window/samples_strip.h"

#include <QKeySequence>
#include <QList>
#include <QMainWindow>
#include <QPointer>
#include <QTimer>

#include <functional>
#include <memory>
#include <optional>
#include <vector>

class QButtonGroup;
class QFileDialog;
class QHBoxLayout;
class QPushButton;
class QSplitter;
class QStackedWidget;

namespace engine {
struct ComputerSection;
struct GenerateRequest;
struct LoadRequest;
struct ModelSummary;
struct PlacementPlan;
struct ServerCards;
struct ServerLaunch;
} // namespace engine

namespace ui {

class AdapterBar;
class ChatView;
class ChosenChip;
class ComparePane;
class ComputerDialog;
class DropOverlay;
class FitPage;
struct FitChoice;
class HistoryPane;
class LaunchDialog;
class LayoutView;
class LogBuffer;
class MemoryMeter;
class ModelButton;
class ModelPanel;
class NoticeStrip;
class RecentModels;
class ServerDialog;
class ServingDialog;
class Session;
class StatusStrip;
class UnusablePage;
class WelcomePage;

/// What the window is made with; read by app/ before the first frame.
struct WindowSetup {
    bool has_demo_model = false;
    bool has_network = false; ///< Servers are offered.
    QString demo_adapter;     ///< Folder of the demo's own adapter; empty: there is none.
    Settings settings;
    SystemFacts facts;
    LogBuffer* log = nullptr; ///< Must outlive the window; nullptr in tests without a log.
};

class MainWindow : public QMainWindow {
    Q_OBJECT

public:
    enum class Tab { Chat = 1, Layout, Both };

    explicit MainWindow(const WindowSetup& setup, QWidget* parent = nullptr);
    ~MainWindow() override;

    [[nodiscard]] Session* session() const { return session_; }
    [[nodiscard]] ChatView* chatView() const { return chat_; }
    [[nodiscard]] LayoutView* layoutView() const { return layout_; }
    [[nodiscard]] MemoryMeter* meter() const { return meter_; }
    [[nodiscard]] HistoryPane* historyPane() const { return history_; }
    [[nodiscard]] ComparePane* comparePane() const { return compare_; }
    [[nodiscard]] NoticeStrip* notice() const { return notice_; }
    [[nodiscard]] ModelPanel* modelPanel() const { return model_panel_; }
    [[nodiscard]] RecentModels* recentModels() const { return recent_; }
    [[nodiscard]] ModelsPage* modelsPage() const { return models_; }
    [[nodiscard]] FitPage* fitPage() const { return fit_; }
    [[nodiscard]] Tab tab() const { return tab_; }
    [[nodiscard]] const Settings& settings() const { return setup_.settings; }
    /// Widths of chats, centre and meter; see setSplitterSizes().
    [[nodiscard]] QList<int> splitterSizes() const;
    void setSplitterSizes(const QList<int>& sizes);
    /// The answer to computerRequested().
    void showComputer(const std::vector<engine::ComputerSection>& sections, const QString& text);

public Q_SLOTS:
    void setTab(ui::MainWindow::Tab tab);
    /// Shows the compare pane in place of the messages, or goes back to them.
    void setComparing(bool is_comparing);
    void setSamples(const std::vector<ui::Sample>& samples, const std::vector<QImage>& thumbnails);
    void setFacts(const ui::SystemFacts& facts) { setup_.facts = facts; }
    /// Library or Get a model, in place of chat and layout; closeModels(): back to them.
    void showModels(ui::ModelsPage::Page page);
    void closeModels();
    /// A download is done: said where its own row is not seen.
    void tellDownloaded(const QString& id, const QString& folder, bool is_adapter);
    /// Welcome, samples or messages: to be called when the chat was changed from outside.
    void refreshEmptyState();
    /// What the program was started with, now or once more: a model ("demo" too), an adapter, files
    /// to ask about.
    void openPath(const QString& path);
    void openModelPanel();
    void chooseFolder();
    void chooseFile();
    void chooseAssistant();
    /// Asks where a folder of the recent ones is now.
    void locateFolder(const QString& folder);
    void chooseAdapter();
    void openSettings();
    void openDiagnostics();
    /// Asks for the facts (computerRequested) and shows them when they are there.
    void openComputer();
    /// The switch for other programs; its state comes by showServing().
    void openServing();
    void showServing(const ui::ServingState& state);
    void openAbout();
    /// "Connect to a server".
    void openServers();
    /// Addresses of earlier connections, the last one first.
    void setServers(const ui::KnownServers& servers) { servers_ = servers; }
    /// Answers serversOpened().
    void showKeyPlace(ui::KeyPlace place);
    /// State of the window's server.
    void showServerState(const ui::ServerState& state);
    void showServerAnswer(const ui::ServerAnswer& answer);
    void showServerProblem(const ui::ServerProblem& problem);
    void showServerLaunch(const engine::ServerLaunch& launch);
    void openShortcuts();
    void openShortcutEditor();
    /// Stops a load, a move or a reply, whichever runs.
    void stop();
    void setSettings(const ui::Settings& settings);
    /// A device map of ours, opened from a file manager: into the layout of the chosen model.
    void openMap(const QString& file);
    /// Files and folders as if dropped on the window. A folder is an adapter when it holds
    /// adapter_config.json, a GGUF file when it says so, else a model.
    void takeFiles(const QStringList& paths);

Q_SIGNALS:
    void settingsEdited(const ui::Settings& settings);
    void newChatRequested();
    /// Answered by showComputer(), from another thread's time.
    void computerRequested();
    /// Answered by showServerLaunch().
    void serverLaunchRequested(const engine::LoadRequest& request,
                               const std::shared_ptr<const engine::ModelSummary>& summary,
                               const std::shared_ptr<const engine::PlacementPlan>& plan,
                               const engine::ServerCards& cards);
    void serverKeyForgotten(const QString& base);
    /// The dialog was opened: where are keys kept?
    void serversOpened();
    /// Answered by showServerAnswer() or showServerProblem().
    void serverTestRequested(const ui::ServerWish& wish);
    void
    serverConnectRequested(const ui::ServerWish& wish, const QString& base, const QString& model);
    /// Other programs may use the model from now on, or no longer.
    void servingSwitched(bool is_on);
    /// A device stays lost in this process: close, and start the program again.
    void restartRequested();
    /// The window is about to close: write what is not on disk yet.
    void closing();

protected:
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dragMoveEvent(QDragMoveEvent* event) override;
    void dragLeaveEvent(QDragLeaveEvent* event) override;
    void dropEvent(QDropEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void closeEvent(QCloseEvent* event) override;

private:
    /// A pane at the side: shown while it is wanted and there is room, or when asked for by name.
    struct SidePane {
        bool is_wanted = true;
        bool is_insisted_on = false; ///< Until the next tab: even where the room is small.
    };

    void buildTopBar(QWidget* bar);
    QWidget* buildSide();
    QWidget* buildCentre();
    void buildActions();
    /// The keys in force, to the window's actions and the panes' shortcuts.
    void applyShortcuts();
    void connectPages();
    /// What lies over the panes, and where.
    void connectNotice();
    void connectSession();
    void connectChat();
    void connectProfiles();
    void connectModels();
    [[nodiscard]] bool areModelsShown() const;
    void loadFound(const QString& path);
    void connectFit();
    /// The drawing of what fits: of the chosen model first.
    void showFit();
    /// A point of it: into the load form, or to the layout for another computer.
    void takeFit(const FitChoice& choice);
    void lookAtWaiting();
    // main_window_again.cpp
    void connectAgain();
    /// The last reply is of the model that is loaded, and its parts were elsewhere.
    [[nodiscard]] bool canAskAgain() const;
    void offerAgain();
    void askAgain();
    void showInCompare(const engine::GenerateRequest& request);
    void addFoundAdapter(const QString& path);
    void connectGuide();
    /// The next card of the guide, where its time has come.
    void guide();
    void noteCard();
    void showCard(const QString& what,
                  const QString& detail,
                  const QString& action,
                  std::function<void()> chosen);
    void showPartsOfDemo();
    /// The next word about the toy card, after what was just done to it.
    void followToyCard();
    void offerYourCard();
    void connectHistory();
    void refresh();
    /// Takes away what the engine cannot do: layout, adapters, memory.
    void offerCapabilities();
    void openCoverage(int index);
    /// That was used last, for a column of a comparison.
    [[nodiscard]] std::vector<std::string> serverModels() const;
    void openServerLaunch();
    /// Esc while something is loaded or moved: asks before a long one is thrown away, and says how
    /// to take up a short one again.
    void stopLoading();
    void showWaitingChanges(int count);
    void showPrediction();
    /// Why Load is grey, wherever it is.
    void tellWhyNotLoadable();
    /// What could not be done, with the way on where there is one.
    void showFailure(const QString& what, const engine::Error& error);
    void showDeviceLost(const engine::Error& error, bool was_reloading);
    void offerRestart(const QString& what, const QString& detail, bool offers_cpu);
    /// After a load: that the CPU stands in for a lost card, where it does.
    void showStandIn();
    void fitTabs();
    /// Puts the notice over the lower end of the chat or the layout, above what is used there.
    void placeNotice();
    /// Puts the focus where the pane is used; a pane that has it keeps it.
    void focusPane();
    /// Out of the layout or a comparison, to what an action of the chat changes.
    void revealChat();
    /// Hides the chats, then the meter, where the centre needs their room.
    void fitPanes();
    void togglePane(SidePane& pane, const QWidget* widget);
    QFileDialog* folderDialog(const QString& title);

    WindowSetup setup_;
    Session* session_;
    RecentModels* recent_;
    Tab tab_ = Tab::Chat;
    /// The tour's toy card: asked for, four fifths full, without the tower, with too much.
    enum class Toy { None = 1, Asked, Full, Left, Overfull } toy_ = Toy::None;
    std::shared_ptr<const engine::PlacementPlan> before_toy_; ///< With the cards of this computer.
    bool is_comparing_ = false;
    QString reply_turn_, reply_model_; ///< The last one, and how the model lay that gave it.
    std::shared_ptr<const engine::PlacementPlan> reply_plan_;
    std::optional<WhatIfComputer> looks_at_; ///< As soon as the chosen model is planned here.
    QPointer<ComputerDialog> computer_;
    QPointer<ServerDialog> server_;
    QPointer<LaunchDialog> launch_;
    KnownServers servers_;
    QPointer<ServingDialog> serving_;
    ServingState serving_state_;
    bool can_tell_memory_ = true;
    bool is_drop_refused_ = false; ///< What is dragged over the window now.
    SidePane side_pane_, meter_pane_;
    QString asked_stop_;           ///< The notice that asks whether to stop a load.
    QString offered_undo_;         ///< Words of the notice about a deleted chat.
    QList<QKeySequence> own_keys_; ///< That act in the whole window, also while text is edited.
    QTimer place_timer_;

    ModelButton* model_button_ = nullptr;
    ChosenChip* chosen_chip_ = nullptr;
    AdapterBar* adapter_bar_ = nullptr;
    StatusStrip* status_ = nullptr;
    QPushButton* menu_button_ = nullptr;
    NoticeStrip* notice_ = nullptr;
    ModelPanel* model_panel_ = nullptr;
    DropOverlay* overlay_ = nullptr;
    QStackedWidget* body_ = nullptr; ///< The panes, or the pages of models.
    ModelsPage* models_ = nullptr;
    FitPage* fit_ = nullptr;
    QSplitter* splitter_ = nullptr;
    QWidget* side_ = nullptr;
    HistoryPane* history_ = nullptr;
    QPushButton* side_button_ = nullptr; ///< Shown while the list of chats is not.
    QButtonGroup* tabs_ = nullptr;
    QWidget* tab_bar_ = nullptr;
    QWidget* waiting_mark_ = nullptr; ///< On the layout's tab.
    QHBoxLayout* tab_row_ = nullptr;
    QHBoxLayout* header_row_ = nullptr; ///< Below the tabs, where both do not fit side by side.
    QSplitter* panes_ = nullptr;
    QWidget* chat_side_ = nullptr;
    QWidget* layout_footer_ = nullptr; ///< The layout's bar below its lanes.
    QStackedWidget* chat_stack_ = nullptr;
    WelcomePage* welcome_ = nullptr;
    UnusablePage* unusable_ = nullptr;
    SamplesStrip* samples_ = nullptr;
    ChatView* chat_ = nullptr;
    ComparePane* compare_ = nullptr;
    LayoutView* layout_ = nullptr;
    QWidget* meter_side_ = nullptr;
    MemoryMeter* meter_ = nullptr;
};

} // namespace ui
