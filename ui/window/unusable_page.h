// SPDX-License-Identifier: Apache-2.0
// In place of an empty chat while the chosen model cannot be used: which folder or server, why, and
// the ways on.
#pragma once

#include <QWidget>

class QLabel;
class QPushButton;

namespace ui {

class UnusablePage : public QWidget {
    Q_OBJECT

public:
    explicit UnusablePage(bool has_demo_model, QWidget* parent = nullptr);

    void showProblem(const QString& folder, const QString& why);
    /// `name`: "model on host".
    void showServerProblem(const QString& name, const QString& why);

Q_SIGNALS:
    void serverDialogRequested();
    void folderDialogRequested();
    void demoRequested();
    void getRequested();

private:
    void showTexts(const QString& title, const QString& name, const QString& why, bool is_server);

    QLabel* title_;
    QLabel* folder_;
    QPushButton* get_;
    QPushButton* choose_;
    QPushButton* server_;
    QLabel* why_;
};

} // namespace ui
