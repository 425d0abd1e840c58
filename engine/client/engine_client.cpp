// SPDX-License-Identifier: Apache-2.0
#include "engine/client/engine_client.h"

namespace engine {

namespace {

Error cannot(Phrase what) {
    return {
        ErrorCode::Unsupported,
        said("the engine that runs this model cannot %1; load the model on this computer for that",
             what)};
}

} // namespace

Result<void> EngineClient::applyMap(const std::string& /*device_map*/,
                                    const ProgressCallback& /*progress*/,
                                    const std::stop_token& /*stop*/) {
    return cannot(phrase("move parts of it"));
}

std::shared_ptr<const PlacementPlan> EngineClient::currentPlan() const {
    return nullptr;
}

std::vector<DeviceMemory> EngineClient::memory() const {
    return {};
}

std::vector<DeviceMemory> EngineClient::machineMemory() const {
    return {};
}

Result<void> EngineClient::setAdapters(const std::vector<AdapterChoice>& adapters,
                                       const std::stop_token& /*stop*/) {
    if (adapters.empty()) {
        return {};
    }
    return cannot(phrase("take adapters"));
}

Result<AdapterSummary::Effect> EngineClient::adapterEffect(const std::string& /*folder*/,
                                                           const std::stop_token& /*stop*/) {
    return cannot(phrase("take adapters"));
}

Result<LogitsResult> EngineClient::logits(const GenerateRequest& /*request*/,
                                          int64_t /*rows*/,
                                          const std::stop_token& /*stop*/) {
    return cannot(phrase("give raw logits"));
}

Result<void> EngineClient::encodeAhead(const MessagePart& /*part*/,
                                       int64_t /*image_tokens*/,
                                       const std::stop_token& /*stop*/) {
    return {}; // only a head start: the reply encodes what is missing
}

Result<void> EngineClient::checkMedia(const std::string& /*model*/,
                                      const std::vector<std::string>& images,
                                      const std::vector<std::string>& audios) const {
    if (images.empty() && audios.empty()) {
        return {};
    }
    return cannot(phrase("take pictures and sounds"));
}

Result<MediaCost> EngineClient::mediaCost(const MessagePart& /*part*/, int64_t /*image_tokens*/) {
    return cannot(phrase("take pictures and sounds"));
}

} // namespace engine
