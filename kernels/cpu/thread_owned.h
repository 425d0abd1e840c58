// SPDX-License-Identifier: Apache-2.0
// An object that belongs to one thread, made at its first use there and destroyed when the thread
// ends. Elsewhere than on Windows it is what thread_local is. Compilers for Windows that keep
// thread_local objects in memory of their own run time (mingw-w64's g++ 12) free that memory before
// the objects' destructors run, so that a worker thread with a buffer would crash at its end: there
// the system itself calls us when a thread ends. thread_local values without a destructor are safe.
#pragma once

namespace kernels::cpu {

#if defined(_WIN32)
/// Calls destroy(object) when the calling thread ends, the last one first. An object that the
/// system cannot remember lives until the program ends.
void atThreadEnd(void (*destroy)(void* object), void* object);
#endif

/// The calling thread's T of this `Use`, a type that is there to tell objects of one kind apart.
template <typename T, typename Use>
T& threadOwned() {
#if defined(_WIN32)
    thread_local T* own = nullptr;
    if (own == nullptr) {
        own = new T();
        atThreadEnd([](void* object) { delete static_cast<T*>(object); }, own);
    }
    return *own;
#else
    thread_local T own;
    return own;
#endif
}

} // namespace kernels::cpu
