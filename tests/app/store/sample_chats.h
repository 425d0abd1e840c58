// SPDX-License-Identifier: Apache-2.0
// Chats for the tests of the store and of what shows it: every field filled, content that follows
// from a number.
#pragma once

#include "ui/chat/chat_document.h"

#include <QString>

namespace support {

/// A turn whose text follows from chat and position; turns of even positions are the user's.
ui::ChatTurn sampleTurn(const QString& chat, int position);
/// A chat of `turns` turns with id "chat-<name>".
ui::ChatDocument sampleChat(const QString& name, int turns);
/// Writes a small file; returns its path.
QString writeFile(const QString& file, const QByteArray& content);
/// Everything that a chat says as one text, to compare two of them in one step.
QByteArray asText(const ui::ChatDocument& chat);

} // namespace support
