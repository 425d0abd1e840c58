// SPDX-License-Identifier: Apache-2.0
// Fetching a model: first a plan that says what there is and what will come, then the files,
// several at a time, each continued from the byte that an earlier attempt reached.
#pragma once

#include "engine/base/result.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "models/hub/file_choice.h"
#include "models/hub/hub_client.h"
#include "models/hub/names.h"
#include "models/hub/snapshot_store.h"

namespace models::hub {

struct FetchRequest {
    ModelAddress address;
    Target target;
    bool takes_all = false; ///< Also files that Belfry does not load.
    Source source = Source::Hub;
};

struct PlannedFile {
    ListedFile file;
    SnapshotStore::Found found;
};

struct FetchPlan {
    FetchRequest request;
    std::string commit;
    std::filesystem::path model_folder; ///< Where it will be.
    std::vector<PlannedFile> files;
    std::vector<ListedFile> left_out;
    std::optional<GgufFiles> gguf; ///< The model is a GGUF file; what else could have been chosen.
    uint64_t total_bytes = 0;      ///< Size of all files.
    uint64_t present_bytes = 0;    ///< Part on the disk already.
    uint64_t free_bytes = 0;       ///< On that disk; 0: it does not tell.

    [[nodiscard]] uint64_t missingBytes() const { return total_bytes - present_bytes; }
    /// What a load names: model_folder, or the GGUF file in it.
    [[nodiscard]] std::filesystem::path modelPath() const;
};

struct FetchProgress {
    uint64_t total_bytes = 0;
    uint64_t done_bytes = 0;    ///< On the disk, earlier attempts included.
    uint64_t fetched_bytes = 0; ///< Part from the network, now.
    size_t files = 0, done_files = 0;
    engine::Sentence waiting; ///< Why nothing comes just now: the error that is tried again.
};

/// In turn from the threads that fetch, at most ten times a second and at the end.
using OnProgress = std::function<void(const FetchProgress&)>;

struct FetchOptions {
    HubOptions hub;
    HttpClientFactory make_http;
    int connections = 4;
    OnProgress on_progress = [](const FetchProgress&) {};
};

/// Asks the hub for commit and files, and the disk for what is there. Writes nothing. Errors: as
/// hub_error.h; HubMissing when the repository has nothing that Belfry loads (not with takes_all),
/// or not the quantization that the address names; HubFolder when the folder holds another file of
/// the same name.
engine::Result<FetchPlan>
planFetch(const FetchRequest& request, HubClient& hub, const std::stop_token& stop);

/// HubDisk when there is not room for what is missing and kept_free_bytes more.
engine::Result<void> checkRoom(const FetchPlan& plan);
inline constexpr uint64_t kKeptFreeBytes = uint64_t{1} << 30;

/// Fetches what is missing, in ranges: an end of the program at any moment costs no more than
/// Limits::block_bytes of what was on its way (asked_bytes.h). Whatever ends it, files that were
/// whole stay, and those that were not are continued by the next call. The revision is noted last.
/// Errors: the first that no repetition helped against; Cancelled.
engine::Result<void>
fetch(const FetchPlan& plan, const FetchOptions& options, const std::stop_token& stop);

} // namespace models::hub
