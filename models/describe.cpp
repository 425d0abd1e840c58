// SPDX-License-Identifier: Apache-2.0
#include "models/describe.h"

#include "engine/api/load_request.h"
#include "engine/base/ascii.h"
#include "engine/base/gguf_names.h"
#include "engine/base/json/tree.h"
#include "engine/base/paths.h"
#include "engine/files/folder_advice.h"
#include "engine/files/foreign_format.h"
#include "engine/files/shard_index.h"
#include "engine/lora/adapter_config.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

namespace models {

namespace fs = std::filesystem;
using engine::phrase;
using engine::said;
using engine::Sentence;

namespace {

constexpr const char* kConfig = "config.json";
constexpr const char* kIndex = "model.safetensors.index.json";
constexpr const char* kSingle = "model.safetensors";
constexpr const char* kAdapterConfig = "adapter_config.json";
constexpr const char* kAdapterWeights = "adapter_model.safetensors";
constexpr const char* kTokenizer = "tokenizer.json";

bool isThere(const FolderContents& contents, std::string_view name) {
    const FolderContents::File* file = contents.find(name);
    return file != nullptr && file->look.kind == Look::Kind::File && file->look.bytes > 0;
}

/// A text of the folder as a tree; nullopt where there is none that can be read.
std::optional<engine::Json> readTree(Disk& disk, const fs::path& folder, const std::string& name) {
    const std::string text = disk.readModelFile(folder, name);
    auto tree = engine::parseJson(text, name, {.max_values = engine::kMostJsonTreeValues});
    return tree.has_value() ? std::optional(*std::move(tree)) : std::nullopt;
}

/// Weights in Python's own format, which are never opened.
std::string firstPickle(const FolderContents& contents) {
    for (const FolderContents::File& file : contents.files) {
        const std::string name = engine::lowered(file.name);
        const bool is_weights = name.starts_with("pytorch_model") || name.starts_with("model") ||
                                name.starts_with("consolidated") ||
                                name.starts_with("adapter_model");
        for (const std::string_view ending : {".bin", ".pt", ".pth", ".ckpt"}) {
            if (is_weights && name.ends_with(ending)) {
                return file.name;
            }
        }
    }
    return {};
}

/// Names of shards, of which none needs to be there; the files that name others and are not there
/// stand in `missing`.
std::vector<std::string>
weightNames(Disk& disk, const FolderContents& contents, std::vector<std::string>& missing) {
    if (contents.find(kSingle) != nullptr) {
        return {kSingle};
    }
    if (isThere(contents, kIndex)) {
        const auto index =
            engine::parseShardIndex(disk.readModelFile(contents.folder, kIndex), kIndex);
        return index.has_value() ? index->shards : std::vector<std::string>();
    }
    for (const FolderContents::File& file : contents.files) {
        if (file.name.starts_with("model-") && file.name.ends_with(".safetensors")) {
            std::vector<std::string> names = engine::partNames(file.name);
            if (!names.empty()) {
                missing.emplace_back(kIndex);
                return names;
            }
        }
    }
    return {};
}

void addUp(Entry& entry, const FolderContents& contents) {
    for (const FolderContents::File& file : contents.files) {
        entry.bytes += file.look.bytes;
        entry.modified = std::max(entry.modified, file.look.modified);
    }
}

void tell(
    Entry& entry, State state, Trouble::Reason reason, Sentence sentence, Sentence way_out = {}) {
    entry.state = state;
    entry.trouble = Trouble{reason, std::move(sentence), std::move(way_out)};
}

/// What recogniseForeignFormat() says of the file, or `otherwise`.
Sentence foreignSentence(Disk& disk,
                         const fs::path& folder,
                         const std::string& name,
                         engine::Phrase otherwise) {
    const std::string head = disk.head(folder, name);
    const auto format =
        engine::recogniseForeignFormat(std::as_bytes(std::span<const char>(head)), false);
    return said("%1 %2", name, format.has_value() ? format->advice : otherwise);
}

Sentence listed(const std::vector<std::string>& names) {
    const auto shown = static_cast<std::ptrdiff_t>(std::min<size_t>(names.size(), 3));
    return engine::listed({names.begin(), names.begin() + shown}, names.size());
}

constexpr engine::Phrase kCopyThem =
    phrase("copy the missing files beside the others, or get the model again");

void tellMissing(Entry& entry) {
    if (!entry.missing.empty() && entry.state == State::Usable) {
        tell(entry, State::Incomplete, Trouble::Reason::FilesMissing,
             entry.missing.size() == 1
                 ? said("is not whole: %1 is missing", listed(entry.missing))
                 : said("is not whole: %1 are missing", listed(entry.missing)),
             kCopyThem);
    }
}

/// The first of these files that is none: what stands for one that was not fetched, a Git LFS
/// pointer or a web page, is told by its kind.
bool tellStandIn(Disk& disk,
                 const FolderContents& contents,
                 const std::vector<std::string>& names,
                 Entry& entry) {
    for (const std::string& name : names) {
        if (!isThere(contents, name)) {
            continue;
        }
        if (const auto format = engine::recogniseStandIn(disk.head(contents.folder, name))) {
            tell(entry, State::Incomplete, Trouble::Reason::FilesMissing,
                 said("%1 %2", name, format->advice), phrase("get the model again"));
            return true;
        }
    }
    return false;
}

std::optional<Entry> describeModel(Disk& disk,
                                   const FolderContents& contents,
                                   const Root& root,
                                   const std::string& name) {
    const bool has_config = contents.find(kConfig) != nullptr;
    Entry entry;
    const std::vector<std::string> weights = weightNames(disk, contents, entry.missing);
    const std::string pickle = weights.empty() ? firstPickle(contents) : std::string();
    const bool is_adapter = contents.find(kAdapterConfig) != nullptr;
    // The config.json of a repository of GGUF files is nobody's.
    const bool has_gguf =
        std::any_of(contents.files.begin(), contents.files.end(), [](const auto& file) {
            return engine::ggufRole(file.name) == engine::GgufRole::Model;
        });
    if (weights.empty() && (is_adapter || (pickle.empty() && (!has_config || has_gguf)))) {
        return std::nullopt;
    }
    entry.kind = Kind::Model;
    entry.name = name;
    entry.path = contents.folder;
    entry.root = root;
    addUp(entry, contents);
    std::optional<engine::Json> config;
    if (isThere(contents, kConfig)) {
        config = readTree(disk, contents.folder, kConfig);
    }
    if (config.has_value()) {
        entry.family = engine::textOf(*config, "model_type");
        entry.precision = engine::textOf(*config, "dtype");
        entry.precision =
            entry.precision.empty() ? engine::textOf(*config, "torch_dtype") : entry.precision;
    }
    if (weights.empty() && pickle.empty()) {
        // Many programs have a config.json: a model's says what kind it is.
        if (!config.has_value() ||
            (entry.family.empty() && config->find("architectures") == nullptr)) {
            return std::nullopt;
        }
        entry.missing.emplace_back(kSingle);
    }
    if (!isThere(contents, kConfig)) {
        entry.missing.insert(entry.missing.begin(), kConfig);
    }
    if (!pickle.empty()) {
        entry.form = Form::Pickle;
        tell(entry, State::Unusable, Trouble::Reason::Pickle,
             foreignSentence(disk, contents.folder, pickle, engine::kPickleByName));
        return entry;
    }
    entry.form = weights.empty() ? Form::None : Form::Safetensors;
    for (const std::string& weight : weights) {
        if (!isThere(contents, weight) ||
            engine::recogniseStandIn(disk.head(contents.folder, weight))) {
            entry.missing.push_back(weight);
        }
    }
    if (!isThere(contents, kTokenizer)) {
        entry.missing.emplace_back(kTokenizer);
    }
    const engine::Json* quantization = config.has_value() ? config->find("quantization") : nullptr;
    if (quantization != nullptr && quantization->find("group_size") != nullptr) {
        entry.form = Form::Mlx;
        tell(entry, State::Unusable, Trouble::Reason::Mlx,
             phrase("is quantized for MLX, which runs on Apple's processors alone"),
             phrase("get the model's own safetensors version; Belfry quantizes it while it "
                    "loads"));
        return entry;
    }
    std::vector<std::string> files = weights;
    files.insert(files.end(), {kConfig, kTokenizer, kIndex});
    if (!tellStandIn(disk, contents, files, entry)) {
        tellMissing(entry);
    }
    return entry;
}

std::optional<Entry> describeAdapter(Disk& disk,
                                     const FolderContents& contents,
                                     const Root& root,
                                     const std::string& name) {
    if (contents.find(kAdapterConfig) == nullptr) {
        return std::nullopt;
    }
    Entry entry;
    entry.kind = Kind::Adapter;
    entry.name = name;
    entry.path = contents.folder;
    entry.root = root;
    addUp(entry, contents);
    const std::string text = disk.readModelFile(contents.folder, kAdapterConfig);
    if (const auto tree = engine::parseJson(text, kAdapterConfig); tree.has_value()) {
        entry.base = engine::textOf(*tree, "base_model_name_or_path");
        entry.family = engine::lowered(engine::textOf(*tree, "peft_type"));
    }
    const bool has_weights = contents.find(kAdapterWeights) != nullptr;
    entry.form = has_weights ? Form::Safetensors : Form::None;
    if (tellStandIn(disk, contents, {kAdapterConfig, kAdapterWeights}, entry)) {
        return entry;
    }
    const auto config = engine::parseAdapterConfig(text);
    if (!config.has_value()) {
        const bool is_unknown = config.error().code == engine::ErrorCode::Unsupported;
        tell(entry, State::Unusable,
             is_unknown ? Trouble::Reason::NotSupported : Trouble::Reason::Broken,
             config.error().told(),
             is_unknown ? phrase("see the adapters that Belfry runs: engine/lora/ADAPTER_CONFIG.md")
                        : phrase("get the adapter again"));
        return entry;
    }
    entry.rank = config->rank;
    if (!has_weights && firstPickle(contents).starts_with("adapter_model")) {
        entry.form = Form::Pickle;
        tell(entry, State::Unusable, Trouble::Reason::Pickle,
             engine::noAdapterWeights(contents.folder).told());
        return entry;
    }
    if (!isThere(contents, kAdapterWeights)) {
        entry.missing.emplace_back(kAdapterWeights);
    }
    tellMissing(entry);
    return entry;
}

/// Each GGUF model of the folder, in one file or in parts, with the projector and the assistant
/// beside it, which the engine takes along; and each adapter in a GGUF file.
void describeGguf(Disk& disk,
                  const FolderContents& contents,
                  const Root& root,
                  const std::string& name,
                  std::vector<Entry>& out) {
    using engine::GgufRole;
    const auto bytesBeside = [&contents](GgufRole role) {
        const auto beside =
            std::find_if(contents.files.begin(), contents.files.end(),
                         [role](const auto& file) { return engine::ggufRole(file.name) == role; });
        return beside == contents.files.end() ? uint64_t{0} : beside->look.bytes;
    };
    const uint64_t beside = bytesBeside(GgufRole::Projector) + bytesBeside(GgufRole::Assistant);
    for (const FolderContents::File& file : contents.files) {
        if (engine::ggufRole(file.name) != GgufRole::Model) {
            continue;
        }
        const std::string head = disk.head(contents.folder, file.name);
        Entry entry;
        entry.form = Form::Gguf;
        if (head.find(engine::kGgufAdapterMark) != std::string::npos) {
            entry.kind = Kind::Adapter;
            entry.family = "lora";
        }
        entry.name = name.empty() ? file.name : name + "/" + file.name;
        entry.path = contents.folder / engine::pathFromUtf8(file.name);
        entry.root = root;
        entry.precision = engine::ggufQuantization(file.name);
        entry.bytes = file.look.bytes + (entry.kind == Kind::Adapter ? 0 : beside);
        entry.modified = file.look.modified;
        for (const std::string& part : engine::partNames(file.name)) {
            if (!isThere(contents, part)) {
                entry.missing.push_back(part);
            } else if (part != file.name) {
                entry.bytes += contents.find(part)->look.bytes;
            }
        }
        const auto foreign =
            engine::recogniseForeignFormat(std::as_bytes(std::span<const char>(head)), false);
        if (foreign.has_value() && foreign->rule != "GgufFile") {
            tell(entry, State::Unusable, Trouble::Reason::Broken,
                 said("%1 %2", file.name, foreign->advice), phrase("get the file again"));
        } else if (file.look.kind != Look::Kind::File) {
            tell(entry, State::Incomplete, Trouble::Reason::FilesMissing,
                 said("%1 is a link that leads nowhere or out of the folder", file.name),
                 kCopyThem);
        } else if (!head.starts_with("GGUF")) {
            tell(entry, State::Unusable, Trouble::Reason::Broken,
                 said("%1 does not begin as a GGUF file does", file.name),
                 phrase("get the file again"));
        }
        tellMissing(entry);
        out.push_back(std::move(entry));
    }
}

} // namespace

const FolderContents::File* FolderContents::find(std::string_view name) const {
    const auto found = std::lower_bound(
        files.begin(), files.end(), name,
        [](const File& file, std::string_view wanted) { return file.name < wanted; });
    return found != files.end() && found->name == name ? &*found : nullptr;
}

FolderContents readFolder(Disk& disk, const fs::path& folder) {
    FolderContents contents;
    contents.folder = folder;
    std::error_code failure;
    const std::vector<fs::path> names = disk.list(folder, failure);
    contents.is_readable = !failure;
    for (const fs::path& path : names) {
        const std::string name = engine::utf8Of(path);
        Look look = disk.look(folder / path);
        if (look.kind == Look::Kind::Folder) {
            contents.folders.push_back(name);
            continue;
        }
        if (look.kind == Look::Kind::Link) {
            look = disk.lookAtModelFile(folder, name);
            look.kind = look.kind == Look::Kind::File ? look.kind : Look::Kind::Nothing;
        }
        if (look.kind == Look::Kind::File || look.kind == Look::Kind::Nothing) {
            contents.files.push_back({name, look});
        }
    }
    // Paths and texts are not sorted alike on every system.
    std::sort(contents.files.begin(), contents.files.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
    return contents;
}

std::vector<Entry> describeFolder(Disk& disk,
                                  const FolderContents& contents,
                                  const Root& root,
                                  const std::string& name) {
    std::vector<Entry> entries;
    if (auto model = describeModel(disk, contents, root, name)) {
        entries.push_back(*std::move(model));
    }
    if (auto adapter = describeAdapter(disk, contents, root, name)) {
        entries.push_back(*std::move(adapter));
    }
    describeGguf(disk, contents, root, name, entries);
    for (Entry& entry : entries) {
        entry.real_path = disk.real(entry.path);
    }
    return entries;
}

} // namespace models
