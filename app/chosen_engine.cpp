// SPDX-License-Identifier: Apache-2.0
#include "app/chosen_engine.h"

#include <utility>

namespace app {

using engine::Result;

ChosenEngine::ChosenEngine(std::unique_ptr<engine::EngineClient> here,
                           std::unique_ptr<engine::EngineClient> there,
                           Choice choose)
    : here_(std::move(here)), there_(std::move(there)), choose_(std::move(choose)) {}

engine::EngineClient& ChosenEngine::known() const {
    if (!is_there_.has_value()) {
        is_there_ = choose_(false);
    }
    return is_there_.value_or(false) ? *there_ : *here_;
}

engine::EngineClient& ChosenEngine::chosen() const {
    if (!is_there_.has_value()) {
        is_there_ = choose_(true);
    }
    return known();
}

engine::Capabilities ChosenEngine::capabilities() const {
    return known().capabilities();
}

Result<engine::ModelSummary> ChosenEngine::inspect(const std::string& model,
                                                   const std::vector<std::string>& adapters) {
    return known().inspect(model, adapters);
}

Result<void> ChosenEngine::load(const engine::LoadRequest& request,
                                const engine::ProgressCallback& progress,
                                const std::stop_token& stop) {
    return chosen().load(request, progress, stop);
}

void ChosenEngine::unload() {
    known().unload();
}

const engine::LoadRequest& ChosenEngine::loadedRequest() const {
    return known().loadedRequest();
}

std::shared_ptr<const engine::ModelSummary> ChosenEngine::summary() const {
    return known().summary();
}

std::vector<engine::LoadNote> ChosenEngine::loadNotes() const {
    return known().loadNotes();
}

std::pair<int64_t, int64_t> ChosenEngine::contextUse() const {
    return known().contextUse();
}

Result<engine::Reply> ChosenEngine::generate(const engine::GenerateRequest& request,
                                             const engine::UpdateCallback& delta,
                                             const std::stop_token& stop) {
    return chosen().generate(request, delta, stop);
}

std::string ChosenEngine::modelFolder(const std::string& model) const {
    return known().modelFolder(model);
}

std::string ChosenEngine::adapterFolder(const std::string& adapter) const {
    return known().adapterFolder(adapter);
}

Result<engine::PlacementPlan> ChosenEngine::plan(const engine::LoadRequest& request,
                                                 const std::map<engine::DeviceId, uint64_t>& held) {
    return chosen().plan(request, held);
}

Result<engine::MapExport> ChosenEngine::exportMap(const engine::LoadRequest& request,
                                                  engine::MapExport::Kind kind) {
    return chosen().exportMap(request, kind);
}

Result<void> ChosenEngine::applyMap(const std::string& device_map,
                                    const engine::ProgressCallback& progress,
                                    const std::stop_token& stop) {
    return chosen().applyMap(device_map, progress, stop);
}

std::shared_ptr<const engine::PlacementPlan> ChosenEngine::currentPlan() const {
    return known().currentPlan();
}

std::vector<engine::DeviceMemory> ChosenEngine::memory() const {
    return known().memory();
}

std::vector<engine::DeviceMemory> ChosenEngine::machineMemory() const {
    return known().machineMemory();
}

Result<void> ChosenEngine::setAdapters(const std::vector<engine::AdapterChoice>& adapters,
                                       const std::stop_token& stop) {
    return chosen().setAdapters(adapters, stop);
}

Result<engine::AdapterSummary::Effect> ChosenEngine::adapterEffect(const std::string& folder,
                                                                   const std::stop_token& stop) {
    return chosen().adapterEffect(folder, stop);
}

Result<engine::LogitsResult> ChosenEngine::logits(const engine::GenerateRequest& request,
                                                  int64_t rows,
                                                  const std::stop_token& stop) {
    return chosen().logits(request, rows, stop);
}

Result<engine::Tokenized> ChosenEngine::tokenize(const std::string& model, std::string_view text) {
    return known().tokenize(model, text);
}

Result<void> ChosenEngine::encodeAhead(const engine::MessagePart& part,
                                       int64_t image_tokens,
                                       const std::stop_token& stop) {
    return chosen().encodeAhead(part, image_tokens, stop);
}

Result<void> ChosenEngine::checkMedia(const std::string& model,
                                      const std::vector<std::string>& images,
                                      const std::vector<std::string>& audios) const {
    return chosen().checkMedia(model, images, audios);
}

Result<engine::MediaCost> ChosenEngine::mediaCost(const engine::MessagePart& part,
                                                  int64_t image_tokens) {
    return chosen().mediaCost(part, image_tokens);
}

} // namespace app
