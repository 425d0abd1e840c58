// SPDX-License-Identifier: Apache-2.0
#include "ui/media/media_cache.h"

#include "ui/media/media_answers.h"

#include <QFile>
#include <QFileInfo>
#include <QImage>
#include <QImageReader>
#include <QThreadPool>

#include <algorithm>

namespace ui {

namespace {

constexpr qsizetype kLargestCache = 400;

} // namespace

MediaCache::MediaCache(QObject* parent)
    : QObject(parent), answers_(std::make_shared<MediaAnswers>()) {
    connect(answers_.get(), &MediaAnswers::thumbnailRead, this, &MediaCache::keepThumbnail,
            Qt::QueuedConnection);
    connect(answers_.get(), &MediaAnswers::outlineRead, this, &MediaCache::keepOutline,
            Qt::QueuedConnection);
}

MediaCache::~MediaCache() {
    stop_.request_stop();
}

const MediaCache::Thumbnail& MediaCache::thumbnail(const QString& file) {
    const auto found = thumbnails_.constFind(file);
    if (found != thumbnails_.constEnd()) {
        return *found;
    }
    if (thumbnails_.size() >= kLargestCache) {
        thumbnails_.clear();
    }
    QThreadPool::globalInstance()->start([file, answers = answers_] {
        const bool exists = QFile::exists(file);
        // A pipe or a device by the name of a picture would keep this thread for good.
        QImageReader reader(QFileInfo(file).isFile() ? file : QString());
        reader.setAutoTransform(true);
        const QSize size = reader.size();
        if (size.isValid() && std::max(size.width(), size.height()) > kSide) {
            reader.setScaledSize(size.scaled(kSide, kSide, Qt::KeepAspectRatio));
        }
        const QImage image = exists ? reader.read() : QImage();
        Q_EMIT answers->thumbnailRead(file, image, exists);
    });
    return *thumbnails_.insert(file, {});
}

void MediaCache::keepThumbnail(const QString& file, const QImage& image, bool exists) {
    Thumbnail& entry = thumbnails_[file];
    entry.state = !image.isNull() ? State::Ready : exists ? State::Unreadable : State::Missing;
    entry.pixmap = QPixmap::fromImage(image);
    Q_EMIT changed(file);
}

void MediaCache::keepOutline(const QString& file, const SoundOutline& outline) {
    outlines_[file] = outline;
    Q_EMIT changed(file);
}

void MediaCache::moved(const QString& from, const QString& to) {
    if (from == to) {
        return;
    }
    const auto thumbnail = thumbnails_.constFind(from);
    if (thumbnail != thumbnails_.constEnd() && thumbnail->state == State::Ready) {
        thumbnails_.insert(to, Thumbnail(*thumbnail));
    }
    const auto outline = outlines_.constFind(from);
    if (outline != outlines_.constEnd() && outline->state == SoundOutline::State::Ready) {
        outlines_.insert(to, Outline(*outline));
    }
}

void MediaCache::setDecoder(std::shared_ptr<const SoundDecoder> decoder) {
    decoder_ = std::move(decoder);
    outlines_.clear();
}

const MediaCache::Outline& MediaCache::outline(const QString& file) {
    const auto found = outlines_.constFind(file);
    if (found != outlines_.constEnd()) {
        return *found;
    }
    if (outlines_.size() >= kLargestCache) {
        outlines_.clear();
    }
    if (decoder_ == nullptr) {
        return *outlines_.insert(file, {});
    }
    QThreadPool::globalInstance()->start(
        [file, answers = answers_, decoder = decoder_, stop = stop_.get_token()] {
            Outline outline;
            if (QFile::exists(file)) {
                outline = decoder->outline(file, stop);
            } else {
                outline.state = SoundOutline::State::Missing;
            }
            Q_EMIT answers->outlineRead(file, outline);
        });
    return *outlines_.insert(file, {});
}

} // namespace ui
