// SPDX-License-Identifier: Apache-2.0
// Stages, plans and what is drawn of them. Holding a block: layout_view_hold.cpp; menus, files and
// other computers: layout_view_actions.cpp.
#include "ui/layout/layout_view.h"

#include "ui/common/error_words.h"
#include "ui/common/issue_words.h"
#include "ui/common/suggestion_words.h"
#include "ui/layout/drag_ghost.h"
#include "ui/layout/lane_widget.h"
#include "ui/layout/notice_bar.h"
#include "ui/style/format.h"
#include "ui/style/theme.h"

#include <QAccessibleWidget>
#include <QDragEnterEvent>
#include <QLocale>
#include <QMimeData>
#include <QPushButton>
#include <QShortcut>
#include <QUrl>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

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
           a.is_reference_precision == b.is_reference_precision && a.is_text_only == b.is_text_only;
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
    // Named, so that the window can give them the user's own keys.
    const auto shortcut = [this](const char* name, const QList<QKeySequence>& keys, auto slot) {
        auto* s = new QShortcut(this);
        s->setKeys(keys);
        s->setObjectName(QStringLiteral("shortcut_") + QString::fromLatin1(name));
        s->setContext(Qt::WidgetWithChildrenShortcut);
        connect(s, &QShortcut::activated, this, slot);
        return s;
    };
    undo_keys_ = shortcut("undoLayout", {Qt::CTRL | Qt::Key_Z}, &LayoutView::undo);
    shortcut("redoLayout", {Qt::CTRL | Qt::SHIFT | Qt::Key_Z, Qt::CTRL | Qt::Key_Y},
             &LayoutView::redo);
    shortcut("applyLayout", {Qt::CTRL | Qt::Key_Return}, &LayoutView::apply);
    refresh();
}

LayoutView::~LayoutView() = default;

engine::LoadRequest LayoutView::stagedRequest() const {
    const LayoutHistory& history = what_if_.has_value() ? real_history_ : history_;
    return history.isEmpty() ? root_.value_or(engine::LoadRequest()) : history.current().request;
}

std::shared_ptr<const engine::PlacementPlan> LayoutView::stagedPlan() const {
    return history_.isEmpty() ? nullptr : history_.current().plan;
}

bool LayoutView::isReloadNeeded() const {
    return applied_ == nullptr || !applied_request_.has_value() || history_.isEmpty() ||
           !isOfLoadedModel() || !hasSameOptions(*applied_request_, history_.current().request);
}

bool LayoutView::isOfLoadedModel() const {
    return loaded_model_.empty() || history_.isEmpty() ||
           history_.current().request.model == loaded_model_;
}

void LayoutView::setLoadedModel(const std::string& model) {
    if (loaded_model_ == model) {
        return;
    }
    loaded_model_ = model;
    if (applied_request_.has_value() && applied_request_->model != model) {
        applied_request_.reset();
    }
    refresh();
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
    if (what_if_.has_value()) {
        what_if_.reset();
        history_ = real_history_;
    }
    const bool is_same_model =
        root_.has_value() && root_->model == request.model && !history_.isEmpty();
    const bool is_same_map =
        is_same_model && request.moves.empty() &&
        (request.device_map == root_->device_map ||
         request.device_map == history_.current().request.device_map ||
         (applied_request_.has_value() && request.device_map == applied_request_->device_map));
    if (request.model.empty()) {
        root_ = request;
        history_ = {};
        refresh();
        return;
    }
    Pending next;
    if (!is_same_map) {
        root_ = request;
        next.purpose = Pending::Purpose::Root;
        next.stage.request = request;
        this->request(std::move(next));
        return;
    }
    // What the caller changed is changed; what was staged here beyond that stays.
    const engine::LoadRequest former = std::exchange(root_, request).value();
    LayoutStage stage = history_.current();
    engine::LoadRequest& wanted = stage.request;
    const engine::LoadRequest before = wanted;
    const auto adopt = [&](auto engine::LoadRequest::*field) {
        if (former.*field != request.*field) {
            wanted.*field = request.*field;
        }
    };
    adopt(&engine::LoadRequest::quant);
    adopt(&engine::LoadRequest::head);
    adopt(&engine::LoadRequest::context);
    adopt(&engine::LoadRequest::prefill_chunk);
    adopt(&engine::LoadRequest::image_tokens);
    adopt(&engine::LoadRequest::limits);
    adopt(&engine::LoadRequest::sim_gpus);
    adopt(&engine::LoadRequest::is_reference_precision);
    wanted.adapters = request.adapters;
    wanted.threads = request.threads;
    wanted.cache_folder = request.cache_folder;
    if (before.sim_gpus.empty() != wanted.sim_gpus.empty()) {
        wanted.device_map = "fit"; // the cards that the map used are gone, or the first ones came
    }
    if (hasSameOptions(before, wanted) && adapterFolders(before) == adapterFolders(wanted)) {
        history_.replace(std::move(stage)); // strengths, threads: no plan depends on them
        if (std::exchange(is_adapter_notice_, false)) {
            is_notice_kept_ = false; // the adapter that did not fit is gone
            showIssues();
        }
        return;
    }
    const bool is_new_step = !hasSameOptions(before, wanted); // adapters come and go without one
    next.purpose = is_new_step ? Pending::Purpose::Stage : Pending::Purpose::Replace;
    if (is_new_step) {
        stage.label = tr("Options");
    }
    next.stage = std::move(stage);
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
    if (pending.purpose != Pending::Purpose::Preview && std::exchange(is_adapter_notice_, false)) {
        is_notice_kept_ = false; // a plan of other adapters
    }
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
        if (applied_ != nullptr && !applied_request_.has_value() && isOfLoadedModel() &&
            isSamePlacement(*plan, *applied_)) {
            applied_request_ = history_.current().request; // back from another model
        }
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
                QString line = issueWords(issue);
                if (issue.line > 0) {
                    line = tr("Line %1, column %2: %3").arg(issue.line).arg(issue.column).arg(line);
                }
                for (const engine::Suggestion& suggestion : issue.suggestions) {
                    line += QStringLiteral(" ") + suggestionWords(suggestion);
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
    const QString message = errorWords(error);
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
    const bool is_about_adapters =
        pending.purpose == Pending::Purpose::Replace && !history_.isEmpty() &&
        adapterFolders(pending.stage.request) != adapterFolders(history_.current().request);
    if (is_about_adapters && root_.has_value() &&
        adapterFolders(*root_) != adapterFolders(pending.stage.request)) {
        refresh(); // taken away again before this answer came
        runNext();
        return;
    }
    is_notice_kept_ = true;
    is_adapter_notice_ = is_about_adapters;
    if (is_about_adapters) {
        // Adapters came or went: the stage's label tells of an earlier step.
        notice_->showNotice(NoticeBar::Kind::Error,
                            tr("The adapter does not fit this model; this plan is without it."),
                            {message});
    } else {
        notice_->showNotice(NoticeBar::Kind::Error,
                            pending.stage.label.isEmpty()
                                ? tr("No plan: %1").arg(message)
                                : tr("%1: %2").arg(pending.stage.label, message));
    }
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

void LayoutView::stageRequest(engine::LoadRequest wanted, const QString& label) {
    if (history_.isEmpty()) {
        return;
    }
    if (isWaiting()) {
        queue_.emplace_back(
            [this, wanted = std::move(wanted), label] { stageRequest(wanted, label); });
        return;
    }
    is_notice_kept_ = false;
    Pending next;
    next.stage.request = std::move(wanted);
    next.stage.cuts = history_.current().cuts;
    next.stage.label = label;
    request(std::move(next));
}

void LayoutView::pushStage(LayoutStage stage) {
    is_notice_kept_ = false;
    history_.push(std::move(stage));
    refresh();
    Q_EMIT stagedPlanChanged(history_.current().plan);
}

void LayoutView::setApplied(const std::shared_ptr<const engine::PlacementPlan>& plan,
                            const std::string& model) {
    if (applied_ == plan) {
        return;
    }
    const bool is_other_model = loaded_model_ != model;
    const bool had_changes = hasChanges() && applied_ != nullptr && !is_other_model;
    applied_ = plan;
    loaded_model_ = model;
    if (plan == nullptr) {
        applied_request_.reset();
        refresh();
        return;
    }
    LayoutHistory& history = what_if_.has_value() ? real_history_ : history_;
    is_apply_queued_ = false;
    // A load that failed may have brought the former model back: that is another plan than asked.
    const bool was_asked_here = apply_pending_.has_value() && !history.isEmpty() &&
                                history.current().plan != nullptr &&
                                isSamePlacement(*history.current().plan, *plan);
    if (was_asked_here) {
        applied_request_ = std::exchange(apply_pending_, std::nullopt);
    } else if (root_.has_value() && !apply_pending_.has_value() && isOfLoadedModel()) {
        applied_request_ = root_;
    }
    if (applied_request_.has_value()) {
        applied_request_->device_map = plan->map_text;
    }
    const bool is_staged = !history.isEmpty() && history.current().plan != nullptr &&
                           isSamePlacement(*history.current().plan, *plan);
    if (!is_staged && !was_asked_here && !had_changes && applied_request_.has_value() &&
        isOfLoadedModel()) {
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

void LayoutView::setBusy(Busy busy) {
    if (busy_ == busy) {
        return;
    }
    busy_ = busy;
    refreshBars();
    if (busy_ == Busy::No && is_apply_queued_) {
        // A message that waited for this reply goes first; then this waits for the next one.
        QMetaObject::invokeMethod(
            this,
            [this] {
                if (busy_ == Busy::No && std::exchange(is_apply_queued_, false)) {
                    apply();
                    refreshBars();
                }
            },
            Qt::QueuedConnection);
    }
}

void LayoutView::showApplyError(const engine::Error& error) {
    if (!apply_pending_.has_value()) {
        return; // a load that was not asked for here
    }
    apply_pending_.reset();
    QStringList details;
    if (error.cause == nullptr) { // else the message has it all
        for (const auto& [key, value] : error.details) {
            details << QStringLiteral("%1: %2").arg(QString::fromStdString(key),
                                                    QString::fromStdString(value));
        }
    }
    const QString message = errorWords(error);
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
        details,
        error.code == engine::ErrorCode::OutOfMemory ? tr("Replan everything") : QString());
    notice_action_ = NoticeAction::Replan;
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
    const bool is_anyway = canLoadAnyway() && busy_ == Busy::No;
    if (!hasChanges() || !(history_.current().plan->fits || is_anyway) ||
        apply_pending_.has_value()) {
        return;
    }
    if (busy_ == Busy::Reply) {
        is_apply_queued_ = !is_apply_queued_; // once more takes it back
        refreshBars();
        return;
    }
    if (busy_ != Busy::No) {
        return;
    }
    apply_pending_ = history_.current().request;
    refreshBars();
    engine::LoadRequest wanted = *apply_pending_;
    wanted.loads_anyway = is_anyway;
    Q_EMIT applyRequested(wanted);
}

void LayoutView::refresh() {
    endHold();
    refreshLanes();
    refreshBars();
    showIssues();
}

void LayoutView::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    notice_->fitDetails();
    fitBars();
    rescale();
}

void LayoutView::keyPressEvent(QKeyEvent* event) {
    // A held block has used Esc before it comes here; nothing else of ours does.
    if (event->key() == Qt::Key_Escape && notice_->closeDetails()) {
        return;
    }
    QWidget::keyPressEvent(event);
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
