// SPDX-License-Identifier: Apache-2.0
#include "app/start/single_instance.h"

#include "ui/common/private_files.h"

#include <QDeadlineTimer>
#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>
#include <QThread>

#ifdef Q_OS_WIN
#include <QCoreApplication>
#include <QCryptographicHash>
#include <QDir>
#include <QFileInfo>
#include <QLocalServer>
#include <QLocalSocket>

#include <windows.h>
#else
#include <QSocketNotifier>

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#endif

namespace app {

namespace {

constexpr qsizetype kMostBytes = 64 << 10; ///< Limit for one start's words: a path and a token.
constexpr qsizetype kMostClients = 16;
constexpr int kPauseMs = 50;
constexpr QByteArrayView kAnswer = "ok\n";

} // namespace

SingleInstance::Outcome
SingleInstance::claim(const QString& argument, const QByteArray& token, int patience_ms) {
    const QJsonObject object{{QStringLiteral("argument"), argument},
                             {QStringLiteral("token"), QString::fromLatin1(token)}};
    const QByteArray words = QJsonDocument(object).toJson(QJsonDocument::Compact) + '\n';
    const QDeadlineTimer until(patience_ms);
    for (;;) {
        const Outcome outcome = takeLock();
        if (outcome == Outcome::First) {
            listen(); // without it later starts say that this one does not answer
        }
        if (outcome != Outcome::Silent) {
            return outcome;
        }
        if (handOver(words, patience_ms)) {
            return Outcome::HandedOver;
        }
        if (until.hasExpired()) {
            return Outcome::Silent;
        }
        QThread::msleep(kPauseMs); // it has not got so far, or is about to end
    }
}

#ifndef Q_OS_WIN

namespace {

/// A socket's address is short; a data folder's path may be long, so it is entered by its number.
class Address {
public:
    explicit Address(const QString& folder)
        : folder_(::open(QFile::encodeName(folder).constData(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {
        name_.sun_family = AF_UNIX;
        const QByteArray path = "/proc/self/fd/" + QByteArray::number(folder_) + "/belfry.socket";
        std::copy(path.begin(), path.end(), std::begin(name_.sun_path));
    }
    ~Address() {
        if (folder_ >= 0) {
            ::close(folder_);
        }
    }
    Address(const Address&) = delete;
    Address& operator=(const Address&) = delete;

    [[nodiscard]] bool isValid() const { return folder_ >= 0; }
    [[nodiscard]] const sockaddr* get() const {
        return reinterpret_cast<const sockaddr*>(&name_); // NOLINT: how the call is made
    }
    [[nodiscard]] static socklen_t size() { return sizeof(sockaddr_un); }
    void remove() const { ::unlinkat(folder_, "belfry.socket", 0); }

private:
    int folder_;
    sockaddr_un name_{};
};

int newSocket() {
    return ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

bool isOfThisUser(int client) {
    ucred peer{};
    socklen_t size = sizeof peer;
    return ::getsockopt(client, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
           peer.uid == ::geteuid();
}

/// False when the time is over first.
bool waitFor(int socket, short what, const QDeadlineTimer& until) {
    pollfd one{socket, what, 0};
    return ::poll(&one, 1, static_cast<int>(until.remainingTime())) == 1;
}

} // namespace

SingleInstance::SingleInstance(QString folder, QObject* parent)
    : QObject(parent), folder_(std::move(folder)) {}

SingleInstance::~SingleInstance() {
    const QList<int> clients = clients_.keys();
    for (const int client : clients) {
        forget(client);
    }
    notifier_.reset();
    if (socket_ >= 0) {
        const Address address(folder_);
        address.remove();
        ::close(socket_);
    }
    if (lock_ >= 0) {
        ::close(lock_);
    }
}

SingleInstance::Outcome SingleInstance::takeLock() {
    if (!ui::makePrivateFolder(folder_)) {
        return Outcome::Unlocked;
    }
    const int lock =
        ::open(QFile::encodeName(folder_ + QStringLiteral("/belfry.lock")).constData(),
               O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600);
    struct stat facts {};
    if (lock < 0) {
        return Outcome::Unlocked;
    }
    std::array<char, 24> text{};
    if (::fstat(lock, &facts) != 0 || !S_ISREG(facts.st_mode)) {
        ::close(lock);
        return Outcome::Unlocked;
    }
    if (::flock(lock, LOCK_EX | LOCK_NB) != 0) {
        const bool is_held = errno == EWOULDBLOCK;
        const ssize_t size = ::pread(lock, text.data(), text.size() - 1, 0);
        holder_ = size > 0 ? QByteArray(text.data(), size).trimmed().toLongLong() : 0;
        ::close(lock);
        return is_held ? Outcome::Silent : Outcome::Unlocked; // some file systems have no locks
    }
    lock_ = lock;
    const QByteArray own = QByteArray::number(::getpid()) + '\n';
    if (::ftruncate(lock_, 0) == 0) {
        (void)!::pwrite(lock_, own.constData(), static_cast<size_t>(own.size()), 0);
    }
    return Outcome::First;
}

bool SingleInstance::listen() {
    const Address address(folder_);
    socket_ = newSocket();
    if (socket_ < 0 || !address.isValid()) {
        return false;
    }
    address.remove(); // of a program that was killed: the lock is ours
    if (::bind(socket_, address.get(), Address::size()) != 0 || ::listen(socket_, 8) != 0) {
        ::close(socket_);
        socket_ = -1;
        return false;
    }
    notifier_ = std::make_unique<QSocketNotifier>(socket_, QSocketNotifier::Read);
    connect(notifier_.get(), &QSocketNotifier::activated, this, &SingleInstance::welcome);
    return true;
}

bool SingleInstance::handOver(const QByteArray& words, int patience_ms) const {
    const Address address(folder_);
    const int socket = newSocket();
    if (socket < 0 || !address.isValid()) {
        return false;
    }
    const QDeadlineTimer until(patience_ms);
    bool is_heard = ::connect(socket, address.get(), Address::size()) == 0;
    for (qsizetype sent = 0; is_heard && sent < words.size();) {
        const ssize_t now = ::send(socket, words.constData() + sent,
                                   static_cast<size_t>(words.size() - sent), MSG_NOSIGNAL);
        sent += std::max<ssize_t>(now, 0);
        is_heard = now > 0 || (errno == EAGAIN && waitFor(socket, POLLOUT, until));
    }
    QByteArray answer;
    while (is_heard && answer != kAnswer) {
        std::array<char, 16> bytes{};
        is_heard = waitFor(socket, POLLIN, until);
        const ssize_t size = is_heard ? ::recv(socket, bytes.data(), bytes.size(), 0) : 0;
        is_heard = size > 0;
        answer.append(bytes.data(), std::max<ssize_t>(size, 0));
    }
    ::close(socket);
    return is_heard;
}

void SingleInstance::welcome() {
    for (;;) {
        const int client = ::accept4(socket_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (client < 0) {
            return;
        }
        if (!isOfThisUser(client) || clients_.size() >= kMostClients) {
            ::close(client);
            continue;
        }
        auto one = std::make_shared<Client>();
        one->notifier = std::make_unique<QSocketNotifier>(client, QSocketNotifier::Read);
        connect(one->notifier.get(), &QSocketNotifier::activated, this,
                [this, client] { hear(client); });
        clients_.insert(client, one);
    }
}

void SingleInstance::hear(int client) {
    const std::shared_ptr<Client> one = clients_.value(client);
    std::array<char, 4096> bytes{};
    const ssize_t size = ::recv(client, bytes.data(), bytes.size(), 0);
    if (size < 0 && errno == EAGAIN) {
        return;
    }
    one->words.append(bytes.data(), std::max<ssize_t>(size, 0));
    if (!one->words.endsWith('\n')) {
        if (size <= 0 || one->words.size() > kMostBytes) {
            forget(client);
        }
        return;
    }
    const QJsonDocument json = QJsonDocument::fromJson(one->words);
    if (json.isObject()) {
        (void)::send(client, kAnswer.data(), static_cast<size_t>(kAnswer.size()), MSG_NOSIGNAL);
    }
    forget(client);
    if (json.isObject()) {
        Q_EMIT started(json.object().value(QStringLiteral("argument")).toString(),
                       json.object().value(QStringLiteral("token")).toString().toLatin1());
    }
}

void SingleInstance::forget(int client) {
    if (const auto one = clients_.take(client)) {
        one->notifier->setEnabled(false);
        one->notifier.release()->deleteLater(); // it may be the one that speaks
        ::close(client);
    }
}

#else

namespace {

std::wstring nativeName(const QString& path) {
    return QDir::toNativeSeparators(path).toStdWString();
}

/// Names of pipes are the whole computer's; a folder's is the same however it is written.
QString pipeName(const QString& folder) {
    const QString path = QFileInfo(folder).canonicalFilePath().toLower();
    const QByteArray hash = QCryptographicHash::hash(path.toUtf8(), QCryptographicHash::Sha256);
    return QStringLiteral("belfry-") + QString::fromLatin1(hash.toHex().left(32));
}

/// What the first start has written into the lock, 0 when unknown.
qint64 readHolder(const std::wstring& name) {
    const HANDLE file = CreateFileW(name.c_str(), GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE,
                                    nullptr, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr);
    if (file == INVALID_HANDLE_VALUE) {
        return 0;
    }
    QByteArray text(24, '\0');
    DWORD size = 0;
    const bool is_read =
        ReadFile(file, text.data(), static_cast<DWORD>(text.size()), &size, nullptr) != 0;
    CloseHandle(file);
    return is_read ? text.left(static_cast<qsizetype>(size)).trimmed().toLongLong() : 0;
}

} // namespace

SingleInstance::SingleInstance(QString folder, QObject* parent)
    : QObject(parent), folder_(std::move(folder)) {}

SingleInstance::~SingleInstance() {
    server_.reset();
    if (lock_ != nullptr) {
        CloseHandle(lock_);
    }
}

SingleInstance::Outcome SingleInstance::takeLock() {
    if (!ui::makePrivateFolder(folder_)) {
        return Outcome::Unlocked;
    }
    // Others may read it, and nobody but this program may open it for writing until it is closed.
    const std::wstring name = nativeName(folder_ + QStringLiteral("/belfry.lock"));
    const HANDLE lock = CreateFileW(name.c_str(), GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ,
                                    nullptr, OPEN_ALWAYS, FILE_ATTRIBUTE_NORMAL, nullptr);
    if (lock == INVALID_HANDLE_VALUE) {
        const bool is_held = GetLastError() == ERROR_SHARING_VIOLATION;
        holder_ = is_held ? readHolder(name) : 0;
        return is_held ? Outcome::Silent : Outcome::Unlocked;
    }
    if (GetFileType(lock) != FILE_TYPE_DISK) {
        CloseHandle(lock);
        return Outcome::Unlocked;
    }
    lock_ = lock;
    const QByteArray own = QByteArray::number(QCoreApplication::applicationPid()) + '\n';
    DWORD written = 0;
    if (SetEndOfFile(lock) != 0) { // at its beginning
        (void)WriteFile(lock, own.constData(), static_cast<DWORD>(own.size()), &written, nullptr);
    }
    return Outcome::First;
}

bool SingleInstance::listen() {
    server_ = std::make_unique<QLocalServer>();
    server_->setSocketOptions(QLocalServer::UserAccessOption);
    server_->setMaxPendingConnections(static_cast<int>(kMostClients));
    connect(server_.get(), &QLocalServer::newConnection, this, &SingleInstance::welcome);
    return server_->listen(pipeName(folder_));
}

bool SingleInstance::handOver(const QByteArray& words, int patience_ms) const {
    const QDeadlineTimer until(patience_ms);
    const auto left = [&until] { return static_cast<int>(until.remainingTime()); };
    QLocalSocket socket;
    socket.connectToServer(pipeName(folder_));
    if (!socket.waitForConnected(left())) {
        return false;
    }
    // Any program may make a pipe of this name first: only who holds the lock is told.
    ULONG server = 0;
    const auto pipe = reinterpret_cast<HANDLE>(socket.socketDescriptor()); // NOLINT: Qt's number
    if (GetNamedPipeServerProcessId(pipe, &server) == 0 || static_cast<qint64>(server) != holder_) {
        return false;
    }
    AllowSetForegroundWindow(server); // this start has the right to come to the front, and gives it
    socket.write(words);
    QByteArray answer;
    while (answer != kAnswer) {
        if (!socket.waitForReadyRead(left())) {
            return false;
        }
        answer += socket.readAll();
    }
    return true;
}

void SingleInstance::welcome() {
    while (QLocalSocket* client = server_->nextPendingConnection()) {
        connect(client, &QLocalSocket::disconnected, client, &QObject::deleteLater);
        if (server_->findChildren<QLocalSocket*>(QString(), Qt::FindDirectChildrenOnly).size() >
            kMostClients) {
            client->abort();
            continue;
        }
        client->setReadBufferSize(kMostBytes + 1);
        connect(client, &QLocalSocket::readyRead, this, [this, client] { hear(client); });
        hear(client); // it may have written before
    }
}

void SingleInstance::hear(QLocalSocket* client) {
    const QByteArray words = client->peek(kMostBytes + 1);
    if (!words.endsWith('\n')) {
        if (words.size() > kMostBytes) {
            client->abort();
        }
        return;
    }
    client->readAll();
    const QJsonDocument json = QJsonDocument::fromJson(words);
    if (!json.isObject()) {
        client->abort();
        return;
    }
    client->write(kAnswer.data(), kAnswer.size());
    client->disconnectFromServer(); // once that is written
    Q_EMIT started(json.object().value(QStringLiteral("argument")).toString(),
                   json.object().value(QStringLiteral("token")).toString().toLatin1());
}

#endif

} // namespace app
