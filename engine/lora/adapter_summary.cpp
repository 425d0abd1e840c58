// SPDX-License-Identifier: Apache-2.0
// Opening an adapter, and the summary of what was found in it.
#include "engine/families/gguf/checkpoint.h"
#include "engine/files/folder_advice.h"
#include "engine/files/model_files.h"
#include "engine/files/safetensors.h"
#include "engine/lora/adapter_index.h"
#include "engine/lora/adapter_layout.h"
#include "engine/lora/architecture.h"
#include "engine/lora/gguf_adapter.h"
#include "engine/lora/key_spelling.h"
#include "engine/lora/target_matching.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace engine {

namespace {

constexpr const char* kWeightsFile = "adapter_model.safetensors";

Result<std::unique_ptr<TensorSource>> openWeights(const std::filesystem::path& folder) {
    if (!modelFileExists(folder, kWeightsFile)) {
        return noAdapterWeights(folder);
    }
    return openSafetensorsFile(folder / kWeightsFile);
}

/// Modules, as spelled, for which the file has low-rank factors.
std::unordered_set<std::string> updatedModules(const AdapterIndex& index) {
    std::unordered_set<std::string> modules;
    for (size_t i = 0; i < index.source->tensors().size(); ++i) {
        const std::optional<AdapterKey> key = parseAdapterKey(index.keyOf(i));
        if (key && key->leaf < AdapterLeaf::TrainableTokens) {
            modules.insert(key->spelled_module);
        }
    }
    return modules;
}

} // namespace

std::string shapeText(const std::vector<int64_t>& shape) {
    std::string text = "[";
    for (const int64_t size : shape) {
        text += (text.size() > 1 ? ", " : "") + std::to_string(size);
    }
    return text + "]";
}

void summarise(AdapterIndex& index) {
    CoverageReport& coverage = index.coverage;
    std::set<std::string> modules;
    std::map<std::tuple<std::string, int64_t, double, double>, int64_t> groups;
    bool has_embedding = false;
    bool has_experts = false;
    bool has_bias = false;
    for (const LowRankUpdate& update : index.updates) {
        modules.insert(moduleOfTensor(update.tensor));
        std::string kind = update.isDora() ? "dora" : "lora";
        if (update.kind == TensorKind::Embedding) {
            kind = "embedding";
            has_embedding = true;
        } else if (update.kind == TensorKind::Experts) {
            kind = "experts";
            has_experts = true;
        }
        has_bias = has_bias || update.b_bias.present;
        ++groups[{kind, update.rank, update.alpha, update.scaling}];
    }
    for (const RowReplacement& rows : index.rows) {
        modules.insert(moduleOfTensor(rows.tensor));
    }
    for (const TensorReplacement& replacement : index.replacements) {
        modules.insert(moduleOfTensor(replacement.tensor));
    }
    coverage.matched_modules.assign(modules.begin(), modules.end());
    for (const auto& [key, count] : groups) {
        const auto& [kind, rank, alpha, scaling] = key;
        coverage.groups.push_back({kind, rank, alpha, scaling, count});
    }
    std::stable_sort(coverage.groups.begin(), coverage.groups.end(),
                     [](const auto& a, const auto& b) { return a.modules > b.modules; });
    if (!coverage.groups.empty()) {
        coverage.rank = coverage.groups.front().rank;
        coverage.alpha = coverage.groups.front().alpha;
        coverage.scaling = coverage.groups.front().scaling;
    }
    coverage.kind = index.config.use_dora ? "dora" : "lora";
    if (index.config.use_rslora) {
        coverage.kind = index.config.use_dora ? "rslora+dora" : "rslora";
    }
    coverage.kind += has_bias ? "+bias" : "";
    coverage.kind += has_embedding ? "+embedding" : "";
    coverage.kind += has_experts ? "+experts" : "";
    coverage.kind += index.rows.empty() ? "" : "+tokens";
    coverage.kind += index.replacements.empty() ? "" : "+saved";
    index.footprint = footprintOf(index.updates, index.rows, index.replacements);
}

Result<AdapterIndex> indexAdapter(const std::filesystem::path& folder,
                                  const ModelConfig& model,
                                  const std::vector<ExpectedTensor>& tensors,
                                  const AdapterOptions& options) {
    AdapterIndex index;
    if (isGgufFile(folder)) {
        ENGINE_ASSIGN(GgufAdapter file, openGgufAdapter(folder, model));
        index.config = std::move(file.config);
        index.source = std::move(file.source);
        index.keys = std::move(file.keys);
    } else {
        ENGINE_ASSIGN(index.config, readAdapterConfig(folder, {options.allow_changed_base}));
        ENGINE_ASSIGN(index.source, openWeights(folder));
    }
    ENGINE_ASSIGN(const TargetMatcher matcher,
                  TargetMatcher::compile(index.config, updatedModules(index)));
    index.coverage.notes = matcher.notes();
    const Architecture architecture(model, tensors);
    ENGINE_TRY(sortKeys(index, architecture, matcher, options));
    return index;
}

} // namespace engine
