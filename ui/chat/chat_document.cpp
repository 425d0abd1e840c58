// SPDX-License-Identifier: Apache-2.0
#include "ui/chat/chat_document.h"

#include <QRandomGenerator>

#include <array>

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

QString makeChatId() {
    // Time first, so that identifiers sort as they were made; the rest is random.
    std::array<quint32, 4> words{};
    QRandomGenerator::system()->fillRange(words.data(), static_cast<qsizetype>(words.size()));
    const auto now = static_cast<quint64>(QDateTime::currentMSecsSinceEpoch());
    const quint64 tail = (quint64{words[0]} << 32U) | words[1];
    const QLatin1Char zero('0');
    return QStringLiteral("%1%2%3")
        .arg(now, 12, 16, zero)
        .arg(words[2] & 0xffffU, 4, 16, zero)
        .arg(tail, 16, 16, zero);
}

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

} // namespace ui
