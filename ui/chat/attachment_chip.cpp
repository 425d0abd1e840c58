// SPDX-License-Identifier: Apache-2.0
#include "ui/chat/attachment_chip.h"

#include "ui/chat/audio_player.h"
#include "ui/chat/chat_words.h"
#include "ui/chat/media_cache.h"
#include "ui/style/format.h"
#include "ui/style/theme.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QPainter>
#include <QPainterPath>
#include <QPushButton>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

namespace ui {

namespace {
constexpr int kPicture = 40;
constexpr double kLongestSound = 30.0; ///< Seconds of one clip that a model hears.

QToolButton* smallButton(const QString& symbol, const QString& text, QWidget* parent) {
    auto* button = new QToolButton(parent);
    button->setIcon(icon(symbol));
    button->setIconSize({16, 16});
    button->setFixedSize(28, 28);
    button->setAccessibleName(text);
    button->setToolTip(text);
    setButtonKind(button, ButtonKind::Flat);
    return button;
}
} // namespace

AttachmentChip::AttachmentChip(const Attachment& attachment, MediaCache* media, QWidget* parent)
    : QFrame(parent), attachment_(attachment), media_(media), name_(new QLabel(this)),
      detail_(new QLabel(this)), shorten_(new QPushButton(tr("Use the first 30 s"), this)),
      play_(smallButton(QStringLiteral("play"), tr("Play %1").arg(attachment.name), this)),
      remove_(smallButton(QStringLiteral("close"), tr("Remove %1").arg(attachment.name), this)) {
    setObjectName(QStringLiteral("attachmentChip"));
    setFocusPolicy(Qt::StrongFocus);
    setMaximumWidth(320);
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(8 + kPicture + 8, 8, 4, 8);
    layout->setSpacing(4);
    auto* column = new QVBoxLayout();
    column->setSpacing(0);
    name_->setText(fontMetrics().elidedText(attachment.name, Qt::ElideMiddle, 190));
    name_->setToolTip(attachment.file);
    setTextRole(detail_, TextRole::Muted);
    setTextSize(detail_, 85);
    detail_->setWordWrap(true);
    column->addWidget(name_);
    column->addWidget(detail_);
    shorten_->setAccessibleName(shorten_->text());
    shorten_->hide();
    column->addWidget(shorten_, 0, Qt::AlignLeft);
    layout->addLayout(column, 1);
    play_->setVisible(attachment.kind == engine::MessagePart::Kind::Audio &&
                      AudioPlayer::isAvailable());
    layout->addWidget(play_, 0, Qt::AlignTop);
    layout->addWidget(remove_, 0, Qt::AlignTop);
    connect(remove_, &QToolButton::clicked, this, &AttachmentChip::removeRequested);
    connect(play_, &QToolButton::clicked, this, [this] { Q_EMIT playRequested(attachment_.file); });
    connect(shorten_, &QPushButton::clicked, this, [this] {
        attachment_.cut_start_s = 0.0;
        attachment_.cut_length_s = kLongestSound;
        error_.clear();
        shorten_->hide();
        // 40 ms a token, and the two markers around a sound.
        cost_.tokens = 752;
        has_cost_ = true;
        attachment_.tokens = cost_.tokens;
        detail_->setText(tr("first 30 s") + QStringLiteral(" · ") + tokensWords(cost_.tokens));
        describe();
        Q_EMIT attachmentChanged();
    });
    connect(media_, &MediaCache::changed, this, [this](const QString& file) {
        if (file == attachment_.file) {
            update();
        }
    });
    showUnknown(tr("measuring…"));
}

void AttachmentChip::showCost(const engine::MediaCost& cost) {
    if (attachment_.cut_length_s > 0.0) {
        return; // the answer is for the whole recording
    }
    cost_ = cost;
    has_cost_ = true;
    error_.clear();
    attachment_.tokens = cost.tokens;
    QStringList parts;
    parts.append(tokensWords(cost.tokens));
    const QString device = deviceName(cost.device);
    parts.append(attachment_.kind == engine::MessagePart::Kind::Image
                     ? tr("vision on %1").arg(device)
                     : tr("audio on %1").arg(device));
    if (cost.seconds > 0.0) {
        parts.append(tr("about %1").arg(formatSeconds(cost.seconds)));
    }
    detail_->setText(parts.join(QStringLiteral(" · ")));
    setToolTip(fromUtf8(cost.description));
    setTextRole(detail_, TextRole::Muted);
    shorten_->hide();
    describe();
}

void AttachmentChip::showError(const engine::Error& error) {
    error_ = fromUtf8(error.message);
    has_cost_ = false;
    attachment_.tokens = 0;
    detail_->setText(error_);
    setTextRole(detail_, TextRole::Danger);
    const bool is_too_long =
        std::any_of(error.details.begin(), error.details.end(),
                    [](const auto& detail) { return detail.first == "seconds"; });
    shorten_->setVisible(is_too_long && attachment_.kind == engine::MessagePart::Kind::Audio);
    describe();
}

void AttachmentChip::showUnknown(const QString& reason) {
    detail_->setText(reason);
    setTextRole(detail_, TextRole::Muted);
    describe();
}

void AttachmentChip::describe() {
    setAccessibleName((attachment_.kind == engine::MessagePart::Kind::Image ? tr("Picture %1: %2")
                                                                            : tr("Sound %1: %2"))
                          .arg(attachment_.name, detail_->text()));
    updateGeometry();
    update();
}

void AttachmentChip::paintEvent(QPaintEvent* event) {
    Q_UNUSED(event);
    const Theme& theme = Theme::current();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(hasFocus()   ? theme.accent
                        : hasError() ? theme.danger
                                     : theme.border,
                        hasFocus() ? 2.0 : 1.0));
    painter.setBrush(theme.raised);
    painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), Theme::kRadius, Theme::kRadius);
    const QRectF place(8.0, 8.0, kPicture, kPicture);
    const bool is_image = attachment_.kind == engine::MessagePart::Kind::Image;
    if (is_image) {
        const MediaCache::Thumbnail& thumbnail = media_->thumbnail(attachment_.file);
        if (thumbnail.state == MediaCache::State::Ready) {
            QPainterPath outline;
            outline.addRoundedRect(place, 4.0, 4.0);
            painter.setClipPath(outline);
            painter.setRenderHint(QPainter::SmoothPixmapTransform);
            const int side = std::min(thumbnail.pixmap.width(), thumbnail.pixmap.height());
            painter.drawPixmap(place, thumbnail.pixmap,
                               QRectF((thumbnail.pixmap.width() - side) / 2.0,
                                      (thumbnail.pixmap.height() - side) / 2.0, side, side));
            return;
        }
    }
    painter.drawPixmap(place.center() - QPointF(12.0, 12.0),
                       iconPixmap(is_image ? QStringLiteral("image") : QStringLiteral("audio"), 24,
                                  theme.text_muted, devicePixelRatioF()));
}

void AttachmentChip::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Delete || event->key() == Qt::Key_Backspace) {
        Q_EMIT removeRequested();
        return;
    }
    if (event->key() == Qt::Key_Space && play_->isVisible()) {
        Q_EMIT playRequested(attachment_.file);
        return;
    }
    QFrame::keyPressEvent(event);
}

void AttachmentChip::focusInEvent(QFocusEvent* event) {
    QFrame::focusInEvent(event);
    update();
}

void AttachmentChip::focusOutEvent(QFocusEvent* event) {
    QFrame::focusOutEvent(event);
    update();
}

} // namespace ui
