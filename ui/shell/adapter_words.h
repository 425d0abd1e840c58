// SPDX-License-Identifier: Apache-2.0
// What is worth knowing of an adapter's files, in the user's language.
#pragma once

#include "engine/api/adapter_note.h"
#include "engine/api/unused_key.h"

#include <QString>

namespace ui {

/// Why a key has no part in this model.
QString keyReasonWords(const engine::KeyReason& reason);

QString adapterNoteWords(const engine::AdapterNote& note);

} // namespace ui
