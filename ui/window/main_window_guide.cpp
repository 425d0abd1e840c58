// SPDX-License-Identifier: Apache-2.0
// From the demo's first reply to what the window is for, in three cards: where the parts sit (on a
// toy card, which the notices lead through), the demo's own adapter, the two beside each other.
// Each is shown once in a lifetime; the first "Skip" ends all.
#include "ui/chat/chat_view.h"
#include "ui/layout/block_widget.h"
#include "ui/layout/layout_view.h"
#include "ui/layout/what_if.h"
#include "ui/model/session.h"
#include "ui/style/format.h"
#include "ui/window/main_window.h"
#include "ui/window/notice_strip.h"

#include <cmath>
#include <optional>

namespace ui {

namespace {

/// The demo fits in it without its audio tower, and fills four fifths of it then.
constexpr quint64 kToyCard = quint64{28} << 20U;
constexpr int kWidthForTour = 1200; ///< Chat, layout and meter beside each other.

/// The first graphics card of a plan; by its figures if it is a listed one.
std::optional<GraphicsCard> cardOf(const engine::PlacementPlan& plan) {
    for (const engine::DevicePlan& device : plan.devices) {
        if (device.id.kind == engine::DeviceId::Kind::Cuda) {
            constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;
            GraphicsCard card = listedCard(QString::fromStdString(device.description));
            card.gib = static_cast<double>(device.capacity) / kGiB;
            return card;
        }
    }
    return {};
}

/// Values of Settings::guide_cards: the card that is next.
constexpr int kParts = 0;
constexpr int kAdapter = 1;
constexpr int kCompare = 2;

} // namespace

void MainWindow::connectGuide() {
    connect(chat_, &ChatView::turnFinished, this, [this] { guide(); });
    connect(layout_, &LayoutView::stagedPlanChanged, this, &MainWindow::followToyCard);
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
                 tr("Every part is a block that you can drag, here on a small card that is only "
                    "simulated. The answers stay the same."),
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
    // The meter is half of what is shown; a narrow window has room for it beside the layout alone.
    const bool has_room = width() >= kWidthForTour * textZoom() / 100;
    setTab(has_room ? Tab::Both : Tab::Layout);
    meter_pane_.is_wanted = true;
    fitPanes();
    before_toy_ = layout_->planHere();
    layout_->simulateCard(kToyCard);
    toy_ = Toy::Asked;
}

void MainWindow::followToyCard() {
    const auto plan = layout_->stagedPlan();
    const bool is_toy = plan != nullptr && !layout_->isWhatIf() &&
                        layout_->stagedRequest().sim_gpus == std::vector<uint64_t>{kToyCard};
    BlockWidget* vision = layout_->blockWidget(QStringLiteral("vision"));
    if (toy_ == Toy::None || !is_toy || vision == nullptr) {
        toy_ = toy_ == Toy::Asked ? toy_ : Toy::None;
        return;
    }
    const bool has_left = !vision->block().store.isGpu();
    if (toy_ == Toy::Asked) {
        toy_ = Toy::Full;
        const engine::DevicePlan* card = devicePlan(*plan, engine::DeviceId::sim(0));
        const quint64 percent = card == nullptr ? 0 : card->parts.total() * 100 / kToyCard;
        notice_->showNotice(
            tr("A simulated card of %1, %2 % full")
                .arg(formatBytes(kToyCard), formatCount(static_cast<qint64>(percent))),
            tr("Drag the vision tower onto the CPU and watch it leave the bar at the right."));
        vision->setFocus(Qt::OtherFocusReason); // the one that the card spoke of
    } else if (toy_ == Toy::Full && has_left && plan->fits) {
        toy_ = Toy::Left;
        notice_->showNotice(tr("The tower has left the bar"),
                            tr("Now drag the audio tower onto the card: its room to compute is too "
                               "much for it."));
    } else if (!plan->fits) {
        toy_ = Toy::Overfull;
        notice_->hide(); // the layout says what is too much, and has the button
    } else if (toy_ == Toy::Overfull) {
        offerYourCard();
    }
}

void MainWindow::offerYourCard() {
    toy_ = Toy::None;
    const std::optional<GraphicsCard> own =
        before_toy_ == nullptr ? std::nullopt : cardOf(*before_toy_);
    const GraphicsCard card = own.value_or(usualCard());
    notice_->showAction(
        tr("And your card?"),
        own.has_value()
            ? tr("Gemma 4 E2B, planned for your %1. Other cards are in the menu What if.")
                  .arg(card.name)
            : tr("Gemma 4 E2B, planned for a card of %1 GiB (%2). Yours is in the menu What if.")
                  .arg(formatCount(std::llround(card.gib)), card.name),
        tr("Show Gemma 4 E2B"), [this, card] {
            layout_->revert(); // the toy is put away
            setTab(tab_ == Tab::Chat ? Tab::Layout : tab_);
            layout_->lookAtShape(QStringLiteral("E2B"), card);
        });
}

} // namespace ui
