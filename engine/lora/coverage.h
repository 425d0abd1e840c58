// SPDX-License-Identifier: Apache-2.0
// What of an adapter file acts on a model and what does not, as values for reports: every tensor
// of the file is in exactly one of four classes, and modules that the config targets but the file
// lacks are listed.
#pragma once

#include "engine/api/sentence.h"
#include "engine/api/unused_key.h"
#include "engine/families/tensor_list.h"

#include <cstdint>
#include <string>
#include <vector>

namespace engine {

enum class KeyClass : uint8_t {
    Active = 1, ///< Changes the forward pass.
    Inert,      ///< Its module existed when the adapter was made, but has no effect in this model.
    Ignored,    ///< Not applied; the reason says why (not targeted, no such module, equal to the
                ///< base).
    Error,      ///< Contradicts the model or the config; the adapter is refused.
};

/// Where a key belongs, by its text: language, vision (tower and its projector), audio (likewise),
/// other.
enum class KeyTower : uint8_t { Language = 1, Vision, Audio, Other };

struct KeyReport {
    std::string key; ///< As in the file.
    KeyClass key_class = KeyClass::Active;
    KeyTower tower = KeyTower::Other;
    KeyReason reason;   ///< Its sentence is empty for active keys.
    std::string tensor; ///< Canonical base tensor, when there is one.
};

struct TowerCounts {
    int64_t language = 0, vision = 0, audio = 0, other = 0;
};

/// Modules that share kind, rank, alpha and scaling.
struct ScalingGroup {
    std::string kind; ///< "lora", "dora", "embedding", "experts"
    int64_t rank = 0;
    double alpha = 0.0, scaling = 0.0;
    int64_t modules = 0;
};

/// One low-rank update that acts.
struct DeltaNorm {
    std::string tensor;
    double frobenius = 0.0; ///< || scaling * B A ||_F, strength 1.
};

struct CoverageReport {
    int64_t tensors = 0;                                    ///< In the file.
    TowerCounts by_tower;                                   ///< Tensors of the file, active or not.
    TowerCounts active_by_tower;                            ///< Active tensors.
    int64_t active = 0, inert = 0, ignored = 0, errors = 0; ///< Sum = tensors.
    std::vector<std::string> matched_modules; ///< Canonical, sorted; modules with something active.
    std::vector<KeyReport> unmatched;         ///< Keys that are not active, in file order.
    std::vector<std::string> targeted_but_missing; ///< Canonical modules; no tensors in the file.
    std::vector<ScalingGroup> groups;              ///< Largest first.
    int64_t rank = 0;                              ///< The commonest group's; 0 when nothing acts.
    double alpha = 0.0, scaling = 0.0;
    std::string kind; ///< "lora", "rslora", "dora"; "+bias", "+tokens", "+embedding", "+saved",
                      ///< "+experts" appended.
    std::vector<DeltaNorm> norms; ///< Empty in a probe (header only).
    std::vector<std::string> unknown_members;
    std::vector<Sentence> notes;
};

} // namespace engine
