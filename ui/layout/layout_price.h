// SPDX-License-Identifier: Apache-2.0
// The price of a change: two plans compared, in the words a user decides by.
#pragma once

#include "engine/api/model_summary.h"
#include "ui/layout/layout_blocks.h"

#include <QString>

#include <vector>

namespace ui {

struct PriceRow {
    enum class Tone { Neutral = 1, Good, Bad };
    QString label, value;
    Tone tone = Tone::Neutral;
    QString detail = {}; ///< What the value is the sum of, below it.
};

/// What changes from `before` to `after` when `block` moves: memory per device, seconds per image
/// and sound, milliseconds per token, traffic, adapters. Estimates are the planner's.
std::vector<PriceRow> priceOf(const engine::PlacementPlan& before,
                              const engine::PlacementPlan& after,
                              const LayoutBlock& block,
                              const engine::ModelSummary* model);

/// "about 120", "+0.85 s", "−3.1 ms", "±0": differences with a real minus sign.
QString formatSecondsDelta(double seconds);

/// Why a plan is impossible whatever the memory: the first error that is not about limits; empty.
QString hardError(const engine::PlacementPlan& plan);

} // namespace ui
