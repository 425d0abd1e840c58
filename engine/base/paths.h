// SPDX-License-Identifier: Apache-2.0
// Between texts and paths. Every std::string of ours that names a file is UTF-8; a path made of it
// without saying so, and path::string(), would take and give the system's narrow encoding, which is
// not UTF-8 on Windows. Elsewhere a name is its bytes, whatever they are, and both ways keep them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace engine {

/// Throws where the system's paths are not bytes (Windows) and `utf8` is not UTF-8.
inline std::filesystem::path pathFromUtf8(std::string_view utf8) {
    return std::filesystem::path(std::u8string(utf8.begin(), utf8.end()));
}

inline std::string utf8Of(const std::filesystem::path& path) {
    const std::u8string text = path.u8string();
    return std::string(text.begin(), text.end());
}

} // namespace engine
