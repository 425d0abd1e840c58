// SPDX-License-Identifier: Apache-2.0
// What the engine makes of a model at a hub, from the headers that hub/preview.h has got.
#pragma once

#include "engine/run/engine.h"

#include <filesystem>
#include <vector>

#include "models/hub/download.h"

namespace models {

struct PreviewedModel {
    engine::ModelSummary summary;
    engine::LoadRequest request; ///< For plans, with the preview's paths; no map yet.
};

/// Reads the preview of `plan` in `folder`. Errors: those of Engine::inspect(); InvalidFile for a
/// GGUF model whose projector is another model's.
engine::Result<PreviewedModel> readPreview(engine::Engine& engine,
                                           const hub::FetchPlan& plan,
                                           const std::filesystem::path& folder);

/// Which of the models would fit where `plan`, the one of the chosen model, has its weights: they
/// differ in bytes alone.
std::vector<bool> modelsThatFit(const hub::GgufFiles& gguf, const engine::PlacementPlan& plan);

} // namespace models
