// SPDX-License-Identifier: Apache-2.0
// Stands for kernels/cuda's generated table of images in a program that is linked as a build
// without nvcc is.
#include "kernels/cuda/fatbin.h"

namespace kernels::cuda {

std::span<const FatbinImage> embeddedImages() {
    return {};
}

const char* embeddedArchitectures() {
    return "";
}

} // namespace kernels::cuda
