// SPDX-License-Identifier: Apache-2.0
// Chooses which part of a long recording is used: the whole waveform with the part marked. The
// mouse drags the part or puts it where it clicks; arrow keys, Page Up, Page Down, Home and End
// move it.
#pragma once

#include "ui/media/time_slider.h"

namespace ui {

class MediaCache;

class SoundRange : public TimeSlider {
    Q_OBJECT

public:
    explicit SoundRange(MediaCache* media, QWidget* parent = nullptr);

    /// `seconds` of the whole recording, `length_s` of the part.
    void setRecording(const QString& file, double seconds, double length_s);
    void setStart(double seconds); ///< Without a signal.

    [[nodiscard]] double value() const override { return start_s_; }
    [[nodiscard]] double maximum() const override;
    void moveTo(double seconds) override;
    [[nodiscard]] QString valueText() const override;
    [[nodiscard]] QSize sizeHint() const override { return {272, 44}; }

Q_SIGNALS:
    void startChanged(double seconds);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;

private:
    [[nodiscard]] QRectF wavePlace() const;
    [[nodiscard]] QRectF partPlace() const;

    MediaCache* media_;
    QString file_;
    double seconds_ = 0.0, length_s_ = 0.0, start_s_ = 0.0;
    double grip_ =
        -1.0; ///< Where the part is held, pixels from its left edge; negative = it is not.
};

} // namespace ui
