// SPDX-License-Identifier: Apache-2.0
#include "engine/families/gemma4/names.h"

#include <algorithm>
#include <charconv>

namespace engine {

namespace {

constexpr std::string_view kDecoder = "model.language_model";
constexpr std::string_view kLayers = "model.language_model.layers";
constexpr std::string_view kExperts = "experts"; ///< Below a layer.

struct NamedPart {
    PartRole role;
    std::string_view name;
};

/// All parts but layers and experts. The first name of a role is the one that partName() gives.
constexpr std::array<NamedPart, 12> kParts = {{
    {PartRole::Embedding, "model.language_model.embed_tokens"},
    {PartRole::PerLayerTable, "model.language_model.embed_tokens_per_layer"},
    {PartRole::PerLayerProjection, "model.language_model.per_layer_model_projection"},
    {PartRole::PerLayerNorm, "model.language_model.per_layer_projection_norm"},
    {PartRole::FinalNorm, "model.language_model.norm"},
    {PartRole::Head, "lm_head"},
    {PartRole::VisionTower, "model.vision_tower"},
    {PartRole::VisionProjector, "model.embed_vision"},
    {PartRole::VisionProjector, "model.vision_embedder"}, // as published files of the 12B have it
    {PartRole::AudioTower, "model.audio_tower"},
    {PartRole::AudioProjector, "model.embed_audio"},
    {PartRole::Assistant, "assistant"},
}};

struct NamedUse {
    PartRole role;
    std::string_view module; ///< Below the part.
    TensorUse use;
};

constexpr std::array<NamedUse, 7> kUses = {{
    {PartRole::Layer, "self_attn.q_proj", TensorUse::Query},
    {PartRole::Layer, "self_attn.k_proj", TensorUse::Key},
    {PartRole::Layer, "self_attn.v_proj", TensorUse::Value},
    {PartRole::Layer, "self_attn.k_norm", TensorUse::KeyNorm},
    {PartRole::Layer, "self_attn.v_norm", TensorUse::ValueNorm},
    {PartRole::Layer, "mlp.down_proj", TensorUse::MlpDown},
    {PartRole::AudioTower, "output_proj", TensorUse::AudioOutput},
}};

constexpr std::array<std::string_view, 7> kProjections = {
    "q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"};

bool isAtOrBelowPart(std::string_view name, std::string_view part) {
    return name.starts_with(part) && (name.size() == part.size() || name[part.size()] == '.');
}

struct Found {
    Part part;
    size_t length = 0; ///< Length of the part's own path at the beginning of the name.
};

Found layerOfName(std::string_view name) {
    const std::string_view rest = name.substr(kLayers.size() + 1);
    int layer = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), layer);
    const auto digits = static_cast<size_t>(end - rest.data());
    if (error != std::errc{} || layer < 0 || (digits < rest.size() && rest[digits] != '.')) {
        return {};
    }
    return {layerPart(layer), kLayers.size() + 1 + digits};
}

Found find(std::string_view name) {
    if (isAtOrBelowPart(name, kLayers)) {
        return name.size() == kLayers.size() ? Found() : layerOfName(name);
    }
    for (const NamedPart& known : kParts) {
        if (isAtOrBelowPart(name, known.name)) {
            return {{known.role, -1}, known.name.size()};
        }
    }
    return {};
}

} // namespace

std::string partName(Part part) {
    if (part.role == PartRole::Layer) {
        return layerRangeName(part.layer, part.layer);
    }
    if (part.role == PartRole::Experts) {
        return expertsRangeName(part.layer, part.layer);
    }
    for (const NamedPart& known : kParts) {
        if (known.role == part.role) {
            return std::string(known.name);
        }
    }
    return {};
}

std::string shortPartName(Part part) {
    const std::string name = partName(part);
    return name.substr(name.rfind('.') + 1); // npos + 1 is 0: all of it
}

std::string partTensorName(Part part) {
    return partName(part) + ".weight";
}

std::string layerRangeName(int first, int last) {
    std::string range = std::to_string(first);
    if (first != last) {
        range = "[" + range + "-" + std::to_string(last) + "]";
    }
    return std::string(kLayers) + "." + range;
}

std::string expertsRangeName(int first, int last) {
    return layerRangeName(first, last) + "." + std::string(kExperts);
}

bool isExpertsName(std::string_view name) {
    return partOfName(name).role == PartRole::Layer &&
           isAtOrBelowPart(nameWithinPart(name), kExperts);
}

Part partOfName(std::string_view name) {
    return find(name).part;
}

bool isDecoderName(std::string_view name) {
    return isAtOrBelowPart(name, kDecoder) || partOfName(name).role == PartRole::Head;
}

TensorUse tensorUseOfName(std::string_view name) {
    const Part part = partOfName(name);
    std::string_view module = nameWithinPart(name);
    for (const std::string_view parameter : {".weight", ".bias"}) {
        if (module.ends_with(parameter)) {
            module.remove_suffix(parameter.size());
            break;
        }
    }
    for (const NamedUse& known : kUses) {
        if (known.role == part.role && known.module == module) {
            return known.use;
        }
    }
    return TensorUse::Other;
}

std::string_view defaultAdapterTargets() {
    return R"(.*language_model\..*\.(q_proj|v_proj))";
}

bool isProjectionName(std::string_view module) {
    constexpr std::string_view kInner = ".linear";
    if (module.ends_with(kInner)) {
        module.remove_suffix(kInner.size());
    }
    const std::string_view name = module.substr(module.rfind('.') + 1);
    return std::find(kProjections.begin(), kProjections.end(), name) != kProjections.end();
}

std::string projectionTargets() {
    std::string names;
    for (const std::string_view name : kProjections) {
        names.append(names.empty() ? "" : "|").append(name);
    }
    // Not bare names: PEFT cannot wrap the towers' modules, only the linears within.
    return ".*language_model\\..*\\.(" + names + ")|.*_tower\\..*\\.(" + names + ")\\.linear";
}

const std::array<std::string_view, 2>& expertParameters() {
    static constexpr std::array<std::string_view, 2> kNames = {"gate_up_proj", "down_proj"};
    return kNames;
}

std::string shortUseName(TensorUse use) {
    for (const NamedUse& known : kUses) {
        if (known.use == use) {
            return std::string(known.module.substr(known.module.rfind('.') + 1));
        }
    }
    return {};
}

std::string_view nameWithinPart(std::string_view name) {
    const size_t length = find(name).length;
    return length == 0 || length == name.size() ? std::string_view() : name.substr(length + 1);
}

} // namespace engine
