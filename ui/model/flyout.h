// SPDX-License-Identifier: Apache-2.0
// A panel that opens below a button inside the window and closes on Esc, on a click elsewhere and
// when the keyboard focus leaves it. A child of the window rather than a popup, so that it takes
// drops, file dialogs can stand above it, and the focus chain reaches it.
#pragma once

#include <QFrame>
#include <QPointer>

namespace ui {

class Flyout : public QFrame {
    Q_OBJECT

public:
    explicit Flyout(QWidget* parent);

    /// Shows below `anchor`, left edges aligned, kept inside the window; focus goes to the first
    /// control inside.
    void openBelow(QWidget* anchor);
    /// Hides; focus goes back to the anchor when it was inside.
    void closeFlyout();
    /// Space that the shadow takes around the panel.
    static constexpr int kShadow = 12;

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void hideEvent(QHideEvent* event) override;
    /// Below its anchor, in the size that it wants now.
    void place();

private:
    [[nodiscard]] bool holds(const QWidget* widget) const;

    QPointer<QWidget> anchor_;
};

} // namespace ui
