// SPDX-License-Identifier: Apache-2.0
// Answers the window's question about this computer, on a thread of its own.
#pragma once

#include <QString>

#include <memory>

namespace engine {
class CardInquiry;
} // namespace engine

namespace ui {
class MainWindow;
} // namespace ui

namespace app {

/// `inquiry` may be nullptr. `window` must outlive the global thread pool's work.
void connectComputer(ui::MainWindow& window,
                     const std::shared_ptr<engine::CardInquiry>& inquiry,
                     const QString& data_folder,
                     const QString& cache_folder);

} // namespace app
