// SPDX-License-Identifier: Apache-2.0
// The door to what reads and writes files without a loaded model: merging, a map from a file,
// logits into a file, recordings for the ear.
#include "engine/base/file_writer.h"
#include "engine/base/paths.h"
#include "engine/base/small_file.h"
#include "engine/families/gguf/checkpoint.h"
#include "engine/files/folder_advice.h"
#include "engine/files/safetensors_writer.h"
#include "engine/lora/merge.h"
#include "engine/lora/stack.h"
#include "engine/media/sound_listening.h"
#include "engine/plan/device_map.h"
#include "engine/run/engine_state.h"
#include "kernels/cpu/tables.h"

#include <nlohmann/json.hpp>

#include <span>

namespace engine {

namespace {

/// The adapters of an order, read against its model.
Result<std::vector<MergeInput>> adaptersOf(const MergeOrder& order,
                                           const OpenedModel& opened,
                                           const Engine& engine,
                                           const std::stop_token& stop) {
    std::vector<MergeInput> adapters;
    for (const AdapterChoice& choice : order.adapters) {
        AdapterOptions options;
        options.base = opened.source.get();
        options.stop = stop;
        ENGINE_ASSIGN(auto adapter, loadAdapter(pathFromUtf8(engine.adapterFolder(choice.folder)),
                                                opened.config, opened.tensors, options));
        adapters.push_back({std::move(adapter), choice.strength});
    }
    return adapters;
}

/// A model whose folder others are made from.
Result<OpenedModel> openForWriting(const std::string& model) {
    const auto path = pathFromUtf8(model);
    if (isGgufFile(path)) {
        return Error{ErrorCode::Unsupported,
                     said("%1: is a GGUF file; adapters are merged into the model's Hugging Face "
                          "folder, and applied without merging to this one",
                          utf8Of(path.filename())),
                     {{"rule", "GgufFile"}}};
    }
    return OpenedModel::open(folderCheckpoint(path));
}

} // namespace

Result<MergeReport> Engine::merge(const MergeOrder& order, const std::stop_token& stop) {
    auto result = openForWriting(modelFolder(order.model));
    if (!result.has_value()) {
        return withDownload(std::move(result).error(), impl_->options.hub_caches);
    }
    auto adapters = adaptersOf(order, *result, *this, stop);
    if (!adapters.has_value()) {
        return withDownload(std::move(adapters).error(), impl_->options.hub_caches);
    }
    MergeRequest request;
    request.model_folder = result->checkpoint->where();
    request.adapters = *std::move(adapters);
    request.out_folder = order.out_folder;
    request.stop = stop;
    return mergeAdapters(request);
}

Result<StackReport> Engine::stack(const MergeOrder& order, const std::stop_token& stop) {
    auto result = openForWriting(modelFolder(order.model));
    if (!result.has_value()) {
        return withDownload(std::move(result).error(), impl_->options.hub_caches);
    }
    auto adapters = adaptersOf(order, *result, *this, stop);
    if (!adapters.has_value()) {
        return withDownload(std::move(adapters).error(), impl_->options.hub_caches);
    }
    StackRequest request;
    request.adapters = *std::move(adapters);
    // Its name alone: the file goes to other computers.
    const std::filesystem::path model = pathFromUtf8(order.model);
    request.base_model = utf8Of((model.has_filename() ? model : model.parent_path()).filename());
    request.out_folder = pathFromUtf8(order.out_folder);
    request.stop = stop;
    return stackAdapters(request);
}

nlohmann::ordered_json Engine::mergeReportTree(const MergeReport& report) {
    return engine::mergeReportTree(report);
}

std::string Engine::processorKernels() {
    return kernels::bestCpuOps().name;
}

std::optional<uint64_t> Engine::parseByteSize(std::string_view text) {
    return engine::parseByteSize(text);
}

std::vector<std::string> Engine::mapPresets() {
    std::vector<std::string> names = {"fit"};
    names.insert(names.end(), devicePresets().begin(), devicePresets().end());
    return names;
}

Result<std::string> Engine::readDeviceMap(const std::string& word, const std::string& file) {
    if (word == "fit" || isDevicePreset(word)) {
        return word;
    }
    Result<std::string> content = readSmallFile(pathFromUtf8(file), kMaxDeviceMapBytes);
    if (content.has_value()) {
        // What a file holds is a map, or a bad one: never nothing or a preset's name.
        return isDeviceMapText(*content) ? *std::move(content) : *content + ' ';
    }
    if (content.error().details.front().second != "FileMissing") {
        return content.error();
    }
    std::string presets;
    for (const std::string& name : mapPresets()) {
        presets += (presets.empty() ? "" : ", ") + name;
    }
    const Sentence hint = deviceMapHint(word);
    const Sentence what = said("%1: neither a file nor a preset (%2)", file, presets);
    return Error{ErrorCode::InvalidRequest, hint.isEmpty() ? what : said("%1; %2", what, hint)};
}

Result<void> Engine::writeLogits(const std::string& file,
                                 const LogitsResult& logits,
                                 const std::stop_token& stop) {
    const auto bytesOf = [](const auto& values) {
        const auto view = std::as_bytes(std::span(values));
        return std::vector<std::byte>(view.begin(), view.end());
    };
    std::vector<TensorToWrite> tensors;
    tensors.push_back(tensorFromBytes("logits", TensorType::F32, {logits.rows, logits.vocab},
                                      bytesOf(logits.logits)));
    tensors.push_back(tensorFromBytes("input_ids", TensorType::I32,
                                      {static_cast<int64_t>(logits.input_ids.size())},
                                      bytesOf(logits.input_ids)));
    WriteOptions options;
    options.is_replacing_allowed = true;
    options.no_plain_file = NoPlainFile::WriteInto;
    options.stop = stop;
    return writeSafetensorsFile(pathFromUtf8(file), tensors, options);
}

Result<ListeningPart>
Engine::readListeningPart(const std::filesystem::path& path, double start_s, double length_s) {
    return engine::readListeningPart(path, start_s, length_s);
}

Result<SoundPeaks> Engine::readSoundPeaks(const std::filesystem::path& path,
                                          size_t max_peaks,
                                          const std::stop_token& stop) {
    return engine::readSoundPeaks(path, max_peaks, stop);
}

} // namespace engine
