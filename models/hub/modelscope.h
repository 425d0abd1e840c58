// SPDX-License-Identifier: Apache-2.0
// ModelScope (modelscope.cn) as a second source: its addresses and its list of files. What is
// different of it: no commit stands for a state of a model, so that its files come to a plain
// folder and never into the hub's cache, and each is held to the SHA-256 that the list tells.
// Written after modelscope/hub/api.py and file_download.py of github.com/modelscope/modelscope.
// Left out: search, tokens, private models.
#pragma once

#include "engine/base/result.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/hub/cache_layout.h"
#include "models/hub/hub_client.h"
#include "models/hub/names.h"

namespace models::hub {

inline constexpr std::string_view kModelScopeEndpoint = "https://modelscope.cn";

/// MODELSCOPE_ENDPOINT without slashes at its end, else kModelScopeEndpoint.
std::string modelScopeEndpoint(const Environment& environment);

/// Whose pages isModelScopeAddress() knows.
std::span<const std::string_view> modelScopeHosts();

/// Whether `text` is an address of a page of ModelScope's.
bool isModelScopeAddress(std::string_view text);
/// Reads such an address (".../models/OWNER/NAME", also with more behind it), "OWNER/NAME" and
/// "OWNER/NAME@REVISION"; the revision is "master" where none is told. Errors: as parseAddress().
engine::Result<ModelAddress> parseModelScopeAddress(std::string_view text);

/// The model's page, for a browser.
std::string modelScopePage(const std::string& id);

/// Below the endpoint: the list of all files, and one file.
std::string modelScopeListPath(const std::string& id, const std::string& revision);
std::string
modelScopeFilePath(const std::string& id, const std::string& revision, const std::string& name);

/// Answer of modelScopeListPath(). Folders are left out. Errors: HubListing, also for a file
/// without a SHA-256, and for more than `most` files; HubMissing for an answer that says that it is
/// none.
engine::Result<std::vector<ListedFile>>
readModelScopeList(const std::string& json, const Asked& asked, size_t most);

} // namespace models::hub
