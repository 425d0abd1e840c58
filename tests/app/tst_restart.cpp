// SPDX-License-Identifier: Apache-2.0
// The restart itself, with real processes: the program that lost its card starts another one in its
// place, which goes on where that was: the chat with the half reply, the model with its layout,
// loaded again. And a process that dies while loading: the next one does not choose what it died
// of.
#include "tests/support/program/test_class.h"

#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QProcessEnvironment>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>

namespace {

constexpr int kRestartLongestMs = 90'000;

/// Where the program keeps what it keeps, empty as at its first start.
QProcessEnvironment environmentIn(const QTemporaryDir& folder) {
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    for (const char* name : {"XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"}) {
        environment.insert(QString::fromLatin1(name), folder.path());
    }
    environment.insert(QStringLiteral("BELFRY_TEST_REPORTS"), folder.path());
    environment.insert(QStringLiteral("BELFRY_TEST_SESSION"),
                       folder.filePath(QStringLiteral("Belfry/Belfry/session.json")));
#ifdef _WIN32 // where no variable says where the user's folders are: the program takes those of
              // tests
    QStandardPaths::setTestModeEnabled(true);
    QDir data(QStandardPaths::writableLocation(QStandardPaths::GenericDataLocation) +
              QStringLiteral("/Belfry"));
    data.removeRecursively();
    environment.insert(QStringLiteral("BELFRY_TEST_SESSION"),
                       data.filePath(QStringLiteral("Belfry/session.json")));
#endif
    environment.insert(QStringLiteral("LC_ALL"), QStringLiteral("C.UTF-8"));
    environment.remove(QStringLiteral("APPIMAGE"));
    return environment;
}

QJsonObject report(const QTemporaryDir& folder, int number) {
    QFile file(folder.filePath(QStringLiteral("%1.json").arg(number)));
    return file.open(QIODevice::ReadOnly) ? QJsonDocument::fromJson(file.readAll()).object()
                                          : QJsonObject();
}

QString text(const QJsonObject& object, const char* key) {
    return object.value(QString::fromLatin1(key)).toString();
}

} // namespace

class TestRestart : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void afterALostCard_data();
    void afterALostCard();
    void afterACrashWhileLoading();
};

void TestRestart::afterALostCard_data() {
    QTest::addColumn<bool>("is_on_cpu");
    QTest::newRow("at once") << false;
    QTest::newRow("after a while on the processor") << true;
}

void TestRestart::afterALostCard() {
    QFETCH(bool, is_on_cpu);
    const QTemporaryDir folder;
    QProcess program;
    QProcessEnvironment environment = environmentIn(folder);
    if (is_on_cpu) {
        environment.insert(QStringLiteral("BELFRY_TEST_ON_CPU"), QStringLiteral("1"));
    }
    program.setProcessEnvironment(environment);
    program.setProcessChannelMode(QProcess::ForwardedErrorChannel);
    program.start(QStringLiteral(BELFRY_RESTART_PROGRAM), QStringList());
    QVERIFY(program.waitForFinished(kRestartLongestMs));
    QCOMPARE(program.exitStatus(), QProcess::NormalExit);
    QCOMPARE(program.exitCode(), 0);
    const QJsonObject before = report(folder, 1);
    QVERIFY(!before.isEmpty());
    QCOMPARE(text(before, "offer"), QStringLiteral("Restart Belfry"));
    // The process that was started in its place works on its own, and ends by itself.
    QTRY_VERIFY_WITH_TIMEOUT(QFile::exists(folder.filePath(QStringLiteral("4.json"))),
                             kRestartLongestMs);
    const QJsonObject after = report(folder, 2);
    QVERIFY(after.value(QStringLiteral("process")) != before.value(QStringLiteral("process")));
    QVERIFY(!text(before, "chat").isEmpty());
    QCOMPARE(text(after, "chat"), text(before, "chat"));
    // What was answered is there; what was asked of the dead card is too, with the half answer.
    const QJsonArray turns = before.value(QStringLiteral("turns")).toArray();
    QCOMPARE(turns.size(), is_on_cpu ? 6 : 4);
    QVERIFY(!turns.at(3).toString().isEmpty());
    QCOMPARE(after.value(QStringLiteral("turns")).toArray(), turns);
    // Chosen as it was, with the tower where the user had put it, and loaded without a word: not
    // on the processor that stood in for the card.
    QCOMPARE(text(after, "model"), QStringLiteral("demo"));
    QCOMPARE(text(after, "vision"), QStringLiteral("cpu"));
    QCOMPARE(text(after, "layer"), QStringLiteral("cuda:0"));
    const QJsonObject again = report(folder, 3);
    QVERIFY(again.value(QStringLiteral("loaded")).toBool());
    QVERIFY(again.value(QStringLiteral("turns")).toArray().size() > turns.size());
}

void TestRestart::afterACrashWhileLoading() {
    const QTemporaryDir folder;
    QProcessEnvironment environment = environmentIn(folder);
    environment.insert(QStringLiteral("BELFRY_TEST_CRASH"), QStringLiteral("1"));
    for (const bool is_first : {true, false}) {
        QProcess program;
        program.setProcessEnvironment(environment);
        program.setProcessChannelMode(QProcess::ForwardedErrorChannel);
        program.start(QStringLiteral(BELFRY_RESTART_PROGRAM), QStringList());
        QVERIFY(program.waitForFinished(kRestartLongestMs));
#ifdef _WIN32 // where who is ended from outside has an exit code of his own
        QCOMPARE(program.exitCode() != 0, is_first);
#else
        QCOMPARE(program.exitStatus(), is_first ? QProcess::CrashExit : QProcess::NormalExit);
#endif
    }
    const QJsonObject after = report(folder, 2);
    QVERIFY(!after.isEmpty());
    QCOMPARE(text(after, "model"), QString());
    QVERIFY(!after.value(QStringLiteral("loaded")).toBool());
    QCOMPARE(text(after, "offer"), QStringLiteral("Choose it again"));
}

TEST_CLASS_WITH(QApplication, TestRestart)
#include "tst_restart.moc"
