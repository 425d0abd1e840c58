// SPDX-License-Identifier: Apache-2.0
// config.json and generation_config.json from metadata. What a GGUF file does not say is what the
// published models have.
#include "engine/families/gguf/metadata.h"

#include "engine/base/json/text.h"
#include "engine/base/utf8.h"
#include "engine/families/llama/family.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <optional>
#include <type_traits>
#include <utility>

namespace engine::gguf {

namespace {

constexpr int64_t kMost = int64_t{1} << 30;
constexpr int64_t kMostLayers = 512;

/// A JSON object that is being written.
class Object {
public:
    Object& add(std::string_view key, std::string_view json) {
        text_ += (text_.empty() ? "{" : ",") + jsonString(key) + ":" + std::string(json);
        return *this;
    }
    Object& add(std::string_view key, int64_t value) { return add(key, std::to_string(value)); }
    Object& add(std::string_view key, double value) { return add(key, fractionText(value)); }
    Object& flag(std::string_view key, bool value) { return add(key, value ? "true" : "false"); }
    Object& text(std::string_view key, std::string_view value) {
        return add(key, jsonString(value));
    }
    [[nodiscard]] std::string done() const { return text_.empty() ? "{}" : text_ + "}"; }

private:
    std::string text_;
};

template <typename T>
std::string listText(const std::vector<T>& values) {
    std::string text = "[";
    for (const T& value : values) {
        text += text.size() > 1 ? "," : "";
        if constexpr (std::is_floating_point_v<T>) {
            text += fractionText(value);
        } else {
            text += std::to_string(value);
        }
    }
    return text + "]";
}

/// Ids of tokens by their texts; -1 where there is none.
Result<std::vector<int64_t>> idsOf(const GgufModel& model,
                                   std::initializer_list<std::string_view> tokens) {
    ENGINE_ASSIGN(const auto all, model.header.texts("tokenizer.ggml.tokens"));
    std::vector<int64_t> ids(tokens.size(), -1);
    for (size_t i = 0; all && i < all->size(); ++i) {
        const auto* const at = std::find(tokens.begin(), tokens.end(), (*all)[i]);
        if (at != tokens.end()) {
            ids[static_cast<size_t>(at - tokens.begin())] = static_cast<int64_t>(i);
        }
    }
    return ids;
}

/// Rows of a table.
Result<int64_t> rowsOf(const GgufModel& model, std::string_view tensor) {
    const TensorInfo* info = model.find(tensor);
    if (info == nullptr || info->shape.size() != 2) {
        return Error{ErrorCode::InvalidFile,
                     said("%1: the tensor %2 is missing or is no table; the file is damaged or "
                          "holds another kind of model",
                          model.header.fileName(), tensor),
                     {{"rule", "GgufTensorMissing"}, {"tensor", std::string(tensor)}}};
    }
    return info->shape[0];
}

/// The divisors of a head's frequencies; empty where the file has none, or not its data.
Result<std::vector<float>> rotaryDivisors(const GgufModel& model) {
    constexpr uint64_t kMostBytes = uint64_t{4} * 65'536;
    const TensorInfo* info = model.find("rope_freqs.weight");
    std::vector<float> divisors;
    if (info == nullptr || model.is_data_absent) {
        return divisors;
    }
    if (info->type != TensorType::F32 || info->size_bytes == 0 || info->size_bytes > kMostBytes) {
        return Error{ErrorCode::Unsupported,
                     said("%1: rope_freqs.weight is no list of F32 numbers; the file is damaged or "
                          "was written by a converter that Belfry does not know",
                          model.header.fileName()),
                     {{"rule", "GgufRopeFreqs"}}};
    }
    divisors.resize(static_cast<size_t>(info->size_bytes / 4));
    ENGINE_TRY(model.files[static_cast<size_t>(info->file_index)]->read(
        info->file_offset, std::as_writable_bytes(std::span(divisors))));
    return divisors;
}

/// Which share of a full layer's head rotates: the divisors of its frequencies are 1, then at least
/// 1e29, which is no rotation.
Result<double> rotaryFactor(const GgufModel& model, int64_t head_dim) {
    const TensorInfo* info = model.find("rope_freqs.weight");
    if (info == nullptr) {
        return 1.0;
    }
    ENGINE_ASSIGN(const std::vector<float> divisors, rotaryDivisors(model));
    const bool fits = info->size_bytes == 2 * static_cast<uint64_t>(head_dim);
    if (divisors.empty() && fits) {
        return 0.25; // of all published sizes
    }
    const auto rotating = std::find_if(divisors.begin(), divisors.end(),
                                       [](float divisor) { return divisor != 1.0F; });
    if (!fits ||
        !std::all_of(rotating, divisors.end(), [](float divisor) { return divisor >= 1e29F; })) {
        return Error{ErrorCode::Unsupported,
                     said("%1: rope_freqs.weight is not a list of %2 numbers, ones followed by "
                          "values of at least 1e29; other rotations are not implemented",
                          model.header.fileName(), head_dim / 2),
                     {{"rule", "GgufRopeFreqs"}}};
    }
    return static_cast<double>(rotating - divisors.begin()) / static_cast<double>(divisors.size());
}

/// Whether the values of full layers are their keys, which have no tensor of their own then.
Result<bool>
areValuesKeys(const GgufModel& model, const std::vector<int64_t>& sliding, int64_t first_shared) {
    bool is_k_v = false;
    bool has_values = false;
    for (int64_t i = 0; i < first_shared; ++i) {
        const std::string layer = "blk." + std::to_string(i) + ".attn_";
        if (sliding[static_cast<size_t>(i)] == 0 && model.find(layer + "k.weight") != nullptr) {
            const bool has_v = model.find(layer + "v.weight") != nullptr;
            has_values = has_values || has_v;
            is_k_v = is_k_v || !has_v;
        }
    }
    if (is_k_v && has_values) {
        return Error{ErrorCode::InvalidFile,
                     said("%1: some full layers have a tensor attn_v.weight and others do not; the "
                          "file is damaged",
                          model.header.fileName()),
                     {{"rule", "GgufTensorMissing"}}};
    }
    return is_k_v;
}

/// text_config of Gemma 4 and its assistants.
Result<std::string> gemmaText(const GgufModel& model, Architecture architecture) {
    const Keys keys(model, prefixOf(architecture));
    const bool is_draft = architecture == Architecture::Gemma4Assistant;
    ENGINE_ASSIGN(const auto heads, headsOf(model, architecture));
    const auto layers = static_cast<int64_t>(heads.size());
    ENGINE_ASSIGN(const int64_t shared, keys.count("attention.shared_kv_layers", 0, 0));
    ENGINE_ASSIGN(const auto widths, keys.perLayer("feed_forward_length", layers));
    ENGINE_ASSIGN(const auto sliding, keys.perLayer("attention.sliding_window_pattern", layers));
    ENGINE_ASSIGN(const int64_t hidden, keys.count("embedding_length"));
    ENGINE_ASSIGN(const int64_t ple, keys.count("embedding_length_per_layer_input", 0, 0));
    ENGINE_ASSIGN(const int64_t vocab, rowsOf(model, "token_embd.weight"));
    ENGINE_ASSIGN(const int64_t context, keys.count("context_length"));
    ENGINE_ASSIGN(const int64_t window, keys.count("attention.sliding_window"));
    ENGINE_ASSIGN(const double eps, keys.number("attention.layer_norm_rms_epsilon", 1e-6));
    ENGINE_ASSIGN(const double softcap, keys.number("final_logit_softcapping", 0.0));
    ENGINE_ASSIGN(const double theta, keys.number("rope.freq_base", 1e6));
    ENGINE_ASSIGN(const double local_theta, keys.number("rope.freq_base_swa", 1e4));
    ENGINE_ASSIGN(const int64_t head_dim, keys.count("attention.key_length", 2));
    ENGINE_ASSIGN(const double rotary, rotaryFactor(model, head_dim));
    ENGINE_ASSIGN(const int64_t experts, keys.count("expert_count", 0, 0));

    // The layers that share keys and values may have MLPs of twice the width.
    const int64_t first_shared = is_draft ? layers : layers - shared;
    ENGINE_ASSIGN(const bool is_k_v, areValuesKeys(model, sliding, first_shared));
    const int64_t width = widths.front();
    const bool is_double = widths.back() != width;
    std::string types;
    Object own; // sizes of full layers
    for (int64_t i = 0; i < layers; ++i) {
        const auto at = static_cast<size_t>(i);
        if (widths[at] != (is_double && i >= first_shared ? 2 * width : width)) {
            return keys.wrong("feed_forward_length",
                              said("gives layer %1 a width of %2, expected %3", i, widths[at],
                                   is_double && i >= first_shared ? 2 * width : width));
        }
        const bool is_full = sliding[at] == 0;
        types += (types.empty() ? "[" : ",");
        types += is_full ? "\"full_attention\"" : "\"sliding_attention\"";
        if (is_full) {
            own.add(std::to_string(i), Object()
                                           .add("head_dim", heads[at].head_dim)
                                           .add("num_key_value_heads", heads[at].kv_heads)
                                           .done());
        }
    }
    const auto slides = std::find(sliding.begin(), sliding.end(), 1);
    const LayerHeads& local =
        heads[slides == sliding.end() ? 0 : static_cast<size_t>(slides - sliding.begin())];
    Object text;
    text.text("model_type", "gemma4_text")
        .add("num_hidden_layers", layers)
        .add("hidden_size", hidden)
        .add("vocab_size", vocab)
        .add("num_attention_heads", local.query_heads)
        .add("num_key_value_heads", local.kv_heads)
        .add("head_dim", local.head_dim)
        .add("per_layer_config", own.done())
        .add("layer_types", types + "]")
        .add("intermediate_size", width)
        .flag("use_double_wide_mlp", is_double)
        .flag("attention_k_eq_v", is_k_v)
        .add("num_kv_shared_layers", shared)
        .add("sliding_window", window)
        .add("max_position_embeddings", context)
        .add("rms_norm_eps", eps)
        .add("hidden_size_per_layer_input", ple)
        .add("rope_parameters",
             Object()
                 .add("sliding_attention",
                      Object().text("rope_type", "default").add("rope_theta", local_theta).done())
                 .add("full_attention", Object()
                                            .text("rope_type", "proportional")
                                            .add("rope_theta", theta)
                                            .add("partial_rotary_factor", rotary)
                                            .done())
                 .done());
    if (softcap < 0) {
        return keys.wrong("final_logit_softcapping",
                          said("is %1, expected a positive number", fractionText(softcap)));
    }
    if (softcap > 0) {
        text.add("final_logit_softcapping", softcap);
    }
    if (ple > 0) {
        ENGINE_ASSIGN(const int64_t rows, rowsOf(model, "per_layer_token_embd.weight"));
        text.add("vocab_size_per_layer_input", rows);
    } else if (!is_draft) {
        text.text("use_bidirectional_attention", "vision"); // as of all sizes without such tables
    }
    if (experts > 0) {
        ENGINE_ASSIGN(const int64_t used, keys.count("expert_used_count"));
        ENGINE_ASSIGN(const auto expert_widths,
                      keys.perLayer("expert_feed_forward_length", layers));
        if (std::adjacent_find(expert_widths.begin(), expert_widths.end(), std::not_equal_to<>()) !=
            expert_widths.end()) {
            return keys.wrong("expert_feed_forward_length",
                              said("gives the layers different widths, which is not implemented"));
        }
        text.flag("enable_moe_block", true)
            .add("num_experts", experts)
            .add("top_k_experts", used)
            .add("moe_intermediate_size", expert_widths.front());
    }
    return text.done();
}

/// What the keys of the towers begin with.
std::string towerPrefix(const Files& files) {
    return files.areOne() ? prefixOf(Architecture::Gemma4) : "clip.";
}

/// The width that a tower's features have behind the projector.
Result<std::string> visionText(const Files& files) {
    const GgufModel& towers = *files.towers;
    const Keys keys(towers, towerPrefix(files) + "vision.");
    ENGINE_ASSIGN(const int64_t hidden, keys.count("embedding_length"));
    ENGINE_ASSIGN(const int64_t pooling, keys.count("projector.scale_factor", 1, 3));
    ENGINE_ASSIGN(const int64_t patch, keys.count("patch_size", 1, 16));
    const TensorInfo* table = towers.find("v.position_embd.weight");
    const int64_t positions = table != nullptr && table->shape.size() == 3 ? table->shape[1] : 0;
    if (towers.find("v.patch_norm.1.weight") != nullptr) {
        return Object()
            .text("model_type", "gemma4_unified_vision")
            .add("mm_embed_dim", hidden)
            .add("mm_posemb_size", positions)
            .add("output_proj_dims", hidden)
            .add("patch_size", patch)
            .add("pooling_kernel_size", pooling)
            .done();
    }
    ENGINE_ASSIGN(const int64_t heads, keys.count("attention.head_count"));
    ENGINE_ASSIGN(const int64_t width, keys.count("feed_forward_length"));
    ENGINE_ASSIGN(const int64_t layers, keys.count("block_count"));
    ENGINE_ASSIGN(const double eps, keys.number("attention.layer_norm_epsilon", 1e-6));
    return Object()
        .text("model_type", "gemma4_vision")
        .add("hidden_size", hidden)
        .add("intermediate_size", width)
        .add("num_hidden_layers", layers)
        .add("num_attention_heads", heads)
        .add("head_dim", hidden / heads)
        .add("patch_size", patch)
        .add("pooling_kernel_size", pooling)
        .add("position_embedding_size", positions)
        .add("rms_norm_eps", eps)
        .flag("use_clipped_linears", towers.find("v.blk.0.attn_q.input_min") != nullptr ||
                                         towers.find("v.clamp_data") != nullptr)
        .flag("standardize", towers.find("v.std_bias") != nullptr)
        .done();
}

Result<std::string> audioText(const Files& files) {
    const GgufModel& towers = *files.towers;
    const Keys keys(towers, towerPrefix(files) + "audio.");
    const char* const last = hasOllamasAudio(towers) ? "mm.a.fc.weight" : "a.pre_encode.out.weight";
    ENGINE_ASSIGN(const int64_t hidden, keys.count("embedding_length"));
    if (towers.find(last) == nullptr) {
        return Object()
            .text("model_type", "gemma4_unified_audio")
            .add("audio_embed_dim", hidden)
            .done();
    }
    ENGINE_ASSIGN(const int64_t heads, keys.count("attention.head_count"));
    ENGINE_ASSIGN(const int64_t layers, keys.count("block_count"));
    const auto side = [&](std::string_view name, size_t index) -> int64_t {
        const TensorInfo* info = towers.find(name);
        return info != nullptr && index < info->shape.size() ? info->shape[index] : 0;
    };
    // The epsilon of early files is wrong; all published towers have this one.
    return Object()
        .text("model_type", "gemma4_audio")
        .add("hidden_size", hidden)
        .add("num_hidden_layers", layers)
        .add("num_attention_heads", heads)
        .add("output_proj_dims", side(last, 0))
        .add("conv_kernel_size", side("a.blk.0.conv_dw.weight", 1))
        .add("subsampling_conv_channels",
             listText(
                 std::vector<int64_t>{side("a.conv1d.0.weight", 0), side("a.conv1d.1.weight", 0)}))
        .add("rms_norm_eps", 1e-6)
        .flag("use_clipped_linears", towers.find("a.blk.0.attn_q.input_min") != nullptr)
        .flag("has_softplus_scale", true)
        .done();
}

Result<std::string> gemmaConfig(const Files& files) {
    const GgufModel& model = *files.text;
    ENGINE_ASSIGN(std::string text, gemmaText(model, Architecture::Gemma4));
    const bool has_vision =
        files.towers != nullptr && files.towers->find("mm.input_projection.weight") != nullptr;
    const bool has_audio =
        files.towers != nullptr && files.towers->find("mm.a.input_projection.weight") != nullptr;
    if (files.towers != nullptr && !has_vision &&
        (!has_audio || files.towers->find("v.patch_embd.weight") != nullptr)) {
        ENGINE_TRY(rowsOf(*files.towers, "mm.input_projection.weight"));
    }
    if (files.towers != nullptr && !has_audio &&
        files.towers->find("a.pre_encode.out.weight") != nullptr) {
        ENGINE_TRY(rowsOf(*files.towers, "mm.a.input_projection.weight"));
    }
    const bool is_unified = has_vision && files.towers->find("v.patch_norm.1.weight") != nullptr;
    const std::string kind = is_unified ? "gemma4_unified" : "gemma4";
    Object root;
    root.text("model_type", has_vision || has_audio ? kind : "gemma4_text")
        .add("architectures", is_unified ? R"(["Gemma4UnifiedForConditionalGeneration"])"
                              : has_vision || has_audio ? R"(["Gemma4ForConditionalGeneration"])"
                                                        : R"(["Gemma4ForCausalLM"])")
        .flag("tie_word_embeddings", model.find("output.weight") == nullptr);
    if (is_unified) {
        text.replace(text.find("gemma4_text"), std::strlen("gemma4_text"), "gemma4_unified_text");
    }
    root.add("text_config", text);
    if (has_vision) {
        ENGINE_ASSIGN(const std::string vision, visionText(files));
        root.add("vision_config", vision);
    }
    if (has_audio) {
        ENGINE_ASSIGN(const std::string audio, audioText(files));
        root.add("audio_config", audio);
    }
    constexpr std::array kKeys = {"image_token_id", "audio_token_id", "video_token_id",
                                  "boi_token_id",   "eoi_token_id",   "boa_token_id",
                                  "eoa_token_index"};
    ENGINE_ASSIGN(const auto ids, idsOf(model, {"<|image|>", "<|audio|>", "<|video|>", "<|image>",
                                                "<image|>", "<|audio>", "<audio|>"}));
    for (size_t i = 0; i < kKeys.size(); ++i) {
        if (ids[i] >= 0) {
            root.add(kKeys[i], ids[i]);
        }
    }
    return root.done();
}

Result<std::string> assistantConfig(const GgufModel& model) {
    const Keys keys(model, prefixOf(Architecture::Gemma4Assistant));
    ENGINE_ASSIGN(const std::string text, gemmaText(model, Architecture::Gemma4Assistant));
    ENGINE_ASSIGN(const int64_t backbone, keys.count("embedding_length_out"));
    Object root;
    root.text("model_type", "gemma4_assistant")
        .add("backbone_hidden_size", backbone)
        .add("text_config", text);
    if (model.find("masked_embd_centroids.weight") != nullptr &&
        model.find("masked_embd_ordering") != nullptr) {
        ENGINE_ASSIGN(const int64_t centroids, rowsOf(model, "masked_embd_centroids.weight"));
        root.flag("use_ordered_embeddings", true).add("num_centroids", centroids);
    }
    return root.done();
}

Result<std::string> llamaConfig(const GgufModel& model) {
    const Keys keys(model, prefixOf(Architecture::Llama));
    ENGINE_ASSIGN(const int64_t experts, keys.count("expert_count", 0, 0));
    if (experts > 0) {
        return keys.wrong("expert_count", said("is %1; models with experts of this architecture "
                                               "(Mixtral) are not implemented",
                                               experts));
    }
    ENGINE_ASSIGN(const auto scaling, model.header.text(keys.name("rope.scaling.type")));
    if (scaling && *scaling != "none") {
        return keys.wrong("rope.scaling.type",
                          said("is %1; only none and the tensor rope_freqs.weight (Llama 3.1 and "
                               "later) are implemented",
                               inQuotes(scaling->substr(0, 60))));
    }
    ENGINE_ASSIGN(const std::vector<float> divisors, rotaryDivisors(model));
    ENGINE_ASSIGN(const auto heads, headsOf(model, Architecture::Llama));
    ENGINE_ASSIGN(const int64_t hidden, keys.count("embedding_length"));
    ENGINE_ASSIGN(const int64_t width, keys.count("feed_forward_length"));
    ENGINE_ASSIGN(const int64_t context, keys.count("context_length"));
    ENGINE_ASSIGN(const int64_t window, keys.count("attention.sliding_window", 0, 0));
    if (window > 0 && window < context) {
        return keys.wrong("attention.sliding_window",
                          said("is %1; windows are not implemented for this architecture", window));
    }
    ENGINE_ASSIGN(const int64_t vocab, rowsOf(model, "token_embd.weight"));
    ENGINE_ASSIGN(const double eps, keys.number("attention.layer_norm_rms_epsilon", 1e-6));
    ENGINE_ASSIGN(const double theta, keys.number("rope.freq_base", 1e4));
    Object rope;
    if (!divisors.empty()) {
        rope.text("rope_type", kDividedRope).add("divisors", listText(divisors));
    }
    return Object()
        .text("model_type", "llama")
        .add("architectures", R"(["LlamaForCausalLM"])")
        .add("num_hidden_layers", static_cast<int64_t>(heads.size()))
        .add("hidden_size", hidden)
        .add("vocab_size", vocab)
        .add("num_attention_heads", heads.front().query_heads)
        .add("num_key_value_heads", heads.front().kv_heads)
        .add("head_dim", heads.front().head_dim)
        .add("intermediate_size", width)
        .add("max_position_embeddings", context)
        .add("rms_norm_eps", eps)
        .add("rope_parameters", rope.add("rope_theta", theta).done())
        .flag("tie_word_embeddings", model.find("output.weight") == nullptr)
        .done();
}

} // namespace

bool isTowers(std::string_view tensor) {
    return tensor.starts_with("v.") || tensor.starts_with("a.") || tensor.starts_with("mm.");
}

bool hasOllamasAudio(const GgufModel& model) {
    return model.find("mm.a.fc.weight") != nullptr;
}

std::string prefixOf(Architecture architecture) {
    return architecture == Architecture::Gemma4  ? "gemma4."
           : architecture == Architecture::Llama ? "llama."
                                                 : "gemma4-assistant.";
}

Error Keys::wrong(std::string_view key, const Sentence& what) const {
    return Error{ErrorCode::Unsupported,
                 said("%1: the key %2 %3", model_->header.fileName(), inQuotes(name(key)), what),
                 {{"rule", "GgufKey"}, {"key", name(key)}}};
}

Result<int64_t> Keys::count(std::string_view key, int64_t least) const {
    ENGINE_ASSIGN(const auto value, model_->header.integer(name(key)));
    if (!value) {
        return wrong(key, said("is missing; the file is damaged or was written by a converter that "
                               "Belfry does not know"));
    }
    if (*value < least || *value > kMost) {
        return wrong(key, said("is %1, expected a number from %2 to %3", *value, least, kMost));
    }
    return *value;
}

Result<int64_t> Keys::count(std::string_view key, int64_t least, int64_t otherwise) const {
    return model_->header.has(name(key)) ? count(key, least) : Result<int64_t>(otherwise);
}

Result<double> Keys::number(std::string_view key, double otherwise) const {
    ENGINE_ASSIGN(const auto value, model_->header.number(name(key)));
    return value.value_or(otherwise);
}

Result<std::vector<int64_t>> Keys::perLayer(std::string_view key, int64_t layers) const {
    if (!model_->header.isList(name(key))) {
        ENGINE_ASSIGN(const int64_t value, count(key));
        return std::vector<int64_t>(static_cast<size_t>(layers), value);
    }
    ENGINE_ASSIGN(auto values, model_->header.integers(name(key)));
    if (static_cast<int64_t>(values->size()) != layers ||
        std::any_of(values->begin(), values->end(),
                    [](int64_t value) { return value < 0 || value > kMost; })) {
        return wrong(key, said("has %1 values for %2 layers, or one that is out of range",
                               values->size(), layers));
    }
    return *std::move(values);
}

Result<Architecture> architectureOf(const GgufModel& model) {
    ENGINE_ASSIGN(const auto name, model.header.text("general.architecture"));
    ENGINE_ASSIGN(const auto type, model.header.text("general.type"));
    const std::string& file = model.header.fileName();
    if (type && *type == "adapter") {
        return Error{ErrorCode::InvalidFile,
                     said("%1: is a LoRA adapter; open the model that it was made for and add it "
                          "there",
                          file),
                     {{"rule", "GgufAdapter"}}};
    }
    if (name && *name == "clip") {
        return Error{ErrorCode::InvalidFile,
                     said("%1: is a projector, which holds the towers for pictures and sound; open "
                          "the model beside it",
                          file),
                     {{"rule", "GgufProjector"}}};
    }
    if (name && *name == "gemma4") {
        return Architecture::Gemma4;
    }
    if (name && *name == "gemma4-assistant") {
        return Architecture::Gemma4Assistant;
    }
    if (name && *name == "llama") {
        return Architecture::Llama;
    }
    return Error{ErrorCode::Unsupported,
                 said("%1: its architecture is %2; Belfry runs gemma4 and llama", file,
                      name ? inQuotes(name->substr(0, 60)) : std::string("not named")),
                 {{"rule", "GgufArchitecture"}}};
}

Result<std::vector<LayerHeads>> headsOf(const GgufModel& model, Architecture architecture) {
    const Keys keys(model, prefixOf(architecture));
    ENGINE_ASSIGN(const int64_t layers, keys.count("block_count"));
    if (layers > kMostLayers) {
        return keys.wrong("block_count", said("is %1, expected at most %2", layers, kMostLayers));
    }
    ENGINE_ASSIGN(const auto queries, keys.perLayer("attention.head_count", layers));
    std::vector<LayerHeads> heads(static_cast<size_t>(layers));
    const bool is_llama = architecture == Architecture::Llama;
    std::vector<int64_t> kv = queries;
    if (model.header.has(keys.name("attention.head_count_kv"))) {
        ENGINE_ASSIGN(kv, keys.perLayer("attention.head_count_kv", layers));
    }
    std::vector<int64_t> sliding(heads.size(), 0);
    int64_t local_dim = 0;
    int64_t dim = 0;
    if (is_llama) {
        ENGINE_ASSIGN(const int64_t hidden, keys.count("embedding_length"));
        ENGINE_ASSIGN(const int64_t rotated,
                      keys.count("rope.dimension_count", 2,
                                 std::max<int64_t>(2, hidden / std::max<int64_t>(1, queries[0]))));
        ENGINE_ASSIGN(dim, keys.count("attention.key_length", 2, rotated));
        if (dim != rotated || dim % 2 != 0) {
            return keys.wrong("rope.dimension_count",
                              said("is %1 of heads of %2; only whole heads of an even size rotate",
                                   rotated, dim));
        }
    } else {
        if (!model.header.isList(keys.name("attention.sliding_window_pattern"))) {
            return keys.wrong("attention.sliding_window_pattern",
                              said("is missing or no list; convert the model with a current "
                                   "llama.cpp"));
        }
        ENGINE_ASSIGN(sliding, keys.perLayer("attention.sliding_window_pattern", layers));
        if (*std::max_element(sliding.begin(), sliding.end()) > 1) {
            return keys.wrong("attention.sliding_window_pattern",
                              said("holds other values than true and false, or 1 and 0"));
        }
        if (sliding.back() != 0) {
            return keys.wrong("attention.sliding_window_pattern",
                              said("ends with a sliding layer, which is not implemented"));
        }
        ENGINE_ASSIGN(dim, keys.count("attention.key_length", 2));
        ENGINE_ASSIGN(local_dim, keys.count("attention.key_length_swa", 2));
    }
    for (size_t i = 0; i < heads.size(); ++i) {
        heads[i] = {queries[i], kv[i], sliding[i] != 0 ? local_dim : dim};
        if (queries[i] < 1 || kv[i] < 1 || queries[i] != queries[0] ||
            (is_llama && kv[i] != kv[0])) {
            return keys.wrong("attention.head_count",
                              said("gives layer %1 %2 heads and %3 for keys and values, which is "
                                   "not implemented",
                                   i, queries[i], kv[i]));
        }
    }
    return heads;
}

Result<std::string> configText(const Files& files, Architecture architecture) {
    switch (architecture) {
    case Architecture::Gemma4Assistant:
        return assistantConfig(*files.text);
    case Architecture::Llama:
        return llamaConfig(*files.text);
    case Architecture::Gemma4:
        break;
    }
    return gemmaConfig(files);
}

Result<std::string> generationText(const GgufModel& model, Architecture architecture) {
    std::vector<int64_t> ends;
    if (architecture == Architecture::Llama) {
        for (const std::string_view key :
             {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id"}) {
            ENGINE_ASSIGN(const auto id, model.header.integer(key));
            if (id) {
                ends.push_back(*id);
            }
        }
    } else { // whatever the file says of its end
        ENGINE_ASSIGN(ends, idsOf(model, {"<eos>", "<|tool_response>", "<turn|>"}));
        std::erase(ends, -1);
    }
    Object text;
    text.add("eos_token_id", listText(ends));
    for (const auto& [key, name] : {std::pair("general.sampling.temp", "temperature"),
                                    std::pair("general.sampling.top_k", "top_k"),
                                    std::pair("general.sampling.top_p", "top_p"),
                                    std::pair("general.sampling.min_p", "min_p")}) {
        ENGINE_ASSIGN(const auto value, model.header.number(key));
        if (value) {
            text.add(name, *value);
        }
    }
    ENGINE_ASSIGN(const auto suppressed, model.header.integers("tokenizer.ggml.suppress_tokens"));
    if (suppressed) {
        text.add("suppress_tokens", listText(*suppressed));
    }
    return text.done();
}

} // namespace engine::gguf
