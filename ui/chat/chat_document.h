// SPDX-License-Identifier: Apache-2.0
// One conversation as a plain value: what the chat view shows, what the store writes and what an
// export holds. It knows no widgets and no engine; copies share their strings, so passing one
// through a queued signal costs little. File names are local paths in the form of the system.
#pragma once

#include "engine/api/chat.h"
#include "engine/api/load_request.h"

#include <QDateTime>
#include <QMap>
#include <QMetaType>
#include <QString>
#include <QStringList>

#include <optional>
#include <vector>

namespace ui {

/// A picture or a sound that belongs to a turn.
struct Attachment {
    engine::MessagePart::Kind kind = engine::MessagePart::Kind::Image; ///< Image or Audio.
    QString file;      ///< Where it is now: the user's file, once stored the store's copy.
    QString hash;      ///< SHA-256 of the content in hexadecimal; empty until stored.
    QString name;      ///< What the user called it, without folders.
    qint64 bytes = 0;  ///< Size of the file.
    qint64 tokens = 0; ///< Soft tokens it takes in the context; 0 = not known yet.
    /// Audio only: the part of the recording that is used; length 0 = all of it.
    double cut_start_s = 0.0, cut_length_s = 0.0;
};

/// One message of the user or of the model.
struct ChatTurn {
    QString id; ///< Unique within all chats; makeUniqueId() gives one.
    engine::Message::Role role = engine::Message::Role::User;
    QString text;
    QString thinking;        ///< What stood in the thought channel; assistant only.
    double thinking_s = 0.0; ///< How long the thoughts took as seen in the window; 0 = not known.
    std::vector<Attachment> attachments;
    /// As engine::Reply: "stop", "length", "context", "cancelled"; "failed" after an error;
    /// "interrupted" for a reply that a crash cut short. Empty for turns of the user.
    QString finish_reason;
    engine::GenerateTiming timing;
    std::optional<engine::DraftReport> drafts; ///< Where a drafting assistant guessed ahead.
    QStringList notes;                         ///< What the engine had to tell about this turn.
    quint64 seed = 0;                          ///< The seed that the reply was drawn with.
    QDateTime time;                            ///< When the turn was finished, UTC.
    /// Left out of what the model sees, because the context was full.
    bool is_cut = false;
    /// The user has changed the words of this reply.
    bool is_edited = false;
    /// What the reply was made with: the folder, and the adapters in force.
    QString model;
    std::vector<engine::AdapterChoice> adapters;
    /// Other versions of the conversation from this turn on, in the order they were made: each
    /// begins with the turn that stood here. Left behind by regenerate and by edit and resend.
    std::vector<std::vector<ChatTurn>> versions;
    int version = 0; ///< Place of the shown one among all: 0 to versions.size().

    [[nodiscard]] int versionCount() const { return static_cast<int>(versions.size()) + 1; }
};

/// Calls visit(turn) for every turn of the list and of the versions that are not shown.
template <typename Turns, typename Visit>
void visitAllTurns(Turns& turns, Visit visit) {
    for (auto& turn : turns) {
        visit(turn);
        for (auto& version : turn.versions) {
            visitAllTurns(version, visit);
        }
    }
}

/// A message that is being written.
struct Draft {
    QString text;
    std::vector<Attachment> attachments;

    [[nodiscard]] bool isEmpty() const { return text.isEmpty() && attachments.empty(); }
};

/// What is written and not sent yet in one chat: the next message and, while an earlier question is
/// being edited, that one's new wording.
struct ChatDraft {
    Draft message;
    QString edited_turn; ///< Id of the turn; empty while none is edited.
    Draft edit;
    qint64 changed_ms = 0; ///< Since the epoch: the oldest go when there are too many.

    [[nodiscard]] bool isEmpty() const { return message.isEmpty() && edited_turn.isEmpty(); }
};

/// By the chat's id; that of a new chat is empty.
using ChatDrafts = QMap<QString, ChatDraft>;

/// A whole conversation and its settings.
struct ChatDocument {
    /// Empty: a new chat that nothing was asked in. Whoever adds the first turn sets it with
    /// makeUniqueId(), so that two saves in a row are two saves of one chat.
    QString id;
    QString title; ///< Kept by the store (ChatStore::rename); a save does not change a set one.
    bool is_title_set_by_user = false; ///< Otherwise it follows the first question.
    QDateTime created, modified;       ///< UTC.
    QString system_prompt;
    engine::SamplingParameters sampling;
    bool is_thinking = false;
    qint64 image_tokens = 0; ///< Soft-token budget of a picture; 0 = the model's.
    bool uses_drafts = true; ///< Where a drafting assistant is loaded.
    QString model;           ///< Folder, or "demo"; empty = none was chosen.
    std::vector<engine::AdapterChoice> adapters;
    std::vector<ChatTurn> turns;

    [[nodiscard]] bool isEmpty() const { return turns.empty(); }
};

/// What the history list shows of a chat.
struct ChatSummary {
    QString id;
    QString title;
    QDateTime created, modified; ///< UTC.
    QString model;
    qint64 turns = 0;
    /// The place where the search text was found, on one line; empty without a search.
    QString excerpt;
    bool is_pinned = false; ///< Stands above the others.
};

/// A title from the first question: its first line, at most 60 characters, cut between words.
/// Empty while nothing was asked.
QString titleFromTurns(const ChatDocument& chat);

/// A chat of its own with the same content, or with the first `turns` turns alone, whose versions
/// stay behind then. Untitled.
ChatDocument copyOf(const ChatDocument& chat, qsizetype turns = -1);

} // namespace ui

Q_DECLARE_METATYPE(ui::ChatDocument)
Q_DECLARE_METATYPE(ui::ChatSummary)
Q_DECLARE_METATYPE(std::vector<ui::ChatSummary>)
