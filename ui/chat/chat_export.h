// SPDX-License-Identifier: Apache-2.0
// A chat as text for people (Markdown) and for programs (JSON, see chat_json.h). Pure functions;
// writing the files is the store's work.
#pragma once

#include "ui/chat/chat_document.h"

#include <QByteArray>
#include <QString>

namespace ui {

enum class ExportFormat : quint8 { Markdown = 1, Json };

/// What a file of this format is called by default: the title without characters that a file
/// system refuses, with ".md" or ".json".
QString exportFileName(const QString& title, ExportFormat format);

/// The chat as Markdown: title, settings, one heading per turn, thoughts folded away, pictures and
/// sounds as links to the `file` of the attachments (relative when it is), numbers of each reply.
QString chatToMarkdown(const ChatDocument& chat);

/// The complete file in one of the formats, UTF-8.
QByteArray exportedChat(const ChatDocument& chat, ExportFormat format);

} // namespace ui

Q_DECLARE_METATYPE(ui::ExportFormat)
