// SPDX-License-Identifier: Apache-2.0
// A place in time that is drawn by its own kind of widget: keyboard, and name, role and value for
// screen readers, as every slider has them.
#pragma once

#include <QWidget>

namespace ui {

class TimeSlider : public QWidget {
    Q_OBJECT

public:
    explicit TimeSlider(QWidget* parent = nullptr);

    [[nodiscard]] virtual double value() const = 0;   ///< Seconds.
    [[nodiscard]] virtual double maximum() const = 0; ///< Seconds; 0 while not known.
    /// Within 0 to maximum().
    virtual void moveTo(double seconds) = 0;
    /// What a screen reader says for the value.
    [[nodiscard]] virtual QString valueText() const = 0;
    /// Space, Enter and the screen reader's press; nothing by default.
    virtual void press() {}

protected:
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;
    /// Tells screen readers.
    void valueChanged();

    double step = 1.0, page = 10.0; ///< Seconds of an arrow key, of Page Up and Page Down.
};

} // namespace ui
