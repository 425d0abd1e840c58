// SPDX-License-Identifier: Apache-2.0
// A driver that crashes, hangs or answers nonsense when it is asked for its cards: the window and
// the command line live, say which library it was and how it failed, and go on without a card. The
// driver is a library that the tests build; it fails as $BELFRY_FAKE_DRIVER says.
#include "app/window/card_watch.h"
#include "engine/devices/card_inquiry.h"
#include "kernels/cuda/driver_trouble.h"
#include "kernels/cuda/fatbin.h"
#include "tests/app/program_fixture.h"
#include "tests/support/program/test_class.h"

#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QProcess>
#include <QProcessEnvironment>
#include <QTemporaryDir>

#ifdef BELFRY_FAKE_CUDA_FOLDER
#include <csignal>
#endif

using engine::CardInquiry;
using engine::CardInquiryOptions;
using Kind = engine::CardTrouble::Kind;

#ifndef BELFRY_FAKE_CUDA_FOLDER
#define BELFRY_FAKE_CUDA_FOLDER ""
#define BELFRY_PROGRAM ""
#endif

namespace {

constexpr int kLongestMs = 60'000;

/// Sets a variable of this process and its children, and takes it away again.
class Variable {
public:
    Variable(const char* name, const QByteArray& value) : name_(name), former_(qgetenv(name)) {
        qputenv(name, value);
    }
    ~Variable() { former_.isNull() ? qunsetenv(name_) : qputenv(name_, former_); }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

private:
    const char* name_;
    QByteArray former_;
};

QProcessEnvironment environmentWith(const QTemporaryDir& folder, const QString& driver) {
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    for (const char* name : {"XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"}) {
        environment.insert(QString::fromLatin1(name), folder.path());
    }
    environment.insert(QStringLiteral("LC_ALL"), QStringLiteral("C.UTF-8"));
    environment.insert(QStringLiteral("BELFRY_CARD_SECONDS"), QStringLiteral("2"));
    environment.insert(QStringLiteral("BELFRY_FAKE_DRIVER_LOADS"),
                       folder.filePath(QStringLiteral("loads")));
    if (driver != QStringLiteral("none")) {
        environment.insert(QStringLiteral("LD_LIBRARY_PATH"),
                           QStringLiteral(BELFRY_FAKE_CUDA_FOLDER));
        environment.insert(QStringLiteral("BELFRY_FAKE_DRIVER"), driver);
    }
    return environment;
}

QStringList loads(const QTemporaryDir& folder) {
    QFile file(folder.filePath(QStringLiteral("loads")));
    return file.open(QIODevice::ReadOnly)
               ? QString::fromLatin1(file.readAll()).split(QLatin1Char('\n'), Qt::SkipEmptyParts)
               : QStringList();
}

CardInquiryOptions askThroughCli() {
    CardInquiryOptions options;
    options.words = {qEnvironmentVariable("BELFRY_CLI").toStdString(),
                     std::string(engine::kTellCards)};
    options.library_path = BELFRY_FAKE_CUDA_FOLDER;
    options.limit = std::chrono::seconds(2);
    return options;
}

} // namespace

class TestCardInquiry : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void troubles_data();
    void troubles();
    void stopsAtOnce();
    void noLibraryNoProcess();
    void commandLine_data();
    void commandLine();
    void noChildStays();
    void windowIsUp_data();
    void windowIsUp();
    void windowSaysWhy_data();
    void windowSaysWhy();
};

void TestCardInquiry::initTestCase() {
    if (QByteArray(BELFRY_FAKE_CUDA_FOLDER).isEmpty()) {
        QSKIP("no fake driver library on this system");
    }
    if (kernels::cuda::embeddedImages().empty()) {
        QSKIP("this build has no GPU kernels: it asks no driver");
    }
}

void TestCardInquiry::troubles_data() {
    support::addColumns<QByteArray, int, QByteArray>("driver", "kind", "found");
    const auto row = [](const char* driver, Kind kind, const char* found) {
        QTest::newRow(driver) << QByteArray(driver) << static_cast<int>(kind) << QByteArray(found);
    };
    row("crash", Kind::DriverCrashes, "SIGSEGV");
    row("abort", Kind::DriverCrashes, "SIGABRT");
    row("exit", Kind::DriverCrashes, "exit code 3");
    row("hang", Kind::DriverHangs, "2");
    row("crash in loading", Kind::DriverCrashes, "SIGSEGV");
    row("hang in loading", Kind::DriverHangs, "2");
    row("100", Kind::NoCard, "");
    row("999", Kind::DriverFails, "CUDA_ERROR_UNKNOWN");
}

void TestCardInquiry::troubles() {
    QFETCH(QByteArray, driver);
    QFETCH(int, kind);
    QFETCH(QByteArray, found);
    const QTemporaryDir folder;
    const Variable loads_file("BELFRY_FAKE_DRIVER_LOADS",
                              QFile::encodeName(folder.filePath(QStringLiteral("loads"))));
    const Variable path("LD_LIBRARY_PATH", BELFRY_FAKE_CUDA_FOLDER);
    const Variable how("BELFRY_FAKE_DRIVER", driver);
    CardInquiry inquiry(askThroughCli());
    kernels::cuda::Trouble why;
    QVERIFY(inquiry.driver(&why) == nullptr);
    const CardInquiry::State state = inquiry.state();
    QVERIFY(state.is_done);
    QVERIFY(state.trouble.has_value());
    QCOMPARE(static_cast<int>(state.trouble->kind), kind);
    QCOMPARE(why.found, found.toStdString());
    const std::string words = engine::inEnglish(state.trouble->words);
    QVERIFY2(words.find(why.found) != std::string::npos, words.c_str());
    if (state.trouble->isProblem() && state.trouble->kind != Kind::DriverFails) {
        QCOMPARE(why.library, std::string(BELFRY_FAKE_CUDA_FOLDER) + "/libcuda.so.1");
        QVERIFY2(words.find(why.library) != std::string::npos, words.c_str());
        QVERIFY2(words.find("Restart the machine") != std::string::npos, words.c_str());
    }
    // Another process loaded it, once, and this one did not.
    QCOMPARE(loads(folder).size(), 1);
    QVERIFY(loads(folder).front().toLongLong() != QCoreApplication::applicationPid());
}

void TestCardInquiry::stopsAtOnce() {
    const Variable path("LD_LIBRARY_PATH", BELFRY_FAKE_CUDA_FOLDER);
    const Variable how("BELFRY_FAKE_DRIVER", "hang");
    CardInquiryOptions options = askThroughCli();
    options.limit = std::chrono::seconds(300);
    CardInquiry inquiry(options);
    QVERIFY(!inquiry.state().is_begun);
    inquiry.begin();
    QTest::qWait(300);
    QVERIFY(!inquiry.state().is_done);
    QElapsedTimer timer;
    timer.start();
    inquiry.stop();
    QVERIFY(inquiry.driver() == nullptr);
    QCOMPARE_LT(timer.elapsed(), 10'000);
}

void TestCardInquiry::noLibraryNoProcess() {
    // The program does not exist: whoever started it would know.
    CardInquiryOptions options;
    options.words = {"/nowhere/belfry", std::string(engine::kTellCards)};
    CardInquiry inquiry(options);
    QElapsedTimer timer;
    timer.start();
    if (inquiry.driver() != nullptr) {
        QSKIP("this machine has a driver");
    }
    QCOMPARE(static_cast<int>(inquiry.state().trouble->kind), static_cast<int>(Kind::NoDriver));
}

void TestCardInquiry::commandLine_data() {
    support::addColumns<QString, QString>("driver", "told");
    QTest::newRow("a good driver") << QStringLiteral("0") << QString();
    QTest::newRow("crash") << QStringLiteral("crash") << QStringLiteral("libcuda.so.1: SIGSEGV");
    QTest::newRow("hang") << QStringLiteral("hang") << QStringLiteral("within 2 s (");
    QTest::newRow("no driver") << QStringLiteral("none") << QString();
}

void TestCardInquiry::commandLine() {
    QFETCH(QString, driver);
    QFETCH(QString, told);
    const QTemporaryDir folder;
    QProcess cli;
    cli.setProcessEnvironment(environmentWith(folder, driver));
    cli.start(qEnvironmentVariable("BELFRY_CLI"),
              {QStringLiteral("plan"), QStringLiteral("demo"), QStringLiteral("--device-map"),
               QStringLiteral("fit"), QStringLiteral("--json")});
    QVERIFY(cli.waitForFinished(kLongestMs));
    QCOMPARE(cli.exitStatus(), QProcess::NormalExit);
    QCOMPARE(cli.exitCode(), 0);
    const QJsonObject plan = QJsonDocument::fromJson(cli.readAllStandardOutput()).object();
    QStringList devices;
    for (const QJsonValue& device : plan.value(QStringLiteral("devices")).toArray()) {
        devices << device.toObject().value(QStringLiteral("id")).toString();
    }
    QCOMPARE(devices.contains(QStringLiteral("cuda:0")), driver == QStringLiteral("0"));
    const QString warnings =
        QString::fromUtf8(QJsonDocument(plan.value(QStringLiteral("warnings")).toArray()).toJson());
    QVERIFY2(warnings.contains(told), qPrintable(warnings));
    QCOMPARE(warnings.contains(QStringLiteral("DM23")), !told.isEmpty());
    // A good driver is loaded twice, by the other process first; a bad one only there.
    const int expected = driver == QStringLiteral("none") ? 0
                         : driver == QStringLiteral("0")  ? 2
                                                          : 1;
    QCOMPARE(loads(folder).size(), expected);
    // With simulated cards, or none wanted, nobody asks.
    QFile::remove(folder.filePath(QStringLiteral("loads")));
    cli.start(qEnvironmentVariable("BELFRY_CLI"),
              {QStringLiteral("plan"), QStringLiteral("demo"), QStringLiteral("--sim-gpu"),
               QStringLiteral("1GiB")});
    QVERIFY(cli.waitForFinished(kLongestMs));
    QCOMPARE(cli.exitCode(), 0);
    QVERIFY(loads(folder).isEmpty());
}

/// Whoever waits for the child may be killed: the child does not stay.
void TestCardInquiry::noChildStays() {
#ifdef __linux__
    const QTemporaryDir folder;
    QProcessEnvironment environment = environmentWith(folder, QStringLiteral("hang"));
    environment.insert(QStringLiteral("BELFRY_CARD_SECONDS"), QStringLiteral("300"));
    QProcess cli;
    cli.setProcessEnvironment(environment);
    cli.start(qEnvironmentVariable("BELFRY_CLI"), {QStringLiteral("plan"), QStringLiteral("demo")});
    QTRY_COMPARE_WITH_TIMEOUT(loads(folder).size(), 1, kLongestMs);
    const qint64 child = loads(folder).front().toLongLong();
    QVERIFY(child != cli.processId());
    QVERIFY(::kill(static_cast<pid_t>(child), 0) == 0);
    cli.kill();
    QVERIFY(cli.waitForFinished(kLongestMs));
    const auto is_gone = [child] {
        QFile state(QStringLiteral("/proc/%1/stat").arg(child));
        return !state.open(QIODevice::ReadOnly) || state.readAll().contains(") Z ");
    };
    QTRY_VERIFY_WITH_TIMEOUT(is_gone(), kLongestMs);
#else
    QSKIP("other systems end it by the child's own limit");
#endif
}

void TestCardInquiry::windowIsUp_data() {
    support::addColumns<QString, QByteArray, QByteArray>("driver", "first", "then");
    QTest::newRow("hang") << QStringLiteral("hang")
                          << QByteArray("the graphics driver has not told its cards")
                          << QByteArray("did not tell its graphics cards within 2 s");
    QTest::newRow("crash") << QStringLiteral("crash")
                           << QByteArray("crashed when it was asked for its graphics cards")
                           << QByteArray("SIGSEGV");
}

/// The program itself: its log says when the window was shown, and why there is no card.
void TestCardInquiry::windowIsUp() {
    QFETCH(QString, driver);
    QFETCH(QByteArray, first);
    QFETCH(QByteArray, then);
    const QTemporaryDir folder;
    QProcess program;
    program.setProcessEnvironment(environmentWith(folder, driver));
    program.setProcessChannelMode(QProcess::MergedChannels);
    QByteArray log;
    const auto says = [&](const QByteArray& text) {
        log += program.readAll();
        return log.contains(text);
    };
    QElapsedTimer timer;
    timer.start();
    program.start(QStringLiteral(BELFRY_PROGRAM), QStringList());
    QTRY_VERIFY_WITH_TIMEOUT(says("window shown after"), kLongestMs);
    const qint64 shown = timer.elapsed();
    QTRY_VERIFY_WITH_TIMEOUT(says(first), kLongestMs);
    const qint64 told = timer.elapsed();
    QTRY_VERIFY_WITH_TIMEOUT(says(then), kLongestMs);
    qInfo("%s: shown after %lld ms, told after %lld ms", qPrintable(driver), shown, told);
    // The driver's limit of 2 s is over only after this.
    QVERIFY2(shown < 2000, log.constData());
    QVERIFY2(told < 2000 || told < shown + 1500, log.constData());
    program.terminate();
    QVERIFY(program.waitForFinished(kLongestMs));
    QCOMPARE(program.exitStatus(), QProcess::NormalExit);
    QCOMPARE(loads(folder).size(), 1);
}

void TestCardInquiry::windowSaysWhy_data() {
    support::addColumns<QByteArray, QString>("driver", "words");
    QTest::newRow("driver hangs") << QByteArray("hang") << QStringLiteral("within 2 s");
    QTest::newRow("driver crashes") << QByteArray("crash") << QStringLiteral("SIGSEGV");
    QTest::newRow("no card") << QByteArray("100") << QString();
}

void TestCardInquiry::windowSaysWhy() {
    QFETCH(QByteArray, driver);
    QFETCH(QString, words);
    const QTemporaryDir folder;
    const Variable path("LD_LIBRARY_PATH", BELFRY_FAKE_CUDA_FOLDER);
    const Variable how("BELFRY_FAKE_DRIVER", driver);
    support::Program program(folder.path());
    const auto inquiry = std::make_shared<CardInquiry>(askThroughCli());
    inquiry->begin();
    const app::CardWatch watch(program.window.get(), inquiry);
    auto* notice = program.window->notice();
    const auto text = [&] {
        QStringList all;
        for (const QLabel* label : notice->findChildren<QLabel*>()) {
            all << label->text();
        }
        return notice->isVisible() ? all.join(QLatin1Char('\n')) : QString();
    };
    if (driver == "hang") {
        QTRY_VERIFY_WITH_TIMEOUT(text().contains(QStringLiteral("does not answer yet")),
                                 kLongestMs);
        QVERIFY(!inquiry->state().is_done);
        program.shot("driver waits");
    }
    QTRY_VERIFY_WITH_TIMEOUT(inquiry->state().is_done, kLongestMs);
    if (words.isEmpty()) {
        QTest::qWait(500); // that there simply is none is not an event
        QVERIFY2(!notice->isVisible(), qPrintable(text()));
        return;
    }
    QTRY_VERIFY2_WITH_TIMEOUT(text().contains(words), qPrintable(text()), kLongestMs);
    QVERIFY2(text().contains(QStringLiteral("libcuda.so.1")), qPrintable(text()));
    QVERIFY2(text().contains(QStringLiteral("Restart the machine")), qPrintable(text()));
    program.shot(QTest::currentDataTag());
}

TEST_CLASS_WITH(QApplication, TestCardInquiry)
#include "tst_card_inquiry.moc"
