// SPDX-License-Identifier: Apache-2.0
// What is read from files at start without the window waiting for it: facts for the report and the
// demo model's sample questions.
#pragma once

#include "ui/dialogs/diagnostics.h"
#include "ui/window/samples_strip.h"

#include <QImage>

#include <string>
#include <vector>

namespace app {

struct StartupFacts {
    ui::SystemFacts system;
    std::vector<ui::Sample> samples;
    std::vector<QImage> thumbnails; ///< One per sample; null without a picture.
};

/// A plan's errors, warnings and notes in English, for the report.
QStringList planMessages(const engine::PlacementPlan& plan);

/// Any thread. A demo folder without samples gives none; that is not an error.
StartupFacts readStartupFacts(const std::string& demo_folder,
                              const QString& data_folder,
                              const QString& cache_folder);

} // namespace app
