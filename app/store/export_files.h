// SPDX-License-Identifier: Apache-2.0
// Writes an exported chat where the user wants it: the text in one file, its pictures and sounds
// in a folder beside it, named as the user called them.
#pragma once

#include "engine/base/result.h"
#include "ui/chat/chat_export.h"

#include <QString>

namespace app {

/// Replaces `file` in one step. Attachments go to "NAME_files" beside it and are linked from
/// there; one that is missing keeps its name in the text. Errors name file and reason.
engine::Result<void>
writeExport(ui::ChatDocument chat, const QString& file, ui::ExportFormat format);

} // namespace app
