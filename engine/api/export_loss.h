// SPDX-License-Identifier: Apache-2.0
// What another program does differently with an exported map, as values, each a kind of its own.
// Words: engine/plan/export_english.h for the command line and the comments of the exported text,
// the window in its own languages.
#pragma once

#include "engine/api/plan_message.h"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace engine {

namespace loss {

/// The plan does not fit: issue::OverLimit or issue::OverHost.
struct Shortage {
    Finding finding;
};

// Of accelerate and transformers.

/// Tensors that compute elsewhere here. There: on `main`; without it on the CPU.
struct ComputesElsewhere {
    size_t count = 0;
    std::optional<DeviceId> main = {};
};
/// Tensors with a lasting copy where they compute; there they are copied for every call.
struct KeepsCopy {
    size_t count = 0;
};
/// An embedding table or the head, which stays unquantized there.
struct TableInFormat {
    std::string tensor, format;
};
/// The head's 8 bits do not exist there.
struct HeadInt8 {};
/// Weights of 4 bits outside of GPUs, which stay in bfloat16 there.
struct HostUnquantized {
    size_t count = 0;
    uint64_t bytes_there = 0, bytes_here = 0;
};
/// What is not quantized has one type there.
struct DenseFormat {
    size_t count = 0;
    std::string format = {};
};
struct NoSimulatedGpus {};
/// Two copies of the tied table; there both may move together.
struct TiedCopies {};
/// Weights of another 4-bit format than most: there is one per model.
struct SecondFormat {
    size_t count = 0;
    std::string format = {};
};
/// Blocks of other sizes than this do not exist there.
struct OtherBlocks {
    int64_t block_size = 0;
};

// Of llama.cpp.

/// These layers go whole where their queries go.
struct SplitLayers {
    std::vector<int> layers;
};
/// Buffers, as they are called there.
struct HeadElsewhere {
    std::string there, here;
};
/// The cache of these layers stays with the layer.
struct CacheElsewhere {
    std::vector<int> layers;
};
/// Both towers go to `gpu`, a buffer's name, or both to the CPU, as the option says.
struct TowersTogether {
    bool is_on_cpu = false; ///< As the text is.
    std::string gpu = {};
};
struct PerLayerTableOnCpu {};
struct TokenTableOnCpu {};
/// Simulated GPUs are named as cards.
struct SimulatedAsCards {};
/// Weights that visit a GPU here and compute on the CPU there.
struct VisitorsOnCpu {
    size_t count = 0;
};
/// There the whole file is memory-mapped.
struct WholeFileMapped {};
/// Formats are those of the GGUF file.
struct FormatsOfFile {
    std::vector<std::string> formats;
};

} // namespace loss

using ExportLossKinds = std::variant<loss::Shortage,
                                     loss::ComputesElsewhere,
                                     loss::KeepsCopy,
                                     loss::TableInFormat,
                                     loss::HeadInt8,
                                     loss::HostUnquantized,
                                     loss::DenseFormat,
                                     loss::NoSimulatedGpus,
                                     loss::TiedCopies,
                                     loss::SecondFormat,
                                     loss::OtherBlocks,
                                     loss::SplitLayers,
                                     loss::HeadElsewhere,
                                     loss::CacheElsewhere,
                                     loss::TowersTogether,
                                     loss::PerLayerTableOnCpu,
                                     loss::TokenTableOnCpu,
                                     loss::SimulatedAsCards,
                                     loss::VisitorsOnCpu,
                                     loss::WholeFileMapped,
                                     loss::FormatsOfFile>;

/// One of these kinds. Its copies, moves and destructor are compiled in values.cpp alone.
struct ExportLoss : ExportLossKinds {
    using ExportLossKinds::ExportLossKinds;
    ExportLoss();
    ExportLoss(const ExportLoss&);
    ExportLoss(ExportLoss&&) noexcept;
    ExportLoss& operator=(const ExportLoss&);
    ExportLoss& operator=(ExportLoss&&) noexcept;
    ~ExportLoss();
    friend bool operator==(const ExportLoss&, const ExportLoss&) = delete;
    friend bool operator<(const ExportLoss&, const ExportLoss&) = delete;
};

} // namespace engine
