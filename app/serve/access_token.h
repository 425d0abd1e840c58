// SPDX-License-Identifier: Apache-2.0
// The secrets that let programs in: 256 random bits each, written "bf-" and 43 characters of
// base64url.
#pragma once

#include "engine/base/result.h"

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace serve {

/// A fresh one, from the system's random source.
std::string makeToken();

/// Which of `tokens` is `given`. Takes as long for a wrong one as for a right one of its length.
std::optional<size_t> findToken(const std::vector<std::string>& tokens, std::string_view given);

/// The tokens in a file, one a line: each program that asks may have its own, and they take turns.
/// A file that is not there is made with a fresh one, for this user alone. Errors: InvalidFile (the
/// file cannot be read or written, is empty, others may read it, a token is shorter than 16
/// characters or has other characters than a header may carry).
engine::Result<std::vector<std::string>> tokensOf(const std::filesystem::path& file);

} // namespace serve
