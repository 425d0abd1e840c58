// SPDX-License-Identifier: Apache-2.0
// The engine of this program in a process of its own, behind the same interface; the process lives
// and dies in engine_process.h. Plain questions are answered from what it told last, so that they
// never wait while a call runs. Docs of the methods: EngineClient.
#pragma once

#include "engine/client/engine_client.h"

#include <memory>

#include "ipc/engine_process.h"

namespace ipc {

class ProcessEngine final : public engine::EngineClient {
public:
    explicit ProcessEngine(ProcessOptions options)
        : process_(std::make_unique<EngineProcess>(std::move(options))) {}

    [[nodiscard]] const EngineProcess& process() const { return *process_; }

    [[nodiscard]] engine::Capabilities capabilities() const override;
    engine::Result<engine::ModelSummary> inspect(const std::string& model,
                                                 const std::vector<std::string>& adapters) override;
    engine::Result<void> load(const engine::LoadRequest& request,
                              const engine::ProgressCallback& progress,
                              const std::stop_token& stop) override;
    void unload() override;
    /// Also while a process that was started again is still loading.
    [[nodiscard]] bool isLoaded() const override { return process_->state().is_loaded; }
    [[nodiscard]] const engine::LoadRequest& loadedRequest() const override;
    [[nodiscard]] std::shared_ptr<const engine::ModelSummary> summary() const override;
    [[nodiscard]] double loadSeconds() const override { return process_->model().load_s; }
    [[nodiscard]] std::vector<engine::Sentence> loadNotes() const override;
    [[nodiscard]] std::pair<int64_t, int64_t> contextUse() const override;
    /// Tokens that come faster than a screen shows are told together.
    engine::Result<engine::Reply> generate(const engine::GenerateRequest& request,
                                           const engine::UpdateCallback& delta,
                                           const std::stop_token& stop) override;
    engine::Result<void> applyMap(const std::string& device_map,
                                  const engine::ProgressCallback& progress,
                                  const std::stop_token& stop) override;
    [[nodiscard]] std::shared_ptr<const engine::PlacementPlan> currentPlan() const override;
    [[nodiscard]] std::vector<engine::DeviceMemory> memory() const override;
    [[nodiscard]] std::vector<engine::DeviceMemory> machineMemory() const override;
    engine::Result<void> setAdapters(const std::vector<engine::AdapterChoice>& adapters,
                                     const std::stop_token& stop) override;
    engine::Result<engine::AdapterSummary::Effect>
    adapterEffect(const std::string& folder, const std::stop_token& stop) override;
    engine::Result<engine::LogitsResult> logits(const engine::GenerateRequest& request,
                                                int64_t rows,
                                                const std::stop_token& stop) override;
    engine::Result<void> encodeAhead(const engine::MessagePart& part,
                                     int64_t image_tokens,
                                     const std::stop_token& stop) override;
    engine::Result<void> checkMedia(const std::string& model,
                                    const std::vector<std::string>& images,
                                    const std::vector<std::string>& audios) const override;
    engine::Result<engine::MediaCost> mediaCost(const engine::MessagePart& part,
                                                int64_t image_tokens) override;

private:
    std::unique_ptr<EngineProcess> process_; ///< Also of questions that are const.
};

} // namespace ipc
