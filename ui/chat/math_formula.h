// SPDX-License-Identifier: Apache-2.0
// A formula laid out to be drawn: letters, rules and marks at their places from the baseline.
// Follows TeX in proportions and spacing, with the fonts that are there: fences, roots and accents
// are drawn as lines. Immutable; formulas that were laid out once are kept for a while.
#pragma once

#include "ui/chat/math_parse.h"

#include <QFont>
#include <QPainterPath>
#include <QPointF>
#include <QString>

#include <memory>
#include <vector>

class QColor;
class QPainter;

namespace ui {

class MathFormula {
public:
    /// `source` is what `node` was read from. GUI thread only.
    static std::shared_ptr<const MathFormula>
    make(const MathNode& node, const QString& source, const QFont& font, bool is_display);

    [[nodiscard]] double width() const { return width_; }
    [[nodiscard]] double ascent() const { return ascent_; }
    [[nodiscard]] double descent() const { return descent_; }
    /// `baseline`: its left end. `scale`: 1 is as it was laid out.
    void draw(QPainter& painter, const QPointF& baseline, const QColor& color, double scale) const;

private:
    friend class MathLayout;
    struct Glyphs {
        QPointF at;
        QString text;
        QFont font;
    };
    struct Stroke {
        QPainterPath path;
        double width = 1.0; ///< 0: filled.
    };
    std::vector<Glyphs> glyphs_;
    std::vector<Stroke> strokes_;
    double width_ = 0.0, ascent_ = 0.0, descent_ = 0.0;
};

} // namespace ui
