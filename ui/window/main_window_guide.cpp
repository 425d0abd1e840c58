// SPDX-License-Identifier: Apache-2.0
// From the demo's first reply to what the window is for, in three cards: where the parts sit, the
// demo's own adapter, the two beside each other. Each is shown once in a lifetime; the first
// "Skip" ends all.
#include "ui/chat/chat_view.h"
#include "ui/layout/block_widget.h"
#include "ui/layout/layout_view.h"
#include "ui/model/session.h"
#include "ui/window/main_window.h"
#include "ui/window/notice_strip.h"

namespace ui {

namespace {

/// Values of Settings::guide_cards: the card that is next.
constexpr int kParts = 0;
constexpr int kAdapter = 1;
constexpr int kCompare = 2;

} // namespace

void MainWindow::connectGuide() {
    connect(chat_, &ChatView::turnFinished, this, [this] { guide(); });
    // Whoever has moved a part has seen what the first card shows.
    connect(session_, &Session::applied, this, [this] {
        if (setup_.settings.guide_cards == kAdapter && tab_ != Tab::Chat) {
            guide();
        }
    });
}

void MainWindow::guide() {
    const bool is_demo =
        session_->isLoaded() && session_->loadedModel() == QStringLiteral("demo") &&
        session_->capabilities().places_parts && session_->capabilities().takes_adapters;
    // Nothing is said over a message that somebody has yet to read.
    if (!is_demo || setup_.settings.guide_cards >= kGuideCards || is_comparing_ ||
        notice_->isVisible()) {
        return;
    }
    const bool has_adapter = !session_->adapters().empty();
    switch (setup_.settings.guide_cards) {
    case kParts:
        showCard(tr("See where each part of the model sits"),
                 tr("Every part is a block. Drag the vision tower to another place: the price "
                    "stands beside it before you let go, and the answers stay the same."),
                 tr("Show me"), [this] { showPartsOfDemo(); });
        break;
    case kAdapter:
        if (setup_.demo_adapter.isEmpty() || has_adapter) {
            noteCard(); // nothing to show
            guide();
            return;
        }
        showCard(tr("Give the demo another way to answer"),
                 tr("An adapter is a small file that changes a model. The demo has one of its own: "
                    "it acts on the next answer, without loading again."),
                 tr("Add it"), [this] {
                     session_->addAdapter(setup_.demo_adapter);
                     setTab(Tab::Chat);
                     chat_->focusComposer();
                 });
        break;
    case kCompare:
        if (!has_adapter) {
            return; // with one there is something to compare
        }
        showCard(tr("Compare with and without the adapter"),
                 tr("One question, both answers side by side, from one model in memory."),
                 tr("Compare"), [this] {
                     revealChat();
                     chat_->requestComparison();
                 });
        break;
    default:
        break;
    }
}

void MainWindow::noteCard() {
    ++setup_.settings.guide_cards;
    Q_EMIT settingsEdited(setup_.settings);
}

void MainWindow::showCard(const QString& what,
                          const QString& detail,
                          const QString& action,
                          std::function<void()> chosen) {
    noteCard(); // shown is shown, also when the program ends now
    notice_->showAction(what, detail, action, std::move(chosen));
    notice_->offerAlso(tr("Skip the tour"), [this] {
        setup_.settings.guide_cards = kGuideCards;
        Q_EMIT settingsEdited(setup_.settings);
    });
}

void MainWindow::showPartsOfDemo() {
    setTab(Tab::Layout);
    if (BlockWidget* block = layout_->blockWidget(QStringLiteral("vision"))) {
        block->setFocus(Qt::OtherFocusReason); // the one that the card spoke of
    }
}

} // namespace ui
