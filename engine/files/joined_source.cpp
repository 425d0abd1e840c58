// SPDX-License-Identifier: Apache-2.0
#include "engine/files/joined_source.h"

#include <algorithm>
#include <utility>

namespace engine {

namespace {

class JoinedSource final : public TensorSource {
public:
    JoinedSource(std::shared_ptr<const TensorSource> base,
                 std::shared_ptr<const TensorSource> added,
                 const std::string& label,
                 const AddedName& name_of,
                 RowOrder reordered)
        : base_(std::move(base)), added_(std::move(added)), reordered_(std::move(reordered)),
          files_(base_->fileNames()) {
        first_added_ = static_cast<int>(files_.size());
        const std::string above = label + "/";
        for (const std::string& file : added_->fileNames()) {
            files_.push_back(above + file);
        }
        infos_ = base_->tensors();
        for (const TensorInfo& info : added_->tensors()) {
            const std::optional<std::string> name = name_of(info.name);
            if (!name.has_value() || base_->find(*name) != nullptr) {
                continue;
            }
            TensorInfo& joined = infos_.emplace_back(info);
            joined.name = *name;
            joined.file_index += first_added_;
        }
        std::sort(infos_.begin(), infos_.end(),
                  [](const TensorInfo& a, const TensorInfo& b) { return a.name < b.name; });
        for (const TensorInfo& info : added_->tensors()) {
            if (const std::optional<std::string> name = name_of(info.name)) {
                stored_.emplace_back(*name, &info);
            }
        }
        std::sort(stored_.begin(), stored_.end());
    }

    [[nodiscard]] const std::vector<TensorInfo>& tensors() const override { return infos_; }
    [[nodiscard]] const TensorInfo* find(std::string_view name) const override {
        const auto it = std::lower_bound(
            infos_.begin(), infos_.end(), name,
            [](const TensorInfo& info, std::string_view wanted) { return info.name < wanted; });
        return it != infos_.end() && it->name == name ? &*it : nullptr;
    }
    [[nodiscard]] const std::vector<std::string>& fileNames() const override { return files_; }

    [[nodiscard]] Result<void>
    read(const TensorInfo& tensor, uint64_t offset, std::span<std::byte> out) const override {
        if (tensor.file_index < first_added_) {
            return base_->read(tensor, offset, out);
        }
        const auto it = std::lower_bound(
            stored_.begin(), stored_.end(), tensor.name,
            [](const auto& entry, const std::string& wanted) { return entry.first < wanted; });
        if (it == stored_.end() || it->first != tensor.name) {
            return Error{
                ErrorCode::InvalidFile, said("%1: there is no such tensor", tensor.name), {}};
        }
        if (reordered_.order != nullptr && tensor.name == reordered_.name) {
            return readReordered(*it->second, offset, out);
        }
        return added_->read(*it->second, offset, out);
    }
    [[nodiscard]] bool isHeaderOnly() const override {
        return base_->isHeaderOnly() || added_->isHeaderOnly();
    }
    [[nodiscard]] std::optional<FileStamp> fileStamp(int file_index) const override {
        return file_index < first_added_ ? base_->fileStamp(file_index)
                                         : added_->fileStamp(file_index - first_added_);
    }
    [[nodiscard]] std::vector<Sentence> warnings() const override {
        std::vector<Sentence> all = base_->warnings();
        for (Sentence& warning : added_->warnings()) {
            all.push_back(std::move(warning));
        }
        return all;
    }
    [[nodiscard]] std::vector<std::pair<std::string, std::string>> metadata() const override {
        return base_->metadata();
    }

private:
    [[nodiscard]] Result<void>
    readReordered(const TensorInfo& stored, uint64_t offset, std::span<std::byte> out) const {
        const uint64_t rows = reordered_.order->size();
        const uint64_t row_bytes = rows > 0 ? stored.size_bytes / rows : 0;
        if (row_bytes == 0 || row_bytes * rows != stored.size_bytes || offset > stored.size_bytes ||
            out.size() > stored.size_bytes - offset) {
            return Error{
                ErrorCode::InvalidFile,
                said("%1: has not the %2 rows that are to be put in order", stored.name, rows),
                {}};
        }
        while (!out.empty()) {
            const uint64_t within = offset % row_bytes;
            const size_t count = std::min<uint64_t>(row_bytes - within, out.size());
            const auto row = static_cast<uint64_t>((*reordered_.order)[offset / row_bytes]);
            ENGINE_TRY(added_->read(stored, row * row_bytes + within, out.first(count)));
            out = out.subspan(count);
            offset += count;
        }
        return {};
    }

    std::shared_ptr<const TensorSource> base_, added_;
    RowOrder reordered_;
    std::vector<std::string> files_;
    int first_added_ = 0; ///< File index from which they are the added ones.
    std::vector<TensorInfo> infos_;
    std::vector<std::pair<std::string, const TensorInfo*>> stored_; ///< By joined name.
};

} // namespace

std::unique_ptr<TensorSource> joinSources(std::shared_ptr<const TensorSource> base,
                                          std::shared_ptr<const TensorSource> added,
                                          const std::string& label,
                                          const AddedName& name_of,
                                          RowOrder reordered) {
    return std::make_unique<JoinedSource>(std::move(base), std::move(added), label, name_of,
                                          std::move(reordered));
}

} // namespace engine
