// SPDX-License-Identifier: Apache-2.0
// Header text, order of tensors, shards and index.
#include "engine/files/safetensors_writer.h"

#include "engine/base/paths.h"
#include "engine/base/utf8.h"
#include "engine/files/safetensors.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

namespace engine {

using nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr int64_t kMaxDimension = int64_t{1} << 48;
constexpr uint64_t kMaxTensorBytes = uint64_t{1} << 48;

Error requestError(std::string_view rule, const Sentence& what) {
    return Error{ErrorCode::InvalidRequest, what, {{"rule", std::string(rule)}}};
}

/// Bytes of a tensor, or why it cannot be written.
Result<uint64_t> checkedBytes(const TensorToWrite& tensor) {
    const bool has_control = std::any_of(tensor.name.begin(), tensor.name.end(), [](char c) {
        return static_cast<unsigned char>(c) < 0x20U || c == 0x7f;
    });
    if (tensor.name.empty() || tensor.name.size() > kMaxTensorNameBytes || has_control ||
        tensor.name == "__metadata__" || !isValidUtf8(tensor.name)) {
        return requestError("ST02", said("writing safetensors: a tensor has an unusable name"));
    }
    const auto inTensor = [&tensor](const Sentence& what) {
        return said("writing safetensors: tensor %1: %2", tensor.name, what);
    };
    if (tensorTypeSize(tensor.type) == 0 || !tensor.fill) {
        return requestError("InvalidTensorView",
                            inTensor(said("it has no element type or no data")));
    }
    if (tensor.shape.size() > kMaxTensorRank) {
        return requestError("ST02", inTensor(said("it has more than 8 dimensions")));
    }
    uint64_t bytes = tensorTypeSize(tensor.type);
    for (const int64_t size : tensor.shape) {
        if (size < 0 || size > kMaxDimension ||
            (size > 0 && bytes > kMaxTensorBytes / static_cast<uint64_t>(size))) {
            return requestError("ValidationOverflow", inTensor(said("its size is out of range")));
        }
        bytes *= static_cast<uint64_t>(size);
    }
    if (tensor.data_bytes.value_or(bytes) != bytes) {
        return requestError("InvalidTensorView",
                            inTensor(said("it has %1 bytes, its shape and type need %2",
                                          *tensor.data_bytes, bytes)));
    }
    return bytes;
}

struct Item {
    const TensorToWrite* tensor = nullptr;
    uint64_t size_bytes = 0;
};

/// All tensors with their sizes. Errors: as checkedBytes, or a name given twice.
Result<std::vector<Item>> checkedItems(const std::vector<TensorToWrite>& tensors) {
    std::vector<Item> items;
    std::set<std::string_view> names;
    for (const TensorToWrite& tensor : tensors) {
        ENGINE_ASSIGN(const uint64_t size_bytes, checkedBytes(tensor));
        if (!names.insert(tensor.name).second) {
            return requestError(
                "ST01",
                said("writing safetensors: the tensor name %1 is given twice", tensor.name));
        }
        items.push_back({&tensor, size_bytes});
    }
    return items;
}

/// Length prefix and header, padded so that the data area starts at a multiple of 8.
std::string headerBytes(const std::vector<Item>& items, const WriteOptions& options) {
    json header = json::object();
    if (!options.metadata.empty()) {
        json metadata = json::object();
        for (const auto& [key, value] : options.metadata) {
            metadata[key] = value;
        }
        header["__metadata__"] = std::move(metadata);
    }
    uint64_t begin = 0;
    for (const Item& item : items) {
        const uint64_t end = begin + item.size_bytes;
        header[item.tensor->name] = {{"dtype", tensorTypeName(item.tensor->type)},
                                     {"shape", item.tensor->shape},
                                     {"data_offsets", {begin, end}}};
        begin = end;
    }
    // "replace": metadata may come from foreign files; names were checked.
    std::string text = header.dump(-1, ' ', false, json::error_handler_t::replace);
    text.append((8 - text.size() % 8) % 8, ' ');
    std::string prefix(8, '\0');
    for (size_t i = 0; i < 8; ++i) {
        prefix[i] = static_cast<char>((static_cast<uint64_t>(text.size()) >> (8 * i)) & 0xffU);
    }
    return prefix + text;
}

/// Bytes written by a whole call, for the progress callback.
struct Progress {
    const WriteOptions& options;
    uint64_t num_bytes = 0;
};

Result<void> writeFile(const fs::path& path, std::vector<Item> items, Progress& progress) {
    std::sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
        const size_t size_a = tensorTypeSize(a.tensor->type);
        const size_t size_b = tensorTypeSize(b.tensor->type);
        return size_a != size_b ? size_a > size_b : a.tensor->name < b.tensor->name;
    });
    const std::string header = headerBytes(items, progress.options);
    if (header.size() - 8 > kMaxSafetensorsHeaderBytes) {
        return requestError("HeaderTooLarge",
                            said("writing safetensors: the header would exceed 100000000 bytes"));
    }
    ENGINE_ASSIGN(const std::unique_ptr<FileWriter> file,
                  FileWriter::create(path, progress.options.is_replacing_allowed,
                                     progress.options.no_plain_file));
    ENGINE_TRY(file->write(std::as_bytes(std::span(header))));
    std::vector<std::byte> piece;
    for (const Item& item : items) {
        for (uint64_t offset = 0; offset < item.size_bytes; offset += kSafetensorsPieceBytes) {
            if (progress.options.stop.stop_requested()) {
                return Error{ErrorCode::Cancelled, said("writing safetensors: cancelled")};
            }
            const uint64_t left = item.size_bytes - offset;
            piece.resize(static_cast<size_t>(std::min<uint64_t>(left, kSafetensorsPieceBytes)));
            ENGINE_TRY(item.tensor->fill(offset, piece));
            ENGINE_TRY(file->write(piece));
            progress.num_bytes += piece.size();
            if (progress.options.on_bytes_written) {
                progress.options.on_bytes_written(progress.num_bytes);
            }
        }
    }
    return file->commit();
}

std::string shardName(size_t number, size_t count) {
    const auto padded = [](size_t value) {
        const std::string text = std::to_string(value);
        return text.size() >= 5 ? text : std::string(5 - text.size(), '0') + text;
    };
    return "model-" + padded(number) + "-of-" + padded(count) + ".safetensors";
}

/// Removes files written by a call that did not finish.
class WrittenFiles {
public:
    explicit WrittenFiles(fs::path folder) : folder_(std::move(folder)) {}
    WrittenFiles(const WrittenFiles&) = delete;
    WrittenFiles& operator=(const WrittenFiles&) = delete;
    ~WrittenFiles() {
        for (const std::string& name : names_) {
            std::error_code failure;
            fs::remove(folder_ / pathFromUtf8(name), failure);
        }
    }
    void add(std::string name) { names_.push_back(std::move(name)); }
    [[nodiscard]] std::vector<std::string> keep() { return std::exchange(names_, {}); }

private:
    fs::path folder_;
    std::vector<std::string> names_;
};

} // namespace

TensorToWrite tensorFromBytes(std::string name,
                              TensorType type,
                              std::vector<int64_t> shape,
                              std::vector<std::byte> bytes) {
    const uint64_t data_bytes = bytes.size();
    auto stored = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
    TensorFill fill = [stored](uint64_t offset, std::span<std::byte> out) -> Result<void> {
        if (!out.empty()) {
            std::memcpy(out.data(), stored->data() + offset, out.size());
        }
        return {};
    };
    return TensorToWrite{std::move(name), type, std::move(shape), std::move(fill), data_bytes};
}

Result<void> writeSafetensorsFile(const fs::path& file,
                                  const std::vector<TensorToWrite>& tensors,
                                  const WriteOptions& options) {
    ENGINE_ASSIGN(std::vector<Item> items, checkedItems(tensors));
    Progress progress{options};
    return writeFile(file, std::move(items), progress);
}

Result<std::vector<std::string>> writeSafetensorsFolder(const fs::path& folder,
                                                        const std::vector<TensorToWrite>& tensors,
                                                        uint64_t max_shard_bytes,
                                                        const WriteOptions& options) {
    ENGINE_ASSIGN(const std::vector<Item> items, checkedItems(tensors));
    std::vector<std::vector<Item>> shards(1);
    uint64_t shard_bytes = 0;
    uint64_t total_bytes = 0;
    for (const Item& item : items) {
        if (!shards.back().empty() &&
            item.size_bytes > max_shard_bytes - std::min(shard_bytes, max_shard_bytes)) {
            shards.emplace_back();
            shard_bytes = 0;
        }
        shards.back().push_back(item);
        shard_bytes += item.size_bytes;
        total_bytes += item.size_bytes;
    }
    Progress progress{options};
    WrittenFiles written(folder);
    if (shards.size() == 1) {
        ENGINE_TRY(writeFile(folder / kWeightsFile, std::move(shards.front()), progress));
        return std::vector<std::string>{std::string(kWeightsFile)};
    }
    json weight_map = json::object();
    for (size_t i = 0; i < shards.size(); ++i) {
        const std::string name = shardName(i + 1, shards.size());
        for (const Item& item : shards[i]) {
            weight_map[item.tensor->name] = name;
        }
        ENGINE_TRY(writeFile(folder / pathFromUtf8(name), std::move(shards[i]), progress));
        written.add(name);
    }
    json index = {{"metadata", {{"total_size", total_bytes}}}};
    index["weight_map"] = std::move(weight_map);
    const std::string text = index.dump(2);
    ENGINE_ASSIGN(const std::unique_ptr<FileWriter> file,
                  FileWriter::create(folder / kWeightsIndexFile, options.is_replacing_allowed));
    ENGINE_TRY(file->write(std::as_bytes(std::span(text))));
    ENGINE_TRY(file->commit());
    std::vector<std::string> names = written.keep();
    names.emplace_back(kWeightsIndexFile);
    return names;
}

} // namespace engine
