// SPDX-License-Identifier: Apache-2.0
// Connects the window to the engine thread: the only place that knows both sides.
#pragma once

#include "app/engine_worker.h"
#include "ui/main_window.h"

namespace app {

/// Queued connections in both directions; both objects must outlive them.
void connectWindow(ui::MainWindow& window, EngineThread& engine_thread);

} // namespace app
