// SPDX-License-Identifier: Apache-2.0
// What the engine's process denies itself before it reads a byte of anybody's: it decodes pictures
// and sounds and runs a driver, and needs neither a network nor other programs for that, and of the
// user's files what is named to it.
#pragma once

#include <string>
#include <vector>

#include "ipc/messages.h"

namespace ipc {

/// Call once, before there is a second thread. Linux: ends with the thread that started it; the
/// system's memory killer takes it before the window; gains no privileges by starting programs;
/// opens by itself the files of file_limits.h alone, where the kernel knows such limits; and makes
/// the calls of system_calls.h alone. Windows: the job that the window put it in ends with the
/// window and lets it start no program; this reads from it what it does. Gives what was achieved, a
/// word each.
std::vector<std::string> limitProcess(const HostOptions& host);

/// After each load: with a card open, a driver needs no other sockets any more.
void limitConnections(bool has_card);

} // namespace ipc
