// SPDX-License-Identifier: Apache-2.0
#include "ui/window/unusable_page.h"

#include "ui/style/elided_label.h"
#include "ui/style/theme.h"
#include "ui/style/usual_widgets.h"

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
    auto* outer = columnIn(this, {0, 0, 0, 0});
    auto* area = new QScrollArea(this);
    area->setFrameShape(QFrame::NoFrame);
    area->setWidgetResizable(true);
    area->setFocusPolicy(Qt::NoFocus);
    outer->addWidget(area);
    auto* page = new QWidget;
    setArea(page, Area::Window);
    area->setWidget(page);
    auto* column = columnIn(page, {32, 24, 32, 24}, Theme::kGap);
    column->addStretch(2);
    column->addWidget(new Sign(page), 0, Qt::AlignHCenter);
    title_ = new QLabel(page);
    title_->setAlignment(Qt::AlignHCenter);
    title_->setWordWrap(true);
    setTextSize(title_, 150, true);
    column->addWidget(title_);
    auto* folder = new ElidedLabel(page);
    folder->setElideMode(Qt::ElideMiddle);
    folder->setAlignment(Qt::AlignHCenter);
    folder->setObjectName(QStringLiteral("unusableFolder"));
    setTextRole(folder, TextRole::Muted);
    folder_ = folder;
    column->addWidget(folder_);
    why_ = selectableLabel("unusableWhy", page);
    why_->setAlignment(Qt::AlignHCenter);
    column->addWidget(why_);
    column->addSpacing(16);
    choose_ = pushButton("unusableChoose", tr("Choose another &folder…"), page, "folder");
    server_ = pushButton("unusableServer", tr("&Server…"), page, "server");
    server_->setToolTip(tr("Another address, another key, another model"));
    get_ = pushButton("unusableGet", tr("&Get a model…"), page, "download", ButtonKind::Flat);
    auto* demo = pushButton("unusableDemo", tr("Try the &demo model"), page);
    demo->setVisible(has_demo_model);
    auto* buttons = new QHBoxLayout();
    buttons->addStretch();
    buttons->addWidget(server_);
    buttons->addWidget(choose_);
    buttons->addWidget(demo);
    buttons->addStretch();
    column->addLayout(buttons);
    column->addWidget(get_, 0, Qt::AlignHCenter); // three side by side are too wide in French
    column->addStretch(3);
    connect(get_, &QPushButton::clicked, this, &UnusablePage::getRequested);
    connect(choose_, &QPushButton::clicked, this, &UnusablePage::folderDialogRequested);
    connect(server_, &QPushButton::clicked, this, &UnusablePage::serverDialogRequested);
    connect(demo, &QPushButton::clicked, this, &UnusablePage::demoRequested);
}

void UnusablePage::showProblem(const QString& folder, const QString& why) {
    showTexts(tr("This folder cannot be used"), folder, why, false);
}

void UnusablePage::showServerProblem(const QString& name, const QString& why) {
    showTexts(tr("This server does not answer for the model"), name, why, true);
}

void UnusablePage::showTexts(const QString& title,
                             const QString& name,
                             const QString& why,
                             bool is_server) {
    if (folder_->text() == name && why_->text() == why && title_->text() == title) {
        return;
    }
    title_->setText(title);
    folder_->setText(name);
    why_->setText(why);
    server_->setVisible(is_server);
    get_->setVisible(!is_server);
    setButtonKind(is_server ? server_ : choose_, ButtonKind::Primary);
    setButtonKind(is_server ? choose_ : server_, ButtonKind::Normal);
    QAccessibleEvent alert(why_, QAccessible::Alert);
    QAccessible::updateAccessibility(&alert);
}

} // namespace ui
