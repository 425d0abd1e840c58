// SPDX-License-Identifier: Apache-2.0
#include "engine/files/checkpoint.h"

#include "engine/base/folder_list.h"
#include "engine/base/paths.h"
#include "engine/files/folder_advice.h"
#include "engine/files/foreign_format.h"
#include "engine/files/model_files.h"

#include <algorithm>
#include <utility>

namespace engine {

namespace fs = std::filesystem;

namespace {

struct TextFile {
    std::string_view name;
    uint64_t max_bytes;
};

TextFile fileOf(ModelText text) {
    constexpr uint64_t kMiB = uint64_t{1} << 20;
    switch (text) {
    case ModelText::Config:
        return {"config.json", kMaxSmallJsonBytes};
    case ModelText::Generation:
        return {"generation_config.json", kMaxSmallJsonBytes};
    case ModelText::Processor:
        return {"processor_config.json", kMaxSmallJsonBytes};
    case ModelText::Preprocessor:
        return {"preprocessor_config.json", kMaxSmallJsonBytes};
    case ModelText::Tokenizer: // 33 MB for 262,144 tokens
        return {"tokenizer.json", 128 * kMiB};
    case ModelText::TokenizerConfig: // describes every added token; Gemma 4's has about 1.2 MB
        return {"tokenizer_config.json", 16 * kMiB};
    case ModelText::ChatTemplate:
        return {"chat_template.jinja", kMiB};
    case ModelText::ChatTemplates:
        break;
    }
    return {"chat_template.json", 16 * kMiB};
}

constexpr std::string_view kTemplateFolder = "additional_chat_templates";

class FolderCheckpoint final : public Checkpoint {
public:
    explicit FolderCheckpoint(fs::path folder) : folder_(std::move(folder)) {}

    [[nodiscard]] fs::path where() const override { return folder_; }

    [[nodiscard]] bool has(ModelText text) const override {
        return modelFileExists(folder_, fileNameOf(text));
    }

    [[nodiscard]] Result<std::optional<std::string>> read(ModelText text) const override {
        return readModelText(folder_, fileNameOf(text), maxTextBytes(text));
    }

    [[nodiscard]] std::optional<Sentence> standIn(ModelText text) const override {
        const std::string name(fileNameOf(text));
        const std::vector<std::byte> head = headOfModelFile(folder_, name, 512);
        const auto found =
            recogniseStandIn({reinterpret_cast<const char*>(head.data()), head.size()});
        return found ? std::optional(said("%1: %2", name, found->advice)) : std::nullopt;
    }

    [[nodiscard]] Error missing(ModelText text) const override {
        if (text == ModelText::Config) {
            return notAModelFolder(folder_);
        }
        const std::string name(fileNameOf(text));
        return {
            ErrorCode::InvalidFile,
            said("%1: there is no such file in the folder; download it beside the weights", name),
            {{"rule", "FileMissing"}, {"file", name}}};
    }

    [[nodiscard]] std::vector<std::string> furtherTemplates() const override {
        constexpr size_t kMaxEntries = 1000;
        std::error_code failure;
        std::vector<fs::path> names = listFolder(folder_ / kTemplateFolder, kMaxEntries, failure);
        std::sort(names.begin(), names.end());
        std::vector<std::string> found;
        for (const fs::path& name : names) {
            const std::string text = utf8Of(name);
            if (text.ends_with(".jinja")) {
                found.push_back(std::string(kTemplateFolder) + "/" + text);
            }
        }
        return found;
    }

    [[nodiscard]] Result<std::unique_ptr<TensorSource>>
    openTensors(const OpenOptions& options) const override {
        return openModelFolder(folder_, options);
    }

private:
    fs::path folder_;
};

} // namespace

std::string_view fileNameOf(ModelText text) {
    return fileOf(text).name;
}

uint64_t maxTextBytes(ModelText text) {
    return fileOf(text).max_bytes;
}

std::shared_ptr<const Checkpoint> folderCheckpoint(const fs::path& folder) {
    return std::make_shared<FolderCheckpoint>(folder);
}

Result<std::string> readRequired(const Checkpoint& checkpoint, ModelText text) {
    ENGINE_ASSIGN(std::optional<std::string> found, checkpoint.read(text));
    if (!found) {
        return checkpoint.missing(text);
    }
    return *std::move(found);
}

} // namespace engine
