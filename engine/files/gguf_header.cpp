// SPDX-License-Identifier: Apache-2.0
#include "engine/files/gguf_header.h"

#include "engine/base/utf8.h"
#include "engine/files/file_error.h"
#include "engine/files/tensor_source.h"
#include "kernels/weight_formats.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

namespace engine {

namespace {

constexpr uint64_t kMaxCount = 65'536;
constexpr uint64_t kMaxKeyBytes = 65'535;
constexpr uint64_t kMaxNameBytes = 63;
constexpr uint64_t kMaxTextBytes = uint64_t{64} << 20;
constexpr uint64_t kMaxListCount = uint64_t{1} << 22; ///< As many as a tokenizer's merges.
/// Sizes below it can be doubled and added up without overflow; no file holds so much.
constexpr uint64_t kMostTensorBytes = uint64_t{1} << 48;
constexpr uint64_t kMinEntryBytes = 13;  ///< Length of a key, type, a value of one byte.
constexpr uint64_t kMinTensorBytes = 24; ///< Length of a name, dimensions, type, offset.
constexpr size_t kFirstReadBytes = size_t{1} << 20;

/// Bytes of a value; 0 for texts and lists.
constexpr std::array<size_t, 13> kTypeBytes{1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

/// What is stored under a number for a tensor's type; `type` Other: known by name only.
struct StoredType {
    uint32_t id;
    std::string_view name;
    TensorType type;
};
constexpr std::array kStoredTypes{
    StoredType{0, "F32", TensorType::F32},        StoredType{1, "F16", TensorType::F16},
    StoredType{2, "Q4_0", TensorType::Q4_0},      StoredType{3, "Q4_1", TensorType::Q4_1},
    StoredType{6, "Q5_0", TensorType::Q5_0},      StoredType{7, "Q5_1", TensorType::Q5_1},
    StoredType{8, "Q8_0", TensorType::Q8_0},      StoredType{9, "Q8_1", TensorType::Other},
    StoredType{10, "Q2_K", TensorType::Q2_K},     StoredType{11, "Q3_K", TensorType::Q3_K},
    StoredType{12, "Q4_K", TensorType::Q4_K},     StoredType{13, "Q5_K", TensorType::Q5_K},
    StoredType{14, "Q6_K", TensorType::Q6_K},     StoredType{15, "Q8_K", TensorType::Other},
    StoredType{16, "IQ2_XXS", TensorType::Other}, StoredType{17, "IQ2_XS", TensorType::Other},
    StoredType{18, "IQ3_XXS", TensorType::Other}, StoredType{19, "IQ1_S", TensorType::Other},
    StoredType{20, "IQ4_NL", TensorType::IQ4_NL}, StoredType{21, "IQ3_S", TensorType::Other},
    StoredType{22, "IQ2_S", TensorType::Other},   StoredType{23, "IQ4_XS", TensorType::IQ4_XS},
    StoredType{24, "I8", TensorType::I8},         StoredType{25, "I16", TensorType::I16},
    StoredType{26, "I32", TensorType::I32},       StoredType{27, "I64", TensorType::I64},
    StoredType{28, "F64", TensorType::F64},       StoredType{29, "IQ1_M", TensorType::Other},
    StoredType{30, "BF16", TensorType::BF16},     StoredType{34, "TQ1_0", TensorType::Other},
    StoredType{35, "TQ2_0", TensorType::Other},   StoredType{39, "MXFP4", TensorType::MXFP4},
    StoredType{40, "NVFP4", TensorType::Other},   StoredType{41, "Q1_0", TensorType::Other},
    StoredType{42, "Q2_0", TensorType::Q2_0},
};

Error refused(std::string_view rule, std::string_view file, const Sentence& what) {
    Error error = fileError(rule, file, what);
    error.code = ErrorCode::Unsupported;
    return error;
}

/// False where the product is too large.
bool multiply(uint64_t& product, uint64_t factor) {
    return !__builtin_mul_overflow(product, factor, &product);
}

template <typename T>
T valueAt(const std::string& bytes, size_t at) {
    static_assert(std::endian::native == std::endian::little);
    T value{};
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
}

} // namespace

/// Walks through the header once, reading the file as far as it has to.
class GgufParser {
public:
    GgufParser(std::string_view file, uint64_t file_bytes, const GgufHeader::ReadBytes& read)
        : file_bytes_(file_bytes), read_(&read) {
        header_.file_ = std::string(file);
    }

    Result<GgufHeader> run(bool is_data_absence_allowed) {
        ENGINE_TRY(takeHead());
        for (uint64_t i = 0; i < entry_count_; ++i) {
            ENGINE_TRY(takeEntry());
        }
        ENGINE_TRY(sortEntries());
        ENGINE_ASSIGN(alignment_, alignment());
        for (uint64_t i = 0; i < tensor_count_; ++i) {
            ENGINE_TRY(takeTensor());
        }
        ENGINE_TRY(checkNames());
        ENGINE_TRY(placeTensors(is_data_absence_allowed));
        return std::move(header_);
    }

private:
    [[nodiscard]] Error broken(std::string_view rule, const Sentence& what) const {
        return fileError(rule, header_.file_, what);
    }

    /// Makes `count` more bytes available; `what` they are is for the message.
    Result<void> need(uint64_t count, std::string_view what) {
        std::string& bytes = header_.bytes_;
        if (count > file_bytes_ - at_) {
            return broken("GgufTruncated",
                          said("ends within %1: %2 bytes are needed at byte %3 of %4; the file was "
                               "cut short, download it again",
                               what, count, at_, file_bytes_));
        }
        const uint64_t end = at_ + count;
        if (end <= bytes.size()) {
            return {};
        }
        if (end > kMaxGgufMetadataBytes) {
            return broken("GgufHeaderTooLarge",
                          said("its header takes more than %1; is this a model?",
                               ByteCount{kMaxGgufMetadataBytes}));
        }
        const uint64_t before = bytes.size();
        const uint64_t wanted = std::max<uint64_t>({end, kFirstReadBytes, 2 * before});
        bytes.resize(static_cast<size_t>(std::min({wanted, file_bytes_, kMaxGgufMetadataBytes})));
        return (*read_)(before, std::as_writable_bytes(std::span(bytes)).subspan(before));
    }

    template <typename T>
    Result<T> take(std::string_view what) {
        ENGINE_TRY(need(sizeof(T), what));
        const T value = valueAt<T>(header_.bytes_, at_);
        at_ += sizeof(T);
        return value;
    }

    /// A text's bytes, left where they are.
    Result<std::string_view> takeText(uint64_t most, std::string_view what) {
        ENGINE_ASSIGN(const uint64_t length, take<uint64_t>(what));
        if (length > most) {
            return broken("GgufTextTooLong",
                          said("%1 at byte %2 has a length of %3 bytes, at most %4 are allowed",
                               what, at_ - 8, length, most));
        }
        ENGINE_TRY(need(length, what));
        const std::string_view text(header_.bytes_.data() + at_, static_cast<size_t>(length));
        at_ += static_cast<size_t>(length);
        return text;
    }

    Result<std::string> takeName(uint64_t most, std::string_view what) {
        const size_t begin = at_;
        ENGINE_ASSIGN(const std::string_view text, takeText(most, what));
        if (text.empty() || text.find('\0') != std::string_view::npos || !isValidUtf8(text)) {
            return broken("GgufName",
                          said("%1 at byte %2 is empty or not a text in UTF-8", what, begin));
        }
        return std::string(text);
    }

    Result<void> takeHead() {
        ENGINE_ASSIGN(const auto magic, take<uint32_t>("its first bytes"));
        if (magic != 0x46554747U) {
            return broken("GgufMagic", said("does not begin with \"GGUF\"; is this a GGUF file?"));
        }
        ENGINE_ASSIGN(const auto version, take<uint32_t>("its version"));
        if ((version & 0xffffU) == 0) {
            return refused("GgufByteOrder", header_.file_,
                           said("was written for a big-endian machine; get the usual file"));
        }
        if (version != 2 && version != 3) {
            return refused("GgufVersion", header_.file_,
                           said("has version %1 of the GGUF format, Belfry reads 2 and 3; convert "
                                "the model with a current llama.cpp",
                                version));
        }
        ENGINE_ASSIGN(tensor_count_, take<uint64_t>("its number of tensors"));
        ENGINE_ASSIGN(entry_count_, take<uint64_t>("its number of metadata entries"));
        const uint64_t left = file_bytes_ - at_;
        if (tensor_count_ > kMaxCount || entry_count_ > kMaxCount ||
            tensor_count_ * kMinTensorBytes > left || entry_count_ * kMinEntryBytes > left) {
            return broken("GgufCount",
                          said("says that it has %1 tensors and %2 metadata entries; a file of %3 "
                               "bytes cannot hold them",
                               tensor_count_, entry_count_, file_bytes_));
        }
        return {};
    }

    Result<GgufType> takeType(std::string_view key) {
        ENGINE_ASSIGN(const auto type, take<uint32_t>("a type"));
        if (type >= kTypeBytes.size()) {
            return broken("GgufValueType",
                          said("the key %1 has the unknown type %2", inQuotes(key), type));
        }
        return static_cast<GgufType>(type);
    }

    Result<void> takeEntry() {
        GgufHeader::Entry entry;
        ENGINE_ASSIGN(entry.key, takeName(kMaxKeyBytes, "a key"));
        ENGINE_ASSIGN(entry.type, takeType(entry.key));
        if (entry.type == GgufType::Array) {
            entry.is_list = true;
            ENGINE_ASSIGN(entry.type, takeType(entry.key));
            ENGINE_ASSIGN(entry.count, take<uint64_t>("a list"));
            if (entry.type == GgufType::Array) {
                return broken("GgufNestedList",
                              said("the key %1 is a list of lists", inQuotes(entry.key)));
            }
        }
        entry.at = at_;
        const bool is_text = entry.type == GgufType::String;
        const uint64_t each = is_text ? 8 : kTypeBytes[static_cast<size_t>(entry.type)];
        if (entry.is_list &&
            (entry.count > kMaxListCount || entry.count > (file_bytes_ - at_) / each)) {
            return broken("GgufListCount",
                          said("the key %1 is a list of %2 elements; at most %3 are read, and no "
                               "more than the file has bytes for",
                               inQuotes(entry.key), entry.count, kMaxListCount));
        }
        if (!is_text) {
            ENGINE_TRY(need(entry.count * each, "a value"));
            at_ += static_cast<size_t>(entry.count * each);
        }
        for (uint64_t i = 0; is_text && i < entry.count; ++i) {
            ENGINE_TRY(takeText(kMaxTextBytes, "a text"));
        }
        header_.entries_.push_back(std::move(entry));
        return {};
    }

    Result<void> sortEntries() {
        auto& entries = header_.entries_;
        std::sort(entries.begin(), entries.end(),
                  [](const auto& a, const auto& b) { return a.key < b.key; });
        const auto twin =
            std::adjacent_find(entries.begin(), entries.end(),
                               [](const auto& a, const auto& b) { return a.key == b.key; });
        if (twin != entries.end()) {
            return broken("GgufKeyTwice",
                          said("the key %1 stands there twice", inQuotes(twin->key)));
        }
        return {};
    }

    Result<uint64_t> alignment() {
        constexpr std::string_view kKey = "general.alignment";
        const GgufHeader::Entry* entry = header_.find(kKey);
        if (entry == nullptr) {
            return uint64_t{32};
        }
        const uint64_t value = entry->type == GgufType::U32 && !entry->is_list
                                   ? valueAt<uint32_t>(header_.bytes_, entry->at)
                                   : 0;
        if (value < 8 || value > 65'536 || !std::has_single_bit(value)) {
            return broken("GgufAlignment",
                          said("the key %1 is not a power of two from 8 to 65536", inQuotes(kKey)));
        }
        return value;
    }

    Result<void> takeTensor() {
        TensorInfo tensor;
        ENGINE_ASSIGN(tensor.name, takeName(kMaxNameBytes, "a tensor's name"));
        ENGINE_ASSIGN(const auto rank, take<uint32_t>("a tensor's dimensions"));
        if (rank > 4) {
            return broken("GgufRank", said("the tensor %1 has %2 dimensions, at most 4 are allowed",
                                           inQuotes(tensor.name), rank));
        }
        uint64_t count = 1;
        for (uint32_t i = 0; i < rank; ++i) {
            ENGINE_ASSIGN(const auto side, take<uint64_t>("a tensor's dimensions"));
            if (side == 0 || !multiply(count, side) || count > kMostTensorBytes) {
                return broken("GgufShape",
                              said("the tensor %1 has an impossible shape: dimension %2 is %3",
                                   inQuotes(tensor.name), i, side));
            }
            tensor.shape.insert(tensor.shape.begin(), static_cast<int64_t>(side));
        }
        ENGINE_ASSIGN(const auto id, take<uint32_t>("a tensor's type"));
        ENGINE_ASSIGN(tensor.file_offset, take<uint64_t>("a tensor's place"));
        ENGINE_TRY(setType(tensor, id, count));
        if (tensor.file_offset % alignment_ != 0) {
            return broken("GgufOffset",
                          said("the tensor %1 begins at byte %2 of the data, which is no multiple "
                               "of %3",
                               inQuotes(tensor.name), tensor.file_offset, alignment_));
        }
        header_.tensors_.push_back(std::move(tensor));
        return {};
    }

    /// Type and bytes of a tensor of `count` values.
    Result<void> setType(TensorInfo& tensor, uint32_t id, uint64_t count) {
        const auto* const found = std::find_if(kStoredTypes.begin(), kStoredTypes.end(),
                                               [id](const StoredType& t) { return t.id == id; });
        if (found == kStoredTypes.end() || found->type == TensorType::Other) {
            const std::string name =
                found == kStoredTypes.end() ? std::to_string(id) : std::string(found->name);
            return refused("GgufTensorType", header_.file_,
                           said("the tensor %1 is stored as %2, which Belfry does not read; get a "
                                "file in Q4_0, Q4_K_M, Q5_K_M, Q6_K, Q8_0 or BF16",
                                inQuotes(tensor.name), name));
        }
        tensor.type = found->type;
        const auto blocks = blockFormatOf(tensor.type);
        const auto per_block =
            blocks ? static_cast<uint64_t>(kernels::rowOf(*blocks).block_values) : 1;
        const uint64_t row = tensor.shape.empty() ? 1 : static_cast<uint64_t>(tensor.shape.back());
        if (row % per_block != 0) {
            return broken("GgufRowLength",
                          said("the tensor %1 has rows of %2 values, %3 has blocks of %4",
                               inQuotes(tensor.name), row, found->name, per_block));
        }
        tensor.size_bytes = count / per_block;
        const uint64_t each = blocks ? static_cast<uint64_t>(kernels::rowOf(*blocks).block_bytes)
                                     : tensorTypeSize(tensor.type);
        tensor.size_bytes *= each;
        if (tensor.size_bytes > kMostTensorBytes) {
            return broken("GgufShape",
                          said("the tensor %1 is larger than any file", inQuotes(tensor.name)));
        }
        return {};
    }

    /// By sorting: a hash table may be as slow as a list where the names are chosen for it.
    Result<void> checkNames() {
        std::vector<std::string_view> names;
        names.reserve(header_.tensors_.size());
        for (const TensorInfo& tensor : header_.tensors_) {
            names.emplace_back(tensor.name);
        }
        std::sort(names.begin(), names.end());
        const auto twin = std::adjacent_find(names.begin(), names.end());
        if (twin != names.end()) {
            return broken("GgufTensorTwice",
                          said("the tensor %1 stands there twice", inQuotes(*twin)));
        }
        return {};
    }

    /// Offsets from the beginning of the file; each tensor inside it and apart from the others.
    Result<void> placeTensors(bool is_data_absence_allowed) {
        const uint64_t begin = (at_ + alignment_ - 1) / alignment_ * alignment_;
        header_.bytes_.resize(at_);
        std::vector<size_t> order(header_.tensors_.size());
        std::iota(order.begin(), order.end(), size_t{0});
        std::sort(order.begin(), order.end(), [this](size_t a, size_t b) {
            return header_.tensors_[a].file_offset < header_.tensors_[b].file_offset;
        });
        const TensorInfo* before = nullptr;
        uint64_t end = 0; // of the data used so far
        for (const size_t index : order) {
            TensorInfo& tensor = header_.tensors_[index];
            if (tensor.file_offset < end) {
                return broken("GgufOverlap", said("the tensors %1 and %2 lie in the same bytes",
                                                  inQuotes(before->name), inQuotes(tensor.name)));
            }
            if (tensor.file_offset > (uint64_t{1} << 62)) {
                return broken("GgufOffset", said("the tensor %1 lies behind the end of any file",
                                                 inQuotes(tensor.name)));
            }
            end = tensor.file_offset + tensor.size_bytes;
            if (begin + end > file_bytes_) {
                if (!is_data_absence_allowed) {
                    return broken("GgufDataTruncated",
                                  said("the tensor %1 ends at byte %2, the file has %3; it was cut "
                                       "short, download it again",
                                       inQuotes(tensor.name), begin + end, file_bytes_));
                }
                header_.is_data_absent_ = true;
            }
            tensor.file_offset += begin;
            before = &tensor;
        }
        return {};
    }

    GgufHeader header_;
    uint64_t file_bytes_;
    const GgufHeader::ReadBytes* read_;
    size_t at_ = 0;
    uint64_t tensor_count_ = 0, entry_count_ = 0, alignment_ = 32;
};

Result<GgufHeader> GgufHeader::parse(std::string_view file_name,
                                     uint64_t file_bytes,
                                     const ReadBytes& read,
                                     bool is_data_absence_allowed) {
    return GgufParser(file_name, file_bytes, read).run(is_data_absence_allowed);
}

const GgufHeader::Entry* GgufHeader::find(std::string_view key) const {
    const auto at = std::lower_bound(
        entries_.begin(), entries_.end(), key,
        [](const Entry& entry, std::string_view wanted) { return entry.key < wanted; });
    return at != entries_.end() && at->key == key ? &*at : nullptr;
}

bool GgufHeader::isList(std::string_view key) const {
    const Entry* entry = find(key);
    return entry != nullptr && entry->is_list;
}

Error GgufHeader::typeError(const Entry& entry, const Sentence& expected) const {
    return fileError("KeyType", file_,
                     said("the key %1 is not %2; the file is damaged or was written by a converter "
                          "that Belfry does not know",
                          inQuotes(entry.key), expected));
}

Result<int64_t> GgufHeader::integerAt(const Entry& entry, uint64_t index) const {
    const size_t at =
        entry.at + static_cast<size_t>(index) * kTypeBytes[static_cast<size_t>(entry.type)];
    switch (entry.type) {
    case GgufType::U8:
        return valueAt<uint8_t>(bytes_, at);
    case GgufType::Bool:
        return valueAt<uint8_t>(bytes_, at) != 0 ? 1 : 0;
    case GgufType::I8:
        return valueAt<int8_t>(bytes_, at);
    case GgufType::U16:
        return valueAt<uint16_t>(bytes_, at);
    case GgufType::I16:
        return valueAt<int16_t>(bytes_, at);
    case GgufType::U32:
        return valueAt<uint32_t>(bytes_, at);
    case GgufType::I32:
        return valueAt<int32_t>(bytes_, at);
    case GgufType::I64:
        return valueAt<int64_t>(bytes_, at);
    case GgufType::U64:
        if (const auto value = valueAt<uint64_t>(bytes_, at); value <= uint64_t{INT64_MAX}) {
            return static_cast<int64_t>(value);
        }
        break;
    default:
        break;
    }
    return typeError(entry, phrase("a whole number"));
}

Result<std::optional<int64_t>> GgufHeader::integer(std::string_view key) const {
    const Entry* entry = find(key);
    if (entry == nullptr) {
        return std::optional<int64_t>();
    }
    if (entry->is_list || entry->type == GgufType::Bool) {
        return typeError(*entry, phrase("a whole number"));
    }
    ENGINE_ASSIGN(const int64_t value, integerAt(*entry, 0));
    return std::optional(value);
}

Result<std::optional<double>> GgufHeader::number(std::string_view key) const {
    const Entry* entry = find(key);
    if (entry == nullptr) {
        return std::optional<double>();
    }
    double value = std::nan("");
    if (!entry->is_list && entry->type == GgufType::F32) {
        value = valueAt<float>(bytes_, entry->at);
    } else if (!entry->is_list && entry->type == GgufType::F64) {
        value = valueAt<double>(bytes_, entry->at);
    } else if (!entry->is_list && entry->type != GgufType::Bool &&
               entry->type != GgufType::String) {
        ENGINE_ASSIGN(const int64_t whole, integerAt(*entry, 0));
        value = static_cast<double>(whole);
    }
    if (!std::isfinite(value)) {
        return typeError(*entry, phrase("a finite number"));
    }
    return std::optional(value);
}

Result<std::optional<bool>> GgufHeader::boolean(std::string_view key) const {
    const Entry* entry = find(key);
    if (entry == nullptr) {
        return std::optional<bool>();
    }
    if (entry->is_list || entry->type != GgufType::Bool) {
        return typeError(*entry, phrase("true or false"));
    }
    return std::optional(valueAt<uint8_t>(bytes_, entry->at) != 0);
}

Result<std::string_view> GgufHeader::textAt(const Entry& entry, size_t& at) const {
    const auto length = static_cast<size_t>(valueAt<uint64_t>(bytes_, at));
    const std::string_view text(bytes_.data() + at + 8, length);
    at += 8 + length;
    if (!isValidUtf8(text)) {
        return typeError(entry, phrase("text in UTF-8"));
    }
    return text;
}

Result<std::optional<std::string_view>> GgufHeader::text(std::string_view key) const {
    const Entry* entry = find(key);
    if (entry == nullptr) {
        return std::optional<std::string_view>();
    }
    if (entry->is_list || entry->type != GgufType::String) {
        return typeError(*entry, phrase("a text"));
    }
    size_t at = entry->at;
    ENGINE_ASSIGN(const std::string_view value, textAt(*entry, at));
    return std::optional(value);
}

Result<std::optional<std::vector<int64_t>>> GgufHeader::integers(std::string_view key) const {
    const Entry* entry = find(key);
    if (entry == nullptr) {
        return std::optional<std::vector<int64_t>>();
    }
    if (!entry->is_list || entry->type == GgufType::String) {
        return typeError(*entry, phrase("a list of whole numbers"));
    }
    std::vector<int64_t> values(static_cast<size_t>(entry->count));
    for (uint64_t i = 0; i < entry->count; ++i) {
        ENGINE_ASSIGN(values[static_cast<size_t>(i)], integerAt(*entry, i));
    }
    return std::optional(std::move(values));
}

Result<std::optional<std::vector<float>>> GgufHeader::floats(std::string_view key) const {
    const Entry* entry = find(key);
    if (entry == nullptr) {
        return std::optional<std::vector<float>>();
    }
    std::vector<float> values;
    if (entry->is_list && entry->type == GgufType::F32) {
        values.resize(static_cast<size_t>(entry->count));
        std::memcpy(values.data(), bytes_.data() + entry->at, values.size() * sizeof(float));
    }
    if (values.size() != entry->count ||
        !std::all_of(values.begin(), values.end(), [](float one) { return std::isfinite(one); })) {
        return typeError(*entry, phrase("a list of finite 32-bit numbers"));
    }
    return std::optional(std::move(values));
}

Result<std::optional<std::vector<std::string_view>>> GgufHeader::texts(std::string_view key) const {
    const Entry* entry = find(key);
    if (entry == nullptr) {
        return std::optional<std::vector<std::string_view>>();
    }
    if (!entry->is_list || entry->type != GgufType::String) {
        return typeError(*entry, phrase("a list of texts"));
    }
    std::vector<std::string_view> values;
    values.reserve(static_cast<size_t>(entry->count));
    size_t at = entry->at;
    for (uint64_t i = 0; i < entry->count; ++i) {
        ENGINE_ASSIGN(const std::string_view value, textAt(*entry, at));
        values.push_back(value);
    }
    return std::optional(std::move(values));
}

} // namespace engine
