// SPDX-License-Identifier: Apache-2.0
// Sections "cancel", "memory of others", "reloads" and "prediction".
#include "tests/gpu/gpu_tests.h"
#include "tests/gpu/other_program.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <memory>
#include <stop_token>

namespace gpu {

using engine::Engine;
using engine::LoadRequest;
using support::GoldenCase;

namespace {

/// The model answers as it should.
std::string stillWorks(Engine& engine) {
    std::string wrong;
    const auto c = support::goldenCases("e2b").front();
    const auto tokens = greedy(engine, c, static_cast<int>(c.greedy.size()), &wrong);
    return !wrong.empty() ? wrong : tokens == c.greedy ? std::string() : "other tokens than before";
}

/// Resident memory of this process in bytes.
uint64_t residentBytes() {
    std::ifstream in("/proc/self/statm");
    uint64_t pages = 0;
    uint64_t resident = 0;
    in >> pages >> resident;
    return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

} // namespace

void cancel(CheckList& list, const Machine& machine) {
    list.run("cancel", "a load, at every 10th progress step", [&](std::string* figure) {
        const uint64_t before = machine.freeBytes();
        int stops = 0;
        for (int at = 0; at < 400; at += 10) {
            Engine engine(engineOptions());
            std::stop_source stop;
            int step = 0;
            const auto loaded = engine.load(
                requestFor("e2b", "gpu"),
                [&](const engine::LoadProgressValue&) {
                    if (step++ == at) {
                        stop.request_stop();
                    }
                },
                stop.get_token());
            if (loaded.has_value()) {
                continue;
            }
            ++stops;
            if (loaded.error().code != engine::ErrorCode::Cancelled || engine.isLoaded()) {
                return "stopped at step " + std::to_string(at) + ": " + loaded.error().message;
            }
        }
        const uint64_t after = machine.freeBytes();
        *figure = std::to_string(stops) + " stopped";
        return after + (uint64_t{2} << 20) >= before
                   ? std::string()
                   : std::to_string((before - after) >> 20) + " MiB are missing afterwards";
    });
    list.run("cancel", "a reply, after each of 24 tokens", [&](std::string*) {
        Engine engine(engineOptions());
        std::string wrong = load(engine, requestFor("e2b", "gpu"));
        const auto c = support::goldenCases("e2b").front();
        for (int64_t at = 1; at <= 24 && wrong.empty(); ++at) {
            std::stop_source stop;
            engine::GenerateRequest request = support::goldenCaseRequest(c);
            request.sampling.max_tokens = 100;
            const auto reply = engine.generate(
                request,
                [&](const engine::ReplyUpdate& update) {
                    if (update.tokens >= at) {
                        stop.request_stop();
                    }
                },
                stop.get_token());
            if (!reply.has_value() && reply.error().code != engine::ErrorCode::Cancelled) {
                wrong = reply.error().message;
            } else if (reply.has_value() &&
                       static_cast<int64_t>(reply->token_ids.size()) > at + 2) {
                wrong = std::to_string(reply->token_ids.size()) + " tokens after a stop at " +
                        std::to_string(at);
            }
            if (wrong.empty()) {
                wrong = stillWorks(engine);
            }
        }
        return wrong;
    });
}

void outOfMemory(CheckList& list, const Machine& machine, const std::string& program) {
    const std::string shape = "shape:e2b";
    for (const uint64_t left_mib : {4000, 2000, 1000, 600, 300, 100, 30}) {
        list.run("memory of others", std::to_string(left_mib) + " MiB left before the load",
                 [&](std::string* figure) {
                     Engine small(engineOptions()); // what was loaded before stays usable
                     std::string wrong = load(small, requestFor("e2b", "gpu"));
                     if (!wrong.empty()) {
                         return wrong;
                     }
                     gpu::OtherProgram other(program, left_mib << 20);
                     if (!other.isHolding()) {
                         return std::string("the second program could not take the memory");
                     }
                     LoadRequest request;
                     request.model = shape;
                     request.device_map = "gpu";
                     const auto loaded = small.load(request, {}, {});
                     if (loaded.has_value()) {
                         return std::string("a load succeeded that cannot fit");
                     }
                     *figure = loaded.error().message.substr(0, 70);
                     if (loaded.error().code != engine::ErrorCode::OutOfMemory) {
                         return "expected OutOfMemory: " + loaded.error().message;
                     }
                     uint64_t others = 0;
                     for (const engine::DeviceMemory& device : small.memory()) {
                         others = device.id == engine::DeviceId::cuda(0) ? device.used_by_others
                                                                         : others;
                     }
                     if (others < machine.cards.front().total_bytes / 2) {
                         return std::string("the meter does not show the other program's memory");
                     }
                     return stillWorks(small);
                 });
    }
    for (const uint64_t left_mib : {900, 300, 60}) {
        list.run(
            "memory of others", std::to_string(left_mib) + " MiB left in the middle of the load",
            [&](std::string* figure) {
                Engine small(engineOptions());
                std::string wrong = load(small, requestFor("e2b", "gpu"));
                if (!wrong.empty()) {
                    return wrong;
                }
                std::unique_ptr<gpu::OtherProgram> other;
                LoadRequest request;
                request.model = shape;
                request.device_map = "gpu";
                const auto loaded = small.load(request,
                                               [&](const engine::LoadProgressValue&) {
                                                   if (other == nullptr) {
                                                       other = std::make_unique<gpu::OtherProgram>(
                                                           program, left_mib << 20);
                                                   }
                                               },
                                               {});
                if (loaded.has_value()) {
                    return std::string("a load succeeded that cannot fit");
                }
                *figure = loaded.error().message.substr(0, 70);
                if (loaded.error().code != engine::ErrorCode::OutOfMemory) {
                    return "expected OutOfMemory: " + loaded.error().message;
                }
                other.reset();
                return stillWorks(small);
            });
    }
}

void reloads(CheckList& list, const Machine& machine, int count) {
    list.run("reloads", std::to_string(count) + " loads with one reply each",
             [&](std::string* figure) {
                 const auto c = support::goldenCases("e2b").front();
                 Engine engine(engineOptions());
                 uint64_t free_early = 0;
                 uint64_t resident_early = 0;
                 for (int i = 0; i < count; ++i) {
                     LoadRequest request = requestFor("e2b", i % 2 == 0 ? "gpu" : "lean");
                     request.quant = i % 3 == 0 ? "nf4-dq" : "none";
                     std::string wrong = load(engine, request);
                     const auto tokens =
                         wrong.empty() ? greedy(engine, c, 8, &wrong) : std::vector<int32_t>();
                     if (!wrong.empty()) {
                         return "load " + std::to_string(i) + ": " + wrong;
                     }
                     engine.unload();
                     if (i == count / 10) {
                         free_early = machine.freeBytes();
                         resident_early = residentBytes();
                     }
                 }
                 const uint64_t free_late = machine.freeBytes();
                 const uint64_t resident_late = residentBytes();
                 const auto grownBy = [](uint64_t early, uint64_t late) {
                     return late > early ? late - early : 0;
                 };
                 const uint64_t card = grownBy(free_late, free_early);
                 const uint64_t host = grownBy(resident_early, resident_late);
                 *figure = "card " + std::to_string(card >> 10) + " KiB, host " +
                           std::to_string(host >> 10) + " KiB more than early on";
                 if (card > (uint64_t{2} << 20)) {
                     return std::string("memory of the card grew");
                 }
                 return host > uint64_t{64} * 1024 * static_cast<uint64_t>(count)
                            ? std::string("memory of the process grew")
                            : std::string();
             });
}

void predictedMemory(CheckList& list, const Machine& machine) {
    struct Case {
        std::string preset, head;
        uint64_t limit = 0; ///< For cuda:0, so that `fit` has something to decide.
        int64_t prompt = 600;
    };
    const engine::DeviceId card =
        is_simulated ? engine::DeviceId::sim(0) : engine::DeviceId::cuda(0);
    for (const std::string family : {"e2b", "e4b"}) {
        const uint64_t tight = is_simulated ? uint64_t{6} << 20 : uint64_t{2} << 30;
        const std::vector<Case> cases = {{"gpu", ""},        {"towers-cpu", ""}, {"ple-cpu", ""},
                                         {"lean", ""},       {"lean", "int8"},   {"fit", ""},
                                         {"fit", "", tight}, {"cpu", "", 0, 64}};
        for (const Case& one : cases) {
            const std::string name =
                family + " nf4-dq, " + one.preset +
                (one.limit > 0 ? " in " + std::to_string(one.limit >> 20) + " MiB" : "") +
                (one.head.empty() ? "" : ", head in 8 bits");
            list.run("prediction", name, [&](std::string* figure) {
                const uint64_t before = is_simulated ? 0 : machine.freeBytes();
                Engine engine(engineOptions());
                LoadRequest request;
                if (is_simulated) { // small models: shows that the check itself is right
                    request = requestFor(family, one.preset);
                    request.is_reference_precision = false;
                    request.context = 1024;
                } else {
                    request.model = "shape:" + family;
                    request.device_map = one.preset;
                }
                request.quant = "nf4-dq";
                if (!one.head.empty()) {
                    request.head = one.head;
                }
                if (one.limit > 0) {
                    request.limits = {{card.toString(), one.limit}};
                }
                std::string wrong = load(engine, request);
                if (!wrong.empty()) {
                    return wrong;
                }
                const auto prompt = support::greedyRequest(
                    std::vector<int32_t>(static_cast<size_t>(one.prompt), 1000), 8);
                if (const auto reply = engine.generate(prompt, {}, {}); !reply.has_value()) {
                    return reply.error().message;
                }
                uint64_t bytes = 0;
                if (is_simulated) {
                    for (const auto& device : engine.memory()) {
                        bytes += device.id == card ? device.measured.total() : 0;
                    }
                } else {
                    bytes = before - std::min(before, machine.freeBytes());
                }
                const auto taken = static_cast<double>(bytes) / 1048576.0;
                double predicted = 0.0;
                for (const auto& device : engine.currentPlan()->devices) {
                    if (device.id == card) {
                        predicted = static_cast<double>(device.parts.total()) / 1048576.0;
                    }
                }
                char text[96];
                std::snprintf(text, sizeof(text), "predicted %.0f MiB, the card %.0f MiB",
                              predicted, taken);
                *figure = text;
                if (one.limit > 0 && predicted > static_cast<double>(one.limit) / 1048576.0) {
                    return std::string("predicted more than the limit");
                }
                if (one.preset == "cpu" && predicted > 0.0) {
                    return std::string("predicted memory of a card that is not used");
                }
                const double allowed = is_simulated ? 0.0 : std::max(64.0, 0.02 * taken);
                return std::abs(taken - predicted) <= allowed ? std::string()
                                                              : "apart by more than 2 % and 64 MiB";
            });
        }
    }
}

} // namespace gpu
