// SPDX-License-Identifier: Apache-2.0
// The hub (models/hub) for the window. Two threads: one asks (search, files, plan of a model that
// is not here), one keeps the queue of downloads, which has threads of its own for the fetching, so
// that a pause never waits for an answer. Nothing is asked before a click: opening it reads files
// of this computer alone.
#pragma once

#include "app/network/qt_http.h"
#include "engine/run/engine.h"
#include "ui/library/download_pace.h"
#include "ui/library/hub_values.h"

#include <QElapsedTimer>
#include <QObject>
#include <QThread>
#include <QTimer>

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>

#include "models/hub/cache_layout.h"
#include "models/hub/queue.h"
#include "models/hub/search.h"
#include "models/hub/token_store.h"

namespace app {

struct HubSetup {
    /// As qtHttp(). Empty: this build has no network part.
    std::function<models::hub::HttpClientFactory(ForbiddenBy)> network;
    /// What forbids the network besides the settings, as networkBanName().
    ForbiddenBy banned_by = [] { return std::string(); };
    models::hub::Environment environment;
    models::hub::Limits limits = {};
    /// Where a typed token is kept; called once, on a thread that may wait for a keyring.
    std::function<std::unique_ptr<models::hub::TokenStore>()> make_tokens;
    std::filesystem::path queue_file; ///< Empty: downloads are not kept over a restart.
    /// For what has no place in the hub's cache: OWNER/NAME below it. Empty: nowhere.
    std::filesystem::path models_folder;
    std::string user_agent = "belfry";
    /// Keeps the switch of the settings for both programs; empty: it is of this window alone.
    std::function<engine::Result<void>(bool is_forbidden)> set_forbidden;
    /// As useProxy(); empty: the system's are followed.
    std::function<void(const std::string& address)> set_proxy;
};

/// What the window's settings say of the network.
struct HubSettings {
    QString endpoint; ///< Empty: the environment's, else huggingface.co.
    bool uses_network = true;
    QString proxy; ///< "" the system's.
    friend bool operator==(const HubSettings&, const HubSettings&) = default;
};

/// What both workers share; any thread.
class HubState {
public:
    explicit HubState(HubSetup setup);
    HubState(const HubState&) = delete;
    HubState& operator=(const HubState&) = delete;

    [[nodiscard]] const HubSetup& setup() const { return setup_; }
    /// Its clients ask the switch before every request. Empty: no network part.
    [[nodiscard]] const models::hub::HttpClientFactory& makeHttp() const { return make_http_; }
    void setSettings(const HubSettings& settings);
    [[nodiscard]] HubSettings settings() const;
    [[nodiscard]] std::string endpoint() const;
    /// All but the token.
    [[nodiscard]] models::hub::HubOptions optionsWithoutToken() const;
    /// With the token that goes along of itself: the environment's, one that storedToken() has
    /// given, or that of huggingface_hub's file. Opens no keyring. Errors: HubToken.
    engine::Result<models::hub::HubOptions> options();
    /// The one that was typed, for what is refused without it; empty: none. May wait for a
    /// keyring, and its user: after a click alone. Errors: of the store.
    engine::Result<std::string> storedToken();
    engine::Result<void> setToken(const std::string& token);
    /// `asks_tokens`: also of the token, as options().
    [[nodiscard]] ui::NetworkFacts facts(bool asks_tokens);
    /// A plan that was offered, for HubQueueWorker::begin().
    void keepOffer(quint64 ticket, models::hub::FetchPlan plan);
    [[nodiscard]] std::optional<models::hub::FetchPlan> offer(quint64 ticket) const;

private:
    models::hub::TokenStore* tokens();

    [[nodiscard]] std::string forbiddenBy() const;

    const HubSetup setup_;
    models::hub::HttpClientFactory make_http_;
    mutable std::mutex mutex_;
    HubSettings settings_;
    std::mutex tokens_mutex_; ///< Guards the store: one asks a keyring at a time.
    std::unique_ptr<models::hub::TokenStore> tokens_;
    std::string stored_; ///< What the store gave; with mutex_.
    quint64 offered_ticket_ = 0;
    std::optional<models::hub::FetchPlan> offered_;
};

/// Asks, one thing at a time.
class HubWorker : public QObject {
    Q_OBJECT

public:
    HubWorker(std::shared_ptr<HubState> state, engine::EngineOptions options);
    ~HubWorker() override;

    void search(quint64 ticket, const ui::HubQuery& query, const std::stop_token& stop);
    void searchOn(quint64 ticket, const std::stop_token& stop);
    void look(quint64 ticket, const QString& address, const std::stop_token& stop);
    void setToken(const QString& token);
    /// After other settings: keeps the switch, tells what is so now.
    void takeSettings();
    /// With the token's facts: asked for by who wants to see or change it.
    void tellToken();

Q_SIGNALS:
    void found(quint64 ticket, const std::shared_ptr<const ui::HubFound>& found);
    void searchFailed(quint64 ticket, const engine::Error& error);
    void offered(quint64 ticket, const std::shared_ptr<const ui::HubOffer>& offer);
    void offerFailed(quint64 ticket, const engine::Error& error);
    void networkChanged(const ui::NetworkFacts& network);
    void failed(const engine::Error& error);

private:
    engine::Result<ui::HubFound> searchPage(const ui::HubQuery* query, const std::stop_token& stop);
    engine::Result<ui::HubFound> searchWith(const models::hub::HubOptions& options,
                                            const ui::HubQuery* query,
                                            const std::stop_token& stop);
    engine::Result<ui::HubOffer>
    offerOf(quint64 ticket, const QString& address, const std::stop_token& stop);
    /// What a typed address asks for, and of whom: `options` gets its endpoint.
    engine::Result<models::hub::FetchRequest> requestFor(const std::string& address,
                                                         models::hub::HubOptions& options) const;
    engine::Result<ui::HubOffer> offerWith(const models::hub::HubOptions& options,
                                           quint64 ticket,
                                           const QString& address,
                                           const std::stop_token& stop);
    void addNeeds(ui::HubOffer& offer,
                  const models::hub::FetchPlan& plan,
                  models::hub::HubClient& client,
                  const std::stop_token& stop);

    std::shared_ptr<HubState> state_;
    engine::EngineOptions options_;
    std::optional<bool> forbidden_;          ///< As kept last.
    std::unique_ptr<engine::Engine> engine_; ///< Made for the first plan.
    models::hub::SearchPage last_page_;
};

/// Keeps what is being fetched.
class HubQueueWorker : public QObject {
    Q_OBJECT

public:
    explicit HubQueueWorker(std::shared_ptr<HubState> state);
    ~HubQueueWorker() override;

    /// Reads the file: what was not done comes back paused. Again after other settings.
    void open();
    void begin(quint64 ticket);
    void pause(quint64 number);
    void resume(quint64 number);
    void cancel(quint64 number, bool removes_parts);
    void clear();

Q_SIGNALS:
    void downloadsChanged(const std::shared_ptr<const ui::Downloads>& downloads);
    void done(const QString& id, const QString& folder, bool is_adapter);
    void failed(const engine::Error& error);

private:
    void noteChange(const models::hub::QueueItem& item);
    void tell();

    std::shared_ptr<HubState> state_;
    std::unique_ptr<models::hub::DownloadQueue> queue_;
    std::map<quint64, ui::DownloadPace> paces_;
    std::map<quint64, models::hub::QueueItem::State> states_; ///< As told last.
    QElapsedTimer clock_;
    QTimer timer_; ///< No more often than a screen can show.
};

/// The threads and their workers, owned by the GUI side.
class HubThread : public QObject {
    Q_OBJECT

public:
    HubThread(HubSetup setup, engine::EngineOptions options, QObject* parent = nullptr);
    ~HubThread() override;

    [[nodiscard]] HubWorker* worker() const { return worker_; }
    [[nodiscard]] HubQueueWorker* queue() const { return queue_; }
    void setSettings(const HubSettings& settings);
    void search(quint64 ticket, const ui::HubQuery& query);
    void searchOn(quint64 ticket);
    void look(quint64 ticket, const QString& address);
    /// Ends what is being asked.
    void stop();

private:
    std::stop_token begin();

    std::shared_ptr<HubState> state_;
    bool is_set_ = false; ///< The settings, for the first time.
    std::stop_source stop_;
    QThread asking_, fetching_;
    HubWorker* worker_;
    HubQueueWorker* queue_;
};

} // namespace app
