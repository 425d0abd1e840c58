// SPDX-License-Identifier: Apache-2.0
// Loudspeaker and microphone through Qt Multimedia's sink and source of samples: on Linux they talk
// to PulseAudio or PipeWire themselves and load no media back end. Compiled without the library,
// this file offers no devices. On Windows windows_sound_devices.cpp takes its place.
#include "ui/media/sound_devices.h"
#include "ui/media/sound_thread.h"

#ifdef BELFRY_HAS_MULTIMEDIA
#include <QAudioDevice>
#include <QAudioFormat>
#include <QAudioSink>
#include <QAudioSource>
#include <QElapsedTimer>
#include <QMediaDevices>
#include <QTimer>

#include <algorithm>
#include <cmath>
#endif

namespace ui {

#ifdef BELFRY_HAS_MULTIMEDIA

namespace {

constexpr int kBufferMs = 250; ///< Long enough for a busy machine, short enough for a seek.
constexpr int kReportMs = 50;  ///< The place is told this often.

QString reasonText(QAudio::Error error) {
    switch (error) {
    case QAudio::OpenError:
        return QStringLiteral("QAudio::OpenError");
    case QAudio::IOError:
        return QStringLiteral("QAudio::IOError");
    case QAudio::UnderrunError:
        return QStringLiteral("QAudio::UnderrunError");
    case QAudio::FatalError:
        return QStringLiteral("QAudio::FatalError");
    case QAudio::NoError:
        break;
    }
    return {};
}

QString formatText(const QAudioFormat& format) {
    return QStringLiteral("%1 Hz, %2 channels").arg(format.sampleRate()).arg(format.channelCount());
}

class QtSoundOutput : public SoundOutput {
public:
    QtSoundOutput() {
        timer_.setParent(this); // moves to the other thread together
        timer_.setInterval(kReportMs);
        connect(&timer_, &QTimer::timeout, this, [this] { report(); });
    }
    ~QtSoundOutput() override {
        timer_.setParent(nullptr);
        sink_.reset();
    }

protected:
    void open(QIODevice* stream) override {
        const QAudioDevice device = QMediaDevices::defaultAudioOutput();
        if (device.isNull()) {
            fail(SoundProblem::NoDevice, {});
            return;
        }
        QAudioFormat format;
        format.setSampleRate(kSoundRate);
        format.setChannelCount(kSoundChannels);
        format.setSampleFormat(QAudioFormat::Int16);
        if (!device.isFormatSupported(format)) {
            cannotOpen(device.description() + QStringLiteral(": ") + formatText(format));
            return;
        }
        sink_ = std::make_unique<QAudioSink>(device, format);
        sink_->setBufferSize(format.bytesForDuration(qint64{kBufferMs} * 1000));
        sink_->start(stream);
        if (sink_->error() != QAudio::NoError) {
            cannotOpen(device.description() + QStringLiteral(": ") + reasonText(sink_->error()));
            return;
        }
        connect(sink_.get(), &QAudioSink::stateChanged, this, [this](QAudio::State state) {
            if (state == QAudio::StoppedState && sink_->error() != QAudio::NoError) {
                // Not from within the sink's own signal: it is destroyed by this.
                QMetaObject::invokeMethod(
                    this, [this] { reopen(); }, Qt::QueuedConnection);
            }
        });
        timer_.start();
    }

    void setSuspended(bool is_suspended) override {
        if (sink_ != nullptr) {
            if (is_suspended) {
                sink_->suspend();
            } else {
                sink_->resume();
            }
        }
    }

    void close() override {
        timer_.stop();
        if (sink_ != nullptr) {
            sink_->disconnect(this);
            sink_->reset();
            sink_.reset();
        }
    }

    [[nodiscard]] qint64 pendingFrames() const override {
        return sink_ == nullptr
                   ? 0
                   : (sink_->bufferSize() - sink_->bytesFree()) / PcmStream::kFrameBytes;
    }

private:
    /// The device is gone: goes on with what is the default now, if that is not the same misery.
    void reopen() {
        if (!isOpen() || sink_ == nullptr) {
            return;
        }
        const QString reason = reasonText(sink_->error());
        sink_->disconnect(this);
        sink_.reset();
        if (QMediaDevices::defaultAudioOutput().isNull() ||
            (since_lost_.isValid() && since_lost_.elapsed() < 2000)) {
            fail(SoundProblem::Lost, reason);
            return;
        }
        since_lost_.start();
        is_reopening_ = true;
        open(stream());
        is_reopening_ = false;
    }

    void cannotOpen(const QString& detail) {
        // What is still listed may be what has just gone.
        fail(is_reopening_ ? SoundProblem::Lost : SoundProblem::CannotOpen, detail);
    }

    std::unique_ptr<QAudioSink> sink_;
    QTimer timer_;
    QElapsedTimer since_lost_;
    bool is_reopening_ = false;
};

/// What the source delivers, as 16-bit mono.
QByteArray toMono16(const QByteArray& raw, const QAudioFormat& format) {
    const int channels = format.channelCount();
    const qsizetype frames = raw.size() / std::max(format.bytesPerFrame(), 1);
    QByteArray out(frames * 2, Qt::Uninitialized);
    auto* to = reinterpret_cast<qint16*>(out.data());
    const char* sample = raw.constData();
    for (qsizetype i = 0; i < frames; ++i) {
        float sum = 0.0F;
        for (int c = 0; c < channels; ++c, sample += format.bytesPerSample()) {
            sum += format.normalizedSampleValue(sample);
        }
        to[i] = static_cast<qint16>(
            std::lround(std::clamp(sum / static_cast<float>(channels), -1.0F, 1.0F) * 32767.0F));
    }
    return out;
}

class QtSoundInput : public SoundInput {
public:
    ~QtSoundInput() override { source_.reset(); }

protected:
    void open() override {
        const QAudioDevice device = QMediaDevices::defaultAudioInput();
        if (device.isNull()) {
            fail(SoundProblem::NoDevice, {});
            return;
        }
        // What the tower hears anyway; a device that cannot records in its own way.
        QAudioFormat format;
        format.setSampleRate(16000);
        format.setChannelCount(1);
        format.setSampleFormat(QAudioFormat::Int16);
        if (!device.isFormatSupported(format)) {
            format = device.preferredFormat();
        }
        source_ = std::make_unique<QAudioSource>(device, format);
        QIODevice* samples = source_->start();
        if (samples == nullptr || source_->error() != QAudio::NoError) {
            fail(SoundProblem::CannotOpen,
                 device.description() + QStringLiteral(": ") + reasonText(source_->error()));
            return;
        }
        connect(samples, &QIODevice::readyRead, this, [this, samples, format] {
            rest_ += samples->readAll();
            const qsizetype frame = std::max(1, format.bytesPerFrame());
            const qsizetype whole = rest_.size() - rest_.size() % frame;
            const QByteArray ready = rest_.left(whole);
            rest_.remove(0, whole);
            deliver(toMono16(ready, format));
        });
        connect(source_.get(), &QAudioSource::stateChanged, this, [this](QAudio::State state) {
            if (state == QAudio::StoppedState && source_->error() != QAudio::NoError) {
                const QString reason = reasonText(source_->error());
                QMetaObject::invokeMethod(
                    this, [this, reason] { fail(SoundProblem::Lost, reason); },
                    Qt::QueuedConnection);
            }
        });
        begin(format.sampleRate());
    }

    void close() override {
        rest_.clear();
        if (source_ != nullptr) {
            source_->disconnect(this);
            source_->stop();
            source_.reset();
        }
    }

private:
    std::unique_ptr<QAudioSource> source_;
    QByteArray rest_; ///< Bytes of a frame that has not come whole.
};

class QtSoundDevices : public ThreadedSoundDevices {
protected:
    SoundOutput* makeOutput() override { return new QtSoundOutput; }
    SoundInput* makeInput() override { return new QtSoundInput; }
};

} // namespace

std::unique_ptr<SoundDevices> makeSoundDevices() {
    return std::make_unique<QtSoundDevices>();
}

#else

namespace {

class NoSoundDevices : public SoundDevices {
public:
    SoundOutput* output() override { return nullptr; }
    SoundInput* input() override { return nullptr; }
};

} // namespace

std::unique_ptr<SoundDevices> makeSoundDevices() {
    return std::make_unique<NoSoundDevices>();
}

#endif

} // namespace ui
