// SPDX-License-Identifier: Apache-2.0
// The window's language: translations compiled into the program, and number formats to match.
#pragma once

#include <QApplication>
#include <QString>
#include <QStringList>

namespace app {

/// Makes :/translations known; installTranslations() does it by itself.
void initTranslationResources();
/// Languages with a complete translation besides English: "de", "fr".
QStringList translatedLanguages();
/// `language` empty follows the system. Call before the first widget.
void installTranslations(QApplication& application, const QString& language);

} // namespace app
