// SPDX-License-Identifier: Apache-2.0
#include "ui/library/models_page.h"

#include "ui/library/get_page.h"
#include "ui/library/library_page.h"
#include "ui/style/page_stack.h"
#include "ui/style/theme.h"
#include "ui/style/usual_widgets.h"

#include <QButtonGroup>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QPushButton>
#include <QStackedWidget>
#include <QVBoxLayout>

namespace ui {

ModelsPage::ModelsPage(QWidget* parent)
    : QWidget(parent), tabs_(new QButtonGroup(this)), stack_(new PageStack(this)),
      library_(new LibraryPage(stack_)), get_(new GetPage(stack_)) {
    setObjectName(QStringLiteral("modelsPage"));
    setArea(this, Area::Window);
    auto* column =
        columnIn(this, {Theme::kPadding, 6, Theme::kPadding, Theme::kPadding}, Theme::kGap);
    auto* row = new QHBoxLayout;
    row->setSpacing(4);
    auto* back = pushButton("modelsBack", tr("&Back"), this, "chevron-left", ButtonKind::Flat);
    back->setToolTip(tr("Back to chat and layout (Esc)"));
    row->addWidget(back);
    row->addSpacing(8);
    const auto add_tab = [&](Page page, const QString& text, const char* picture,
                             const char* name) {
        auto* button = pushButton(name, text, this, picture, ButtonKind::Tab);
        button->setCheckable(true);
        tabs_->addButton(button, static_cast<int>(page));
        row->addWidget(button);
    };
    add_tab(Page::Library, tr("Library"), "folder", "libraryTab");
    add_tab(Page::Get, tr("Get a model"), "download", "getTab");
    add_tab(Page::Fit, tr("What fits"), "meter", "fitTab");
    row->addStretch();
    column->addLayout(row);
    stack_->addWidget(library_);
    stack_->addWidget(get_);
    column->addWidget(stack_, 1);
    connect(back, &QPushButton::clicked, this, &ModelsPage::backRequested);
    connect(tabs_, &QButtonGroup::idClicked, this,
            [this](int id) { Page(id) == Page::Fit ? fitOpened() : setPage(Page(id)); });
    setPage(Page::Library);
}

void ModelsPage::setFit(QWidget* page) {
    fit_ = page;
    stack_->addWidget(page);
}

ModelsPage::Page ModelsPage::page() const {
    return stack_->currentWidget() == fit_   ? Page::Fit
           : stack_->currentWidget() == get_ ? Page::Get
                                             : Page::Library;
}

void ModelsPage::setPage(Page page) {
    tabs_->button(static_cast<int>(page))->setChecked(true);
    stack_->setCurrentWidget(page == Page::Fit   ? fit_
                             : page == Page::Get ? static_cast<QWidget*>(get_)
                                                 : library_);
    if (page == Page::Library && isVisible() && !library_->wasFilled()) {
        Q_EMIT library_->scanRequested();
    }
}

void ModelsPage::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Escape) {
        Q_EMIT backRequested();
        return;
    }
    QWidget::keyPressEvent(event);
}

} // namespace ui
