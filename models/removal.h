// SPDX-License-Identifier: Apache-2.0
// Deleting a model or an adapter from the disk, in two steps: what would go, to be shown and agreed
// to, and then exactly that. Nothing outside of the root in which it was found is touched, and no
// link is followed: of a link, the link itself goes.
//
// In a hub's cache: the snapshot, the references to its commit, and the blobs that no other
// snapshot of the repository uses; with the last snapshot the whole repository and its locks. The
// store that repositories share (hub/blobs) stays: huggingface_hub cleans that itself. In other
// folders: the files of a model or an adapter; whatever else lies there stays, and the folder with
// it.
#pragma once

#include "engine/base/result.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "models/entry.h"

namespace models {

struct Removal {
    std::string name;
    std::filesystem::path root;               ///< Without links.
    std::vector<std::filesystem::path> paths; ///< In the order in which they go.
    uint64_t bytes = 0;                       ///< That the disk gets back.
    bool is_whole_repository = false;
    bool is_shared = false;        ///< Programs that use the hub's cache lose it as well.
    std::vector<std::string> kept; ///< Names in the folder that stay.
};

/// Errors: InvalidRequest (rule "OutsideRoot", "NotAlone": a folder within a download), InvalidFile
/// (it is gone, cannot be read, or has more files than a model has).
engine::Result<Removal> planRemoval(const Entry& entry);

/// Errors: InvalidFile; the message names what could not be removed, and what went before is gone.
engine::Result<void> remove(const Removal& removal);

} // namespace models
