// SPDX-License-Identifier: Apache-2.0
#include "ui/model/flyout.h"

#include "ui/style/theme.h"

#include <QApplication>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

#include <algorithm>

namespace ui {

Flyout::Flyout(QWidget* parent) : QFrame(parent) {
    setFocusPolicy(Qt::NoFocus);
    setContentsMargins(kShadow, kShadow, kShadow, kShadow);
    hide();
    connect(qApp, &QApplication::focusChanged, this, [this](QWidget* /*old*/, QWidget* now) {
        if (isVisible() && now != nullptr && now->window() == window() && !holds(now) &&
            now != anchor_) {
            hide();
        }
    });
}

bool Flyout::holds(const QWidget* widget) const {
    return widget == this || isAncestorOf(widget);
}

void Flyout::place() {
    if (anchor_ == nullptr) {
        return;
    }
    const QSize wanted = sizeHint();
    const QSize space = parentWidget()->size();
    const QPoint below =
        anchor_->mapTo(parentWidget(), QPoint(-kShadow, anchor_->height() + 4 - kShadow));
    const int width = std::min(wanted.width(), space.width());
    const int height = std::min(wanted.height(), space.height() - below.y());
    const int x = std::clamp(below.x(), 0, std::max(0, space.width() - width));
    setGeometry(x, below.y(), width, height);
}

void Flyout::openBelow(QWidget* anchor) {
    anchor_ = anchor;
    adjustSize();
    place();
    show();
    raise();
    qApp->installEventFilter(this);
    parentWidget()->installEventFilter(this);
    const QList<QWidget*> children = findChildren<QWidget*>();
    for (QWidget* child : children) {
        if (child->focusPolicy() != Qt::NoFocus && child->isVisibleTo(this) && child->isEnabled()) {
            child->setFocus(Qt::PopupFocusReason);
            break;
        }
    }
}

void Flyout::closeFlyout() {
    const bool had_focus = holds(QApplication::focusWidget());
    hide();
    if (had_focus && anchor_ != nullptr) {
        anchor_->setFocus(Qt::PopupFocusReason);
    }
}

void Flyout::hideEvent(QHideEvent* event) {
    qApp->removeEventFilter(this);
    QFrame::hideEvent(event);
}

bool Flyout::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::MouseButtonPress && watched->isWidgetType()) {
        const auto* widget = static_cast<QWidget*>(watched);
        // A combo box's list is a window of its own and belongs to us.
        if (widget->window() == window() && !holds(widget) && widget != anchor_) {
            hide();
        }
    }
    if (watched == parentWidget() && event->type() == QEvent::Resize) {
        place();
    }
    if (event->type() == QEvent::LayoutRequest && watched == this) {
        place();
    }
    return false;
}

void Flyout::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Escape) {
        closeFlyout();
        return;
    }
    QFrame::keyPressEvent(event);
}

void Flyout::paintEvent(QPaintEvent* /*event*/) {
    const Theme& theme = Theme::current();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const QRectF box = QRectF(rect()).adjusted(kShadow, kShadow, -kShadow, -kShadow);
    painter.setPen(Qt::NoPen);
    for (int i = kShadow; i > 0; --i) {
        painter.setBrush(QColor(0, 0, 0, theme.is_dark ? 7 : 3));
        painter.drawRoundedRect(box.adjusted(-i, -i + 2, i, i), Theme::kRadius + 2 + i,
                                Theme::kRadius + 2 + i);
    }
    painter.setPen(theme.border);
    painter.setBrush(theme.surface);
    painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), Theme::kRadius + 2,
                            Theme::kRadius + 2);
}

} // namespace ui
