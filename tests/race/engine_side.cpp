// SPDX-License-Identifier: Apache-2.0
#include "tests/race/engine_side.h"

#include <utility>

namespace race {

EngineSide::EngineSide(engine::EngineOptions options)
    : snapshot_(std::make_shared<engine::EngineSnapshot>()) {
    thread_ = std::thread([this, options = std::move(options)] { work(options); });
}

EngineSide::~EngineSide() {
    {
        const std::lock_guard lock(mutex_);
        is_ending_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

void EngineSide::post(Job job) {
    {
        const std::lock_guard lock(mutex_);
        jobs_.push_back(std::move(job));
        ++waiting_;
    }
    changed_.notify_all();
}

size_t EngineSide::waiting() {
    const std::lock_guard lock(mutex_);
    return waiting_;
}

void EngineSide::waitUntilIdle() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return waiting_ == 0; });
}

std::shared_ptr<const engine::EngineSnapshot> EngineSide::snapshot() {
    const std::lock_guard lock(mutex_);
    return snapshot_;
}

void EngineSide::publish(engine::Engine& engine, const engine::LoadProgressValue& progress) {
    auto next = std::make_shared<engine::EngineSnapshot>();
    next->serial = ++serial_;
    next->model = engine.summary();
    next->plan = engine.currentPlan();
    next->memory = engine.memory();
    next->adapters = engine.loadedRequest().adapters;
    next->stage = progress.stage;
    next->tensor = progress.tensor;
    next->bytes_done = progress.bytes_done;
    next->bytes_total = progress.bytes_total;
    const auto [used, size] = engine.contextUse();
    next->context_used = used;
    next->context_size = size;
    const std::lock_guard lock(mutex_);
    snapshot_ = std::move(next);
}

void EngineSide::fail(std::string what) {
    const std::lock_guard lock(mutex_);
    failures_.push_back(std::move(what));
}

std::vector<std::string> EngineSide::failures() {
    const std::lock_guard lock(mutex_);
    return failures_;
}

void EngineSide::work(engine::EngineOptions options) {
    engine::Engine* engine_of_steps = nullptr;
    options.on_step = [this, &engine_of_steps] { publish(*engine_of_steps, {}); };
    engine::Engine engine(std::move(options));
    engine_of_steps = &engine;
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [this] { return is_ending_ || !jobs_.empty(); });
        if (jobs_.empty()) {
            return;
        }
        Job job = std::move(jobs_.front());
        jobs_.pop_front();
        lock.unlock();
        job(engine);
        job = nullptr;
        publish(engine, {});
        lock.lock();
        --waiting_;
        changed_.notify_all();
    }
}

} // namespace race
