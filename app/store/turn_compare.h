// SPDX-License-Identifier: Apache-2.0
// Whether a turn or a chat differs from what is stored, so that a save writes one turn and not a
// thousand. Dates and the title are left out of the comparison of chats: they follow from it.
#pragma once

#include "ui/chat/chat_document.h"

namespace app {

bool isSameTurn(const ui::ChatTurn& a, const ui::ChatTurn& b);
bool isSameContent(const ui::ChatDocument& a, const ui::ChatDocument& b);

} // namespace app
