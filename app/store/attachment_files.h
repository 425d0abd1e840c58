// SPDX-License-Identifier: Apache-2.0
// Pictures and sounds of chats as files named by their content: FOLDER/ab/abcd....png. The same
// file attached twice is stored once. A file appears under its name only when it is complete and
// on disk, so a crash leaves at most a temporary file, which collect() removes.
#pragma once

#include "engine/base/result.h"

#include <QDateTime>
#include <QHash>
#include <QSet>
#include <QString>

class QFile;

namespace app {

/// No picture or sound that the model can be given is larger.
inline constexpr qint64 kMaxAttachmentBytes = qint64{256} << 20U;

struct StoredFile {
    QString hash; ///< SHA-256, hexadecimal.
    QString file; ///< Complete path of the copy.
    qint64 bytes = 0;
};

class AttachmentFiles {
public:
    explicit AttachmentFiles(QString folder) : folder_(std::move(folder)) {}

    /// Copies a regular file in, unless its content is there already. Errors: InvalidFile (the
    /// source cannot be read, is no file or too large), disk full, read-only.
    engine::Result<StoredFile> add(const QString& source);
    /// The same of a file that is open for reading; `source` is what it is called.
    engine::Result<StoredFile> add(QFile& input, const QString& source);
    /// Where a content lives, or nothing when it is not there (any more).
    [[nodiscard]] QString find(const QString& hash) const;
    /// Removes files whose hash is not in `wanted`, and unfinished copies.
    void collect(const QSet<QString>& wanted) const;

private:
    struct Known {
        qint64 bytes = 0;
        QDateTime modified;
        StoredFile stored;
    };

    [[nodiscard]] QString target(const QString& hash, const QString& suffix) const;

    QString folder_;
    QHash<QString, Known> known_; ///< By source path: a chat is saved after every turn.
};

} // namespace app
