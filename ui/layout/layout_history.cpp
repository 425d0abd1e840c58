// SPDX-License-Identifier: Apache-2.0
#include "ui/layout/layout_history.h"

#include <utility>

namespace ui {

void LayoutHistory::reset(LayoutStage first) {
    stages_.clear();
    stages_.push_back(std::move(first));
    at_ = 0;
}

void LayoutHistory::push(LayoutStage stage) {
    if (stages_.empty()) {
        reset(std::move(stage));
        return;
    }
    stages_.resize(at_ + 1);
    stages_.push_back(std::move(stage));
    if (stages_.size() > kMost) {
        stages_.erase(stages_.begin());
    }
    at_ = stages_.size() - 1;
}

void LayoutHistory::replace(LayoutStage stage) {
    if (stages_.empty()) {
        reset(std::move(stage));
    } else {
        stages_[at_] = std::move(stage);
    }
}

} // namespace ui
