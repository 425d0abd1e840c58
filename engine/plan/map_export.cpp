// SPDX-License-Identifier: Apache-2.0
// A plan in the words of accelerate and transformers. What they cannot say is listed, never dropped
// in silence.
#include "engine/families/gemma4/names.h"
#include "engine/plan/map_json.h"
#include "engine/plan/map_tree.h"
#include "engine/plan/map_write.h"
#include "engine/quant/quantize.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

namespace {

/// The device that accelerate computes everything on that is stored on cpu or disk.
DeviceId mainDevice(const PlacementPlan& plan) {
    std::optional<DeviceId> main;
    for (const TensorPlacement& row : plan.tensors) {
        if (row.store.isGpu() && (!main.has_value() || row.store.index < main->index ||
                                  (row.store.index == main->index && row.store < *main))) {
            main = row.store;
        }
    }
    return main.value_or(DeviceId::cpu());
}

bool isLinearOf(const std::map<std::string_view, const ExpectedTensor*>& by_name,
                const TensorPlacement& row) {
    const auto it = by_name.find(row.tensor);
    return it != by_name.end() && isQuantizable(*it->second);
}

std::string deviceText(DeviceId device) {
    return device.kind == DeviceId::Kind::Cuda ? std::to_string(device.index)
                                               : jsonString(device.toString());
}

/// accelerate's dictionary, "" first.
std::string dictionary(const PlacementPlan& plan) {
    const std::string head_name = partName({PartRole::Head});
    std::vector<DeviceId> places;
    MapTree tree;
    for (const TensorPlacement& row : plan.tensors) {
        // A head of its own stands below the root as well, by its module's name.
        const std::string_view name =
            row.part.role == PartRole::Head ? head_name : std::string_view(row.tensor);
        auto it = std::find(places.begin(), places.end(), row.store);
        if (it == places.end()) {
            it = places.insert(places.end(), row.store);
        }
        tree.add(name, static_cast<int>(it - places.begin()));
    }
    std::string out = "{";
    bool has_head_key = false;
    const auto add = [&](const std::string& key, DeviceId place) {
        out += (out.size() == 1 ? "\n  " : ",\n  ") + jsonString(key) + ": " + deviceText(place);
        has_head_key = has_head_key || key == head_name;
    };
    for (const MapTree::Key& key : tree.fewestKeys()) {
        add(key.path, places[static_cast<size_t>(key.value)]);
    }
    // A head that is a copy is named even where "" covers it: without a key it is the table's twin.
    const TensorPlacement* head = plan.find(Part{PartRole::Head});
    if (head != nullptr && !has_head_key) {
        add(head_name, head->store);
    }
    return out + "\n}\n";
}

/// Is something stored in main memory or on disk while something else is not on the CPU? For such
/// a map transformers wants llm_int8_enable_fp32_cpu_offload, and then leaves what lies there
/// unquantized. A map that says "cpu" throughout is quantized like one for a GPU.
bool leavesHostUnquantized(const PlacementPlan& plan) {
    const auto has = [&plan](auto fits) {
        return std::any_of(plan.tensors.begin(), plan.tensors.end(), fits);
    };
    return has([](const TensorPlacement& row) { return !row.store.isGpu(); }) &&
           has([](const TensorPlacement& row) { return row.store != DeviceId::cpu(); });
}

/// Formats that bitsandbytes through transformers does not give.
void addFormatLosses(const PlacementPlan& plan,
                     const std::vector<ExpectedTensor>& tensors,
                     std::vector<Sentence>& losses) {
    const auto by_name = tensorsByName(tensors);
    const bool leaves_host = leavesHostUnquantized(plan);
    size_t on_host = 0;
    uint64_t bytes_here = 0;
    uint64_t bytes_there = 0;
    std::map<Format, size_t> dense;
    bool has_int8 = false;
    std::set<std::string_view> own; ///< Formats of GGUF.
    for (const TensorPlacement& row : plan.tensors) {
        has_int8 = has_int8 || row.format == Format::Q8;
        if (row.format == Format::F16 || row.format == Format::F32) {
            ++dense[row.format];
        }
        if (const FormatRow& its = formatRow(row.format); its.block_size > 0) {
            own.insert(its.option);
            continue;
        }
        if (!hasCodes(row.format)) {
            continue;
        }
        if (!isLinearOf(by_name, row)) {
            losses.push_back(said("%1 in %2: embedding tables and the head stay unquantized there",
                                  row.tensor, FormatName{std::string(formatName(row.format))}));
        } else if (leaves_host && !row.store.isGpu()) {
            ++on_host;
            bytes_here += row.bytes;
            bytes_there += static_cast<uint64_t>(by_name.at(row.tensor)->numElements()) * 2;
        }
    }
    if (has_int8) {
        losses.push_back(said("int8 per row (head) does not exist there"));
    }
    for (const std::string_view option : own) {
        losses.push_back(said("weights in %1 do not exist there", FormatName{std::string(option)}));
    }
    if (on_host > 0) {
        const ByteCount there{bytes_there};
        const ByteCount here{bytes_here};
        losses.push_back(on_host == 1
                             ? said("1 weight on cpu or disk has 4 bits here: transformers leaves "
                                    "what lies there in bfloat16, %1 instead of %2",
                                    there, here)
                             : said("%1 weights on cpu or disk have 4 bits here: transformers "
                                    "leaves what lies there in bfloat16, %2 instead of %3",
                                    on_host, there, here));
    }
    for (const auto& [format, count] : dense) {
        losses.push_back(count == 1
                             ? said("1 tensor in %1: there what is not quantized has one dtype",
                                    formatName(format))
                             : said("%1 tensors in %2: there what is not quantized has one dtype",
                                    count, formatName(format)));
    }
}

/// `count` tensors compute elsewhere than on `main`, as accelerate has it.
Sentence computesElsewhere(size_t count, DeviceId main) {
    if (!main.isGpu()) {
        return count == 1 ? said("1 tensor computes on another device here: where nothing is "
                                 "stored on a GPU, accelerate computes on cpu")
                          : said("%1 tensors compute on another device here: where nothing is "
                                 "stored on a GPU, accelerate computes on cpu",
                                 count);
    }
    return count == 1
               ? said("1 tensor computes on another device here: accelerate stores \"cpu\" and "
                      "\"disk\" there but computes on %1, copying the weights for every call",
                      main)
               : said("%1 tensors compute on another device here: accelerate stores \"cpu\" and "
                      "\"disk\" there but computes on %2, copying the weights for every call",
                      count, main);
}

std::vector<Sentence> accelerateLosses(const PlacementPlan& plan,
                                       const std::vector<ExpectedTensor>& tensors) {
    const DeviceId main = mainDevice(plan);
    size_t computed_elsewhere = 0;
    size_t resident = 0;
    bool has_sim = false;
    for (const TensorPlacement& row : plan.tensors) {
        const DeviceId theirs = row.store.isGpu() ? row.store : main;
        computed_elsewhere += row.compute != theirs ? 1U : 0U;
        resident += row.store != row.compute && row.residency == Residency::Always ? 1U : 0U;
        has_sim = has_sim || row.store.kind == DeviceId::Kind::Sim;
    }
    std::vector<Sentence> losses;
    if (computed_elsewhere > 0) {
        losses.push_back(computesElsewhere(computed_elsewhere, main));
    }
    if (resident > 0) {
        losses.push_back(resident == 1 ? said("1 tensor keeps a copy on its computing device here; "
                                              "accelerate copies it for every call")
                                       : said("%1 tensors keep a copy on their computing device "
                                              "here; accelerate copies them for every call",
                                              resident));
    }
    addFormatLosses(plan, tensors, losses);
    if (has_sim) {
        losses.push_back(said("simulated GPUs exist only in Belfry"));
    }
    if (plan.find(Part{PartRole::Head}) != nullptr && !plan.has_stored_head) {
        losses.push_back(said("two copies of the tied table: accelerate may move both together"));
    }
    return losses;
}

} // namespace

std::vector<Sentence> shortages(const PlacementPlan& plan) {
    std::vector<Sentence> out;
    for (const PlanIssue& issue : plan.errors) {
        if (issue.code == "DM09") {
            out.push_back(said("this plan does not fit: %1", issue.words));
        }
    }
    return out;
}

MapExport exportAccelerate(const PlacementPlan& plan, const std::vector<ExpectedTensor>& tensors) {
    std::vector<Sentence> losses = shortages(plan);
    for (Sentence& loss : accelerateLosses(plan, tensors)) {
        losses.push_back(std::move(loss));
    }
    return {dictionary(plan), std::move(losses)};
}

} // namespace engine
