// SPDX-License-Identifier: Apache-2.0
#include "engine/lora/expert_order.h"

#include <array>
#include <charconv>

namespace engine {

ExpertOrder expertOrderOfVersion(std::string_view peft_version) {
    if (peft_version.empty()) {
        return ExpertOrder::Swapped;
    }
    std::array<int, 3> parts = {0, 0, 0};
    const char* at = peft_version.data();
    const char* end = at + peft_version.size();
    for (size_t i = 0; i < parts.size(); ++i) {
        const auto [next, error] = std::from_chars(at, end, parts[i]);
        if (error != std::errc{}) {
            return ExpertOrder::Plain;
        }
        at = next;
        if (at == end || *at != '.' || i + 1 == parts.size()) {
            break;
        }
        ++at;
    }
    constexpr std::array<int, 3> kFixed = {0, 19, 1};
    // "0.19.1.dev0@..." was written before 0.19.1 was.
    const std::string_view rest(at, static_cast<size_t>(end - at));
    const bool is_before_release = parts == kFixed && (rest.find("dev") != std::string_view::npos ||
                                                       rest.find("rc") != std::string_view::npos);
    return parts < kFixed || is_before_release ? ExpertOrder::Swapped : ExpertOrder::Plain;
}

bool ExpertPair::fits(ExpertOrder order) const {
    const bool is_plain = order == ExpertOrder::Plain;
    const std::vector<int64_t> expected_a = {experts * rank, is_plain ? in : out};
    const std::vector<int64_t> expected_b = {is_plain ? out : in, rank * experts};
    return a == expected_a && b == expected_b;
}

ExpertOrder expertOrderOf(const std::vector<ExpertPair>& pairs, std::string_view peft_version) {
    for (const ExpertPair& pair : pairs) {
        const bool is_plain = pair.fits(ExpertOrder::Plain);
        if (is_plain != pair.fits(ExpertOrder::Swapped)) {
            return is_plain ? ExpertOrder::Plain : ExpertOrder::Swapped;
        }
    }
    return expertOrderOfVersion(peft_version);
}

} // namespace engine
