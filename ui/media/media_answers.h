// SPDX-License-Identifier: Apache-2.0
// What MediaCache's work on the thread pool has read, told by queued signals: a signal is posted to
// a receiver that lives or to nobody, so that late answers meet no dead object. Belongs to no
// thread, as the last that holds it may be the cache or the pool.
#pragma once

#include "ui/media/sound_types.h"

#include <QImage>
#include <QObject>
#include <QString>

namespace ui {

class MediaAnswers : public QObject {
    Q_OBJECT

public:
    MediaAnswers() { moveToThread(nullptr); }

Q_SIGNALS:
    /// Answers with a picture; null where there is none to show.
    void thumbnailRead(const QString& file, const QImage& image, bool exists);
    /// A picture was saved elsewhere.
    void copied(const QString& to, bool is_done);
    void outlineRead(const QString& file, const ui::SoundOutline& outline);
};

} // namespace ui
