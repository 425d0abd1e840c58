// SPDX-License-Identifier: Apache-2.0
#include "engine/run/token_logprob.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <vector>

namespace engine {

TokenLogprob
tokenLogprob(std::span<const float> logits, int32_t id, int64_t count, const Tokenizer& tokenizer) {
    assert(id >= 0 && static_cast<size_t>(id) < logits.size());
    const double largest = *std::max_element(logits.begin(), logits.end());
    double sum = 0.0;
    for (const float logit : logits) {
        sum += std::exp(static_cast<double>(logit) - largest);
    }
    const double log_sum = largest + std::log(sum);
    const auto choice = [&](int32_t token) {
        return TokenLogprob::Choice{token, tokenizer.bytesOf(token),
                                    static_cast<double>(logits[static_cast<size_t>(token)]) -
                                        log_sum};
    };
    TokenLogprob told;
    told.said = choice(id);
    std::vector<int32_t> ids(logits.size());
    std::iota(ids.begin(), ids.end(), 0);
    const auto end =
        ids.begin() + std::clamp<std::ptrdiff_t>(count, 0, static_cast<std::ptrdiff_t>(ids.size()));
    std::partial_sort(ids.begin(), end, ids.end(), [&](int32_t a, int32_t b) {
        const float first = logits[static_cast<size_t>(a)];
        const float second = logits[static_cast<size_t>(b)];
        return first != second ? first > second : a < b;
    });
    std::transform(ids.begin(), end, std::back_inserter(told.likeliest), choice);
    return told;
}

} // namespace engine
