// SPDX-License-Identifier: Apache-2.0
#include "ui/media/sound_range.h"

#include "ui/media/media_cache.h"
#include "ui/media/waveform.h"
#include "ui/style/theme.h"

#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace ui {

namespace {
constexpr double kTimes = 14.0; ///< Height of the line of times below the waveform.
}

SoundRange::SoundRange(MediaCache* media, QWidget* parent) : TimeSlider(parent), media_(media) {
    setObjectName(QStringLiteral("soundRange"));
    setAccessibleName(tr("Start of the part that is used"));
    setAccessibleDescription(
        tr("The arrow keys move the part by a second, Page Up and Page Down by ten"));
    setToolTip(tr("Drag to choose the part that the model hears"));
    setMinimumSize(160, 44);
    setCursor(Qt::OpenHandCursor);
    connect(media_, &MediaCache::changed, this, [this](const QString& file) {
        if (file == file_) {
            update();
        }
    });
}

void SoundRange::setRecording(const QString& file, double seconds, double length_s) {
    file_ = file;
    seconds_ = seconds;
    length_s_ = length_s;
    start_s_ = std::clamp(start_s_, 0.0, maximum());
    update();
}

void SoundRange::setStart(double seconds) {
    start_s_ = std::clamp(seconds, 0.0, std::max(maximum(), 0.0));
    valueChanged();
}

double SoundRange::maximum() const {
    return std::max(seconds_ - length_s_, 0.0);
}

void SoundRange::moveTo(double seconds) {
    // Tenths of a second: finer than anybody aims, and what the times on screen can show.
    const double start =
        std::clamp(std::round(seconds * 10.0) / 10.0, 0.0, std::max(maximum(), 0.0));
    if (start != start_s_) {
        start_s_ = start;
        valueChanged();
        Q_EMIT startChanged(start_s_);
    }
}

QString SoundRange::valueText() const {
    return tr("%1 to %2 of %3")
        .arg(clockText(start_s_), clockText(start_s_ + length_s_), clockText(seconds_));
}

QRectF SoundRange::wavePlace() const {
    return QRectF(rect()).adjusted(4.0, 4.0, -4.0, -4.0 - kTimes);
}

QRectF SoundRange::partPlace() const {
    const QRectF wave = wavePlace();
    const double scale = seconds_ > 0.0 ? wave.width() / seconds_ : 0.0;
    return {wave.x() + start_s_ * scale, wave.y(), std::max(length_s_ * scale, 4.0), wave.height()};
}

void SoundRange::paintEvent(QPaintEvent* event) {
    Q_UNUSED(event);
    const Theme& theme = Theme::current();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const QRectF wave = wavePlace();
    const QRectF part = partPlace();
    if (hasFocus()) {
        painter.setPen(QPen(theme.accent, 2.0));
        painter.setBrush(Qt::NoBrush);
        painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), Theme::kRadius,
                                Theme::kRadius);
    }
    QColor fill = theme.accent;
    fill.setAlphaF(0.16F);
    painter.setPen(QPen(theme.accent, 1.0));
    painter.setBrush(fill);
    painter.drawRoundedRect(part.adjusted(0.5, -1.5, -0.5, 1.5), 3.0, 3.0);
    const SoundOutline& outline = media_->outline(file_);
    if (outline.state == SoundOutline::State::Ready) {
        drawWaveform(painter, wave, outline, 0.0, seconds_, 0.0, theme.accent, theme.text_disabled);
        painter.save();
        painter.setClipRect(part);
        drawWaveform(painter, wave, outline, 0.0, seconds_, seconds_, theme.accent, theme.accent);
        painter.restore();
    }
    painter.setFont(scaledFont(75));
    painter.setPen(theme.text_muted);
    const QRectF times(wave.x(), wave.bottom() + 2.0, wave.width(), kTimes);
    painter.drawText(times, Qt::AlignLeft | Qt::AlignVCenter, clockText(0.0));
    painter.drawText(times, Qt::AlignRight | Qt::AlignVCenter, clockText(seconds_));
}

void SoundRange::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton || maximum() <= 0.0) {
        event->ignore();
        return;
    }
    const QRectF part = partPlace();
    const double x = event->position().x();
    grip_ = x >= part.left() && x <= part.right() ? x - part.left() : part.width() / 2.0;
    setCursor(Qt::ClosedHandCursor);
    mouseMoveEvent(event);
}

void SoundRange::mouseMoveEvent(QMouseEvent* event) {
    if (grip_ < 0.0) {
        return;
    }
    const QRectF wave = wavePlace();
    moveTo((event->position().x() - grip_ - wave.x()) / wave.width() * seconds_);
}

void SoundRange::mouseReleaseEvent(QMouseEvent* event) {
    if (event->button() == Qt::LeftButton) {
        grip_ = -1.0;
        setCursor(Qt::OpenHandCursor);
    }
}

} // namespace ui
