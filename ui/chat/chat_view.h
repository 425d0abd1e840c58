// SPDX-License-Identifier: Apache-2.0
// The chat: messages, composer, context gauge, settings of the chat. Knows no engine and no store:
// what it wants leaves as signals with plain values, what happened comes in through slots. One
// reply runs at a time.
#pragma once

#include "engine/api/chat.h"
#include "engine/api/error.h"
#include "engine/api/session.h"
#include "ui/chat/chat_document.h"
#include "ui/chat/chat_settings.h"

#include <QElapsedTimer>
#include <QTimer>
#include <QWidget>

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
    /// Shown in place of the messages while the chat is empty; the view owns it.
    void setEmptyState(QWidget* widget);
    /// Text in the input box.
    [[nodiscard]] QString draft() const;
    [[nodiscard]] MessageList* messageList() const { return list_; }
    [[nodiscard]] SoundPlayer* player() const { return player_; }
    /// Who reads recordings, for waveforms and for playing; without one they stay silent.
    void setSoundDecoder(std::shared_ptr<const SoundDecoder> decoder);

public Q_SLOTS:
    /// An empty id makes a new chat. A running reply is not touched: the shell cancels it first.
    void setChat(const ui::ChatDocument& chat);
    /// New values of title, adapters or model of the chat that is open, from outside.
    void setChatTitle(const QString& title);
    void setModel(std::shared_ptr<const engine::ModelSummary> model, bool is_loaded);
    /// The model that answers, where that has to be said; empty: nobody could take it for another.
    void setAnswerer(const QString& name);
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
    void setSettings(const ui::ChatSettings& settings);

    void send();
    void stop();
    void regenerateLast();
    /// Goes on with the last reply where it was cut short.
    void continueLast();
    void undo();
    void focusComposer();
    void chooseFiles();

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
    void settingsChanged(const ui::ChatSettings& settings);
    void generatingChanged(bool is_generating);

protected:
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dragLeaveEvent(QDragLeaveEvent* event) override;
    void dropEvent(QDropEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void showEvent(QShowEvent* event) override;

private:
    void buildHeader();
    void buildBody();
    void connectParts();
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
    void regenerate(int row);
    void edit(int row);
    void remove(int row);
    void cancelEdit();
    void copyRow(int row);
    void openAttachment(int row, int index);
    void moveInSound(int row, int index, double seconds);
    void stopForgottenSound();
    void offerContextChoice(const QString& reason, qint64 known_tokens, bool can_resend);
    void cutOldest(qint64 known_tokens, bool resend);
    void restoreDraft(const ChatTurn& question);
    void requestCosts();
    void encodeAhead();
    void forgetRemoved();
    void forgetAhead();
    static void openExternally(const QString& url);
    void changed(bool is_turn);
    QString sendBlocker() const;

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
    MessageList* list_ = nullptr;
    QPushButton* to_end_ = nullptr;
    ChatNotice* notice_ = nullptr;
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
    double thinking_s_ = 0.0; ///< Of the thoughts of this reply, once the answer has begun.
    int editing_row_ = -1;
    bool is_queued_ = false; ///< Send when the reply is finished or the store is done.
    bool waits_for_store_ = false, is_saving_ = false;
};

} // namespace ui
