// SPDX-License-Identifier: Apache-2.0
#include "ui/window/notice_strip.h"

#include "ui/common/error_words.h"
#include "ui/common/shortcuts.h"
#include "ui/style/format.h"
#include "ui/style/theme.h"
#include "ui/style/usual_widgets.h"

#include <QAccessible>
#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace ui {

namespace {

constexpr int kPassingMs = 12'000; ///< As long as a deleted chat can be taken back.
constexpr int kMargin = 8;

} // namespace

QString nextStep(engine::ErrorCode code) {
    switch (code) {
    case engine::ErrorCode::OutOfMemory:
        return NoticeStrip::tr(
            "Move parts to another device in the layout, choose 4 bits, or take a "
            "smaller context.");
    case engine::ErrorCode::DeviceLost:
        return NoticeStrip::tr(
            "The graphics card stopped answering. Load the model again; its layout and your "
            "chats are kept.");
    case engine::ErrorCode::Internal:
        return NoticeStrip::tr("This is a fault in Belfry. Copy the %1 into a bug report.")
            .arg(withKeys(NoticeStrip::tr("report"), QStringLiteral("diagnostics")));
    case engine::ErrorCode::InvalidFile:
    case engine::ErrorCode::Unsupported:
    case engine::ErrorCode::InvalidRequest:
    case engine::ErrorCode::Cancelled:
        break;
    }
    return {};
}

NoticeStrip::NoticeStrip(QWidget* parent) : QFrame(parent), passing_(new Passing(this)) {
    setObjectName(QStringLiteral("noticeBar"));
    setAccessibleName(tr("Notice"));
    icon_ = new QLabel(this);
    icon_->setFixedSize(20, 20);
    title_ = wrappedLabel("noticeTitle", this);
    setTextSize(title_, 100, true);
    detail_ = selectableLabel("noticeDetail", this);
    more_ = selectableLabel("noticeMore", this);
    more_->hide();
    setTextRole(more_, TextRole::Muted);
    setTextSize(more_, 92);
    toggle_ = pushButton("noticeToggle", tr("Details"), this);
    toggle_->setCheckable(true);
    toggle_->setAccessibleName(tr("Show details of the message"));
    toggle_->hide();
    action_ = pushButton("noticeAction", QString(), this);
    also_ = pushButton("noticeAlso", QString(), this);
    copy_ = pushButton("noticeCopy", QString(), this, "copy");
    copy_->setAccessibleName(tr("Copy this message"));
    copy_->setToolTip(copy_->accessibleName());
    close_ = pushButton("noticeClose", QString(), this, "close");
    close_->setAccessibleName(tr("Dismiss this message"));
    close_->setToolTip(close_->accessibleName());
    for (QPushButton* button : {copy_, close_}) {
        setButtonKind(button, ButtonKind::Flat);
        setIconButton(button, 16, 28);
    }
    body_ = new QWidget;
    auto* texts = columnIn(body_, {0, 4, 0, 4}, 2);
    texts->addWidget(title_);
    texts->addWidget(detail_);
    texts->addWidget(more_);
    texts->addStretch(1);
    area_ = new QScrollArea(this);
    area_->setFrameShape(QFrame::NoFrame);
    area_->setWidgetResizable(true);
    area_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    area_->setFocusPolicy(Qt::NoFocus);
    area_->setWidget(body_);
    body_->setAutoFillBackground(false); // the card shows through
    area_->viewport()->setAutoFillBackground(false);
    auto* column = columnIn(this, {16, kMargin, kMargin, kMargin}, 4);
    row_ = new QHBoxLayout;
    row_->setSpacing(8);
    auto* icon_place = new QVBoxLayout; // in the middle of the first line
    icon_place->addSpacing(4);
    icon_place->addWidget(icon_);
    icon_place->addStretch(1);
    row_->addLayout(icon_place);
    row_->addSpacing(4);
    row_->addWidget(area_, 1);
    row_->addWidget(copy_, 0, Qt::AlignTop);
    row_->addWidget(close_, 0, Qt::AlignTop);
    below_ = rowIn(nullptr, {32, 0, 0, 0}, 8);
    below_->addWidget(action_);
    below_->addWidget(also_);
    below_->addWidget(toggle_);
    below_->addStretch(1);
    column->addLayout(row_);
    column->addLayout(below_);
    hide();
    connect(passing_, &Passing::passed, this, &QWidget::hide);
    connect(close_, &QPushButton::clicked, this, &QWidget::hide);
    for (const auto& [button, what] : {std::pair{action_, &chosen_}, {also_, &also_chosen_}}) {
        connect(button, &QPushButton::clicked, this, [this, what = what] {
            hide();
            // What it starts may show the next notice: taken first.
            if (const auto chosen = std::exchange(*what, nullptr)) {
                chosen();
            }
        });
    }
    connect(toggle_, &QPushButton::toggled, this, [this](bool is_open) {
        more_->setVisible(is_open);
        Q_EMIT changed();
    });
    connect(copy_, &QPushButton::clicked, this, [this] {
        QStringList lines = {title_->text(), detail_->text(), more_->text()};
        lines.removeAll(QString());
        QGuiApplication::clipboard()->setText(lines.join(QLatin1Char('\n')));
    });
}

void NoticeStrip::showError(const QString& what, const engine::Error& error) {
    const QString step = nextStep(error.code);
    showNotice(what, errorSentence(error) + (step.isEmpty() ? QString() : QLatin1Char('\n') + step),
               Kind::Error);
}

void NoticeStrip::showNotice(const QString& what, const QString& detail, Kind kind) {
    kind_ = kind;
    is_kept_ = false;
    passing_->stop();
    const Theme& theme = Theme::current();
    icon_->setPixmap(
        iconPixmap(kind == Kind::Error ? QStringLiteral("alert") : QStringLiteral("info"), 20,
                   kind == Kind::Error ? theme.danger : theme.accent, devicePixelRatioF()));
    title_->setText(what);
    setTextOrHide(detail_, detail);
    action_->hide();
    also_->hide();
    more_->clear();
    toggle_->setChecked(false);
    toggle_->hide();
    chosen_ = nullptr;
    also_chosen_ = nullptr;
    setAccessibleDescription(what + QLatin1Char(' ') + detail);
    show();
    update();
    Q_EMIT changed();
    passing_->holdClicks();
    QAccessibleEvent alert(this, QAccessible::Alert);
    QAccessible::updateAccessibility(&alert);
}

void NoticeStrip::showFolded(const QString& what, const QString& detail, const QString& more) {
    showNotice(what, detail, Kind::Error);
    more_->setText(more);
    toggle_->show();
    Q_EMIT changed();
}

void NoticeStrip::leaveView() {
    if (!is_kept_) {
        hide();
    }
}

void NoticeStrip::withdraw(const QString& what) {
    if (title_->text() == what) {
        hide();
    }
}

void NoticeStrip::showPassing(const QString& what, const QString& detail) {
    showNotice(what, detail);
    passing_->start(kPassingMs);
}

void NoticeStrip::showAction(const QString& what,
                             const QString& detail,
                             const QString& action,
                             std::function<void()> chosen,
                             Kind kind) {
    showNotice(what, detail, kind);
    chosen_ = std::move(chosen);
    action_->setText(action);
    action_->show();
    Q_EMIT changed();
}

int NoticeStrip::fitTo(int width, int most) {
    // Words and their buttons in one line where there is room, else the buttons below.
    const QMargins around = layout()->contentsMargins();
    const int fixed = around.left() + around.right() + icon_->width() + copy_->width() +
                      close_->width() + 5 * row_->spacing() + 4;
    int words = 0;
    for (const QPushButton* button : {action_, also_, toggle_}) {
        words += button->isHidden() ? 0 : button->sizeHint().width() + row_->spacing();
    }
    const int room = width - fixed;
    int text = title_->fontMetrics().horizontalAdvance(title_->text());
    for (const QLabel* label : {detail_, more_}) {
        text = label->isHidden()
                   ? text
                   : std::max(text, label->fontMetrics().size(0, label->text()).width());
    }
    const bool is_row = text + words <= room || 2 * words < room;
    QHBoxLayout* const to = is_row ? row_ : below_;
    if (to->indexOf(action_) < 0) {
        for (QPushButton* button : {toggle_, also_, action_}) {
            (is_row ? below_ : row_)->removeWidget(button);
            is_row ? row_->insertWidget(row_->indexOf(copy_), button, 0, Qt::AlignTop)
                   : below_->insertWidget(0, button);
        }
    }
    const int inside = std::max(room - (is_row ? words : 0), 40);
    const int bar = area_->verticalScrollBar()->sizeHint().width();
    const int rest = around.top() + around.bottom() +
                     (is_row || words == 0 ? 0 : action_->sizeHint().height() + 4);
    int height = body_->layout()->heightForWidth(inside);
    const int limit = std::max(most - rest, 40);
    if (height > limit) {
        height = std::min(body_->layout()->heightForWidth(inside - bar), limit);
    }
    area_->setFixedHeight(std::max(height, close_->height()));
    return area_->height() + rest;
}

void NoticeStrip::showEvent(QShowEvent* event) {
    QFrame::showEvent(event);
    Q_EMIT changed();
}

void NoticeStrip::hideEvent(QHideEvent* event) {
    QFrame::hideEvent(event);
    passing_->stop();
    if (!event->spontaneous()) {
        Q_EMIT changed();
    }
}

void NoticeStrip::offerAlso(const QString& action, std::function<void()> chosen) {
    also_chosen_ = std::move(chosen);
    also_->setText(action);
    also_->show();
    Q_EMIT changed();
}

void NoticeStrip::paintEvent(QPaintEvent* /*event*/) {
    const Theme& theme = Theme::current();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    QColor tint = kind_ == Kind::Error ? theme.danger : theme.accent;
    const QRectF card = QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5);
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.surface);
    painter.drawRoundedRect(card, Theme::kRadius, Theme::kRadius);
    painter.setPen(QPen(tint, 1.0));
    tint.setAlphaF(0.10F);
    painter.setBrush(tint);
    painter.drawRoundedRect(card, Theme::kRadius, Theme::kRadius);
}

} // namespace ui
