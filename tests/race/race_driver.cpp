// SPDX-License-Identifier: Apache-2.0
// Random work on the engine from three threads, as the window does it: one that asks, moves parts,
// changes adapters, unloads and cancels at any moment while it reads snapshots; the engine's; and a
// planner's with an engine of its own. Meant for a build with ThreadSanitizer (preset tsan), which
// ends the program with 66 at the first report; checks by itself that only expected errors occur,
// that memory is what was predicted, and that the same question gets the same tokens whatever the
// placement was.
// Usage: belfry_race_driver [--seconds N] [--seed S] [--operations N]
// Exit codes: 0, 1 (something was wrong), 2 (arguments).
#include "tests/race/engine_side.h"
#include "tests/support/engine/golden_engine.h"
#include "tests/support/engine/hidden_device.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

namespace {

using Clock = std::chrono::steady_clock;

constexpr uint64_t kCardBytes = uint64_t{256} << 20;
constexpr int kGreedyTokens = 4;
/// More would only wait: a window does not ask faster than this either.
constexpr size_t kMostJobs = 3;

struct Options {
    double seconds = 10.0;
    uint64_t seed = 1;
    int64_t operations = INT64_MAX;
};

/// What was done, by name; and with "cancelled" behind it.
using Counts = std::map<std::string, int64_t>;

/// What the engine's thread remembers; no other thread touches it.
struct Memory {
    std::map<std::string, std::vector<int32_t>> tokens; ///< By what must decide them.
    Counts counts;
};

class Driver {
public:
    Driver(const Options& options, race::EngineSide& engine, race::EngineSide& planner);
    /// Everything until the time is over. Returns the number of operations.
    int64_t run();
    [[nodiscard]] const Counts& counts() const { return memory_.counts; } ///< After waitUntilIdle.

private:
    [[nodiscard]] uint64_t below(uint64_t n) { return random_() % n; }
    /// A token for the next job: that of the job before can no longer be asked for.
    std::stop_token begin() {
        stop_ = std::stop_source();
        return stop_.get_token();
    }
    std::string anyPlace();
    std::string anyMap();
    std::vector<engine::AdapterChoice> anyAdapters();
    engine::LoadRequest anyRequest();
    void load();
    void apply();
    void adapters();
    void ask();
    void fixedQuestion();
    void ahead();
    void plan();
    void lookAtSnapshot();
    /// Notes what came of a job; other errors than being cancelled are failures. True: it was done.
    bool outcome(const std::string& name, const engine::Error* error);
    template <typename T>
    bool outcome(const std::string& name, const engine::Result<T>& result) {
        return outcome(name, result.has_value() ? nullptr : &result.error());
    }
    /// Predicted and measured bytes, right behind a load or a move: adapters that were changed
    /// since are in no plan.
    void compareMemory(const char* when, engine::Engine& engine);
    static std::string state(engine::Engine& engine);

    Options options_;
    race::EngineSide& engine_;
    race::EngineSide& planner_;
    std::mt19937_64 random_;
    std::stop_source stop_;
    std::vector<support::GoldenCase> cases_;
    Memory memory_;
};

Driver::Driver(const Options& options, race::EngineSide& engine, race::EngineSide& planner)
    : options_(options), engine_(engine), planner_(planner), random_(options.seed),
      cases_(support::goldenCases("e2b")) {}

std::string Driver::anyPlace() {
    static const char* const kPlaces[] = {"cpu", "sim:0", "sim:1", "cuda:0"};
    return kPlaces[below(4)];
}

std::string Driver::anyMap() {
    static const char* const kPresets[] = {"gpu", "towers-cpu", "ple-cpu", "lean", "cpu", "fit"};
    if (below(2) == 0) {
        return kPresets[below(6)];
    }
    std::string map = R"({"": ")" + anyPlace() + R"(")";
    for (const char* module : {"model.vision_tower", "model.audio_tower",
                               "model.language_model.layers.1", "model.language_model.layers.4"}) {
        if (below(2) == 0) {
            map += std::string(R"(, ")") + module + R"(": ")" + anyPlace() + R"(")";
        }
    }
    return map + "}";
}

std::vector<engine::AdapterChoice> Driver::anyAdapters() {
    static const char* const kNames[] = {"text", "multimodal", "rslora", "dora"};
    std::vector<engine::AdapterChoice> chosen;
    for (const char* name : kNames) {
        if (below(3) == 0) {
            chosen.push_back(
                {support::goldenAdapter("e2b", name), below(2) == 0 ? 1.0 : 0.5, below(4) != 0});
        }
    }
    return chosen;
}

engine::LoadRequest Driver::anyRequest() {
    static const char* const kFormats[] = {"none", "nf4", "nf4-dq", "fp4"};
    engine::LoadRequest request = support::goldenRequest("e2b");
    request.device_map = anyMap();
    request.quant = kFormats[below(4)];
    request.head = "bf16"; // decided by the caller: `fit` would choose another by place
    request.sim_gpus = {kCardBytes, kCardBytes};
    request.threads = static_cast<int>(1 + below(4));
    request.adapters = anyAdapters();
    return request;
}

/// What decides the tokens of a question: everything but the placement.
std::string Driver::state(engine::Engine& engine) {
    const engine::LoadRequest& request = engine.loadedRequest();
    std::string key = request.quant;
    for (const engine::AdapterChoice& adapter : request.adapters) {
        if (adapter.is_enabled) {
            key += " " + adapter.folder + " " + std::to_string(adapter.strength);
        }
    }
    return key;
}

bool Driver::outcome(const std::string& name, const engine::Error* error) {
    if (error == nullptr) {
        ++memory_.counts[name];
    } else if (error->code == engine::ErrorCode::Cancelled) {
        ++memory_.counts[name + ", cancelled"];
    } else {
        engine_.fail(name + ": " + std::string(errorCodeName(error->code)) + ": " + error->message);
    }
    return error == nullptr;
}

void Driver::compareMemory(const char* when, engine::Engine& engine) {
    const std::string difference = support::memoryDifference(engine);
    if (!difference.empty()) {
        engine_.fail(std::string("memory after ") + when + ": " + difference);
    }
}

void Driver::load() {
    engine_.post([this, request = anyRequest(), stop = begin()](engine::Engine& engine) {
        if (outcome("load", engine.load(
                                request,
                                [&](const engine::LoadProgressValue& value) {
                                    engine_.publish(engine, value);
                                },
                                stop))) {
            compareMemory("a load", engine);
        }
    });
}

void Driver::apply() {
    engine_.post([this, map = anyMap(), stop = begin()](engine::Engine& engine) {
        if (!engine.isLoaded()) {
            return;
        }
        if (outcome("move", engine.applyMap(
                                map,
                                [&](const engine::LoadProgressValue& value) {
                                    engine_.publish(engine, value);
                                },
                                stop))) {
            compareMemory("a move", engine);
        }
    });
}

void Driver::adapters() {
    engine_.post([this, chosen = anyAdapters(), stop = begin()](engine::Engine& engine) {
        if (engine.isLoaded()) {
            outcome("adapters", engine.setAdapters(chosen, stop));
        }
    });
}

void Driver::ask() {
    engine::GenerateRequest request;
    engine::Message message;
    message.parts.push_back({engine::MessagePart::Kind::Text,
                             "Question " + std::to_string(below(4)) + ": what is this?"});
    const auto& media = cases_[below(cases_.size())];
    if (below(3) == 0 && !media.image.empty()) {
        message.parts.push_back(
            {engine::MessagePart::Kind::Image, (support::goldenDir() / media.image).string()});
    }
    if (below(3) == 0 && !media.audio.empty()) {
        message.parts.push_back(
            {engine::MessagePart::Kind::Audio, (support::goldenDir() / media.audio).string()});
    }
    request.messages.push_back(std::move(message));
    request.sampling.temperature = below(2) == 0 ? 0.0 : 1.0;
    request.sampling.seed = static_cast<int64_t>(below(1000));
    request.sampling.max_tokens = static_cast<int64_t>(1 + below(12));
    engine_.post([this, request, stop = begin()](engine::Engine& engine) {
        if (engine.isLoaded()) {
            outcome("reply",
                    engine.generate(
                        request, [&](const engine::ReplyUpdate&) { engine_.publish(engine, {}); },
                        stop));
        }
    });
}

void Driver::fixedQuestion() {
    engine_.post([this, which = below(cases_.size()), stop = begin()](engine::Engine& engine) {
        if (!engine.isLoaded()) {
            return;
        }
        engine::GenerateRequest request = support::goldenCaseRequest(cases_[which]);
        request.sampling.max_tokens = kGreedyTokens;
        auto reply = engine.generate(request, {}, stop);
        outcome("fixed question", reply);
        if (!reply.has_value() || reply->finish_reason == "cancelled") {
            return;
        }
        const std::string key = cases_[which].id + " " + state(engine);
        const auto [before, is_new] = memory_.tokens.emplace(key, reply->token_ids);
        if (!is_new && before->second != reply->token_ids) {
            engine_.fail("other tokens than before for " + key + " on " +
                         engine.loadedRequest().device_map);
        }
    });
}

void Driver::ahead() {
    const auto& media = cases_[below(cases_.size())];
    engine::MessagePart part{engine::MessagePart::Kind::Image,
                             (support::goldenDir() / media.image).string()};
    if (media.image.empty()) {
        return;
    }
    engine_.post([this, part, stop = begin()](engine::Engine& engine) {
        if (engine.isLoaded()) {
            outcome("encoded ahead", engine.encodeAhead(part, 0, stop));
            outcome("cost", engine.mediaCost(part, 0));
        }
    });
}

void Driver::plan() {
    std::map<engine::DeviceId, uint64_t> held;
    const auto snapshot = engine_.snapshot();
    for (const engine::DeviceMemory& device : snapshot->memory) {
        uint64_t bytes = 0;
        for (const engine::MemoryPart part : engine::kMemoryParts) {
            bytes += device.measured[part];
        }
        held[device.id] = bytes;
    }
    planner_.post([this, request = anyRequest(), held](engine::Engine& engine) {
        if (const auto plan = engine.plan(request, held); !plan.has_value()) {
            planner_.fail("plan: " + plan.error().message);
        }
    });
}

/// Reads all of it, as the meter and the layout do.
void Driver::lookAtSnapshot() {
    const auto snapshot = engine_.snapshot();
    size_t read = snapshot->stage.size() + snapshot->tensor.size() + snapshot->adapters.size();
    for (const engine::DeviceMemory& device : snapshot->memory) {
        read += device.description.size();
        for (const engine::MemoryPart part : engine::kMemoryParts) {
            read += device.measured[part] + device.predicted[part];
        }
    }
    if (snapshot->model != nullptr) {
        read += snapshot->model->modules.size() + snapshot->model->adapters.size();
    }
    if (snapshot->plan != nullptr) {
        read += snapshot->plan->errors.size();
    }
    [[maybe_unused]] const volatile size_t kept = read;
}

int64_t Driver::run() {
    const auto end = Clock::now() + std::chrono::duration<double>(options_.seconds);
    int64_t operations = 0;
    while (Clock::now() < end && operations < options_.operations && engine_.failures().empty()) {
        ++operations;
        const uint64_t what = below(20);
        if (what < 3) {
            load();
        } else if (what < 6) {
            apply();
        } else if (what < 8) {
            adapters();
        } else if (what < 11) {
            ask();
        } else if (what < 15) {
            fixedQuestion();
        } else if (what < 16) {
            ahead();
        } else if (what < 18) {
            plan();
        } else if (what < 19) {
            engine_.post([this](engine::Engine& engine) {
                engine.unload();
                ++memory_.counts["unload"];
            });
        } else {
            engine_.post([](engine::Engine& engine) { (void)engine.machineMemory(); });
        }
        // Sometimes a cancel, at any moment of the job or of the one that waits behind it.
        const auto pause = std::chrono::microseconds(below(3) == 0 ? below(60000) : below(3000));
        std::this_thread::sleep_for(pause);
        lookAtSnapshot();
        if (below(4) == 0) {
            stop_.request_stop();
        }
        while (engine_.waiting() > below(kMostJobs + 1)) {
            lookAtSnapshot();
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }
    stop_.request_stop();
    engine_.waitUntilIdle();
    planner_.waitUntilIdle();
    return operations;
}

bool parse(int argc, char** argv, Options* options) {
    for (int i = 1; i < argc; i += 2) {
        const std::string_view name = argv[i];
        char* end = nullptr;
        const char* text = i + 1 < argc ? argv[i + 1] : "";
        const double value = std::strtod(text, &end);
        if (*text == '\0' || *end != '\0' || value < 0.0) {
            return false;
        }
        if (name == "--seconds") {
            options->seconds = value;
        } else if (name == "--seed") {
            options->seed = static_cast<uint64_t>(value);
        } else if (name == "--operations") {
            options->operations = static_cast<int64_t>(value);
        } else {
            return false;
        }
    }
    return true;
}

} // namespace

int main(int argc, char** argv) {
    Options options;
    if (!parse(argc, argv, &options)) {
        std::fprintf(stderr,
                     "usage: belfry_race_driver [--seconds N] [--seed S] [--operations N]\n");
        return 2;
    }
    support::HiddenCounts counts;
    support::HiddenCounts planner_counts;
    engine::EngineOptions engine_options;
    engine_options.gpus = support::hiddenAccess(1, kCardBytes, counts);
    engine::EngineOptions planner_options;
    planner_options.gpus = support::hiddenAccess(1, kCardBytes, planner_counts);
    std::vector<std::string> failures;
    {
        race::EngineSide engine(engine_options);
        race::EngineSide planner(planner_options);
        Driver driver(options, engine, planner);
        const int64_t operations = driver.run();
        std::printf("seed %llu: %lld operations", static_cast<unsigned long long>(options.seed),
                    static_cast<long long>(operations));
        for (const auto& [name, count] : driver.counts()) {
            std::printf("; %s: %lld", name.c_str(), static_cast<long long>(count));
        }
        std::printf("\n");
        failures = engine.failures();
        for (const std::string& failure : planner.failures()) {
            failures.push_back(failure);
        }
    }
    if (counts.leaked != 0 || counts.host_pointers != 0 || counts.too_early != 0) {
        failures.push_back("the card saw " + std::to_string(counts.leaked) + " leaks, " +
                           std::to_string(counts.host_pointers) + " host pointers and " +
                           std::to_string(counts.too_early) + " early frees");
    }
    for (const std::string& failure : failures) {
        std::fprintf(stderr, "seed %llu: %s\n", static_cast<unsigned long long>(options.seed),
                     failure.c_str());
    }
    return failures.empty() ? 0 : 1;
}
