// SPDX-License-Identifier: Apache-2.0
// Merging adapters into a model folder, as it is asked for and reported.
#pragma once

#include "engine/api/load_request.h"

#include <cstdint>
#include <string>
#include <vector>

namespace engine {

/// Which adapters go into which folder.
struct MergeOrder {
    std::string model;                   ///< Folder of 16 or 32-bit weights, or "demo".
    std::vector<AdapterChoice> adapters; ///< In order.
    std::string out_folder;              ///< Must not exist or be empty; not the model's.
};

/// Adapters that became one.
struct StackReport {
    int64_t adapters = 0;
    int64_t rank = 0; ///< Rank and alpha of every module.
    int64_t modules = 0;
    uint64_t bytes = 0; ///< Size of the new file.
};

/// U = the update that really happened, D = the wanted one.
struct MergedTensor {
    std::string tensor;
    double kept = 0.0;                                  ///< <U, D> / ||D||^2
    double error = 0.0;                                 ///< ||U - D|| / ||D||
    double max_deviation = 0.0;                         ///< max |U - D|
    double delta_norm = 0.0;                            ///< ||D||_F
    bool has_quantized = false;                         ///< The next four are measured.
    double quantized_kept = 0.0, quantized_error = 0.0; ///< U = NF4(W') - NF4(W)
    double quantized_changed_codes = 0.0;               ///< Share, 0 to 1.
    double quantized_direct_kept =
        0.0; ///< U = NF4(dequantized NF4(W) + D) - NF4(W): merging into 4 bits.
};

struct FileDigest {
    std::string file; ///< Relative to its folder.
    std::string sha256;
    uint64_t bytes = 0;
};

struct MergeReport {
    std::vector<MergedTensor> tensors; ///< Changed tensors, model order.
    std::vector<std::string> replaced; ///< Replaced whole or by rows.
    double median_quantized_kept = 0.0, median_quantized_direct_kept = 0.0;
    std::vector<FileDigest> inputs, adapters, outputs;
    std::vector<std::string> notes; ///< Inert keys, tied head, ...
    int64_t copied_tensors = 0;
};

} // namespace engine
