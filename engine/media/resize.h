// SPDX-License-Identifier: Apache-2.0
// Antialiased bicubic resize of 8-bit RGB, equal to Pillow's bit for bit: two passes, horizontal
// first, each from and to 8 bits with 22-bit fixed-point weights (spec: gemma4, section 4.1).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace engine::media {

/// The taps of one axis, n_in -> n_out. Output i is the sum over k < count[i] of
/// weights[i * max_taps + k] * input[start[i] + k].
struct AxisWeights {
    int64_t max_taps = 0;
    std::vector<int64_t> start;   ///< [n_out]
    std::vector<int64_t> count;   ///< [n_out], 1..max_taps
    std::vector<int32_t> weights; ///< [n_out, max_taps], scaled by 2^22
};

AxisWeights bicubicWeights(int64_t n_in, int64_t n_out);

/// rgb: [height, width, 3]; returns [new_height, new_width, 3]. Sizes are positive and at most
/// 2^24. A pass whose side does not change is skipped.
std::vector<uint8_t> resizeBicubic(std::span<const uint8_t> rgb,
                                   int64_t height,
                                   int64_t width,
                                   int64_t new_height,
                                   int64_t new_width);

} // namespace engine::media
