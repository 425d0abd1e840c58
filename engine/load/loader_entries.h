// SPDX-License-Identifier: Apache-2.0
// From a plan's rows to store entries: finds and checks every tensor in the checkpoint, without
// reading bulk data or allocating device memory. Private to the loader.
#pragma once

#include "engine/load/tensor_store_impl.h"

#include <vector>

namespace engine {

/// Fills impl.expected, impl.file_names and the lists of the report (missing, surplus, inert).
void indexSource(TensorStore::Impl& impl);

/// One entry per row of the plan. Errors: InvalidRequest (plan with errors or of another model,
/// unknown device, store and compute that cannot go together), InvalidFile and Unsupported (see
/// openOrigin).
Result<std::vector<StoreEntry>> makeEntries(TensorStore::Impl& impl, const PlacementPlan& plan);

} // namespace engine
