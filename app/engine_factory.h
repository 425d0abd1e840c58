// SPDX-License-Identifier: Apache-2.0
// Which engine runs behind a program: the only place of the window's program that names one.
#pragma once

#include "engine/client/engine_client.h"
#include "engine/client/recovery.h"
#include "engine/run/engine.h"

#include <functional>
#include <memory>

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
    using Make = std::function<std::unique_ptr<engine::EngineClient>(const EngineEvents& events)>;

    /// The engine of this program.
    EngineFactory(engine::EngineOptions options); // NOLINT(google-explicit-constructor)
    /// Another one.
    explicit EngineFactory(Make make) : make_(std::move(make)) {}

    [[nodiscard]] std::unique_ptr<engine::EngineClient> make(const EngineEvents& events) const {
        return make_(events);
    }

private:
    Make make_;
};

} // namespace app
