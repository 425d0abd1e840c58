// SPDX-License-Identifier: Apache-2.0
// A server as the user names it, and what it answered.
#pragma once

#include <QMetaType>
#include <QString>
#include <QStringList>

#include <vector>

namespace ui {

/// What stands in the fields. The key is here only on its way to where keys are kept.
struct ServerWish {
    QString address;
    QString key;               ///< Empty: the one that is kept for this server, if there is one.
    bool allows_plain = false; ///< http to a host that is not of this network.
};

/// What a server answered to the question for its models.
struct ServerAnswer {
    QString base; ///< The address in its one form.
    QString host;
    QString product; ///< "vLLM"; empty: unknown.
    bool is_encrypted = true;
    bool is_loopback = false;
    struct Model {
        QString name;
        QString parent; ///< Of an adapter.
        qint64 max_context = 0;
    };
    std::vector<Model> models;
};

} // namespace ui

Q_DECLARE_METATYPE(ui::ServerWish)
Q_DECLARE_METATYPE(ui::ServerAnswer)
