// SPDX-License-Identifier: Apache-2.0
#include "ui/chat/chat_document.h"

#include "ui/common/unique_id.h"

namespace ui {

namespace {

constexpr qsizetype kTitleLength = 60;

QString firstLine(const QString& text) {
    for (const QString& line : text.split(QLatin1Char('\n'))) {
        QString plain = line.simplified();
        if (!plain.isEmpty()) {
            return plain;
        }
    }
    return {};
}

} // namespace

QString titleFromTurns(const ChatDocument& chat) {
    for (const ChatTurn& turn : chat.turns) {
        if (turn.role != engine::Message::Role::User) {
            continue;
        }
        QString line = firstLine(turn.text);
        if (line.isEmpty() && !turn.attachments.empty()) {
            line = turn.attachments.front().name.simplified();
        }
        if (line.isEmpty()) {
            continue;
        }
        if (line.size() <= kTitleLength) {
            return line;
        }
        qsizetype end = line.lastIndexOf(QLatin1Char(' '), kTitleLength - 1);
        if (end < kTitleLength / 2) {
            end = kTitleLength - 1;
            if (line.at(end - 1).isHighSurrogate()) {
                --end; // not through the middle of a character
            }
        }
        return line.left(end).trimmed() + QChar(0x2026);
    }
    return {};
}

ChatDocument copyOf(const ChatDocument& chat, qsizetype turns) {
    ChatDocument copy = chat;
    if (turns >= 0) {
        copy.turns.resize(static_cast<size_t>(turns));
        for (ChatTurn& turn : copy.turns) {
            turn.versions.clear();
            turn.version = 0;
        }
    }
    copy.id = makeUniqueId();
    copy.title.clear();
    copy.is_title_set_by_user = false;
    copy.created = copy.modified = QDateTime::currentDateTimeUtc();
    visitAllTurns(copy.turns, [](ChatTurn& turn) { turn.id = makeUniqueId(); });
    return copy;
}

} // namespace ui
