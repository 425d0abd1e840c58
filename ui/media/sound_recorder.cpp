// SPDX-License-Identifier: Apache-2.0
#include "ui/media/sound_recorder.h"

#include "ui/common/private_files.h"
#include "ui/common/unique_id.h"

#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QStandardPaths>
#include <QThreadPool>
#include <QtEndian>

#include <algorithm>
#include <cmath>

namespace ui {

namespace {

constexpr int kRecorderSilenceMs = 8000;
constexpr double kShortest = 0.1; ///< Seconds; less is a slip of the finger.

template <typename T>
void put(QByteArray& bytes, T value) {
    const T little = qToLittleEndian(value);
    bytes.append(reinterpret_cast<const char*>(&little), sizeof little);
}

} // namespace

QByteArray wavBytes(const QByteArray& samples, int rate) {
    const auto size = static_cast<quint32>(samples.size());
    QByteArray bytes("RIFF");
    put<quint32>(bytes, 36 + size);
    bytes.append("WAVEfmt ");
    put<quint32>(bytes, 16);
    put<quint16>(bytes, 1); // PCM
    put<quint16>(bytes, 1); // one channel
    put<quint32>(bytes, static_cast<quint32>(rate));
    put<quint32>(bytes, static_cast<quint32>(rate) * 2);
    put<quint16>(bytes, 2);
    put<quint16>(bytes, 16);
    bytes.append("data");
    put<quint32>(bytes, size);
    return bytes + samples;
}

SoundRecorder::SoundRecorder(QObject* parent) : QObject(parent) {
    watchdog_.setSingleShot(true);
    watchdog_.setInterval(kRecorderSilenceMs);
    connect(&watchdog_, &QTimer::timeout, this, [this] {
        if (state_ == State::Recording && seconds() >= kShortest) {
            problem_ = sentence(SoundProblem::Lost, {});
            finish(); // what was heard until then is not lost
            return;
        }
        stopInput();
        fail(sentence(SoundProblem::NoAnswer, {}));
    });
}

QString SoundRecorder::sentence(SoundProblem problem, const QString& detail) {
    switch (problem) {
    case SoundProblem::NotBuilt:
        return tr("This build of Belfry was made without Qt Multimedia and cannot record. Record "
                  "in another program and attach the file.");
    case SoundProblem::NoDevice:
        return tr("No microphone was found. Connect one, or allow it in the system's privacy "
                  "settings, then try again.");
    case SoundProblem::CannotOpen:
        return tr("The microphone cannot be opened (%1). Allow it in the system's privacy settings "
                  "or close the program that uses it, then try again.")
            .arg(detail);
    case SoundProblem::Lost:
        return tr("The microphone is gone: what was recorded until then is kept.");
    case SoundProblem::NoAnswer:
        return tr("The microphone delivers nothing. Check that it is on and allowed in the "
                  "system's privacy settings, then try again.");
    }
    return {};
}

double SoundRecorder::seconds() const {
    return rate_ > 0 ? static_cast<double>(samples_.size()) / (2.0 * rate_) : 0.0;
}

void SoundRecorder::start(SoundInput* input, double limit_s) {
    if (state_ != State::Idle) {
        return;
    }
    problem_.clear();
    samples_.clear();
    rate_ = 0;
    level_ = 0.0;
    limit_s_ = limit_s;
    if (input == nullptr) {
        fail(sentence(SoundProblem::NotBuilt, {}));
        return;
    }
    if (input_ != input) {
        if (input_ != nullptr) {
            input_->disconnect(this);
        }
        input_ = input;
        connect(input, &SoundInput::started, this, &SoundRecorder::showStarted);
        connect(input, &SoundInput::heard, this, &SoundRecorder::takeSamples);
        connect(input, &SoundInput::failed, this,
                [this](quint64 ticket, SoundProblem problem, const QString& detail) {
                    if (ticket != ticket_ || state_ == State::Writing) {
                        return;
                    }
                    if (state_ == State::Recording && seconds() >= kShortest) {
                        problem_ = sentence(SoundProblem::Lost, detail);
                        finish();
                        return;
                    }
                    fail(sentence(problem == SoundProblem::Lost ? SoundProblem::NoAnswer : problem,
                                  detail));
                });
    }
    state_ = State::Opening;
    ++ticket_;
    watchdog_.start();
    Q_EMIT changed();
    QMetaObject::invokeMethod(input, [input, ticket = ticket_] { input->start(ticket); });
}

void SoundRecorder::showStarted(quint64 ticket, int rate) {
    if (ticket != ticket_ || state_ != State::Opening) {
        return;
    }
    rate_ = rate;
    state_ = State::Recording;
    Q_EMIT changed();
}

void SoundRecorder::takeSamples(quint64 ticket, const QByteArray& samples) {
    if (ticket != ticket_ || state_ != State::Recording) {
        return;
    }
    watchdog_.start();
    samples_.append(samples);
    const auto* values = reinterpret_cast<const qint16*>(samples.constData());
    int loudest = 0;
    for (qsizetype i = 0; i < samples.size() / 2; ++i) {
        loudest = std::max(loudest, std::abs(int{values[i]}));
    }
    level_ = std::min(loudest / 32767.0, 1.0);
    const qsizetype most = 2 * static_cast<qsizetype>(std::llround(limit_s_ * rate_));
    if (samples_.size() >= most) {
        samples_.truncate(most);
        finish();
        return;
    }
    Q_EMIT changed();
}

void SoundRecorder::stopInput() {
    watchdog_.stop();
    ++ticket_;
    level_ = 0.0;
    if (input_ != nullptr) {
        SoundInput* input = input_;
        QMetaObject::invokeMethod(input, [input] { input->stop(); });
    }
}

void SoundRecorder::finish() {
    if (state_ != State::Recording && state_ != State::Opening) {
        return;
    }
    stopInput();
    if (seconds() < kShortest) {
        fail(tr("Nothing was recorded. Keep recording while you speak, then choose Use."));
        return;
    }
    state_ = State::Writing;
    Q_EMIT changed();
    write();
}

void SoundRecorder::write() {
    const QString folder = privateTemporaryFolder(QStringLiteral("belfry-recorded"));
    const QString file = QStringLiteral("%1/%2.wav").arg(folder, makeUniqueId());
    QThreadPool::globalInstance()->start([self = QPointer(this), folder, file, samples = samples_,
                                          rate = rate_] {
        QFile out(file);
        const QByteArray bytes = wavBytes(samples, rate);
        const bool is_written = makePrivateFolder(folder) && out.open(QIODevice::WriteOnly) &&
                                out.write(bytes) == bytes.size() && out.flush();
        QMetaObject::invokeMethod(
            QCoreApplication::instance(),
            [self, file, folder, is_written] {
                if (self == nullptr || self->state_ != State::Writing) {
                    return;
                }
                if (!is_written) {
                    self->fail(tr("The recording could not be written to %1; check that there is "
                                  "room and the folder can be written.")
                                   .arg(folder));
                    return;
                }
                self->state_ = State::Idle;
                self->samples_.clear();
                Q_EMIT self->recorded(file);
                Q_EMIT self->changed();
            },
            Qt::QueuedConnection);
    });
}

void SoundRecorder::cancel() {
    if (state_ == State::Opening || state_ == State::Recording) {
        stopInput();
    }
    state_ = State::Idle;
    problem_.clear();
    samples_.clear();
    Q_EMIT changed();
}

void SoundRecorder::fail(const QString& reason) {
    watchdog_.stop();
    ++ticket_;
    state_ = State::Idle;
    level_ = 0.0;
    samples_.clear();
    problem_ = reason;
    Q_EMIT failed(reason);
    Q_EMIT changed();
}

} // namespace ui
