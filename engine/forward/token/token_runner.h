// SPDX-License-Identifier: Apache-2.0
// One decoded token: the fused steps of a whole token where one device has all of the decoder
// (decode_step.h), else layer by layer, with fused steps for the parts that have them
// (split_steps.h) and single functions for the others. Which of the two is chosen behind a binding,
// by what the devices' tables take.
#pragma once

#include "engine/forward/decoder.h"
#include "engine/forward/token/check_step.h"
#include "engine/forward/token/decode_step.h"
#include "engine/forward/token/split_steps.h"

namespace engine {

class TokenRunner {
public:
    TokenRunner(BoundModel& model, Decoder& decoder)
        : model_(&model), decoder_(&decoder), whole_(model), parts_(model), check_(model) {}

    /// As Model::step().
    Result<void> run(int32_t id,
                     KvCache& kv,
                     TokenChoice* choice,
                     std::vector<float>& logits,
                     const std::stop_token& stop);
    /// As Model::check().
    Result<bool> check(std::span<const int32_t> ids,
                       KvCache& kv,
                       RowChoices& choices,
                       const CheckStep::Later* later = nullptr);
    /// Where so many rows are checked as fused steps; nullptr: nowhere.
    [[nodiscard]] const DeviceScratch* checksOn(const KvCache& kv, int64_t rows) {
        return whole_.isPossible(kv) && check_.isPossible(kv, rows) ? check_.home() : nullptr;
    }
    /// Who takes the rest of a prompt for its last row; nullptr where nobody does.
    [[nodiscard]] DecodeStep* lastRow(const KvCache& kv) {
        return whole_.isPossible(kv) ? &whole_ : nullptr;
    }
    /// Waits for parts of a token that was given up between two of them. Call it before anything
    /// else touches the cache or the weights.
    void settle() { parts_.settle(); }
    /// Somebody else writes the devices' lists of suppressed tokens.
    void forgetSuppressed();
    /// Bindings, adapters or buffers changed: everything is found out and recorded anew.
    void reset();
    /// The same where only strengths changed that a recording follows, unless they are part of it.
    void strengthsChanged();

private:
    Result<void> runWhole(int32_t id, KvCache& kv, TokenChoice* choice, std::vector<float>& logits);
    Result<void> runLayers(int32_t id,
                           const LayerCall& call,
                           TokenChoice* choice,
                           std::vector<float>& logits,
                           const std::stop_token& stop);
    /// Logits or choice behind the layers.
    Result<void> end(int32_t id,
                     const LayerCall& call,
                     Stream stream,
                     TokenChoice* choice,
                     std::vector<float>& logits);

    BoundModel* model_;
    Decoder* decoder_;
    DecodeStep whole_;
    SplitSteps parts_;
    CheckStep check_;
    CallRows rows_;
};

} // namespace engine
