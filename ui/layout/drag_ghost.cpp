// SPDX-License-Identifier: Apache-2.0
#include "ui/layout/drag_ghost.h"

#include "ui/style/motion.h"
#include "ui/style/theme.h"

#include <QAccessible>
#include <QPainter>
#include <QPainterPath>
#include <QVariantAnimation>

#include <algorithm>

namespace ui {

namespace {

constexpr int kMargin = 28;   ///< Room for tilt and shadow.
constexpr double kTilt = 2.5; ///< Degrees.
constexpr int kMostHeight = 280;
constexpr int kPadding = 14;
constexpr int kCardWidth = 300;
constexpr int kLine = 4;

void drawShadow(QPainter& painter, const QRectF& box, double radius) {
    painter.setPen(Qt::NoPen);
    for (int i = 8; i > 0; --i) {
        painter.setBrush(QColor(0, 0, 0, 8));
        painter.drawRoundedRect(box.adjusted(-i, -i + 4, i, i + 4), radius + i, radius + i);
    }
}

} // namespace

DragGhost::DragGhost(QWidget* parent) : QWidget(parent), motion_(newMotion(this)) {
    connect(motion_, &QVariantAnimation::valueChanged, this, [this](const QVariant& share) {
        move(from_ + (to_ - from_) * share.toDouble());
        update();
    });
    connect(motion_, &QVariantAnimation::finished, this, &QWidget::hide);
    setAttribute(Qt::WA_TransparentForMouseEvents);
    setFocusPolicy(Qt::NoFocus);
    hide();
}

void DragGhost::pickUp(const QPixmap& picture, const QPoint& grip) {
    const qreal ratio = picture.devicePixelRatio();
    picture_ = picture;
    if (picture.height() / ratio > kMostHeight) {
        picture_ = picture.copy(0, 0, picture.width(), static_cast<int>(kMostHeight * ratio));
        picture_.setDevicePixelRatio(ratio);
    }
    const QSize size = (QSizeF(picture_.size()) / ratio).toSize();
    grip_ = {std::clamp(grip.x(), 0, size.width()), std::clamp(grip.y(), 0, size.height())};
    resize(size + QSize(2 * kMargin, 2 * kMargin));
    motion_->stop();
    raise();
    show();
}

void DragGhost::land(const QRect& place) {
    if (!isMotionOn() || !isVisible()) {
        hide();
        return;
    }
    from_ = pos();
    to_ = place.topLeft() - QPoint(kMargin, kMargin);
    motion_->start();
}

void DragGhost::moveTo(const QPoint& pointer) {
    move(pointer - grip_ - QPoint(kMargin, kMargin));
}

void DragGhost::paintEvent(QPaintEvent* /*event*/) {
    QPainter painter(this);
    painter.setRenderHints(QPainter::Antialiasing | QPainter::SmoothPixmapTransform);
    painter.translate(QPointF(kMargin + grip_.x(), kMargin + grip_.y()));
    // On its way to its place it straightens and gives way to the block there.
    const bool is_landing = motion_->state() == QAbstractAnimation::Running;
    const double left = is_landing ? 1.0 - motion_->currentValue().toDouble() : 1.0;
    painter.rotate(kTilt * left);
    painter.translate(-QPointF(grip_));
    const QRectF box(QPointF(0, 0), QSizeF(picture_.size()) / picture_.devicePixelRatio());
    drawShadow(painter, box, 8);
    painter.setOpacity(0.94 * left);
    painter.drawPixmap(QPointF(0, 0), picture_);
}

PriceCard::PriceCard(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("priceCard"));
    setAttribute(Qt::WA_TransparentForMouseEvents);
    setFocusPolicy(Qt::NoFocus);
    hide();
}

void PriceCard::showPrice(const QString& title,
                          const std::vector<PriceRow>& rows,
                          bool is_refused) {
    title_ = title;
    rows_ = rows;
    is_refused_ = is_refused;
    resize(sizeHint());
    setAccessibleName(text());
    raise();
    show();
    update();
    QAccessibleEvent event(this, QAccessible::Alert); // read out while the block is held
    QAccessible::updateAccessibility(&event);
}

QString PriceCard::text() const {
    QString all = title_;
    for (const PriceRow& row : rows_) {
        all += QStringLiteral("; ") + row.label + QStringLiteral(": ") + row.value;
        if (!row.detail.isEmpty()) {
            all += QStringLiteral(" (") + row.detail + QLatin1Char(')');
        }
    }
    return all;
}

int PriceCard::valueWidth() const {
    int label = 0;
    const QFontMetrics metrics(scaledFont(92));
    for (const PriceRow& row : rows_) {
        label = std::max(label, metrics.horizontalAdvance(row.label));
    }
    return kCardWidth - 2 * kPadding - 12 - std::min(label, kCardWidth / 2);
}

QSize PriceCard::sizeHint() const {
    const QFontMetrics title(scaledFont(100, true));
    const QFontMetrics bold(scaledFont(92, true));
    int height = 2 * kPadding + title.height();
    for (const PriceRow& row : rows_) {
        height +=
            kLine + bold.boundingRect(QRect(0, 0, valueWidth(), 1000), Qt::TextWordWrap, row.value)
                        .height();
        height += detailHeight(row);
    }
    return {kCardWidth, height};
}

int PriceCard::detailHeight(const PriceRow& row) {
    const QRect box(0, 0, kCardWidth - 2 * kPadding, 1000);
    return row.detail.isEmpty() ? 0
                                : QFontMetrics(scaledFont(85))
                                      .boundingRect(box, Qt::TextWordWrap, row.detail)
                                      .height();
}

void PriceCard::placeBeside(const QRect& anchor) {
    const QRect room = parentWidget()->rect().adjusted(8, 8, -8, -8);
    QRect card(QPoint(anchor.left() - width() - 16, anchor.bottom() + 16), size());
    if (card.left() < room.left()) {
        card.moveLeft(anchor.right() + 16);
    }
    card.moveLeft(
        std::clamp(card.left(), room.left(), std::max(room.left(), room.right() - width())));
    card.moveTop(
        std::clamp(card.top(), room.top(), std::max(room.top(), room.bottom() - height())));
    move(card.topLeft());
}

void PriceCard::paintEvent(QPaintEvent* /*event*/) {
    const Theme& theme = Theme::current();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(is_refused_ ? theme.danger : theme.accent, 1));
    painter.setBrush(theme.surface);
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 10, 10);
    const QFont title_font = scaledFont(100, true);
    painter.setFont(title_font);
    painter.setPen(theme.text);
    const QFontMetrics title(title_font);
    int y = kPadding;
    const int inner = width() - 2 * kPadding;
    painter.drawText(QRect(kPadding, y, inner, title.height()), Qt::AlignLeft | Qt::AlignVCenter,
                     title.elidedText(title_, Qt::ElideMiddle, inner));
    y += title.height();
    const QFont label_font = scaledFont(92);
    const QFont value_font = scaledFont(92, true);
    const QFontMetrics bold(value_font);
    for (const PriceRow& row : rows_) {
        y += kLine;
        const int height =
            bold.boundingRect(QRect(0, 0, valueWidth(), 1000), Qt::TextWordWrap, row.value)
                .height();
        painter.setFont(label_font);
        painter.setPen(theme.text_muted);
        painter.drawText(QRect(kPadding, y, inner, height), Qt::AlignLeft | Qt::AlignTop,
                         row.label);
        painter.setFont(value_font);
        painter.setPen(row.tone == PriceRow::Tone::Bad    ? theme.danger
                       : row.tone == PriceRow::Tone::Good ? theme.success
                                                          : theme.text);
        painter.drawText(QRect(width() - kPadding - valueWidth(), y, valueWidth(), height),
                         Qt::AlignRight | Qt::AlignTop | Qt::TextWordWrap, row.value);
        y += height;
        painter.setFont(scaledFont(85));
        painter.setPen(theme.text_muted);
        painter.drawText(QRect(kPadding, y, inner, detailHeight(row)),
                         Qt::AlignRight | Qt::AlignTop | Qt::TextWordWrap, row.detail);
        y += detailHeight(row);
    }
}

} // namespace ui
