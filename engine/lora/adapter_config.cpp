// SPDX-License-Identifier: Apache-2.0
// adapter_config.json member by member: a table of names with what to do about each, so that
// nothing is dropped in silence.
#include "engine/lora/adapter_config.h"

#include "engine/base/json/tree.h"
#include "engine/families/gemma4/names.h"
#include "engine/files/folder_advice.h"
#include "engine/files/model_files.h"
#include "engine/lora/name_pattern.h"
#include "engine/lora/target_matching.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace engine {

namespace {

constexpr std::string_view kFile = "adapter_config.json";
constexpr size_t kMaxTokenIds = 262'144;

Error configError(ErrorCode code, std::string_view member, const Sentence& what) {
    return Error{code,
                 member.empty() ? said("%1: %2", kFile, what)
                                : said("%1: %2: %3", kFile, member, what),
                 {{"file", std::string(kFile)}, {"member", std::string(member)}}};
}

Error wrongType(std::string_view member, Phrase expected, const Json& found) {
    Sentence what = said("expected %1, found %2", expected, found.kindName());
    if (found.is(Json::Kind::Number) || found.is(Json::Kind::String)) {
        what = said("%1 (%2)", what, found.text.substr(0, 60));
    }
    return configError(ErrorCode::InvalidFile, member, what);
}

Result<bool> flagOf(std::string_view member, const Json& node) {
    if (node.is(Json::Kind::Null)) {
        return false;
    }
    if (!node.is(Json::Kind::Bool)) {
        return wrongType(member, phrase("true or false"), node);
    }
    return node.boolean;
}

Result<int64_t> rankFrom(std::string_view member, const Json& node) {
    const std::optional<int64_t> rank = node.integer();
    if (!rank) {
        return wrongType(member, phrase("a whole number"), node);
    }
    if (*rank < 1 || *rank > kMaxRank) {
        return configError(ErrorCode::InvalidFile, member,
                           said("rank %1 is outside 1 to %2", *rank, kMaxRank));
    }
    return *rank;
}

Result<double> alphaFrom(std::string_view member, const Json& node) {
    const std::optional<double> alpha = node.number();
    if (!alpha) {
        return wrongType(member, phrase("a finite number"), node);
    }
    if (std::abs(*alpha) > 1e9) {
        return configError(ErrorCode::InvalidFile, member,
                           said("alpha %1 is beyond 1e9 in size", node.text.substr(0, 60)));
    }
    return *alpha;
}

Result<std::vector<std::string>> stringsOf(std::string_view member, const Json& node) {
    std::vector<std::string> out;
    if (node.items.size() > kMaxPatternEntries) {
        return configError(
            ErrorCode::InvalidFile, member,
            said("has %1 entries, at most %2 are read", node.items.size(), kMaxPatternEntries));
    }
    for (const Json& item : node.items) {
        if (!item.is(Json::Kind::String)) {
            return wrongType(member, phrase("a list of strings"), item);
        }
        if (item.text.empty()) {
            return configError(ErrorCode::InvalidFile, member, said("has an empty entry"));
        }
        if (item.text.size() > kMaxPatternBytes) {
            return configError(ErrorCode::InvalidFile, member,
                               said("has an entry of %1 bytes, at most %2 are read",
                                    item.text.size(), kMaxPatternBytes));
        }
        out.push_back(item.text);
    }
    return out;
}

/// null or a list of strings.
Result<std::vector<std::string>> optionalStrings(std::string_view member, const Json& node) {
    if (node.is(Json::Kind::Null)) {
        return std::vector<std::string>{};
    }
    if (!node.is(Json::Kind::Array)) {
        return wrongType(member, phrase("a list of strings or null"), node);
    }
    return stringsOf(member, node);
}

bool equalsIgnoringCase(std::string_view a, std::string_view b) {
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) {
               return (x >= 'A' && x <= 'Z' ? x - 'A' + 'a' : x) == y;
           });
}

Result<ModuleSelector> selectorOf(std::string_view member, const Json& node, bool has_word) {
    ModuleSelector selector;
    if (node.is(Json::Kind::Null)) {
        return selector;
    }
    if (node.is(Json::Kind::String)) {
        if (node.text.size() > kMaxPatternBytes) {
            return configError(ErrorCode::InvalidFile, member,
                               said("the pattern has %1 bytes, at most %2 are read",
                                    node.text.size(), kMaxPatternBytes));
        }
        if (has_word && equalsIgnoringCase(node.text, "all-linear")) {
            selector.kind = ModuleSelector::Kind::AllLinear;
            return selector;
        }
        if (node.text.empty() && !has_word) {
            return selector; // an empty exclude pattern is not set
        }
        selector.kind = ModuleSelector::Kind::Pattern;
        selector.pattern = node.text;
        return selector;
    }
    if (!node.is(Json::Kind::Array)) {
        return wrongType(member, phrase("a list of names, a regular expression or null"), node);
    }
    ENGINE_ASSIGN(selector.names, stringsOf(member, node));
    selector.kind = ModuleSelector::Kind::List;
    if (selector.names.empty() && !has_word) {
        selector.kind = ModuleSelector::Kind::None;
    }
    return selector;
}

Result<std::vector<int64_t>> idsOf(std::string_view member, const Json& node) {
    if (!node.is(Json::Kind::Array)) {
        return wrongType(member, phrase("a list of token ids"), node);
    }
    if (node.items.size() > kMaxTokenIds) {
        return configError(
            ErrorCode::InvalidFile, member,
            said("%1 token ids, at most %2 are read", node.items.size(), kMaxTokenIds));
    }
    std::vector<int64_t> ids;
    for (const Json& item : node.items) {
        const std::optional<int64_t> id = item.integer();
        if (!id) {
            return wrongType(member, phrase("a list of token ids"), item);
        }
        if (*id < 0) {
            return configError(ErrorCode::InvalidFile, member,
                               said("token id %1 is negative", *id));
        }
        ids.push_back(*id);
    }
    std::vector<int64_t> sorted = ids;
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end()) {
        return configError(ErrorCode::InvalidFile, member,
                           said("token id %1 is listed twice", *twice));
    }
    return ids;
}

/// Whether a member that nobody knows here could mean something: PEFT writes the members of
/// variants that are not used as false, null or empty.
bool isOn(const Json& node) {
    switch (node.kind) {
    case Json::Kind::Null:
        return false;
    case Json::Kind::Bool:
        return node.boolean;
    case Json::Kind::Number:
        return node.number() != 0.0;
    case Json::Kind::String:
        return !node.text.empty();
    case Json::Kind::Array:
        return !node.items.empty();
    case Json::Kind::Object:
        break;
    }
    return !node.members.empty();
}

/// A value for a note.
Sentence shown(const Json& node) {
    switch (node.kind) {
    case Json::Kind::Bool:
        return asItIs(node.boolean ? "true" : "false");
    case Json::Kind::Number:
        return asItIs(node.text.substr(0, 60));
    case Json::Kind::String:
        return asItIs("\"" + node.text.substr(0, 60) + "\"");
    default:
        return node.kindName();
    }
}

/// Initialisations that leave the base as it was.
constexpr std::string_view kPlainInits[] = {"gaussian", "orthogonal", "eva", "mica"};
constexpr std::string_view kChangingInits[] = {"pissa", "olora", "corda", "lora_ga", "loftq"};

/// An entry of a table, as messages name it.
std::string entryName(const std::string& table, const std::string& entry) {
    std::string name = table;
    name += "[\"";
    name += entry;
    name += "\"]";
    return name;
}

class ConfigParser {
public:
    ConfigParser(const Json& root, const AdapterConfigOptions& options)
        : root_(root), options_(options) {}

    Result<AdapterConfig> run() {
        bool has_type = false;
        for (const JsonMember& member : root_.members) {
            has_type = has_type || member.key == "peft_type";
            ENGINE_TRY(read(member.key, member.value));
        }
        const auto has = [&](const char* name) { return root_.find(name) != nullptr; };
        if (!has_type && (has("lora_parameters") || has("fine_tune_type"))) {
            return configError(
                ErrorCode::Unsupported, "lora_parameters",
                said("this is an adapter of mlx-lm, whose factors stand transposed under other "
                     "names and whose scale is not PEFT's lora_alpha; convert it to PEFT's form "
                     "(lora_A = lora_a transposed, lora_B = lora_b transposed, lora_alpha = scale "
                     "x rank) or fuse it (mlx_lm.fuse) into the 16-bit model"));
        }
        if (!has_type) {
            return configError(ErrorCode::InvalidFile, "peft_type",
                               said("is missing; expected \"LORA\". Is this an adapter folder?"));
        }
        ENGINE_TRY(checkTogether());
        return std::move(config_);
    }

private:
    Result<void> read(const std::string& name, const Json& node) {
        ENGINE_ASSIGN(bool is_known, sizes(name, node));
        if (!is_known) {
            ENGINE_ASSIGN(is_known, selection(name, node));
        }
        if (!is_known) {
            ENGINE_ASSIGN(is_known, variants(name, node));
        }
        if (!is_known) {
            ENGINE_ASSIGN(is_known, withoutEffect(name, node));
        }
        if (!is_known) {
            config_.unknown_members.push_back(name);
            if (isOn(node)) {
                config_.notes.push_back(
                    said("adapter_config.json: %1 is %2, a member that is not known here; it is "
                         "ignored, and the adapter may act otherwise than in PEFT",
                         name, shown(node)));
            }
        }
        return {};
    }

    /// Kind, rank, alpha and their patterns.
    Result<bool> sizes(const std::string& name, const Json& node) {
        if (name == "peft_type") {
            if (!node.is(Json::Kind::String)) {
                return wrongType(name, phrase("\"LORA\""), node);
            }
            if (node.text != "LORA") {
                return configError(ErrorCode::Unsupported, name,
                                   said("adapters of kind %1 cannot be run; only LORA can",
                                        node.text.substr(0, 60)));
            }
        } else if (name == "r") {
            ENGINE_ASSIGN(config_.rank, rankFrom(name, node));
        } else if (name == "lora_alpha") {
            ENGINE_ASSIGN(config_.alpha, alphaFrom(name, node));
        } else if (name == "use_rslora") {
            ENGINE_ASSIGN(config_.use_rslora, flagOf(name, node));
        } else if (name == "use_dora") {
            ENGINE_ASSIGN(config_.use_dora, flagOf(name, node));
        } else if (name == "lora_bias") {
            ENGINE_ASSIGN(config_.has_lora_bias, flagOf(name, node));
        } else if (name == "rank_pattern") {
            ENGINE_TRY(checkTable(name, node));
            for (const auto& [pattern, key_at, value] : node.members) {
                ENGINE_ASSIGN(const int64_t rank, rankFrom(entryName(name, pattern), value));
                config_.rank_patterns.push_back({pattern, rank});
            }
        } else if (name == "alpha_pattern") {
            ENGINE_TRY(checkTable(name, node));
            for (const auto& [pattern, key_at, value] : node.members) {
                ENGINE_ASSIGN(const double alpha, alphaFrom(entryName(name, pattern), value));
                config_.alpha_patterns.push_back({pattern, alpha});
            }
        } else if (name == "bias") {
            return bias(name, node);
        } else {
            return false;
        }
        return true;
    }

    Result<bool> bias(const std::string& name, const Json& node) {
        if (!node.is(Json::Kind::String)) {
            return wrongType(name, phrase("\"none\", \"all\" or \"lora_only\""), node);
        }
        if (node.text == "none") {
            config_.bias = TrainedBias::None;
        } else if (node.text == "all") {
            config_.bias = TrainedBias::All;
        } else if (node.text == "lora_only") {
            config_.bias = TrainedBias::LoraOnly;
        } else {
            return configError(ErrorCode::InvalidFile, name,
                               said("expected \"none\", \"all\" or \"lora_only\", found \"%1\"",
                                    node.text.substr(0, 60)));
        }
        return true;
    }

    static Result<void> checkTable(const std::string& name, const Json& node) {
        if (node.is(Json::Kind::Null)) {
            return {};
        }
        if (!node.is(Json::Kind::Object)) {
            return wrongType(name, phrase("an object of patterns"), node);
        }
        if (node.members.size() > kMaxPatternEntries) {
            return configError(ErrorCode::InvalidFile, name,
                               said("has %1 entries, at most %2 are read", node.members.size(),
                                    kMaxPatternEntries));
        }
        return {};
    }

    /// Which modules.
    Result<bool> selection(const std::string& name, const Json& node) {
        if (name == "target_modules") {
            ENGINE_ASSIGN(config_.targets, selectorOf(name, node, true));
        } else if (name == "exclude_modules") {
            ENGINE_ASSIGN(config_.excluded, selectorOf(name, node, false));
        } else if (name == "layers_to_transform") {
            return layersToTransform(name, node);
        } else if (name == "layers_pattern") {
            has_layers_pattern_ = !node.is(Json::Kind::Null);
            if (node.is(Json::Kind::String)) {
                if (!node.text.empty()) {
                    config_.layers_patterns.push_back(node.text);
                }
            } else {
                ENGINE_ASSIGN(config_.layers_patterns, optionalStrings(name, node));
            }
        } else if (name == "modules_to_save") {
            ENGINE_ASSIGN(config_.modules_to_save, optionalStrings(name, node));
        } else if (name == "target_parameters") {
            ENGINE_ASSIGN(config_.target_parameters, optionalStrings(name, node));
        } else if (name == "trainable_token_indices") {
            return trainableTokens(name, node);
        } else if (name == "ensure_weight_tying") {
            ENGINE_ASSIGN(config_.ensure_weight_tying, flagOf(name, node));
        } else {
            return false;
        }
        return true;
    }

    Result<bool> layersToTransform(const std::string& name, const Json& node) {
        has_layers_to_transform_ = !node.is(Json::Kind::Null);
        if (node.is(Json::Kind::Null)) {
            return true;
        }
        const auto take = [&](const Json& item) -> Result<void> {
            const std::optional<int64_t> layer = item.integer();
            if (!layer) {
                return wrongType(name, phrase("a layer number or a list of them"), item);
            }
            config_.layers_to_transform.push_back(*layer);
            return {};
        };
        if (!node.is(Json::Kind::Array)) {
            ENGINE_TRY(take(node));
            return true;
        }
        if (node.items.size() > kMaxPatternEntries) {
            return configError(ErrorCode::InvalidFile, name,
                               said("has %1 entries", node.items.size()));
        }
        for (const Json& item : node.items) {
            ENGINE_TRY(take(item));
        }
        return true;
    }

    Result<bool> trainableTokens(const std::string& name, const Json& node) {
        if (node.is(Json::Kind::Null)) {
            return true;
        }
        if (node.is(Json::Kind::Object)) {
            if (node.members.size() > 64) {
                return configError(ErrorCode::InvalidFile, name,
                                   said("names more than 64 modules"));
            }
            for (const JsonMember& member : node.members) {
                TrainableTokens tokens;
                tokens.module = member.key;
                ENGINE_ASSIGN(tokens.token_ids,
                              idsOf(name + "[\"" + member.key + "\"]", member.value));
                config_.trainable_tokens.push_back(std::move(tokens));
            }
            return true;
        }
        TrainableTokens tokens;
        tokens.module = shortPartName({PartRole::Embedding});
        ENGINE_ASSIGN(tokens.token_ids, idsOf(name, node));
        config_.trainable_tokens.push_back(std::move(tokens));
        return true;
    }

    /// Members of which any value but the default means another forward pass.
    Result<bool> variants(const std::string& name, const Json& node) {
        struct Variant {
            std::string_view member;
            Phrase reason;
        };
        static constexpr Variant kRefused[] = {
            {"layer_replication",
             phrase("repeats layers and so changes the architecture of the base")},
            {"alora_invocation_tokens", phrase("the adapter acts only after an invocation sequence "
                                               "(aLoRA), which is not implemented")},
            {"use_qalora", phrase("QALoRA pools the input of A, which is not implemented")},
            {"use_bdlora", phrase("block-diagonal LoRA is not implemented")},
            {"arrow_config", phrase("routing between adapters (Arrow) is not implemented")},
            {"velora_config", phrase("VeLoRA is not implemented")},
            {"monteclora_config", phrase("MonteCLoRA is not implemented")},
            {"kasa_config",
             phrase("KaSA truncates the base weight and adds a diagonal, which is not "
                    "implemented")},
        };
        for (const Variant& variant : kRefused) {
            if (name != variant.member) {
                continue;
            }
            const bool is_off =
                node.is(Json::Kind::Null) || (node.is(Json::Kind::Bool) && !node.boolean);
            if (!is_off) {
                return configError(ErrorCode::Unsupported, name,
                                   said("is set: %1", variant.reason));
            }
            return true;
        }
        if (name == "init_lora_weights") {
            return initialisation(name, node);
        }
        if (name == "fan_in_fan_out") {
            ENGINE_ASSIGN(const bool is_transposed, flagOf(name, node));
            if (is_transposed) {
                config_.notes.push_back(said(
                    "fan_in_fan_out is true; it has no meaning for linear layers and was reset"));
            }
            return true;
        }
        return false;
    }

    Result<bool> initialisation(const std::string& name, const Json& node) {
        if (node.is(Json::Kind::Bool) || node.is(Json::Kind::Null)) {
            const bool is_default = node.is(Json::Kind::Bool) && node.boolean;
            config_.init_lora_weights = is_default ? "true" : "false";
            config_.is_zero_initialised = is_default;
            return true;
        }
        if (!node.is(Json::Kind::String)) {
            return wrongType(name, phrase("a boolean or a name"), node);
        }
        config_.init_lora_weights = node.text.substr(0, 60);
        for (const std::string_view plain : kPlainInits) {
            if (equalsIgnoringCase(node.text, plain)) {
                return true;
            }
        }
        for (const std::string_view changing : kChangingInits) {
            const bool is_match = equalsIgnoringCase(node.text, changing) ||
                                  node.text.starts_with(std::string(changing) + "_");
            if (!is_match) {
                continue;
            }
            if (!options_.allow_changed_base) {
                return configError(
                    ErrorCode::Unsupported, name,
                    said("\"%1\" replaced the base weights while training; the adapter is right "
                         "only on that changed base. Ask its author for a converted adapter, or "
                         "allow it if the loaded base is the changed one",
                         config_.init_lora_weights));
            }
            config_.notes.push_back(said(
                "init_lora_weights is \"%1\": accepted on request, right only on the changed base",
                config_.init_lora_weights));
            return true;
        }
        return configError(ErrorCode::Unsupported, name,
                           said("\"%1\" is not a known initialisation; whether it changed the base "
                                "weights cannot be told",
                                config_.init_lora_weights));
    }

    /// Training and bookkeeping members.
    Result<bool> withoutEffect(const std::string& name, const Json& node) {
        if (name == "base_model_name_or_path") {
            if (node.is(Json::Kind::String)) {
                config_.base_model = node.text.substr(0, 1024);
            } else if (!node.is(Json::Kind::Null)) {
                return wrongType(name, phrase("a string or null"), node);
            }
            return true;
        }
        if (name == "peft_version") {
            if (node.is(Json::Kind::String)) {
                config_.peft_version = node.text.substr(0, 64);
            }
            return true;
        }
        if (name == "lora_dropout") {
            if (!node.is(Json::Kind::Null) && !node.number()) {
                return wrongType(name, phrase("a number"), node);
            }
            return true;
        }
        if (name == "runtime_config") {
            config_.notes.push_back(said("runtime_config is ignored, as PEFT does"));
            return true;
        }
        static constexpr std::string_view kTraining[] = {"megatron_config", "megatron_core",
                                                         "loftq_config",    "eva_config",
                                                         "corda_config",    "lora_ga_config"};
        if (std::find(std::begin(kTraining), std::end(kTraining), name) != std::end(kTraining)) {
            const bool is_set = !node.is(Json::Kind::Null) &&
                                !(node.is(Json::Kind::Object) && node.members.empty()) &&
                                name != "megatron_core";
            if (is_set) {
                config_.notes.push_back(said("%1 concerns training only and is ignored", name));
            }
            return true;
        }
        static constexpr std::string_view kBookkeeping[] = {
            "inference_mode", "task_type", "auto_mapping", "revision", "qalora_group_size"};
        return std::find(std::begin(kBookkeeping), std::end(kBookkeeping), name) !=
               std::end(kBookkeeping);
    }

    /// Contradictions that PEFT refuses as well.
    Result<void> checkTogether() {
        const bool is_text = config_.targets.kind == ModuleSelector::Kind::Pattern ||
                             config_.targets.kind == ModuleSelector::Kind::AllLinear;
        if (is_text && has_layers_to_transform_) {
            return configError(ErrorCode::InvalidFile, "layers_to_transform",
                               said("cannot be used when target_modules is a string"));
        }
        if (is_text && has_layers_pattern_) {
            return configError(ErrorCode::InvalidFile, "layers_pattern",
                               said("cannot be used when target_modules is a string"));
        }
        if (!config_.layers_patterns.empty() && config_.layers_to_transform.empty()) {
            return configError(ErrorCode::InvalidFile, "layers_pattern",
                               said("needs layers_to_transform beside it"));
        }
        if (config_.has_lora_bias && config_.use_dora) {
            return configError(ErrorCode::InvalidFile, "lora_bias",
                               said("cannot be combined with use_dora"));
        }
        for (const TrainableTokens& tokens : config_.trainable_tokens) {
            const auto& saved = config_.modules_to_save;
            if (std::find(saved.begin(), saved.end(), tokens.module) != saved.end()) {
                return configError(
                    ErrorCode::InvalidFile, "trainable_token_indices",
                    said("names %1, which modules_to_save replaces as a whole", tokens.module));
            }
        }
        return {};
    }

    const Json& root_;
    AdapterConfigOptions options_;
    AdapterConfig config_;
    bool has_layers_to_transform_ = false;
    bool has_layers_pattern_ = false;
};

} // namespace

Result<AdapterConfig> parseAdapterConfig(std::string_view json,
                                         const AdapterConfigOptions& options) {
    if (json.size() > kMaxAdapterConfigBytes) {
        return configError(
            ErrorCode::InvalidFile, {},
            said("has %1 bytes, at most %2 are read", json.size(), kMaxAdapterConfigBytes));
    }
    Json root;
    const JsonOutcome outcome = readJsonTree(json, {}, root);
    if (outcome.stop == JsonStop::TooManyValues) {
        return Error{
            ErrorCode::InvalidFile,
            said("%1: holds %2; adapter configurations are far smaller", kFile, outcome.detail),
            {{"file", std::string(kFile)}}};
    }
    if (outcome.stop != JsonStop::Done) {
        return jsonError(outcome, kFile);
    }
    if (!root.is(Json::Kind::Object)) {
        return configError(ErrorCode::InvalidFile, {},
                           said("expected an object, found %1", root.kindName()));
    }
    return ConfigParser(root, options).run();
}

Result<AdapterConfig> readAdapterConfig(const std::filesystem::path& folder,
                                        const AdapterConfigOptions& options) {
    ENGINE_ASSIGN(const std::optional<std::string> text,
                  readModelText(folder, kFile, kMaxAdapterConfigBytes));
    if (!text) {
        return notAnAdapterFolder(folder);
    }
    return parseAdapterConfig(*text, options);
}

} // namespace engine
