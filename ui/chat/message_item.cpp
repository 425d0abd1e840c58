// SPDX-License-Identifier: Apache-2.0
#include "ui/chat/message_item.h"

#include "engine/api/model_address.h"
#include "ui/chat/chat_words.h"
#include "ui/chat/code_block.h"
#include "ui/chat/math_block.h"
#include "ui/common/reply_words.h"
#include "ui/style/format.h"

#include <QCoreApplication>
#include <QLocale>

#include <algorithm>
#include <cmath>

namespace ui {

namespace {

struct ItemTexts {
    Q_DECLARE_TR_FUNCTIONS(ui::MessageItem)
};

constexpr double kParagraphGap = 10.0, kItemGap = 4.0, kFooter = 28.0;
constexpr double kActionsWidth = 5 * 28.0 + 8.0; ///< Five at most, and a gap.
constexpr double kMessageGap = 8.0;

double gapBefore(const std::vector<MarkdownBlock>& blocks, size_t index) {
    const MarkdownBlock& block = blocks[index];
    if (index == 0 || block.joins) {
        return 0.0;
    }
    if (block.kind == MarkdownBlock::Kind::Heading) {
        return 16.0;
    }
    const bool is_in_list = block.indent > 0 && blocks[index - 1].indent > 0;
    return is_in_list && !block.marker.isEmpty() ? kItemGap : kParagraphGap;
}

std::unique_ptr<MessageBlock>
makeBlock(const MarkdownBlock& block, const ChatStyle& style, bool is_muted, double width) {
    switch (block.kind) {
    case MarkdownBlock::Kind::Code: // addMarkdown() makes it
    case MarkdownBlock::Kind::Table:
        return std::make_unique<TableBlock>(block, style);
    case MarkdownBlock::Kind::Rule:
        return std::make_unique<RuleBlock>();
    case MarkdownBlock::Kind::Paragraph:
    case MarkdownBlock::Kind::Heading:
        break;
    }
    return std::make_unique<TextBlock>(block, style, is_muted, width);
}

/// A block of typed text: no marks are read.
class PlainBlock : public MessageBlock {
public:
    PlainBlock(const QString& text, const ChatStyle& style, double width)
        : shaped_(plainInline(text), style.text, style.code, style.line_factor) {
        const double per_line = std::max(width / style.char_width, 1.0);
        estimate((std::ceil(static_cast<double>(text.size()) / per_line) +
                  static_cast<double>(text.count(QLatin1Char('\n')))) *
                 style.line_height);
    }
    void draw(QPainter& painter, const QRectF& rect, const BlockPaint& paint) const override {
        shaped_.draw(painter, rect.topLeft(), Theme::current().text, paint);
    }
    BlockHit hit(const QPointF&) const override {
        BlockHit result;
        result.kind = BlockHit::Kind::Text;
        return result;
    }
    QString text() const override { return shaped_.text(); }
    qsizetype positionAt(const QPointF& point) const override { return shaped_.positionAt(point); }
    QRectF placeOf(qsizetype position) const override { return shaped_.placeOf(position); }
    double usedWidth(double width) const override {
        return std::min(width, std::ceil(shaped_.naturalWidth()) + 1.0);
    }

protected:
    double doShape(double width) override { return shaped_.shape(width); }

private:
    ShapedText shaped_;
};

QString thinkingTitle(const ChatTurn& turn, bool is_streaming) {
    if (is_streaming && turn.text.isEmpty()) {
        return turn.thinking_s >= 1.0
                   ? ItemTexts::tr("Thinking… %1").arg(formatSeconds(turn.thinking_s))
                   : ItemTexts::tr("Thinking…");
    }
    const auto words = turn.thinking.count(QLatin1Char(' ')) + 1;
    if (turn.thinking_s > 0.0) {
        return ItemTexts::tr("Thought for %1 (words: about %2)")
            .arg(formatSeconds(turn.thinking_s), formatCount(words));
    }
    return ItemTexts::tr("Thoughts (words: about %1)").arg(formatCount(words));
}

/// Name of a model on this computer: after a change of model old replies are told from new ones.
/// One on a server is named above its reply.
QString answererOf(const QString& model) {
    if (model.isEmpty() || engine::isServerModel(model.toStdString())) {
        return {};
    }
    const QStringList parts = model.split(QLatin1Char('/'), Qt::SkipEmptyParts);
    // "models--google--gemma-4-E2B-it/snapshots/0123456789" in the hub's cache.
    const qsizetype at = parts.size() - 2;
    return at > 0 && parts.at(at) == QLatin1String("snapshots")
               ? parts.at(at - 1).section(QStringLiteral("--"), -1)
           : parts.isEmpty() ? QString()
                             : parts.last();
}

} // namespace

std::vector<QString> plainPieces(const QString& text) {
    std::vector<QString> pieces;
    qsizetype at = 0;
    while (at < text.size()) {
        qsizetype end = text.size();
        if (end - at > MarkdownParser::kLongestParagraph) {
            const QStringView piece = QStringView(text).mid(at, MarkdownParser::kLongestParagraph);
            qsizetype length = piece.lastIndexOf(QLatin1Char('\n'));
            if (length <= 0) {
                length = piece.lastIndexOf(QLatin1Char(' '));
            }
            if (length <= 0) {
                length = piece.size() - (piece.back().isHighSurrogate() ? 1 : 0);
            }
            end = at + length;
        }
        pieces.push_back(text.mid(at, end - at));
        at = end;
        if (at < text.size() && text.at(at).isSpace()) {
            ++at;
        }
    }
    return pieces;
}

QString statisticsText(const ChatTurn& turn, bool is_streaming) {
    QStringList parts;
    if (turn.role == engine::Message::Role::Assistant) {
        parts.append(answererOf(turn.model));
        parts.removeAll(QString());
    }
    if (turn.role == engine::Message::Role::User) {
        qint64 tokens = 0;
        for (const Attachment& attachment : turn.attachments) {
            tokens += attachment.tokens;
        }
        if (tokens > 0) {
            parts.append(ItemTexts::tr("media: %1").arg(tokensWords(tokens)));
        }
        return parts.join(QStringLiteral(" · "));
    }
    const engine::GenerateTiming& timing = turn.timing;
    if (timing.decode_s > 0.0 && timing.decode_tokens > 0) {
        parts.append(
            ItemTexts::tr("%1 tokens/s")
                .arg(formatRate(static_cast<double>(timing.decode_tokens) / timing.decode_s)));
    }
    if (timing.time_to_first_token_s > 0.0) {
        const double first = timing.time_to_first_token_s;
        parts.append(ItemTexts::tr("first token %1")
                         .arg(first < 0.01 ? QLocale().toString(first * 1000.0, 'f', 1) +
                                                 QStringLiteral(" ms")
                                           : formatSeconds(first)));
    }
    if (timing.decode_tokens > 0) {
        parts.append(tokensWords(timing.decode_tokens));
    }
    if (const QString drafts = turn.drafts.has_value() ? draftWords(*turn.drafts) : QString();
        !drafts.isEmpty()) {
        parts.append(drafts);
    }
    if (timing.image_s + timing.audio_s >= 0.01) {
        parts.append(
            ItemTexts::tr("media: %1").arg(formatSeconds(timing.image_s + timing.audio_s)));
    }
    QStringList adapters;
    for (const engine::AdapterChoice& adapter : turn.adapters) {
        if (adapter.is_enabled) {
            QString name = QString::fromStdString(adapter.folder);
            while (name.endsWith(QLatin1Char('/'))) {
                name.chop(1);
            }
            adapters.append(name.section(QLatin1Char('/'), -1) + QStringLiteral(" ×") +
                            QString::number(adapter.strength, 'g', 2));
        }
    }
    if (!adapters.isEmpty()) {
        parts.append(adapters.join(QStringLiteral(", ")));
    }
    if (turn.is_edited) {
        parts.append(ItemTexts::tr("edited by you"));
    }
    if (is_streaming) {
        parts.append(ItemTexts::tr("Esc stops"));
    } else if (turn.finish_reason == QLatin1String("cancelled")) {
        parts.append(ItemTexts::tr("stopped by you"));
    } else if (turn.finish_reason == QLatin1String("length")) {
        parts.append(ItemTexts::tr("stopped at the token limit of this chat"));
    } else if (turn.finish_reason == QLatin1String("context")) {
        parts.append(ItemTexts::tr("stopped: the context is full"));
    } else if (turn.finish_reason == QLatin1String("interrupted")) {
        parts.append(ItemTexts::tr("cut short before its end"));
    }
    return parts.join(QStringLiteral(" · "));
}

MessageItem::MessageItem(const ChatTurn& turn, const ItemContext& context)
    : is_user_(turn.role == engine::Message::Role::User), is_cut_(turn.is_cut) {
    if (context.has_cut_above) {
        add(std::make_unique<LineBlock>(
                LineBlock::Kind::CutLine,
                ItemTexts::tr("left out above: the model no longer sees it"), *context.style,
                context.width),
            kMessageGap, 0.0, context.width);
    }
    if (is_user_) {
        buildUser(turn, context);
    } else {
        buildReply(turn, context);
    }
    blocks_.front()->gap_above += context.is_first_row ? 16.0 + context.headroom : 0.0;
}

void MessageItem::add(std::unique_ptr<MessageBlock> block,
                      double gap_above,
                      double left,
                      double width) {
    block->gap_above = gap_above;
    block->left = left;
    block->extent = width;
    blocks_.push_back(std::move(block));
}

void MessageItem::buildUser(const ChatTurn& turn, const ItemContext& context) {
    const double limit = std::floor(context.width * 0.8) - 2.0 * kBubbleX;
    const size_t begin = blocks_.size();
    if (!turn.attachments.empty()) {
        add(std::make_unique<AttachmentsBlock>(turn.attachments, *context.style, context.media,
                                               limit),
            kMessageGap + kBubbleY, 0.0, limit);
    }
    text_begin_ = blocks_.size();
    for (const QString& piece : plainPieces(turn.text)) {
        const bool is_first = blocks_.size() == begin;
        add(std::make_unique<PlainBlock>(piece, *context.style, limit),
            is_first ? kMessageGap + kBubbleY : (blocks_.size() == begin + 1 ? 8.0 : 0.0), 0.0,
            limit);
    }
    text_end_ = blocks_.size();
    if (blocks_.size() == begin) {
        add(std::make_unique<PlainBlock>(QStringLiteral(" "), *context.style, limit),
            kMessageGap + kBubbleY, 0.0, limit);
    }
    if (const QString costs = statisticsText(turn, false); !costs.isEmpty()) {
        add(std::make_unique<LineBlock>(LineBlock::Kind::Sender, costs, *context.style, limit), 4.0,
            0.0, limit);
    }
    // A short question gets a bubble of its own width; long ones are shaped when they are seen.
    double used = limit;
    if (blocks_.size() - begin <= 3 && turn.text.size() <= MarkdownParser::kLongestParagraph) {
        used = 24.0;
        for (size_t i = begin; i < blocks_.size(); ++i) {
            blocks_[i]->shape(limit);
            used = std::max(used, blocks_[i]->usedWidth(limit));
        }
    }
    for (size_t i = begin; i < blocks_.size(); ++i) {
        blocks_[i]->left = context.width - used - kBubbleX;
        blocks_[i]->extent = used;
        blocks_[i]->is_bubble = true;
    }
    blocks_[begin]->is_bubble_first = true;
    blocks_.back()->is_bubble_last = true;
    if (!turn.versions.empty()) {
        add(std::make_unique<VersionsBlock>(turn.version, turn.versionCount(), true,
                                            *context.style),
            kBubbleY + 4.0, 0.0, context.width);
    }
    auto footer = std::make_unique<LineBlock>(LineBlock::Kind::Statistics, QString(),
                                              *context.style, context.width);
    footer->reserved = 8.0; // the actions stand beside the bubble
    add(std::move(footer), turn.versions.empty() ? kBubbleY : 0.0, 0.0, context.width);
}

void MessageItem::addMarkdown(const MarkdownParser& parser,
                              size_t from,
                              const ItemContext& context,
                              bool is_muted,
                              double left,
                              MessageBlock* former) {
    const auto& parsed = parser.blocks();
    const double width = context.width - left;
    for (size_t i = from; i < parsed.size(); ++i) {
        if (auto formula = is_muted ? nullptr : displayFormula(parsed[i])) {
            add(std::make_unique<MathBlock>(std::move(formula), parsed[i], *context.style),
                gapBefore(parsed, i), left, width);
            continue;
        }
        if (parsed[i].kind != MarkdownBlock::Kind::Code) {
            add(makeBlock(parsed[i], *context.style, is_muted, width), gapBefore(parsed, i), left,
                width);
            continue;
        }
        auto* before = i > 0 && parsed[i].joins && !blocks_.empty()
                           ? dynamic_cast<CodeBlock*>(blocks_.back().get())
                           : nullptr;
        if (before != nullptr) {
            before->is_last = false;
            before->invalidate();
        }
        auto* former_code = i == from ? dynamic_cast<CodeBlock*>(former) : nullptr;
        add(std::make_unique<CodeBlock>(parsed[i], *context.style, before, former_code),
            gapBefore(parsed, i), left, width);
    }
}

void MessageItem::buildReply(const ChatTurn& turn, const ItemContext& context) {
    is_thinking_open_ = context.is_thinking_open;
    is_streaming_ = context.is_streaming;
    const size_t begin = blocks_.size();
    if (const std::string model = turn.model.toStdString(); engine::isServerModel(model)) {
        add(std::make_unique<LineBlock>(
                LineBlock::Kind::Sender,
                ItemTexts::tr("answered by %1").arg(fromUtf8(engine::serverHost(model))),
                *context.style, context.width),
            0.0, 0.0, context.width);
    }
    if (!turn.thinking.isEmpty()) {
        auto title = std::make_unique<LineBlock>(LineBlock::Kind::Thinking,
                                                 thinkingTitle(turn, context.is_streaming),
                                                 *context.style, context.width);
        title->is_open = context.is_thinking_open;
        add(std::move(title), 0.0, 0.0, context.width);
        if (context.is_thinking_open) {
            thinking_.append(turn.thinking);
            const size_t first = blocks_.size();
            addMarkdown(thinking_, 0, context, true, 32.0);
            if (blocks_.size() > first) {
                blocks_[first]->gap_above = 8.0;
            }
        }
    }
    thinking_length_ = turn.thinking.size();
    text_begin_ = blocks_.size();
    text_.append(turn.text);
    text_length_ = turn.text.size();
    addMarkdown(text_, 0, context, false, 0.0);
    text_end_ = blocks_.size();
    if (text_begin_ > begin && blocks_.size() > text_begin_) {
        blocks_[text_begin_]->gap_above = 12.0;
    }
    if (context.is_streaming && blocks_.size() == begin) {
        MarkdownBlock empty; // the caret needs a line to stand on
        add(std::make_unique<TextBlock>(empty, *context.style, false, context.width), 0.0, 0.0,
            context.width);
    }
    addTail(turn, context);
    if (blocks_.size() > begin) {
        blocks_[begin]->gap_above += kMessageGap;
    }
}

void MessageItem::addTail(const ChatTurn& turn, const ItemContext& context) {
    const bool is_failure = turn.finish_reason == QLatin1String("failed");
    for (const QString& note : turn.notes) {
        add(std::make_unique<LineBlock>(is_failure ? LineBlock::Kind::Failure
                                                   : LineBlock::Kind::Notice,
                                        note, *context.style, context.width),
            8.0, 0.0, context.width);
    }
    if (!turn.versions.empty() && !context.is_streaming) {
        add(std::make_unique<VersionsBlock>(turn.version, turn.versionCount(), false,
                                            *context.style),
            6.0, 0.0, context.width);
    }
    auto footer = std::make_unique<LineBlock>(LineBlock::Kind::Statistics,
                                              statisticsText(turn, context.is_streaming),
                                              *context.style, context.width);
    footer->reserved = kFooter;
    footer->reserved_width = kActionsWidth;
    add(std::move(footer), 4.0, 0.0, context.width);
}

void MessageItem::update(const ChatTurn& turn, const ItemContext& context) {
    const bool has_new_thoughts = turn.thinking.size() != thinking_length_;
    const bool was_empty = text_length_ == 0;
    const bool is_simple = !is_user_ && turn.text.startsWith(text_.source()) && !was_empty &&
                           !has_new_thoughts && is_thinking_open_ == context.is_thinking_open &&
                           is_streaming_ == context.is_streaming;
    if (!is_simple) {
        *this = MessageItem(turn, context);
        return;
    }
    const double first_gap = text_begin_ < blocks_.size() ? blocks_[text_begin_]->gap_above : 0.0;
    text_.append(turn.text.mid(text_length_));
    text_length_ = turn.text.size();
    const size_t keep = text_begin_ + text_.firstChanged();
    std::unique_ptr<MessageBlock> former;
    if (keep < text_end_) {
        former = std::move(blocks_[keep]);
    }
    blocks_.resize(std::min(keep, blocks_.size()));
    addMarkdown(text_, text_.firstChanged(), context, false, 0.0, former.get());
    text_end_ = blocks_.size();
    if (text_.firstChanged() == 0 && text_begin_ < blocks_.size()) {
        blocks_[text_begin_]->gap_above = first_gap;
    }
    addTail(turn, context);
}

void MessageItem::keepOffsets(const MessageItem& before) {
    const auto next = [](const MessageItem& item, size_t& at) -> CodeListing* {
        for (; at < item.size(); ++at) {
            const auto* code = dynamic_cast<const CodeBlock*>(item.blocks_[at].get());
            if (code != nullptr && code->is_last) {
                ++at;
                return code->listing().get();
            }
        }
        return nullptr;
    };
    size_t mine = 0, theirs = 0;
    while (CodeListing* to = next(*this, mine)) {
        const CodeListing* from = next(before, theirs);
        to->offset = from != nullptr ? from->offset : 0.0;
    }
}

bool MessageItem::shape(size_t index) {
    MessageBlock& block = *blocks_[index];
    if (block.isShaped()) {
        return false;
    }
    const double before = block.height();
    block.shape(block.extent);
    return std::abs(block.height() - before) > 0.01;
}

double MessageItem::height() const {
    double sum = 0.0;
    for (const auto& block : blocks_) {
        sum += block->height();
    }
    return sum;
}

size_t MessageItem::caretBlock() const {
    for (size_t i = blocks_.size(); i > 0; --i) {
        if (!blocks_[i - 1]->caret().isNull() || blocks_[i - 1]->caret().height() > 0) {
            return i - 1;
        }
    }
    return blocks_.size();
}

QString MessageItem::codeAt(size_t index) const {
    QString code;
    for (size_t i = index; i < blocks_.size(); ++i) {
        const auto* block = dynamic_cast<const CodeBlock*>(blocks_[i].get());
        if (block == nullptr) {
            break;
        }
        const bool is_new_line = i > index && !block->isSameLine();
        code += (is_new_line ? QStringLiteral("\n") : QString()) + block->text();
        if (block->is_last) {
            break;
        }
    }
    return code.replace(QChar(QChar::LineSeparator), QLatin1Char('\n'));
}

double MessageItem::estimateHeight(const ChatTurn& turn, const ChatStyle& style, double width) {
    const double per_line = std::max(width / style.char_width, 1.0);
    const double lines = std::ceil(static_cast<double>(turn.text.size()) / per_line) +
                         static_cast<double>(turn.text.count(QLatin1Char('\n'))) * 0.6;
    double height = lines * style.line_height + kFooter + kMessageGap + 8.0;
    if (turn.role == engine::Message::Role::User) {
        height += 2.0 * kBubbleY;
    }
    if (!turn.attachments.empty()) {
        height += 128.0;
    }
    if (!turn.thinking.isEmpty()) {
        height += 44.0;
    }
    return height;
}

} // namespace ui
