// SPDX-License-Identifier: Apache-2.0
// The JSON text inside `<layer>.quant_state.bitsandbytes__*`: read event by event with limits,
// then checked member by member. Rules: engine/quant/NF4.md. Untrusted input.

#include "engine/base/json/events.h"
#include "engine/quant/quant_state.h"
#include "engine/quant/quant_state_error.h"

#include <charconv>
#include <cmath>
#include <map>
#include <optional>

namespace engine {

namespace {

constexpr int kMaxDepth = 3; ///< The object, the shape, and one to spare for unknown members.
constexpr size_t kMaxStringBytes = 256;
constexpr size_t kMaxMembers = 64;

/// One member's value as far as the state needs it.
struct Value {
    enum class Kind : uint8_t { Null = 1, Bool, Number, String, Array, Object };
    Kind kind = Kind::Null;
    std::string text;               ///< String, or number as written.
    std::vector<std::string> items; ///< Array: numbers as written.
    bool has_other_items = false;   ///< Array: something that is not a number.
};

/// Builds the flat member table; nested objects of unknown members are skipped over.
class StateReader : public JsonHandler {
public:
    std::map<std::string, Value, std::less<>> members;
    std::string duplicate;
    bool is_object = false, has_too_many = false;

    bool onObjectBegin() override {
        if (++depth_ == 1) {
            is_object = true;
            return true;
        }
        return nested(Value::Kind::Object);
    }
    bool onObjectEnd() override {
        --depth_;
        return true;
    }
    bool onArrayBegin() override {
        ++depth_;
        if (depth_ == 2 && current_ != nullptr) {
            current_->kind = Value::Kind::Array;
            return true;
        }
        return nested(Value::Kind::Array);
    }
    bool onArrayEnd() override {
        --depth_;
        return true;
    }
    bool onKey(std::string_view key) override {
        if (depth_ != 1) {
            return true;
        }
        if (members.size() >= kMaxMembers) {
            has_too_many = true;
            return false;
        }
        const auto [it, is_new] = members.emplace(std::string(key), Value{});
        if (!is_new) {
            duplicate = std::string(key);
            return false;
        }
        current_ = &it->second;
        return true;
    }
    bool onString(std::string_view value) override { return scalar(Value::Kind::String, value); }
    bool onNumber(std::string_view literal) override {
        return scalar(Value::Kind::Number, literal);
    }
    bool onBool(bool value) override { return scalar(Value::Kind::Bool, value ? "true" : "false"); }
    bool onNull() override { return scalar(Value::Kind::Null, "null"); }

private:
    bool nested(Value::Kind kind) {
        if (current_ == nullptr) {
            return false; // the text is an array
        }
        if (depth_ == 2) {
            current_->kind = kind;
        } else {
            current_->has_other_items = true;
        }
        return true;
    }
    bool scalar(Value::Kind kind, std::string_view text) {
        if (depth_ == 0 || current_ == nullptr) {
            return false;
        }
        if (depth_ == 1) {
            current_->kind = kind;
            current_->text = std::string(text);
        } else if (depth_ == 2 && current_->kind == Value::Kind::Array &&
                   kind == Value::Kind::Number) {
            current_->items.emplace_back(text);
        } else {
            current_->has_other_items = true;
        }
        return true;
    }
    int depth_ = 0;
    Value* current_ = nullptr;
};

/// A plain decimal integer without sign, fraction or exponent.
std::optional<int64_t> wholeNumber(const std::string& literal) {
    int64_t value = 0;
    const auto [end, failure] =
        std::from_chars(literal.data(), literal.data() + literal.size(), value);
    if (failure != std::errc() || end != literal.data() + literal.size() || value < 0) {
        return std::nullopt;
    }
    return value;
}

std::string shown(const Value* value) {
    if (value == nullptr) {
        return "nothing";
    }
    switch (value->kind) {
    case Value::Kind::String:
        return quotedForMessage(value->text);
    case Value::Kind::Array: {
        std::string text = "[";
        for (size_t i = 0; i < value->items.size() && i < 4; ++i) {
            text += (i == 0 ? "" : ", ") + value->items[i].substr(0, 24);
        }
        return text + (value->items.size() > 4 || value->has_other_items ? ", ...]" : "]");
    }
    case Value::Kind::Object:
        return "an object";
    default:
        return value->text.substr(0, 40);
    }
}

/// Makes the errors of one layer.
class StateChecker {
public:
    explicit StateChecker(std::string_view layer) : layer_(layer) {}
    [[nodiscard]] Error
    error(std::string_view rule, const std::string& expected, const Value* found) const {
        return quantStateError(layer_, rule, expected, shown(found));
    }

private:
    std::string_view layer_;
};

bool isString(const Value* value) {
    return value != nullptr && value->kind == Value::Kind::String;
}

Result<void> checkBook(const StateChecker& checker,
                       std::string_view suffix,
                       const Value* value,
                       PackedState& state) {
    if (!isString(value) || (value->text != "nf4" && value->text != "fp4")) {
        return checker.error("quant_type", "\"nf4\" or \"fp4\"", value);
    }
    if (value->text != suffix) {
        return checker.error("quant_type_suffix",
                             "the type of its key, " + quotedForMessage(suffix), value);
    }
    state.book = value->text == "nf4" ? CodeBook::Nf4 : CodeBook::Fp4;
    return {};
}

Result<void> checkShape(const StateChecker& checker, const Value* value, PackedState& state) {
    if (value != nullptr && value->kind == Value::Kind::Null) {
        return {}; // the module's own shape counts
    }
    constexpr int64_t kMaxSide = int64_t{1} << 31;
    const bool is_pair = value != nullptr && value->kind == Value::Kind::Array &&
                         value->items.size() == 2 && !value->has_other_items;
    const auto rows = is_pair ? wholeNumber(value->items[0]) : std::nullopt;
    const auto cols = is_pair ? wholeNumber(value->items[1]) : std::nullopt;
    if (!rows || !cols || *rows <= 0 || *cols <= 0 || *rows > kMaxSide || *cols > kMaxSide) {
        return checker.error("state_shape", "two positive whole numbers [outputs, inputs]", value);
    }
    state.has_shape = true;
    state.rows = *rows;
    state.cols = *cols;
    return {};
}

Result<void> checkNested(const StateChecker& checker,
                         const Value* block,
                         const Value* type,
                         const Value* offset,
                         PackedState& state) {
    state.is_nested = block != nullptr || type != nullptr || offset != nullptr;
    if (!state.is_nested) {
        return {};
    }
    if (block == nullptr || type == nullptr || offset == nullptr) {
        const char* absent = block == nullptr  ? "nested_blocksize"
                             : type == nullptr ? "nested_dtype"
                                               : "nested_offset";
        return checker.error(
            "nested_members",
            "nested_blocksize, nested_dtype and nested_offset together or none of them; " +
                std::string(absent) + " is absent",
            nullptr);
    }
    const auto size = block->kind == Value::Kind::Number ? wholeNumber(block->text) : std::nullopt;
    if (!size || *size != kNestedBlockSize) {
        return checker.error("nested_blocksize", "256", block);
    }
    if (!isString(type) || type->text != "float32") {
        return checker.error("nested_dtype", "\"float32\"", type);
    }
    double value = 0.0;
    const std::string& text = offset->text;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    state.nested_offset = static_cast<float>(value);
    if (offset->kind != Value::Kind::Number || failure != std::errc() ||
        end != text.data() + text.size() || !std::isfinite(state.nested_offset) || value < 0.0) {
        return checker.error("nested_offset", "a finite number that is not negative", offset);
    }
    return {};
}

} // namespace

Result<PackedState>
parsePackedState(std::string_view layer, std::string_view suffix, std::string_view json) {
    StateReader reader;
    const JsonOutcome outcome = readJson(json, {kMaxDepth, kMaxStringBytes}, reader);
    if (!reader.duplicate.empty()) {
        return quantStateError(layer, "state_duplicate", "each member once",
                               quotedForMessage(reader.duplicate) + " twice");
    }
    if (reader.has_too_many) {
        return quantStateError(layer, "state_members", "at most 64 members", "more");
    }
    if (outcome.stop != JsonStop::Done || !reader.is_object) {
        return quantStateError(layer, "state_json", "a JSON object",
                               outcome.detail.empty()
                                   ? "something else"
                                   : outcome.detail + " at byte " + std::to_string(outcome.offset));
    }
    PackedState state;
    auto& members = reader.members;
    const StateChecker checker(layer);
    const auto find = [&](const char* name) {
        const auto it = members.find(name);
        return it == members.end() ? nullptr : &it->second;
    };
    ENGINE_TRY(checkBook(checker, suffix, find("quant_type"), state));
    const Value* block = find("blocksize");
    const auto size = block != nullptr && block->kind == Value::Kind::Number
                          ? wholeNumber(block->text)
                          : std::nullopt;
    if (!size || !isBlockSize(*size)) {
        return checker.error("blocksize", "32, 64, 128, 256, 512, 1024, 2048 or 4096", block);
    }
    state.block_size = static_cast<int32_t>(*size);
    const Value* type = find("dtype");
    if (isString(type) && type->text == "bfloat16") {
        state.dtype = TensorType::BF16;
    } else if (isString(type) && type->text == "float16") {
        state.dtype = TensorType::F16;
    } else if (isString(type) && type->text == "float32") {
        state.dtype = TensorType::F32;
    } else {
        return checker.error("state_dtype", "\"bfloat16\", \"float16\" or \"float32\"", type);
    }
    const Value* shape = find("shape");
    ENGINE_TRY(checkShape(checker, shape, state));
    ENGINE_TRY(checkNested(checker, find("nested_blocksize"), find("nested_dtype"),
                           find("nested_offset"), state));
    for (const char* known : {"quant_type", "blocksize", "dtype", "shape", "nested_blocksize",
                              "nested_dtype", "nested_offset"}) {
        members.erase(known);
    }
    for (const auto& [name, value] : members) {
        state.unknown_members.push_back(name);
    }
    return state;
}

} // namespace engine
