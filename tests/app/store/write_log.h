// SPDX-License-Identifier: Apache-2.0
// What a program does to the files below one folder, as its system calls have it: linking
// write_log.cpp into a test's own sources puts it between all libraries of the program (SQLite,
// Qt) and the C library, without a preloaded library. And what a power cut may leave of it: of what
// no fsync() followed, any part, in any order, in pieces of a disk's sector.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace support {

struct FileCall {
    enum class Kind {
        MakeFolder = 1,
        Link,   ///< `path` names `file` from here on: created, linked or renamed to.
        Unlink, ///< `path` is no name any more; of a rename it comes with its Link, in one step.
        Write,
        Truncate, ///< Also what makes a file longer.
        SyncFile,
        SyncFolder,
        Mark, ///< Not a call: the test's own word in the log.
    };
    Kind kind = Kind::Mark;
    int file = 0;     ///< Number of the file's content, from 1; a name may change, this does not.
    std::string path; ///< Link, Unlink, MakeFolder, SyncFolder; relative to the folder.
    std::string from; ///< Link by a rename: the name that goes at the same time.
    uint64_t offset = 0; ///< Write; Truncate: the new size.
    std::string data;    ///< Write.
    int mark = 0;        ///< Mark.
};

/// Syncs that a planted fault leaves out of the log, as if the program had not made them.
enum class LeftOut { Nothing = 1, SyncsOfWal, SyncsOfDatabase, SyncsOfAttachments, SyncsOfFolders };

/// Starts a log of everything below `folder` (absolute, existing). Ends the one before.
void startLog(const std::string& folder, LeftOut left_out = LeftOut::Nothing);
void addMark(int mark);
std::vector<FileCall> endLog();

/// What a disk holds: contents by path, folders with nothing in them left out.
using FileTree = std::map<std::string, std::string>;

enum class Cut {
    KeepsAll = 1,  ///< A killed program: everything that was called is there.
    KeepsSynced,   ///< Nothing that was not synced is there.
    KeepsData,     ///< File contents are there, names are not.
    KeepsNames,    ///< Names are there, contents are not: files full of zeros or empty.
    KeepsAtRandom, ///< Each sector and each name, or not.
    LosesOne,      ///< One write that was not synced is missing, all else is there.
};

/// The tree after the first `calls` of the log and a power cut. Names in one folder go in order: a
/// later one is there only with those before it, as journals have it; folders are independent of
/// each other.
FileTree
treeAfterCut(const std::vector<FileCall>& log, size_t calls, Cut cut, std::mt19937& random);

} // namespace support
