// SPDX-License-Identifier: Apache-2.0
// How a server with models is, as the window shows it.
#pragma once

#include <QString>

#include <cstdint>

namespace ui {

/// How the server of a model is, as far as it was asked.
struct ServerState {
    enum class Kind : uint8_t {
        None = 1, ///< Not known.
        Reachable,
        Loading,   ///< Its model, or it has no time now.
        Refused,   ///< It does not let this computer in, or has not that model.
        Gone,      ///< Asked again by itself.
        Forbidden, ///< The network is switched off here.
    };
    Kind kind = Kind::None;
    QString model; ///< "https://host/v1#name"
    QString words; ///< Why, with a way on; empty where it is reachable.
    friend bool operator==(const ServerState&, const ServerState&) = default;
};

} // namespace ui
