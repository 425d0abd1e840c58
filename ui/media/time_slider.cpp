// SPDX-License-Identifier: Apache-2.0
#include "ui/media/time_slider.h"

#include <QAccessible>
#include <QAccessibleWidget>
#include <QKeyEvent>

#include <algorithm>

namespace ui {

namespace {

class TimeSliderAccessible : public QAccessibleWidget, public QAccessibleValueInterface {
public:
    explicit TimeSliderAccessible(TimeSlider* slider)
        : QAccessibleWidget(slider, QAccessible::Slider) {}

    void* interface_cast(QAccessible::InterfaceType type) override {
        if (type == QAccessible::ValueInterface) {
            return static_cast<QAccessibleValueInterface*>(this);
        }
        return QAccessibleWidget::interface_cast(type);
    }
    [[nodiscard]] QString text(QAccessible::Text kind) const override {
        return kind == QAccessible::Value ? slider()->valueText() : QAccessibleWidget::text(kind);
    }
    [[nodiscard]] QVariant currentValue() const override { return slider()->value(); }
    void setCurrentValue(const QVariant& value) override { slider()->moveTo(value.toDouble()); }
    [[nodiscard]] QVariant minimumValue() const override { return 0.0; }
    [[nodiscard]] QVariant maximumValue() const override { return slider()->maximum(); }
    [[nodiscard]] QVariant minimumStepSize() const override { return 1.0; }
    [[nodiscard]] QStringList actionNames() const override {
        return QStringList{pressAction()} + QAccessibleWidget::actionNames();
    }
    void doAction(const QString& name) override {
        if (name == pressAction()) {
            slider()->press();
        } else {
            QAccessibleWidget::doAction(name);
        }
    }

private:
    [[nodiscard]] TimeSlider* slider() const { return static_cast<TimeSlider*>(widget()); }
};

QAccessibleInterface* makeInterface(const QString& /*class_name*/, QObject* object) {
    auto* slider = qobject_cast<TimeSlider*>(object);
    return slider != nullptr ? new TimeSliderAccessible(slider) : nullptr;
}

} // namespace

TimeSlider::TimeSlider(QWidget* parent) : QWidget(parent) {
    static const bool is_installed = [] {
        QAccessible::installFactory(makeInterface);
        return true;
    }();
    Q_UNUSED(is_installed);
    setFocusPolicy(Qt::StrongFocus);
}

void TimeSlider::keyPressEvent(QKeyEvent* event) {
    const bool is_mirrored = layoutDirection() == Qt::RightToLeft;
    double to = value();
    switch (event->key()) {
    case Qt::Key_Left:
        to += is_mirrored ? step : -step;
        break;
    case Qt::Key_Right:
        to += is_mirrored ? -step : step;
        break;
    case Qt::Key_Up:
        to += step;
        break;
    case Qt::Key_Down:
        to -= step;
        break;
    case Qt::Key_PageUp:
        to += page;
        break;
    case Qt::Key_PageDown:
        to -= page;
        break;
    case Qt::Key_Home:
        to = 0.0;
        break;
    case Qt::Key_End:
        to = maximum();
        break;
    case Qt::Key_Space:
    case Qt::Key_Return:
    case Qt::Key_Enter:
        press();
        return;
    default:
        QWidget::keyPressEvent(event);
        return;
    }
    if (event->modifiers() != Qt::NoModifier && event->modifiers() != Qt::KeypadModifier) {
        QWidget::keyPressEvent(event); // a shortcut of the window, such as Alt+Left
        return;
    }
    moveTo(std::clamp(to, 0.0, std::max(maximum(), 0.0)));
}

void TimeSlider::focusInEvent(QFocusEvent* event) {
    QWidget::focusInEvent(event);
    update();
}

void TimeSlider::focusOutEvent(QFocusEvent* event) {
    QWidget::focusOutEvent(event);
    update();
}

void TimeSlider::valueChanged() {
    if (QAccessible::isActive()) {
        QAccessibleValueChangeEvent event(this, value());
        QAccessible::updateAccessibility(&event);
    }
    update();
}

} // namespace ui
