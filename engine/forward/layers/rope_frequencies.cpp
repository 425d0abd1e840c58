// SPDX-License-Identifier: Apache-2.0
#include "engine/forward/layers/rope_frequencies.h"

#include <cmath>

namespace engine {

std::vector<float> textFrequencies(const RopeConfig& rope, int64_t head_dim) {
    std::vector<float> frequencies(static_cast<size_t>(head_dim / 2), 0.0F);
    const auto rotating =
        static_cast<int64_t>(std::floor(rope.rotary_factor * static_cast<double>(head_dim) / 2.0));
    for (int64_t j = 0; j < rotating && j < head_dim / 2; ++j) {
        const double exponent = -2.0 * static_cast<double>(j) / static_cast<double>(head_dim);
        const auto at = static_cast<size_t>(j);
        const double divisor = rope.divisors.empty() ? 1.0 : rope.divisors.at(at);
        frequencies[at] =
            static_cast<float>(std::pow(rope.theta, exponent) / (rope.factor * divisor));
    }
    return frequencies;
}

std::vector<float> visionFrequencies(const VisionConfig& vision) {
    const int64_t half = vision.head_dim / 2;
    std::vector<float> frequencies(static_cast<size_t>(half / 2));
    for (int64_t j = 0; j < half / 2; ++j) {
        frequencies[static_cast<size_t>(j)] = static_cast<float>(
            std::pow(vision.rope_theta, -2.0 * static_cast<double>(j) / static_cast<double>(half)));
    }
    return frequencies;
}

std::vector<float> relativePositionSines(int64_t hidden, int64_t count) {
    const int64_t half = hidden / 2;
    const double step = half > 1 ? std::log(10000.0) / static_cast<double>(half - 1) : 0.0;
    std::vector<float> sines(static_cast<size_t>(hidden * count));
    for (int64_t d = 0; d < count; ++d) {
        for (int64_t i = 0; i < half; ++i) {
            const double angle = static_cast<double>(d) * std::exp(-static_cast<double>(i) * step);
            sines[static_cast<size_t>(d * hidden + i)] = static_cast<float>(std::sin(angle));
            sines[static_cast<size_t>(d * hidden + half + i)] = static_cast<float>(std::cos(angle));
        }
    }
    return sines;
}

} // namespace engine
