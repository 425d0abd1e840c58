// SPDX-License-Identifier: Apache-2.0
// A and B of base tensors that travel (adapter.place follow_base): room on the computing device
// into which they come from host memory or the adapter's file, as their base does. What streams
// takes one of two places in turn; what visits comes with its whole group and stays until another
// group comes. The room is of the largest that may come, active or not, so that strengths and
// switches allocate nothing; the planner counts it by the same rule.
#pragma once

#include "engine/base/result.h"
#include "engine/lora/adapter_site.h"
#include "engine/lora/placed_adapter.h"

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace engine {

struct ArrivalBytes {
    uint64_t half = 0;  ///< The largest tensor that streams, all adapters together.
    uint64_t visit = 0; ///< The largest group that visits, likewise.
    [[nodiscard]] uint64_t total() const { return 2 * half + visit; }
    bool operator==(const ArrivalBytes&) const = default;
};

using ArrivalRooms = std::map<kernels::Device*, ArrivalBytes>;

/// Adds up what may come.
class ArrivalCount {
public:
    /// One update of `tensor`; nothing unless it travels.
    void add(const AdapterHome& home, const std::string& tensor, uint64_t bytes);
    [[nodiscard]] ArrivalRooms rooms() const;

private:
    using Key = std::pair<kernels::Device*, std::string>;
    std::map<Key, uint64_t> streams_; ///< By tensor.
    std::map<Key, uint64_t> visits_;  ///< By group.
};

class Arrivals {
public:
    /// Makes room as wanted and gives back what is not. Errors: OutOfMemory; the former room is
    /// then there again, at the latest when something comes.
    Result<void> resize(const ArrivalRooms& wanted);
    /// Gives back rooms that `wanted` does not have so, for others to take the memory before
    /// resize(wanted). Nothing is lost: what comes without a room gets one.
    void release(const ArrivalRooms& wanted);
    /// What has come is no longer what is wanted, or its sites have moved.
    void forget();
    /// Brings the active updates of a site (and, for a visit, of its group among `all`), ordered
    /// with the device's queue; nothing when they are there. Errors: OutOfMemory, InvalidFile (the
    /// adapter's file changed), DeviceLost.
    Result<void> bring(AdapterSite& site, std::span<AdapterSite> all);
    [[nodiscard]] uint64_t bytesOn(const kernels::Device* device) const;

private:
    struct Room {
        ArrivalBytes bytes;
        DeviceBlock block; ///< Without device: to be allocated when something comes.
        std::array<const AdapterSite*, 2> held{};
        size_t next = 0;
        std::string group; ///< Visiting now; empty = none.
    };
    static Result<void> allocate(kernels::Device& device, Room& room);

    std::map<kernels::Device*, Room> rooms_;
};

} // namespace engine
