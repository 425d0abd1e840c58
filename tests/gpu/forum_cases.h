// SPDX-License-Identifier: Apache-2.0
// What the forum thread asked for and other stacks fail at, on the full shapes of E2B and E4B.
#pragma once

#include "tests/gpu/check_list.h"

#include <string>
#include <vector>

namespace gpu {

/// A model to run the cases on, and the device in the place of the first card.
struct ForumModel {
    std::string name;   ///< In the list of checks.
    std::string model;  ///< "shape:e2b", or a folder.
    std::string device; ///< "cuda:0", or "sim:0" to show that the checks themselves are right.
};

/// Section "forum", for each model and 4-bit kind, with a rank-16 adapter on all linear layers of
/// all towers: everything on one device (R05), and the towers on the CPU (R03). Both have to load
/// and to answer; a text prompt has to give the same tokens, a picture and a sound the same logits
/// within what two kinds of processor differ by, and the same tokens behind them as long as the
/// logits are clear by more than that.
void forumCases(CheckList& list, const std::vector<ForumModel>& models);

} // namespace gpu
