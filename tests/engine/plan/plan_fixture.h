// SPDX-License-Identifier: Apache-2.0
// What the planner's tests share: models from published configs and from golden data, requests
// for machines that do not exist, and shorthands for reading a plan.
#pragma once

#include "engine/families/config.h"
#include "engine/families/tensor_list.h"
#include "engine/forward/memory/device_roles.h"
#include "engine/plan/device_map.h"
#include "engine/plan/map_resolve.h"
#include "engine/plan/plan_english.h"
#include "engine/plan/planner.h"
#include "tests/support/golden.h"
#include "tests/support/listed_model.h"
#include "tests/support/results.h"

#include <string>
#include <vector>

namespace planfixture {

using support::goldenModel;
using support::mentions;
using support::publishedModel;
using Model = support::ListedModel;

inline const Model& e2b() {
    static const Model model = publishedModel("E2B");
    return model;
}

inline engine::DeviceInfo
device(engine::DeviceId id, uint64_t capacity, engine::DeviceRates rates = {}) {
    engine::DeviceInfo info;
    info.id = id;
    info.description = id.toString();
    info.capacity = capacity;
    info.free = capacity;
    info.rates = rates;
    return info;
}

constexpr uint64_t kGiB = uint64_t{1} << 30U;

/// One CPU and `gpus` devices of `bytes` each.
inline engine::PlanRequest
requestFor(const Model& model, int gpus, uint64_t bytes, bool is_sim = true) {
    engine::PlanRequest request;
    request.config = model.config;
    request.tensors = model.tensors;
    request.devices.push_back(device(engine::DeviceId::cpu(), 64 * kGiB));
    for (int i = 0; i < gpus; ++i) {
        request.devices.push_back(
            device(is_sim ? engine::DeviceId::sim(i) : engine::DeviceId::cuda(i), bytes));
    }
    return request;
}

/// The model's own scratch and KV rules, as the program uses them.
inline void useModelRules(engine::PlanRequest& request) {
    request.workspace_bytes = [config = request.config,
                               tensors = request.tensors](const engine::PlacementPlan& plan) {
        return engine::workspaceBytes(config, plan, tensors);
    };
    request.duty_bytes = [config = request.config,
                          rules = engine::DutyScratch(request.config, request.tensors)](
                             const engine::PlacementPlan& shape, engine::DeviceId::Kind kind,
                             const engine::DeviceDuties& duties) {
        return rules.bytes(engine::runShape(config, shape), kind, duties);
    };
    request.kv_bytes = [config = request.config](const engine::PlacementPlan& plan, int layer) {
        return engine::kvBytes(config, engine::runShape(config, plan), layer);
    };
}

inline engine::Resolution resolve(const Model& model,
                                  const std::string& map_text,
                                  const std::vector<engine::DeviceId>& devices,
                                  engine::Format quant = engine::Format::AsStored,
                                  engine::Format head = engine::Format::AsStored,
                                  const engine::StoredTensors& stored = {}) {
    const engine::DeviceMap map = support::must(engine::parseDeviceMap(map_text, {}), "map");
    engine::ResolveInput input;
    input.config = &model.config;
    input.tensors = &model.tensors;
    input.devices = devices;
    input.quant = quant;
    input.head = head;
    input.stored = &stored;
    return engine::resolveDeviceMap(map, input);
}

inline const engine::ResolvedTensor*
rowOf(const Model& model, const engine::Resolution& resolution, const std::string& tensor) {
    for (const engine::ResolvedTensor& row : resolution.tensors) {
        const std::string name =
            row.index < 0 ? "lm_head.weight" : model.tensors[static_cast<size_t>(row.index)].name;
        if (name == tensor) {
            return &row;
        }
    }
    return nullptr;
}

/// "cpu>sim:0 stream": store, compute (left out when equal) and residency.
inline std::string placeText(const engine::ResolvedTensor* row) {
    if (row == nullptr) {
        return "none";
    }
    if (row->store == row->compute) {
        return row->store.toString();
    }
    const char* residency = row->residency == engine::Residency::Always  ? "always"
                            : row->residency == engine::Residency::OnUse ? "on_use"
                                                                         : "stream";
    return row->store.toString() + ">" + row->compute.toString() + " " + residency;
}

inline std::string codesOf(const std::vector<engine::PlanIssue>& issues) {
    std::string out;
    for (const engine::PlanIssue& issue : issues) {
        out += (out.empty() ? "" : " ") + issue.code;
    }
    return out;
}

inline const engine::DevicePlan* deviceRow(const engine::PlacementPlan& plan, engine::DeviceId id) {
    for (const engine::DevicePlan& row : plan.devices) {
        if (row.id == id) {
            return &row;
        }
    }
    return nullptr;
}

} // namespace planfixture
