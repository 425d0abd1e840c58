// SPDX-License-Identifier: Apache-2.0
// The conversation that is open, as an item model: one row per turn. Owns the document; every
// change of it goes through here, so that it can be undone and the view follows. The reply that is
// being written is the last row; text arrives there without a signal per token.
#pragma once

#include "engine/api/load_request.h"
#include "ui/chat/chat_document.h"

#include <QAbstractListModel>

#include <vector>

namespace ui {

class ChatModel : public QAbstractListModel {
    Q_OBJECT

public:
    enum Role { RoleRole = Qt::UserRole + 1, ThinkingRole, IsCutRole, IsStreamingRole };

    explicit ChatModel(QObject* parent = nullptr);
    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QHash<int, QByteArray> roleNames() const override;

    [[nodiscard]] const ChatDocument& document() const { return document_; }
    /// Everything but the turns; title, prompt, sampling and the rest.
    template <typename Change>
    void changeSettings(Change change) {
        change(document_);
    }
    void setDocument(const ChatDocument& document);
    [[nodiscard]] const ChatTurn& turn(int row) const {
        return document_.turns[static_cast<size_t>(row)];
    }

    void append(const ChatTurn& turn);
    void replace(int row, const ChatTurn& turn);
    /// Text for the last turn. Emits textAppended, not dataChanged.
    void appendText(const QString& text, const QString& thinking);
    /// Figures for the running reply; shown with the next text.
    void setStreamingTiming(const engine::GenerateTiming& timing, double thinking_s);
    void setStreamingAdapters(const std::vector<engine::AdapterChoice>& adapters);
    /// Takes the last turn away for good (a reply that never began).
    void removeLast();
    /// The row that is being written, or -1.
    void setStreamingRow(int row);
    [[nodiscard]] int streamingRow() const { return streaming_row_; }
    /// Marks [0, count) as left out of what the model sees, and the rest as seen.
    void setCut(int count);
    [[nodiscard]] int cutCount() const;

    /// Changes the words of a turn; can be undone.
    void editUndoable(int row, const QString& text);
    /// Takes turns away so that undo() brings them back (and takes away what came instead).
    void removeUndoable(int first, int count);
    [[nodiscard]] bool canUndo() const { return !undo_.empty(); }
    /// Puts back what was last removed, or shows the version that was shown before. False when
    /// there is nothing.
    bool undo();

    /// Puts the turns from `row` on aside as a version that can be shown again, and `turn` in their
    /// place. undo() shows them again.
    void startVersion(int row, ChatTurn turn);
    /// Shows another version of the conversation from `row` on: 0 to versionCount() - 1.
    /// False when there is no such version, or it is shown already.
    bool showVersion(int row, int version);
    /// Takes the shown version at `row`, which startVersion() made last, away for good and shows
    /// the one before it.
    void dropVersion(int row);
    /// The store has copied the files of a turn; also found in versions that are not shown.
    void setAttachments(const QString& turn_id, const std::vector<Attachment>& attachments);

Q_SIGNALS:
    void textAppended(int row);
    void undoChanged();

private:
    struct Removed {
        int first = 0;
        bool replaces_tail = false; ///< What follows `first` now was made after the removal.
        std::vector<ChatTurn> turns;
        int version = -1; ///< Not negative: no turns, but the version to show at `first`.
        bool is_former =
            false; ///< The turn as it was before it was edited, which stands there now.
    };
    void removeRange(int first, int count);
    void insertRange(int first, const std::vector<ChatTurn>& turns);

    ChatDocument document_;
    int streaming_row_ = -1;
    std::vector<Removed> undo_;
};

} // namespace ui
