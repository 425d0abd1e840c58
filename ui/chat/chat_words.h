// SPDX-License-Identifier: Apache-2.0
// Numbers with their noun, right for one and for many without a translation file for English.
#pragma once

#include <QString>

namespace ui {

QString tokensWords(qint64 count);   ///< "1 token", "1,482 tokens"
QString messagesWords(qint64 count); ///< "1 message", "12 messages"

} // namespace ui
