// SPDX-License-Identifier: Apache-2.0
// Thumbnails of pictures and outlines of sounds, read on a thread pool so that the GUI thread never
// opens or decodes a file. Asking for something that is not there yet starts the work; changed()
// tells when it is.
#pragma once

#include <QHash>
#include <QObject>
#include <QPixmap>
#include <QString>

#include <memory>
#include <vector>

namespace ui {

class MediaCache : public QObject {
    Q_OBJECT

public:
    explicit MediaCache(QObject* parent = nullptr);
    ~MediaCache() override;

    enum class State { Waiting = 1, Ready, Missing, Unreadable };
    struct Thumbnail {
        State state = State::Waiting;
        QPixmap pixmap; ///< At most kSide device pixels on the longer side.
    };
    struct Outline {
        State state = State::Waiting;
        double seconds = 0.0;
        std::vector<float> peaks; ///< 0 to 1, kPeaks of them; empty when the format is not WAV.
    };
    const Thumbnail& thumbnail(const QString& file);
    const Outline& outline(const QString& file);

    /// The same content lies elsewhere now: what is known of it is not read again.
    void moved(const QString& from, const QString& to);
    /// What is heard at the moment; shown where its outline is drawn.
    void setPlaying(const QString& file, bool is_playing, double progress);
    [[nodiscard]] bool isPlaying(const QString& file) const {
        return is_playing_ && file == playing_file_;
    }
    /// 0 to 1; 0 for a file that is not the current one.
    [[nodiscard]] double progress(const QString& file) const {
        return file == playing_file_ ? progress_ : 0.0;
    }

    static constexpr int kSide = 480;
    static constexpr int kPeaks = 48;

Q_SIGNALS:
    void changed(const QString& file);

private:
    struct Results; ///< Shared with the pool, so that late answers meet no dead object.
    std::shared_ptr<Results> results_;
    QHash<QString, Thumbnail> thumbnails_;
    QHash<QString, Outline> outlines_;
    QString playing_file_;
    bool is_playing_ = false;
    double progress_ = 0.0;
};

/// Peaks of a WAV file (PCM of 8 to 32 bits or float), for tests and the pool.
MediaCache::Outline readOutline(const QString& file);

} // namespace ui
