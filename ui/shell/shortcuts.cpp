// SPDX-License-Identifier: Apache-2.0
#include "ui/shell/shortcuts.h"

#include <QCoreApplication>

namespace ui {

namespace {

struct Shortcuts {
    Q_DECLARE_TR_FUNCTIONS(Shortcuts)
};

QKeySequence keys(const char* portable) {
    return QKeySequence(QString::fromLatin1(portable), QKeySequence::PortableText);
}

} // namespace

std::vector<Shortcut> shortcuts() {
    const QString window = Shortcuts::tr("Window");
    const QString model = Shortcuts::tr("Model");
    const QString chat = Shortcuts::tr("Chat");
    const QString layout = Shortcuts::tr("Layout");
    const auto id = [](const char* name) { return QString::fromLatin1(name); };
    return {
        {id("chooseFolder"), model, Shortcuts::tr("Choose a model folder"), {keys("Ctrl+O")}},
        {id("modelPanel"), model, Shortcuts::tr("Models and load options"), {keys("Ctrl+Shift+M")}},
        {id("load"), model, Shortcuts::tr("Load the chosen model"), {keys("Ctrl+L")}},
        {id("eject"), model, Shortcuts::tr("Eject the model"), {keys("Ctrl+Shift+E")}},
        {id("newChat"), chat, Shortcuts::tr("New chat"), {keys("Ctrl+N"), keys("Ctrl+Shift+O")}},
        {id("searchChats"), chat, Shortcuts::tr("Search chats"), {keys("Ctrl+K")}},
        {QString(), chat, Shortcuts::tr("Send the message"), {keys("Return")}},
        {QString(), chat, Shortcuts::tr("New line in the message"), {keys("Shift+Return")}},
        {QString(), chat, Shortcuts::tr("Attach a picture or a sound"), {keys("Ctrl+U")}},
        {id("stop"), chat, Shortcuts::tr("Stop the reply or the load"), {keys("Esc")}},
        {QString(), chat, Shortcuts::tr("Regenerate the last reply"), {keys("Ctrl+R")}},
        {id("deleteChat"),
         chat,
         Shortcuts::tr("Delete the chat (can be undone)"),
         {keys("Ctrl+Shift+Backspace")}},
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
        {QString(), layout, Shortcuts::tr("Move the block to another device"), {keys("M")}},
        {QString(), layout, Shortcuts::tr("Apply the layout"), {keys("Ctrl+Return")}},
        {QString(), layout, Shortcuts::tr("Undo"), {keys("Ctrl+Z")}},
        {QString(), layout, Shortcuts::tr("Redo"), {keys("Ctrl+Shift+Z")}},
        {id("zoomIn"), window, Shortcuts::tr("Larger text"), {keys("Ctrl++"), keys("Ctrl+=")}},
        {id("zoomOut"), window, Shortcuts::tr("Smaller text"), {keys("Ctrl+-")}},
        {id("zoomReset"), window, Shortcuts::tr("Normal text size"), {keys("Ctrl+0")}},
        {id("settings"), window, Shortcuts::tr("Settings"), {keys("Ctrl+,")}},
        {id("diagnostics"), window, Shortcuts::tr("Log and report"), {keys("Ctrl+Shift+I")}},
        {id("shortcuts"), window, Shortcuts::tr("This overview"), {keys("F1"), keys("Ctrl+/")}},
        {id("quit"), window, Shortcuts::tr("Close Belfry"), {keys("Ctrl+Q")}},
    };
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
