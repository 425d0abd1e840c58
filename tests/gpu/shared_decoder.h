// SPDX-License-Identifier: Apache-2.0
// Decoders that cards and the CPU share, in 16 bits: fused steps on each device.
#pragma once

#include "tests/gpu/check_list.h"

#include <cstdint>
#include <string>
#include <vector>

namespace gpu {

/// Section "shared", small models: a decoder in parts gives to the bit what one card gives where
/// all parts are on cards of a kind, and within what two kinds of processor differ by where the
/// CPU has some; with and without fused steps there. device: "cuda:" or, to show that the checks
/// themselves are right, "sim:".
void sharedDecoders(CheckList& list, const std::string& device, bool has_second);

/// The time that fused steps save: E2B's shape with three layers on the CPU, and over two cards
/// where there are two; tokens/s with them and without are the figure.
void sharedDecoderRates(CheckList& list, bool has_second);

} // namespace gpu
