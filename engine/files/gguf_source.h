// SPDX-License-Identifier: Apache-2.0
// GGUF files opened for reading: a model with all its parts, and the tensors of one or several of
// them under other names and in other orders than the files have. Which these are is the families'
// business (engine/families/gguf).
#pragma once

#include "engine/base/file_reader.h"
#include "engine/files/gguf_header.h"
#include "engine/files/tensor_source.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// A GGUF model: one file, or all parts of a split one, which lie in one folder.
struct GgufModel {
    std::filesystem::path path; ///< The first part.
    GgufHeader header;          ///< Its metadata are the model's.
    std::vector<std::shared_ptr<const FileReader>> files;
    std::vector<TensorInfo> tensors; ///< Sorted by name; file_index into `files`.
    bool is_data_absent = false;     ///< A file ends behind its header: plan works, load does not.

    /// nullptr when there is none.
    [[nodiscard]] const TensorInfo* find(std::string_view name) const;
};

/// Opens a file, whichever part of a split model it is. Errors: as GgufHeader::parse(), and
/// InvalidFile for parts that are not there or do not belong together.
Result<std::shared_ptr<const GgufModel>> openGgufModel(const std::filesystem::path& file);

/// A tensor made of bytes that lie in another order. It is a row of windows of one size; each is
/// put together from `pieces`, the first window from their beginnings and so on, and then its units
/// change places.
struct Rearranged {
    struct Piece {
        int file = 0; ///< Into GgufSource's files.
        uint64_t offset = 0;
        uint64_t bytes = 0; ///< That a window has of it.
    };
    std::vector<Piece> pieces;
    uint64_t unit_bytes = 0; ///< 0: the units stay where they are.
    /// Which unit of a window stands at place `unit`.
    std::function<uint64_t(uint64_t unit)> from;

    [[nodiscard]] uint64_t windowBytes() const;
};

class GgufSource final : public TensorSource {
public:
    /// Number of the first file of `model` here. The models are kept open.
    int addFiles(std::shared_ptr<const GgufModel> model);
    /// `shown`: name, shape and type to show; file_index and file_offset also where the bytes are
    /// rearranged.
    void add(TensorInfo shown, std::optional<Rearranged> order = std::nullopt);
    void warn(Sentence warning) { warnings_.push_back(std::move(warning)); }
    /// After the last add().
    void sort();

    [[nodiscard]] const std::vector<TensorInfo>& tensors() const override { return infos_; }
    [[nodiscard]] const TensorInfo* find(std::string_view name) const override;
    [[nodiscard]] const std::vector<std::string>& fileNames() const override { return names_; }
    [[nodiscard]] Result<void>
    read(const TensorInfo& tensor, uint64_t offset, std::span<std::byte> out) const override;
    [[nodiscard]] bool isHeaderOnly() const override { return is_data_absent_; }
    [[nodiscard]] std::optional<FileStamp> fileStamp(int file_index) const override;
    [[nodiscard]] std::vector<Sentence> warnings() const override { return warnings_; }

private:
    [[nodiscard]] Result<void>
    readRearranged(const Rearranged& order, uint64_t offset, std::span<std::byte> out) const;

    std::vector<std::shared_ptr<const GgufModel>> models_;
    std::vector<std::shared_ptr<const FileReader>> files_;
    std::vector<std::string> names_;
    std::vector<TensorInfo> infos_;
    std::vector<std::pair<std::string, Rearranged>> orders_; ///< Sorted by tensor.
    std::vector<Sentence> warnings_;
    bool is_data_absent_ = false;
};

} // namespace engine
