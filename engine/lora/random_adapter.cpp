// SPDX-License-Identifier: Apache-2.0
#include "engine/lora/random_adapter.h"

#include "engine/base/file_writer.h"
#include "engine/base/float_types.h"
#include "engine/families/gemma4/names.h"
#include "engine/files/safetensors_writer.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <string_view>

namespace engine {

namespace {

constexpr int64_t kMostRank = 1024;

/// [rows, cols] bf16 values in (-scale, scale).
TensorToWrite
factor(const std::string& name, int64_t rows, int64_t cols, float scale, std::mt19937_64& random) {
    std::vector<std::byte> bytes(static_cast<size_t>(rows * cols) * 2);
    for (size_t i = 0; i < bytes.size(); i += 2) {
        // 24 bits of the generator, not a distribution: those differ between standard libraries.
        const auto bits = static_cast<float>(random() >> 40U);
        const uint16_t value = floatToBf16(scale * (bits / 8388608.0F - 1.0F));
        std::memcpy(bytes.data() + i, &value, 2);
    }
    return tensorFromBytes(name, TensorType::BF16, {rows, cols}, std::move(bytes));
}

} // namespace

Result<void> writeRandomAdapter(const std::filesystem::path& folder,
                                const std::vector<ExpectedTensor>& tensors,
                                int64_t rank,
                                AdapterTargets targets,
                                uint64_t seed) {
    if (rank < 1 || rank > kMostRank) {
        return Error{ErrorCode::InvalidRequest,
                     said("adapter rank %1: expected 1 to %2", rank, kMostRank)};
    }
    std::mt19937_64 random(seed);
    std::vector<TensorToWrite> out;
    constexpr std::string_view kWeight = ".weight";
    for (const ExpectedTensor& tensor : tensors) {
        if (tensor.kind != TensorKind::Linear || tensor.is_unused || tensor.shape.size() != 2) {
            continue;
        }
        const std::string module =
            "base_model.model." + tensor.name.substr(0, tensor.name.size() - kWeight.size());
        if (targets == AdapterTargets::Projections && !isProjectionName(module)) {
            continue;
        }
        const int64_t rows = tensor.shape[0];
        const int64_t cols = tensor.shape[1];
        const float a = 1.0F / std::sqrt(static_cast<float>(cols));
        out.push_back(factor(module + ".lora_A.weight", rank, cols, a, random));
        out.push_back(factor(module + ".lora_B.weight", rows, rank, 0.02F, random));
    }
    nlohmann::ordered_json config = {{"peft_type", "LORA"}, {"r", rank}, {"lora_alpha", rank}};
    config["target_modules"] =
        targets == AdapterTargets::Projections ? projectionTargets() : "all-linear";
    std::error_code code;
    std::filesystem::create_directories(folder, code);
    WriteOptions options;
    options.is_replacing_allowed = true;
    ENGINE_TRY(writeSafetensorsFile(folder / "adapter_model.safetensors", out, options));
    const std::string text = config.dump(1);
    ENGINE_ASSIGN(auto file, FileWriter::create(folder / "adapter_config.json", true));
    ENGINE_TRY(file->write(std::as_bytes(std::span(text))));
    return file->commit();
}

} // namespace engine
