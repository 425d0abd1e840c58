// SPDX-License-Identifier: Apache-2.0
#include "app/store/attachment_files.h"

#include "app/store/database.h"
#include "app/store/durable_folder.h"
#include "app/store/plain_file.h"
#include "ui/chat/chat_request.h"
#include "ui/chat/media_kind.h"

#include <QCoreApplication>
#include <QCryptographicHash>
#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QFileInfo>
#include <QRegularExpression>
#include <QTemporaryFile>

#ifdef Q_OS_WIN
#include <io.h>
#else
#include <unistd.h>
#endif

#include <cerrno>
#include <filesystem>
#include <system_error>

namespace app {

namespace {

constexpr qint64 kBlock = qint64{1} << 20U;
const QString kTemporaryPrefix = QStringLiteral("incoming-");

struct AttachmentText {
    Q_DECLARE_TR_FUNCTIONS(app::AttachmentFiles)
};

/// Told by the content. What is no picture or sound keeps the suffix of one, if it came with one:
/// a desktop starts files by their suffix, so no other may be found in our folder.
QString safeSuffix(const QString& source, const QByteArray& head) {
    if (const auto kind = ui::mediaKind(head)) {
        return kind->suffix;
    }
    return ui::isPictureFile(source) || ui::isSoundFile(source)
               ? QFileInfo(source).suffix().toLower()
               : QString();
}

/// Content and, on systems that have it, the name of a file reach the disk before we go on.
bool syncFile(QFile& file) {
    if (!file.flush()) {
        return false;
    }
#ifdef Q_OS_WIN
    return _commit(file.handle()) == 0;
#else
    return ::fsync(file.handle()) == 0;
#endif
}

/// A file that is there already, its name and the name of its folder.
void syncExisting(const QString& name) {
    QFile file(name);
    if (file.open(QIODevice::ReadOnly)) {
        syncFile(file);
    }
    const QString folder = QFileInfo(name).path();
    syncFolder(folder);
    syncFolder(QFileInfo(folder).path());
}

engine::Error writeError(const QString& folder, const QString& detail, bool is_full) {
    const QString place = QDir::toNativeSeparators(folder);
    if (is_full) {
        return storeError(StoreProblem::DiskFull,
                          QCoreApplication::translate(
                              "app::AttachmentFiles",
                              "The disk that holds %1 is full: an attachment could not be "
                              "copied there. Free some space; the chat refers to the "
                              "original file until then.")
                              .arg(place));
    }
    return storeError(
        StoreProblem::ReadOnly,
        QCoreApplication::translate("app::AttachmentFiles",
                                    "An attachment could not be copied to %1 (%2). Make the folder "
                                    "writable; the chat refers to the original file until then.")
            .arg(place, detail));
}

bool isFull(const QString& folder, const QFileDevice& file) {
    return file.error() == QFileDevice::ResourceError || errno == ENOSPC || errno == EFBIG || [&] {
        std::error_code failed;
        const auto space = std::filesystem::space(folder.toStdU16String(), failed);
        return !failed && space.available < static_cast<std::uintmax_t>(kBlock);
    }();
}

} // namespace

QString AttachmentFiles::target(const QString& hash, const QString& suffix) const {
    const QString name = suffix.isEmpty() ? hash : hash + QLatin1Char('.') + suffix;
    return folder_ + QLatin1Char('/') + hash.left(2) + QLatin1Char('/') + name;
}

QString AttachmentFiles::find(const QString& hash) const {
    if (hash.size() != 64) {
        return {};
    }
    const QDir folder(folder_ + QLatin1Char('/') + hash.left(2));
    const QStringList names = folder.entryList({hash, hash + QStringLiteral(".*")}, QDir::Files);
    return names.isEmpty() ? QString() : folder.filePath(names.first());
}

engine::Result<StoredFile> AttachmentFiles::add(const QString& source) {
    const QFileInfo info(source);
    const auto known = known_.constFind(source);
    if (known != known_.constEnd() && QFileInfo::exists(known->stored.file)) {
        // Gone since (a pasted picture, a file that was moved): the copy is what the turn showed.
        const bool is_unchanged =
            known->bytes == info.size() && known->modified == info.lastModified();
        if (is_unchanged || !info.exists()) {
            return known->stored;
        }
    }
    QFile input;
    QString why;
    if (!openPlain(input, source, why)) {
        return storeError(
            StoreProblem::Other,
            AttachmentText::tr("%1 cannot be read (%2), so the chat keeps only its name. "
                               "Attach it again if the model needs it.")
                .arg(QDir::toNativeSeparators(source), why));
    }
    ENGINE_ASSIGN(StoredFile stored, add(input, source));
    known_.insert(source, {info.size(), info.lastModified(), stored});
    return stored;
}

engine::Result<StoredFile> AttachmentFiles::add(QFile& input, const QString& source) {
    if (!makeDurableFolder(folder_)) {
        return writeError(folder_, QString::fromLocal8Bit(strerror(errno)), errno == ENOSPC);
    }
    QTemporaryFile copy(folder_ + QLatin1Char('/') + kTemporaryPrefix +
                        QStringLiteral("XXXXXXXXXX"));
    if (!copy.open()) {
        return writeError(folder_, copy.errorString(), isFull(folder_, copy));
    }
    QCryptographicHash hash(QCryptographicHash::Sha256);
    StoredFile stored;
    QByteArray head;
    for (;;) {
        const QByteArray block = input.read(kBlock);
        if (block.isEmpty()) {
            break;
        }
        hash.addData(block);
        head = stored.bytes == 0 ? block.left(ui::kMediaHeadBytes) : head;
        stored.bytes += block.size();
        // Counted here, not asked for: a file may grow while it is read.
        if (stored.bytes > kMaxAttachmentBytes) {
            return storeError(
                StoreProblem::Other,
                AttachmentText::tr("%1 has more than %2 MiB, so the chat keeps only its name. "
                                   "Attach a smaller file.")
                    .arg(QDir::toNativeSeparators(source))
                    .arg(kMaxAttachmentBytes >> 20U));
        }
        if (copy.write(block) != block.size()) {
            return writeError(folder_, copy.errorString(), isFull(folder_, copy));
        }
    }
    if (input.error() != QFileDevice::NoError) {
        return storeError(StoreProblem::Other,
                          AttachmentText::tr("%1 cannot be read to its end (%2).")
                              .arg(QDir::toNativeSeparators(source), input.errorString()));
    }
    stored.hash = QString::fromLatin1(hash.result().toHex());
    stored.file = find(stored.hash);
    if (stored.file.isEmpty()) {
        stored.file = target(stored.hash, safeSuffix(source, head));
        const QString place = QFileInfo(stored.file).path();
        if (!syncFile(copy) || !makeDurableFolder(place)) {
            return writeError(folder_, copy.errorString(), isFull(folder_, copy));
        }
        copy.setAutoRemove(false);
        if (!copy.rename(stored.file)) {
            copy.setAutoRemove(true);
            return writeError(folder_, copy.errorString(), isFull(folder_, copy));
        }
        syncFolder(place);
    } else {
        // Perhaps by a session that was killed before it could sync.
        syncExisting(stored.file);
    }
    return stored;
}

void AttachmentFiles::collect(const QSet<QString>& wanted) const {
    static const QRegularExpression kOurs(QStringLiteral("^[0-9a-f]{64}(\\.[a-z0-9]{1,5})?$"));
    QDirIterator files(folder_, QDir::Files, QDirIterator::Subdirectories);
    while (files.hasNext()) {
        files.next();
        const QString name = files.fileName();
        const bool is_unwanted = kOurs.match(name).hasMatch() && !wanted.contains(name.left(64));
        if (is_unwanted || name.startsWith(kTemporaryPrefix)) {
            QFile::remove(files.filePath());
        }
    }
}

} // namespace app
