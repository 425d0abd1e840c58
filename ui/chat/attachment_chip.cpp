// SPDX-License-Identifier: Apache-2.0
#include "ui/chat/attachment_chip.h"

#include "ui/chat/chat_words.h"
#include "ui/common/error_words.h"
#include "ui/media/media_cache.h"
#include "ui/media/sound_card.h"
#include "ui/media/sound_player.h"
#include "ui/media/sound_range.h"
#include "ui/media/waveform.h"
#include "ui/style/format.h"
#include "ui/style/theme.h"
#include "ui/style/usual_widgets.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <QPushButton>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace ui {

namespace {
constexpr int kPicture = 40;
constexpr int kChipPictureWidth =
    240; ///< One width: the next one's button comes under the pointer.
constexpr int kChipSoundWidth = 344;
/// A soft token is 40 ms of sound, and two markers stand around it. Only until the engine answers.
constexpr double kTokensPerSecond = 25.0;
constexpr qint64 kMarkers = 2;

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

/// "30 s", "2 min 5 s": whole seconds, for sentences.
QString lengthWords(double seconds) {
    return formatSeconds(std::round(seconds));
}
} // namespace

AttachmentChip::AttachmentChip(const Attachment& attachment,
                               MediaCache* media,
                               SoundPlayer* player,
                               QWidget* parent)
    : QFrame(parent), attachment_(attachment), media_(media), player_(player),
      name_(new QLabel(this)), detail_(new QLabel(this)),
      remove_(smallButton(QStringLiteral("close"), tr("Remove %1").arg(attachment.name), this)) {
    setObjectName(QStringLiteral("attachmentChip"));
    setFocusPolicy(Qt::StrongFocus);
    auto* layout = columnIn(this, {isSound() ? 12 : 8 + kPicture + 8, 8, 4, 8}, 0);
    auto* row = new QHBoxLayout();
    row->setSpacing(4);
    name_->setText(
        fontMetrics().elidedText(attachment.name, Qt::ElideMiddle,
                                 isSound() ? kChipSoundWidth - 72 : kChipPictureWidth - 104));
    name_->setToolTip(toolTipText(attachment.file));
    row->addWidget(name_, 1);
    row->addWidget(remove_, 0, Qt::AlignTop);
    layout->addLayout(row);
    setTextRole(detail_, TextRole::Muted);
    setTextSize(detail_, 85);
    detail_->setWordWrap(true);
    detail_->setObjectName(QStringLiteral("attachmentDetail"));
    if (isSound()) {
        setFixedWidth(kChipSoundWidth);
        buildSound();
    } else {
        setFixedWidth(kChipPictureWidth);
        layout->addWidget(detail_);
        setCursor(Qt::PointingHandCursor);
        setAccessibleDescription(tr("Enter shows the picture large"));
    }
    connect(remove_, &QToolButton::clicked, this, &AttachmentChip::removeRequested);
    connect(media_, &MediaCache::changed, this, [this](const QString& file) {
        if (file == attachment_.file) {
            showPart();
            update();
        }
    });
    showUnknown(tr("measuring…"));
    showPart();
}

void AttachmentChip::buildSound() {
    auto* column = qobject_cast<QVBoxLayout*>(layout());
    card_ = new SoundCard(player_, media_, this);
    card_->setFramed(false);
    card_->setClip(clip(), attachment_.name);
    range_ = new SoundRange(media_, this);
    range_->hide();
    choices_ = new QWidget(this);
    auto* buttons = rowIn(choices_, {0, 4, 8, 0}, 8);
    shorten_ = pushButton("useFirstPart", QString(), choices_);
    auto* choose = pushButton("choosePart", tr("Choose a part"), choices_);
    choose->setAccessibleName(tr("Choose the part of %1 that is used").arg(attachment_.name));
    buttons->addWidget(shorten_);
    buttons->addWidget(choose);
    buttons->addStretch(1);
    choices_->hide();
    auto* player_row = rowIn(nullptr, {0, 0, 8, 0});
    player_row->addWidget(card_);
    column->addLayout(player_row);
    auto* range_row = rowIn(nullptr, {0, 0, 8, 0});
    range_row->addWidget(range_);
    column->addLayout(range_row);
    column->addWidget(detail_);
    column->addWidget(choices_);
    connect(shorten_, &QPushButton::clicked, this, [this] { usePart(0.0); });
    connect(choose, &QPushButton::clicked, this, [this] {
        usePart(0.0);
        range_->setFocus(Qt::OtherFocusReason);
    });
    connect(range_, &SoundRange::startChanged, this, &AttachmentChip::usePart);
    setLongest(longest_s_);
}

engine::MessagePart AttachmentChip::part() const {
    engine::MessagePart result;
    result.kind = attachment_.kind;
    result.text = attachment_.file.toStdString();
    result.cut_start_s = attachment_.cut_start_s;
    result.cut_length_s = attachment_.cut_length_s;
    return result;
}

void AttachmentChip::setLongest(double seconds) {
    longest_s_ = seconds > 0.0 ? seconds : longest_s_;
    if (shorten_ != nullptr) {
        shorten_->setText(tr("Use the first %1").arg(lengthWords(longest_s_)));
        shorten_->setAccessibleName(shorten_->text());
    }
}

void AttachmentChip::usePart(double start_s) {
    attachment_.cut_start_s = start_s;
    attachment_.cut_length_s = longest_s_;
    error_.clear();
    choices_->hide();
    const qint64 tokens =
        static_cast<qint64>(std::llround(longest_s_ * kTokensPerSecond)) + kMarkers;
    if (!has_cost_ || cost_.tokens != tokens) {
        cost_ = {};
        cost_.tokens = tokens;
        has_cost_ = true;
    }
    attachment_.tokens = cost_.tokens;
    showPart();
    showDetail();
    Q_EMIT attachmentChanged();
}

void AttachmentChip::showPart() {
    if (card_ == nullptr) {
        return;
    }
    if (recording_s_ <= 0.0) {
        recording_s_ = media_->outline(attachment_.file).seconds;
    }
    card_->setClip(clip(), attachment_.name);
    const bool has_part = attachment_.cut_length_s > 0.0 && recording_s_ > 0.0;
    if (has_part) {
        range_->setRecording(attachment_.file, recording_s_, attachment_.cut_length_s);
        range_->setStart(attachment_.cut_start_s);
    }
    if (range_->isHidden() == has_part) {
        range_->setVisible(has_part);
        showDetail();
    }
}

void AttachmentChip::showDetail() {
    if (hasError() || !has_cost_) {
        return;
    }
    QStringList parts;
    if (attachment_.cut_length_s > 0.0) {
        const double end = attachment_.cut_start_s + attachment_.cut_length_s;
        parts.append(recording_s_ > 0.0
                         ? tr("%1 to %2 of %3")
                               .arg(clockText(attachment_.cut_start_s),
                                    clockText(std::min(end, recording_s_)), clockText(recording_s_))
                         : tr("%1 to %2").arg(clockText(attachment_.cut_start_s), clockText(end)));
    }
    // What it costs on a server, that alone knows.
    parts.append(cost_.tokens > 0 ? tokensWords(cost_.tokens) : fromUtf8(cost_.description));
    if (!cost_.device.empty()) {
        const QString device = deviceName(cost_.device);
        parts.append(isSound() ? tr("audio on %1").arg(device) : tr("vision on %1").arg(device));
    }
    if (cost_.seconds > 0.0) {
        parts.append(tr("about %1")
                         .arg(formatSeconds(cost_.seconds))
                         .replace(QLatin1Char(' '), QChar(QChar::Nbsp))); // one line or the next
    }
    detail_->setText(parts.join(QStringLiteral(" · ")));
    setTextRole(detail_, TextRole::Muted);
    describe();
}

void AttachmentChip::showCost(const engine::MediaCost& cost) {
    cost_ = cost;
    has_cost_ = true;
    error_.clear();
    attachment_.tokens = cost.tokens;
    setToolTip(toolTipText(fromUtf8(cost.description)));
    if (choices_ != nullptr) {
        choices_->hide();
    }
    showDetail();
}

void AttachmentChip::showError(const engine::Error& error) {
    const auto detail = [&](const char* name) {
        for (const auto& [key, value] : error.details) {
            if (key == name) {
                return QString::fromStdString(value).toDouble();
            }
        }
        return 0.0;
    };
    const double seconds = detail("seconds");
    setLongest(detail("longest_s"));
    const bool is_too_long = isSound() && seconds > longest_s_;
    if (is_too_long && attachment_.cut_length_s > 0.0 && attachment_.cut_length_s <= longest_s_) {
        return; // the answer is for the whole recording, a part was chosen since
    }
    has_cost_ = false;
    attachment_.tokens = 0;
    error_ = errorSentence(error);
    if (is_too_long) {
        recording_s_ = seconds;
        error_ = tr("%1 is %2 long, and the model hears at most %3 at a time. Choose which part.")
                     .arg(attachment_.name, lengthWords(seconds), lengthWords(longest_s_));
    }
    detail_->setText(error_);
    setTextRole(detail_, TextRole::Danger);
    if (choices_ != nullptr) {
        choices_->setVisible(is_too_long);
    }
    describe();
}

void AttachmentChip::showUnknown(const QString& reason) {
    detail_->setText(reason);
    setTextRole(detail_, TextRole::Muted);
    describe();
}

void AttachmentChip::describe() {
    setAccessibleName((isSound() ? tr("Sound %1: %2") : tr("Picture %1: %2"))
                          .arg(attachment_.name, detail_->text()));
    updateGeometry();
    update();
    Q_EMIT heightChanged();
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
    if (isSound()) {
        return;
    }
    const QRectF place(8.0, 8.0, kPicture, kPicture);
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
    painter.drawPixmap(
        place.center() - QPointF(12.0, 12.0),
        iconPixmap(QStringLiteral("image"), 24, theme.text_muted, devicePixelRatioF()));
}

void AttachmentChip::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Delete || event->key() == Qt::Key_Backspace) {
        Q_EMIT removeRequested();
        return;
    }
    if (event->key() == Qt::Key_Space && isSound()) {
        player_->toggle(clip());
        return;
    }
    const bool is_enter = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
    if ((is_enter || event->key() == Qt::Key_Space) && !isSound()) {
        Q_EMIT activated();
        return;
    }
    QFrame::keyPressEvent(event);
}

void AttachmentChip::mouseReleaseEvent(QMouseEvent* event) {
    QFrame::mouseReleaseEvent(event);
    if (event->button() == Qt::LeftButton && !isSound() && rect().contains(event->pos())) {
        Q_EMIT activated();
    }
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
