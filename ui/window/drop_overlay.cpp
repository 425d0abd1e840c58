// SPDX-License-Identifier: Apache-2.0
#include "ui/window/drop_overlay.h"

#include "ui/style/theme.h"

#include <QPainter>

namespace ui {

DropOverlay::DropOverlay(QWidget* window) : QWidget(window) {
    setObjectName(QStringLiteral("dropOverlay"));
    setAttribute(Qt::WA_TransparentForMouseEvents);
    hide();
}

void DropOverlay::open(const QString& verb, const QString& icon_name) {
    verb_ = verb;
    icon_name_ = icon_name;
    setAccessibleName(verb);
    setGeometry(parentWidget()->rect());
    show();
    raise();
}

void DropOverlay::paintEvent(QPaintEvent* /*event*/) {
    const Theme& theme = Theme::current();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    QColor veil = theme.window;
    veil.setAlphaF(0.82F);
    painter.fillRect(rect(), veil);
    painter.setPen(QPen(theme.accent, 2, Qt::DashLine));
    painter.drawRoundedRect(QRectF(rect()).adjusted(24, 24, -24, -24), 16, 16);
    const QPoint centre = rect().center();
    painter.drawPixmap(centre - QPoint(24, 56),
                       iconPixmap(icon_name_, 48, theme.accent, devicePixelRatioF()));
    painter.setPen(theme.text);
    painter.setFont(scaledFont(130, true));
    painter.drawText(QRect(40, centre.y() + 8, width() - 80, 80),
                     Qt::AlignHCenter | Qt::AlignTop | Qt::TextWordWrap, verb_);
}

} // namespace ui
