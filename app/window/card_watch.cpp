// SPDX-License-Identifier: Apache-2.0
#include "app/window/card_watch.h"

#include "app/start/log_bridge.h"
#include "engine/run/engine.h"
#include "ui/common/sentence_words.h"
#include "ui/style/format.h"
#include "ui/window/main_window.h"
#include "ui/window/notice_strip.h"

#include <utility>

namespace app {

namespace {

constexpr int kLookMs = 100;

} // namespace

CardWatch::CardWatch(ui::MainWindow* window, std::shared_ptr<engine::CardInquiry> inquiry)
    : window_(window), inquiry_(std::move(inquiry)) {
    if (inquiry_ != nullptr) {
        timer_.setInterval(kLookMs);
        connect(&timer_, &QTimer::timeout, this, &CardWatch::look);
        timer_.start();
    }
}

void CardWatch::look() {
    const engine::CardInquiry::State state = inquiry_->state();
    const QString waits = tr("The graphics driver does not answer yet");
    ui::NoticeStrip* notice = window_->notice();
    if (!state.is_done) {
        if (!has_told_ && state.seconds >= kPatienceS) {
            has_told_ = true;
            const auto limit =
                std::chrono::duration_cast<std::chrono::seconds>(inquiry_->options().limit);
            qCWarning(logApp) << "the graphics driver has not told its cards after" << state.seconds
                              << "s";
            notice->showNotice(waits, tr("Belfry waits up to %1 s for it, then goes on with the "
                                         "processor. Layouts and loading wait as well.")
                                          .arg(limit.count()));
        }
        return;
    }
    timer_.stop();
    notice->withdraw(waits);
    if (!state.trouble.has_value()) {
        return;
    }
    using Kind = engine::CardTrouble::Kind;
    qCInfo(logApp).noquote() << ui::fromUtf8(engine::inEnglish(state.trouble->words));
    if (state.trouble->kind == Kind::DriverCrashes || state.trouble->kind == Kind::DriverHangs) {
        notice->showNotice(tr("The graphics card is not used"),
                           ui::wholeSentence(state.trouble->words), ui::NoticeStrip::Kind::Error);
    }
}

} // namespace app
