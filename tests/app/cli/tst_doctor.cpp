// SPDX-License-Identifier: Apache-2.0
// belfry-cli doctor: what it tells of this machine, of one with a card (the fake driver) and of one
// whose driver crashes.
#include "tests/support/program/run_program.h"
#include "tests/support/program/test_class.h"

#include <QDir>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

namespace {

support::ProgramOutcome
doctor(const QTemporaryDir& home, const QStringList& words, const QString& driver = {}) {
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert(QStringLiteral("HOME"), home.path());
    environment.insert(QStringLiteral("USERPROFILE"), home.path());
    environment.insert(QStringLiteral("XDG_CACHE_HOME"), home.filePath(QStringLiteral("cache")));
    environment.remove(QStringLiteral("HF_HOME"));
    environment.remove(QStringLiteral("HF_HUB_CACHE"));
#ifdef BELFRY_FAKE_CUDA_FOLDER
    if (!driver.isEmpty()) {
        environment.insert(QStringLiteral("LD_LIBRARY_PATH"),
                           QStringLiteral(BELFRY_FAKE_CUDA_FOLDER));
        environment.insert(QStringLiteral("BELFRY_FAKE_DRIVER"), driver);
    }
#else
    Q_UNUSED(driver);
#endif
    QProcess process;
    process.setProcessEnvironment(environment);
    process.start(qEnvironmentVariable("BELFRY_CLI"),
                  QStringList{QStringLiteral("doctor")} + words);
    return support::outcomeOf(process);
}

} // namespace

class TestDoctor : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void text();
    void json();
    void withACard_data();
    void withACard();
    void wrongWords();
};

void TestDoctor::initTestCase() {
    if (qEnvironmentVariable("BELFRY_CLI").isEmpty()) {
        QSKIP("BELFRY_CLI names no program: run through ctest");
    }
}

void TestDoctor::text() {
    const QTemporaryDir home;
    const support::ProgramOutcome told = doctor(home, {});
    QCOMPARE(told.code, 0);
    for (const char* words : {"Belfry ",        "Processor and memory",
                              "kernels:",       "measured:",
                              "reads ",         "Graphics cards",
                              "Free disk",      "models:",
                              "huggingface",    "cache:",
                              "chats:",         "~",
                              "Libraries",      "libpng:",
                              "zlib:",          "libsndfile:",
                              "soxr:",          "PCRE2:",
                              "nlohmann/json:", "xxHash:",
                              "CLI11:"}) {
        QVERIFY2(told.out.contains(QString::fromLatin1(words)),
                 qPrintable(QString::fromLatin1(words) + told.out));
    }
    QVERIFY2(!told.out.contains(home.path()), qPrintable(told.out));
    qInfo("%s", qPrintable(told.out));
}

void TestDoctor::json() {
    const QTemporaryDir home;
    const support::ProgramOutcome told = doctor(home, {QStringLiteral("--json")});
    QCOMPARE(told.code, 0);
    QJsonParseError problem;
    const QJsonObject facts = QJsonDocument::fromJson(told.out.toUtf8(), &problem).object();
    QVERIFY2(problem.error == QJsonParseError::NoError, qPrintable(told.out));
    QVERIFY(facts.value(QStringLiteral("threads")).toInt() >= 1);
    QVERIFY(facts.value(QStringLiteral("kernel_tables"))
                .toArray()
                .contains(facts.value(QStringLiteral("kernels"))));
    QVERIFY(facts.value(QStringLiteral("measured"))
                .toObject()
                .value(QStringLiteral("flops"))
                .toDouble() > 1e6);
    for (const QJsonValue& folder : facts.value(QStringLiteral("folders")).toArray()) {
        QVERIFY2(folder.toObject().value(QStringLiteral("free")).toDouble() > 0,
                 qPrintable(told.out));
    }
    // Those that can say their version at run time do; those that are files have one.
    int told_at_run_time = 0;
    for (const QJsonValue& value : facts.value(QStringLiteral("libraries")).toArray()) {
        const QJsonObject library = value.toObject();
        QVERIFY2(!library.value(QStringLiteral("version")).toString().isEmpty() ||
                     !library.value(QStringLiteral("file")).toString().isEmpty(),
                 qPrintable(library.value(QStringLiteral("name")).toString()));
        told_at_run_time += library.value(QStringLiteral("told_at_run_time")).toBool() ? 1 : 0;
    }
    QVERIFY(told_at_run_time >= 4);
    QVERIFY(!told.out.contains(home.path()));
}

void TestDoctor::withACard_data() {
    support::addColumns<QString, QStringList>("driver", "words");
    QTest::newRow("good") << QStringLiteral("0")
                          << QStringList{QStringLiteral("cuda:0:"),
                                         QStringLiteral("Test Card, compute capability 9.0"),
                                         QStringLiteral("libcuda.so.1, CUDA 13.0, loaded"),
                                         QStringLiteral("free now"), QStringLiteral("expected:")};
    QTest::newRow("crash") << QStringLiteral("crash")
                           << QStringList{QStringLiteral("problem:"), QStringLiteral("SIGSEGV"),
                                          QStringLiteral("libcuda.so.1, not used")};
}

void TestDoctor::withACard() {
#ifndef BELFRY_FAKE_CUDA_FOLDER
    QSKIP("no fake driver library on this system");
#else
    QFETCH(QString, driver);
    QFETCH(QStringList, words);
    const QTemporaryDir home;
    const support::ProgramOutcome told = doctor(home, {}, driver);
    QCOMPARE(told.code, 0);
    if (told.out.contains(QStringLiteral("none in this build"))) {
        QSKIP("this build has no GPU kernels");
    }
    for (const QString& word : words) {
        QVERIFY2(told.out.contains(word), qPrintable(word + QLatin1Char('\n') + told.out));
    }
#endif
}

void TestDoctor::wrongWords() {
    const QTemporaryDir home;
    const support::ProgramOutcome told = doctor(home, {QStringLiteral("demo")});
    QCOMPARE(told.code, 2);
    QVERIFY2(told.err.contains(QStringLiteral("unexpected word demo")), qPrintable(told.err));
}

TEST_CLASS(TestDoctor)
#include "tst_doctor.moc"
