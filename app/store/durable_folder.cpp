// SPDX-License-Identifier: Apache-2.0
#include "app/store/durable_folder.h"

#include "ui/common/private_files.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QStringList>

#ifndef Q_OS_WIN
#include <fcntl.h>
#include <unistd.h>
#endif

namespace app {

void syncFolder(const QString& folder) {
#ifndef Q_OS_WIN
    const int handle =
        ::open(QFile::encodeName(folder).constData(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (handle >= 0) {
        ::fsync(handle);
        ::close(handle);
    }
#else
    (void)folder;
#endif
}

bool makeDurableFolder(const QString& folder) {
    QStringList changed; // folders that get a new name
    for (QString part = QDir::cleanPath(QDir(folder).absolutePath()); !QFileInfo::exists(part);) {
        const QString parent = QFileInfo(part).path();
        if (parent == part) {
            break;
        }
        changed.append(parent);
        part = parent;
    }
    if (!ui::makePrivateFolder(folder)) {
        return false;
    }
    for (const QString& parent : changed) {
        syncFolder(parent);
    }
    return true;
}

} // namespace app
