// SPDX-License-Identifier: Apache-2.0
// The commands of belfry-cli. Each writes its result to stdout (text or one JSON object) and
// returns; failures come back as errors and are printed by main.
#pragma once

#include "app/cli/arguments.h"
#include "app/cli/interrupt.h"
#include "app/engines/engine_factory.h"
#include "engine/base/result.h"
#include "engine/run/engine.h"

#include <memory>

namespace cli {

engine::Result<void> runInspect(engine::EngineClient& engine, const Arguments& arguments);
engine::Result<void> runPlan(engine::Engine& engine, const Arguments& arguments);
engine::Result<void> runChat(engine::EngineClient& engine, const Arguments& arguments);
engine::Result<void> runLogits(engine::EngineClient& engine, const Arguments& arguments);
engine::Result<void> runTokenize(engine::Engine& engine, const Arguments& arguments);
/// Over a text, a model beside another form of it; loads one after the other.
engine::Result<void> runCompare(engine::Engine& engine, const Arguments& arguments);
engine::Result<void> runMerge(engine::Engine& engine, const Arguments& arguments);
engine::Result<void> runBench(engine::Engine& engine, const Arguments& arguments);
/// OpenAI's API until a signal ends it. Its engine may end before: another one takes its place.
engine::Result<void> runServe(const app::EngineFactory& engines, const Arguments& arguments);
/// serve: the names of model and adapters in requests, from the words that were given for them.
void nameServed(Arguments& arguments);
/// Describes the computer, not a model: needs no engine.
engine::Result<void> runDoctor(const std::shared_ptr<engine::CardInquiry>& inquiry,
                               const Arguments& arguments);

/// Lists the library. `options`: how the engine that plans is made.
engine::Result<void> runModels(const engine::EngineOptions& options, const Arguments& arguments);
/// Fetches a model; `engine` plans what --dry-run tells.
engine::Result<void> runGet(engine::Engine& engine, const Arguments& arguments);

/// Loads with progress on stderr (nothing there with --json or when stderr is no terminal).
engine::Result<void> loadModel(engine::EngineClient& engine, const Arguments& arguments);

} // namespace cli
