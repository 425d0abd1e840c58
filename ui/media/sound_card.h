// SPDX-License-Identifier: Apache-2.0
// The player of one sound: button, waveform of the real samples, place and length. One focus stop:
// Space or Enter plays and pauses, arrow keys move, a click in the waveform goes there.
#pragma once

#include "ui/media/sound_types.h"
#include "ui/media/time_slider.h"

namespace ui {

class MediaCache;
class SoundPlayer;

class SoundCard : public TimeSlider {
    Q_OBJECT

public:
    SoundCard(SoundPlayer* player, MediaCache* media, QWidget* parent = nullptr);

    /// `name` is what the user calls the file.
    void setClip(const SoundClip& clip, const QString& name);
    [[nodiscard]] const SoundClip& clip() const { return clip_; }
    void setFramed(bool is_framed);
    /// Paler, for what the model no longer sees.
    void setDimmed(bool is_dimmed);

    [[nodiscard]] double value() const override;
    [[nodiscard]] double maximum() const override;
    void moveTo(double seconds) override;
    [[nodiscard]] QString valueText() const override;
    void press() override;

    static constexpr int kWidth = 272, kHeight = 56;
    [[nodiscard]] QSize sizeHint() const override { return {kWidth, kHeight}; }

Q_SIGNALS:
    /// Escape: back to where the focus came from.
    void left();

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void leaveEvent(QEvent* event) override;

private:
    void describe();
    [[nodiscard]] QRectF buttonPlace() const;
    [[nodiscard]] QRectF wavePlace() const;
    [[nodiscard]] QString timeText() const;
    [[nodiscard]] double secondsAt(double x) const;

    SoundPlayer* player_;
    MediaCache* media_;
    SoundClip clip_;
    QString name_;
    bool is_framed_ = true, is_dimmed_ = false, is_dragging_ = false, is_button_hovered_ = false;
    double drag_to_ = 0.0; ///< Seconds; where the mouse is while it is held.
    QString spoken_;       ///< What screen readers were told last.
};

} // namespace ui
