// SPDX-License-Identifier: Apache-2.0
// A PEFT adapter as the GGUF file that llama.cpp's convert_lora_to_gguf.py makes of it, written
// without the engine's code. Towers and fused experts, which the converter does not know, are named
// and shaped by its rules.
#pragma once

#include "tests/engine/files/raw_gguf.h"
#include "tests/support/golden.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace support {

/// Numbers of types in GGUF files.
inline uint32_t ggufTypeOf(const std::string& dtype) {
    return dtype == "F32" ? 0 : dtype == "F16" ? 1 : 30; // BF16
}

/// "model.language_model.layers.0.self_attn.q_proj" as "blk.0.attn_q".
inline std::string ggufModuleOf(std::string module) {
    static const std::pair<const char*, const char*> kNames[] = {
        {"model.language_model.layers.", "blk."},
        {"model.vision_tower.encoder.layers.", "v.blk."},
        {"model.audio_tower.layers.", "a.blk."},
        {"model.language_model.embed_tokens_per_layer", "per_layer_token_embd"},
        {"model.language_model.embed_tokens", "token_embd"},
        {"model.layers.", "blk."},
        {"lm_head", "output"},
        {".linear", ""},
        {"self_attn.q_proj", "attn_q"},
        {"self_attn.k_proj", "attn_k"},
        {"self_attn.v_proj", "attn_v"},
        {"self_attn.o_proj", "attn_output"},
        {"router.proj", "ffn_gate_inp"},
        {"experts.base_layer", "ffn_gate_up_exps"},
        {"experts", "ffn_down_exps"},
        {"mlp.gate_proj", "ffn_gate"},
        {"mlp.up_proj", "ffn_up"},
        {"mlp.down_proj", "ffn_down"},
    };
    for (const auto& [peft, stored] : kNames) {
        if (const size_t at = module.find(peft); at != std::string::npos) {
            module.replace(at, std::string(peft).size(), stored);
        }
    }
    const size_t output = module.find("attn_output");
    if (module.starts_with("v.") && output != std::string::npos) {
        module.replace(output, std::string("attn_output").size(), "attn_out");
    }
    return module;
}

/// Values [a][b][c] as [c][a][b] or, with b = 1, [a][c] as [c][a].
inline std::string lastFirst(const std::string& data, size_t size, size_t ab, size_t c) {
    std::string out(data.size(), '\0');
    for (size_t i = 0; i < ab; ++i) {
        for (size_t k = 0; k < c; ++k) {
            out.replace((k * ab + i) * size, size, data, (i * c + k) * size, size);
        }
    }
    return out;
}

struct LoraFileOptions {
    std::string architecture = "gemma4";
    float alpha = 0.0F;
    uint64_t experts = 0;  ///< Fused in one tensor.
    uint64_t head_dim = 0; ///< llama: the rows of q and k stand by pairs.
};

/// One tensor of adapter_model.safetensors.
inline gguf::Tensor
ggufLoraTensor(const std::string& key, const GoldenTensor& tensor, const LoraFileOptions& options) {
    const size_t at = key.find(".lora_");
    const bool is_table = key.find(".lora_embedding_") != std::string::npos;
    const bool is_a = key.find("_A", at) != std::string::npos;
    const std::string prefix = "base_model.model.";
    if (at == std::string::npos || !key.starts_with(prefix) || tensor.shape.size() != 2) {
        throw std::runtime_error(key + ": the converter would refuse it");
    }
    const std::string module = ggufModuleOf(key.substr(prefix.size(), at - prefix.size()));
    gguf::Tensor out;
    out.name = module + ".weight" + (is_a ? ".lora_a" : ".lora_b");
    out.type = ggufTypeOf(tensor.dtype);
    out.data.assign(tensor.bytes.begin(), tensor.bytes.end());
    const size_t size = tensor.dtype == "F32" ? 4 : 2;
    const auto rows = static_cast<uint64_t>(tensor.shape[0]);
    const auto cols = static_cast<uint64_t>(tensor.shape[1]);
    out.dims = {cols, rows};
    if (is_table && is_a) {
        out.data = lastFirst(out.data, size, rows, cols);
        out.dims = {rows, cols};
    } else if (module.ends_with("_exps") && is_a) {
        out.dims = {cols, rows / options.experts, options.experts};
    } else if (module.ends_with("_exps")) {
        const uint64_t rank = cols / options.experts;
        out.data = lastFirst(out.data, size, rows * rank, options.experts);
        out.dims = {rank, rows, options.experts};
    } else if (options.head_dim > 0 && !is_a &&
               (module.ends_with("attn_q") || module.ends_with("attn_k"))) {
        // reshape(heads, 2, D / 2, rank), axes 1 and 2 swapped
        const std::string published = out.data;
        const uint64_t half = options.head_dim / 2;
        const size_t row_bytes = size * cols;
        for (uint64_t row = 0; row < rows; ++row) {
            const uint64_t head = row / options.head_dim;
            const uint64_t within = row % options.head_dim;
            const uint64_t to = head * options.head_dim + within % half * 2 + within / half;
            out.data.replace(to * row_bytes, row_bytes, published, row * row_bytes, row_bytes);
        }
    }
    return out;
}

/// The file of a PEFT folder with one alpha.
inline gguf::File ggufLora(const std::filesystem::path& folder, LoraFileOptions options) {
    const auto config = readJson(folder / "adapter_config.json");
    options.alpha = config["lora_alpha"].get<float>();
    gguf::File file;
    file.set("general.architecture", gguf::value(options.architecture))
        .set("general.type", gguf::value("adapter"))
        .set("adapter.type", gguf::value("lora"))
        .set("general.name", gguf::value("Adapter"))
        .set("adapter.lora.alpha", gguf::value(options.alpha));
    for (const auto& [key, tensor] : readSafetensors(folder / "adapter_model.safetensors")) {
        if (key.find(".base_layer.weight") == std::string::npos) { // which the converter skips
            file.tensors.push_back(ggufLoraTensor(key, tensor, options));
        }
    }
    return file;
}

inline void writeGguf(const std::filesystem::path& path, const gguf::File& file) {
    const std::string bytes = file.bytes();
    std::ofstream(path, std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

} // namespace support
