// SPDX-License-Identifier: Apache-2.0
// A waveform as bars, and times as people write them.
#pragma once

#include "ui/media/sound_types.h"

#include <QColor>
#include <QRectF>
#include <QString>

class QPainter;

namespace ui {

/// "1:05", "1:02:07"; with tenths below ten seconds when `has_tenths`: "0:04.2".
QString clockText(double seconds, bool has_tenths = false);

/// Loudest value of an outline within [from_s, to_s), 0 to 1.
float peakBetween(const SoundOutline& outline, double from_s, double to_s);

/// Bars of [from_s, from_s + length_s) over `place`; `played_s` seconds of them in another colour.
void drawWaveform(QPainter& painter,
                  const QRectF& place,
                  const SoundOutline& outline,
                  double from_s,
                  double length_s,
                  double played_s,
                  const QColor& played,
                  const QColor& waiting);

} // namespace ui
