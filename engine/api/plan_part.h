// SPDX-License-Identifier: Apache-2.0
// What takes memory in a plan, by name: an argument of sentences.
#pragma once

#include <cstdint>
#include <string>

namespace engine {

/// What takes memory, as a sentence names it.
struct PlanPart {
    enum class Kind : uint8_t {
        Module = 1, ///< Another module than those below: its path is its name.
        VisionTower,
        AudioTower,
        PerLayerTable,
        TokenTable,
        Head,
        Layers,
        Experts, ///< Routed experts of layers.
        KvCache,
        Adapters,
        Workspace,
        DriverContext,
        VisitingRoom, ///< Where weights lie that come to compute.
        ExpertCopies, ///< On a card; the experts are in main memory.
    };
    Kind kind = Kind::Module;
    std::string module = {};               ///< Path; empty: no module, or several layers.
    int first_layer = -1, last_layer = -1; ///< For Kind::Layers and Experts.
    int64_t tokens = 0;                    ///< For Kind::KvCache.
};

} // namespace engine
