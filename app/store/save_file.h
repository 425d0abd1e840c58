// SPDX-License-Identifier: Apache-2.0
// Files of the window written in one step and read with a limit, by the engine's rules: a link is
// followed, only a plain file is replaced, nothing is waited for or read without end.
#pragma once

#include "engine/base/file_writer.h"
#include "engine/base/result.h"

#include <QByteArray>
#include <QString>

namespace app {

/// A crash leaves the old or the new content. Folders on the way are not made.
engine::Result<void> saveFile(const QString& file,
                              const QByteArray& content,
                              engine::NoPlainFile no_plain_file = engine::NoPlainFile::Refuse);

/// Errors as engine::readSmallFile.
engine::Result<QByteArray> readFile(const QString& file, qint64 max_bytes);

/// For a file that a library opens by its name: not a pipe or device in its place, nor one of more
/// than max_bytes. True where nothing is yet.
bool isPlainOrMissing(const QString& file, qint64 max_bytes);

} // namespace app
