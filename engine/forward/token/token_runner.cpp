// SPDX-License-Identifier: Apache-2.0
#include "engine/forward/token/token_runner.h"

#include <cassert>

namespace engine {

void TokenRunner::forgetSuppressed() {
    settle();
    whole_.forgetSuppressed();
    parts_.forgetSuppressed();
}

void TokenRunner::reset() {
    whole_.reset();
    parts_.reset();
    check_.reset();
}

void TokenRunner::strengthsChanged() {
    whole_.strengthsChanged();
    parts_.strengthsChanged();
}

Result<void> TokenRunner::run(int32_t id,
                              KvCache& kv,
                              TokenChoice* choice,
                              std::vector<float>& logits,
                              const std::stop_token& stop) {
    if (choice != nullptr) {
        choice->token.reset();
        choice->top = {};
    }
    if (stop.stop_requested()) {
        return Error{ErrorCode::Cancelled, said("stopped by the user")};
    }
    if (whole_.isPossible(kv)) {
        return runWhole(id, kv, choice, logits);
    }
    ENGINE_TRY(rows_.open(*model_, kv, 1, {}, 1));
    kv.append(rows_.blocks());
    Result<void> outcome = runLayers(id, {model_->decoderStack(), kv, rows_}, choice, logits, stop);
    if (!outcome.has_value()) {
        [[maybe_unused]] const bool is_rolled_back = kv.takeBack();
        assert(is_rolled_back);
    }
    return outcome;
}

Result<bool> TokenRunner::check(std::span<const int32_t> ids,
                                KvCache& kv,
                                RowChoices& choices,
                                const CheckStep::Later* later) {
    settle();
    if (!whole_.isPossible(kv) || !check_.isPossible(kv, static_cast<int64_t>(ids.size()))) {
        return false;
    }
    ENGINE_TRY(whole_.setSuppressed(choices.suppressed));
    ENGINE_TRY(check_.run(ids, kv, choices, later));
    return true;
}

Result<void>
TokenRunner::runWhole(int32_t id, KvCache& kv, TokenChoice* choice, std::vector<float>& logits) {
    const bool is_greedy = choice != nullptr && choice->is_greedy;
    const bool is_among_few = choice != nullptr && choice->wanted > 0 && whole_.hasTopLogits();
    if (!is_greedy && !is_among_few) {
        return whole_.run(id, kv, &logits, nullptr);
    }
    ENGINE_TRY(whole_.setSuppressed(choice->suppressed));
    if (is_greedy) {
        int32_t next = 0;
        ENGINE_TRY(whole_.run(id, kv, nullptr, &next));
        choice->token = next;
        return {};
    }
    ENGINE_ASSIGN(choice->top, whole_.runForTop(id, kv, choice->wanted, logits));
    return {};
}

Result<void> TokenRunner::runLayers(int32_t id,
                                    const LayerCall& call,
                                    TokenChoice* choice,
                                    std::vector<float>& logits,
                                    const std::stop_token& stop) {
    const TextConfig& text = model_->config.text;
    const bool has_parts = parts_.isPossible(call.kv);
    Stream stream = decoder_->begin(1);
    if (!has_parts || !parts_.hasInputs()) { // else its first part makes them
        DecoderInputs& inputs = decoder_->inputs();
        ENGINE_TRY(inputs.embed(std::span(&id, 1), {}, *stream.home, stream.x));
        if (text.ple_size > 0) {
            ENGINE_TRY(inputs.perLayer(*stream.home, stream.x, 1));
        }
    }
    for (int i = 0; i < static_cast<int>(text.num_layers); ++i) {
        if (!model_->mayGoOn(stop)) {
            return Error{ErrorCode::Cancelled, said("stopped by the user")};
        }
        const DecoderLayer& layer = model_->text.layers[static_cast<size_t>(i)];
        ENGINE_TRY(decoder_->moveTo(*layer.home, stream));
        if (const int end = has_parts ? parts_.endOf(i) : i; end > i) {
            ENGINE_TRY(parts_.run(i, id, call.kv));
            i = end - 1;
            continue;
        }
        ENGINE_TRY(call.rows.uploadTo(*layer.home, call.kv));
        ENGINE_TRY(call.rows.uploadTo(*layer.attention, call.kv));
        ENGINE_TRY(decoder_->single().runLayer(call, i, stream.x, false));
    }
    return end(id, call, stream, choice, logits);
}

Result<void> TokenRunner::end(int32_t id,
                              const LayerCall& call,
                              Stream stream,
                              TokenChoice* choice,
                              std::vector<float>& logits) {
    const bool has_parts = parts_.isPossible(call.kv);
    if (has_parts && parts_.hasHeadPart()) {
        ENGINE_TRY(decoder_->moveTo(*model_->text.head_home, stream));
        ENGINE_TRY(parts_.run(static_cast<int>(model_->config.text.num_layers), id, call.kv));
    }
    if (has_parts && parts_.hasHead()) {
        return parts_.takeResult(choice, logits);
    }
    ENGINE_TRY(decoder_->head(stream, logits, nullptr));
    parts_.noteEnded();
    return {};
}

} // namespace engine
