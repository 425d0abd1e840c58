// SPDX-License-Identifier: Apache-2.0
#include "ui/history/history_model.h"

#include <QFileInfo>
#include <QLocale>

#include <algorithm>
#include <utility>

namespace ui {

namespace {

QString ageOf(const QDate& day, const QDate& today) {
    const qint64 days = day.daysTo(today);
    if (days <= 0) {
        return HistoryModel::tr("Today");
    }
    if (days == 1) {
        return HistoryModel::tr("Yesterday");
    }
    if (days < 7) {
        return HistoryModel::tr("Last seven days");
    }
    const QString month = QLocale().standaloneMonthName(day.month());
    return day.year() == today.year()
               ? month
               : HistoryModel::tr("%1 %2", "month, year").arg(month, QString::number(day.year()));
}

} // namespace

HistoryModel::HistoryModel(QObject* parent) : QAbstractListModel(parent) {}

void HistoryModel::setChats(std::vector<ChatSummary> chats, const QString& query, QDate today) {
    if (!today.isValid()) {
        today = QDate::currentDate();
    }
    std::vector<Row> rows;
    QString heading;
    const auto count = static_cast<qsizetype>(chats.size());
    for (ChatSummary& chat : chats) {
        // Results of a search are few; their age stands in the tool tip.
        const QString age = !query.isEmpty() ? QString()
                            : chat.is_pinned ? tr("Pinned")
                                             : ageOf(chat.modified.toLocalTime().date(), today);
        if (age != heading) {
            heading = age;
            rows.push_back({true, heading, {}});
        }
        rows.push_back({false, {}, std::move(chat)});
    }
    query_ = query;
    chat_count_ = count;
    // The same chats in the same places: an editor that is open stays open.
    const bool is_same = std::equal(
        rows.begin(), rows.end(), rows_.begin(), rows_.end(), [](const Row& a, const Row& b) {
            return a.is_heading == b.is_heading && a.chat.id == b.chat.id && a.heading == b.heading;
        });
    if (is_same) {
        rows_ = std::move(rows);
        if (!rows_.empty()) {
            Q_EMIT dataChanged(index(0), index(static_cast<int>(rows_.size()) - 1));
        }
        return;
    }
    beginResetModel();
    rows_ = std::move(rows);
    endResetModel();
}

QModelIndex HistoryModel::indexOf(const QString& id) const {
    const auto found = std::find_if(rows_.begin(), rows_.end(), [&](const Row& row) {
        return !row.is_heading && row.chat.id == id;
    });
    return found == rows_.end() || id.isEmpty() ? QModelIndex()
                                                : index(static_cast<int>(found - rows_.begin()));
}

int HistoryModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

QVariant HistoryModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) {
        return {};
    }
    const Row& row = rows_.at(static_cast<size_t>(index.row()));
    if (row.is_heading) {
        switch (role) {
        case Qt::DisplayRole:
        case Qt::AccessibleTextRole:
            return row.heading;
        case IsHeadingRole:
            return true;
        default:
            return {};
        }
    }
    const QString title = row.chat.title.isEmpty() ? tr("New chat") : row.chat.title;
    const QString when = QLocale().toString(row.chat.modified.toLocalTime(), QLocale::ShortFormat);
    switch (role) {
    case Qt::DisplayRole:
    case Qt::EditRole:
        return title;
    case Qt::ToolTipRole: {
        const QString model = QFileInfo(row.chat.model).fileName();
        const QString messages = tr("%n messages", nullptr, static_cast<int>(row.chat.turns));
        return QStringLiteral("%1\n%2 · %3%4")
            .arg(title, when, messages,
                 model.isEmpty() ? QString() : QStringLiteral(" · ") + model);
    }
    case Qt::AccessibleTextRole:
        return !row.chat.excerpt.isEmpty() ? tr("%1, %2: %3").arg(title, when, row.chat.excerpt)
               : row.chat.is_pinned        ? tr("%1, %2, pinned").arg(title, when)
                                           : tr("%1, %2").arg(title, when);
    case IdRole:
        return row.chat.id;
    case IsHeadingRole:
        return false;
    case ExcerptRole:
        return row.chat.excerpt;
    case IsPinnedRole:
        return row.chat.is_pinned;
    case ModifiedRole:
        return row.chat.modified;
    default:
        return {};
    }
}

bool HistoryModel::setData(const QModelIndex& index, const QVariant& value, int role) {
    if (role == Qt::EditRole && checkIndex(index, CheckIndexOption::IndexIsValid)) {
        const Row& row = rows_.at(static_cast<size_t>(index.row()));
        if (!row.is_heading && value.toString() != row.chat.title) {
            Q_EMIT renameRequested(row.chat.id, value.toString());
        }
    }
    return false; // nothing changed yet; the store's next list will tell
}

Qt::ItemFlags HistoryModel::flags(const QModelIndex& index) const {
    if (!index.isValid()) {
        return Qt::NoItemFlags;
    }
    if (rows_.at(static_cast<size_t>(index.row())).is_heading) {
        return Qt::ItemNeverHasChildren;
    }
    return Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemIsEditable | Qt::ItemNeverHasChildren;
}

} // namespace ui
