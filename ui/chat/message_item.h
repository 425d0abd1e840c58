// SPDX-License-Identifier: Apache-2.0
// One turn as a column of blocks. Made when the turn comes near the screen, thrown away when it is
// far; while a reply is written, update() makes only the blocks anew that changed.
#pragma once

#include "ui/chat/chat_document.h"
#include "ui/chat/markdown_blocks.h"
#include "ui/chat/message_block.h"

#include <memory>
#include <vector>

namespace ui {

/// What an item needs to know beside its turn.
struct ItemContext {
    const ChatStyle* style = nullptr;
    MediaCache* media = nullptr;
    double width = 0.0; ///< Width of the column.
    bool is_streaming = false;
    bool is_thinking_open = false;
    bool is_first_row = false;
    double headroom = 0.0;      ///< Left free above the first row.
    bool has_cut_above = false; ///< The turn before is cut and this one is not.
};

/// From a bubble's edge to its text, in pixels.
inline constexpr double kBubbleX = 16.0, kBubbleY = 12.0;

class MessageItem {
public:
    MessageItem(const ChatTurn& turn, const ItemContext& context);

    /// For the turn that is being written: text was added at its end.
    void update(const ChatTurn& turn, const ItemContext& context);

    /// Code stays scrolled sideways as it was in the item that this one replaces.
    void keepOffsets(const MessageItem& before);

    [[nodiscard]] size_t size() const { return blocks_.size(); }
    [[nodiscard]] MessageBlock& block(size_t index) const { return *blocks_[index]; }
    /// Shapes one block; returns whether that changed the height of the item.
    bool shape(size_t index);
    [[nodiscard]] double height() const;
    [[nodiscard]] bool isCut() const { return is_cut_; }
    /// The block behind which the caret of a running reply stands; size() = none.
    [[nodiscard]] size_t caretBlock() const;
    /// The last block: room for the actions.
    [[nodiscard]] size_t footer() const { return blocks_.size() - 1; }
    /// The blocks of the question or the answer itself: findEnd() is behind the last.
    [[nodiscard]] size_t findBegin() const { return text_begin_; }
    [[nodiscard]] size_t findEnd() const { return text_end_; }
    /// All code of the piece that starts at or before `index`, joined.
    [[nodiscard]] QString codeAt(size_t index) const;

    /// Height before an item exists, from the length of its text alone.
    static double estimateHeight(const ChatTurn& turn, const ChatStyle& style, double width);

private:
    void buildUser(const ChatTurn& turn, const ItemContext& context);
    void buildReply(const ChatTurn& turn, const ItemContext& context);
    void add(std::unique_ptr<MessageBlock> block, double gap_above, double left, double width);
    void addMarkdown(const MarkdownParser& parser,
                     size_t from,
                     const ItemContext& context,
                     bool is_muted,
                     double left,
                     MessageBlock* former = nullptr);
    void addTail(const ChatTurn& turn, const ItemContext& context);

    std::vector<std::unique_ptr<MessageBlock>> blocks_;
    MarkdownParser text_, thinking_;
    qsizetype text_length_ = 0, thinking_length_ = 0; ///< Already parsed.
    size_t text_begin_ = 0, text_end_ = 0;            ///< Blocks of the question or the answer.
    bool is_user_ = false, is_cut_ = false, is_thinking_open_ = false, is_streaming_ = false;
};

/// What the user typed, in pieces that are cheap to lay out; nothing is interpreted.
std::vector<QString> plainPieces(const QString& text);

/// "120 tokens/s · first token 0.14 s · 85 tokens"; empty for the user's turns without costs.
QString statisticsText(const ChatTurn& turn, bool is_streaming);

} // namespace ui
