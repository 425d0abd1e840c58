// SPDX-License-Identifier: Apache-2.0
// The conversation on screen. A windowed view: only the blocks of messages near the screen are laid
// out, every other row is a number in an index of heights, so that ten thousand messages scroll
// like ten. The place that is kept fixed is an anchor (row, block, offset), never a pixel sum, and
// at the end of the conversation the view follows the text. Arrow keys walk over messages; the
// message that is current or under the mouse shows its actions.
#pragma once

#include "ui/chat/chat_model.h"
#include "ui/chat/chat_style.h"
#include "ui/chat/find_text.h"
#include "ui/chat/height_index.h"
#include "ui/chat/message_item.h"
#include "ui/media/media_cache.h"

#include <QAbstractScrollArea>
#include <QPointer>
#include <QTimer>

#include <memory>
#include <vector>

class QToolButton;

namespace ui {

class SoundCard;
class SoundPlayer;

/// A place in the text of the conversation.
struct TextPlace {
    int row = -1;
    int block = 0;
    qsizetype position = 0;
    // NOLINTNEXTLINE(modernize-use-nullptr): false alarm on the generated comparison
    friend auto operator<=>(const TextPlace&, const TextPlace&) = default;
};

class MessageList : public QAbstractScrollArea {
    Q_OBJECT

public:
    MessageList(ChatModel* model,
                MediaCache* media,
                SoundPlayer* player,
                QWidget* parent = nullptr);
    ~MessageList() override;

    [[nodiscard]] ChatModel* model() const { return model_; }
    /// The message at a point of the viewport, or -1.
    [[nodiscard]] int rowAt(const QPoint& position);
    [[nodiscard]] int currentRow() const { return current_row_; }
    void setCurrentRow(int row);
    [[nodiscard]] bool isAtEnd() const { return is_pinned_; }
    void scrollToEnd();
    void scrollToRow(int row);
    [[nodiscard]] QString selectedText() const;
    /// While a reply is written some actions make no sense.
    void setBusy(bool is_busy);
    /// The code block nearest to the end of the current message, for the keyboard.
    [[nodiscard]] QString lastCode() const;
    void toggleThinking(int row);
    /// The version before (-1) or after (+1) of the current message, or of the question above a
    /// reply that has only one; without a current message of the last one that has several.
    void stepVersion(int by);
    /// A notice lies over this much of the lower end: the end of the conversation can be scrolled
    /// above it. Moves nothing by itself, neither when it comes nor when it goes.
    void setCovered(int pixels);
    /// Marks every hit of `needle`; an empty one takes the marks away.
    void setNeedle(const FindNeedle& needle);
    /// Something lies over this much of the upper end: the first message can be scrolled below it.
    void setHeadroom(int pixels);
    /// Which hit of which row is the current one, brought into sight; row -1: none.
    void showHit(int row, int index);
    [[nodiscard]] int topRow() const { return anchor_.row; }
    /// Rows that have laid out blocks at the moment, for tests of the window.
    [[nodiscard]] int liveItems() const;
    /// Where a row is in the viewport, or an empty rectangle when it is not on screen.
    [[nodiscard]] QRect rowRect(int row) const;

Q_SIGNALS:
    void copyRequested(int row);
    void copyTextRequested(const QString& text);
    void regenerateRequested(int row);
    void editRequested(int row);
    void deleteRequested(int row);
    void forkRequested(int row);
    void continueRequested(int row);
    void versionRequested(int row, int version);
    /// Written with an input method while the focus is here: meant for the next message.
    void textTyped(const QString& text);
    void linkActivated(const QString& url);
    void attachmentActivated(int row, int index);
    /// Move in a sound by keyboard, from the message it belongs to.
    void soundMoveRequested(int row, int index, double seconds);
    void atEndChanged(bool is_at_end);
    void currentRowChanged(int row);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void scrollContentsBy(int dx, int dy) override;
    void wheelEvent(QWheelEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void changeEvent(QEvent* event) override;
    bool viewportEvent(QEvent* event) override;
    void inputMethodEvent(QInputMethodEvent* event) override;
    [[nodiscard]] QVariant inputMethodQuery(Qt::InputMethodQuery query) const override;

private:
    struct Anchor {
        int row = 0, block = 0;
        double offset = 0.0; ///< From the block's top down to the viewport's, gap included.
    };
    struct Row {
        std::unique_ptr<MessageItem> item;
        bool is_thinking_open = false;
    };
    struct Place {
        int row = -1, block = -1;
        QPointF point; ///< Relative to the block's top left, gap excluded.
    };

    void buildActions();
    void placeActions();
    void placeCards();
    [[nodiscard]] int soundOf(int row) const;
    void resetRows();
    void remakeItem(int row);
    void rebuildHeights();
    void dropItems();
    void evict();
    ItemContext contextFor(int row) const;
    MessageItem& itemAt(int row);
    void shapeBlock(int row, int block);
    double blockHeight(int row, int block);
    void moveBy(double delta);
    void jumpTo(double y);
    void fillViewport();
    void syncScrollBar();
    void setPinned(bool is_pinned);
    void contentChanged();
    double topOfAnchor() const;
    double columnLeft() const;
    double columnWidth() const;
    /// Height of the viewport, down to what is covered and the distance to it.
    [[nodiscard]] double freeHeight() const;
    Place placeAt(const QPointF& position, bool is_nearest);
    BlockHit hitAt(const Place& place);
    void activate(const BlockHit& hit, const Place& place);
    void moveCurrent(int by);
    /// Scrolls code sideways; false where there is none.
    bool scrollCode(const Place& place, double pixels);
    void scrollCurrentCode(double pixels);
    void setHovered(const Place& place);
    template <typename Visit>
    void visitVisible(Visit visit);
    QString textBetween(TextPlace from, TextPlace to) const;

    ChatModel* model_;
    MediaCache* media_;
    SoundPlayer* player_;
    std::vector<SoundCard*> cards_; ///< For the sounds on screen; spare ones are hidden.
    ChatStyle style_;
    mutable std::vector<Row> rows_;
    HeightIndex heights_;
    Anchor anchor_;
    bool is_pinned_ = true;
    bool is_syncing_ = false;
    bool is_busy_ = false;
    double width_ = 0.0;
    int current_row_ = -1;
    Place hovered_;
    int hovered_attachment_ = -1;
    TextPlace selection_from_{}, selection_to_{};
    bool is_selecting_ = false;
    Place sliding_; ///< Code whose slider the mouse holds; the point is where it was last.
    QPointF pressed_at_;
    double wheel_rest_ = 0.0;
    double headroom_ = 0.0;   ///< For what lies over the upper end.
    double covered_ = 0.0;    ///< By notices, at the lower end.
    double slack_ = 0.0;      ///< What is left free where one was, until text fills it.
    double last_total_ = 0.0; ///< Content when it was laid out last.
    QTimer scroll_timer_;     ///< Scrolls on while the mouse selects beyond the edge.
    QWidget* actions_ = nullptr;
    QToolButton *copy_ = nullptr, *regenerate_ = nullptr, *edit_ = nullptr, *delete_ = nullptr;
    QToolButton* continue_ = nullptr; ///< Only below a reply that was cut short.
    int actions_row_ = -1;
    FindNeedle needle_;
    TextPlace hit_; ///< The current one of its hits.
};

/// Calls visit(row, block index, block, rectangle) for every block on screen, from the top.
template <typename Visit>
void MessageList::visitVisible(Visit visit) {
    if (rows_.empty()) {
        return;
    }
    const double view = viewport()->height();
    double y = -anchor_.offset;
    int row = anchor_.row, block = anchor_.block;
    while (y < view && row < static_cast<int>(rows_.size())) {
        MessageItem& item = itemAt(row);
        if (block >= static_cast<int>(item.size())) {
            ++row;
            block = 0;
            continue;
        }
        shapeBlock(row, block);
        MessageBlock& current = item.block(static_cast<size_t>(block));
        const QRectF rect(columnLeft() + current.left, y + current.gap_above, current.extent,
                          current.height() - current.gap_above);
        visit(row, block, current, rect);
        y += current.height();
        ++block;
    }
}

} // namespace ui
