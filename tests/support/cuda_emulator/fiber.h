// SPDX-License-Identifier: Apache-2.0
// A stack of its own for every emulated CUDA thread, and the switch between two of them. On x86-64
// (Linux or Windows) a switch is a few instructions; elsewhere it is swapcontext(). One OS thread
// only. On Windows nothing may be thrown in a fiber, not even what is caught there: the program
// ends.
#pragma once

#include <cstddef>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace emulator {

/// Bytes of one stack; the page below it is inaccessible for the first 16384 of them.
inline constexpr size_t kStackBytes = size_t{64} * 1024;

/// Where a suspended fiber goes on. The fiber of the OS thread itself has no stack of its own.
struct Fiber {
    void* stack = nullptr; ///< Lowest usable byte; nullptr: the OS thread's stack.
#if defined(__x86_64__)
    void* pointer = nullptr; ///< Stack pointer while suspended.
#else
    ucontext_t context;
#endif
    void* fake_stack = nullptr; ///< AddressSanitizer's.
};

/// Makes the fiber begin with `entry` at its next switch; `entry` never returns.
void prepareFiber(Fiber& fiber, void (*entry)());
/// Suspends `from`, which is running, and goes on with `to`. `ends`: `from` never runs again.
void switchFiber(Fiber& from, Fiber& to, bool ends);
/// The first thing a new fiber does.
void fiberEntered();

/// A stack from the pool, and back to it.
void* takeStack();
void giveStack(void* stack);

} // namespace emulator
