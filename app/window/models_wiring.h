// SPDX-License-Identifier: Apache-2.0
// Connects the pages Library and Get a model with the threads behind them. Every object must
// outlive the connections.
#pragma once

namespace ui {
class MainWindow;
} // namespace ui

namespace app {

class HubThread;
class LibraryThread;
class PlannerThread;

void connectLibrary(ui::MainWindow& window, LibraryThread& library);

/// `library` looks again when a download is done.
void connectHub(ui::MainWindow& window,
                HubThread& hub,
                PlannerThread& planner,
                LibraryThread& library);

} // namespace app
