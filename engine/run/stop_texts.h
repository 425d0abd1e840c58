// SPDX-License-Identifier: Apache-2.0
// Texts behind which a reply ends (stop_strings of generation_config.json): they may begin in one
// token and end in another. As in transformers the text itself stays in the reply.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace engine {

class StopTexts {
public:
    /// None of them may be empty.
    explicit StopTexts(std::vector<std::string> texts) : texts_(std::move(texts)) {
        for (const std::string& text : texts_) {
            longest_ = std::max(longest_, text.size());
        }
    }

    /// Whether the reply goes on behind `piece`.
    bool goesOn(std::string_view piece) {
        if (texts_.empty()) {
            return true;
        }
        tail_ += piece;
        const bool is_over =
            std::any_of(texts_.begin(), texts_.end(), [this](const std::string& text) {
                return tail_.find(text) != std::string::npos;
            });
        tail_.erase(0, tail_.size() - std::min(tail_.size(), longest_ - 1));
        return !is_over;
    }

private:
    std::vector<std::string> texts_;
    std::string tail_; ///< In which one may have begun.
    size_t longest_ = 0;
};

} // namespace engine
