// SPDX-License-Identifier: Apache-2.0
// What the user should know of a reply, in their language.
#pragma once

#include "engine/api/reply_note.h"

#include <QString>

namespace ui {

QString replyNoteWords(const engine::ReplyNote& note);

} // namespace ui
