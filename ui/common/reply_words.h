// SPDX-License-Identifier: Apache-2.0
// What drafts did in a reply, in the user's language.
#pragma once

#include "engine/api/chat.h"

#include <QString>

namespace ui {

/// What guessing ahead did in a reply, or why it was left out; empty where there is nothing to
/// tell.
QString draftWords(const engine::DraftReport& drafts);

} // namespace ui
