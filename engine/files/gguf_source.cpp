// SPDX-License-Identifier: Apache-2.0
#include "engine/files/gguf_source.h"

#include "engine/base/paths.h"
#include "engine/base/utf8.h"
#include "engine/files/file_error.h"
#include "engine/files/model_files.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace engine {

namespace fs = std::filesystem;

namespace {

const TensorInfo* findIn(const std::vector<TensorInfo>& sorted, std::string_view name) {
    const auto at = std::lower_bound(
        sorted.begin(), sorted.end(), name,
        [](const TensorInfo& info, std::string_view wanted) { return info.name < wanted; });
    return at != sorted.end() && at->name == name ? &*at : nullptr;
}

void sortByName(std::vector<TensorInfo>& tensors) {
    std::sort(tensors.begin(), tensors.end(),
              [](const TensorInfo& a, const TensorInfo& b) { return a.name < b.name; });
}

struct OpenedPart {
    std::shared_ptr<const FileReader> file;
    GgufHeader header;
};

Result<OpenedPart> openPart(const fs::path& folder, const std::string& name) {
    OpenedPart part;
    ENGINE_ASSIGN(const fs::path path, resolveModelFile(folder, name));
    ENGINE_ASSIGN(part.file, FileReader::open(path, name));
    const FileReader& file = *part.file;
    ENGINE_ASSIGN(part.header, GgufHeader::parse(
                                   name, file.sizeBytes(),
                                   [&file](uint64_t offset, std::span<std::byte> out) {
                                       return file.read(offset, out);
                                   },
                                   /*is_data_absence_allowed=*/true));
    return part;
}

/// "model-00002-of-00003.gguf" as that of part `number` + 1; "" where it does not end so.
std::string partName(const std::string& name, int64_t number, int64_t count) {
    constexpr size_t kEndLength = 20; // -00002-of-00003.gguf
    const auto digits = [](int64_t value) {
        const std::string text = std::to_string(value);
        return std::string(text.size() < 5 ? 5 - text.size() : 0, '0') + text;
    };
    if (name.size() <= kEndLength || !name.ends_with("-of-" + digits(count) + ".gguf")) {
        return {};
    }
    return name.substr(0, name.size() - kEndLength) + "-" + digits(number + 1) + "-of-" +
           digits(count) + ".gguf";
}

/// Numbers of a part: which it is, and of how many. {0, 1} for a model in one file.
Result<std::pair<int64_t, int64_t>> splitOf(const GgufHeader& header, const std::string& name) {
    ENGINE_ASSIGN(const auto number, header.integer("split.no"));
    ENGINE_ASSIGN(const auto count, header.integer("split.count"));
    const int64_t all = count.value_or(0) == 0 ? 1 : *count;
    const int64_t own = number.value_or(0);
    constexpr int64_t kMostParts = 9999;
    if (own < 0 || own >= all || all > kMostParts) {
        return fileError("GgufSplit", name,
                         said("says that it is number %1 (from 0) of %2 parts, of which there may "
                              "be %3; the file is damaged, download it again",
                              own, all, kMostParts));
    }
    return std::pair(own, all);
}

/// The part with that number of `count`, which must say so itself.
Result<OpenedPart>
openNumbered(const fs::path& folder, const std::string& any_name, int64_t number, int64_t count) {
    const std::string name = partName(any_name, number, count);
    if (!modelFileExists(folder, name)) {
        return fileError("GgufPartMissing", name,
                         said("is part %1 of %2 of the model and is not in the folder; download "
                              "it beside %3",
                              number + 1, count, any_name));
    }
    ENGINE_ASSIGN(OpenedPart part, openPart(folder, name));
    ENGINE_ASSIGN(const auto split, splitOf(part.header, name));
    if (split != std::pair(number, count)) {
        return fileError("GgufSplit", name,
                         said("says that it is part %1 of %2, its name says %3; the parts belong "
                              "to different downloads",
                              split.first + 1, split.second, number + 1));
    }
    return part;
}

Result<void> takeTensors(GgufModel& model, const OpenedPart& part) {
    constexpr size_t kMostTensors = 65'536; // of one file as well
    if (part.header.tensors().size() > kMostTensors - model.tensors.size()) {
        return fileError("GgufCount", part.header.fileName(),
                         said("the parts up to this one hold more than %1 tensors; is this a "
                              "model?",
                              kMostTensors));
    }
    for (TensorInfo tensor : part.header.tensors()) {
        tensor.file_index = static_cast<int>(model.files.size());
        model.tensors.push_back(std::move(tensor));
    }
    model.is_data_absent = model.is_data_absent || part.header.isDataAbsent();
    model.files.push_back(part.file);
    return {};
}

Result<void> addParts(GgufModel& model, const std::string& first_name, int64_t count) {
    for (int64_t i = 1; i < count; ++i) {
        ENGINE_ASSIGN(const OpenedPart part,
                      openNumbered(model.path.parent_path(), first_name, i, count));
        ENGINE_TRY(takeTensors(model, part));
    }
    ENGINE_ASSIGN(const auto promised, model.header.integer("split.tensors.count"));
    if (promised && *promised != static_cast<int64_t>(model.tensors.size())) {
        return fileError("GgufSplit", first_name,
                         said("says that its %1 parts hold %2 tensors, they hold %3", count,
                              *promised, model.tensors.size()));
    }
    return {};
}

} // namespace

const TensorInfo* GgufModel::find(std::string_view name) const {
    return findIn(tensors, name);
}

Result<std::shared_ptr<const GgufModel>> openGgufModel(const fs::path& file) {
    const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
    std::string name = utf8Of(file.filename());
    ENGINE_ASSIGN(OpenedPart part, openPart(folder, name));
    ENGINE_ASSIGN(const auto split, splitOf(part.header, name));
    if (split.second > 1) {
        const auto [number, count] = split;
        if (partName(name, number, count) != name) {
            return fileError("GgufSplit", name,
                             said("is part %1 of %2, but its name does not end as theirs do "
                                  "(as model-00001-of-00003.gguf); give it its own name again",
                                  number + 1, count));
        }
        if (number != 0) {
            ENGINE_ASSIGN(part, openNumbered(folder, name, 0, count));
            name = part.header.fileName();
        }
    }
    auto model = std::make_shared<GgufModel>();
    model->path = folder / pathFromUtf8(name);
    ENGINE_TRY(takeTensors(*model, part));
    model->header = std::move(part.header);
    ENGINE_TRY(addParts(*model, name, split.second));
    sortByName(model->tensors);
    const auto twin = std::adjacent_find(
        model->tensors.begin(), model->tensors.end(),
        [](const TensorInfo& a, const TensorInfo& b) { return a.name == b.name; });
    if (twin != model->tensors.end()) {
        return fileError("GgufTensorTwice", name,
                         said("the tensor %1 stands there twice", inQuotes(twin->name)));
    }
    return std::shared_ptr<const GgufModel>(std::move(model));
}

uint64_t Rearranged::windowBytes() const {
    uint64_t bytes = 0;
    for (const Piece& piece : pieces) {
        bytes += piece.bytes;
    }
    return bytes;
}

int GgufSource::addFiles(std::shared_ptr<const GgufModel> model) {
    const int first = static_cast<int>(files_.size());
    for (const auto& file : model->files) {
        files_.push_back(file);
        names_.push_back(file->name());
    }
    if (model->is_data_absent) {
        is_data_absent_ = true;
        warn(said("%1: holds only its header, no weights; download the whole file to load it",
                  names_[static_cast<size_t>(first)]));
    }
    models_.push_back(std::move(model));
    return first;
}

void GgufSource::add(TensorInfo shown, std::optional<Rearranged> order) {
    if (order) {
        orders_.emplace_back(shown.name, *std::move(order));
    }
    infos_.push_back(std::move(shown));
}

void GgufSource::sort() {
    sortByName(infos_);
    std::sort(orders_.begin(), orders_.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
}

const TensorInfo* GgufSource::find(std::string_view name) const {
    return findIn(infos_, name);
}

std::optional<FileStamp> GgufSource::fileStamp(int file_index) const {
    const auto index = static_cast<size_t>(file_index);
    return index < files_.size() ? files_[index]->stamp() : std::nullopt;
}

Result<void>
GgufSource::read(const TensorInfo& tensor, uint64_t offset, std::span<std::byte> out) const {
    const auto index = static_cast<size_t>(tensor.file_index);
    if (index >= files_.size() || offset > tensor.size_bytes ||
        out.size() > tensor.size_bytes - offset) {
        return Error{
            ErrorCode::Internal, tensor.name + ": bytes outside the tensor were asked for", {}};
    }
    if (is_data_absent_) {
        return fileError(
            "DataAbsent", names_[index],
            said("holds only its header; download the whole file to load %1", tensor.name));
    }
    const auto order =
        std::lower_bound(orders_.begin(), orders_.end(), tensor.name,
                         [](const auto& a, const std::string& wanted) { return a.first < wanted; });
    if (order != orders_.end() && order->first == tensor.name) {
        return readRearranged(order->second, offset, out);
    }
    return files_[index]->read(tensor.file_offset + offset, out);
}

Result<void> GgufSource::readRearranged(const Rearranged& order,
                                        uint64_t offset,
                                        std::span<std::byte> out) const {
    const uint64_t window_bytes = order.windowBytes();
    std::vector<std::byte> stored(static_cast<size_t>(window_bytes));
    std::vector<std::byte> window(stored.size());
    for (size_t done = 0; window_bytes > 0 && done < out.size();) {
        const uint64_t number = (offset + done) / window_bytes;
        const auto within = static_cast<size_t>((offset + done) % window_bytes);
        size_t at = 0;
        for (const Rearranged::Piece& piece : order.pieces) {
            ENGINE_TRY(files_[static_cast<size_t>(piece.file)]->read(
                piece.offset + number * piece.bytes,
                std::span(stored).subspan(at, static_cast<size_t>(piece.bytes))));
            at += static_cast<size_t>(piece.bytes);
        }
        const auto unit = static_cast<size_t>(order.unit_bytes);
        for (size_t i = 0; unit > 0 && i < stored.size() / unit; ++i) {
            std::memcpy(window.data() + i * unit,
                        stored.data() + static_cast<size_t>(order.from(i)) * unit, unit);
        }
        const size_t count = std::min(out.size() - done, stored.size() - within);
        std::memcpy(out.data() + done, (unit > 0 ? window : stored).data() + within, count);
        done += count;
    }
    return {};
}

} // namespace engine
