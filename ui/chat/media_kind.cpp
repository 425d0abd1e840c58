// SPDX-License-Identifier: Apache-2.0
#include "ui/chat/media_kind.h"

#include "ui/chat/chat_request.h"

#include <QFile>
#include <QFileInfo>

namespace ui {

namespace {

bool hasAt(const QByteArray& head, qsizetype at, QByteArrayView text) {
    return head.size() >= at + text.size() && QByteArrayView(head).sliced(at, text.size()) == text;
}

/// MPEG audio has no signature: a frame header of layer I to III with a rate and a frequency.
bool isMpegFrame(const QByteArray& head) {
    if (head.size() < 4) {
        return false;
    }
    const auto at = [&](int i) { return static_cast<unsigned char>(head.at(i)); };
    const unsigned version = (at(1) >> 3U) & 3U;
    const unsigned layer = (at(1) >> 1U) & 3U;
    const unsigned rate = at(2) >> 4U;
    const unsigned frequency = (at(2) >> 2U) & 3U;
    return at(0) == 0xffU && (at(1) & 0xe0U) == 0xe0U && version != 1 && layer != 0 && rate != 15 &&
           frequency != 3;
}

} // namespace

std::optional<MediaKind> mediaKind(const QByteArray& head) {
    using Kind = engine::MessagePart::Kind;
    const auto picture = [](const char* suffix) {
        return MediaKind{Kind::Image, QString::fromLatin1(suffix)};
    };
    const auto sound = [](const char* suffix) {
        return MediaKind{Kind::Audio, QString::fromLatin1(suffix)};
    };
    if (hasAt(head, 0, "\x89PNG\r\n\x1a\n")) {
        return picture("png");
    }
    if (hasAt(head, 0, "\xff\xd8\xff")) {
        return picture("jpg");
    }
    const bool is_riff = hasAt(head, 0, "RIFF");
    if (is_riff && hasAt(head, 8, "WEBP")) {
        return picture("webp");
    }
    if ((is_riff || hasAt(head, 0, "RIFX") || hasAt(head, 0, "RF64")) && hasAt(head, 8, "WAVE")) {
        return sound("wav");
    }
    if (hasAt(head, 0, "FORM") && (hasAt(head, 8, "AIFF") || hasAt(head, 8, "AIFC"))) {
        return sound("aiff");
    }
    if (hasAt(head, 0, "fLaC")) {
        return sound("flac");
    }
    if (hasAt(head, 0, "OggS")) {
        return sound("ogg");
    }
    // A tag of this kind stands before MPEG audio, and now and then before FLAC.
    if (hasAt(head, 0, "ID3") || isMpegFrame(head)) {
        return sound("mp3");
    }
    return std::nullopt;
}

bool isSafeToShow(const QString& file) {
    if (!isPictureFile(file) || !QFileInfo(file).isFile()) {
        return false;
    }
    QFile input(file);
    if (!input.open(QIODevice::ReadOnly)) {
        return false;
    }
    const auto kind = mediaKind(input.read(kMediaHeadBytes));
    return kind.has_value() && kind->kind == engine::MessagePart::Kind::Image;
}

} // namespace ui
