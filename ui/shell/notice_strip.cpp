// SPDX-License-Identifier: Apache-2.0
#include "ui/shell/notice_strip.h"

#include "ui/shell/shortcuts.h"
#include "ui/style/format.h"
#include "ui/style/theme.h"

#include <QAccessible>
#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QVBoxLayout>

#include <utility>

namespace ui {

namespace {

constexpr int kPassingMs = 12'000; ///< As long as a deleted chat can be taken back.

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

NoticeStrip::NoticeStrip(QWidget* parent) : QFrame(parent) {
    setObjectName(QStringLiteral("noticeBar"));
    setAccessibleName(tr("Notice"));
    icon_ = new QLabel(this);
    icon_->setFixedSize(20, 20);
    title_ = new QLabel(this);
    title_->setObjectName(QStringLiteral("noticeTitle"));
    title_->setTextFormat(Qt::PlainText);
    title_->setWordWrap(true);
    setTextSize(title_, 100, true);
    detail_ = new QLabel(this);
    detail_->setObjectName(QStringLiteral("noticeDetail"));
    detail_->setTextFormat(Qt::PlainText);
    detail_->setWordWrap(true);
    detail_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    more_ = new QLabel(this);
    more_->setObjectName(QStringLiteral("noticeMore"));
    more_->setTextFormat(Qt::PlainText);
    more_->setWordWrap(true);
    more_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    more_->hide();
    setTextRole(more_, TextRole::Muted);
    setTextSize(more_, 92);
    toggle_ = new QPushButton(tr("Details"), this);
    toggle_->setObjectName(QStringLiteral("noticeToggle"));
    toggle_->setCheckable(true);
    toggle_->setAccessibleName(tr("Show details of the message"));
    toggle_->hide();
    action_ = new QPushButton(this);
    action_->setObjectName(QStringLiteral("noticeAction"));
    also_ = new QPushButton(this);
    also_->setObjectName(QStringLiteral("noticeAlso"));
    copy_ = new QPushButton(this);
    copy_->setObjectName(QStringLiteral("noticeCopy"));
    copy_->setIcon(icon(QStringLiteral("copy")));
    copy_->setAccessibleName(tr("Copy this message"));
    copy_->setToolTip(copy_->accessibleName());
    close_ = new QPushButton(this);
    close_->setObjectName(QStringLiteral("noticeClose"));
    close_->setIcon(icon(QStringLiteral("close")));
    close_->setAccessibleName(tr("Dismiss this message"));
    close_->setToolTip(close_->accessibleName());
    for (QPushButton* button : {copy_, close_}) {
        setButtonKind(button, ButtonKind::Flat);
        setIconButton(button, 16, 28);
    }
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(16, 8, 12, 8);
    row->setSpacing(12);
    row->addWidget(icon_, 0, Qt::AlignTop);
    auto* texts = new QVBoxLayout();
    texts->setSpacing(2);
    texts->addWidget(title_);
    texts->addWidget(detail_);
    texts->addWidget(more_);
    row->addLayout(texts, 1);
    row->addWidget(toggle_, 0, Qt::AlignTop);
    row->addWidget(also_, 0, Qt::AlignVCenter);
    row->addWidget(action_, 0, Qt::AlignVCenter);
    row->addWidget(copy_, 0, Qt::AlignTop);
    row->addWidget(close_, 0, Qt::AlignTop);
    hide();
    passing_.setSingleShot(true);
    passing_.setInterval(kPassingMs);
    connect(&passing_, &QTimer::timeout, this, &QWidget::hide);
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
    connect(toggle_, &QPushButton::toggled, more_, &QWidget::setVisible);
    connect(copy_, &QPushButton::clicked, this, [this] {
        QStringList lines = {title_->text(), detail_->text(), more_->text()};
        lines.removeAll(QString());
        QGuiApplication::clipboard()->setText(lines.join(QLatin1Char('\n')));
    });
}

void NoticeStrip::showError(const QString& what, const engine::Error& error) {
    const QString step = nextStep(error.code);
    showNotice(what,
               fromUtf8(error.message) + (step.isEmpty() ? QString() : QLatin1Char('\n') + step),
               Kind::Error);
}

void NoticeStrip::showNotice(const QString& what, const QString& detail, Kind kind) {
    kind_ = kind;
    passing_.stop();
    const Theme& theme = Theme::current();
    icon_->setPixmap(
        iconPixmap(kind == Kind::Error ? QStringLiteral("alert") : QStringLiteral("info"), 20,
                   kind == Kind::Error ? theme.danger : theme.accent, devicePixelRatioF()));
    title_->setText(what);
    detail_->setText(detail);
    detail_->setVisible(!detail.isEmpty());
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
    QAccessibleEvent alert(this, QAccessible::Alert);
    QAccessible::updateAccessibility(&alert);
}

void NoticeStrip::showFolded(const QString& what, const QString& detail, const QString& more) {
    showNotice(what, detail, Kind::Error);
    more_->setText(more);
    toggle_->show();
}

void NoticeStrip::withdraw(const QString& what) {
    if (title_->text() == what) {
        hide();
    }
}

void NoticeStrip::showPassing(const QString& what, const QString& detail) {
    showNotice(what, detail);
    passing_.start();
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
}

void NoticeStrip::offerAlso(const QString& action, std::function<void()> chosen) {
    also_chosen_ = std::move(chosen);
    also_->setText(action);
    also_->show();
}

void NoticeStrip::paintEvent(QPaintEvent* /*event*/) {
    const Theme& theme = Theme::current();
    QPainter painter(this);
    QColor tint = kind_ == Kind::Error ? theme.danger : theme.accent;
    painter.fillRect(rect(), theme.surface);
    tint.setAlphaF(0.12F);
    painter.fillRect(rect(), tint);
    painter.fillRect(QRect(0, height() - 1, width(), 1), theme.border);
    tint.setAlphaF(1.0F);
    painter.fillRect(QRect(0, 0, 3, height()), tint);
}

} // namespace ui
