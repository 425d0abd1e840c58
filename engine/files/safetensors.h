// SPDX-License-Identifier: Apache-2.0
// Opens safetensors checkpoints: one file, or the model.safetensors / index + shards of a model
// folder. Untrusted input: every rule of engine/files/SAFETENSORS.md that a file breaks is its own
// error, whose details hold {"rule", name}. Data is read with positioned reads, never mapped.
// Does not write; see safetensors_writer.h.
#pragma once

#include "engine/files/tensor_source.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace engine {

inline constexpr std::string_view kWeightsFile = "model.safetensors";
inline constexpr std::string_view kWeightsIndexFile = "model.safetensors.index.json";
/// Limits of a file that is read or written.
inline constexpr size_t kMaxTensorNameBytes = 1024;
inline constexpr size_t kMaxTensorRank = 8;
inline constexpr size_t kMaxTensors = 1'000'000;

struct OpenOptions {
    /// A folder with config.json but without weight files, or with some of them not there or still
    /// Git LFS pointers (a warning names the first), opens as an empty source, and a file that ends
    /// after its header opens without data; isHeaderOnly() is then true and read() fails.
    bool is_header_only_allowed = false;
    /// The user agreed to links that leave the model folder (rule ST07).
    bool are_outside_links_allowed = false;
};

/// Opens the weights of a Hugging Face model folder: model.safetensors, else
/// model.safetensors.index.json and its shards (if both exist the single file is used and a
/// warning says so).
/// Errors: InvalidFile (details "rule" and "file"), Unsupported (pickle, zip, GGUF, ... by content,
/// with advice what to do instead).
Result<std::unique_ptr<TensorSource>> openModelFolder(const std::filesystem::path& folder,
                                                      const OpenOptions& options = {});

/// Opens one safetensors file, for example adapter_model.safetensors. Links are followed only as
/// far as the rules for a model folder allow (the file's own folder counts as that folder).
Result<std::unique_ptr<TensorSource>> openSafetensorsFile(const std::filesystem::path& file,
                                                          const OpenOptions& options = {});

/// What a header says, before anything is read from the data area.
struct SafetensorsHeader {
    std::vector<TensorInfo> tensors; ///< Sorted by name; file_offset is absolute; file_index 0.
    std::vector<std::pair<std::string, std::string>> metadata;
    std::vector<Sentence> warnings;
    uint64_t data_begin = 0; ///< 8 + header length.
    bool is_data_absent = false;
};

/// Longest accepted header in bytes, as in the reference reader.
constexpr uint64_t kMaxSafetensorsHeaderBytes = 100'000'000;

/// Checks and lists the header text of a file of `file_bytes` bytes (rules 4 to 10 of the format
/// and ST01 to ST06). `file_name` is for messages. This is the fuzzed entry point.
Result<SafetensorsHeader> parseSafetensorsHeader(std::string_view header,
                                                 uint64_t file_bytes,
                                                 std::string_view file_name,
                                                 bool is_data_absence_allowed = false);

} // namespace engine
