// SPDX-License-Identifier: Apache-2.0
#include "ui/common/shortcuts.h"

#include <QApplication>
#include <QWidget>

#include <algorithm>

namespace ui {

namespace {

struct Shortcuts {
    Q_DECLARE_TR_FUNCTIONS(Shortcuts)
};

constexpr const char* kToolTipText = "belfryKeyToolTip";
constexpr const char* kToolTipAction = "belfryKeyToolTipAction";

/// The user's keys: one per program, touched by the GUI thread only.
ShortcutKeys& userKeys() {
    static ShortcutKeys keys;
    return keys;
}

void refreshToolTip(QWidget* widget) {
    widget->setToolTip(withKeys(widget->property(kToolTipText).toString(),
                                widget->property(kToolTipAction).toString()));
}

QKeySequence keys(const char* portable) {
    return QKeySequence(QString::fromLatin1(portable), QKeySequence::PortableText);
}

std::vector<Shortcut> usualShortcuts() {
    const QString window = Shortcuts::tr("Window");
    const QString model = Shortcuts::tr("Model");
    const QString chat = Shortcuts::tr("Chat");
    const QString layout = layoutGroup();
    const auto id = [](const char* name) { return QString::fromLatin1(name); };
    return {
        {id("chooseFolder"), model, Shortcuts::tr("Choose a model folder"), {keys("Ctrl+O")}},
        {id("modelPanel"), model, Shortcuts::tr("Models and load options"), {keys("Ctrl+Shift+M")}},
        {id("library"), model, Shortcuts::tr("Library of models"), {keys("Ctrl+Shift+L")}},
        {id("getModel"), model, Shortcuts::tr("Get a model"), {keys("Ctrl+Shift+G")}},
        {id("whatFits"), model, Shortcuts::tr("Draw what fits"), {keys("Ctrl+Shift+F")}},
        {id("load"), model, Shortcuts::tr("Load the chosen model"), {keys("Ctrl+L")}},
        {id("eject"), model, Shortcuts::tr("Eject the model"), {keys("Ctrl+Shift+E")}},
        {id("newChat"), chat, Shortcuts::tr("New chat"), {keys("Ctrl+N"), keys("Ctrl+Shift+O")}},
        {id("searchChats"), chat, Shortcuts::tr("Search chats"), {keys("Ctrl+K")}},
        {id("find"), chat, Shortcuts::tr("Find in the chat"), {keys("Ctrl+F")}},
        {id("findNext"), chat, Shortcuts::tr("Next hit"), {keys("F3")}},
        {id("findPrevious"), chat, Shortcuts::tr("Previous hit"), {keys("Shift+F3")}},
        {QString(), chat, Shortcuts::tr("Send the message"), {keys("Return")}},
        {QString(), chat, Shortcuts::tr("New line in the message"), {keys("Shift+Return")}},
        {QString(), chat, Shortcuts::tr("Send after the running reply"), {keys("Ctrl+Return")}},
        {id("attach"), chat, Shortcuts::tr("Attach a picture or a sound"), {keys("Ctrl+U")}},
        {id("record"),
         chat,
         Shortcuts::tr("Record from the microphone, again to use it"),
         {keys("Ctrl+Shift+R")}},
        {QString(), chat, Shortcuts::tr("Play or pause the sound in focus"), {keys("Space")}},
        {QString(),
         chat,
         Shortcuts::tr("Five seconds forward or back in the sound in focus"),
         {keys("PgUp"), keys("PgDown")}},
        {QString(), chat, Shortcuts::tr("Stop the reply or the load"), {keys("Esc")}},
        {id("regenerate"), chat, Shortcuts::tr("Regenerate the last reply"), {keys("Ctrl+R")}},
        {id("continueReply"),
         chat,
         Shortcuts::tr("Continue a reply that was cut short"),
         {keys("Alt+Return")}},
        {id("versionBefore"),
         chat,
         Shortcuts::tr("Show the version before of a message"),
         {keys("Alt+Left")}},
        {id("versionAfter"),
         chat,
         Shortcuts::tr("Show the version after of a message"),
         {keys("Alt+Right")}},
        {id("copyCode"), chat, Shortcuts::tr("Copy the last code block"), {keys("Ctrl+Shift+C")}},
        {id("deleteChat"),
         chat,
         Shortcuts::tr("Delete the chat (can be undone)"),
         {keys("Ctrl+Shift+Backspace")}},
        {QString(),
         chat,
         Shortcuts::tr("Edit the message, or rename the chat in the list"),
         {keys("F2")}},
        {id("showChat"), window, Shortcuts::tr("Show the chat"), {keys("Ctrl+1")}},
        {id("showLayout"),
         window,
         Shortcuts::tr("Show the layout"),
         {keys("Ctrl+2"), keys("Ctrl+M")}},
        {id("showBoth"), window, Shortcuts::tr("Show both side by side"), {keys("Ctrl+3")}},
        {id("toggleSidebar"),
         window,
         Shortcuts::tr("Show or hide the list of chats"),
         {keys("Ctrl+B")}},
        {id("toggleMeter"),
         window,
         Shortcuts::tr("Show or hide the memory meter"),
         {keys("Ctrl+Shift+B")}},
        {QString(),
         layout,
         Shortcuts::tr("Go from block to block"),
         {keys("Left"), keys("Right"), keys("Up"), keys("Down")}},
        {QString(), layout, Shortcuts::tr("Pick the block up to move it"), {keys("M")}},
        {QString(),
         layout,
         Shortcuts::tr("Choose the device for it: by an arrow, or the first to the ninth"),
         {keys("1"), keys("9")}},
        {QString(), layout, Shortcuts::tr("Put it down there"), {keys("Return")}},
        {QString(), layout, Shortcuts::tr("Leave it where it was"), {keys("Esc")}},
        {QString(), layout, Shortcuts::tr("Split a block of layers"), {keys("S")}},
        {QString(), layout, Shortcuts::tr("Join it with its neighbour"), {keys("J")}},
        {QString(), layout, Shortcuts::tr("Menu of the block"), {keys("Space")}},
        {id("applyLayout"), layout, Shortcuts::tr("Apply the layout"), {keys("Ctrl+Return")}},
        {id("undoLayout"), layout, Shortcuts::tr("Undo"), {keys("Ctrl+Z")}},
        {id("redoLayout"), layout, Shortcuts::tr("Redo"), {keys("Ctrl+Shift+Z"), keys("Ctrl+Y")}},
        {id("zoomIn"), window, Shortcuts::tr("Larger text"), {keys("Ctrl++"), keys("Ctrl+=")}},
        {id("zoomOut"), window, Shortcuts::tr("Smaller text"), {keys("Ctrl+-")}},
        {id("zoomReset"), window, Shortcuts::tr("Normal text size"), {keys("Ctrl+0")}},
        {id("settings"), window, Shortcuts::tr("Settings"), {keys("Ctrl+,")}},
        {id("computer"), window, Shortcuts::tr("This computer"), {keys("Ctrl+Shift+H")}},
        {id("diagnostics"), window, Shortcuts::tr("Log and report"), {keys("Ctrl+Shift+I")}},
        {id("shortcuts"),
         window,
         Shortcuts::tr("Keyboard shortcuts"),
         {keys("F1"), keys("Ctrl+/")}},
        {id("quit"), window, Shortcuts::tr("Close Belfry"), {keys("Ctrl+Q")}},
    };
}

} // namespace

QString layoutGroup() {
    return Shortcuts::tr("Layout");
}

std::vector<Shortcut> shortcuts() {
    std::vector<Shortcut> all = usualShortcuts();
    for (Shortcut& shortcut : all) {
        shortcut.usual = shortcut.keys;
        const auto own = userKeys().constFind(shortcut.action);
        if (!shortcut.isFixed() && own != userKeys().constEnd()) {
            shortcut.keys.clear();
            for (const QString& text : own.value()) {
                shortcut.keys.append(QKeySequence(text, QKeySequence::PortableText));
            }
        }
    }
    return all;
}

void setShortcutKeys(const ShortcutKeys& keys) {
    userKeys() = keys;
    const QWidgetList widgets = QApplication::allWidgets();
    for (QWidget* widget : widgets) {
        if (widget->property(kToolTipAction).isValid()) {
            refreshToolTip(widget);
        }
    }
}

const ShortcutKeys& shortcutKeys() {
    return userKeys();
}

QString shortcutProblem(const QString& action, const QKeySequence& keys) {
    if (keys.isEmpty()) {
        return {};
    }
    const QKeyCombination first = keys[0];
    const bool has_modifier = (first.keyboardModifiers() &
                               (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier)) != 0;
    const bool is_function_key = first.key() >= Qt::Key_F1 && first.key() <= Qt::Key_F35;
    if (!has_modifier && !is_function_key) {
        return Shortcuts::tr("Keys that also type text need Ctrl or Alt.");
    }
    for (const char* editing : {"Ctrl+C", "Ctrl+V", "Ctrl+X", "Ctrl+A"}) {
        if (keys == QKeySequence(QString::fromLatin1(editing), QKeySequence::PortableText)) {
            return Shortcuts::tr("%1 is needed for editing text.")
                .arg(keys.toString(QKeySequence::NativeText));
        }
    }
    // Chat and layout read their own keys; the others act everywhere.
    const std::vector<Shortcut> all = shortcuts();
    const auto of =
        std::find_if(all.begin(), all.end(), [&](const Shortcut& s) { return s.action == action; });
    const bool is_layout = of != all.end() && of->group == layoutGroup();
    for (const Shortcut& shortcut : all) {
        const bool meets = !is_layout || shortcut.group == of->group;
        if (shortcut.isFixed() && meets && shortcut.keys.contains(keys)) {
            return Shortcuts::tr("%1 always means: %2")
                .arg(keys.toString(QKeySequence::NativeText), shortcut.text);
        }
    }
    return {};
}

QString shortcutOwner(const QString& action, const QKeySequence& keys) {
    for (const Shortcut& shortcut : shortcuts()) {
        if (!shortcut.isFixed() && shortcut.action != action && shortcut.keys.contains(keys)) {
            return shortcut.action;
        }
    }
    return {};
}

QString withKeys(const QString& text, const QString& action) {
    const QString keys = shortcutText(action);
    return keys.isEmpty() ? text : QStringLiteral("%1 (%2)").arg(text, keys);
}

void setKeyToolTip(QWidget* widget, const QString& text, const QString& action) {
    widget->setProperty(kToolTipText, text);
    widget->setProperty(kToolTipAction, action);
    refreshToolTip(widget);
}

QString shortcutText(const QString& action) {
    for (const Shortcut& shortcut : shortcuts()) {
        if (shortcut.action == action && !shortcut.keys.isEmpty()) {
            return shortcut.keys.first().toString(QKeySequence::NativeText);
        }
    }
    return {};
}

} // namespace ui
