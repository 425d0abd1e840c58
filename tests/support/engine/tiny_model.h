// SPDX-License-Identifier: Apache-2.0
// The smallest folders that are still a whole model: two decoder layers with keys and values of
// their own and two that share them, one layer in each tower, all the kinds of tensors that E2B
// has, a vocabulary of single bytes. For tests that load a model thousands of times.
#pragma once

#include <filesystem>

namespace support {

/// Sizes of the decoder; the layers and their kinds are always the same four.
struct TinyShape {
    int hidden = 64, intermediate = 128, per_layer = 16;
    int heads = 4, sliding_dim = 16, full_dim = 32;
    int assistant_hidden = 0; ///< 0: of the golden one.
};

/// Writes a model folder with random weights, the same bytes every time. Ends the test program with
/// a message when it cannot be written.
void writeTinyModel(const std::filesystem::path& folder, const TinyShape& shape = {});

/// A drafting assistant with random weights for the model of that shape in `model`: its drafts are
/// seldom right.
void writeTinyAssistant(const std::filesystem::path& folder,
                        const std::filesystem::path& model,
                        const TinyShape& shape = {});

/// A LoRA adapter for the model of that shape, on two modules of the decoder and one of the vision
/// tower.
void writeTinyAdapter(const std::filesystem::path& folder,
                      const TinyShape& shape = {},
                      int rank = 4);

} // namespace support
