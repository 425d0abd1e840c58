// SPDX-License-Identifier: Apache-2.0
#include "tests/support/cuda_emulator/fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#include <pthread.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#if defined(__x86_64__)
// Saves what a function must preserve, swaps the stack pointers, restores.
asm(R"(
.text
.globl belfryEmulatorSwitch
.type belfryEmulatorSwitch,@function
belfryEmulatorSwitch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size belfryEmulatorSwitch,.-belfryEmulatorSwitch
)");
extern "C" void belfryEmulatorSwitch(void** save, void* load);
#endif

namespace emulator {

namespace {

constexpr size_t kStacksAtOnce = 256;
/// A process may have about 65000 mappings, and a guarded stack takes two.
constexpr size_t kGuardedStacks = 16384;
std::vector<void*> free_stacks;
size_t guarded_stacks = 0;

} // namespace

void* takeStack() {
    if (free_stacks.empty()) {
        const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
        const size_t step = kStackBytes + page;
        void* const memory = mmap(nullptr, step * kStacksAtOnce, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) {
            std::perror("cuda emulator: no memory for stacks");
            std::abort();
        }
        for (size_t i = 0; i < kStacksAtOnce; ++i) {
            char* const at = static_cast<char*>(memory) + (kStacksAtOnce - 1 - i) * step;
            if (guarded_stacks < kGuardedStacks) {
                mprotect(at, page, PROT_NONE);
                ++guarded_stacks;
            }
            free_stacks.push_back(at + page);
        }
    }
    void* const stack = free_stacks.back();
    free_stacks.pop_back();
    return stack;
}

void giveStack(void* stack) {
    free_stacks.push_back(stack);
}

void fiberEntered() {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
#endif
}

void prepareFiber(Fiber& fiber, void (*entry)()) {
    fiber.fake_stack = nullptr;
#if defined(__SANITIZE_ADDRESS__)
    // Frames of the thread that had this stack before never returned: what they marked is still so.
    __asan_unpoison_memory_region(fiber.stack, kStackBytes);
#endif
#if defined(__x86_64__)
    // As if the fiber had called the switch: six saved registers below the address to return to,
    // and that slot aligned so that `entry` finds the stack as after a call.
    auto* const slot =
        reinterpret_cast<uint64_t*>(static_cast<char*>(fiber.stack) + kStackBytes) - 2;
    slot[1] = 0;
    slot[0] = reinterpret_cast<uint64_t>(entry);
    for (int i = 1; i <= 6; ++i) {
        slot[-i] = 0;
    }
    fiber.pointer = slot - 6;
#else
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack;
    fiber.context.uc_stack.ss_size = kStackBytes;
    fiber.context.uc_link = nullptr;
    makecontext(&fiber.context, entry, 0);
#endif
}

#if defined(__SANITIZE_ADDRESS__)
namespace {

struct Stack {
    void* bottom = nullptr;
    size_t size = 0;
};

/// Of the host's thread itself. Asked once: the answer for a program's first thread is read from
/// the list of its mappings, which took longer than all that the emulated threads computed.
Stack ownStack() {
    thread_local const Stack kOwn = [] {
        Stack stack;
        pthread_attr_t attributes;
        pthread_getattr_np(pthread_self(), &attributes);
        pthread_attr_getstack(&attributes, &stack.bottom, &stack.size);
        pthread_attr_destroy(&attributes);
        return stack;
    }();
    return kOwn;
}

} // namespace
#endif

void switchFiber(Fiber& from, Fiber& to, [[maybe_unused]] bool ends) {
#if defined(__SANITIZE_ADDRESS__)
    const Stack stack = to.stack == nullptr ? ownStack() : Stack{to.stack, kStackBytes};
    __sanitizer_start_switch_fiber(ends ? nullptr : &from.fake_stack, stack.bottom, stack.size);
#endif
#if defined(__x86_64__)
    belfryEmulatorSwitch(&from.pointer, to.pointer);
#else
    swapcontext(&from.context, &to.context);
#endif
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(from.fake_stack, nullptr, nullptr);
#endif
}

} // namespace emulator
