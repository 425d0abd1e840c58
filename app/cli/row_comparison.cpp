// SPDX-License-Identifier: Apache-2.0
#include "app/cli/row_comparison.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace cli {

double logSumExp(std::span<const float> logits) {
    const float largest = *std::max_element(logits.begin(), logits.end());
    double sum = 0.0;
    for (const float logit : logits) {
        sum += std::exp(static_cast<double>(logit) - largest);
    }
    return std::log(sum) + largest;
}

void RowComparison::add(std::span<const float> p, std::span<const float> q) {
    const double of_p = logSumExp(p);
    const double of_q = logSumExp(q);
    double divergence = 0.0;
    for (size_t i = 0; i < p.size(); ++i) {
        divergence += std::exp(p[i] - of_p) * ((p[i] - of_p) - (q[i] - of_q));
    }
    divergences_.push_back(std::max(divergence, 0.0)); // less than zero is rounding alone
    const bool is_same = std::max_element(p.begin(), p.end()) - p.begin() ==
                         std::max_element(q.begin(), q.end()) - q.begin();
    same_top_ += is_same ? 1 : 0;
}

double RowComparison::sameTop() const {
    return static_cast<double>(same_top_) / static_cast<double>(divergences_.size());
}

double RowComparison::meanDivergence() const {
    return std::accumulate(divergences_.begin(), divergences_.end(), 0.0) /
           static_cast<double>(divergences_.size());
}

double RowComparison::divergenceAt(double share) const {
    std::vector<double> sorted = divergences_;
    std::sort(sorted.begin(), sorted.end());
    const auto rank = static_cast<size_t>(std::ceil(share * static_cast<double>(sorted.size())));
    return sorted[std::clamp<size_t>(rank, 1, sorted.size()) - 1];
}

} // namespace cli
