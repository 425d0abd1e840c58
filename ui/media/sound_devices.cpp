// SPDX-License-Identifier: Apache-2.0
#include "ui/media/sound_devices.h"

#include <algorithm>
#include <utility>

namespace ui {

SoundOutput::SoundOutput(QObject* parent) : QObject(parent), stream_(this) {}

void SoundOutput::play(quint64 ticket,
                       qint64 frame,
                       qint64 end,
                       std::shared_ptr<const SoundPart> part) {
    ticket_ = ticket;
    stream_.begin(frame, end);
    stream_.addPart(std::move(part));
    if (is_open_) {
        resume(ticket); // another place or another sound: the same device goes on
        return;
    }
    is_open_ = true;
    is_suspended_ = false;
    open(&stream_);
}

void SoundOutput::addPart(quint64 ticket, const std::shared_ptr<const SoundPart>& part) {
    if (ticket == ticket_) {
        stream_.addPart(part);
    }
}

void SoundOutput::pause(quint64 ticket) {
    if (ticket == ticket_ && is_open_ && !is_suspended_) {
        is_suspended_ = true;
        setSuspended(true);
    }
}

void SoundOutput::resume(quint64 ticket) {
    if (ticket == ticket_ && is_open_ && is_suspended_) {
        is_suspended_ = false;
        setSuspended(false);
    }
}

void SoundOutput::stop() {
    ticket_ = 0;
    is_open_ = false;
    close();
}

void SoundOutput::report() {
    if (!is_open_ || is_suspended_) {
        return;
    }
    const quint64 ticket = ticket_;
    const qint64 heard = stream_.frame() - pendingFrames() + stream_.framesAfterEnd();
    if (stream_.isAtEnd() && heard >= stream_.frame()) {
        stop();
        Q_EMIT advanced(ticket, stream_.frame());
        Q_EMIT finished(ticket);
        return;
    }
    Q_EMIT advanced(ticket, std::max<qint64>(heard, 0));
}

void SoundOutput::fail(SoundProblem problem, const QString& detail) {
    const quint64 ticket = ticket_;
    stop();
    Q_EMIT failed(ticket, problem, detail);
}

void SoundInput::start(quint64 ticket) {
    close();
    ticket_ = ticket;
    open();
}

void SoundInput::stop() {
    ticket_ = 0;
    close();
}

void SoundInput::begin(int rate) {
    Q_EMIT started(ticket_, rate);
}

void SoundInput::deliver(const QByteArray& samples) {
    if (ticket_ != 0 && !samples.isEmpty()) {
        Q_EMIT heard(ticket_, samples);
    }
}

void SoundInput::fail(SoundProblem problem, const QString& detail) {
    const quint64 ticket = ticket_;
    stop();
    Q_EMIT failed(ticket, problem, detail);
}

} // namespace ui
