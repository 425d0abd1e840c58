// SPDX-License-Identifier: Apache-2.0
#include "engine/base/folder_list.h"

#include "engine/base/file_opening.h"

#include <string_view>

#ifndef _WIN32
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#endif

namespace engine {

namespace fs = std::filesystem;

#ifdef _WIN32

std::vector<fs::path>
listFolder(const fs::path& folder, size_t max_names, std::error_code& failure) {
    std::vector<fs::path> names;
    failure.clear();
    fs::directory_iterator it(folder, failure);
    const fs::directory_iterator end;
    while (!failure && it != end && names.size() < max_names) {
        names.push_back(it->path().filename());
        it.increment(failure);
    }
    return names;
}

#else

std::vector<fs::path>
listFolder(const fs::path& folder, size_t max_names, std::error_code& failure) {
    struct Closing {
        void operator()(DIR* open) const { closedir(open); }
    };
    std::vector<fs::path> names;
    failure.clear();
    const int handle = openToRead(folder, O_DIRECTORY);
    const std::unique_ptr<DIR, Closing> open(handle < 0 ? nullptr : fdopendir(handle));
    if (open == nullptr) {
        failure = std::error_code(errno, std::generic_category());
        if (handle >= 0) {
            ::close(handle);
        }
        return names;
    }
    while (names.size() < max_names) {
        errno = 0;
        const dirent* const entry = readdir(open.get()); // of a folder that only we have open
        if (entry == nullptr) {
            if (errno != 0) {
                failure = std::error_code(errno, std::generic_category());
            }
            break;
        }
        const std::string_view name = entry->d_name;
        if (name != "." && name != "..") {
            names.emplace_back(name);
        }
    }
    return names;
}

#endif

} // namespace engine
