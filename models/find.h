// SPDX-License-Identifier: Apache-2.0
// Models and adapters below one root: a hub's cache by its repositories, other folders by walking
// down. Folders behind links are never entered.
#pragma once

#include <functional>
#include <string>

#include "models/disk.h"
#include "models/entry.h"

namespace models {

/// What is looked for.
struct Wanted {
    /// Only this repository of a hub's cache ("google/gemma-4-E2B-it", in any case); "":
    /// everything.
    std::string repository;
};

using Found = std::function<void(Entry)>;

/// Calls `found` for each, in the order of names. Returns what became of the root as far as the
/// disk tells (Done, Missing, Unreadable, Cut); a step that was refused is the caller's to tell.
RootReport findBelow(Disk& disk, const Root& root, const Wanted& wanted, const Found& found);

} // namespace models
