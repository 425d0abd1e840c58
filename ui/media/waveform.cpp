// SPDX-License-Identifier: Apache-2.0
#include "ui/media/waveform.h"

#include <QPainter>

#include <algorithm>
#include <cmath>

namespace ui {

namespace {
constexpr double kBar = 2.0, kStep = 3.0;
}

QString clockText(double seconds, bool has_tenths) {
    const qint64 tenths = std::llround(std::max(seconds, 0.0) * 10.0);
    const qint64 whole = has_tenths ? tenths / 10 : std::llround(std::max(seconds, 0.0));
    const QString rest = QStringLiteral("%1").arg(whole % 60, 2, 10, QLatin1Char('0'));
    const QString fraction = has_tenths ? QStringLiteral(".%1").arg(tenths % 10) : QString();
    if (whole >= 3600) {
        return QStringLiteral("%1:%2:%3%4")
            .arg(whole / 3600)
            .arg(whole / 60 % 60, 2, 10, QLatin1Char('0'))
            .arg(rest, fraction);
    }
    return QStringLiteral("%1:%2%3").arg(whole / 60).arg(rest, fraction);
}

float peakBetween(const SoundOutline& outline, double from_s, double to_s) {
    if (outline.peaks.empty() || outline.seconds <= 0.0) {
        return 0.0F;
    }
    const double scale = static_cast<double>(outline.peaks.size()) / outline.seconds;
    const auto count = static_cast<qint64>(outline.peaks.size());
    const auto first =
        std::clamp(static_cast<qint64>(std::floor(from_s * scale)), qint64{0}, count - 1);
    const auto last = std::clamp(static_cast<qint64>(std::ceil(to_s * scale)), first + 1, count);
    return *std::max_element(outline.peaks.begin() + first, outline.peaks.begin() + last);
}

void drawWaveform(QPainter& painter,
                  const QRectF& place,
                  const SoundOutline& outline,
                  double from_s,
                  double length_s,
                  double played_s,
                  const QColor& played,
                  const QColor& waiting) {
    const int bars = static_cast<int>(place.width() / kStep);
    if (bars <= 0 || length_s <= 0.0) {
        return;
    }
    painter.setPen(Qt::NoPen);
    for (int i = 0; i < bars; ++i) {
        const double start = length_s * i / bars;
        const double end = length_s * (i + 1) / bars;
        const auto peak = static_cast<double>(peakBetween(outline, from_s + start, from_s + end));
        const double height = std::max(2.0, peak * place.height());
        painter.setBrush((start + end) / 2.0 < played_s ? played : waiting);
        painter.drawRoundedRect(
            QRectF(place.x() + i * kStep, place.center().y() - height / 2.0, kBar, height), 1.0,
            1.0);
    }
}

} // namespace ui
