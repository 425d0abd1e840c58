// SPDX-License-Identifier: Apache-2.0
// Section "limits": whatever the plan calls fitting loads and answers, for many limits, models and
// maps, with prompts of 512 tokens and with an adapter; and the card takes what was predicted.
#include "engine/families/tensor_list.h"
#include "engine/lora/random_adapter.h"
#include "engine/plan/planner.h"
#include "engine/run/opened_model.h"
#include "kernels/cuda/cards.h"
#include "tests/gpu/gpu_tests.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

namespace gpu {

namespace {

using engine::Engine;
using engine::LoadRequest;

constexpr uint64_t kMiB = uint64_t{1} << 20;

struct LimitRow {
    std::string model, map, quant;
    uint64_t first_mib = 0, last_mib = 0, step_mib = 0;
    bool has_adapter = false;
};

std::vector<LimitRow> rows() {
    if (is_simulated) { // small models: shows that the checks themselves are right
        return {{"e2b", "fit", "nf4-dq", 1, 24, 1},
                {"moe26b", "fit", "none", 1, 24, 1},
                {"e2b", "lean", "none", 1, 24, 1, true}};
    }
    return {{"e2b", "fit", "nf4-dq", 560, 2960, 60},
            {"e2b", "fit", "none", 1000, 11000, 1000},
            {"e2b", "lean", "nf4-dq", 1400, 2600, 100},
            {"e2b", "fit", "nf4-dq", 700, 2700, 100, true},
            {"e4b", "fit", "nf4-dq", 600, 5100, 300},
            {"e4b", "fit", "nf4-dq", 1000, 5000, 1000, true},
            {"26b", "fit", "nf4-dq+experts", 2048, 16384, 2048},
            {"26b", "fit", "nf4-dq+experts", 12200, 12400, 50},
            {"31b", "fit", "nf4-dq", 4096, 20480, 4096},
            {"31b", "fit", "nf4-dq", 12280, 12300, 5}};
}

LoadRequest requestOf(const LimitRow& row, uint64_t limit_mib, const std::string& adapter) {
    LoadRequest request;
    if (is_simulated) {
        request = requestFor(row.model, row.map);
        request.is_reference_precision = false;
        request.context = 1024;
        request.sim_gpus = {uint64_t{512} << 20};
    } else {
        request.model = "shape:" + row.model;
        request.device_map = row.map;
    }
    request.quant = row.quant;
    request.limits = {{is_simulated ? "sim:0" : "cuda:0", limit_mib * kMiB}};
    if (!adapter.empty()) {
        request.adapters.push_back({adapter, 1.0, true});
    }
    return request;
}

uint64_t predictedBytes(const engine::PlacementPlan& plan, engine::DeviceId card) {
    for (const engine::DevicePlan& device : plan.devices) {
        if (device.id == card) {
            return device.parts.total();
        }
    }
    return 0;
}

/// What one load does; `apart`: the largest difference between predicted and taken bytes so far.
std::string
tryLimit(const LoadRequest& request, const Machine& machine, uint64_t* apart, std::string* figure) {
    const engine::DeviceId card =
        is_simulated ? engine::DeviceId::sim(0) : engine::DeviceId::cuda(0);
    Engine engine(engineOptions());
    const auto plan = engine.plan(request);
    if (!plan.has_value()) {
        return "plan: " + plan.error().message;
    }
    if (!plan->fits) {
        *figure = "does not fit";
        return {};
    }
    const uint64_t before = is_simulated ? 0 : machine.freeBytes();
    std::string wrong = load(engine, request);
    if (!wrong.empty()) {
        return wrong;
    }
    const auto prompt = support::greedyRequest(std::vector<int32_t>(512, 7), 4);
    if (const auto reply = engine.generate(prompt, {}, {}); !reply.has_value()) {
        return "reply: " + reply.error().message;
    }
    wrong = support::memoryDifference(engine, false);
    const uint64_t predicted = predictedBytes(*engine.currentPlan(), card);
    if (!is_simulated && predicted > 0) {
        const uint64_t taken = before - std::min(before, machine.freeBytes());
        const uint64_t difference = taken > predicted ? taken - predicted : predicted - taken;
        *apart = std::max(*apart, difference);
        const uint64_t limit = request.limits.begin()->second;
        if (wrong.empty() && taken > limit + engine::kDriverTables) {
            wrong = "the card gave " + std::to_string(taken >> 20U) + " MiB";
        }
        *figure = "predicted " + std::to_string(predicted >> 10U) + " KiB, the card " +
                  std::to_string(taken >> 10U) + " KiB";
    }
    return wrong;
}

/// A folder of this process with a random adapter; empty: none was asked for.
std::string adapterFor(const LimitRow& row, std::string* wrong) {
    if (!row.has_adapter) {
        return {};
    }
    if (is_simulated) {
        return (support::goldenDir() / row.model / "adapters" / "text").string();
    }
    const std::filesystem::path folder =
        std::filesystem::temp_directory_path() /
        ("belfry-limits-" + row.model + "-" + std::to_string(::getpid()));
    const auto opened = engine::openShape(row.model, false);
    const auto written =
        opened.has_value() ? engine::writeRandomAdapter(folder, engine::listTensors(opened->config),
                                                        16, engine::AdapterTargets::AllLinear, 5)
                           : engine::Result<void>(opened.error());
    *wrong = written.has_value() ? std::string() : written.error().message;
    return folder.string();
}

} // namespace

void limits(CheckList& list, const Machine& machine) {
    int tried = 0;
    for (const LimitRow& row : rows()) {
        const std::string name =
            row.model + " " + row.quant + ", " + row.map + (row.has_adapter ? ", adapter" : "");
        std::string wrong;
        const std::string adapter = adapterFor(row, &wrong);
        uint64_t apart = 0;
        for (uint64_t limit = row.first_mib; limit <= row.last_mib; limit += row.step_mib) {
            ++tried;
            list.run(
                "limits", name + " in " + std::to_string(limit) + " MiB", [&](std::string* figure) {
                    return !wrong.empty()
                               ? "adapter: " + wrong
                               : tryLimit(requestOf(row, limit, adapter), machine, &apart, figure);
                });
        }
        if (!is_simulated) {
            list.run("limits", name + ": predicted as taken", [&](std::string* figure) {
                *figure = std::to_string(apart >> 10U) + " KiB apart at most";
                // Where a card has room, each block of parts ends with a granule that is not full.
                return apart <= engine::kDriverTables + 32 * kMiB
                           ? std::string()
                           : std::string("more than the driver's tables and the ends of blocks");
            });
        }
        if (!adapter.empty() && !is_simulated) {
            std::error_code code;
            std::filesystem::remove_all(adapter, code);
        }
    }
    std::printf("%d limits\n", tried);
}

} // namespace gpu
