// SPDX-License-Identifier: Apache-2.0
#include "engine/devices/spill_watch.h"

#include <algorithm>

namespace engine {

namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

/// Drivers keep small things in main memory, which come and go.
uint64_t noise(uint64_t budget) {
    return std::clamp(budget / 256, kMiB, 64 * kMiB);
}

uint64_t less(uint64_t from, uint64_t bytes) {
    return from - std::min(from, bytes);
}

} // namespace

MemoryBudget SpillWatch::look(const VideoMemory& now, uint64_t page_locked) {
    MemoryBudget out;
    out.used = now.local_used;
    out.budget = now.local_budget;
    const uint64_t shared = less(now.shared_used, page_locked);
    const uint64_t room = now.local_budget / kNearShare;
    if (now.local_budget == 0 || now.local_used + room <= now.local_budget) {
        usual_ = shared;
        return out;
    }
    usual_ = std::min(usual_.value_or(shared), shared);
    const uint64_t moved = shared - *usual_;
    out.state = MemoryBudget::State::Near;
    if (moved > noise(now.local_budget)) {
        out.state = MemoryBudget::State::Spilling;
        out.spilled = moved;
    }
    out.must_go = out.spilled + now.local_used + room - now.local_budget;
    return out;
}

} // namespace engine
