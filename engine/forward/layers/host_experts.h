// SPDX-License-Identifier: Apache-2.0
// Routed experts of one token that the host computes between two steps of a card: the choice and
// the input come, and the sum goes, through page-locked memory that both read and write, so that no
// copy stands between them and the host does not wait for what the card has enqueued behind.
#pragma once

#include "engine/forward/bound_model.h"

#include <cstddef>
#include <memory>

namespace engine {

class HostExperts {
public:
    /// The layer's experts lie and compute by themselves in the host's memory, and the layer's card
    /// can leave them to it. Updates of experts are for single functions.
    [[nodiscard]] static bool serves(const BoundModel& model, const DecoderLayer& layer);

    /// Room for one token of layers on `home`. False: there is none that both sides reach.
    bool open(const BoundModel& model, DeviceScratch& home);

    /// Puts its places, as the card's kernels reach them, into the arguments of a step.
    void put(kernels::ExpertsStepArgs& args) const;
    /// Before a step with them is enqueued or replayed.
    void expect();
    /// Waits for what the card has to say, and leaves the sum where it will look. Errors:
    /// DeviceLost, OutOfMemory.
    Result<void> compute(const DecoderLayer& layer);

private:
    [[nodiscard]] bool isReady() const;
    Result<void> waitForCard(const std::string& name);

    const BoundModel* model_ = nullptr;
    DeviceScratch* home_ = nullptr;
    std::shared_ptr<std::byte> memory_; ///< chosen, then h [hidden], then the sum [hidden].
    std::byte* there_ = nullptr;        ///< The same for kernels of the card.
    size_t input_at_ = 0, sum_at_ = 0;  ///< In bytes.
};

} // namespace engine
