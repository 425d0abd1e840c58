// SPDX-License-Identifier: Apache-2.0
// Between texts and paths. Every std::string of ours that names a file is UTF-8; a path made of it
// without saying so, and path::string(), would take and give the system's narrow encoding, which is
// not UTF-8 on Windows. Elsewhere a name is its bytes, whatever they are, and both ways keep them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace engine {

/// Never throws for its text. Windows' names are 16-bit units: what is not UTF-8 there becomes '|',
/// which no file's name has, so that whoever opens the path says which file is not there.
std::filesystem::path pathFromUtf8(std::string_view utf8);

/// The way back. A name of Windows' may hold half of a surrogate pair: three bytes in the form of
/// UTF-8 (which inQuotes() and readers of UTF-8 take for bytes that are none), and the same again.
std::string utf8Of(const std::filesystem::path& path);

} // namespace engine
