// SPDX-License-Identifier: Apache-2.0
// Which engine runs behind the window: the only place of the window's program that names one.
#pragma once

#include "engine/client/engine_client.h"
#include "engine/run/engine.h"

#include <functional>
#include <memory>

namespace app {

/// Makes an engine. `on_step` is called on the engine's thread between steps of long work, often;
/// it may ask plain questions (memory(), contextUse()).
class EngineFactory {
public:
    using Make =
        std::function<std::unique_ptr<engine::EngineClient>(std::function<void()> on_step)>;

    /// The engine of this program.
    EngineFactory(engine::EngineOptions options); // NOLINT(google-explicit-constructor)
    /// Another one.
    explicit EngineFactory(Make make) : make_(std::move(make)) {}

    [[nodiscard]] std::unique_ptr<engine::EngineClient> make(std::function<void()> on_step) const {
        return make_(std::move(on_step));
    }

private:
    Make make_;
};

} // namespace app
