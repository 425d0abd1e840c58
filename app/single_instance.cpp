// SPDX-License-Identifier: Apache-2.0
#include "app/single_instance.h"

#include "ui/common/private_files.h"

#include <QDeadlineTimer>
#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSocketNotifier>
#include <QThread>

#ifdef Q_OS_LINUX
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

#ifdef Q_OS_LINUX

namespace {

constexpr qsizetype kMostBytes = 64 << 10; ///< Of one start's words: a path and a token.
constexpr qsizetype kMostClients = 16;
constexpr int kPauseMs = 50;
constexpr QByteArrayView kAnswer = "ok\n";

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

SingleInstance::SingleInstance(QString folder, QObject* parent)
    : QObject(parent), folder_(std::move(folder)) {}
SingleInstance::~SingleInstance() = default;

SingleInstance::Outcome SingleInstance::claim(const QString& /*argument*/,
                                              const QByteArray& /*token*/,
                                              int /*patience_ms*/) {
    return Outcome::First;
}

#endif

} // namespace app
