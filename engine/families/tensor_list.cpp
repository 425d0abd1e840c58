// SPDX-License-Identifier: Apache-2.0
#include "engine/families/tensor_list.h"

#include "engine/families/gemma4/names.h"
#include "engine/families/gemma4/wrapped_names.h"

#include <initializer_list>

namespace engine {

ExpectedTensor headTensor(const ModelConfig& config) {
    ExpectedTensor head;
    head.name = kHeadName;
    head.part = {PartRole::Head};
    head.module = partName(head.part);
    head.shape = {config.text.vocab_size, config.text.hidden_size};
    head.slot = TensorSlot::Weight;
    head.kind = TensorKind::Embedding; // --quant leaves it alone, as it does a tied one
    return head;
}

std::string canonicalTensorName(std::string_view stored_name, bool is_text_only) {
    std::string name = withoutWrappers(stored_name);
    // The codes of a W4A16 weight stand for it.
    constexpr std::string_view kWeightEnd = ".weight";
    constexpr std::string_view kCodesEnd = "_packed";
    if (const std::string_view whole = name;
        whole.ends_with(kCodesEnd) &&
        whole.substr(0, whole.size() - kCodesEnd.size()).ends_with(kWeightEnd)) {
        name.resize(name.size() - kCodesEnd.size());
    }
    const auto starts_with_any = [](std::string_view text,
                                    std::initializer_list<std::string_view> heads) {
        for (const std::string_view head : heads) {
            if (text.starts_with(head)) {
                return true;
            }
        }
        return false;
    };
    constexpr std::string_view kModel = "model.";
    constexpr std::string_view kLanguage = "language_model.";
    constexpr std::string_view kHead = "lm_head.";
    // What follows the language model's own prefix, in every spelling.
    const auto is_language_part = [&](std::string_view text) {
        return starts_with_any(text, {"layers.", "embed_tokens.", "embed_tokens_per_layer.",
                                      "per_layer_model_projection.", "per_layer_projection_norm.",
                                      "norm."});
    };
    const auto is_other_part = [&](std::string_view text) {
        return starts_with_any(text, {"vision_tower.", "audio_tower.", "embed_vision.",
                                      "embed_audio.", "vision_embedder."});
    };

    std::string_view rest = name;
    if (rest.starts_with(kModel)) {
        rest.remove_prefix(kModel.size());
    }
    if (rest.starts_with(kHead) || is_other_part(rest)) {
        return rest.starts_with(kHead) ? std::string(rest) : "model." + std::string(rest);
    }
    if (rest.starts_with(kLanguage)) {
        rest.remove_prefix(kLanguage.size());
        if (rest.starts_with(kModel)) { // layout before transformers 5
            rest.remove_prefix(kModel.size());
        }
        if (rest.starts_with(kHead)) {
            return std::string(rest);
        }
        return is_language_part(rest) ? "model.language_model." + std::string(rest)
                                      : std::string(stored_name);
    }
    if (is_language_part(rest) && (is_text_only || name.starts_with(kModel))) {
        return "model.language_model." + std::string(rest);
    }
    return std::string(stored_name);
}

std::map<std::string_view, const ExpectedTensor*>
tensorsByName(const std::vector<ExpectedTensor>& tensors) {
    std::map<std::string_view, const ExpectedTensor*> map;
    for (const ExpectedTensor& tensor : tensors) {
        map.emplace(tensor.name, &tensor);
    }
    return map;
}

} // namespace engine
