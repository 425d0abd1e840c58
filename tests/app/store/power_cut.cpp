// SPDX-License-Identifier: Apache-2.0
// A log of file calls replayed as a disk that loses power would have it.
#include "tests/app/store/write_log.h"

#include <algorithm>
#include <cstring>

namespace support {

namespace {

using Kind = FileCall::Kind;

constexpr uint64_t kSector = 512; ///< Bytes that a disk writes as a whole or not at all.

std::string folderOf(const std::string& path) {
    const size_t slash = path.rfind('/');
    return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

bool isName(const FileCall& call) {
    return call.kind == Kind::Link || call.kind == Kind::Unlink || call.kind == Kind::MakeFolder;
}

/// Puts `data` at `offset`; what lies between is zeros.
void put(std::string& content, uint64_t offset, std::string_view data) {
    if (content.size() < offset + data.size()) {
        content.resize(offset + data.size(), '\0');
    }
    content.replace(offset, data.size(), data);
}

/// For each of the first `calls`: did a sync of its file or folder follow?
std::vector<bool> syncedCalls(const std::vector<FileCall>& log, size_t calls) {
    std::vector<bool> synced(calls, false);
    std::set<int> files;
    std::set<std::string> folders;
    for (size_t i = calls; i-- > 0;) {
        const FileCall& call = log[i];
        if (call.kind == Kind::SyncFile) {
            files.insert(call.file);
        } else if (call.kind == Kind::SyncFolder) {
            folders.insert(call.path);
        } else if (isName(call)) {
            // A rename between folders is one step in the journal of either.
            synced[i] = folders.count(folderOf(call.path)) != 0 ||
                        (!call.from.empty() && folders.count(folderOf(call.from)) != 0);
        } else {
            synced[i] = files.count(call.file) != 0;
        }
    }
    return synced;
}

/// What of a write that was not synced is on the disk.
void putSome(std::string& content, const FileCall& call, bool is_whole, std::mt19937& random) {
    if (is_whole) {
        put(content, call.offset, call.data);
        return;
    }
    for (uint64_t at = 0; at < call.data.size();) {
        const uint64_t size =
            std::min(kSector - (call.offset + at) % kSector, call.data.size() - at);
        switch (random() % 4) {
        case 0:
            break; // not there
        case 1:    // the file is longer, the data has not come
            if (content.size() < call.offset + at + size) {
                content.resize(call.offset + at + size, '\0');
            }
            break;
        default:
            put(content, call.offset + at, std::string_view(call.data).substr(at, size));
            break;
        }
        at += size;
    }
}

} // namespace

FileTree
treeAfterCut(const std::vector<FileCall>& log, size_t calls, Cut cut, std::mt19937& random) {
    const std::vector<bool> synced = syncedCalls(log, calls);
    std::vector<size_t> open_writes;
    for (size_t i = 0; i < calls; ++i) {
        if (log[i].kind == Kind::Write && !synced[i]) {
            open_writes.push_back(i);
        }
    }
    const size_t lost = open_writes.empty() ? calls : open_writes[random() % open_writes.size()];
    const bool keeps_data = cut == Cut::KeepsAll || cut == Cut::KeepsData || cut == Cut::LosesOne;
    const bool keeps_names = cut == Cut::KeepsAll || cut == Cut::KeepsNames || cut == Cut::LosesOne;

    std::map<int, std::string> contents;
    std::map<std::string, int> names;
    std::set<std::string> made = {""};
    std::set<std::string> ended; ///< Folders whose journal goes no further.
    for (size_t i = 0; i < calls; ++i) {
        const FileCall& call = log[i];
        if (isName(call)) {
            const std::string folder = folderOf(call.path);
            bool is_there = synced[i] || keeps_names;
            if (!is_there && cut == Cut::KeepsAtRandom) {
                is_there = random() % 3 != 0;
            }
            if (!synced[i] && (!is_there || ended.count(folder) != 0)) {
                ended.insert(folder);
                continue;
            }
            if (call.kind == Kind::MakeFolder) {
                made.insert(call.path);
            } else if (call.kind == Kind::Unlink) {
                names.erase(call.path);
            } else {
                names[call.path] = call.file;
                if (!call.from.empty()) {
                    names.erase(call.from);
                }
            }
        } else if (call.kind == Kind::Truncate) {
            const bool is_there =
                synced[i] || keeps_data || (cut == Cut::KeepsAtRandom && random() % 2 == 0);
            if (is_there) {
                contents[call.file].resize(call.offset, '\0');
            }
        } else if (call.kind == Kind::Write) {
            std::string& content = contents[call.file];
            if (synced[i] || (keeps_data && i != lost) || (keeps_data && cut != Cut::LosesOne)) {
                put(content, call.offset, call.data);
            } else if (cut == Cut::KeepsAtRandom) {
                putSome(content, call, random() % 3 == 0, random);
            } else if (cut == Cut::KeepsNames && random() % 2 == 0) {
                put(content, call.offset, std::string(call.data.size(), '\0'));
            }
        }
    }
    FileTree tree;
    for (const auto& [path, file] : names) {
        bool is_reached = true;
        for (std::string folder = folderOf(path); !folder.empty(); folder = folderOf(folder)) {
            is_reached = is_reached && made.count(folder) != 0;
        }
        if (is_reached) {
            tree[path] = contents[file];
        }
    }
    return tree;
}

} // namespace support
