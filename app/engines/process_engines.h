// SPDX-License-Identifier: Apache-2.0
// The engine in a process of its own (ipc/): the same executable, started with a word, so that a
// crash of it or of a card's driver costs one reply and not the program. For what stays open: the
// window, and serve of belfry-cli. The other commands are processes that whoever calls them can
// start again, with an exit code, limits and profilers that are about the engine. No Qt here.
#pragma once

#include "app/engines/engine_factory.h"

#include <functional>
#include <string>
#include <string_view>

namespace app {

/// The word that main() answers with runEngineProcess(), before anything else.
inline constexpr std::string_view kRunEngine = "--run-engine";
/// The word that gives the engine a process of its own.
inline constexpr std::string_view kEngineProcess = "--engine-process";
/// The word that keeps it on a thread, whatever else is said.
inline constexpr std::string_view kInProcess = "--in-process";
/// Whether it has one where neither is said. On Windows it was never seen with a card yet.
#ifdef _WIN32
inline constexpr bool kIsProcessUsual = false;
#else
inline constexpr bool kIsProcessUsual = true;
#endif

/// Answers the program that started this process until it is gone; gives an exit status where none
/// did.
int runEngineProcess();

/// Engines in processes of their own, but on their threads where a driver of graphics cards crashes
/// or hangs when it is asked (options.inquiry). Of `options` a process gets folders and the
/// inquiry's. `log`: lines in English, on the engine's thread; may be empty.
EngineFactory processEngines(const engine::EngineOptions& options,
                             const std::function<void(const std::string& line)>& log);

} // namespace app
