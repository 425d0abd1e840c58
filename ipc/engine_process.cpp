// SPDX-License-Identifier: Apache-2.0
#include "ipc/engine_process.h"

#include "engine/api/device_loss.h"
#include "engine/base/paths.h"
#include "engine/base/sentence_english.h"

#include <algorithm>
#include <utility>

#include "ipc/engine_calls.h"

namespace ipc {

using engine::Error;
using engine::ErrorCode;
using engine::Result;
using engine::said;
using engine::Sentence;
using std::chrono::milliseconds;

namespace {

/// Limit for what one call sends beside its answer: no reply has so many words.
constexpr uint64_t kMostOfCall = uint64_t{192} << 20U;
/// A process that ended is not started for the meter's sake before that.
constexpr std::chrono::seconds kRest{10};
constexpr milliseconds kFresh{20};
/// A child ends by itself when nobody is there any more; a card is given back meanwhile.
constexpr std::chrono::seconds kFarewell{5};

constexpr std::string_view kKilled = "SIGKILL"; ///< As the memory killer does.

/// How a process ended that nobody has ended.
Sentence endWords(const engine::ChildEnd& end) {
    using Kind = engine::ChildEnd::Kind;
    if (end.kind == Kind::Crashed) {
        const std::string name = engine::crashName(end.code);
        return name == kKilled
                   ? said("the engine's process was killed (%1): by the system, where memory is "
                          "short, or by somebody",
                          name)
                   : said("the engine's process crashed (%1)", name);
    }
    return said("the engine's process ended by itself with the status %1",
                end.kind == Kind::Exited ? end.code : 0);
}

/// What happened, without the advice to start the program again that follows it.
Sentence faultOf(const Error& error) {
    const Sentence& told = error.sentence;
    const auto* const fault = std::string_view(told.pattern) == "%1. %2" && !told.arguments.empty()
                                  ? std::get_if<Sentence>(&told.arguments.front().value)
                                  : nullptr;
    return fault != nullptr ? *fault : error.told();
}

} // namespace

EngineProcess::~EngineProcess() {
    endLink(kFarewell);
}

void EngineProcess::log(const std::string& line) const {
    if (options_.log) {
        options_.log(line);
    }
}

engine::ChildEnd EngineProcess::endLink(milliseconds patience) {
    engine::ChildEnd end;
    was_restoring_ = restore_ != 0;
    if (link_ != nullptr) {
        end = link_->end(patience);
        link_.reset();
    }
    hello_ = restore_ = 0;
    machine_.clear();
    state_.memory.clear();
    return end;
}

void EngineProcess::forgetModel() {
    state_.is_loaded = false;
    state_.context_used = state_.context_size = 0;
    state_.memory.clear();
    model_ = {};
    summary_ = nullptr;
    plan_ = nullptr;
}

void EngineProcess::take(EngineState state) {
    if (state.model.has_value()) {
        model_ = std::move(*state.model);
    }
    if (state.summary.has_value()) {
        summary_ = std::move(*state.summary);
    }
    if (state.plan.has_value()) {
        plan_ = std::move(*state.plan);
    }
    state.model.reset();
    state.summary.reset();
    state.plan.reset();
    state_ = std::move(state);
    state_.is_loaded = state_.is_loaded && summary_ != nullptr; // whatever it says
}

Result<void> EngineProcess::startLink() {
    const Clock::time_point begun = Clock::now();
    ENGINE_ASSIGN(link_, Link::start(options_.words));
    link_->allow({folders_.begin(), folders_.end()});
    Hello hello;
    hello.options = options_.host;
    hello_ = ++last_call_;
    bool is_sent = link_->send(Hello::kKind, hello_, encode(hello));
    if (state_.is_loaded) {
        restore_ = ++last_call_;
        is_sent = is_sent && link_->send(Load::kKind, restore_, encode(Load{model_.request}));
    }
    static_cast<void>(is_sent); // where it is gone already, who waits for the answer learns how
    log("engine: process " + std::to_string(link_->processId()) + " started in " +
        std::to_string(std::chrono::duration_cast<milliseconds>(Clock::now() - begun).count()) +
        " ms" + (restore_ != 0 ? ", loads the model again" : ""));
    return {};
}

Result<void> EngineProcess::settleHello(const std::string& payload) {
    Answer<Welcome> answer;
    std::string why;
    if (!decode(payload, answer, why)) {
        return lose(Fault::Garbage, why);
    }
    if (!answer.value.has_value()) {
        return std::move(answer.error);
    }
    if (answer.value->version != kVersion || answer.value->program != options_.program) {
        const std::string theirs = answer.value->program;
        endLink(milliseconds(0));
        forgetModel();
        return Error{ErrorCode::Internal,
                     said("the engine's process is %1, this window is %2: the program was updated "
                          "meanwhile; start Belfry again",
                          theirs, options_.program)};
    }
    const std::vector<std::string>& told = answer.value->limits;
    has_file_limits_ = std::find(told.begin(), told.end(), "files") != told.end();
    std::string limits;
    for (const std::string& limit : told) {
        limits += (limits.empty() ? "" : ", ") + limit;
    }
    log("engine: limits of its process: " + (limits.empty() ? "none" : limits));
    if (restore_ == 0) {
        take(std::move(answer.state)); // else what was known stays until it is there again
    }
    return {};
}

Result<void> EngineProcess::settleRestore(const std::string& payload) {
    Answer<Nothing> answer;
    std::string why;
    if (!decode(payload, answer, why)) {
        return lose(Fault::Garbage, why);
    }
    restore_ = 0;
    take(std::move(answer.state));
    if (answer.value.has_value()) {
        log("engine: the model is loaded again");
        tell({engine::Recovery::Kind::Back, {}, {}});
        return {};
    }
    forgetModel();
    log("engine: the model cannot be loaded again: " + answer.error.message);
    if (engine::needsNewProcess(answer.error)) {
        endLink(kFarewell); // for the next load
        std::erase_if(answer.error.details,
                      [](const auto& fact) { return fact.first == engine::kNeedsNewProcess; });
    }
    answer.error.say(said("the engine's process was started again, but the model could not be "
                          "loaded into it: %1",
                          answer.error.told()));
    tell({engine::Recovery::Kind::Lost, answer.error, {}});
    return std::move(answer.error);
}

Result<void>
EngineProcess::settle(const std::stop_token& stop, const Listener& listener, Until until) {
    while (link_ != nullptr && (hello_ != 0 || restore_ != 0)) {
        const bool is_hello = hello_ != 0;
        Heard heard = await(is_hello ? hello_ : restore_, listener, stop, until);
        if (heard.error.has_value()) {
            return std::move(*heard.error);
        }
        if (!heard.is_answered) {
            return Error{ErrorCode::Cancelled, said("stopped while the engine was started again")};
        }
        if (is_hello) {
            hello_ = 0;
            ENGINE_TRY(settleHello(heard.payload));
        } else {
            ENGINE_TRY(settleRestore(heard.payload));
        }
    }
    return {};
}

bool EngineProcess::isWritable(const std::string& folder) const {
    const HostOptions& host = options_.host;
    return !has_file_limits_ ||
           std::find(host.writable.begin(), host.writable.end(), folder) != host.writable.end() ||
           engine::pathFromUtf8(host.rates_file).parent_path() == engine::pathFromUtf8(folder);
}

Result<void> EngineProcess::makeReady(bool is_load,
                                      NamedPlaces named,
                                      const std::stop_token& stop,
                                      const Listener& listener) {
    if (is_busy_) {
        return Error{ErrorCode::Internal, "the engine is asked while it answers"};
    }
    if (is_load && restore_ != 0) {
        endLink(milliseconds(0)); // something else is wanted than what it loads again
        forgetModel();
    }
    folders_.insert(named.folders.begin(), named.folders.end());
    if (is_load && !named.cache.empty() && !isWritable(named.cache)) {
        // Its limits it has for good: another one gets these, and loads what is wanted now.
        options_.host.writable.push_back(named.cache);
        endLink(kFarewell);
        forgetModel();
    }
    if (link_ == nullptr) {
        ENGINE_TRY(startLink());
    }
    named.media.insert(named.media.end(), folders_.begin(), folders_.end());
    link_->allow(named.media);
    return settle(stop, listener, Until::Stopped);
}

std::string EngineProcess::hear(const Frame& frame, const Listener& listener) {
    std::string why;
    if (frame.kind == Kind::Progress) {
        engine::LoadProgressValue value;
        if (decode(frame.payload, value, why)) {
            if (frame.call == restore_) {
                tell({engine::Recovery::Kind::Loading, {}, value});
            }
            if (listener.progress != nullptr && *listener.progress) {
                (*listener.progress)(value);
            }
        }
    } else if (frame.kind == Kind::Update) {
        engine::ReplyUpdate update;
        if (decode(frame.payload, update, why) && listener.delta != nullptr && *listener.delta) {
            (*listener.delta)(update);
        }
    } else if (frame.kind == Kind::Step) {
        Step step;
        if (decode(frame.payload, step, why)) {
            state_.context_used = step.context_used;
            state_.context_size = step.context_size;
            state_.memory = std::move(step.memory);
            if (options_.on_step) {
                options_.on_step();
            }
        }
    } else {
        why = "a frame that nobody asked for";
    }
    return why;
}

EngineProcess::Heard EngineProcess::await(uint64_t call,
                                          const Listener& listener,
                                          const std::stop_token& stop,
                                          Until until) {
    is_busy_ = true;
    try {
        Heard heard = listen(call, listener, stop, until);
        is_busy_ = false;
        return heard;
    } catch (...) {
        // The listener threw: the process is in the middle of something that nobody waits for.
        is_busy_ = false;
        endLink(milliseconds(0));
        throw;
    }
}

EngineProcess::Heard EngineProcess::listen(uint64_t call,
                                           const Listener& listener,
                                           const std::stop_token& stop,
                                           Until until) {
    const milliseconds look = until == Until::Now ? milliseconds(0) : options_.patience / 10;
    // A message follows the other: read here, not by the link's thread.
    std::optional<Inbox::Turn> turn;
    turn.emplace(link_->inbox());
    const auto lost = [&](Fault fault, const std::string& detail) -> Heard {
        turn.reset(); // the link goes
        return {false, {}, lose(fault, detail)};
    };
    Clock::time_point heard_last = Clock::now();
    std::optional<Clock::time_point> stopped;
    bool is_pinged = false;
    uint64_t bytes = 0;
    if (stop.stop_requested() && until == Until::Answered) {
        // Stopped before it began: told at once, not behind the first thing that is heard.
        stopped = heard_last;
        static_cast<void>(link_->send(Kind::Cancel, call, {}));
    }
    for (;;) {
        Frame frame;
        const Inbox::Got got =
            link_->inbox().next(frame, look, stopped.has_value() ? std::stop_token() : stop);
        const Clock::time_point now = Clock::now();
        if (got == Inbox::Got::Frame) {
            if (frame.is_lost) {
                throw std::bad_alloc();
            }
            heard_last = now;
            is_pinged = false;
            bytes += kFrameHead + frame.payload.size();
            if (frame.kind == Kind::Answer && frame.call == call) {
                return {true, std::move(frame.payload), {}};
            }
            const std::string why = frame.kind == Kind::Pong ? std::string()
                                    : frame.call != call     ? "a message that nobody waits for"
                                    : bytes > kMostOfCall    ? "more than any reply has"
                                                             : hear(frame, listener);
            if (!why.empty()) {
                return lost(Fault::Garbage, why);
            }
        } else if (got == Inbox::Got::Ended) {
            return lost(Fault::Ended, {});
        } else if (got == Inbox::Got::Garbage) {
            return lost(Fault::Garbage, "bytes that are no message");
        } else if (until == Until::Now) {
            return {};
        }
        if (stop.stop_requested() && !stopped.has_value()) {
            if (until == Until::Stopped) {
                return {};
            }
            stopped = now;
            static_cast<void>(link_->send(Kind::Cancel, call, {}));
        }
        if (stopped.has_value() && now - *stopped > options_.patience) {
            return lost(Fault::DoesNotStop, {});
        }
        if (now - heard_last > options_.patience) {
            return lost(Fault::Silent, {});
        }
        if (now - heard_last > options_.patience / 3 && !is_pinged) {
            is_pinged = true;
            static_cast<void>(link_->send(Kind::Ping, call, {}));
        }
    }
}

Error EngineProcess::lose(Fault fault, const std::string& detail) {
    const bool is_ended = fault == Fault::Ended;
    const engine::ChildEnd end = endLink(is_ended ? kFarewell : milliseconds(0));
    const auto seconds =
        std::chrono::duration_cast<std::chrono::seconds>(options_.patience).count();
    Sentence what;
    switch (fault) {
    case Fault::Ended:
        what = endWords(end);
        break;
    case Fault::Garbage:
        what = said("the engine's process sent something that cannot be read (%1) and was ended",
                    detail);
        break;
    case Fault::Silent:
        what = said("the engine's process said nothing for %1 seconds and was ended", seconds);
        break;
    case Fault::DoesNotStop:
        what = said("the engine's process did not stop within %1 seconds and was ended", seconds);
        break;
    }
    const bool is_killed = is_ended && end.kind == engine::ChildEnd::Kind::Crashed &&
                           engine::crashName(end.code) == kKilled;
    return startAgain(is_killed ? ErrorCode::OutOfMemory : ErrorCode::Internal, what);
}

Error EngineProcess::renew(Error error) {
    endLink(kFarewell);
    Error told = startAgain(error.code, said("the graphics card failed: %1", faultOf(error)));
    std::erase_if(error.details,
                  [](const auto& fact) { return fact.first == engine::kNeedsNewProcess; });
    told.details.insert(told.details.end(), error.details.begin(), error.details.end());
    return told;
}

Error EngineProcess::startAgain(ErrorCode code, const Sentence& what) {
    log("engine: " + engine::inEnglish(what));
    const Clock::time_point now = Clock::now();
    last_end_ = now;
    ends_.push_back(now);
    while (now - ends_.front() > options_.ends_within) {
        ends_.pop_front();
    }
    if (!state_.is_loaded) {
        return {code, said("%1. The next load starts the engine again; where that ends so as well, "
                           "place less on the graphics card, or start Belfry with --in-process",
                           what)};
    }
    const auto give_up = [this](Error error) {
        forgetModel();
        tell({engine::Recovery::Kind::Lost, error, {}});
        return error;
    };
    if (was_restoring_ || ends_.size() >= options_.most_ends) {
        return give_up(
            {code, said("%1. That happened more than once, so it is not tried again by itself: "
                        "load the model with other options, or start Belfry with --in-process",
                        what)});
    }
    if (const auto started = startLink(); !started.has_value()) {
        return give_up(
            {code, said("%1, and cannot be started again: %2", what, started.error().told())});
    }
    tell({engine::Recovery::Kind::Ended, {code, what}, {}});
    return {
        code,
        said("%1. The engine was started again and loads the same model to the same places: ask "
             "again",
             what),
        {{std::string(engine::kStartedAgain), "true"}}};
}

void EngineProcess::tell(engine::Recovery recovery) {
    if (options_.on_recovery) {
        recovery.is_at_rest = is_refreshing_;
        options_.on_recovery(recovery);
    }
}

void EngineProcess::unload() {
    if (restore_ != 0) {
        endLink(milliseconds(0)); // what it loads nobody wants any more
    } else if (link_ != nullptr) {
        static_cast<void>(order(Unload()));
    }
    forgetModel();
}

void EngineProcess::refresh() {
    const Clock::time_point now = Clock::now();
    if (is_busy_ || now - refreshed_ < kFresh) {
        return;
    }
    if (link_ == nullptr) {
        if (now - last_end_ < kRest) {
            return;
        }
        if (!startLink().has_value()) {
            last_end_ = now;
            return;
        }
    }
    is_refreshing_ = true;
    if (settle({}, {}, Until::Now).has_value()) { // else it is not there yet, or lost
        if (auto machine = ask(Status()); machine.has_value()) {
            machine_ = std::move(machine).value();
            refreshed_ = Clock::now();
        }
    }
    is_refreshing_ = false;
}

} // namespace ipc
