// SPDX-License-Identifier: Apache-2.0
// What hangs at the pointer while a block is held: the block, slightly tilted, and the card with
// the price of dropping it where it is. Both let the mouse through.
#pragma once

#include "ui/layout/layout_price.h"

#include <QPixmap>
#include <QWidget>

#include <vector>

class QVariantAnimation;

namespace ui {

class DragGhost : public QWidget {
    Q_OBJECT

public:
    explicit DragGhost(QWidget* parent);
    /// `grip`: where in the picture the pointer holds it.
    void pickUp(const QPixmap& picture, const QPoint& grip);
    /// In the parent's coordinates.
    void moveTo(const QPoint& pointer);
    /// Let go: goes to `place` in the parent and is gone there.
    void land(const QRect& place);

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QPixmap picture_;
    QPoint grip_, from_, to_;
    QVariantAnimation* motion_;
};

class PriceCard : public QWidget {
    Q_OBJECT

public:
    explicit PriceCard(QWidget* parent);
    /// `is_refused`: the drop would not fit or cannot be.
    void showPrice(const QString& title, const std::vector<PriceRow>& rows, bool is_refused);
    [[nodiscard]] QString text() const;
    [[nodiscard]] QSize sizeHint() const override;
    /// Beside `anchor` (a rectangle of the parent), inside the parent.
    void placeBeside(const QRect& anchor);

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    [[nodiscard]] int valueWidth() const;
    [[nodiscard]] static int detailHeight(const PriceRow& row);
    QString title_;
    std::vector<PriceRow> rows_;
    bool is_refused_ = false;
};

} // namespace ui
