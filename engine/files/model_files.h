// SPDX-License-Identifier: Apache-2.0
// Which files of a model or adapter folder may be opened, and bounded reads of the small ones
// (config.json and its like). Links: a file must be regular after resolving, and a link may leave
// the folder only in the way the Hugging Face cache does it (snapshots/<rev>/x -> ../../blobs/y,
// also from folders below <rev>).
#pragma once

#include "engine/base/result.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace engine {

/// The real path behind folder/name. `name` is a single path component.
/// Errors: InvalidFile with rule FileMissing, ShardName (not a plain file name) or ST07 (not a
/// regular file, or a link that leaves the folder).
Result<std::filesystem::path> resolveModelFile(const std::filesystem::path& folder,
                                               std::string_view name,
                                               bool are_outside_links_allowed = false);

/// nullptr when `name` is one harmless path component on Linux and Windows, else what is wrong.
std::optional<Phrase> modelFileNameProblem(std::string_view name);

/// True when folder/name exists in any form (also as a broken link).
bool modelFileExists(const std::filesystem::path& folder, std::string_view name);

/// Up to three folders below `folder` that hold `file`, as "checkpoint-500, checkpoint-1000"; empty
/// when there is none. For messages when the file is not in the folder itself. Follows no links.
std::string foldersBelowWith(const std::filesystem::path& folder, std::string_view file);

/// The first bytes of folder/name, at most `count`; none where it cannot be read.
std::vector<std::byte>
headOfModelFile(const std::filesystem::path& folder, std::string_view name, size_t count);

/// The whole text of folder/name, read after resolveModelFile(). nullopt when there is no such
/// file. Errors: as resolveModelFile, and rule FileTooLarge when it has more than max_bytes,
/// LfsPointer or HtmlFile when the file itself was not fetched.
Result<std::optional<std::string>> readModelText(const std::filesystem::path& folder,
                                                 std::string_view name,
                                                 uint64_t max_bytes,
                                                 bool are_outside_links_allowed = false);

/// Largest JSON file (other than tokenizer.json and the shard index) Belfry reads, in bytes.
constexpr uint64_t kMaxSmallJsonBytes = uint64_t{4} << 20;

} // namespace engine
