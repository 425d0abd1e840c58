// SPDX-License-Identifier: Apache-2.0
// Writes an exported chat where the user wants it: the text in one file, its pictures and sounds
// in a folder beside it, named as the user called them; and reads such a chat back.
#pragma once

#include "engine/base/result.h"
#include "ui/chat/chat_export.h"

#include <QString>

namespace app {

/// Replaces `file` in one step. Attachments go to "NAME_files" beside it and are linked from
/// there; one that is missing keeps its name in the text. Errors name file and reason.
engine::Result<void>
writeExport(ui::ChatDocument chat, const QString& file, ui::ExportFormat format);

/// A chat that writeExport() wrote as JSON, with new ids and the files that lie in its folder;
/// files elsewhere are left out, their names stay. Errors: a file that cannot be read, is not
/// JSON, or holds no chat of ours; the message says which and what to choose.
engine::Result<ui::ChatDocument> readExport(const QString& file);

} // namespace app
