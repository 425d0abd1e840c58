// SPDX-License-Identifier: Apache-2.0
#include "engine/base/detached_thread.h"

#include <memory>
#include <system_error>
#include <utility>

#ifdef _WIN32
#include <pthread.h>
#else
#include <thread>
#endif

namespace engine {

#ifdef _WIN32

namespace {

void* run(void* work) {
    const std::unique_ptr<std::function<void()>> own(static_cast<std::function<void()>*>(work));
    (*own)();
    return nullptr;
}

} // namespace

void runDetached(std::function<void()> work) {
    auto own = std::make_unique<std::function<void()>>(std::move(work));
    pthread_attr_t detached;
    int failure = pthread_attr_init(&detached);
    if (failure == 0) {
        pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
        pthread_t thread{};
        failure = pthread_create(&thread, &detached, run, own.get());
        pthread_attr_destroy(&detached);
    }
    if (failure != 0) {
        throw std::system_error(failure, std::generic_category());
    }
    (void)own.release(); // the thread's
}

#else

void runDetached(std::function<void()> work) {
    std::thread(std::move(work)).detach();
}

#endif

} // namespace engine
