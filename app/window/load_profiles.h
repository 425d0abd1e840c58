// SPDX-License-Identifier: Apache-2.0
// Profiles of the load form (ui/model/load_profile.h) and the options that each model was loaded
// with last, as JSON: for the settings, and a profile as a file that can be handed on.
#pragma once

#include "engine/base/result.h"
#include "ui/model/load_profile.h"

#include <QByteArray>
#include <QHash>
#include <QJsonArray>
#include <QJsonObject>
#include <QString>

namespace app {

QJsonArray profilesToJson(const ui::LoadProfiles& profiles);
/// What is no profile is left out.
ui::LoadProfiles profilesFromJson(const QJsonArray& json);

/// Options by model folder.
QJsonObject modelOptionsToJson(const QHash<QString, engine::LoadRequest>& options);
QHash<QString, engine::LoadRequest> modelOptionsFromJson(const QJsonObject& json);

/// The text of a profile's file.
QByteArray profileText(const ui::LoadProfile& profile);
/// Errors: InvalidFile, with `file` and what was expected and found.
engine::Result<ui::LoadProfile> readProfileText(const QString& file, const QByteArray& text);

} // namespace app
