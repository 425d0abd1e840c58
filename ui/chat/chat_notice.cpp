// SPDX-License-Identifier: Apache-2.0
#include "ui/chat/chat_notice.h"

#include "ui/style/theme.h"

#include <QAccessible>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QToolButton>
#include <QVBoxLayout>

namespace ui {

ChatNotice::ChatNotice(QWidget* parent)
    : QFrame(parent), text_(new QLabel(this)), buttons_(new QHBoxLayout()),
      close_(new QToolButton(this)) {
    setObjectName(QStringLiteral("chatNotice"));
    setFrameShape(QFrame::NoFrame);
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(40, 8, 8, 8);
    layout->setSpacing(8);
    auto* column = new QVBoxLayout();
    column->setSpacing(8);
    text_->setWordWrap(true);
    // Without choices the empty row of buttons would hold the text to a narrow column.
    QSizePolicy whole_width(QSizePolicy::Expanding, QSizePolicy::Preferred);
    whole_width.setHeightForWidth(true);
    text_->setSizePolicy(whole_width);
    text_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    text_->setFocusPolicy(Qt::NoFocus);
    text_->setTextFormat(Qt::PlainText);
    text_->setAccessibleName(tr("Notice"));
    text_->setObjectName(QStringLiteral("chatNoticeText"));
    column->addWidget(text_);
    buttons_->setSpacing(8);
    column->addLayout(buttons_);
    layout->addLayout(column, 1);
    close_->setIcon(icon(QStringLiteral("close")));
    close_->setIconSize({16, 16});
    close_->setFixedSize(28, 28);
    close_->setAccessibleName(tr("Close this notice"));
    close_->setToolTip(close_->accessibleName());
    setButtonKind(close_, ButtonKind::Flat);
    layout->addWidget(close_, 0, Qt::AlignTop);
    connect(close_, &QToolButton::clicked, this, &ChatNotice::clear);
    timer_.setSingleShot(true);
    connect(&timer_, &QTimer::timeout, this, &ChatNotice::clear);
    hide();
}

QString ChatNotice::text() const {
    return isHidden() ? QString() : text_->text();
}

void ChatNotice::clear() {
    timer_.stop();
    hide();
}

void ChatNotice::showNotice(Tone tone,
                            const QString& text,
                            const std::vector<Choice>& choices,
                            int lasts_ms) {
    tone_ = tone;
    text_->setText(text);
    while (QLayoutItem* item = buttons_->takeAt(0)) {
        if (item->widget() != nullptr) {
            item->widget()->hide();
            item->widget()->deleteLater(); // it may be the one whose click brought us here
        }
        delete item;
    }
    for (const auto& [label, action] : choices) {
        auto* button = new QPushButton(label, this);
        button->setObjectName(QStringLiteral("noticeChoice"));
        button->setAccessibleName(label);
        connect(button, &QPushButton::clicked, this, [this, run = action] {
            clear();
            run();
        });
        buttons_->addWidget(button);
    }
    if (!choices.empty()) {
        buttons_->addStretch();
    }
    show();
    update();
    QAccessibleEvent event(text_, QAccessible::Alert);
    QAccessible::updateAccessibility(&event);
    if (lasts_ms > 0) {
        timer_.start(lasts_ms);
    } else {
        timer_.stop();
    }
}

void ChatNotice::paintEvent(QPaintEvent* event) {
    Q_UNUSED(event);
    const Theme& theme = Theme::current();
    const QColor tone = tone_ == Tone::Error     ? theme.danger
                        : tone_ == Tone::Warning ? theme.warning
                                                 : theme.border;
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(tone, 1.0));
    painter.setBrush(theme.surface);
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), Theme::kRadius,
                            Theme::kRadius);
    const QString name = tone_ == Tone::Info ? QStringLiteral("info") : QStringLiteral("alert");
    painter.drawPixmap(
        QPointF(12.0, 12.0),
        iconPixmap(name, 20, tone_ == Tone::Info ? theme.text_muted : tone, devicePixelRatioF()));
}

} // namespace ui
