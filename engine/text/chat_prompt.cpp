// SPDX-License-Identifier: Apache-2.0
#include "engine/text/chat_prompt.h"

namespace engine {

std::vector<Segment> rawPrompt(std::string_view text) {
    return {Segment{std::string(text), true}};
}

std::string segmentsText(std::span<const Segment> segments) {
    std::string out;
    for (const Segment& segment : segments) {
        out += segment.text;
    }
    return out;
}

} // namespace engine
