// SPDX-License-Identifier: Apache-2.0
// Engine values as JSON objects (the fields of the command line's contract) and as text tables.
#pragma once

#include "engine/api/chat.h"
#include "engine/api/model_summary.h"
#include "engine/api/snapshot.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace cli {

nlohmann::ordered_json errorJson(const engine::Error& error);
nlohmann::ordered_json summaryJson(const engine::ModelSummary& summary);
nlohmann::ordered_json planJson(const engine::PlacementPlan& plan);
nlohmann::ordered_json memoryJson(const std::vector<engine::DeviceMemory>& memory);
nlohmann::ordered_json replyJson(const engine::Reply& reply, double load_s);

/// What drafting did in a reply, as one line.
std::string draftsText(const engine::DraftReport& drafts);
std::string summaryText(const engine::ModelSummary& summary);
std::string planText(const engine::PlacementPlan& plan);

/// "4.38 GiB"
std::string byteText(uint64_t bytes);

} // namespace cli
