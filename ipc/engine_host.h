// SPDX-License-Identifier: Apache-2.0
// The other side of ProcessEngine: an engine that answers what comes through standard input, for a
// program that was started to be its process. The engine has the main thread, as it has one of its
// own in the window; a second one reads while it computes, so that a stop or the end of the window
// is noticed.
#pragma once

#include "engine/client/engine_client.h"

#include <functional>
#include <memory>
#include <string>

#include "ipc/messages.h"

namespace ipc {

/// Makes the engine when the first request comes. `on_step` as in app/engines/engine_factory.h.
using MakeEngine = std::function<std::unique_ptr<engine::EngineClient>(
    const HostOptions& options, std::function<void()> on_step)>;

/// Limits the process (limits.h) and answers until the other side is gone; then the process ends,
/// without coming back. `program`: its version, which the window compares with its own. Comes back,
/// with an exit status, only where nobody has started it as an engine's process.
int runEngineHost(const MakeEngine& make, const std::string& program);

} // namespace ipc
