// SPDX-License-Identifier: Apache-2.0
#include "ipc/process_engine.h"

#include <utility>

#include "ipc/engine_calls.h"

namespace ipc {

using engine::Result;

engine::Capabilities ProcessEngine::capabilities() const {
    return process_->state().capabilities;
}

Result<engine::ModelSummary> ProcessEngine::inspect(const std::string& model,
                                                    const std::vector<std::string>& adapters) {
    return process_->ask(Inspect{model, adapters});
}

Result<void> ProcessEngine::load(const engine::LoadRequest& request,
                                 const engine::ProgressCallback& progress,
                                 const std::stop_token& stop) {
    return process_->order(Load{request}, stop, {&progress, nullptr});
}

void ProcessEngine::unload() {
    process_->unload();
}

const engine::LoadRequest& ProcessEngine::loadedRequest() const {
    return process_->model().request;
}

std::shared_ptr<const engine::ModelSummary> ProcessEngine::summary() const {
    return process_->summary();
}

std::vector<engine::Sentence> ProcessEngine::loadNotes() const {
    return process_->model().notes;
}

std::pair<int64_t, int64_t> ProcessEngine::contextUse() const {
    return {process_->state().context_used, process_->state().context_size};
}

Result<engine::Reply> ProcessEngine::generate(const engine::GenerateRequest& request,
                                              const engine::UpdateCallback& delta,
                                              const std::stop_token& stop) {
    return process_->ask(Generate{request}, stop, {nullptr, &delta});
}

Result<void> ProcessEngine::applyMap(const std::string& device_map,
                                     const engine::ProgressCallback& progress,
                                     const std::stop_token& stop) {
    return process_->order(ApplyMap{device_map}, stop, {&progress, nullptr});
}

std::shared_ptr<const engine::PlacementPlan> ProcessEngine::currentPlan() const {
    return process_->plan();
}

std::vector<engine::DeviceMemory> ProcessEngine::memory() const {
    process_->refresh();
    return process_->state().memory;
}

std::vector<engine::DeviceMemory> ProcessEngine::machineMemory() const {
    process_->refresh();
    return process_->machine();
}

Result<void> ProcessEngine::setAdapters(const std::vector<engine::AdapterChoice>& adapters,
                                        const std::stop_token& stop) {
    return process_->order(SetAdapters{adapters}, stop);
}

Result<engine::AdapterSummary::Effect> ProcessEngine::adapterEffect(const std::string& folder,
                                                                    const std::stop_token& stop) {
    return process_->ask(AdapterEffect{folder}, stop);
}

Result<engine::LogitsResult> ProcessEngine::logits(const engine::GenerateRequest& request,
                                                   int64_t rows,
                                                   const std::stop_token& stop) {
    return process_->ask(Logits{request, rows}, stop);
}

Result<void> ProcessEngine::encodeAhead(const engine::MessagePart& part,
                                        int64_t image_tokens,
                                        const std::stop_token& stop) {
    return process_->order(EncodeAhead{part, image_tokens}, stop);
}

Result<void> ProcessEngine::checkMedia(const std::string& model,
                                       const std::vector<std::string>& images,
                                       const std::vector<std::string>& audios) const {
    return process_->order(CheckMedia{model, images, audios});
}

Result<engine::MediaCost> ProcessEngine::mediaCost(const engine::MessagePart& part,
                                                   int64_t image_tokens) {
    return process_->ask(MediaCost{part, image_tokens});
}

} // namespace ipc
