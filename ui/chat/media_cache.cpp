// SPDX-License-Identifier: Apache-2.0
#include "ui/chat/media_cache.h"

#include <QFile>
#include <QImage>
#include <QImageReader>
#include <QMetaObject>
#include <QMutex>
#include <QThreadPool>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace ui {

namespace {

constexpr qsizetype kLargestCache = 400;
constexpr qint64 kLargestOutline = 64LL << 20; ///< Bytes read for an outline.

quint32 word(const QByteArray& bytes, qsizetype at, int size) {
    quint32 value = 0;
    for (int i = 0; i < size && at + i < bytes.size(); ++i) {
        value |= static_cast<quint32>(static_cast<uchar>(bytes.at(at + i))) << (8 * i);
    }
    return value;
}

float sampleAt(const QByteArray& data, qsizetype at, int bits, bool is_float) {
    if (is_float && bits == 32) {
        return std::bit_cast<float>(word(data, at, 4));
    }
    const quint32 raw = word(data, at, bits / 8);
    if (bits == 8) {
        return (static_cast<float>(raw) - 128.0F) / 128.0F;
    }
    const auto value = static_cast<qint32>(raw << (32 - bits));
    return static_cast<float>(value) / 2147483648.0F;
}

} // namespace

MediaCache::Outline readOutline(const QString& path) {
    MediaCache::Outline outline;
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly)) {
        outline.state = MediaCache::State::Missing;
        return outline;
    }
    outline.state = MediaCache::State::Unreadable;
    if (file.size() > kLargestOutline) {
        return outline;
    }
    const QByteArray bytes = file.readAll();
    if (!bytes.startsWith("RIFF") || bytes.mid(8, 4) != "WAVE") {
        return outline;
    }
    int channels = 0, bits = 0, rate = 0;
    bool is_float = false;
    QByteArray data;
    for (qsizetype at = 12; at + 8 <= bytes.size();) {
        const qsizetype size = static_cast<qsizetype>(word(bytes, at + 4, 4));
        if (bytes.mid(at, 4) == "fmt ") {
            const quint32 format = word(bytes, at + 8, 2);
            channels = static_cast<int>(word(bytes, at + 10, 2));
            rate = static_cast<int>(word(bytes, at + 12, 4));
            bits = static_cast<int>(word(bytes, at + 22, 2));
            is_float = format == 3 || (format == 0xfffe && word(bytes, at + 32, 2) == 3);
        } else if (bytes.mid(at, 4) == "data") {
            data = bytes.mid(at + 8, size);
            break;
        }
        at += 8 + size + (size & 1);
    }
    const int frame = channels * bits / 8;
    if (frame <= 0 || rate <= 0 || bits < 8 || bits > 32 || bits % 8 != 0) {
        return outline;
    }
    const qsizetype frames = data.size() / frame;
    outline.seconds = static_cast<double>(frames) / rate;
    outline.state = MediaCache::State::Ready;
    outline.peaks.assign(MediaCache::kPeaks, 0.0F);
    for (qsizetype i = 0; i < frames; ++i) {
        const float value = std::abs(sampleAt(data, i * frame, bits, is_float));
        auto& peak = outline.peaks[static_cast<size_t>(i * MediaCache::kPeaks / frames)];
        peak = std::max(peak, std::isfinite(value) ? value : 0.0F);
    }
    const float loudest = *std::max_element(outline.peaks.begin(), outline.peaks.end());
    for (float& peak : outline.peaks) {
        peak = loudest > 0.0F ? peak / loudest : 0.0F;
    }
    return outline;
}

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
        QImageReader reader(file);
        reader.setAutoTransform(true);
        const QSize size = reader.size();
        if (size.isValid() && std::max(size.width(), size.height()) > kSide) {
            reader.setScaledSize(size.scaled(kSide, kSide, Qt::KeepAspectRatio));
        }
        const bool exists = QFile::exists(file);
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
    if (outline != outlines_.constEnd() && outline->state == State::Ready) {
        outlines_.insert(to, Outline(*outline));
    }
}

void MediaCache::setPlaying(const QString& file, bool is_playing, double progress) {
    playing_file_ = file;
    is_playing_ = is_playing;
    progress_ = progress;
    Q_EMIT changed(file);
}

const MediaCache::Outline& MediaCache::outline(const QString& file) {
    const auto found = outlines_.constFind(file);
    if (found != outlines_.constEnd()) {
        return *found;
    }
    if (outlines_.size() >= kLargestCache) {
        outlines_.clear();
    }
    QThreadPool::globalInstance()->start([file, results = results_] {
        Outline outline = readOutline(file);
        results->post([file, outline = std::move(outline)](MediaCache& cache) {
            cache.outlines_[file] = outline;
            Q_EMIT cache.changed(file);
        });
    });
    return *outlines_.insert(file, {});
}

} // namespace ui
