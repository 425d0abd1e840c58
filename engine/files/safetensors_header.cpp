// SPDX-License-Identifier: Apache-2.0
// The header of a safetensors file: a strict event reader for its JSON, then the checks of offsets
// and sizes. Rule names: engine/files/SAFETENSORS.md.
#include "engine/base/json/events.h"
#include "engine/files/safetensors.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace engine {

namespace {

constexpr int kMaxDepth = 4;
constexpr size_t kMaxMetadata = 4096; ///< Members of __metadata__.
constexpr uint64_t kMaxNumber = uint64_t{1} << 48;
constexpr size_t kMaxListedWarnings = 5;
/// Bits of a type that is not in the table.
constexpr unsigned kUnknownBits = 0;

struct KnownType {
    std::string_view name;
    TensorType type;
    unsigned bits;
};

constexpr std::array<KnownType, 22> kTypes = {{
    {"BOOL", TensorType::Bool, 8},
    {"U8", TensorType::U8, 8},
    {"I8", TensorType::I8, 8},
    {"I16", TensorType::I16, 16},
    {"U16", TensorType::U16, 16},
    {"F16", TensorType::F16, 16},
    {"BF16", TensorType::BF16, 16},
    {"I32", TensorType::I32, 32},
    {"U32", TensorType::U32, 32},
    {"F32", TensorType::F32, 32},
    {"F64", TensorType::F64, 64},
    {"I64", TensorType::I64, 64},
    {"U64", TensorType::U64, 64},
    {"C64", TensorType::Other, 64},
    {"F4", TensorType::Other, 4},
    {"F6_E2M3", TensorType::Other, 6},
    {"F6_E3M2", TensorType::Other, 6},
    {"F8_E5M2", TensorType::Other, 8},
    {"F8_E4M3", TensorType::Other, 8},
    {"F8_E8M0", TensorType::Other, 8},
    {"F8_E4M3FNUZ", TensorType::Other, 8},
    {"F8_E5M2FNUZ", TensorType::Other, 8},
}};

/// A name from the file for a message: cut, control characters replaced.
std::string shownName(std::string_view name) {
    constexpr size_t kMaxShownBytes = 120;
    std::string shown(name.substr(0, kMaxShownBytes));
    for (char& c : shown) {
        if (static_cast<unsigned char>(c) < 0x20U || c == 0x7f) {
            c = '?';
        }
    }
    return name.size() > kMaxShownBytes ? shown + "..." : shown;
}

struct Entry {
    TensorInfo info; ///< file_offset is still relative to the data area.
    uint64_t end = 0;
    unsigned bits = kUnknownBits;
};

/// Collects entries; the first broken rule stops the reader.
class HeaderReader : public JsonHandler {
public:
    explicit HeaderReader(std::string_view file_name) : file_name_(file_name) {}

    std::vector<Entry> entries;
    std::vector<std::pair<std::string, std::string>> metadata;
    std::vector<Sentence> warnings;
    std::string rule;
    Sentence problem; ///< Why a callback returned false.

    bool onObjectBegin() override {
        switch (state_) {
        case State::Start:
            state_ = State::Root;
            return true;
        case State::EntryValue:
            state_ = State::Entry;
            entry_ = Entry{};
            entry_.info.name = key_;
            has_type_ = has_shape_ = has_offsets_ = false;
            beginKeys();
            return true;
        case State::MetadataValue:
            state_ = State::Metadata;
            beginKeys();
            return true;
        case State::Ignored:
            ++ignored_depth_;
            beginKeys();
            return true;
        default:
            return wrongType(phrase("an object"));
        }
    }

    bool onObjectEnd() override {
        if (state_ == State::Root) {
            return true; // names at this level are compared once, after sorting
        }
        if (!endKeys()) {
            return false;
        }
        if (state_ == State::Ignored) {
            return leaveIgnored();
        }
        if (state_ == State::Entry && !finishEntry()) {
            return false;
        }
        state_ = State::Root;
        return true;
    }

    bool onArrayBegin() override {
        switch (state_) {
        case State::ShapeValue:
            state_ = State::Shape;
            return true;
        case State::OffsetsValue:
            state_ = State::Offsets;
            num_offsets_ = 0;
            return true;
        case State::Ignored:
            ++ignored_depth_;
            return true;
        default:
            return wrongType(phrase("a list"));
        }
    }

    bool onArrayEnd() override {
        if (state_ == State::Ignored) {
            return leaveIgnored();
        }
        if (state_ == State::Offsets && num_offsets_ != 2) {
            return fail("InvalidHeaderDeserialization",
                        inEntry(said("data_offsets has %1 numbers, expected 2", num_offsets_)));
        }
        state_ = State::Entry;
        return true;
    }

    bool onKey(std::string_view key) override {
        if (state_ == State::Root) {
            return beginMember(key);
        }
        keys_.emplace_back(key);
        if (state_ == State::Metadata) {
            key_.assign(key);
            return metadata.size() < kMaxMetadata
                       ? true
                       : fail("ST02", said("__metadata__ has more than 4096 members"));
        }
        if (state_ == State::Ignored) {
            return true;
        }
        if (key == "dtype") {
            state_ = State::TypeValue;
        } else if (key == "shape") {
            state_ = State::ShapeValue;
        } else if (key == "data_offsets") {
            state_ = State::OffsetsValue;
        } else {
            ++num_unknown_members_;
            if (num_unknown_members_ <= kMaxListedWarnings) {
                warnings.push_back(said("%1: tensor %2: unknown member \"%3\" ignored (ST06)",
                                        file_name_, shownName(entry_.info.name), shownName(key)));
            }
            state_ = State::Ignored;
            ignored_depth_ = 0;
        }
        return true;
    }

    bool onString(std::string_view value) override {
        switch (state_) {
        case State::Metadata:
            metadata.emplace_back(key_, std::string(value));
            return true;
        case State::TypeValue:
            return setType(value);
        case State::Ignored:
            return afterIgnored();
        default:
            return wrongType(phrase("a text"));
        }
    }

    bool onNumber(std::string_view literal) override {
        if (state_ == State::Ignored) {
            return afterIgnored();
        }
        if (state_ != State::Shape && state_ != State::Offsets) {
            return wrongType(phrase("a number"));
        }
        uint64_t number = 0;
        const bool is_plain =
            literal.size() <= 15 && std::all_of(literal.begin(), literal.end(),
                                                [](char c) { return c >= '0' && c <= '9'; });
        if (is_plain) {
            for (const char c : literal) {
                number = number * 10 + static_cast<uint64_t>(c - '0');
            }
        }
        if (!is_plain || number > kMaxNumber) {
            return fail("ST03",
                        inEntry(said("the number %1 is not a plain whole number from 0 to 2^48",
                                     shownName(literal))));
        }
        if (state_ == State::Shape) {
            if (entry_.info.shape.size() == kMaxTensorRank) {
                return fail("ST02", inEntry(said("the shape has more than 8 dimensions")));
            }
            entry_.info.shape.push_back(static_cast<int64_t>(number));
        } else {
            (num_offsets_ == 0 ? entry_.info.file_offset : entry_.end) = number;
            if (++num_offsets_ > 2) {
                return fail("InvalidHeaderDeserialization",
                            inEntry(said("data_offsets has more than 2 numbers")));
            }
        }
        return true;
    }

    bool onBool(bool /*value*/) override {
        return state_ == State::Ignored ? afterIgnored() : wrongType(phrase("true or false"));
    }
    bool onNull() override {
        return state_ == State::Ignored ? afterIgnored() : wrongType(phrase("null"));
    }

    /// Adds the warnings that were only counted.
    void closeWarnings() {
        if (num_unknown_members_ > kMaxListedWarnings) {
            warnings.push_back(said("%1: %2 more unknown members ignored (ST06)", file_name_,
                                    num_unknown_members_ - kMaxListedWarnings));
        }
    }

private:
    enum class State {
        Start = 1,
        Root,
        MetadataValue, ///< Before the object of __metadata__.
        Metadata,
        EntryValue, ///< Before the object of a tensor.
        Entry,
        TypeValue,
        ShapeValue,
        Shape,
        OffsetsValue,
        Offsets,
        Ignored, ///< Inside the value of an unknown member of an entry.
    };

    bool fail(std::string_view broken_rule, Sentence what) {
        rule = broken_rule;
        problem = std::move(what);
        return false;
    }

    [[nodiscard]] Sentence inEntry(const Sentence& what) const {
        return said("tensor %1: %2", shownName(entry_.info.name), what);
    }

    bool wrongType(Phrase text) {
        switch (state_) {
        case State::Start:
            return fail("InvalidHeaderDeserialization",
                        said("the header is %1, expected an object", text));
        case State::MetadataValue:
            return fail("InvalidHeaderDeserialization",
                        said("__metadata__ is %1, expected an object", text));
        case State::Metadata:
            return fail(
                "InvalidHeaderDeserialization",
                said("__metadata__ member \"%1\" is %2, expected a text", shownName(key_), text));
        case State::EntryValue:
            return fail(
                "InvalidHeaderDeserialization",
                said("tensor %1 is described by %2, expected an object", shownName(key_), text));
        case State::TypeValue:
            return fail("InvalidHeaderDeserialization",
                        inEntry(said("dtype is %1, expected a text", text)));
        case State::ShapeValue:
            return fail("InvalidHeaderDeserialization",
                        inEntry(said("shape is %1, expected a list", text)));
        case State::OffsetsValue:
            return fail("InvalidHeaderDeserialization",
                        inEntry(said("data_offsets is %1, expected a list", text)));
        default:
            return fail("InvalidHeaderDeserialization",
                        inEntry(said("a list of numbers holds %1", text)));
        }
    }

    bool beginMember(std::string_view key) {
        key_.assign(key);
        if (key == "__metadata__") {
            if (has_metadata_) {
                return fail("ST01", said("__metadata__ occurs twice"));
            }
            has_metadata_ = true;
            state_ = State::MetadataValue;
            return true;
        }
        if (key.empty() || key.size() > kMaxTensorNameBytes) {
            return fail("ST02",
                        key.empty()
                            ? said("a tensor has an empty name")
                            : said("a tensor name has %1 bytes, at most 1024 are allowed: %2",
                                   key.size(), shownName(key)));
        }
        for (const char c : key) {
            if (static_cast<unsigned char>(c) < 0x20U || c == 0x7f) {
                return fail("ST02",
                            said("the tensor name %1 holds a control character", shownName(key)));
            }
        }
        if (entries.size() == kMaxTensors) {
            return fail("ST02", said("there are more than 1000000 tensors"));
        }
        state_ = State::EntryValue;
        return true;
    }

    bool setType(std::string_view name) {
        has_type_ = true;
        state_ = State::Entry;
        for (const KnownType& known : kTypes) {
            if (known.name == name) {
                entry_.info.type = known.type;
                entry_.bits = known.bits;
                break;
            }
        }
        if (entry_.info.type == TensorType::Other && ++num_other_types_ <= kMaxListedWarnings) {
            warnings.push_back(
                said("%1: tensor %2: element type %3 cannot be read; the tensor is skipped (ST05)",
                     file_name_, shownName(entry_.info.name), shownName(name)));
        }
        return true;
    }

    bool finishEntry() {
        const char* missing = !has_type_      ? "dtype"
                              : !has_shape_   ? "shape"
                              : !has_offsets_ ? "data_offsets"
                                              : nullptr;
        if (missing != nullptr) {
            return fail("InvalidHeaderDeserialization",
                        inEntry(said("the member %1 is missing", missing)));
        }
        entries.push_back(std::move(entry_));
        return true;
    }

    void beginKeys() { first_key_.push_back(keys_.size()); }

    bool endKeys() {
        const auto begin = keys_.begin() + static_cast<std::ptrdiff_t>(first_key_.back());
        if (state_ == State::Entry) {
            has_shape_ = std::find(begin, keys_.end(), "shape") != keys_.end();
            has_offsets_ = std::find(begin, keys_.end(), "data_offsets") != keys_.end();
        }
        std::sort(begin, keys_.end());
        const auto twin = std::adjacent_find(begin, keys_.end());
        if (twin != keys_.end()) {
            const Sentence what = said("the member \"%1\" occurs twice", shownName(*twin));
            return fail("ST01",
                        state_ == State::Metadata ? said("__metadata__: %1", what) : inEntry(what));
        }
        keys_.resize(first_key_.back());
        first_key_.pop_back();
        return true;
    }

    bool leaveIgnored() {
        --ignored_depth_;
        return afterIgnored();
    }

    bool afterIgnored() {
        if (ignored_depth_ == 0) {
            state_ = State::Entry;
        }
        return true;
    }

    std::string file_name_;
    State state_ = State::Start;
    std::string key_; ///< Name of the tensor or metadata member being read.
    Entry entry_;
    bool has_type_ = false, has_shape_ = false, has_offsets_ = false, has_metadata_ = false;
    int num_offsets_ = 0;
    int ignored_depth_ = 0;
    size_t num_unknown_members_ = 0, num_other_types_ = 0;
    std::vector<std::string> keys_; ///< Member names of all open objects but the root.
    std::vector<size_t> first_key_;
};

/// Product of `a` and `b` in `a`; false when it exceeds 64 bits.
bool multiply(uint64_t& a, uint64_t b) {
    if (b != 0 && a > UINT64_MAX / b) {
        return false;
    }
    a *= b;
    return true;
}

/// nullopt when the size does not fit 64 bits.
std::optional<uint64_t> bitsOf(const Entry& entry) {
    uint64_t bits = 1;
    for (const int64_t size : entry.info.shape) {
        if (!multiply(bits, static_cast<uint64_t>(size))) {
            return std::nullopt;
        }
    }
    return multiply(bits, std::max(entry.bits, 1U)) ? std::optional(bits) : std::nullopt;
}

} // namespace

Result<SafetensorsHeader> parseSafetensorsHeader(std::string_view header,
                                                 uint64_t file_bytes,
                                                 std::string_view file_name,
                                                 bool is_data_absence_allowed) {
    const auto fail = [&](std::string_view rule, const Sentence& what) {
        return Error{ErrorCode::InvalidFile,
                     said("%1: %2", file_name, what),
                     {{"rule", std::string(rule)}, {"file", std::string(file_name)}}};
    };
    if (header.size() > kMaxSafetensorsHeaderBytes) {
        return fail("HeaderTooLarge",
                    said("the header has %1 bytes, at most 100000000 are allowed", header.size()));
    }
    const uint64_t data_begin = 8 + static_cast<uint64_t>(header.size());
    if (data_begin > file_bytes) {
        return fail("InvalidHeaderLength", said("the header is longer than the file"));
    }
    if (!isValidUtf8(header)) {
        return fail("InvalidHeader", said("the header is not UTF-8"));
    }

    HeaderReader reader(file_name);
    const JsonLimits limits{.max_depth = kMaxDepth, .max_string_bytes = header.size()};
    const JsonOutcome outcome = readJson(header, limits, reader);
    switch (outcome.stop) {
    case JsonStop::Done:
        break;
    case JsonStop::Handler:
        return fail(reader.rule, reader.problem);
    case JsonStop::InvalidUtf8:
        return fail("InvalidHeader", said("the header is not UTF-8"));
    case JsonStop::TooDeep:
        return fail("ST02",
                    said("the header is nested deeper than 4 levels (at byte %1)", outcome.offset));
    default:
        return fail(
            "InvalidHeaderDeserialization",
            said("the header is not valid JSON: %1 (at byte %2)", outcome.detail, outcome.offset));
    }
    reader.closeWarnings();

    // In the order of the data: no holes, no overlaps, sizes as shapes and types say.
    std::vector<Entry>& entries = reader.entries;
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
        return std::pair(a.info.file_offset, a.end) < std::pair(b.info.file_offset, b.end);
    });
    uint64_t data_end = 0;
    for (Entry& entry : entries) {
        TensorInfo& info = entry.info;
        const auto fail_entry = [&](std::string_view rule, const Sentence& what) {
            return fail(rule, said("tensor %1: %2", shownName(info.name), what));
        };
#ifndef BELFRY_PLANTED_BUG // tests/fuzz builds once without this check and must notice
        if (info.file_offset != data_end || entry.end < info.file_offset) {
            return fail_entry("InvalidOffset",
                              said("its data_offsets are %1 to %2, expected a range that begins at "
                                   "%3 (no holes, no overlaps)",
                                   info.file_offset, entry.end, data_end));
        }
#endif
        data_end = entry.end;
        const std::optional<uint64_t> total_bits = bitsOf(entry);
        if (!total_bits.has_value()) {
            return fail_entry("ValidationOverflow", said("its size does not fit 64 bits"));
        }
        info.size_bytes = entry.end - info.file_offset;
        if (entry.bits != kUnknownBits) {
            if (*total_bits % 8 != 0) {
                return fail_entry("MisalignedSlice",
                                  said("its %1 bits do not fill whole bytes", *total_bits));
            }
            if (*total_bits / 8 != info.size_bytes) {
                return fail_entry(
                    "TensorInvalidInfo",
                    said("shape and dtype need %1 bytes, data_offsets %2 to %3 give %4",
                         *total_bits / 8, info.file_offset, entry.end, info.size_bytes));
            }
        }
        info.file_offset += data_begin;
    }

    SafetensorsHeader result;
    result.data_begin = data_begin;
    const uint64_t stored = file_bytes - data_begin;
    result.is_data_absent = is_data_absence_allowed && stored == 0 && data_end > 0;
    if (stored != data_end && !result.is_data_absent) {
        return fail("MetadataIncompleteBuffer",
                    stored < data_end ? said("the header describes %1 bytes of data, the file "
                                             "holds %2; it was cut short, download it again",
                                             data_end, stored)
                                      : said("the header describes %1 bytes of data, the file "
                                             "holds %2; there are surplus bytes at its end",
                                             data_end, stored));
    }

    std::sort(entries.begin(), entries.end(),
              [](const Entry& a, const Entry& b) { return a.info.name < b.info.name; });
    const auto twin =
        std::adjacent_find(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
            return a.info.name == b.info.name;
        });
    if (twin != entries.end()) {
        return fail("ST01", said("the tensor name %1 occurs twice", shownName(twin->info.name)));
    }
    result.tensors.reserve(entries.size());
    for (Entry& entry : entries) {
        result.tensors.push_back(std::move(entry.info));
    }
    result.metadata = std::move(reader.metadata);
    result.warnings = std::move(reader.warnings);
    return result;
}

} // namespace engine
