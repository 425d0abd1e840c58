// SPDX-License-Identifier: Apache-2.0
#include "engine/families/gguf/checkpoint.h"

#include "engine/api/load_request.h"
#include "engine/base/ascii.h"
#include "engine/base/folder_list.h"
#include "engine/base/gguf_names.h"
#include "engine/base/paths.h"
#include "engine/families/gguf/metadata.h"
#include "engine/files/model_files.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>

namespace engine {

namespace fs = std::filesystem;

namespace {

using gguf::Architecture;
using gguf::Files;

class GgufCheckpoint final : public Checkpoint {
public:
    GgufCheckpoint(Files files, Architecture architecture, std::string config)
        : files_(std::move(files)), architecture_(architecture), config_(std::move(config)) {}

    [[nodiscard]] fs::path where() const override { return files_.text->path; }

    [[nodiscard]] bool has(ModelText text) const override {
        switch (text) {
        case ModelText::Config:
        case ModelText::Generation:
        case ModelText::TokenizerConfig:
            return true;
        case ModelText::Tokenizer:
            return files_.text->header.has("tokenizer.ggml.tokens");
        case ModelText::ChatTemplate:
            return files_.text->header.has("tokenizer.chat_template");
        default:
            return false;
        }
    }

    [[nodiscard]] Result<std::optional<std::string>> read(ModelText text) const override {
        if (!has(text)) {
            return std::optional<std::string>();
        }
        ENGINE_ASSIGN(std::string found, written(text));
        if (found.size() > maxTextBytes(text)) {
            return Error{ErrorCode::InvalidFile,
                         said("%1: what stands for %2 has %3, at most %4 are read; get the file of "
                              "another converter",
                              files_.text->header.fileName(), fileNameOf(text),
                              ByteCount{found.size()}, ByteCount{maxTextBytes(text)}),
                         {{"rule", "FileTooLarge"}, {"file", files_.text->header.fileName()}}};
        }
        return std::optional(std::move(found));
    }

    [[nodiscard]] Error missing(ModelText text) const override {
        return {ErrorCode::InvalidFile,
                said("%1: holds nothing that stands for %2; get the file of another converter",
                     files_.text->header.fileName(), fileNameOf(text)),
                {{"rule", "GgufTextMissing"}}};
    }

    [[nodiscard]] Result<std::unique_ptr<TensorSource>>
    openTensors(const OpenOptions& options) const override {
        auto source = std::make_unique<GgufSource>();
        ENGINE_TRY(gguf::addTensors(files_, architecture_, *source));
        if (source->isHeaderOnly() && !options.is_header_only_allowed) {
            return Error{ErrorCode::InvalidFile,
                         said("%1: the file was cut short; download it again",
                              files_.text->header.fileName()),
                         {{"rule", "GgufDataTruncated"}}};
        }
        return std::unique_ptr<TensorSource>(std::move(source));
    }

private:
    [[nodiscard]] Result<std::string> written(ModelText text) const {
        const GgufModel& model = *files_.text;
        switch (text) {
        case ModelText::Generation:
            return gguf::generationText(model, architecture_);
        case ModelText::Tokenizer:
            return gguf::tokenizerText(model);
        case ModelText::TokenizerConfig:
            return gguf::tokenizerConfigText(model);
        case ModelText::ChatTemplate: {
            ENGINE_ASSIGN(const auto stored, model.header.text("tokenizer.chat_template"));
            return std::string(stored.value_or(""));
        }
        default:
            return config_;
        }
    }

    Files files_;
    Architecture architecture_;
    std::string config_;
};

/// What a projector says of the model that it belongs to; nullopt where the file is none.
std::optional<int64_t> projectedWidth(const GgufModel& file) {
    const auto architecture = file.header.text("general.architecture");
    if (!architecture || architecture->value_or("") != "clip") {
        return std::nullopt;
    }
    for (const std::string_view key : {"clip.vision.projection_dim", "clip.audio.projection_dim"}) {
        if (const auto width = file.header.integer(key); width && *width) {
            return **width;
        }
    }
    return std::nullopt;
}

/// Whether a projector of the right width can be the model's: embedders in place of towers are the
/// 12B's alone, which has neither per-layer tables nor experts.
bool fits(const GgufModel& model, const GgufModel& projector, int64_t width) {
    const bool is_embedder = projector.find("v.patch_norm.1.weight") != nullptr;
    const bool can_be_12b = model.find("per_layer_token_embd.weight") == nullptr &&
                            model.find("blk.0.ffn_gate_inp.weight") == nullptr;
    return projectedWidth(projector) == width && (!is_embedder || can_be_12b);
}

/// Which of several projectors is the better one: towers lose below 16 bits.
int rankOf(const GgufModel& projector) {
    const TensorInfo* info = projector.find("mm.input_projection.weight");
    constexpr std::array kOrder = {TensorType::BF16, TensorType::F32, TensorType::F16};
    const auto* const at =
        std::find(kOrder.begin(), kOrder.end(), info == nullptr ? TensorType::Other : info->type);
    return static_cast<int>(at - kOrder.begin());
}

/// The best projector beside the model that fits it; nullptr: there is none. A name narrows the
/// search, the header decides.
std::shared_ptr<const GgufModel> projectorFor(const GgufModel& model, int64_t width) {
    std::vector<fs::path> folders = {model.path.parent_path()};
    if (model.files.size() > 1) {
        folders.push_back(folders[0] / ".."); // parts are published in a folder of their own
    }
    constexpr size_t kMostOpened = 100; // a header may take a second
    size_t opened_count = 0;
    std::shared_ptr<const GgufModel> best;
    for (const fs::path& folder : folders) {
        for (const std::string& name : ggufFilesIn(folder, GgufRole::Projector)) {
            if (++opened_count > kMostOpened) {
                return best;
            }
            auto opened = openGgufModel(folder / pathFromUtf8(name));
            if (opened && fits(model, **opened, width) &&
                (best == nullptr || rankOf(**opened) < rankOf(*best))) {
                best = *std::move(opened);
            }
        }
    }
    return best;
}

Result<int64_t> widthOf(const GgufModel& model) {
    return gguf::Keys(model, "gemma4.").count("embedding_length");
}

/// The towers' file: the one that was named, else the model's own where it has towers, else the
/// best of the folder; nullptr: none.
Result<std::shared_ptr<const GgufModel>> towersOf(const std::shared_ptr<const GgufModel>& text,
                                                  const fs::path& named) {
    const GgufModel& model = *text;
    ENGINE_ASSIGN(const int64_t width, widthOf(model));
    if (named.empty()) {
        const bool has_own =
            std::any_of(model.tensors.begin(), model.tensors.end(),
                        [](const TensorInfo& tensor) { return gguf::isTowers(tensor.name); });
        return has_own ? text : projectorFor(model, width);
    }
    ENGINE_ASSIGN(auto projector, openGgufModel(named));
    const auto its = projectedWidth(*projector);
    if (fits(model, *projector, width)) {
        return projector;
    }
    const std::string& name = projector->header.fileName();
    const auto other = projectorFor(model, width);
    const Sentence step = other == nullptr
                              ? said("get the mmproj file of the model's own repository")
                              : said("%1 beside the model fits", other->header.fileName());
    return Error{ErrorCode::InvalidFile,
                 its ? said("%1: belongs to another model: its features are %2 wide, %3 is %4 "
                            "wide; %5",
                            name, *its, model.header.fileName(), width, step)
                     : said("%1: is not a projector (mmproj); %2", name, step),
                 {{"rule", "GgufProjector"}, {"file", name}}};
}

/// A folder that holds no Hugging Face model: repositories of GGUF files may have a config.json.
bool isGgufFolder(const fs::path& folder) {
    std::error_code failure;
    if (!fs::is_directory(folder, failure)) {
        return false;
    }
    if (!modelFileExists(folder, fileNameOf(ModelText::Config))) {
        return true;
    }
    constexpr size_t kMostNames = 10'000;
    const std::vector<fs::path> names = listFolder(folder, kMostNames, failure);
    return std::none_of(names.begin(), names.end(), [](const fs::path& name) {
        return utf8Of(name).find(".safetensors") != std::string::npos;
    });
}

} // namespace

bool isGgufFile(const fs::path& path) {
    std::error_code failure;
    if (!fs::is_regular_file(path, failure)) {
        return false;
    }
    const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
    const auto head = headOfModelFile(folder, utf8Of(path.filename()), 4);
    return lowered(utf8Of(path)).ends_with(".gguf") ||
           (head.size() == 4 && std::memcmp(head.data(), "GGUF", 4) == 0);
}

Result<std::shared_ptr<const Checkpoint>> ggufCheckpoint(const fs::path& file,
                                                         const fs::path& projector) {
    Files files;
    ENGINE_ASSIGN(files.text, openGgufModel(file));
    ENGINE_ASSIGN(const Architecture architecture, gguf::architectureOf(*files.text));
    if (architecture == Architecture::Gemma4) {
        ENGINE_ASSIGN(files.towers, towersOf(files.text, projector));
    } else if (!projector.empty()) {
        return Error{ErrorCode::InvalidFile,
                     said("%1: models of its architecture take no projector; leave --mmproj out",
                          files.text->header.fileName()),
                     {{"rule", "GgufProjector"}}};
    }
    ENGINE_ASSIGN(std::string config, gguf::configText(files, architecture));
    return std::shared_ptr<const Checkpoint>(
        std::make_shared<GgufCheckpoint>(std::move(files), architecture, std::move(config)));
}

Result<std::shared_ptr<const Checkpoint>> openCheckpoint(const fs::path& model,
                                                         const fs::path& projector) {
    if (isGgufFile(model)) {
        return ggufCheckpoint(model, projector);
    }
    if (isGgufFolder(model)) {
        std::vector<std::string> files = ggufFilesIn(model, GgufRole::Model);
        std::erase_if(files, [&model](const std::string& name) {
            const auto head = headOfModelFile(model, name, kGgufMarkBytes);
            return std::string_view(reinterpret_cast<const char*>(head.data()), head.size())
                       .find(kGgufAdapterMark) != std::string_view::npos;
        });
        if (files.size() == 1) {
            return ggufCheckpoint(model / pathFromUtf8(files.front()), projector);
        }
        if (!files.empty()) {
            const size_t shown = std::min<size_t>(files.size(), 8);
            return Error{
                ErrorCode::InvalidFile,
                said("%1: holds %2 GGUF models: %3; give one of these files", utf8Of(model),
                     files.size(),
                     listed({files.begin(), files.begin() + static_cast<std::ptrdiff_t>(shown)},
                            files.size())),
                {{"rule", "GgufFolder"}}};
        }
    }
    if (!projector.empty()) {
        return Error{ErrorCode::InvalidFile,
                     said("%1: is not a GGUF file; --mmproj goes with one", utf8Of(model)),
                     {{"rule", "GgufProjector"}}};
    }
    return folderCheckpoint(model);
}

} // namespace engine
