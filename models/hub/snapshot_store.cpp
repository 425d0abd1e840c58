// SPDX-License-Identifier: Apache-2.0
#include "models/hub/snapshot_store.h"

#include "engine/base/paths.h"
#include "engine/base/small_file.h"

#include <cerrno>
#include <optional>
#include <system_error>

#ifndef _WIN32
#include <sys/stat.h>
#endif

#include "models/hub/disk_file.h"

namespace models::hub {

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
    return failure ? Result<void>(diskError(to, engine::phrase("cannot be named"), failure.value()))
                   : Result<void>();
}

/// What changes when a file does; empty where the system does not tell.
std::string marksOf(const fs::path& path) {
#ifdef _WIN32
    std::error_code failure;
    const auto time = fs::last_write_time(path, failure);
    const auto size = sizeOfFile(path);
    return failure || !size.has_value()
               ? std::string()
               : std::to_string(*size) + " " + std::to_string(time.time_since_epoch().count());
#else
    struct stat facts = {};
    if (::stat(path.c_str(), &facts) != 0) {
        return {};
    }
    std::string marks;
    for (const auto number :
         {static_cast<int64_t>(facts.st_ino), static_cast<int64_t>(facts.st_size),
          static_cast<int64_t>(facts.st_mtim.tv_sec), static_cast<int64_t>(facts.st_mtim.tv_nsec),
          static_cast<int64_t>(facts.st_ctim.tv_sec),
          static_cast<int64_t>(facts.st_ctim.tv_nsec)}) {
        marks += std::to_string(number) + " ";
    }
    return marks;
#endif
}

constexpr size_t kMaxMarks = 4096;

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

fs::path SnapshotStore::present(const ListedFile& file) const {
    if (sizeOfFile(final(file)) != file.size_bytes) {
        return layout_.blob(file.etag);
    }
    std::error_code failure;
    const fs::path bytes = fs::canonical(final(file), failure); // the entry is a link
    return failure ? final(file) : bytes;
}

fs::path SnapshotStore::verifiedNote(const ListedFile& file) const {
    return layout_.locks() / engine::pathFromUtf8(file.etag + ".verified");
}

bool SnapshotStore::isVerified(const ListedFile& file) const {
    const std::string marks = marksOf(present(file));
    const auto noted = engine::readSmallFile(verifiedNote(file), kMaxMarks);
    return isCache() && !marks.empty() && noted.has_value() && *noted == marks;
}

void SnapshotStore::noteVerified(const ListedFile& file) const {
    const std::string marks = isCache() ? marksOf(present(file)) : std::string();
    if (!marks.empty()) {
        const fs::path note = verifiedNote(file);
        static_cast<void>(
            writeSmallFile(note, note.parent_path() / (note.filename().string() + ".new"), marks));
    }
}

void SnapshotStore::discard(const ListedFile& file) const {
    std::error_code ignored; // what stays is met again, and named, when the file gets its name
    fs::remove(final(file), ignored);
    fs::remove(layout_.blob(file.etag), ignored);
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
        return diskError(copy, engine::phrase("cannot be copied"), failure.value());
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

} // namespace models::hub
