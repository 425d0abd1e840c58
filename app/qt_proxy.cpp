// SPDX-License-Identifier: Apache-2.0
#include "app/qt_proxy.h"

#include <QNetworkProxy>
#include <QNetworkProxyFactory>
#include <QString>
#include <QUrl>

namespace app {

void useProxy(const std::string& address) {
    const QUrl url(QString::fromStdString(address), QUrl::StrictMode);
    const bool is_socks = url.scheme() == QStringLiteral("socks5");
    if (url.host().isEmpty() || (!is_socks && url.scheme() != QStringLiteral("http"))) {
        QNetworkProxyFactory::setUseSystemConfiguration(true);
        return;
    }
    constexpr int kSocksPort = 1080;
    constexpr int kHttpPort = 8080;
    const int port = url.port(is_socks ? kSocksPort : kHttpPort);
    QNetworkProxy::setApplicationProxy(
        QNetworkProxy(is_socks ? QNetworkProxy::Socks5Proxy : QNetworkProxy::HttpProxy, url.host(),
                      static_cast<quint16>(port), url.userName(), url.password()));
}

} // namespace app
