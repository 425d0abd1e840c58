// SPDX-License-Identifier: Apache-2.0
#include "engine/families/config_texts.h"

#include "engine/base/sentence_english.h"
#include "engine/families/tensor_list.h"
#include "engine/files/model_files.h"

#include <algorithm>
#include <utility>

namespace engine {

namespace {

/// 17.6 trillion: nobody can hold more, and sums of bytes stay far from 2^63.
constexpr int64_t kMaxParameters = int64_t{1} << 44;

bool holdsNumberBeyondDouble(const Json& value) { // NOLINT(misc-no-recursion): kDeepestJsonTree
    if (value.is(Json::Kind::Number)) {
        return !value.number();
    }
    return std::any_of(value.items.begin(), value.items.end(), holdsNumberBeyondDouble) ||
           std::any_of(value.members.begin(), value.members.end(), [](const JsonMember& member) {
               return holdsNumberBeyondDouble(member.value);
           });
}

/// A member of compressed-tensors' section that has one value in W4A16.
struct FixedMember {
    std::string_view key;
    const char* wanted; ///< As JSON writes it; "null": nothing but absent.
    bool is_required = false;
};
constexpr FixedMember kFormat = {"format", "\"pack-quantized\""};
/// Absent, num_bits is 8 and the groups are whole tensors.
constexpr FixedMember kWeightMembers[] = {
    {"num_bits", "4", true},    {"type", "\"int\""},       {"symmetric", "true"},
    {"group_size", "32", true}, {"strategy", "\"group\""}, {"actorder", "false"},
    {"dynamic", "false"},
};

void needFixed(const JsonSection& section, const FixedMember& member) {
    const Json* value = section.find(member.key);
    const Sentence found = value == nullptr ? said("missing") : shownJson(*value);
    if (value == nullptr ? member.is_required : inEnglish(found) != member.wanted) {
        section.unsupported(member.key,
                            said("is %1, expected %2: of what compressed-tensors writes, W4A16 can "
                                 "be read (pack-quantized, 4 bits, symmetric, groups of 32). Use a "
                                 "W4A16 model of that form or the 16-bit one",
                                 found, member.wanted));
    }
}

/// Refuses what is not W4A16. Which weights are packed, their names in the files say.
void readCompressedTensors(const JsonSection& section, QuantizationHint& hint) {
    needFixed(section, {kFormat.key, kFormat.wanted, true});
    needFixed(section, {"kv_cache_scheme", "null"});
    needFixed(section.section("sparsity_config"), {"format", "\"dense\""});
    needFixed(section.section("transform_config"), {"config_groups", "null"});
    const JsonSection groups = section.section("config_groups");
    const Json* named = section.find("config_groups");
    for (const JsonMember& member : named != nullptr ? named->members : std::vector<JsonMember>()) {
        const JsonSection group = groups.section(member.key);
        needFixed(group, kFormat);
        needFixed(group, {"input_activations", "null"});
        needFixed(group, {"output_activations", "null"});
        const JsonSection weights = group.section("weights");
        for (const FixedMember& fixed : kWeightMembers) {
            needFixed(weights, fixed);
        }
    }
    hint.load_in_4bit = true;
    hint.quant_type = "q4_0"; // the same grid
    hint.skip_modules = section.texts("ignore", 65536);
}

} // namespace

Result<Json> parseConfigObject(std::string_view text, const std::string& file) {
    if (text.empty()) {
        Json empty;
        empty.kind = Json::Kind::Object;
        return empty;
    }
    const auto fail = [&](std::string_view rule, const Sentence& what) {
        return Error{ErrorCode::InvalidFile,
                     said("%1: %2", file, what),
                     {{"rule", std::string(rule)}, {"file", file}}};
    };
    if (text.size() > kMaxSmallJsonBytes) {
        return fail("FileTooLarge", said("has %1 bytes, more than the %2 such a file may have",
                                         text.size(), kMaxSmallJsonBytes));
    }
    ENGINE_ASSIGN(Json tree, parseJson(text, file));
    if (holdsNumberBeyondDouble(tree)) {
        return fail("JsonNumber", said("holds a number that no double can hold"));
    }
    if (!tree.is(Json::Kind::Object)) {
        return fail("ConfigType", said("is %1, expected an object", shownJson(tree)));
    }
    return tree;
}

std::optional<QuantizationHint> readQuantization(const JsonSection& section) {
    if (!section.exists()) {
        return std::nullopt;
    }
    QuantizationHint hint;
    hint.quant_method = section.text("quant_method", "");
    if (hint.quant_method == kCompressedTensors) {
        readCompressedTensors(section, hint);
        return hint;
    }
    hint.load_in_4bit =
        section.boolean("load_in_4bit", false) || section.boolean("_load_in_4bit", false);
    hint.load_in_8bit =
        section.boolean("load_in_8bit", false) || section.boolean("_load_in_8bit", false);
    hint.quant_type = section.text("bnb_4bit_quant_type", "fp4");
    hint.compute_dtype = section.text("bnb_4bit_compute_dtype", "float32");
    hint.double_quant = section.boolean("bnb_4bit_use_double_quant", false);
    hint.skip_modules = section.texts("llm_int8_skip_modules", 65536);
    if (hint.quant_method.empty() && (hint.load_in_4bit || hint.load_in_8bit)) {
        hint.quant_method = "bitsandbytes"; // older files leave it out
    }
    if (hint.quant_method.empty() && section.has("bits") && section.has("group_size")) {
        section.unsupported("bits",
                            said("beside group_size and without quant_method is how MLX writes "
                                 "quantized models, which cannot be read; use the 16-bit model it "
                                 "was converted from or a bitsandbytes 4-bit one"));
    } else if (hint.quant_method.empty()) {
        section.warn("quant_method", said("is missing: the weights are read as they are stored"));
        return std::nullopt;
    } else if (hint.quant_method != "bitsandbytes") {
        section.unsupported("quant_method",
                            said("is \"%1\"; only checkpoints of bitsandbytes (NF4, "
                                 "FP4) and compressed-tensors (W4A16) and "
                                 "unquantized ones can be read",
                                 hint.quant_method.substr(0, 60)));
    }
    if (hint.load_in_4bit && hint.load_in_8bit) {
        section.invalid("ConfigRange", "load_in_8bit", said("is true together with load_in_4bit"));
    } else if (hint.load_in_8bit) {
        section.unsupported("load_in_8bit", said("is true; 8-bit (LLM.int8) checkpoints cannot be "
                                                 "read, 4-bit and unquantized ones can"));
    } else if (hint.load_in_4bit && hint.quant_type != "nf4" && hint.quant_type != "fp4") {
        section.unsupported("bnb_4bit_quant_type", said("is \"%1\"; only nf4 and fp4 are known",
                                                        hint.quant_type.substr(0, 60)));
    }
    return hint;
}

Result<void> checkTotalSize(std::vector<ExpectedTensor> tensors, const ModelConfig& config) {
    int64_t total = 0;
    tensors.push_back(headTensor(config));
    for (const ExpectedTensor& tensor : tensors) {
        const int64_t num_elements = tensor.numElements();
        if (num_elements > kMaxParameters - total) {
            return Error{ErrorCode::InvalidFile,
                         said("config.json: its sizes add up to more than 2^44 parameters (at %1); "
                              "no machine can hold that",
                              tensor.name),
                         {{"rule", "ConfigRange"}, {"file", "config.json"}}};
        }
        total += num_elements;
    }
    return {};
}

} // namespace engine
