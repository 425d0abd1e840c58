// SPDX-License-Identifier: Apache-2.0
// What the settings keep of the user's servers, by the base address of each. No keys.
#pragma once

#include <QHash>
#include <QString>
#include <QStringList>

namespace app {

struct ServerNotes {
    QStringList known; ///< The last one that was used first.
    QStringList plain; ///< May be spoken to without encryption.
    QStringList keyed; ///< Have a key that is kept: the keyring is asked for nobody else's.
    /// Files with certificates that are trusted for a server besides the system's.
    QHash<QString, QString> authorities;
    friend bool operator==(const ServerNotes&, const ServerNotes&) = default;
};

} // namespace app
