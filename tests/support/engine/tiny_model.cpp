// SPDX-License-Identifier: Apache-2.0
#include "tests/support/engine/tiny_model.h"

#include "engine/families/config.h"
#include "engine/families/tensor_list.h"
#include "engine/files/safetensors_writer.h"
#include "engine/load/random_source.h"
#include "engine/run/opened_model.h"
#include "tests/support/golden.h"
#include "tests/support/results.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace fs = std::filesystem;

namespace support {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kVocabulary = 384; ///< Control tokens, bytes, letters.

[[noreturn]] void fail(const std::string& what) {
    std::fprintf(stderr, "tiny model: %s\n", what.c_str());
    std::exit(97);
}

Json readOrdered(const fs::path& file) {
    std::ifstream in(file);
    return Json::parse(in);
}

void writeText(const fs::path& file, const std::string& text) {
    std::ofstream out(file, std::ios::binary);
    out << text;
    if (!out.flush()) {
        fail(file.string() + " cannot be written");
    }
}

/// Sizes that model and assistant have in common. full: layers that see everything.
void setShape(Json& text, const TinyShape& shape, const std::vector<const char*>& full) {
    text["num_attention_heads"] = shape.heads;
    text["head_dim"] = shape.sliding_dim;
    text["per_layer_config"] = Json::object();
    for (const char* layer : full) {
        text["per_layer_config"][layer] = {{"head_dim", shape.full_dim}};
    }
    text["vocab_size"] = kVocabulary;
}

Json tinyConfig(const fs::path& golden, const TinyShape& shape) {
    Json config = readOrdered(golden / "config.json");
    Json& text = config["text_config"];
    text["num_hidden_layers"] = 4;
    text["num_kv_shared_layers"] = 2;
    text["layer_types"] = {"sliding_attention", "full_attention", "sliding_attention",
                           "full_attention"};
    setShape(text, shape, {"1", "3"});
    text["hidden_size"] = shape.hidden;
    text["intermediate_size"] = shape.intermediate;
    text["hidden_size_per_layer_input"] = shape.per_layer;
    text["vocab_size_per_layer_input"] = kVocabulary;
    config["vision_config"]["num_hidden_layers"] = 1;
    config["audio_config"]["num_hidden_layers"] = 1;
    return config;
}

/// The golden vocabulary's first entries and the merges that need no other.
Json tinyTokenizer(const fs::path& golden) {
    Json tokenizer = readOrdered(golden / "tokenizer.json");
    Json& model = tokenizer["model"];
    Json words = Json::object();
    for (const auto& [word, id] : model["vocab"].items()) {
        if (id.get<int>() < kVocabulary) {
            words[word] = id;
        }
    }
    Json merges = Json::array();
    for (const Json& merge : model["merges"]) {
        const auto left = merge[0].get<std::string>();
        const auto right = merge[1].get<std::string>();
        if (words.contains(left) && words.contains(right) && words.contains(left + right)) {
            merges.push_back(merge);
        }
    }
    model["vocab"] = std::move(words);
    model["merges"] = std::move(merges);
    return tokenizer;
}

std::vector<std::byte> noise(size_t values, uint64_t seed) {
    std::vector<std::byte> bytes(values * sizeof(float));
    uint64_t state = seed * 0x9e3779b97f4a7c15U + 1;
    for (size_t i = 0; i < values; ++i) {
        state ^= state << 13U;
        state ^= state >> 7U;
        state ^= state << 17U;
        const float value = 0.1F * (static_cast<float>(state >> 40U) / 8388608.0F - 1.0F);
        std::memcpy(bytes.data() + i * sizeof value, &value, sizeof value);
    }
    return bytes;
}

/// Random tensors that `nameOf` gives a name in the file; empty: not in it.
void writeRandom(const fs::path& file,
                 const engine::ModelConfig& config,
                 const std::function<std::string(const std::string&)>& nameOf) {
    const auto random = engine::makeRandomSource(config, 1);
    std::vector<engine::TensorToWrite> tensors;
    for (const engine::TensorInfo& info : random->tensors()) {
        engine::TensorToWrite tensor;
        tensor.name = nameOf(info.name);
        if (tensor.name.empty()) {
            continue;
        }
        tensor.type = info.type;
        tensor.shape = info.shape;
        tensor.fill = [&random, &info](uint64_t offset, std::span<std::byte> out) {
            return random->read(info, offset, out);
        };
        tensors.push_back(std::move(tensor));
    }
    must(engine::writeSafetensorsFile(file, tensors), "tiny model");
}

} // namespace

void writeTinyModel(const fs::path& folder, const TinyShape& shape) {
    const fs::path golden = goldenDir() / "e2b/model";
    fs::create_directories(folder);
    writeText(folder / "config.json", tinyConfig(golden, shape).dump());
    writeText(folder / "tokenizer.json", tinyTokenizer(golden).dump());
    for (const char* name :
         {"generation_config.json", "processor_config.json", "tokenizer_config.json"}) {
        writeText(folder / name, readOrdered(golden / name).dump());
    }
    writeRandom(folder / "model.safetensors", must(engine::readModelConfig(folder), "tiny model"),
                [](const std::string& name) { return name; });
}

void writeTinyAssistant(const fs::path& folder, const fs::path& model, const TinyShape& shape) {
    const fs::path published = testDataDir() / "assistants/e2b/model";
    fs::create_directories(folder);
    Json config = readOrdered(published / "config.json");
    config["backbone_hidden_size"] = shape.hidden;
    config["use_ordered_embeddings"] = false;
    setShape(config["text_config"], shape, {"3"});
    if (shape.assistant_hidden > 0) {
        config["text_config"]["hidden_size"] = shape.assistant_hidden;
        config["text_config"]["intermediate_size"] = shape.intermediate;
    }
    writeText(folder / "config.json", config.dump());
    writeText(folder / "generation_config.json",
              readOrdered(published / "generation_config.json").dump());
    auto opened = must(engine::OpenedModel::open(engine::folderCheckpoint(model)), "tiny model");
    must(opened.addAssistant(engine::folderCheckpoint(folder)), "tiny assistant");
    writeRandom(folder / "model.safetensors", opened.config, [](const std::string& name) {
        const std::string prefix = "assistant.";
        if (!name.starts_with(prefix)) {
            return std::string();
        }
        const std::string own = name.substr(prefix.size());
        const bool is_outside = own.find("_projection.") != std::string::npos &&
                                own.find("layers.") == std::string::npos;
        return is_outside ? own : "model." + own;
    });
}

void writeTinyAdapter(const fs::path& folder, const TinyShape& shape, int rank) {
    struct Module {
        const char* name;
        int64_t inputs, outputs;
    };
    const std::vector<Module> modules = {
        {"model.language_model.layers.0.self_attn.q_proj", shape.hidden,
         int64_t{shape.heads} * shape.sliding_dim},
        {"model.language_model.layers.3.mlp.down_proj", 2 * int64_t{shape.intermediate},
         shape.hidden},
        {"model.vision_tower.encoder.layers.0.mlp.up_proj.linear", 48, 96}};
    fs::create_directories(folder);
    Json targets = Json::array();
    std::vector<engine::TensorToWrite> tensors;
    uint64_t seed = 1;
    for (const Module& module : modules) {
        targets.push_back(module.name);
        const std::string prefix = "base_model.model." + std::string(module.name);
        tensors.push_back(engine::tensorFromBytes(
            prefix + ".lora_A.weight", engine::TensorType::F32, {rank, module.inputs},
            noise(static_cast<size_t>(rank * module.inputs), ++seed)));
        tensors.push_back(engine::tensorFromBytes(
            prefix + ".lora_B.weight", engine::TensorType::F32, {module.outputs, rank},
            noise(static_cast<size_t>(module.outputs * rank), ++seed)));
    }
    writeText(folder / "adapter_config.json", Json{{"peft_type", "LORA"},
                                                   {"r", rank},
                                                   {"lora_alpha", 2 * rank},
                                                   {"target_modules", targets}}
                                                  .dump());
    must(engine::writeSafetensorsFile(folder / "adapter_model.safetensors", tensors),
         "tiny adapter");
}

} // namespace support
