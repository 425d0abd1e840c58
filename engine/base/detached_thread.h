// SPDX-License-Identifier: Apache-2.0
// A thread that nobody waits for.
#pragma once

#include <functional>

namespace engine {

/// Runs `work`, which must not throw, in a thread of its own that belongs to nobody from its start.
/// Throws std::system_error where there is no thread to be had. Instead of std::thread::detach():
/// winpthreads (mingw-w64) puts a thread that ends while it is being detached back among the free
/// ones twice, and the next two threads share one descriptor and crash.
void runDetached(std::function<void()> work);

} // namespace engine
