// SPDX-License-Identifier: Apache-2.0
// Every keyboard shortcut of the program in one list: the window makes its actions from it, the
// overview (F1) shows it, a test looks for two actions on the same keys.
#pragma once

#include <QKeySequence>
#include <QList>
#include <QString>

#include <vector>

namespace ui {

struct Shortcut {
    /// Name of the action in the window; empty for keys that a pane handles itself.
    QString action;
    QString group; ///< Translated heading in the overview.
    QString text;  ///< Translated: what it does.
    QList<QKeySequence> keys;
};

/// In the order of the overview. Translated, so call it after the translator is installed.
std::vector<Shortcut> shortcuts();
/// Keys of one action, for tool tips: "Ctrl+N".
QString shortcutText(const QString& action);

} // namespace ui
