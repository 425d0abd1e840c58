// SPDX-License-Identifier: Apache-2.0
// The smallest folders that are still a whole model: two decoder layers with keys and values of
// their own and two that share them, one layer in each tower, all the kinds of tensors that E2B
// has, a vocabulary of single bytes. For tests that load a model thousands of times.
#pragma once

#include <filesystem>

namespace support {

/// Writes a model folder with random weights, the same bytes every time. Ends the test program with
/// a message when it cannot be written.
void writeTinyModel(const std::filesystem::path& folder);

/// A LoRA adapter of rank 4 for it, on two modules of the decoder and one of each tower.
void writeTinyAdapter(const std::filesystem::path& folder);

} // namespace support
