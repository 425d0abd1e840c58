// SPDX-License-Identifier: Apache-2.0
// The chat: messages, composer, context gauge, settings of the chat. Knows no engine and no store:
// what it wants leaves as signals with plain values, what happened comes in through slots. One
// reply runs at a time.
#pragma once

#include "engine/api/chat.h"
#include "engine/api/error.h"
#include "engine/api/model_summary.h"
#include "engine/api/snapshot.h"
#include "ui/chat/chat_document.h"
#include "ui/chat/chat_settings.h"
#include "ui/common/server_state.h"

#include <QElapsedTimer>
#include <QTimer>
#include <QWidget>

#include <functional>
#include <memory>
#include <optional>

class QLabel;
class QPushButton;
class QStackedWidget;
class QToolButton;

namespace ui {

class ChatModel;
class Composer;
class ContextGauge;
class FindBar;
class MediaCache;
class MessageList;
class ChatNotice;
class SamplingPanel;
class SoundDecoder;
class SoundPlayer;
class SystemPromptPanel;

class ChatView : public QWidget {
    Q_OBJECT

public:
    explicit ChatView(QWidget* parent = nullptr);
    ~ChatView() override;

    [[nodiscard]] const ChatDocument& chat() const;
    [[nodiscard]] bool isGenerating() const { return active_id_ != 0; }
    /// Gauge, system prompt, sampling and compare: stands above the messages until the shell takes
    /// it into a bar of its own.
    [[nodiscard]] QWidget* headerBar() const { return header_; }
    /// What is written and not sent yet, of every chat.
    [[nodiscard]] ChatDrafts drafts() const;
    /// Forgets the draft of a chat that is not shown, and gives it to the caller.
    ChatDraft takeDraft(const QString& chat_id);
    [[nodiscard]] MessageList* messageList() const { return list_; }
    /// Where composer and notices begin: what else lies over the messages stands above it.
    [[nodiscard]] int overlayFloor() const;
    [[nodiscard]] SoundPlayer* player() const { return player_; }
    /// Who reads recordings, for waveforms and for playing; without one they stay silent.
    void setSoundDecoder(std::shared_ptr<const SoundDecoder> decoder);

public Q_SLOTS:
    /// An empty id makes a new chat. A running reply is not touched: the shell cancels it first.
    /// What is being written stays with the chat that is left.
    void setChat(const ui::ChatDocument& chat);
    /// New values of title, adapters or model of the chat that is open, from outside.
    void setChatTitle(const QString& title);
    void setModel(std::shared_ptr<const engine::ModelSummary> model, bool is_loaded);
    /// The model that answers, where that has to be said; empty: nobody could take it for another.
    void setAnswerer(const QString& name);
    /// Beside where words go: that nobody takes them now, and why.
    void showServerState(const ui::ServerState& state);
    void showSnapshot(std::shared_ptr<const engine::EngineSnapshot> snapshot);
    void showReplyUpdate(quint64 id, const engine::ReplyUpdate& update);
    void showReply(quint64 id, const engine::Reply& reply);
    void showReplyError(quint64 id, const engine::Error& error);
    void showMediaCost(const QString& file, const engine::MediaCost& cost);
    void showMediaError(const QString& file, const engine::Error& error);
    void insertSample(const QString& prompt,
                      const QStringList& images,
                      const QStringList& audios,
                      bool send);
    /// Adds files to the next message; what cannot be used is told.
    void attachFiles(const QStringList& files);
    /// The store has copied the files of a turn: they are shown from there.
    void showAttachmentsStored(const QString& chat_id,
                               const QString& turn_id,
                               const std::vector<ui::Attachment>& attachments);
    /// Adapters or their strengths were changed while a reply is written: it goes on as it began.
    void showAdaptersPending();
    /// The store has the chat; until then the next turn waits, if setWaitsForStore(true).
    void showSaved(const QString& chat_id);
    void showSaveError(const QString& chat_id, const QString& message);
    void setWaitsForStore(bool waits);
    /// Drafts of an earlier session, or of a chat that comes back. One that was begun since stays.
    void addDrafts(const ui::ChatDrafts& drafts);
    void setSettings(const ui::ChatSettings& settings);
    /// How the next words are chosen, in the chat that is open; its seed and length stay.
    void setSampling(const engine::SamplingParameters& sampling);
    /// A model is on its way; why the chosen one cannot be loaded, empty where it can.
    void setLoadState(bool is_loading, const QString& why_not);
    /// What is asked before a host gets what it has not had, and the answer that lets it.
    static QString wholeConversationWords(const QString& host);
    static QString sendThereWords();
    /// compareRequested() of what is being written, else of the last question.
    void requestComparison();

    void send();
    void stop();
    void regenerateLast();
    /// Goes on with the last reply where it was cut short.
    void continueLast();
    void undo();
    void focusComposer();
    void chooseFiles();
    /// The version before (-1) or after (+1), see MessageList::stepVersion().
    void stepVersion(int by);
    void toggleRecording();
    void copyLastCode();
    /// Marks the words of a search in the list of chats, and shows the first.
    void showFound(const QString& words);
    /// A notice of the window's own lies over this much of the messages, above those of the chat.
    void setCovered(int pixels);
    /// Gives a key that means the next message to the composer; false when it does not.
    bool takeKey(const QKeyEvent* event);

Q_SIGNALS:
    void generateRequested(const engine::GenerateRequest& request);
    void cancelRequested();
    void mediaCostRequested(const engine::MessagePart& part, qint64 image_tokens);
    /// Encode while the user still types. Asked anew when the model, its layout or its adapters
    /// have changed, and after a reply for what was attached beside it.
    void encodeAheadRequested(const engine::MessagePart& part, qint64 image_tokens);
    /// It was taken out of the message again, or must be encoded anew. What is sent is not: the
    /// reply waits for what is encoded already.
    void encodeAheadCancelled(const engine::MessagePart& part);
    /// A turn is complete: store it before the next one begins.
    void turnFinished(const ui::ChatDocument& chat);
    /// Settings or earlier turns changed.
    void chatChanged(const ui::ChatDocument& chat);
    void compareRequested(const engine::GenerateRequest& request);
    /// The user wants a context of at least this many tokens (load again or apply).
    void largerContextRequested(qint64 tokens);
    /// The model is loaded for text only, and a picture or a sound was to be added.
    void towersRequested();
    void settingsChanged(const ui::ChatSettings& settings);
    void generatingChanged(bool is_generating);
    /// Something was written or attached, or taken away: worth keeping. At most every two seconds.
    void draftsChanged();
    /// overlayFloor() is another.
    void overlaysPlaced();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dragLeaveEvent(QDragLeaveEvent* event) override;
    void dropEvent(QDropEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void showEvent(QShowEvent* event) override;

private:
    /// What was not added to the message, a line each, with the way to add it where there is one.
    void showRefused(const QStringList& problems);
    void buildHeader();
    void buildBody();
    void connectHeader();
    void connectComposer();
    void connectMessages();
    void addShortcuts();
    /// Answers the question of the last reply, or the draft when nothing was asked yet.
    /// `version_of`: the row whose turn is put aside for this reply; -1 = a reply at the end.
    void startReply(int version_of = -1);
    void beginRequest(engine::GenerateRequest request, int row);
    void continueReply(int row);
    void showVersion(int row, int version);
    [[nodiscard]] double thinkingSeconds() const;
    void finishReply();
    void abandonReply();
    void flush();
    void updateState();
    void updateGauge();
    void updateHeaderTexts();
    /// Notice, list of shortcuts and the way to the end: over the messages, in no layout.
    void placeOverlays();
    void regenerate(int row);
    void edit(int row);
    void saveEditedReply();
    void showEditing();
    /// Opens a chat of its own that has the turns up to this one.
    void fork(int row);
    void remove(int row);
    void cancelEdit();
    void copyRow(int row);
    void openAttachment(int row, int index);
    void openDraftPicture(const QString& file);
    void moveInSound(int row, int index, double seconds);
    void stopForgottenSound();
    void offerContextChoice(const QString& reason, qint64 known_tokens, bool can_resend);
    void cutOldest(qint64 known_tokens, bool resend);
    void restoreDraft(const ChatTurn& question);
    [[nodiscard]] Draft composerDraft() const;
    void showDraft(const Draft& draft);
    /// Draft of the chat that is shown.
    [[nodiscard]] ChatDraft currentDraft() const;
    void showDraftOfChat();
    void requestCosts();
    void encodeAhead();
    void forgetRemoved();
    void forgetAhead();
    static void openExternally(const QString& url);
    void changed(bool is_turn);
    QString sendBlocker() const;
    /// The host that would get the words, or nothing.
    [[nodiscard]] QString host() const;
    /// This chat has words that its host has not had yet, and nobody has agreed that they go there:
    /// asks, and does `then` after a yes.
    bool asksWhetherToSend(const std::function<void()>& then);
    void refreshHost();
    void refreshLoading();

    ChatModel* model_ = nullptr;
    MediaCache* media_ = nullptr;
    SoundPlayer* player_ = nullptr;
    QWidget* header_ = nullptr;
    ContextGauge* gauge_ = nullptr;
    QToolButton *prompt_button_ = nullptr, *sampling_button_ = nullptr, *compare_button_ = nullptr;
    SystemPromptPanel* prompt_panel_ = nullptr;
    SamplingPanel* sampling_panel_ = nullptr;
    QStackedWidget* stack_ = nullptr;
    QWidget* empty_ = nullptr;
    ServerState server_;
    QLabel* host_label_ = nullptr; ///< Where words go; hidden while they stay here.
    bool is_load_awaited_ = false; ///< By the window, from the wish to the model's being there.
    QLabel* empty_hint_ = nullptr;
    QString agreed_host_;       ///< For this chat.
    QWidget* bottom_ = nullptr; ///< What the composer stands in.
    int covered_ = 0;           ///< Height of the messages under a notice of the window.
    int told_floor_ = -1;       ///< overlayFloor() as it was told last.
    MessageList* list_ = nullptr;
    QPushButton* to_end_ = nullptr;
    ChatNotice* notice_ = nullptr;
    FindBar* find_ = nullptr;
    Composer* composer_ = nullptr;
    QLabel* drop_overlay_ = nullptr;

    std::shared_ptr<const engine::ModelSummary> summary_;
    std::shared_ptr<const engine::EngineSnapshot> snapshot_;
    bool is_loaded_ = false;
    std::vector<engine::MessagePart> ahead_; ///< Asked for as the model is now.
    ChatSettings settings_;

    quint64 next_id_ = 1, active_id_ = 0;
    bool is_stopping_ = false;
    engine::ReplyUpdate pending_;
    QTimer flush_timer_;
    QElapsedTimer since_request_, since_first_token_;
    engine::GenerateTiming live_timing_;
    /// The row that a version was put aside of for this reply, or -1: should nothing come, the
    /// former version is shown again.
    int version_row_ = -1;
    std::optional<ChatTurn> continued_; ///< The reply as it was before it was continued.
    QElapsedTimer since_thinking_;
    double thinking_s_ = 0.0; ///< Time of this reply's thoughts, once the answer has begun.
    int editing_row_ = -1;
    Draft before_edit_; ///< The next message, while an earlier one is edited in its place.
    ChatDrafts drafts_; ///< Drafts of the chats that are not shown.
    QTimer draft_timer_;
    bool is_queued_ = false; ///< Send when the reply is finished or the store is done.
    bool waits_for_store_ = false, is_saving_ = false;
};

} // namespace ui
