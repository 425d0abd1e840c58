// SPDX-License-Identifier: Apache-2.0
// Where the next message is written: text that grows with its lines, files with their cost, the
// microphone, prompt shortcuts behind "/", and the one button that sends or stops.
#pragma once

#include "engine/api/chat.h"
#include "engine/api/error.h"
#include "engine/api/model_summary.h"
#include "ui/chat/attachment_chip.h"
#include "ui/chat/chat_document.h"
#include "ui/chat/chat_settings.h"

#include <QFrame>
#include <QTimer>

#include <vector>

class QHBoxLayout;
class QLabel;
class QLayout;
class QListWidget;
class QMimeData;
class QPlainTextEdit;
class QPushButton;
class QScrollArea;
class QToolButton;

namespace ui {

class ElidedLabel;
class FlowLayout;
class MediaCache;
class RecordStrip;
class SoundPlayer;

class Composer : public QFrame {
    Q_OBJECT

public:
    Composer(MediaCache* media, SoundPlayer* player, QWidget* parent = nullptr);

    [[nodiscard]] QString text() const;
    void setText(const QString& text);
    void clear();
    [[nodiscard]] bool isEmpty() const;
    [[nodiscard]] std::vector<Attachment> attachments() const;
    void setAttachments(const std::vector<Attachment>& attachments);
    /// Tokens of text and media, estimated where the engine has not told.
    [[nodiscard]] qint64 draftTokens() const;
    /// First reason why an attachment cannot be sent; empty when all can.
    [[nodiscard]] QString attachmentError() const;

    /// Starts to record, or keeps what is recorded.
    void toggleRecording();
    /// What is attached as the engine takes it: whole files, or chosen parts.
    [[nodiscard]] std::vector<engine::MessagePart> mediaParts() const;
    /// Those of which the engine has told the cost: it can read them.
    [[nodiscard]] std::vector<engine::MessagePart> knownParts() const;

    /// The last refusal was of something that the model could take with its towers loaded.
    [[nodiscard]] bool lacksTowerForLast() const { return lacks_tower_for_last_; }
    /// Takes files; returns one line for each that was refused and why.
    QStringList attach(const QStringList& files);
    /// Files and pictures of a drop or of the clipboard. False when there is nothing to take.
    bool takeMime(const QMimeData* mime);
    static bool canTake(const QMimeData* mime);

    void showCost(const QString& file, const engine::MediaCost& cost);
    void showCostError(const QString& file, const engine::Error& error);
    void setModel(const engine::ModelSummary* model, bool is_loaded);
    /// Named in the hint below the text; empty: not.
    void setAnswerer(const QString& name);
    /// A model is on its way: the hint says wait, not load.
    void setLoading(bool is_loading);
    /// The chosen model lacks what loading needs: the hint says so.
    void setUnloadable(bool is_unloadable);
    void setBusy(bool is_generating, bool is_stopping, bool is_queued);
    enum class Editing { Nothing = 1, Question, Reply };
    void setEditing(Editing editing);
    void setPrompts(const std::vector<PromptShortcut>& prompts);
    [[nodiscard]] QPlainTextEdit* input() const { return input_; }
    /// The list of shortcuts stands above the composer, inside `area`, an ancestor: nothing that is
    /// smaller cuts it. placePrompts() when the composer's place in it has changed.
    void showPromptsIn(QWidget* area);
    void placePrompts();
    /// A key that was pressed elsewhere and means the message.
    void takeKey(const QKeyEvent* event);

Q_SIGNALS:
    /// A picture of the message is to be seen large.
    void pictureActivated(const QString& file);
    void sendRequested();
    void queueRequested();
    void stopRequested();
    void cancelEditRequested();
    void chooseRequested();
    void changed();
    void costRequested(const engine::MessagePart& part);
    void refused(const QString& message);
    /// All of them at once, by the one button: they can be brought back.
    void allRemoved(const std::vector<ui::Attachment>& attachments);
    void promptsChanged(const std::vector<ui::PromptShortcut>& prompts);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void addChip(const Attachment& attachment);
    void fitPlaceholder();
    void fitHeight();
    void updateHint();
    void updatePrompts();
    void acceptPrompt();
    void savePrompt();
    void buildEditStrip();
    void buildChips();
    QLayout* buildButtons();
    void connectParts();
    void openPrompts();
    void removeAll();
    /// Shows at most two and a half rows of attachments; more scroll.
    void fitChips();

    MediaCache* media_;
    SoundPlayer* player_;
    QWidget* edit_strip_;
    QLabel* edit_words_;
    RecordStrip* record_strip_;
    QWidget* chips_part_; ///< The line about many attachments, and the attachments.
    QWidget* chips_line_;
    QLabel* chips_count_;
    QScrollArea* chip_area_;
    QWidget* chip_row_;
    FlowLayout* chip_layout_;
    std::vector<AttachmentChip*> chips_;
    QPlainTextEdit* input_;
    QToolButton *attach_, *record_, *prompts_button_;
    ElidedLabel* hint_;
    QPushButton *send_, *stop_;
    QListWidget* prompt_list_;
    std::vector<PromptShortcut> prompts_;
    QTimer cost_timer_; ///< While a part is being chosen, its cost is asked now and then.
    double longest_sound_s_ = 0.0;
    QString answerer_;
    bool has_model_ = false, can_see_ = true, can_hear_ = true, is_loaded_ = false;
    bool lacks_tower_for_last_ = false;
    bool is_text_only_ = false; ///< By the user's wish: the model has towers that are not loaded.
    bool is_loading_ = false;
    bool is_unloadable_ = false;
    bool is_generating_ = false, is_queued_ = false;
    Editing editing_ = Editing::Nothing;
};

} // namespace ui
