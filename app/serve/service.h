// SPDX-License-Identifier: Apache-2.0
// The server's own part, without sockets: heads through the gate, bodies to checked requests,
// requests into the queue, and, on the engine's thread, from there to an answer. Who owns the
// engine calls take() and run(); everything else is the HTTP server's thread.
#pragma once

#include "app/serve/api_words.h"
#include "app/serve/exchange.h"
#include "app/serve/fair_queue.h"
#include "app/serve/gate.h"
#include "app/serve/media_folder.h"
#include "engine/api/load_request.h"
#include "engine/client/engine_client.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace serve {

class Job;

struct ServiceOptions {
    GateRules gate;
    std::string model; ///< Its name in requests.
    /// Loaded adapters and their names, each a model of its own: a request takes the one that it
    /// names, alone; the model's name takes none.
    struct Adapter {
        std::string name;
        engine::AdapterChoice choice;
    };
    std::vector<Adapter> adapters;
    /// False: the adapters in force are somebody else's matter, and only the model has a name.
    bool switches_adapters = true;
    int64_t image_tokens = 0; ///< 0 = the model's.
    size_t most_waiting = 32;
    std::chrono::milliseconds comment_interval{15000}; ///< From one sign of life to the next.
};

/// How far it is.
struct ServiceCounts {
    uint64_t answered = 0; ///< Generations that ended, however.
    size_t waiting = 0;
    bool is_running = false;
};

class Service final : public Handler {
public:
    Service(ServiceOptions options, std::shared_ptr<MediaFolder> media);
    ~Service() override;

    std::variant<HttpAnswer, Admission> onHead(const HttpHead& head) override;
    void onRequest(HttpRequest request, std::shared_ptr<Exchange> exchange) override;
    void onTick() override;

    /// The model can be asked from now on. Any thread.
    void setReady(int64_t context);
    /// It cannot: 503.
    void setLoading();
    /// Ends what runs and what waits, and takes nothing more. Any thread.
    void shutDown();
    /// Called, on the server's thread, when something can be taken.
    void setOnWaiting(std::function<void()> on_waiting);

    /// The next request in turn, or nullptr after `patience`. Any thread.
    std::shared_ptr<Job> take(std::chrono::milliseconds patience);
    /// Answers it. The engine's thread.
    void run(engine::EngineClient& engine, Job& job);

    [[nodiscard]] ServiceCounts counts() const;

private:
    void admit(const std::shared_ptr<Job>& job);
    [[nodiscard]] std::optional<ApiError> nameError(const std::string& model) const;
    [[nodiscard]] std::optional<ApiError> busyError(bool is_full) const;
    void answerModel(std::string_view path, Exchange& exchange) const;
    engine::Result<void> chooseAdapters(engine::EngineClient& engine, const Job& job) const;
    engine::Result<void> forgetOthers(engine::EngineClient& engine, const Job& job);
    /// Without paths of this computer.
    [[nodiscard]] ApiError
    worded(const engine::Error& error, const engine::EngineClient& engine, const Job& job) const;

    const ServiceOptions options_;
    const std::shared_ptr<MediaFolder> media_;
    const int64_t created_;
    std::vector<ModelCard> cards_;
    Gate gate_; ///< The server's thread alone.
    std::function<void()> on_waiting_;
    size_t last_token_ = 0; ///< Whose words the engine holds; the engine's thread alone.

    mutable std::mutex mutex_; ///< Guards all below.
    std::condition_variable has_waiting_;
    FairQueue<std::shared_ptr<Job>> queue_;
    std::shared_ptr<Job> running_;
    int64_t context_ = 0;
    bool is_ready_ = false, is_down_ = false;
    uint64_t answered_ = 0;
};

} // namespace serve
