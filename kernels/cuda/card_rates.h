// SPDX-License-Identifier: Apache-2.0
// What a card reaches when it does nothing but read or multiply: the ceilings of benchmarks.
#pragma once

namespace kernels::cuda {

class CudaDevice;

struct CardRates {
    double read_bytes_per_s = 0.0; ///< From the card's own memory.
    double bf16_flops = 0.0;       ///< Tensor cores (mma.sync), fp32 sums; 0 below sm_80.
};

/// Measures for about 50 ms, with up to 1 GiB that is taken from the driver and given back. Rates
/// of what does not work (no memory, kernels missing) are 0.
CardRates measureCard(CudaDevice& device);

} // namespace kernels::cuda
