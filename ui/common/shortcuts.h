// SPDX-License-Identifier: Apache-2.0
// Every keyboard shortcut of the program in one list: the window makes its actions from it, the
// overview (F1) shows it, a test looks for two actions on the same keys.
#pragma once

#include <QKeySequence>
#include <QList>
#include <QMap>
#include <QString>
#include <QStringList>

#include <vector>

class QWidget;

namespace ui {

struct Shortcut {
    /// Stable name: of the action in the window, or of the QShortcut "shortcut_NAME" of a pane.
    /// Empty for keys that cannot be changed, because a pane reads them itself.
    QString action;
    QString group;                  ///< Translated heading in the overview.
    QString text;                   ///< Translated: what it does.
    QList<QKeySequence> keys;       ///< In force now.
    QList<QKeySequence> usual = {}; ///< Keys in a new installation.

    [[nodiscard]] bool isFixed() const { return action.isEmpty(); }
};

/// Keys of the user's own by action, as portable text; an empty list is an action without keys.
using ShortcutKeys = QMap<QString, QStringList>;

/// The heading of the layout's keys: those act while it has the focus, all others everywhere.
QString layoutGroup();
/// In the order of the overview, with the user's keys. Translated, so call it after the translator
/// is installed.
std::vector<Shortcut> shortcuts();
/// Keys of one action, for tool tips: "Ctrl+N"; empty when it has none.
QString shortcutText(const QString& action);
/// The user's keys, in force for shortcuts() from now on. Tool tips with keys follow.
void setShortcutKeys(const ShortcutKeys& keys);
const ShortcutKeys& shortcutKeys();

/// What speaks against `keys` for `action`, translated; empty when nothing does. A collision with
/// another action that could give the keys up is told by shortcutOwner() instead.
QString shortcutProblem(const QString& action, const QKeySequence& keys);
/// Another changeable action that has these keys now; empty when none.
QString shortcutOwner(const QString& action, const QKeySequence& keys);

/// Words with the keys of an action in brackets behind them, or without, when it has none.
QString withKeys(const QString& text, const QString& action);

/// A tool tip that ends with the keys of `action`, also after they were changed.
void setKeyToolTip(QWidget* widget, const QString& text, const QString& action);

} // namespace ui
