// SPDX-License-Identifier: Apache-2.0
// What kind of picture or sound a file is, told by its first bytes and never by its name: the kinds
// that Belfry reads. Whether it is a sound one of that kind is found out when it is decoded.
#pragma once

#include "engine/api/chat.h"

#include <QByteArray>
#include <QString>

#include <optional>

namespace ui {

struct MediaKind {
    engine::MessagePart::Kind kind = engine::MessagePart::Kind::Image; ///< Image or Audio.
    QString suffix; ///< What a file of this kind is called by: "png", "jpg", "webp", "wav", ...
};

/// As many bytes as mediaKind() looks at.
inline constexpr qint64 kMediaHeadBytes = 16;

/// Nothing when the bytes begin no picture and no sound of ours.
std::optional<MediaKind> mediaKind(const QByteArray& head);

/// Whether a click may hand this file to the desktop: a regular file, called a picture and one.
/// Anything else could be started instead of shown.
bool isSafeToShow(const QString& file);

} // namespace ui
