// SPDX-License-Identifier: Apache-2.0
// The window's program from its first line to its last, also the start of another one in its
// place. main() runs it as it is; a test runs it with cards of its own.
#pragma once

#include <functional>
#include <memory>

namespace engine {
struct GpuAccess;
} // namespace engine

namespace ui {
class MainWindow;
} // namespace ui

namespace app {

class EngineThread;

/// What a test puts in place of this machine's. An access per thread that uses one.
struct ProgramSeams {
    std::shared_ptr<const engine::GpuAccess> engine_cards,
        planner_cards;                                            ///< nullptr: the machine's.
    std::function<void(ui::MainWindow&, EngineThread&)> on_shown; ///< On the GUI thread.
};

/// Runs until the window closes and gives the exit status. When the user asked for a restart the
/// same program is started again, detached, after everything of this one was given back.
int runProgram(int argc, char** argv, const ProgramSeams& seams = {});

} // namespace app
