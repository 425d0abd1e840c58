// SPDX-License-Identifier: Apache-2.0
// Which engine runs behind the window, or behind the server of belfry-cli.
#pragma once

#include "app/engines/engine_switch.h"
#include "engine/client/recovery.h"
#include "engine/run/engine.h"

#include <functional>

namespace app {

/// What an engine tells beside its answers. Both are called on the engine's thread, in the middle
/// of what it does; plain questions (memory(), contextUse()) may be asked then.
struct EngineEvents {
    std::function<void()> on_step; ///< Between steps of long work, often.
    /// An engine in a process of its own ended, and what follows.
    std::function<void(const engine::Recovery&)> on_recovery;
};

class EngineFactory {
public:
    using Make = std::function<EngineSwitch(const EngineEvents& events)>;

    /// The engine of this program.
    EngineFactory(engine::EngineOptions options); // NOLINT(google-explicit-constructor)
    /// Another one.
    explicit EngineFactory(Make make) : make_(std::move(make)) {}

    [[nodiscard]] EngineSwitch make(const EngineEvents& events) const { return make_(events); }

private:
    Make make_;
};

} // namespace app
