// SPDX-License-Identifier: Apache-2.0
// How a model was loaded, as JSON for the session file: layout, weights, context, simulated cards,
// limits and adapters. Not the model itself, and nothing of this program's settings (threads,
// cache), which come from there.
#pragma once

#include "engine/api/load_request.h"

#include <QJsonObject>

namespace app {

QJsonObject loadOptionsToJson(const engine::LoadRequest& request);

/// `base` with what `json` says; whatever is missing or of another type stays as it is there.
engine::LoadRequest loadOptionsFromJson(const QJsonObject& json, engine::LoadRequest base);

} // namespace app
