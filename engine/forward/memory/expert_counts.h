// SPDX-License-Identifier: Apache-2.0
// How often each routed expert was asked for by a decoded token.
#pragma once

#include "engine/api/snapshot.h"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace engine {

class ExpertCounts {
public:
    ExpertCounts() = default;
    ExpertCounts(int64_t layers, int64_t experts)
        : experts_(experts), counts_(static_cast<size_t>(layers * experts), 0) {}

    void add(int layer, int32_t expert) {
        ++counts_[static_cast<size_t>(layer * experts_ + expert)];
    }
    /// By layer * experts + expert.
    [[nodiscard]] std::span<const uint32_t> all() const { return counts_; }
    /// Takes those of an earlier run, of as many.
    void take(std::vector<uint32_t> counts) { counts_ = std::move(counts); }
    /// Lets what was asked for lately count more.
    void halve() {
        for (uint32_t& count : counts_) {
            count /= 2;
        }
    }

private:
    int64_t experts_ = 0;
    std::vector<uint32_t> counts_;
};

} // namespace engine
