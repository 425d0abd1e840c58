// SPDX-License-Identifier: Apache-2.0
#include "engine/lora/architecture.h"

#include "engine/families/gemma4/names.h"
#include "engine/families/gemma4_unified/spellings.h"
#include "engine/lora/adapter.h"

namespace engine {

namespace {

const std::string& headName() {
    static const std::string kName(kHeadTensor);
    return kName;
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
    auto it = by_name_.find(is_head ? kTokenTableName : tensor);
    if (it == by_name_.end()) { // an embedder's published name
        it = by_name_.find(moduleTreeName(tensor));
    }
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
    const KeyTower tower = keyTowerOf(module);
    if ((tower == KeyTower::Vision && model_.left_out.vision) ||
        (tower == KeyTower::Audio && model_.left_out.audio)) {
        return {said("its tower was left out of this load (text only)"), KeyReason::Why::TextOnly};
    }
    const int layer = partOfName(module).layer;
    if (layer < 0 || layer >= static_cast<int>(model_.text.layers.size())) {
        return {};
    }
    const LayerConfig& config = model_.text.layers[static_cast<size_t>(layer)];
    const TensorUse use = tensorUseOfName(module);
    const bool is_k = use == TensorUse::Key || use == TensorUse::KeyNorm;
    const bool is_v = use == TensorUse::Value || use == TensorUse::ValueNorm;
    if (config.is_kv_shared && (is_k || is_v)) {
        return {said("layer %1 shares the KV of layer %2", layer, config.kv_source)};
    }
    if (config.k_is_v && is_v) {
        return {said("layer %1 takes its values from %2", layer, shortUseName(TensorUse::Key))};
    }
    return {};
}

KeyReason Architecture::absentReason(std::string_view module) const {
    const KeyTower tower = keyTowerOf(module);
    if (tower == KeyTower::Vision && !model_.vision) {
        return {said("the model has no vision tower")};
    }
    if (tower == KeyTower::Audio && !model_.audio) {
        return {said("the model has no audio tower")};
    }
    if (partOfName(module).layer >= static_cast<int>(model_.text.layers.size())) {
        return {said("the model has only %1 layers", model_.text.layers.size())};
    }
    return {said("the model has no module %1", module)};
}

KeyTower keyTowerOf(std::string_view canonical_module) {
    const Part part = partOfName(canonical_module);
    return isVision(part)                    ? KeyTower::Vision
           : isAudio(part)                   ? KeyTower::Audio
           : isDecoderName(canonical_module) ? KeyTower::Language
                                             : KeyTower::Other;
}

std::string moduleOfTensor(std::string_view tensor) {
    if (tensor.ends_with(".weight")) {
        tensor.remove_suffix(7);
    }
    return std::string(tensor);
}

} // namespace engine
