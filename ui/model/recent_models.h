// SPDX-License-Identifier: Apache-2.0
// The folders chosen lately, newest first, as a list model. Whether they are still there is asked
// with checkRequested() and answered with showFacts(): files are not looked at here. The same is
// asked about a chosen folder, which enters the list when it turns out to hold a model.
#pragma once

#include "ui/model/folder_facts.h"

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
    [[nodiscard]] bool isMissing(const QString& folder) const { return facts(folder).is_missing; }
    /// As it was seen last; a plain folder as long as nobody has looked.
    [[nodiscard]] FolderFacts facts(const QString& folder) const { return facts_.value(folder); }

public Q_SLOTS:
    /// Asks whether the folders are still there, and what lies in `chosen` (empty: none).
    void check(const QString& chosen = {});
    void showFacts(const ui::FolderFactsByPath& facts);

Q_SIGNALS:
    void checkRequested(const QStringList& folders);
    /// What lies in a folder of the list, or in the chosen one.
    void factsChanged();
    void foldersChanged(const QStringList& folders);

private:
    QStringList folders_;
    FolderFactsByPath facts_;
};

} // namespace ui
