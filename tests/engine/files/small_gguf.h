// SPDX-License-Identifier: Apache-2.0
// Small sound models as GGUF files, for tests that break them: Gemma 4 (a sliding and a full
// layer), one with experts, `llama`, a projector with both towers, the 12B's embedders, an
// assistant, an adapter.
#pragma once

#include "tests/engine/files/raw_gguf.h"

#include <cstdio>
#include <string>
#include <vector>

namespace support::gguf {

inline std::vector<std::string> gemmaTokens() {
    std::vector<std::string> tokens = {"<pad>",
                                       "<eos>",
                                       "<bos>",
                                       "<unk>",
                                       "<mask>",
                                       "<|turn>",
                                       "<turn|>",
                                       "<|image>",
                                       "<image|>",
                                       "<|image|>",
                                       "<|audio>",
                                       "<audio|>",
                                       "<|audio|>",
                                       "<|video|>",
                                       "<|channel>",
                                       "<channel|>",
                                       "<|think|>",
                                       "<|tool>",
                                       "<tool|>",
                                       "<|tool_call>",
                                       "<tool_call|>",
                                       "<|tool_response>",
                                       "<tool_response|>",
                                       "<|\"|>"};
    for (int i = 0; i < 256; ++i) {
        std::array<char, 8> name{};
        std::snprintf(name.data(), name.size(), "<0x%02X>", static_cast<unsigned>(i));
        tokens.emplace_back(name.data());
    }
    for (const char* token : {"\xe2\x96\x81", "a", "b", "ab",
                              "\xe2\x96\x81"
                              "ab",
                              "\n", "\n\n", "c"}) {
        tokens.emplace_back(token);
    }
    return tokens;
}

/// 24 markers, 256 bytes, the rest words.
inline std::vector<int32_t> gemmaKinds() {
    std::vector<int32_t> kinds(gemmaTokens().size(), 1);
    std::fill_n(kinds.begin(), 24, 3);
    std::fill_n(kinds.begin() + 24, 256, 6);
    return kinds;
}

inline void addGemmaTokenizer(File& file) {
    file.set("tokenizer.ggml.model", value("gemma4"))
        .set("tokenizer.ggml.tokens", list(gemmaTokens()))
        .set("tokenizer.ggml.scores", list(std::vector<float>(gemmaTokens().size(), -1000.0F)))
        .set("tokenizer.ggml.token_type", list(gemmaKinds()))
        .set("tokenizer.ggml.merges",
             list(std::vector<std::string>{"a b", "\xe2\x96\x81 ab", "\n \n"}))
        .set("tokenizer.ggml.bos_token_id", value(uint32_t{2}))
        .set("tokenizer.ggml.eos_token_id", value(uint32_t{1}))
        .set("tokenizer.ggml.unknown_token_id", value(uint32_t{3}))
        .set("tokenizer.ggml.padding_token_id", value(uint32_t{0}))
        .set("tokenizer.ggml.add_bos_token", value(true));
}

/// The keys of a layered text model; `p` is the architecture with a dot.
inline void addGemmaKeys(File& file, const std::string& p) {
    file.set("general.architecture", value(p.substr(0, p.size() - 1)))
        .set("general.type", value("model"))
        .set(p + "block_count", value(uint32_t{2}))
        .set(p + "context_length", value(uint32_t{4096}))
        .set(p + "embedding_length", value(uint32_t{32}))
        .set(p + "attention.head_count", value(uint32_t{2}))
        .set(p + "attention.head_count_kv", list(std::vector<int32_t>{1, 1}))
        .set(p + "feed_forward_length", list(std::vector<int32_t>{64, 64}))
        .set(p + "attention.layer_norm_rms_epsilon", value(1e-6F))
        .set(p + "attention.sliding_window", value(uint32_t{12}))
        .set(p + "attention.sliding_window_pattern", bools({1, 0}))
        .set(p + "attention.shared_kv_layers", value(uint32_t{0}))
        .set(p + "embedding_length_per_layer_input", value(uint32_t{32}))
        .set(p + "attention.key_length", value(uint32_t{32}))
        .set(p + "attention.value_length", value(uint32_t{32}))
        .set(p + "attention.key_length_swa", value(uint32_t{16}))
        .set(p + "attention.value_length_swa", value(uint32_t{16}))
        .set(p + "rope.freq_base", value(1e6F))
        .set(p + "rope.freq_base_swa", value(1e4F))
        .set(p + "final_logit_softcapping", value(30.0F));
}

/// Divisors of a full layer's 16 frequencies: a quarter of the head rotates.
inline std::string ropeFreqs() {
    std::string data;
    for (int i = 0; i < 16; ++i) {
        data += le(i < 4 ? 1.0F : 1e30F);
    }
    return data;
}

inline void addGemmaLayer(File& file, int i, uint64_t head) {
    const std::string b = "blk." + std::to_string(i) + ".";
    for (const auto& [name, dims] : std::vector<std::pair<std::string, std::vector<uint64_t>>>{
             {"attn_norm.weight", {32}},
             {"attn_q.weight", {32, 2 * head}},
             {"attn_k.weight", {32, head}},
             {"attn_v.weight", {32, head}},
             {"attn_output.weight", {2 * head, 32}},
             {"attn_q_norm.weight", {head}},
             {"attn_k_norm.weight", {head}},
             {"post_attention_norm.weight", {32}},
             {"ffn_norm.weight", {32}},
             {"ffn_gate.weight", {32, 64}},
             {"ffn_up.weight", {32, 64}},
             {"ffn_down.weight", {64, 32}},
             {"post_ffw_norm.weight", {32}},
             {"layer_output_scale.weight", {1}}}) {
        file.tensors.push_back({b + name, dims});
    }
}

/// Two layers, per-layer inputs, all F32.
inline File gemma() {
    File file;
    addGemmaKeys(file, "gemma4.");
    addGemmaTokenizer(file);
    const uint64_t vocabulary = gemmaTokens().size();
    file.tensors = {{"rope_freqs.weight", {16}, 0, ropeFreqs()},
                    {"token_embd.weight", {32, vocabulary}},
                    {"per_layer_token_embd.weight", {64, vocabulary}},
                    {"per_layer_model_proj.weight", {32, 64}},
                    {"per_layer_proj_norm.weight", {32}},
                    {"output_norm.weight", {32}}};
    for (int i = 0; i < 2; ++i) {
        addGemmaLayer(file, i, i == 0 ? 16 : 32);
        const std::string b = "blk." + std::to_string(i) + ".";
        file.tensors.push_back({b + "inp_gate.weight", {32, 32}});
        file.tensors.push_back({b + "proj.weight", {32, 32}});
        file.tensors.push_back({b + "post_norm.weight", {32}});
    }
    return file;
}

/// The same without per-layer inputs and with experts.
inline File gemmaWithExperts() {
    File file;
    addGemmaKeys(file, "gemma4.");
    addGemmaTokenizer(file);
    file.set("gemma4.embedding_length_per_layer_input", value(uint32_t{0}))
        .set("gemma4.expert_count", value(uint32_t{4}))
        .set("gemma4.expert_used_count", value(uint32_t{2}))
        .set("gemma4.expert_feed_forward_length", value(uint32_t{32}));
    file.tensors = {{"rope_freqs.weight", {16}, 0, ropeFreqs()},
                    {"token_embd.weight", {32, gemmaTokens().size()}},
                    {"output_norm.weight", {32}}};
    for (int i = 0; i < 2; ++i) {
        addGemmaLayer(file, i, i == 0 ? 16 : 32);
        const std::string b = "blk." + std::to_string(i) + ".";
        for (const auto& [name, dims] : std::vector<std::pair<std::string, std::vector<uint64_t>>>{
                 {"ffn_gate_inp.weight", {32, 4}},
                 {"ffn_gate_inp.scale", {32}},
                 {"ffn_down_exps.scale", {4}},
                 {"ffn_gate_up_exps.weight", {32, 64, 4}},
                 {"ffn_down_exps.weight", {32, 32, 4}},
                 {"pre_ffw_norm_2.weight", {32}},
                 {"post_ffw_norm_1.weight", {32}},
                 {"post_ffw_norm_2.weight", {32}}}) {
            file.tensors.push_back({b + name, dims});
        }
    }
    return file;
}

/// Without keys, values and a tokenizer; drafts for gemma().
inline File assistant() {
    File file;
    addGemmaKeys(file, "gemma4-assistant.");
    file.set("gemma4-assistant.embedding_length", value(uint32_t{16}))
        .set("gemma4-assistant.embedding_length_out", value(uint32_t{32}))
        .set("gemma4-assistant.embedding_length_per_layer_input", value(uint32_t{0}))
        .set("gemma4-assistant.attention.shared_kv_layers", value(uint32_t{2}))
        .set("gemma4-assistant.nextn_predict_layers", value(uint32_t{2}))
        .remove("gemma4-assistant.final_logit_softcapping");
    file.tensors = {{"rope_freqs.weight", {16}, 0, ropeFreqs()},
                    {"token_embd.weight", {16, gemmaTokens().size()}},
                    {"output_norm.weight", {16}},
                    {"nextn.pre_projection.weight", {64, 16}},
                    {"nextn.post_projection.weight", {16, 32}}};
    for (int i = 0; i < 2; ++i) {
        const std::string b = "blk." + std::to_string(i) + ".";
        const uint64_t head = i == 0 ? 16 : 32;
        for (const auto& [name, dims] : std::vector<std::pair<std::string, std::vector<uint64_t>>>{
                 {"attn_norm.weight", {16}},
                 {"attn_q.weight", {16, 2 * head}},
                 {"attn_output.weight", {2 * head, 16}},
                 {"attn_q_norm.weight", {head}},
                 {"post_attention_norm.weight", {16}},
                 {"ffn_norm.weight", {16}},
                 {"ffn_gate.weight", {16, 64}},
                 {"ffn_up.weight", {16, 64}},
                 {"ffn_down.weight", {64, 16}},
                 {"post_ffw_norm.weight", {16}},
                 {"layer_output_scale.weight", {1}}}) {
            file.tensors.push_back({b + name, dims});
        }
    }
    return file;
}

/// Byte-level tokens; two layers with two query heads of 16 and one for keys and values.
inline File llama() {
    File file;
    file.set("general.architecture", value("llama"))
        .set("llama.block_count", value(uint32_t{2}))
        .set("llama.context_length", value(uint32_t{2048}))
        .set("llama.embedding_length", value(uint32_t{32}))
        .set("llama.feed_forward_length", value(uint32_t{64}))
        .set("llama.attention.head_count", value(uint32_t{2}))
        .set("llama.attention.head_count_kv", value(uint32_t{1}))
        .set("llama.attention.layer_norm_rms_epsilon", value(1e-5F))
        .set("llama.rope.freq_base", value(1e5F))
        .set("llama.rope.dimension_count", value(uint32_t{16}))
        .set("tokenizer.ggml.model", value("gpt2"))
        .set("tokenizer.ggml.pre", value("smollm"))
        .set("tokenizer.ggml.tokens",
             list(std::vector<std::string>{"<|endoftext|>", "<|im_start|>", "<|im_end|>", "a", "b",
                                           "ab", "\xc4\xa0"}))
        .set("tokenizer.ggml.token_type", list(std::vector<int32_t>{3, 3, 3, 1, 1, 1, 1}))
        .set("tokenizer.ggml.merges", list(std::vector<std::string>{"a b"}))
        .set("tokenizer.ggml.bos_token_id", value(uint32_t{1}))
        .set("tokenizer.ggml.eos_token_id", value(uint32_t{2}));
    file.tensors = {{"token_embd.weight", {32, 7}}, {"output_norm.weight", {32}}};
    for (int i = 0; i < 2; ++i) {
        const std::string b = "blk." + std::to_string(i) + ".";
        for (const auto& [name, dims] : std::vector<std::pair<std::string, std::vector<uint64_t>>>{
                 {"attn_norm.weight", {32}},
                 {"attn_q.weight", {32, 32}},
                 {"attn_k.weight", {32, 16}},
                 {"attn_v.weight", {32, 16}},
                 {"attn_output.weight", {32, 32}},
                 {"ffn_norm.weight", {32}},
                 {"ffn_gate.weight", {32, 64}},
                 {"ffn_up.weight", {32, 64}},
                 {"ffn_down.weight", {64, 32}}}) {
            file.tensors.push_back({b + name, dims});
        }
    }
    return file;
}

/// llama() with scores in the place of merges.
inline File llamaPieces() {
    File file = llama();
    const std::vector<std::string> tokens = gemmaTokens();
    std::vector<float> scores;
    for (size_t id = 0; id < tokens.size(); ++id) {
        scores.push_back(-static_cast<float>(id));
    }
    file.set("tokenizer.ggml.model", value("llama"))
        .set("tokenizer.ggml.tokens", list(tokens))
        .set("tokenizer.ggml.scores", list(scores))
        .set("tokenizer.ggml.token_type", list(gemmaKinds()))
        .remove("tokenizer.ggml.merges");
    file.tensor("token_embd.weight").dims[1] = tokens.size();
    return file;
}

/// A vision tower of one layer for a text model of width 32.
inline File projector() {
    File file;
    file.set("general.architecture", value("clip"))
        .set("general.type", value("mmproj"))
        .set("clip.has_vision_encoder", value(true))
        .set("clip.vision.projector_type", value("gemma4v"))
        .set("clip.vision.projection_dim", value(uint32_t{32}))
        .set("clip.vision.patch_size", value(uint32_t{16}))
        .set("clip.vision.embedding_length", value(uint32_t{32}))
        .set("clip.vision.feed_forward_length", value(uint32_t{64}))
        .set("clip.vision.block_count", value(uint32_t{1}))
        .set("clip.vision.attention.head_count", value(uint32_t{2}))
        .set("clip.vision.attention.layer_norm_epsilon", value(1e-6F));
    file.tensors = {{"v.patch_embd.weight", {16, 16, 3, 32}},
                    {"v.position_embd.weight", {32, 64, 2}},
                    {"mm.input_projection.weight", {32, 32}}};
    for (const auto& [name, dims] : std::vector<std::pair<std::string, std::vector<uint64_t>>>{
             {"ln1.weight", {32}},
             {"ln2.weight", {32}},
             {"attn_post_norm.weight", {32}},
             {"ffn_post_norm.weight", {32}},
             {"attn_q.weight", {32, 32}},
             {"attn_k.weight", {32, 32}},
             {"attn_v.weight", {32, 32}},
             {"attn_out.weight", {32, 32}},
             {"attn_q_norm.weight", {16}},
             {"attn_k_norm.weight", {16}},
             {"ffn_gate.weight", {32, 64}},
             {"ffn_up.weight", {32, 64}},
             {"ffn_down.weight", {64, 32}}}) {
        file.tensors.push_back({"v.blk.0." + name, dims});
    }
    return file;
}

/// The 12B's embedders, for gemmaWithoutTables().
inline File embedders() {
    File file;
    file.set("general.architecture", value("clip"))
        .set("general.type", value("mmproj"))
        .set("clip.vision.projection_dim", value(uint32_t{32}))
        .set("clip.vision.patch_size", value(uint32_t{16}))
        .set("clip.vision.embedding_length", value(uint32_t{16}))
        .set("clip.vision.block_count", value(uint32_t{0}))
        .set("clip.audio.projection_dim", value(uint32_t{32}))
        .set("clip.audio.embedding_length", value(uint32_t{640}));
    file.tensors = {{"v.position_embd.weight", {16, 80, 2}},
                    {"v.patch_norm.1.weight", {6912}},
                    {"v.patch_norm.1.bias", {6912}},
                    {"v.patch_embd.weight", {6912, 16}},
                    {"v.patch_embd.bias", {16}},
                    {"v.patch_norm.2.weight", {16}},
                    {"v.patch_norm.2.bias", {16}},
                    {"v.patch_norm.3.weight", {16}},
                    {"v.patch_norm.3.bias", {16}},
                    {"mm.input_projection.weight", {16, 32}},
                    {"mm.a.input_projection.weight", {640, 32}}};
    return file;
}

/// gemma() as the 12B is: without per-layer inputs, values of full layers are their keys.
inline File gemmaWithoutTables() {
    File file = gemma();
    file.set("gemma4.embedding_length_per_layer_input", value(uint32_t{0}));
    std::erase_if(file.tensors, [](const Tensor& tensor) {
        const std::string& name = tensor.name;
        return name.starts_with("per_layer") || name.ends_with("inp_gate.weight") ||
               name.ends_with("0.proj.weight") || name.ends_with("1.proj.weight") ||
               name.ends_with("blk.0.post_norm.weight") ||
               name.ends_with("blk.1.post_norm.weight") || name == "blk.1.attn_v.weight";
    });
    return file;
}

/// Rank 4 on two linears of the golden e2b's first layer.
inline File adapter() {
    File file;
    file.set("general.architecture", value("gemma4"))
        .set("general.type", value("adapter"))
        .set("adapter.type", value("lora"))
        .set("adapter.lora.alpha", value(8.0F));
    file.tensors = {{"blk.0.attn_q.weight.lora_a", {64, 4}},
                    {"blk.0.attn_q.weight.lora_b", {4, 64}},
                    {"blk.0.ffn_up.weight.lora_a", {64, 4}},
                    {"blk.0.ffn_up.weight.lora_b", {4, 128}}};
    return file;
}

} // namespace support::gguf
