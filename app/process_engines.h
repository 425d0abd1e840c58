// SPDX-License-Identifier: Apache-2.0
// The engine in a process of its own (ipc/): the same executable, started with a word. Only the
// window does that: belfry-cli is a process that whoever calls it can start again, with an exit
// code, limits and profilers that are about the engine.
#pragma once

#include "app/engine_factory.h"

#include <string_view>

namespace app {

/// The word that main() answers with runEngineProcess(), before anything else.
inline constexpr std::string_view kRunEngine = "--run-engine";
/// The word that gives the window's engine a process of its own, where there is a card.
inline constexpr std::string_view kEngineProcess = "--engine-process";
/// The word that keeps it on a thread of the window's, whatever else is said.
inline constexpr std::string_view kInProcess = "--in-process";

/// Answers the window that started this process until it is gone; gives an exit status where none
/// did.
int runEngineProcess();

/// Engines in processes of their own where a driver of graphics cards answers
/// (options.inquiry), on their threads else.
EngineFactory processEngines(const engine::EngineOptions& options);

} // namespace app
