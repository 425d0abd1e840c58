// SPDX-License-Identifier: Apache-2.0
#include "app/environment.h"

#include <cstdlib>

namespace app {

namespace {

/// Empty where it is not set.
std::string variable(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? std::string() : std::string(value);
}

} // namespace

std::vector<std::filesystem::path> hubCaches() {
    std::vector<std::filesystem::path> caches;
    if (const std::string cache = variable("HF_HUB_CACHE"); !cache.empty()) {
        caches.emplace_back(cache);
    }
    if (const std::string home = variable("HF_HOME"); !home.empty()) {
        caches.push_back(std::filesystem::path(home) / "hub");
    }
    if (const std::string home = variable("HOME"); !home.empty()) {
        caches.push_back(std::filesystem::path(home) / ".cache" / "huggingface" / "hub");
    }
    return caches;
}

std::string libraryPath() {
    return variable("LD_LIBRARY_PATH");
}

} // namespace app
