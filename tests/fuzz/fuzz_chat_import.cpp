// SPDX-License-Identifier: Apache-2.0
// Any bytes as an exported chat, and behind a zero byte as the picture that lies in its folder: an
// error with a message, or a chat that can be written and read again and holds only what lay in the
// folder: nothing behind a link, no pipe, no file beside the folder. Qt itself is not instrumented.
#include "app/store/export_files.h"
#include "tests/fuzz/require.h"
#include "ui/chat/chat_export.h"
#include "ui/chat/chat_json.h"

#include <QCryptographicHash>
#include <QDir>
#include <QJsonDocument>
#include <QTemporaryDir>

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

using fuzz::require;

namespace {

const QByteArray kPng("\x89PNG\r\n\x1a\n", 8);
const QByteArray kSecret = kPng + "what lies outside"; ///< A picture, so the kind lets it in.

void write(const QString& file, const QByteArray& content) {
    QFile out(file);
    if (!out.open(QIODevice::WriteOnly) || out.write(content) != content.size()) {
        std::fprintf(stderr, "%s cannot be written\n", qPrintable(file));
        std::exit(2);
    }
}

/// A folder with an export in it and traps around it; stays until the process ends.
struct Place {
    Place() {
        const QDir dir(root.path());
        dir.mkpath(QStringLiteral("export/chat_files/inner"));
        dir.mkpath(QStringLiteral("outside"));
        write(at("outside/secret.png"), kSecret);
        link("outside/secret.png", "export/chat_files/link.png");
        link("outside", "export/chat_files/linked");
        mkfifo(QFile::encodeName(at("export/chat_files/pipe.png")).constData(), 0600);
        write(at("export/chat_files/tool.exe"), "MZ");
    }
    [[nodiscard]] QString at(const char* path) const {
        return root.filePath(QString::fromLatin1(path));
    }
    void link(const char* from, const char* to) const {
        if (symlink(QFile::encodeName(at(from)).constData(),
                    QFile::encodeName(at(to)).constData()) != 0) {
            std::exit(2);
        }
    }
    QTemporaryDir root;
};

const Place& place() {
    static const Place kPlace;
    return kPlace;
}

engine::Result<app::StoredFile> take(QFile& opened, const QString& /*name*/) {
    const QByteArray content = opened.readAll();
    require(!content.contains("what lies outside"));
    require(!content.startsWith("MZ"));
    app::StoredFile stored;
    stored.hash =
        QString::fromLatin1(QCryptographicHash::hash(content, QCryptographicHash::Sha256).toHex());
    stored.file = QStringLiteral("/taken/") + stored.hash;
    stored.bytes = content.size();
    return stored;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const auto all =
        QByteArray::fromRawData(reinterpret_cast<const char*>(data), static_cast<qsizetype>(size));
    const qsizetype end = all.indexOf('\0');
    const QString file = place().at("export/chat.json");
    write(file, end < 0 ? all : all.left(end));
    write(place().at("export/chat_files/picture.png"), end < 0 ? kPng : all.mid(end + 1));
    QStringList notes;
    auto chat = app::readExport(file, take, notes);
    if (!chat) {
        require(!chat.error().message.empty());
        return 0;
    }
    require(!chat->id.isEmpty() && !chat->turns.empty());
    ui::visitAllTurns(chat->turns, [](const ui::ChatTurn& turn) {
        require(!turn.id.isEmpty());
        require(turn.version >= 0 && turn.version < turn.versionCount());
        for (const ui::Attachment& attachment : turn.attachments) {
            require(attachment.file.isEmpty() == attachment.hash.isEmpty());
            require(attachment.file.isEmpty() ||
                    attachment.file.startsWith(QLatin1String("/taken/")));
        }
    });
    // Written and read it is the same chat; as text for people it is at least text.
    const QByteArray text = ui::exportedChat(*chat, ui::ExportFormat::Json);
    const auto again = ui::chatFromJson(QJsonDocument::fromJson(text).object());
    require(again.has_value() && ui::exportedChat(*again, ui::ExportFormat::Json) == text);
    require(!ui::exportedChat(*chat, ui::ExportFormat::Markdown).isEmpty());
    return 0;
}
