// SPDX-License-Identifier: Apache-2.0
// kill -9 at random moments of a chat: nothing that was acknowledged is lost, the file is sound,
// the next session goes on in the same folder. 25 kills by default, BELFRY_KILLS sets the number
// (the release check runs 300).
#include "app/store/chat_database.h"
#include "tests/app/store/sample_chats.h"
#include "tests/support/program/test_class.h"

#include <QDirIterator>
#include <QFile>
#include <QHash>
#include <QProcess>
#include <QRandomGenerator>
#include <QTemporaryDir>
#include <QTest>

class TestKill : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void nothingAcknowledgedIsLost();
};

void TestKill::nothingAcknowledgedIsLost() {
    bool is_number = false;
    const int wanted = qEnvironmentVariableIntValue("BELFRY_KILLS", &is_number);
    const int kills = is_number ? wanted : 25;
    const QTemporaryDir folder;
    QRandomGenerator random(7);
    QHash<QString, int> acknowledged; // chat -> turns on disk
    qint64 total = 0;
    int killed_while_writing = 0;
    for (int round = 0; round < kills; ++round) {
        QProcess writer;
        writer.start(QStringLiteral(BELFRY_KILL_WRITER), {folder.path()});
        QVERIFY(writer.waitForStarted());
        // From before the file is open to the middle of a chat; the moment itself is chance.
        const int pause_ms = random.bounded(120);
        if (round % 5 != 0) {
            QVERIFY2(writer.waitForReadyRead(20'000),
                     qPrintable(QString::fromUtf8(writer.readAllStandardError())));
        }
        writer.waitForFinished(pause_ms); // a pause that reads what comes
        QVERIFY2(writer.state() == QProcess::Running,
                 qPrintable(QString::fromUtf8(writer.readAllStandardError())));
        writer.kill(); // SIGKILL
        QVERIFY(writer.waitForFinished());
        const QByteArrayList lines = writer.readAllStandardOutput().split('\n');
        for (qsizetype i = 0; i + 1 < lines.size(); ++i) { // the last one may be half a line
            const QByteArrayList words = lines.at(i).split(' ');
            QCOMPARE(words.size(), 3);
            acknowledged.insert(QString::fromLatin1(words.at(1)), words.at(2).toInt());
            ++total;
        }
        killed_while_writing +=
            QFileInfo(folder.filePath(QStringLiteral("chats.sqlite-wal"))).size() > 0 ? 1 : 0;
        app::ChatDatabase database({folder.path(), {}});
        const auto opened = database.open();
        VERIFY_VALUE(opened);
        QVERIFY2(opened->message.isEmpty(), qPrintable(opened->message));
        // All chats every tenth time and at the end, else those of this round.
        const bool is_full = round % 10 == 9 || round + 1 == kills;
        for (auto entry = acknowledged.cbegin(); entry != acknowledged.cend(); ++entry) {
            if (!is_full && entry.value() == 24) {
                continue;
            }
            const auto chat = database.load(entry.key());
            QVERIFY2(chat.has_value(), qPrintable(entry.key()));
            QVERIFY2(chat->turns.size() >= static_cast<size_t>(entry.value()),
                     qPrintable(QStringLiteral("%1: %2 of %3 turns in round %4")
                                    .arg(entry.key())
                                    .arg(chat->turns.size())
                                    .arg(entry.value())
                                    .arg(round)));
            for (int i = 0; i < entry.value(); ++i) {
                const ui::ChatTurn& turn = chat->turns[static_cast<size_t>(i)];
                const ui::ChatTurn expected = support::sampleTurn(entry.key(), i);
                QCOMPARE(turn.text, expected.text);
                QCOMPARE(turn.finish_reason, expected.finish_reason);
                QCOMPARE(turn.seed, expected.seed);
                if (i % 8 == 0) {
                    QCOMPARE(turn.attachments.size(), size_t{1});
                    QFile file(turn.attachments[0].file);
                    QVERIFY(file.fileName().contains(QStringLiteral("/attachments/")));
                    QCOMPARE(file.size(), qint64(20'000 + i));
                }
            }
        }
    }
    qInfo("%d kills, %d of them with a write-ahead log left, %lld acknowledged turns in %lld "
          "chats, 0 lost",
          kills, killed_while_writing, total, static_cast<long long>(acknowledged.size()));
    QVERIFY(total >= kills / 2); // four of five wait for at least one turn
    QVERIFY(killed_while_writing > kills / 2);
}

TEST_CLASS_WITH(QCoreApplication, TestKill)
#include "tst_kill.moc"
