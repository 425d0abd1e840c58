// SPDX-License-Identifier: Apache-2.0
// What a list of models tells of a folder without opening the model. Read by app/ on a thread that
// may wait for a drive.
#pragma once

#include <QHash>
#include <QMetaType>
#include <QString>

namespace ui {

struct FolderFacts {
    bool is_missing = false; ///< Nothing is there.
    QString assistant;       ///< The drafting assistant's folder of a model; empty: none is known.
};

using FolderFactsByPath = QHash<QString, FolderFacts>;

} // namespace ui

Q_DECLARE_METATYPE(ui::FolderFactsByPath)
