// SPDX-License-Identifier: Apache-2.0
// The engine's sentences in the user's language: patterns by the catalogue, numbers as the country
// writes them.
#pragma once

#include "engine/api/sentence.h"

#include <QString>

namespace ui {

/// A pattern that the catalogue lacks stays English.
QString sentenceWords(const engine::Sentence& sentence);

/// The same to stand on its own: a word of the pattern at the beginning gets a capital, names and
/// files stay as they are; ended with a full stop.
QString wholeSentence(const engine::Sentence& sentence);

} // namespace ui
