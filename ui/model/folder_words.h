// SPDX-License-Identifier: Apache-2.0
// Names of the folders of models and adapters, and two things that are told of them often.
#pragma once

#include "engine/api/error.h"

#include <QString>
#include <QStringList>

namespace ui {

/// Why a folder with a readable config.json cannot be loaded.
QString weightsProblem();

/// Why an adapter was refused in one plain sentence; empty where only its message tells.
QString adapterProblem(const engine::Error& error);

/// A folder's path as parts, for names: a snapshot of the hub's cache (models--OWNER--NAME,
/// snapshots, COMMIT) is OWNER, NAME there, because its own name says nothing; a GGUF file has no
/// ending.
QStringList namingParts(const QString& folder);

/// The folder's own name; where one of `others` has the same, with the nearest folder above that
/// tells them apart: "model (in old)".
QString folderName(const QString& folder, const QStringList& others);

/// The same for an adapter. A name that any adapter may have says nothing: it comes behind the
/// folder above, "tuned-on-notes/checkpoint-500".
QString adapterName(const QString& folder, const QStringList& others);

} // namespace ui
