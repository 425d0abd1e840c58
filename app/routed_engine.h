// SPDX-License-Identifier: Apache-2.0
// The engine of this program and one on a server behind one interface: a model's name decides which
// of them is asked (engine/api/model_address.h). Both can be loaded at a time: the one that was
// loaded last answers, and a model of this computer stays where it is while a server answers.
#pragma once

#include "engine/client/engine_client.h"

#include <memory>

namespace app {

class RoutedEngine final : public engine::EngineClient {
public:
    RoutedEngine(std::unique_ptr<engine::EngineClient> here,
                 std::unique_ptr<engine::EngineClient> there);

    [[nodiscard]] engine::Capabilities capabilities() const override;
    engine::Result<engine::ModelSummary> inspect(const std::string& model,
                                                 const std::vector<std::string>& adapters) override;
    engine::Result<void> load(const engine::LoadRequest& request,
                              const engine::ProgressCallback& progress,
                              const std::stop_token& stop) override;
    /// Both.
    void unload() override;
    [[nodiscard]] bool isLoaded() const override { return active().isLoaded(); }
    [[nodiscard]] const engine::LoadRequest& loadedRequest() const override;
    [[nodiscard]] std::shared_ptr<const engine::ModelSummary> summary() const override;
    [[nodiscard]] double loadSeconds() const override { return active().loadSeconds(); }
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
    /// An adapter whose name is that of a model on a server stands for that model: while it is on,
    /// it answers in place of the base and its adapters. So a comparison has a column that another
    /// computer answers.
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
    [[nodiscard]] engine::EngineClient& active() const { return is_there_ ? *there_ : *here_; }
    [[nodiscard]] engine::EngineClient& of(const std::string& model) const;

    std::unique_ptr<engine::EngineClient> here_, there_;
    bool is_there_ = false;
    bool is_asking_there_ = false; ///< setAdapters() chose a server's model.
};

} // namespace app
