// SPDX-License-Identifier: Apache-2.0
// Short movements that show where something went: a block that lands, lanes that take another
// scale, the bars of the meter. Off until the program switches them on, so that tests see the end
// of each at once.
#pragma once

#include <QRect>

class QVariantAnimation;
class QWidget;

namespace ui {

/// `is_wanted`: the user did not ask for reduced motion. Where the desktop asks for it and Qt knows
/// (Windows tells, Qt 6.4 knows nothing of it elsewhere), nothing moves either.
void setMotion(bool is_wanted);
[[nodiscard]] bool isMotionOn();

/// The pace of all of them, in an animation from 0 to 1 that is not started.
QVariantAnimation* newMotion(QWidget* parent);
/// Shows `widget`, which lies in its place, coming there from `from`.
void slideFrom(QWidget* widget, const QRect& from);
/// Puts a widget to its place; one that is still coming goes on to there.
void placeAt(QWidget* widget, const QRect& place);

} // namespace ui
