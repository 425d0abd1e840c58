// SPDX-License-Identifier: Apache-2.0
// The words of belfry-cli: how options are written, what --help, shell completion and the manual
// say of them. None of it may name an option that the others do not know.
#include "tests/support/program/run_program.h"
#include "tests/support/program/test_class.h"

#include <QProcess>
#include <QRegularExpression>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>

namespace {

const QStringList kCommands = {"bench",  "chat",  "compare", "doctor", "get",   "inspect",
                               "logits", "merge", "models",  "plan",   "serve", "tokenize"};
/// Those that load no model.
const QStringList kWithoutLoad = {"doctor", "get", "models", "tokenize"};

/// "--quant", ... as a help page lists them.
QStringList optionsOf(const QString& command) {
    static const QRegularExpression kOption(QStringLiteral("^  (?:-h,)?(--[a-z-]+)"),
                                            QRegularExpression::MultilineOption);
    QStringList options;
    for (auto found = kOption.globalMatch(support::runCli({command, "--help"}).out);
         found.hasNext();) {
        options.append(found.next().captured(1));
    }
    return options;
}

} // namespace

class TestCommandWords : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void eachCommandHasItsHelp();
    void wordsAreTold_data();
    void wordsAreTold();
    void anEqualsSignOrABlank();
    void behindTheMarkIsNoOption();
    void bashCompletes_data();
    void bashCompletes();
    void completionKnowsEveryOption();
    void manualKnowsEveryOption();
};

void TestCommandWords::initTestCase() {
    if (qEnvironmentVariable("BELFRY_CLI").isEmpty()) {
        QSKIP("BELFRY_CLI names no program: run through ctest");
    }
}

void TestCommandWords::eachCommandHasItsHelp() {
    const QString overview = support::runCli({"--help"}).out;
    for (const QString& command : kCommands) {
        QVERIFY2(overview.contains("belfry-cli " + command + " "), qPrintable(overview));
        const support::ProgramOutcome help = support::runCli({command, "--help"});
        QCOMPARE(help.code, 0);
        QVERIFY2(help.out.contains("Usage: belfry-cli " + command + " "), qPrintable(help.out));
        const QStringList options = optionsOf(command);
        QVERIFY(options.contains("--json") && options.contains("--help"));
        QCOMPARE(options.contains("--quant"), !kWithoutLoad.contains(command));
        QCOMPARE(options.contains("--export"), command == "plan");
        QCOMPARE(options.contains("--top-k"), command == "chat" || command == "bench");
        QCOMPARE(options.contains("--image"), command == "chat" || command == "logits");
    }
}

void TestCommandWords::wordsAreTold_data() {
    support::addColumns<QStringList, QString>("words", "message");
    const auto row = [](const char* name, const QStringList& words, const char* message) {
        QTest::newRow(name) << words << QString::fromUtf8(message);
    };
    row("no such command", {"speak"},
        "unknown command speak: expected one of bench, chat, compare, completion, doctor, get, "
        "inspect, "
        "logits, merge, models, plan, serve, tokenize");
    row("no such option", {"plan", "demo", "--bogus", "1"}, "unknown option --bogus for plan");
    row("of another command", {"plan", "demo", "--prompt", "x"},
        "unknown option --prompt for plan");
    row("a letter", {"plan", "demo", "-x"}, "unknown option -x for plan");
    row("no value", {"plan", "demo", "--quant"}, "--quant: a value is missing after it");
    row("a value too much", {"plan", "demo", "--effect=1"}, "unknown option --effect=1 for plan");
    row("a value for a flag", {"inspect", "demo", "--effect=1"},
        "--effect=1: --effect takes no value");
    row("two models", {"plan", "demo", "other"},
        "unexpected word other: the model is demo already; quote texts with spaces");
    row("model and shape", {"bench", "demo", "--shape", "e2b"},
        "unexpected word demo: the model is shape:e2b already; quote texts with spaces");
    row("no model", {"plan"}, "plan: no model given");
    row("two prompts", {"chat", "demo", "--prompt", "a", "--raw-prompt", "b"},
        "chat: give --prompt or --raw-prompt, not both");
    row("no shell", {"completion"}, "completion: expected bash, zsh or fish");
    row("other shell", {"completion", "csh"}, "completion csh: expected bash, zsh or fish");
    row("no such export", {"plan", "demo", "--export", "python"},
        "--export python: expected belfry or accelerate");
    row("no such page", {"manual", "speak"}, "manual speak: there is none");
    row("the first mistake", {"plan", "demo", "--quant", "x", "--head", "y"},
        "--quant x: expected one of none, nf4, nf4-dq, fp4, fp4-dq, q4_0, q8_0, nf4+experts, "
        "nf4-dq+experts");
}

void TestCommandWords::wordsAreTold() {
    QFETCH(QStringList, words);
    QFETCH(QString, message);
    const support::ProgramOutcome outcome = support::runCli(words);
    QCOMPARE(outcome.code, 2);
    QCOMPARE(outcome.err.section('\n', 0, 0), "error: InvalidRequest: " + message);
    QVERIFY(outcome.out.isEmpty());
}

void TestCommandWords::anEqualsSignOrABlank() {
    const QStringList plan = {"plan", "demo", "--device-map", "cpu", "--json"};
    const support::ProgramOutcome two =
        support::runCli(plan + QStringList{"--quant", "nf4", "--sim-gpu", "1GiB"});
    const support::ProgramOutcome one =
        support::runCli(plan + QStringList{"--quant=nf4", "--sim-gpu=1GiB"});
    const support::ProgramOutcome other = support::runCli(plan);
    QCOMPARE(two.code, 0);
    QVERIFY(!two.out.isEmpty());
    QCOMPARE(one.code, 0);
    QVERIFY(two.out.contains("sim:0") && one.out.contains("sim:0") && !other.out.contains("sim:0"));
    // An empty value and one that looks like an option are values; the last one of two counts.
    QCOMPARE(support::runCli({"plan", "demo", "--quant=", "nf4"}).err.section('\n', 0, 0),
             QString("error: InvalidRequest: --quant : expected one of none, nf4, nf4-dq, fp4, "
                     "fp4-dq, q4_0, q8_0, nf4+experts, nf4-dq+experts"));
    const support::ProgramOutcome like =
        support::runCli({"tokenize", "demo", "--text", "x", "--text", "--json"});
    QCOMPARE(like.code, 0);
    const support::ProgramOutcome bracket =
        support::runCli({"tokenize", "demo", "--json", "--text", "[a,b]"});
    QVERIFY2(bracket.out.contains("[") && bracket.code == 0, qPrintable(bracket.out));
    QCOMPARE(bracket.out, support::runCli({"tokenize", "demo", "--json", "--text=[a,b]"}).out);
    QVERIFY(bracket.out != support::runCli({"tokenize", "demo", "--json", "--text", "b"}).out);
    const support::ProgramOutcome braces =
        support::runCli({"chat", "demo", "--prompt", "x", "--image", "{}"});
    QVERIFY2(braces.err.contains("{}") && !braces.err.contains("%%"), qPrintable(braces.err));
}

void TestCommandWords::behindTheMarkIsNoOption() {
    const support::ProgramOutcome outcome = support::runCli({"plan", "--", "--json"});
    QCOMPARE(outcome.code, 1);
    QVERIFY2(outcome.err.contains("--json: there is no such folder"), qPrintable(outcome.err));
}

void TestCommandWords::bashCompletes_data() {
    QTest::addColumn<QStringList>("words"); // the last one is being typed
    QTest::addColumn<QStringList>("expected");
    const auto row = [](const char* name, const QStringList& words, const QStringList& expected) {
        QTest::newRow(name) << words << expected;
    };
    row("a command", {"belfry-cli", "in"}, {"inspect"});
    row("commands", {"belfry-cli", ""},
        {"bench", "chat", "compare", "completion", "doctor", "get", "inspect", "logits", "merge",
         "models", "plan", "serve", "tokenize"});
    row("an option", {"belfry-cli", "chat", "--thr"}, {"--threads"});
    row("not of this command", {"belfry-cli", "plan", "--prompt"}, {});
    row("a choice", {"belfry-cli", "plan", "demo", "--quant", "nf4"},
        {"nf4", "nf4-dq", "nf4+experts", "nf4-dq+experts"});
    row("a preset or a file", {"belfry-cli", "plan", "demo", "--device-map", "lea"},
        {"leaves of a map.json", "lean"});
    row("a file", {"belfry-cli", "chat", "demo", "--image", "le"}, {"leaves of a map.json"});
    row("the demo", {"belfry-cli", "chat", "dem"}, {"demo"});
    row("a number", {"belfry-cli", "chat", "demo", "--seed", ""}, {});
    row("a shell", {"belfry-cli", "completion", "z"}, {"zsh"});
}

void TestCommandWords::bashCompletes() {
    QFETCH(QStringList, words);
    QFETCH(QStringList, expected);
    const QString bash = QStandardPaths::findExecutable("bash");
    if (bash.isEmpty()) {
        QSKIP("needs bash");
    }
    QTemporaryDir folder;
    QFile file(folder.filePath("leaves of a map.json"));
    QVERIFY(file.open(QIODevice::WriteOnly));
    QString script = "cd '" + folder.path() + "'\n" + support::runCli({"completion", "bash"}).out;
    script += "COMP_WORDS=(";
    for (const QString& word : words) {
        script += "'" + word + "' ";
    }
    script += QString(")\nCOMP_CWORD=%1\n_belfry_cli\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n")
                  .arg(words.size() - 1);
    const support::ProgramOutcome outcome = support::runProgram(bash, {"--norc"}, script.toUtf8());
    QVERIFY2(outcome.err.isEmpty(), qPrintable(outcome.err));
    QStringList found = outcome.out.split('\n', Qt::SkipEmptyParts);
    found.sort();
    expected.sort();
    QCOMPARE(found, expected);
}

/// The scripts of the other shells at least know every option, and shells that are here accept
/// them.
void TestCommandWords::completionKnowsEveryOption() {
    for (const char* shell : {"bash", "zsh", "fish"}) {
        const support::ProgramOutcome script = support::runCli({"completion", shell});
        QCOMPARE(script.code, 0);
        for (const QString& command : kCommands) {
            for (const QString& option : optionsOf(command)) {
                const QString name = QLatin1String(shell) == QLatin1String("fish")
                                         ? " -l " + option.mid(2) + " "
                                         : option;
                QVERIFY2(script.out.contains(name), qPrintable(shell + name));
            }
        }
        if (const QString program = QStandardPaths::findExecutable(shell); !program.isEmpty()) {
            QTemporaryDir folder;
            QFile file(folder.filePath("script"));
            QVERIFY(file.open(QIODevice::WriteOnly));
            file.write(script.out.toUtf8());
            file.close();
            const support::ProgramOutcome read =
                support::runProgram(program, {"-n", file.fileName()});
            QVERIFY2(read.code == 0 && read.err.isEmpty(), qPrintable(read.err));
        }
    }
}

void TestCommandWords::manualKnowsEveryOption() {
    const QString groff = QStandardPaths::findExecutable("groff");
    QVERIFY(support::runCli({"manual"}).out.contains("belfry\\-cli\\-chat"));
    for (const QString& command : kCommands) {
        const support::ProgramOutcome page = support::runCli({"manual", command});
        QCOMPARE(page.code, 0);
        QVERIFY(page.out.startsWith(".TH BELFRY"));
        for (const QString& option : optionsOf(command)) {
            QVERIFY2(page.out.contains(QString(option).replace('-', "\\-") + "\\fR"),
                     qPrintable(option));
        }
        if (!groff.isEmpty()) {
            const support::ProgramOutcome set =
                support::runProgram(groff, {"-man", "-Tutf8", "-ww"}, page.out.toUtf8());
            QVERIFY2(set.code == 0 && set.err.isEmpty(), qPrintable(set.err));
            QVERIFY2(set.out.contains("this page"), qPrintable(set.out));
        }
    }
}

TEST_CLASS_WITH(QCoreApplication, TestCommandWords)
#include "tst_command_words.moc"
