// SPDX-License-Identifier: Apache-2.0
// The header of a safetensors file: a strict event reader for its JSON, then the checks of offsets
// and sizes. Rule names: engine/files/SAFETENSORS.md.
#include "engine/base/json/events.h"
#include "engine/files/safetensors.h"

#include <algorithm>
#include <array>
#include <utility>

namespace engine {

namespace {

constexpr int kMaxDepth = 4;
constexpr size_t kMaxNameBytes = 1024;
constexpr size_t kMaxRank = 8;
constexpr size_t kMaxTensors = 1'000'000;
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
    std::vector<ModelOddity> warnings;
    std::string rule, problem; ///< Why a callback returned false.

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
            return wrongType("an object");
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
            return wrongType("a list");
        }
    }

    bool onArrayEnd() override {
        if (state_ == State::Ignored) {
            return leaveIgnored();
        }
        if (state_ == State::Offsets && num_offsets_ != 2) {
            return fail("InvalidHeaderDeserialization",
                        inEntry("data_offsets has " + std::to_string(num_offsets_) +
                                " numbers, expected 2"));
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
                       : fail("ST02", "__metadata__ has more than 4096 members");
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
                warnings.emplace_back(odd::HeaderMember{
                    std::string(file_name_), shownName(entry_.info.name), shownName(key)});
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
            return wrongType("a text");
        }
    }

    bool onNumber(std::string_view literal) override {
        if (state_ == State::Ignored) {
            return afterIgnored();
        }
        if (state_ != State::Shape && state_ != State::Offsets) {
            return wrongType("a number");
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
            return fail("ST03", inEntry("the number " + shownName(literal) +
                                        " is not a plain whole number from 0 to 2^48"));
        }
        if (state_ == State::Shape) {
            if (entry_.info.shape.size() == kMaxRank) {
                return fail("ST02", inEntry("the shape has more than 8 dimensions"));
            }
            entry_.info.shape.push_back(static_cast<int64_t>(number));
        } else {
            (num_offsets_ == 0 ? entry_.info.file_offset : entry_.end) = number;
            if (++num_offsets_ > 2) {
                return fail("InvalidHeaderDeserialization",
                            inEntry("data_offsets has more than 2 numbers"));
            }
        }
        return true;
    }

    bool onBool(bool /*value*/) override {
        return state_ == State::Ignored ? afterIgnored() : wrongType("true or false");
    }
    bool onNull() override { return state_ == State::Ignored ? afterIgnored() : wrongType("null"); }

    /// Adds the warnings that were only counted.
    void closeWarnings() {
        if (num_unknown_members_ > kMaxListedWarnings) {
            warnings.emplace_back(odd::MoreHeaderMembers{
                std::string(file_name_),
                static_cast<size_t>(num_unknown_members_ - kMaxListedWarnings)});
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

    bool fail(std::string_view broken_rule, std::string what) {
        rule = broken_rule;
        problem = std::move(what);
        return false;
    }

    [[nodiscard]] std::string inEntry(const std::string& what) const {
        return "tensor " + shownName(entry_.info.name) + ": " + what;
    }

    bool wrongType(std::string_view found) {
        const std::string text(found);
        switch (state_) {
        case State::Start:
            return fail("InvalidHeaderDeserialization",
                        "the header is " + text + ", expected an object");
        case State::MetadataValue:
            return fail("InvalidHeaderDeserialization",
                        "__metadata__ is " + text + ", expected an object");
        case State::Metadata:
            return fail("InvalidHeaderDeserialization", "__metadata__ member \"" + shownName(key_) +
                                                            "\" is " + text + ", expected a text");
        case State::EntryValue:
            return fail("InvalidHeaderDeserialization", "tensor " + shownName(key_) +
                                                            " is described by " + text +
                                                            ", expected an object");
        case State::TypeValue:
            return fail("InvalidHeaderDeserialization",
                        inEntry("dtype is " + text + ", expected a text"));
        case State::ShapeValue:
            return fail("InvalidHeaderDeserialization",
                        inEntry("shape is " + text + ", expected a list"));
        case State::OffsetsValue:
            return fail("InvalidHeaderDeserialization",
                        inEntry("data_offsets is " + text + ", expected a list"));
        default:
            return fail("InvalidHeaderDeserialization", inEntry("a list of numbers holds " + text));
        }
    }

    bool beginMember(std::string_view key) {
        key_.assign(key);
        if (key == "__metadata__") {
            if (has_metadata_) {
                return fail("ST01", "__metadata__ occurs twice");
            }
            has_metadata_ = true;
            state_ = State::MetadataValue;
            return true;
        }
        if (key.empty() || key.size() > kMaxNameBytes) {
            return fail("ST02", key.empty()
                                    ? "a tensor has an empty name"
                                    : "a tensor name has " + std::to_string(key.size()) +
                                          " bytes, at most 1024 are allowed: " + shownName(key));
        }
        for (const char c : key) {
            if (static_cast<unsigned char>(c) < 0x20U || c == 0x7f) {
                return fail("ST02",
                            "the tensor name " + shownName(key) + " holds a control character");
            }
        }
        if (entries.size() == kMaxTensors) {
            return fail("ST02", "there are more than 1000000 tensors");
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
            warnings.emplace_back(odd::ElementType{std::string(file_name_),
                                                   shownName(entry_.info.name), shownName(name)});
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
                        inEntry(std::string("the member ") + missing + " is missing"));
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
            const std::string what = "the member \"" + shownName(*twin) + "\" occurs twice";
            return fail("ST01",
                        state_ == State::Metadata ? "__metadata__: " + what : inEntry(what));
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
    std::string key_; ///< Of the tensor or metadata member being read.
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

} // namespace

Result<SafetensorsHeader> parseSafetensorsHeader(std::string_view header,
                                                 uint64_t file_bytes,
                                                 std::string_view file_name,
                                                 bool is_data_absence_allowed) {
    const auto fail = [&](std::string_view rule, const std::string& what) {
        return Error{ErrorCode::InvalidFile,
                     std::string(file_name) + ": " + what,
                     {{"rule", std::string(rule)}, {"file", std::string(file_name)}}};
    };
    if (header.size() > kMaxSafetensorsHeaderBytes) {
        return fail("HeaderTooLarge", "the header has " + std::to_string(header.size()) +
                                          " bytes, at most 100000000 are "
                                          "allowed");
    }
    const uint64_t data_begin = 8 + static_cast<uint64_t>(header.size());
    if (data_begin > file_bytes) {
        return fail("InvalidHeaderLength", "the header is longer than the file");
    }
    if (!isValidUtf8(header)) {
        return fail("InvalidHeader", "the header is not UTF-8");
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
        return fail("InvalidHeader", "the header is not UTF-8");
    case JsonStop::TooDeep:
        return fail("ST02", "the header is nested deeper than 4 levels (at byte " +
                                std::to_string(outcome.offset) + ")");
    default:
        return fail("InvalidHeaderDeserialization",
                    "the header is not valid JSON: " + outcome.detail + " (at byte " +
                        std::to_string(outcome.offset) + ")");
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
        const auto fail_entry = [&](std::string_view rule, const std::string& what) {
            return fail(rule, "tensor " + shownName(info.name) + ": " + what);
        };
        const auto range = [&] {
            return std::to_string(info.file_offset) + " to " + std::to_string(entry.end);
        };
#ifndef BELFRY_PLANTED_BUG // tests/fuzz builds once without this check and must notice
        if (info.file_offset != data_end || entry.end < info.file_offset) {
            return fail_entry("InvalidOffset", "its data_offsets are " + range() +
                                                   ", expected a range that begins at " +
                                                   std::to_string(data_end) +
                                                   " (no holes, no overlaps)");
        }
#endif
        data_end = entry.end;
        uint64_t total_bits = 1;
        bool fits = true;
        for (const int64_t size : info.shape) {
            fits = fits && multiply(total_bits, static_cast<uint64_t>(size));
        }
        if (!fits || !multiply(total_bits, std::max(entry.bits, 1U))) {
            return fail_entry("ValidationOverflow", "its size does not fit 64 bits");
        }
        info.size_bytes = entry.end - info.file_offset;
        if (entry.bits != kUnknownBits) {
            if (total_bits % 8 != 0) {
                return fail_entry("MisalignedSlice", "its " + std::to_string(total_bits) +
                                                         " bits do not fill whole bytes");
            }
            if (total_bits / 8 != info.size_bytes) {
                return fail_entry("TensorInvalidInfo",
                                  "shape and dtype need " + std::to_string(total_bits / 8) +
                                      " bytes, data_offsets " + range() + " give " +
                                      std::to_string(info.size_bytes));
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
                    "the header describes " + std::to_string(data_end) +
                        " bytes of data, the file holds " + std::to_string(stored) +
                        (stored < data_end ? "; it was cut short, download it again"
                                           : "; there are surplus bytes at its end"));
    }

    std::sort(entries.begin(), entries.end(),
              [](const Entry& a, const Entry& b) { return a.info.name < b.info.name; });
    const auto twin =
        std::adjacent_find(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
            return a.info.name == b.info.name;
        });
    if (twin != entries.end()) {
        return fail("ST01", "the tensor name " + shownName(twin->info.name) + " occurs twice");
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
