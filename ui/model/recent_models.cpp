// SPDX-License-Identifier: Apache-2.0
#include "ui/model/recent_models.h"

#include "engine/api/model_address.h"
#include "ui/model/folder_words.h"
#include "ui/style/format.h"
#include "ui/style/theme.h"

#include <QDir>
#include <QFileInfo>

namespace ui {

RecentModels::RecentModels(QObject* parent) : QAbstractListModel(parent) {}

int RecentModels::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(folders_.size());
}

namespace {

/// Data of a model on a server: its name and its host.
QVariant serverData(const QString& model, int role) {
    const QString words = RecentModels::tr("%1 on %2")
                              .arg(fromUtf8(engine::serverModelName(model.toStdString())),
                                   fromUtf8(engine::serverHost(model.toStdString())));
    switch (role) {
    case Qt::DisplayRole:
    case Qt::AccessibleTextRole:
        return words;
    case Qt::DecorationRole:
        return icon(QStringLiteral("server"));
    case RecentModels::MissingRole:
        return false;
    case Qt::ToolTipRole:
    case RecentModels::FolderRole:
        return model;
    default:
        return {};
    }
}

} // namespace

QVariant RecentModels::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) {
        return {};
    }
    const QString& folder = folders_.at(index.row());
    if (engine::isServerModel(folder.toStdString())) {
        return serverData(folder, role);
    }
    switch (role) {
    case Qt::DisplayRole:
        return isMissing(folder) ? tr("%1 (missing)").arg(folderName(folder, folders_))
                                 : folderName(folder, folders_);
    case Qt::DecorationRole:
        return icon(isMissing(folder) ? QStringLiteral("alert") : QStringLiteral("folder"));
    case Qt::ForegroundRole:
        return isMissing(folder) ? QVariant(Theme::current().text_muted) : QVariant();
    case MissingRole:
        return isMissing(folder);
    case Qt::ToolTipRole:
    case FolderRole:
        return QDir::toNativeSeparators(folder);
    case Qt::AccessibleTextRole:
        return isMissing(folder)
                   ? tr("%1 in %2, missing")
                         .arg(QFileInfo(folder).fileName(), QFileInfo(folder).path())
                   : tr("%1 in %2").arg(QFileInfo(folder).fileName(), QFileInfo(folder).path());
    default:
        return {};
    }
}

void RecentModels::setFolders(const QStringList& folders) {
    beginResetModel();
    folders_ = folders.mid(0, kMaximum);
    endResetModel();
    check();
}

void RecentModels::note(const QString& folder) {
    const auto at = folders_.indexOf(folder);
    if (at == 0) {
        return;
    }
    if (at > 0) {
        beginMoveRows({}, static_cast<int>(at), static_cast<int>(at), {}, 0);
        folders_.move(at, 0);
        endMoveRows();
    } else {
        beginInsertRows({}, 0, 0);
        folders_.prepend(folder);
        endInsertRows();
        if (folders_.size() > kMaximum) {
            beginRemoveRows({}, kMaximum, kMaximum);
            folders_.removeLast();
            endRemoveRows();
        }
    }
    Q_EMIT foldersChanged(folders_);
}

void RecentModels::replace(const QString& folder, const QString& now) {
    forget(folder);
    note(now);
}

void RecentModels::check(const QString& chosen) {
    QStringList wanted = folders_;
    if (!chosen.isEmpty() && !wanted.contains(chosen)) {
        wanted.append(chosen);
    }
    // Nobody asks a server only to fill a list.
    wanted.removeIf(
        [](const QString& folder) { return engine::isServerModel(folder.toStdString()); });
    if (!wanted.isEmpty()) {
        Q_EMIT checkRequested(wanted);
    }
}

void RecentModels::showFacts(const FolderFactsByPath& facts) {
    facts_ = facts;
    if (!folders_.isEmpty()) {
        Q_EMIT dataChanged(index(0), index(static_cast<int>(folders_.size()) - 1));
    }
    Q_EMIT factsChanged();
}

void RecentModels::forget(const QString& folder) {
    const auto at = folders_.indexOf(folder);
    if (at >= 0) {
        beginRemoveRows({}, static_cast<int>(at), static_cast<int>(at));
        folders_.removeAt(at);
        endRemoveRows();
        Q_EMIT foldersChanged(folders_);
    }
}

} // namespace ui
