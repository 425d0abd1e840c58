// SPDX-License-Identifier: Apache-2.0
// How far the next-token distributions of two runs are apart, row of logits by row.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace cli {

/// log(sum(exp(logits))) in double.
double logSumExp(std::span<const float> logits);

/// Collects rows in pairs; a run with itself gives 1 and 0.
class RowComparison {
public:
    /// `p` is the reference; both are logits of the whole vocabulary.
    void add(std::span<const float> p, std::span<const float> q);
    [[nodiscard]] int64_t rows() const { return static_cast<int64_t>(divergences_.size()); }
    /// Share of rows whose likeliest token is the same.
    [[nodiscard]] double sameTop() const;
    /// Mean of KL(p || q), in nats.
    [[nodiscard]] double meanDivergence() const;
    /// The smallest KL(p || q) that `share` of the rows do not exceed.
    [[nodiscard]] double divergenceAt(double share) const;

private:
    std::vector<double> divergences_;
    int64_t same_top_ = 0;
};

} // namespace cli
