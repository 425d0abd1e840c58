// SPDX-License-Identifier: Apache-2.0
#include "engine/devices/card_costs_file.h"

#include "engine/base/keyed_numbers.h"

#include <cmath>

namespace engine {

namespace {

using kernels::CardCosts;

CardCosts costsOf(const KeyedNumbers::Pair& numbers) {
    return {static_cast<uint64_t>(numbers[0]), static_cast<uint64_t>(numbers[1])};
}

/// Figures that a card can have.
bool isLikely(const KeyedNumbers::Pair& numbers) {
    const bool are_small = numbers[0] >= 0 && numbers[0] <= std::ldexp(1.0, 31) &&
                           numbers[1] >= 256 && numbers[1] <= std::ldexp(1.0, 28);
    const uint64_t granularity = are_small ? costsOf(numbers).granularity : 0;
    return are_small && (granularity & (granularity - 1)) == 0;
}

KeyedNumbers numbersIn(const std::filesystem::path& file) {
    return {file, "belfry-cards 1", isLikely};
}

} // namespace

CardCosts keptCardCosts(const std::filesystem::path& file, const std::string& key) {
    const auto numbers = numbersIn(file).of(key);
    return numbers.has_value() ? costsOf(*numbers) : CardCosts();
}

void keepCardCosts(const std::filesystem::path& file,
                   const std::string& key,
                   const CardCosts& costs) {
    std::optional<KeyedNumbers::Pair> numbers;
    if (costs.context_bytes > 0) {
        numbers = {static_cast<double>(costs.context_bytes),
                   static_cast<double>(costs.granularity)};
    }
    numbersIn(file).keep(key, numbers);
}

} // namespace engine
