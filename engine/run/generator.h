// SPDX-License-Identifier: Apache-2.0
// Prefill and decode on one KV cache: finds what of the cache can be reused (same tokens, same
// media, same adapters), computes the rest in chunks that never split an image block where that
// matters, then samples token by token. After a cancelled or failed call the cache holds exactly
// the tokens whose rows are complete.
#pragma once

#include "engine/api/chat.h"
#include "engine/base/result.h"
#include "engine/forward/memory/kv_cache.h"
#include "engine/forward/model.h"
#include "engine/run/confirm_drafts.h"
#include "engine/run/draft_policy.h"
#include "engine/run/media_store.h"
#include "engine/run/sampler.h"
#include "engine/text/media_tokens.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace engine {

using EncodedItems = PerMedia<std::vector<std::shared_ptr<const EncodedMedia>>>;

/// A prompt ready for the model.
struct PreparedPrompt {
    std::vector<int32_t> ids;
    std::vector<MediaSpan> spans;
    EncodedItems media; ///< By MediaSpan::kind and item.
};

class Generator {
public:
    Generator(Model& model, KvCache& kv) : model_(&model), kv_(&kv) {}

    /// Fills the cache with the prompt and returns logits of its last `logits_rows` tokens.
    /// Reuses the longest common beginning unless all rows' logits are wanted. `fingerprint` is
    /// the adapters' (engine/lora): rows computed under another one, or with weights of other
    /// formats, are not reused.
    struct PrefillResult {
        std::vector<float> logits; ///< [logits_rows, vocab]
        int64_t computed_tokens = 0, reused_tokens = 0;
        std::vector<float> hidden; ///< Behind the last row's final norm, where it was wanted.
    };
    Result<PrefillResult> prefill(const PreparedPrompt& prompt,
                                  const std::string& fingerprint,
                                  int64_t logits_rows,
                                  const std::stop_token& stop,
                                  const HiddenObserver* observer = nullptr,
                                  bool wants_hidden = false);

    /// How many of `ids`, the beginning of a prompt without media, are not in the cache.
    [[nodiscard]] int64_t missingTokens(std::span<const int32_t> ids,
                                        const std::string& fingerprint) const;

    /// Called with every sampled token, before it enters the cache. `logits`: the row that it was
    /// chosen from where SamplingOptions::needs_rows asks for it, else empty. False: the text ends
    /// behind this token, as behind a stop token.
    using TokenCallback = std::function<bool(int32_t token, std::span<const float> logits)>;
    struct DecodeResult {
        std::vector<int32_t> tokens; ///< Stop token included.
        std::string finish_reason;   ///< As Reply::finish_reason.
    };
    /// Drafts of the model's assistant, each of which the model's own choice confirms or replaces:
    /// the tokens are those that it would give one by one.
    struct Drafting {
        DraftPolicy* policy = nullptr;
        std::vector<float> hidden; ///< Behind the final norm, of the row that `logits` are of.
        ForcedAcceptance forced{-1.0};
    };
    /// Samples from `logits` on until a stop token, max_tokens (0 = none), a full context or a
    /// stop request.
    Result<DecodeResult> decode(std::vector<float> logits,
                                Sampler& sampler,
                                std::span<const int64_t> stop_tokens,
                                int64_t max_tokens,
                                const TokenCallback& on_token,
                                const std::stop_token& stop,
                                Drafting* drafting = nullptr);

    /// The same weights behind a new model object (after a move): the cache stays valid.
    void setModel(Model& model) { model_ = &model; }

    /// The cache is empty now, whatever was computed (model or adapters were exchanged).
    void forget();

private:
    /// What a row of the cache was computed from.
    struct RowKey {
        int32_t id = 0;
        uint64_t media = 0; ///< EncodedMedia::key for soft tokens, else 0.
        friend bool operator==(const RowKey&, const RowKey&) = default;
    };
    struct PromptRows {
        std::vector<RowKey> keys;
        std::vector<int32_t> block; ///< Which picture a row belongs to; -1: none.
    };
    static PromptRows rowsOf(const PreparedPrompt& prompt);

    /// One text that is being written.
    struct Writing {
        Sampler& sampler;
        std::span<const int64_t> stop_tokens;
        int64_t max_tokens = 0;
        const TokenCallback& on_token;
        DecodeResult result = {};
        TokenChoice choice = {};
        bool has_choice = false; ///< The device is asked to choose, or for candidates.
        std::vector<float> logits;
        /// The token behind a round whose last draft was turned down.
        std::optional<TokenId> chosen = {};
    };
    /// By the choice, the candidates or the row of logits of the step before.
    static Result<TokenId> choose(Writing& writing);
    /// A token is said; false: it was the last one by a stop token, the callback or the wanted
    /// length.
    static bool say(Writing& writing, TokenId token);
    /// The rest of a round behind `token`, which is said and not in the cache: drafts, one call
    /// for all of them, and the drafts that are confirmed are said. False: the text has ended.
    Result<bool> draftRound(Writing& writing,
                            TokenId token,
                            int64_t drafts,
                            Drafting& drafting,
                            const std::stop_token&);
    /// What a check is asked for.
    static RowChoices wantedRows(const Writing& writing);
    /// The model's choices, or logits, behind each of `ids`, which it appends to the cache; and the
    /// hidden rows.
    Result<RowChoices>
    checkDrafts(std::span<const TokenId> ids, const Writing& writing, const std::stop_token& stop);
    /// Drafts that a round may have behind the token said last.
    [[nodiscard]] int64_t mostDrafts(const Writing& writing) const;
    Result<std::vector<TokenId>>
    makeDrafts(TokenId token, int64_t count, const Drafting& drafting, const std::stop_token& stop);

    Model* model_;
    KvCache* kv_;
    std::vector<RowKey> rows_; ///< As long as the cache.
    std::string fingerprint_;
    uint64_t formats_ = 0; ///< From the weights that made the rows (Model::formatKeys).
};

} // namespace engine
