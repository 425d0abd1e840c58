// SPDX-License-Identifier: Apache-2.0
// A step that the planner suggests where a plan does not fit, as a change of the request: what the
// sentence beside a button says is what the button does.
#pragma once

#include "engine/api/load_request.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ui {

struct Repair {
    std::vector<engine::MapMove> moves;
    std::string head, quant;                                  ///< Empty: as they are.
    int64_t context = 0, prefill_chunk = 0, image_tokens = 0; ///< 0: as they are.
    bool is_enough = false; ///< The plan fits after this step alone.
};

/// Nothing when the suggestion is none that can be carried out as it stands.
std::optional<Repair> repairOf(const engine::Suggestion& suggestion);

engine::LoadRequest repaired(engine::LoadRequest request, const Repair& repair);

} // namespace ui
