// SPDX-License-Identifier: Apache-2.0
// Steps, plans and Apply; other computers are in layout_staging_computers.cpp.
#include "ui/layout/layout_staging.h"

#include "ui/layout/layout_blocks.h"
#include "ui/layout/layout_price.h"

#include <algorithm>
#include <utility>

namespace ui {

namespace {

std::vector<std::string> adapterFolders(const engine::LoadRequest& request) {
    std::vector<std::string> folders;
    for (const engine::AdapterChoice& choice : request.adapters) {
        folders.push_back(choice.folder);
    }
    return folders;
}

/// Options that a loaded model has to be loaded again for. Adapters come and go without that.
bool hasSameOptions(const engine::LoadRequest& a, const engine::LoadRequest& b) {
    return a.model == b.model && a.quant == b.quant && a.head == b.head && a.kv == b.kv &&
           a.expert_cache == b.expert_cache && a.context == b.context &&
           a.prefill_chunk == b.prefill_chunk && a.image_tokens == b.image_tokens &&
           a.limits == b.limits && a.sim_gpus == b.sim_gpus &&
           a.is_reference_precision == b.is_reference_precision &&
           a.is_text_only == b.is_text_only && a.projector == b.projector && a.draft == b.draft &&
           a.draft_tokens == b.draft_tokens;
}

bool isPlanned(const LayoutHistory& history, const engine::PlacementPlan& plan) {
    return !history.isEmpty() && history.current().plan != nullptr &&
           isSamePlacement(*history.current().plan, plan);
}

} // namespace

engine::LoadRequest LayoutStaging::stagedRequest() const {
    const LayoutHistory& history = historyHere();
    return history.isEmpty() ? root_.value_or(engine::LoadRequest()) : history.current().request;
}

std::shared_ptr<const engine::PlacementPlan> LayoutStaging::stagedPlan() const {
    return history_.isEmpty() ? nullptr : history_.current().plan;
}

std::shared_ptr<const engine::PlacementPlan> LayoutStaging::planHere() const {
    return historyHere().isEmpty() ? nullptr : historyHere().current().plan;
}

bool LayoutStaging::isReloadNeeded() const {
    return applied_ == nullptr || !applied_request_.has_value() || history_.isEmpty() ||
           !isOfLoadedModel() || !hasSameOptions(*applied_request_, history_.current().request);
}

bool LayoutStaging::isOfLoadedModel() const {
    return loaded_model_.empty() || history_.isEmpty() ||
           history_.current().request.model == loaded_model_;
}

bool LayoutStaging::hasChanges() const {
    if (history_.isEmpty() || history_.current().plan == nullptr || what_if_.has_value()) {
        return false;
    }
    return isReloadNeeded() || !isSamePlacement(*history_.current().plan, *applied_);
}

bool LayoutStaging::canLoadAnyway() const {
    const auto plan = stagedPlan();
    return plan != nullptr && !what_if_.has_value() && !plan->fits &&
           engine::isRefusedByEstimate(plan->errors);
}

int LayoutStaging::countWaitingChanges() const {
    if (!hasChanges() || applied_ == nullptr || !isOfLoadedModel()) {
        return 0;
    }
    return isReloadNeeded() ? 1 : countChanges(*stagedPlan(), *applied_);
}

void LayoutStaging::tell(void (LayoutStaging::*signal)()) {
    is_apply_queued_ = is_apply_queued_ && hasChanges() && stagedPlan()->fits;
    Q_EMIT(this->*signal)();
    if (const int count = countWaitingChanges(); count != waiting_changes_) {
        waiting_changes_ = count;
        Q_EMIT waitingChangesChanged(count);
    }
}

void LayoutStaging::tellPlan() {
    tell(&LayoutStaging::changed);
    Q_EMIT stagedPlanChanged(history_.current().plan);
}

void LayoutStaging::clear() {
    history_ = {};
    root_.reset();
    what_if_.reset();
    tell(&LayoutStaging::changed);
}

void LayoutStaging::setRequest(const engine::LoadRequest& request) {
    const bool was_elsewhere = what_if_.has_value();
    if (was_elsewhere) {
        what_if_.reset();
        history_ = real_history_;
    }
    if (request.model.empty()) {
        root_ = request;
        history_ = {};
        tell(&LayoutStaging::changed);
        return;
    }
    const bool is_same_model =
        root_.has_value() && root_->model == request.model && !history_.isEmpty();
    const bool is_same_map =
        is_same_model && request.moves.empty() &&
        (request.device_map == root_->device_map ||
         request.device_map == history_.current().request.device_map ||
         (applied_request_.has_value() && request.device_map == applied_request_->device_map));
    if (is_same_map) {
        adoptOptions(request);
        if (was_elsewhere) {
            tell(&LayoutStaging::changed);
        }
        return;
    }
    root_ = request;
    Pending next;
    next.purpose = Pending::Purpose::Root;
    next.stage.request = request;
    this->request(std::move(next));
}

void LayoutStaging::adoptOptions(const engine::LoadRequest& request) {
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
    adopt(&engine::LoadRequest::kv);
    adopt(&engine::LoadRequest::expert_cache);
    adopt(&engine::LoadRequest::context);
    adopt(&engine::LoadRequest::prefill_chunk);
    adopt(&engine::LoadRequest::image_tokens);
    adopt(&engine::LoadRequest::limits);
    adopt(&engine::LoadRequest::sim_gpus);
    adopt(&engine::LoadRequest::is_reference_precision);
    adopt(&engine::LoadRequest::is_text_only);
    adopt(&engine::LoadRequest::projector);
    adopt(&engine::LoadRequest::draft);
    adopt(&engine::LoadRequest::draft_tokens);
    wanted.adapters = request.adapters;
    wanted.threads = request.threads;
    wanted.cache_folder = request.cache_folder;
    if (before.sim_gpus.empty() != wanted.sim_gpus.empty()) {
        wanted.device_map = "fit"; // the cards that the map used are gone, or the first ones came
    }
    if (hasSameOptions(before, wanted) && adapterFolders(before) == adapterFolders(wanted)) {
        history_.replace(std::move(stage)); // strengths, threads: no plan depends on them
        Q_EMIT adaptersChanged();
        return;
    }
    const bool is_new_step = !hasSameOptions(before, wanted); // adapters come and go without one
    Pending next;
    next.purpose = is_new_step ? Pending::Purpose::Stage : Pending::Purpose::Replace;
    if (is_new_step) {
        stage.label = tr("Options");
    }
    next.stage = std::move(stage);
    this->request(std::move(next));
}

void LayoutStaging::request(Pending pending) {
    const quint64 serial = ++serial_;
    if (pending.purpose != Pending::Purpose::Preview) {
        ++waiting_;
    }
    const engine::LoadRequest wanted = pending.stage.request;
    pending_.emplace(serial, std::move(pending));
    tell(&LayoutStaging::stateChanged);
    Q_EMIT planRequested(serial, wanted);
}

void LayoutStaging::showPlan(quint64 serial,
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

void LayoutStaging::take(Pending pending,
                         const std::shared_ptr<const engine::PlacementPlan>& plan) {
    pending.stage.plan = plan;
    if (what_if_.has_value() && !what_if_->tellsSpeed()) {
        auto silent = std::make_shared<engine::PlacementPlan>(*plan);
        silent->estimate = {}; // Belfry has no kernels for such a card
        pending.stage.plan = std::move(silent);
    }
    const QString error = hardError(*plan);
    if (pending.purpose != Pending::Purpose::Preview) {
        Q_EMIT adaptersChanged();
    }
    // Moves are made on a document: with them the plan is not the preset's any more.
    const bool has_moves = !pending.stage.request.moves.empty();
    pending.stage.asked_map = has_moves ? "" : pending.stage.request.device_map;
    if (!plan->map_text.empty()) {
        pending.stage.request.device_map = plan->map_text;
        pending.stage.request.moves.clear();
    }
    switch (pending.purpose) {
    case Pending::Purpose::Preview:
        Q_EMIT previewed(pending.lane, pending.stage, error);
        return;
    case Pending::Purpose::Root:
        history_.reset(std::move(pending.stage));
        Q_EMIT wentOn();
        if (applied_ != nullptr && !applied_request_.has_value() && isOfLoadedModel() &&
            isSamePlacement(*plan, *applied_)) {
            applied_request_ = history_.current().request; // back from another model
        }
        break;
    case Pending::Purpose::Computer:
        if (!takeComputer(std::move(pending), error.isEmpty())) {
            return;
        }
        break;
    case Pending::Purpose::Stage:
        if (!error.isEmpty()) {
            Q_EMIT refused(pending.stage.label, plan);
            tell(&LayoutStaging::stateChanged);
            return;
        }
        Q_EMIT wentOn();
        history_.push(std::move(pending.stage));
        break;
    case Pending::Purpose::Replace:
        history_.replace(std::move(pending.stage));
        break;
    }
    tellPlan();
}

void LayoutStaging::showPlanError(quint64 serial, const engine::Error& error) {
    const auto it = pending_.find(serial);
    if (it == pending_.end()) {
        return;
    }
    const Pending pending = std::move(it->second);
    pending_.erase(it);
    if (pending.purpose == Pending::Purpose::Preview) {
        Q_EMIT previewFailed(pending.lane, error);
        return;
    }
    --waiting_;
    if (pending.purpose == Pending::Purpose::Root) {
        history_ = {};
    }
    const std::vector<std::string> asked = adapterFolders(pending.stage.request);
    const bool is_about_adapters = pending.purpose == Pending::Purpose::Replace &&
                                   !history_.isEmpty() &&
                                   asked != adapterFolders(history_.current().request);
    // Adapters that were taken away again before this answer came are not told of.
    if (!is_about_adapters || !root_.has_value() || adapterFolders(*root_) == asked) {
        Q_EMIT failed(pending.stage.label, error, is_about_adapters);
    }
    tell(&LayoutStaging::changed);
    runNext();
}

void LayoutStaging::runNext() {
    while (!isWaiting() && !queue_.empty()) {
        const std::function<void()> next = std::move(queue_.front());
        queue_.pop_front();
        next();
    }
}

bool LayoutStaging::mayStage(std::function<void()> step) {
    if (isWaiting()) {
        queue_.push_back(std::move(step));
        return false;
    }
    return true;
}

void LayoutStaging::stageMoves(std::vector<engine::MapMove> moves,
                               const QString& label,
                               LayoutCuts cuts) {
    if (history_.isEmpty() || moves.empty() ||
        !mayStage([this, moves, label, cuts] { stageMoves(moves, label, cuts); })) {
        return;
    }
    Pending next;
    next.stage.request = history_.current().request;
    next.stage.request.moves = std::move(moves);
    next.stage.cuts = std::move(cuts);
    next.stage.label = label;
    request(std::move(next));
}

void LayoutStaging::stageMap(const std::string& map, const QString& label) {
    if (history_.isEmpty() || !mayStage([this, map, label] { stageMap(map, label); })) {
        return;
    }
    Pending next;
    next.stage.request = history_.current().request;
    next.stage.request.device_map = map;
    next.stage.request.moves.clear();
    next.stage.label = label;
    request(std::move(next));
}

void LayoutStaging::stageRequest(engine::LoadRequest wanted, const QString& label) {
    if (history_.isEmpty() || !mayStage([this, wanted, label] { stageRequest(wanted, label); })) {
        return;
    }
    Q_EMIT wentOn();
    Pending next;
    next.stage.request = std::move(wanted);
    next.stage.cuts = history_.current().cuts;
    next.stage.label = label;
    request(std::move(next));
}

void LayoutStaging::stageOptions(engine::LoadRequest wanted) {
    leaveWhatIf();
    if (history_.isEmpty()) {
        return;
    }
    const auto plan = stagedPlan();
    const bool had_gpu = plan != nullptr && std::any_of(plan->devices.begin(), plan->devices.end(),
                                                        [](const auto& d) { return d.id.isGpu(); });
    // A first card is there to be used; without any, a map that names one cannot stand.
    const bool has_sims = !wanted.sim_gpus.empty();
    if ((!had_gpu && has_sims) ||
        (wanted.device_map.find("\"sim:") != std::string::npos && !has_sims)) {
        wanted.device_map = "fit";
    }
    Pending next;
    next.stage.request = std::move(wanted);
    next.stage.cuts = history_.current().cuts;
    next.stage.label = tr("Options");
    request(std::move(next));
}

void LayoutStaging::push(LayoutStage stage) {
    Q_EMIT wentOn();
    history_.push(std::move(stage));
    tellPlan();
}

void LayoutStaging::preview(engine::DeviceId lane,
                            std::vector<engine::MapMove> moves,
                            const QString& label) {
    Pending next;
    next.purpose = Pending::Purpose::Preview;
    next.stage.request = history_.current().request;
    next.stage.request.moves = std::move(moves);
    next.stage.cuts = history_.current().cuts;
    next.stage.label = label;
    next.lane = lane;
    request(std::move(next));
}

void LayoutStaging::forgetPreviews() {
    for (auto it = pending_.begin(); it != pending_.end();) {
        it = it->second.purpose == Pending::Purpose::Preview ? pending_.erase(it) : std::next(it);
    }
    if (!isWaiting()) {
        Q_EMIT plansForgotten(serial_ + 1);
    }
}

void LayoutStaging::setLoadedModel(const std::string& model) {
    if (loaded_model_ == model) {
        return;
    }
    loaded_model_ = model;
    if (applied_request_.has_value() && applied_request_->model != model) {
        applied_request_.reset();
    }
    tell(&LayoutStaging::changed);
}

void LayoutStaging::setApplied(const std::shared_ptr<const engine::PlacementPlan>& plan,
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
        tell(&LayoutStaging::changed);
        return;
    }
    LayoutHistory& history = what_if_.has_value() ? real_history_ : history_;
    is_apply_queued_ = false;
    // A load that failed may have brought the former model back: that is another plan than asked.
    const bool is_staged = isPlanned(history, *plan);
    const bool was_asked_here = apply_pending_.has_value() && is_staged;
    if (was_asked_here) {
        applied_request_ = std::exchange(apply_pending_, std::nullopt);
    } else if (root_.has_value() && !apply_pending_.has_value() && isOfLoadedModel()) {
        applied_request_ = root_;
    }
    if (applied_request_.has_value()) {
        applied_request_->device_map = plan->map_text;
    }
    if (!is_staged && !had_changes && applied_request_.has_value() && isOfLoadedModel()) {
        LayoutStage first;
        first.request = *applied_request_;
        first.plan = plan;
        history.reset(std::move(first));
        if (!what_if_.has_value()) {
            Q_EMIT stagedPlanChanged(plan);
        }
    }
    Q_EMIT wentOn();
    tell(&LayoutStaging::changed);
}

void LayoutStaging::setBusy(Busy busy) {
    if (busy_ == busy) {
        return;
    }
    busy_ = busy;
    tell(&LayoutStaging::stateChanged);
    if (busy_ == Busy::No && is_apply_queued_) {
        // A message that waited for this reply goes first; then this waits for the next one.
        QMetaObject::invokeMethod(
            this,
            [this] {
                if (busy_ == Busy::No && std::exchange(is_apply_queued_, false)) {
                    apply();
                    tell(&LayoutStaging::stateChanged);
                }
            },
            Qt::QueuedConnection);
    }
}

bool LayoutStaging::endApply() {
    if (!apply_pending_.has_value()) {
        return false;
    }
    apply_pending_.reset();
    return true;
}

void LayoutStaging::undo() {
    if (history_.canUndo() && !isWaiting()) {
        history_.undo();
        showStep();
    }
}

void LayoutStaging::redo() {
    if (history_.canRedo() && !isWaiting()) {
        history_.redo();
        showStep();
    }
}

void LayoutStaging::showStep() {
    Q_EMIT wentOn();
    tellPlan();
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

void LayoutStaging::revert() {
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
        push(std::move(stage));
        return;
    }
    // Nothing is loaded: back to the first layout.
    while (history_.canUndo()) {
        history_.undo();
    }
    tellPlan();
}

void LayoutStaging::apply() {
    if (!mayStage([this] { apply(); })) {
        return;
    }
    const bool is_anyway = canLoadAnyway() && busy_ == Busy::No;
    if (!hasChanges() || !(history_.current().plan->fits || is_anyway) ||
        apply_pending_.has_value()) {
        return;
    }
    if (busy_ == Busy::Reply) {
        is_apply_queued_ = !is_apply_queued_; // once more takes it back
        tell(&LayoutStaging::stateChanged);
        return;
    }
    if (busy_ != Busy::No) {
        return;
    }
    apply_pending_ = history_.current().request;
    tell(&LayoutStaging::stateChanged);
    engine::LoadRequest wanted = *apply_pending_;
    wanted.loads_anyway = is_anyway;
    Q_EMIT applyRequested(wanted);
}

} // namespace ui
