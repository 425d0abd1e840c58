// SPDX-License-Identifier: Apache-2.0
// A way to load under a name of the user's ("home card", "laptop"): map, precision, context,
// simulated cards, limits, adapters and sampling. Not the model, and nothing of the program's
// settings. Plain values; app/window/load_profiles.h reads and writes them.
#pragma once

#include "engine/api/chat.h"
#include "engine/api/load_request.h"

#include <QMetaType>
#include <QString>

#include <vector>

namespace ui {

struct LoadProfile {
    QString name;
    engine::LoadRequest load; ///< `model`, `threads` and `cache_folder` mean nothing.
    engine::SamplingParameters sampling;
};

using LoadProfiles = std::vector<LoadProfile>;

} // namespace ui

Q_DECLARE_METATYPE(ui::LoadProfile)
