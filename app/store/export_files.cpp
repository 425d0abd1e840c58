// SPDX-License-Identifier: Apache-2.0
#include "app/store/export_files.h"

#include "app/store/database.h"
#include "app/store/save_file.h"
#include "ui/chat/chat_json.h"

#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QHash>
#include <QJsonDocument>
#include <QSet>

#include <limits>

namespace app {

namespace {

constexpr qint64 kLargestImport = 256LL << 20; ///< Bytes.

struct Text {
    Q_DECLARE_TR_FUNCTIONS(app::ExportFiles)
};

engine::Error writeError(const QString& file, const QString& reason) {
    return storeError(StoreProblem::Other,
                      QCoreApplication::translate(
                          "app::ExportFiles", "%1 could not be written (%2). Choose another place.")
                          .arg(QDir::toNativeSeparators(file), reason));
}

/// A name that no other attachment of this export has.
QString freeName(const QString& wanted, const QSet<QString>& taken) {
    const QString plain = wanted.isEmpty() ? QStringLiteral("attachment") : wanted;
    QString name = QFileInfo(plain).fileName();
    for (int n = 2; taken.contains(name.toLower()); ++n) {
        const QFileInfo info(plain);
        name = QStringLiteral("%1-%2").arg(info.completeBaseName()).arg(n);
        if (!info.suffix().isEmpty()) {
            name += QLatin1Char('.') + info.suffix();
        }
    }
    return name;
}

} // namespace

engine::Result<void>
writeExport(ui::ChatDocument chat, const QString& file, ui::ExportFormat format) {
    const QFileInfo target(file);
    const QString folder_name = target.completeBaseName() + QStringLiteral("_files");
    const QDir folder(target.absoluteDir().filePath(folder_name));
    QHash<QString, QString> copied; // source -> name in the folder
    QSet<QString> taken;
    std::vector<ui::Attachment*> attachments;
    if (format == ui::ExportFormat::Markdown) {
        for (ui::ChatTurn& turn : chat.turns) {
            turn.versions.clear(); // a text shows one version; JSON holds them all
        }
    }
    ui::visitAllTurns(chat.turns, [&](ui::ChatTurn& turn) {
        for (ui::Attachment& attachment : turn.attachments) {
            attachments.push_back(&attachment);
        }
    });
    for (ui::Attachment* attachment : attachments) {
        if (!QFileInfo::exists(attachment->file)) {
            continue;
        }
        QString name = copied.value(attachment->file);
        if (name.isEmpty()) {
            name = freeName(attachment->name, taken);
            if (!QDir().mkpath(folder.path())) {
                return writeError(folder.path(), Text::tr("the folder cannot be created"));
            }
            const QString copy = folder.filePath(name);
            QFile source(attachment->file);
            if (!isPlainOrMissing(copy, std::numeric_limits<qint64>::max())) {
                return writeError(copy, Text::tr("what is there is not a file"));
            }
            QFile::remove(copy);
            if (!source.copy(copy)) {
                return writeError(copy, source.errorString());
            }
            copied.insert(attachment->file, name);
            taken.insert(name.toLower());
        }
        attachment->file = folder_name + QLatin1Char('/') + name;
    }
    const auto saved =
        saveFile(file, ui::exportedChat(chat, format), engine::NoPlainFile::WriteInto);
    return saved.has_value() ? saved
                             : writeError(file, QString::fromStdString(saved.error().message));
}

engine::Result<ui::ChatDocument> readExport(const QString& file) {
    const auto refused = [&](const QString& reason) {
        return storeError(
            StoreProblem::Other,
            Text::tr("%1 was not imported: %2").arg(QDir::toNativeSeparators(file), reason));
    };
    QFile input(file);
    if (!input.open(QIODevice::ReadOnly)) {
        return refused(Text::tr("it cannot be read (%1).").arg(input.errorString()));
    }
    if (input.size() > kLargestImport) {
        return refused(Text::tr("it has %1 MiB; an exported chat has at most %2.")
                           .arg(input.size() >> 20)
                           .arg(kLargestImport >> 20));
    }
    QJsonParseError problem;
    const QJsonDocument json = QJsonDocument::fromJson(input.readAll(), &problem);
    if (json.isNull()) {
        return refused(Text::tr("it is not JSON (%1, at byte %2). Choose a file that Belfry "
                                "exported as JSON.")
                           .arg(problem.errorString())
                           .arg(problem.offset));
    }
    auto chat = ui::chatFromJson(json.object());
    if (!chat.has_value() || chat->turns.empty()) {
        return refused(
            Text::tr(
                "it holds no chat of Belfry (“format” is “%1”, expected “belfry-chat”, version "
                "1, with turns). Choose a file that Belfry exported as JSON.")
                .arg(json.object().value(QStringLiteral("format")).toString().left(40)));
    }
    // A chat of its own: importing twice, or beside the original, overwrites nothing.
    chat->id = ui::makeChatId();
    chat->modified = QDateTime::currentDateTimeUtc();
    const QDir folder = QFileInfo(file).absoluteDir();
    ui::visitAllTurns(chat->turns, [&](ui::ChatTurn& turn) {
        turn.id = ui::makeChatId();
        for (ui::Attachment& attachment : turn.attachments) {
            // Only files of the export's own folder are taken; a path that leads elsewhere could
            // pull any file of this computer into the chat.
            const QString path = QDir::cleanPath(folder.absoluteFilePath(attachment.file));
            const bool is_beside = !QDir::isAbsolutePath(attachment.file) &&
                                   path.startsWith(folder.absolutePath() + QLatin1Char('/'));
            attachment.hash.clear(); // found anew from the content
            attachment.file = is_beside ? path : QString();
        }
    });
    return *std::move(chat);
}

} // namespace app
