// SPDX-License-Identifier: Apache-2.0
// How fast this computer reads memory and multiplies, for speed estimates: measured once, kept in a
// small file, measured again when the processor or the kernels are others. Graphics cards and
// disks keep the planner's documented constants.
#pragma once

#include <filesystem>

namespace engine {

struct MachineConstants {
    double read_bytes_per_s = 0.0; ///< Streaming read of main memory, all cores.
    double flops = 0.0;            ///< Products at prefill sizes, all cores, peak.
};

/// From `file`, or measured for about `seconds` (with 128 MiB of memory) and written there. A file
/// that cannot be written costs the measurement every time and is no error.
MachineConstants machineConstants(const std::filesystem::path& file, double seconds = 0.7);

} // namespace engine
