// SPDX-License-Identifier: Apache-2.0
// Layout, scrolling and painting of the message view; input is in message_list_input.cpp.
#include "ui/chat/message_list.h"

#include "ui/chat/code_block.h"
#include "ui/chat/message_accessible.h"

#include <QApplication>
#include <QEvent>
#include <QPainter>
#include <QPainterPath>
#include <QScrollBar>
#include <QToolButton>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace ui {

namespace {

constexpr double kWidestListColumn = 780.0;
constexpr double kMargin = 24.0;
constexpr double kEndGap = 12.0;       ///< Below the last message.
constexpr double kBelowFindBar = 64.0; ///< What a hit stands below, so that nothing hides it.
constexpr int kMostItems = 160;        ///< Laid out messages that are kept.

} // namespace

MessageList::MessageList(ChatModel* model, MediaCache* media, SoundPlayer* player, QWidget* parent)
    : QAbstractScrollArea(parent), model_(model), media_(media), player_(player),
      style_(ChatStyle::current()) {
    MessageListAccessible::install();
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::StrongFocus);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setAccessibleName(tr("Conversation"));
    setAccessibleDescription(tr(
        "Up and Down walk over the messages, the context menu has their actions; Enter plays the "
        "sound of a message"));
    setObjectName(QStringLiteral("messageList"));
    setAttribute(Qt::WA_InputMethodEnabled); // composed letters go where single ones do
    viewport()->setMouseTracking(true);
    viewport()->setAttribute(Qt::WA_OpaquePaintEvent);
    verticalScrollBar()->setAccessibleName(tr("Scroll the conversation"));
    buildActions();
    scroll_timer_.setInterval(30);
    connect(model_, &QAbstractItemModel::modelReset, this, &MessageList::resetRows);
    connect(model_, &QAbstractItemModel::rowsInserted, this,
            [this](const QModelIndex&, int first, int last) {
                const bool is_append = last + 1 == model_->rowCount();
                std::vector<Row> added(static_cast<size_t>(last - first + 1));
                rows_.insert(rows_.begin() + first, std::make_move_iterator(added.begin()),
                             std::make_move_iterator(added.end()));
                if (is_append) {
                    for (int row = first; row <= last; ++row) {
                        heights_.append(
                            MessageItem::estimateHeight(model_->turn(row), style_, columnWidth()));
                    }
                    // The one before may lose its place as the last.
                } else {
                    rebuildHeights();
                }
                current_row_ =
                    current_row_ >= first ? current_row_ + last - first + 1 : current_row_;
                contentChanged();
            });
    connect(model_, &QAbstractItemModel::rowsRemoved, this,
            [this](const QModelIndex&, int first, int last) {
                rows_.erase(rows_.begin() + first, rows_.begin() + last + 1);
                rebuildHeights();
                current_row_ = std::min(current_row_, model_->rowCount() - 1);
                if (anchor_.row > last) {
                    anchor_.row -= last - first + 1;
                } else if (anchor_.row >= first) {
                    anchor_ = {std::min(first, std::max(model_->rowCount() - 1, 0)), 0, 0.0};
                }
                selection_from_ = selection_to_ = {};
                hovered_ = {};
                sliding_ = {};
                contentChanged();
            });
    connect(model_, &QAbstractItemModel::dataChanged, this,
            [this](const QModelIndex& first, const QModelIndex& last) {
                for (int row = first.row(); row <= last.row(); ++row) {
                    Row& entry = rows_[static_cast<size_t>(row)];
                    if (entry.item != nullptr) {
                        remakeItem(row);
                    } else {
                        heights_.set(
                            static_cast<size_t>(row),
                            MessageItem::estimateHeight(model_->turn(row), style_, columnWidth()));
                    }
                }
                contentChanged();
            });
    connect(model_, &ChatModel::textAppended, this, [this](int row) {
        Row& entry = rows_[static_cast<size_t>(row)];
        if (entry.item != nullptr) {
            entry.item->update(model_->turn(row), contextFor(row));
            heights_.set(static_cast<size_t>(row), entry.item->height());
        } else {
            heights_.set(static_cast<size_t>(row),
                         MessageItem::estimateHeight(model_->turn(row), style_, columnWidth()));
        }
        contentChanged();
    });
    connect(media_, &MediaCache::changed, viewport(), qOverload<>(&QWidget::update));
    connect(&ThemeNotifier::instance(), &ThemeNotifier::changed, this, [this] {
        style_ = ChatStyle::current();
        dropItems();
        rebuildHeights();
        contentChanged();
    });
    resetRows();
}

MessageList::~MessageList() = default;

double MessageList::columnWidth() const {
    return std::clamp(width() - 2.0 * kMargin, 120.0, kWidestListColumn);
}

double MessageList::columnLeft() const {
    // In the middle of the widget, scroll bar included, so that it lines up with the composer.
    return std::floor((width() - columnWidth()) / 2.0);
}

void MessageList::resetRows() {
    rows_.clear();
    rows_.resize(static_cast<size_t>(model_->rowCount()));
    rebuildHeights();
    anchor_ = {};
    current_row_ = -1;
    hovered_ = {};
    sliding_ = {};
    hovered_attachment_ = -1;
    selection_from_ = selection_to_ = {};
    actions_row_ = -1;
    is_pinned_ = true;
    slack_ = 0.0;
    contentChanged();
}

void MessageList::rebuildHeights() {
    std::vector<double> heights(rows_.size());
    for (size_t row = 0; row < rows_.size(); ++row) {
        heights[row] = rows_[row].item != nullptr
                           ? rows_[row].item->height()
                           : MessageItem::estimateHeight(model_->turn(static_cast<int>(row)),
                                                         style_, columnWidth());
    }
    heights_.assign(std::move(heights));
}

void MessageList::dropItems() {
    for (Row& row : rows_) {
        row.item.reset();
    }
}

int MessageList::liveItems() const {
    return static_cast<int>(std::count_if(rows_.begin(), rows_.end(),
                                          [](const Row& row) { return row.item != nullptr; }));
}

void MessageList::evict() {
    // Far rows lose their blocks, not their height. A few at a time, to stay cheap.
    if (rows_.size() <= kMostItems) {
        return;
    }
    const int keep_from = anchor_.row - kMostItems / 2;
    const int keep_to = anchor_.row + kMostItems / 2;
    const auto drop = [this](int row) { rows_[static_cast<size_t>(row)].item.reset(); };
    const int count = static_cast<int>(rows_.size());
    int budget = 40;
    for (int row = std::max(keep_from - 400, 0); row < keep_from && budget > 0; ++row) {
        if (rows_[static_cast<size_t>(row)].item != nullptr && row != selection_from_.row) {
            drop(row);
            --budget;
        }
    }
    for (int row = std::min(keep_to + 400, count - 1); row > keep_to && budget > 0; --row) {
        if (rows_[static_cast<size_t>(row)].item != nullptr && row != selection_from_.row) {
            drop(row);
            --budget;
        }
    }
}

ItemContext MessageList::contextFor(int row) const {
    ItemContext context;
    context.style = &style_;
    context.media = media_;
    context.width = columnWidth();
    context.is_streaming = row == model_->streamingRow();
    context.is_thinking_open = rows_[static_cast<size_t>(row)].is_thinking_open;
    context.is_first_row = row == 0;
    context.headroom = headroom_;
    context.has_cut_above = row > 0 && model_->turn(row - 1).is_cut && !model_->turn(row).is_cut;
    return context;
}

MessageItem& MessageList::itemAt(int row) {
    Row& entry = rows_[static_cast<size_t>(row)];
    if (entry.item == nullptr) {
        entry.item = std::make_unique<MessageItem>(model_->turn(row), contextFor(row));
        heights_.set(static_cast<size_t>(row), entry.item->height());
    }
    return *entry.item;
}

void MessageList::shapeBlock(int row, int block) {
    MessageItem& item = itemAt(row);
    if (item.shape(static_cast<size_t>(block))) {
        heights_.set(static_cast<size_t>(row), item.height());
    }
}

double MessageList::blockHeight(int row, int block) {
    shapeBlock(row, block);
    return itemAt(row).block(static_cast<size_t>(block)).height();
}

double MessageList::topOfAnchor() const {
    if (rows_.empty()) {
        return 0.0;
    }
    double top = heights_.sumBefore(static_cast<size_t>(anchor_.row)) + anchor_.offset;
    const Row& row = rows_[static_cast<size_t>(anchor_.row)];
    for (int i = 0; row.item != nullptr && i < anchor_.block; ++i) {
        top += row.item->block(static_cast<size_t>(i)).height();
    }
    return top;
}

void MessageList::moveBy(double delta) {
    if (rows_.empty()) {
        return;
    }
    anchor_.offset += delta;
    while (anchor_.offset < 0.0) {
        if (anchor_.block > 0) {
            --anchor_.block;
        } else if (anchor_.row > 0) {
            --anchor_.row;
            anchor_.block = static_cast<int>(itemAt(anchor_.row).size()) - 1;
        } else {
            anchor_.offset = 0.0;
            break;
        }
        anchor_.offset += blockHeight(anchor_.row, anchor_.block);
    }
    while (true) {
        const int blocks = static_cast<int>(itemAt(anchor_.row).size());
        if (anchor_.block >= blocks) {
            anchor_.block = blocks - 1;
        }
        const double height = blockHeight(anchor_.row, anchor_.block);
        if (anchor_.offset < height) {
            break;
        }
        if (anchor_.block + 1 < blocks) {
            ++anchor_.block;
        } else if (anchor_.row + 1 < static_cast<int>(rows_.size())) {
            ++anchor_.row;
            anchor_.block = 0;
        } else {
            anchor_.offset = height;
            break;
        }
        anchor_.offset -= height;
    }
}

void MessageList::jumpTo(double y) {
    if (rows_.empty()) {
        return;
    }
    const size_t row = heights_.rowAt(std::max(y, 0.0));
    anchor_ = {static_cast<int>(row), 0, 0.0};
    moveBy(std::max(y, 0.0) - heights_.sumBefore(row));
}

void MessageList::setCovered(int pixels) {
    // What was covered and is free again stays empty until the text grows into it.
    slack_ = std::max(0.0, slack_ + covered_ - pixels);
    covered_ = pixels;
}

double MessageList::freeHeight() const {
    return viewport()->height() - kEndGap - covered_ - slack_;
}

/// Lays out what is on screen; keeps the end of the conversation from leaving the bottom.
void MessageList::fillViewport() {
    if (rows_.empty()) {
        anchor_ = {};
        return;
    }
    slack_ = std::max(0.0, slack_ - std::max(0.0, heights_.total() - last_total_));
    last_total_ = heights_.total();
    const double view = freeHeight();
    if (!is_pinned_) {
        moveBy(0.0); // repairs an anchor whose block is gone
        double y = -anchor_.offset;
        int row = anchor_.row, block = anchor_.block;
        while (y < view && row < static_cast<int>(rows_.size())) {
            y += blockHeight(row, block);
            if (++block >= static_cast<int>(itemAt(row).size())) {
                ++row;
                block = 0;
            }
        }
        if (y >= view) {
            return;
        }
    }
    // From the end upwards.
    int row = static_cast<int>(rows_.size()) - 1;
    int block = static_cast<int>(itemAt(row).size()) - 1;
    double filled = blockHeight(row, block);
    while (filled < view) {
        if (block > 0) {
            --block;
        } else if (row > 0) {
            --row;
            block = static_cast<int>(itemAt(row).size()) - 1;
        } else {
            break;
        }
        filled += blockHeight(row, block);
    }
    anchor_ = {row, block, std::max(filled - view, 0.0)};
    setPinned(true);
}

void MessageList::setPinned(bool is_pinned) {
    if (is_pinned_ != is_pinned) {
        is_pinned_ = is_pinned;
        Q_EMIT atEndChanged(is_pinned);
    }
}

void MessageList::syncScrollBar() {
    is_syncing_ = true;
    QScrollBar* bar = verticalScrollBar();
    const int view = viewport()->height();
    const int most = std::max(static_cast<int>(std::ceil(heights_.total() - freeHeight())), 0);
    bar->setPageStep(view);
    bar->setSingleStep(static_cast<int>(style_.line_height) * 2);
    bar->setRange(0, most);
    bar->setValue(is_pinned_ ? most : std::min(static_cast<int>(topOfAnchor()), most));
    is_syncing_ = false;
}

void MessageList::contentChanged() {
    if (!isVisible() && viewport()->height() < 10) {
        return;
    }
    fillViewport();
    syncScrollBar();
    placeActions();
    placeCards();
    viewport()->update();
}

void MessageList::scrollToEnd() {
    slack_ = 0.0;
    is_pinned_ = false;
    setPinned(true);
    contentChanged();
}

void MessageList::scrollToRow(int row) {
    if (row < 0 || row >= static_cast<int>(rows_.size())) {
        return;
    }
    const QRect rect = rowRect(row);
    const double view = freeHeight();
    if (!rect.isEmpty() && rect.top() >= 0 && rect.bottom() <= view) {
        return;
    }
    setPinned(false);
    if (rect.isEmpty() || rect.top() < 0 || rect.height() > view) {
        anchor_ = {row, 0, 0.0};
        moveBy(0.0);
    } else {
        moveBy(rect.bottom() - view);
    }
    contentChanged();
}

void MessageList::remakeItem(int row) {
    Row& entry = rows_[static_cast<size_t>(row)];
    auto made = std::make_unique<MessageItem>(model_->turn(row), contextFor(row));
    made->keepOffsets(*entry.item);
    entry.item = std::move(made);
    heights_.set(static_cast<size_t>(row), entry.item->height());
}

void MessageList::setHeadroom(int pixels) {
    headroom_ = pixels;
    if (!rows_.empty() && rows_.front().item != nullptr) {
        remakeItem(0);
        contentChanged();
    }
}

void MessageList::setNeedle(const FindNeedle& needle) {
    needle_ = needle;
    hit_ = {};
    viewport()->update();
}

void MessageList::showHit(int row, int index) {
    hit_ = {};
    viewport()->update();
    if (row < 0 || row >= static_cast<int>(rows_.size())) {
        return;
    }
    const MessageItem& item = itemAt(row);
    for (size_t i = item.findBegin(); i < item.findEnd() && hit_.row < 0; ++i) {
        const std::vector<TextRange> hits = needle_.hitsIn(item.block(i).text());
        const int count = static_cast<int>(hits.size());
        if (index < count) {
            hit_ = {row, static_cast<int>(i), hits[static_cast<size_t>(index)].start};
        }
        index -= count;
    }
    if (hit_.row < 0) {
        return;
    }
    shapeBlock(row, hit_.block);
    MessageBlock& block = item.block(static_cast<size_t>(hit_.block));
    const QRectF place = block.placeOf(hit_.position);
    if (auto* code = dynamic_cast<CodeBlock*>(&block)) {
        code->reveal(place);
    }
    const double view = freeHeight();
    bool is_in_sight = false;
    visitVisible([&](int at, int i, MessageBlock&, const QRectF& rect) {
        const double y = rect.top() + place.y();
        is_in_sight = is_in_sight || (at == row && i == hit_.block && y >= kBelowFindBar &&
                                      y + place.height() <= view);
    });
    if (!is_in_sight) {
        setPinned(false);
        anchor_ = {row, hit_.block, block.gap_above + place.y() - view / 3.0};
        moveBy(0.0);
        contentChanged();
    }
}

void MessageList::scrollContentsBy(int dx, int dy) {
    Q_UNUSED(dx);
    if (is_syncing_ || rows_.empty()) {
        return;
    }
    const int value = verticalScrollBar()->value();
    setPinned(value >= verticalScrollBar()->maximum() && dy < 0);
    if (!is_pinned_) {
        if (std::abs(dy) <= 2 * viewport()->height()) {
            moveBy(-dy);
        } else {
            jumpTo(value);
        }
    }
    fillViewport();
    // While the thumb is held the bar keeps the user's value; otherwise it follows the truth.
    if (!verticalScrollBar()->isSliderDown()) {
        syncScrollBar();
    }
    evict();
    placeActions();
    placeCards();
    viewport()->update();
}

void MessageList::resizeEvent(QResizeEvent* event) {
    QAbstractScrollArea::resizeEvent(event);
    if (std::abs(width_ - columnWidth()) > 0.5) {
        // Other line breaks: every height is a guess again, the anchor's block stays in place.
        width_ = columnWidth();
        dropItems();
        rebuildHeights();
        anchor_.offset = 0.0;
    }
    contentChanged();
}

void MessageList::changeEvent(QEvent* event) {
    QAbstractScrollArea::changeEvent(event);
    if (event->type() == QEvent::FontChange || event->type() == QEvent::ApplicationFontChange) {
        style_ = ChatStyle::current();
        dropItems();
        rebuildHeights();
        contentChanged();
    }
}

void MessageList::paintEvent(QPaintEvent* event) {
    Q_UNUSED(event);
    const Theme& theme = Theme::current();
    QPainter painter(viewport());
    painter.fillRect(viewport()->rect(), theme.window);
    painter.setRenderHint(QPainter::TextAntialiasing);
    const TextPlace from = std::min(selection_from_, selection_to_);
    const TextPlace to = std::max(selection_from_, selection_to_);
    const double ratio = devicePixelRatioF();
    visitVisible([&](int row, int block, MessageBlock& current, const QRectF& rect) {
        MessageItem& item = *rows_[static_cast<size_t>(row)].item;
        painter.setOpacity(item.isCut() ? 0.55 : 1.0);
        if (current.is_bubble) {
            QRectF bubble = rect.adjusted(-kBubbleX, -current.gap_above, kBubbleX, 0.0);
            if (current.is_bubble_first) {
                bubble.setTop(rect.top() - kBubbleY);
            }
            if (current.is_bubble_last) {
                bubble.setBottom(rect.bottom() + kBubbleY);
            }
            // A slice of one tall rounded rectangle, cut at the edges between blocks.
            painter.save();
            painter.setRenderHint(QPainter::Antialiasing);
            painter.setClipRect(bubble.adjusted(-1.0, 0.0, 1.0, 0.0));
            const QRectF whole = bubble.adjusted(0.5, current.is_bubble_first ? 0.5 : -30.0, -0.5,
                                                 current.is_bubble_last ? -0.5 : 30.0);
            painter.setPen(QPen(theme.border, 1.0));
            painter.setBrush(theme.raised);
            painter.drawRoundedRect(whole, 12.0, 12.0);
            painter.restore();
        }
        BlockPaint paint;
        paint.device_pixel_ratio = ratio;
        paint.is_hovered = hovered_.row == row && hovered_.block == block;
        paint.hovered_index = paint.is_hovered ? hovered_attachment_ : -1;
        const TextPlace begin{row, block, 0};
        const qsizetype length = current.text().size();
        if (from != to && from.row >= 0 && begin <= to && from <= TextPlace{row, block, length}) {
            paint.selected_from = from.row == row && from.block == block ? from.position : 0;
            paint.selected_to = to.row == row && to.block == block ? to.position : length;
        }
        const auto index = static_cast<size_t>(block);
        if (!needle_.isEmpty() && index >= item.findBegin() && index < item.findEnd()) {
            paint.hits = needle_.hitsIn(current.text());
            paint.current_hit = hit_.row == row && hit_.block == block ? hit_.position : -1;
        }
        current.draw(painter, rect, paint);
        if (row == model_->streamingRow() && block == static_cast<int>(item.caretBlock())) {
            const QRectF caret = current.caret().translated(rect.topLeft());
            painter.fillRect(caret, theme.accent);
        }
        if (row == current_row_ && hasFocus()) {
            painter.setOpacity(1.0);
            painter.fillRect(QRectF(columnLeft() - 12.0, rect.top() - current.gap_above, 3.0,
                                    rect.height() + current.gap_above),
                             theme.accent);
        }
    });
}

QRect MessageList::rowRect(int wanted) const {
    QRectF result;
    const_cast<MessageList*>(this)->visitVisible(
        [&](int row, int, MessageBlock& block, const QRectF& rect) {
            if (row == wanted) {
                result = result.isNull() ? rect.adjusted(0, -block.gap_above, 0, 0)
                                         : result.united(rect);
            }
        });
    return result.toAlignedRect();
}

} // namespace ui
