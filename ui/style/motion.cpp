// SPDX-License-Identifier: Apache-2.0
#include "ui/style/motion.h"

#include <QApplication>
#include <QPropertyAnimation>
#include <QVariantAnimation>
#include <QWidget>

namespace ui {

namespace {

constexpr int kMotionMs = 140;
bool is_motion_wanted = false;

QPropertyAnimation* slideOf(const QWidget* widget) {
    return widget->findChild<QPropertyAnimation*>(QString(), Qt::FindDirectChildrenOnly);
}

} // namespace

void setMotion(bool is_wanted) {
    is_motion_wanted = is_wanted;
}

bool isMotionOn() {
#ifdef Q_OS_WIN
    return is_motion_wanted && QApplication::isEffectEnabled(Qt::UI_General);
#else
    return is_motion_wanted;
#endif
}

QVariantAnimation* newMotion(QWidget* parent) {
    auto* motion = new QVariantAnimation(parent);
    motion->setStartValue(0.0);
    motion->setEndValue(1.0);
    motion->setDuration(kMotionMs);
    motion->setEasingCurve(QEasingCurve::OutCubic);
    return motion;
}

void slideFrom(QWidget* widget, const QRect& from) {
    QPropertyAnimation* slide = slideOf(widget);
    const QRect place = slide == nullptr ? widget->geometry() : slide->endValue().toRect();
    if (!isMotionOn() || !widget->isVisible() || from == place) {
        return;
    }
    if (slide == nullptr) {
        slide = new QPropertyAnimation(widget, "geometry", widget);
    }
    slide->stop();
    slide->setStartValue(from);
    slide->setEndValue(place);
    slide->setDuration(kMotionMs);
    slide->setEasingCurve(QEasingCurve::OutCubic);
    slide->start();
}

void placeAt(QWidget* widget, const QRect& place) {
    QPropertyAnimation* slide = slideOf(widget);
    if (slide == nullptr || slide->state() != QAbstractAnimation::Running) {
        widget->setGeometry(place);
    }
    if (slide != nullptr) {
        slide->setEndValue(place);
    }
}

} // namespace ui
