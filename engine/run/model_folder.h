// SPDX-License-Identifier: Apache-2.0
// A model folder opened: config, tensor list, checkpoint headers, and how the checkpoint holds each
// tensor under its canonical name. Reads headers only.
#pragma once

#include "engine/api/session.h"
#include "engine/base/result.h"
#include "engine/families/config.h"
#include "engine/families/tensor_list.h"
#include "engine/files/tensor_source.h"
#include "engine/model/model_config.h"
#include "engine/plan/map_resolve.h"
#include "engine/text/tokenizer.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace engine {

struct ModelFolder {
    std::filesystem::path path;
    ModelConfig config;
    std::vector<ExpectedTensor> tensors;
    std::shared_ptr<const TensorSource>
        source;                      ///< Never null; isHeaderOnly() when weights are absent.
    StoredTensors stored;            ///< By canonical name; empty when header-only.
    std::vector<ModelOddity> doubts; ///< Why a load would fail, as far as the headers tell.

    /// Errors: those of config and checkpoint readers.
    static Result<ModelFolder> open(const std::filesystem::path& path,
                                    Families families = Families::Promised);
};

/// A source for the shapes "e2b" and "e4b" with random weights (benchmarks, planning).
Result<ModelFolder> openShape(const std::string& shape);

/// tokenizer.json of a model folder, found by the same rules as its other files: a link into the
/// Hugging Face cache is followed. Errors: as Tokenizer::fromJson; InvalidFile when it is missing,
/// too large or a link that leaves the folder.
Result<Tokenizer> readTokenizer(const std::filesystem::path& folder);

/// What was odd but accepted in config and checkpoint, one sentence each, for the user to read.
std::vector<ModelOddity> oddThings(const ModelFolder& folder);

/// Seconds of the longest clip that a model with an audio tower takes.
double longestSound(const ModelConfig& config);

/// inspect's values for the model part; what was odd in config and checkpoint is in warnings.
ModelSummary summarize(const ModelFolder& folder);

} // namespace engine
