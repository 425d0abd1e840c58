// SPDX-License-Identifier: Apache-2.0
// Records from the microphone, at most as long as the model hears, and writes what was recorded as
// a WAV file on the thread pool. No widget: record_strip.h shows it.
#pragma once

#include "ui/media/sound_devices.h"

#include <QByteArray>
#include <QObject>
#include <QPointer>
#include <QTimer>

namespace ui {

/// 16-bit mono samples as a WAV file.
QByteArray wavBytes(const QByteArray& samples, int rate);

class SoundRecorder : public QObject {
    Q_OBJECT

public:
    enum class State { Idle = 1, Opening, Recording, Writing };

    explicit SoundRecorder(QObject* parent = nullptr);

    /// `input` may be nullptr: a build without sound. It must outlive this or be replaced.
    void start(SoundInput* input, double limit_s);
    /// Keeps what was recorded: recorded() follows when it is written, or failed().
    void finish();
    void cancel();

    [[nodiscard]] State state() const { return state_; }
    [[nodiscard]] double seconds() const;
    [[nodiscard]] double limit() const { return limit_s_; }
    /// Loudest sample of the last moment, 0 to 1.
    [[nodiscard]] double level() const { return level_; }
    [[nodiscard]] QString problem() const { return problem_; } ///< Translated; empty if none.

Q_SIGNALS:
    void changed();
    /// A new file in the program's temporary folder.
    void recorded(const QString& file);
    void failed(const QString& reason);

private:
    void showStarted(quint64 ticket, int rate);
    void takeSamples(quint64 ticket, const QByteArray& samples);
    void stopInput();
    void fail(const QString& reason);
    void write();
    [[nodiscard]] static QString sentence(SoundProblem problem, const QString& detail);

    QPointer<SoundInput> input_;
    State state_ = State::Idle;
    quint64 ticket_ = 0;
    double limit_s_ = 0.0, level_ = 0.0;
    int rate_ = 0;
    QByteArray samples_;
    QString problem_;
    QTimer watchdog_;
};

} // namespace ui
