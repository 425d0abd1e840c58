// SPDX-License-Identifier: Apache-2.0
// The chat templates that a checkpoint brings, in the order in which transformers takes them:
// chat_template.jinja, chat_template.json, processor_config.json, tokenizer_config.json; and
// further ones by name. Belfry writes Gemma 4's turns itself: there, a template of another form
// means that the model was trained on other turns, so it is told, as is an earlier one of Google's;
// what a template would write for a conversation is run/template_difference.h. For other families
// it writes the prompt (chat_turns.h).
#pragma once

#include "engine/api/sentence.h"
#include "engine/base/result.h"
#include "engine/files/checkpoint.h"
#include "engine/text/template_prompt.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

struct StoredTemplates {
    /// Whether the template in force has the large models' form of Gemma 4's. Nothing when there is
    /// none or it is no Gemma 4 template.
    std::optional<bool> is_large;
    /// That it is none of Gemma 4.
    Sentence foreign;
    /// That it is an earlier one of Google's for Gemma 4, with both dates.
    Sentence old;
    std::vector<Sentence> notes;
};

/// The template in force. nullopt when the checkpoint has none that can be read.
std::optional<ChatTemplateText> readChatTemplateText(const Checkpoint& checkpoint);

/// Errors: as Checkpoint::read() of chat_template.jinja. What else cannot be read is a note.
Result<StoredTemplates> readStoredTemplates(const Checkpoint& checkpoint);

/// The note of a template whose file cannot be read.
Sentence templateUnread(const Error& why);

/// The day on which Google's newest template of Gemma 4 was published: "2026-07-09".
std::string_view newestTemplateDate();
/// The day of an earlier one, by the SHA-256 of its bytes; empty for other texts.
std::string_view oldTemplateDate(std::string_view sha256);
/// What the library and a load tell of such a template.
Sentence oldTemplateNote(const std::string& where, std::string_view date);

/// Whether a template's text is the large models' form; nothing when it is no Gemma 4 template.
std::optional<bool> isLargeTemplate(std::string_view source);

} // namespace engine
