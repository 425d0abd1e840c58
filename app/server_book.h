// SPDX-License-Identifier: Apache-2.0
// What is known of the user's servers: which may be spoken to without encryption, and their keys,
// each in a file of its own that nobody else can read. A key is handed to a connection and to
// nothing else. Asked by the engine's thread, edited by the window's.
#pragma once

#include "engine/base/result.h"

#include <QString>
#include <QStringList>

#include <mutex>
#include <string>

#include "remote/connection.h"

namespace app {

class ServerBook {
public:
    /// `key_folder`: made when the first key is kept. `plain`: bases that may be spoken to by http.
    explicit ServerBook(QString key_folder, QStringList plain = {});

    /// Settings and key of a server. Errors: parseServer(), readKeyFile().
    [[nodiscard]] engine::Result<remote::Connection> connection(const std::string& address) const;
    /// The same for an address that is only tried: `key` in place of the kept one where it is not
    /// empty.
    [[nodiscard]] engine::Result<remote::Connection>
    trial(const std::string& address, const std::string& key, bool allows_plain) const;
    engine::Result<void> keepKey(const std::string& base, const std::string& key);
    void allowPlain(const QString& base);
    [[nodiscard]] QStringList plain() const;

private:
    [[nodiscard]] std::string keyFile(const std::string& base) const;

    const QString key_folder_;
    mutable std::mutex mutex_;
    QStringList plain_;
};

} // namespace app
