// SPDX-License-Identifier: Apache-2.0
// Fiber-local storage, which for threads without fibers is thread-local storage with a function
// that is called for each value when its thread ends.
#include "kernels/cpu/thread_owned.h"

#if defined(_WIN32)

#include <windows.h>

#include <new>

namespace kernels::cpu {

namespace {

struct Owned {
    void (*destroy)(void* object);
    void* object;
    Owned* next;
};

void WINAPI destroyAll(void* first) {
    for (auto* owned = static_cast<Owned*>(first); owned != nullptr;) {
        Owned* const next = owned->next;
        owned->destroy(owned->object);
        delete owned;
        owned = next;
    }
}

} // namespace

void atThreadEnd(void (*destroy)(void* object), void* object) {
    static const DWORD place = FlsAlloc(destroyAll);
    if (place == FLS_OUT_OF_INDEXES) {
        return;
    }
    auto* const first = static_cast<Owned*>(FlsGetValue(place));
    auto* const owned = new (std::nothrow) Owned{destroy, object, first};
    if (owned != nullptr && FlsSetValue(place, owned) == 0) {
        delete owned;
    }
}

} // namespace kernels::cpu

#endif
