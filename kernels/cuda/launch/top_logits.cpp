// SPDX-License-Identifier: Apache-2.0
// The launch behind the head where the host draws a token (device/decode/top_logits.cu).
#include "kernels/cuda/launch/launch_args.h"
#include "kernels/cuda/launch_sizes.h"

#include <algorithm>
#include <cstddef>

namespace kernels::cuda {

Status topLogits(Queue q,
                 float* logits,
                 int64_t count,
                 float cap,
                 const uint32_t* suppressed,
                 int32_t wanted,
                 TopLogits* top) {
    static_assert(sizeof(TopLogits) == sizeof(TopLogitArgs) &&
                  offsetof(TopLogits, entry) == offsetof(TopLogitArgs, entry) &&
                  offsetof(TokenLogit, logit) == 4 && TopLogits::kMost == kMostTopLogits &&
                  TopLogits::kSeeRow == kTopSeeRow);
    static_assert(kPartialOffset + kMaxLogitGroups * sizeof(uint32_t) <= scratchBytes(1, 1));
    if (logits == nullptr || top == nullptr || count <= 0 || !(cap >= 0.0F) || wanted < 1 ||
        wanted > TopLogits::kMostWanted) {
        return Status::BadShape;
    }
    Stream& s = streamOf(q);
    // Four logits a lane; as few lanes a group as the number of groups allows.
    int group_lanes = 1;
    while (group_lanes < 32 && count > int64_t{4} * group_lanes * kMaxLogitGroups) {
        group_lanes *= 2;
    }
    if (count > kMostTopRow ||
        s.scratch_bytes < kPartialOffset + kMaxLogitGroups * sizeof(uint32_t) ||
        reinterpret_cast<uintptr_t>(logits) % 16 != 0 ||
        reinterpret_cast<uintptr_t>(top) % 8 != 0) {
        return Status::Unsupported;
    }
    const unsigned threads = 512;
    const unsigned blocks = std::min(tiles(count, int64_t{4} * threads),
                                     4 * static_cast<unsigned>(s.facts.multiprocessors));
    return s.launch(KernelId::top_logits, blocks, 1, 1, threads, 0, logits, static_cast<int>(count),
                    suppressed, reinterpret_cast<TopLogitArgs*>(top), cap,
                    static_cast<EdgeCounters*>(pointerOf(s.scratch + kEdgeOffset)),
                    static_cast<uint32_t*>(pointerOf(s.scratch + kPartialOffset)), group_lanes,
                    static_cast<int>(wanted));
}

} // namespace kernels::cuda
