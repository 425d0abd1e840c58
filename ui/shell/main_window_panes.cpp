// SPDX-License-Identifier: Apache-2.0
// Which panes of the window are shown: the tabs, the empty states, and what gives way when the
// window is small.
#include "ui/chat/chat_view.h"
#include "ui/compare/compare_pane.h"
#include "ui/history/history_pane.h"
#include "ui/layout/layout_view.h"
#include "ui/meter/memory_meter.h"
#include "ui/shell/main_window.h"
#include "ui/shell/session.h"
#include "ui/shell/welcome_page.h"

#include <QAbstractButton>
#include <QButtonGroup>
#include <QSplitter>
#include <QStackedWidget>

namespace ui {

namespace {

constexpr int kWidthForAll = 1440; ///< Chats, chat, layout and meter side by side.

} // namespace

void MainWindow::refreshEmptyState() {
    const bool is_chat_empty = chat_->chat().isEmpty() && !chat_->isGenerating();
    QWidget* page = chat_;
    if (is_comparing_) {
        page = compare_;
    } else if (session_->model().isEmpty() && is_chat_empty) {
        page = welcome_;
    }
    chat_stack_->setCurrentWidget(page);
    chat_->headerBar()->setVisible(page == chat_ && tab_ != Tab::Layout);
    fitTabs();
    samples_->setVisible(page == chat_ && is_chat_empty && !samples_->isEmpty() &&
                         session_->isLoaded() && session_->model() == QStringLiteral("demo"));
}

void MainWindow::setTab(Tab tab) {
    tab_ = tab;
    tabs_->button(static_cast<int>(tab))->setChecked(true);
    panes_->widget(0)->setVisible(tab != Tab::Layout);
    layout_->setVisible(tab != Tab::Chat);
    side_pane_.is_insisted_on = meter_pane_.is_insisted_on = false;
    fitPanes();
    if (tab == Tab::Both) {
        panes_->setSizes({panes_->width() / 2, panes_->width() / 2});
    }
    refreshEmptyState();
}

void MainWindow::togglePane(SidePane& pane, const QWidget* widget) {
    pane.is_wanted = widget->isHidden();
    pane.is_insisted_on = pane.is_wanted;
    fitPanes();
}

void MainWindow::fitPanes() {
    const int centre = splitter_->widget(1)->minimumSizeHint().width();
    const int side = side_->minimumSizeHint().expandedTo(side_->minimumSize()).width();
    const int meter = meter_side_->minimumSizeHint().width();
    const int handles = 2 * splitter_->handleWidth();
    bool shows_meter = meter_pane_.is_wanted;
    bool shows_side = side_pane_.is_wanted;
    // The list of chats comes back with the other tabs; the summary below the layout tells what
    // the meter would.
    if (!side_pane_.is_insisted_on) {
        shows_side = shows_side && (tab_ != Tab::Both || width() >= kWidthForAll) &&
                     width() >= centre + side + (shows_meter ? meter : 0) + handles;
    }
    if (!meter_pane_.is_insisted_on) {
        shows_meter = shows_meter && width() >= centre + meter + (shows_side ? side : 0) + handles;
    }
    side_->setVisible(shows_side);
    meter_side_->setVisible(shows_meter);
    // As narrow as the centre allows, not as what stands beside it now.
    setMinimumWidth(centre + (side_pane_.is_insisted_on && shows_side ? side : 0) +
                    (meter_pane_.is_insisted_on && shows_meter ? meter : 0) + handles);
}

void MainWindow::setComparing(bool is_comparing) {
    is_comparing_ = is_comparing;
    if (is_comparing && tab_ == Tab::Layout) {
        setTab(Tab::Chat);
    }
    refreshEmptyState();
}

QList<int> MainWindow::splitterSizes() const {
    return splitter_->sizes();
}

void MainWindow::setSplitterSizes(const QList<int>& sizes) {
    if (sizes.size() == splitter_->count()) {
        splitter_->setSizes(sizes);
    }
}

void MainWindow::fitTabs() {
    int texts = 0;
    const QList<QAbstractButton*> buttons = tabs_->buttons();
    for (QAbstractButton* button : buttons) {
        texts += button->fontMetrics().horizontalAdvance(button->accessibleName()) + 44;
    }
    const int header =
        chat_->headerBar()->isHidden() ? 0 : chat_->headerBar()->minimumSizeHint().width() + 40;
    const bool is_wide = tab_bar_->width() >= texts + header + 2 * Theme::kPadding;
    for (QAbstractButton* button : buttons) {
        const QString wanted = is_wide ? button->accessibleName() : QString();
        if (button->text() != wanted) {
            button->setText(wanted);
        }
    }
}

} // namespace ui
