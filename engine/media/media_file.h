// SPDX-License-Identifier: Apache-2.0
// Reads a picture or recording into memory, with a size limit checked before anything is
// allocated, and names what a file holds by its first bytes (never by its suffix).
#pragma once

#include "engine/base/result.h"
#include "engine/media/byte_reader.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace engine::media {

/// The whole file. Errors: InvalidFile (missing, not a regular file, unreadable, changed while
/// being read), Unsupported (over max_bytes).
Result<std::vector<std::byte>> readMediaFile(const std::filesystem::path& path, size_t max_bytes);

/// The same error with the file's name in front of the message and in details["file"].
Error withFileName(Error error, const std::filesystem::path& path);

/// What the content looks like, as a noun phrase for messages: "a GIF picture", "an MP4 video".
/// "text" and "unknown data" at the end of the list. Never empty.
Phrase describeContent(Bytes bytes);

/// The size in the unit a person reads: "3.2 MiB", "17 bytes".
std::string humanBytes(size_t bytes);

} // namespace engine::media
