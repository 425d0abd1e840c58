// SPDX-License-Identifier: Apache-2.0
// The search of `fit`: the cheapest member of the family of PLANNER.md, "Fit", within limits. Exact
// for any number of GPUs: for every place of the other blocks the best cuts between layers come
// from one pass over the runs of layers, device by device from the last.
#pragma once

#include "engine/plan/fit_model.h"

namespace engine {

/// Compared in this order.
struct FitCost {
    int64_t token_ps = INT64_MAX; ///< Time per token.
    int quality = 0;              ///< Formats smaller than asked for.
    int64_t media_ps = 0;         ///< Time of an image and of ten seconds of sound.
    int tables = 0;               ///< Tables of rows: on a GPU, in main memory, on disk.
    // NOLINTNEXTLINE(modernize-use-nullptr): false alarm on the generated comparison
    friend auto operator<=>(const FitCost&, const FitCost&) = default;
};

struct FitFound {
    bool fits = false; ///< false: the candidate is the one with the fewest bytes over the limits.
    FitCandidate candidate;
    FitCost cost;
};

FitFound searchFit(const FitModel& model);

} // namespace engine
