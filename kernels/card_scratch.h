// SPDX-License-Identifier: Apache-2.0
// The scratch memory of graphics cards, told without one: plans count it before a card is opened.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kernels {

/// Bytes that a card's kernels want of Device::setScratch() for products of up to `rows` rows of up
/// to `width` inputs.
size_t cardScratchBytes(int64_t rows, int64_t width);

} // namespace kernels
