// SPDX-License-Identifier: Apache-2.0
// The chats of the history list, latest first. Without a search they stand under headings by age
// (today, yesterday, last seven days, then by month), pinned ones above the others; the headings
// are rows of their own that cannot be selected. The model never decides: a new title leaves as
// renameRequested(), and the store's next list shows it.
#pragma once

#include "ui/chat/chat_document.h"

#include <QAbstractListModel>
#include <QDate>
#include <QString>

#include <vector>

namespace ui {

class HistoryModel : public QAbstractListModel {
    Q_OBJECT

public:
    enum Role { IdRole = Qt::UserRole + 1, IsHeadingRole, ExcerptRole, ModifiedRole, IsPinnedRole };

    explicit HistoryModel(QObject* parent = nullptr);

    /// `today` decides the headings; an invalid date is the real one.
    void setChats(std::vector<ChatSummary> chats, const QString& query, QDate today = {});
    [[nodiscard]] QModelIndex indexOf(const QString& id) const;
    [[nodiscard]] QString query() const { return query_; }
    [[nodiscard]] qsizetype chatCount() const { return chat_count_; }

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    bool setData(const QModelIndex& index, const QVariant& value, int role) override;
    [[nodiscard]] Qt::ItemFlags flags(const QModelIndex& index) const override;

Q_SIGNALS:
    void renameRequested(const QString& id, const QString& title);

private:
    struct Row {
        bool is_heading = false;
        QString heading;
        ChatSummary chat;
    };

    std::vector<Row> rows_;
    QString query_;
    qsizetype chat_count_ = 0;
};

} // namespace ui
