// SPDX-License-Identifier: Apache-2.0
// One window per data folder: a second start hands its argument over, comes to no window of its own
// and leaves log and session alone. The lock alone first, then the program itself, twice (on
// Windows, where its folders cannot be others than the user's, installer/windows/window_check.sh
// starts it twice).
#include "app/common/core_dumps.h"
#include "app/start/single_instance.h"
#include "tests/support/program/test_class.h"
#include "tests/support/qt_files.h"

#include <QDir>
#include <QDirIterator>
#include <QElapsedTimer>
#include <QFile>
#include <QFileInfo>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QThread>

#ifndef Q_OS_WIN
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

#include <atomic>
#include <cstring>
#include <thread>

using app::SingleInstance;
using Outcome = app::SingleInstance::Outcome;

namespace {

constexpr int kSingleInstanceLongestMs = 30'000;

#ifndef Q_OS_WIN

QProcessEnvironment environmentIn(const QString& home) {
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    for (const char* name : {"XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "HOME"}) {
        environment.insert(QString::fromLatin1(name), home);
    }
    environment.insert(QStringLiteral("QT_QPA_PLATFORM"), QStringLiteral("offscreen"));
    environment.remove(QStringLiteral("BELFRY_CORE_DUMPS"));
    return environment;
}

#endif

/// One start in a thread of its own, because the first one answers from this thread's loop.
Outcome startElsewhere(const QString& folder, const QString& argument, int patience_ms) {
    Outcome outcome = Outcome::Unlocked;
    std::atomic<bool> is_done{false};
    std::thread other([&] {
        SingleInstance instance(folder);
        outcome = instance.claim(argument, QByteArrayLiteral("token-1"), patience_ms);
        is_done = true;
    });
    (void)QTest::qWaitFor([&] { return is_done.load(); }, kSingleInstanceLongestMs);
    other.join();
    return outcome;
}

} // namespace

class TestSingleInstance : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void secondHandsOver_data();
    void secondHandsOver();
    void lockGoesWithItsHolder();
    void foldersAreApart();
    void silentHolder();
    void folderThatCannotBeWritten();
    void hostileWords();
    void programStartedTwice();
    void noCoreDumps();
};

void TestSingleInstance::secondHandsOver_data() {
    QTest::addColumn<QString>("argument");
    QTest::newRow("nothing") << QString();
    QTest::newRow("folder") << QStringLiteral("/models/e2b");
    QTest::newRow("odd letters") << QString::fromUtf8("/modèles/\"日本\"\n\\x");
    QTest::newRow("long path") << QStringLiteral("/") + QString(4000, QLatin1Char('m'));
}

void TestSingleInstance::secondHandsOver() {
    QFETCH(QString, argument);
    const QTemporaryDir home;
    // Longer than the address of a socket can be.
    const QString folder = home.filePath(QString(120, QLatin1Char('d')));
    SingleInstance first(folder);
    QSignalSpy started(&first, &SingleInstance::started);
    QCOMPARE(first.claim({}, {}, 0), Outcome::First);
    for (int i = 0; i < 3; ++i) {
        QCOMPARE(startElsewhere(folder, argument, kSingleInstanceLongestMs), Outcome::HandedOver);
        QTRY_COMPARE(started.size(), i + 1);
        QCOMPARE(started.last().at(0).toString(), argument);
        QCOMPARE(started.last().at(1).toByteArray(), QByteArrayLiteral("token-1"));
    }
#ifndef Q_OS_WIN
    struct stat facts {};
    for (const char* name : {"", "/belfry.lock", "/belfry.socket"}) {
        QCOMPARE(::stat(QFile::encodeName(folder + QString::fromLatin1(name)).constData(), &facts),
                 0);
        QVERIFY2(S_ISSOCK(facts.st_mode) || (facts.st_mode & 077U) == 0, name);
    }
#endif
}

void TestSingleInstance::lockGoesWithItsHolder() {
    const QTemporaryDir home;
    // Another process that holds the lock, does not answer, and is gone after a while.
    const QByteArray lock = QFile::encodeName(home.filePath(QStringLiteral("belfry.lock")));
    QProcess holder;
    holder.start(QStringLiteral("flock"),
                 {QString::fromLocal8Bit(lock), QStringLiteral("sleep"), QStringLiteral("1")});
    if (!holder.waitForStarted()) {
        QSKIP("flock is not installed");
    }
    QTRY_VERIFY(QFile::exists(QString::fromLocal8Bit(lock)));
    QThread::msleep(200);
    QElapsedTimer clock;
    clock.start();
    SingleInstance second(home.path());
    QCOMPARE(second.claim({}, {}, kSingleInstanceLongestMs), Outcome::First);
    QVERIFY(clock.elapsed() < kSingleInstanceLongestMs);
    holder.waitForFinished();
}

void TestSingleInstance::foldersAreApart() {
    const QTemporaryDir one;
    const QTemporaryDir other;
    SingleInstance first(one.path());
    SingleInstance second(other.path());
    QCOMPARE(first.claim({}, {}, 0), Outcome::First);
    QCOMPARE(second.claim({}, {}, 0), Outcome::First);
}

#ifndef Q_OS_WIN

void TestSingleInstance::hostileWords() {
    const QTemporaryDir home;
    SingleInstance first(home.path());
    QSignalSpy started(&first, &SingleInstance::started);
    QCOMPARE(first.claim({}, {}, 0), Outcome::First);
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    const QByteArray path = QFile::encodeName(home.filePath(QStringLiteral("belfry.socket")));
    std::strncpy(name.sun_path, path.constData(), sizeof name.sun_path - 1);
    for (const QByteArray& words : {QByteArray("not JSON\n"), QByteArray("[1]\n"), QByteArray("\n"),
                                    QByteArray(200'000, 'x'), QByteArray("{\"argument\": 7}\n")}) {
        const int client = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
        QCOMPARE(::connect(client, reinterpret_cast<const sockaddr*>(&name), sizeof name), 0);
        (void)!::send(client, words.constData(), static_cast<size_t>(words.size()), MSG_NOSIGNAL);
        char byte = 0;
        // Answered or closed; never kept.
        QTRY_VERIFY(::recv(client, &byte, 1, 0) >= 0);
        ::close(client);
    }
    QVERIFY(started.size() <= 1); // the last one is an object: a start without a path
    QCOMPARE(startElsewhere(home.path(), QStringLiteral("/m"), kSingleInstanceLongestMs),
             Outcome::HandedOver);
    QCOMPARE(started.last().at(0).toString(), QStringLiteral("/m"));
}

#endif

void TestSingleInstance::silentHolder() {
    const QTemporaryDir home;
    SingleInstance first(home.path());
    QCOMPARE(first.claim({}, {}, 0), Outcome::First);
    SingleInstance second(home.path()); // in this thread: the first cannot answer
    QElapsedTimer clock;
    clock.start();
    QCOMPARE(second.claim({}, {}, 300), Outcome::Silent);
    QVERIFY(clock.elapsed() >= 250);
    QCOMPARE(second.holder(), QCoreApplication::applicationPid());
}

void TestSingleInstance::folderThatCannotBeWritten() {
    const QTemporaryDir home;
    QFile file(home.filePath(QStringLiteral("file")));
    QVERIFY(file.open(QIODevice::WriteOnly));
    SingleInstance instance(home.filePath(QStringLiteral("file/data")));
    QCOMPARE(instance.claim({}, {}, 0), Outcome::Unlocked);
#ifndef Q_OS_WIN
    // A pipe in the lock's place is not waited for.
    QCOMPARE(
        ::mkfifo(QFile::encodeName(home.filePath(QStringLiteral("belfry.lock"))).constData(), 0600),
        0);
    SingleInstance piped(home.path());
    QCOMPARE(piped.claim({}, {}, 0), Outcome::Unlocked);
#endif
}

#ifndef Q_OS_WIN

void TestSingleInstance::programStartedTwice() {
    const QTemporaryDir home;
    const QTemporaryDir elsewhere;
    QVERIFY(QDir(elsewhere.path()).mkpath(QStringLiteral("my model")));
    QProcess first;
    first.setProcessEnvironment(environmentIn(home.path()));
    first.start(QStringLiteral(BELFRY_PROGRAM), QStringList());
    const QString data = home.filePath(QStringLiteral("Belfry/Belfry"));
    const QString log = data + QStringLiteral("/belfry.log");
    QTRY_VERIFY_WITH_TIMEOUT(support::bytesOf(log).contains("window shown"),
                             kSingleInstanceLongestMs);
    QTRY_VERIFY_WITH_TIMEOUT(QFile::exists(data + QStringLiteral("/chats.sqlite")),
                             kSingleInstanceLongestMs);

    QProcess second;
    second.setProcessEnvironment(environmentIn(home.path()));
    second.setWorkingDirectory(elsewhere.path());
    second.start(QStringLiteral(BELFRY_PROGRAM), {QStringLiteral("my model")});
    QVERIFY(second.waitForFinished(kSingleInstanceLongestMs));
    QCOMPARE(second.exitCode(), 0);
    QTRY_VERIFY_WITH_TIMEOUT(support::bytesOf(log).contains("started once more"),
                             kSingleInstanceLongestMs);
    QCOMPARE(support::bytesOf(log).count("window shown"), 1);
    QCOMPARE(first.state(), QProcess::Running);

    // The first is killed: the lock is free, and what it remembered is not spoilt.
    first.kill();
    QVERIFY(first.waitForFinished(kSingleInstanceLongestMs));
    const QJsonObject session =
        QJsonDocument::fromJson(support::bytesOf(data + QStringLiteral("/session.json"))).object();
    QVERIFY(!session.value(QStringLiteral("over")).toBool());
    QProcess third;
    third.setProcessEnvironment(environmentIn(home.path()));
    third.start(QStringLiteral(BELFRY_PROGRAM), QStringList());
    QTRY_COMPARE_WITH_TIMEOUT(support::bytesOf(log).count("window shown"), 2,
                              kSingleInstanceLongestMs);
    third.terminate();
    QVERIFY(third.waitForFinished(kSingleInstanceLongestMs));
    QCOMPARE(third.exitCode(), 0);
    // Nothing of it is readable for others.
    QDirIterator all(data, QDir::AllEntries | QDir::System | QDir::NoDotAndDotDot,
                     QDirIterator::Subdirectories);
    while (all.hasNext()) {
        const QString one = all.next();
        struct stat facts {};
        QCOMPARE(::lstat(QFile::encodeName(one).constData(), &facts), 0);
        QVERIFY2((facts.st_mode & 077U) == 0 || S_ISSOCK(facts.st_mode), qPrintable(one));
    }
}

void TestSingleInstance::noCoreDumps() {
    // In a process of its own: this one may be looked at by a debugger.
    const pid_t child = ::fork();
    if (child == 0) {
        ::unsetenv("BELFRY_CORE_DUMPS");
        app::keepOutOfCoreDumps();
        rlimit limit{};
        ::getrlimit(RLIMIT_CORE, &limit);
        const bool is_closed = ::prctl(PR_GET_DUMPABLE) == 0 && limit.rlim_cur == 0;
        ::_exit(is_closed ? 0 : 1);
    }
    int status = 0;
    QCOMPARE(::waitpid(child, &status, 0), child);
    QVERIFY(WIFEXITED(status));
    QCOMPARE(WEXITSTATUS(status), 0);
    // Both programs as they are shipped, seen from outside.
    const QTemporaryDir home;
    for (const bool is_wanted : {false, true}) {
        for (const QString& name :
             {QStringLiteral(BELFRY_PROGRAM), qEnvironmentVariable("BELFRY_CLI")}) {
            QProcessEnvironment environment = environmentIn(home.path());
            if (is_wanted) {
                environment.insert(QStringLiteral("BELFRY_CORE_DUMPS"), QStringLiteral("1"));
            }
            QProcess program;
            program.setProcessEnvironment(environment);
            program.setChildProcessModifier([] {
                rlimit limit{RLIM_INFINITY, RLIM_INFINITY};
                if (::getrlimit(RLIMIT_CORE, &limit) == 0) {
                    limit.rlim_cur = limit.rlim_max;
                    ::setrlimit(RLIMIT_CORE, &limit);
                }
            });
            // The terminal's program waits for a question.
            program.start(name, name.endsWith(QStringLiteral("cli"))
                                    ? QStringList{QStringLiteral("chat"), QStringLiteral("demo")}
                                    : QStringList());
            QVERIFY(program.waitForStarted());
            const QString limits = QStringLiteral("/proc/%1/limits").arg(program.processId());
            const auto soft = [&] {
                const QByteArrayList lines = support::bytesOf(limits).split('\n');
                for (const QByteArray& line : lines) {
                    if (line.startsWith("Max core file size")) {
                        return line.mid(18).simplified().split(' ').value(0);
                    }
                }
                return QByteArray();
            };
            if (is_wanted) {
                QThread::msleep(500);
                QVERIFY2(soft() != "0" || ::getuid() != 0, qPrintable(name));
            } else {
                QTRY_COMPARE_WITH_TIMEOUT(soft(), QByteArray("0"), kSingleInstanceLongestMs);
            }
            program.kill();
            program.waitForFinished();
        }
    }
}

#else

void TestSingleInstance::hostileWords() {
    QSKIP("its socket is a pipe there, of a name that is nobody else's to know");
}
void TestSingleInstance::programStartedTwice() {
    QSKIP("its folders cannot be others than the user's there: window_check.sh starts it twice");
}
void TestSingleInstance::noCoreDumps() {
    QSKIP("there are none there");
}

#endif

TEST_CLASS_WITH(QCoreApplication, TestSingleInstance)
#include "tst_single_instance.moc"
