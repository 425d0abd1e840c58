// SPDX-License-Identifier: Apache-2.0
#include "engine/run/planning.h"

#include "engine/api/error_cause.h"
#include "engine/api/formats.h"
#include "engine/devices/system_memory.h"
#include "engine/forward/memory/device_roles.h"
#include "engine/plan/map_key_table.h"
#include "engine/plan/map_keys.h"
#include "engine/plan/map_write.h"
#include "engine/plan/plan_english.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string_view>
#include <thread>
#include <unordered_map>

namespace engine {

namespace {

/// The map that the moves are made on.
Result<DeviceMap> baseMap(const PlanRequest& plan) {
    if (plan.map.has_value()) {
        return *plan.map;
    }
    if (plan.preset == "fit") {
        return fitDeviceMap(plan).map;
    }
    std::vector<DeviceId> ids;
    for (const DeviceInfo& device : plan.devices) {
        ids.push_back(device.id);
    }
    return presetDeviceMap(plan.preset, ids, plan.config,
                           plan.head != Format::AsStored || plan.config.has_own_head);
}

DeviceMap
withMove(const DeviceMap& map, const MapMove& move, const std::vector<PlanIssue>& errors) {
    const bool is_inherit = move.kind == MapMove::Kind::Inherit;
    if (move.module == "kv") {
        DeviceMap out = nativeForm(map);
        out.kv_place = is_inherit ? std::nullopt : std::optional<DeviceId>(move.compute);
        return out;
    }
    if (is_inherit) {
        DeviceMap out = nativeForm(map);
        std::erase_if(out.entries, [&](const MapEntry& entry) {
            return isAtOrBelow(canonicalKey(entry.key), move.module);
        });
        return out;
    }
    PlaceFields fields;
    fields.store = move.store;
    fields.compute = move.compute;
    if (move.store != move.compute) {
        fields.residency = move.residency;
    }
    if (move.is_tied_copy) {
        fields.duplicate_tied = true;
    }
    return placedAnew(map, errors, move.module, fields);
}

bool namesCard(const LoadRequest& request) {
    return request.device_map.find("cuda:") != std::string::npos ||
           std::any_of(request.moves.begin(), request.moves.end(), [](const MapMove& move) {
               return move.store.kind == DeviceId::Kind::Cuda ||
                      move.compute.kind == DeviceId::Kind::Cuda;
           });
}

using FormatWords = std::vector<std::pair<std::string, Format>>;

Result<Format> optionWord(Phrase option, const std::string& word, const FormatWords& words) {
    std::string expected;
    for (const auto& [name, value] : words) {
        if (word == name) {
            return value;
        }
        expected += (expected.empty() ? "" : ", ") + name;
    }
    return Error{ErrorCode::InvalidRequest,
                 said("%1 %2: expected one of %3", option, word, expected)};
}

FormatWords quantWords() {
    FormatWords words;
    for (std::string& option : quantOptions()) {
        const FormatRow* row = formatOfOption(option.substr(0, option.find('+')));
        words.emplace_back(std::move(option), row->format);
    }
    return words;
}

} // namespace

std::vector<DeviceInfo> machineDevices(const LoadRequest& request, const GpuAccess& gpus) {
    std::vector<DeviceInfo> devices;
    for (const WhatIfDevice& assumed : request.what_if) {
        DeviceInfo device;
        device.id = assumed.id;
        device.description = assumed.description;
        device.capacity = assumed.capacity;
        device.free = assumed.free;
        device.rates.read_bytes_per_s = assumed.read_bytes_per_s;
        device.rates.flops = assumed.flops;
        device.rates.link_bytes_per_s = assumed.link_bytes_per_s;
        devices.push_back(device);
    }
    if (!devices.empty()) {
        return devices;
    }
    const SystemMemory memory = systemMemory();
    DeviceInfo cpu;
    cpu.id = DeviceId::cpu();
    cpu.description = "this computer's memory and processor";
    cpu.capacity = memory.total;
    cpu.free = memory.available;
    devices.push_back(cpu);
    if (request.sim_gpus.empty() || namesCard(request)) {
        for (DeviceInfo& card : gpus.list()) {
            if (const auto share = gpus.video_memory(card.id.index)) {
                card.granted =
                    share->local_budget - std::min(share->local_budget, share->local_used);
            }
            devices.push_back(std::move(card));
        }
    }
    int index = 0;
    for (const uint64_t capacity : request.sim_gpus) {
        DeviceInfo sim;
        sim.id = DeviceId::sim(index++);
        sim.description = "simulated GPU";
        sim.capacity = capacity;
        sim.free = capacity;
        devices.push_back(sim);
    }
    return devices;
}

bool asksForCards(const LoadRequest& request) {
    return request.what_if.empty() && request.device_map != "cpu" &&
           (request.sim_gpus.empty() || namesCard(request));
}

void setMemoryRules(PlanRequest& plan) {
    struct Rules {
        ModelConfig config;
        std::vector<ExpectedTensor> tensors;
        DutyScratch duties;
    };
    // Shared: requests are copied where steps are tried.
    const auto rules = std::make_shared<const Rules>(
        Rules{plan.config, plan.tensors, DutyScratch(plan.config, plan.tensors)});
    plan.workspace_bytes = [rules](const PlacementPlan& p) {
        return workspaceBytes(rules->config, p, rules->tensors);
    };
    plan.duty_bytes = [rules](const PlacementPlan& shape, DeviceId::Kind kind,
                              const DeviceDuties& duties) {
        return rules->duties.bytes(runShape(rules->config, shape), kind, duties);
    };
    plan.kv_bytes = [rules](const PlacementPlan& p, int layer) {
        return kvBytes(rules->config, runShape(rules->config, p), layer);
    };
}

Result<PlanRequest> planRequest(const LoadRequest& request,
                                const OpenedModel& opened,
                                const std::vector<DeviceInfo>& devices,
                                const std::vector<AdapterFootprint>& adapters) {
    PlanRequest plan;
    plan.config = opened.config;
    plan.tensors = opened.tensors;
    plan.stored = opened.stored;
    plan.devices = devices;
    plan.context = request.context;
    plan.prefill_chunk = request.prefill_chunk;
    plan.image_tokens =
        request.image_tokens > 0 ? request.image_tokens : opened.config.processor.image_tokens;
    plan.is_reference_precision = request.is_reference_precision;
    ENGINE_ASSIGN(plan.quant, optionWord(phrase("--quant"), request.quant, quantWords()));
    plan.quantizes_experts = request.quant.ends_with("+experts");
    if (!isBlockSize(request.quant_block)) {
        return Error{ErrorCode::InvalidRequest,
                     said("--quant-block: expected a power of two from 32 to 4096, found %1",
                          request.quant_block)};
    }
    plan.quant_block = static_cast<int32_t>(request.quant_block);
    ENGINE_ASSIGN(plan.head,
                  optionWord(phrase("--head"), request.head,
                             {{"auto", Format::AsStored},
                              {"bf16", Format::AsStored},
                              {"int8", Format::Q8},
                              {std::string(formatRow(kFourBitFormat).option), kFourBitFormat}}));
    ENGINE_ASSIGN(
        plan.kv_format,
        optionWord(phrase("--kv"), request.kv,
                   {{"auto", Format::AsStored}, {"bf16", Format::Bf16}, {"q8", Format::Q8}}));
    if (request.expert_cache != "auto") {
        plan.expert_cache = parseExpertCache(request.expert_cache);
        if (!plan.expert_cache.has_value()) {
            return Error{ErrorCode::InvalidRequest,
                         said("--expert-cache %1: expected auto, max, off or a size such as 2GiB",
                              request.expert_cache)};
        }
    }
    // The reference path answers exactly as with everything on one device.
    plan.may_change_head = request.head == "auto" && !request.is_reference_precision;
    if (isDeviceMapText(request.device_map)) {
        ParseContext context;
        context.are_integers_sim = !request.sim_gpus.empty();
        ENGINE_ASSIGN(plan.map, parseDeviceMap(request.device_map, context));
    } else {
        plan.preset = request.device_map;
        // Without any GPU the default preset means the CPU; asking for it by name still fails.
        const bool has_gpu = std::any_of(devices.begin(), devices.end(),
                                         [](const DeviceInfo& d) { return d.id.isGpu(); });
        if (plan.preset.empty()) {
            plan.preset = has_gpu ? "gpu" : "cpu";
        }
        if (plan.preset != "fit" && !isDevicePreset(plan.preset)) {
            std::string names = "fit";
            for (const std::string& name : devicePresets()) {
                names += ", " + name;
            }
            return Error{ErrorCode::InvalidRequest,
                         said("device map %1: expected a file or one of the presets %2",
                              plan.preset, names)};
        }
    }
    for (const auto& [name, bytes] : request.limits) {
        const std::optional<DeviceId> id = DeviceId::parse(name);
        if (!id.has_value()) {
            return Error{ErrorCode::InvalidRequest,
                         said("limit for %1: expected cpu, cuda:N or sim:N", name)};
        }
        plan.limits[*id] = bytes;
    }
    std::unordered_map<std::string_view, int> indices;
    for (size_t i = 0; i < plan.tensors.size() && !adapters.empty(); ++i) {
        indices.emplace(plan.tensors[i].name, static_cast<int>(i));
    }
    for (const AdapterFootprint& footprint : adapters) {
        for (const TensorFootprint& row : footprint.tensors) {
            const auto it = indices.find(row.tensor);
            plan.adapters.push_back({row.tensor, row.bytes, row.is_on_host, footprint.scratch_bytes,
                                     row.update_bytes, it == indices.end() ? -1 : it->second});
        }
    }
    plan.is_free_memory_a_guess = request.loads_anyway;
    plan.has_weight_cache = !request.cache_folder.empty();
    setMemoryRules(plan);
    if (!request.moves.empty()) {
        ENGINE_ASSIGN(DeviceMap map, baseMap(plan));
        Resolution keys;
        const KnownNames names(plan.tensors);
        KeyTable(map, names, keys).build();
        for (const MapMove& move : request.moves) {
            map = withMove(map, move, keys.errors);
        }
        plan.map = std::move(map);
    }
    return plan;
}

uint64_t otherProgramsRam() {
    const SystemMemory memory = systemMemory();
    const uint64_t used = memory.total - std::min(memory.total, memory.available);
    // Where it is not known, our own memory counts as used by others.
    return used - std::min(used, ownMemory());
}

std::vector<DeviceMemory> machineMemory(const GpuAccess& gpus) {
    std::vector<DeviceMemory> out;
    for (const DeviceInfo& card : gpus.glance()) {
        DeviceMemory& memory = out.emplace_back();
        memory.id = card.id;
        memory.description = card.description;
        memory.capacity = card.capacity;
        memory.used_by_others = card.capacity - std::min(card.capacity, card.free);
    }
    DeviceMemory& ram = out.emplace_back();
    ram.id = DeviceId::cpu();
    ram.capacity = systemMemory().total;
    ram.used_by_others = otherProgramsRam();
    return out;
}

std::string smallMapText(const PlanRequest& request, const std::string& map_text) {
    const Result<DeviceMap> map = parseDeviceMap(map_text, {});
    if (!map.has_value()) {
        return map_text;
    }
    ResolveInput input;
    input.config = &request.config;
    input.tensors = &request.tensors;
    input.stored = &request.stored;
    for (const DeviceInfo& device : request.devices) {
        input.devices.push_back(device.id);
    }
    input.quant = request.quant;
    input.quantizes_experts = request.quantizes_experts;
    input.head = request.head;
    return writeDeviceMap(canonicalMap(*map, input));
}

std::string describe(const PlanIssue& issue) {
    std::string text = issue.code + ": " + inEnglish(issue);
    if (issue.line > 0) {
        text = issue.code + " (line " + std::to_string(issue.line) + ", column " +
               std::to_string(issue.column) + "): " + inEnglish(issue);
    }
    if (issue.code != "DM09") {
        return text; // suggestions are values to put in, which the message names
    }
    for (const std::string& suggestion : inEnglish(issue.suggestions)) {
        text += (text.ends_with('.') ? " " : ". ") + suggestion;
    }
    return text;
}

Error planError(const PlacementPlan& plan) {
    constexpr size_t kMostTold = 8;
    if (plan.errors.empty()) {
        return Error{ErrorCode::OutOfMemory, said("the plan does not fit")};
    }
    Error error{plan.errors.front().code == "DM09" ? ErrorCode::OutOfMemory
                                                   : ErrorCode::InvalidRequest,
                ""};
    std::map<std::string, int> seen;
    for (size_t i = 0; i < plan.errors.size(); ++i) {
        const PlanIssue& issue = plan.errors[i];
        if (i < kMostTold) {
            error.message += (i > 0 ? "\n" : "") + describe(issue);
        } else if (i == kMostTold) {
            error.message += "\n(and " + std::to_string(plan.errors.size() - i) + " more)";
        }
        // A name of its own for every one: whoever keeps them by name loses none.
        const int count = ++seen[issue.code];
        error.details.emplace_back(count == 1 ? issue.code
                                              : issue.code + "." + std::to_string(count),
                                   (issue.key.empty() ? "" : issue.key + ": ") + inEnglish(issue));
    }
    if (isRefusedByEstimate(plan.errors)) {
        error.message +=
            "\nWhat is free is an estimate: --anyway loads all the same; the system may "
            "become slow or end a program, and a load that fails leaves what was there";
    }
    error.cause = causeOf(plan.errors);
    return error;
}

} // namespace engine
