// SPDX-License-Identifier: Apache-2.0
// A plan as one picture to show around: the model, what each device holds of it as a stacked bar
// and part by part, and how fast that is.
#pragma once

#include "ui/layout/layout_blocks.h"

#include <QImage>

namespace ui {

/// `title`: the model's name; `subtitle`: format and context. In the colours of the theme in force,
/// at twice the size it is meant to be seen at.
QImage planPicture(const engine::PlacementPlan& plan,
                   const std::vector<LayoutBlock>& blocks,
                   const QString& title,
                   const QString& subtitle);

} // namespace ui
