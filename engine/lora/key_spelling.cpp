// SPDX-License-Identifier: Apache-2.0
// Takes keys apart component by component; no patterns, so that hostile keys cost nothing.
#include "engine/lora/key_spelling.h"

#include "engine/families/gemma4/wrapped_names.h"

#include <algorithm>
#include <array>

namespace engine {

namespace {

using Parts = std::vector<std::string_view>;

constexpr std::string_view kModel = "model";
constexpr std::string_view kLanguageModel = "language_model";
constexpr std::string_view kHead = "lm_head";
constexpr std::array<std::string_view, 6> kLanguageParts = {"layers",
                                                            "embed_tokens",
                                                            "embed_tokens_per_layer",
                                                            "per_layer_model_projection",
                                                            "per_layer_projection_norm",
                                                            "norm"};
constexpr std::array<std::string_view, 5> kTowerParts = {
    "vision_tower", "audio_tower", "embed_vision", "embed_audio", "vision_embedder"};

template <size_t N>
bool contains(const std::array<std::string_view, N>& list, std::string_view text) {
    return std::find(list.begin(), list.end(), text) != list.end();
}

/// Components between dots; empty when one of them is empty.
Parts split(std::string_view text) {
    Parts parts;
    while (true) {
        const size_t dot = text.find('.');
        const std::string_view part = text.substr(0, dot);
        if (part.empty()) {
            return {};
        }
        parts.push_back(part);
        if (dot == std::string_view::npos) {
            return parts;
        }
        text.remove_prefix(dot + 1);
    }
}

std::string join(const Parts& parts, size_t begin, size_t end) {
    std::string text;
    for (size_t i = begin; i < end; ++i) {
        if (!text.empty()) {
            text += '.';
        }
        text += parts[i];
    }
    return text;
}

/// Wrappers of compilers and parallel training, then PEFT's own prefix.
void stripPrefixes(Parts& parts) {
    std::erase_if(parts, isWrapperComponent);
    size_t first = 0;
    for (;;) {
        const size_t left = parts.size() - first;
        if (left > 1 && parts[first] == "module") {
            ++first;
        } else if (left > 2 && parts[first] == "base_model" && parts[first + 1] == kModel) {
            first += 2;
        } else {
            break;
        }
    }
    parts.erase(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(first));
}

struct LeafMarker {
    std::string_view name;
    AdapterLeaf leaf;
    bool needs_weight; ///< "weight" or "bias" must follow; else the component may be the last.
};

constexpr std::array<LeafMarker, 6> kMarkers = {{
    {"lora_A", AdapterLeaf::LoraA, true},
    {"lora_B", AdapterLeaf::LoraB, true},
    {"lora_embedding_A", AdapterLeaf::EmbeddingA, false},
    {"lora_embedding_B", AdapterLeaf::EmbeddingB, false},
    {"lora_magnitude_vector", AdapterLeaf::Magnitude, false},
    {"trainable_tokens_delta", AdapterLeaf::TrainableTokens, false},
}};

/// Finds lora_A.weight, lora_A.<name>.weight, lora_embedding_A.<name>, ... at the end of the key.
/// Returns the index of the marker, or nullopt.
std::optional<size_t> findMarker(const Parts& parts, AdapterKey& key) {
    for (size_t i = parts.size(); i-- > 0;) { // an adapter's name may have dots itself
        for (const LeafMarker& marker : kMarkers) {
            if (parts[i] != marker.name) {
                continue;
            }
            const size_t after = parts.size() - 1 - i;
            const std::string_view last = parts.back();
            const bool is_weight = after > 0 && last == "weight";
            const bool is_bias = after > 0 && last == "bias" && marker.leaf == AdapterLeaf::LoraB;
            if (marker.needs_weight && !is_weight && !is_bias) {
                return std::nullopt;
            }
            if (!marker.needs_weight && after >= 2 && !is_weight) {
                return std::nullopt;
            }
            key.leaf = is_bias ? AdapterLeaf::LoraBBias : marker.leaf;
            return i;
        }
    }
    return std::nullopt;
}

} // namespace

std::optional<AdapterKey> parseAdapterKey(std::string_view text) {
    Parts parts = split(text);
    if (parts.empty()) {
        return std::nullopt;
    }
    stripPrefixes(parts);
    AdapterKey key;
    size_t end = 0; // of the module's components
    if (const std::optional<size_t> marker = findMarker(parts, key)) {
        end = *marker;
    } else {
        key.leaf = AdapterLeaf::Parameter;
        key.parameter = parts.back();
        end = parts.size() - 1;
        // modules_to_save.<adapter> inside the path, as in a raw state dict.
        for (size_t i = 0; i + 2 < parts.size(); ++i) {
            if (parts[i] == "modules_to_save") {
                parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(i),
                            parts.begin() + static_cast<std::ptrdiff_t>(i) + 2);
                end -= 2;
                break;
            }
        }
        if (end > 0 && parts[end - 1] == "base_layer") {
            key.leaf = AdapterLeaf::BaseLayerParameter;
        }
    }
    while (end > 0 && (parts[end - 1] == "base_layer" || parts[end - 1] == "token_adapter")) {
        key.base_layer_depth += parts[end - 1] == "base_layer" ? 1 : 0;
        --end;
    }
    if (end == 0) {
        return std::nullopt;
    }
    key.spelled_module = join(parts, 0, end);
    key.canonical_module = canonicalModulePath(key.spelled_module, &key.layout);
    return key;
}

std::string canonicalModulePath(std::string_view spelled, KeyLayout* layout) {
    KeyLayout found = KeyLayout::Unknown;
    const Parts parts = split(spelled);
    std::string canonical(spelled);
    const auto at = [&](size_t i) { return i < parts.size() ? parts[i] : std::string_view{}; };
    const auto rest = [&](size_t begin) { return join(parts, begin, parts.size()); };
    if (at(0) == kHead) {
        found = KeyLayout::Shared;
    } else if (at(0) == kModel && (at(1) == kLanguageModel || contains(kTowerParts, at(1)))) {
        found = KeyLayout::Conditional;
    } else if (at(0) == kModel && contains(kLanguageParts, at(1))) {
        found = KeyLayout::TextOnly;
        canonical = "model.language_model." + rest(1);
    } else if (at(0) == kLanguageModel && at(1) == kModel && contains(kLanguageParts, at(2))) {
        found = KeyLayout::OldWrapper;
        canonical = "model.language_model." + rest(2);
    } else if (at(0) == kLanguageModel && at(1) == kHead) {
        found = KeyLayout::OldWrapper;
        canonical = rest(1);
    } else if (at(0) == kLanguageModel && contains(kLanguageParts, at(1))) {
        found = KeyLayout::InnerModel;
        canonical = "model." + rest(0);
    } else if (contains(kTowerParts, at(0))) {
        found = KeyLayout::BareTower;
        canonical = "model." + rest(0);
    } else if (contains(kLanguageParts, at(0))) {
        found = KeyLayout::BareText;
        canonical = "model.language_model." + rest(0);
    }
    if (layout != nullptr) {
        *layout = found;
    }
    return canonical;
}

std::optional<std::string> spellModulePath(std::string_view canonical, KeyLayout layout) {
    constexpr std::string_view kLanguagePrefix = "model.language_model.";
    const bool is_head = canonical == kHead;
    const bool is_language = canonical.starts_with(kLanguagePrefix);
    const std::string inner(is_language ? canonical.substr(kLanguagePrefix.size())
                                        : std::string_view{});
    const std::string without_model(canonical.starts_with("model.") ? canonical.substr(6)
                                                                    : canonical);
    switch (layout) {
    case KeyLayout::Shared:
    case KeyLayout::Conditional:
    case KeyLayout::Unknown:
        return std::string(canonical);
    case KeyLayout::TextOnly:
        if (is_head) {
            return std::string(canonical);
        }
        return is_language ? std::optional("model." + inner) : std::nullopt;
    case KeyLayout::OldWrapper:
    case KeyLayout::BareTower:
        if (is_head) {
            return "language_model.lm_head";
        }
        return is_language ? "language_model.model." + inner : without_model;
    case KeyLayout::InnerModel:
        return is_head ? std::nullopt : std::optional(without_model);
    case KeyLayout::BareText:
        return is_language ? std::optional(inner) : std::nullopt;
    }
    return std::nullopt;
}

std::string_view keyLayoutName(KeyLayout layout) {
    switch (layout) {
    case KeyLayout::Shared:
        return "lm_head";
    case KeyLayout::Conditional:
        return "model.language_model.*";
    case KeyLayout::TextOnly:
        return "model.layers.*";
    case KeyLayout::OldWrapper:
        return "language_model.model.*";
    case KeyLayout::InnerModel:
        return "language_model.layers.*";
    case KeyLayout::BareTower:
        return "vision_tower.*";
    case KeyLayout::BareText:
        return "layers.*";
    case KeyLayout::Unknown:
        break;
    }
    return "unknown";
}

} // namespace engine
