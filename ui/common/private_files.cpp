// SPDX-License-Identifier: Apache-2.0
#include "ui/common/private_files.h"

#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QStandardPaths>

#ifdef Q_OS_UNIX
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#endif

namespace ui {

#ifdef Q_OS_UNIX

namespace {

constexpr mode_t kOthers = 077;

bool makeOne(const QString& folder) {
    if (::mkdir(QFile::encodeName(folder).constData(), 0700) == 0 || errno == EEXIST) {
        return true;
    }
    const qsizetype slash = folder.lastIndexOf(QLatin1Char('/'));
    if (errno != ENOENT || slash <= 0) {
        return false;
    }
    return makeOne(folder.left(slash)) &&
           (::mkdir(QFile::encodeName(folder).constData(), 0700) == 0 || errno == EEXIST);
}

} // namespace

bool makePrivateFolder(const QString& folder) {
    const QString path = QDir::cleanPath(QDir(folder).absolutePath());
    if (!makeOne(path)) {
        return false;
    }
    struct stat facts {};
    const QByteArray name = QFile::encodeName(path);
    if (::stat(name.constData(), &facts) != 0) {
        return false;
    }
    if (!S_ISDIR(facts.st_mode)) {
        errno = ENOTDIR;
        return false;
    }
    if (facts.st_uid != ::geteuid() && ::geteuid() != 0) {
        errno = EACCES;
        return false;
    }
    // Where modes cannot be changed (a mounted memory stick) the folder is as private as it gets.
    if ((facts.st_mode & kOthers) != 0) {
        (void)::chmod(name.constData(), facts.st_mode & ~kOthers & 07777);
    }
    return true;
}

void makePrivate(const QString& path) {
    struct stat facts {};
    const QByteArray name = QFile::encodeName(path);
    if (::lstat(name.constData(), &facts) == 0 &&
        (S_ISREG(facts.st_mode) || S_ISDIR(facts.st_mode)) && (facts.st_mode & kOthers) != 0) {
        (void)::chmod(name.constData(), facts.st_mode & ~kOthers & 07777);
    }
}

#else

bool makePrivateFolder(const QString& folder) {
    return QDir().mkpath(folder);
}

void makePrivate(const QString& /*path*/) {}

#endif

QString privateTemporaryFolder(const QString& name) {
    QString own = name;
#ifdef Q_OS_UNIX
    own += QStringLiteral("-%1").arg(::geteuid()); // another user may have made theirs first
#endif
    return QStandardPaths::writableLocation(QStandardPaths::TempLocation) + QLatin1Char('/') + own;
}

void makeAllPrivate(const QString& folder) {
    makePrivate(folder);
    QDirIterator inside(folder, QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot,
                        QDirIterator::Subdirectories);
    while (inside.hasNext()) {
        makePrivate(inside.next());
    }
}

} // namespace ui
