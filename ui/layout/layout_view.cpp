// SPDX-License-Identifier: Apache-2.0
// Stages, plans and what is drawn of them. Holding a block: layout_view_hold.cpp; menus, files and
// other computers: layout_view_actions.cpp.
#include "ui/layout/layout_view.h"

#include "ui/layout/drag_ghost.h"
#include "ui/layout/lane_widget.h"
#include "ui/layout/notice_bar.h"
#include "ui/style/format.h"
#include "ui/style/theme.h"

#include <QAccessibleWidget>
#include <QDragEnterEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QLocale>
#include <QMenu>
#include <QMimeData>
#include <QPushButton>
#include <QScrollArea>
#include <QShortcut>
#include <QStackedLayout>
#include <QToolButton>
#include <QUrl>
#include <QVBoxLayout>

#include <algorithm>

namespace ui {

namespace {

QAccessibleInterface* accessibleFor(const QString& /*class_name*/, QObject* object) {
    if (auto* block = qobject_cast<BlockWidget*>(object); block != nullptr) {
        return new QAccessibleWidget(block, QAccessible::Button);
    }
    if (auto* lane = qobject_cast<LaneWidget*>(object); lane != nullptr) {
        return new QAccessibleWidget(lane, QAccessible::Grouping);
    }
    return nullptr;
}

std::vector<std::string> adapterFolders(const engine::LoadRequest& request) {
    std::vector<std::string> folders;
    for (const engine::AdapterChoice& choice : request.adapters) {
        folders.push_back(choice.folder);
    }
    return folders;
}

/// Options that a loaded model has to be loaded again for. Adapters come and go without that.
bool hasSameOptions(const engine::LoadRequest& a, const engine::LoadRequest& b) {
    return a.model == b.model && a.quant == b.quant && a.head == b.head && a.context == b.context &&
           a.prefill_chunk == b.prefill_chunk && a.image_tokens == b.image_tokens &&
           a.limits == b.limits && a.sim_gpus == b.sim_gpus &&
           a.is_reference_precision == b.is_reference_precision;
}

/// "4 ms", "1.8 s": short times keep their digits.
QString shortSeconds(double seconds) {
    return seconds < 0.1 ? LayoutView::tr("%1 ms").arg(
                               QLocale().toString(seconds * 1000, 'f', seconds < 0.01 ? 1 : 0))
                         : formatSeconds(seconds);
}

} // namespace

LayoutView::LayoutView(QWidget* parent) : QWidget(parent) {
    QAccessible::installFactory(accessibleFor); // a second installation of the same one is ignored
    setObjectName(QStringLiteral("layoutView"));
    setAcceptDrops(true);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    buildBars(layout);
    ghost_ = new DragGhost(this);
    price_ = new PriceCard(this);
    const auto shortcut = [this](const QKeySequence& keys, auto slot) {
        auto* s = new QShortcut(keys, this);
        s->setContext(Qt::WidgetWithChildrenShortcut);
        connect(s, &QShortcut::activated, this, slot);
    };
    shortcut(QKeySequence(Qt::CTRL | Qt::Key_Z), &LayoutView::undo);
    shortcut(QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_Z), &LayoutView::redo);
    shortcut(QKeySequence(Qt::CTRL | Qt::Key_Y), &LayoutView::redo);
    shortcut(QKeySequence(Qt::CTRL | Qt::Key_Return), &LayoutView::apply);
    refresh();
}

LayoutView::~LayoutView() = default;

void LayoutView::buildBars(QVBoxLayout* layout) {
    const auto tool = [this](const char* name, const QString& icon_name, const QString& text,
                             const QString& tip) {
        auto* button = new QToolButton(this);
        button->setObjectName(QString::fromLatin1(name));
        button->setFocusPolicy(Qt::StrongFocus);
        if (!icon_name.isEmpty()) {
            button->setIcon(icon(icon_name));
        }
        button->setText(text);
        button->setToolButtonStyle(icon_name.isEmpty() ? Qt::ToolButtonTextOnly
                                                       : Qt::ToolButtonIconOnly);
        button->setToolTip(tip);
        button->setAccessibleName(tip);
        button->setMinimumHeight(Theme::kControlHeight);
        return button;
    };
    undo_ = tool("layoutUndo", QStringLiteral("undo"), tr("Undo"), tr("Undo"));
    redo_ = tool("layoutRedo", QStringLiteral("redo"), tr("Redo"), tr("Redo"));
    presets_ = tool("layoutPresets", {}, tr("Presets ▾"), tr("Presets"));
    what_if_button_ = tool("layoutWhatIf", {}, tr("What if: this computer ▾"),
                           tr("What if: plan for another computer"));
    more_ = tool("layoutMore", QStringLiteral("more"), tr("More"), tr("Map files and options"));
    const auto menu = [this](QToolButton* button, const char* name, auto fill) {
        auto* m = new QMenu(button);
        m->setObjectName(QString::fromLatin1(name));
        connect(m, &QMenu::aboutToShow, this, fill);
        connect(button, &QToolButton::clicked, m,
                [button, m] { m->popup(button->mapToGlobal(QPoint(0, button->height() + 4))); });
        return m;
    };
    presets_menu_ = menu(presets_, "layoutPresetsMenu", &LayoutView::fillPresets);
    what_if_menu_ = menu(what_if_button_, "layoutWhatIfMenu", &LayoutView::fillWhatIf);
    more_menu_ = menu(more_, "layoutMoreMenu", &LayoutView::fillMore);
    connect(undo_, &QToolButton::clicked, this, &LayoutView::undo);
    connect(redo_, &QToolButton::clicked, this, &LayoutView::redo);

    auto* bar = new QHBoxLayout;
    bar->setContentsMargins(16, 8, 16, 8);
    bar->setSpacing(8);
    bar->addWidget(undo_);
    bar->addWidget(redo_);
    bar->addStretch(1);
    bar->addWidget(presets_);
    bar->addWidget(what_if_button_);
    bar->addWidget(more_);
    layout->addLayout(bar);

    auto* empty = new QLabel(
        tr("Choose a model to see its parts here.\n\nEvery part becomes a block with its bytes. "
           "Drag blocks between graphics card, processor and disk; while you hold one, every lane "
           "tells what it would hold and what the move costs."));
    empty->setObjectName(QStringLiteral("layoutEmpty"));
    empty->setAlignment(Qt::AlignCenter);
    empty->setWordWrap(true);
    empty->setMargin(32);
    setTextRole(empty, TextRole::Muted);
    lane_area_ = new QWidget;
    lane_layout_ = new QHBoxLayout(lane_area_);
    lane_layout_->setContentsMargins(16, 4, 16, 12);
    lane_layout_->setSpacing(12);
    lane_scroll_ = new QScrollArea;
    lane_scroll_->setObjectName(QStringLiteral("layoutLanes"));
    lane_scroll_->setWidgetResizable(true);
    lane_scroll_->setFrameShape(QFrame::NoFrame);
    lane_scroll_->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    lane_scroll_->setFocusPolicy(Qt::NoFocus);
    lane_scroll_->setWidget(lane_area_);
    lane_area_->setAutoFillBackground(false);
    lane_scroll_->viewport()->setAutoFillBackground(false);
    auto* stack = new QWidget;
    pages_ = new QStackedLayout(stack);
    pages_->addWidget(empty);
    pages_->addWidget(lane_scroll_);
    layout->addWidget(stack, 1);

    notice_ = new NoticeBar;
    layout->addWidget(notice_);
    connect(notice_, &NoticeBar::actionTriggered, this,
            [this] { applyPreset(QStringLiteral("fit")); });
    connect(notice_, &NoticeBar::dismissed, this, [this] { is_notice_kept_ = false; });

    auto* footer = new QWidget;
    footer->setObjectName(QStringLiteral("layoutFooter"));
    setArea(footer, Area::Surface);
    auto* row = new QHBoxLayout(footer);
    row->setContentsMargins(16, 10, 16, 10);
    row->setSpacing(8);
    summary_ = new QLabel;
    summary_->setObjectName(QStringLiteral("layoutSummary"));
    summary_->setTextFormat(Qt::RichText);
    summary_->setWordWrap(true);
    summary_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    revert_ = new QPushButton(tr("Revert"));
    revert_->setObjectName(QStringLiteral("layoutRevert"));
    revert_->setToolTip(tr("Back to what is loaded"));
    apply_ = new QPushButton;
    apply_->setObjectName(QStringLiteral("layoutApply"));
    apply_->setToolTip(tr("Make it true (Ctrl+Enter)"));
    setButtonKind(apply_, ButtonKind::Primary);
    row->addWidget(summary_, 1);
    row->addWidget(revert_);
    row->addWidget(apply_);
    layout->addWidget(footer);
    connect(revert_, &QPushButton::clicked, this, &LayoutView::revert);
    connect(apply_, &QPushButton::clicked, this, &LayoutView::apply);
}

engine::LoadRequest LayoutView::stagedRequest() const {
    const LayoutHistory& history = what_if_.has_value() ? real_history_ : history_;
    return history.isEmpty() ? root_.value_or(engine::LoadRequest()) : history.current().request;
}

std::shared_ptr<const engine::PlacementPlan> LayoutView::stagedPlan() const {
    return history_.isEmpty() ? nullptr : history_.current().plan;
}

bool LayoutView::isReloadNeeded() const {
    return applied_ == nullptr || !applied_request_.has_value() || history_.isEmpty() ||
           !hasSameOptions(*applied_request_, history_.current().request);
}

bool LayoutView::hasChanges() const {
    if (history_.isEmpty() || history_.current().plan == nullptr || what_if_.has_value()) {
        return false;
    }
    return isReloadNeeded() || !isSamePlacement(*history_.current().plan, *applied_);
}

BlockWidget* LayoutView::blockWidget(const QString& id) const {
    const auto it = blocks_.find(id);
    return it == blocks_.end() ? nullptr : it->second.data();
}

LaneWidget* LayoutView::lane(engine::DeviceId device) const {
    for (LaneWidget* lane : lanes_) {
        if (lane->device() == device) {
            return lane;
        }
    }
    return nullptr;
}

void LayoutView::setModel(const std::shared_ptr<const engine::ModelSummary>& model) {
    if (model_ == model) {
        return;
    }
    model_ = model;
    if (model_ == nullptr) {
        history_ = {};
        root_.reset();
        what_if_.reset();
    }
    refresh();
}

void LayoutView::setRequest(const engine::LoadRequest& request) {
    endHold();
    const bool is_same_model = root_.has_value() && root_->model == request.model;
    const bool is_same_map =
        is_same_model && root_->device_map == request.device_map && root_->moves == request.moves;
    const bool has_same_options = is_same_map && hasSameOptions(*root_, request);
    if (has_same_options && adapterFolders(*root_) == adapterFolders(request)) {
        root_ = request; // strengths of adapters, threads: no plan depends on them
        if (!history_.isEmpty() && !what_if_.has_value()) {
            LayoutStage stage = history_.current();
            const std::string map = stage.request.device_map;
            stage.request = request;
            stage.request.device_map = map;
            stage.request.moves.clear();
            history_.replace(std::move(stage));
        }
        return;
    }
    root_ = request;
    if (what_if_.has_value()) {
        what_if_.reset();
        history_ = real_history_;
    }
    if (request.model.empty()) {
        history_ = {};
        refresh();
        return;
    }
    Pending next;
    next.purpose = Pending::Purpose::Root;
    next.stage.request = request;
    if (is_same_map && !history_.isEmpty()) {
        // Adapters came or went: the same step, planned anew.
        next.purpose = has_same_options ? Pending::Purpose::Replace : Pending::Purpose::Stage;
        next.stage.request.device_map = history_.current().request.device_map;
        next.stage.request.moves.clear();
        next.stage.cuts = history_.current().cuts;
        next.stage.label = has_same_options ? history_.current().label : tr("Options");
    }
    this->request(std::move(next));
}

void LayoutView::request(Pending pending) {
    const quint64 serial = ++serial_;
    if (pending.purpose != Pending::Purpose::Preview) {
        ++waiting_;
    }
    const engine::LoadRequest wanted = pending.stage.request;
    pending_.emplace(serial, std::move(pending));
    refreshBars();
    Q_EMIT planRequested(serial, wanted);
}

void LayoutView::showPlan(quint64 serial,
                          const std::shared_ptr<const engine::PlacementPlan>& plan) {
    const auto it = pending_.find(serial);
    if (it == pending_.end() || plan == nullptr) {
        return;
    }
    Pending pending = std::move(it->second);
    pending_.erase(it);
    if (pending.purpose != Pending::Purpose::Preview) {
        --waiting_;
    }
    take(std::move(pending), plan);
    runNext();
}

void LayoutView::take(Pending pending, const std::shared_ptr<const engine::PlacementPlan>& plan) {
    pending.stage.plan = plan;
    const QString error = hardError(*plan);
    if (!plan->map_text.empty()) {
        pending.stage.request.device_map = plan->map_text;
        pending.stage.request.moves.clear();
    }
    switch (pending.purpose) {
    case Pending::Purpose::Preview:
        if (hold_.has_value()) {
            hold_->outcomes[pending.lane] = {std::move(pending.stage), error};
            showHold();
            if (hold_->is_drop_waiting && hold_->target == pending.lane) {
                drop();
            }
        }
        return;
    case Pending::Purpose::Root:
        history_.reset(std::move(pending.stage));
        is_notice_kept_ = false;
        break;
    case Pending::Purpose::Computer:
        if (!error.isEmpty() && pending.stage.label.isEmpty()) {
            // The map names a card that this computer lacks: fit it there instead.
            Pending again;
            again.purpose = Pending::Purpose::Computer;
            again.stage.request = pending.stage.request;
            again.stage.request.device_map = "fit";
            again.stage.label = tr("Fit");
            request(std::move(again));
            return;
        }
        history_.reset(std::move(pending.stage));
        is_notice_kept_ = false;
        break;
    case Pending::Purpose::Stage:
        if (!error.isEmpty()) {
            QStringList details;
            for (const engine::PlanIssue& issue : plan->errors) {
                QString line = QString::fromStdString(issue.message);
                if (issue.line > 0) {
                    line = tr("Line %1, column %2: %3").arg(issue.line).arg(issue.column).arg(line);
                }
                for (const std::string& suggestion : issue.suggestions) {
                    line += QStringLiteral(" ") + QString::fromStdString(suggestion);
                }
                details << line;
            }
            is_notice_kept_ = true;
            notice_->showNotice(
                NoticeBar::Kind::Error,
                tr("%1: not possible. %2").arg(pending.stage.label, details.front()),
                details.size() > 1 ? details : QStringList());
            refreshBars();
            return;
        }
        is_notice_kept_ = false;
        history_.push(std::move(pending.stage));
        break;
    case Pending::Purpose::Replace:
        history_.replace(std::move(pending.stage));
        break;
    }
    refresh();
    Q_EMIT stagedPlanChanged(history_.current().plan);
}

void LayoutView::showPlanError(quint64 serial, const engine::Error& error) {
    const auto it = pending_.find(serial);
    if (it == pending_.end()) {
        return;
    }
    const Pending pending = std::move(it->second);
    pending_.erase(it);
    const QString message = QString::fromStdString(error.message);
    if (pending.purpose == Pending::Purpose::Preview) {
        if (hold_.has_value()) {
            hold_->outcomes[pending.lane] = {{}, message};
            showHold();
        }
        return;
    }
    --waiting_;
    if (pending.purpose == Pending::Purpose::Root) {
        history_ = {};
    }
    is_notice_kept_ = true;
    notice_->showNotice(NoticeBar::Kind::Error,
                        pending.stage.label.isEmpty()
                            ? tr("No plan: %1").arg(message)
                            : tr("%1: %2").arg(pending.stage.label, message));
    refresh();
    runNext();
}

void LayoutView::runNext() {
    while (!isWaiting() && !queue_.empty()) {
        const std::function<void()> next = std::move(queue_.front());
        queue_.pop_front();
        next();
    }
}

void LayoutView::stageMoves(std::vector<engine::MapMove> moves,
                            const QString& label,
                            LayoutCuts cuts) {
    if (history_.isEmpty() || moves.empty()) {
        return;
    }
    if (isWaiting()) {
        queue_.emplace_back([this, moves = std::move(moves), label, cuts = std::move(cuts)] {
            stageMoves(moves, label, cuts);
        });
        return;
    }
    Pending next;
    next.stage.request = history_.current().request;
    next.stage.request.moves = std::move(moves);
    next.stage.cuts = std::move(cuts);
    next.stage.label = label;
    request(std::move(next));
}

void LayoutView::stageMap(const std::string& map, const QString& label) {
    if (history_.isEmpty()) {
        return;
    }
    if (isWaiting()) {
        queue_.emplace_back([this, map, label] { stageMap(map, label); });
        return;
    }
    Pending next;
    next.stage.request = history_.current().request;
    next.stage.request.device_map = map;
    next.stage.request.moves.clear();
    next.stage.label = label;
    request(std::move(next));
}

void LayoutView::pushStage(LayoutStage stage) {
    is_notice_kept_ = false;
    history_.push(std::move(stage));
    refresh();
    Q_EMIT stagedPlanChanged(history_.current().plan);
}

void LayoutView::setApplied(const std::shared_ptr<const engine::PlacementPlan>& plan) {
    if (applied_ == plan) {
        return;
    }
    const bool had_changes = hasChanges() && applied_ != nullptr;
    applied_ = plan;
    if (plan == nullptr) {
        applied_request_.reset();
        refresh();
        return;
    }
    LayoutHistory& history = what_if_.has_value() ? real_history_ : history_;
    const bool was_asked_here = apply_pending_.has_value();
    if (was_asked_here) {
        applied_request_ = std::exchange(apply_pending_, std::nullopt);
    } else if (root_.has_value()) {
        applied_request_ = root_;
    }
    if (applied_request_.has_value()) {
        applied_request_->device_map = plan->map_text;
    }
    const bool is_staged = !history.isEmpty() && history.current().plan != nullptr &&
                           isSamePlacement(*history.current().plan, *plan);
    if (!is_staged && !was_asked_here && !had_changes && applied_request_.has_value()) {
        LayoutStage first;
        first.request = *applied_request_;
        first.plan = plan;
        history.reset(std::move(first));
        if (!what_if_.has_value()) {
            Q_EMIT stagedPlanChanged(plan);
        }
    }
    is_notice_kept_ = false;
    refresh();
}

void LayoutView::setBusy(bool is_busy) {
    if (is_busy_ != is_busy) {
        is_busy_ = is_busy;
        refreshBars();
    }
}

void LayoutView::showApplyError(const engine::Error& error) {
    if (!apply_pending_.has_value()) {
        return; // a load that was not asked for here
    }
    apply_pending_.reset();
    QStringList details;
    for (const auto& [key, value] : error.details) {
        details << QStringLiteral("%1: %2").arg(QString::fromStdString(key),
                                                QString::fromStdString(value));
    }
    const QString message = QString::fromStdString(error.message);
    const QString kept = applied_ == nullptr
                             ? tr("Nothing was loaded.")
                             : tr("What was loaded before is in place again; your change is still "
                                  "staged.");
    is_notice_kept_ = true;
    notice_->showNotice(
        NoticeBar::Kind::Error,
        error.code == engine::ErrorCode::Cancelled
            ? tr("Stopped. %1").arg(kept)
            : tr("It could not be applied: %1. %2")
                  .arg(message.endsWith(QLatin1Char('.')) ? message.chopped(1) : message, kept),
        details, error.code == engine::ErrorCode::OutOfMemory ? tr("Make it fit") : QString());
    refreshBars();
}

void LayoutView::undo() {
    endHold();
    if (history_.canUndo() && !isWaiting()) {
        history_.undo();
        showStep();
    }
}

void LayoutView::showStep() {
    is_notice_kept_ = false;
    refresh();
    Q_EMIT stagedPlanChanged(history_.current().plan);
    if (!what_if_.has_value() && root_.has_value() &&
        adapterFolders(*root_) != adapterFolders(history_.current().request)) {
        // Adapters are not steps: a step made before they came is planned with them.
        Pending again;
        again.purpose = Pending::Purpose::Replace;
        again.stage = history_.current();
        again.stage.request.adapters = root_->adapters;
        request(std::move(again));
    }
}

void LayoutView::redo() {
    endHold();
    if (history_.canRedo() && !isWaiting()) {
        history_.redo();
        showStep();
    }
}

void LayoutView::revert() {
    endHold();
    if (what_if_.has_value()) {
        leaveWhatIf();
        return;
    }
    if (!hasChanges()) {
        return;
    }
    if (applied_ != nullptr && applied_request_.has_value()) {
        LayoutStage stage;
        stage.request = *applied_request_;
        stage.request.device_map = applied_->map_text;
        stage.request.moves.clear();
        stage.plan = applied_;
        stage.label = tr("Revert");
        pushStage(std::move(stage));
        return;
    }
    // Nothing is loaded: back to the first layout.
    while (history_.canUndo()) {
        history_.undo();
    }
    refresh();
    Q_EMIT stagedPlanChanged(history_.current().plan);
}

void LayoutView::apply() {
    endHold();
    if (isWaiting()) {
        queue_.emplace_back([this] { apply(); });
        return;
    }
    if (is_busy_ || !hasChanges() || !history_.current().plan->fits || apply_pending_.has_value()) {
        return;
    }
    apply_pending_ = history_.current().request;
    refreshBars();
    Q_EMIT applyRequested(*apply_pending_);
}

void LayoutView::refresh() {
    endHold();
    refreshLanes();
    refreshBars();
    showIssues();
}

void LayoutView::connectBlock(BlockWidget* widget) {
    connect(widget, &BlockWidget::grabbed, this,
            [this, widget](const QPoint& global) { pickUp(widget, false, global); });
    connect(widget, &BlockWidget::dragged, this, &LayoutView::holdAt);
    connect(widget, &BlockWidget::dropped, this, [this](const QPoint& global) {
        holdAt(global);
        drop();
    });
    connect(widget, &BlockWidget::menuRequested, this,
            [this, widget](const QPoint& global) { showBlockMenu(widget, global); });
    connect(widget, &BlockWidget::opened, this, [this, widget] { pickUp(widget, true, QPoint()); });
    connect(widget, &BlockWidget::cutRequested, this,
            [this, widget](int layer) { cutBefore(widget->block(), layer); });
    connect(widget, &BlockWidget::keyPressed, this,
            [this, widget](QKeyEvent* event) { handleKey(widget, event); });
    connect(widget, &BlockWidget::focused, this, [this, widget] {
        if (LaneWidget* home = lane(widget->block().store); home != nullptr) {
            home->showBlock(widget);
            lane_scroll_->ensureWidgetVisible(home, 0, 0);
        }
    });
}

void LayoutView::refreshLanes() {
    const auto plan = stagedPlan();
    pages_->setCurrentIndex(plan == nullptr ? 0 : 1);
    BlockWidget* focused = nullptr;
    for (const auto& [id, widget] : blocks_) {
        focused = widget != nullptr && widget->hasFocus() ? widget.data() : focused;
    }
    const LayoutBlock former = focused != nullptr ? focused->block() : LayoutBlock();

    BlocksInput input;
    input.plan = plan.get();
    input.applied = what_if_.has_value() ? nullptr : applied_.get();
    // A published shape that is looked at is another model than the chosen one.
    const bool is_chosen_model = history_.isEmpty() || !root_.has_value() ||
                                 history_.current().request.model == root_->model;
    input.model = is_chosen_model ? model_.get() : nullptr;
    if (!history_.isEmpty()) {
        input.cuts = history_.current().cuts;
    }
    const std::vector<LayoutBlock> blocks = makeBlocks(input);

    const std::vector<engine::DeviceId> devices =
        plan == nullptr ? std::vector<engine::DeviceId>() : laneDevices(*plan);
    std::vector<LaneWidget*> lanes;
    for (const engine::DeviceId device : devices) {
        LaneWidget* widget = lane(device);
        if (widget == nullptr) {
            widget = new LaneWidget(device);
            connect(widget, &LaneWidget::roomChanged, this, &LayoutView::rescale);
        }
        lanes.push_back(widget);
    }
    std::map<QString, QPointer<BlockWidget>> widgets;
    std::map<engine::DeviceId, std::vector<BlockWidget*>> by_lane;
    BlockWidget* next_focus = nullptr;
    for (const LayoutBlock& block : blocks) {
        QPointer<BlockWidget> widget = blocks_[block.id];
        if (widget == nullptr) {
            widget = new BlockWidget;
            connectBlock(widget);
        }
        widget->setBlock(block, plan);
        widget->setHeld(false);
        widgets[block.id] = widget;
        by_lane[block.store].push_back(widget);
        if (focused != nullptr &&
            (block.id == former.id || (next_focus == nullptr && !former.modules.empty() &&
                                       std::find(block.modules.begin(), block.modules.end(),
                                                 former.modules.front()) != block.modules.end()))) {
            next_focus = widget;
        }
    }
    for (LaneWidget* widget : lanes) {
        widget->setPlan(plan);
        widget->setHeaderPlan(nullptr);
        widget->setPreview(std::nullopt);
        widget->setTarget(false);
        widget->setBlocks(by_lane[widget->device()]);
    }
    for (const auto& [id, widget] : blocks_) {
        if (widget != nullptr && !widgets.contains(id)) {
            // It may be the sender of the very event that changed the layout.
            widget->hide();
            widget->deleteLater();
        }
    }
    for (LaneWidget* widget : lanes_) {
        if (std::find(lanes.begin(), lanes.end(), widget) == lanes.end()) {
            lane_layout_->removeWidget(widget);
            widget->hide();
            widget->deleteLater();
        }
    }
    lanes_ = lanes;
    blocks_ = std::move(widgets);
    for (size_t i = 0; i < lanes_.size(); ++i) {
        lane_layout_->removeWidget(lanes_[i]);
        const int stretch = lanes_[i]->device().isGpu()                      ? 10
                            : lanes_[i]->device() == engine::DeviceId::cpu() ? 9
                                                                             : 7;
        lane_layout_->insertWidget(static_cast<int>(i), lanes_[i], stretch);
        lanes_[i]->show();
    }
    QWidget* last = more_;
    for (LaneWidget* widget : lanes_) {
        for (BlockWidget* block : widget->blocks()) {
            QWidget::setTabOrder(last, block);
            last = block;
        }
    }
    QWidget::setTabOrder(last, revert_);
    QWidget::setTabOrder(revert_, apply_);
    rescale();
    if (next_focus != nullptr) {
        focusBlock(next_focus);
    }
}

void LayoutView::focusBlock(BlockWidget* widget) {
    widget->setFocus(Qt::OtherFocusReason);
}

void LayoutView::rescale() {
    if (lanes_.empty()) {
        return;
    }
    // The largest scale at which every lane fits; one scale for all, so that lengths compare.
    quint64 most = 1;
    for (const LaneWidget* lane : lanes_) {
        quint64 bytes = 0;
        for (const BlockWidget* block : lane->blocks()) {
            bytes += block->block().bytes;
        }
        most = std::max(most, bytes);
    }
    const int room = std::max(200, lanes_.front()->room() - 8);
    double low = 0.45 * room / static_cast<double>(most); // below this lanes scroll instead
    double high = 1.0 * room / static_cast<double>(most);
    const auto fits = [this, room](double scale) {
        return std::all_of(lanes_.begin(), lanes_.end(),
                           [&](const LaneWidget* lane) { return lane->heightAt(scale) <= room; });
    };
    if (fits(high)) {
        low = high;
    }
    for (int i = 0; i < 20 && low < high; ++i) {
        const double middle = (low + high) / 2;
        (fits(middle) ? low : high) = middle;
    }
    for (LaneWidget* lane : lanes_) {
        lane->setScale(low);
    }
}

void LayoutView::refreshBars() {
    const bool has_plan = stagedPlan() != nullptr;
    undo_->setEnabled(history_.canUndo());
    redo_->setEnabled(history_.canRedo());
    undo_->setToolTip(history_.canUndo() ? tr("Undo: %1 (Ctrl+Z)").arg(history_.undoLabel())
                                         : tr("Nothing to undo"));
    redo_->setToolTip(history_.canRedo() ? tr("Redo: %1 (Ctrl+Shift+Z)").arg(history_.redoLabel())
                                         : tr("Nothing to redo"));
    presets_->setEnabled(has_plan);
    what_if_button_->setEnabled(has_plan || root_.has_value());
    what_if_button_->setText(what_if_.has_value() ? tr("What if: %1 ▾").arg(what_if_->name)
                                                  : tr("What if: this computer ▾"));
    more_->setEnabled(has_plan);
    const bool has_changes = hasChanges();
    revert_->setVisible(has_plan);
    revert_->setText(what_if_.has_value() ? tr("Back to this computer") : tr("Revert"));
    revert_->setEnabled(what_if_.has_value() ||
                        (has_changes && (applied_ != nullptr || history_.canUndo())));
    apply_->setVisible(has_plan && !what_if_.has_value());
    const bool is_header_only = model_ != nullptr && model_->is_header_only;
    const bool fits = has_plan && stagedPlan()->fits;
    apply_->setEnabled(has_changes && fits && !is_busy_ && !isWaiting() && !is_header_only &&
                       !apply_pending_.has_value());
    if (apply_pending_.has_value()) {
        apply_->setText(tr("Applying…"));
    } else if (applied_ == nullptr) {
        apply_->setText(tr("Load with this layout"));
    } else if (has_changes && isReloadNeeded()) {
        apply_->setText(tr("Load again with this"));
    } else {
        const int count = has_changes ? countChanges(*stagedPlan(), *applied_) : 0;
        apply_->setText(count == 0   ? tr("Apply")
                        : count == 1 ? tr("Apply 1 change")
                                     : tr("Apply %1 changes").arg(QLocale().toString(count)));
    }
    apply_->setAccessibleName(apply_->text());

    QString text;
    if (has_plan) {
        const Theme& theme = Theme::current();
        const engine::PlacementPlan& plan = *stagedPlan();
        const auto item = [&text](const QString& part) {
            text += (text.isEmpty() ? QString() : QStringLiteral(" &nbsp;&nbsp; ")) + part;
        };
        item(QStringLiteral("<b style=\"color:%1\">%2</b>")
                 .arg((plan.fits ? theme.success : theme.danger).name(),
                      plan.fits ? tr("✓ Fits") : tr("✗ Does not fit")));
        int shown = 0;
        for (const engine::DeviceId id : laneDevices(plan)) {
            const engine::DevicePlan* device = devicePlan(plan, id);
            if (device != nullptr && (id.isGpu() || shown == 0) && shown < 2 &&
                id != engine::DeviceId::disk()) {
                ++shown;
                item(tr("%1 <b>%2</b> of %3")
                         .arg(laneName(id).toHtmlEscaped(), formatBytes(device->parts.total()),
                              formatBytes(device->limit))
                         .replace(QLatin1Char(' '), QStringLiteral("&nbsp;"))
                         .replace(QStringLiteral("<b>&nbsp;"), QStringLiteral("<b>")));
            }
        }
        const engine::SpeedEstimate& speed = plan.estimate;
        if (speed.decode_tokens_per_s > 0) {
            item(tr("about&nbsp;<b>%1</b>&nbsp;tokens/s")
                     .arg(formatRate(speed.decode_tokens_per_s)));
        }
        if (speed.image_s > 0) {
            item(tr("image&nbsp;<b>%1</b>").arg(shortSeconds(speed.image_s)));
        }
        if (speed.audio_s_per_s > 0) {
            item(tr("10&nbsp;s&nbsp;of&nbsp;sound&nbsp;<b>%1</b>")
                     .arg(shortSeconds(10 * speed.audio_s_per_s)));
        }
        if (is_header_only && !what_if_.has_value()) {
            item(tr("plan only: the weights are not in the folder"));
        }
    }
    summary_->setText(text);
}

void LayoutView::showIssues() {
    const auto plan = stagedPlan();
    if (is_notice_kept_) {
        return;
    }
    if (plan == nullptr || (plan->errors.empty() && plan->warnings.empty())) {
        notice_->clear();
        return;
    }
    QStringList details;
    const auto add = [&details](const engine::PlanIssue& issue) {
        details << QString::fromStdString(issue.message);
        for (const std::string& suggestion : issue.suggestions) {
            details << QStringLiteral("    • ") + QString::fromStdString(suggestion);
        }
    };
    for (const engine::PlanIssue& issue : plan->errors) {
        add(issue);
    }
    for (const engine::PlanIssue& issue : plan->warnings) {
        add(issue);
    }
    if (plan->errors.empty()) {
        notice_->showNotice(NoticeBar::Kind::Warning,
                            QString::fromStdString(plan->warnings.front().message), details);
        return;
    }
    QStringList over;
    for (const engine::DevicePlan& device : plan->devices) {
        if (device.limit > 0 && device.id != engine::DeviceId::disk() &&
            device.parts.total() > device.limit) {
            over << tr("%1 would need %2 and has %3: %4 too much.")
                        .arg(laneName(device.id), formatBytes(device.parts.total()),
                             formatBytes(device.limit),
                             formatBytes(device.parts.total() - device.limit));
        }
    }
    QString text = over.isEmpty() ? QString::fromStdString(plan->errors.front().message)
                                  : over.join(QLatin1Char(' '));
    if (!plan->errors.front().suggestions.empty()) {
        text +=
            QStringLiteral(" ") +
            tr("Try: %1.").arg(QString::fromStdString(plan->errors.front().suggestions.front()));
    }
    notice_->showNotice(NoticeBar::Kind::Error, text, details, tr("Make it fit"));
}

void LayoutView::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    rescale();
}

void LayoutView::hideEvent(QHideEvent* event) {
    endHold();
    QWidget::hideEvent(event);
}

void LayoutView::dragEnterEvent(QDragEnterEvent* event) {
    const QList<QUrl> urls = event->mimeData()->urls();
    if (stagedPlan() != nullptr && urls.size() == 1 && urls.front().isLocalFile() &&
        urls.front().path().endsWith(QStringLiteral(".json"), Qt::CaseInsensitive)) {
        event->acceptProposedAction();
    }
}

void LayoutView::dropEvent(QDropEvent* event) {
    event->acceptProposedAction();
    Q_EMIT mapFileChosen(event->mimeData()->urls().front().toLocalFile());
}

} // namespace ui
