// SPDX-License-Identifier: Apache-2.0
// What a test does to a process that it has started, and what a process of a test's does to itself,
// on both systems.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string_view>

#ifdef _WIN32
#include <windows.h>
#else
#include <sys/types.h>

#include <csignal>
#include <fstream>
#include <string>
#endif

namespace support {

/// How a program calls the end of a process of its own that was killed, crashed, gave itself up.
#ifdef _WIN32
inline constexpr const char* kKilledName = "status 1"; // whoever ends it chooses it
inline constexpr const char* kCrashedName = "0xC0000005";
inline constexpr const char* kAbortedName = "0xC0000409";
#else
inline constexpr const char* kKilledName = "SIGKILL";
inline constexpr const char* kCrashedName = "SIGSEGV";
inline constexpr const char* kAbortedName = "SIGABRT";
#endif

/// Ends this process as "kill", "crash" and "abort" say; any other word: with the status 77.
[[noreturn]] inline void endBy(std::string_view way) {
#ifdef _WIN32
    if (way == "kill") {
        ::TerminateProcess(::GetCurrentProcess(), 1);
    } else if (way == "crash") {
        ::RaiseException(EXCEPTION_ACCESS_VIOLATION, EXCEPTION_NONCONTINUABLE, 0, nullptr);
    }
#else
    if (way == "kill" || way == "crash") {
        static_cast<void>(::raise(way == "kill" ? SIGKILL : SIGSEGV));
    }
#endif
    if (way == "abort") {
        std::abort();
    }
    std::_Exit(77);
}

/// Ends another one at once. False: it is not there.
inline bool killProcess(int64_t id) {
#ifdef _WIN32
    const HANDLE process = ::OpenProcess(PROCESS_TERMINATE, FALSE, static_cast<DWORD>(id));
    const bool is_killed = process != nullptr && ::TerminateProcess(process, 1) != 0;
    if (process != nullptr) {
        ::CloseHandle(process);
    }
    return is_killed;
#else
    return ::kill(static_cast<pid_t>(id), SIGKILL) == 0;
#endif
}

/// Whether it runs; one that has ended and that nobody has waited for does not.
inline bool isRunning(int64_t id) {
#ifdef _WIN32
    const HANDLE process = ::OpenProcess(SYNCHRONIZE, FALSE, static_cast<DWORD>(id));
    const bool is_running = process != nullptr && ::WaitForSingleObject(process, 0) == WAIT_TIMEOUT;
    if (process != nullptr) {
        ::CloseHandle(process);
    }
    return is_running;
#else
    std::ifstream file("/proc/" + std::to_string(id) + "/stat");
    std::string line;
    std::getline(file, line);
    const size_t name_end = line.rfind(") ");
    return ::kill(static_cast<pid_t>(id), 0) == 0 &&
           (name_end == std::string::npos || line.compare(name_end + 2, 1, "Z") != 0);
#endif
}

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
