// SPDX-License-Identifier: Apache-2.0
#include "tests/app/store/sample_chats.h"

#include "ui/chat/chat_json.h"

#include <QFile>
#include <QJsonDocument>

namespace support {

ui::ChatTurn sampleTurn(const QString& chat, int position) {
    ui::ChatTurn turn;
    turn.id = QStringLiteral("%1-%2").arg(chat).arg(position);
    turn.time = QDateTime::fromMSecsSinceEpoch(1763700000123 + position * 1000, Qt::UTC);
    if (position % 2 == 0) {
        turn.text =
            QStringLiteral("Question %1 of %2, with Grüße, 日本語 and 🐦?").arg(position).arg(chat);
        return turn;
    }
    turn.role = engine::Message::Role::Assistant;
    turn.text = QStringLiteral("Answer %1:\n\n```\nint x = %1;\n```\n").arg(position);
    turn.thinking = QStringLiteral("Thought %1").arg(position);
    turn.finish_reason = QStringLiteral("stop");
    turn.timing = {10 + position, 3, 0, 0.25, 20 + position, 0.5, 0.125, 0.75, 0.0625};
    turn.notes = {QStringLiteral("note %1").arg(position)};
    turn.seed = 0xfedcba9876543210ULL + static_cast<quint64>(position);
    turn.is_cut = position == 1;
    turn.model = QStringLiteral("/models/e2b");
    turn.adapters = {{"/adapters/medical", 0.8, true}, {"/adapters/law", 1.0, false}};
    return turn;
}

ui::ChatDocument sampleChat(const QString& name, int turns) {
    ui::ChatDocument chat;
    chat.id = QStringLiteral("chat-") + name;
    chat.created = QDateTime::fromMSecsSinceEpoch(1763700000000, Qt::UTC);
    chat.modified = chat.created;
    chat.system_prompt = QStringLiteral("Be exact.");
    chat.sampling.temperature = 0.7;
    chat.sampling.top_k = 40;
    chat.sampling.seed = 9007199254740993; // 2^53 + 1: lost when written as a JSON number
    chat.is_thinking = true;
    chat.image_tokens = 280;
    chat.model = QStringLiteral("/models/e2b");
    chat.adapters = {{"/adapters/medical", 0.8, true}};
    for (int i = 0; i < turns; ++i) {
        chat.turns.push_back(sampleTurn(chat.id, i));
    }
    chat.title = ui::titleFromTurns(chat);
    return chat;
}

QString writeFile(const QString& file, const QByteArray& content) {
    QFile output(file);
    if (!output.open(QIODevice::WriteOnly) || output.write(content) != content.size()) {
        return {};
    }
    return file;
}

QByteArray asText(const ui::ChatDocument& chat) {
    return QJsonDocument(ui::chatToJson(chat)).toJson(QJsonDocument::Indented);
}

} // namespace support
