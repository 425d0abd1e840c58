// SPDX-License-Identifier: Apache-2.0
#include "ui/media/sound_player.h"

#include <QCoreApplication>
#include <QPointer>
#include <QThreadPool>

#include <algorithm>
#include <cmath>

namespace ui {

namespace {
constexpr int kNoAnswerMs = 8000;

int partAt(double seconds) {
    return static_cast<int>(std::floor(seconds / kSoundPartSeconds));
}
} // namespace

SoundPlayer::SoundPlayer(QObject* parent) : QObject(parent) {
    watchdog_.setSingleShot(true);
    watchdog_.setInterval(kNoAnswerMs);
    connect(&watchdog_, &QTimer::timeout, this, [this] {
        stopOutput();
        fail(sentence(SoundProblem::NoAnswer, {}));
    });
}

SoundPlayer::~SoundPlayer() = default;

void SoundPlayer::setDevices(std::unique_ptr<SoundDevices> devices) {
    stop();
    devices_ = std::move(devices);
    is_connected_ = false;
}

SoundDevices* SoundPlayer::devices() {
    if (devices_ == nullptr) {
        devices_ = makeSoundDevices();
    }
    return devices_.get();
}

QString SoundPlayer::sentence(SoundProblem problem, const QString& detail) {
    switch (problem) {
    case SoundProblem::NotBuilt:
        return tr("This build of Belfry was made without Qt Multimedia and plays no sound. Open "
                  "the file in another program.");
    case SoundProblem::NoDevice:
        return tr("No sound device was found. Connect or switch on a loudspeaker, then press play "
                  "again.");
    case SoundProblem::CannotOpen:
        return tr("The sound device cannot be opened (%1). Choose another one in the system's "
                  "settings, then press play again.")
            .arg(detail);
    case SoundProblem::Lost:
        return tr("The sound device is gone. Connect it again or choose another one in the "
                  "system's settings, then press play.");
    case SoundProblem::NoAnswer:
        return tr("The sound system does not answer. Check that it runs, then press play again.");
    }
    return {};
}

double SoundPlayer::position(const SoundClip& clip) const {
    return clip == clip_ ? std::max(position_s_ - clip_.start_s, 0.0) : 0.0;
}

void SoundPlayer::setState(State state) {
    state_ = state;
    Q_EMIT changed();
}

void SoundPlayer::connectOutput() {
    SoundOutput* output = devices()->output();
    if (output == nullptr || is_connected_) {
        return;
    }
    is_connected_ = true;
    connect(output, &SoundOutput::advanced, this, &SoundPlayer::showAdvanced);
    connect(output, &SoundOutput::finished, this, [this](quint64 ticket) {
        if (ticket == ticket_) {
            finish();
        }
    });
    connect(output, &SoundOutput::failed, this,
            [this](quint64 ticket, SoundProblem problem, const QString& detail) {
                if (ticket == ticket_) {
                    fail(sentence(problem, detail));
                }
            });
}

void SoundPlayer::choose(const SoundClip& clip) {
    if (clip == clip_) {
        return;
    }
    stopOutput();
    clip_ = clip;
    position_s_ = clip.start_s;
    last_part_ = -1;
    parts_.clear();
    problem_.clear();
    state_ = State::Stopped;
}

void SoundPlayer::toggle(const SoundClip& clip) {
    choose(clip);
    if (state_ == State::Playing || state_ == State::Waiting) {
        watchdog_.stop();
        if (state_ == State::Waiting) {
            stopOutput(); // what is being decoded is not to start by itself
        } else if (SoundOutput* output = devices()->output()) {
            QMetaObject::invokeMethod(output, [output, id = ticket_] { output->pause(id); });
            can_resume_ = true;
        }
        setState(State::Paused);
        return;
    }
    start();
}

void SoundPlayer::seek(const SoundClip& clip, double seconds) {
    choose(clip);
    const double longest = clip.length_s > 0.0 ? clip.length_s : seconds;
    position_s_ = clip.start_s + std::clamp(seconds, 0.0, std::max(longest, 0.0));
    if (state_ == State::Playing || state_ == State::Waiting) {
        start();
        return;
    }
    if (state_ == State::Paused) {
        stopOutput(); // resuming would go on at the former place
    }
    setState(State::Paused);
}

void SoundPlayer::start() {
    problem_.clear();
    if (decoder_ == nullptr || devices()->output() == nullptr) {
        fail(sentence(SoundProblem::NotBuilt, {}));
        return;
    }
    connectOutput();
    if (state_ == State::Paused && can_resume_) {
        // With the samples that the device holds already: nothing is heard twice.
        watchdog_.start();
        setState(State::Playing);
        SoundOutput* output = devices()->output();
        QMetaObject::invokeMethod(output, [output, id = ticket_] { output->resume(id); });
        return;
    }
    if (clip_.length_s > 0.0 && position_s_ >= clip_.start_s + clip_.length_s - 0.01) {
        position_s_ = clip_.start_s; // it was heard to its end
    }
    // While another place is decoded the old one is still heard, which is better than a stutter.
    ++ticket_;
    can_resume_ = false;
    requested_.clear();
    wanted_part_ = partAt(position_s_);
    setState(State::Waiting);
    requestPart(wanted_part_);
}

void SoundPlayer::requestPart(int index) {
    if ((last_part_ >= 0 && index > last_part_) || !requested_.insert(index).second) {
        return;
    }
    if (const auto known = parts_.find(index); known != parts_.end()) {
        takePart(ticket_, index, known->second);
        return;
    }
    QThreadPool::globalInstance()->start(
        [self = QPointer(this), decoder = decoder_, file = clip_.file, ticket = ticket_, index] {
            auto part = std::make_shared<const SoundPart>(
                decoder->part(file, index * kSoundPartSeconds, kSoundPartSeconds));
            QMetaObject::invokeMethod(
                QCoreApplication::instance(),
                [self, ticket, index, part] {
                    if (self != nullptr) {
                        self->takePart(ticket, index, part);
                    }
                },
                Qt::QueuedConnection);
        });
}

void SoundPlayer::takePart(quint64 ticket,
                           int index,
                           const std::shared_ptr<const SoundPart>& part) {
    if (ticket != ticket_) {
        return;
    }
    if (!part->error.isEmpty()) {
        if (index == wanted_part_ || wanted_part_ < 0) {
            stopOutput();
            fail(part->error);
        }
        return;
    }
    if (part->is_last) {
        last_part_ = index;
    }
    std::erase_if(parts_, [index](const auto& old) { return std::abs(old.first - index) > 1; });
    parts_[index] = part;
    SoundOutput* output = devices()->output();
    if (index == wanted_part_) {
        wanted_part_ = -1;
        const double end_of_part = part->start_s + static_cast<double>(part->samples.size()) /
                                                       (kSoundChannels * double{kSoundRate});
        if (part->is_last && position_s_ >= end_of_part - 0.01) {
            position_s_ = clip_.start_s; // the end was heard: from the beginning
            if (partAt(position_s_) != index) {
                start();
                return;
            }
        }
        const qint64 from = std::llround(position_s_ * kSoundRate);
        const qint64 end =
            clip_.length_s > 0.0 ? std::llround((clip_.start_s + clip_.length_s) * kSoundRate) : -1;
        watchdog_.start();
        setState(State::Playing);
        QMetaObject::invokeMethod(
            output, [output, ticket, from, end, part] { output->play(ticket, from, end, part); });
    } else {
        QMetaObject::invokeMethod(output,
                                  [output, ticket, part] { output->addPart(ticket, part); });
    }
}

void SoundPlayer::showAdvanced(quint64 ticket, qint64 frame) {
    if (ticket != ticket_ || state_ != State::Playing) {
        return;
    }
    watchdog_.start();
    position_s_ = static_cast<double>(frame) / kSoundRate;
    // The next piece is decoded while this one is heard.
    requestPart(partAt(position_s_));
    requestPart(partAt(position_s_) + 1);
    Q_EMIT changed();
}

void SoundPlayer::finish() {
    watchdog_.stop();
    ++ticket_;
    can_resume_ = false;
    position_s_ = clip_.start_s;
    setState(State::Stopped);
}

void SoundPlayer::stopOutput() {
    watchdog_.stop();
    ++ticket_;
    wanted_part_ = -1;
    can_resume_ = false;
    if (is_connected_) {
        SoundOutput* output = devices()->output();
        QMetaObject::invokeMethod(output, [output] { output->stop(); });
    }
}

void SoundPlayer::stop() {
    stopOutput();
    clip_ = {};
    parts_.clear();
    problem_.clear();
    setState(State::Stopped);
}

void SoundPlayer::keepOnly(const QStringList& files) {
    if (!clip_.file.isEmpty() && !files.contains(clip_.file)) {
        stop();
    }
}

void SoundPlayer::moved(const QString& from, const QString& to) {
    if (clip_.file == from) {
        clip_.file = to;
        Q_EMIT changed();
    }
}

void SoundPlayer::fail(const QString& reason) {
    watchdog_.stop();
    ++ticket_;
    can_resume_ = false;
    problem_ = reason;
    setState(State::Stopped);
    Q_EMIT failed(clip_.file, reason);
}

} // namespace ui
