// SPDX-License-Identifier: Apache-2.0
// Drafts of the next tokens by the model's assistant (multi-token prediction): four small layers
// that read the model's own keys and values, by fused steps where a card has all of it
// (draft_step.h), else by single functions, one row a step. Appends nothing to any cache. Formulas:
// transformers' modeling_gemma4_assistant.py; which keys a draft sees is the exact set (positions 0
// to n - 1, in sliding layers the last `window` of them), not the one row more that transformers'
// generator lets it see.
#pragma once

#include "engine/forward/drafts/draft_step.h"
#include "engine/forward/layers/single_layers.h"

#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

namespace engine {

/// The one position of all queries of a round, by n, the number of tokens in the cache: that of the
/// token whose successor is drafted (transformers, llama.cpp), or of the last one that has keys
/// (vLLM, SGLang). Both are in use; which one Google trained with is not published.
enum class DraftPosition : uint8_t { OfToken = 1, BeforeToken };
inline constexpr DraftPosition kDraftPosition = DraftPosition::OfToken;

class Drafter {
public:
    explicit Drafter(BoundModel& model) : model_(&model), step_(model), layers_(model) {}

    /// `count` drafts, the first behind `token`, each other behind the one before it; kv and hidden
    /// as of begin(). Errors: Cancelled, those of begin() and next().
    Result<std::vector<int32_t>> draft(int32_t token,
                                       int64_t count,
                                       std::span<const float> hidden,
                                       const KvCache& kv,
                                       const std::stop_token& stop);

    /// The same as steps of one card, for what is enqueued there behind them; nullptr: not of this
    /// model and cache. Then begin() and end() of that, with turn().
    [[nodiscard]] DraftStep* step(const KvCache& kv) {
        return step_.isPossible(kv) ? &step_ : nullptr;
    }
    /// The turn for DraftStep::Start.
    [[nodiscard]] int32_t turn() const { return position_ == DraftPosition::OfToken ? 1 : 0; }

    // The same by single functions.
    /// Begins a round behind the tokens that `kv` holds. hidden [model hidden]: the row behind the
    /// final norm that the next token was chosen by. Errors: Internal (no token is held, or no
    /// assistant loaded), those of devices.
    Result<void> begin(std::span<const float> hidden, const KvCache& kv);
    /// The draft behind `token`: first the one that the model chose, then each draft itself. kv: as
    /// in begin(). logits: nullptr, or filled with [vocab], -infinity for what was not looked at.
    Result<int32_t> next(int32_t token, const KvCache& kv, std::vector<float>* logits = nullptr);

    void setPosition(DraftPosition position) { position_ = position; }
    /// Bindings, adapters or buffers changed.
    void reset() { step_.reset(); }

private:
    [[nodiscard]] Result<void> checkStart(std::span<const float> hidden, const KvCache& kv) const;
    Result<void> embed(int32_t token);
    /// Fills ids_ and values_ with what the head looks at. normed [1, hidden].
    Result<void> head(kernels::MatF32 normed);
    /// Fills groups_, places_ and ids_: the groups whose centroids are nearest, and their tokens.
    Result<void> chooseGroups(kernels::MatF32 normed);
    /// Products with the rows of these groups, which the table has one group after the other.
    Result<void> multiplyGroups(kernels::MatF32 normed, kernels::MutF32 out);
    /// The same where the table is elsewhere or packed: the rows come as fp32.
    Result<void> multiplyGathered(kernels::MatF32 normed, kernels::MutF32 out);
    [[nodiscard]] kernels::MutF32 row(Buffer buffer, int64_t size) const {
        return model_->assistant.home->matrix(buffer, 1, size);
    }

    BoundModel* model_;
    DraftStep step_;
    SingleLayers layers_;
    CallRows call_rows_; ///< There is one row; its position is in Buffer::DraftPosition.
    DraftPosition position_ = kDraftPosition;
    std::vector<float> row_;  ///< [model hidden], an embedding on its way.
    std::vector<float> rows_; ///< [candidates, hidden], on their way to a card.
    std::vector<float> centroids_;
    std::vector<int32_t> groups_;
    std::vector<int32_t> places_; ///< Their rows of the table,
    std::vector<int32_t> ids_;    ///< [candidates], and their tokens; empty: all in order.
    std::vector<float> values_;
};

} // namespace engine
