// SPDX-License-Identifier: Apache-2.0
#include "app/start/log_bridge.h"

#include "app/common/terminal_text.h"
#include "ui/common/private_files.h"

#include <QDateTime>
#include <QFile>
#include <QFileInfo>
#include <QMutex>

#ifdef Q_OS_UNIX
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

#include <cstdio>

Q_LOGGING_CATEGORY(logApp, "app", QtInfoMsg)
Q_LOGGING_CATEGORY(logEngine, "engine", QtInfoMsg)

namespace app {

namespace {

constexpr qint64 kMaximumFileBytes = 1 << 20;

/// The bridge that lines go to; guarded, because any thread logs and the bridge dies at the end.
QMutex current_mutex;
LogBridge* current = nullptr;

/// Appends to the file, on the log's thread.
class LogFile : public QObject {
public:
    explicit LogFile(const QString& name) : file_(name) {}

    void append(const QString& line) {
        if (!file_.isOpen() && !open()) {
            return; // a full disk or read-only folder: the buffer still has the line
        }
        file_.write(line.toUtf8() + '\n');
        file_.flush();
    }

private:
    /// Without waiting for what is no plain file: a pipe that nobody reads.
    bool open() {
        ui::makePrivateFolder(QFileInfo(file_).path());
#ifdef Q_OS_UNIX
        const int descriptor =
            ::open(QFile::encodeName(file_.fileName()).constData(),
                   O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600);
        struct stat info {};
        if (descriptor < 0) {
            return false;
        }
        const bool is_plain = ::fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode) &&
                              ::fchmod(descriptor, 0600) == 0;
        const bool is_ready =
            is_plain && (info.st_size <= kMaximumFileBytes || ::ftruncate(descriptor, 0) == 0);
        if (!is_ready || !file_.open(descriptor, QIODevice::WriteOnly | QIODevice::Text,
                                     QFileDevice::AutoCloseHandle)) {
            ::close(descriptor);
            return false;
        }
        return true;
#else
        const bool is_grown = file_.size() > kMaximumFileBytes;
        return file_.open((is_grown ? QIODevice::WriteOnly : QIODevice::Append) | QIODevice::Text);
#endif
    }

    QFile file_;
};

const char* levelName(QtMsgType type) {
    switch (type) {
    case QtDebugMsg:
        return "debug";
    case QtInfoMsg:
        return "info";
    case QtWarningMsg:
        return "warning";
    case QtCriticalMsg:
    case QtFatalMsg:
        return "error";
    }
    return "info";
}

} // namespace

LogBridge::LogBridge(ui::LogBuffer* buffer, const QString& file, QObject* parent)
    : QObject(parent) {
    connect(this, &LogBridge::lineLogged, buffer, &ui::LogBuffer::append, Qt::QueuedConnection);
    if (!file.isEmpty()) {
        auto* writer = new LogFile(file);
        writer->moveToThread(&thread_);
        connect(this, &LogBridge::lineLogged, writer, &LogFile::append);
        connect(&thread_, &QThread::finished, writer, &QObject::deleteLater);
        thread_.setObjectName(QStringLiteral("log"));
        thread_.start(QThread::LowPriority);
    }
    {
        const QMutexLocker lock(&current_mutex);
        current = this;
    }
    former_ = qInstallMessageHandler(&LogBridge::handle);
}

LogBridge::~LogBridge() {
    qInstallMessageHandler(former_);
    {
        const QMutexLocker lock(&current_mutex);
        current = nullptr;
    }
    thread_.quit();
    thread_.wait();
}

void LogBridge::handle(QtMsgType type, const QMessageLogContext& context, const QString& text) {
    const QString line =
        QStringLiteral("%1 %2 %3: %4")
            .arg(QDateTime::currentDateTimeUtc().toString(Qt::ISODateWithMs),
                 QString::fromLatin1(levelName(type)),
                 QString::fromUtf8(context.category != nullptr ? context.category : "default"),
                 text);
    std::fprintf(stderr, "%s\n", terminalText(line.toStdString()).c_str());
    const QMutexLocker lock(&current_mutex);
    if (current != nullptr) {
        Q_EMIT current->lineLogged(line);
    }
}

} // namespace app
