// SPDX-License-Identifier: Apache-2.0
// What happens to the conversation: sending, the running reply, regenerate, edit, delete, undo, and
// the choice when the context is full.
#include "engine/api/device_loss.h"
#include "engine/api/model_address.h"
#include "ui/chat/chat_model.h"
#include "ui/chat/chat_notice.h"
#include "ui/chat/chat_request.h"
#include "ui/chat/chat_view.h"
#include "ui/chat/chat_words.h"
#include "ui/chat/composer.h"
#include "ui/chat/context_gauge.h"
#include "ui/chat/media_kind.h"
#include "ui/chat/message_list.h"
#include "ui/chat/picture_view.h"
#include "ui/common/error_words.h"
#include "ui/common/sentence_words.h"
#include "ui/common/shortcuts.h"
#include "ui/common/unique_id.h"
#include "ui/media/media_cache.h"
#include "ui/media/sound_player.h"
#include "ui/style/format.h"

#include <QClipboard>
#include <QDateTime>
#include <QDesktopServices>
#include <QFileInfo>
#include <QGuiApplication>
#include <QUrl>

#include <algorithm>
#include <utility>

namespace ui {

namespace {

constexpr int kUndoMs = 12000;
constexpr int kFlushMs = 33;          ///< Text reaches the screen this often.
constexpr qint64 kLeastReserve = 256; ///< Tokens kept free for the answer when turns are cut.

qint64 detailOf(const engine::Error& error, const char* name) {
    for (const auto& [key, value] : error.details) {
        if (key == name) {
            return QString::fromStdString(value).toLongLong();
        }
    }
    return 0;
}

} // namespace

QString ChatView::sendBlocker() const {
    if (!is_loaded_) {
        return tr("No model is loaded. Choose one at the top left, then press Load; your message "
                  "stays here.");
    }
    return composer_->attachmentError();
}

void ChatView::changed(bool is_turn) {
    model_->changeSettings([](ChatDocument& chat) {
        const QDateTime now = QDateTime::currentDateTimeUtc();
        if (chat.id.isEmpty() && !chat.turns.empty()) {
            chat.id = makeUniqueId();
            chat.created = now;
        }
        if (!chat.is_title_set_by_user) {
            chat.title = titleFromTurns(chat);
        }
        chat.modified = now;
    });
    updateState();
    if (is_turn) {
        is_saving_ = waits_for_store_;
        Q_EMIT turnFinished(model_->document());
    } else {
        Q_EMIT chatChanged(model_->document());
    }
}

void ChatView::send() {
    if (composer_->isEmpty()) {
        return;
    }
    if (editing_row_ >= 0 && editing_row_ < model_->rowCount() &&
        model_->turn(editing_row_).role == engine::Message::Role::Assistant) {
        saveEditedReply();
        return;
    }
    if (isGenerating() || is_saving_) {
        is_queued_ = is_saving_ && !isGenerating();
        updateState();
        return;
    }
    const QString blocker = sendBlocker();
    if (!blocker.isEmpty()) {
        notice_->showNotice(ChatNotice::Tone::Warning, blocker, {}, 12000);
        return;
    }
    if (asksWhetherToSend([this] { send(); })) {
        return;
    }
    is_queued_ = false;
    const qint64 needed = gauge_->used() + composer_->draftTokens();
    if (gauge_->size() > 0 && composer_->draftTokens() > gauge_->size()) {
        notice_->showNotice(
            ChatNotice::Tone::Warning,
            tr("This message alone has about %1 tokens, the context holds %2. Shorten it, leave "
               "out a file, or make the context larger.")
                .arg(formatCount(composer_->draftTokens()), formatCount(gauge_->size())),
            {{tr("Make the context larger…"),
              [this, needed] { Q_EMIT largerContextRequested(needed + kLeastReserve); }}});
        return;
    }
    notice_->clear();
    int version_row = -1;
    if (editing_row_ >= 0) {
        const int row = editing_row_;
        editing_row_ = -1;
        showEditing();
        version_row = row;
    }
    ChatTurn question;
    question.id = makeUniqueId();
    question.role = engine::Message::Role::User;
    question.text = composer_->text().trimmed();
    question.attachments = composer_->attachments();
    question.time = QDateTime::currentDateTimeUtc();
    if (version_row >= 0) {
        model_->startVersion(version_row, question); // what stood there can be shown again
    } else {
        model_->append(question);
    }
    ahead_.clear(); // the reply takes what is encoded, and waits for the rest
    showDraft(std::exchange(before_edit_, {}));
    list_->setCurrentRow(-1);
    list_->scrollToEnd();
    changed(true);
    startReply();
    version_row_ = version_row;
}

QString ChatView::wholeConversationWords(const QString& host) {
    return tr("The whole conversation up to here would be sent to %1, which has not had all of it "
              "yet.")
        .arg(host);
}

QString ChatView::sendThereWords() {
    return tr("Send it there");
}

bool ChatView::asksWhetherToSend(const std::function<void()>& then) {
    const QString to = host();
    if (to.isEmpty() || to == agreed_host_) {
        return false;
    }
    const auto& turns = model_->document().turns;
    const bool has_words_of_elsewhere =
        std::any_of(turns.begin(), turns.end(), [&](const ChatTurn& turn) {
            return turn.role == engine::Message::Role::Assistant &&
                   fromUtf8(engine::serverHost(turn.model.toStdString())) != to;
        });
    if (!has_words_of_elsewhere) {
        return false;
    }
    notice_->showNotice(ChatNotice::Tone::Warning, wholeConversationWords(to),
                        {{sendThereWords(), [this, to, then] {
                              agreed_host_ = to;
                              then();
                          }}});
    return true;
}

void ChatView::startReply(int version_of) {
    const size_t turns =
        version_of >= 0 ? static_cast<size_t>(version_of) : model_->document().turns.size();
    const engine::GenerateRequest request = makeRequest(model_->document(), turns);
    ChatTurn reply;
    reply.id = makeUniqueId();
    reply.role = engine::Message::Role::Assistant;
    if (snapshot_ != nullptr) {
        reply.adapters = snapshot_->adapters;
    }
    reply.model = summary_ != nullptr ? fromUtf8(summary_->folder) : QString();
    if (version_of >= 0) {
        model_->startVersion(version_of, reply);
    } else {
        model_->append(reply);
    }
    version_row_ = version_of;
    continued_.reset();
    beginRequest(request, model_->rowCount() - 1);
}

void ChatView::beginRequest(engine::GenerateRequest request, int row) {
    request.id = next_id_++;
    active_id_ = request.id;
    is_stopping_ = false;
    pending_ = {};
    live_timing_ = {};
    thinking_s_ = 0.0;
    since_thinking_.invalidate();
    flush_timer_.setInterval(kFlushMs);
    since_request_.start();
    since_first_token_.invalidate();
    model_->setStreamingRow(row);
    list_->scrollToEnd();
    updateState();
    Q_EMIT generatingChanged(true);
    Q_EMIT generateRequested(request);
}

void ChatView::continueLast() {
    continueReply(model_->rowCount() - 1);
}

void ChatView::continueReply(int row) {
    if (isGenerating() || row < 0 || row + 1 != model_->rowCount()) {
        return;
    }
    if (!canContinue(model_->turn(row))) {
        notice_->showNotice(ChatNotice::Tone::Info,
                            tr("Only a reply that was stopped or reached its token limit can be "
                               "continued."),
                            {}, 8000);
        return;
    }
    if (!is_loaded_) {
        notice_->showNotice(ChatNotice::Tone::Warning, sendBlocker(), {}, kUndoMs);
        return;
    }
    if (snapshot_ != nullptr && !snapshot_->capabilities.continues_replies) {
        notice_->showNotice(ChatNotice::Tone::Info,
                            tr("%1 begins every reply anew. Let it reply once more, or ask for the "
                               "rest.")
                                .arg(host()),
                            {}, kUndoMs);
        return;
    }
    notice_->clear();
    continued_ = model_->turn(row);
    version_row_ = -1;
    ChatTurn turn = *continued_;
    turn.finish_reason.clear();
    turn.notes.clear();
    turn.drafts.reset();
    if (snapshot_ != nullptr) {
        turn.adapters = snapshot_->adapters;
    }
    model_->replace(row, turn);
    beginRequest(makeContinuation(model_->document()), row);
}

double ChatView::thinkingSeconds() const {
    const double before = continued_.has_value() ? continued_->thinking_s : 0.0;
    if (thinking_s_ > 0.0 || !since_thinking_.isValid()) {
        return before + thinking_s_;
    }
    return before + static_cast<double>(since_thinking_.elapsed()) / 1000.0;
}

void ChatView::showReplyUpdate(quint64 id, const engine::ReplyUpdate& update) {
    if (id != active_id_ || id == 0) {
        return;
    }
    if (!since_first_token_.isValid()) {
        since_first_token_.start();
        live_timing_.time_to_first_token_s = static_cast<double>(since_request_.elapsed()) / 1000.0;
    }
    if (!update.thinking.empty() && !since_thinking_.isValid()) {
        since_thinking_.start();
    }
    if (!update.text.empty() && since_thinking_.isValid() && thinking_s_ <= 0.0) {
        thinking_s_ = std::max(static_cast<double>(since_thinking_.elapsed()) / 1000.0, 0.001);
    }
    pending_.text += update.text;
    pending_.thinking += update.thinking;
    pending_.tokens = update.tokens;
    // However fast the engine is, the screen changes thirty times a second.
    if (!flush_timer_.isActive()) {
        flush_timer_.start();
    }
}

void ChatView::flush() {
    if (active_id_ == 0 || model_->streamingRow() < 0 ||
        (pending_.text.empty() && pending_.thinking.empty())) {
        return;
    }
    live_timing_.decode_tokens = pending_.tokens;
    live_timing_.decode_s = static_cast<double>(since_first_token_.elapsed()) / 1000.0;
    QElapsedTimer took;
    took.start();
    model_->setStreamingTiming(live_timing_, thinkingSeconds());
    model_->appendText(QString::fromStdString(pending_.text),
                       QString::fromStdString(pending_.thinking));
    pending_.text.clear();
    pending_.thinking.clear();
    // Text that is hard to lay out (one line of a hundred thousand letters) comes less often, so
    // that the window stays free to answer.
    flush_timer_.setInterval(std::clamp(static_cast<int>(took.elapsed()) * 8, kFlushMs, 500));
}

void ChatView::finishReply() {
    active_id_ = 0;
    is_stopping_ = false;
    flush_timer_.stop();
    pending_ = {};
    model_->setStreamingRow(-1);
    Q_EMIT generatingChanged(false);
    encodeAhead();
}

void ChatView::abandonReply() {
    flush();
    const int row = model_->streamingRow();
    finishReply();
    if (row < 0) {
        return;
    }
    ChatTurn turn = model_->turn(row);
    if (turn.text.isEmpty() && turn.thinking.isEmpty()) {
        if (version_row_ == row) {
            model_->dropVersion(row);
        } else {
            model_->removeLast();
        }
    } else {
        turn.finish_reason = QStringLiteral("cancelled");
        turn.time = QDateTime::currentDateTimeUtc();
        model_->replace(row, turn);
    }
    changed(true);
    is_saving_ = false;
}

void ChatView::showReply(quint64 id, const engine::Reply& reply) {
    if (id != active_id_ || id == 0) {
        return;
    }
    flush();
    const int row = model_->streamingRow();
    ChatTurn turn = model_->turn(row);
    if (!continued_.has_value() || !reply.text.empty() || !reply.thinking.empty()) {
        turn.text = fromUtf8(reply.text);
        turn.thinking = fromUtf8(reply.thinking);
    } // else it was stopped before it went on
    turn.thinking_s = turn.thinking.isEmpty() ? 0.0 : thinkingSeconds();
    turn.finish_reason = fromUtf8(reply.finish_reason);
    turn.timing = reply.timing;
    turn.drafts = reply.drafts;
    turn.seed = reply.seed;
    turn.notes.clear();
    for (const engine::Sentence& note : reply.notes) {
        turn.notes.append(wholeSentence(note));
    }
    turn.time = QDateTime::currentDateTimeUtc();
    finishReply();
    if (version_row_ == row && turn.text.isEmpty() && turn.thinking.isEmpty() &&
        turn.finish_reason == QLatin1String("cancelled")) {
        model_->dropVersion(row); // stopped before the first word: there is no new version
        changed(false);
        return;
    }
    model_->replace(row, turn);
    changed(true);
    if (turn.finish_reason == QLatin1String("context")) {
        offerContextChoice(tr("The context is full, so the reply stops here."), 0, false);
    }
    if (is_queued_ && !is_saving_) {
        send();
    }
}

void ChatView::showReplyError(quint64 id, const engine::Error& error) {
    if (id != active_id_ || id == 0) {
        return;
    }
    flush();
    const int row = model_->streamingRow();
    ChatTurn turn = model_->turn(row);
    const bool was_regenerating = version_row_ == row;
    const bool was_edited = version_row_ >= 0 && version_row_ < row;
    const bool is_cancelled = error.code == engine::ErrorCode::Cancelled;
    finishReply();
    is_queued_ = false;
    if (continued_.has_value() && turn.text == continued_->text &&
        turn.thinking == continued_->thinking) {
        // Nothing was added: the reply is as it was, and can be continued later.
        model_->replace(row, *continued_);
        updateState();
        if (const qint64 tokens = detailOf(error, "tokens"); tokens > 0) {
            offerContextChoice(errorSentence(error), tokens, false);
        } else if (!is_cancelled) {
            notice_->showNotice(ChatNotice::Tone::Error, errorSentence(error), {});
        }
        return;
    }
    if (!turn.text.isEmpty() || !turn.thinking.isEmpty()) {
        // What is written stays, with the reason why there is no more.
        turn.finish_reason = is_cancelled                     ? QStringLiteral("cancelled")
                             : engine::wasStartedAgain(error) ? QStringLiteral("interrupted")
                                                              : QStringLiteral("failed");
        if (!is_cancelled) {
            turn.notes = QStringList{errorSentence(error)};
        }
        turn.thinking_s = turn.thinking.isEmpty() ? 0.0 : thinkingSeconds();
        turn.time = QDateTime::currentDateTimeUtc();
        model_->replace(row, turn);
        changed(true);
        return;
    }
    // Nothing was written: the chat is as it was after the last complete turn.
    if (was_regenerating) {
        model_->dropVersion(row);
    } else {
        model_->removeLast();
    }
    const qint64 tokens = detailOf(error, "tokens");
    const bool is_overflow = tokens > 0 && detailOf(error, "context") > 0;
    if (was_regenerating) {
        changed(false);
    } else if (!is_overflow && was_edited) {
        // Back to editing: the former question and its reply stand there again.
        const int edited = version_row_;
        const ChatTurn question = model_->turn(edited);
        model_->dropVersion(edited);
        before_edit_ = composerDraft(); // what was written since
        showDraft({question.text, question.attachments});
        editing_row_ = edited;
        showEditing();
        changed(false);
    } else if (!is_overflow && model_->rowCount() > 0 &&
               model_->turn(model_->rowCount() - 1).role == engine::Message::Role::User) {
        restoreDraft(model_->turn(model_->rowCount() - 1));
        model_->removeLast();
        changed(false);
    }
    if (is_overflow) {
        offerContextChoice(errorSentence(error), tokens, !was_regenerating);
    } else if (!is_cancelled) {
        notice_->showNotice(ChatNotice::Tone::Error, errorSentence(error), {});
    }
    updateState();
}

void ChatView::restoreDraft(const ChatTurn& question) {
    // What was typed since stays below what comes back.
    const QString since = composer_->text();
    composer_->setText(since.trimmed().isEmpty() ? question.text
                                                 : question.text + QStringLiteral("\n\n") + since);
    if (composer_->attachments().empty()) {
        composer_->setAttachments(question.attachments);
    }
}

void ChatView::offerContextChoice(const QString& reason, qint64 known_tokens, bool can_resend) {
    const qint64 size = gauge_->size();
    std::vector<ChatNotice::Choice> choices;
    choices.emplace_back(can_resend ? tr("Leave out the oldest turns and send")
                                    : tr("Leave out the oldest turns"),
                         [this, known_tokens, can_resend] { cutOldest(known_tokens, can_resend); });
    choices.emplace_back(tr("Make the context larger…"), [this, size, known_tokens, can_resend] {
        if (can_resend && model_->rowCount() > 0) {
            restoreDraft(model_->turn(model_->rowCount() - 1));
            model_->removeLast();
            changed(false);
        }
        Q_EMIT largerContextRequested(std::max(size * 2, known_tokens + kLeastReserve));
    });
    if (can_resend) {
        choices.emplace_back(tr("Back to editing"), [this] {
            if (model_->rowCount() > 0 &&
                model_->turn(model_->rowCount() - 1).role == engine::Message::Role::User) {
                restoreDraft(model_->turn(model_->rowCount() - 1));
                model_->removeLast();
                changed(false);
            }
        });
    }
    notice_->showNotice(ChatNotice::Tone::Warning, reason, choices);
}

void ChatView::cutOldest(qint64 known_tokens, bool resend) {
    const qint64 size = std::max<qint64>(gauge_->size(), 1);
    const qint64 reserve = std::min(std::max(kLeastReserve, size / 4), size / 2);
    const qint64 known = known_tokens > 0 ? known_tokens : gauge_->used();
    const int before = model_->cutCount();
    int cut = turnsToCut(model_->document(), size, reserve, known);
    if (cut == before && model_->rowCount() > 2) {
        // Asked for explicitly: at least one more question with its reply.
        cut = std::min(turnsToCut(model_->document(), 1, 0, known), before + 2);
    }
    if (cut == before) {
        notice_->showNotice(ChatNotice::Tone::Info,
                            tr("There is no older turn to leave out: the last question has to "
                               "stay. Shorten it or make the context larger."),
                            {}, 12000);
        return;
    }
    model_->setCut(cut);
    changed(false);
    if (resend) {
        startReply();
        return;
    }
    notice_->showNotice(ChatNotice::Tone::Info,
                        tr("The model no longer sees the oldest part (%1); a line marks the place.")
                            .arg(messagesWords(cut)),
                        {{tr("Undo"),
                          [this, before] {
                              model_->setCut(before);
                              changed(false);
                          }}},
                        kUndoMs);
}

void ChatView::stop() {
    if (!isGenerating()) {
        return;
    }
    is_stopping_ = true;
    is_queued_ = false;
    updateState();
    Q_EMIT cancelRequested();
}

void ChatView::regenerateLast() {
    const int last = model_->rowCount() - 1;
    if (last < 0 || isGenerating()) {
        return;
    }
    if (model_->turn(last).role == engine::Message::Role::User) {
        if (sendBlocker().isEmpty()) {
            startReply(); // a question that never got its reply
        }
        return;
    }
    regenerate(last);
}

void ChatView::regenerate(int row) {
    if (isGenerating() || row <= 0 || row >= model_->rowCount() ||
        model_->turn(row).role != engine::Message::Role::Assistant) {
        return;
    }
    if (!is_loaded_) {
        notice_->showNotice(ChatNotice::Tone::Warning, sendBlocker(), {}, kUndoMs);
        return;
    }
    if (asksWhetherToSend([this, row] { regenerate(row); })) {
        return;
    }
    if (editing_row_ >= 0) {
        cancelEdit(); // rows are others from now on
    }
    const int after = model_->rowCount() - row - 1;
    startReply(row);
    notice_->showNotice(ChatNotice::Tone::Info,
                        withKeys(after > 0
                                     ? tr("The former reply and what follows it (%1) are kept as "
                                          "the version before")
                                           .arg(messagesWords(after))
                                     : tr("The former reply is kept as the version before"),
                                 QStringLiteral("versionBefore")),
                        {}, kUndoMs);
}

void ChatView::showVersion(int row, int version) {
    if (isGenerating()) {
        return;
    }
    if (editing_row_ >= 0) {
        cancelEdit();
    }
    if (model_->showVersion(row, version)) {
        notice_->clear();
        list_->setCurrentRow(row);
        changed(false);
    }
}

void ChatView::showAttachmentsStored(const QString& chat_id,
                                     const QString& turn_id,
                                     const std::vector<Attachment>& attachments) {
    if (chat_id != model_->document().id) {
        return;
    }
    visitAllTurns(model_->document().turns, [&](const ChatTurn& turn) {
        for (size_t i = 0; turn.id == turn_id && i < turn.attachments.size(); ++i) {
            if (i < attachments.size()) {
                media_->moved(turn.attachments[i].file, attachments[i].file);
                player_->moved(turn.attachments[i].file, attachments[i].file);
            }
        }
    });
    model_->setAttachments(turn_id, attachments);
}

void ChatView::showAdaptersPending() {
    if (isGenerating()) {
        notice_->showNotice(ChatNotice::Tone::Info,
                            tr("The adapters act from the next reply on; this one goes on as it "
                               "began."),
                            {}, 8000);
    }
}

void ChatView::edit(int row) {
    if (isGenerating() || row < 0 || row >= model_->rowCount()) {
        return;
    }
    if (editing_row_ < 0) {
        before_edit_ = composerDraft();
    }
    editing_row_ = row;
    showDraft({model_->turn(row).text, model_->turn(row).attachments});
    showEditing();
    focusComposer();
}

void ChatView::showEditing() {
    const bool is_reply =
        editing_row_ >= 0 && model_->turn(editing_row_).role == engine::Message::Role::Assistant;
    composer_->setEditing(is_reply            ? Composer::Editing::Reply
                          : editing_row_ >= 0 ? Composer::Editing::Question
                                              : Composer::Editing::Nothing);
}

void ChatView::saveEditedReply() {
    if (isGenerating()) {
        return; // the model reads what is here
    }
    const int row = std::exchange(editing_row_, -1);
    const QString text = composer_->text().trimmed();
    // A reply has no files: what was attached meanwhile belongs to the next message.
    Draft next = std::exchange(before_edit_, {});
    for (const Attachment& attachment : composer_->attachments()) {
        next.attachments.push_back(attachment);
    }
    showEditing();
    showDraft(next);
    if (text.isEmpty() || text == model_->turn(row).text.trimmed()) {
        return;
    }
    model_->editUndoable(row, text);
    list_->setCurrentRow(row);
    changed(false);
    notice_->showNotice(ChatNotice::Tone::Info, tr("The reply was changed."),
                        {{tr("Undo"), [this] { undo(); }}}, kUndoMs);
}

void ChatView::fork(int row) {
    if (isGenerating() || row < 0 || row >= model_->rowCount()) {
        return;
    }
    ChatDocument copy = copyOf(model_->document(), row + 1);
    const QString title = model_->document().title;
    copy.title = title.isEmpty() ? QString() : tr("%1 (fork)", "title of a chat").arg(title);
    copy.is_title_set_by_user = !copy.title.isEmpty();
    setChat(copy);
    changed(true);
    focusComposer();
    notice_->showNotice(ChatNotice::Tone::Info,
                        tr("This is a chat of its own now; the one it comes from is unchanged."),
                        {}, kUndoMs);
}

void ChatView::cancelEdit() {
    editing_row_ = -1;
    showEditing();
    showDraft(std::exchange(before_edit_, {}));
    focusComposer();
}

void ChatView::remove(int row) {
    if (isGenerating() || row < 0 || row >= model_->rowCount()) {
        return;
    }
    if (editing_row_ >= 0) {
        cancelEdit();
    }
    // A question goes with its reply: the model expects the two to alternate.
    int count = 1;
    if (model_->turn(row).role == engine::Message::Role::User) {
        while (row + count < model_->rowCount() &&
               model_->turn(row + count).role == engine::Message::Role::Assistant) {
            ++count;
        }
    }
    model_->removeUndoable(row, count);
    changed(false);
    notice_->showNotice(ChatNotice::Tone::Info, tr("Deleted: %1.").arg(messagesWords(count)),
                        {{tr("Undo"), [this] { undo(); }}}, kUndoMs);
}

void ChatView::undo() {
    if (isGenerating()) {
        return;
    }
    if (editing_row_ >= 0) {
        cancelEdit();
    }
    if (model_->undo()) {
        notice_->clear();
        changed(false);
    }
}

void ChatView::copyRow(int row) {
    if (row >= 0 && row < model_->rowCount()) {
        QGuiApplication::clipboard()->setText(model_->turn(row).text);
    }
}

void ChatView::openExternally(const QString& url) {
    QDesktopServices::openUrl(QUrl(url));
}

void ChatView::openAttachment(int row, int index) {
    if (row < 0 || row >= model_->rowCount()) {
        return;
    }
    const auto& attachments = model_->turn(row).attachments;
    if (index < 0 || index >= static_cast<int>(attachments.size())) {
        return;
    }
    const Attachment& attachment = attachments[static_cast<size_t>(index)];
    if (attachment.kind == engine::MessagePart::Kind::Audio) {
        player_->toggle({attachment.file, attachment.cut_start_s, attachment.cut_length_s});
        return;
    }
    if (!isSafeToShow(attachment.file)) {
        notice_->showNotice(
            ChatNotice::Tone::Warning,
            tr("%1 is not there, or is no picture: it was not opened.").arg(attachment.name), {},
            12000);
        return;
    }
    std::vector<ShownPicture> pictures;
    size_t shown = 0;
    for (int at = 0; at < model_->rowCount(); ++at) {
        const auto& all = model_->turn(at).attachments;
        for (int i = 0; i < static_cast<int>(all.size()); ++i) {
            const Attachment& one = all[static_cast<size_t>(i)];
            if (one.kind != engine::MessagePart::Kind::Image) {
                continue;
            }
            shown = at == row && i == index ? pictures.size() : shown;
            pictures.push_back({one.file, one.name});
        }
    }
    new PictureView(std::move(pictures), shown, window()); // goes by itself
}

void ChatView::openDraftPicture(const QString& file) {
    std::vector<ShownPicture> pictures;
    size_t shown = 0;
    for (const Attachment& one : composer_->attachments()) {
        if (one.kind == engine::MessagePart::Kind::Image) {
            shown = one.file == file ? pictures.size() : shown;
            pictures.push_back({one.file, one.name});
        }
    }
    if (!pictures.empty()) {
        new PictureView(std::move(pictures), shown, window());
    }
}

void ChatView::moveInSound(int row, int index, double seconds) {
    const Attachment& attachment = model_->turn(row).attachments[static_cast<size_t>(index)];
    const SoundClip clip{attachment.file, attachment.cut_start_s, attachment.cut_length_s};
    const double whole = media_->outline(clip.file).seconds;
    const double length = clip.length_s > 0.0 ? clip.length_s : whole - clip.start_s;
    if (whole > 0.0) {
        player_->seek(clip, std::clamp(player_->position(clip) + seconds, 0.0, length));
    }
}

void ChatView::stopForgottenSound() {
    if (player_->current().file.isEmpty()) {
        return;
    }
    QStringList files;
    const auto collect = [&](const std::vector<Attachment>& attachments) {
        for (const Attachment& attachment : attachments) {
            files.append(attachment.file);
        }
    };
    collect(composer_->attachments());
    for (int row = 0; row < model_->rowCount(); ++row) {
        collect(model_->turn(row).attachments);
    }
    player_->keepOnly(files);
}

void ChatView::insertSample(const QString& prompt,
                            const QStringList& images,
                            const QStringList& audios,
                            bool send_now) {
    const Draft draft = composerDraft();
    composer_->clear();
    composer_->setText(prompt);
    attachFiles(images + audios);
    if (send_now) {
        send();
        if (composer_->isEmpty()) {
            showDraft(draft); // what was being written is the next message again
        }
    }
}

void ChatView::setWaitsForStore(bool waits) {
    waits_for_store_ = waits;
    is_saving_ = is_saving_ && waits;
}

void ChatView::showSaved(const QString& chat_id) {
    if (chat_id != model_->document().id || !is_saving_) {
        return;
    }
    is_saving_ = false;
    if (is_queued_ && !isGenerating()) {
        send();
    }
}

void ChatView::showSaveError(const QString& chat_id, const QString& message) {
    // The chat goes on; what is on screen is not on disk, and the user is told so.
    notice_->showNotice(ChatNotice::Tone::Error, message, {});
    if (chat_id == model_->document().id) {
        is_saving_ = false;
    }
    if (is_queued_ && !isGenerating()) {
        send();
    }
}

} // namespace ui
