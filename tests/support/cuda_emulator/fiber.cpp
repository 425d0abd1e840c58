// SPDX-License-Identifier: Apache-2.0
#include "tests/support/cuda_emulator/fiber.h"

#include "tests/support/pages.h"

#include <cstdint>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#include <pthread.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#if defined(__x86_64__) && defined(_WIN32)
// The same by Windows' calling convention, which has more that a function must preserve; and what
// the system believes of the thread's stack (its end, the lowest page in use, its beginning), as it
// hands no exception to code whose stack lies elsewhere.
asm(R"(
.text
.globl belfryEmulatorSwitch
belfryEmulatorSwitch:
    pushq %rbp
    pushq %rbx
    pushq %rdi
    pushq %rsi
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    pushq %gs:0x8
    pushq %gs:0x10
    pushq %gs:0x1478
    subq $160, %rsp
    movups %xmm6, (%rsp)
    movups %xmm7, 16(%rsp)
    movups %xmm8, 32(%rsp)
    movups %xmm9, 48(%rsp)
    movups %xmm10, 64(%rsp)
    movups %xmm11, 80(%rsp)
    movups %xmm12, 96(%rsp)
    movups %xmm13, 112(%rsp)
    movups %xmm14, 128(%rsp)
    movups %xmm15, 144(%rsp)
    movq %rsp, (%rcx)
    movq %rdx, %rsp
    movups (%rsp), %xmm6
    movups 16(%rsp), %xmm7
    movups 32(%rsp), %xmm8
    movups 48(%rsp), %xmm9
    movups 64(%rsp), %xmm10
    movups 80(%rsp), %xmm11
    movups 96(%rsp), %xmm12
    movups 112(%rsp), %xmm13
    movups 128(%rsp), %xmm14
    movups 144(%rsp), %xmm15
    addq $160, %rsp
    popq %gs:0x1478
    popq %gs:0x10
    popq %gs:0x8
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rsi
    popq %rdi
    popq %rbx
    popq %rbp
    ret
)");
#elif defined(__x86_64__)
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
#endif
#if defined(__x86_64__)
extern "C" void belfryEmulatorSwitch(void** save, void* load);
#endif

namespace emulator {

namespace {

constexpr size_t kStacksAtOnce = 256;
/// Where a stack begins below its end: were it the same for all, what a switch touches of thousands
/// of stacks would share the few lines of a cache that one address of a page may lie in.
constexpr size_t kPageOfColours = 4096;
constexpr size_t kColourStep = 576; ///< Whole lines; 64 different ones.
/// A process may have about 65000 mappings, and a guarded stack takes two.
constexpr size_t kGuardedStacks = 16384;
std::vector<void*> free_stacks;
size_t guarded_stacks = 0;

/// The end of a fiber's stack, aligned to lines.
char* topOf(const Fiber& fiber) {
    auto* const bottom = static_cast<char*>(fiber.stack);
    const size_t number = reinterpret_cast<uintptr_t>(bottom) / kStackBytes;
    return bottom + kStackBytes - number * kColourStep % kPageOfColours;
}

} // namespace

void* takeStack() {
    if (free_stacks.empty()) {
        const size_t page = support::pageBytes();
        const size_t step = kStackBytes + page;
        void* const memory = support::takePages(step * kStacksAtOnce);
        for (size_t i = 0; i < kStacksAtOnce; ++i) {
            char* const at = static_cast<char*>(memory) + (kStacksAtOnce - 1 - i) * step;
            if (guarded_stacks < kGuardedStacks) {
                support::forbidPages(at, page);
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
#if defined(__x86_64__) && defined(_WIN32)
    // As if the fiber had called the switch: below the address to return to what it saves. Above
    // that are an address for `entry` to return to and the four words that every function may
    // write.
    char* const bottom = static_cast<char*>(fiber.stack);
    auto* const slot = reinterpret_cast<uint64_t*>(topOf(fiber)) - 6;
    slot[1] = 0;
    slot[0] = reinterpret_cast<uint64_t>(entry);
    for (int i = 1; i <= 8; ++i) {
        slot[-i] = 0;
    }
    slot[-9] = reinterpret_cast<uint64_t>(bottom + kStackBytes);
    slot[-10] = reinterpret_cast<uint64_t>(bottom);
    slot[-11] = reinterpret_cast<uint64_t>(bottom - support::pageBytes());
    for (int i = 12; i <= 31; ++i) {
        slot[-i] = 0;
    }
    fiber.pointer = slot - 31;
#elif defined(__x86_64__)
    // As if the fiber had called the switch: six saved registers below the address to return to,
    // and that slot aligned so that `entry` finds the stack as after a call.
    auto* const slot = reinterpret_cast<uint64_t*>(topOf(fiber)) - 2;
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

/// The stack of the host's thread itself. Asked once: the answer for a program's first thread is
/// read from the list of its mappings, which took longer than all that the emulated threads
/// computed.
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
