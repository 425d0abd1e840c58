// SPDX-License-Identifier: Apache-2.0
// Errors as the window says them: in the user's language where their cause crossed as a value, in
// the engine's words otherwise. Texts are never taken apart.
#pragma once

#include "engine/api/error_cause.h"

#include <QString>

namespace ui {

QString errorWords(const engine::Error& error);

} // namespace ui
