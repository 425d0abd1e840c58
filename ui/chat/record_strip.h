// SPDX-License-Identifier: Apache-2.0
// The line above the message while the microphone is on: level, time, the end of what the model
// hears, Use and Cancel; or why nothing can be recorded.
#pragma once

#include <QFrame>

class QLabel;
class QPushButton;

namespace ui {

class SoundPlayer;
class SoundRecorder;

class RecordStrip : public QFrame {
    Q_OBJECT

public:
    explicit RecordStrip(SoundPlayer* player, QWidget* parent = nullptr);

    /// Starts; while it records: keeps what is there.
    void toggle();
    void cancel();
    /// Seconds of one clip that the model hears; 0 = not known.
    void setLongest(double seconds) { longest_s_ = seconds > 0.0 ? seconds : longest_s_; }
    [[nodiscard]] bool isRecording() const;

Q_SIGNALS:
    void recorded(const QString& file);
    /// Nothing is to be shown any more.
    void closed();

protected:
    void keyPressEvent(QKeyEvent* event) override;

private:
    void start();
    void showState();

    SoundPlayer* player_;
    SoundRecorder* recorder_;
    QWidget* level_;
    QLabel* text_;
    QPushButton *use_, *cancel_;
    double longest_s_ = 30.0;
};

} // namespace ui
