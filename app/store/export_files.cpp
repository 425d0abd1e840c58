// SPDX-License-Identifier: Apache-2.0
#include "app/store/export_files.h"

#include "app/store/database.h"

#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QHash>
#include <QSaveFile>
#include <QSet>

namespace app {

namespace {

struct ExportTexts {
    Q_DECLARE_TR_FUNCTIONS(ExportTexts)
};

engine::Error writeError(const QString& file, const QString& reason) {
    return storeError(StoreProblem::Other,
                      ExportTexts::tr("%1 could not be written (%2). Choose another place.")
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
    for (ui::ChatTurn& turn : chat.turns) {
        for (ui::Attachment& attachment : turn.attachments) {
            if (!QFileInfo::exists(attachment.file)) {
                continue;
            }
            QString name = copied.value(attachment.file);
            if (name.isEmpty()) {
                name = freeName(attachment.name, taken);
                if (!QDir().mkpath(folder.path())) {
                    return writeError(folder.path(),
                                      ExportTexts::tr("the folder cannot be created"));
                }
                const QString copy = folder.filePath(name);
                QFile source(attachment.file);
                QFile::remove(copy);
                if (!source.copy(copy)) {
                    return writeError(copy, source.errorString());
                }
                copied.insert(attachment.file, name);
                taken.insert(name.toLower());
            }
            attachment.file = folder_name + QLatin1Char('/') + name;
        }
    }
    QSaveFile output(file);
    if (!output.open(QIODevice::WriteOnly)) {
        return writeError(file, output.errorString());
    }
    output.write(ui::exportedChat(chat, format));
    if (!output.commit()) {
        return writeError(file, output.errorString());
    }
    return {};
}

} // namespace app
