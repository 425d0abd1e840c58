// SPDX-License-Identifier: Apache-2.0
#include "ui/chat/message_block.h"

#include <QCoreApplication>
#include <QFontMetricsF>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace ui {

namespace {

struct BlockTexts {
    Q_DECLARE_TR_FUNCTIONS(ui::MessageBlock)
};

constexpr double kQuoteStep = 16.0;
constexpr double kCellPaddingX = 12.0, kCellPaddingY = 6.0;
constexpr qsizetype kLongestMeasured = 1000; ///< A longer cell wraps in any table.

double estimatedHeight(qsizetype length, qsizetype breaks, double width, const ChatStyle& style) {
    const double per_line = std::max(width / style.char_width, 1.0);
    return (std::ceil(static_cast<double>(length) / per_line) + static_cast<double>(breaks)) *
           style.line_height;
}

} // namespace

BlockHit MessageBlock::hit(const QPointF& point) const {
    Q_UNUSED(point);
    return {};
}

qsizetype MessageBlock::positionAt(const QPointF& point) const {
    Q_UNUSED(point);
    return 0;
}

QString MessageBlock::formulaAt(qsizetype position) const {
    Q_UNUSED(position);
    return {};
}

QString MessageBlock::copied(qsizetype from, qsizetype to) const {
    QString result;
    const QString whole = text();
    for (qsizetype at = from; at < std::min(to, whole.size()); ++at) {
        const QString formula = whole.at(at) == kFormulaUnit ? formulaAt(at) : QString();
        result += formula.isEmpty() ? QString(whole.at(at)) : formula;
    }
    return result;
}

QRectF MessageBlock::placeOf(qsizetype position) const {
    Q_UNUSED(position);
    return {};
}

// --- TextBlock

TextBlock::TextBlock(const MarkdownBlock& block,
                     const ChatStyle& style,
                     bool is_muted,
                     double width)
    : marker_(block.marker), marker_font_(is_muted ? style.small : style.text),
      indent_(block.indent), quotes_(block.quotes), is_muted_(is_muted) {
    QFont font = is_muted ? style.small : style.text;
    double factor = style.line_factor;
    if (block.kind == MarkdownBlock::Kind::Heading) {
        constexpr double kScale[] = {1.5, 1.3, 1.15, 1.0, 1.0, 1.0};
        font.setPointSizeF(font.pointSizeF() * kScale[std::clamp(block.level, 1, 6) - 1]);
        font.setWeight(QFont::DemiBold);
        factor = 1.2;
    }
    shaped_ = ShapedText(parseInline(block.text), font, style.code, factor);
    estimate(estimatedHeight(block.text.size(), block.text.count(QLatin1Char('\n')), width, style));
}

double TextBlock::inset() const {
    return indent_ * step_ + quotes_ * kQuoteStep;
}

double TextBlock::doShape(double width) {
    shaped_.setFillsWidth(true);
    return shaped_.shape(width - inset());
}

void TextBlock::draw(QPainter& painter, const QRectF& rect, const BlockPaint& paint) const {
    const Theme& theme = Theme::current();
    for (int i = 0; i < quotes_; ++i) {
        painter.fillRect(QRectF(rect.x() + i * kQuoteStep, rect.y() - gap_above / 2.0, 3.0,
                                rect.height() + gap_above),
                         theme.border);
    }
    const QColor color = is_muted_ || quotes_ > 0 ? theme.text_muted : theme.text;
    if (!marker_.isEmpty()) {
        painter.setFont(marker_font_);
        painter.setPen(theme.text_muted);
        const QFontMetricsF metrics(marker_font_);
        const double width = metrics.horizontalAdvance(marker_);
        const double line = metrics.height() * 1.35;
        painter.drawText(QPointF(rect.x() + inset() - 8.0 - width,
                                 rect.y() + (line - metrics.height()) / 2.0 + metrics.ascent()),
                         marker_);
    }
    shaped_.draw(painter, rect.topLeft() + QPointF(inset(), 0.0), color, paint);
}

BlockHit TextBlock::hit(const QPointF& point) const {
    BlockHit result;
    const QString link = shaped_.linkAt(point - QPointF(inset(), 0.0));
    result.kind = link.isEmpty() ? BlockHit::Kind::Text : BlockHit::Kind::Link;
    result.value = link.isEmpty() ? shaped_.formulaUnder(point - QPointF(inset(), 0.0)) : link;
    return result;
}

qsizetype TextBlock::positionAt(const QPointF& point) const {
    return shaped_.positionAt(point - QPointF(inset(), 0.0));
}

QRectF TextBlock::placeOf(qsizetype position) const {
    return shaped_.placeOf(position).translated(inset(), 0.0);
}

QRectF TextBlock::caret() const {
    const QPointF end = shaped_.endPoint();
    return {end.x() + inset() + 2.0, end.y(), 8.0, shaped_.lastLineHeight()};
}

double TextBlock::usedWidth(double width) const {
    if (shaped_.isRightToLeft()) {
        return width;
    }
    return std::min(width, std::ceil(shaped_.naturalWidth() + inset()) + 1.0);
}

// --- TableBlock

TableBlock::TableBlock(const MarkdownBlock& block, const ChatStyle& style)
    : line_height_(style.line_height) {
    QFont head = style.text;
    head.setWeight(QFont::DemiBold);
    for (size_t r = 0; r < block.rows.size(); ++r) {
        std::vector<Cell> cells;
        for (qsizetype c = 0; c < block.rows[r].size(); ++c) {
            Cell cell;
            cell.shaped = ShapedText(parseCell(block.rows[r].at(c)), r == 0 ? head : style.text,
                                     style.code, 1.2);
            if (static_cast<size_t>(c) < block.alignments.size()) {
                cell.shaped.setAlignment(block.alignments[static_cast<size_t>(c)]);
            }
            if (c > 0) {
                text_ += QLatin1Char('\t');
            }
            cell.start = text_.size();
            text_ += cell.shaped.text();
            cells.push_back(std::move(cell));
        }
        text_ += QChar(QChar::LineSeparator);
        rows_.push_back(std::move(cells));
    }
    text_.chop(1);
    estimate(static_cast<double>(rows_.size()) * (line_height_ + 2.0 * kCellPaddingY));
}

double TableBlock::doShape(double width) {
    widths_.clear();
    heights_.clear();
    const size_t columns = rows_.empty() ? 0 : rows_.front().size();
    widths_.assign(columns, 0.0);
    constexpr double kUnlimited = 4000.0;
    for (auto& row : rows_) {
        for (size_t c = 0; c < row.size() && c < columns; ++c) {
            double natural = kUnlimited;
            if (row[c].shaped.text().size() <= kLongestMeasured) {
                (void)row[c].shaped.shape(kUnlimited);
                natural = std::ceil(row[c].shaped.naturalWidth()) + 1.0;
            }
            widths_[c] = std::max(widths_[c], natural);
        }
    }
    // Columns that fit an equal share keep their width; the others share what is left.
    const double available =
        std::max(width - 2.0 * kCellPaddingX * static_cast<double>(columns), 16.0);
    double sum = 0.0;
    for (const double w : widths_) {
        sum += w;
    }
    if (sum > available) {
        std::vector<bool> is_fixed(columns, false);
        double rest = available;
        size_t open = columns;
        for (bool is_changed = true; is_changed && open > 0;) {
            is_changed = false;
            for (size_t c = 0; c < columns; ++c) {
                if (!is_fixed[c] && widths_[c] <= rest / static_cast<double>(open)) {
                    is_fixed[c] = true;
                    rest -= widths_[c];
                    --open;
                    is_changed = true;
                }
            }
        }
        for (size_t c = 0; c < columns; ++c) {
            if (!is_fixed[c]) {
                widths_[c] = rest / static_cast<double>(open);
            }
        }
    }
    double height = 0.0;
    for (auto& row : rows_) {
        double tallest = line_height_;
        for (size_t c = 0; c < row.size() && c < columns; ++c) {
            tallest = std::max(tallest, row[c].shaped.shape(widths_[c]));
        }
        heights_.push_back(tallest + 2.0 * kCellPaddingY);
        height += heights_.back();
    }
    return height + 1.0;
}

void TableBlock::draw(QPainter& painter, const QRectF& rect, const BlockPaint& paint) const {
    const Theme& theme = Theme::current();
    double total = 0.0;
    for (const double w : widths_) {
        total += w + 2.0 * kCellPaddingX;
    }
    const QRectF frame(rect.x() + 0.5, rect.y() + 0.5, total - 1.0, rect.height() - 1.0);
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(theme.border, 1.0));
    painter.setBrush(Qt::NoBrush);
    painter.drawRoundedRect(frame, Theme::kRadius, Theme::kRadius);
    painter.restore();
    double y = rect.y();
    for (size_t r = 0; r < rows_.size() && r < heights_.size(); ++r) {
        if (r > 0) {
            painter.fillRect(QRectF(frame.x(), y, frame.width(), 1.0), theme.border);
        }
        double x = rect.x();
        for (size_t c = 0; c < rows_[r].size() && c < widths_.size(); ++c) {
            const Cell& cell = rows_[r][c];
            cell.shaped.draw(painter, {x + kCellPaddingX, y + kCellPaddingY}, theme.text, paint,
                             cell.start);
            x += widths_[c] + 2.0 * kCellPaddingX;
        }
        y += heights_[r];
    }
}

BlockHit TableBlock::hit(const QPointF& point) const {
    BlockHit result;
    result.kind = BlockHit::Kind::Text;
    double y = 0.0;
    for (size_t r = 0; r < rows_.size() && r < heights_.size(); ++r) {
        double x = 0.0;
        for (size_t c = 0; c < rows_[r].size() && c < widths_.size(); ++c) {
            const QPointF in_cell = point - QPointF(x + kCellPaddingX, y + kCellPaddingY);
            const QString link = rows_[r][c].shaped.linkAt(in_cell);
            const QString formula = rows_[r][c].shaped.formulaUnder(in_cell);
            if (!link.isEmpty() || !formula.isEmpty()) {
                result.kind = link.isEmpty() ? BlockHit::Kind::Text : BlockHit::Kind::Link;
                result.value = link.isEmpty() ? formula : link;
                return result;
            }
            x += widths_[c] + 2.0 * kCellPaddingX;
        }
        y += heights_[r];
    }
    return result;
}

qsizetype TableBlock::positionAt(const QPointF& point) const {
    double y = 0.0;
    for (size_t r = 0; r < rows_.size() && r < heights_.size(); ++r) {
        if (point.y() < y + heights_[r] || r + 1 == rows_.size()) {
            double x = 0.0;
            for (size_t c = 0; c < rows_[r].size() && c < widths_.size(); ++c) {
                const double cell_width = widths_[c] + 2.0 * kCellPaddingX;
                if (point.x() < x + cell_width || c + 1 == rows_[r].size()) {
                    return rows_[r][c].start +
                           rows_[r][c].shaped.positionAt(
                               point - QPointF(x + kCellPaddingX, y + kCellPaddingY));
                }
                x += cell_width;
            }
        }
        y += heights_[r];
    }
    return 0;
}

QString TableBlock::formulaAt(qsizetype position) const {
    for (const auto& row : rows_) {
        for (const Cell& cell : row) {
            if (position >= cell.start && position < cell.start + cell.shaped.text().size()) {
                return cell.shaped.formulaAt(position - cell.start);
            }
        }
    }
    return {};
}

QRectF TableBlock::placeOf(qsizetype position) const {
    QRectF place;
    double y = 0.0;
    for (size_t r = 0; r < rows_.size() && r < heights_.size(); ++r) {
        double x = 0.0;
        for (size_t c = 0; c < rows_[r].size() && c < widths_.size(); ++c) {
            if (rows_[r][c].start > position) {
                return place;
            }
            place = rows_[r][c]
                        .shaped.placeOf(position - rows_[r][c].start)
                        .translated(x + kCellPaddingX, y + kCellPaddingY);
            x += widths_[c] + 2.0 * kCellPaddingX;
        }
        y += heights_[r];
    }
    return place;
}

// --- RuleBlock

void RuleBlock::draw(QPainter& painter, const QRectF& rect, const BlockPaint& paint) const {
    Q_UNUSED(paint);
    painter.fillRect(QRectF(rect.x(), rect.y(), rect.width(), 1.0), Theme::current().border);
}

} // namespace ui
