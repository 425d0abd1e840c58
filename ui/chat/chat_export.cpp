// SPDX-License-Identifier: Apache-2.0
#include "ui/chat/chat_export.h"

#include "ui/chat/chat_json.h"
#include "ui/common/reply_words.h"

#include <QCoreApplication>
#include <QFileInfo>
#include <QJsonDocument>
#include <QLocale>
#include <QUrl>

namespace ui {

namespace {

constexpr qsizetype kFileNameLength = 80;

struct Text {
    Q_DECLARE_TR_FUNCTIONS(ui::ChatExport)
};

QString modelName(const QString& folder) {
    const QString name = QFileInfo(folder).fileName();
    return name.isEmpty() ? folder : name;
}

/// A heading or a line of our own: characters that Markdown gives a meaning are escaped.
QString plain(const QString& text) {
    QString escaped;
    for (const QChar character : text) {
        if (QStringLiteral("\\`*_{}[]<>#|").contains(character)) {
            escaped += QLatin1Char('\\');
        }
        escaped += character;
    }
    return escaped;
}

QString adapterList(const std::vector<engine::AdapterChoice>& adapters) {
    QStringList names;
    for (const engine::AdapterChoice& adapter : adapters) {
        if (adapter.is_enabled) {
            names.append(plain(modelName(QString::fromStdString(adapter.folder))) +
                         QStringLiteral(" × ") + QLocale().toString(adapter.strength, 'f', 2));
        }
    }
    return names.join(QStringLiteral(", "));
}

QString attachmentLink(const Attachment& attachment) {
    const QString target = QString::fromUtf8(QUrl::toPercentEncoding(attachment.file, "/:", "()"));
    const QString link = QStringLiteral("[%1](%2)").arg(plain(attachment.name), target);
    return attachment.kind == engine::MessagePart::Kind::Image ? QLatin1Char('!') + link : link;
}

/// One line of figures under a reply, as on screen.
QString figures(const ChatTurn& turn) {
    QStringList parts;
    const QLocale locale;
    const engine::GenerateTiming& timing = turn.timing;
    if (timing.decode_tokens > 0) {
        parts.append(Text::tr("%n tokens", nullptr, static_cast<int>(timing.decode_tokens)));
    }
    if (timing.decode_tokens > 0 && timing.decode_s > 0.0) {
        const double rate = static_cast<double>(timing.decode_tokens) / timing.decode_s;
        parts.append(Text::tr("%1 tokens/s").arg(locale.toString(rate, 'f', 1)));
    }
    if (timing.time_to_first_token_s > 0.0) {
        parts.append(Text::tr("first token after %1 s")
                         .arg(locale.toString(timing.time_to_first_token_s, 'f', 2)));
    }
    if (const QString drafts = turn.drafts.has_value() ? draftWords(*turn.drafts) : QString();
        !drafts.isEmpty()) {
        parts.append(drafts);
    }
    if (!turn.model.isEmpty()) {
        parts.append(plain(modelName(turn.model)));
    }
    const QString adapters = adapterList(turn.adapters);
    if (!adapters.isEmpty()) {
        parts.append(adapters);
    }
    if (turn.seed != 0) {
        parts.append(Text::tr("seed %1").arg(turn.seed));
    }
    if (turn.finish_reason == QLatin1String("cancelled")) {
        parts.append(Text::tr("stopped"));
    } else if (turn.finish_reason == QLatin1String("interrupted")) {
        parts.append(Text::tr("interrupted"));
    } else if (turn.finish_reason == QLatin1String("context")) {
        parts.append(Text::tr("context full"));
    } else if (turn.finish_reason == QLatin1String("length")) {
        parts.append(Text::tr("length limit"));
    } else if (turn.finish_reason == QLatin1String("failed")) {
        parts.append(Text::tr("failed"));
    }
    return parts.join(QStringLiteral(" · "));
}

QString quoted(const QString& text) {
    QString result = QStringLiteral("> ") + text;
    result.replace(QLatin1Char('\n'), QStringLiteral("\n> "));
    return result;
}

void appendTurn(QString& out, const ChatTurn& turn) {
    const bool is_user = turn.role == engine::Message::Role::User;
    out += QStringLiteral("## ") + (is_user ? Text::tr("You") : Text::tr("Model"));
    if (turn.time.isValid()) {
        out += QStringLiteral(" · ") +
               QLocale().toString(turn.time.toLocalTime(), QLocale::ShortFormat);
    }
    out += QStringLiteral("\n\n");
    if (turn.is_cut) {
        out += QLatin1Char('*') + Text::tr("Left out of the context") + QStringLiteral("*\n\n");
    }
    for (const Attachment& attachment : turn.attachments) {
        out += attachmentLink(attachment) + QStringLiteral("\n\n");
    }
    if (!turn.thinking.isEmpty()) {
        out += QStringLiteral("<details><summary>%1</summary>\n\n%2\n\n</details>\n\n")
                   .arg(Text::tr("Thinking"), turn.thinking.trimmed());
    }
    if (!turn.text.isEmpty()) {
        out += turn.text.trimmed() + QStringLiteral("\n\n");
    }
    for (const QString& note : turn.notes) {
        out += quoted(plain(note)) + QStringLiteral("\n\n");
    }
    const QString line = is_user ? QString() : figures(turn);
    if (!line.isEmpty()) {
        out += QStringLiteral("<sub>%1</sub>\n\n").arg(line);
    }
}

} // namespace

QString exportFileName(const QString& title, ExportFormat format) {
    QString name;
    for (const QChar character : title.simplified()) {
        const bool is_refused = character.category() == QChar::Other_Control ||
                                QStringLiteral("<>:\"/\\|?*").contains(character);
        name += is_refused ? QLatin1Char('-') : character;
    }
    name = name.left(kFileNameLength).trimmed();
    while (name.endsWith(QLatin1Char('.')) || name.endsWith(QChar(0x2026))) {
        name.chop(1); // Windows drops a final point
    }
    if (name.isEmpty()) {
        name = Text::tr("Chat");
    }
    return name +
           (format == ExportFormat::Markdown ? QStringLiteral(".md") : QStringLiteral(".json"));
}

QString chatToMarkdown(const ChatDocument& chat) {
    QString out = QStringLiteral("# ") +
                  plain(chat.title.isEmpty() ? Text::tr("New chat") : chat.title) +
                  QStringLiteral("\n\n");
    QStringList about;
    if (chat.created.isValid()) {
        about.append(QLocale().toString(chat.created.toLocalTime(), QLocale::LongFormat));
    }
    if (!chat.model.isEmpty()) {
        about.append(plain(modelName(chat.model)));
    }
    const QString adapters = adapterList(chat.adapters);
    if (!adapters.isEmpty()) {
        about.append(adapters);
    }
    if (!about.isEmpty()) {
        out += about.join(QStringLiteral(" · ")) + QStringLiteral("\n\n");
    }
    if (!chat.system_prompt.isEmpty()) {
        out += QStringLiteral("**") + Text::tr("System prompt") + QStringLiteral("**\n\n") +
               quoted(chat.system_prompt) + QStringLiteral("\n\n");
    }
    for (const ChatTurn& turn : chat.turns) {
        appendTurn(out, turn);
    }
    while (out.endsWith(QStringLiteral("\n\n"))) {
        out.chop(1);
    }
    return out;
}

QByteArray exportedChat(const ChatDocument& chat, ExportFormat format) {
    if (format == ExportFormat::Json) {
        return QJsonDocument(chatToJson(chat)).toJson(QJsonDocument::Indented);
    }
    return chatToMarkdown(chat).toUtf8();
}

} // namespace ui
