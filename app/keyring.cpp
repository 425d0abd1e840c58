// SPDX-License-Identifier: Apache-2.0
#include "app/keyring.h"

#include "app/environment.h"

#ifdef BELFRY_HAS_KEYRING
#include <QDBusConnection>
#include <QDBusConnectionInterface>
#include <QEventLoop>
#include <QString>
#include <QTimer>
#include <QtGlobal>
#include <qt6keychain/keychain.h>
#endif

#include <string>

#include "library/hub/cache_layout.h"
#include "library/hub/hub_error.h"

namespace app {

using engine::Result;
using engine::said;
using library::hub::TokenStore;

namespace {

#ifdef BELFRY_HAS_KEYRING

/// Its user may be typing the keyring's password.
constexpr int kLongestAnswerMs = 120'000;

class Keyring : public TokenStore {
public:
    [[nodiscard]] Kind kind() const override { return Kind::Keyring; }
    [[nodiscard]] std::string place() const override { return "org.belfry.Belfry / hub-token"; }

    Result<std::string> read() override {
        QKeychain::ReadPasswordJob job(service());
        job.setKey(key());
        ENGINE_TRY(run(job));
        return library::hub::checkedToken(job.textData().toStdString(), place());
    }

    Result<void> write(const std::string& token) override {
        ENGINE_ASSIGN(const std::string checked,
                      library::hub::checkedToken(token, engine::phrase("what was typed")));
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
    static QString service() { return QStringLiteral("org.belfry.Belfry"); }
    static QString key() { return QStringLiteral("hub-token"); }

    /// That nothing is there is no error.
    Result<void> run(QKeychain::Job& job) {
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
        if (is_done &&
            (job.error() == QKeychain::NoError || job.error() == QKeychain::EntryNotFound)) {
            return {};
        }
        const std::string why = is_done ? job.errorString().toStdString() : std::string("...");
        return library::hub::hubError(
            "HubDisk", said("the system's keyring does not answer (%1): unlock it and try again, "
                            "or set HF_TOKEN",
                            why));
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
    return library::hub::fileTokenStore(library::hub::tokenFile(hubEnvironment()));
}

} // namespace app
