// SPDX-License-Identifier: Apache-2.0
// The engine on a thread of its own, with the boundary that the window's worker has and without Qt:
// jobs go in through a queue, immutable snapshots come out, stop tokens go past both
// (app/engines/engine_worker.h).
#pragma once

#include "engine/api/snapshot.h"
#include "engine/run/engine.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace race {

class EngineSide {
public:
    using Job = std::function<void(engine::Engine& engine)>;

    explicit EngineSide(engine::EngineOptions options);
    /// Does what is queued, then ends.
    ~EngineSide();
    EngineSide(const EngineSide&) = delete;
    EngineSide& operator=(const EngineSide&) = delete;

    void post(Job job);
    /// Jobs that have not ended.
    [[nodiscard]] size_t waiting();
    void waitUntilIdle();

    /// What the engine was like lately; never null, never changed once it is out.
    [[nodiscard]] std::shared_ptr<const engine::EngineSnapshot> snapshot();
    /// From jobs and their callbacks, on the engine's thread.
    void publish(engine::Engine& engine, const engine::LoadProgressValue& progress);

    /// Something went wrong that must not; noted for the end.
    void fail(std::string what);
    [[nodiscard]] std::vector<std::string> failures();

private:
    void work(engine::EngineOptions options);

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Job> jobs_;
    size_t waiting_ = 0;
    bool is_ending_ = false;
    std::shared_ptr<const engine::EngineSnapshot> snapshot_;
    std::vector<std::string> failures_;
    uint64_t serial_ = 0; ///< The engine's thread only.
    std::thread thread_;  ///< Last: it uses all of the above.
};

} // namespace race
