// SPDX-License-Identifier: Apache-2.0
#include "app/network/qt_proxy.h"

#include <QNetworkProxy>
#include <QNetworkProxyFactory>
#include <QString>
#include <QUrl>

#include <optional>

#ifdef _WIN32
#include "app/common/environment.h"

#include <QNetworkProxyQuery>
#include <QStringList>

#include <memory>
#endif

namespace app {

namespace {

/// Nothing where `url` names none that Qt has.
std::optional<QNetworkProxy> proxyOf(const QUrl& url) {
    const bool is_socks = url.scheme() == QStringLiteral("socks5");
    if (url.host().isEmpty() || (!is_socks && url.scheme() != QStringLiteral("http"))) {
        return std::nullopt;
    }
    constexpr int kSocksPort = 1080;
    constexpr int kHttpPort = 8080;
    const int port = url.port(is_socks ? kSocksPort : kHttpPort);
    return QNetworkProxy(is_socks ? QNetworkProxy::Socks5Proxy : QNetworkProxy::HttpProxy,
                         url.host(), static_cast<quint16>(port), url.userName(), url.password());
}

#ifdef _WIN32

/// What the environment says of a connection, before what Windows' settings say.
class EnvironmentFirst : public QNetworkProxyFactory {
public:
    QList<QNetworkProxy> queryProxy(const QNetworkProxyQuery& query) override {
        if (isExcepted(query.peerHostName())) {
            return {QNetworkProxy(QNetworkProxy::NoProxy)};
        }
        const std::string protocol = query.protocolTag().toLower().toStdString();
        for (const std::string& name : {protocol + "_proxy", std::string("all_proxy")}) {
            QString address = QString::fromStdString(namedVariable(name));
            if (!address.isEmpty() && !address.contains(QStringLiteral("://"))) {
                address.prepend(
                    QStringLiteral("http://")); // "host:port", as other programs take it
            }
            if (const auto proxy = proxyOf(QUrl(address, QUrl::StrictMode))) {
                return {*proxy};
            }
        }
        return QNetworkProxyFactory::systemProxyForQuery(query);
    }

private:
    /// no_proxy: "*" or names of hosts and of what they end with, between commas.
    static bool isExcepted(const QString& host) {
        const QString names = QString::fromStdString(namedVariable("no_proxy"));
        for (QString name : names.split(QLatin1Char(','), Qt::SkipEmptyParts)) {
            name = name.trimmed();
            if (name == QStringLiteral("*")) {
                return true;
            }
            if (name.startsWith(QLatin1Char('*'))) {
                name.remove(0, 1);
            }
            if (name.startsWith(QLatin1Char('.'))) {
                name.remove(0, 1);
            }
            if (!name.isEmpty() && (host.compare(name, Qt::CaseInsensitive) == 0 ||
                                    host.endsWith(QLatin1Char('.') + name, Qt::CaseInsensitive))) {
                return true;
            }
        }
        return false;
    }
};

#endif

} // namespace

void followSystemProxies() {
#ifdef _WIN32
    auto factory = std::make_unique<EnvironmentFirst>();
    QNetworkProxyFactory::setApplicationProxyFactory(factory.release()); // Qt's own from here on
#else
    QNetworkProxyFactory::setUseSystemConfiguration(true);
#endif
}

void useProxy(const std::string& address) {
    if (const auto proxy = proxyOf(QUrl(QString::fromStdString(address), QUrl::StrictMode))) {
        QNetworkProxy::setApplicationProxy(*proxy);
    } else {
        followSystemProxies();
    }
}

} // namespace app
