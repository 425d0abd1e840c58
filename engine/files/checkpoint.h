// SPDX-License-Identifier: Apache-2.0
// A model as it is stored: texts that say what it is, and tensors. What reads one asks for a text
// by what it says, never for a file, so that a form which keeps everything in one file (GGUF) is
// another implementation and nothing more.
#pragma once

#include "engine/base/result.h"
#include "engine/files/safetensors.h"
#include "engine/files/tensor_source.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// What a checkpoint says beside its tensors. In a Hugging Face folder each is a file of its own.
enum class ModelText : uint8_t {
    Config = 1,      ///< Sizes and kinds of layers: config.json.
    Generation,      ///< Defaults of sampling: generation_config.json.
    Processor,       ///< How pictures and sounds are prepared: processor_config.json.
    Preprocessor,    ///< The same in an older form: preprocessor_config.json.
    Tokenizer,       ///< Vocabulary and merges: tokenizer.json.
    TokenizerConfig, ///< Special tokens by name, at times a template: tokenizer_config.json.
    ChatTemplate,    ///< Jinja: chat_template.jinja.
    ChatTemplates,   ///< Templates by name: chat_template.json.
};

/// The file that holds it in a Hugging Face folder: "config.json". Messages call it so.
std::string_view fileNameOf(ModelText text);

/// The largest text of this kind that is read, in bytes.
uint64_t maxTextBytes(ModelText text);

class Checkpoint {
public:
    Checkpoint() = default;
    virtual ~Checkpoint() = default;
    Checkpoint(const Checkpoint&) = delete;
    Checkpoint& operator=(const Checkpoint&) = delete;

    /// The folder or file, for messages and summaries.
    [[nodiscard]] virtual std::filesystem::path where() const = 0;

    /// Whether there is such a text, readable or not.
    [[nodiscard]] virtual bool has(ModelText text) const = 0;

    /// The whole text; nullopt when there is none. Errors: InvalidFile (not a plain file, a link
    /// that leads out of the folder, more than maxTextBytes()), those of reading.
    [[nodiscard]] virtual Result<std::optional<std::string>> read(ModelText text) const = 0;

    /// What stands in the place of a text, such as the pointer of a file that was not fetched.
    /// Looks at its beginning alone, and does not tell why a text cannot be read.
    [[nodiscard]] virtual std::optional<Sentence> standIn(ModelText /*text*/) const { return {}; }

    /// What to tell where a text that a reader cannot do without is not there, with the next step.
    [[nodiscard]] virtual Error missing(ModelText text) const = 0;

    /// Where further chat templates are, which nobody reads, to tell of them; at most 1,000.
    [[nodiscard]] virtual std::vector<std::string> furtherTemplates() const { return {}; }

    /// Headers only; data is read by the source. Errors: as openModelFolder().
    [[nodiscard]] virtual Result<std::unique_ptr<TensorSource>>
    openTensors(const OpenOptions& options) const = 0;
};

/// A Hugging Face folder: JSON files beside safetensors. Opens nothing yet.
std::shared_ptr<const Checkpoint> folderCheckpoint(const std::filesystem::path& folder);

/// The text, or missing() where there is none. Errors: as read().
Result<std::string> readRequired(const Checkpoint& checkpoint, ModelText text);

} // namespace engine
