// SPDX-License-Identifier: Apache-2.0
// Shown over the whole window while files are dragged over it: what a drop here will do.
#pragma once

#include <QWidget>

namespace ui {

class DropOverlay : public QWidget {
    Q_OBJECT

public:
    explicit DropOverlay(QWidget* window);

    void open(const QString& verb, const QString& icon_name);

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QString verb_, icon_name_;
};

} // namespace ui
