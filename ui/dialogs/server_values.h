// SPDX-License-Identifier: Apache-2.0
// A server as the user names it, and what it answered.
#pragma once

#include <QHash>
#include <QMetaType>
#include <QString>
#include <QStringList>

#include <cstdint>
#include <vector>

namespace ui {

/// Servers of earlier connections, by address.
struct KnownServers {
    QStringList addresses; ///< The last one first.
    QStringList keyed;     ///< Those whose key is kept.
    /// Files with certificates that were given for some of them.
    QHash<QString, QString> authorities;
};

/// What stands in the fields. The key is here only on its way to where keys are kept.
struct ServerWish {
    QString address;
    QString key;               ///< Empty: the one that is kept for this server, if there is one.
    bool allows_plain = false; ///< http to a host that is not of this network.
    QString authority;         ///< A file with certificates; empty: the system's alone.
};

/// Why a server did not answer, and what the dialog may offer.
struct ServerProblem {
    QString words;
    bool is_plain = false;     ///< http goes to a host that is not of this network.
    bool is_authority = false; ///< Nobody who is trusted vouches for it, or the file has no word.
};

/// Where keys are kept, as the dialog says it.
enum class KeyPlace : uint8_t { Unknown = 1, Keyring, File };

/// What a server answered to the question for its models.
struct ServerAnswer {
    QString base; ///< The address in its one form.
    QString host;
    QString product; ///< "vLLM"; empty: unknown.
    bool is_encrypted = true;
    bool is_loopback = false;
    struct Model {
        QString name;
        QString parent; ///< For an adapter: its model.
        qint64 max_context = 0;
    };
    std::vector<Model> models;
};

} // namespace ui

Q_DECLARE_METATYPE(ui::ServerWish)
Q_DECLARE_METATYPE(ui::ServerAnswer)
