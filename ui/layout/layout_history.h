// SPDX-License-Identifier: Apache-2.0
// Staged layouts in the order they were made, with undo and redo. A stage is a request that plans
// (its map is a document, no moves) and the plan that came of it.
#pragma once

#include "engine/api/load_request.h"
#include "engine/api/placement.h"
#include "ui/layout/layout_blocks.h"

#include <QString>

#include <memory>
#include <vector>

namespace ui {

struct LayoutStage {
    engine::LoadRequest request;
    /// The map or preset that was asked for, which the plan's document took the place of: a step
    /// that changes an option is planned with it. Empty: as `request` has it.
    std::string asked_map = {};
    std::shared_ptr<const engine::PlacementPlan> plan; ///< Null until the planner has answered.
    LayoutCuts cuts;
    QString label; ///< "Vision tower to CPU": what Undo would take back.
};

class LayoutHistory {
public:
    /// Forgets everything; `first` is what Revert of an unapplied model goes back to.
    void reset(LayoutStage first);
    /// A new stage after the current one; what was undone is gone.
    void push(LayoutStage stage);
    /// Replaces the current stage (its plan arrived, cuts changed without a move).
    void replace(LayoutStage stage);

    [[nodiscard]] bool isEmpty() const { return stages_.empty(); }
    [[nodiscard]] const LayoutStage& current() const { return stages_[at_]; }
    [[nodiscard]] bool canUndo() const { return at_ > 0; }
    [[nodiscard]] bool canRedo() const { return at_ + 1 < stages_.size(); }
    void undo() { at_ -= canUndo() ? 1 : 0; }
    void redo() { at_ += canRedo() ? 1 : 0; }
    /// Label of the stage that undo takes back and that redo brings again; empty when none.
    [[nodiscard]] QString undoLabel() const { return canUndo() ? stages_[at_].label : QString(); }
    [[nodiscard]] QString redoLabel() const {
        return canRedo() ? stages_[at_ + 1].label : QString();
    }

private:
    static constexpr size_t kMost = 200;
    std::vector<LayoutStage> stages_;
    size_t at_ = 0;
};

} // namespace ui
