// SPDX-License-Identifier: Apache-2.0
// The launch behind the layers of an assistant (device/decode/draft_choice.cu).
#include "kernels/cuda/launch/launch_args.h"
#include "kernels/cuda/launch_sizes.h"

#include <algorithm>
#include <cstddef>

namespace kernels::cuda {

namespace {

constexpr unsigned kChoiceThreads = 512;

/// Blocks of a group: as many as keep the card busy, of a row a warp at least.
int partsOf(const Stream& s, const DraftChoiceArgs& a) {
    const int64_t most = std::max<int64_t>(1, a.tokens / a.groups * 32 / kChoiceThreads);
    return static_cast<int>(std::clamp<int64_t>(s.facts.multiprocessors / a.top, 1, most));
}

bool hasGroupForm(const DraftChoiceArgs& a) {
    const bool is_plain = a.table.format == WeightFormat::BF16 ||
                          a.table.format == WeightFormat::F16 ||
                          a.table.format == WeightFormat::F32;
    return is_plain && a.groups <= kMaxLogitGroups && a.table.cols % 8 == 0 &&
           a.table.cols <= kMostDraftColumns && isAligned(a.table.data);
}

} // namespace

bool takesDraftChoice(Queue /*q*/, const DraftChoiceArgs& a) {
    return a.groups > 0 ? hasGroupForm(a) : isAligned(a.logits);
}

Status chooseDraft(Queue q, const DraftChoiceArgs& a) {
    static_assert(sizeof(DraftNumbers) == sizeof(DraftNumberArgs) &&
                  offsetof(TokenNumbers, token) == offsetof(TokenNumberArgs, token) &&
                  offsetof(DraftNumbers, count) == offsetof(DraftNumberArgs, count) &&
                  DraftNumbers::kMost == kMostDraftNumbers);
    const bool has_groups = a.groups > 0;
    if (a.logits == nullptr || a.numbers == nullptr || a.tokens <= 0 || a.groups < 0 ||
        (has_groups &&
         (a.tokens % a.groups != 0 || a.top < 1 || a.top > a.groups || a.ordering == nullptr ||
          a.x == nullptr || !isWeight(a.table) || a.table.rows != a.tokens))) {
        return Status::BadShape;
    }
    if (!takesDraftChoice(q, a)) {
        return Status::Unsupported;
    }
    Stream& s = streamOf(q);
    DraftChoiceKernelArgs args{};
    args.logits = a.logits;
    args.suppressed = a.suppressed;
    args.ordering = a.ordering;
    args.x = a.x;
    args.norm = vectorArgs(a.norm);
    args.counters = static_cast<EdgeCounters*>(pointerOf(s.scratch + kEdgeOffset));
    args.numbers = reinterpret_cast<DraftNumberArgs*>(a.numbers);
    args.told = a.told;
    args.tokens = static_cast<int32_t>(a.tokens);
    args.eps = a.eps;
    if (!has_groups) {
        const unsigned blocks = std::min(tiles(a.tokens, int64_t{4} * kChoiceThreads),
                                         static_cast<unsigned>(s.facts.multiprocessors));
        return s.launch(KernelId::draft_largest, blocks, 1, 1, kChoiceThreads, 0, args);
    }
    args.table = weightArgs(a.table);
    args.groups = static_cast<int32_t>(a.groups);
    args.top = static_cast<int32_t>(a.top);
    args.group_size = static_cast<int32_t>(a.tokens / a.groups);
    args.parts = partsOf(s, a);
    return s.launch(KernelId::draft_groups, static_cast<unsigned>(args.top * args.parts), 1, 1,
                    kChoiceThreads, 0, args);
}

} // namespace kernels::cuda
