// SPDX-License-Identifier: Apache-2.0
#include "engine/forward/token/token_choice.h"

#include "engine/forward/memory/compute_context.h"

#include <algorithm>

namespace engine {

Result<void>
sendSuppressed(DeviceScratch& home, Buffer to, std::span<const int32_t> ids, int64_t vocab) {
    std::vector<uint32_t> words(static_cast<size_t>((vocab + 31) / 32), 0);
    for (const int32_t id : ids) {
        if (id >= 0 && id < vocab) {
            words[static_cast<size_t>(id) / 32] |= 1U << (static_cast<uint32_t>(id) % 32);
        }
    }
    return checkStatus(
        home.device().copyIn(home.buffer(to), words.data(), words.size() * sizeof(uint32_t)),
        "copy in", "suppressed tokens");
}

Result<void>
SuppressedTokens::send(DeviceScratch& home, std::span<const int32_t> ids, int64_t vocab) {
    if (sent_.has_value() && std::equal(sent_->begin(), sent_->end(), ids.begin(), ids.end())) {
        return {};
    }
    sent_.reset();
    ENGINE_TRY(sendSuppressed(home, Buffer::StepSuppressed, ids, vocab));
    sent_.emplace(ids.begin(), ids.end());
    return {};
}

Result<int32_t> tokenOfKey(uint64_t key) {
    // Finite logits lie between the keys of -infinity and +infinity; NaN above or below.
    const auto order = static_cast<uint32_t>(key >> 32U);
    if (order <= 0x007fffffU || order >= 0xff800000U) {
        return Error{ErrorCode::Internal,
                     "the logits hold NaN or infinity, or every token is suppressed"};
    }
    return static_cast<int32_t>(0xffffffffU - static_cast<uint32_t>(key));
}

Result<void>
HeadChooser::choose(DeviceScratch& home, int64_t vocab, TokenChoice& choice, int64_t row) {
    const kernels::OpTable& ops = home.ops();
    const bool can_tell = choice.is_greedy ? ops.argmax != nullptr
                                           : choice.wanted > 0 && vocab <= ops.most_top_logits;
    if (!can_tell || !home.has(Buffer::StepBest)) {
        return {};
    }
    ENGINE_TRY(suppressed_.send(home, choice.suppressed, vocab));
    const auto queue = home.queue();
    float* const logits = home.buffer(Buffer::Logits) + row * vocab;
    const auto* bits = reinterpret_cast<const uint32_t*>(home.buffer(Buffer::StepSuppressed));
    if (choice.is_greedy) {
        auto* const best = reinterpret_cast<uint64_t*>(home.buffer(Buffer::StepBest));
        ENGINE_KERNEL(ops.argmax(queue, logits, vocab, bits, best), "largest logit", "logits");
        uint64_t key = 0;
        ENGINE_KERNEL(home.device().copyOut(&key, best, sizeof(key)), "copy out", "logits");
        ENGINE_ASSIGN(choice.token, tokenOfKey(key));
        return {};
    }
    auto* const there = reinterpret_cast<kernels::TopLogits*>(home.buffer(Buffer::StepBest));
    ENGINE_KERNEL(ops.top_logits(queue, logits, vocab, 0.0F, bits, choice.wanted, there),
                  "largest logits", "logits");
    kernels::TopLogits& top = top_[static_cast<size_t>(row)];
    ENGINE_KERNEL(home.device().copyOut(&top, there, sizeof(top)), "copy out", "logits");
    choice.top = {top.entry, static_cast<size_t>(std::max(0, top.count))};
    return {};
}

} // namespace engine
