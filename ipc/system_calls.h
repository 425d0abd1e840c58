// SPDX-License-Identifier: Apache-2.0
// The filter of system calls of the engine's process on Linux: a list of what is allowed. What
// computing, reading and a driver of graphics cards need is on it; what reaches other processes,
// starts programs, opens the network or changes whose a file is is not. The rights of an open file,
// also of a lent one, can be set to those to read it and its owner's to write it.
#pragma once

#ifdef __linux__

namespace ipc {

/// For all threads that there are and will be; needs PR_SET_NO_NEW_PRIVS. Calls on no list get
/// EPERM, those of newer kernels ENOSYS, so that the C library takes the older ones. `connects`:
/// sockets of this machine may be connected until closeConnections().
bool filterSystemCalls(bool connects);

/// From now on no thread makes or connects a socket.
bool closeConnections();

} // namespace ipc

#endif
