// SPDX-License-Identifier: Apache-2.0
// What there is of this computer and what of it Belfry uses: for "This computer" and the command
// "doctor". Nothing of models, chats or adapters.
#pragma once

#include "engine/api/plan_message.h"
#include "engine/api/snapshot.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace engine {

/// A library that the program uses.
struct LibraryFact {
    std::string name;
    std::string version; ///< As it says itself at run time; else of its headers.
    bool is_told = true; ///< True: version of what runs; false: of what it was built with.
    std::string file;    ///< Where it was loaded from; empty: part of the program.
};

/// A library of the machine's that is loaded at run time, or not.
struct MachineLibraryFact {
    enum class State : uint8_t {
        Loaded = 1,
        NotFound,
        NotAsked,     ///< Nobody has needed it so far, or the driver's answer is not there yet.
        NotUsed,      ///< It is there, and the driver's trouble says why it is not used.
        DoesNotStart, ///< It answers `answer`.
    };
    State state = State::NotFound;
    std::string name;    ///< "libcuda.so.1"
    std::string file;    ///< Empty: not found.
    std::string version; ///< "CUDA 13.0"
    int answer = 0;
};

struct CardFact {
    DeviceId id;
    std::string name;
    int capability = 0; ///< 10 * major + minor
    int multiprocessors = 0;
    uint64_t total = 0;
    std::optional<uint64_t> free; ///< Now, over all programs.
    MemoryBudget budget;          ///< Set by the system.
    /// What estimates expect of it: reads of its memory and products of prompts. 0: not known.
    double read_bytes_per_s = 0, flops = 0;
};

struct FolderFact {
    enum class Kind : uint8_t { Models = 1, Cache, Chats };
    Kind kind = Kind::Models;
    std::string path;
    /// Space on its disk. Nothing: it cannot be asked; `problem` says why.
    std::optional<uint64_t> free, total;
    std::string problem;
};

struct ComputerFacts {
    std::string program; ///< "Belfry 0.1.0"
    std::string system, processor;
    int threads = 0;
    std::string kernels;                    ///< The table of the processor's kernels that computes.
    std::vector<std::string> kernel_tables; ///< All that this machine can run.
    uint64_t memory_total = 0, memory_free = 0;

    std::string card_kernels; ///< Architectures that this build has kernels for; empty: none.
    std::vector<MachineLibraryFact> machine_libraries;
    /// Nobody has asked the driver, or it has not answered yet.
    bool is_driver_asked = false, is_driver_waited_for = false;
    double driver_seconds = 0; ///< That asking it took, or has taken so far.
    std::vector<CardFact> cards;
    std::vector<CardTrouble> troubles;

    /// Measured here: a streaming read of main memory, products. 0: not measured yet.
    double read_bytes_per_s = 0, flops = 0;
    std::vector<FolderFact> folders;
    std::vector<LibraryFact> libraries;
};

/// What is told of them, line by line.
struct ComputerRow {
    Sentence name; ///< Empty: more of the row above.
    Sentence value;
    bool is_problem = false;
};
struct ComputerSection {
    Sentence title;
    std::vector<ComputerRow> rows;
};

} // namespace engine
