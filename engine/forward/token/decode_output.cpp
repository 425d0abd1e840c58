// SPDX-License-Identifier: Apache-2.0
// What stands behind the layers of a decoded token: the soft cap, and the greedy choice or the
// candidates. And what is found out before the first one.
#include "engine/forward/token/decode_step.h"

#include <algorithm>
#include <cstring>

namespace engine {

using kernels::MutF32;
using kernels::Status;

Result<void> DecodeStep::prepare() {
    inputs_.prepare(*home_);
    result_at_ = (inputs_.blockBytes() + 15) / 16 * 16;
    if (host_ == nullptr) {
        static_assert(sizeof(kernels::TopLogits) >= kKeyBytes);
        host_ = pageLocked(home_->device(), result_at_ + sizeof(kernels::TopLogits));
    }
    if (host_ == nullptr) {
        return Error{ErrorCode::OutOfMemory,
                     said("%1: no page-locked memory for the decode step", home_->id().toString())};
    }
    return {};
}

Result<void> DecodeStep::sendInput() {
    return checkStatus(home_->device().copyInLater(home_->buffer(Buffer::StepInput), host_.get(),
                                                   inputs_.sentBytes(), kernels::Device::kNoMark),
                       "copy in", "decode step");
}

bool DecodeStep::hasTopLogits() const {
    return home_ != nullptr && model_->decode.has_candidates &&
           model_->config.text.vocab_size <= home_->ops().most_top_logits;
}

Result<void> DecodeStep::enqueueTop() {
    const TextConfig& text = model_->config.text;
    const auto queue = home_->queue();
    const auto& ops = home_->ops();
    const std::string& name = model_->text.head.name;
    const auto cap = static_cast<float>(std::max(0.0, text.final_logit_softcap));
    auto* const here = reinterpret_cast<kernels::TopLogits*>(home_->buffer(Buffer::StepBest));
    void* const there = home_->device().kernelAddress(&top());
    ENGINE_KERNEL(
        ops.top_logits(queue, home_->buffer(Buffer::Logits), text.vocab_size, cap,
                       reinterpret_cast<const uint32_t*>(home_->buffer(Buffer::StepSuppressed)),
                       top_, there == nullptr ? here : static_cast<kernels::TopLogits*>(there)),
        "largest logits", name);
    return there != nullptr ? Result<void>()
                            : checkStatus(home_->device().copyOut(&top(), here, sizeof(*here)),
                                          "copy out", "decode step");
}

Result<void> DecodeStep::enqueueChoice() {
    if (top_ > 0) {
        return enqueueTop();
    }
    const TextConfig& text = model_->config.text;
    const auto queue = home_->queue();
    const auto& ops = home_->ops();
    const std::string& name = model_->text.head.name;
    const auto cap = static_cast<float>(std::max(0.0, text.final_logit_softcap));
    float* const logits = home_->buffer(Buffer::Logits);
    const auto* suppressed =
        reinterpret_cast<const uint32_t*>(home_->buffer(Buffer::StepSuppressed));
    auto* const best = reinterpret_cast<uint64_t*>(home_->buffer(Buffer::StepBest));
    if (ops.cap_argmax != nullptr) {
        auto* const there = static_cast<uint64_t*>(home_->device().kernelAddress(result()));
        ENGINE_KERNEL(ops.cap_argmax(queue, logits, text.vocab_size, cap, suppressed,
                                     there == nullptr ? best : there),
                      "largest logit", name);
        if (there != nullptr) {
            return {};
        }
    } else {
        if (cap > 0) {
            ENGINE_KERNEL(
                ops.soft_cap(queue, home_->matrix(Buffer::Logits, 1, text.vocab_size), cap),
                "soft cap", name);
        }
        ENGINE_KERNEL(ops.argmax(queue, logits, text.vocab_size, suppressed, best), "largest logit",
                      name);
    }
    return checkStatus(home_->device().copyOut(result(), best, kKeyBytes), "copy out",
                       "decode step");
}

} // namespace engine
