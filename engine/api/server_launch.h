// SPDX-License-Identifier: Apache-2.0
// How the model of a plan is run on a server: commands and compose files to copy. Belfry starts
// nothing on another computer.
#pragma once

#include "engine/api/sentence.h"

#include <cstdint>
#include <string>
#include <vector>

namespace engine {

/// The server that is thought of.
struct ServerCards {
    int count = 0; ///< 1, 2, 3, 4, 6 or 8; 0: as few as hold the model.
    uint64_t bytes_each = uint64_t{80} << 30U;
    friend bool operator==(const ServerCards&, const ServerCards&) = default;
};

/// One server program.
struct LaunchForm {
    std::string product; ///< "vLLM", "SGLang"
    std::string command; ///< For a POSIX shell; lines end in '\'.
    std::string compose; ///< compose.yaml
    /// What of the placement is another one there, or cannot be.
    std::vector<Sentence> losses;
};

struct ServerLaunch {
    ServerCards cards;             ///< With the count that was chosen.
    uint64_t bytes_each = 0;       ///< Estimated, on each card; weights in 16 bit.
    std::vector<LaunchForm> forms; ///< At least one.
    /// A command of belfry-cli that makes one model of the base and its adapters, where a server
    /// could not take these adapters as they are; else empty.
    std::string merge_command;
    /// The same for one adapter of all of them at their strengths; empty where that cannot be
    /// (engine/lora/stack.h), or is not needed.
    std::string stack_command;
};

} // namespace engine
