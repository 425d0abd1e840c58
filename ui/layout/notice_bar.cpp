// SPDX-License-Identifier: Apache-2.0
#include "ui/layout/notice_bar.h"

#include "ui/style/theme.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QToolButton>
#include <QVBoxLayout>

namespace ui {

NoticeBar::NoticeBar(QWidget* parent)
    : QFrame(parent), text_(new QLabel), details_label_(new QLabel), toggle_(new QToolButton),
      action_(new QPushButton), close_(new QToolButton) {
    setObjectName(QStringLiteral("layoutNotice"));
    text_->setObjectName(QStringLiteral("layoutNoticeText"));
    for (QLabel* label : {text_, details_label_}) {
        label->setWordWrap(true);
        label->setTextFormat(Qt::PlainText);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse);
        label->setMinimumWidth(120);
    }
    setTextSize(details_label_, 92);
    setTextRole(details_label_, TextRole::Muted);
    details_label_->hide();
    details_label_->setObjectName(QStringLiteral("layoutNoticeDetails"));
    toggle_->setObjectName(QStringLiteral("layoutNoticeToggle"));
    toggle_->setCheckable(true);
    toggle_->setToolButtonStyle(Qt::ToolButtonTextOnly);
    toggle_->setText(tr("Details"));
    toggle_->setAccessibleName(tr("Show details of the message"));
    action_->setObjectName(QStringLiteral("layoutNoticeAction"));
    close_->setObjectName(QStringLiteral("layoutNoticeClose"));
    close_->setIcon(icon(QStringLiteral("close")));
    close_->setToolTip(tr("Dismiss"));
    close_->setAccessibleName(tr("Dismiss the message"));
    auto* texts = new QVBoxLayout;
    texts->setSpacing(4);
    texts->addWidget(text_);
    texts->addWidget(details_label_);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(16, 8, 8, 8);
    row->setSpacing(8);
    row->addLayout(texts, 1);
    row->addWidget(toggle_, 0, Qt::AlignTop);
    row->addWidget(action_, 0, Qt::AlignTop);
    row->addWidget(close_, 0, Qt::AlignTop);
    connect(toggle_, &QToolButton::toggled, this, &NoticeBar::showDetails);
    connect(action_, &QPushButton::clicked, this, &NoticeBar::actionTriggered);
    connect(close_, &QToolButton::clicked, this, [this] {
        clear();
        Q_EMIT dismissed();
    });
    connect(&ThemeNotifier::instance(), &ThemeNotifier::changed, this,
            qOverload<>(&QWidget::update));
    hide();
}

void NoticeBar::showNotice(Kind kind,
                           const QString& text,
                           const QStringList& details,
                           const QString& action) {
    kind_ = kind;
    details_ = details;
    text_->setText(text);
    details_label_->setText(details.join(QLatin1Char('\n')));
    toggle_->setVisible(!details.isEmpty());
    toggle_->setChecked(false);
    showDetails(false);
    action_->setText(action);
    action_->setVisible(!action.isEmpty());
    setAccessibleName(text);
    setAccessibleDescription(details_label_->text());
    show();
    update();
}

void NoticeBar::clear() {
    text_->clear();
    details_.clear();
    hide();
}

QString NoticeBar::text() const {
    return text_->text();
}

void NoticeBar::showDetails(bool is_open) {
    details_label_->setVisible(is_open && !details_.isEmpty());
}

void NoticeBar::paintEvent(QPaintEvent* /*event*/) {
    const Theme& theme = Theme::current();
    QPainter painter(this);
    const QColor tone = kind_ == Kind::Error     ? theme.danger
                        : kind_ == Kind::Warning ? theme.warning
                                                 : theme.accent;
    QColor tint = tone;
    tint.setAlphaF(0.10F);
    painter.fillRect(rect(), theme.surface);
    painter.fillRect(rect(), tint);
    painter.fillRect(QRect(0, 0, 4, height()), tone);
}

} // namespace ui
