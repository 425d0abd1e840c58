// SPDX-License-Identifier: Apache-2.0
// Collects the segments of a prompt: what a template wrote, in which control tokens count, and what
// people and tools wrote, in which they do not.
#pragma once

#include "engine/text/tokenizer.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace engine {

/// Neighbours of one kind become one segment.
class SegmentWriter {
public:
    void control(std::string_view text) { write(text, true); }
    void message(std::string_view text) { write(text, false); }
    [[nodiscard]] std::vector<Segment> take() { return std::move(segments_); }

private:
    void write(std::string_view text, bool matches_added_tokens) {
        if (text.empty()) {
            return;
        }
        if (segments_.empty() || segments_.back().matches_added_tokens != matches_added_tokens) {
            segments_.push_back({std::string(), matches_added_tokens});
        }
        segments_.back().text += text;
    }

    std::vector<Segment> segments_;
};

} // namespace engine
