// SPDX-License-Identifier: Apache-2.0
#include "app/serve/stop_strings.h"

#include <algorithm>
#include <utility>

namespace serve {

std::string StopStrings::push(std::string_view text) {
    if (is_stopped_) {
        return {};
    }
    held_ += text;
    size_t first = std::string::npos;
    for (const std::string& stop : stops_) {
        first = std::min(first, held_.find(stop));
    }
    if (first != std::string::npos) {
        is_stopped_ = true;
        std::string out = held_.substr(0, first);
        held_.clear();
        return out;
    }
    size_t kept = 0;
    for (const std::string& stop : stops_) {
        for (size_t length = std::min(stop.size() - 1, held_.size()); length > kept; --length) {
            if (held_.ends_with(std::string_view(stop).substr(0, length))) {
                kept = length;
            }
        }
    }
    std::string out = held_.substr(0, held_.size() - kept);
    held_.erase(0, out.size());
    return out;
}

std::string StopStrings::flush() {
    return std::exchange(held_, {});
}

} // namespace serve
