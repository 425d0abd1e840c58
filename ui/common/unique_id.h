// SPDX-License-Identifier: Apache-2.0
// Names for chats, turns and files of the program's own.
#pragma once

#include <QString>

namespace ui {

/// 32 hexadecimal digits, sorted by time of making, unlike all others.
QString makeUniqueId();

} // namespace ui
