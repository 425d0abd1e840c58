// SPDX-License-Identifier: Apache-2.0
// Names that others write and that become paths of ours: what a person types for a model, and what
// a server lists as files.
#pragma once

#include "engine/base/result.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace models::hub {

/// A model and the state of it that is wanted.
struct ModelAddress {
    std::string id;                ///< "owner/name" or "name".
    std::string revision = "main"; ///< A branch, a tag or a commit.
    std::string quantization = {}; ///< "Q4_K_M", where there are GGUF files; empty: not told.
};

/// Reads "owner/name", "owner/name@revision", "hf://owner/name@revision" and an address copied from
/// a browser: `endpoint`/owner/name, also with /tree/REVISION or /blob/REVISION/FILE behind it. The
/// name of a repository of GGUF files may end in ":Q4_K_M", as llama.cpp and Ollama have it.
/// Errors: InvalidRequest with rule HubAddress.
engine::Result<ModelAddress> parseAddress(std::string_view text, std::string_view endpoint);

/// nullptr when each part between the '/' of `name` is a harmless file name on Linux and Windows,
/// else what is wrong: "..", drive letters, names of devices, more than 255 bytes a part or 1024 in
/// all, control characters, a blank or a dot at the end.
const char* fileNameProblem(std::string_view name);

/// The same for a file that is written on this computer alone: the rules that only Windows has
/// count there.
const char* fileNameProblemHere(std::string_view name);

/// A part is "", "." or "..": as a path the name could lead anywhere.
bool mayLeaveFolder(std::string_view name);

/// Two of these names that a disk of this computer cannot hold both (Windows takes upper and lower
/// case for the same), or of which one is a folder of the other; empty strings: none.
std::pair<std::string, std::string> clashingNames(const std::vector<std::string>& names);

} // namespace models::hub
