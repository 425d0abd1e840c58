// SPDX-License-Identifier: Apache-2.0
// How readers of models and media open files and folders on POSIX systems. A process that has
// denied itself the file system (ipc/limits.h) is lent what the user named by the one that started
// it.
#pragma once

#ifndef _WIN32
#include <filesystem>
#include <functional>

namespace engine {

/// Gives a descriptor of a plain file or a folder, open for reading, or -1.
using FileLender = std::function<int(const std::filesystem::path& path)>;

/// Asked from then on, on any thread, where the system refuses a file. Call before there is a
/// second thread.
void setFileLender(FileLender lender);

/// open() for reading, without waiting and closed in other programs; `flags` are added. -1: errno
/// says why.
int openToRead(const std::filesystem::path& path, int flags);

} // namespace engine
#endif
