// SPDX-License-Identifier: Apache-2.0
// The program is asked to end by the system (SIGTERM) and ends as if its user had closed it: exit
// code 0, and the next start does not take it for a crash. SIGKILL is one.
#include "app/store/chat_store.h"
#include "tests/support/program/test_class.h"

#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QFileInfo>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

class TestEndSignal : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void endsCleanly_data();
    void endsCleanly();
};

void TestEndSignal::endsCleanly_data() {
    QTest::addColumn<bool>("is_asked");
    QTest::newRow("asked") << true;
    QTest::newRow("killed") << false;
}

void TestEndSignal::endsCleanly() {
    QFETCH(bool, is_asked);
    QTemporaryDir home;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    for (const char* name : {"XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "HOME"}) {
        environment.insert(QString::fromLatin1(name), home.path());
    }
    environment.insert(QStringLiteral("QT_QPA_PLATFORM"), QStringLiteral("offscreen"));
    QProcess program;
    program.setProcessEnvironment(environment);
    program.start(QStringLiteral(BELFRY_PROGRAM), {home.path()});
    QVERIFY(program.waitForStarted());
    // Ready once its log says that the window was shown.
    const auto log = [&]() -> QString {
        QDirIterator files(home.path(), {QStringLiteral("belfry.log")}, QDir::Files,
                           QDirIterator::Subdirectories);
        return files.hasNext() ? files.next() : QString();
    };
    QTRY_VERIFY_WITH_TIMEOUT(!log().isEmpty(), 20000);
    const QString folder = QFileInfo(log()).absolutePath();
    QTRY_VERIFY_WITH_TIMEOUT(QFile::exists(folder + QStringLiteral("/chats.sqlite")), 20000);
    QFile words(log());
    QVERIFY(words.open(QIODevice::ReadOnly));
    QByteArray said;
    QTRY_VERIFY_WITH_TIMEOUT((said += words.readAll()).contains("window shown"), 20000);
    is_asked ? program.terminate() : program.kill();
    QVERIFY(program.waitForFinished(20000));
    if (is_asked) {
        QCOMPARE(program.exitStatus(), QProcess::NormalExit);
        QCOMPARE(program.exitCode(), 0);
    }
    app::registerStoreTypes();
    app::ChatStoreThread store(app::StoreOptions{folder, {}});
    bool is_read = false;
    bool is_over = false; // written at the end only
    connect(store.store(), &app::ChatStore::sessionRead, this,
            [&](const app::PreviousSession& previous) {
                is_read = true;
                is_over = previous.exists && previous.state.is_over && !previous.hasCrashed();
            });
    QMetaObject::invokeMethod(store.store(), &app::ChatStore::open);
    QTRY_VERIFY(is_read);
    QCOMPARE(is_over, is_asked);
}

TEST_CLASS_WITH(QApplication, TestEndSignal)
#include "tst_end_signal.moc"
