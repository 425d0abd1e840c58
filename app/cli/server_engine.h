// SPDX-License-Identifier: Apache-2.0
// chat --server: a model of a server in place of one of this computer.
#pragma once

#include "app/cli/arguments.h"
#include "engine/base/result.h"

namespace cli {

/// Finds the server's model, says on stderr where words go, and chats. Errors: those of the
/// address, the key and the server; Unsupported in a build without network.
engine::Result<void> runServerChat(const Arguments& arguments);

} // namespace cli
