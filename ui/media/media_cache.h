// SPDX-License-Identifier: Apache-2.0
// Thumbnails of pictures and outlines of sounds, read on a thread pool so that the GUI thread never
// opens or decodes a file. Asking for something that is not there yet starts the work; changed()
// tells when it is. Sounds are decoded by the program's engine.
#pragma once

#include "ui/media/sound_types.h"

#include <QHash>
#include <QImage>
#include <QObject>
#include <QPixmap>
#include <QString>

#include <memory>
#include <vector>

namespace ui {

class MediaAnswers;

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
    using Outline = SoundOutline;
    const Thumbnail& thumbnail(const QString& file);
    const Outline& outline(const QString& file);

    /// The same content lies elsewhere now: what is known of it is not read again.
    void moved(const QString& from, const QString& to);
    /// Who reads sounds; what could not be read before is tried again.
    void setDecoder(std::shared_ptr<const SoundDecoder> decoder);

    static constexpr int kSide = 480;

Q_SIGNALS:
    void changed(const QString& file);

private:
    void keepThumbnail(const QString& file, const QImage& image, bool exists);
    void keepOutline(const QString& file, const SoundOutline& outline);

    std::shared_ptr<MediaAnswers> answers_; ///< Shared with the pool's work.
    QHash<QString, Thumbnail> thumbnails_;
    QHash<QString, Outline> outlines_;
    std::shared_ptr<const SoundDecoder> decoder_;
    std::stop_source stop_; ///< For what still runs when the cache goes away.
};

} // namespace ui
