// SPDX-License-Identifier: Apache-2.0
// Opening safetensors files and folders: bounded reading of headers, agreement of shards and index,
// positioned reads of tensors.
#include "engine/files/safetensors.h"

#include "engine/base/file_reader.h"
#include "engine/base/folder_list.h"
#include "engine/base/paths.h"
#include "engine/files/file_error.h"
#include "engine/files/foreign_format.h"
#include "engine/files/model_files.h"
#include "engine/files/shard_index.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

namespace engine {

namespace fs = std::filesystem;

namespace {

constexpr size_t kHeadBytes = 16;
constexpr size_t kMaxListedNames = 3;

Error foreignError(const ForeignFormat& format, std::string_view file) {
    return Error{ErrorCode::Unsupported,
                 said("%1: %2", file, format.advice),
                 {{"rule", std::string(format.rule)}, {"file", std::string(file)}}};
}

struct OpenedFile {
    std::unique_ptr<FileReader> reader;
    SafetensorsHeader header;
};

uint64_t littleEndian64(std::span<const std::byte> bytes) {
    uint64_t value = 0;
    for (size_t i = 8; i > 0; --i) {
        value = (value << 8) | static_cast<uint64_t>(bytes[i - 1]);
    }
    return value;
}

/// Opens folder/name, checks the length prefix and parses the header.
Result<OpenedFile>
openFile(const fs::path& folder, std::string_view name, const OpenOptions& options) {
    ENGINE_ASSIGN(const fs::path path,
                  resolveModelFile(folder, name, options.are_outside_links_allowed));
    OpenedFile file;
    ENGINE_ASSIGN(file.reader, FileReader::open(path, std::string(name)));
    const uint64_t file_bytes = file.reader->sizeBytes();

    std::array<std::byte, kHeadBytes> head_storage{};
    const auto head = std::span(head_storage)
                          .first(static_cast<size_t>(std::min<uint64_t>(kHeadBytes, file_bytes)));
    ENGINE_TRY(file.reader->read(0, head));
    if (const auto foreign = recogniseForeignFormat(head, /*is_certain_only=*/true)) {
        return foreignError(*foreign, name);
    }
    // Once the file is known to be broken, look for formats that a length prefix could imitate.
    const auto broken = [&](std::string_view rule, const Sentence& what) {
        const auto foreign = recogniseForeignFormat(head, /*is_certain_only=*/false);
        return foreign ? foreignError(*foreign, name) : fileError(rule, name, what);
    };
    if (file_bytes < 8) {
        return broken(
            "HeaderTooSmall",
            said("has only %1 bytes; a safetensors file begins with an 8-byte header length",
                 file_bytes));
    }
    const uint64_t header_bytes = littleEndian64(head);
    if (header_bytes > kMaxSafetensorsHeaderBytes) {
        return broken("HeaderTooLarge", said("its header length is %1 bytes, at most 100000000 are "
                                             "allowed; is this a safetensors file?",
                                             header_bytes));
    }
    if (header_bytes > file_bytes - 8) {
        return broken("InvalidHeaderLength",
                      said("its header should have %1 bytes, but the file has %2 in all; it was "
                           "cut short, download it again",
                           header_bytes, file_bytes));
    }
    std::string text(static_cast<size_t>(header_bytes), '\0');
    ENGINE_TRY(file.reader->read(8, std::as_writable_bytes(std::span<char>(text))));
    auto header = parseSafetensorsHeader(text, file_bytes, name, options.is_header_only_allowed);
    if (!header) {
        const auto foreign = recogniseForeignFormat(head, /*is_certain_only=*/false);
        const bool is_json_like = !text.empty() && (text[0] == '{' || text[0] == ' ');
        if (foreign && !is_json_like) {
            return foreignError(*foreign, name);
        }
        return std::move(header).error();
    }
    file.header = std::move(header).value();
    return file;
}

class SafetensorsSource : public TensorSource {
public:
    std::vector<std::unique_ptr<FileReader>> readers;
    std::vector<std::string> file_names;
    std::vector<TensorInfo> infos; ///< Sorted by name.
    std::vector<Sentence> notes;
    Sentence unread; ///< Why there are no tensors.
    std::vector<std::pair<std::string, std::string>> header_metadata;
    std::vector<std::string> without_data; ///< Files that end after their headers.
    bool is_header_only = false;

    [[nodiscard]] const std::vector<TensorInfo>& tensors() const override { return infos; }

    [[nodiscard]] const TensorInfo* find(std::string_view name) const override {
        const auto it = std::lower_bound(
            infos.begin(), infos.end(), name,
            [](const TensorInfo& info, std::string_view wanted) { return info.name < wanted; });
        return it != infos.end() && it->name == name ? &*it : nullptr;
    }

    [[nodiscard]] const std::vector<std::string>& fileNames() const override { return file_names; }

    [[nodiscard]] Result<void>
    read(const TensorInfo& tensor, uint64_t offset, std::span<std::byte> out) const override {
        if (tensor.file_index < 0 || static_cast<size_t>(tensor.file_index) >= readers.size()) {
            return fileError(
                "DataAbsent", tensor.name,
                said("there is no weight file to read it from; only the configuration is here"));
        }
        const auto index = static_cast<size_t>(tensor.file_index);
        const std::string& file = file_names[index];
        if (is_header_only) {
            return fileError(
                "DataAbsent", file,
                said("holds only its header; download the whole file to load %1", tensor.name));
        }
        if (tensor.type == TensorType::Other) {
            return Error{ErrorCode::Unsupported,
                         said("%1: tensor %2 has an element type that Belfry cannot read; use a "
                              "bf16, fp16 or fp32 checkpoint",
                              file, tensor.name),
                         {{"rule", "ST05"}, {"file", file}, {"tensor", tensor.name}}};
        }
        if (offset > tensor.size_bytes || out.size() > tensor.size_bytes - offset) {
            return fileError("TensorRange", file,
                             said("tensor %1 has %2 bytes, bytes %3 to %4 were asked for",
                                  tensor.name, tensor.size_bytes, offset, offset + out.size()));
        }
        return readers[index]->read(tensor.file_offset + offset, out);
    }

    [[nodiscard]] std::optional<FileStamp> fileStamp(int file_index) const override {
        const auto index = static_cast<size_t>(file_index);
        return index < readers.size() ? readers[index]->stamp() : std::nullopt;
    }
    [[nodiscard]] bool isHeaderOnly() const override { return is_header_only; }
    [[nodiscard]] std::vector<Sentence> warnings() const override {
        std::vector<Sentence> all = notes;
        if (!unread.isEmpty()) {
            all.push_back(unread);
        }
        if (without_data.empty()) {
            return all;
        }
        constexpr size_t kMostNamed = 4;
        const size_t count = without_data.size();
        const auto end =
            without_data.begin() + static_cast<std::ptrdiff_t>(std::min(count, kMostNamed));
        const Sentence files = listed({without_data.begin(), end}, count);
        all.insert(
            all.begin(),
            count == 1
                ? said("%1: holds only its header, no weights; download the whole file to load it",
                       files)
                : said("%1: hold only their headers, no weights; download the whole files to load "
                       "them",
                       files));
        return all;
    }
    [[nodiscard]] Sentence whyUnread() const override { return unread; }
    [[nodiscard]] std::vector<std::pair<std::string, std::string>> metadata() const override {
        return header_metadata;
    }

    void append(OpenedFile file) {
        readers.push_back(std::move(file.reader));
        file_names.push_back(readers.back()->name());
        if (file.header.is_data_absent) {
            without_data.push_back(file_names.back());
            is_header_only = true;
        }
        notes.insert(notes.end(), file.header.warnings.begin(), file.header.warnings.end());
    }
};

Result<std::unique_ptr<TensorSource>>
openSingle(const fs::path& folder, std::string_view name, const OpenOptions& options) {
    ENGINE_ASSIGN(OpenedFile file, openFile(folder, name, options));
    auto source = std::make_unique<SafetensorsSource>();
    source->infos = std::move(file.header.tensors);
    source->header_metadata = std::move(file.header.metadata);
    source->append(std::move(file));
    return std::unique_ptr<TensorSource>(std::move(source));
}

/// The first of the tensors that the index puts into a shard.
Sentence tensorsOfShard(const ShardIndex& index, int shard) {
    std::vector<std::string> names;
    size_t count = 0;
    for (const ShardIndex::Item& item : index.items) {
        if (item.shard == shard && ++count <= kMaxListedNames) {
            names.push_back(item.tensor);
        }
    }
    return listed(names, count);
}

/// Takes from the shards what the index promises; `all` holds every tensor of every shard.
Result<void>
matchIndex(const ShardIndex& index, std::vector<TensorInfo> all, SafetensorsSource& source) {
    std::sort(all.begin(), all.end(),
              [](const TensorInfo& a, const TensorInfo& b) { return a.name < b.name; });
    const auto twin =
        std::adjacent_find(all.begin(), all.end(), [](const TensorInfo& a, const TensorInfo& b) {
            return a.name == b.name;
        });
    if (twin != all.end()) {
        const auto next = twin + 1;
        return fileError("ShardTensorTwice", kWeightsIndexFile,
                         said("the tensor %1 lies in two shards, %2 and %3", twin->name,
                              index.shards[static_cast<size_t>(twin->file_index)],
                              index.shards[static_cast<size_t>(next->file_index)]));
    }
    uint64_t total_bytes = 0;
    size_t num_extra = 0;
    std::vector<std::string> extra;
    auto item = index.items.begin();
    for (TensorInfo& info : all) {
        if (item != index.items.end() && item->tensor < info.name) {
            break; // the index names a tensor that no shard has; reported below
        }
        if (item == index.items.end() || item->tensor != info.name) {
            if (++num_extra <= kMaxListedNames) {
                extra.push_back(info.name);
            }
            continue;
        }
        if (item->shard != info.file_index) {
            break;
        }
        total_bytes += info.size_bytes;
        source.infos.push_back(std::move(info));
        ++item;
    }
    if (item != index.items.end()) {
        return fileError("ShardKeyMissing", kWeightsIndexFile,
                         said("puts the tensor %1 into %2, but that file does not hold it; the "
                              "files belong to different downloads",
                              item->tensor, index.shards[static_cast<size_t>(item->shard)]));
    }
    if (num_extra > 0) {
        source.notes.push_back(
            said("%1: does not name these tensors of its shards, they are ignored: %2",
                 kWeightsIndexFile, listed(extra, num_extra)));
    }
    if (index.total_size_bytes && *index.total_size_bytes != total_bytes) {
        source.notes.push_back(said("%1: metadata.total_size is %2, the tensors have %3 bytes",
                                    kWeightsIndexFile, *index.total_size_bytes, total_bytes));
    }
    return {};
}

Result<std::unique_ptr<TensorSource>> openSharded(const fs::path& folder,
                                                  const OpenOptions& options) {
    ENGINE_ASSIGN(const auto text, readModelText(folder, kWeightsIndexFile, kMaxIndexBytes,
                                                 options.are_outside_links_allowed));
    ENGINE_ASSIGN(
        const ShardIndex index,
        parseShardIndex(text ? std::string_view(*text) : std::string_view(), kWeightsIndexFile));
    auto source = std::make_unique<SafetensorsSource>();
    if (index.has_bad_size) {
        source->notes.push_back(
            said("%1: metadata.total_size is not a plain whole number; it is ignored",
                 kWeightsIndexFile));
    }
    std::vector<TensorInfo> all;
    for (size_t i = 0; i < index.shards.size(); ++i) {
        const std::string& shard = index.shards[i];
        if (!modelFileExists(folder, shard)) {
            return fileError(
                "ShardMissing", shard,
                said("is named in %1 but is not in the folder; download it. It holds %2",
                     kWeightsIndexFile, tensorsOfShard(index, static_cast<int>(i))));
        }
        ENGINE_ASSIGN(OpenedFile file, openFile(folder, shard, options));
        for (TensorInfo& info : file.header.tensors) {
            info.file_index = static_cast<int>(i);
            all.push_back(std::move(info));
        }
        source->append(std::move(file));
    }
    ENGINE_TRY(matchIndex(index, std::move(all), *source));
    return std::unique_ptr<TensorSource>(std::move(source));
}

/// Why a folder without safetensors weights cannot be opened, from what lies there instead.
Error explainMissingWeights(const fs::path& folder) {
    constexpr size_t kMaxEntries = 10'000;
    std::vector<std::string> names;
    std::error_code failure;
    for (const fs::path& entry : listFolder(folder, kMaxEntries, failure)) {
        names.push_back(utf8Of(entry));
    }
    std::sort(names.begin(), names.end());
    const auto find = [&](auto&& wanted) {
        const auto found = std::find_if(names.begin(), names.end(), wanted);
        return found == names.end() ? std::string() : *found;
    };
    if (const auto name = find([](const std::string& n) { return n == "adapter_config.json"; });
        !name.empty()) {
        return fileError("AdapterFolder", kWeightsFile,
                         said("is not in the folder, but adapter_config.json is: this is an "
                              "adapter; open its base model and add the adapter to it"));
    }
    for (const std::string& name : names) {
        for (const std::string_view ending : {".bin", ".pt", ".pth", ".ckpt", ".gguf", ".h5"}) {
            if (!name.ends_with(ending)) {
                continue;
            }
            const std::vector<std::byte> head = headOfModelFile(folder, name, kHeadBytes);
            if (head.size() < kHeadBytes) {
                continue;
            }
            if (const auto foreign = recogniseForeignFormat(head, /*is_certain_only=*/false)) {
                return foreignError(*foreign, name);
            }
        }
    }
    if (const auto name = find([](const std::string& n) { return n.ends_with(".safetensors"); });
        !name.empty()) {
        const auto count = std::count_if(names.begin(), names.end(), [](const std::string& n) {
            return n.ends_with(".safetensors");
        });
        if (count == 1) {
            return fileError(
                "WeightsUnnamed", kWeightsFile,
                said("is not in the folder, but %1 is; if it holds the whole model, rename it to "
                     "model.safetensors, else download the other files and %2",
                     name, kWeightsIndexFile));
        }
        return fileError("WeightsUnnamed", kWeightsIndexFile,
                         said("is not in the folder, but %1 weight files are (%2, ...); it says "
                              "which tensor is in which of them. Download it too",
                              count, name));
    }
    return fileError("WeightsMissing", kWeightsFile,
                     said("is not in the folder, and neither is %1; choose the folder that holds a "
                          "Hugging Face model",
                          kWeightsIndexFile));
}

/// Whether one of `rules` is broken.
bool isBroken(const Error& error, std::initializer_list<std::string_view> rules) {
    return std::any_of(error.details.begin(), error.details.end(), [&](const auto& detail) {
        return detail.first == "rule" &&
               std::find(rules.begin(), rules.end(), detail.second) != rules.end();
    });
}

/// The weights of a folder that is one.
Result<std::unique_ptr<TensorSource>> openWeights(const fs::path& folder,
                                                  const OpenOptions& options) {
    const bool has_index = modelFileExists(folder, kWeightsIndexFile);
    if (modelFileExists(folder, kWeightsFile)) {
        ENGINE_ASSIGN(auto source, openSingle(folder, kWeightsFile, options));
        if (has_index) {
            static_cast<SafetensorsSource&>(*source).notes.push_back(
                said("both model.safetensors and model.safetensors.index.json exist; the single "
                     "file is used"));
        }
        return source;
    }
    if (has_index) {
        return openSharded(folder, options);
    }
    return explainMissingWeights(folder);
}

} // namespace

Result<std::unique_ptr<TensorSource>> openSafetensorsFile(const fs::path& file,
                                                          const OpenOptions& options) {
    const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
    return openSingle(folder, utf8Of(file.filename()), options);
}

Result<std::unique_ptr<TensorSource>> openModelFolder(const fs::path& folder,
                                                      const OpenOptions& options) {
    std::error_code failure;
    if (!fs::is_directory(folder, failure)) {
        const std::string name = utf8Of(folder.filename());
        return fs::exists(folder, failure)
                   ? fileError(
                         "NotAFolder", name,
                         said("is a file; choose the folder that holds the model's config.json"))
                   : fileError("FileMissing", name, said("there is no such folder"));
    }
    auto source = openWeights(folder, options);
    if (source.has_value() || !options.is_header_only_allowed ||
        !modelFileExists(folder, "config.json")) {
        return source;
    }
    // Nothing is broken where files are absent: until they come config.json tells the sizes.
    const bool are_named =
        modelFileExists(folder, kWeightsFile) || modelFileExists(folder, kWeightsIndexFile);
    if (are_named && !isBroken(source.error(), {"ShardMissing", "LfsPointer"})) {
        return source;
    }
    auto empty = std::make_unique<SafetensorsSource>();
    empty->is_header_only = true;
    if (!isBroken(source.error(), {"WeightsMissing"})) {
        empty->unread = source.error().told();
    }
    return std::unique_ptr<TensorSource>(std::move(empty));
}

} // namespace engine
