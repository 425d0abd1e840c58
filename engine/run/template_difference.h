// SPDX-License-Identifier: Apache-2.0
// Whether a model folder's own chat template would write a conversation otherwise than Belfry does.
// Belfry's prompt is used in any case; a fine-tune whose template adds a system prompt or writes
// other turns is told, with the first place where the two part.
#pragma once

#include "engine/api/chat.h"
#include "engine/api/sentence.h"
#include "engine/text/template_prompt.h"

#include <optional>
#include <span>
#include <string>

namespace engine {

/// For the reply's notes; nullopt when the template writes `prompt` too.
std::optional<Sentence> templateDifference(const ChatTemplateText& own,
                                           std::span<const ChatMessage> messages,
                                           const ChatTemplateOptions& options,
                                           const std::string& prompt);

} // namespace engine
