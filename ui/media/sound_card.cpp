// SPDX-License-Identifier: Apache-2.0
#include "ui/media/sound_card.h"

#include "ui/media/media_cache.h"
#include "ui/media/sound_player.h"
#include "ui/media/waveform.h"
#include "ui/style/theme.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace ui {

namespace {
constexpr double kSide = 12.0, kButton = 24.0, kGap = 8.0;
}

SoundCard::SoundCard(SoundPlayer* player, MediaCache* media, QWidget* parent)
    : TimeSlider(parent), player_(player), media_(media) {
    setObjectName(QStringLiteral("soundCard"));
    setMouseTracking(true);
    setMinimumSize(160, kHeight);
    page = 5.0;
    setAccessibleDescription(tr(
        "Space plays and pauses, the arrow keys move by a second, Page Up and Page Down by five"));
    connect(player_, &SoundPlayer::changed, this, [this] { describe(); });
    connect(media_, &MediaCache::changed, this, [this](const QString& file) {
        if (file == clip_.file) {
            describe();
        }
    });
}

void SoundCard::setClip(const SoundClip& clip, const QString& name) {
    if (clip == clip_ && name == name_) {
        return;
    }
    clip_ = clip;
    name_ = name;
    spoken_.clear();
    setAccessibleName(tr("Sound %1").arg(name_));
    describe();
}

void SoundCard::setFramed(bool is_framed) {
    is_framed_ = is_framed;
    setMinimumHeight(is_framed ? kHeight : 44);
    update();
}

void SoundCard::setDimmed(bool is_dimmed) {
    if (is_dimmed != is_dimmed_) {
        is_dimmed_ = is_dimmed;
        update();
    }
}

double SoundCard::maximum() const {
    const double whole = media_->outline(clip_.file).seconds;
    const double rest = std::max(whole - clip_.start_s, 0.0);
    return clip_.length_s > 0.0 && whole > 0.0 ? std::min(clip_.length_s, rest)
           : clip_.length_s > 0.0              ? clip_.length_s
                                               : rest;
}

double SoundCard::value() const {
    return is_dragging_ ? drag_to_ : player_->position(clip_);
}

void SoundCard::moveTo(double seconds) {
    if (media_->outline(clip_.file).state == SoundOutline::State::Ready) {
        player_->seek(clip_, std::clamp(seconds, 0.0, maximum()));
    }
}

void SoundCard::press() {
    player_->toggle(clip_);
}

QString SoundCard::valueText() const {
    const QString time = tr("%1 of %2").arg(clockText(value()), clockText(maximum()));
    if (QString problem = player_->problem(clip_); !problem.isEmpty()) {
        return problem;
    }
    return player_->isPlaying(clip_) ? tr("%1, playing").arg(time) : time;
}

QString SoundCard::timeText() const {
    const double length = maximum();
    if (length <= 0.0) {
        return {};
    }
    const bool is_short = length < 10.0;
    const double at = value();
    if (at <= 0.0 && !player_->isPlaying(clip_)) {
        return clockText(length, is_short);
    }
    return clockText(at, is_short) + QStringLiteral(" / ") + clockText(length, is_short);
}

void SoundCard::describe() {
    const SoundOutline& outline = media_->outline(clip_.file);
    const QString problem = player_->problem(clip_);
    QString tip = name_;
    if (clip_.length_s > 0.0 && outline.seconds > 0.0) {
        tip = tr("%1: %2 to %3 of %4")
                  .arg(name_, clockText(clip_.start_s), clockText(clip_.start_s + maximum()),
                       clockText(outline.seconds));
    }
    const QString reason = outline.state == SoundOutline::State::Missing
                               ? tr("The file is no longer there.")
                               : outline.error;
    if (!reason.isEmpty() || !problem.isEmpty()) {
        tip += QLatin1Char('\n') + (problem.isEmpty() ? reason : problem);
    }
    setToolTip(tip);
    update();
    // Not twenty times a second: a second more, or another state.
    const QString now = valueText();
    if (now != spoken_) {
        spoken_ = now;
        valueChanged();
    }
}

QRectF SoundCard::buttonPlace() const {
    return {is_framed_ ? kSide : 0.0, (height() - kButton) / 2.0, kButton, kButton};
}

QRectF SoundCard::wavePlace() const {
    const QFontMetricsF metrics(scaledFont(85));
    const double left = buttonPlace().right() + kGap;
    // Room for the longest text, so that the bars stay where they are while it plays.
    const double length = maximum();
    const QString longest =
        clockText(length, length < 10.0) + QStringLiteral(" / ") + clockText(length, length < 10.0);
    const double right =
        width() - (is_framed_ ? kSide : 4.0) - metrics.horizontalAdvance(longest) - kGap;
    return {left, height() / 2.0 - 14.0, std::max(right - left, 10.0), 28.0};
}

double SoundCard::secondsAt(double x) const {
    const QRectF place = wavePlace();
    return std::clamp((x - place.x()) / place.width(), 0.0, 1.0) * maximum();
}

void SoundCard::paintEvent(QPaintEvent* event) {
    Q_UNUSED(event);
    const Theme& theme = Theme::current();
    const SoundOutline& outline = media_->outline(clip_.file);
    const QString problem = player_->problem(clip_);
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    if (is_dimmed_) {
        painter.setOpacity(0.55);
    }
    if (is_framed_ || hasFocus()) {
        painter.setPen(QPen(hasFocus()           ? theme.accent
                            : !problem.isEmpty() ? theme.danger
                                                 : theme.border,
                            hasFocus() ? 2.0 : 1.0));
        painter.setBrush(is_framed_ ? QBrush(theme.surface) : QBrush(Qt::NoBrush));
        const double inset = hasFocus() ? 1.0 : 0.5;
        painter.drawRoundedRect(QRectF(rect()).adjusted(inset, inset, -inset, -inset),
                                Theme::kRadius, Theme::kRadius);
    }
    const bool is_missing = outline.state == SoundOutline::State::Missing;
    const bool is_broken = is_missing || outline.state == SoundOutline::State::Unreadable;
    const QString symbol = is_broken                   ? QStringLiteral("alert")
                           : player_->isPlaying(clip_) ? QStringLiteral("pause")
                                                       : QStringLiteral("play");
    const QRectF button = buttonPlace();
    if (!is_broken) {
        painter.setPen(Qt::NoPen);
        painter.setBrush(is_button_hovered_ ? theme.accent : theme.raised);
        painter.drawEllipse(button);
    }
    painter.drawPixmap(button.topLeft() + QPointF(4.0, 4.0),
                       iconPixmap(symbol, 16,
                                  is_broken            ? theme.danger
                                  : is_button_hovered_ ? theme.on_accent
                                                       : theme.text,
                                  devicePixelRatioF()));
    const QFont font = scaledFont(85);
    const QFontMetricsF metrics(font);
    painter.setFont(font);
    const QRectF wave = wavePlace();
    const double right = width() - (is_framed_ ? kSide : 4.0);
    const bool has_line = is_broken || !problem.isEmpty();
    if (has_line) {
        // In place of the waveform; the whole sentence is in the tool tip, for a screen reader in
        // the value, and in the notice below the conversation.
        const QString words = is_missing  ? tr("%1: file not found").arg(name_)
                              : is_broken ? tr("%1: cannot be read").arg(name_)
                                          : problem;
        painter.setPen(theme.danger);
        const QRectF place(wave.x(), 4.0, right - wave.x(), height() - 8.0);
        const double lines = std::max(std::floor(place.height() / metrics.lineSpacing()), 1.0);
        painter.drawText(place, Qt::AlignLeft | Qt::AlignVCenter | Qt::TextWordWrap,
                         metrics.elidedText(words, Qt::ElideRight,
                                            place.width() * lines - (lines - 1.0) * 36.0));
        return;
    }
    const QString time = timeText();
    painter.setPen(theme.text_muted);
    painter.drawText(QRectF(wave.right(), 0.0, right - wave.right(), height()),
                     Qt::AlignRight | Qt::AlignVCenter, time);
    if (outline.state == SoundOutline::State::Ready) {
        drawWaveform(painter, wave, outline, clip_.start_s, maximum(), value(), theme.accent,
                     theme.part_audio);
    } else {
        painter.drawText(QRectF(wave.x(), 0.0, right - wave.x(), height()),
                         Qt::AlignLeft | Qt::AlignVCenter,
                         metrics.elidedText(name_, Qt::ElideMiddle, right - wave.x()));
    }
}

void SoundCard::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) {
        event->ignore();
        return;
    }
    if (event->position().x() < wavePlace().x()) {
        press();
        return;
    }
    is_dragging_ = maximum() > 0.0;
    drag_to_ = secondsAt(event->position().x());
    update();
}

void SoundCard::mouseMoveEvent(QMouseEvent* event) {
    const bool is_button = event->position().x() < wavePlace().x();
    if (is_button != is_button_hovered_) {
        is_button_hovered_ = is_button;
        update();
    }
    if (is_dragging_) {
        drag_to_ = secondsAt(event->position().x());
        update();
    }
}

void SoundCard::mouseReleaseEvent(QMouseEvent* event) {
    if (event->button() == Qt::LeftButton && is_dragging_) {
        is_dragging_ = false;
        moveTo(drag_to_);
    }
}

void SoundCard::leaveEvent(QEvent* event) {
    QWidget::leaveEvent(event);
    is_button_hovered_ = false;
    update();
}

void SoundCard::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Escape) {
        Q_EMIT left();
        event->ignore(); // Esc also stops a reply
        return;
    }
    if (event->key() == Qt::Key_Up || event->key() == Qt::Key_Down) {
        event->ignore(); // walk over the messages
        return;
    }
    TimeSlider::keyPressEvent(event);
}

} // namespace ui
