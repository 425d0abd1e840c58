// SPDX-License-Identifier: Apache-2.0
// An adapter in a GGUF file, as llama.cpp's convert_lora_to_gguf.py writes it: the factors of
// tensor N as N.lora_a [rank, in] and N.lora_b [out, rank], alpha among the metadata. It is shown
// as a PEFT folder is, so that everything else knows one kind of adapter. Of PEFT's kinds the
// converter keeps plain LoRA alone.
#pragma once

#include "engine/base/result.h"
#include "engine/files/tensor_source.h"
#include "engine/lora/adapter_config.h"
#include "engine/model/model_config.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace engine {

struct GgufAdapter {
    AdapterConfig config;
    /// Names of the file; shapes, orders and types as PEFT would store them, blocks as F32.
    std::unique_ptr<TensorSource> source;
    std::vector<std::string> keys; ///< How PEFT would name the source's tensors.
};

/// Reads the header. Errors: as openGgufModel(); InvalidFile (a model or a projector, made for
/// another architecture, cut short, a tensor that belongs to none of a model's); Unsupported
/// (another kind of adapter, blocks where elements change places).
Result<GgufAdapter> openGgufAdapter(const std::filesystem::path& file, const ModelConfig& model);

} // namespace engine
