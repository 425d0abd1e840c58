// SPDX-License-Identifier: Apache-2.0
#include "ui/model/session.h"

#include "engine/api/device_loss.h"
#include "engine/api/model_address.h"
#include "ui/model/folder_words.h"
#include "ui/style/format.h"

#include <QDateTime>
#include <QDir>

#include <algorithm>
#include <utility>

namespace ui {

namespace {

QStringList folders(const std::vector<engine::AdapterChoice>& adapters) {
    QStringList out;
    for (const engine::AdapterChoice& adapter : adapters) {
        out.append(fromUtf8(adapter.folder));
    }
    return out;
}

/// Whether going from one request to the other only moves parts.
bool differsInMapOnly(const engine::LoadRequest& a, const engine::LoadRequest& b) {
    return a.model == b.model && a.quant == b.quant && a.head == b.head && a.kv == b.kv &&
           a.expert_cache == b.expert_cache && a.context == b.context &&
           a.prefill_chunk == b.prefill_chunk && a.image_tokens == b.image_tokens &&
           a.limits == b.limits && a.sim_gpus == b.sim_gpus &&
           a.is_reference_precision == b.is_reference_precision &&
           a.is_text_only == b.is_text_only && a.projector == b.projector && a.draft == b.draft &&
           a.draft_tokens == b.draft_tokens && a.threads == b.threads;
}

} // namespace

Session::Session(QObject* parent) : QObject(parent) {}

bool Session::isLoaded() const {
    return snapshot_ != nullptr && snapshot_->model != nullptr;
}

bool Session::isBusy() const {
    return job_ != Job::None;
}

Session::State Session::state() const {
    switch (job_) {
    case Job::Load:
        return State::Loading;
    case Job::Apply:
        return State::Applying;
    case Job::Reply:
        return State::Generating;
    case Job::None:
        break;
    }
    if (isLoaded()) {
        return State::Ready;
    }
    return model_.isEmpty() ? State::Empty : State::Chosen;
}

QString Session::nameOf(const QString& model) {
    if (model == QStringLiteral("demo")) {
        return tr("Demo model");
    }
    if (const QString shape = QStringLiteral("shape:"); model.startsWith(shape)) {
        return tr("%1, shape only").arg(model.mid(shape.size()).toUpper());
    }
    const std::string server_model = engine::serverModelName(model.toStdString());
    if (engine::isServerModel(model.toStdString()) && !server_model.empty()) {
        return fromUtf8(server_model);
    }
    const QStringList parts = namingParts(model);
    return parts.isEmpty() ? model : parts.last();
}

engine::Capabilities Session::capabilities() const {
    if (!isLoaded() && summary_ != nullptr) {
        return summary_->capabilities;
    }
    return snapshot_ != nullptr ? snapshot_->capabilities : engine::Capabilities{};
}

QString Session::shownModel() const {
    if (job_ == Job::Load) {
        return fromUtf8(asked_.model);
    }
    return isLoaded() ? loadedModel() : model_;
}

std::shared_ptr<const engine::ModelSummary> Session::shownSummary() const {
    if (shownModel() == model_) {
        return summary_;
    }
    return isLoaded() ? snapshot_->model : nullptr;
}

engine::LoadRequest Session::request() const {
    engine::LoadRequest request = options_;
    request.model = model_.toStdString();
    request.adapters = isChosenBeside() ? std::vector<engine::AdapterChoice>() : adapters_;
    return request;
}

const engine::AdapterSummary* Session::coverage(const std::string& folder) const {
    const engine::ModelSummary* summary = shownSummary().get();
    if (summary == nullptr) {
        return nullptr;
    }
    for (const engine::AdapterSummary& adapter : summary->adapters) {
        if (adapter.folder == folder) {
            return &adapter;
        }
    }
    return nullptr;
}

void Session::inspect() {
    is_inspecting_ = true;
    Q_EMIT inspectRequested(model_, folders(request().adapters));
}

void Session::chooseModel(const QString& folder, const QString& projector) {
    loads_when_read_ = false;
    if (isLoaded() && folder == loadedModel() && folder != model_) {
        options_ = loaded_; // it is there as it is
        options_.model.clear();
        options_.adapters.clear();
    } else if (!model_.isEmpty() && folder != model_ &&
               options_.device_map.find('{') != std::string::npos) {
        options_.device_map = "fit"; // a map names the parts of the model it was made for
    }
    if (folder != model_ && folder != loadedModel() && options_.draft != "auto") {
        options_.draft.clear(); // an assistant belongs to one model
    }
    if (folder != model_ && folder != loadedModel()) {
        options_.projector.clear(); // as towers do
    }
    useRemembered(folder);
    if (!projector.isEmpty()) {
        options_.projector = projector.toStdString();
    }
    model_ = folder;
    summary_.reset();
    model_error_.reset();
    if (folder.isEmpty()) {
        is_inspecting_ = false;
        Q_EMIT planInputChanged();
    } else {
        inspect();
        Q_EMIT modelChosen(folder);
    }
    Q_EMIT changed();
}

void Session::useRemembered(const QString& folder) {
    const auto remembered = remembered_.constFind(folder);
    const bool is_as_loaded = isLoaded() && folder == loadedModel();
    if (folder == model_ || is_as_loaded || remembered == remembered_.constEnd()) {
        return;
    }
    // What belongs to the program, not to the model, stays.
    engine::LoadRequest options = *remembered;
    options.model.clear();
    options.adapters.clear();
    options.threads = options_.threads;
    options.cache_folder = options_.cache_folder;
    options_ = std::move(options);
}

void Session::setRemembered(const QHash<QString, engine::LoadRequest>& options) {
    remembered_ = options;
}

void Session::rememberFor(const QString& folder, const engine::LoadRequest& options) {
    engine::LoadRequest own = options;
    own.model = folder.toStdString();
    own.projector.clear(); // of the headers that were looked at
    remembered_.insert(folder, own);
    Q_EMIT optionsRemembered(folder, own);
}

void Session::remember() {
    const QString folder = loadedModel();
    if (!folder.isEmpty() && !isCpuStandingIn()) {
        remembered_.insert(folder, loaded_);
        Q_EMIT optionsRemembered(folder, loaded_);
    }
}

void Session::chooseLoaded() {
    if (isLoaded()) {
        chooseModel(loadedModel());
    }
}

void Session::chooseAgain(const QString& folder, const engine::LoadRequest& options) {
    chooseModel(folder);
    setOptions(options); // those of that session, not those of the model's last load
    for (const engine::AdapterChoice& adapter : options.adapters) {
        addAdapter(fromUtf8(adapter.folder));
        if (!adapters_.empty() && fromUtf8(adapters_.back().folder) == fromUtf8(adapter.folder)) {
            const auto index = static_cast<int>(adapters_.size()) - 1;
            setAdapterStrength(index, adapter.strength);
            setAdapterEnabled(index, adapter.is_enabled);
        }
    }
}

void Session::chooseAndLoad(const QString& folder, const QString& projector) {
    chooseModel(folder, projector);
    loads_when_read_ = true;
    Q_EMIT changed();
}

void Session::loadWhenRead() {
    loads_when_read_ = is_inspecting_;
}

void Session::setOptions(const engine::LoadRequest& options) {
    options_ = options;
    options_.model.clear();
    options_.adapters.clear();
    Q_EMIT planInputChanged();
    Q_EMIT changed();
}

void Session::addAdapter(const QString& folder) {
    if (isChosenBeside()) {
        Q_EMIT failed(tr("The adapter was not added"),
                      {engine::ErrorCode::InvalidRequest,
                       tr("%1 is loaded and %2 is chosen. Load it, or go back to %1: an adapter "
                          "goes to the model that is both.")
                           .arg(nameOf(loadedModel()), modelName())
                           .toStdString()});
        return;
    }
    const std::string path = QDir::cleanPath(folder).toStdString();
    const auto same = [&](const engine::AdapterChoice& choice) { return choice.folder == path; };
    if (std::any_of(adapters_.begin(), adapters_.end(), same)) {
        return;
    }
    adapters_.push_back({path, 1.0, true});
    adaptersEdited(true);
}

bool Session::setAdapters(const std::vector<engine::AdapterChoice>& adapters) {
    if (isChosenBeside()) {
        return adapters.empty();
    }
    const bool is_list_changed = folders(adapters) != folders(adapters_);
    adapters_ = adapters;
    for (engine::AdapterChoice& adapter : adapters_) {
        adapter.strength = std::clamp(adapter.strength, 0.0, 2.0);
    }
    adaptersEdited(is_list_changed);
    return true;
}

void Session::removeAdapter(int index) {
    if (index >= 0 && index < static_cast<int>(adapters_.size())) {
        adapters_.erase(adapters_.begin() + index);
        adaptersEdited(true);
    }
}

void Session::setAdapterEnabled(int index, bool is_enabled) {
    if (index >= 0 && index < static_cast<int>(adapters_.size())) {
        adapters_[static_cast<size_t>(index)].is_enabled = is_enabled;
        adaptersEdited(false);
    }
}

void Session::setAdapterStrength(int index, double strength) {
    if (index >= 0 && index < static_cast<int>(adapters_.size())) {
        adapters_[static_cast<size_t>(index)].strength = std::clamp(strength, 0.0, 2.0);
        adaptersEdited(false);
    }
}

void Session::adaptersEdited(bool is_list_changed) {
    if (isChosenBeside()) {
        sendAdapters(); // of the loaded one, whatever is looked at
        Q_EMIT changed();
        return;
    }
    if (is_list_changed) {
        if (!model_.isEmpty()) {
            inspect(); // coverage first: a mismatch is told before anything is loaded
        }
        Q_EMIT planInputChanged();
    }
    // A list that grew is sent when its coverage has been read (showModel).
    if (isLoaded() && !is_inspecting_) {
        sendAdapters();
    }
    Q_EMIT changed();
}

void Session::sendAdapters() {
    if (are_adapters_asked_) {
        are_adapters_edited_ = true;
        return;
    }
    are_adapters_asked_ = true;
    are_adapters_edited_ = false;
    Q_EMIT adaptersRequested(adapters_);
}

void Session::load() {
    if (job_ != Job::None || summary_ == nullptr || summary_->is_header_only) {
        return;
    }
    startLoad(request());
}

void Session::loadAnyway(const engine::LoadRequest& request) {
    if (job_ != Job::None || request.model.empty()) {
        return;
    }
    engine::LoadRequest wanted = request;
    wanted.loads_anyway = true;
    startLoad(wanted);
}

void Session::startLoad(const engine::LoadRequest& request) {
    if (isChosenBeside() && request.model == model_.toStdString()) {
        adapters_ = request.adapters; // those of the former model stay with it
    }
    job_ = Job::Load;
    before_loss_.reset(); // another layout or model is wanted now
    asked_ = request;
    load_started_ms_ = QDateTime::currentMSecsSinceEpoch();
    Q_EMIT loadRequested(asked_);
    Q_EMIT changed();
}

void Session::loadAgain() {
    if (job_ != Job::None || loaded_.model.empty()) {
        return;
    }
    is_loading_again_ = true;
    engine::LoadRequest request = loaded_;
    if (request.model == model_.toStdString()) {
        request.adapters = adapters_; // strengths may have changed since
    }
    startLoad(request);
}

void Session::loadOnCpu() {
    engine::LoadRequest request = loaded_.model.empty() ? asked_ : loaded_;
    if (job_ != Job::None || request.model.empty()) {
        return;
    }
    const engine::LoadRequest before = before_loss_.value_or(request);
    if (request.model == model_.toStdString()) {
        request.adapters = adapters_;
    }
    request.device_map = "cpu";
    startLoad(request);
    before_loss_ = before; // also when it fails
}

engine::LoadRequest Session::restartRequest() const {
    engine::LoadRequest request = this->request();
    if (before_loss_.has_value() && before_loss_->model == request.model) {
        const std::vector<engine::AdapterChoice> adapters = request.adapters;
        request = *before_loss_;
        request.adapters = adapters;
    }
    return request;
}

void Session::eject() {
    if (isLoaded() && job_ == Job::None) {
        Q_EMIT unloadRequested();
    }
}

double Session::jobSeconds() const {
    return job_ == Job::Load || job_ == Job::Apply
               ? static_cast<double>(QDateTime::currentMSecsSinceEpoch() - load_started_ms_) / 1e3
               : 0.0;
}

void Session::resume() {
    if (job_ != Job::None || asked_.model.empty()) {
        resumes_ = job_ == Job::Load || job_ == Job::Apply; // its end has not been told yet
        return;
    }
    if (stopped_ == Job::Load) {
        startLoad(engine::LoadRequest(asked_));
    } else if (stopped_ == Job::Apply) {
        apply(engine::LoadRequest(asked_));
    }
}

void Session::cancel() {
    loads_when_read_ = false;
    if (job_ == Job::Load || job_ == Job::Apply) {
        stopped_ = job_;
    }
    Q_EMIT cancelRequested();
}

void Session::apply(const engine::LoadRequest& request) {
    if (job_ != Job::None) {
        return;
    }
    asked_ = request;
    asked_.model = model_.toStdString();
    asked_.adapters = this->request().adapters;
    if (isLoaded() && !asked_.loads_anyway && differsInMapOnly(asked_, loaded_)) {
        job_ = Job::Apply;
        load_started_ms_ = QDateTime::currentMSecsSinceEpoch();
        Q_EMIT applyMapRequested(fromUtf8(asked_.device_map));
        Q_EMIT changed();
    } else {
        startLoad(engine::LoadRequest(asked_));
    }
}

void Session::measureEffect(const QString& folder) {
    if (!isLoaded() || job_ != Job::None) {
        return;
    }
    job_ = Job::Reply; // the engine is busy, and Stop stops it
    Q_EMIT effectRequested(folder);
    Q_EMIT changed();
}

void Session::showEffect(const QString& folder, const engine::AdapterSummary::Effect& effect) {
    showReplyDone();
    Q_EMIT effectMeasured(folder, effect);
}

void Session::showEffectError(const QString& folder, const engine::Error& error) {
    showReplyDone();
    Q_EMIT effectFailed(folder, error);
    showDeviceError(error);
}

void Session::noteGenerating() {
    job_ = Job::Reply;
    Q_EMIT changed();
}

void Session::showSnapshot(const std::shared_ptr<const engine::EngineSnapshot>& snapshot) {
    const bool was_loaded = isLoaded();
    const engine::Capabilities before = capabilities();
    snapshot_ = snapshot;
    Q_EMIT snapshotChanged(snapshot);
    if (was_loaded != isLoaded() || before != capabilities()) {
        Q_EMIT changed();
    }
}

void Session::showModel(const QString& model,
                        const std::shared_ptr<const engine::ModelSummary>& summary) {
    if (model != model_) {
        return; // an answer about a folder that is no longer chosen
    }
    is_inspecting_ = false;
    summary_ = summary;
    model_error_.reset();
    Q_EMIT modelRead(model_);
    Q_EMIT planInputChanged();
    Q_EMIT changed();
    if (loads_when_read_) {
        loads_when_read_ = false;
        load();
    } else if (isLoaded() && loaded_.model == model_.toStdString() &&
               folders(loaded_.adapters) != folders(adapters_)) {
        sendAdapters();
    }
}

void Session::showModelError(const QString& model, const engine::Error& error) {
    if (model != model_) {
        return;
    }
    is_inspecting_ = false;
    loads_when_read_ = false;
    // With a summary in hand the model is fine: the adapter added last is what cannot be read.
    if (summary_ != nullptr && !adapters_.empty() && !isChosenBeside()) {
        adapters_.pop_back();
        Q_EMIT planInputChanged();
        Q_EMIT changed();
        Q_EMIT failed(tr("The adapter cannot be used with this model"), error);
        return;
    }
    model_error_ = std::make_unique<engine::Error>(error);
    Q_EMIT changed();
}

void Session::showLoaded() {
    job_ = Job::None;
    resumes_ = false; // it was done before it could be stopped
    is_loading_again_ = false;
    loaded_ = asked_;
    loaded_.loads_anyway = false; // it was said once, of that load
    options_ = loaded_;
    options_.model.clear();
    options_.adapters.clear();
    load_s_ = static_cast<double>(QDateTime::currentMSecsSinceEpoch() - load_started_ms_) / 1e3;
    remember();
    Q_EMIT applied();
    Q_EMIT changed();
    if (folders(adapters_) != folders(loaded_.adapters) || are_adapters_edited_) {
        sendAdapters();
    }
}

void Session::showLoadError(const engine::Error& error) {
    job_ = Job::None;
    if (isChosenBeside()) {
        adapters_ = loaded_.adapters; // the former model is in place again
    }
    Q_EMIT changed();
    if (error.code != engine::ErrorCode::Cancelled) {
        // A lost card that stays away is not even listed any more: then it is no such card.
        const bool is_gone = is_loading_again_ && !engine::needsNewProcess(error) &&
                             (error.code == engine::ErrorCode::DeviceLost ||
                              error.code == engine::ErrorCode::InvalidRequest ||
                              error.code == engine::ErrorCode::Unsupported);
        if (is_gone) {
            Q_EMIT deviceLost(error, true);
        } else {
            tellFailure(tr("The model was not loaded"), error);
        }
    }
    is_loading_again_ = false;
    resumeIfAsked();
}

void Session::showMapApplied() {
    job_ = Job::None;
    resumes_ = false;
    before_loss_.reset();
    loaded_.device_map = asked_.device_map;
    options_.device_map = asked_.device_map;
    remember();
    Q_EMIT applied();
    Q_EMIT changed();
}

void Session::showMapError(const engine::Error& error) {
    job_ = Job::None;
    Q_EMIT changed();
    if (error.code != engine::ErrorCode::Cancelled) {
        tellFailure(isLoaded() ? tr("Nothing was moved; everything is where it was")
                               : tr("The layout could not be applied"),
                    error);
    }
    resumeIfAsked();
}

void Session::resumeIfAsked() {
    if (std::exchange(resumes_, false)) {
        resume();
    }
}

void Session::showAdaptersChanged() {
    are_adapters_asked_ = false;
    loaded_.adapters = adapters_;
    if (are_adapters_edited_) {
        sendAdapters();
    }
}

void Session::showAdaptersError(const engine::Error& error) {
    are_adapters_asked_ = false;
    are_adapters_edited_ = false;
    if (snapshot_ != nullptr) {
        adapters_ = snapshot_->adapters; // what the engine really has
    }
    Q_EMIT changed();
    tellFailure(tr("The adapters were not changed"), error);
}

void Session::tellFailure(const QString& what, const engine::Error& error) {
    needs_restart_ = needs_restart_ || engine::needsNewProcess(error);
    if (error.code == engine::ErrorCode::DeviceLost && !engine::wasStartedAgain(error) &&
        (!loaded_.model.empty() || engine::needsNewProcess(error))) {
        Q_EMIT deviceLost(error, false);
    } else {
        Q_EMIT failed(what, error);
    }
}

void Session::showDeviceError(const engine::Error& error) {
    // One that mends itself is told where the reply is.
    if (error.code == engine::ErrorCode::DeviceLost && !engine::wasStartedAgain(error)) {
        tellFailure(QString(), error);
    }
}

void Session::showReplyDone() {
    if (job_ == Job::Reply) {
        job_ = Job::None;
        Q_EMIT changed();
    }
}

} // namespace ui
