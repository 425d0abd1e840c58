// SPDX-License-Identifier: Apache-2.0
// Where log lines go: the buffer that the diagnostics dialog shows, a file beside the chats, and
// stderr. Lines of any thread; the file is written on a thread of its own. Nothing of a prompt, a
// reply or an attachment is ever passed to the log.
#pragma once

#include "ui/dialogs/log_buffer.h"

#include <QLoggingCategory>
#include <QObject>
#include <QThread>

Q_DECLARE_LOGGING_CATEGORY(logApp)
Q_DECLARE_LOGGING_CATEGORY(logEngine)

namespace app {

/// One per program: installs Qt's message handler while it lives.
class LogBridge : public QObject {
    Q_OBJECT

public:
    /// `file` empty: no file. It starts anew when it has grown past 1 MiB.
    explicit LogBridge(ui::LogBuffer* buffer, const QString& file, QObject* parent = nullptr);
    ~LogBridge() override;

Q_SIGNALS:
    void lineLogged(const QString& line);

private:
    static void handle(QtMsgType type, const QMessageLogContext& context, const QString& text);

    QThread thread_;
    QtMessageHandler former_;
};

} // namespace app
