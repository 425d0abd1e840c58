// SPDX-License-Identifier: Apache-2.0
// What an engine that runs elsewhere tells beside the answers of its calls: that it has ended, and
// how what it had loaded comes back.
#pragma once

#include "engine/client/engine_client.h"

namespace engine {

struct Recovery {
    enum class Kind : uint8_t {
        Ended = 1, ///< And is started again, with what it had loaded; `why`: how it ended.
        Loading,   ///< What it had loaded is on its way; `progress`: how far.
        Back,      ///< It is there.
        Lost,      ///< It does not come by itself; `why`: what happened and what can be done.
    };
    Kind kind = Kind::Ended;
    Error why;
    LoadProgressValue progress;
    /// Nobody had asked for anything: no call fails with `why`.
    bool is_at_rest = false;
};

} // namespace engine
