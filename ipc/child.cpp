// SPDX-License-Identifier: Apache-2.0
// What both systems share; starting, waiting and killing: child_posix.cpp, child_windows.cpp.
#include "ipc/child.h"

namespace ipc {

namespace {

constexpr std::chrono::milliseconds kAfterTheKill{2000}; ///< One in the kernel outlives it.

} // namespace

engine::ChildEnd Child::end(std::chrono::milliseconds patience) {
    if (is_over_) {
        return end_;
    }
    if (!hasEnded(patience)) {
        kill();
        static_cast<void>(hasEnded(kAfterTheKill));
        end_ = {};
        end_.kind = engine::ChildEnd::Kind::TimedOut;
    }
    is_over_ = true;
    return end_;
}

} // namespace ipc
