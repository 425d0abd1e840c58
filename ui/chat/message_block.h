// SPDX-License-Identifier: Apache-2.0
// The pieces a message is drawn from: text, code, table, rule, attachments, headings of folded
// parts, notices, statistics. A block knows its height (estimated until it is shaped), draws
// itself and tells what is under a point. The message view keeps them only for what is near the
// screen.
#pragma once

#include "ui/chat/chat_document.h"
#include "ui/chat/chat_style.h"
#include "ui/chat/markdown_blocks.h"
#include "ui/chat/shaped_text.h"

#include <QRectF>
#include <QString>

#include <cstdint>
#include <memory>
#include <vector>

class QPainter;

namespace ui {

class MediaCache;

/// What a click in a block means.
struct BlockHit {
    enum class Kind : uint8_t {
        None = 1,
        Text,
        Link,
        CopyCode,
        Slider, ///< Scrolls code that is wider than the message.
        Attachment,
        Thinking,
        Version
    };
    Kind kind = Kind::None;
    QString value;  ///< Link: the address. Text: the source of the formula there.
    int index = -1; ///< Attachment: which one. Version: which one to show.
};

struct BlockPaint : TextMarks {
    bool is_hovered = false;
    int hovered_index = -1; ///< Attachment under the mouse.
    double device_pixel_ratio = 1.0;
};

class MessageBlock {
public:
    virtual ~MessageBlock() = default;
    MessageBlock() = default;
    MessageBlock(const MessageBlock&) = delete;
    MessageBlock& operator=(const MessageBlock&) = delete;

    /// Height including the gap above. Estimated before shape().
    [[nodiscard]] double height() const { return gap_above + height_; }
    [[nodiscard]] bool isShaped() const { return is_shaped_; }
    void shape(double width) {
        if (!is_shaped_) {
            height_ = doShape(width);
            is_shaped_ = true;
        }
    }
    /// The next shape() does its work again.
    void invalidate() { is_shaped_ = false; }
    /// `rect` is the block without its gap.
    virtual void draw(QPainter& painter, const QRectF& rect, const BlockPaint& paint) const = 0;
    /// `point` is relative to the block's top left corner, gap excluded.
    [[nodiscard]] virtual BlockHit hit(const QPointF& point) const;
    /// Text that can be selected and copied; empty where there is none.
    [[nodiscard]] virtual QString text() const { return {}; }
    [[nodiscard]] virtual qsizetype positionAt(const QPointF& point) const;
    /// Source of the formula that stands in the text there; empty where there is none.
    [[nodiscard]] virtual QString formulaAt(qsizetype position) const;
    /// A part of the text as it is copied: formulas as their source.
    [[nodiscard]] QString copied(qsizetype from, qsizetype to) const;
    /// Where a character of the text stands, from the block's top left corner.
    [[nodiscard]] virtual QRectF placeOf(qsizetype position) const;
    /// Where a caret behind the last character stands; null for blocks without text.
    [[nodiscard]] virtual QRectF caret() const { return {}; }
    /// Width of what is drawn, for bubbles.
    [[nodiscard]] virtual double usedWidth(double width) const { return width; }

    double gap_above = 0.0;
    double left = 0.0;      ///< Offset from the left edge of the message's column.
    double extent = 0.0;    ///< Its width.
    bool is_bubble = false; ///< Drawn on the background of a user's message.
    bool is_bubble_first = false, is_bubble_last = false;

protected:
    virtual double doShape(double width) = 0;
    void estimate(double height) { height_ = height; }

private:
    double height_ = 0.0;
    bool is_shaped_ = false;
};

/// A paragraph, heading or list item.
class TextBlock : public MessageBlock {
public:
    TextBlock(const MarkdownBlock& block, const ChatStyle& style, bool is_muted, double width);
    void draw(QPainter& painter, const QRectF& rect, const BlockPaint& paint) const override;
    BlockHit hit(const QPointF& point) const override;
    QString text() const override { return shaped_.text(); }
    QString formulaAt(qsizetype position) const override { return shaped_.formulaAt(position); }
    qsizetype positionAt(const QPointF& point) const override;
    QRectF placeOf(qsizetype position) const override;
    QRectF caret() const override;
    double usedWidth(double width) const override;

protected:
    double doShape(double width) override;

private:
    [[nodiscard]] double inset() const;
    ShapedText shaped_;
    QString marker_;
    QFont marker_font_;
    int indent_ = 0, quotes_ = 0;
    bool is_muted_ = false;
    double step_ = 24.0; ///< Width of one list level.
};

class TableBlock : public MessageBlock {
public:
    TableBlock(const MarkdownBlock& block, const ChatStyle& style);
    void draw(QPainter& painter, const QRectF& rect, const BlockPaint& paint) const override;
    BlockHit hit(const QPointF& point) const override;
    QString text() const override { return text_; }
    QString formulaAt(qsizetype position) const override;
    qsizetype positionAt(const QPointF& point) const override;
    QRectF placeOf(qsizetype position) const override;

protected:
    double doShape(double width) override;

private:
    struct Cell {
        ShapedText shaped;
        qsizetype start = 0; ///< Start of its text in text_.
    };
    std::vector<std::vector<Cell>> rows_;
    std::vector<double> widths_, heights_;
    QString text_;
    double line_height_ = 20.0;
};

class RuleBlock : public MessageBlock {
public:
    RuleBlock() { estimate(1.0); }
    void draw(QPainter& painter, const QRectF& rect, const BlockPaint& paint) const override;

protected:
    double doShape(double) override { return 1.0; }
};

/// Pictures as thumbnails; for sounds the place where the message view puts a SoundCard.
class AttachmentsBlock : public MessageBlock {
public:
    AttachmentsBlock(std::vector<Attachment> attachments,
                     const ChatStyle& style,
                     MediaCache* media,
                     double width);
    void draw(QPainter& painter, const QRectF& rect, const BlockPaint& paint) const override;
    BlockHit hit(const QPointF& point) const override;
    double usedWidth(double width) const override;
    [[nodiscard]] const std::vector<Attachment>& attachments() const { return attachments_; }
    /// Where each attachment stands, from the block's top left.
    [[nodiscard]] std::vector<QRectF> places(double width) const;

protected:
    double doShape(double width) override;

private:
    std::vector<Attachment> attachments_;
    ChatStyle style_;
    MediaCache* media_;
};

/// "< 2 / 3 >": which version of a message is shown, with a way to the ones before and after.
class VersionsBlock : public MessageBlock {
public:
    VersionsBlock(int version, int count, bool is_user, const ChatStyle& style);
    void draw(QPainter& painter, const QRectF& rect, const BlockPaint& paint) const override;
    BlockHit hit(const QPointF& point) const override;

protected:
    double doShape(double width) override;

private:
    [[nodiscard]] double lineWidth() const;
    int version_, count_;
    bool is_user_; ///< At the right, below the bubble.
    ShapedText shaped_;
};

/// One muted line: statistics, the fold of the thoughts, a cut line, a notice.
class LineBlock : public MessageBlock {
public:
    enum class Kind : uint8_t { Statistics = 1, Thinking, CutLine, Notice, Failure, Sender };
    LineBlock(Kind kind, QString text, const ChatStyle& style, double width);
    void draw(QPainter& painter, const QRectF& rect, const BlockPaint& paint) const override;
    BlockHit hit(const QPointF& point) const override;
    QString text() const override;
    qsizetype positionAt(const QPointF& point) const override;
    double usedWidth(double width) const override;
    bool is_open = false;        ///< Thinking: unfolded.
    double reserved = 0.0;       ///< Height kept free for the actions of the message.
    double reserved_width = 0.0; ///< At the right, for the same.

protected:
    double doShape(double width) override;

private:
    Kind kind_;
    QString text_;
    ShapedText shaped_;
};

} // namespace ui
