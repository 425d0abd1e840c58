// SPDX-License-Identifier: Apache-2.0
// Copies of routed experts on the card that computes their layers, where the experts themselves
// are the host's: those that were asked for most. The card multiplies with these while the host
// does with the others (host_experts.h), so that what is copied changes speed and no choice.
#pragma once

#include "engine/forward/bound_model.h"
#include "engine/forward/memory/expert_counts.h"

#include <cstddef>
#include <memory>
#include <span>
#include <stop_token>
#include <vector>

namespace engine {

class HotExperts {
public:
    /// The plan has room for copies there (MemoryPart::Experts).
    [[nodiscard]] static bool hasRoom(const PlacementPlan& plan, const DeviceScratch& home);
    /// Takes the room that the plan has on `home`, for layers whose
    /// experts lie and compute in the host's memory. Where the card has it no more, there
    /// are no copies. Errors: DeviceLost.
    static Result<std::shared_ptr<HotExperts>> create(const BoundModel& model, DeviceScratch& home);
    ~HotExperts();
    HotExperts(const HotExperts&) = delete;
    HotExperts& operator=(const HotExperts&) = delete;

    /// Copies of this layer's experts can be here.
    [[nodiscard]] bool has(int layer) const { return bankOf(layer) != nullptr; }
    [[nodiscard]] bool isHere(int layer, int32_t expert) const {
        return has(layer) && place_of_[index(layer, expert)] >= 0;
    }
    /// The arguments of OpTable::placed_experts that say what lies here.
    void put(int layer, kernels::ExpertsStepArgs& args) const;

    /// Brings those asked for most, at most `most_bytes` of them, until a stop is requested.
    /// Nothing of the card may be under way. Errors: DeviceLost; what is here must not be used
    /// then.
    Result<void> follow(const ExpertCounts& counts, size_t most_bytes, const std::stop_token& stop);
    /// What these copies are worth.
    [[nodiscard]] ExpertCacheState state(const ExpertCounts& counts) const;

private:
    /// Layers whose experts have weights of one kind share places.
    struct Bank {
        kernels::WeightView gate_up, down; ///< [places * 2 * inner, hidden], [places * hidden, ..]
        std::vector<int> layers;
        std::vector<int32_t> holds; ///< layer * experts + expert of each place; -1: nothing.
        size_t expert_bytes = 0;
    };
    HotExperts(const BoundModel& model, DeviceScratch& home) : model_(&model), home_(&home) {}

    Result<void> open(uint64_t bytes);
    void findBanks();
    void divide(uint64_t bytes, size_t at);
    [[nodiscard]] const Bank* bankOf(int layer) const;
    [[nodiscard]] size_t index(int layer, int32_t expert) const {
        return static_cast<size_t>(layer * model_->config.text.num_experts + expert);
    }
    Result<void> followIn(Bank& bank,
                          const ExpertCounts& counts,
                          size_t& most_bytes,
                          const std::stop_token& stop);
    Result<void> bring(const Bank& bank, int32_t what, size_t place);

    const BoundModel* model_;
    DeviceScratch* home_;
    std::byte* memory_ = nullptr; ///< place_of of all layers, then the banks.
    std::vector<Bank> banks_;
    std::vector<int32_t> place_of_; ///< [layers, experts], as it lies on the card.
};

} // namespace engine
