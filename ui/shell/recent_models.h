// SPDX-License-Identifier: Apache-2.0
// The folders chosen lately, newest first, as a list model. Paths only: whether a folder still
// holds a model is found out when it is chosen.
#pragma once

#include <QAbstractListModel>
#include <QStringList>

namespace ui {

class RecentModels : public QAbstractListModel {
    Q_OBJECT

public:
    enum Role { FolderRole = Qt::UserRole + 1 };
    static constexpr int kMaximum = 8;

    explicit RecentModels(QObject* parent = nullptr);

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;

    void setFolders(const QStringList& folders);
    [[nodiscard]] const QStringList& folders() const { return folders_; }
    /// Puts a folder first; the oldest drops out.
    void note(const QString& folder);
    void forget(const QString& folder);

Q_SIGNALS:
    void foldersChanged(const QStringList& folders);

private:
    QStringList folders_;
};

} // namespace ui
