// SPDX-License-Identifier: Apache-2.0
// Mouse, keyboard, selection and the actions of the message view.
#include "ui/chat/chat_request.h"
#include "ui/chat/code_block.h"
#include "ui/chat/message_list.h"
#include "ui/common/shortcuts.h"
#include "ui/media/sound_card.h"
#include "ui/media/sound_player.h"
#include "ui/style/usual_widgets.h"

#include <QAccessible>
#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QScrollBar>
#include <QToolButton>
#include <QToolTip>

#include <algorithm>
#include <cmath>
#include <utility>

namespace ui {

namespace {
constexpr double kCodeStep = 48.0; ///< Code scrolls sideways by this much.
} // namespace

void MessageList::buildActions() {
    actions_ = named("messageActions", new QWidget(viewport()));
    auto* layout = rowIn(actions_, {0, 0, 0, 0}, 0);
    const auto make = [&](const QString& name, const QString& symbol, const QString& text) {
        auto* button = new QToolButton(actions_);
        button->setObjectName(name);
        button->setIcon(icon(symbol));
        button->setIconSize({16, 16});
        button->setFixedSize(28, 28);
        button->setAccessibleName(text);
        button->setToolTip(text);
        setButtonKind(button, ButtonKind::Flat);
        layout->addWidget(button);
        return button;
    };
    copy_ = make(QStringLiteral("copyMessage"), QStringLiteral("copy"), tr("Copy message"));
    regenerate_ = make(QStringLiteral("regenerateMessage"), QStringLiteral("refresh"),
                       tr("Regenerate this reply"));
    continue_ = make(QStringLiteral("continueMessage"), QStringLiteral("continue"),
                     tr("Continue this reply"));
    edit_ = make(QStringLiteral("editMessage"), QStringLiteral("edit"), tr("Edit and resend"));
    delete_ = make(QStringLiteral("deleteMessage"), QStringLiteral("trash"), tr("Delete message"));
    connect(copy_, &QToolButton::clicked, this, [this] { Q_EMIT copyRequested(actions_row_); });
    connect(regenerate_, &QToolButton::clicked, this,
            [this] { Q_EMIT regenerateRequested(actions_row_); });
    connect(continue_, &QToolButton::clicked, this,
            [this] { Q_EMIT continueRequested(actions_row_); });
    connect(edit_, &QToolButton::clicked, this, [this] { Q_EMIT editRequested(actions_row_); });
    connect(delete_, &QToolButton::clicked, this, [this] { Q_EMIT deleteRequested(actions_row_); });
    actions_->hide();
}

void MessageList::placeActions() {
    int row = hovered_.row >= 0 ? hovered_.row : current_row_;
    if (row < 0) {
        row = static_cast<int>(rows_.size()) - 1;
    }
    if (row >= static_cast<int>(rows_.size()) || row == model_->streamingRow()) {
        row = -1;
    }
    QRectF place;
    if (row >= 0) {
        // Questions: left of the bubble's last line. Replies: right, in the line of the figures.
        visitVisible([&](int at, int block, MessageBlock& current, const QRectF& rect) {
            const bool is_footer =
                at == row &&
                block == static_cast<int>(rows_[static_cast<size_t>(at)].item->footer());
            if (at == row && current.is_bubble_last) {
                place = QRectF(rect.left() - 112.0, rect.bottom() - 20.0, 88.0, 28.0);
            } else if (is_footer && place.isNull() &&
                       model_->turn(row).role == engine::Message::Role::Assistant) {
                place = rect;
            }
        });
    }
    actions_row_ = row;
    if (place.isNull()) {
        actions_->hide();
        return;
    }
    const bool is_user = model_->turn(row).role == engine::Message::Role::User;
    copy_->setVisible(true);
    regenerate_->setVisible(!is_user);
    edit_->setAccessibleName(is_user ? tr("Edit and resend") : tr("Edit the reply"));
    edit_->setToolTip(edit_->accessibleName());
    regenerate_->setEnabled(!is_busy_);
    const bool is_cut_short = canContinue(model_->turn(row));
    continue_->setVisible(is_cut_short);
    continue_->setEnabled(!is_busy_ && row == static_cast<int>(rows_.size()) - 1);
    edit_->setEnabled(!is_busy_);
    delete_->setEnabled(!is_busy_);
    // The keys act on the last reply only.
    const bool is_last = row == static_cast<int>(rows_.size()) - 1;
    const auto tell = [is_last](QToolButton* button, const QString& action) {
        const QString words = button->accessibleName();
        button->setToolTip(is_last ? withKeys(words, action) : words);
    };
    tell(regenerate_, QStringLiteral("regenerate"));
    tell(continue_, QStringLiteral("continueReply"));
    const int buttons = is_user ? 3 : is_cut_short ? 5 : 4;
    actions_->setFixedSize(28 * buttons, 28);
    // The statistics are on the left, the actions at the right end of the same line.
    actions_->move(static_cast<int>(place.right()) - actions_->width(),
                   static_cast<int>(place.top() + (place.height() - 28.0) / 2.0));
    actions_->show();
}

void MessageList::placeCards() {
    struct Wanted {
        SoundClip clip;
        QString name;
        QRect place;
        bool is_dimmed = false;
        SoundCard* card = nullptr;
    };
    std::vector<Wanted> wanted;
    visitVisible([&](int row, int, MessageBlock& current, const QRectF& rect) {
        if (model_->turn(row).attachments.empty()) {
            return;
        }
        const auto* block = dynamic_cast<const AttachmentsBlock*>(&current);
        if (block == nullptr) {
            return;
        }
        const std::vector<QRectF> places = block->places(rect.width());
        for (size_t i = 0; i < places.size(); ++i) {
            const Attachment& attachment = block->attachments()[i];
            if (attachment.kind == engine::MessagePart::Kind::Audio) {
                wanted.push_back(
                    {{attachment.file, attachment.cut_start_s, attachment.cut_length_s},
                     attachment.name,
                     places[i].translated(rect.topLeft()).toAlignedRect(),
                     model_->turn(row).is_cut});
            }
        }
    });
    if (wanted.empty() && cards_.empty()) {
        return;
    }
    // A card stays with its sound, so that the focus does; what is left over takes the rest.
    std::vector<SoundCard*> spare = cards_;
    const auto take = [&](auto fits) -> SoundCard* {
        const auto found = std::find_if(spare.begin(), spare.end(), fits);
        if (found == spare.end()) {
            return nullptr;
        }
        SoundCard* card = *found;
        spare.erase(found);
        return card;
    };
    for (Wanted& one : wanted) {
        one.card = take([&](const SoundCard* card) { return card->clip() == one.clip; });
    }
    QWidget* before = this;
    for (Wanted& one : wanted) {
        if (one.card == nullptr) {
            one.card = take([](const SoundCard* card) { return !card->hasFocus(); });
        }
        if (one.card == nullptr) {
            one.card = new SoundCard(player_, media_, viewport());
            connect(one.card, &SoundCard::left, this, [this] { setFocus(); });
            cards_.push_back(one.card);
        }
        one.card->setClip(one.clip, one.name);
        one.card->setDimmed(one.is_dimmed);
        one.card->setGeometry(one.place);
        if (one.card->isHidden()) {
            one.card->show();
        }
        if (before->nextInFocusChain() != one.card) {
            setTabOrder(before, one.card);
        }
        before = one.card;
    }
    for (SoundCard* card : spare) {
        if (card->hasFocus()) {
            setFocus(); // the message is no longer on screen
        }
        card->hide();
    }
}

int MessageList::soundOf(int row) const {
    if (row < 0 || row >= model_->rowCount()) {
        return -1;
    }
    int first = -1;
    const std::vector<Attachment>& all = model_->turn(row).attachments;
    for (int i = 0; i < static_cast<int>(all.size()); ++i) {
        const Attachment& attachment = all[static_cast<size_t>(i)];
        if (attachment.kind != engine::MessagePart::Kind::Audio) {
            continue;
        }
        // The sound that is playing, else the first.
        if (player_->current() ==
            SoundClip{attachment.file, attachment.cut_start_s, attachment.cut_length_s}) {
            return i;
        }
        first = first < 0 ? i : first;
    }
    return first;
}

void MessageList::setBusy(bool is_busy) {
    is_busy_ = is_busy;
    placeActions();
}

void MessageList::setCurrentRow(int row) {
    row = std::clamp(row, -1, static_cast<int>(rows_.size()) - 1);
    if (row == current_row_) {
        return;
    }
    current_row_ = row;
    if (row >= 0) {
        scrollToRow(row);
        QAccessibleEvent event(this, QAccessible::Focus);
        event.setChild(row);
        QAccessible::updateAccessibility(&event);
    }
    placeActions();
    viewport()->update();
    Q_EMIT currentRowChanged(row);
}

void MessageList::moveCurrent(int by) {
    const int last = static_cast<int>(rows_.size()) - 1;
    hovered_ = {};
    setCurrentRow(current_row_ < 0 ? last : std::clamp(current_row_ + by, 0, last));
}

void MessageList::focusInEvent(QFocusEvent* event) {
    QAbstractScrollArea::focusInEvent(event);
    if (current_row_ < 0 && !rows_.empty() && event->reason() != Qt::MouseFocusReason) {
        moveCurrent(0);
    }
    viewport()->update();
}

void MessageList::keyPressEvent(QKeyEvent* event) {
    const bool has_current = current_row_ >= 0;
    if (event == QKeySequence::Copy) {
        const QString text = selectedText();
        if (!text.isEmpty()) {
            Q_EMIT copyTextRequested(text);
        } else if (has_current) {
            Q_EMIT copyRequested(current_row_);
        }
        return;
    }
    if (event == QKeySequence::SelectAll) {
        if (!rows_.empty()) {
            const int row = has_current ? current_row_ : static_cast<int>(rows_.size()) - 1;
            MessageItem& item = itemAt(row);
            const int last = static_cast<int>(item.size()) - 1;
            selection_from_ = {row, 0, 0};
            selection_to_ = {row, last, item.block(static_cast<size_t>(last)).text().size()};
            viewport()->update();
        }
        return;
    }
    switch (event->key()) {
    case Qt::Key_Up:
        moveCurrent(-1);
        return;
    case Qt::Key_Down:
        moveCurrent(1);
        return;
    case Qt::Key_Home:
        setCurrentRow(0);
        return;
    case Qt::Key_End:
        setCurrentRow(static_cast<int>(rows_.size()) - 1);
        scrollToEnd();
        return;
    case Qt::Key_PageUp:
        verticalScrollBar()->triggerAction(QAbstractSlider::SliderPageStepSub);
        return;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (const int sound = soundOf(current_row_); sound >= 0 && event->modifiers() == 0) {
            Q_EMIT attachmentActivated(current_row_, sound);
            return;
        }
        QAbstractScrollArea::keyPressEvent(event);
        return;
    case Qt::Key_PageDown:
        verticalScrollBar()->triggerAction(QAbstractSlider::SliderPageStepAdd);
        return;
    case Qt::Key_Left:
    case Qt::Key_Right:
        if (event->modifiers() == Qt::ShiftModifier) {
            scrollCurrentCode(event->key() == Qt::Key_Left ? -kCodeStep : kCodeStep);
            return;
        }
        if (const int sound = soundOf(current_row_); sound >= 0) {
            Q_EMIT soundMoveRequested(current_row_, sound,
                                      event->key() == Qt::Key_Left ? -1.0 : 1.0);
            return;
        }
        if (has_current && rows_[static_cast<size_t>(current_row_)].is_thinking_open ==
                               (event->key() == Qt::Key_Left)) {
            toggleThinking(current_row_);
        }
        return;
    case Qt::Key_F2:
        if (has_current && !is_busy_) {
            Q_EMIT editRequested(current_row_);
        }
        return;
    case Qt::Key_Delete:
        if (has_current && !is_busy_) {
            Q_EMIT deleteRequested(current_row_);
        }
        return;
    default:
        QAbstractScrollArea::keyPressEvent(event);
    }
}

void MessageList::inputMethodEvent(QInputMethodEvent* event) {
    // Composed letters, as of a dead key: what is typed is the next message, as single letters are.
    if (!event->commitString().isEmpty()) {
        Q_EMIT textTyped(event->commitString());
    }
}

QVariant MessageList::inputMethodQuery(Qt::InputMethodQuery query) const {
    return query == Qt::ImEnabled ? QVariant(true) : QAbstractScrollArea::inputMethodQuery(query);
}

void MessageList::stepVersion(int by) {
    int row = current_row_ >= 0 ? current_row_ : static_cast<int>(rows_.size()) - 1;
    const int lowest = current_row_ >= 0 ? std::max(row - 1, 0) : 0;
    while (row > lowest && model_->turn(row).versions.empty()) {
        --row;
    }
    if (row < 0 || is_busy_) {
        return;
    }
    const ChatTurn& turn = model_->turn(row);
    const int version = turn.version + by;
    if (version >= 0 && version < turn.versionCount()) {
        Q_EMIT versionRequested(row, version);
    }
}

void MessageList::toggleThinking(int row) {
    if (row < 0 || model_->turn(row).thinking.isEmpty()) {
        return;
    }
    Row& entry = rows_[static_cast<size_t>(row)];
    entry.is_thinking_open = !entry.is_thinking_open;
    setPinned(false);
    entry.item = std::make_unique<MessageItem>(model_->turn(row), contextFor(row));
    heights_.set(static_cast<size_t>(row), entry.item->height());
    contentChanged();
}

MessageList::Place MessageList::placeAt(const QPointF& position, bool is_nearest) {
    Place found;
    double best = 1e9;
    visitVisible([&](int row, int block, MessageBlock& current, const QRectF& rect) {
        const double above = rect.top() - current.gap_above;
        const double distance = position.y() < above           ? above - position.y()
                                : position.y() > rect.bottom() ? position.y() - rect.bottom()
                                                               : 0.0;
        const bool is_candidate =
            is_nearest ? !current.text().isEmpty() && distance < best : distance == 0.0;
        if (is_candidate) {
            best = distance;
            found.row = row;
            found.block = block;
            found.point = position - rect.topLeft();
        }
    });
    return found;
}

int MessageList::rowAt(const QPoint& position) {
    return placeAt(position, false).row;
}

BlockHit MessageList::hitAt(const Place& place) {
    if (place.row < 0) {
        return {};
    }
    const MessageBlock& block = itemAt(place.row).block(static_cast<size_t>(place.block));
    if (place.point.y() < 0.0 || place.point.x() < -2.0 || place.point.x() > block.extent + 2.0) {
        return {};
    }
    return block.hit(place.point);
}

void MessageList::setHovered(const Place& place) {
    const BlockHit hit = hitAt(place);
    const bool is_changed = place.row != hovered_.row || place.block != hovered_.block ||
                            hit.index != hovered_attachment_;
    hovered_ = place;
    hovered_attachment_ = hit.index;
    switch (hit.kind) {
    case BlockHit::Kind::Link:
    case BlockHit::Kind::CopyCode:
    case BlockHit::Kind::Attachment:
    case BlockHit::Kind::Thinking:
    case BlockHit::Kind::Version:
        viewport()->setCursor(Qt::PointingHandCursor);
        break;
    case BlockHit::Kind::Text:
        viewport()->setCursor(Qt::IBeamCursor);
        break;
    case BlockHit::Kind::None:
    case BlockHit::Kind::Slider:
        viewport()->unsetCursor();
        break;
    }
    if (is_changed) {
        placeActions();
        viewport()->update();
    }
}

void MessageList::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) {
        QAbstractScrollArea::mousePressEvent(event);
        return;
    }
    pressed_at_ = event->position();
    sliding_ = placeAt(event->position(), false);
    if (hitAt(sliding_).kind == BlockHit::Kind::Slider) {
        return;
    }
    sliding_ = {};
    const Place place = placeAt(event->position(), true);
    if (place.row >= 0) {
        const qsizetype position =
            itemAt(place.row).block(static_cast<size_t>(place.block)).positionAt(place.point);
        const TextPlace at{place.row, place.block, position};
        if ((event->modifiers() & Qt::ShiftModifier) != 0 && selection_from_.row >= 0) {
            selection_to_ = at;
        } else {
            selection_from_ = selection_to_ = at;
        }
        is_selecting_ = true;
        current_row_ = place.row;
        Q_EMIT currentRowChanged(current_row_);
    }
    viewport()->update();
}

void MessageList::mouseMoveEvent(QMouseEvent* event) {
    if ((event->buttons() & Qt::LeftButton) == 0) {
        sliding_ = {};
    }
    if (sliding_.row >= 0) {
        const double by = event->position().x() - pressed_at_.x();
        pressed_at_ = event->position();
        const auto& block = itemAt(sliding_.row).block(static_cast<size_t>(sliding_.block));
        const auto* code = dynamic_cast<const CodeBlock*>(&block);
        (void)scrollCode(sliding_, code != nullptr ? by * code->sliderPace() : 0.0);
        return;
    }
    if (!is_selecting_ || (event->buttons() & Qt::LeftButton) == 0) {
        setHovered(placeAt(event->position(), false));
        return;
    }
    if (event->position().y() < 0.0) {
        verticalScrollBar()->setValue(verticalScrollBar()->value() - 24);
    } else if (event->position().y() > viewport()->height()) {
        verticalScrollBar()->setValue(verticalScrollBar()->value() + 24);
    }
    const Place place = placeAt(event->position(), true);
    if (place.row >= 0) {
        // Beyond the edge of code its hidden part comes along.
        const double width = itemAt(place.row).block(static_cast<size_t>(place.block)).extent;
        const double beyond = place.point.x() < 0.0     ? -kCodeStep
                              : place.point.x() > width ? kCodeStep
                                                        : 0.0;
        (void)scrollCode(place, beyond);
        selection_to_ = {
            place.row, place.block,
            itemAt(place.row).block(static_cast<size_t>(place.block)).positionAt(place.point)};
        viewport()->update();
    }
}

void MessageList::mouseReleaseEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) {
        return;
    }
    is_selecting_ = false;
    if (std::exchange(sliding_, {}).row >= 0) {
        return;
    }
    const bool is_click = (event->position() - pressed_at_).manhattanLength() < 4.0;
    if (!is_click) {
        const QString text = selectedText();
        if (!text.isEmpty() && QApplication::clipboard()->supportsSelection()) {
            QApplication::clipboard()->setText(text, QClipboard::Selection);
        }
        return;
    }
    const Place place = placeAt(event->position(), false);
    activate(hitAt(place), place);
}

void MessageList::mouseDoubleClickEvent(QMouseEvent* event) {
    const Place place = placeAt(event->position(), true);
    if (place.row < 0) {
        return;
    }
    const MessageBlock& block = itemAt(place.row).block(static_cast<size_t>(place.block));
    const QString text = block.text();
    qsizetype from = std::min(block.positionAt(place.point), text.size());
    qsizetype to = from;
    while (from > 0 && text.at(from - 1).isLetterOrNumber()) {
        --from;
    }
    while (to < text.size() && text.at(to).isLetterOrNumber()) {
        ++to;
    }
    selection_from_ = {place.row, place.block, from};
    selection_to_ = {place.row, place.block, to};
    viewport()->update();
}

void MessageList::activate(const BlockHit& hit, const Place& place) {
    switch (hit.kind) {
    case BlockHit::Kind::Link:
        Q_EMIT linkActivated(hit.value);
        break;
    case BlockHit::Kind::CopyCode:
        Q_EMIT copyTextRequested(itemAt(place.row).codeAt(static_cast<size_t>(place.block)));
        QToolTip::showText(QCursor::pos(), tr("Copied"), this);
        break;
    case BlockHit::Kind::Attachment:
        Q_EMIT attachmentActivated(place.row, hit.index);
        break;
    case BlockHit::Kind::Thinking:
        toggleThinking(place.row);
        break;
    case BlockHit::Kind::Version:
        if (!is_busy_) {
            Q_EMIT versionRequested(place.row, hit.index);
        }
        break;
    case BlockHit::Kind::None:
    case BlockHit::Kind::Slider:
    case BlockHit::Kind::Text:
        break;
    }
}

bool MessageList::viewportEvent(QEvent* event) {
    if (event->type() == QEvent::Leave && !actions_->underMouse()) {
        setHovered({});
    }
    return QAbstractScrollArea::viewportEvent(event);
}

void MessageList::wheelEvent(QWheelEvent* event) {
    // Sideways: a touchpad, a wheel that tilts (Qt makes that of Alt), or a wheel with Shift.
    const QPoint angle = event->angleDelta();
    const bool is_shifted = (event->modifiers() & Qt::ShiftModifier) != 0 && angle.x() == 0;
    const QPoint pixels = event->pixelDelta();
    const double steps = (is_shifted ? angle.y() : angle.x()) / 120.0 * kCodeStep;
    const double sideways = pixels.isNull() ? steps : is_shifted ? pixels.y() : pixels.x();
    const bool is_sideways = is_shifted || std::abs(angle.x()) > std::abs(angle.y());
    if (is_sideways && scrollCode(placeAt(event->position(), false), -sideways)) {
        event->accept();
        return;
    }
    // Pixel deltas of touchpads and high resolution wheels, without losing fractions.
    double delta = event->pixelDelta().y();
    if (event->pixelDelta().isNull()) {
        delta =
            event->angleDelta().y() / 120.0 * QApplication::wheelScrollLines() * style_.line_height;
    }
    wheel_rest_ += delta;
    const int whole = static_cast<int>(wheel_rest_);
    wheel_rest_ -= whole;
    if (whole < 0 && is_pinned_) {
        contentChanged(); // the end may lie under a notice that came since
    }
    verticalScrollBar()->setValue(verticalScrollBar()->value() - whole);
    event->accept();
    setHovered(placeAt(event->position(), false));
}

bool MessageList::scrollCode(const Place& place, double pixels) {
    if (place.row < 0) {
        return false;
    }
    auto* code =
        dynamic_cast<CodeBlock*>(&itemAt(place.row).block(static_cast<size_t>(place.block)));
    if (code == nullptr) {
        return false;
    }
    if (code->scrollBy(pixels)) {
        viewport()->update();
    }
    return true;
}

void MessageList::scrollCurrentCode(double pixels) {
    visitVisible([&](int row, int block, MessageBlock& current, const QRectF&) {
        const auto* code = dynamic_cast<const CodeBlock*>(&current);
        if (row == current_row_ && code != nullptr && code->is_last) {
            (void)scrollCode({row, block, {}}, pixels);
        }
    });
}

void MessageList::contextMenuEvent(QContextMenuEvent* event) {
    int row = current_row_;
    Place place;
    if (event->reason() == QContextMenuEvent::Mouse) {
        place = placeAt(event->pos(), false);
        row = place.row;
    }
    if (row < 0 || row >= static_cast<int>(rows_.size())) {
        return;
    }
    auto* menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    const QString selected = selectedText();
    if (!selected.isEmpty()) {
        menu->addAction(tr("Copy selection"), this,
                        [this, selected] { Q_EMIT copyTextRequested(selected); });
    }
    menu->addAction(tr("Copy message"), this, [this, row] { Q_EMIT copyRequested(row); });
    const BlockHit hit = hitAt(place);
    if (hit.kind == BlockHit::Kind::Link) {
        menu->addAction(tr("Copy link"), this,
                        [this, url = hit.value] { Q_EMIT copyTextRequested(url); });
    }
    if (hit.kind == BlockHit::Kind::Text && !hit.value.isEmpty()) {
        menu->addAction(tr("Copy formula (LaTeX)"), this,
                        [this, source = hit.value] { Q_EMIT copyTextRequested(source); });
    }
    if (const QString code = lastCode(); !code.isEmpty()) {
        menu->addAction(tr("Copy last code block"), this,
                        [this, code] { Q_EMIT copyTextRequested(code); });
    }
    for (size_t i = 0; i < model_->turn(row).attachments.size(); ++i) {
        const Attachment& attachment = model_->turn(row).attachments[i];
        const bool is_sound = attachment.kind == engine::MessagePart::Kind::Audio;
        const bool is_playing =
            is_sound &&
            player_->isPlaying({attachment.file, attachment.cut_start_s, attachment.cut_length_s});
        menu->addAction((is_playing ? tr("Pause %1")
                         : is_sound ? tr("Play %1")
                                    : tr("Open %1"))
                            .arg(attachment.name),
                        this,
                        [this, row, i] { Q_EMIT attachmentActivated(row, static_cast<int>(i)); });
    }
    menu->addSeparator();
    const bool is_user = model_->turn(row).role == engine::Message::Role::User;
    QAction* change = is_user ? menu->addAction(tr("Edit and resend"), this,
                                                [this, row] { Q_EMIT editRequested(row); })
                              : menu->addAction(tr("Regenerate"), this,
                                                [this, row] { Q_EMIT regenerateRequested(row); });
    change->setEnabled(!is_busy_);
    if (!is_user) {
        menu->addAction(tr("Edit the reply"), this, [this, row] { Q_EMIT editRequested(row); })
            ->setEnabled(!is_busy_);
    }
    menu->addAction(tr("Go on from here in a chat of its own"), this,
                    [this, row] { Q_EMIT forkRequested(row); })
        ->setEnabled(!is_busy_);
    if (canContinue(model_->turn(row)) && row + 1 == static_cast<int>(rows_.size())) {
        menu->addAction(tr("Continue this reply"), this,
                        [this, row] { Q_EMIT continueRequested(row); })
            ->setEnabled(!is_busy_);
    }
    const ChatTurn& shown = model_->turn(row);
    if (!shown.versions.empty()) {
        const auto step = [&](const QString& words, int to) {
            menu->addAction(words, this, [this, row, to] { Q_EMIT versionRequested(row, to); })
                ->setEnabled(!is_busy_ && to >= 0 && to < shown.versionCount());
        };
        step(withKeys(tr("Version before"), QStringLiteral("versionBefore")), shown.version - 1);
        step(withKeys(tr("Version after"), QStringLiteral("versionAfter")), shown.version + 1);
    }
    if (!model_->turn(row).thinking.isEmpty()) {
        menu->addAction(rows_[static_cast<size_t>(row)].is_thinking_open ? tr("Fold thoughts")
                                                                         : tr("Show thoughts"),
                        this, [this, row] { toggleThinking(row); });
    }
    menu->addSeparator();
    menu->addAction(is_user ? tr("Delete question and reply") : tr("Delete reply"), this,
                    [this, row] { Q_EMIT deleteRequested(row); })
        ->setEnabled(!is_busy_);
    const QRect rect = rowRect(row);
    menu->popup(event->reason() == QContextMenuEvent::Mouse
                    ? event->globalPos()
                    : viewport()->mapToGlobal(rect.topLeft() + QPoint(24, 24)));
}

QString MessageList::lastCode() const {
    auto* self = const_cast<MessageList*>(this);
    for (int row = current_row_ >= 0 ? current_row_ : static_cast<int>(rows_.size()) - 1; row >= 0;
         --row) {
        const MessageItem& item = self->itemAt(row);
        for (size_t i = item.size(); i > 0; --i) {
            if (dynamic_cast<const CodeBlock*>(&item.block(i - 1)) != nullptr &&
                (i == 1 || dynamic_cast<const CodeBlock*>(&item.block(i - 2)) == nullptr ||
                 dynamic_cast<const CodeBlock*>(&item.block(i - 2))->is_last)) {
                return item.codeAt(i - 1);
            }
        }
        if (current_row_ >= 0) {
            break;
        }
    }
    return {};
}

QString MessageList::textBetween(TextPlace from, TextPlace to) const {
    auto* self = const_cast<MessageList*>(this);
    QStringList parts;
    for (int row = from.row; row <= to.row && row < static_cast<int>(rows_.size()); ++row) {
        const MessageItem& item = self->itemAt(row);
        for (size_t i = 0; i < item.size(); ++i) {
            const TextPlace begin{row, static_cast<int>(i), 0};
            const QString text = item.block(i).text();
            const TextPlace end{row, static_cast<int>(i), text.size()};
            if (end < from || to < begin || text.isEmpty()) {
                continue;
            }
            const qsizetype first = begin < from ? from.position : 0;
            const qsizetype last = to < end ? to.position : text.size();
            parts.append(item.block(i).copied(first, last));
        }
    }
    return parts.join(QLatin1Char('\n')).replace(QChar(QChar::LineSeparator), QLatin1Char('\n'));
}

QString MessageList::selectedText() const {
    if (selection_from_ == selection_to_ || selection_from_.row < 0) {
        return {};
    }
    return textBetween(std::min(selection_from_, selection_to_),
                       std::max(selection_from_, selection_to_));
}

} // namespace ui
