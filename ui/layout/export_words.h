// SPDX-License-Identifier: Apache-2.0
// What another program does differently with an exported map, in the user's language.
#pragma once

#include "engine/api/export_loss.h"

#include <QString>

namespace ui {

QString lossWords(const engine::ExportLoss& loss);

} // namespace ui
