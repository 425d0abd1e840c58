// SPDX-License-Identifier: Apache-2.0
// The overview of keyboard shortcuts (F1).
#pragma once

#include <QDialog>

namespace ui {

class ShortcutsDialog : public QDialog {
    Q_OBJECT

public:
    explicit ShortcutsDialog(QWidget* parent);

Q_SIGNALS:
    void changeRequested();
};

} // namespace ui
