// SPDX-License-Identifier: Apache-2.0
// What a test does to a process that it has started, on both systems.
#pragma once

#include <cstdint>

#ifdef _WIN32
#include <windows.h>
#else
#include <sys/types.h>

#include <csignal>
#endif

namespace support {

/// Nothing in the process runs any more until it is ended. False: it could not be stopped.
inline bool pauseProcess(int64_t id) {
#ifdef _WIN32
    // Debuggers' call: Windows has no other for a process as a whole.
    using Suspend = LONG(WINAPI*)(HANDLE);
    const auto suspend = reinterpret_cast<Suspend>(reinterpret_cast<void*>(
        ::GetProcAddress(::GetModuleHandleW(L"ntdll.dll"), "NtSuspendProcess")));
    const HANDLE process = ::OpenProcess(PROCESS_SUSPEND_RESUME, FALSE, static_cast<DWORD>(id));
    const bool is_paused = suspend != nullptr && process != nullptr && suspend(process) >= 0;
    if (process != nullptr) {
        ::CloseHandle(process);
    }
    return is_paused;
#else
    return ::kill(static_cast<pid_t>(id), SIGSTOP) == 0;
#endif
}

} // namespace support
