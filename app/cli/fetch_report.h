// SPDX-License-Identifier: Apache-2.0
// What `get` tells: the plan, the line that shows how far it is, the end.
#pragma once

#include "engine/api/model_summary.h"
#include "engine/api/placement.h"
#include "engine/base/result.h"

#include <nlohmann/json.hpp>

#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "models/hub/download.h"
#include "models/hub/preview.h"

namespace cli {

/// What this computer makes of a model that is not here yet.
struct ModelPreview {
    engine::ModelSummary summary;
    engine::PlacementPlan plan;
    models::hub::BytesByDtype bytes_by_dtype;
};
/// nullopt: no model (an adapter).
using PreviewOutcome = std::optional<engine::Result<ModelPreview>>;

nlohmann::ordered_json fetchPlanJson(const models::hub::FetchPlan& plan,
                                     const PreviewOutcome& preview);
std::string fetchPlanText(const models::hub::FetchPlan& plan, const PreviewOutcome& preview);
/// What is told before a download begins.
std::string fetchHeadline(const models::hub::FetchPlan& plan, const PreviewOutcome& preview);
nlohmann::ordered_json
fetchedJson(const models::hub::FetchPlan& plan, uint64_t fetched_bytes, double seconds);

/// "1.20 GiB of 9.51 GiB, 95.20 MiB/s, 1 min 20 s left"; the rate is that of the last 3 seconds.
class FetchLine {
public:
    std::string text(const models::hub::FetchProgress& progress);

private:
    using Clock = std::chrono::steady_clock;
    std::deque<std::pair<Clock::time_point, uint64_t>> recent_;
};

} // namespace cli
