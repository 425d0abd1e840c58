// SPDX-License-Identifier: Apache-2.0
// How far it is that other programs use this window's model.
#pragma once

#include "engine/api/error.h"

#include <QString>

#include <cstdint>
#include <optional>

namespace ui {

struct ServingState {
    enum class Kind : uint8_t {
        Off = 1,
        NoModel,   ///< On, and nothing is loaded that could answer.
        Ready,     ///< On, and nobody asks.
        Answering, ///< On, and somebody does.
    };
    Kind kind = Kind::Off;
    QString address; ///< "http://127.0.0.1:8642/v1"
    QString token;
    QString model; ///< Its name in requests.
    quint64 answered = 0;
    int waiting = 0;
    std::optional<engine::Error> error; ///< Why it could not be switched on.
};

} // namespace ui
