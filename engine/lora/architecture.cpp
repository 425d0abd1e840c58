// SPDX-License-Identifier: Apache-2.0
#include "engine/lora/architecture.h"

#include "engine/lora/adapter.h"

#include <charconv>

namespace engine {

namespace {

const std::string& headName() {
    static const std::string kName(kHeadTensor);
    return kName;
}

constexpr std::string_view kLayerPrefix = "model.language_model.layers.";

/// Layer number of a language module path and what follows it.
std::optional<std::pair<int, std::string_view>> languageLayer(std::string_view module) {
    if (!module.starts_with(kLayerPrefix)) {
        return std::nullopt;
    }
    module.remove_prefix(kLayerPrefix.size());
    int layer = 0;
    const auto [at, error] = std::from_chars(module.data(), module.data() + module.size(), layer);
    if (error != std::errc{} || layer < 0) {
        return std::nullopt;
    }
    module.remove_prefix(static_cast<size_t>(at - module.data()));
    if (module.starts_with(".")) {
        module.remove_prefix(1);
    }
    return std::pair{layer, module};
}

} // namespace

const std::string& ArchitectureTensor::name() const {
    return is_head ? headName() : tensor->name;
}

const std::vector<int64_t>& ArchitectureTensor::shape() const {
    return tensor->shape; // the head shares the shape of the token embedding
}

Architecture::Architecture(const ModelConfig& model, const std::vector<ExpectedTensor>& tensors)
    : model_(model) {
    by_name_.reserve(tensors.size());
    for (const ExpectedTensor& tensor : tensors) {
        by_name_.emplace(tensor.name, &tensor);
        const bool is_attachable = tensor.kind == TensorKind::Linear ||
                                   tensor.kind == TensorKind::Embedding ||
                                   tensor.kind == TensorKind::Experts;
        if (is_attachable && !tensor.is_unused) {
            attachable_.push_back({&tensor, false});
        }
    }
    if (const auto head = find(kHeadTensor)) {
        attachable_.push_back(*head);
    }
}

std::optional<ArchitectureTensor> Architecture::find(std::string_view tensor) const {
    const bool is_head = tensor == kHeadTensor;
    const auto it = by_name_.find(
        is_head ? std::string_view("model.language_model.embed_tokens.weight") : tensor);
    if (it == by_name_.end()) {
        return std::nullopt;
    }
    return ArchitectureTensor{it->second, is_head};
}

std::optional<ArchitectureTensor> Architecture::findWeight(std::string_view module) const {
    if (auto direct = find(std::string(module) + ".weight")) {
        return direct;
    }
    return find(std::string(module) + ".linear.weight");
}

KeyReason Architecture::inertReason(std::string_view module) const {
    const auto layer = languageLayer(module);
    if (!layer || layer->first >= static_cast<int>(model_.text.layers.size())) {
        return {};
    }
    const LayerConfig& config = model_.text.layers[static_cast<size_t>(layer->first)];
    const std::string_view part = layer->second;
    const bool is_k = part == "self_attn.k_proj" || part == "self_attn.k_norm";
    const bool is_v = part == "self_attn.v_proj" || part == "self_attn.v_norm";
    if (config.is_kv_shared && (is_k || is_v)) {
        return {"layer " + std::to_string(layer->first) + " shares the KV of layer " +
                    std::to_string(config.kv_source),
                KeyReason::Why::SharesKv, layer->first, config.kv_source};
    }
    if (config.k_is_v && is_v) {
        return {"layer " + std::to_string(layer->first) + " takes its values from k_proj",
                KeyReason::Why::ValuesAreKeys, layer->first};
    }
    return {};
}

KeyReason Architecture::absentReason(std::string_view module) const {
    const KeyTower tower = keyTowerOf(module);
    if (tower == KeyTower::Vision && !model_.vision) {
        return {"the model has no vision tower", KeyReason::Why::NoVision};
    }
    if (tower == KeyTower::Audio && !model_.audio) {
        return {"the model has no audio tower", KeyReason::Why::NoAudio};
    }
    const auto layer = languageLayer(module);
    if (layer && layer->first >= static_cast<int>(model_.text.layers.size())) {
        const auto count = static_cast<int>(model_.text.layers.size());
        return {"the model has only " + std::to_string(count) + " layers",
                KeyReason::Why::FewerLayers, -1, count};
    }
    return {"the model has no module " + std::string(module)};
}

KeyTower keyTowerOf(std::string_view canonical_module) {
    const auto isUnder = [&](std::string_view root) {
        return canonical_module.starts_with(root) &&
               (canonical_module.size() == root.size() || canonical_module[root.size()] == '.');
    };
    if (isUnder("model.language_model") || isUnder("lm_head")) {
        return KeyTower::Language;
    }
    if (isUnder("model.vision_tower") || isUnder("model.embed_vision")) {
        return KeyTower::Vision;
    }
    if (isUnder("model.audio_tower") || isUnder("model.embed_audio")) {
        return KeyTower::Audio;
    }
    return KeyTower::Other;
}

std::string moduleOfTensor(std::string_view tensor) {
    if (tensor.ends_with(".weight")) {
        tensor.remove_suffix(7);
    }
    return std::string(tensor);
}

} // namespace engine
