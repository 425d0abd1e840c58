// SPDX-License-Identifier: Apache-2.0
#include "library/hub/snapshot_store.h"

#include "engine/base/paths.h"

#include <cerrno>
#include <optional>
#include <system_error>

#include "library/hub/disk_file.h"

namespace library::hub {

namespace fs = std::filesystem;
using engine::Result;

namespace {

/// nullopt: no plain file, also behind links.
std::optional<uint64_t> sizeOfFile(const fs::path& path) {
    std::error_code failure;
    if (!fs::is_regular_file(path, failure) || failure) {
        return std::nullopt;
    }
    const uint64_t size = fs::file_size(path, failure);
    return failure ? std::nullopt : std::optional(size);
}

/// huggingface_hub keeps its own notes of a plain folder there; every reader leaves them out.
fs::path workFolder(const fs::path& folder) {
    return folder / ".cache" / "huggingface" / "download";
}

Result<void> renamed(const fs::path& from, const fs::path& to) {
    std::error_code failure;
    fs::rename(from, to, failure);
    return failure ? Result<void>(diskError(to, "cannot be named", failure.value()))
                   : Result<void>();
}

} // namespace

SnapshotStore::SnapshotStore(Target target, const std::string& id, std::string commit)
    : target_(std::move(target)), layout_(target_.cache, id), commit_(std::move(commit)) {}

fs::path SnapshotStore::partial(const ListedFile& file) const {
    return isCache() ? layout_.partialBlob(file.etag)
                     : workFolder(target_.folder) / engine::pathFromUtf8(file.etag + ".incomplete");
}

fs::path SnapshotStore::lock(const ListedFile& file) const {
    return isCache() ? layout_.lock(file.etag)
                     : workFolder(target_.folder) / engine::pathFromUtf8(file.etag + ".lock");
}

fs::path SnapshotStore::final(const ListedFile& file) const {
    return isCache() ? layout_.file(commit_, file.name)
                     : target_.folder / engine::pathFromUtf8(file.name);
}

fs::path SnapshotStore::modelFolder() const {
    return isCache() ? layout_.snapshot(commit_) : target_.folder;
}

const fs::path& SnapshotStore::disk() const {
    return isCache() ? target_.cache : target_.folder;
}

SnapshotStore::Found SnapshotStore::find(const ListedFile& file) const {
    using State = Found::State;
    const auto size = sizeOfFile(final(file));
    if (isCache()) {
        if (size == file.size_bytes) {
            return {State::Whole, *size};
        }
        if (sizeOfFile(layout_.blob(file.etag)) == file.size_bytes) {
            return {State::Blob, file.size_bytes};
        }
    } else if (std::error_code failure; fs::exists(fs::symlink_status(final(file), failure))) {
        return size == file.size_bytes ? Found{State::Unchecked, *size} : Found{State::Foreign, 0};
    }
    const auto part = sizeOfFile(partial(file));
    return part.has_value() && *part <= file.size_bytes ? Found{State::Partial, *part}
                                                        : Found{State::Missing, 0};
}

Result<void> SnapshotStore::publish(const ListedFile& file) const {
    const fs::path to = final(file);
    ENGINE_TRY(makeFolder(to.parent_path()));
    if (!isCache()) {
        return renamed(partial(file), to);
    }
    const fs::path blob = layout_.blob(file.etag);
    std::error_code failure;
    if (sizeOfFile(to) == file.size_bytes) {
        fs::remove(partial(file), failure);
        return {};
    }
    fs::remove(to, failure); // a link that leads nowhere, or another length
    const bool is_blob_there = sizeOfFile(blob) == file.size_bytes;
    if (target_.has_links) {
        if (!is_blob_there) {
            ENGINE_TRY(renamed(partial(file), blob));
        }
        fs::create_symlink(linkTarget(file.name, file.etag), to, failure);
        if (!failure || sizeOfFile(to) == file.size_bytes) {
            return {};
        }
        // No links on this disk, or not for this user: the entry is the file itself.
        return renamed(blob, to);
    }
    if (!is_blob_there) {
        return renamed(partial(file), to);
    }
    // Other snapshots may have links to it.
    const fs::path copy = partial(file);
    fs::copy_file(blob, copy, fs::copy_options::overwrite_existing, failure);
    if (failure) {
        return diskError(copy, "cannot be copied", failure.value());
    }
    return renamed(copy, to);
}

Result<void> SnapshotStore::noteRevision(const std::string& revision) const {
    if (!isCache() || isCommit(revision)) {
        return {};
    }
    // Not in refs/, whose every file is taken for a revision.
    return writeSmallFile(layout_.ref(revision), layout_.folder() / ".ref.incomplete", commit_);
}

} // namespace library::hub
