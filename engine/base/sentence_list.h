// SPDX-License-Identifier: Apache-2.0
// Lists in sentences.
#pragma once

#include "engine/api/sentence.h"

#include <vector>

namespace engine {

/// The items that are not empty, between separators that need no translation: ", " or " + ".
/// However many there are, the sentence is only a few levels deep, as messages between processes
/// allow no more (ipc/reader.h).
Sentence joined(std::vector<Sentence> items, const char* separator = ", ");

} // namespace engine
