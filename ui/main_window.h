// SPDX-License-Identifier: Apache-2.0
// The window: choose a model folder, see what it holds and where it would go, attach pictures and
// sounds, and chat with streamed replies. Knows engine values only: what the user wants leaves as
// signals, what the engine says arrives through show...() slots.
#pragma once

#include "engine/api/chat.h"
#include "engine/api/session.h"

#include <QMainWindow>

#include <memory>
#include <vector>

class QComboBox;
class QLabel;
class QListWidget;
class QPlainTextEdit;
class QProgressBar;
class QPushButton;
class QTextBrowser;

namespace ui {

class MainWindow : public QMainWindow {
    Q_OBJECT

public:
    explicit MainWindow(bool has_demo_model, QWidget* parent = nullptr);

    /// What the next Load asks for.
    [[nodiscard]] engine::LoadRequest loadRequest() const;
    /// Chooses a folder as if the user had picked it (drop, command line, tests).
    void chooseModel(const QString& folder);
    /// Attaches a file; its kind is told by its suffix. False for other kinds (told in the window).
    bool attach(const QString& file);

public Q_SLOTS:
    void showSnapshot(const std::shared_ptr<const engine::EngineSnapshot>& snapshot);
    void showModel(const QString& model,
                   const std::shared_ptr<const engine::ModelSummary>& summary);
    void showModelError(const QString& model, const engine::Error& error);
    void showError(const engine::Error& error);
    void showReplyUpdate(quint64 id, const engine::ReplyUpdate& update);
    void showReply(quint64 id, const engine::Reply& reply);
    void showReplyError(quint64 id, const engine::Error& error);

Q_SIGNALS:
    void inspectRequested(const QString& model);
    void loadRequested(const engine::LoadRequest& request);
    void generateRequested(const engine::GenerateRequest& request);
    void cancelRequested();

protected:
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    enum class Activity { Idle = 1, Loading, Generating };

    void buildToolbar();
    void buildChat();
    void chooseFolder();
    void chooseAttachment();
    void send();
    void newChat();
    void setActivity(Activity activity);
    void render();
    void refreshAttachments();
    [[nodiscard]] QString welcomeHtml() const;

    bool has_demo_model_;
    Activity activity_ = Activity::Idle;
    QString model_;
    std::shared_ptr<const engine::ModelSummary> summary_;
    std::shared_ptr<const engine::EngineSnapshot> snapshot_;
    std::vector<engine::Message> messages_;
    QStringList notices_; ///< Errors and notes below the last message.
    engine::ReplyUpdate streaming_;
    quint64 next_id_ = 1;
    QStringList attachments_;
    engine::GenerateTiming last_timing_;

    QPushButton* choose_button_ = nullptr;
    QPushButton* demo_button_ = nullptr;
    QPushButton* load_button_ = nullptr;
    QPushButton* cancel_button_ = nullptr;
    QPushButton* send_button_ = nullptr;
    QPushButton* attach_button_ = nullptr;
    QPushButton* new_button_ = nullptr;
    QComboBox* placement_box_ = nullptr;
    QComboBox* format_box_ = nullptr;
    QLabel* model_label_ = nullptr;
    QLabel* memory_label_ = nullptr;
    QLabel* attachment_label_ = nullptr;
    QLabel* status_label_ = nullptr;
    QProgressBar* progress_ = nullptr;
    QTextBrowser* transcript_ = nullptr;
    QPlainTextEdit* input_ = nullptr;
};

} // namespace ui
