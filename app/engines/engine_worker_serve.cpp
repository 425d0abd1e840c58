// SPDX-License-Identifier: Apache-2.0
// Requests of other programs on the engine's thread.
#include "app/engines/engine_worker.h"
#include "app/serve/job.h"
#include "app/serve/service.h"

#include <chrono>

namespace app {

void EngineWorker::answerNext(const std::shared_ptr<serve::Service>& service) {
    const auto job = service->take(std::chrono::milliseconds(0));
    if (job == nullptr) {
        return;
    }
    publish(engine::EngineSnapshot::State::Generating);
    service->run(engine_.answering(), *job);
    publishAtRest();
}

} // namespace app
