// SPDX-License-Identifier: Apache-2.0
#include "app/network/keyring.h"

#include "app/common/environment.h"

#ifdef BELFRY_HAS_KEYRING
#include <QDBusConnection>
#include <QDBusConnectionInterface>
#include <QEventLoop>
#include <QString>
#include <QTimer>
#include <QtGlobal>
#include <qt6keychain/keychain.h>
#endif

#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "models/hub/cache_layout.h"
#include "models/hub/hub_error.h"

namespace app {

using engine::Result;
using engine::said;
using models::hub::TokenStore;

namespace {

#ifdef BELFRY_HAS_KEYRING

/// Its user may be typing the keyring's password.
constexpr int kLongestAnswerMs = 120'000;

QString service() {
    return QStringLiteral("org.belfry.Belfry");
}

/// Why it failed, in the keyring's own words; nullopt: done. That nothing is there is no error.
std::optional<std::string> failureOf(QKeychain::Job& job) {
    job.setAutoDelete(false);
    QEventLoop loop;
    bool is_done = false;
    QObject::connect(&job, &QKeychain::Job::finished, &loop, [&] {
        is_done = true;
        loop.quit();
    });
    QTimer::singleShot(kLongestAnswerMs, &loop, &QEventLoop::quit);
    job.start();
    if (!is_done) {
        loop.exec();
    }
    if (is_done && (job.error() == QKeychain::NoError || job.error() == QKeychain::EntryNotFound)) {
        return std::nullopt;
    }
    return is_done ? job.errorString().toStdString() : std::string("...");
}

class Keyring : public TokenStore {
public:
    [[nodiscard]] Kind kind() const override { return Kind::Keyring; }
    [[nodiscard]] std::string place() const override { return "org.belfry.Belfry / hub-token"; }

    Result<std::string> read() override {
        QKeychain::ReadPasswordJob job(service());
        job.setKey(key());
        ENGINE_TRY(run(job));
        return models::hub::checkedToken(job.textData().toStdString(), place());
    }

    Result<void> write(const std::string& token) override {
        ENGINE_ASSIGN(const std::string checked,
                      models::hub::checkedToken(token, engine::phrase("what was typed")));
        QKeychain::WritePasswordJob job(service());
        job.setKey(key());
        job.setTextData(QString::fromStdString(checked));
        return run(job);
    }

    Result<void> remove() override {
        QKeychain::DeletePasswordJob job(service());
        job.setKey(key());
        return run(job);
    }

private:
    static QString key() { return QStringLiteral("hub-token"); }

    static Result<void> run(QKeychain::Job& job) {
        if (const auto why = failureOf(job)) {
            return models::hub::hubError(
                "HubDisk", said("the system's keyring does not answer (%1): unlock it and try "
                                "again, or set HF_TOKEN",
                                *why));
        }
        return {};
    }
};

class ServerKeyring : public remote::KeyStore {
public:
    [[nodiscard]] Kind kind() const override { return Kind::Keyring; }

    Result<std::string> read(const std::string& base) override {
        std::string text;
        ENGINE_TRY(apart([&] {
            QKeychain::ReadPasswordJob job(service());
            job.setKey(entry(base));
            auto failure = failureOf(job);
            text = job.textData().toStdString();
            return failure;
        }));
        return text;
    }
    Result<void> write(const std::string& base, const std::string& key) override {
        return apart([&] {
            QKeychain::WritePasswordJob job(service());
            job.setKey(entry(base));
            job.setTextData(QString::fromStdString(key));
            return failureOf(job);
        });
    }
    Result<void> remove(const std::string& base) override {
        return apart([&] {
            QKeychain::DeletePasswordJob job(service());
            job.setKey(entry(base));
            return failureOf(job);
        });
    }

private:
    /// As its user finds it among the keyring's entries.
    static QString entry(const std::string& base) {
        return QStringLiteral("server ") + QString::fromStdString(base);
    }

    /// In a thread of its own: an engine's thread that waits here must not take its next request
    /// out of the event loop that the keyring needs.
    template <typename Work>
    static Result<void> apart(Work work) {
        std::optional<std::string> failure;
        std::thread([&] { failure = work(); }).join();
        if (failure.has_value()) {
            return engine::Error{
                engine::ErrorCode::InvalidRequest,
                said("the system's keyring does not answer (%1): unlock it and try again, or type "
                     "the server's key once more",
                     *failure),
                {{"rule", "RemoteKey"}}};
        }
        return {};
    }
};

/// Asked of the session's bus, because reading a keyring to find out may open its dialog.
bool isKeyringThere() {
#ifdef Q_OS_UNIX
    const QDBusConnection bus = QDBusConnection::sessionBus();
    QDBusConnectionInterface* const names = bus.isConnected() ? bus.interface() : nullptr;
    if (names == nullptr) {
        return false;
    }
    const QStringList startable = names->activatableServiceNames().value();
    for (const char* const keyring :
         {"org.freedesktop.secrets", "org.kde.kwalletd5", "org.kde.kwalletd6"}) {
        const QString name = QString::fromLatin1(keyring);
        if (startable.contains(name) || names->isServiceRegistered(name).value()) {
            return true;
        }
    }
    return false;
#else
    return true; // part of Windows
#endif
}

#endif

} // namespace

std::unique_ptr<TokenStore> tokenStore() {
#ifdef BELFRY_HAS_KEYRING
    if (isKeyringThere()) {
        return std::make_unique<Keyring>();
    }
#endif
    return models::hub::fileTokenStore(models::hub::tokenFile(hubEnvironment()));
}

std::unique_ptr<remote::KeyStore> serverKeyring() {
#ifdef BELFRY_HAS_KEYRING
    if (isKeyringThere()) {
        return std::make_unique<ServerKeyring>();
    }
#endif
    return nullptr;
}

} // namespace app
