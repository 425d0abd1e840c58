// SPDX-License-Identifier: Apache-2.0
// How fast this computer reads memory and multiplies, for speed estimates: measured once, kept in a
// small file, measured again when the processor or the kernels are others. Graphics cards and
// disks keep the planner's documented constants.
#pragma once

#include <filesystem>
#include <optional>

namespace engine {

struct MachineConstants {
    double read_bytes_per_s = 0.0; ///< Streaming read of main memory, all cores.
    double flops = 0.0;            ///< Products at prefill sizes, all cores, peak.
};

/// From `file`; nullopt, without measuring, where it has none of this machine as it is now.
std::optional<MachineConstants> knownConstants(const std::filesystem::path& file);

/// From `file`, or measured and kept there; nullopt, without measuring, where nothing can be kept
/// (a folder or disk that cannot be written, a pipe or device in the file's place): for callers who
/// would else pay for the measurement every time.
std::optional<MachineConstants> keptConstants(const std::filesystem::path& file,
                                              double seconds = 0.7);

/// From `file`, or measured for about `seconds` (with 128 MiB of memory) and written there. A file
/// that cannot be written costs the measurement every time and is no error.
MachineConstants machineConstants(const std::filesystem::path& file, double seconds = 0.7);

} // namespace engine
