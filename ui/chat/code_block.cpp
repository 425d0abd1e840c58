// SPDX-License-Identifier: Apache-2.0
#include "ui/chat/code_block.h"

#include <QCoreApplication>
#include <QFontMetricsF>
#include <QPainter>
#include <QTextOption>

#include <algorithm>
#include <utility>

namespace ui {

namespace {

struct CodeTexts {
    Q_DECLARE_TR_FUNCTIONS(ui::MessageBlock)
};

constexpr double kPadding = 12.0;
constexpr double kSlider = 5.0; ///< Its height.
constexpr double kShortestSlider = 32.0;
constexpr int kTab = 4;
/// UTF-16 units that are drawn in one line; what is longer goes on in the next one.
constexpr qsizetype kLongestShown = 2000;
constexpr qsizetype kLongestPart = 160; ///< UTF-16 units that are laid out at once.
constexpr int kColouredBefore = 50;     ///< Blocks whose colours one that is drawn may wait for.

QColor colorOf(CodeKind kind) {
    const Theme& theme = Theme::current();
    switch (kind) {
    case CodeKind::Keyword:
        return theme.code_keyword;
    case CodeKind::Type:
        return theme.code_type;
    case CodeKind::String:
        return theme.code_string;
    case CodeKind::Comment:
        return theme.code_comment;
    case CodeKind::Number:
        return theme.code_number;
    case CodeKind::Added:
        return theme.code_string;
    case CodeKind::Removed:
        return theme.code_removed;
    case CodeKind::Meta:
        break;
    }
    return theme.code_meta;
}

/// Columns of a line in a font whose letters have one width, and ideographs two.
qsizetype columnsOf(QStringView line) {
    qsizetype columns = 0;
    for (const QChar c : line) {
        columns += c == QLatin1Char('\t')                         ? kTab - columns % kTab
                   : c.unicode() >= 0x2e80 && !c.isLowSurrogate() ? 2
                                                                  : 1;
    }
    return columns;
}

} // namespace

CodeBlock::CodeBlock(const MarkdownBlock& block,
                     const ChatStyle& style,
                     const CodeBlock* before,
                     CodeBlock* former)
    : text_(plainInline(block.text).text), syntax_(codeLanguage(block.language)), before_(before),
      language_(block.language), font_(style.code), small_(style.small),
      line_height_(style.code_height),
      unit_width_(QFontMetricsF(style.code).horizontalAdvance(QLatin1Char(' '))),
      joins_(block.joins), is_same_line_(block.is_same_line), indent_(block.indent) {
    listing_ = before != nullptr   ? before->listing_
               : former != nullptr ? former->listing_
                                   : std::make_shared<CodeListing>();
    takeLines(former);
    measure();
    estimate(header() + static_cast<double>(lines_.size()) * line_height_ + kPadding);
}

void CodeBlock::takeLines(CodeBlock* former) {
    qsizetype same = 0; // what both texts begin with
    if (former != nullptr && former->syntax_ == syntax_ && former->before_ == before_) {
        const auto [a, b] = std::mismatch(text_.cbegin(), text_.cend(), former->text_.cbegin(),
                                          former->text_.cend());
        same = a - text_.cbegin();
    }
    for (qsizetype at = 0; at <= text_.size();) {
        qsizetype end = text_.indexOf(QChar(QChar::LineSeparator), at);
        end = end < 0 ? text_.size() : end;
        const bool is_cut = end - at > kLongestShown;
        if (is_cut) {
            end = at + kLongestShown;
            end -= text_.at(end - 1).isHighSurrogate() ? 1 : 0;
        }
        Line line;
        line.start = at;
        line.length = end - at;
        const size_t index = lines_.size();
        if (former != nullptr && end < same && index < former->lines_.size()) {
            line = std::move(former->lines_[index]);
            lexed_ += index < former->lexed_ ? 1 : 0;
        }
        lines_.push_back(std::move(line));
        at = is_cut ? end : end + 1;
    }
}

void CodeBlock::measure() {
    qsizetype columns = 0;
    for (const Line& line : lines_) {
        columns = std::max(columns, columnsOf(QStringView(text_).mid(line.start, line.length)));
    }
    listing_->widest = std::max(listing_->widest, static_cast<double>(columns) * unit_width_ + 1.0);
}

double CodeBlock::inset() const {
    return indent_ * 24.0;
}

double CodeBlock::room() const {
    return std::max(extent - inset() - 2.0 * kPadding, 1.0);
}

double CodeBlock::mostOffset() const {
    return std::max(0.0, listing_->widest - room());
}

bool CodeBlock::scrollBy(double pixels) {
    const double before = listing_->offset;
    listing_->offset = std::clamp(before + pixels, 0.0, mostOffset());
    return listing_->offset != before;
}

void CodeBlock::reveal(const QRectF& place) {
    const double edge = inset() + kPadding;
    if (place.x() < edge) {
        (void)scrollBy(place.x() - edge - 4.0 * unit_width_);
    } else if (place.x() > edge + room() - 8.0 * unit_width_) {
        (void)scrollBy(place.x() - edge - room() / 2.0);
    }
}

QRectF CodeBlock::slider(const QRectF& rect) const {
    if (!is_last || mostOffset() <= 0.0) {
        return {};
    }
    const double length = std::max(room() * room() / listing_->widest, kShortestSlider);
    const double x = (room() - length) * listing_->offset / mostOffset();
    return {rect.x() + inset() + kPadding + x, rect.bottom() - kSlider - 3.0, length, kSlider};
}

double CodeBlock::sliderPace() const {
    const double way = room() - slider({}).width();
    return way > 0.0 ? mostOffset() / way : 0.0;
}

void CodeBlock::lexTo(size_t line, int reach) const {
    if (syntax_ == nullptr || lines_.empty()) {
        return;
    }
    LexState state;
    if (lexed_ > 0) {
        state = lines_[lexed_ - 1].after;
    } else if (before_ != nullptr && reach > 0) {
        before_->lexTo(before_->lines_.size() - 1, reach - 1);
        state = before_->lines_.back().after;
    }
    for (; lexed_ <= line && lexed_ < lines_.size(); ++lexed_) {
        Line& one = lines_[lexed_];
        one.spans.clear();
        lexLine(*syntax_, QStringView(text_).mid(one.start, one.length), state, one.spans);
        one.after = state;
    }
}

void CodeBlock::layPart(Line& line, Part& part) const {
    part.layout =
        std::make_unique<QTextLayout>(text_.mid(line.start + part.start, part.length), font_);
    QTextOption option;
    option.setWrapMode(QTextOption::NoWrap);
    option.setTextDirection(Qt::LeftToRight); // whatever its strings and comments say
    option.setTabStopDistance(unit_width_ * kTab);
    part.layout->setTextOption(option);
    part.layout->setCacheEnabled(true);
    QList<QTextLayout::FormatRange> colors;
    for (const CodeSpan& span : line.spans) {
        const qsizetype from = std::max(span.start, part.start);
        const qsizetype to = std::min(span.start + span.length, part.start + part.length);
        if (to > from) {
            QTextLayout::FormatRange range;
            range.start = static_cast<int>(from - part.start);
            range.length = static_cast<int>(to - from);
            range.format.setForeground(colorOf(span.kind));
            colors.append(range);
        }
    }
    part.layout->setFormats(colors);
    part.layout->beginLayout();
    QTextLine only = part.layout->createLine();
    if (only.isValid()) {
        only.setLineWidth(1e6);
        only.setPosition({0.0, (line_height_ - only.height()) / 2.0});
        part.width = only.horizontalAdvance();
        listing_->widest = std::max(listing_->widest, part.x + only.naturalTextWidth() + 1.0);
    }
    part.layout->endLayout();
}

bool CodeBlock::addPart(size_t index) const {
    Line& line = lines_[index];
    Part part;
    if (line.parts.empty()) {
        lexTo(index, kColouredBefore);
    } else {
        const Part& last = line.parts.back();
        part.start = last.start + last.length;
        part.x = last.x + last.width;
        if (part.start >= line.length) {
            return false;
        }
    }
    part.length = std::min(line.length - part.start, kLongestPart);
    const qsizetype end = line.start + part.start + part.length;
    if (part.start + part.length < line.length && text_.at(end - 1).isHighSurrogate()) {
        --part.length;
    }
    layPart(line, part);
    line.parts.push_back(std::move(part));
    return true;
}

const CodeBlock::Part& CodeBlock::partAt(size_t index, qsizetype position) const {
    const std::vector<Part>& parts = lines_[index].parts;
    for (size_t i = 0;; ++i) {
        if (i >= parts.size() && !addPart(index)) {
            return parts.back();
        }
        if (position < parts[i].start + parts[i].length) {
            return parts[i];
        }
    }
}

size_t CodeBlock::lineOf(qsizetype position) const {
    const auto behind =
        std::upper_bound(lines_.begin(), lines_.end(), position,
                         [](qsizetype at, const Line& line) { return at < line.start; });
    return behind == lines_.begin() ? 0 : static_cast<size_t>(behind - lines_.begin()) - 1;
}

double CodeBlock::doShape(double width) {
    Q_UNUSED(width);
    return header() + static_cast<double>(lines_.size()) * line_height_ +
           (is_last ? kPadding : 0.0);
}

void CodeBlock::drawHeader(QPainter& painter, const QRectF& frame, const BlockPaint& paint) const {
    const Theme& theme = Theme::current();
    painter.setFont(small_);
    painter.setPen(theme.text_muted);
    const QRectF line(frame.x() + kPadding, frame.y(), frame.width() - 2.0 * kPadding, header());
    painter.drawText(line, Qt::AlignVCenter | Qt::AlignLeft,
                     language_.isEmpty() ? CodeTexts::tr("code") : language_);
    const QString copy = CodeTexts::tr("Copy");
    const QColor color = paint.is_hovered ? theme.accent : theme.text_muted;
    painter.setPen(color);
    painter.drawText(line, Qt::AlignVCenter | Qt::AlignRight, copy);
    const double text_width = QFontMetricsF(small_).horizontalAdvance(copy);
    painter.drawPixmap(QPointF(line.right() - text_width - 20.0, line.center().y() - 8.0),
                       iconPixmap(QStringLiteral("copy"), 16, color, paint.device_pixel_ratio));
}

void CodeBlock::draw(QPainter& painter, const QRectF& rect, const BlockPaint& paint) const {
    const Theme& theme = Theme::current();
    const QRectF frame = rect.adjusted(inset() + 0.5, 0.5, -0.5, -0.5);
    painter.save();
    painter.setClipRect(rect, Qt::IntersectClip);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(theme.border, 1.0));
    painter.setBrush(theme.code_background);
    // Pieces that join are drawn as a slice of a taller frame.
    painter.drawRoundedRect(frame.adjusted(0.0, joins_ ? -20.0 : 0.0, 0.0, is_last ? 0.0 : 20.0),
                            Theme::kRadius, Theme::kRadius);
    painter.restore();
    if (!joins_) {
        drawHeader(painter, frame, paint);
    }
    painter.save();
    painter.setClipRect(frame.adjusted(1.0, 0.0, -1.0, 0.0), Qt::IntersectClip);
    painter.setPen(theme.text);
    const QPointF begin = rect.topLeft() + QPointF(inset() + kPadding - listing_->offset, header());
    for (size_t i = 0; i < lines_.size(); ++i) {
        const QPointF place = begin + QPointF(0.0, static_cast<double>(i) * line_height_);
        if (place.y() + line_height_ < 0.0) {
            continue;
        }
        if (place.y() > painter.device()->height()) {
            break;
        }
        const Line& line = lines_[i];
        for (size_t p = 0; p < line.parts.size() || addPart(i); ++p) {
            const Part& part = line.parts[p];
            if (place.x() + part.x > frame.right()) {
                break;
            }
            if (place.x() + part.x + part.width > frame.left()) {
                part.layout->draw(&painter, place + QPointF(part.x, 0.0),
                                  markRanges(paint, line.start + part.start, part.length));
            }
        }
    }
    if (const QRectF bar = slider(rect); !bar.isNull()) {
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(Qt::NoPen);
        painter.setBrush(paint.is_hovered ? theme.text_muted : theme.text_disabled);
        painter.drawRoundedRect(bar, kSlider / 2.0, kSlider / 2.0);
    }
    painter.restore();
}

BlockHit CodeBlock::hit(const QPointF& point) const {
    BlockHit result;
    result.kind = BlockHit::Kind::Text;
    const QRectF bar = slider({0.0, 0.0, extent, height() - gap_above});
    if (!joins_ && point.y() >= 0 && point.y() < header() && point.x() > extent - 120.0 &&
        point.x() <= extent) {
        result.kind = BlockHit::Kind::CopyCode;
    } else if (!bar.isNull() && bar.adjusted(-4.0, -4.0, 4.0, 4.0).contains(point)) {
        result.kind = BlockHit::Kind::Slider;
    }
    return result;
}

qsizetype CodeBlock::positionAt(const QPointF& point) const {
    const double y = std::max(point.y() - header(), 0.0) / line_height_;
    const size_t index = std::min(static_cast<size_t>(y), lines_.size() - 1);
    const double x = point.x() - inset() - kPadding + listing_->offset;
    const Line& line = lines_[index];
    size_t p = 0;
    while (p < line.parts.size() || addPart(index)) {
        if (x < line.parts[p].x + line.parts[p].width) {
            break;
        }
        ++p;
    }
    const Part& part = line.parts[std::min(p, line.parts.size() - 1)];
    const QTextLayout& layout = *part.layout;
    return line.start + part.start +
           (layout.lineCount() > 0 ? layout.lineAt(0).xToCursor(x - part.x) : 0);
}

QRectF CodeBlock::placeOf(qsizetype position) const {
    const size_t index = lineOf(position);
    const qsizetype in_line = position - lines_[index].start;
    const Part& part = partAt(index, in_line);
    const double x = part.layout->lineCount() > 0
                         ? part.layout->lineAt(0).cursorToX(static_cast<int>(in_line - part.start))
                         : 0.0;
    return {inset() + kPadding + part.x + x - listing_->offset,
            header() + static_cast<double>(index) * line_height_, 1.0, line_height_};
}

QRectF CodeBlock::caret() const {
    const QRectF place = placeOf(text_.size());
    const double right = inset() + kPadding + room();
    return {std::min(place.x() + 2.0, right), place.y(), 8.0, place.height()};
}

} // namespace ui
