// SPDX-License-Identifier: Apache-2.0
// Working memory of one thread, kept between calls: converted activations, packed tiles, scores.
// Every slot has a bound that its users keep (see the constants where they ask for it), so the
// whole stays in the low tens of MiB per thread; it is freed when the thread ends.
#pragma once

#include <cstddef>

namespace kernels::cpu {

/// One slot per use that can be alive at the same time on one thread.
enum class ScratchSlot {
    Activations = 0, ///< Converted x of a linear, read by all threads of the job.
    Panel,           ///< Packed weight tile.
    Rows,            ///< Expanded 4-bit rows.
    Scales,          ///< Decoded absmax of some rows.
    PairScales,      ///< The same of a second weight in use beside the first.
    Input,           ///< Normed and residual input of a decode step, one per thread.
    Products,        ///< Second products of a pair before they are multiplied.
    Experts,         ///< Results of routed experts, by place.
    Attention,       ///< One attention task.
    Partials,        ///< Attention results of key ranges before they are merged.
    Count
};

/// At least `bytes` bytes, aligned to 64, with unspecified contents; the same slot's former memory
/// is gone. nullptr when the system has no room.
void* threadScratch(ScratchSlot slot, size_t bytes);

template <typename T>
T* threadScratchOf(ScratchSlot slot, size_t count) {
    return static_cast<T*>(threadScratch(slot, count * sizeof(T)));
}

} // namespace kernels::cpu
