// SPDX-License-Identifier: Apache-2.0
// Sentences in English, as the command line and the log have them.
#pragma once

#include "engine/api/sentence.h"

#include <cstdint>
#include <string>
#include <vector>

namespace engine {

/// The pattern with its arguments in their places; numbers as std::to_string() has them.
std::string inEnglish(const Sentence& sentence);
std::vector<std::string> inEnglish(const std::vector<Sentence>& sentences);

/// Bytes as "4.38 GiB".
std::string formatByteCount(uint64_t bytes);

/// A place's text by itself.
std::string inEnglish(const Argument& argument);

} // namespace engine
