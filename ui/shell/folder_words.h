// SPDX-License-Identifier: Apache-2.0
// Why a model's or an adapter's folder cannot be used, in the user's language, for what happens
// often: no model in it, a model of another kind, a file that is missing, a folder that is gone.
#pragma once

#include "engine/api/error.h"
#include "ui/shell/folder_facts.h"

#include <QString>
#include <QStringList>

namespace ui {

/// What is not known here stays as the engine wrote it. What lies there says most: a file of
/// another program is named for what it is.
QString folderProblem(const engine::Error& error, const FolderFacts& facts);

/// Why a folder with a readable config.json cannot be loaded: its weights are not there, or are in
/// another form.
QString weightsProblem(const FolderFacts& facts);

/// Why an adapter was refused in one plain sentence; empty where only its message tells.
QString adapterProblem(const engine::Error& error);

/// A folder's path as parts, for names: a snapshot of the hub's cache (models--OWNER--NAME,
/// snapshots, COMMIT) is OWNER, NAME there, because its own name says nothing.
QStringList namingParts(const QString& folder);

/// The folder's own name; where one of `others` has the same, with the nearest folder above that
/// tells them apart: "model (in old)".
QString folderName(const QString& folder, const QStringList& others);

/// The same for an adapter. A name that any adapter may have says nothing: it comes behind the
/// folder above, "tuned-on-notes/checkpoint-500".
QString adapterName(const QString& folder, const QStringList& others);

} // namespace ui
