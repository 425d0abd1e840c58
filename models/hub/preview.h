// SPDX-License-Identifier: Apache-2.0
// A model before it is fetched: its configuration and the headers of its weight files, got by
// ranged reads of some hundred kilobytes, as a folder from which the engine plans like from the
// real one (it takes weight files that end behind their header for planning, not for loading).
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "models/hub/download.h"

namespace models::hub {

/// Bytes of all weight files by the type's name in the headers ("BF16").
using BytesByDtype = std::map<std::string, uint64_t>;

/// Writes the preview of `plan` into `folder`, which must be there; files of other folders and
/// large texts (a tokenizer) are left out. Checksums of whole small files are verified. Errors: as
/// hub_error.h; HubListing for weight files whose header is none; HubDisk.
engine::Result<BytesByDtype> writePreview(const FetchPlan& plan,
                                          HubClient& hub,
                                          const std::filesystem::path& folder,
                                          const std::stop_token& stop);

/// Length of the JSON that the first 8 bytes of a safetensors file announce (little-endian),
/// checked against what a header may have (100 MB, the format's own bound) and the file's length.
/// nullopt: none.
std::optional<uint64_t> safetensorsHeaderBytes(std::span<const std::byte> first_bytes,
                                               uint64_t file_bytes);

} // namespace models::hub
