// SPDX-License-Identifier: Apache-2.0
// The life of the engine's process: it is started when it is first needed, asked one thing at a
// time, and when it ends another one is started that loads what was loaded, in the same places. An
// end while that is loaded, or the third within a minute, is not followed by another start until
// somebody asks for a load: nothing loops. What the process says is read as if it meant harm.
#pragma once

#include "engine/client/engine_client.h"
#include "engine/client/recovery.h"

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ipc/link.h"
#include "ipc/messages.h"
#include "ipc/named_places.h"

namespace ipc {

struct ProcessOptions {
    std::vector<std::string> words; ///< The program of the process, and its word.
    std::string program;            ///< Version that it must have (runEngineHost()).
    HostOptions host;
    /// Called between steps of long work, on the thread that asked for it.
    std::function<void()> on_step;
    /// Called on the thread that asks, in the middle of what it asked: an end, and what follows.
    /// The plain questions may be asked then.
    std::function<void(const engine::Recovery&)> on_recovery;
    /// Lines for the log, in English.
    std::function<void(const std::string&)> log;
    /// One that is silent for so long, or does not stop when asked, is ended.
    std::chrono::milliseconds patience = std::chrono::seconds(30);
    /// So many ends within the time, and it is not started again by itself.
    size_t most_ends = 3;
    std::chrono::milliseconds ends_within = std::chrono::minutes(1);
};

/// Who hears what comes while a call runs; nullptr: nobody.
struct Listener {
    const engine::ProgressCallback* progress = nullptr;
    const engine::UpdateCallback* delta = nullptr;
};

class EngineProcess {
public:
    explicit EngineProcess(ProcessOptions options) : options_(std::move(options)) {}
    ~EngineProcess();
    EngineProcess(const EngineProcess&) = delete;
    EngineProcess& operator=(const EngineProcess&) = delete;

    /// Asks and waits for the answer. Errors: those of the engine; Internal where the process
    /// ended, with the detail of engine::wasStartedAgain() where another one took its place;
    /// Cancelled where `stop` came while the model was still on its way back.
    template <typename Call>
    engine::Result<typename Call::Value>
    ask(const Call& call, const std::stop_token& stop = {}, const Listener& listener = {});
    /// The same of what has no value.
    template <typename Call>
    engine::Result<void>
    order(const Call& call, const std::stop_token& stop = {}, const Listener& listener = {});
    /// Also ends a process that is still loading.
    void unload();

    // What the process told last.
    [[nodiscard]] const EngineState& state() const { return state_; }
    [[nodiscard]] const LoadedModel& model() const { return model_; }
    [[nodiscard]] const auto& summary() const { return summary_; }
    [[nodiscard]] const auto& plan() const { return plan_; }
    [[nodiscard]] const auto& machine() const { return machine_; }
    /// Asks for memory anew where nothing runs; waits for nothing that takes long.
    void refresh();
    /// 0: none runs.
    [[nodiscard]] int64_t id() const { return link_ == nullptr ? 0 : link_->processId(); }

private:
    using Clock = std::chrono::steady_clock;

    /// Why a process is given up.
    enum class Fault : uint8_t { Ended = 1, Garbage, Silent, DoesNotStop };
    /// How long a call is waited for.
    enum class Until : uint8_t {
        Answered = 1, ///< A stop is passed on, and its answer waited for.
        Stopped,      ///< A stop ends the waiting, not the call.
        Now,          ///< Only what is there already.
    };
    struct Heard {
        bool is_answered = false;
        std::string payload;                ///< Payload of the answer.
        std::optional<engine::Error> error; ///< The process was lost. Neither: not answered yet.
    };

    /// What precedes every call: a process that is greeted, has the model, and may read and write
    /// what the call names.
    engine::Result<void> makeReady(bool is_load,
                                   NamedPlaces named,
                                   const std::stop_token& stop,
                                   const Listener& listener);
    Heard await(uint64_t call, const Listener& listener, const std::stop_token& stop, Until until);
    Heard listen(uint64_t call, const Listener& listener, const std::stop_token& stop, Until until);
    /// A frame of a call that runs, but its last; why it cannot be, empty: it can.
    std::string hear(const Frame& frame, const Listener& listener);
    /// A new process, which is greeted and loads what was loaded. Waits for neither.
    engine::Result<void> startLink();
    /// Until both are answered, or as `until` says.
    engine::Result<void> settle(const std::stop_token& stop, const Listener& listener, Until until);
    engine::Result<void> settleHello(const std::string& payload);
    engine::Result<void> settleRestore(const std::string& payload);
    /// The process is ended, another one started where that helps; what the caller is told.
    engine::Error lose(Fault fault, const std::string& detail);
    /// Likewise for a fault of a card that only another process gets over.
    engine::Error renew(engine::Error error);
    /// Starts the next process, which loads what was loaded, and words it.
    engine::Error startAgain(engine::ErrorCode code, const engine::Sentence& what);
    /// Ends the process; how it ended.
    engine::ChildEnd endLink(std::chrono::milliseconds patience);
    void tell(engine::Recovery recovery);
    void forgetModel();
    /// Whether a process that runs may write in this folder, as far as it is known.
    [[nodiscard]] bool isWritable(const std::string& folder) const;
    void take(EngineState state);
    void log(const std::string& line) const;

    ProcessOptions options_;
    std::unique_ptr<Link> link_;
    std::set<std::string> folders_; ///< That calls have named.
    uint64_t last_call_ = 0;
    uint64_t hello_ = 0, restore_ = 0; ///< Calls that are not answered; 0: none.
    bool was_restoring_ = false;       ///< When the process ended.
    bool is_busy_ = false;             ///< A call runs.
    bool is_refreshing_ = false;       ///< It is refresh()'s: nobody has asked.
    bool has_file_limits_ = true;      ///< Until a process tells that it has none.
    EngineState state_;
    LoadedModel model_;
    std::shared_ptr<const engine::ModelSummary> summary_;
    std::shared_ptr<const engine::PlacementPlan> plan_;
    std::vector<engine::DeviceMemory> machine_;
    Clock::time_point refreshed_;
    std::deque<Clock::time_point> ends_; ///< When the last processes ended.
    Clock::time_point last_end_;         ///< When a process ended, or a start failed.
};

} // namespace ipc
