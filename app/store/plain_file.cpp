// SPDX-License-Identifier: Apache-2.0
#include "app/store/plain_file.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>
#include <QStringList>

#ifdef Q_OS_UNIX
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#endif

namespace app {

namespace {

struct PlainText {
    Q_DECLARE_TR_FUNCTIONS(app::PlainFile)
};

QString notPlain() {
    return PlainText::tr("it is no regular file");
}

#ifdef Q_OS_UNIX

QString systemWords(int number) {
    // A link in the place of a folder is answered as what is no folder.
    return number == ELOOP || number == ENOTDIR ? PlainText::tr("it is a link or lies behind one")
                                                : QString::fromLocal8Bit(strerror(number));
}

/// Takes over `handle`, which may be -1.
bool take(QFile& file, int handle, QString& why) {
    if (handle < 0) {
        why = systemWords(errno);
        return false;
    }
    struct stat facts {};
    if (::fstat(handle, &facts) != 0 || !S_ISREG(facts.st_mode)) {
        why = notPlain();
        ::close(handle);
        return false;
    }
    if (!file.open(handle, QIODevice::ReadOnly, QFileDevice::AutoCloseHandle)) {
        why = file.errorString();
        ::close(handle);
        return false;
    }
    return true;
}

#endif

} // namespace

#ifdef Q_OS_UNIX

bool openPlain(QFile& file, const QString& name, QString& why) {
    const QByteArray path = QFile::encodeName(name);
    struct stat facts {};
    if (::stat(path.constData(), &facts) == 0 && !S_ISREG(facts.st_mode)) {
        why = notPlain(); // opening a device may do something already
        return false;
    }
    return take(file, ::open(path.constData(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY), why);
}

bool openPlainInside(QFile& file, const QString& folder, const QString& inside, QString& why) {
    const QStringList parts = inside.split(QLatin1Char('/'));
    const bool leads_out = inside.contains(QChar::Null) || parts.contains(QString()) ||
                           parts.contains(QStringLiteral(".")) ||
                           parts.contains(QStringLiteral(".."));
    if (leads_out) {
        why = PlainText::tr("it does not lie beside the chat");
        return false;
    }
    // Step by step, each relative to the one before: nobody can put a link in between.
    int at = ::open(QFile::encodeName(folder).constData(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (qsizetype i = 0; at >= 0 && i < parts.size(); ++i) {
        const bool is_last = i + 1 == parts.size();
        const int next = ::openat(at, QFile::encodeName(parts.at(i)).constData(),
                                  O_RDONLY | O_NOFOLLOW | O_CLOEXEC |
                                      (is_last ? O_NONBLOCK | O_NOCTTY : O_DIRECTORY));
        const int number = errno;
        ::close(at);
        errno = number;
        at = next;
    }
    return take(file, at, why);
}

#else

bool openPlain(QFile& file, const QString& name, QString& why) {
    if (!QFileInfo(name).isFile()) {
        why = notPlain();
        return false;
    }
    file.setFileName(name);
    if (!file.open(QIODevice::ReadOnly)) {
        why = file.errorString();
        return false;
    }
    return true;
}

bool openPlainInside(QFile& file, const QString& folder, const QString& inside, QString& why) {
    const QString base = QFileInfo(folder).canonicalFilePath();
    const QString wanted = QDir::cleanPath(base + QLatin1Char('/') + inside);
    if (QDir::isAbsolutePath(inside) || !wanted.startsWith(base + QLatin1Char('/')) ||
        QFileInfo(wanted).canonicalFilePath() != wanted) {
        why = PlainText::tr("it does not lie beside the chat");
        return false;
    }
    return openPlain(file, wanted, why);
}

#endif

} // namespace app
