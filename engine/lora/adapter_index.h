// SPDX-License-Identifier: Apache-2.0
// The headers of an adapter folder sorted out against a model: every key in one of four classes,
// low-rank pairs assembled and checked, everything else of the file named. Reads no values except
// to compare saved embeddings with the base's own.
#pragma once

#include "engine/lora/adapter.h"

#include <memory>
#include <optional>

namespace engine {

struct AdapterIndex {
    AdapterConfig config;
    std::vector<LowRankUpdate> updates; ///< Model order.
    std::vector<RowReplacement> rows;
    std::vector<TensorReplacement> replacements;
    CoverageReport coverage; ///< Without norms.
    AdapterFootprint footprint;
    std::unique_ptr<TensorSource> source;
    /// The source's tensors in PEFT's spelling; empty: they are called so.
    std::vector<std::string> keys;
    /// The first reason to refuse the adapter as a whole.
    std::optional<Error> refusal;

    [[nodiscard]] const std::string& keyOf(size_t i) const {
        return keys.empty() ? source->tensors()[i].name : keys[i];
    }
};

/// Errors: those that leave nothing to report about (no config, not a safetensors file, kinds that
/// cannot be run). Everything else is in `coverage` and `refusal`.
Result<AdapterIndex> indexAdapter(const std::filesystem::path& folder,
                                  const ModelConfig& model,
                                  const std::vector<ExpectedTensor>& tensors,
                                  const AdapterOptions& options);

class Architecture;
class TargetMatcher;

/// The step of indexAdapter that sorts the keys of index.source, on an index with its config.
Result<void> sortKeys(AdapterIndex& index,
                      const Architecture& architecture,
                      const TargetMatcher& matcher,
                      const AdapterOptions& options);

/// A short description of kind and counts for `coverage`; fills groups, kind, rank, alpha, scaling,
/// matched modules and the footprint from updates, rows and replacements.
void summarise(AdapterIndex& index);

/// "model.safetensors-style" shape text: [8, 64].
std::string shapeText(const std::vector<int64_t>& shape);

} // namespace engine
