// SPDX-License-Identifier: Apache-2.0
#include "engine/families/gemma4/stored_names.h"

#include "engine/families/gemma4/names.h"
#include "engine/families/gemma4/stored_head.h"
#include "engine/families/gemma4/wrapped_names.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace engine {

namespace {

bool isLowRankFactor(std::string_view name) {
    return name.find(".lora_A.") != std::string_view::npos ||
           name.find(".lora_B.") != std::string_view::npos ||
           name.find(".lora_embedding_") != std::string_view::npos;
}

/// "model.vision_tower" of "model.vision_tower.encoder...": the part of the model.
std::string partOf(std::string_view tensor) {
    const size_t first = tensor.find('.');
    const size_t second = first == std::string_view::npos ? first : tensor.find('.', first + 1);
    return std::string(tensor.substr(0, second));
}

/// A canonical name as the files would spell it behind any prefix: without "model." and
/// "language_model.".
std::string_view tailOf(std::string_view tensor) {
    for (const std::string_view head : {"model.", "language_model."}) {
        if (tensor.starts_with(head)) {
            tensor.remove_prefix(head.size());
        }
    }
    return tensor;
}

bool endsWithPath(std::string_view name, std::string_view tail) {
    return name.ends_with(tail) &&
           (name.size() == tail.size() || name[name.size() - tail.size() - 1] == '.');
}

class NameJudge {
public:
    NameJudge(const ModelConfig& config,
              const std::vector<ExpectedTensor>& expected,
              const TensorSource& source)
        : config_(config), source_(source) {
        for (const ExpectedTensor& tensor : expected) {
            if (!tensor.is_unused) {
                expected_.emplace(tensor.name, tensor.is_required);
            }
        }
        for (const TensorInfo& info : source.tensors()) {
            const std::string canonical = storedTensorName(config, info.name);
            if (expected_.contains(canonical)) {
                found_.insert(canonical);
                parts_.insert(partOf(canonical));
            } else {
                surplus_.push_back(info.name);
            }
        }
    }

    [[nodiscard]] Sentence reason(const std::string& tensor) const {
        for (const auto& look : {&NameJudge::asQuantized, &NameJudge::asAbsentTower,
                                 &NameJudge::asOtherName, &NameJudge::asNeighbour}) {
            if (Sentence text = (this->*look)(tensor); !text.isEmpty()) {
                return text;
            }
        }
        const bool is_assistant = isOfAssistant(tensor);
        const auto [found, needed] = countRequired(is_assistant);
        if (is_assistant) {
            return said("the assistant's files do not hold this tensor (they hold %1 of the %2 "
                        "that its config.json implies); download the assistant again",
                        found, needed);
        }
        if (found_.empty() && !surplus_.empty()) {
            return said("the model files do not hold this tensor (they hold %1 of the %2 that "
                        "config.json implies, and others such as %3); they belong to another model "
                        "or to another program's format",
                        found, needed, surplus_.front());
        }
        return said("the model files do not hold this tensor (they hold %1 of the %2 that "
                    "config.json implies); download the model again",
                    found, needed);
    }

private:
    [[nodiscard]] static bool isOfAssistant(const std::string& tensor) {
        return partOfName(tensor).role == PartRole::Assistant;
    }
    /// Found and needed tensors of the assistant, or of the model without it: they come from
    /// different downloads. What may be missing counts in neither.
    [[nodiscard]] std::pair<size_t, size_t> countRequired(bool is_assistant) const {
        std::pair<size_t, size_t> counts;
        for (const auto& [name, is_required] : expected_) {
            if (is_required && isOfAssistant(name) == is_assistant) {
                counts.first += found_.contains(name) ? 1U : 0U;
                ++counts.second;
            }
        }
        return counts;
    }

    [[nodiscard]] Sentence asQuantized(const std::string& tensor) const {
        const std::string_view tail = tailOf(tensor);
        const std::string module(tail.substr(0, tail.rfind('.') + 1));
        for (const std::string& name : surplus_) {
            const size_t dot = name.rfind('.');
            if (dot == std::string::npos || !endsWithPath(name.substr(0, dot + 1), module)) {
                continue;
            }
            std::string weight = name.substr(0, dot);
            weight += ".weight";
            if (const auto by = foreignQuantization(source_, weight)) {
                return said("the files hold %1 in its place: %2, which cannot be read; use the "
                            "16-bit model or a bitsandbytes 4-bit one",
                            name, *by);
            }
        }
        return {};
    }

    [[nodiscard]] Sentence asAbsentTower(const std::string& tensor) const {
        struct Tower {
            const char *part = "", *projector = "";
            Phrase name;
            const char* member = "";
        };
        constexpr std::array<Tower, 2> kTowers = {{
            {"model.vision_tower", "model.embed_vision", phrase("vision tower"), "vision_config"},
            {"model.audio_tower", "model.embed_audio", phrase("audio tower"), "audio_config"},
        }};
        Sentence names;
        Sentence members;
        bool is_asked = false;
        for (const Tower& tower : kTowers) {
            const bool is_vision = &tower == kTowers.data();
            const bool is_configured =
                is_vision ? config_.vision.has_value() : config_.audio.has_value();
            const bool has_tower =
                is_configured && (is_vision ? config_.vision->has_tower : config_.audio->has_tower);
            const char* const own = has_tower ? tower.part : tower.projector;
            if (!is_configured || parts_.contains(own) || holdsInSurplus(own + 6)) {
                continue;
            }
            const std::string part = partOf(tensor);
            is_asked = is_asked || part == tower.part || part == tower.projector;
            names = names.isEmpty() ? tower.name : said("%1 and %2", names, tower.name);
            members =
                members.isEmpty() ? asItIs(tower.member) : said("%1 and %2", members, tower.member);
        }
        if (!is_asked || found_.empty()) {
            return {};
        }
        return said("the files hold nothing of the %1: they were saved without, but config.json "
                    "still describes it. Set %2 to null in config.json to run the model without, "
                    "or download the whole model",
                    names, members);
    }
    /// Whether unknown names hold this component: then it is there, under another name.
    [[nodiscard]] bool holdsInSurplus(const std::string& component) const {
        return std::any_of(surplus_.begin(), surplus_.end(), [&](const std::string& name) {
            return name.find(component + ".") != std::string::npos;
        });
    }

    /// The same tail behind another prefix.
    [[nodiscard]] Sentence asOtherName(const std::string& tensor) const {
        const std::string_view tail = tailOf(tensor);
        for (const std::string& name : surplus_) {
            if (!endsWithPath(name, tail) || isLowRankFactor(name)) {
                continue;
            }
            const std::string prefix = name.substr(0, name.size() - tail.size());
            const std::string wanted = tensor.substr(0, tensor.size() - tail.size());
            const auto same =
                std::count_if(surplus_.begin(), surplus_.end(),
                              [&](const std::string& other) { return other.starts_with(prefix); });
            return said("the files hold it as %1 (%2 tensors have names that begin with \"%3\"), "
                        "as a program saved it that had put the model into one of its own; save it "
                        "from the model itself, or rename the tensors: \"%3\" to \"%4\"",
                        name, same, prefix, wanted);
        }
        return {};
    }

    /// Something of the same module that no module of the architecture has.
    [[nodiscard]] Sentence asNeighbour(const std::string& tensor) const {
        std::string_view tail = tailOf(tensor);
        for (int level = 0; level < 2; ++level) {
            tail = tail.substr(0, tail.rfind('.'));
            const std::string inside = std::string(tail) + ".";
            if (std::count(tail.begin(), tail.end(), '.') < 2) {
                return {};
            }
            for (const std::string& name : surplus_) {
                const size_t at = name.find(inside);
                const bool is_path = at == 0 || (at != std::string::npos && name[at - 1] == '.');
                if (is_path && !isLowRankFactor(name)) {
                    return said(
                        "the files do not hold this tensor; in its place they have %1, which the "
                        "architecture does not: they come from another program or from another "
                        "version of the model. Use the model's original files",
                        name);
                }
            }
        }
        return {};
    }

    const ModelConfig& config_;
    const TensorSource& source_;
    std::unordered_map<std::string, bool> expected_; ///< Canonical name, whether it is required.
    std::unordered_set<std::string> found_, parts_;
    std::vector<std::string> surplus_;
};

} // namespace

Error missingTensor(const std::string& tensor,
                    const ModelConfig& config,
                    const std::vector<ExpectedTensor>& expected,
                    const TensorSource& source) {
    return Error{ErrorCode::InvalidFile,
                 said("%1: %2", tensor, NameJudge(config, expected, source).reason(tensor)),
                 {{"tensor", tensor}, {"rule", "missing"}}};
}

Result<void> checkStoredNames(const ModelConfig& config,
                              const std::vector<ExpectedTensor>& expected,
                              const TensorSource& source) {
    std::unordered_map<std::string, const TensorInfo*> seen;
    for (const ExpectedTensor& tensor : expected) {
        if (!tensor.is_unused) {
            seen.emplace(tensor.name, nullptr);
        }
    }
    const TensorInfo* base_layer = nullptr;
    const TensorInfo* factor = nullptr;
    for (const TensorInfo& info : source.tensors()) {
        if (info.name.find(".base_layer.") != std::string::npos) {
            base_layer = base_layer == nullptr ? &info : base_layer;
        }
        if (isLowRankFactor(info.name)) {
            factor = factor == nullptr ? &info : factor;
        }
        const auto it = seen.find(storedTensorName(config, info.name));
        if (it == seen.end()) {
            continue;
        }
        if (it->second != nullptr) {
            return Error{ErrorCode::InvalidFile,
                         said("%1: the files hold it twice, as %2 and as %3; which one is meant "
                              "cannot be told. Leave one of them out",
                              it->first, it->second->name, info.name),
                         {{"tensor", it->first}, {"rule", "twice"}}};
        }
        it->second = &info;
    }
    if (base_layer != nullptr && factor != nullptr) {
        return Error{
            ErrorCode::Unsupported,
            said("the files hold a PEFT model with its adapter beside the base (%1, %2): running "
                 "the base alone would leave the adapter out. Merge it (merge_and_unload) and save "
                 "the model, or save the adapter by itself and add it to the base model",
                 base_layer->name, factor->name),
            {{"tensor", factor->name}, {"rule", "adapter"}}};
    }
    return {};
}

std::optional<Phrase> foreignQuantization(const TensorSource& source, std::string_view weight) {
    const std::string module(weight.substr(0, weight.rfind('.') + 1));
    const auto has = [&](const char* parameter) {
        return source.find(module + parameter) != nullptr;
    };
    if (has("scales") && has("biases")) {
        return phrase("weights quantized by MLX");
    }
    if (has("qweight")) {
        return phrase("weights quantized by GPTQ or AWQ");
    }
    if (has("weight_scale") || has("weight_scale_inv")) {
        return phrase("weights with scales beside them (FP8 or NVFP4)");
    }
    if (has("weight_blocks") || has("weight_scales")) {
        return phrase("weights in blocks with scales (MXFP4)");
    }
    if (has("scales")) {
        return phrase("weights quantized by another program (MLX, GPTQ, ...)");
    }
    return {};
}

} // namespace engine
