// SPDX-License-Identifier: Apache-2.0
// Versions of the libraries that read pictures and sounds, as they tell them at run time.
#pragma once

#include <string>
#include <vector>

namespace engine {

struct MediaLibrary {
    std::string name, version;
    bool is_told = true;          ///< By the library itself; else by its headers.
    const void* symbol = nullptr; ///< One of its functions.
};

std::vector<MediaLibrary> mediaLibraries();

} // namespace engine
