// SPDX-License-Identifier: Apache-2.0
// Which way round an adapter's factors of the 3-D expert tensors stand in the file. PEFT 0.17 to
// 0.19.0 read a stack [experts, out, in] as [experts, in, out] (0.19.0 meant to fix it and asked
// the wrong way round), so lora_A belongs to `out` and lora_B to `in`; from 0.19.1 on they stand as
// in every other layer. The names are the same in both.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace engine {

enum class ExpertOrder : uint8_t {
    Plain =
        1,   ///< lora_A [experts * rank, in], lora_B [out, rank * experts]: PEFT 0.19.1 and later.
    Swapped, ///< lora_A [experts * rank, out], lora_B [in, rank * experts]: before.
};

/// What `peft_version` of adapter_config.json says. The member exists since 0.18, so a file without
/// it is older. Versions that are not numbers count as new.
ExpertOrder expertOrderOfVersion(std::string_view peft_version);

/// The shapes of one pair beside its base tensor.
struct ExpertPair {
    std::vector<int64_t> a, b; ///< As in the file.
    int64_t experts = 0, out = 0, in = 0, rank = 0;
    [[nodiscard]] bool fits(ExpertOrder order) const;
};

/// One order for the whole file: a pair that fits only one of them decides, else the version does.
/// Without such pairs in == out everywhere.
ExpertOrder expertOrderOf(const std::vector<ExpertPair>& pairs, std::string_view peft_version);

} // namespace engine
