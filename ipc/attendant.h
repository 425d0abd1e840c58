// SPDX-License-Identifier: Apache-2.0
// What the process that started an engine's process does for it on POSIX systems, beside the calls:
// it passes on what that prints, without what a terminal would obey, and opens the files and
// folders that the user has named, which the other process cannot open by itself. It believes what
// is asked for no more than what is printed.
#pragma once

#ifndef _WIN32
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace ipc {

/// The descriptor at which an engine's process asks for files.
inline constexpr int kLendingEnd = 3;

class Attendant {
public:
    /// Owns both, also where it throws (the system starts no thread): the end of a pipe that is
    /// printed into, and that of a socket (SOCK_SEQPACKET).
    Attendant(int printed, int asked);
    /// Passes on what was printed until now. A thread that a file system keeps, whose server is
    /// gone, is left behind.
    ~Attendant();
    Attendant(const Attendant&) = delete;
    Attendant& operator=(const Attendant&) = delete;

    /// What may be asked for from now on (UTF-8): these files; these folders with all that is below
    /// them and with their assistants (assistant_folder.h); what lies beside a GGUF model for it;
    /// of what is in a snapshot in a hub's cache also the files that such snapshots link to, and
    /// the assistant there.
    void allow(const std::vector<std::string>& paths);

private:
    struct Shared; ///< With the thread.

    std::shared_ptr<Shared> shared_;
    std::thread thread_;
};

/// In the engine's process, whose files are limited: a descriptor of what `path` names, or -1.
int borrow(const std::filesystem::path& path);
/// Whether somebody is there who lends.
bool canBorrow();

} // namespace ipc
#endif
