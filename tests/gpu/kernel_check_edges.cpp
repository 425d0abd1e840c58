// SPDX-License-Identifier: Apache-2.0
// What stands before and behind the layers of a decoded token, against the scalar CPU table, and
// its time beside that of the single functions.
#include "tests/gpu/kernel_check.h"

#include <algorithm>

namespace kernel_check {
namespace {

struct Choice {
    std::vector<float> logits;
    int64_t token = -1;
};

/// Soft cap and the largest of what is not suppressed, the lowest index of equals.
Choice choose(std::vector<float> logits, float cap, const std::vector<uint32_t>& suppressed) {
    Choice choice;
    const auto n = static_cast<int64_t>(logits.size());
    cpuScalarOps().soft_cap({}, {logits.data(), 1, n, n}, cap);
    for (int64_t i = 0; i < n; ++i) {
        const auto at = static_cast<size_t>(i);
        if ((suppressed[at / 32] >> (at % 32) & 1U) == 0 &&
            (choice.token < 0 || logits[at] > logits[static_cast<size_t>(choice.token)])) {
            choice.token = i;
        }
    }
    choice.logits = std::move(logits);
    return choice;
}

void checkChoice(cuda::CudaDevice& d) {
    if (d.ops().cap_argmax == nullptr) {
        std::printf("soft cap and choice are single functions here\n");
        return;
    }
    const Buffer on_card(d, 16);
    auto* const on_host = static_cast<uint64_t*>(d.allocateHost(16));
    void* const mapped = d.kernelAddress(on_host);
#ifdef BELFRY_EMULATED_CARD
    constexpr int64_t kMost = 20480;
#else
    constexpr int64_t kMost = 262144;
#endif
    for (const int64_t count : {kMost, int64_t{5003}, int64_t{3}}) {
        // Two that the cap makes equal, and a larger one that is suppressed.
        std::vector<float> start = normal(static_cast<size_t>(count), 8.0F);
        start[static_cast<size_t>(count - 1)] = 2000.0F;
        start[static_cast<size_t>(count / 2)] = 2001.0F;
        start[0] = 4000.0F;
        std::vector<uint32_t> skipped(static_cast<size_t>((count + 31) / 32), 0);
        skipped[0] = 1;
        const Pair<uint32_t> suppressed(d, skipped);
        const Choice want = choose(start, 30.0F, skipped);
        // The second time: what the blocks count begins at zero again.
        for (int round = 0; round < 3; ++round) {
            const Pair<float> logits(d, start);
            const bool is_mapped = round == 2 && mapped != nullptr;
            on_host[0] = 0;
            const Status status = d.ops().cap_argmax(
                d.queue(), static_cast<float*>(logits.card->data), count, 30.0F, suppressed.there(),
                static_cast<uint64_t*>(is_mapped ? mapped : on_card.data));
            const double error = relativeError(fetch(d, *logits.card, start.size()), want.logits);
            uint64_t best = 0;
            if (!is_mapped) {
                d.copyOut(&best, on_card.data, 8);
            }
            d.synchronize();
            best = is_mapped ? on_host[0] : best;
            const auto token = static_cast<int64_t>(0xffffffffU - static_cast<uint32_t>(best));
            report("soft cap and choice of " + std::to_string(count) +
                       (is_mapped ? ", in memory of the host" : ""),
                   status, token == want.token ? error : 1.0, 1e-6);
        }
    }
    d.freeHost(on_host);
}

void timeChoice(cuda::CudaDevice& d) {
    const int64_t count = 262144;
    const Pair<float> logits(d, normal(static_cast<size_t>(count), 8.0F));
    const Pair<uint32_t> suppressed(d, std::vector<uint32_t>(static_cast<size_t>(count / 32), 0));
    const Buffer best(d, 16);
    auto* const values = static_cast<float*>(logits.card->data);
    auto* const key = static_cast<uint64_t*>(best.data);
    const double single = microseconds(d, 20, [&](int) {
        const Status status = d.ops().soft_cap(d.queue(), {values, 1, count, count}, 30.0F);
        return status == Status::Ok
                   ? d.ops().argmax(d.queue(), values, count, suppressed.there(), key)
                   : status;
    });
    std::printf("  soft cap and choice, single functions       %8.2f us\n", single);
    if (d.ops().cap_argmax != nullptr) {
        const double fused = microseconds(d, 20, [&](int) {
            return d.ops().cap_argmax(d.queue(), values, count, 30.0F, suppressed.there(), key);
        });
        std::printf("  soft cap and choice in one launch           %8.2f us\n", fused);
    }
}

} // namespace

void checkEdges(cuda::CudaDevice& d) {
    checkChoice(d);
}

void timeEdges(cuda::CudaDevice& d) {
    std::printf("\nedges of a token, as parts of a recording\n");
    timeChoice(d);
}

} // namespace kernel_check
