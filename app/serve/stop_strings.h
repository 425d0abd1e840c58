// SPDX-License-Identifier: Apache-2.0
// Texts at which a reply ends. They may begin in one piece of a stream and end in another, so what
// could be the beginning of one is held back.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace serve {

class StopStrings {
public:
    /// None of them may be empty.
    explicit StopStrings(std::vector<std::string> stops) : stops_(std::move(stops)) {}

    /// What of the text so far can be given out: all in front of the first stop, which is dropped
    /// with everything behind it.
    std::string push(std::string_view text);
    /// What was held back, where no stop came.
    std::string flush();
    [[nodiscard]] bool isStopped() const { return is_stopped_; }

private:
    std::vector<std::string> stops_;
    std::string held_;
    bool is_stopped_ = false;
};

} // namespace serve
