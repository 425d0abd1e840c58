// SPDX-License-Identifier: Apache-2.0
// The device code inside this program: one fatbin per device/*/*.cu, embedded at build time. A
// build without nvcc has none and says so when a card is asked for.
#pragma once

#include <cstddef>
#include <span>

namespace kernels::cuda {

struct FatbinImage {
    const char* name = ""; ///< Name of the .cu file without its ending.
    const unsigned char* data = nullptr;
    size_t bytes = 0;
    /// Compute capabilities (10 * major + minor) of the cards that run it; others do not load it.
    int oldest_capability = 0;
    int newest_capability = 999;
};

/// All embedded images; empty when the program was built without nvcc.
std::span<const FatbinImage> embeddedImages();

/// Architectures that the images were built for, e.g. "75 80 90 90-virtual"; empty without images.
const char* embeddedArchitectures();

} // namespace kernels::cuda
