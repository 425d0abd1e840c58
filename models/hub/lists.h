// SPDX-License-Identifier: Apache-2.0
// The JSON of the hub's answers about a model: its commit and its files.
#pragma once

#include "models/hub/hub_client.h"

namespace engine {
struct Json;
}

namespace models::hub {

/// Any answer as a tree. Errors: HubListing.
engine::Result<engine::Json> parseAnswer(const std::string& json, const Asked& asked);

/// Answer of /api/models/ID/revision/REVISION. Errors: HubListing.
engine::Result<ModelInfo> readModelInfo(const std::string& json, const Asked& asked);

/// Answer of /api/models/ID/tree/COMMIT, behind what is in `files` already; folders are left out.
/// Errors: HubListing, also when there are more than `most` files.
engine::Result<void> readFileList(const std::string& json,
                                  const Asked& asked,
                                  size_t most,
                                  std::vector<ListedFile>& files);

} // namespace models::hub
