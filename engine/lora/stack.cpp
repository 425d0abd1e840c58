// SPDX-License-Identifier: Apache-2.0
#include "engine/lora/stack.h"

#include "engine/base/file_writer.h"
#include "engine/files/safetensors_writer.h"
#include "engine/lora/output_folder.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

namespace engine {

namespace {

constexpr int64_t kMostStackRank = 1024;
constexpr std::string_view kWeight = ".weight";
constexpr const char* kValuesFile = "adapter_model.safetensors";
constexpr const char* kConfigFile = "adapter_config.json";

/// What one adapter adds to one tensor.
struct Piece {
    const Adapter* adapter = nullptr;
    const LowRankUpdate* update = nullptr;
    double factor = 1.0; ///< Strength times scaling.
};

/// By canonical tensor, so that the file is the same whatever the order of the adapters' files.
using Pieces = std::map<std::string, std::vector<Piece>>;

std::string moduleOf(const std::string& tensor) {
    return tensor.ends_with(kWeight) ? tensor.substr(0, tensor.size() - kWeight.size()) : tensor;
}

Error notASum(const Adapter& adapter, Phrase what, const std::string& tensor) {
    return {ErrorCode::Unsupported,
            said("%1: %2 (%3) cannot be stacked, because that is more than a sum of low-rank "
                 "updates; merge the adapters into the model instead (merge without --stack)",
                 adapter.name(), what, tensor)};
}

Result<void> checkInput(const MergeInput& input) {
    const Adapter& adapter = *input.adapter;
    if (!(input.strength >= 0.0 && input.strength <= 2.0)) {
        return Error{ErrorCode::InvalidRequest,
                     said("adapter strength %1 is outside 0 to 2", input.strength)};
    }
    if (!adapter.rowReplacements().empty()) {
        return notASum(adapter, phrase("the replacement of rows of a table"),
                       adapter.rowReplacements().front().tensor);
    }
    if (!adapter.replacements().empty()) {
        return notASum(adapter, phrase("the replacement of a whole tensor"),
                       adapter.replacements().front().tensor);
    }
    for (const LowRankUpdate& update : adapter.updates()) {
        if (update.isDora()) {
            return notASum(adapter, phrase("a DoRA update"), update.tensor);
        }
        if (update.b_bias.present) {
            return notASum(adapter, phrase("a bias of an update"), update.tensor);
        }
        if (update.experts > 0) {
            return notASum(adapter, phrase("an update of experts"), update.tensor);
        }
    }
    return {};
}

/// [rank, in] of all pieces one below the other, zeros below.
Result<std::vector<float>> stackedA(const std::vector<Piece>& pieces, int64_t rank) {
    const int64_t in = pieces.front().update->in;
    std::vector<float> out(static_cast<size_t>(rank * in));
    size_t at = 0;
    for (const Piece& piece : pieces) {
        const auto count = static_cast<size_t>(piece.update->rank * in);
        ENGINE_TRY(piece.adapter->readFloats(piece.update->a, std::span(out).subspan(at, count)));
        at += count;
    }
    return out;
}

/// [out, rank] of all pieces side by side, each times its factor, zeros behind.
Result<std::vector<float>> stackedB(const std::vector<Piece>& pieces, int64_t rank) {
    const int64_t rows = pieces.front().update->out;
    std::vector<float> out(static_cast<size_t>(rows * rank));
    int64_t begin = 0;
    for (const Piece& piece : pieces) {
        const int64_t width = piece.update->rank;
        std::vector<float> b(static_cast<size_t>(rows * width));
        ENGINE_TRY(piece.adapter->readFloats(piece.update->b, b));
        for (int64_t row = 0; row < rows; ++row) {
            for (int64_t k = 0; k < width; ++k) {
                const double value = b[static_cast<size_t>(row * width + k)];
                out[static_cast<size_t>(row * rank + begin + k)] =
                    static_cast<float>(value * piece.factor);
            }
        }
        begin += width;
    }
    return out;
}

/// Makes the values when the first of their bytes are wanted and lets them go with the last.
TensorToWrite lazily(std::string name,
                     std::vector<int64_t> shape,
                     std::function<Result<std::vector<float>>()> make) {
    auto held = std::make_shared<std::vector<float>>();
    TensorToWrite tensor;
    tensor.name = std::move(name);
    tensor.type = TensorType::F32;
    tensor.shape = std::move(shape);
    tensor.fill = [held, make = std::move(make)](uint64_t offset,
                                                 std::span<std::byte> out) -> Result<void> {
        if (offset == 0) {
            ENGINE_ASSIGN(*held, make());
        }
        const auto bytes = std::as_bytes(std::span<const float>(*held));
        std::memcpy(out.data(), bytes.data() + offset, out.size());
        if (offset + out.size() == bytes.size()) {
            *held = {};
        }
        return {};
    };
    return tensor;
}

std::vector<TensorToWrite> tensorsOf(const Pieces& pieces, int64_t rank) {
    std::vector<TensorToWrite> out;
    for (const auto& entry : pieces) {
        const auto& list = entry.second;
        const LowRankUpdate& first = *list.front().update;
        const bool is_embedding = first.kind == TensorKind::Embedding;
        const std::string module = "base_model.model." + moduleOf(entry.first);
        out.push_back(lazily(module + (is_embedding ? ".lora_embedding_A" : ".lora_A.weight"),
                             {rank, first.in}, [&list, rank] { return stackedA(list, rank); }));
        out.push_back(lazily(module + (is_embedding ? ".lora_embedding_B" : ".lora_B.weight"),
                             {first.out, rank}, [&list, rank] { return stackedB(list, rank); }));
    }
    return out;
}

Result<void> writeConfig(const std::filesystem::path& file,
                         const StackRequest& request,
                         const Pieces& pieces,
                         int64_t rank) {
    nlohmann::ordered_json config = {
        {"peft_type", "LORA"},       {"task_type", "CAUSAL_LM"}, {"r", rank},
        {"lora_alpha", rank},        {"lora_dropout", 0.0},      {"bias", "none"},
        {"use_rslora", false},       {"use_dora", false},        {"fan_in_fan_out", false},
        {"init_lora_weights", true}, {"inference_mode", true}};
    if (!request.base_model.empty()) {
        config["base_model_name_or_path"] = request.base_model;
    }
    for (const auto& [tensor, list] : pieces) {
        config["target_modules"].push_back(moduleOf(tensor));
    }
    const std::string text =
        config.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
    ENGINE_ASSIGN(auto out, FileWriter::create(file, true));
    ENGINE_TRY(out->write(std::as_bytes(std::span(text))));
    return out->commit();
}

} // namespace

Result<StackReport> stackAdapters(const StackRequest& request) {
    Pieces pieces;
    for (const MergeInput& input : request.adapters) {
        ENGINE_TRY(checkInput(input));
        for (const LowRankUpdate& update : input.adapter->updates()) {
            pieces[update.tensor].push_back(
                {input.adapter.get(), &update, input.strength * update.scaling});
        }
    }
    if (pieces.empty()) {
        return Error{ErrorCode::InvalidRequest,
                     said("nothing to stack: no adapter was given that changes this model")};
    }
    StackReport report;
    for (const auto& [tensor, list] : pieces) {
        int64_t rank = 0;
        for (const Piece& piece : list) {
            rank += piece.update->rank;
        }
        report.rank = std::max(report.rank, rank);
    }
    if (report.rank > kMostStackRank) {
        return Error{ErrorCode::Unsupported,
                     said("the adapters have rank %1 together, at most %2 can be stacked; merge "
                          "them into the model instead (merge without --stack)",
                          report.rank, kMostStackRank)};
    }
    report.modules = static_cast<int64_t>(pieces.size());
    report.adapters = static_cast<int64_t>(request.adapters.size());
    ENGINE_ASSIGN(const auto folder, OutputFolder::open(request.out_folder));
    folder->add(kValuesFile);
    folder->add(kConfigFile);
    WriteOptions options;
    options.stop = request.stop;
    options.on_bytes_written = [&report](uint64_t bytes) { report.bytes = bytes; };
    ENGINE_TRY(writeSafetensorsFile(folder->work() / kValuesFile, tensorsOf(pieces, report.rank),
                                    options));
    ENGINE_TRY(writeConfig(folder->work() / kConfigFile, request, pieces, report.rank));
    ENGINE_TRY(folder->keep());
    return report;
}

} // namespace engine
