// SPDX-License-Identifier: Apache-2.0
// Blocks around the text of a message: attachments, and single lines about the message.
#include "ui/chat/message_block.h"
#include "ui/media/media_cache.h"
#include "ui/media/sound_card.h"
#include "ui/style/format.h"

#include <QCoreApplication>
#include <QFontMetricsF>
#include <QPainter>
#include <QPainterPath>

#include <algorithm>
#include <cmath>

namespace ui {

namespace {

struct LineTexts {
    Q_DECLARE_TR_FUNCTIONS(ui::MessageBlock)
};

constexpr double kPictureWidth = 176.0, kPictureHeight = 120.0;
constexpr double kSoundWidth = SoundCard::kWidth, kSoundHeight = SoundCard::kHeight;
constexpr double kBetween = 8.0;
constexpr double kVersionsHeight = 24.0;

void drawPicture(QPainter& painter,
                 const QRectF& place,
                 const MediaCache::Thumbnail& thumbnail,
                 const QString& name,
                 const QFont& font,
                 double device_pixel_ratio) {
    const Theme& theme = Theme::current();
    const bool is_ready = thumbnail.state == MediaCache::State::Ready && !thumbnail.pixmap.isNull();
    QRectF box = place;
    if (is_ready) {
        // The whole picture, in a box of its own shape: what was asked about is to be seen.
        const QSizeF size =
            QSizeF(thumbnail.pixmap.size()).scaled(place.size(), Qt::KeepAspectRatio);
        box = QRectF(place.center() - QPointF(size.width() / 2.0, size.height() / 2.0), size);
    }
    QPainterPath outline;
    outline.addRoundedRect(box, Theme::kRadius, Theme::kRadius);
    painter.fillPath(outline, theme.surface);
    if (is_ready) {
        painter.save();
        painter.setRenderHint(QPainter::SmoothPixmapTransform);
        painter.setClipPath(outline, Qt::IntersectClip);
        painter.drawPixmap(box, thumbnail.pixmap, QRectF(thumbnail.pixmap.rect()));
        painter.restore();
    } else {
        const QString words =
            thumbnail.state == MediaCache::State::Missing      ? LineTexts::tr("file not found")
            : thumbnail.state == MediaCache::State::Unreadable ? LineTexts::tr("no preview")
                                                               : QString();
        painter.drawPixmap(
            QPointF(place.center().x() - 12.0, place.center().y() - 28.0),
            iconPixmap(QStringLiteral("image"), 24, theme.text_muted, device_pixel_ratio));
        painter.setFont(font);
        painter.setPen(theme.text_muted);
        const QFontMetricsF metrics(font);
        painter.drawText(place.adjusted(8.0, 52.0, -8.0, 0.0), Qt::AlignHCenter | Qt::AlignTop,
                         metrics.elidedText(name, Qt::ElideMiddle, place.width() - 16.0) +
                             QLatin1Char('\n') + words);
    }
    painter.setPen(QPen(theme.border, 1.0));
    painter.setBrush(Qt::NoBrush);
    painter.drawPath(outline);
}

} // namespace

AttachmentsBlock::AttachmentsBlock(std::vector<Attachment> attachments,
                                   const ChatStyle& style,
                                   MediaCache* media,
                                   double width)
    : attachments_(std::move(attachments)), style_(style), media_(media) {
    estimate(AttachmentsBlock::doShape(width)); // not virtual: this class is under construction
}

std::vector<QRectF> AttachmentsBlock::places(double width) const {
    std::vector<QRectF> result;
    double x = 0.0, y = 0.0, row = 0.0;
    for (const Attachment& attachment : attachments_) {
        const bool is_image = attachment.kind == engine::MessagePart::Kind::Image;
        const double w = std::min(is_image ? kPictureWidth : kSoundWidth, width);
        const double h = is_image ? kPictureHeight : kSoundHeight;
        if (x > 0.0 && x + w > width) {
            x = 0.0;
            y += row + kBetween;
            row = 0.0;
        }
        result.emplace_back(x, y, w, h);
        x += w + kBetween;
        row = std::max(row, h);
    }
    return result;
}

double AttachmentsBlock::doShape(double width) {
    double bottom = 0.0;
    for (const QRectF& place : places(width)) {
        bottom = std::max(bottom, place.bottom());
    }
    return bottom;
}

double AttachmentsBlock::usedWidth(double width) const {
    double right = 0.0;
    for (const QRectF& place : places(width)) {
        right = std::max(right, place.right());
    }
    return right;
}

void AttachmentsBlock::draw(QPainter& painter, const QRectF& rect, const BlockPaint& paint) const {
    const std::vector<QRectF> all = places(rect.width());
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    for (size_t i = 0; i < all.size(); ++i) {
        const QRectF place = all[i].translated(rect.topLeft());
        const Attachment& attachment = attachments_[i];
        if (attachment.kind == engine::MessagePart::Kind::Image) {
            drawPicture(painter, place, media_->thumbnail(attachment.file), attachment.name,
                        style_.small, paint.device_pixel_ratio);
        } // a sound is a SoundCard of the message view
    }
    painter.restore();
}

BlockHit AttachmentsBlock::hit(const QPointF& point) const {
    BlockHit result;
    const std::vector<QRectF> all = places(extent);
    for (size_t i = 0; i < all.size(); ++i) {
        if (all[i].contains(point)) {
            result.kind = BlockHit::Kind::Attachment;
            result.index = static_cast<int>(i);
        }
    }
    return result;
}

// --- VersionsBlock

VersionsBlock::VersionsBlock(int version, int count, bool is_user, const ChatStyle& style)
    : version_(version), count_(count), is_user_(is_user),
      shaped_(plainInline(LineTexts::tr("%1 / %2", "version shown / number of versions")
                              .arg(version + 1)
                              .arg(count)),
              style.small,
              style.code,
              1.25) {
    estimate(kVersionsHeight);
}

double VersionsBlock::doShape(double width) {
    (void)shaped_.shape(width);
    return kVersionsHeight;
}

double VersionsBlock::lineWidth() const {
    return 2.0 * kVersionsHeight + std::ceil(shaped_.naturalWidth());
}

void VersionsBlock::draw(QPainter& painter, const QRectF& rect, const BlockPaint& paint) const {
    const Theme& theme = Theme::current();
    const double start = is_user_ ? rect.right() - lineWidth() : rect.x() - 6.0;
    const double middle = rect.center().y();
    const auto arrow = [&](const char* name, double x, bool is_possible, int to) {
        painter.save();
        if (paint.is_hovered && is_possible && paint.hovered_index == to) {
            painter.setRenderHint(QPainter::Antialiasing);
            painter.setPen(Qt::NoPen);
            painter.setBrush(theme.raised);
            painter.drawRoundedRect(QRectF(x, rect.y(), kVersionsHeight, kVersionsHeight), 4.0,
                                    4.0);
        }
        painter.setOpacity(is_possible ? painter.opacity() : 0.35);
        painter.drawPixmap(
            QPointF(x + 4.0, middle - 8.0),
            iconPixmap(QString::fromLatin1(name), 16, theme.text_muted, paint.device_pixel_ratio));
        painter.restore();
    };
    arrow("chevron-left", start, version_ > 0, version_ - 1);
    shaped_.draw(painter, {start + kVersionsHeight, middle - shaped_.height() / 2.0},
                 theme.text_muted);
    arrow("chevron-right", start + lineWidth() - kVersionsHeight, version_ + 1 < count_,
          version_ + 1);
}

BlockHit VersionsBlock::hit(const QPointF& point) const {
    BlockHit result;
    const double start = is_user_ ? extent - lineWidth() : -6.0;
    const double x = point.x() - start;
    const int to = x < 0.0 || x > lineWidth()          ? -1
                   : x < kVersionsHeight               ? version_ - 1
                   : x > lineWidth() - kVersionsHeight ? version_ + 1
                                                       : -1;
    if (to >= 0 && to < count_) {
        result.kind = BlockHit::Kind::Version;
        result.index = to;
    }
    return result;
}

// --- LineBlock

LineBlock::LineBlock(Kind kind, QString text, const ChatStyle& style, double width)
    : kind_(kind), text_(std::move(text)),
      shaped_(plainInline(text_), style.small, style.code, 1.25) {
    Q_UNUSED(width);
    estimate(kind == Kind::Thinking || kind == Kind::CutLine ? 32.0 : style.small_height * 1.25);
}

QString LineBlock::text() const {
    return kind_ == Kind::Notice || kind_ == Kind::Failure ? shaped_.text() : QString();
}

qsizetype LineBlock::positionAt(const QPointF& point) const {
    return shaped_.positionAt(point - QPointF(32.0, 8.0));
}

double LineBlock::usedWidth(double width) const {
    return std::min(width, shaped_.naturalWidth() + 1.0);
}

double LineBlock::doShape(double width) {
    switch (kind_) {
    case Kind::Statistics:
        return std::max(
            text_.isEmpty() ? 0.0 : shaped_.shape(std::max(width - reserved_width, width / 2)),
            reserved);
    case Kind::Sender:
        return shaped_.shape(width);
    case Kind::Thinking:
        (void)shaped_.shape(width - 44.0);
        return 32.0;
    case Kind::CutLine:
        (void)shaped_.shape(width - 32.0);
        return shaped_.height() + 16.0;
    case Kind::Notice:
    case Kind::Failure:
        return shaped_.shape(width - 44.0) + 16.0;
    }
    return 0.0;
}

void LineBlock::draw(QPainter& painter, const QRectF& rect, const BlockPaint& paint) const {
    const Theme& theme = Theme::current();
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    const QRectF frame = rect.adjusted(0.5, 0.5, -0.5, -0.5);
    switch (kind_) {
    case Kind::Sender:
    case Kind::Statistics:
        shaped_.draw(painter, {rect.x(), rect.y() + (rect.height() - shaped_.height()) / 2.0},
                     theme.text_muted);
        break;
    case Kind::Thinking: {
        painter.setPen(QPen(theme.border, 1.0));
        painter.setBrush(paint.is_hovered ? QBrush(theme.raised) : QBrush(Qt::NoBrush));
        painter.drawRoundedRect(frame, Theme::kRadius, Theme::kRadius);
        painter.drawPixmap(
            QPointF(rect.x() + 8.0, rect.center().y() - 8.0),
            iconPixmap(is_open ? QStringLiteral("chevron-down") : QStringLiteral("chevron-right"),
                       16, theme.text_muted, paint.device_pixel_ratio));
        shaped_.draw(painter,
                     {rect.x() + 32.0, rect.y() + (rect.height() - shaped_.height()) / 2.0},
                     theme.text_muted);
        break;
    }
    case Kind::CutLine: {
        const double middle = rect.center().y();
        const double text_width = shaped_.naturalWidth();
        const double start = rect.center().x() - text_width / 2.0;
        painter.setPen(QPen(theme.warning, 1.0, Qt::DashLine));
        painter.drawLine(QPointF(rect.x(), middle), QPointF(start - 12.0, middle));
        painter.drawLine(QPointF(start + text_width + 12.0, middle), QPointF(rect.right(), middle));
        shaped_.draw(painter, {start, middle - shaped_.height() / 2.0}, theme.warning);
        break;
    }
    case Kind::Notice:
    case Kind::Failure: {
        const QColor tone = kind_ == Kind::Failure ? theme.danger : theme.warning;
        QColor fill = tone;
        fill.setAlphaF(0.08F);
        painter.setPen(QPen(tone, 1.0));
        painter.setBrush(fill);
        painter.drawRoundedRect(frame, Theme::kRadius, Theme::kRadius);
        painter.drawPixmap(QPointF(rect.x() + 8.0, rect.y() + 8.0),
                           iconPixmap(QStringLiteral("alert"), 16, tone, paint.device_pixel_ratio));
        shaped_.draw(painter, {rect.x() + 32.0, rect.y() + 8.0}, theme.text, paint);
        break;
    }
    }
    painter.restore();
}

BlockHit LineBlock::hit(const QPointF& point) const {
    Q_UNUSED(point);
    BlockHit result;
    if (kind_ == Kind::Thinking) {
        result.kind = BlockHit::Kind::Thinking;
    } else if (kind_ == Kind::Notice || kind_ == Kind::Failure) {
        result.kind = BlockHit::Kind::Text;
    }
    return result;
}

} // namespace ui
