// SPDX-License-Identifier: Apache-2.0
// The contents of a dialog that may be taller than the screen: as large as they want to be where
// there is room, else they scroll. The dialog's buttons stand below it and are always in sight.
#pragma once

#include <QScrollArea>

class QDialog;

namespace ui {

class BodyArea : public QScrollArea {
    Q_OBJECT

public:
    /// Takes `body`, whose layout is complete.
    explicit BodyArea(QWidget* body, QWidget* parent = nullptr);

    /// The bar's width stays free also where nothing scrolls: what ends at the body's right edge
    /// keeps its distance from the dialog's.
    void keepBarRoom();

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

    /// Gives a dialog the size that it wants, as far as its screen has it. Before it is shown.
    static void fitToScreen(QDialog* dialog);
};

} // namespace ui
