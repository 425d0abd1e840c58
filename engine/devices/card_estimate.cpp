// SPDX-License-Identifier: Apache-2.0
#include "engine/devices/card_estimate.h"

#include "engine/plan/plan_speed.h"

#include <algorithm>

namespace engine {

namespace {

/// Operations (a multiplication and an addition are two) of the tensor cores per clock and
/// multiprocessor: 16-bit operands, fp32 sums, dense. Each from the maker's figure for one card:
int operationsPerClock(int compute_capability) {
    if (compute_capability < 80) {
        return 1024; // T4: 65 TFLOP/s, 40 multiprocessors, 1.59 GHz
    }
    if (compute_capability < 86) {
        return 2048; // A100: 312 TFLOP/s, 108, 1.41 GHz
    }
    if (compute_capability < 90) {
        // GeForce, half of what a workstation card of the same chip does: RTX 3060 25.5 TFLOP/s,
        // 28, 1.78 GHz; RTX 4090 165 TFLOP/s, 128, 2.52 GHz
        return 512;
    }
    if (compute_capability < 120) {
        return 4096; // H100: 989 TFLOP/s, 132, 1.83 GHz; 10.x counted alike: mma.sync, as there
    }
    return 512; // RTX 5090: 209 TFLOP/s, 170, 2.41 GHz
}

/// Decoding reads 4-bit codes no faster than it can expand them: E2B 905 and E4B 575 tokens/s on
/// H200 and H100 (docs/benchmarks.md) are 1.37 and 2.72 GB at 2.6 TB/s, 10.4 bytes a
/// clock and multiprocessor at 1.9 GHz, and 16.5 us a layer. Fitted there, a guess elsewhere:
/// slower memories are the limit of most cards.
constexpr double kDecodedBytesPerClock = 10.0;
constexpr double kLayerOverhead = 16.5e-6;
/// Share of the tensor cores' rate that products of prompts reach on a 9.0 (product_wide.cu): 217k
/// (E2B) and 82k (E4B) tokens/s at 4096; of 10.x by `mma.sync` alone, as a 9.0 had it before (160k
/// and 53k). Others: the planner's share.
constexpr double kShareOf90 = 0.54;
constexpr double kShareOf100 = 0.29;

} // namespace

DeviceRates estimatedRates(const kernels::cuda::Card& card) {
    DeviceRates rates;
    const double clocks = 1e3 * card.clock_khz * card.multiprocessors; // of all, per second
    if (!(clocks > 0) || card.memory_clock_khz <= 0 || card.memory_bus_bits <= 0) {
        return rates;
    }
    // Two transfers a clock, as the driver counts it for all kinds of memory.
    const double memory = 2e3 * card.memory_clock_khz * card.memory_bus_bits / 8;
    const double share = bandwidthShare(DeviceId::cuda(card.ordinal));
    rates.read_bytes_per_s = std::min(memory, kDecodedBytesPerClock * clocks / share);
    const bool is_data_center = card.compute_capability >= 90 && card.compute_capability < 120;
    const double product_share = productShare(DeviceId::cuda(card.ordinal));
    const double reached = card.compute_capability == 90 ? kShareOf90
                           : is_data_center              ? kShareOf100
                                                         : product_share;
    rates.flops = operationsPerClock(card.compute_capability) * clocks * reached / product_share;
    if (is_data_center) {
        rates.layer_overhead_s = kLayerOverhead;
    }
    return rates;
}

} // namespace engine
