// SPDX-License-Identifier: Apache-2.0
// The choice of the next token on the device that makes the logits, so that not the whole row of
// them travels: the greedy one, or the candidates among which the host draws.
#pragma once

#include "engine/base/result.h"
#include "engine/forward/memory/buffers.h"
#include "kernels/ops.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace engine {

/// What a caller of Model::step() would rather have than a row of logits, and what it got.
struct TokenChoice {
    bool is_greedy = false; ///< The largest logit's token; else the candidates for `wanted`.
    int32_t wanted = 0;     ///< Largest logits to choose among, 1 to TopLogits::kMostWanted.
    std::span<const int32_t> suppressed; ///< Left out.

    /// Either tells; neither: see the row.
    std::optional<int32_t> token;
    std::span<const kernels::TokenLogit> top; ///< Valid until the next call.
    [[nodiscard]] bool isTold() const { return token.has_value() || !top.empty(); }
};

/// The same of each row of a few, as a check of drafts wants them.
struct RowChoices {
    bool is_greedy = false; ///< The largest logit's token; else the candidates for `wanted`, or,
    int32_t wanted = 0;     ///< where that is 0, the row.
    std::span<const int32_t> suppressed; ///< Left out of both.

    struct Row {
        std::optional<int32_t> token;
        std::span<const kernels::TokenLogit> top; ///< Valid until the next check.
    };
    std::vector<Row> rows;     ///< One a token.
    std::vector<float> logits; ///< [tokens, vocab], soft-capped, where a row tells neither; what
                               ///< it has of others may be unset.
    std::vector<float> hidden; ///< [tokens, hidden], behind the final norm.
};

class DeviceScratch;

/// One bit per token of the vocabulary to `to`, set where it is suppressed; other ids are ignored.
Result<void>
sendSuppressed(DeviceScratch& home, Buffer to, std::span<const int32_t> ids, int64_t vocab);

/// What a device has in its buffer StepSuppressed.
class SuppressedTokens {
public:
    /// Sends these where they are others than before.
    Result<void> send(DeviceScratch& home, std::span<const int32_t> ids, int64_t vocab);
    /// The device's buffers are others, or somebody else wrote them.
    void forget() { sent_.reset(); }

private:
    std::optional<std::vector<int32_t>> sent_;
};

/// The token of a key that OpTable::argmax made. Errors: Internal (NaN or infinity among the
/// logits, or every token suppressed).
Result<int32_t> tokenOfKey(uint64_t key);

/// Asks one device. Its buffers Logits, StepBest and StepSuppressed are used.
class HeadChooser {
public:
    /// Behind soft-capped logits that were enqueued on `home`: fills `choice` for the row at `row`
    /// of its Logits where the device has the kernels, and has waited for them then. Errors:
    /// Internal as of tokenOfKey, DeviceLost.
    Result<void> choose(DeviceScratch& home, int64_t vocab, TokenChoice& choice, int64_t row = 0);
    /// As SuppressedTokens::forget().
    void reset() { suppressed_.forget(); }

private:
    SuppressedTokens suppressed_;
    std::array<kernels::TopLogits, kHeadRows> top_{}; ///< One for each row of Logits.
};

} // namespace engine
