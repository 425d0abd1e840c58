// SPDX-License-Identifier: Apache-2.0
// Memory over context as a drawing: the grid's lines, the limit of the cards, the point under the
// pointer or the keys. Solid: keys and values in 16 bits; broken: in 8. A full point fits, a ring
// needs main memory as well, a cross does not fit.
#pragma once

#include "ui/explore/fit_grid.h"

#include <QWidget>

namespace ui {

class FitChart : public QWidget {
    Q_OBJECT

public:
    explicit FitChart(QWidget* parent = nullptr);

    /// `limit_name`: what stands at the line of the limit, "RTX 3060".
    void show(const FitGrid& grid, const QString& limit_name);
    [[nodiscard]] std::optional<FitGrid::Place> current() const { return current_; }
    void setCurrent(std::optional<FitGrid::Place> place);
    /// Where a point is drawn.
    [[nodiscard]] QPointF position(FitGrid::Place place) const;
    /// As it is, with a heading and what the colours mean.
    [[nodiscard]] QImage picture(const QString& heading) const;
    [[nodiscard]] QSize minimumSizeHint() const override;

Q_SIGNALS:
    void currentChanged();
    /// A click, or Enter.
    void chosen(ui::FitGrid::Place place);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;

private:
    struct Scale {
        QRectF area;
        double least = 0, most = 1; ///< Bytes at the lower and the upper edge.
        double step = 1;            ///< Between two lines of the grid.
        [[nodiscard]] double yOf(double bytes) const {
            return area.bottom() - (bytes - least) / (most - least) * area.height();
        }
    };
    [[nodiscard]] Scale scaleFor(const QRectF& all) const;
    [[nodiscard]] QPointF at(const Scale& scale, FitGrid::Place place) const;
    void paintAll(QPainter& painter, const QRectF& all) const;
    void paintAxes(QPainter& painter, const Scale& scale) const;
    void paintLimit(QPainter& painter, const Scale& scale) const;
    void paintLine(QPainter& painter, const Scale& scale, size_t line) const;
    void paintCurrent(QPainter& painter, const Scale& scale) const;
    [[nodiscard]] std::optional<FitGrid::Place> nearest(const QPointF& to) const;
    /// The next shown line above or below at the same context.
    void step(int direction);

    FitGrid grid_;
    QString limit_name_;
    std::optional<FitGrid::Place> current_;
};

} // namespace ui
