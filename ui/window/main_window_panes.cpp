// SPDX-License-Identifier: Apache-2.0
// Which panes of the window are shown: the tabs, the empty states, and what gives way when the
// window is small.
#include "engine/api/model_address.h"
#include "ui/chat/chat_view.h"
#include "ui/common/error_words.h"
#include "ui/compare/compare_pane.h"
#include "ui/history/history_pane.h"
#include "ui/layout/block_widget.h"
#include "ui/layout/layout_view.h"
#include "ui/meter/memory_meter.h"
#include "ui/model/model_panel.h"
#include "ui/model/recent_models.h"
#include "ui/model/session.h"
#include "ui/style/format.h"
#include "ui/style/theme.h"
#include "ui/window/main_window.h"
#include "ui/window/notice_strip.h"
#include "ui/window/unusable_page.h"
#include "ui/window/welcome_page.h"

#include <QAbstractButton>
#include <QButtonGroup>
#include <QDir>
#include <QHBoxLayout>
#include <QPushButton>
#include <QSplitter>
#include <QStackedWidget>

#include <algorithm>

namespace ui {

namespace {

constexpr int kWidthForAll = 1440; ///< Chats, chat, layout and meter side by side.

/// Below this chat and layout take the meter's room too where both are shown.
constexpr int kWidthForMeter = 1200;

constexpr int kUsefulWidth = 560; ///< Chat or layout, before the panes beside them give way.

constexpr int kTabsWidth = 320;

constexpr int kNoticeWidth = 780; ///< As messages and composer.

constexpr int kCentreWidth = 600; ///< The bars above chat and layout in the longest language.

} // namespace

void MainWindow::refreshEmptyState() {
    const bool is_chat_empty = chat_->chat().isEmpty() && !chat_->isGenerating();
    QWidget* page = chat_;
    if (is_comparing_) {
        page = compare_;
    } else if (session_->model().isEmpty() && is_chat_empty) {
        page = welcome_;
    } else if (session_->modelError() != nullptr && !session_->isLoaded() && is_chat_empty) {
        page = unusable_;
        const std::string model = session_->model().toStdString();
        if (engine::isServerModel(model)) {
            unusable_->showServerProblem(
                tr("%1 on %2").arg(session_->modelName(), fromUtf8(engine::serverHost(model))),
                errorSentence(*session_->modelError()));
        } else {
            unusable_->showProblem(QDir::toNativeSeparators(session_->model()),
                                   errorSentence(*session_->modelError()));
        }
    }
    chat_stack_->setCurrentWidget(page);
    chat_->headerBar()->setVisible(page == chat_ && tab_ != Tab::Layout);
    fitTabs();
    place_timer_.start();
    samples_->setVisible(page == chat_ && is_chat_empty && !samples_->isEmpty() &&
                         session_->isLoaded() && session_->loadedModel() == QStringLiteral("demo"));
}

void MainWindow::setTab(Tab tab) {
    if (tab_ != tab) {
        notice_->leaveView();
    }
    tab_ = tab;
    closeModels();
    tabs_->button(static_cast<int>(tab))->setChecked(true);
    panes_->widget(0)->setVisible(tab != Tab::Layout);
    layout_->setVisible(tab != Tab::Chat);
    side_pane_.is_insisted_on = meter_pane_.is_insisted_on = false;
    showPrediction();
    fitPanes();
    if (tab == Tab::Both) {
        // Once more when the panes at the sides have left their room.
        const auto halve = [this] { panes_->setSizes({panes_->width() / 2, panes_->width() / 2}); };
        halve();
        QMetaObject::invokeMethod(panes_, halve, Qt::QueuedConnection);
    }
    refreshEmptyState();
}

void MainWindow::placeNotice() {
    if (notice_->isHidden()) {
        chat_->setCovered(0);
        return;
    }
    QWidget* central = centralWidget();
    const auto place = [central](const QWidget* widget) {
        return QRect(widget->mapTo(central, QPoint(0, 0)), widget->size());
    };
    const bool is_layout = tab_ == Tab::Layout && !areModelsShown();
    const bool is_models = areModelsShown();
    const bool is_chat = !is_models && !is_layout && chat_stack_->currentWidget() == chat_;
    const QRect area = place(is_models   ? static_cast<QWidget*>(models_)
                             : is_layout ? static_cast<QWidget*>(layout_)
                                         : chat_side_);
    int floor = area.bottom() + 1 - 2 * Theme::kGap;
    if (is_chat) {
        floor = chat_->mapTo(central, QPoint(0, chat_->overlayFloor())).y() - Theme::kGap;
    } else if (is_layout && layout_footer_ != nullptr) {
        floor = place(layout_footer_).top() - Theme::kGap;
    }
    const int width = std::min(kNoticeWidth, area.width() - 6 * Theme::kGap);
    const int most = std::min((floor - area.top()) - Theme::kGap, area.height() / 2);
    const int height = notice_->fitTo(width, most);
    notice_->setGeometry(area.left() + (area.width() - width) / 2, floor - height, width, height);
    notice_->raise();
    if (model_panel_->isVisible()) {
        model_panel_->raise();
    }
    chat_->setCovered(is_chat ? height + Theme::kGap : 0);
}

void MainWindow::focusPane() {
    const QWidget* focused = focusWidget();
    if (tab_ == Tab::Layout) {
        if (focused != nullptr && layout_->isAncestorOf(focused)) {
            return;
        }
        const QList<BlockWidget*> blocks = layout_->findChildren<BlockWidget*>();
        const auto shown = std::find_if(blocks.begin(), blocks.end(), [](const BlockWidget* block) {
            return block->isVisibleTo(block->window());
        });
        if (shown != blocks.end()) {
            (*shown)->setFocus(Qt::ShortcutFocusReason);
        } else {
            layout_->setFocus(Qt::ShortcutFocusReason);
        }
        return;
    }
    const bool keeps_it = tab_ == Tab::Both && focused != nullptr &&
                          (layout_->isAncestorOf(focused) || chat_side_->isAncestorOf(focused));
    if (!keeps_it && chat_stack_->currentWidget() == chat_) {
        chat_->focusComposer();
    } else if (!keeps_it) {
        chat_stack_->currentWidget()->setFocus(Qt::ShortcutFocusReason);
    }
}

void MainWindow::revealChat() {
    closeModels();
    if (tab_ == Tab::Layout) {
        setTab(Tab::Chat);
    }
    setComparing(false);
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
    // Its bars can be narrower than what stands between them is good to use.
    const int useful = std::max(centre, kUsefulWidth * textZoom() / 100);
    bool shows_meter = meter_pane_.is_wanted && can_tell_memory_;
    bool shows_side = side_pane_.is_wanted;
    // The list of chats comes back with the other tabs; the summary below the layout tells what
    // the meter would.
    if (!side_pane_.is_insisted_on) {
        shows_side = shows_side &&
                     (tab_ != Tab::Both || width() >= kWidthForAll * textZoom() / 100) &&
                     width() >= useful + side + (shows_meter ? meter : 0) + handles;
    }
    if (!meter_pane_.is_insisted_on) {
        shows_meter = shows_meter &&
                      (tab_ != Tab::Both || width() >= kWidthForMeter * textZoom() / 100) &&
                      width() >= useful + meter + (shows_side ? side : 0) + handles;
    }
    side_->setVisible(shows_side);
    side_button_->setVisible(!shows_side);
    meter_side_->setVisible(shows_meter);
    // What the centre lacks for its bars comes from the panes beside it, down to their least.
    QList<int> sizes = splitter_->sizes();
    const auto taken = [&](int pane, bool is_shown) { return is_shown ? sizes[pane] : 0; };
    int lacking = std::max(centre, kCentreWidth) + handles + taken(0, shows_side) +
                  taken(2, shows_meter) - width();
    if (lacking > 0 && (shows_side || shows_meter)) {
        const auto give = [&](int pane, bool is_shown, int least) {
            const int part =
                is_shown ? std::clamp(sizes[pane] - least, 0, std::max(0, lacking)) : 0;
            sizes[pane] -= part;
            lacking -= part;
        };
        give(2, shows_meter, meter);
        give(0, shows_side, side);
        sizes[1] =
            std::max(centre, width() - handles - taken(0, shows_side) - taken(2, shows_meter));
        splitter_->setSizes(sizes);
    }
    // As narrow as the centre allows, not as what stands beside it now.
    setMinimumWidth(std::max(menu_button_->parentWidget()->minimumSizeHint().width(),
                             centre + (side_pane_.is_insisted_on && shows_side ? side : 0) +
                                 (meter_pane_.is_insisted_on && shows_meter ? meter : 0) +
                                 handles));
}

void MainWindow::setComparing(bool is_comparing) {
    if (is_comparing_ != is_comparing) {
        notice_->leaveView();
    }
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
    QWidget* header = chat_->headerBar();
    int texts = side_button_->isHidden() ? 0 : side_button_->width() + tab_row_->spacing();
    const QList<QAbstractButton*> buttons = tabs_->buttons();
    for (QAbstractButton* button : buttons) {
        texts += button->fontMetrics().horizontalAdvance(button->accessibleName()) + 44;
    }
    const int needed = header->isHidden() ? 0 : header->minimumSizeHint().width() + 40;
    // In two rows the bar is as wide as its lower one at least: nothing in it is cut.
    const int least = std::max(kTabsWidth, needed - 40 + 2 * Theme::kPadding);
    if (tab_bar_->minimumWidth() != least) {
        tab_bar_->setMinimumWidth(least);
        QMetaObject::invokeMethod(this, &MainWindow::fitPanes, Qt::QueuedConnection);
    }
    const bool is_one_row = tab_bar_->width() >= texts + needed + 2 * Theme::kPadding;
    const bool was_one_row = tab_row_->indexOf(header) >= 0;
    if (is_one_row != was_one_row) {
        (is_one_row ? header_row_ : tab_row_)->removeWidget(header);
        if (is_one_row) {
            tab_row_->insertWidget(tab_row_->count() - 1, header, 1);
        } else {
            header_row_->addWidget(header, 1);
        }
    }
}

} // namespace ui
