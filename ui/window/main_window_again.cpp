// SPDX-License-Identifier: Apache-2.0
// "Ask the last question again": after the layout changed, the reply of before and the one of now
// stand side by side, with what became of memory and time.
#include "engine/api/model_address.h"
#include "ui/chat/chat_request.h"
#include "ui/chat/chat_view.h"
#include "ui/compare/compare_pane.h"
#include "ui/layout/layout_blocks.h"
#include "ui/model/recent_models.h"
#include "ui/model/session.h"
#include "ui/window/main_window.h"
#include "ui/window/notice_strip.h"

#include <algorithm>

namespace ui {

namespace {

bool isSameAdapter(const engine::AdapterChoice& a, const engine::AdapterChoice& b) {
    return a.folder == b.folder && a.is_enabled == b.is_enabled && a.strength == b.strength;
}

} // namespace

void MainWindow::connectAgain() {
    connect(chat_, &ChatView::turnFinished, this, [this](const ChatDocument& chat) {
        // A fork ends with an older reply, which may be another model's.
        constexpr qint64 kJustNow = 2;
        const bool is_new = !chat.turns.empty() && chat.turns.back().time.secsTo(
                                                       QDateTime::currentDateTimeUtc()) < kJustNow;
        reply_turn_ = is_new ? chat.turns.back().id : QString();
        reply_model_ = session_->loadedModel();
        reply_plan_ = session_->snapshot() == nullptr ? nullptr : session_->snapshot()->plan;
    });
    connect(session_, &Session::applied, this, &MainWindow::offerAgain);
}

bool MainWindow::canAskAgain() const {
    const std::vector<ChatTurn>& turns = chat_->chat().turns;
    if (turns.size() < 2 || turns.back().id != reply_turn_ || reply_plan_ == nullptr ||
        session_->snapshot() == nullptr || session_->snapshot()->plan == nullptr) {
        return false;
    }
    const ChatTurn& reply = turns.back();
    const std::vector<engine::AdapterChoice> adapters = session_->adapters();
    const bool is_whole = reply.finish_reason == QLatin1String("stop") ||
                          reply.finish_reason == QLatin1String("length");
    // The same model and adapters: what differs is where its parts are, and in which precision.
    return is_whole && !reply.is_edited && reply.role == engine::Message::Role::Assistant &&
           reply_model_ == session_->loadedModel() &&
           std::equal(reply.adapters.begin(), reply.adapters.end(), adapters.begin(),
                      adapters.end(), isSameAdapter) &&
           !isSamePlacement(*reply_plan_, *session_->snapshot()->plan);
}

void MainWindow::offerAgain() {
    if (canAskAgain() && !session_->isCpuStandingIn()) {
        notice_->showAction(tr("The new layout is in force"),
                            tr("Is the answer still the same, and what does it cost?"),
                            tr("Ask the last question again"), [this] { askAgain(); });
        notice_->keep();
    }
}

void MainWindow::askAgain() {
    if (!canAskAgain()) { // another reply came meanwhile
        return;
    }
    const ChatDocument& chat = chat_->chat();
    const ChatTurn& turn = chat.turns.back();
    ComparePane::Before before;
    before.plan = reply_plan_;
    before.reply.text = turn.text.toStdString();
    before.reply.thinking = turn.thinking.toStdString();
    before.reply.finish_reason = turn.finish_reason.toStdString();
    before.reply.seed = turn.seed;
    before.reply.timing = turn.timing;
    before.reply.drafts = turn.drafts;
    closeModels();
    showInCompare(makeRequest(chat, chat.turns.size() - 1));
    compare_->askAgain(before, session_->snapshot()->plan);
}

void MainWindow::showInCompare(const engine::GenerateRequest& request) {
    // Files that the store has copied are called by their content there.
    QHash<QString, QString> names;
    for (const ChatTurn& turn : chat_->chat().turns) {
        for (const Attachment& attachment : turn.attachments) {
            names.insert(attachment.file, attachment.name);
        }
    }
    engine::LoadRequest loaded;
    if (session_->isLoaded() && !engine::isServerModel(session_->loadedRequest().model)) {
        loaded = session_->loadedRequest();
        loaded.adapters = session_->adapters();
    }
    QList<std::pair<QString, QString>> others;
    for (const QString& folder : recent_->folders()) {
        if (folder != session_->loadedModel() && !recent_->isMissing(folder)) {
            others.append({Session::nameOf(folder), folder});
        }
    }
    compare_->setRequest(request, names, chat_->chat().id);
    compare_->setLoads(loaded, others);
    compare_->setAdapters(session_->adapters(), serverModels());
    setComparing(true);
}

} // namespace ui
