// SPDX-License-Identifier: Apache-2.0
// Errors as the window says them: in the user's language by their cause or sentence; bare texts
// (Internal) as they are. Texts are never taken apart.
#pragma once

#include "engine/api/error_cause.h"

#include <QString>

namespace ui {

/// Words to stand behind others: "Belfry cannot use it: ...".
QString errorWords(const engine::Error& error);
/// The same to stand on their own: begun with a capital and ended with a full stop.
QString errorSentence(const engine::Error& error);

} // namespace ui
