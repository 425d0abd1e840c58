// SPDX-License-Identifier: Apache-2.0
// A plan's notes in the user's language: why a graphics card is not used, how everything was
// fitted, what of a map has no effect; and which of them are worth a line under the layout.
#pragma once

#include "engine/api/placement.h"

#include <QString>
#include <QStringList>

namespace ui {

/// Why no card takes part, below each other; empty when nobody asked for one.
QString noCardReason(const engine::PlacementPlan& plan);

/// Notes that tell the user something about this layout. Left out: where the estimates come from,
/// how everything fits on the first device, and, unless `with_cards`, reasons of cards.
QStringList notesWorthTelling(const engine::PlacementPlan& plan, bool with_cards);
/// The line above them.
QString notesTitle(const engine::PlacementPlan& plan, const QStringList& notes);

/// What the planner says of weights in 4 bits, which nobody has asked for; empty: nothing.
QString fourBitsWords(const engine::PlacementPlan& plan);

} // namespace ui
