// SPDX-License-Identifier: Apache-2.0
// The prompt that a chat template of a folder writes, in pieces that say who wrote them.
#pragma once

#include "engine/text/chat_prompt.h"

#include <map>
#include <span>
#include <string>
#include <vector>

namespace engine {

struct ChatTemplateText {
    std::string where;                         ///< The file's name.
    std::string source;                        ///< Jinja.
    std::map<std::string, std::string> tokens; ///< bos_token, ... of tokenizer_config.json.
    std::string old_date; ///< The day of one that its publisher has replaced; else empty.
};

/// What `own` writes for a conversation, as transformers hands it over. Added tokens match in what
/// stood in the template, in its tokens and in roles that are plain words; never in what the
/// messages or tools say, however the template cuts and joins that. (A template may still choose
/// where its own markers go by what it reads in a message.)
/// Errors: as jinja::render().
Result<std::vector<Segment>> renderTemplate(const ChatTemplateText& own,
                                            std::span<const ChatMessage> messages,
                                            const ChatTemplateOptions& options);

} // namespace engine
