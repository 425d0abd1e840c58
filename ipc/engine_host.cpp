// SPDX-License-Identifier: Apache-2.0
#include "ipc/engine_host.h"

#include "engine/base/file_opening.h"

#ifdef _WIN32
#include <windows.h>
#endif

#include "engine/base/thread_limit.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "ipc/attendant.h"
#include "ipc/inbox.h"
#include "ipc/limits.h"
#include "ipc/pipe.h"

namespace ipc {

namespace {

using HostClock = std::chrono::steady_clock;
using engine::Result;
using std::chrono::milliseconds;

/// Interval of memory reports while the engine works, as the window's meter shows them. Asking a
/// card for one stops what it computes.
constexpr milliseconds kStepInterval{250};
constexpr milliseconds kProgressInterval{15}; ///< During a load.
/// Tokens that come faster travel together: less than a screen shows as a step of its own.
constexpr milliseconds kUpdateInterval{8};
/// An engine that is asked for nothing looks once in so long for nothing at all.
constexpr std::chrono::hours kLook{1};

/// This process ends, whatever its threads are in the middle of. What it holds the system takes
/// back.
[[noreturn]] void leave(int status) {
#ifdef _WIN32
    // _Exit() has libraries say good-bye first, one of which may wait for a thread that is no more.
    TerminateProcess(GetCurrentProcess(), static_cast<UINT>(status));
#endif
    std::_Exit(status);
}

/// What was asked, and what stops it.
struct Job {
    Frame frame;
    std::stop_source stop;
};

class Host {
public:
    Host(Pipe pipe, const MakeEngine& make, std::string program, std::vector<std::string> limits)
        : pipe_(std::move(pipe)), make_(make), program_(std::move(program)),
          limits_(std::move(limits)), inbox_(
                                          pipe_,
                                          [this](const Frame& frame) { return sort(frame); },
                                          // The window is gone, or is none.
                                          [](bool is_garbage) { leave(is_garbage ? 2 : 0); }) {}

    /// On the engine's thread, without end; first what has come before.
    void answer(Frame first);

private:
    /// What is done at once, whatever the engine does; true: a job for it.
    bool sort(const Frame& frame);
    Job nextJob();
    void perform(const Job& job);
    bool performOnModel(const Job& job);
    bool performOnFiles(const Job& job);
    void send(Kind kind, uint64_t call, const std::string& payload);
    /// `is_reply`: with the memory that was told last; who wants to know more asks behind the
    /// reply.
    EngineState stateNow(bool is_reply);
    void step();
    /// Whether the model is on a card, whose driver is open then.
    [[nodiscard]] bool hasCard() const;
    engine::ProgressCallback progress();
    Result<engine::Reply> generate(const engine::GenerateRequest& request,
                                   const std::stop_token& stop);

    /// Decodes, does and answers.
    template <typename Call, typename Work>
    void handle(const Job& job, Work work) {
        Call call;
        Answer<typename Call::Value> answer;
        std::string why;
        try {
            if (job.frame.is_lost) {
                throw std::bad_alloc();
            }
            if (!decode(job.frame.payload, call, why)) {
                answer.error = {engine::ErrorCode::Internal,
                                "a request that cannot be read: " + why};
            } else if (auto result = work(call); result.has_value()) {
                answer.value = std::move(result).value();
            } else {
                answer.error = std::move(result).error();
            }
        } catch (const std::bad_alloc&) {
            answer.error = {engine::ErrorCode::OutOfMemory,
                            engine::said("the system has no memory left for this; close other "
                                         "programs or choose smaller options")};
        } catch (const std::exception& problem) {
            // What the library throws where nobody expects it, as for a name that the system does
            // not take: no reason to end.
            answer.error = engine::threadShortage(problem).value_or(
                engine::Error{engine::ErrorCode::Internal,
                              std::string("in the engine's process: ") + problem.what()});
        }
        answer.state = stateNow(std::is_same_v<Call, Generate>);
        std::string payload = encode(answer);
        if (payload.size() > kMostPayload) {
            answer.value.reset();
            answer.error = {
                engine::ErrorCode::InvalidRequest,
                engine::said("the answer has %1 bytes, which is more than the %2 that the engine's "
                             "process can send at once; ask for less, or start Belfry with "
                             "--in-process",
                             payload.size(), kMostPayload)};
            payload = encode(answer);
        }
        send(Kind::Answer, job.frame.call, payload);
    }
    static Result<Nothing> nothing(Result<void> result) {
        ENGINE_TRY(std::move(result));
        return Nothing();
    }

    Pipe pipe_;
    std::mutex write_mutex_;
    MakeEngine make_;
    std::string program_;
    std::vector<std::string> limits_;
    std::unique_ptr<engine::EngineClient> engine_;

    std::mutex stops_mutex_;
    std::map<uint64_t, std::stop_source> stops_; ///< For calls that are not answered.

    uint64_t call_ = 0; ///< That the engine works on.
    HostClock::time_point last_step_;
    bool tells_all_ = true; ///< The next answer tells what is loaded again.
    std::vector<engine::DeviceMemory> told_memory_;
    std::shared_ptr<const engine::ModelSummary> told_summary_;
    std::shared_ptr<const engine::PlacementPlan> told_plan_;
    Inbox inbox_; ///< Last: its thread uses the others.
};

bool Host::sort(const Frame& frame) {
    if (frame.kind == Kind::Ping) {
        send(Kind::Pong, frame.call, {});
        return false;
    }
    const std::lock_guard lock(stops_mutex_);
    if (frame.kind == Kind::Cancel) {
        if (const auto found = stops_.find(frame.call); found != stops_.end()) {
            found->second.request_stop();
        }
        return false;
    }
    stops_[frame.call] = std::stop_source();
    return true;
}

Job Host::nextJob() {
    Job job;
    while (inbox_.next(job.frame, kLook) != Inbox::Got::Frame) {
    }
    const std::lock_guard lock(stops_mutex_);
    job.stop = stops_[job.frame.call];
    return job;
}

void Host::answer(Frame first) {
    Job job;
    job.frame = std::move(first);
    for (;; job = nextJob()) {
        call_ = job.frame.call;
        // What the memory is now the window knows: nothing stands before the first word.
        last_step_ = HostClock::now();
        perform(job);
        const std::lock_guard lock(stops_mutex_);
        stops_.erase(job.frame.call);
    }
}

void Host::send(Kind kind, uint64_t call, const std::string& payload) {
    const std::string bytes = frameBytes(kind, call, payload);
    const std::lock_guard lock(write_mutex_);
    if (bytes.empty() || !pipe_.write(bytes)) {
        leave(0);
    }
}

EngineState Host::stateNow(bool is_reply) {
    EngineState state;
    if (engine_ == nullptr) {
        return state;
    }
    state.is_loaded = engine_->isLoaded();
    state.capabilities = engine_->capabilities();
    std::tie(state.context_used, state.context_size) = engine_->contextUse();
    if (!is_reply || told_memory_.empty()) {
        told_memory_ = engine_->memory();
    }
    state.memory = told_memory_;
    auto summary = engine_->summary();
    auto plan = engine_->currentPlan();
    const bool is_other = summary != told_summary_ || plan != told_plan_;
    if (std::exchange(tells_all_, false) || is_other) {
        state.model = {engine_->loadedRequest(), engine_->loadSeconds(), engine_->loadNotes()};
    }
    if (summary != told_summary_) {
        state.summary = told_summary_ = std::move(summary);
    }
    if (plan != told_plan_) {
        state.plan = told_plan_ = std::move(plan);
    }
    return state;
}

bool Host::hasCard() const {
    const auto plan = engine_->currentPlan();
    return plan != nullptr &&
           std::any_of(plan->devices.begin(), plan->devices.end(), [](const auto& device) {
               return device.id.kind == engine::DeviceId::Kind::Cuda && device.parts.total() > 0;
           });
}

void Host::step() {
    const HostClock::time_point now = HostClock::now();
    if (engine_ == nullptr || now - last_step_ < kStepInterval) {
        return;
    }
    last_step_ = now;
    Step step;
    std::tie(step.context_used, step.context_size) = engine_->contextUse();
    step.memory = told_memory_ = engine_->memory();
    send(Kind::Step, call_, encode(step));
}

engine::ProgressCallback Host::progress() {
    return [this, last = HostClock::time_point(),
            stage = std::string()](const engine::LoadProgressValue& value) mutable {
        const HostClock::time_point now = HostClock::now();
        if (now - last >= kProgressInterval || value.stage != stage ||
            value.bytes_done == value.bytes_total) {
            last = now;
            stage = value.stage;
            send(Kind::Progress, call_, encode(value));
        }
        step();
    };
}

Result<engine::Reply> Host::generate(const engine::GenerateRequest& request,
                                     const std::stop_token& stop) {
    engine::ReplyUpdate pending;
    bool is_pending = false;
    HostClock::time_point last; // the first goes at once
    const auto flush = [&] {
        if (is_pending) {
            send(Kind::Update, call_, encode(pending));
            pending = {};
            is_pending = false;
        }
    };
    const engine::UpdateCallback update = [&](const engine::ReplyUpdate& value) {
        pending.text += value.text;
        pending.thinking += value.thinking;
        pending.tokens = value.tokens;
        pending.logprobs.insert(pending.logprobs.end(), value.logprobs.begin(),
                                value.logprobs.end());
        is_pending = true;
        const bool has_words =
            !pending.text.empty() || !pending.thinking.empty() || !pending.logprobs.empty();
        const HostClock::time_point now = HostClock::now();
        if (has_words && now - last >= kUpdateInterval) {
            last = now;
            flush();
        }
        step();
    };
    auto reply = engine_->generate(request, update, stop);
    flush();
    return reply;
}

bool Host::performOnModel(const Job& job) {
    const std::stop_token stop = job.stop.get_token();
    switch (job.frame.kind) {
    case Kind::Load:
        tells_all_ = true;
        handle<Load>(job, [&](const Load& call) {
            auto loaded = nothing(engine_->load(call.request, progress(), stop));
            limitConnections(hasCard());
            return loaded;
        });
        return true;
    case Kind::Unload:
        tells_all_ = true;
        handle<Unload>(job, [&](const Unload& /*call*/) {
            engine_->unload();
            return Result<Nothing>(Nothing());
        });
        return true;
    case Kind::ApplyMap:
        tells_all_ = true;
        handle<ApplyMap>(job, [&](const ApplyMap& call) {
            auto applied = nothing(engine_->applyMap(call.device_map, progress(), stop));
            limitConnections(hasCard());
            return applied;
        });
        return true;
    case Kind::SetAdapters:
        tells_all_ = true;
        handle<SetAdapters>(job, [&](const SetAdapters& call) {
            return nothing(engine_->setAdapters(call.adapters, stop));
        });
        return true;
    case Kind::AdapterEffect:
        tells_all_ = true;
        handle<AdapterEffect>(job, [&](const AdapterEffect& call) {
            return engine_->adapterEffect(call.folder, stop);
        });
        return true;
    case Kind::Generate:
        handle<Generate>(job, [&](const Generate& call) { return generate(call.request, stop); });
        return true;
    case Kind::Logits:
        handle<Logits>(job, [&](const Logits& call) {
            return engine_->logits(call.request, call.rows, stop);
        });
        return true;
    case Kind::EncodeAhead:
        handle<EncodeAhead>(job, [&](const EncodeAhead& call) {
            return nothing(engine_->encodeAhead(call.part, call.image_tokens, stop));
        });
        return true;
    default:
        return false;
    }
}

bool Host::performOnFiles(const Job& job) {
    switch (job.frame.kind) {
    case Kind::Inspect:
        handle<Inspect>(
            job, [&](const Inspect& call) { return engine_->inspect(call.model, call.adapters); });
        return true;
    case Kind::CheckMedia:
        handle<CheckMedia>(job, [&](const CheckMedia& call) {
            return nothing(engine_->checkMedia(call.model, call.images, call.audios));
        });
        return true;
    case Kind::MediaCost:
        handle<MediaCost>(job, [&](const MediaCost& call) {
            return engine_->mediaCost(call.part, call.image_tokens);
        });
        return true;
    case Kind::Status:
        handle<Status>(job, [&](const Status& /*call*/) {
            return Result<std::vector<engine::DeviceMemory>>(engine_->machineMemory());
        });
        return true;
    default:
        return false;
    }
}

void Host::perform(const Job& job) {
    if (job.frame.kind == Kind::Hello && engine_ == nullptr) {
        handle<Hello>(job, [&](const Hello& call) {
            engine_ = make_(call.options, [this] { step(); });
            return Result<Welcome>(Welcome{kVersion, program_, limits_});
        });
        return;
    }
    if (engine_ == nullptr || !(performOnModel(job) || performOnFiles(job))) {
        leave(2); // no window of ours asks so
    }
}

/// Waits for what the window says first: from it come the limits, which must be there before there
/// is a second thread. Nothing behind it is read.
Frame firstFrame(Pipe& pipe) {
    FrameCutter cutter;
    char byte = 0;
    while (!cutter.hasFrame()) {
        if (pipe.read(&byte, 1) == 0) {
            leave(0);
        }
        if (!cutter.feed({&byte, 1})) {
            leave(2);
        }
    }
    return cutter.take();
}

} // namespace

int runEngineHost(const MakeEngine& make, const std::string& program) {
    Pipe pipe = Pipe::takeStandardStreams();
    if (!pipe.isOpen()) {
        std::fputs("belfry: this word is for the window, which starts the engine with it\n",
                   stderr);
        return 2;
    }
    Frame first = firstFrame(pipe);
    Hello hello;
    std::string why;
    if (first.kind != Kind::Hello || !decode(first.payload, hello, why)) {
        // A window from before an update of the program's file learns from it what is the matter.
        Answer<Welcome> answer;
        answer.value = Welcome{kVersion, program, {}};
        static_cast<void>(pipe.write(frameBytes(Kind::Answer, first.call, encode(answer))));
        return 2;
    }
#ifndef _WIN32
    if (canBorrow()) {
        engine::setFileLender(borrow);
    }
#endif
    std::vector<std::string> limits = limitProcess(hello.options);
    Host host(std::move(pipe), make, program, std::move(limits));
    host.answer(std::move(first)); // until the process ends
    return 0;
}

} // namespace ipc
