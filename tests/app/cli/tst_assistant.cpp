// SPDX-License-Identifier: Apache-2.0
// Drafts as a person meets them on the command line: the demo model with the assistant that comes
// with it says what it says without, most drafts are right, and what that brings is told. Published
// sizes without their files: plans of all four with their assistants, and a benchmark that cannot
// fit says how much it would take.
#include "tests/support/golden.h"
#include "tests/support/program/run_program.h"
#include "tests/support/program/test_class.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QMap>
#include <QProcess>
#include <QTest>

#include <algorithm>

namespace {

QString sample(const char* name) {
    return QString::fromStdString(
        (support::sourceDir() / "resources/demo_model/samples" / name).string());
}

/// Questions as the demo model knows them, with what they are about.
QList<QStringList> questions() {
    return {{"--image", sample("triangles_and_cross.png"), "--audio", sample("three_beeps.wav"),
             "--prompt", "What do you see and hear?"},
            {"--image", sample("circles_and_square.png"), "--prompt", "What do you see?"},
            {"--prompt", "What is a tower?"},
            {"--prompt", "What can you do?"},
            {"--audio", sample("word_seven.wav"), "--prompt", "Which word do you hear?"}};
}

QStringList asked(const QStringList& question, const QStringList& drafts) {
    return QStringList{"chat", "demo",      "--json", "--temperature", "0", "--context",
                       "512",  "--threads", "2"} +
           drafts + question;
}

} // namespace

class TestAssistant : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void sameTextAndMostGuessesRight();
    void asManyAsPay();
    void isTold();
    void publishedSizes_data();
    void publishedSizes();
    void benchmarkThatDoesNotFit();
};

void TestAssistant::initTestCase() {
    if (qEnvironmentVariable("BELFRY_CLI").isEmpty()) {
        QSKIP("BELFRY_CLI names no program: run through ctest");
    }
}

void TestAssistant::sameTextAndMostGuessesRight() {
    double drafted = 0.0;
    double accepted = 0.0;
    double tokens = 0.0;
    QMap<int, int> times; // how often each token was said
    for (const QStringList& question : questions()) {
        const support::ProgramOutcome with =
            support::runCli(asked(question, {"--draft", "auto", "--draft-tokens", "3"}));
        const support::ProgramOutcome without =
            support::runCli(asked(question, {"--draft", "off"}));
        QVERIFY2(with.code == 0 && without.code == 0, qPrintable(with.err + without.err));
        QCOMPARE(with.json()["token_ids"].toArray(), without.json()["token_ids"].toArray());
        QVERIFY(!without.json().contains("drafts"));
        const QJsonObject drafts = with.json()["drafts"].toObject();
        const double rounds = drafts["rounds"].toDouble();
        QVERIFY(rounds > 0.0);
        QCOMPARE(drafts["tokens_per_round"].toDouble(),
                 1.0 + drafts["accepted"].toDouble() / rounds);
        QCOMPARE(drafts["acceptance"].toDouble(),
                 drafts["accepted"].toDouble() / drafts["drafted"].toDouble());
        QVERIFY(drafts.contains("gain") && !drafts["is_off"].toBool());
        drafted += drafts["drafted"].toDouble();
        accepted += drafts["accepted"].toDouble();
        for (const auto& id : with.json()["token_ids"].toArray()) {
            ++times[id.toInt()];
            tokens += 1.0;
        }
    }
    const double chance = *std::max_element(times.begin(), times.end()) / tokens;
    qInfo("%.2f of the drafts accepted; the token said most often is %.2f of all",
          accepted / drafted, chance);
    QVERIFY(accepted / drafted > 2.0 * chance);
    QVERIFY(accepted / drafted > 0.4);
}

/// However many it takes: the text stays, and what was tried is told.
void TestAssistant::asManyAsPay() {
    for (const QStringList& question : questions()) {
        const support::ProgramOutcome with = support::runCli(asked(question, {"--draft", "auto"}));
        const support::ProgramOutcome without = support::runCli(asked(question, {}));
        QVERIFY2(with.code == 0, qPrintable(with.err));
        QCOMPARE(with.json()["token_ids"].toArray(), without.json()["token_ids"].toArray());
        const QJsonObject drafts = with.json()["drafts"].toObject();
        QVERIFY(drafts["rounds"].toDouble() > 0.0 || with.json()["token_ids"].toArray().size() < 6);
    }
}

void TestAssistant::isTold() {
    const QStringList words = {
        "chat", "demo", "--temperature", "0", "--prompt", "What is a tower?", "--draft", "auto"};
    const support::ProgramOutcome fixed =
        support::runCli(words + QStringList{"--draft-tokens", "2"});
    QVERIFY2(fixed.err.contains("tokens a round") && fixed.err.contains("% accepted"),
             qPrintable(fixed.err));
    QVERIFY(!support::runCli({"chat", "demo", "--prompt", "Hello", "--draft", "off"})
                 .err.contains("drafts"));
    const support::ProgramOutcome wrong =
        support::runCli({"chat", "demo", "--prompt", "Hello", "--draft", "/nowhere"});
    QCOMPARE(wrong.code, 1);
    QVERIFY2(wrong.err.contains("/nowhere"), qPrintable(wrong.err));
    QCOMPARE(support::runCli({"chat", "demo", "--prompt", "x", "--draft-tokens", "17"}).code, 2);
}

void TestAssistant::publishedSizes_data() {
    QTest::addColumn<QString>("shape");
    QTest::addColumn<double>("least"); ///< GB of weights in 4 bits, assistant included.
    QTest::addColumn<double>("most");
    QTest::addColumn<double>("assistant"); ///< Millions of parameters.
    QTest::newRow("E2B") << "e2b" << 3.0 << 8.0 << 77.7;
    QTest::newRow("E4B") << "e4b" << 4.5 << 11.0 << 78.5;
    QTest::newRow("26B-A4B, experts stay in 16 bits") << "26b" << 44.0 << 52.0 << 419.7;
    QTest::newRow("31B") << "31b" << 16.0 << 22.0 << 469.5;
}

void TestAssistant::publishedSizes() {
    QFETCH(QString, shape);
    QFETCH(double, least);
    QFETCH(double, most);
    QFETCH(double, assistant);
    const support::ProgramOutcome plan = support::runCli(
        {"plan", "--shape", shape, "--quant", "nf4-dq", "--head", "nf4", "--text-only", "--sim-gpu",
         "80GiB", "--device-map", "gpu", "--draft", "auto", "--json"});
    QVERIFY2(!plan.json().isEmpty(), qPrintable(plan.err));
    double weights = 0.0;
    double of_assistant = 0.0;
    for (const auto& value : plan.json()["modules"].toArray()) {
        const QJsonObject module = value.toObject();
        weights += module["bytes"].toDouble();
        if (module["name"].toString() == QLatin1String("assistant")) {
            of_assistant = module["bytes"].toDouble();
        }
    }
    QVERIFY2(weights > 1e9 * least && weights < 1e9 * most, qPrintable(QString::number(weights)));
    // In 4 bits or, what is only gathered from, in 16.
    QVERIFY2(of_assistant > 0.5e6 * assistant && of_assistant < 2.2e6 * assistant,
             qPrintable(QString::number(of_assistant)));
}

void TestAssistant::benchmarkThatDoesNotFit() {
    for (const char* shape : {"26b", "31b"}) {
        const support::ProgramOutcome bench =
            support::runCli({"bench", "--shape", QString::fromLatin1(shape), "--quant", "nf4-dq",
                             "--device-map", "cpu", "--limit", "cpu=2GiB", "--draft", "auto"});
        QCOMPARE(bench.code, 1);
        QVERIFY2(bench.err.contains("GiB") && bench.err.contains("2.00 GiB"),
                 qPrintable(bench.err));
    }
    QCOMPARE(support::runCli({"plan", "--shape", "13b"}).code, 2);
}

TEST_CLASS_WITH(QCoreApplication, TestAssistant)
#include "tst_assistant.moc"
