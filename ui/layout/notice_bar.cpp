// SPDX-License-Identifier: Apache-2.0
#include "ui/layout/notice_bar.h"

#include "ui/style/theme.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

namespace ui {

namespace {

/// Parts of the editor's height, so that the lanes stay in sight: the details, and all of the bar.
constexpr double kMostDetails = 0.3;
constexpr double kMostBar = 0.36;

/// Lines that start with kNoticeStep become a list whose words stand below each other.
QString asHtml(const QStringList& lines) {
    QString html;
    for (const QString& line : lines) {
        if (line.startsWith(kNoticeStep)) {
            html += QStringLiteral("<table cellspacing=\"0\" cellpadding=\"0\"><tr>"
                                   "<td>•&nbsp;&nbsp;</td><td>%1</td></tr></table>")
                        .arg(line.mid(kNoticeStep.size()).toHtmlEscaped());
        } else {
            html += QStringLiteral("<p style=\"margin-top:4px; margin-bottom:4px\">%1</p>")
                        .arg(line.toHtmlEscaped());
        }
    }
    return html;
}

} // namespace

NoticeBar::NoticeBar(QWidget* parent)
    : QFrame(parent), text_(new QLabel), details_label_(new QLabel), details_area_(new QScrollArea),
      toggle_(new QToolButton), action_(new QPushButton), second_(new QPushButton),
      close_(new QToolButton), row_(new QBoxLayout(QBoxLayout::LeftToRight)) {
    setObjectName(QStringLiteral("layoutNotice"));
    text_->setObjectName(QStringLiteral("layoutNoticeText"));
    for (QLabel* label : {text_, details_label_}) {
        label->setWordWrap(true);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse);
        label->setMinimumWidth(120);
    }
    text_->setTextFormat(Qt::PlainText);
    details_label_->setTextFormat(Qt::RichText);
    details_label_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    details_area_->setObjectName(QStringLiteral("layoutNoticeArea"));
    details_area_->setAccessibleName(tr("Details"));
    details_area_->setFrameShape(QFrame::NoFrame);
    details_area_->setWidgetResizable(true);
    details_area_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    details_area_->setFocusPolicy(Qt::StrongFocus); // arrows scroll
    details_area_->setWidget(details_label_);
    details_area_->viewport()->setAutoFillBackground(false);
    details_label_->setAutoFillBackground(false);
    details_area_->hide();
    setTextSize(details_label_, 92);
    setTextRole(details_label_, TextRole::Muted);
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
    auto* buttons = new QHBoxLayout;
    buttons->setSpacing(8);
    buttons->addStretch(1);
    buttons->addWidget(toggle_);
    buttons->addWidget(action_);
    second_->setObjectName(QStringLiteral("layoutNoticeSecond"));
    buttons->addWidget(second_);
    buttons->addWidget(close_);
    row_->setSpacing(8);
    row_->addWidget(text_, 1);
    row_->addLayout(buttons);
    row_->setAlignment(buttons, Qt::AlignTop);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(16, 8, 8, 8);
    column->setSpacing(4);
    column->addLayout(row_);
    column->addWidget(details_area_);
    connect(toggle_, &QToolButton::toggled, this, &NoticeBar::showDetails);
    connect(action_, &QPushButton::clicked, this, &NoticeBar::actionTriggered);
    connect(second_, &QPushButton::clicked, this, &NoticeBar::secondTriggered);
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
                           const QString& action,
                           const QString& second) {
    kind_ = kind;
    details_ = details;
    text_->setText(text);
    details_label_->setText(asHtml(details));
    toggle_->setVisible(!details.isEmpty());
    toggle_->setChecked(false);
    showDetails(false);
    action_->setText(action);
    action_->setVisible(!action.isEmpty());
    second_->setText(second);
    second_->setVisible(!second.isEmpty());
    setAccessibleName(text);
    setAccessibleDescription(details.join(QLatin1Char('\n')));
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
    details_area_->setVisible(is_open && !details_.isEmpty());
    fitDetails();
}

bool NoticeBar::closeDetails() {
    if (details_area_->isHidden()) {
        return false;
    }
    const bool had_focus = details_area_->hasFocus();
    toggle_->setChecked(false);
    if (had_focus) {
        toggle_->setFocus(Qt::OtherFocusReason);
    }
    return true;
}

void NoticeBar::fitDetails() {
    if (details_area_->isHidden()) {
        return;
    }
    const QWidget* whole = parentWidget() != nullptr ? parentWidget() : this;
    const int row =
        row_->hasHeightForWidth() ? row_->heightForWidth(width() - 24) : row_->sizeHint().height();
    const int most = std::max(3 * details_label_->fontMetrics().lineSpacing(),
                              static_cast<int>(std::min(kMostDetails * whole->height(),
                                                        kMostBar * whole->height() - row)));
    // As if the scroll bar were there: with it the text needs no more.
    const int width = this->width() - 24 - details_area_->verticalScrollBar()->sizeHint().width();
    details_area_->setFixedHeight(
        std::min(most, details_label_->heightForWidth(std::max(120, width))));
}

void NoticeBar::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Escape && closeDetails()) {
        return;
    }
    QFrame::keyPressEvent(event);
}

void NoticeBar::resizeEvent(QResizeEvent* event) {
    QFrame::resizeEvent(event);
    // A column of words beside three buttons is no text: below them then.
    const int buttons = row_->itemAt(1)->minimumSize().width();
    const int least = 24 * text_->fontMetrics().averageCharWidth();
    row_->setDirection(width() - 32 - buttons < least ? QBoxLayout::TopToBottom
                                                      : QBoxLayout::LeftToRight);
    fitDetails();
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
