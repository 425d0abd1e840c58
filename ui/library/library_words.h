// SPDX-License-Identifier: Apache-2.0
// Models of the library in the user's language: what one is, whether it fits, why it cannot be
// used.
#pragma once

#include "ui/library/library_values.h"

namespace ui {

/// "E2B · 5.1 B · bfloat16 · 9.5 GiB"; what is not known is left out.
QString itemFacts(const LibraryItem& item);
/// "Hub cache", "LM Studio", ...
QString placeName(LibraryItem::Place place);
/// In two or three words: "fits", "does not fit", "MLX", "half a download".
QString verdictWords(const LibraryItem& item);
/// In a sentence: what this computer makes of it, or why it cannot be used.
QString verdictSentence(const LibraryItem& item);

} // namespace ui
