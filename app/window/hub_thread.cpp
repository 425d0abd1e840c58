// SPDX-License-Identifier: Apache-2.0
#include "app/window/hub_thread.h"

#include "engine/base/paths.h"
#include "ui/library/get_page.h"
#include "ui/style/format.h"

#include <QDir>
#include <QMetaObject>
#include <QTemporaryDir>

#include <algorithm>
#include <utility>

#include "models/hub/modelscope.h"
#include "models/hub/preview.h"
#include "models/hub/token.h"
#include "models/preview_plan.h"

namespace app {

namespace hub = models::hub;
using engine::Error;
using engine::ErrorCode;
using engine::Result;
using engine::said;

namespace {

constexpr int kTellMs = 100;

QString shown(const std::filesystem::path& path) {
    return QDir::fromNativeSeparators(ui::fromUtf8(engine::utf8Of(path)));
}

bool hasFile(const hub::FetchPlan& plan, const char* name) {
    return std::any_of(plan.files.begin(), plan.files.end(),
                       [&](const hub::PlannedFile& planned) { return planned.file.name == name; });
}

ui::HubHit hitOf(const hub::SearchHit& hit) {
    ui::HubHit out;
    out.id = ui::fromUtf8(hit.id);
    out.licence = ui::fromUtf8(hit.licence);
    for (const std::string& base : hit.bases) {
        out.bases << ui::fromUtf8(base);
    }
    out.gate = hit.gate == hub::Gate::Manual      ? ui::HubHit::Gate::Manual
               : hit.gate == hub::Gate::Automatic ? ui::HubHit::Gate::Automatic
                                                  : ui::HubHit::Gate::None;
    out.is_private = hit.is_private;
    out.is_adapter = hit.is_adapter;
    out.has_safetensors = hit.has_safetensors;
    out.has_gguf = hit.has_gguf;
    out.downloads = hit.downloads;
    out.likes = hit.likes;
    out.parameters = static_cast<qint64>(hit.parameters);
    if (hit.changed > 0) {
        out.changed = QDateTime::fromSecsSinceEpoch(hit.changed);
    }
    return out;
}

ui::Download::State stateOf(hub::QueueItem::State state) {
    switch (state) {
    case hub::QueueItem::State::Waiting:
        return ui::Download::State::Waiting;
    case hub::QueueItem::State::Fetching:
        return ui::Download::State::Fetching;
    case hub::QueueItem::State::Paused:
        return ui::Download::State::Paused;
    case hub::QueueItem::State::Done:
        return ui::Download::State::Done;
    case hub::QueueItem::State::Failed:
        break;
    }
    return ui::Download::State::Failed;
}

bool isAdapterName(const hub::QueueItem& item) {
    std::error_code failure;
    return std::filesystem::exists(item.model_folder / "adapter_config.json", failure);
}

/// For HubState::keepOffer and the page: what fetching would bring.
ui::HubOffer offerOfPlan(quint64 ticket, const hub::FetchPlan& plan) {
    ui::HubOffer offer;
    offer.ticket = ticket;
    offer.id = ui::fromUtf8(plan.request.address.id);
    offer.revision = ui::fromUtf8(plan.request.address.revision);
    offer.commit = ui::fromUtf8(plan.commit);
    offer.folder = shown(plan.modelPath());
    if (plan.gguf.has_value()) {
        quint64 beside = 0;
        for (const auto& file : {plan.gguf->projector, plan.gguf->assistant}) {
            beside += file.has_value() ? file->size_bytes : 0;
        }
        for (const hub::GgufModel& model : plan.gguf->models) {
            offer.quantizations.push_back(
                {ui::fromUtf8(model.quantization), model.bytes() + beside, std::nullopt});
        }
        offer.quantization = static_cast<qsizetype>(plan.gguf->chosen);
    }
    if (plan.request.source == hub::Source::ModelScope) {
        offer.page = ui::fromUtf8(hub::modelScopePage(plan.request.address.id));
    }
    for (const hub::PlannedFile& planned : plan.files) {
        offer.files.push_back(
            {ui::fromUtf8(planned.file.name), planned.file.size_bytes, planned.found.bytes});
    }
    std::stable_sort(offer.files.begin(), offer.files.end(),
                     [](const ui::HubFile& a, const ui::HubFile& b) { return a.bytes > b.bytes; });
    if (!plan.gguf.has_value()) { // there it is mostly further quantizations, which are listed
        offer.left_out = static_cast<qsizetype>(plan.left_out.size());
        for (const hub::ListedFile& file : plan.left_out) {
            offer.left_out_bytes += file.size_bytes;
        }
    }
    offer.total_bytes = plan.total_bytes;
    offer.present_bytes = plan.present_bytes;
    offer.free_bytes = plan.free_bytes;
    if (const auto room = hub::checkRoom(plan); !room.has_value()) {
        offer.no_room = room.error();
    }
    offer.is_adapter = hasFile(plan, "adapter_config.json") && !hasFile(plan, "config.json");
    return offer;
}

/// `ask` with the token that goes along of itself; where that is refused, once more with the one
/// that was typed: so no keyring is opened for what is everybody's. `refusal` of what `ask` gives:
/// an error, or nullptr.
template <typename Ask, typename Refusal>
auto withToken(HubState& state, const Ask& ask, const Refusal& refusal)
    -> decltype(ask(hub::HubOptions())) {
    ENGINE_ASSIGN(hub::HubOptions options, state.options());
    auto answer = ask(options);
    const Error* const error = refusal(answer);
    if (error == nullptr || !hub::asksForToken(*error)) {
        return answer;
    }
    ENGINE_ASSIGN(const std::string stored, state.storedToken());
    if (stored.empty() || stored == options.token) {
        return answer;
    }
    options.token = stored;
    return ask(options);
}

Error noNetworkPart() {
    return {ErrorCode::Unsupported, said("this build of Belfry has no network part")};
}

} // namespace

HubState::HubState(HubSetup setup) : setup_(std::move(setup)) {
    if (setup_.network) {
        make_http_ = setup_.network([this] { return forbiddenBy(); });
    }
}

std::string HubState::forbiddenBy() const {
    const std::string outside = setup_.banned_by();
    return outside.empty() && !settings().uses_network ? "Settings" : outside;
}

void HubState::setSettings(const HubSettings& settings) {
    const std::lock_guard lock(mutex_);
    settings_ = settings;
}

HubSettings HubState::settings() const {
    const std::lock_guard lock(mutex_);
    return settings_;
}

std::string HubState::endpoint() const {
    hub::Environment environment = setup_.environment;
    if (const HubSettings chosen = settings(); !chosen.endpoint.isEmpty()) {
        environment.hf_endpoint = chosen.endpoint.toStdString();
    }
    return hub::endpoint(environment);
}

hub::TokenStore* HubState::tokens() {
    if (tokens_ == nullptr && setup_.make_tokens) {
        tokens_ = setup_.make_tokens();
    }
    return tokens_.get();
}

hub::HubOptions HubState::optionsWithoutToken() const {
    hub::HubOptions options;
    options.endpoint = endpoint();
    options.user_agent = setup_.user_agent;
    options.limits = setup_.limits;
    return options;
}

Result<hub::HubOptions> HubState::options() {
    hub::HubOptions options = optionsWithoutToken();
    const std::lock_guard lock(mutex_);
    ENGINE_ASSIGN(options.token, hub::impliedToken(setup_.environment, stored_));
    return options;
}

Result<std::string> HubState::storedToken() {
    std::string token;
    {
        const std::lock_guard lock(tokens_mutex_);
        if (hub::TokenStore* store = tokens()) {
            ENGINE_ASSIGN(token, store->read());
        }
    }
    const std::lock_guard lock(mutex_);
    stored_ = token;
    return token;
}

Result<void> HubState::setToken(const std::string& token) {
    const std::lock_guard lock(tokens_mutex_);
    hub::TokenStore* store = tokens();
    if (store == nullptr) {
        return Error{ErrorCode::InvalidRequest,
                     said("there is no place to keep a token in: set HF_TOKEN")};
    }
    std::string kept;
    if (token.empty()) {
        ENGINE_TRY(store->remove());
    } else {
        ENGINE_ASSIGN(kept, hub::checkedToken(token, engine::phrase("what was typed")));
        ENGINE_TRY(store->write(kept));
    }
    const std::lock_guard state_lock(mutex_);
    stored_ = kept;
    return {};
}

ui::NetworkFacts HubState::facts(bool asks_tokens) {
    ui::NetworkFacts facts;
    facts.is_there = make_http_ != nullptr;
    facts.is_forbidden_outside = hub::isSwitchedOn(setup_.environment.hf_hub_offline);
    facts.is_forbidden = facts.is_forbidden_outside || !settings().uses_network;
    facts.endpoint = ui::fromUtf8(endpoint());
    facts.usual_endpoint = ui::fromUtf8(hub::endpoint(setup_.environment));
    facts.is_mirror = endpoint() != hub::kDefaultEndpoint;
    facts.modelscope_endpoint = ui::fromUtf8(hub::modelScopeEndpoint(setup_.environment));
    for (const std::string_view host : hub::modelScopeHosts()) {
        facts.modelscope_hosts.append(ui::fromUtf8(std::string(host)));
    }
    if (!asks_tokens) {
        return facts;
    }
    const std::lock_guard lock(tokens_mutex_);
    const auto token = hub::chooseToken(setup_.environment, tokens());
    if (token.has_value() && !token->token.empty()) {
        facts.token_shown = ui::fromUtf8(hub::shownToken(token->token));
    }
    if (hub::TokenStore* store = tokens()) {
        facts.token_place = ui::fromUtf8(store->place());
    }
    return facts;
}

void HubState::keepOffer(quint64 ticket, hub::FetchPlan plan) {
    const std::lock_guard lock(mutex_);
    offered_ticket_ = ticket;
    offered_ = std::move(plan);
}

std::optional<hub::FetchPlan> HubState::offer(quint64 ticket) const {
    const std::lock_guard lock(mutex_);
    return offered_ticket_ == ticket ? offered_ : std::nullopt;
}

HubWorker::HubWorker(std::shared_ptr<HubState> state, engine::EngineOptions options)
    : state_(std::move(state)), options_(std::move(options)) {}

HubWorker::~HubWorker() = default;

Result<ui::HubFound> HubWorker::searchPage(const ui::HubQuery* query, const std::stop_token& stop) {
    if (!state_->makeHttp()) {
        return noNetworkPart();
    }
    return withToken(
        *state_, [&](const hub::HubOptions& options) { return searchWith(options, query, stop); },
        [](const Result<ui::HubFound>& found) {
            return found.has_value() ? nullptr : &found.error();
        });
}

Result<ui::HubFound> HubWorker::searchWith(const hub::HubOptions& options,
                                           const ui::HubQuery* query,
                                           const std::stop_token& stop) {
    const auto http = state_->makeHttp()();
    ENGINE_ASSIGN(hub::HubClient client, hub::HubClient::create(options, *http));
    ui::HubFound found;
    if (query != nullptr) {
        hub::SearchQuery wanted;
        wanted.words = query->words.toStdString();
        wanted.base = query->base.toStdString();
        wanted.kind = query->kind == ui::HubQuery::Kind::Adapters ? hub::SearchQuery::Kind::Adapters
                      : query->kind == ui::HubQuery::Kind::Gguf   ? hub::SearchQuery::Kind::Gguf
                                                                  : hub::SearchQuery::Kind::Models;
        ENGINE_ASSIGN(last_page_, hub::search(client, wanted, stop));
    } else {
        found.is_continued = true;
        ENGINE_ASSIGN(last_page_, hub::searchOn(client, last_page_, stop));
    }
    for (const hub::SearchHit& hit : last_page_.hits) {
        found.hits.push_back(hitOf(hit));
    }
    found.has_more = !last_page_.next.empty();
    return found;
}

void HubWorker::search(quint64 ticket, const ui::HubQuery& query, const std::stop_token& stop) {
    auto page = searchPage(&query, stop);
    if (page.has_value()) {
        Q_EMIT found(ticket, std::make_shared<const ui::HubFound>(std::move(page).value()));
    } else {
        Q_EMIT searchFailed(ticket, page.error());
    }
}

void HubWorker::searchOn(quint64 ticket, const std::stop_token& stop) {
    auto page = searchPage(nullptr, stop);
    if (page.has_value()) {
        Q_EMIT found(ticket, std::make_shared<const ui::HubFound>(std::move(page).value()));
    } else {
        Q_EMIT searchFailed(ticket, page.error());
    }
}

void HubWorker::addNeeds(ui::HubOffer& offer,
                         const hub::FetchPlan& plan,
                         hub::HubClient& client,
                         const std::stop_token& stop) {
    const auto folder = std::make_shared<const QTemporaryDir>();
    if (!folder->isValid()) {
        return; // the files and bytes are told all the same
    }
    const std::string path = folder->path().toStdString();
    const auto bytes = hub::writePreview(plan, client, engine::pathFromUtf8(path), stop);
    if (!bytes.has_value()) {
        offer.no_use = bytes.error();
        return;
    }
    if (engine_ == nullptr) {
        engine_ = std::make_unique<engine::Engine>(options_);
    }
    const auto model = models::readPreview(*engine_, plan, engine::pathFromUtf8(path));
    if (!model.has_value()) {
        offer.no_use = model.error();
        return;
    }
    offer.variant = ui::fromUtf8(model->summary.variant);
    offer.headers = ui::fromUtf8(model->request.model);
    offer.headers_projector = ui::fromUtf8(model->request.projector);
    offer.headers_folder = folder;
    engine::LoadRequest request = model->request;
    if (plan.gguf.has_value()) {
        if (const auto as_stored = engine_->plan(request); as_stored.has_value()) {
            const std::vector<bool> fits = models::modelsThatFit(*plan.gguf, *as_stored);
            for (size_t i = 0; i < fits.size(); ++i) {
                offer.quantizations[i].fits = fits[i];
            }
        }
    }
    request.device_map = "fit"; // moves parts, then takes 4 bits, then a smaller head
    const auto needs = engine_->plan(request);
    if (needs.has_value()) {
        offer.needs = ui::needsOf(*needs);
    }
}

Result<ui::HubOffer>
HubWorker::offerOf(quint64 ticket, const QString& address, const std::stop_token& stop) {
    if (!state_->makeHttp()) {
        return noNetworkPart();
    }
    return withToken(
        *state_,
        [&](const hub::HubOptions& options) { return offerWith(options, ticket, address, stop); },
        [](const Result<ui::HubOffer>& offer) {
            // A list of files is told of gated models as well, their files are not.
            return !offer.has_value()          ? &offer.error()
                   : offer->no_use.has_value() ? &*offer->no_use
                                               : nullptr;
        });
}

Result<hub::FetchRequest> HubWorker::requestFor(const std::string& address,
                                                hub::HubOptions& options) const {
    const HubSetup& setup = state_->setup();
    hub::FetchRequest request;
    if (hub::isModelScopeAddress(address)) {
        ENGINE_ASSIGN(request.address, hub::parseModelScopeAddress(address));
        request.source = options.source = hub::Source::ModelScope;
        options.endpoint = hub::modelScopeEndpoint(setup.environment);
        options.token.clear();
        if (!setup.models_folder.empty()) {
            request.target.folder = setup.models_folder / engine::pathFromUtf8(request.address.id);
        }
    } else {
        ENGINE_ASSIGN(request.address, hub::parseAddress(address, options.endpoint));
        request.target.cache = hub::cacheFolder(setup.environment);
        request.target.has_links = !hub::isSwitchedOn(setup.environment.hf_hub_disable_symlinks);
    }
    if (request.target.cache.empty() && request.target.folder.empty()) {
        return Error{ErrorCode::InvalidRequest,
                     said("there is no folder for the hub's cache, because neither HOME nor "
                          "HF_HOME is set; set one and start again")};
    }
    return request;
}

Result<ui::HubOffer> HubWorker::offerWith(const hub::HubOptions& options,
                                          quint64 ticket,
                                          const QString& address,
                                          const std::stop_token& stop) {
    hub::HubOptions chosen = options;
    ENGINE_ASSIGN(const hub::FetchRequest request, requestFor(address.toStdString(), chosen));
    const auto http = state_->makeHttp()();
    ENGINE_ASSIGN(hub::HubClient client, hub::HubClient::create(chosen, *http));
    ENGINE_ASSIGN(hub::FetchPlan plan, hub::planFetch(request, client, stop));
    ui::HubOffer offer = offerOfPlan(ticket, plan);
    if (plan.gguf.has_value() || hasFile(plan, "config.json")) {
        addNeeds(offer, plan, client, stop);
    }
    if (stop.stop_requested()) {
        return Error{ErrorCode::Cancelled, said("stopped")};
    }
    state_->keepOffer(ticket, std::move(plan));
    return offer;
}

void HubWorker::look(quint64 ticket, const QString& address, const std::stop_token& stop) {
    auto offer = offerOf(ticket, address, stop);
    if (offer.has_value()) {
        Q_EMIT offered(ticket, std::make_shared<const ui::HubOffer>(std::move(offer).value()));
    } else {
        Q_EMIT offerFailed(ticket, offer.error());
    }
}

void HubWorker::setToken(const QString& token) {
    const auto kept = state_->setToken(token.toStdString());
    if (!kept.has_value()) {
        Q_EMIT failed(kept.error());
    }
    tellToken();
}

void HubWorker::takeSettings() {
    const HubSettings settings = state_->settings();
    const bool is_forbidden = !settings.uses_network;
    if (state_->setup().set_forbidden && forbidden_ != is_forbidden) {
        const auto kept = state_->setup().set_forbidden(is_forbidden);
        if (!kept.has_value()) {
            Q_EMIT failed(kept.error());
        }
        forbidden_ = is_forbidden;
    }
    if (state_->setup().set_proxy) {
        state_->setup().set_proxy(settings.proxy.toStdString());
    }
    Q_EMIT networkChanged(state_->facts(false)); // a start wakes no keyring
}

void HubWorker::tellToken() {
    Q_EMIT networkChanged(state_->facts(true));
}

HubQueueWorker::HubQueueWorker(std::shared_ptr<HubState> state)
    : state_(std::move(state)), timer_(this) {
    clock_.start();
    timer_.setSingleShot(true);
    timer_.setInterval(kTellMs);
    connect(&timer_, &QTimer::timeout, this, &HubQueueWorker::tell);
}

HubQueueWorker::~HubQueueWorker() = default;

void HubQueueWorker::open() {
    queue_.reset(); // pauses what runs and keeps it
    hub::QueueOptions options;
    options.file = state_->setup().queue_file;
    if (!state_->makeHttp()) {
        return;
    }
    const auto with_token = state_->options();
    options.fetch.hub = with_token.has_value() ? *with_token : state_->optionsWithoutToken();
    options.fetch.make_http = state_->makeHttp();
    options.modelscope_endpoint = hub::modelScopeEndpoint(state_->setup().environment);
    options.token = [state = state_] {
        const auto stored = state->storedToken();
        return stored.has_value() ? *stored : std::string();
    };
    options.on_change = [this](const hub::QueueItem& item) {
        QMetaObject::invokeMethod(
            this, [this, item] { noteChange(item); }, Qt::QueuedConnection);
    };
    auto queue = hub::DownloadQueue::open(std::move(options));
    if (!queue.has_value()) {
        Q_EMIT failed(queue.error());
        return;
    }
    queue_ = std::move(queue).value();
    tell();
}

void HubQueueWorker::noteChange(const hub::QueueItem& item) {
    const bool runs = item.state == hub::QueueItem::State::Fetching;
    if (runs) {
        paces_[item.number].note(clock_.elapsed(), item.progress.fetched_bytes);
    } else {
        paces_.erase(item.number);
    }
    const auto before = states_.find(item.number);
    const bool is_new = before == states_.end() || before->second != item.state;
    states_[item.number] = item.state;
    if (is_new && item.state == hub::QueueItem::State::Done) {
        Q_EMIT done(ui::fromUtf8(item.request.address.id), shown(item.model_folder),
                    isAdapterName(item));
    }
    if (is_new) {
        tell();
    } else if (!timer_.isActive()) {
        timer_.start();
    }
}

void HubQueueWorker::tell() {
    if (queue_ == nullptr) {
        return;
    }
    ui::Downloads downloads;
    for (const hub::QueueItem& item : queue_->items()) {
        ui::Download download;
        download.number = item.number;
        download.id = ui::fromUtf8(item.request.address.id);
        download.folder = shown(item.model_folder);
        download.state = stateOf(item.state);
        download.total_bytes = item.total_bytes;
        download.done_bytes = item.done_bytes;
        download.files = static_cast<qsizetype>(item.progress.files);
        download.done_files = static_cast<qsizetype>(item.progress.done_files);
        if (const auto pace = paces_.find(item.number); pace != paces_.end()) {
            download.bytes_per_s = pace->second.rate();
            download.seconds_left = pace->second.secondsFor(
                item.total_bytes - std::min(item.total_bytes, item.done_bytes));
        }
        download.waiting = item.progress.waiting;
        download.error = item.error;
        download.is_adapter = item.state == hub::QueueItem::State::Done && isAdapterName(item);
        downloads.push_back(std::move(download));
    }
    Q_EMIT downloadsChanged(std::make_shared<const ui::Downloads>(std::move(downloads)));
}

void HubQueueWorker::begin(quint64 ticket) {
    const auto plan = state_->offer(ticket);
    if (queue_ == nullptr || !plan.has_value()) {
        Q_EMIT failed({ErrorCode::InvalidRequest,
                       said("the files of this model have to be looked up once more")});
        return;
    }
    const auto added = queue_->add(*plan);
    if (!added.has_value()) {
        Q_EMIT failed(added.error());
    }
    tell();
}

void HubQueueWorker::pause(quint64 number) {
    if (queue_ != nullptr) {
        queue_->pause(number);
        tell();
    }
}

void HubQueueWorker::resume(quint64 number) {
    if (queue_ != nullptr) {
        queue_->resume(number);
        tell();
    }
}

void HubQueueWorker::cancel(quint64 number, bool removes_parts) {
    if (queue_ != nullptr) {
        queue_->cancel(number, removes_parts);
        tell();
    }
}

void HubQueueWorker::clear() {
    if (queue_ != nullptr) {
        queue_->clearDone();
        tell();
    }
}

HubThread::HubThread(HubSetup setup, engine::EngineOptions options, QObject* parent)
    : QObject(parent), state_(std::make_shared<HubState>(std::move(setup))),
      worker_(new HubWorker(state_, std::move(options))), queue_(new HubQueueWorker(state_)) {
    asking_.setObjectName(QStringLiteral("hub"));
    fetching_.setObjectName(QStringLiteral("hub queue"));
    worker_->moveToThread(&asking_);
    queue_->moveToThread(&fetching_);
    connect(&asking_, &QThread::finished, worker_, &QObject::deleteLater);
    connect(&fetching_, &QThread::finished, queue_, &QObject::deleteLater);
    asking_.start();
    fetching_.start();
}

HubThread::~HubThread() {
    stop_.request_stop();
    asking_.quit();
    fetching_.quit();
    asking_.wait();
    fetching_.wait();
}

void HubThread::setSettings(const HubSettings& settings) {
    if (is_set_ && settings == state_->settings()) {
        return; // others of the window's settings: what is fetched goes on
    }
    is_set_ = true;
    state_->setSettings(settings);
    QMetaObject::invokeMethod(worker_, &HubWorker::takeSettings);
    QMetaObject::invokeMethod(queue_, &HubQueueWorker::open);
}

std::stop_token HubThread::begin() {
    stop();
    stop_ = std::stop_source();
    return stop_.get_token();
}

void HubThread::stop() {
    stop_.request_stop();
}

void HubThread::search(quint64 ticket, const ui::HubQuery& query) {
    QMetaObject::invokeMethod(worker_, [worker = worker_, ticket, query, stop = begin()] {
        worker->search(ticket, query, stop);
    });
}

void HubThread::searchOn(quint64 ticket) {
    QMetaObject::invokeMethod(
        worker_, [worker = worker_, ticket, stop = begin()] { worker->searchOn(ticket, stop); });
}

void HubThread::look(quint64 ticket, const QString& address) {
    QMetaObject::invokeMethod(worker_, [worker = worker_, ticket, address, stop = begin()] {
        worker->look(ticket, address, stop);
    });
}

} // namespace app
