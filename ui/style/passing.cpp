// SPDX-License-Identifier: Apache-2.0
#include "ui/style/passing.h"

#include <QAbstractButton>
#include <QApplication>
#include <QCursor>
#include <QWidget>

namespace ui {

namespace {

constexpr int kHoldClicksMs = 400;

void setTakesClicks(QWidget* widget, bool takes) {
    const QList<QAbstractButton*> buttons = widget->findChildren<QAbstractButton*>();
    for (QAbstractButton* button : buttons) {
        button->setAttribute(Qt::WA_TransparentForMouseEvents, !takes);
    }
}

QRect onScreen(const QWidget* widget) {
    return {widget->mapToGlobal(QPoint(0, 0)), widget->size()};
}

} // namespace

Passing::Passing(QWidget* widget) : QObject(widget), widget_(widget) {
    timer_.setSingleShot(true);
    connect(&timer_, &QTimer::timeout, this, [this] {
        if (isHeld()) {
            timer_.start(kAfterMs);
        } else {
            Q_EMIT passed();
        }
    });
    clicks_.setSingleShot(true);
    clicks_.setInterval(kHoldClicksMs);
    connect(&clicks_, &QTimer::timeout, this, [this] { setTakesClicks(widget_, true); });
}

void Passing::start(int ms) {
    timer_.start(ms);
}

void Passing::stop() {
    timer_.stop();
}

void Passing::holdClicks() {
    const bool is_under_pointer = onScreen(widget_).contains(QCursor::pos());
    setTakesClicks(widget_, !is_under_pointer);
    if (is_under_pointer) {
        clicks_.start();
    }
}

bool Passing::isHeld() const {
    const QWidget* focused = QApplication::focusWidget();
    return (focused != nullptr && (focused == widget_ || widget_->isAncestorOf(focused))) ||
           (widget_->isVisible() &&
            onScreen(widget_).adjusted(-kNear, -kNear, kNear, kNear).contains(QCursor::pos()));
}

} // namespace ui
