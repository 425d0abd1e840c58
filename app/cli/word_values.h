// SPDX-License-Identifier: Apache-2.0
// Words of the command line as numbers, sizes and choices, each with its error sentence. `option`
// is the name that the sentence begins with. Errors: InvalidRequest.
#pragma once

#include "engine/base/result.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace cli {

/// InvalidRequest with a hint at --help: exit code 2.
engine::Error wrongUsage(const std::string& message);

/// least and most are allowed.
engine::Result<int64_t>
toInteger(const std::string& option, const std::string& word, int64_t least, int64_t most);
engine::Result<double>
toNumber(const std::string& option, const std::string& word, double least, double most);
/// Numbers between commas, at least one.
engine::Result<std::vector<int64_t>>
toIntegers(const std::string& option, const std::string& word, int64_t least, int64_t most);
/// "8GiB"; not zero and not more than a computer has.
engine::Result<uint64_t> toBytes(const std::string& option, const std::string& word);
/// DEVICE=SIZE.
engine::Result<std::pair<std::string, uint64_t>> toLimit(const std::string& option,
                                                         const std::string& word);
/// The pieces between commas, empty ones too: "1," has two.
std::vector<std::string> pieces(const std::string& word);

} // namespace cli
