// SPDX-License-Identifier: Apache-2.0
// What the user should know of a reply, in their language.
#pragma once

#include "engine/api/chat.h"

#include <QString>

namespace ui {

QString replyNoteWords(const engine::ReplyNote& note);
/// What guessing ahead did in a reply, or why it was left out; empty where there is nothing to
/// tell.
QString draftWords(const engine::DraftReport& drafts);

} // namespace ui
