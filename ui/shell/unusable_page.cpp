// SPDX-License-Identifier: Apache-2.0
#include "ui/shell/unusable_page.h"

#include "ui/style/elided_label.h"
#include "ui/style/theme.h"

#include <QAccessible>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QScrollArea>
#include <QVBoxLayout>

namespace ui {

namespace {

/// The sign of a problem, redrawn with the theme.
class Sign : public QWidget {
public:
    explicit Sign(QWidget* parent) : QWidget(parent) { setFixedSize(40, 40); }

protected:
    void paintEvent(QPaintEvent* /*event*/) override {
        QPainter painter(this);
        painter.drawPixmap(
            0, 0,
            iconPixmap(QStringLiteral("alert"), 40, Theme::current().danger, devicePixelRatioF()));
    }
};

} // namespace

UnusablePage::UnusablePage(bool has_demo_model, QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("unusablePage"));
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    auto* area = new QScrollArea(this);
    area->setFrameShape(QFrame::NoFrame);
    area->setWidgetResizable(true);
    area->setFocusPolicy(Qt::NoFocus);
    outer->addWidget(area);
    auto* page = new QWidget;
    setArea(page, Area::Window);
    area->setWidget(page);
    auto* column = new QVBoxLayout(page);
    column->setContentsMargins(32, 24, 32, 24);
    column->setSpacing(Theme::kGap);
    column->addStretch(2);
    column->addWidget(new Sign(page), 0, Qt::AlignHCenter);
    auto* title = new QLabel(tr("This folder cannot be used"), page);
    title->setAlignment(Qt::AlignHCenter);
    title->setWordWrap(true);
    setTextSize(title, 150, true);
    column->addWidget(title);
    auto* folder = new ElidedLabel(page);
    folder->setElideMode(Qt::ElideMiddle);
    folder->setAlignment(Qt::AlignHCenter);
    folder->setObjectName(QStringLiteral("unusableFolder"));
    setTextRole(folder, TextRole::Muted);
    folder_ = folder;
    column->addWidget(folder_);
    why_ = new QLabel(page);
    why_->setObjectName(QStringLiteral("unusableWhy"));
    why_->setTextFormat(Qt::PlainText);
    why_->setAlignment(Qt::AlignHCenter);
    why_->setWordWrap(true);
    why_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    column->addWidget(why_);
    column->addSpacing(16);
    auto* choose = new QPushButton(tr("Choose another &folder…"), page);
    choose->setObjectName(QStringLiteral("unusableChoose"));
    choose->setIcon(icon(QStringLiteral("folder")));
    setButtonKind(choose, ButtonKind::Primary);
    auto* demo = new QPushButton(tr("Try the &demo model"), page);
    demo->setObjectName(QStringLiteral("unusableDemo"));
    demo->setVisible(has_demo_model);
    auto* buttons = new QHBoxLayout();
    buttons->addStretch();
    buttons->addWidget(choose);
    buttons->addWidget(demo);
    buttons->addStretch();
    column->addLayout(buttons);
    column->addStretch(3);
    connect(choose, &QPushButton::clicked, this, &UnusablePage::folderDialogRequested);
    connect(demo, &QPushButton::clicked, this, &UnusablePage::demoRequested);
}

void UnusablePage::showProblem(const QString& folder, const QString& why) {
    if (folder_->text() == folder && why_->text() == why) {
        return;
    }
    folder_->setText(folder);
    why_->setText(why);
    QAccessibleEvent alert(why_, QAccessible::Alert);
    QAccessible::updateAccessibility(&alert);
}

} // namespace ui
