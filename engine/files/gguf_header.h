// SPDX-License-Identifier: Apache-2.0
// The header of one GGUF file, version 2 or 3: metadata by key and tensors. Untrusted input: every
// rule that a file breaks is its own error, whose details hold {"rule", name} and {"file", name};
// nothing is allocated for a length before the file is known to have that many bytes. What keys
// and tensors mean for a model is engine/families/gguf. Format: ggml's docs/gguf.md.
#pragma once

#include "engine/base/result.h"
#include "engine/files/tensor_source.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// Types of metadata values, by the numbers of the files.
enum class GgufType : uint32_t {
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    F32,
    Bool,
    String,
    Array,
    U64,
    I64,
    F64
};

/// Longest metadata that is read, in bytes; Gemma's tokenizer takes 16 million.
inline constexpr uint64_t kMaxGgufMetadataBytes = uint64_t{256} << 20;

class GgufHeader {
public:
    /// Fills the span from byte `offset` of the file.
    using ReadBytes = std::function<Result<void>(uint64_t offset, std::span<std::byte> out)>;

    /// Reads and checks the header of a file of `file_bytes` bytes. With `is_data_absence_allowed`
    /// the file may end anywhere behind its header. Errors: InvalidFile; Unsupported (version,
    /// byte order, a tensor's type); those of `read`.
    static Result<GgufHeader> parse(std::string_view file_name,
                                    uint64_t file_bytes,
                                    const ReadBytes& read,
                                    bool is_data_absence_allowed = false);

    /// In the order of the file; shapes as Hugging Face has them, rows first: [out, in].
    [[nodiscard]] const std::vector<TensorInfo>& tensors() const { return tensors_; }
    /// For messages.
    [[nodiscard]] const std::string& fileName() const { return file_; }
    [[nodiscard]] bool isDataAbsent() const { return is_data_absent_; }

    [[nodiscard]] bool has(std::string_view key) const { return find(key) != nullptr; }
    // nullopt: there is no such key. Errors: InvalidFile (rule "KeyType": the key has another type,
    // or a value that does not fit).
    [[nodiscard]] Result<std::optional<int64_t>> integer(std::string_view key) const;
    /// A floating-point or whole number that is finite.
    [[nodiscard]] Result<std::optional<double>> number(std::string_view key) const;
    [[nodiscard]] Result<std::optional<bool>> boolean(std::string_view key) const;
    /// Valid UTF-8; valid while *this lives.
    [[nodiscard]] Result<std::optional<std::string_view>> text(std::string_view key) const;
    /// A list of whole numbers or of bools (0 and 1).
    [[nodiscard]] Result<std::optional<std::vector<int64_t>>> integers(std::string_view key) const;
    /// A list of 32-bit floating-point numbers that are finite.
    [[nodiscard]] Result<std::optional<std::vector<float>>> floats(std::string_view key) const;
    /// A list of texts, each valid UTF-8; valid while *this lives.
    [[nodiscard]] Result<std::optional<std::vector<std::string_view>>>
    texts(std::string_view key) const;
    /// Whether the key's value is a list.
    [[nodiscard]] bool isList(std::string_view key) const;

private:
    friend class GgufParser;

    struct Entry {
        std::string key;
        GgufType type = GgufType::U8; ///< The elements' where it is a list.
        bool is_list = false;
        uint64_t count = 1;
        size_t at = 0; ///< Where the value, or the first element, is in bytes_.
    };
    [[nodiscard]] const Entry* find(std::string_view key) const;
    [[nodiscard]] Error typeError(const Entry& entry, const Sentence& expected) const;
    [[nodiscard]] Result<int64_t> integerAt(const Entry& entry, uint64_t index) const;
    [[nodiscard]] Result<std::string_view> textAt(const Entry& entry, size_t& at) const;

    std::string file_;
    std::string bytes_;          ///< The header.
    std::vector<Entry> entries_; ///< Sorted by key.
    std::vector<TensorInfo> tensors_;
    bool is_data_absent_ = false;
};

} // namespace engine
