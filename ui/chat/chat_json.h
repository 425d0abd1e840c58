// SPDX-License-Identifier: Apache-2.0
// A conversation as JSON: what the store keeps of a turn and what an export holds; versions of a
// reply that are not shown are in it. The form is version 1 of "belfry-chat"; unknown keys are
// ignored when reading, so that a later version can add some. Integers beyond 2^53 (seeds) are
// written as text, because JSON readers round them.
#pragma once

#include "ui/chat/chat_document.h"

#include <QJsonArray>
#include <QJsonObject>

#include <optional>

namespace ui {

QJsonObject turnToJson(const ChatTurn& turn);
ChatTurn turnFromJson(const QJsonObject& object);
QJsonArray turnsToJson(const std::vector<ChatTurn>& turns);
std::vector<ChatTurn> turnsFromJson(const QJsonArray& array);

/// Drafts of many chats, the one changed last at the end.
QJsonArray draftsToJson(const ChatDrafts& drafts);
ChatDrafts draftsFromJson(const QJsonArray& array);

/// Everything of a chat but its turns, id, title and dates.
QJsonObject settingsToJson(const ChatDocument& chat);
void settingsFromJson(const QJsonObject& object, ChatDocument& chat);

/// The whole chat with "format" and "version".
QJsonObject chatToJson(const ChatDocument& chat);
/// Nothing when "format" or "version" is not the one that this program writes.
std::optional<ChatDocument> chatFromJson(const QJsonObject& object);

} // namespace ui
