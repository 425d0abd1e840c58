// SPDX-License-Identifier: Apache-2.0
// Writes an exported chat where the user wants it: the text in one file, its pictures and sounds
// in a folder beside it, named as the user called them; and reads such a chat back.
#pragma once

#include "app/store/attachment_files.h"
#include "engine/base/result.h"
#include "ui/chat/chat_export.h"

#include <QString>
#include <QStringList>

#include <functional>

namespace app {

/// Replaces `file` in one step. Attachments go to "NAME_files" beside it and are linked from
/// there; one that is missing keeps its name in the text. Errors name file and reason.
engine::Result<void>
writeExport(ui::ChatDocument chat, const QString& file, ui::ExportFormat format);

/// Copies one opened file of an import to where attachments are kept.
using TakeAttachment =
    std::function<engine::Result<StoredFile>(QFile& opened, const QString& name)>;

/// A chat that writeExport() wrote as JSON, with new ids and the files that lie in its folder. An
/// export may come from anybody: only regular files of that folder are taken, not through links,
/// only pictures and sounds (by their content) and no more of them than kMostImported bytes. The
/// names of all others stay; `notes` receives why they were left out. Errors: a file that cannot
/// be read, is not JSON, or holds no chat of ours; the message says which and what to choose.
engine::Result<ui::ChatDocument>
readExport(const QString& file, const TakeAttachment& take, QStringList& notes);

/// Bytes of all pictures and sounds of one imported chat.
inline constexpr qint64 kMostImported = qint64{2} << 30U;

} // namespace app
