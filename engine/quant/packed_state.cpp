// SPDX-License-Identifier: Apache-2.0
// The JSON text inside `<layer>.quant_state.bitsandbytes__*`: read with limits, then checked
// member by member. Rules: engine/quant/NF4.md. Untrusted input.

#include "engine/base/json/tree.h"
#include "engine/quant/quant_state.h"
#include "engine/quant/quant_state_error.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

namespace engine {

namespace {

constexpr int kMaxDepth = 3; ///< The object, the shape, and one to spare for unknown members.
constexpr size_t kMaxStringBytes = 256;
constexpr size_t kMaxMembers = 64;

/// A plain decimal integer without sign, fraction or exponent.
std::optional<int64_t> wholeNumber(const Json& value) {
    const std::optional<int64_t> number = value.integer();
    return number && *number >= 0 ? number : std::nullopt;
}

bool isNumber(const Json& value) {
    return value.is(Json::Kind::Number);
}

std::string shownList(const std::vector<Json>& items) {
    std::string text = "[";
    size_t num_shown = 0;
    for (size_t i = 0; i < items.size() && num_shown < 4; ++i) {
        if (isNumber(items[i])) {
            text += (num_shown++ == 0 ? "" : ", ") + items[i].text.substr(0, 24);
        }
    }
    return text + (num_shown < items.size() ? ", ...]" : "]");
}

Argument shown(const Json* value) {
    if (value == nullptr) {
        return phrase("nothing");
    }
    switch (value->kind) {
    case Json::Kind::String:
        return quotedForMessage(value->text);
    case Json::Kind::Array:
        return shownList(value->items);
    case Json::Kind::Bool:
        return value->boolean ? "true" : "false";
    case Json::Kind::Number:
        return value->text.substr(0, 40);
    default:
        return value->kindName();
    }
}

/// Makes the errors of one layer.
class StateChecker {
public:
    explicit StateChecker(std::string_view layer) : layer_(layer) {}
    [[nodiscard]] Error
    error(std::string_view rule, const Argument& expected, const Json* found) const {
        return quantStateError(layer_, rule, expected, shown(found));
    }

private:
    std::string_view layer_;
};

bool isString(const Json* value) {
    return value != nullptr && value->is(Json::Kind::String);
}

Result<void> checkBook(const StateChecker& checker,
                       std::string_view suffix,
                       const Json* value,
                       PackedState& state) {
    if (!isString(value) || (value->text != "nf4" && value->text != "fp4")) {
        return checker.error("quant_type", phrase("\"nf4\" or \"fp4\""), value);
    }
    if (value->text != suffix) {
        return checker.error("quant_type_suffix",
                             said("the type of its key, %1", quotedForMessage(suffix)), value);
    }
    state.book = weightFormat(formatOfOption(value->text)->format);
    return {};
}

Result<void> checkShape(const StateChecker& checker, const Json* value, PackedState& state) {
    if (value != nullptr && value->is(Json::Kind::Null)) {
        return {}; // the module's own shape counts
    }
    constexpr int64_t kMaxSide = int64_t{1} << 31;
    const bool is_pair =
        value != nullptr && value->is(Json::Kind::Array) && value->items.size() == 2;
    const auto rows = is_pair ? wholeNumber(value->items[0]) : std::nullopt;
    const auto cols = is_pair ? wholeNumber(value->items[1]) : std::nullopt;
    if (!rows || !cols || *rows <= 0 || *cols <= 0 || *rows > kMaxSide || *cols > kMaxSide) {
        return checker.error("state_shape", phrase("two positive whole numbers [outputs, inputs]"),
                             value);
    }
    state.has_shape = true;
    state.rows = *rows;
    state.cols = *cols;
    return {};
}

Result<void> checkNested(const StateChecker& checker,
                         const Json* block,
                         const Json* type,
                         const Json* offset,
                         PackedState& state) {
    state.is_nested = block != nullptr || type != nullptr || offset != nullptr;
    if (!state.is_nested) {
        return {};
    }
    if (block == nullptr || type == nullptr || offset == nullptr) {
        const char* absent = block == nullptr  ? "nested_blocksize"
                             : type == nullptr ? "nested_dtype"
                                               : "nested_offset";
        return checker.error("nested_members",
                             said("nested_blocksize, nested_dtype and nested_offset together or "
                                  "none of them; %1 is absent",
                                  absent),
                             nullptr);
    }
    const auto size = wholeNumber(*block);
    if (!size || *size != kNestedBlockSize) {
        return checker.error("nested_blocksize", "256", block);
    }
    if (!isString(type) || type->text != "float32") {
        return checker.error("nested_dtype", "\"float32\"", type);
    }
    const std::optional<double> value = offset->number();
    state.nested_offset = static_cast<float>(value.value_or(0.0));
    if (!value || !std::isfinite(state.nested_offset) || *value < 0.0) {
        return checker.error("nested_offset", phrase("a finite number that is not negative"),
                             offset);
    }
    return {};
}

} // namespace

Result<PackedState>
parsePackedState(std::string_view layer, std::string_view suffix, std::string_view json) {
    Json tree;
    const JsonOutcome outcome = readJsonTree(json, {kMaxDepth, kMaxStringBytes}, tree);
    if (outcome.stop == JsonStop::Duplicate) {
        return quantStateError(layer, "state_duplicate", said("each member once"),
                               said("%1 twice", quotedForMessage(outcome.name)));
    }
    if (tree.members.size() > kMaxMembers) {
        return quantStateError(layer, "state_members", said("at most 64 members"), said("more"));
    }
    if (outcome.stop != JsonStop::Done || !tree.is(Json::Kind::Object)) {
        return quantStateError(layer, "state_json", said("a JSON object"),
                               outcome.detail.isEmpty()
                                   ? said("something else")
                                   : said("%1 at byte %2", outcome.detail, outcome.offset));
    }
    PackedState state;
    const StateChecker checker(layer);
    const auto find = [&](const char* name) { return tree.find(name); };
    ENGINE_TRY(checkBook(checker, suffix, find("quant_type"), state));
    const Json* block = find("blocksize");
    const auto size = block != nullptr ? wholeNumber(*block) : std::nullopt;
    if (!size || !isBlockSize(*size)) {
        return checker.error("blocksize", phrase("32, 64, 128, 256, 512, 1024, 2048 or 4096"),
                             block);
    }
    state.block_size = static_cast<int32_t>(*size);
    const Json* type = find("dtype");
    if (isString(type) && type->text == "bfloat16") {
        state.dtype = TensorType::BF16;
    } else if (isString(type) && type->text == "float16") {
        state.dtype = TensorType::F16;
    } else if (isString(type) && type->text == "float32") {
        state.dtype = TensorType::F32;
    } else {
        return checker.error("state_dtype", phrase("\"bfloat16\", \"float16\" or \"float32\""),
                             type);
    }
    const Json* shape = find("shape");
    ENGINE_TRY(checkShape(checker, shape, state));
    ENGINE_TRY(checkNested(checker, find("nested_blocksize"), find("nested_dtype"),
                           find("nested_offset"), state));
    constexpr std::string_view kKnown[] = {"quant_type",   "blocksize",        "dtype",
                                           "shape",        "nested_blocksize", "nested_dtype",
                                           "nested_offset"};
    for (const JsonMember& member : tree.members) {
        if (std::find(std::begin(kKnown), std::end(kKnown), member.key) == std::end(kKnown)) {
            state.unknown_members.push_back(member.key);
        }
    }
    std::sort(state.unknown_members.begin(), state.unknown_members.end());
    return state;
}

} // namespace engine
