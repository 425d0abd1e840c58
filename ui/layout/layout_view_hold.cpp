// SPDX-License-Identifier: Apache-2.0
// A block in the hand, by mouse or by keyboard: plans for every lane are asked for at once, so that
// each can tell its price before the block is let go.
#include "ui/layout/drag_ghost.h"
#include "ui/layout/lane_widget.h"
#include "ui/layout/layout_view.h"
#include "ui/layout/notice_bar.h"
#include "ui/style/format.h"

#include <QKeyEvent>
#include <QScrollArea>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

namespace ui {

namespace {

QString moveLabel(const LayoutBlock& block, engine::DeviceId device) {
    return LayoutView::tr("%1 → %2").arg(blockTitle(block), laneName(device));
}

LanePreview previewOf(engine::DeviceId device,
                      const std::shared_ptr<const engine::PlacementPlan>& plan,
                      const QString& error) {
    LanePreview preview;
    if (!error.isEmpty() || plan == nullptr) {
        preview.text = error;
        return preview;
    }
    preview.is_possible = true;
    if (device == engine::DeviceId::disk()) {
        preview.bytes = diskBytes(*plan);
        preview.text = LayoutView::tr("read when needed");
        return preview;
    }
    const engine::DevicePlan* row = devicePlan(*plan, device);
    if (row == nullptr) {
        return preview;
    }
    preview.bytes = row->parts.total();
    const bool is_limited = row->limit > 0 && row->limit != std::numeric_limits<uint64_t>::max();
    preview.is_over = is_limited && preview.bytes > row->limit;
    preview.text =
        preview.is_over
            ? LayoutView::tr("drop here: %1 too much").arg(formatBytes(preview.bytes - row->limit))
        : is_limited
            ? LayoutView::tr("drop here: %1 left").arg(formatBytes(row->limit - preview.bytes))
            : LayoutView::tr("drop here");
    return preview;
}

} // namespace

void LayoutView::pickUp(BlockWidget* widget, bool is_by_key, const QPoint& global) {
    endHold();
    if (staging_->history().isEmpty() || staging_->isWaiting()) {
        return;
    }
    Hold hold;
    hold.block = widget->block();
    hold.is_by_key = is_by_key;
    hold_ = std::move(hold);
    const LayoutBlock block = hold_->block;
    if (!is_by_key) {
        const QPoint grip = widget->mapFromGlobal(global);
        ghost_->pickUp(widget->picture(), grip);
        ghost_->moveTo(mapFromGlobal(global));
        widget->setHeld(true);
    }
    const LayoutStage current = staging_->history().current();
    for (const LaneWidget* lane : lanes_) {
        const engine::DeviceId device = lane->device();
        if (isHome(device)) {
            hold_->outcomes[device] = {current, {}};
            continue;
        }
        std::vector<engine::MapMove> moves = movesTo(block, device, *current.plan);
        if (moves.empty()) {
            hold_->outcomes[device] = {{}, tr("the cache has to be in memory")};
            continue;
        }
        staging_->preview(device, std::move(moves), moveLabel(block, device));
        if (!hold_.has_value()) {
            return; // a direct connection answered and ended it
        }
    }
    showHold(); // by key no lane is proposed: an arrow says where to
}

void LayoutView::holdAt(const QPoint& global) {
    if (!hold_.has_value()) {
        return;
    }
    ghost_->moveTo(mapFromGlobal(global));
    std::optional<engine::DeviceId> target;
    for (const LaneWidget* lane : lanes_) {
        if (lane->rect().contains(lane->mapFromGlobal(global))) {
            target = lane->device();
        }
    }
    const bool is_new = hold_->target != target;
    setTarget(target);
    if (!is_new && price_->isVisible()) {
        price_->placeBeside(QRect(mapFromGlobal(global) - QPoint(40, 40), QSize(80, 80)));
    }
}

void LayoutView::showOutcome(engine::DeviceId lane, LaneOutcome outcome) {
    if (!hold_.has_value()) {
        return;
    }
    hold_->outcomes[lane] = std::move(outcome);
    showHold();
    if (hold_->is_drop_waiting && hold_->target == lane) {
        drop();
    }
}

void LayoutView::setTarget(std::optional<engine::DeviceId> target) {
    if (hold_->target != target) {
        hold_->target = target;
        showHold();
    }
}

void LayoutView::stepTarget(int direction) {
    const engine::DeviceId from = hold_->target.value_or(hold_->block.store);
    auto at = std::find_if(lanes_.begin(), lanes_.end(),
                           [&](const LaneWidget* lane) { return lane->device() == from; });
    // One lane further; the block's own is none to move to.
    while (at != lanes_.end()) {
        if (direction < 0 && at == lanes_.begin()) {
            return;
        }
        at += direction;
        if (at != lanes_.end() && !isHome((*at)->device())) {
            setTarget((*at)->device());
            lane_scroll_->ensureWidgetVisible(*at, 0, 0);
            return;
        }
    }
}

bool LayoutView::isHome(engine::DeviceId device) const {
    return hold_->block.store == device && hold_->block.compute == device;
}

void LayoutView::showHold() {
    if (!hold_.has_value()) {
        return;
    }
    std::shared_ptr<const engine::PlacementPlan> shown;
    bool is_refused = false;
    if (hold_->target.has_value()) {
        const auto it = hold_->outcomes.find(*hold_->target);
        if (it != hold_->outcomes.end() && it->second.error.isEmpty()) {
            shown = it->second.stage.plan;
        }
        is_refused = it != hold_->outcomes.end() && !it->second.error.isEmpty();
    }
    for (LaneWidget* lane : lanes_) {
        const auto it = hold_->outcomes.find(lane->device());
        std::optional<LanePreview> preview;
        if (it != hold_->outcomes.end() && !isHome(lane->device())) {
            preview = previewOf(lane->device(), it->second.stage.plan, it->second.error);
            is_refused = is_refused || (hold_->target == lane->device() && preview->is_over);
        }
        lane->setPreview(preview);
        lane->setTarget(hold_->target == lane->device());
        lane->setHeaderPlan(shown);
    }
    setHeldPlan(shown);
    if (!hold_->target.has_value()) {
        showKeys();
        return;
    }
    const QString title = moveLabel(hold_->block, *hold_->target);
    const auto it = hold_->outcomes.find(*hold_->target);
    std::vector<PriceRow> rows;
    if (it == hold_->outcomes.end()) {
        rows.push_back({tr("price"), tr("being worked out …")});
    } else if (!it->second.error.isEmpty()) {
        rows.push_back({tr("Not possible"), it->second.error, PriceRow::Tone::Bad});
    } else if (it->second.stage.plan == stagedPlan()) {
        rows.push_back({tr("stays"), tr("it is here already")});
    } else {
        rows = priceOf(*stagedPlan(), *it->second.stage.plan, hold_->block, model_.get());
    }
    price_->showPrice(title, rows, is_refused);
    QRect anchor;
    if (hold_->is_by_key) {
        LaneWidget* target = lane(*hold_->target);
        const QRect area(target->mapTo(this, QPoint(0, 0)), target->size());
        anchor = QRect(area.center().x() + price_->width() / 2 + 16, area.top() + area.height() / 3,
                       1, 1);
    } else {
        const QPoint pointer = mapFromGlobal(QCursor::pos());
        anchor = QRect(pointer - QPoint(40, 40), QSize(80, 80));
        if (ghost_->isVisible()) {
            anchor = anchor.united(ghost_->geometry().adjusted(24, 24, -24, -24));
        }
    }
    price_->placeBeside(anchor);
}

void LayoutView::setHeldPlan(std::shared_ptr<const engine::PlacementPlan> plan) {
    if (held_plan_ != plan) {
        held_plan_ = std::move(plan);
        Q_EMIT heldPlanChanged();
    }
}

void LayoutView::showKeys() {
    BlockWidget* widget = blockWidget(hold_->block.id);
    if (!hold_->is_by_key || widget == nullptr) {
        price_->hide();
        return;
    }
    price_->showPrice(tr("Move %1").arg(blockTitle(hold_->block)),
                      {{tr("← →"), tr("where to")},
                       {tr("Enter"), tr("lets it go there")},
                       {tr("Esc"), tr("leaves it where it is")}},
                      false);
    price_->placeBeside(QRect(widget->mapTo(this, QPoint(0, 0)), widget->size()));
}

void LayoutView::drop() {
    if (!hold_.has_value()) {
        return;
    }
    if (!hold_->target.has_value()) {
        if (!hold_->is_by_key) {
            endHold();
        }
        return; // by key: the arrows have not been used yet
    }
    const auto it = hold_->outcomes.find(*hold_->target);
    if (it == hold_->outcomes.end()) {
        hold_->is_drop_waiting = true; // the price is on its way; the drop happens when it is known
        ghost_->hide();
        return;
    }
    const LaneOutcome outcome = it->second;
    const bool is_home = outcome.stage.plan == stagedPlan();
    const QString title = moveLabel(hold_->block, *hold_->target);
    const LayoutBlock block = hold_->block;
    const engine::DeviceId target = *hold_->target;
    const bool is_seen = ghost_->isVisible();
    endHold();
    if (!outcome.error.isEmpty()) {
        is_notice_kept_ = true;
        notice_->showNotice(NoticeBar::Kind::Error,
                            tr("%1: not possible. %2").arg(title, outcome.error));
        return;
    }
    if (!is_home) {
        staging_->push(outcome.stage);
    }
    if (is_seen) {
        land(block, target);
    }
}

void LayoutView::land(const LayoutBlock& dropped, engine::DeviceId lane) {
    for (const auto& [id, widget] : blocks_) {
        const LayoutBlock& block = widget->block();
        const bool is_it = dropped.modules.empty()
                               ? block.kind == dropped.kind && block.store == lane
                               : std::find(block.modules.begin(), block.modules.end(),
                                           dropped.modules.front()) != block.modules.end();
        if (is_it) {
            ghost_->show();
            ghost_->raise();
            ghost_->land(QRect(widget->mapTo(this, QPoint(0, 0)), widget->size()));
            return;
        }
    }
}

void LayoutView::endHold() {
    if (!hold_.has_value()) {
        return;
    }
    if (const auto it = blocks_.find(hold_->block.id);
        it != blocks_.end() && it->second != nullptr) {
        it->second->setHeld(false);
    }
    hold_.reset();
    ghost_->hide();
    price_->hide();
    for (LaneWidget* lane : lanes_) {
        lane->setPreview(std::nullopt);
        lane->setTarget(false);
        lane->setHeaderPlan(nullptr);
    }
    setHeldPlan(nullptr);
    staging_->forgetPreviews();
}

void LayoutView::goTo(BlockWidget* from, int key) {
    const auto home = std::find_if(lanes_.begin(), lanes_.end(), [&](const LaneWidget* lane) {
        return lane->device() == from->block().store;
    });
    if (home == lanes_.end()) {
        return;
    }
    const std::vector<BlockWidget*>& column = (*home)->blocks();
    if (key == Qt::Key_Up || key == Qt::Key_Down) {
        const auto it = std::find(column.begin(), column.end(), from);
        if (key == Qt::Key_Up && it != column.begin()) {
            focusBlock(*std::prev(it));
        } else if (key == Qt::Key_Down && std::next(it) != column.end()) {
            focusBlock(*std::next(it));
        }
        return;
    }
    // The block of the next lane that has any, nearest in height.
    const int y = from->mapTo(this, from->rect().center()).y();
    auto lane = home;
    while (true) {
        if (key == Qt::Key_Left) {
            if (lane == lanes_.begin()) {
                return;
            }
            --lane;
        } else if (++lane == lanes_.end()) {
            return;
        }
        BlockWidget* best = nullptr;
        int distance = std::numeric_limits<int>::max();
        for (BlockWidget* block : (*lane)->blocks()) {
            const int d = std::abs(block->mapTo(this, block->rect().center()).y() - y);
            if (d < distance) {
                distance = d;
                best = block;
            }
        }
        if (best != nullptr) {
            focusBlock(best);
            return;
        }
    }
}

bool LayoutView::handleCutKey(BlockWidget* widget, int key) {
    const LayoutBlock& block = widget->block();
    const int mark = widget->cutMark();
    if (mark < 0) {
        return false;
    }
    switch (key) {
    case Qt::Key_Left:
        widget->setCutMark(std::max(block.first + 1, mark - 1));
        return true;
    case Qt::Key_Right:
        widget->setCutMark(std::min(block.last, mark + 1));
        return true;
    case Qt::Key_Return:
    case Qt::Key_Enter:
    case Qt::Key_S:
        widget->setCutMark(-1);
        cutBefore(block, mark);
        return true;
    case Qt::Key_Escape:
        widget->setCutMark(-1);
        return true;
    default:
        return false;
    }
}

void LayoutView::handleKey(BlockWidget* widget, QKeyEvent* event) {
    const int key = event->key();
    const Qt::KeyboardModifiers modifiers =
        event->modifiers() & ~(Qt::KeypadModifier | Qt::ShiftModifier);
    if (modifiers != Qt::NoModifier) {
        return;
    }
    event->accept();
    if (hold_.has_value()) {
        const bool is_digit = key >= Qt::Key_1 && key <= Qt::Key_9;
        // M on what was just taken up puts it down again.
        if (key == Qt::Key_Escape || (key == Qt::Key_M && !hold_->target.has_value())) {
            endHold();
        } else if (key == Qt::Key_Left || key == Qt::Key_Up) {
            stepTarget(-1);
        } else if (key == Qt::Key_Right || key == Qt::Key_Down) {
            stepTarget(1);
        } else if (key == Qt::Key_Return || key == Qt::Key_Enter || key == Qt::Key_M) {
            drop();
        } else if (is_digit && static_cast<size_t>(key - Qt::Key_1) < lanes_.size()) {
            setTarget(lanes_[static_cast<size_t>(key - Qt::Key_1)]->device());
        } else {
            event->setAccepted(key != Qt::Key_Tab && key != Qt::Key_Backtab);
        }
        return;
    }
    if (handleCutKey(widget, key)) {
        return;
    }
    switch (key) {
    case Qt::Key_Up:
    case Qt::Key_Down:
    case Qt::Key_Left:
    case Qt::Key_Right:
        goTo(widget, key);
        break;
    case Qt::Key_M:
    case Qt::Key_Return:
    case Qt::Key_Enter:
        pickUp(widget, true, QPoint());
        break;
    case Qt::Key_S:
        split(widget);
        break;
    case Qt::Key_J:
        join(widget);
        break;
    case Qt::Key_Space:
        showBlockMenu(widget, widget->mapToGlobal(widget->rect().center()));
        break;
    default:
        event->ignore();
    }
}

} // namespace ui
