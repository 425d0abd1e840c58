// SPDX-License-Identifier: Apache-2.0
#include "ui/window/tab_mark.h"

#include "ui/style/theme.h"

#include <QEvent>
#include <QPainter>

namespace ui {

namespace {

constexpr int kMarkSide = 8;
constexpr int kFromCorner = 3;

} // namespace

TabMark::TabMark(QWidget* tab) : QWidget(tab) {
    setObjectName(QStringLiteral("waitingMark"));
    setAttribute(Qt::WA_TransparentForMouseEvents);
    setFixedSize(kMarkSide, kMarkSide);
    tab->installEventFilter(this);
    place();
    hide();
}

bool TabMark::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::Resize) {
        place();
    }
    return QWidget::eventFilter(watched, event);
}

void TabMark::place() {
    move(parentWidget()->width() - kMarkSide - kFromCorner, kFromCorner);
}

void TabMark::paintEvent(QPaintEvent* /*event*/) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(Theme::current().accent);
    painter.drawEllipse(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5));
}

} // namespace ui
