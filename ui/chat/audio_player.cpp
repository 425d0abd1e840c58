// SPDX-License-Identifier: Apache-2.0
#include "ui/chat/audio_player.h"

#ifdef BELFRY_HAS_MULTIMEDIA
#include <QAudioOutput>
#include <QMediaPlayer>
#include <QUrl>
#endif

namespace ui {

#ifdef BELFRY_HAS_MULTIMEDIA

struct AudioPlayer::Backend {
    QMediaPlayer player;
    QAudioOutput output;
};

AudioPlayer::AudioPlayer(QObject* parent) : QObject(parent) {}

AudioPlayer::~AudioPlayer() = default;

bool AudioPlayer::isAvailable() {
    return true;
}

bool AudioPlayer::isPlaying() const {
    return backend_ != nullptr && backend_->player.playbackState() == QMediaPlayer::PlayingState;
}

void AudioPlayer::toggle(const QString& file) {
    if (backend_ == nullptr) {
        // Made at the first use: opening the sound system takes a moment.
        backend_ = std::make_unique<Backend>();
        backend_->player.setAudioOutput(&backend_->output);
        const auto tell = [this] {
            const qint64 length = backend_->player.duration();
            Q_EMIT stateChanged(file_, isPlaying(),
                                length > 0 ? static_cast<double>(backend_->player.position()) /
                                                 static_cast<double>(length)
                                           : 0.0);
        };
        connect(&backend_->player, &QMediaPlayer::playbackStateChanged, this, tell);
        connect(&backend_->player, &QMediaPlayer::positionChanged, this, tell);
        connect(
            &backend_->player, &QMediaPlayer::errorOccurred, this,
            [this](QMediaPlayer::Error, const QString& reason) { Q_EMIT failed(file_, reason); });
    }
    if (file_ == file && isPlaying()) {
        backend_->player.pause();
        return;
    }
    if (file_ != file) {
        stop();
        file_ = file;
        backend_->player.setSource(QUrl::fromLocalFile(file));
    }
    backend_->player.play();
}

void AudioPlayer::stop() {
    if (backend_ != nullptr) {
        backend_->player.stop();
    }
}

#else

struct AudioPlayer::Backend {};

AudioPlayer::AudioPlayer(QObject* parent) : QObject(parent) {}

AudioPlayer::~AudioPlayer() = default;

bool AudioPlayer::isAvailable() {
    return false;
}

bool AudioPlayer::isPlaying() const {
    return false;
}

void AudioPlayer::toggle(const QString& file) {
    Q_EMIT failed(file, tr("this build of Belfry plays no sound"));
}

void AudioPlayer::stop() {}

#endif

} // namespace ui
