// SPDX-License-Identifier: Apache-2.0
// A plan's notes for the window: why a graphics card is not used, in the user's language, and
// which of the others are worth a line under the layout. Reasons of cards arrive as sentences of
// the driver's table; one that is not recognised stays as it is.
#pragma once

#include "engine/api/placement.h"

#include <QString>
#include <QStringList>

namespace ui {

/// Empty when the sentence is not about a card.
QString cardWords(const QString& text);

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
