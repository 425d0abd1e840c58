// SPDX-License-Identifier: Apache-2.0
#include "engine/load/load_english.h"

namespace engine {

std::string inEnglish(const reply_note::CacheLost& note) {
    const bool is_one = note.count == 1;
    return "The weight cache was damaged while in use: " + std::to_string(note.count) +
           (is_one ? " weight is" : " weights are") + " made from the model files (" + note.last +
           (is_one ? "" : " the last") +
           "), which is slower. Load the model again to have the cache written anew.";
}

} // namespace engine
