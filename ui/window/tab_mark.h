// SPDX-License-Identifier: Apache-2.0
// A dot at the upper right corner of a tab: something there waits. Hidden at first; the tab's tool
// tip and description say what it is.
#pragma once

#include <QWidget>

namespace ui {

class TabMark : public QWidget {
    Q_OBJECT

public:
    explicit TabMark(QWidget* tab);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

private:
    void place();
};

} // namespace ui
