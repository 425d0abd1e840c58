// SPDX-License-Identifier: Apache-2.0
#include "engine/base/file_opening.h"

#ifndef _WIN32
#include <fcntl.h>

#include <cerrno>
#include <utility>

namespace engine {

namespace {

FileLender& lenderOfAll() {
    static FileLender lender;
    return lender;
}

} // namespace

void setFileLender(FileLender lender) {
    lenderOfAll() = std::move(lender);
}

int openToRead(const std::filesystem::path& path, int flags) {
    // O_NONBLOCK: opening a named pipe must not wait for a writer.
    int handle = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | flags);
    if (handle < 0 && errno == EACCES && lenderOfAll()) {
        handle = lenderOfAll()(path);
        if (handle < 0) {
            errno = EACCES;
        }
    }
    return handle;
}

} // namespace engine
#endif
