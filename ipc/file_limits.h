// SPDX-License-Identifier: Apache-2.0
// What the engine's process may open by itself on Linux, by the kernel's Landlock (5.13 and newer).
#pragma once

#ifdef __linux__

#include <string>
#include <vector>

namespace ipc {

/// For the thread that calls and those that it starts; needs PR_SET_NO_NEW_PRIVS. With `read` and
/// what is below: reading. With `write`: writing, making and removing plain files as well. Beside
/// them the system's libraries, what the kernel tells of this process and the machine, and the
/// devices of a driver. Kernels that can do so also refuse TCP and, outside this process, signals
/// and abstract sockets. What is not there is left out. False: this kernel has no such limits.
bool limitFiles(const std::vector<std::string>& read, const std::vector<std::string>& write);

} // namespace ipc

#endif
