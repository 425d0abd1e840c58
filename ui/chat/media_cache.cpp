// SPDX-License-Identifier: Apache-2.0
#include "ui/chat/media_cache.h"

#include <QFile>
#include <QFileInfo>
#include <QImage>
#include <QImageReader>
#include <QMetaObject>
#include <QMutex>
#include <QThreadPool>

#include <algorithm>

namespace ui {

namespace {

constexpr qsizetype kLargestCache = 400;

} // namespace

struct MediaCache::Results {
    QMutex mutex;
    MediaCache* cache = nullptr; ///< Null once the cache is gone.

    template <typename Deliver>
    void post(Deliver deliver) {
        const QMutexLocker lock(&mutex);
        if (cache != nullptr) {
            QMetaObject::invokeMethod(
                cache, [deliver = std::move(deliver), target = cache] { deliver(*target); },
                Qt::QueuedConnection);
        }
    }
};

MediaCache::MediaCache(QObject* parent) : QObject(parent), results_(std::make_shared<Results>()) {
    results_->cache = this;
}

MediaCache::~MediaCache() {
    stop_.request_stop();
    const QMutexLocker lock(&results_->mutex);
    results_->cache = nullptr;
}

const MediaCache::Thumbnail& MediaCache::thumbnail(const QString& file) {
    const auto found = thumbnails_.constFind(file);
    if (found != thumbnails_.constEnd()) {
        return *found;
    }
    if (thumbnails_.size() >= kLargestCache) {
        thumbnails_.clear();
    }
    QThreadPool::globalInstance()->start([file, results = results_] {
        const bool exists = QFile::exists(file);
        // A pipe or a device by the name of a picture would keep this thread for good.
        QImageReader reader(QFileInfo(file).isFile() ? file : QString());
        reader.setAutoTransform(true);
        const QSize size = reader.size();
        if (size.isValid() && std::max(size.width(), size.height()) > kSide) {
            reader.setScaledSize(size.scaled(kSide, kSide, Qt::KeepAspectRatio));
        }
        const QImage image = exists ? reader.read() : QImage();
        results->post([file, image, exists](MediaCache& cache) {
            Thumbnail& entry = cache.thumbnails_[file];
            entry.state = !image.isNull() ? State::Ready
                          : exists        ? State::Unreadable
                                          : State::Missing;
            entry.pixmap = QPixmap::fromImage(image);
            Q_EMIT cache.changed(file);
        });
    });
    return *thumbnails_.insert(file, {});
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
        [file, results = results_, decoder = decoder_, stop = stop_.get_token()] {
            Outline outline;
            if (QFile::exists(file)) {
                outline = decoder->outline(file, stop);
            } else {
                outline.state = SoundOutline::State::Missing;
            }
            results->post([file, outline = std::move(outline)](MediaCache& cache) {
                cache.outlines_[file] = outline;
                Q_EMIT cache.changed(file);
            });
        });
    return *outlines_.insert(file, {});
}

} // namespace ui
