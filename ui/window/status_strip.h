// SPDX-License-Identifier: Apache-2.0
// The right end of the top bar: what the engine is doing, with bytes and Cancel while it loads or
// moves parts, and Load or Eject otherwise.
#pragma once

#include "ui/common/server_state.h"
#include "ui/window/load_pace.h"

#include <QWidget>

#include <string>

class QLabel;
class QProgressBar;
class QPushButton;

namespace ui {

class ElidedLabel;
class Session;
struct ServingState;

class StatusStrip : public QWidget {
    Q_OBJECT

public:
    explicit StatusStrip(Session* session, QWidget* parent = nullptr);

public Q_SLOTS:
    /// How the server of the loaded model is; of a model of this computer it says nothing.
    void showServerState(const ui::ServerState& state);
    /// That other programs may use the model, or that one does.
    void showServing(const ui::ServingState& state);
    /// The layout looks at another computer: Load is for this one, and says so.
    void setBesideWhatIf(bool is_beside);
    /// Why the chosen model can be looked at and not loaded; empty: it can be.
    void setWhyNotLoadable(const QString& why);

Q_SIGNALS:
    /// The user wants to know why the chosen folder cannot be used.
    void whyRequested();
    void servingRequested();

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void refresh();
    void refreshProgress();
    /// Words for what is loaded: here, or on a server.
    void showReady();
    /// The model that the strip speaks of is on a server.
    [[nodiscard]] bool isServer() const;
    /// The engine's process ended, and what is loaded is on its way back.
    [[nodiscard]] bool isReturning() const;

    Session* session_;
    ServerState server_;
    LoadPace pace_;
    std::string stage_;         ///< That pace_ is of.
    bool is_returning_ = false; ///< As shown.
    bool is_beside_what_if_ = false;
    QString why_not_loadable_;
    QLabel* state_label_;
    QPushButton* why_button_; ///< In place of the state where the folder cannot be used.
    ElidedLabel* detail_label_;
    QProgressBar* progress_;
    QPushButton* serving_button_; ///< While other programs may use the model.
    QPushButton* cancel_button_;
    QPushButton* load_button_;
    QPushButton* eject_button_;
};

} // namespace ui
