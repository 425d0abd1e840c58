// SPDX-License-Identifier: Apache-2.0
// Loudspeaker and microphone behind two small interfaces, so that player and recorder are tested
// without a device. Opening one can wait for the sound system, therefore the real ones live on a
// thread of their own: call their functions through QMetaObject::invokeMethod on the object. Every
// signal carries the ticket of the call that it belongs to; a stale one is to be ignored.
#pragma once

#include "ui/media/pcm_stream.h"
#include "ui/media/sound_types.h"

#include <QByteArray>
#include <QObject>

#include <memory>

namespace ui {

enum class SoundProblem {
    NotBuilt = 1, ///< The program was made without the library.
    NoDevice,     ///< None is connected, or none may be used.
    CannotOpen,   ///< There is one, and it refuses; the detail says why.
    Lost,         ///< It went away while it was in use.
    NoAnswer,     ///< The sound system does not react.
};

class SoundOutput : public QObject {
    Q_OBJECT

public:
    explicit SoundOutput(QObject* parent = nullptr);

    /// Plays from `frame` to `end` (-1 = the recording's end), beginning with `part`. What played
    /// before ends without a signal.
    void play(quint64 ticket, qint64 frame, qint64 end, std::shared_ptr<const SoundPart> part);
    void addPart(quint64 ticket, const std::shared_ptr<const SoundPart>& part);
    void pause(quint64 ticket);
    void resume(quint64 ticket);
    void stop();

Q_SIGNALS:
    /// The frame that is heard now; several times a second.
    void advanced(quint64 ticket, qint64 frame);
    void finished(quint64 ticket);
    void failed(quint64 ticket, ui::SoundProblem problem, const QString& detail);

protected:
    /// Starts reading from `stream`. Calls fail() when that is not possible.
    virtual void open(QIODevice* stream) = 0;
    virtual void setSuspended(bool is_suspended) = 0;
    /// May be called when nothing is open.
    virtual void close() = 0;
    /// Frames that were read and are not heard yet.
    [[nodiscard]] virtual qint64 pendingFrames() const = 0;

    /// To be called now and then while open: tells the place, and the end once it was heard.
    void report();
    void fail(SoundProblem problem, const QString& detail);
    [[nodiscard]] bool isOpen() const { return is_open_; }
    [[nodiscard]] PcmStream* stream() { return &stream_; }

private:
    PcmStream stream_;
    quint64 ticket_ = 0;
    bool is_open_ = false, is_suspended_ = false;
};

class SoundInput : public QObject {
    Q_OBJECT

public:
    explicit SoundInput(QObject* parent = nullptr) : QObject(parent) {}

    void start(quint64 ticket);
    void stop();

Q_SIGNALS:
    /// Comes before the first heard(). `rate` in Hz.
    void started(quint64 ticket, int rate);
    /// Samples in 16-bit mono.
    void heard(quint64 ticket, const QByteArray& samples);
    void failed(quint64 ticket, ui::SoundProblem problem, const QString& detail);

protected:
    /// Calls begin() or fail().
    virtual void open() = 0;
    virtual void close() = 0;
    void begin(int rate);
    void deliver(const QByteArray& samples);
    void fail(SoundProblem problem, const QString& detail);

private:
    quint64 ticket_ = 0;
};

class SoundDevices {
public:
    virtual ~SoundDevices() = default;
    SoundDevices() = default;
    SoundDevices(const SoundDevices&) = delete;
    SoundDevices& operator=(const SoundDevices&) = delete;

    /// Owned by this object; nullptr in a build without sound.
    [[nodiscard]] virtual SoundOutput* output() = 0;
    [[nodiscard]] virtual SoundInput* input() = 0;
};

/// The system's default devices. Nothing is opened and no thread started before the first use.
std::unique_ptr<SoundDevices> makeSoundDevices();

} // namespace ui

Q_DECLARE_METATYPE(ui::SoundProblem)
