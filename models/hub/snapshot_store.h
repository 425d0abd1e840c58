// SPDX-License-Identifier: Apache-2.0
// Where the files of one commit end: in the hub's cache (cache_layout.h) or, when a person names a
// folder, plainly in that. Nothing gets its final name before it is whole. In the cache a snapshot
// holds links where there are any, else the files themselves, as huggingface_hub does it.
#pragma once

#include "engine/base/result.h"

#include <filesystem>
#include <string>

#include "models/hub/cache_layout.h"
#include "models/hub/hub_client.h"

namespace models::hub {

struct Target {
    std::filesystem::path cache;  ///< As cacheFolder().
    std::filesystem::path folder; ///< Not empty: plain files there, and no cache.
    bool has_links = true;        ///< False: HF_HUB_DISABLE_SYMLINKS.
};

class SnapshotStore {
public:
    /// `commit` has 40 digits.
    SnapshotStore(Target target, const std::string& id, std::string commit);

    /// What of a file is there.
    struct Found {
        enum class State : uint8_t {
            Missing = 1,
            Partial, ///< `bytes` of it, perhaps.
            Blob,    ///< All, and only the snapshot's entry is missing.
            Whole,
            Unchecked, ///< A file of this name and length in the folder: its checksum will tell.
            Foreign,   ///< Another file of this name in the folder.
        };
        State state = State::Missing;
        uint64_t bytes = 0;
    };
    [[nodiscard]] Found find(const ListedFile& file) const;
    /// Whether the content of a file of the cache was verified since it last changed: noted beside
    /// its lock by inode, size and times. False for plain folders, which are verified each time.
    [[nodiscard]] bool isVerified(const ListedFile& file) const;
    /// Notes it; what cannot be noted is verified again.
    void noteVerified(const ListedFile& file) const;
    /// The bytes of a file that is there: the snapshot's entry, or the blob.
    [[nodiscard]] std::filesystem::path present(const ListedFile& file) const;
    /// Removes a blob whose content is wrong, and this snapshot's entry.
    void discard(const ListedFile& file) const;

    [[nodiscard]] std::filesystem::path partial(const ListedFile& file) const;
    [[nodiscard]] std::filesystem::path lock(const ListedFile& file) const;
    /// Its final name, in snapshot or folder.
    [[nodiscard]] std::filesystem::path final(const ListedFile& file) const;
    /// Where the model is once all is there.
    [[nodiscard]] std::filesystem::path modelFolder() const;
    /// What needs room: the disk that blobs are on.
    [[nodiscard]] const std::filesystem::path& disk() const;

    /// Gives partial() or an existing blob its final name. Errors: HubDisk.
    engine::Result<void> publish(const ListedFile& file) const;
    /// Notes that `revision` is this commit, when all is there and unless it is a commit itself.
    /// Errors: HubDisk.
    engine::Result<void> noteRevision(const std::string& revision) const;

private:
    [[nodiscard]] bool isCache() const { return target_.folder.empty(); }
    [[nodiscard]] std::filesystem::path verifiedNote(const ListedFile& file) const;

    Target target_;
    RepositoryLayout layout_;
    std::string commit_;
};

} // namespace models::hub
