// SPDX-License-Identifier: Apache-2.0
// A checkpoint opened as a model: config, tensor list, headers, and how the checkpoint holds each
// tensor under its canonical name. Reads headers only.
#pragma once

#include "engine/api/model_summary.h"
#include "engine/base/result.h"
#include "engine/families/config.h"
#include "engine/families/tensor_list.h"
#include "engine/files/checkpoint.h"
#include "engine/files/tensor_source.h"
#include "engine/model/model_config.h"
#include "engine/plan/map_resolve.h"

#include <memory>
#include <string>
#include <vector>

namespace engine {

struct OpenedModel {
    std::shared_ptr<const Checkpoint> checkpoint; ///< Never null.
    ModelConfig config;
    std::vector<ExpectedTensor> tensors;
    std::shared_ptr<const TensorSource>
        source;           ///< Never null; isHeaderOnly() when weights are absent.
    StoredTensors stored; ///< By canonical name; empty when header-only.
    std::shared_ptr<const Checkpoint> assistant; ///< Where config.assistant is from; may be null.
    std::vector<Sentence> doubts; ///< Why a load would fail, as far as the headers tell.

    /// `is_text_only`: without its towers (leaveOutTowers()).
    /// Errors: those of config and checkpoint readers.
    static Result<OpenedModel> open(std::shared_ptr<const Checkpoint> checkpoint,
                                    bool is_text_only = false);

    /// Adds a drafting assistant: its config, tensors and files under the names of its part.
    /// Errors: those of its readers; InvalidRequest where it belongs to another model.
    Result<void> addAssistant(std::shared_ptr<const Checkpoint> from);
    /// The published assistant of this model's size with random weights, for openShape().
    /// Errors: InvalidRequest (a model of no published size).
    Result<void> addRandomAssistant();

    /// The tensors that adapters may be on: all but the assistant's.
    [[nodiscard]] std::vector<ExpectedTensor> adaptable() const;
};

/// A source for the shapes "e2b" and "e4b" with random weights (benchmarks, planning).
Result<OpenedModel> openShape(const std::string& shape, bool is_text_only = false);

/// What was odd but accepted in config and checkpoint, one sentence each, for the user to read.
std::vector<Sentence> oddThings(const OpenedModel& opened);

/// Seconds of the longest clip that a model with an audio tower takes.
double longestSound(const ModelConfig& config);

/// inspect's values for the model part; what was odd in config and checkpoint is in warnings.
ModelSummary summarize(const OpenedModel& opened);

} // namespace engine
