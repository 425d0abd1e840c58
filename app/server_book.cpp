// SPDX-License-Identifier: Apache-2.0
#include "app/server_book.h"

#include <QCryptographicHash>
#include <QFile>

#include <utility>

namespace app {

using engine::Result;

ServerBook::ServerBook(QString key_folder, QStringList plain)
    : key_folder_(std::move(key_folder)), plain_(std::move(plain)) {}

std::string ServerBook::keyFile(const std::string& base) const {
    // By a hash: an address is no file name.
    const QByteArray name =
        QCryptographicHash::hash(QByteArray::fromStdString(base), QCryptographicHash::Sha256)
            .toHex()
            .left(32);
    return (key_folder_ + QLatin1Char('/') + QString::fromLatin1(name) + QStringLiteral(".key"))
        .toStdString();
}

Result<remote::Connection> ServerBook::connection(const std::string& address) const {
    const std::lock_guard lock(mutex_);
    return trial(address, {}, plain_.contains(QString::fromStdString(address)));
}

Result<remote::Connection>
ServerBook::trial(const std::string& address, const std::string& key, bool allows_plain) const {
    remote::Connection connection;
    ENGINE_ASSIGN(connection.server, remote::parseServer(address, allows_plain));
    const std::string file = keyFile(connection.server.base);
    if (!key.empty()) {
        ENGINE_ASSIGN(connection.key, remote::checkedKey(key, connection.server.host));
    } else if (QFile::exists(QString::fromStdString(file))) {
        ENGINE_ASSIGN(connection.key, remote::readKeyFile(file));
    }
    return connection;
}

Result<void> ServerBook::keepKey(const std::string& base, const std::string& key) {
    ENGINE_ASSIGN(const std::string checked, remote::checkedKey(key, base));
    return remote::writeKeyFile(keyFile(base), checked);
}

void ServerBook::allowPlain(const QString& base) {
    const std::lock_guard lock(mutex_);
    if (!plain_.contains(base)) {
        plain_.append(base);
    }
}

QStringList ServerBook::plain() const {
    const std::lock_guard lock(mutex_);
    return plain_;
}

} // namespace app
