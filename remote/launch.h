// SPDX-License-Identifier: Apache-2.0
// From a placement to the commands that run the model on a server: what of it maps to vLLM and
// SGLang, and what does not, named. Pure: reads no file, asks no server. Flags as in vLLM 0.33 and
// SGLang 0.5.
#pragma once

#include "engine/api/load_request.h"
#include "engine/api/model_summary.h"
#include "engine/api/placement.h"
#include "engine/api/server_launch.h"

#include <string>

namespace remote {

/// `plan` may be one that does not fit. `summary` with the adapters of `request`, as far as they
/// were read.
engine::ServerLaunch serverLaunch(const engine::LoadRequest& request,
                                  const engine::ModelSummary& summary,
                                  const engine::PlacementPlan& plan,
                                  const engine::ServerCards& cards = {});

/// One word of a POSIX shell: as it is, or in single quotes.
std::string shellWord(const std::string& word);

/// "google/gemma-4-E2B-it" where the folder lies in the hub's cache; else the folder.
std::string modelSource(const std::string& folder);

} // namespace remote
