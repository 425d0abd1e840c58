// SPDX-License-Identifier: Apache-2.0
// The engine speaks to both programs and names options as the terminal's user writes them. In the
// window they have other names, and nobody can type them there.
#pragma once

#include <QString>

#include <string>

namespace ui {

/// The engine's text with the window's names for what a command line calls --quant, --context, ...
/// A path or a name that looks like one of these options stays as it is.
QString engineWords(const QString& text);
QString engineWords(const std::string& text);

} // namespace ui
