// SPDX-License-Identifier: Apache-2.0
// In place of an empty chat while the chosen folder cannot be used: which folder, why, and the two
// ways on.
#pragma once

#include <QWidget>

class QLabel;

namespace ui {

class UnusablePage : public QWidget {
    Q_OBJECT

public:
    explicit UnusablePage(bool has_demo_model, QWidget* parent = nullptr);

    void showProblem(const QString& folder, const QString& why);

Q_SIGNALS:
    void folderDialogRequested();
    void demoRequested();

private:
    QLabel* folder_;
    QLabel* why_;
};

} // namespace ui
