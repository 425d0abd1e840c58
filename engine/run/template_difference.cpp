// SPDX-License-Identifier: Apache-2.0
#include "engine/run/template_difference.h"

#include "engine/families/stored_templates.h"

#include <algorithm>

namespace engine {

namespace {

/// A piece of a prompt around the place where two part, on one line.
std::string excerpt(const std::string& text, size_t at) {
    constexpr size_t kBefore = 24;
    constexpr size_t kAfter = 48;
    const auto isInside = [&](size_t i) {
        return i < text.size() && (static_cast<unsigned char>(text[i]) & 0xc0U) == 0x80U;
    };
    size_t first = at > kBefore ? at - kBefore : 0;
    while (isInside(first)) {
        ++first;
    }
    size_t last = std::min(text.size(), at + kAfter);
    while (isInside(last)) {
        ++last;
    }
    std::string out = first > 0 ? "..." : "";
    for (const char c : text.substr(first, last - first)) {
        const bool is_control = static_cast<unsigned char>(c) < 0x20U;
        out += c == '\n' ? "\\n" : is_control ? "?" : std::string(1, c);
    }
    return "\"" + out + (last < text.size() ? "...\"" : "\"");
}

} // namespace

std::optional<Sentence> templateDifference(const ChatTemplateText& own,
                                           std::span<const ChatMessage> messages,
                                           const ChatTemplateOptions& options,
                                           const std::string& prompt) {
    ChatTemplateText filled = own;
    filled.tokens.insert({{"bos_token", "<bos>"}, {"eos_token", "<eos>"}});
    const auto segments = renderTemplate(filled, messages, options);
    if (!segments) {
        return said("%1: its chat template cannot be compared with the prompt that is used (%2)",
                    own.where, segments.error().told());
    }
    const std::string written = segmentsText(*segments);
    if (written == prompt) {
        return std::nullopt;
    }
    const auto parting =
        std::mismatch(written.begin(), written.end(), prompt.begin(), prompt.end());
    const auto at = static_cast<size_t>(parting.first - written.begin());
    if (!own.old_date.empty()) {
        return said("%1: its chat template, Google's of %2, would write this conversation "
                    "otherwise than the newer one, of %3, which is used: %4 where the prompt has "
                    "%5",
                    own.where, own.old_date, newestTemplateDate(), excerpt(written, at),
                    excerpt(prompt, at));
    }
    return said("%1: its chat template would write this conversation otherwise: %2 where the "
                "prompt that is used has %3",
                own.where, excerpt(written, at), excerpt(prompt, at));
}

} // namespace engine
