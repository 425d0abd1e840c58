// SPDX-License-Identifier: Apache-2.0
// How a load takes a card's memory from its driver: in one block for each part that people move (a
// tower, the table per layer, some layers), so that the part's memory goes back to the system with
// it. Where the card is nearly full all is one block, so that what is predicted is taken to within
// one granule. Private to the loader.
#pragma once

#include "engine/load/tensor_store_impl.h"

#include <cstdint>
#include <map>
#include <utility>

namespace engine {

class CardSegments {
public:
    /// `granularity`: what the cards round blocks up to. `impl` must outlive this.
    CardSegments(const TensorStore::Impl& impl, uint64_t granularity);
    /// Before the tensors of an entry are allocated.
    void reserveFor(const StoreEntry& entry);
    /// Behind all weights: for staging, keys and values, scratch and adapters.
    void reserveRest();

private:
    /// A card, and a group of tensors there.
    using Group = std::pair<DeviceId, int>;
    [[nodiscard]] Group groupOf(const StoreEntry& entry, DeviceId card) const;
    void reserve(Group group);

    const TensorStore::Impl& impl_;
    std::map<DeviceId, int> layers_together_; ///< By card; 0: everything is one block.
    std::map<Group, uint64_t> bytes_;
    std::map<Group, uint64_t> blocks_; ///< Reserved; of Device::reserve().
};

} // namespace engine
