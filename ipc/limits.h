// SPDX-License-Identifier: Apache-2.0
// What the engine's process denies itself before it reads a byte of anybody's: it decodes pictures
// and sounds and runs a driver, and needs neither a network nor other programs for that.
#pragma once

#include <string>
#include <vector>

namespace ipc {

/// Call once, before there is a second thread. Linux: ends with the thread that started it; the
/// system's memory killer takes it before the window; gains no privileges by starting programs; and
/// a filter of system calls refuses (EPERM) sockets but those of this machine (AF_UNIX,
/// AF_NETLINK), execve, ptrace, signals to other processes and calls that load code into the system
/// or change its name spaces. Windows: the job that the window put it in ends
/// with the window and lets it start no program; this reads from it what it does. Gives what was
/// achieved, a word each.
std::vector<std::string> limitProcess();

} // namespace ipc
