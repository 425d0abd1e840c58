// SPDX-License-Identifier: Apache-2.0
// Ends what is shown for a while, but never under the user's hand: a notice stays as long as the
// pointer is on or near it or the focus is in it, and goes a moment after both have left. Buttons
// that come up under the pointer take no click for a moment: it was meant for what was there.
#pragma once

#include <QObject>
#include <QTimer>

class QWidget;

namespace ui {

class Passing : public QObject {
    Q_OBJECT

public:
    /// Watches `widget`, which owns it.
    explicit Passing(QWidget* widget);

    /// passed() in `ms` milliseconds, or later.
    void start(int ms);
    void stop();
    [[nodiscard]] bool isActive() const { return timer_.isActive(); }
    /// To be called when the widget has come up, or its buttons are others.
    void holdClicks();

    static constexpr int kNear = 40;      ///< Pixels around the widget.
    static constexpr int kAfterMs = 1500; ///< From the hand's leaving to the end.

Q_SIGNALS:
    void passed();

private:
    [[nodiscard]] bool isHeld() const;

    QWidget* widget_;
    QTimer timer_;
    QTimer clicks_;
};

} // namespace ui
