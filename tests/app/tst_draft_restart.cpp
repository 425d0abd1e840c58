// SPDX-License-Identifier: Apache-2.0
// What was being written in each chat, with its files, is there again after the program was closed
// and started, and after it was killed; that of a deleted chat comes back with it and not
// otherwise.
#include "tests/app/program_fixture.h"
#include "tests/support/program/test_class.h"
#include "ui/chat/composer.h"
#include "ui/history/history_pane.h"

#include <QFile>
#include <QTemporaryDir>

using support::Program;

class TestDraftRestart : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void draftsComeBack();
};

void TestDraftRestart::draftsComeBack() {
    const QTemporaryDir folder;
    const auto shown = [](Program& program) {
        auto* composer = program.window->findChild<ui::Composer*>();
        return QStringLiteral("%1 +%2").arg(composer->text()).arg(composer->attachments().size());
    };
    QString chat;
    {
        Program program(folder.path());
        QVERIFY(program.choose(QStringLiteral("demo"), "cpu", 4 * support::kGiB));
        QVERIFY(program.load());
        program.ask(QStringLiteral("What is a tower?"));
        QVERIFY(program.waitForReply(2));
        chat = program.chat().chat().id;
        program.input()->setPlainText(QStringLiteral("And how"));
        program.window->takeFiles({program.sample("circles_and_square.png")});
        Q_EMIT program.window->newChatRequested();
        QCOMPARE(shown(program), QStringLiteral(" +0"));
        program.input()->setPlainText(QStringLiteral("Another thing"));
        program.wiring->openChat(chat);
        QTRY_COMPARE(shown(program), QStringLiteral("And how +1"));
    }
    {
        Program program(folder.path());
        QTRY_COMPARE(program.chat().chat().id, chat);
        QTRY_COMPARE(shown(program), QStringLiteral("And how +1"));
        Q_EMIT program.window->newChatRequested();
        QCOMPARE(shown(program), QStringLiteral("Another thing +0"));
        // Deleted, and taken back.
        program.wiring->openChat(chat);
        QTRY_COMPARE(shown(program), QStringLiteral("And how +1"));
        program.window->historyPane()->setCurrentChat(chat);
        program.window->historyPane()->removeCurrent();
        QTRY_COMPARE(shown(program), QStringLiteral("Another thing +0"));
        QVERIFY(!program.chat().drafts().contains(chat));
        program.window->historyPane()->undoRemove();
        QTRY_COMPARE(shown(program), QStringLiteral("And how +1"));
        // On disk a moment after it was typed: nothing waits for an orderly end.
        program.input()->setPlainText(QStringLiteral("And why"));
        const QString session = folder.filePath(QStringLiteral("data/session.json"));
        QTRY_VERIFY_WITH_TIMEOUT(
            [&] {
                QFile file(session);
                return file.open(QIODevice::ReadOnly) && file.readAll().contains("And why");
            }(),
            8000);
    }
}

TEST_CLASS_WITH(QApplication, TestDraftRestart)
#include "tst_draft_restart.moc"
