// SPDX-License-Identifier: Apache-2.0
#include "ui/chat/chat_notice.h"

#include "ui/style/theme.h"
#include "ui/style/usual_widgets.h"

#include <QAccessible>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QToolButton>

namespace ui {

ChatNotice::ChatNotice(QWidget* parent)
    : QFrame(parent), text_(new QLabel(this)), body_(new QBoxLayout(QBoxLayout::LeftToRight)),
      buttons_(new QHBoxLayout()), close_(new QToolButton(this)), passing_(new Passing(this)) {
    setObjectName(QStringLiteral("chatNotice"));
    setFrameShape(QFrame::NoFrame);
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(48, 8, 8, 8); // icon and words as in the window's strip
    layout->setSpacing(8);
    body_->setSpacing(8);
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
    text_->setMinimumHeight(28); // one line stands in the middle beside the buttons
    body_->addWidget(text_, 1);
    buttons_->setSpacing(8);
    body_->addLayout(buttons_);
    layout->addLayout(body_, 1);
    close_->setIcon(icon(QStringLiteral("close")));
    close_->setIconSize({16, 16});
    close_->setFixedSize(28, 28);
    close_->setAccessibleName(tr("Close this notice"));
    close_->setToolTip(close_->accessibleName());
    setButtonKind(close_, ButtonKind::Flat);
    layout->addWidget(close_, 0, Qt::AlignTop);
    connect(close_, &QToolButton::clicked, this, &ChatNotice::clear);
    connect(passing_, &Passing::passed, this, &ChatNotice::clear);
    hide();
}

QString ChatNotice::text() const {
    return isHidden() ? QString() : text_->text();
}

void ChatNotice::clear() {
    passing_->stop();
    const bool was_shown = !isHidden();
    hide();
    if (was_shown) {
        Q_EMIT changed();
    }
}

int ChatNotice::fitTo(int width) {
    const int room = width - layout()->contentsMargins().left() -
                     layout()->contentsMargins().right() - close_->width() - layout()->spacing();
    const int words = text_->fontMetrics().size(0, text_->text()).width();
    const int buttons = buttons_->sizeHint().width();
    // One line where it can be; a column of single words beside buttons is no text.
    const bool is_row =
        buttons == 0 || words + body_->spacing() + buttons <= room ||
        (room - buttons >= 40 * text_->fontMetrics().averageCharWidth() && 2 * buttons < room);
    body_->setDirection(is_row ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom);
    buttons_->setAlignment(is_row ? Qt::AlignTop : Qt::AlignLeft);
    layout()->activate();
    return layout()->hasHeightForWidth() ? layout()->heightForWidth(width)
                                         : layout()->sizeHint().height();
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
        auto* button = pushButton("noticeChoice", label, this);
        button->setAccessibleName(label);
        connect(button, &QPushButton::clicked, this, [this, run = action] {
            clear();
            run();
        });
        buttons_->addWidget(button);
    }
    show();
    update();
    Q_EMIT changed();
    passing_->holdClicks();
    QAccessibleEvent event(text_, QAccessible::Alert);
    QAccessible::updateAccessibility(&event);
    if (lasts_ms > 0) {
        passing_->start(lasts_ms);
    } else {
        passing_->stop();
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
        QPointF(16.0, 12.0),
        iconPixmap(name, 20, tone_ == Tone::Info ? theme.text_muted : tone, devicePixelRatioF()));
}

} // namespace ui
