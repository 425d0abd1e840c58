// SPDX-License-Identifier: Apache-2.0
// The folders chosen lately, newest first, as a list model. Whether they are still there is asked
// with checkRequested() and answered with showMissing(): files are not looked at here.
#pragma once

#include <QAbstractListModel>
#include <QStringList>

namespace ui {

class RecentModels : public QAbstractListModel {
    Q_OBJECT

public:
    enum Role { FolderRole = Qt::UserRole + 1, MissingRole };
    static constexpr int kMaximum = 8;

    explicit RecentModels(QObject* parent = nullptr);

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;

    void setFolders(const QStringList& folders);
    [[nodiscard]] const QStringList& folders() const { return folders_; }
    /// Puts a folder first; the oldest drops out.
    void note(const QString& folder);
    void forget(const QString& folder);
    /// `now` in the place of `folder`, which was moved or renamed.
    void replace(const QString& folder, const QString& now);
    [[nodiscard]] bool isMissing(const QString& folder) const { return missing_.contains(folder); }

public Q_SLOTS:
    /// Asks whether the folders are still there.
    void check();
    /// Those of the list that are not.
    void showMissing(const QStringList& folders);

Q_SIGNALS:
    void checkRequested(const QStringList& folders);
    void missingChanged();
    void foldersChanged(const QStringList& folders);

private:
    QStringList folders_, missing_;
};

} // namespace ui
