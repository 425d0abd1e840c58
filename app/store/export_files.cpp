// SPDX-License-Identifier: Apache-2.0
#include "app/store/export_files.h"

#include "app/store/database.h"
#include "app/store/plain_file.h"
#include "app/store/save_file.h"
#include "ui/chat/chat_json.h"
#include "ui/chat/chat_request.h"
#include "ui/chat/media_kind.h"
#include "ui/common/error_words.h"
#include "ui/common/unique_id.h"

#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QHash>
#include <QJsonDocument>
#include <QSet>

#include <algorithm>
#include <limits>

namespace app {

namespace {

constexpr qint64 kLargestImport = 256LL << 20; ///< Bytes.
constexpr qsizetype kMostParts = 200'000;      ///< Turns and attachments of an import.

struct ExportText {
    Q_DECLARE_TR_FUNCTIONS(app::ExportFiles)
};

engine::Error writeError(const QString& file, const QString& reason) {
    return storeError(StoreProblem::Other,
                      QCoreApplication::translate(
                          "app::ExportFiles", "%1 could not be written (%2). Choose another place.")
                          .arg(QDir::toNativeSeparators(file), reason));
}

/// The user's name for it, with the suffix of a picture or sound: a chat of somebody else may have
/// called it what a desktop starts.
QString namedByKind(const ui::Attachment& attachment) {
    const QString suffix = QFileInfo(attachment.file).suffix();
    const bool is_named =
        ui::isPictureFile(attachment.name) || ui::isSoundFile(attachment.name) || suffix.isEmpty();
    return is_named || attachment.name.isEmpty() ? attachment.name
                                                 : attachment.name + QLatin1Char('.') + suffix;
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

/// The files of one import.
class Importer {
public:
    Importer(QString folder, const TakeAttachment& take)
        : folder_(std::move(folder)), take_(take) {}

    /// Where the attachment is now; nowhere, when it was left out.
    void fill(ui::Attachment& attachment) {
        const QString inside = attachment.file;
        attachment.file.clear();
        attachment.hash.clear(); // found anew from the content
        if (inside.isEmpty()) {
            return; // it was gone when the chat was exported
        }
        auto known = taken_.find(inside);
        if (known == taken_.end()) {
            known = taken_.insert(inside, takeOne(inside, attachment.name));
        }
        if (known->stored.hash.isEmpty()) {
            return;
        }
        attachment.file = known->stored.file;
        attachment.hash = known->stored.hash;
        attachment.bytes = known->stored.bytes;
        attachment.kind = known->kind;
    }

    /// One note for all that was left out: nobody reads a hundred.
    [[nodiscard]] QStringList notes() const {
        if (left_out_ == 0) {
            return {};
        }
        const QString some = reasons_.join(QStringLiteral("; "));
        return {
            left_out_ > reasons_.size()
                ? ExportText::tr("Left out of the imported chat, only their names stay: %1; and %2 "
                                 "more.")
                      .arg(some)
                      .arg(left_out_ - reasons_.size())
                : ExportText::tr("Left out of the imported chat, only the name stays: %1.")
                      .arg(some)};
    }

private:
    struct Taken {
        StoredFile stored;
        engine::MessagePart::Kind kind = engine::MessagePart::Kind::Image;
    };

    Taken takeOne(const QString& inside, const QString& name) {
        const auto left_out = [&](const QString& why) {
            ++left_out_;
            if (reasons_.size() < kMostReasons) {
                const QString shown = name.isEmpty() ? QFileInfo(inside).fileName() : name;
                reasons_.append(QStringLiteral("%1 (%2)").arg(shown.left(kMostNameShown), why));
            }
            return Taken();
        };
        QFile input;
        QString why;
        if (!openPlainInside(input, folder_, inside, why)) {
            return left_out(why);
        }
        const auto kind = ui::mediaKind(input.peek(ui::kMediaHeadBytes));
        if (!kind.has_value()) {
            return left_out(ExportText::tr("it is no picture or sound that Belfry reads"));
        }
        if (bytes_ + input.size() > kMostImported) {
            return left_out(
                ExportText::tr("together they have more than %1 MiB").arg(kMostImported >> 20U));
        }
        auto stored = take_(input, folder_ + QLatin1Char('/') + inside);
        if (!stored.has_value()) {
            return left_out(ui::errorWords(stored.error()));
        }
        bytes_ += stored->bytes;
        return {*std::move(stored), kind->kind};
    }

    static constexpr int kMostReasons = 3;
    static constexpr int kMostNameShown = 60; ///< Characters.

    QString folder_;
    const TakeAttachment& take_;
    QHash<QString, Taken> taken_; ///< By the path in the export.
    qint64 bytes_ = 0;
    int left_out_ = 0;
    QStringList reasons_;
};

/// Turns of all versions, and what is attached to them.
qsizetype countParts(const QJsonObject& chat) {
    qsizetype count = 0;
    std::vector<QJsonArray> left = {chat.value(QStringLiteral("turns")).toArray()};
    while (!left.empty() && count <= kMostParts) {
        const QJsonArray turns = std::move(left.back());
        left.pop_back();
        count += turns.size();
        for (qsizetype i = 0; i < turns.size() && count <= kMostParts; ++i) {
            const QJsonObject turn = turns.at(i).toObject();
            count += turn.value(QStringLiteral("attachments")).toArray().size();
            const QJsonArray versions = turn.value(QStringLiteral("versions")).toArray();
            count += versions.size();
            for (qsizetype k = 0; k < versions.size() && count <= kMostParts; ++k) {
                left.push_back(versions.at(k).toArray());
            }
        }
    }
    return count;
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
        if (!QFileInfo(attachment->file).isFile()) {
            continue;
        }
        QString name = copied.value(attachment->file);
        if (name.isEmpty()) {
            name = freeName(namedByKind(*attachment), taken);
            if (!QDir().mkpath(folder.path())) {
                return writeError(folder.path(), ExportText::tr("the folder cannot be created"));
            }
            const QString copy = folder.filePath(name);
            QFile source(attachment->file);
            if (!isPlainOrMissing(copy, std::numeric_limits<qint64>::max())) {
                return writeError(copy, ExportText::tr("what is there is not a file"));
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
    return saved.has_value() ? saved : writeError(file, ui::errorWords(saved.error()));
}

engine::Result<ui::ChatDocument>
readExport(const QString& file, const TakeAttachment& take, QStringList& notes) {
    const auto refused = [&](const QString& reason) {
        return storeError(
            StoreProblem::Other,
            ExportText::tr("%1 was not imported: %2").arg(QDir::toNativeSeparators(file), reason));
    };
    QFile input;
    QString why;
    if (!openPlain(input, file, why)) {
        return refused(ExportText::tr("it cannot be read (%1).").arg(why));
    }
    // read() takes memory for all that it is asked for.
    const QByteArray content = input.read(std::min<qint64>(input.size(), kLargestImport) + 1);
    if (content.size() > kLargestImport) {
        return refused(ExportText::tr("it has more than %1 MiB; no exported chat is as large.")
                           .arg(kLargestImport >> 20));
    }
    QJsonParseError problem;
    const QJsonDocument json = QJsonDocument::fromJson(content, &problem);
    if (json.isNull()) {
        return refused(ExportText::tr("it is not JSON (%1, at byte %2). Choose a file that Belfry "
                                      "exported as JSON.")
                           .arg(problem.errorString())
                           .arg(problem.offset));
    }
    // Three bytes of JSON can become a turn, which has hundreds.
    if (countParts(json.object()) > kMostParts) {
        return refused(
            ExportText::tr("it holds more than %1 messages and attachments; no exported chat "
                           "is as large.")
                .arg(kMostParts));
    }
    auto chat = ui::chatFromJson(json.object());
    if (!chat.has_value() || chat->turns.empty()) {
        return refused(
            ExportText::tr(
                "it holds no chat of Belfry (“format” is “%1”, expected “belfry-chat”, version "
                "1, with turns). Choose a file that Belfry exported as JSON.")
                .arg(json.object().value(QStringLiteral("format")).toString().left(40)));
    }
    // A chat of its own: importing twice, or beside the original, overwrites nothing.
    chat->id = ui::makeUniqueId();
    chat->modified = QDateTime::currentDateTimeUtc();
    Importer importer(QFileInfo(file).absolutePath(), take);
    ui::visitAllTurns(chat->turns, [&](ui::ChatTurn& turn) {
        turn.id = ui::makeUniqueId();
        for (ui::Attachment& attachment : turn.attachments) {
            importer.fill(attachment);
        }
    });
    notes += importer.notes();
    return *std::move(chat);
}

} // namespace app
