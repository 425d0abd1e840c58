// SPDX-License-Identifier: Apache-2.0
#include "app/routed_engine.h"

#include "engine/api/model_address.h"

#include <utility>

namespace app {

using engine::Result;

RoutedEngine::RoutedEngine(std::unique_ptr<engine::EngineClient> here,
                           std::unique_ptr<engine::EngineClient> there)
    : here_(std::move(here)), there_(std::move(there)) {}

engine::EngineClient& RoutedEngine::of(const std::string& model) const {
    return engine::isServerModel(model) ? *there_ : *here_;
}

engine::Capabilities RoutedEngine::capabilities() const {
    return active().capabilities();
}

Result<engine::ModelSummary> RoutedEngine::inspect(const std::string& model,
                                                   const std::vector<std::string>& adapters) {
    return of(model).inspect(model, adapters);
}

Result<void> RoutedEngine::load(const engine::LoadRequest& request,
                                const engine::ProgressCallback& progress,
                                const std::stop_token& stop) {
    const bool is_there = engine::isServerModel(request.model);
    ENGINE_TRY((is_there ? *there_ : *here_).load(request, progress, stop));
    if (!is_there) {
        there_->unload();
    }
    is_there_ = is_there;
    is_asking_there_ = false;
    return {};
}

void RoutedEngine::unload() {
    there_->unload();
    here_->unload();
    is_there_ = false;
}

const engine::LoadRequest& RoutedEngine::loadedRequest() const {
    return active().loadedRequest();
}

std::shared_ptr<const engine::ModelSummary> RoutedEngine::summary() const {
    return active().summary();
}

std::vector<engine::LoadNote> RoutedEngine::loadNotes() const {
    return active().loadNotes();
}

std::pair<int64_t, int64_t> RoutedEngine::contextUse() const {
    return active().contextUse();
}

Result<engine::Reply> RoutedEngine::generate(const engine::GenerateRequest& request,
                                             const engine::UpdateCallback& delta,
                                             const std::stop_token& stop) {
    return (is_asking_there_ ? *there_ : active()).generate(request, delta, stop);
}

std::string RoutedEngine::modelFolder(const std::string& model) const {
    return of(model).modelFolder(model);
}

std::string RoutedEngine::adapterFolder(const std::string& adapter) const {
    return here_->adapterFolder(adapter);
}

Result<engine::PlacementPlan> RoutedEngine::plan(const engine::LoadRequest& request,
                                                 const std::map<engine::DeviceId, uint64_t>& held) {
    return of(request.model).plan(request, held);
}

Result<engine::MapExport> RoutedEngine::exportMap(const engine::LoadRequest& request,
                                                  engine::MapExport::Kind kind) {
    return of(request.model).exportMap(request, kind);
}

Result<void> RoutedEngine::applyMap(const std::string& device_map,
                                    const engine::ProgressCallback& progress,
                                    const std::stop_token& stop) {
    return active().applyMap(device_map, progress, stop);
}

std::shared_ptr<const engine::PlacementPlan> RoutedEngine::currentPlan() const {
    return active().currentPlan();
}

std::vector<engine::DeviceMemory> RoutedEngine::memory() const {
    return active().memory();
}

std::vector<engine::DeviceMemory> RoutedEngine::machineMemory() const {
    return active().machineMemory();
}

Result<void> RoutedEngine::setAdapters(const std::vector<engine::AdapterChoice>& adapters,
                                       const std::stop_token& stop) {
    is_asking_there_ = false;
    if (is_there_) {
        return there_->setAdapters(adapters, stop);
    }
    std::vector<engine::AdapterChoice> own;
    std::string server;
    for (const engine::AdapterChoice& adapter : adapters) {
        if (!engine::isServerModel(adapter.folder)) {
            own.push_back(adapter);
        } else if (adapter.is_enabled) {
            server = adapter.folder;
        }
    }
    if (server.empty()) {
        return here_->setAdapters(own, stop);
    }
    if (!there_->isLoaded() || there_->loadedRequest().model != server) {
        engine::LoadRequest request;
        request.model = server;
        ENGINE_TRY(there_->load(request, {}, stop));
    }
    is_asking_there_ = true;
    return {};
}

Result<engine::AdapterSummary::Effect> RoutedEngine::adapterEffect(const std::string& folder,
                                                                   const std::stop_token& stop) {
    return active().adapterEffect(folder, stop);
}

Result<engine::LogitsResult> RoutedEngine::logits(const engine::GenerateRequest& request,
                                                  int64_t rows,
                                                  const std::stop_token& stop) {
    return active().logits(request, rows, stop);
}

Result<engine::Tokenized> RoutedEngine::tokenize(const std::string& model, std::string_view text) {
    return of(model).tokenize(model, text);
}

Result<void> RoutedEngine::encodeAhead(const engine::MessagePart& part,
                                       int64_t image_tokens,
                                       const std::stop_token& stop) {
    return active().encodeAhead(part, image_tokens, stop);
}

Result<void> RoutedEngine::checkMedia(const std::string& model,
                                      const std::vector<std::string>& images,
                                      const std::vector<std::string>& audios) const {
    return of(model).checkMedia(model, images, audios);
}

Result<engine::MediaCost> RoutedEngine::mediaCost(const engine::MessagePart& part,
                                                  int64_t image_tokens) {
    return active().mediaCost(part, image_tokens);
}

} // namespace app
