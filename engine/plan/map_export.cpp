// SPDX-License-Identifier: Apache-2.0
// A plan in the words of accelerate and transformers (llama.cpp: map_export_llama_cpp.cpp). What
// they cannot say is listed, never dropped in silence.
#include "engine/families/gemma4/names.h"
#include "engine/plan/export_english.h"
#include "engine/plan/map_json.h"
#include "engine/plan/map_keys.h"
#include "engine/plan/map_tree.h"
#include "engine/plan/map_write.h"
#include "engine/plan/plan_english.h"
#include "engine/plan/planner.h"
#include "engine/plan/skip_list.h"
#include "engine/quant/quantize.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

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

/// A linear layer's name from its weight's.
std::string moduleOf(const std::string& name) {
    return name.ends_with(".weight") ? name.substr(0, name.size() - 7) : name;
}

std::string deviceText(DeviceId device) {
    return device.kind == DeviceId::Kind::Cuda ? std::to_string(device.index)
                                               : jsonString(device.toString());
}

/// Where everything is stored, as numbers of `places`, which is added to.
MapTree placeTree(const PlacementPlan& plan, std::vector<DeviceId>& places) {
    MapTree tree;
    const std::string head_name = partName({PartRole::Head});
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
    return tree;
}

/// A head that is a copy is named even where "" covers it: without a key it is the table's twin.
void addHeadKey(const PlacementPlan& plan, std::vector<std::pair<std::string, DeviceId>>& keys) {
    const TensorPlacement* head = plan.find(Part{PartRole::Head});
    const std::string name = partName({PartRole::Head});
    if (head != nullptr && std::none_of(keys.begin(), keys.end(),
                                        [&](const auto& key) { return key.first == name; })) {
        keys.emplace_back(name, head->store);
    }
}

/// Keys and places of accelerate's dictionary, "" first.
std::vector<std::pair<std::string, DeviceId>> accelerateKeys(const PlacementPlan& plan) {
    std::vector<DeviceId> places;
    const MapTree tree = placeTree(plan, places);
    std::vector<std::pair<std::string, DeviceId>> keys;
    for (const MapTree::Key& key : tree.fewestKeys()) {
        keys.emplace_back(key.path, places[static_cast<size_t>(key.value)]);
    }
    addHeadKey(plan, keys);
    return keys;
}

std::string dictionary(const std::vector<std::pair<std::string, DeviceId>>& keys,
                       const std::string& indent) {
    std::string out = "{";
    for (size_t i = 0; i < keys.size(); ++i) {
        out += std::string(i == 0 ? "\n" : ",\n") + indent + "  " + jsonString(keys[i].first) +
               ": " + deviceText(keys[i].second);
    }
    return out + "\n" + indent + "}";
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
                     std::vector<ExportLoss>& losses) {
    const auto by_name = tensorsByName(tensors);
    const bool leaves_host = leavesHostUnquantized(plan);
    size_t on_host = 0;
    uint64_t bytes_here = 0;
    uint64_t bytes_there = 0;
    std::map<Format, size_t> dense;
    bool has_int8 = false;
    for (const TensorPlacement& row : plan.tensors) {
        has_int8 = has_int8 || row.format == Format::Q8;
        if (row.format == Format::F16 || row.format == Format::F32) {
            ++dense[row.format];
        }
        if (!isFourBit(row.format)) {
            continue;
        }
        if (!isLinearOf(by_name, row)) {
            losses.emplace_back(
                loss::TableInFormat{row.tensor, std::string(formatName(row.format))});
        } else if (leaves_host && !row.store.isGpu()) {
            ++on_host;
            bytes_here += row.bytes;
            bytes_there += static_cast<uint64_t>(by_name.at(row.tensor)->numElements()) * 2;
        }
    }
    if (has_int8) {
        losses.emplace_back(loss::HeadInt8{});
    }
    if (on_host > 0) {
        losses.emplace_back(loss::HostUnquantized{on_host, bytes_there, bytes_here});
    }
    for (const auto& [format, count] : dense) {
        losses.emplace_back(loss::DenseFormat{count, std::string(formatName(format))});
    }
}

std::vector<ExportLoss> accelerateLosses(const PlacementPlan& plan,
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
    std::vector<ExportLoss> losses = shortages(plan);
    if (computed_elsewhere > 0) {
        losses.emplace_back(loss::ComputesElsewhere{
            computed_elsewhere, main.isGpu() ? std::optional(main) : std::nullopt});
    }
    if (resident > 0) {
        losses.emplace_back(loss::KeepsCopy{resident});
    }
    addFormatLosses(plan, tensors, losses);
    if (has_sim) {
        losses.emplace_back(loss::NoSimulatedGpus{});
    }
    if (plan.find(Part{PartRole::Head}) != nullptr && !plan.has_stored_head) {
        losses.emplace_back(loss::TiedCopies{});
    }
    return losses;
}

/// accelerateKeys() for a model that is quantized while it loads: the keys of main memory and disk
/// also keep layers out of quantization there, by their names, so none of them may reach beyond
/// what lies there ("" and "layers.1" would).
std::vector<std::pair<std::string, DeviceId>>
keysThatLeaveNoneOut(const PlacementPlan& plan, const std::vector<std::string>& quantized) {
    std::vector<std::string> names;
    std::vector<std::string> on_gpu;
    for (const TensorPlacement& row : plan.tensors) {
        names.push_back(row.tensor);
        const std::string module = moduleOf(row.tensor);
        if (row.store.isGpu() &&
            std::find(quantized.begin(), quantized.end(), module) != quantized.end()) {
            on_gpu.push_back(module);
        }
    }
    if (on_gpu.empty()) {
        return accelerateKeys(plan);
    }
    const DeviceId main = mainDevice(plan);
    std::vector<DeviceId> places = {main};
    const MapTree tree = placeTree(plan, places);
    std::vector<std::pair<std::string, DeviceId>> keys = {{"", main}};
    for (const MapTree::Key& key : tree.uniformParts(/*unset=*/0)) {
        const DeviceId place = places[static_cast<size_t>(key.value)];
        if (place.isGpu()) {
            keys.emplace_back(key.path, place);
            continue;
        }
        for (std::string& narrow : narrowedKeys(key.path, names, on_gpu)) {
            // Hooks that bring weights to the GPU sit on modules: a value beside them stays there.
            if (narrow == key.path ||
                std::find(names.begin(), names.end(), narrow) == names.end()) {
                keys.emplace_back(std::move(narrow), place);
            }
        }
    }
    addHeadKey(plan, keys);
    return keys;
}

} // namespace

std::vector<ExportLoss> shortages(const PlacementPlan& plan) {
    std::vector<ExportLoss> out;
    for (const PlanIssue& issue : plan.errors) {
        if (issue.code == "DM09") {
            out.emplace_back(loss::Shortage{issue.finding});
        }
    }
    return out;
}

ExportedText exportAccelerate(const PlacementPlan& plan,
                              const std::vector<ExpectedTensor>& tensors) {
    return {dictionary(accelerateKeys(plan), "") + "\n", accelerateLosses(plan, tensors)};
}

ExportedText exportPython(const PlacementPlan& plan,
                          const std::vector<ExpectedTensor>& tensors,
                          std::string_view model_path) {
    ExportedText out;
    out.losses = accelerateLosses(plan, tensors);
    const auto by_name = tensorsByName(tensors);
    std::map<Format, size_t> formats;
    std::vector<std::string> plain; // linear layers that stay as they are
    std::vector<std::string> quantized;
    MapTree skips;
    for (const TensorPlacement& row : plan.tensors) {
        if (!isLinearOf(by_name, row)) {
            skips.add(row.tensor, MapTree::kAny);
            continue;
        }
        ++formats[row.format];
        skips.add(row.tensor, isFourBit(row.format) ? 0 : 1);
        (isFourBit(row.format) ? quantized : plain).push_back(moduleOf(row.tensor));
    }
    Format most = Format::AsStored;
    size_t count = 0;
    for (const auto& [format, n] : formats) {
        if (isFourBit(format) && n > count) {
            most = format;
            count = n;
        }
    }
    const bool is_quantized = count > 0;
    std::vector<std::string> plain_modules;
    if (is_quantized) {
        for (const MapTree::Key& key : skips.uniformParts(0)) {
            for (std::string& module : narrowedKeys(moduleOf(key.path), plain, quantized)) {
                plain_modules.push_back(std::move(module));
            }
        }
        for (const auto& [format, n] : formats) {
            if (isFourBit(format) && format != most) {
                out.losses.emplace_back(loss::SecondFormat{n, std::string(formatName(format))});
            }
        }
    }
    const auto is_of_other_blocks = [](const TensorPlacement& row) {
        return isFourBit(row.format) && row.block_size != kBlockSize;
    };
    if (std::any_of(plan.tensors.begin(), plan.tensors.end(), is_of_other_blocks)) {
        out.losses.emplace_back(loss::OtherBlocks{kBlockSize});
    }
    std::string text = "# Placement exported by Belfry.\n";
    for (const std::string& loss : inEnglish(out.losses)) {
        text += "# Differs: " + loss + "\n";
    }
    text += is_quantized ? "import torch\nfrom transformers import (AutoModelForImageTextToText, "
                           "AutoProcessor, BitsAndBytesConfig)\n"
                         : "import torch\nfrom transformers import AutoModelForImageTextToText, "
                           "AutoProcessor\n";
    text += "\nmodel_path = " + jsonString(model_path) + "\n";
    const bool has_offload = is_quantized && leavesHostUnquantized(plan);
    text +=
        "device_map = " +
        dictionary(has_offload ? keysThatLeaveNoneOut(plan, quantized) : accelerateKeys(plan), "") +
        "\n";
    if (is_quantized) {
        text += "quantization = BitsAndBytesConfig(\n    load_in_4bit=True,\n"
                "    bnb_4bit_quant_type=\"" +
                std::string(bookOf(most) == CodeBook::Nf4 ? "nf4" : "fp4") +
                "\",\n    bnb_4bit_use_double_quant=" + (isNested(most) ? "True" : "False") +
                ",\n    bnb_4bit_compute_dtype=torch.bfloat16,\n";
        // Without it a map with GPUs and "cpu" is refused; with it a map that says "cpu"
        // throughout would not be quantized.
        text += has_offload ? "    llm_int8_enable_fp32_cpu_offload=True,\n" : "";
        if (!plain_modules.empty()) {
            text += "    llm_int8_skip_modules=[" + jsonString(partName({PartRole::Head}));
            for (const std::string& module : plain_modules) {
                text += ", " + jsonString(module);
            }
            text += "],\n";
        }
        text += ")\n";
    }
    text += "processor = AutoProcessor.from_pretrained(model_path)\n"
            "model = AutoModelForImageTextToText.from_pretrained(\n    model_path,\n"
            "    device_map=device_map,\n    dtype=torch.bfloat16,\n";
    text += is_quantized ? "    quantization_config=quantization,\n)\n" : ")\n";
    out.text = text;
    return out;
}

} // namespace engine
