// SPDX-License-Identifier: Apache-2.0
// A plan in the words of other programs. What they cannot say is listed, never dropped in silence.
#include "engine/plan/map_json.h"
#include "engine/plan/map_keys.h"
#include "engine/plan/map_tree.h"
#include "engine/plan/map_write.h"
#include "engine/quant/quantize.h"

#include <algorithm>
#include <map>
#include <set>

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

std::map<std::string_view, const ExpectedTensor*>
byName(const std::vector<ExpectedTensor>& tensors) {
    std::map<std::string_view, const ExpectedTensor*> map;
    for (const ExpectedTensor& tensor : tensors) {
        map.emplace(tensor.name, &tensor);
    }
    return map;
}

std::string deviceText(DeviceId device) {
    return device.kind == DeviceId::Kind::Cuda ? std::to_string(device.index)
                                               : jsonString(device.toString());
}

/// Keys and places of accelerate's dictionary, "" first.
std::vector<std::pair<std::string, DeviceId>> accelerateKeys(const PlacementPlan& plan) {
    std::vector<DeviceId> places;
    MapTree tree;
    for (const TensorPlacement& row : plan.tensors) {
        // A head of its own stands below the root as well: "lm_head".
        const std::string_view name =
            row.tensor == "lm_head.weight" ? std::string_view("lm_head") : row.tensor;
        auto it = std::find(places.begin(), places.end(), row.store);
        if (it == places.end()) {
            it = places.insert(places.end(), row.store);
        }
        tree.add(name, static_cast<int>(it - places.begin()));
    }
    std::vector<std::pair<std::string, DeviceId>> keys;
    for (const MapTree::Key& key : tree.fewestKeys()) {
        keys.emplace_back(key.path, places[static_cast<size_t>(key.value)]);
    }
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

std::vector<std::string> accelerateLosses(const PlacementPlan& plan) {
    const DeviceId main = mainDevice(plan);
    size_t computed_elsewhere = 0;
    size_t resident = 0;
    size_t own_format = 0;
    bool has_sim = false;
    for (const TensorPlacement& row : plan.tensors) {
        const DeviceId theirs = row.store.isGpu() ? row.store : main;
        computed_elsewhere += row.compute != theirs ? 1U : 0U;
        resident += row.store != row.compute && row.residency == Residency::Always ? 1U : 0U;
        own_format += row.format == Format::Q8 ? 1U : 0U;
        has_sim = has_sim || row.store.kind == DeviceId::Kind::Sim;
    }
    std::vector<std::string> losses;
    if (computed_elsewhere > 0) {
        losses.push_back(std::to_string(computed_elsewhere) +
                         " tensors compute on another device here: accelerate stores \"cpu\" and "
                         "\"disk\" there but computes on " +
                         main.toString() + ", copying the weights for every call");
    }
    if (resident > 0) {
        losses.push_back(std::to_string(resident) +
                         " tensors keep a copy on their computing device here; accelerate copies "
                         "them for every call");
    }
    if (own_format > 0) {
        losses.emplace_back("int8 per row (head) does not exist there");
    }
    if (has_sim) {
        losses.emplace_back("simulated GPUs exist only in Belfry");
    }
    if (plan.find("lm_head.weight") != nullptr) {
        losses.emplace_back("two copies of the tied table: accelerate may move both together");
    }
    return losses;
}

std::string layerPattern(const std::vector<int>& layers) {
    std::string out;
    for (const int layer : layers) {
        out += (out.empty() ? "" : "|") + std::to_string(layer);
    }
    return "blk\\.(" + out + ")\\.";
}

/// llama.cpp's name of a buffer on a device.
std::string bufferName(DeviceId device) {
    return device.isGpu() ? "CUDA" + std::to_string(device.index) : "CPU";
}

} // namespace

ExportedText exportAccelerate(const PlacementPlan& plan,
                              const std::vector<ExpectedTensor>& /*tensors*/) {
    return {dictionary(accelerateKeys(plan), "") + "\n", accelerateLosses(plan)};
}

ExportedText exportLlamaCpp(const PlacementPlan& plan, const std::vector<ExpectedTensor>& tensors) {
    ExportedText out;
    const auto by_name = byName(tensors);
    std::map<int, DeviceId> layers; // by q_proj
    std::set<int> split;
    std::map<Tower, std::set<DeviceId>> towers;
    bool has_disk = false;
    bool has_streams = false;
    std::set<Format> formats;
    for (const TensorPlacement& row : plan.tensors) {
        const auto it = by_name.find(row.tensor);
        has_disk = has_disk || row.store == DeviceId::disk();
        has_streams = has_streams || (row.store != row.compute && row.store != DeviceId::disk());
        if (it == by_name.end()) {
            continue;
        }
        const ExpectedTensor& tensor = *it->second;
        if (tensor.tower != Tower::Language) {
            towers[tensor.tower].insert(row.compute);
        } else if (tensor.layer >= 0 && tensor.kind == TensorKind::Linear) {
            formats.insert(row.format);
            const auto [layer, is_new] = layers.try_emplace(tensor.layer, row.compute);
            if (!is_new && layer->second != row.compute) {
                split.insert(tensor.layer);
            }
        }
    }
    const bool has_gpu =
        std::any_of(plan.tensors.begin(), plan.tensors.end(),
                    [](const TensorPlacement& row) { return row.compute.isGpu(); });
    std::map<DeviceId, std::vector<int>> by_device;
    for (const auto& [layer, device] : layers) {
        by_device[device].push_back(layer);
    }
    std::string flags = has_gpu ? "-ngl 99" : "-ngl 0";
    // Overrides name what differs from "everything on the first GPU".
    std::optional<DeviceId> first_gpu;
    for (const auto& [device, list] : by_device) {
        if (device.isGpu() && !first_gpu.has_value()) {
            first_gpu = device;
        }
    }
    if (has_gpu) {
        flags += " -sm none";
        for (const auto& [device, list] : by_device) {
            if (device != first_gpu) {
                flags += " -ot \"" + layerPattern(list) + "=" + bufferName(device) + "\"";
            }
        }
    }
    const TensorPlacement* head = plan.find("lm_head.weight");
    if (head == nullptr) {
        head = plan.find("model.language_model.embed_tokens.weight");
    }
    if (head != nullptr && has_gpu && !head->compute.isGpu()) {
        flags += " -ot \"output\\.weight=CPU\"";
    }
    bool towers_on_cpu = !towers.empty();
    bool towers_on_gpu = !towers.empty();
    for (const auto& [tower, devices] : towers) {
        for (const DeviceId& device : devices) {
            (device.isGpu() ? towers_on_cpu : towers_on_gpu) = false;
        }
    }
    if (!towers.empty()) {
        flags += " --mmproj MMPROJ.gguf";
        if (towers_on_cpu && has_gpu) {
            flags += " --no-mmproj-offload";
        }
    }
    flags += " -c " + std::to_string(plan.context);
    const bool is_kv_on_cpu = has_gpu && !plan.kv_device.empty() &&
                              std::all_of(plan.kv_device.begin(), plan.kv_device.end(),
                                          [](const DeviceId& device) { return !device.isGpu(); });
    if (is_kv_on_cpu) {
        flags += " -nkvo";
    }

    if (!towers.empty() && !towers_on_cpu && !towers_on_gpu) {
        out.losses.emplace_back(
            "vision and audio tower go together there: on the GPU, or on the CPU with "
            "--no-mmproj-offload");
    }
    const TensorPlacement* rows = plan.find("model.language_model.embed_tokens_per_layer.weight");
    if (rows != nullptr && rows->store.isGpu()) {
        out.losses.emplace_back("the per-layer embedding table is always on the CPU there");
    }
    const TensorPlacement* table = plan.find("model.language_model.embed_tokens.weight");
    if (table != nullptr && table->store.isGpu()) {
        out.losses.emplace_back("the token embedding is read on the CPU there; the head is a copy");
    }
    if (!split.empty()) {
        out.losses.emplace_back("layers split between devices need an -ot rule per tensor there");
    }
    if (has_streams) {
        out.losses.emplace_back("weights that visit the GPU: there they compute where they are");
    }
    if (has_disk) {
        out.losses.emplace_back(
            "disk: there the whole file is memory-mapped (--mmap is the default)");
    }
    std::string format_names;
    for (const Format format : formats) {
        format_names += (format_names.empty() ? "" : ", ") + std::string(formatName(format));
    }
    out.losses.push_back("formats (" + format_names +
                         ") are those of the GGUF file; there is no NF4, Q4_0 has the same size");
    out.text = "llama-cli -m MODEL.gguf " + flags + "\n";
    for (const std::string& loss : out.losses) {
        out.text += "# " + loss + "\n";
    }
    return out;
}

ExportedText exportPython(const PlacementPlan& plan,
                          const std::vector<ExpectedTensor>& tensors,
                          std::string_view model_path) {
    ExportedText out;
    out.losses = accelerateLosses(plan);
    const auto by_name = byName(tensors);
    std::map<Format, size_t> formats;
    std::vector<std::string> plain_modules; // linear weights that stay as they are
    MapTree skips;
    for (const TensorPlacement& row : plan.tensors) {
        if (!isLinearOf(by_name, row)) {
            skips.add(row.tensor, MapTree::kAny);
            continue;
        }
        ++formats[row.format];
        skips.add(row.tensor, isFourBit(row.format) ? 0 : 1);
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
    if (is_quantized) {
        for (const MapTree::Key& key : skips.uniformParts(0)) {
            plain_modules.push_back(
                key.path.ends_with(".weight") ? key.path.substr(0, key.path.size() - 7) : key.path);
        }
        for (const auto& [format, n] : formats) {
            if (isFourBit(format) && format != most) {
                out.losses.push_back(std::to_string(n) + " weights in " +
                                     std::string(formatName(format)) +
                                     ": bitsandbytes has one 4-bit format per model");
            }
        }
    }
    std::string text = "# Placement exported by Belfry.\n";
    for (const std::string& loss : out.losses) {
        text += "# Differs: " + loss + "\n";
    }
    text += is_quantized ? "import torch\nfrom transformers import (AutoModelForImageTextToText, "
                           "AutoProcessor, BitsAndBytesConfig)\n"
                         : "import torch\nfrom transformers import AutoModelForImageTextToText, "
                           "AutoProcessor\n";
    text += "\nmodel_path = " + jsonString(model_path) + "\n";
    text += "device_map = " + dictionary(accelerateKeys(plan), "") + "\n";
    if (is_quantized) {
        text += "quantization = BitsAndBytesConfig(\n    load_in_4bit=True,\n"
                "    bnb_4bit_quant_type=\"" +
                std::string(bookOf(most) == CodeBook::Nf4 ? "nf4" : "fp4") +
                "\",\n    bnb_4bit_use_double_quant=" + (isNested(most) ? "True" : "False") +
                ",\n    bnb_4bit_compute_dtype=torch.bfloat16,\n"
                "    llm_int8_enable_fp32_cpu_offload=True,\n";
        if (!plain_modules.empty()) {
            text += "    llm_int8_skip_modules=[\"lm_head\"";
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
