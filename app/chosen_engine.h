// SPDX-License-Identifier: Apache-2.0
// One of two engines, chosen when it is first needed: whether there is a graphics card is known a
// while after the window is shown.
#pragma once

#include "engine/client/engine_client.h"

#include <functional>
#include <memory>
#include <optional>

namespace app {

class ChosenEngine final : public engine::EngineClient {
public:
    /// Which it is; with `waits` always an answer.
    using Choice = std::function<std::optional<bool>(bool waits)>;
    /// `here` answers plain questions, and those about files, until it is known; `choose` says
    /// whether it is `there` then.
    ChosenEngine(std::unique_ptr<engine::EngineClient> here,
                 std::unique_ptr<engine::EngineClient> there,
                 Choice choose);

    [[nodiscard]] engine::Capabilities capabilities() const override;
    engine::Result<engine::ModelSummary> inspect(const std::string& model,
                                                 const std::vector<std::string>& adapters) override;
    engine::Result<void> load(const engine::LoadRequest& request,
                              const engine::ProgressCallback& progress,
                              const std::stop_token& stop) override;
    void unload() override;
    [[nodiscard]] bool isLoaded() const override { return known().isLoaded(); }
    [[nodiscard]] const engine::LoadRequest& loadedRequest() const override;
    [[nodiscard]] std::shared_ptr<const engine::ModelSummary> summary() const override;
    [[nodiscard]] double loadSeconds() const override { return known().loadSeconds(); }
    [[nodiscard]] std::vector<engine::LoadNote> loadNotes() const override;
    [[nodiscard]] std::pair<int64_t, int64_t> contextUse() const override;
    engine::Result<engine::Reply> generate(const engine::GenerateRequest& request,
                                           const engine::UpdateCallback& delta,
                                           const std::stop_token& stop) override;
    [[nodiscard]] std::string modelFolder(const std::string& model) const override;
    [[nodiscard]] std::string adapterFolder(const std::string& adapter) const override;
    engine::Result<engine::PlacementPlan>
    plan(const engine::LoadRequest& request,
         const std::map<engine::DeviceId, uint64_t>& held) override;
    engine::Result<engine::MapExport> exportMap(const engine::LoadRequest& request,
                                                engine::MapExport::Kind kind) override;
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
    engine::Result<engine::Tokenized> tokenize(const std::string& model,
                                               std::string_view text) override;
    engine::Result<void> encodeAhead(const engine::MessagePart& part,
                                     int64_t image_tokens,
                                     const std::stop_token& stop) override;
    engine::Result<void> checkMedia(const std::string& model,
                                    const std::vector<std::string>& images,
                                    const std::vector<std::string>& audios) const override;
    engine::Result<engine::MediaCost> mediaCost(const engine::MessagePart& part,
                                                int64_t image_tokens) override;

private:
    /// For plain questions and those about a model's files, for which a driver that is slow to
    /// answer keeps nobody waiting.
    [[nodiscard]] engine::EngineClient& known() const;
    /// For all others.
    [[nodiscard]] engine::EngineClient& chosen() const;

    std::unique_ptr<engine::EngineClient> here_, there_;
    Choice choose_;
    mutable std::optional<bool> is_there_;
};

} // namespace app
