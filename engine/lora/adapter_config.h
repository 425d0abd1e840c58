// SPDX-License-Identifier: Apache-2.0
// PEFT's adapter_config.json as checked values. Order-preserving (the order of rank_pattern and
// alpha_pattern decides), bounded, strict about types: a member that changes the forward pass is
// either understood or refuses the adapter with the reason. Format and the policy per member:
// engine/lora/ADAPTER_CONFIG.md. Does not look at tensors; does not compile patterns
// (target_matching.h).
#pragma once

#include "engine/api/sentence.h"
#include "engine/base/result.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace engine {

/// Names of modules as PEFT writes them: nothing, a list of names or suffixes, one regular
/// expression, or the word "all-linear".
struct ModuleSelector {
    enum class Kind : uint8_t { None = 1, List, Pattern, AllLinear };
    Kind kind = Kind::None;
    std::vector<std::string> names; ///< List, in file order.
    std::string pattern;            ///< Pattern: Python syntax, matched against the whole name.
};

struct RankPattern {
    std::string pattern;
    int64_t rank = 0;
};

struct AlphaPattern {
    std::string pattern;
    double alpha = 0.0;
};

/// Which biases of the base the adapter trained ("bias" member).
enum class TrainedBias : uint8_t { None = 1, All, LoraOnly };

/// trainable_token_indices: rows of an embedding that the adapter replaces.
struct TrainableTokens {
    std::string module; ///< As written; the token table's when the file has a bare list.
    std::vector<int64_t> token_ids;
};

struct AdapterConfig {
    int64_t rank = 8;
    double alpha = 8.0;
    bool use_rslora = false; ///< Scaling alpha / sqrt(rank) instead of alpha / rank.
    bool use_dora = false;
    bool has_lora_bias = false;
    TrainedBias bias = TrainedBias::None;
    std::vector<RankPattern> rank_patterns;   ///< In file order.
    std::vector<AlphaPattern> alpha_patterns; ///< In file order.
    ModuleSelector targets;
    ModuleSelector excluded;
    std::vector<int64_t> layers_to_transform; ///< Empty = all.
    std::vector<std::string> layers_patterns; ///< Empty = first number in the name.
    std::vector<std::string> modules_to_save;
    std::vector<TrainableTokens> trainable_tokens;
    std::vector<std::string> target_parameters;
    bool ensure_weight_tying = false;
    std::string init_lora_weights = "true"; ///< "true", "false", "gaussian", ...
    /// False only for init_lora_weights false: modules absent from the file would be noise in PEFT.
    bool is_zero_initialised = true;
    std::string base_model; ///< base_model_name_or_path; may be empty.
    std::string peft_version;
    /// There is no adapter_config.json (gguf_adapter.h): modules with factors are the targeted
    /// ones, ranks are those of the factors, and alpha 0 stands for the rank.
    bool is_told_by_file = false;

    std::vector<std::string> unknown_members; ///< Listed in the report, otherwise ignored.
    std::vector<Sentence> notes; ///< Members that were reset or have no effect, with the reason.
};

struct AdapterConfigOptions {
    /// Accept initialisations that changed the base weights while training (pissa, olora, corda,
    /// lora_ga, loftq): right only when the loaded base is the matching residual base.
    bool allow_changed_base = false;
};

/// Largest adapter_config.json that is read.
inline constexpr uint64_t kMaxAdapterConfigBytes = 4U << 20U;
/// Largest rank of one module.
inline constexpr int64_t kMaxRank = 8192;

/// Errors: InvalidFile (not JSON, a member of the wrong type or out of range, contradictions that
/// PEFT refuses too), Unsupported (valid PEFT, but a kind that cannot be run; says which member
/// and why).
Result<AdapterConfig> parseAdapterConfig(std::string_view json,
                                         const AdapterConfigOptions& options = {});

/// Reads `<folder>/adapter_config.json` and parses it.
Result<AdapterConfig> readAdapterConfig(const std::filesystem::path& folder,
                                        const AdapterConfigOptions& options = {});

} // namespace engine
