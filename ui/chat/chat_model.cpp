// SPDX-License-Identifier: Apache-2.0
#include "ui/chat/chat_model.h"

#include <algorithm>
#include <utility>

namespace ui {

namespace {
constexpr size_t kUndoDepth = 50;
}

ChatModel::ChatModel(QObject* parent) : QAbstractListModel(parent) {}

int ChatModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(document_.turns.size());
}

QVariant ChatModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount()) {
        return {};
    }
    const ChatTurn& item = turn(index.row());
    const bool is_user = item.role == engine::Message::Role::User;
    switch (role) {
    case Qt::DisplayRole:
        return item.text;
    case Qt::AccessibleTextRole: {
        QStringList parts{is_user ? tr("You") : tr("Model")};
        for (const Attachment& attachment : item.attachments) {
            parts.append(attachment.kind == engine::MessagePart::Kind::Image
                             ? tr("picture %1").arg(attachment.name)
                             : tr("sound %1").arg(attachment.name));
        }
        parts.append(item.text);
        if (!item.versions.empty()) {
            parts.append(tr("version %1 of %2").arg(item.version + 1).arg(item.versionCount()));
        }
        return parts.join(QStringLiteral(": "));
    }
    case RoleRole:
        return is_user ? QStringLiteral("user") : QStringLiteral("assistant");
    case ThinkingRole:
        return item.thinking;
    case IsCutRole:
        return item.is_cut;
    case IsStreamingRole:
        return index.row() == streaming_row_;
    default:
        return {};
    }
}

QHash<int, QByteArray> ChatModel::roleNames() const {
    QHash<int, QByteArray> names = QAbstractListModel::roleNames();
    names.insert(RoleRole, "role");
    names.insert(ThinkingRole, "thinking");
    names.insert(IsCutRole, "isCut");
    names.insert(IsStreamingRole, "isStreaming");
    return names;
}

void ChatModel::setDocument(const ChatDocument& document) {
    beginResetModel();
    document_ = document;
    streaming_row_ = -1;
    undo_.clear();
    endResetModel();
    Q_EMIT undoChanged();
}

void ChatModel::append(const ChatTurn& turn) {
    insertRange(rowCount(), {turn});
}

void ChatModel::replace(int row, const ChatTurn& turn) {
    document_.turns[static_cast<size_t>(row)] = turn;
    Q_EMIT dataChanged(index(row), index(row));
}

void ChatModel::appendText(const QString& text, const QString& thinking) {
    if (streaming_row_ < 0) {
        return;
    }
    ChatTurn& turn = document_.turns[static_cast<size_t>(streaming_row_)];
    turn.text += text;
    turn.thinking += thinking;
    Q_EMIT textAppended(streaming_row_);
}

void ChatModel::setStreamingTiming(const engine::GenerateTiming& timing, double thinking_s) {
    if (streaming_row_ >= 0) {
        ChatTurn& turn = document_.turns[static_cast<size_t>(streaming_row_)];
        turn.timing = timing;
        turn.thinking_s = thinking_s;
    }
}

void ChatModel::setStreamingAdapters(const std::vector<engine::AdapterChoice>& adapters) {
    if (streaming_row_ >= 0) {
        document_.turns[static_cast<size_t>(streaming_row_)].adapters = adapters;
    }
}

void ChatModel::removeLast() {
    removeRange(rowCount() - 1, std::min(rowCount(), 1));
}

void ChatModel::setStreamingRow(int row) {
    const int before = streaming_row_;
    streaming_row_ = row;
    for (const int changed : {before, row}) {
        if (changed >= 0 && changed < rowCount()) {
            Q_EMIT dataChanged(index(changed), index(changed));
        }
    }
}

void ChatModel::setCut(int count) {
    int first = -1, last = -1;
    for (int row = 0; row < rowCount(); ++row) {
        ChatTurn& turn = document_.turns[static_cast<size_t>(row)];
        const bool is_cut = row < count;
        if (turn.is_cut != is_cut) {
            turn.is_cut = is_cut;
            first = first < 0 ? row : first;
            last = row;
        }
    }
    if (first >= 0) {
        // The line is drawn on the first turn that is kept, so that one changes too.
        Q_EMIT dataChanged(index(first), index(std::min(last + 1, rowCount() - 1)));
    }
}

int ChatModel::cutCount() const {
    int count = 0;
    while (count < rowCount() && turn(count).is_cut) {
        ++count;
    }
    return count;
}

void ChatModel::removeRange(int first, int count) {
    if (count <= 0) {
        return;
    }
    beginRemoveRows({}, first, first + count - 1);
    const auto begin = document_.turns.begin() + first;
    document_.turns.erase(begin, begin + count);
    if (streaming_row_ >= first) {
        streaming_row_ = streaming_row_ < first + count ? -1 : streaming_row_ - count;
    }
    endRemoveRows();
}

void ChatModel::insertRange(int first, const std::vector<ChatTurn>& turns) {
    if (turns.empty()) {
        return;
    }
    beginInsertRows({}, first, first + static_cast<int>(turns.size()) - 1);
    document_.turns.insert(document_.turns.begin() + first, turns.begin(), turns.end());
    endInsertRows();
}

void ChatModel::removeUndoable(int first, int count) {
    if (count <= 0 || first < 0 || first + count > rowCount()) {
        return;
    }
    Removed removed;
    removed.first = first;
    removed.replaces_tail = first + count == rowCount();
    const auto begin = document_.turns.begin() + first;
    removed.turns.assign(begin, begin + count);
    if (undo_.size() >= kUndoDepth) {
        undo_.erase(undo_.begin());
    }
    undo_.push_back(std::move(removed));
    removeRange(first, count);
    Q_EMIT undoChanged();
}

void ChatModel::editUndoable(int row, const QString& text) {
    ChatTurn turn = this->turn(row);
    if (undo_.size() >= kUndoDepth) {
        undo_.erase(undo_.begin());
    }
    undo_.push_back({row, false, {turn}, -1, true});
    turn.text = text;
    turn.is_edited = true;
    turn.timing = {}; // it was of other words
    turn.drafts.reset();
    replace(row, turn);
    Q_EMIT undoChanged();
}

bool ChatModel::undo() {
    if (undo_.empty() || streaming_row_ >= 0) {
        return false;
    }
    const Removed removed = std::move(undo_.back());
    undo_.pop_back();
    if (removed.version >= 0) {
        const int shown = removed.first < rowCount() ? turn(removed.first).version : 0;
        const bool is_shown = showVersion(removed.first, removed.version);
        if (is_shown) {
            undo_.push_back({removed.first, false, {}, shown, false}); // the next undo goes back
        }
        Q_EMIT undoChanged();
        return is_shown;
    }
    if (removed.is_former) {
        const bool is_there =
            removed.first < rowCount() && turn(removed.first).id == removed.turns.front().id;
        if (is_there) { // the two change places
            undo_.push_back({removed.first, false, {turn(removed.first)}, -1, true});
            replace(removed.first, removed.turns.front());
        }
        Q_EMIT undoChanged();
        return is_there;
    }
    const int first = std::min(removed.first, rowCount());
    std::vector<ChatTurn> instead;
    if (removed.replaces_tail && first < rowCount()) {
        // What was written in place of the removed turns is kept for the next undo: the two
        // change places.
        instead.assign(document_.turns.begin() + first, document_.turns.end());
        removeRange(first, rowCount() - first);
    }
    insertRange(first, removed.turns);
    if (!instead.empty()) {
        // A second undo would otherwise bring back only one of the two versions.
        Removed other;
        other.first = first;
        other.replaces_tail = true;
        other.turns = std::move(instead);
        undo_.push_back(std::move(other));
    }
    Q_EMIT undoChanged();
    return true;
}

void ChatModel::startVersion(int row, ChatTurn turn) {
    if (row < 0 || row >= rowCount()) {
        return;
    }
    const auto begin = document_.turns.begin() + row;
    std::vector<ChatTurn> tail(begin, document_.turns.end());
    turn.versions = std::move(tail.front().versions);
    tail.front().versions.clear();
    const int former = std::exchange(tail.front().version, 0);
    turn.versions.insert(turn.versions.begin() + former, std::move(tail));
    turn.version = static_cast<int>(turn.versions.size());
    if (undo_.size() >= kUndoDepth) {
        undo_.erase(undo_.begin());
    }
    undo_.push_back({row, false, {}, former, false});
    removeRange(row, rowCount() - row);
    insertRange(row, {std::move(turn)});
    Q_EMIT undoChanged();
}

bool ChatModel::showVersion(int row, int version) {
    if (row < 0 || row >= rowCount() || streaming_row_ >= 0) {
        return false;
    }
    const int shown = turn(row).version;
    if (version < 0 || version >= turn(row).versionCount() || version == shown) {
        return false;
    }
    std::vector<ChatTurn> tail(document_.turns.begin() + row, document_.turns.end());
    std::vector<std::vector<ChatTurn>> versions = std::move(tail.front().versions);
    tail.front().versions.clear();
    tail.front().version = 0;
    versions.insert(versions.begin() + shown, std::move(tail));
    std::vector<ChatTurn> wanted = std::move(versions[static_cast<size_t>(version)]);
    versions.erase(versions.begin() + version);
    wanted.front().versions = std::move(versions);
    wanted.front().version = version;
    removeRange(row, rowCount() - row);
    insertRange(row, wanted);
    return true;
}

void ChatModel::dropVersion(int row) {
    if (row < 0 || row >= rowCount() || undo_.empty() || undo_.back().version < 0 ||
        undo_.back().first != row) {
        return;
    }
    const int former = undo_.back().version;
    const int dropped = turn(row).version;
    undo_.pop_back();
    if (!showVersion(row, former)) {
        return;
    }
    ChatTurn& shown = document_.turns[static_cast<size_t>(row)];
    // Made last, so it is the last of the others too.
    shown.versions.pop_back();
    shown.version = std::min(former, dropped);
    Q_EMIT dataChanged(index(row), index(row));
    Q_EMIT undoChanged();
}

void ChatModel::setAttachments(const QString& turn_id, const std::vector<Attachment>& attachments) {
    const auto take = [&](ChatTurn& turn) {
        if (turn.id == turn_id) {
            turn.attachments = attachments;
        }
    };
    for (int row = 0; row < rowCount(); ++row) {
        ChatTurn& turn = document_.turns[static_cast<size_t>(row)];
        for (auto& version : turn.versions) {
            visitAllTurns(version, take);
        }
        if (turn.id == turn_id) {
            take(turn);
            Q_EMIT dataChanged(index(row), index(row));
        }
    }
}

} // namespace ui
