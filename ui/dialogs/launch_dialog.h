// SPDX-License-Identifier: Apache-2.0
// "Run it on a server": a command and a compose file to copy, for each server program, with what of
// the placement is another one there. Starts nothing.
#pragma once

#include "engine/api/server_launch.h"

#include <QDialog>

class QComboBox;
class QLabel;
class QPlainTextEdit;
class QPushButton;

namespace ui {

class LaunchDialog : public QDialog {
    Q_OBJECT

public:
    explicit LaunchDialog(QWidget* parent = nullptr);

public Q_SLOTS:
    void showLaunch(const engine::ServerLaunch& launch);

Q_SIGNALS:
    /// Other cards than those that are shown: answered by showLaunch().
    void cardsChosen(const engine::ServerCards& cards);

private:
    void refresh();
    void askAgain();
    /// What is shown now.
    [[nodiscard]] QString text() const;

    engine::ServerLaunch launch_;
    QComboBox* product_;
    QComboBox* form_;
    QComboBox* count_;
    QComboBox* memory_;
    QLabel* estimate_;
    QPlainTextEdit* text_;
    QLabel* losses_;
    QLabel* stack_; ///< One adapter out of several.
    QPushButton* copy_stack_;
    QLabel* merge_;
    QPushButton* copy_merge_;
    QPushButton* copy_;
};

} // namespace ui
