// SPDX-License-Identifier: Apache-2.0
// One window per user and data folder. The first start holds a lock on a file there; a later one
// hands its argument over and ends. Both talk through a local socket in the same folder, which only
// its user can enter, on Windows through a pipe of the system's that only its user can open:
// nothing of this touches a network. The lock goes with the process, however it ends.
#pragma once

#include <QByteArray>
#include <QHash>
#include <QObject>
#include <QString>

#include <memory>

class QLocalServer;
class QLocalSocket;
class QSocketNotifier;

namespace app {

class SingleInstance : public QObject {
    Q_OBJECT

public:
    enum class Outcome {
        First = 1,  ///< This program holds the lock until the object goes.
        HandedOver, ///< The first window has the argument and comes to the front.
        Silent,     ///< Another program holds the lock and does not answer.
        Unlocked,   ///< The folder cannot be written: nobody can tell.
    };

    explicit SingleInstance(QString folder, QObject* parent = nullptr);
    ~SingleInstance() override;

    /// `token` is what the desktop gave this start for a window that comes to the front. A program
    /// that just ends or just starts is waited for.
    Outcome claim(const QString& argument, const QByteArray& token, int patience_ms);
    /// The process that holds the lock, 0 when unknown; after Silent.
    [[nodiscard]] qint64 holder() const { return holder_; }

Q_SIGNALS:
    /// Another start, of the one that has the lock. `argument` may be empty.
    void started(const QString& argument, const QByteArray& token);

private:
    Outcome takeLock();
    bool listen();
    bool handOver(const QByteArray& words, int patience_ms) const;
    void welcome();

    QString folder_;
    qint64 holder_ = 0;
#ifdef Q_OS_WIN
    void hear(QLocalSocket* client);

    void* lock_ = nullptr; ///< A handle.
    std::unique_ptr<QLocalServer> server_;
#else
    struct Client {
        std::unique_ptr<QSocketNotifier> notifier;
        QByteArray words;
    };

    void hear(int client);
    void forget(int client);

    int lock_ = -1, socket_ = -1;
    std::unique_ptr<QSocketNotifier> notifier_;
    QHash<int, std::shared_ptr<Client>> clients_; ///< By descriptor.
#endif
};

} // namespace app
