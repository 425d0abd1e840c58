// SPDX-License-Identifier: Apache-2.0
// One block of the layout editor: paints itself (layers as a row of columns, towers as towers) and
// tells what the user does with it. Decides nothing.
#pragma once

#include "ui/layout/layout_blocks.h"

#include <QKeyEvent>
#include <QWidget>

#include <memory>

namespace ui {

class BlockWidget : public QWidget {
    Q_OBJECT

public:
    explicit BlockWidget(QWidget* parent = nullptr);

    void setBlock(const LayoutBlock& block, std::shared_ptr<const engine::PlacementPlan> plan);
    [[nodiscard]] const LayoutBlock& block() const { return block_; }
    [[nodiscard]] bool isHovered() const { return is_hovered_; }

    /// Height below which its texts do not fit.
    [[nodiscard]] int minimumBlockHeight() const;
    [[nodiscard]] bool isTower() const;
    /// Length of the coloured edge: bytes on the scale that all lanes share.
    void setScaleLength(int pixels);
    /// In the hand: its place shows an outline.
    void setHeld(bool is_held);
    /// Shows where Split would cut, before layer `layer`; -1 = nowhere.
    void setCutMark(int layer);
    [[nodiscard]] int cutMark() const { return cut_mark_; }
    /// How it looks, for the drag.
    [[nodiscard]] QPixmap picture();

    [[nodiscard]] QSize sizeHint() const override;

Q_SIGNALS:
    void grabbed(const QPoint& global);
    void dragged(const QPoint& global);
    void dropped(const QPoint& global);
    void menuRequested(const QPoint& global);
    /// Double click: the next best thing to do with it.
    void opened();
    /// Split before this layer was asked for with the mouse.
    void cutRequested(int layer);
    void keyPressed(QKeyEvent* event);
    /// The pointer or the focus came or went.
    void notedOrLeft();
    void focused();

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;
    void enterEvent(QEnterEvent* event) override;
    void leaveEvent(QEvent* event) override;
    bool event(QEvent* event) override;

private:
    void paintFrame(QPainter& painter) const;
    void paintTexts(QPainter& painter, const QRect& area) const;
    void paintLayers(QPainter& painter) const;
    void paintTower(QPainter& painter) const;
    void paintMarks(QPainter& painter) const;
    [[nodiscard]] std::vector<QColor> marks() const;
    [[nodiscard]] QRect barsArea() const;
    /// Layer before which the gap nearest to `x` lies; -1 outside.
    [[nodiscard]] int gapAt(const QPoint& position) const;
    [[nodiscard]] QRect scissorsArea(int layer) const;
    [[nodiscard]] int gapX(int layer) const;
    [[nodiscard]] QFont titleFont() const;
    [[nodiscard]] QFont smallFont() const;

    LayoutBlock block_;
    std::shared_ptr<const engine::PlacementPlan> plan_;
    int scale_length_ = 0;
    bool is_held_ = false;
    bool is_pressed_ = false;
    bool is_dragging_ = false;
    bool is_hovered_ = false;
    int cut_mark_ = -1;
    int hovered_gap_ = -1;
    QPoint pressed_at_;
};

/// The colour of a block's kind, from the theme in force.
QColor blockColor(BlockKind kind);

} // namespace ui
