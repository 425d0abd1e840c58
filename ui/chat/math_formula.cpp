// SPDX-License-Identifier: Apache-2.0
#include "ui/chat/math_formula.h"

#include "ui/style/theme.h"

#include <QCache>
#include <QFontMetricsF>
#include <QHash>
#include <QPainter>

#include <algorithm>
#include <cmath>
#include <utility>

namespace ui {

namespace {

using Kind = MathNode::Kind;

constexpr int kKeptFormulas = 50000; ///< Glyphs and strokes of all that are kept.
constexpr qsizetype kKeptSizes = 16;

/// How large, from a line of its own down to a script of a script.
enum class MathSize : uint8_t { Display = 1, Text, Script, ScriptScript };

MathSize scriptOf(MathSize size) {
    return size <= MathSize::Text ? MathSize::Script : MathSize::ScriptScript;
}
MathSize partOf(MathSize size) {
    return size == MathSize::Display ? MathSize::Text : scriptOf(size);
}

} // namespace

/// Lays a tree out. A box is what it adds to the formula: moved as a whole, as long as it is the
/// last that was added or the caller keeps where it began.
class MathLayout {
public:
    MathLayout(MathFormula* formula, const QFont& font)
        : formula_(formula), base_(font), faces_(facesOf(font)) {}

    struct Box {
        double width = 0.0, ascent = 0.0, descent = 0.0;
        double slant = 0.0;                     ///< How much further its upper end reaches.
        size_t glyphs = 0, strokes = 0;         ///< Where its parts begin in the formula,
        size_t glyphs_end = 0, strokes_end = 0; ///< and where they end.
        MathClass part = MathClass::Ordinary;
        [[nodiscard]] double height() const { return ascent + descent; }
    };

    Box node(const MathNode& node, MathSize size) {
        Box box = begin();
        switch (node.kind) {
        case Kind::Row:
            box = row(node.children, size);
            break;
        case Kind::Symbol:
            box = symbol(node, size);
            break;
        case Kind::Space:
            box.width = node.amount * em(size);
            break;
        case Kind::Fraction:
            box = fraction(node, size);
            break;
        case Kind::Root:
            box = root(node, size);
            break;
        case Kind::Scripts:
            box = scripts(node, size);
            break;
        case Kind::Fence:
            box = fence(node, size);
            break;
        case Kind::Matrix:
            box = matrix(node, size);
            break;
        case Kind::Accent:
            box = accent(node, size);
            break;
        case Kind::Box: {
            box = this->node(node.children.front(), size);
            const double pad = 0.3 * em(size);
            move(box, pad, 0.0);
            box.width += 2.0 * pad;
            box.ascent += pad;
            box.descent += pad;
            QPainterPath frame;
            frame.addRect({0.0, -box.ascent, box.width, box.height()});
            stroke(frame, line(size));
            end(box);
            break;
        }
        }
        box.part =
            node.kind == Kind::Row && node.part == MathClass::Ordinary ? box.part : node.part;
        return box;
    }

private:
    struct Face {
        QFont font;
        QFontMetricsF metrics;
    };
    using Faces = QHash<int, Face>;

    /// Fonts are looked up once for each size of the text.
    static Faces& facesOf(const QFont& base) {
        static QHash<QString, Faces> all;
        if (all.size() > kKeptSizes) {
            all.clear();
        }
        return all[base.key()];
    }

    const Face& face(MathSize size, MathFont style) {
        const int key = static_cast<int>(size == MathSize::Display ? MathSize::Text : size) * 16 +
                        static_cast<int>(style);
        auto found = faces_.find(key);
        if (found == faces_.end()) {
            QFont font = style == MathFont::Mono ? codeFont() : base_;
            if (style != MathFont::Mono) {
                QStringList families;
                for (const char* family :
                     {"STIX Two Text", "Latin Modern Roman", "Cambria", "Times New Roman",
                      "Liberation Serif", "Nimbus Roman", "DejaVu Serif", "Noto Serif",
                      "STIX Two Math", "Cambria Math", "Noto Sans Math", "DejaVu Math TeX Gyre"}) {
                    families.append(QString::fromLatin1(family));
                }
                font.setFamilies(families + base_.families());
                font.setStyleHint(QFont::Serif);
            }
            const double scale = size <= MathSize::Text     ? 1.14
                                 : size == MathSize::Script ? 0.86
                                                            : 0.7;
            font.setPointSizeF(base_.pointSizeF() * scale);
            font.setItalic(style == MathFont::Italic || style == MathFont::BoldItalic);
            font.setBold(style == MathFont::Bold || style == MathFont::BoldItalic);
            found = faces_.insert(key, {font, QFontMetricsF(font)});
        }
        return *found;
    }
    double em(MathSize size) { return face(size, MathFont::Roman).metrics.height() * 0.78; }
    double xHeight(MathSize size) { return face(size, MathFont::Roman).metrics.xHeight(); }
    double axis(MathSize size) { return xHeight(size) * 0.52; }
    double line(MathSize size) { return std::max(1.0, em(size) * 0.06); }

    [[nodiscard]] Box begin() const {
        Box box;
        box.glyphs = box.glyphs_end = formula_->glyphs_.size();
        box.strokes = box.strokes_end = formula_->strokes_.size();
        return box;
    }
    void end(Box& box) const {
        box.glyphs_end = formula_->glyphs_.size();
        box.strokes_end = formula_->strokes_.size();
    }
    void move(const Box& box, double dx, double dy) {
        for (size_t i = box.glyphs; i < box.glyphs_end; ++i) {
            formula_->glyphs_[i].at += QPointF(dx, dy);
        }
        for (size_t i = box.strokes; i < box.strokes_end; ++i) {
            formula_->strokes_[i].path.translate(dx, dy);
        }
    }
    void stroke(const QPainterPath& path, double width) {
        formula_->strokes_.push_back({path, width});
    }
    void rule(double x, double y, double width, double thickness) {
        QPainterPath path;
        path.addRect({x, y - thickness / 2.0, width, thickness});
        stroke(path, 0.0);
    }

    Box glyphs(const QString& text, const Face& face, double scale = 1.0) {
        Box box = begin();
        QFont font = face.font;
        QFontMetricsF metrics = face.metrics;
        if (scale != 1.0) {
            font.setPointSizeF(font.pointSizeF() * scale);
            metrics = QFontMetricsF(font);
        }
        const QRectF ink = metrics.tightBoundingRect(text);
        box.width = metrics.horizontalAdvance(text);
        box.slant = std::max(0.0, ink.right() - box.width);
        box.ascent = std::max(0.0, -ink.top());
        box.descent = std::max(0.0, ink.bottom());
        double left = 0.0;
        if (text.size() == 1 && text.at(0).unicode() >= 0x80 && !text.at(0).isLetter()) {
            // Symbols come from fonts of their own, with much or little room around them.
            const double bearing = 0.05 * metrics.height();
            left = bearing - ink.left();
            box.width = ink.width() + 2.0 * bearing;
            box.slant = 0.0;
        }
        formula_->glyphs_.push_back({{left, 0.0}, text, font});
        end(box);
        return box;
    }

    Box symbol(const MathNode& node, MathSize size) {
        if (!node.is_large) {
            return glyphs(node.text, face(size, node.font));
        }
        Box box =
            glyphs(node.text, face(size, MathFont::Roman), size == MathSize::Display ? 1.75 : 1.25);
        // In the middle of the line's own height.
        const double shift = (box.ascent - box.descent) / 2.0 - axis(size);
        move(box, 0.0, shift);
        box.ascent -= shift;
        box.descent += shift;
        return box;
    }

    static double spaceBetween(MathClass left, MathClass right) {
        using C = MathClass;
        constexpr double kThin = 0.17, kMedium = 0.22, kThick = 0.28;
        if (left == C::Open || right == C::Close || right == C::Comma ||
            (left == C::Close && right == C::Open)) {
            return 0.0;
        }
        if (left == C::Comma) {
            return kThin;
        }
        if (left == C::Relation || right == C::Relation) {
            return left == right ? 0.0 : kThick;
        }
        if (left == C::Binary || right == C::Binary) {
            return kMedium;
        }
        if (left == C::Operator) {
            return right == C::Open ? 0.0 : kThin;
        }
        return right == C::Operator ? kThin : 0.0;
    }

    Box row(const std::vector<MathNode>& children, MathSize size) {
        Box whole = begin();
        MathClass before = MathClass::Open; // a sign at the beginning is no operation
        const Box* last = nullptr;
        Box part;
        for (size_t i = 0; i < children.size(); ++i) {
            part = node(children[i], size);
            last = &part;
            if (children[i].kind == Kind::Space) {
                whole.width += part.width;
                continue;
            }
            MathClass kind = part.part;
            if (kind == MathClass::Binary &&
                (before == MathClass::Binary || before == MathClass::Relation ||
                 before == MathClass::Open || before == MathClass::Comma ||
                 before == MathClass::Operator)) {
                kind = MathClass::Ordinary;
            }
            const bool is_script = size >= MathSize::Script;
            const double gap =
                i == 0 || (is_script &&
                           (kind == MathClass::Binary || kind == MathClass::Relation ||
                            before == MathClass::Binary || before == MathClass::Relation))
                    ? 0.0
                    : spaceBetween(before, kind) * em(size);
            // What stands in fences of its own height keeps apart from its neighbours.
            const bool is_apart =
                gap == 0.0 && i > 0 && !is_script && kind == MathClass::Ordinary &&
                before == MathClass::Ordinary &&
                (children[i].kind == Kind::Fence || children[i - 1].kind == Kind::Fence);
            whole.width += is_apart ? 0.17 * em(size) : gap;
            move(part, whole.width, 0.0);
            whole.width += part.width;
            whole.ascent = std::max(whole.ascent, part.ascent);
            whole.descent = std::max(whole.descent, part.descent);
            before = kind;
        }
        whole.slant = last != nullptr ? last->slant : 0.0;
        if (children.size() == 1) {
            whole.part = part.part;
        }
        end(whole);
        return whole;
    }

    Box fraction(const MathNode& node, MathSize size) {
        Box whole = begin();
        const Box above = this->node(node.children[0], partOf(size));
        const Box below = this->node(node.children[1], partOf(size));
        const double thickness = line(size), middle = axis(size);
        const double gap = em(size) * (size == MathSize::Display ? 0.2 : 0.1) + thickness / 2.0;
        const double pad = 0.12 * em(size);
        const double inner = std::max(above.width + above.slant, below.width);
        const double up = middle + gap + above.descent, down = gap + below.ascent - middle;
        move(above, pad + (inner - above.width) / 2.0, -up);
        move(below, pad + (inner - below.width) / 2.0, down);
        if (node.amount > 0.0) {
            rule(0.5 * pad, -middle, inner + pad, thickness);
        }
        whole.width = inner + 2.0 * pad;
        whole.ascent = up + above.ascent;
        whole.descent = down + below.descent;
        end(whole);
        return whole;
    }

    Box root(const MathNode& node, MathSize size) {
        Box whole = begin();
        const Box inner = this->node(node.children[0], size);
        const double thickness = line(size), unit = em(size);
        const double ascent = std::max(inner.ascent, xHeight(size)) + 0.16 * unit;
        const double descent = std::max(inner.descent, 0.02 * unit);
        double left = 0.0;
        const MathNode& degree = node.children[1];
        const double sign = 0.55 * unit + 0.08 * (ascent + descent);
        if (degree.kind == Kind::Symbol) {
            const Box small = this->node(degree, MathSize::ScriptScript);
            left = std::max(0.0, small.width - 0.35 * sign);
            move(small, std::max(0.0, 0.35 * sign - small.width),
                 descent - (ascent + descent) * 0.58);
        }
        move(inner, left + sign, 0.0);
        QPainterPath path;
        path.moveTo(left, -0.30 * ascent);
        path.lineTo(left + 0.22 * sign, -0.42 * ascent);
        path.lineTo(left + 0.52 * sign, descent);
        path.lineTo(left + 0.92 * sign, -ascent);
        path.lineTo(left + sign + inner.width + inner.slant + 0.08 * unit, -ascent);
        stroke(path, thickness);
        whole.width = left + sign + inner.width + inner.slant + 0.12 * unit;
        whole.ascent = ascent + thickness;
        whole.descent = descent + thickness / 2.0;
        end(whole);
        return whole;
    }

    Box scripts(const MathNode& node, MathSize size) {
        const MathNode& base_node = node.children[0];
        Box whole = begin();
        Box base = this->node(base_node, size);
        const Box below = this->node(node.children[1], scriptOf(size));
        const Box above = this->node(node.children[2], scriptOf(size));
        const bool has_below = !node.children[1].children.empty();
        const bool has_above = !node.children[2].children.empty();
        const double unit = em(size);
        const bool is_named = base_node.part != MathClass::Operator;
        if (node.has_limits && (size == MathSize::Display || is_named)) {
            const double inner = std::max({base.width, below.width, above.width});
            move(base, (inner - base.width) / 2.0, 0.0);
            whole.ascent = base.ascent;
            whole.descent = base.descent;
            if (has_above) {
                const double up = base.ascent + 0.16 * unit + above.descent;
                move(above, (inner - above.width) / 2.0, -up);
                whole.ascent = up + above.ascent;
            }
            if (has_below) {
                const double down = base.descent + 0.16 * unit + below.ascent;
                move(below, (inner - below.width) / 2.0, down);
                whole.descent = down + below.descent;
            }
            whole.width = inner;
            end(whole);
            return whole;
        }
        const bool is_tall = base_node.kind != Kind::Symbol || base_node.is_large;
        double up = is_tall ? base.ascent - 0.22 * unit : 0.0;
        up = std::max({up, 0.36 * unit, above.descent + 0.25 * xHeight(size)});
        double down = is_tall ? base.descent + 0.05 * unit : 0.0;
        down = std::max({down, 0.16 * unit, below.ascent - 0.8 * xHeight(size)});
        if (has_above && has_below) {
            const double gap = (up - above.descent) + (down - below.ascent);
            down += std::max(0.0, 0.16 * unit - gap);
        }
        const double space = 0.04 * unit;
        move(above, base.width + base.slant + space, -up);
        // An integral leans: what is below it moves in.
        const bool leans = base_node.is_large && !base_node.has_limits;
        move(below, base.width + space - (leans ? 0.22 * base.width : 0.0), down);
        whole.width =
            base.width + space +
            std::max(has_above ? above.width + base.slant : 0.0, has_below ? below.width : 0.0) +
            0.03 * unit;
        whole.ascent = std::max(base.ascent, has_above ? up + above.ascent : 0.0);
        whole.descent = std::max(base.descent, has_below ? down + below.descent : 0.0);
        end(whole);
        return whole;
    }

    /// One mark, as high as what it encloses; returns its width.
    double mark(QChar c, double x, double ascent, double descent, MathSize size) {
        if (c == QLatin1Char('.')) {
            return 0.06 * em(size);
        }
        const double unit = em(size), height = ascent + descent;
        const double width = (c == QLatin1Char('|') ? 0.26
                              : c == QChar(0x2016)  ? 0.4
                                                    : 0.36) *
                                 unit +
                             0.02 * height;
        const double pen = line(size) * 1.15;
        const double l = x + 0.24 * width, r = x + 0.8 * width, middle = (l + r) / 2.0;
        QPainterPath path;
        const auto flip = [&](double at) { return 2.0 * x + width - at; };
        const bool is_right = QStringLiteral(")]}\u27e9\u230b\u2309").contains(c);
        const auto at = [&](double px, double py) { return QPointF(is_right ? flip(px) : px, py); };
        switch (c.unicode()) {
        case '(':
        case ')':
            path.moveTo(at(r, -ascent));
            path.cubicTo(at(l - 0.1 * width, -ascent + 0.28 * height),
                         at(l - 0.1 * width, descent - 0.28 * height), at(r, descent));
            break;
        case '[':
        case ']':
        case 0x230a:
        case 0x230b:
        case 0x2308:
        case 0x2309: {
            const bool has_top = c != QChar(0x230a) && c != QChar(0x230b);
            const bool has_foot = c != QChar(0x2308) && c != QChar(0x2309);
            path.moveTo(has_top ? at(r, -ascent) : at(l, -ascent));
            path.lineTo(at(l, -ascent));
            path.lineTo(at(l, descent));
            path.lineTo(has_foot ? at(r, descent) : at(l, descent));
            break;
        }
        case '{':
        case '}': {
            const double half = (descent - ascent) / 2.0;
            path.moveTo(at(r, -ascent));
            path.quadTo(at(middle, -ascent), at(middle, -ascent + 0.12 * height));
            path.lineTo(at(middle, half - 0.1 * height));
            path.quadTo(at(middle, half), at(l, half));
            path.quadTo(at(middle, half), at(middle, half + 0.1 * height));
            path.lineTo(at(middle, descent - 0.12 * height));
            path.quadTo(at(middle, descent), at(r, descent));
            break;
        }
        case 0x27e8:
        case 0x27e9:
            path.moveTo(at(r, -ascent));
            path.lineTo(at(l, (descent - ascent) / 2.0));
            path.lineTo(at(r, descent));
            break;
        case '/':
            path.moveTo(r, -ascent);
            path.lineTo(l, descent);
            break;
        default: // one bar or two
            path.moveTo(c == QChar(0x2016) ? l : middle, -ascent);
            path.lineTo(c == QChar(0x2016) ? l : middle, descent);
            if (c == QChar(0x2016)) {
                path.moveTo(r, -ascent);
                path.lineTo(r, descent);
            }
        }
        stroke(path, pen);
        return width;
    }

    Box fence(const MathNode& node, MathSize size) {
        Box whole = begin();
        const Box inner = this->node(node.children.front(), size);
        // As far above the middle of the line as below it.
        const double middle = axis(size), unit = em(size);
        const double half =
            std::max({inner.ascent - middle, inner.descent + middle, 0.5 * unit}) + 0.06 * unit;
        const double pad = half > 0.8 * unit ? 0.1 * unit : 0.0; // marks of high fences bend
        const double open = mark(node.text.at(0), 0.0, half + middle, half - middle, size) + pad;
        move(inner, open, 0.0);
        const double x = open + inner.width + inner.slant * 0.6 + pad;
        const double close = mark(node.text.at(1), x, half + middle, half - middle, size);
        whole.width = x + close;
        whole.ascent = std::max(inner.ascent, half + middle);
        whole.descent = std::max(inner.descent, half - middle);
        end(whole);
        return whole;
    }

    Box matrix(const MathNode& node, MathSize size) {
        Box whole = begin();
        const auto columns = static_cast<size_t>(std::max(node.columns, 1));
        const bool is_aligned = node.text.startsWith(QLatin1Char('r'));
        const MathSize cell_size = is_aligned                  ? size
                                   : size == MathSize::Display ? MathSize::Text
                                                               : size;
        std::vector<Box> cells;
        std::vector<double> widths(columns, 0.0);
        for (size_t i = 0; i < node.children.size(); ++i) {
            cells.push_back(this->node(node.children[i], cell_size));
            widths[i % columns] =
                std::max(widths[i % columns], cells.back().width + cells.back().slant);
        }
        const double unit = em(size);
        const auto gapAfter = [&](size_t column) {
            if (column + 1 == columns) {
                return 0.0;
            }
            // x &= y: a pair stands together.
            return is_aligned ? (column % 2 == 0 ? 0.28 * unit : 1.6 * unit) : 0.9 * unit;
        };
        double y = 0.0; // from the top
        for (size_t first = 0; first < cells.size(); first += columns) {
            double ascent = 0.72 * unit, descent = 0.26 * unit;
            for (size_t c = first; c < first + columns; ++c) {
                ascent = std::max(ascent, cells[c].ascent);
                descent = std::max(descent, cells[c].descent);
            }
            y += (first > 0 ? (is_aligned ? 0.45 : 0.28) * unit : 0.0) + ascent;
            double x = 0.0;
            for (size_t c = 0; c < columns; ++c) {
                const Box& cell = cells[first + c];
                const QChar side = node.text.at(static_cast<qsizetype>(c));
                const double rest = widths[c] - cell.width;
                move(cell,
                     x + (side == QLatin1Char('r')   ? rest
                          : side == QLatin1Char('l') ? 0.0
                                                     : rest / 2.0),
                     y);
                x += widths[c] + gapAfter(c);
            }
            whole.width = x;
            y += descent;
        }
        end(whole);
        const double up = y / 2.0 + axis(size);
        move(whole, 0.0, -up);
        whole.ascent = up;
        whole.descent = y - up;
        return whole;
    }

    Box accent(const MathNode& node, MathSize size) {
        Box whole = this->node(node.children.front(), size);
        const double unit = em(size), pen = line(size);
        const double gap = 0.1 * unit;
        const double top = -std::max(whole.ascent, xHeight(size)) - gap;
        const double middle = (whole.width + whole.slant) / 2.0;
        const double half = std::clamp(whole.width / 2.0, 0.16 * unit, 1.6 * unit);
        QPainterPath path;
        double height = 0.2 * unit;
        if (node.text == QLatin1String("bar")) {
            rule(0.02 * unit, top, whole.width + whole.slant, pen);
            height = pen;
        } else if (node.text == QLatin1String("underline")) {
            rule(0.0, whole.descent + gap, whole.width, pen);
            whole.descent += gap + pen;
            end(whole);
            return whole;
        } else if (node.text == QLatin1String("vec")) {
            const double y = top - 0.08 * unit, right = middle + half, head = 0.12 * unit;
            path.moveTo(middle - half, y);
            path.lineTo(right, y);
            path.moveTo(right - head, y - head * 0.8);
            path.lineTo(right, y);
            path.lineTo(right - head, y + head * 0.8);
        } else if (node.text == QLatin1String("tilde")) {
            path.moveTo(middle - half, top);
            path.cubicTo(middle - half * 0.3, top - 0.28 * unit, middle + half * 0.3,
                         top + 0.14 * unit, middle + half, top - 0.14 * unit);
        } else if (node.text.endsWith(QLatin1String("dot"))) {
            const double r = 0.07 * unit;
            const double apart = node.text == QLatin1String("ddot") ? 0.16 * unit : 0.0;
            path.addEllipse({middle - apart, top - r}, r, r);
            if (apart > 0.0) {
                path.addEllipse({middle + apart, top - r}, r, r);
            }
            stroke(std::exchange(path, {}), 0.0);
        } else { // hat, check
            const double tip = node.text == QLatin1String("check") ? 0.0 : -0.18 * unit;
            path.moveTo(middle - half * 0.8, top - 0.18 * unit - tip);
            path.lineTo(middle, top + tip);
            path.lineTo(middle + half * 0.8, top - 0.18 * unit - tip);
        }
        if (!path.isEmpty()) {
            stroke(path, pen);
        }
        whole.ascent = -top + height;
        end(whole);
        return whole;
    }

    MathFormula* formula_;
    QFont base_;
    Faces& faces_;
};

std::shared_ptr<const MathFormula>
MathFormula::make(const MathNode& node, const QString& source, const QFont& font, bool is_display) {
    static QCache<QString, std::shared_ptr<const MathFormula>> kept(kKeptFormulas);
    const QString key = font.key() + QLatin1Char(is_display ? '!' : '.') + source;
    if (const auto* found = kept.object(key)) {
        return *found;
    }
    auto formula = std::make_shared<MathFormula>();
    const MathLayout::Box box =
        MathLayout(formula.get(), font).node(node, is_display ? MathSize::Display : MathSize::Text);
    formula->width_ = box.width + box.slant;
    formula->ascent_ = box.ascent;
    formula->descent_ = box.descent;
    // By weight: one that is heavier than all may be is not kept.
    kept.insert(key, new std::shared_ptr<const MathFormula>(formula),
                static_cast<int>(formula->glyphs_.size() + formula->strokes_.size() + 1));
    return formula;
}

void MathFormula::draw(QPainter& painter,
                       const QPointF& baseline,
                       const QColor& color,
                       double scale) const {
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.translate(baseline);
    painter.scale(scale, scale);
    painter.setPen(color);
    for (const Glyphs& one : glyphs_) {
        painter.setFont(one.font);
        painter.drawText(one.at, one.text);
    }
    for (const Stroke& one : strokes_) {
        if (one.width > 0.0) {
            painter.strokePath(one.path,
                               QPen(color, one.width, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
        } else {
            painter.fillPath(one.path, color);
        }
    }
    painter.restore();
}

} // namespace ui
