// SPDX-License-Identifier: Apache-2.0
// Adapter folders made in tests: a safetensors writer of its own (so that the engine's reader and
// writer are not checked against themselves), a minimal configuration, values from a fixed
// generator.
#pragma once

#include "engine/base/float_types.h"
#include "engine/families/config.h"
#include "engine/families/tensor_list.h"
#include "tests/support/golden.h"
#include "tests/support/listed_model.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace lora_test {

using support::goldenModel;
using Model = support::ListedModel;

using Json = nlohmann::ordered_json;

struct FileTensor {
    std::string dtype = "F32";
    std::vector<int64_t> shape;
    std::vector<uint8_t> bytes;
};
using Tensors = std::map<std::string, FileTensor>;

inline int64_t product(const std::vector<int64_t>& shape) {
    int64_t n = 1;
    for (const int64_t d : shape) {
        n *= d;
    }
    return n;
}

inline FileTensor tensorOf(const std::vector<int64_t>& shape,
                           const std::vector<float>& values,
                           const std::string& dtype = "F32") {
    FileTensor t{dtype, shape, {}};
    for (const float value : values) {
        if (dtype == "F32") {
            uint8_t raw[4];
            std::memcpy(raw, &value, 4);
            t.bytes.insert(t.bytes.end(), raw, raw + 4);
        } else {
            const uint16_t bits =
                dtype == "BF16" ? engine::floatToBf16(value) : engine::floatToF16(value);
            uint8_t raw[2];
            std::memcpy(raw, &bits, 2);
            t.bytes.insert(t.bytes.end(), raw, raw + 2);
        }
    }
    return t;
}

/// Values in (-scale, scale), the same for the same seed.
inline std::vector<float> noise(int64_t count, uint64_t seed, float scale = 1.0F) {
    std::vector<float> values(static_cast<size_t>(count));
    uint64_t state = seed * 0x9e3779b97f4a7c15ULL + 1;
    for (float& value : values) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        value = scale * (static_cast<float>(state >> 40) / 8388608.0F - 1.0F);
    }
    return values;
}

inline FileTensor noiseTensor(const std::vector<int64_t>& shape,
                              uint64_t seed,
                              float scale = 0.1F,
                              const std::string& dtype = "F32") {
    return tensorOf(shape, noise(product(shape), seed, scale), dtype);
}

inline void writeText(const std::filesystem::path& file, const std::string& text) {
    std::ofstream out(file, std::ios::binary);
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
}

inline std::string safetensorsBytes(const Tensors& tensors) {
    Json header = Json::object();
    header["__metadata__"] = {{"format", "pt"}};
    uint64_t offset = 0;
    for (const auto& [name, tensor] : tensors) {
        header[name] = {{"dtype", tensor.dtype},
                        {"shape", tensor.shape},
                        {"data_offsets", {offset, offset + tensor.bytes.size()}}};
        offset += tensor.bytes.size();
    }
    std::string text = header.dump();
    text.resize((text.size() + 7) / 8 * 8, ' ');
    std::string out(8, '\0');
    const uint64_t size = text.size();
    std::memcpy(out.data(), &size, 8);
    out += text;
    for (const auto& [name, tensor] : tensors) {
        out.append(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
    }
    return out;
}

inline void writeSafetensors(const std::filesystem::path& file, const Tensors& tensors) {
    writeText(file, safetensorsBytes(tensors));
}

inline Json minimalConfig() {
    return Json{{"peft_type", "LORA"},
                {"r", 4},
                {"lora_alpha", 8},
                {"target_modules", {"q_proj", "up_proj"}},
                {"exclude_modules", ".*(vision_tower|audio_tower).*"}};
}

inline void
writeAdapter(const std::filesystem::path& folder, const Json& config, const Tensors& tensors) {
    std::filesystem::create_directories(folder);
    writeText(folder / "adapter_config.json", config.dump(1));
    writeSafetensors(folder / "adapter_model.safetensors", tensors);
}

/// A golden adapter's tensors, to be changed and written again.
inline Tensors goldenTensors(const std::filesystem::path& file) {
    Tensors out;
    for (auto& [name, tensor] : support::readSafetensors(file)) {
        out[name] = {tensor.dtype, tensor.shape, tensor.bytes};
    }
    return out;
}

inline Json goldenConfig(const std::filesystem::path& folder) {
    std::ifstream in(folder / "adapter_config.json");
    return Json::parse(in);
}

/// lora_A and lora_B of one linear module.
inline void addPair(Tensors& tensors,
                    const std::string& key,
                    int64_t out,
                    int64_t in,
                    int64_t rank,
                    uint64_t seed,
                    const std::string& dtype = "F32") {
    tensors[key + ".lora_A.weight"] = noiseTensor({rank, in}, seed, 0.2F, dtype);
    tensors[key + ".lora_B.weight"] = noiseTensor({out, rank}, seed + 1, 0.2F, dtype);
}

inline std::filesystem::path adapterData() {
    return support::testDataDir() / "adapters";
}

} // namespace lora_test
