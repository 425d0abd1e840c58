// SPDX-License-Identifier: Apache-2.0
// What trainers save beside an adapter: a chat template, and a tokenizer with tokens of their own.
// Belfry writes prompts with the model's tokenizer and Gemma 4's turns; where the adapter was
// trained on others, that is told.
#pragma once

#include "engine/api/sentence.h"
#include "engine/families/stored_templates.h"
#include "engine/files/checkpoint.h"

#include <filesystem>
#include <optional>
#include <vector>

namespace engine {

struct BesideAdapter {
    /// Nothing where there is none, or the model has the same.
    std::optional<ChatTemplateText> chat_template;
    std::vector<Sentence> notes;
};

/// Never fails: what cannot be read is a note.
BesideAdapter readBesideAdapter(const std::filesystem::path& folder, const Checkpoint& model);

} // namespace engine
