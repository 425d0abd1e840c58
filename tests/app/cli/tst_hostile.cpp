// SPDX-License-Identifier: Apache-2.0
// The programs as they are shipped, in places where programs break: streams that are closed, full
// or given up, files that are pipes and devices, limits, signals, odd environments, numbers beyond
// every range, names that are no text, names that a terminal would obey. Of every run: an exit code
// of its own (no signal), within seconds, nothing on stderr or in a table that a terminal obeys,
// and with --json one JSON object on stdout.
#include "tests/support/golden.h"
#include "tests/support/program/test_class.h"

#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>

namespace {

namespace fs = std::filesystem;

constexpr int kTimeLimit_ms = 60000; // a hang is told; a machine shared with others is not one

struct HostileOutcome {
    int code = -1;
    QByteArray out, err;
};

/// Whether a terminal would obey something in it.
bool isObeyed(const QByteArray& bytes) {
    const QString text = QString::fromUtf8(bytes);
    return std::any_of(text.begin(), text.end(), [](QChar c) {
        const char16_t u = c.unicode();
        return (u < 0x20 && u != '\n' && u != '\t') || (u >= 0x7f && u < 0xa0) ||
               (u >= 0x202a && u <= 0x202e) || (u >= 0x2066 && u <= 0x2069);
    });
}

} // namespace

class TestHostile : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void streams_data();
    void streams();
    void filesStayRightWithoutStreams();
    void outputThatIsNoPlainFile_data();
    void outputThatIsNoPlainFile();
    void specialModelFiles_data();
    void specialModelFiles();
    void specialDeviceMaps_data();
    void specialDeviceMaps();
    void limits_data();
    void limits();
    void signalsLeaveNothing_data();
    void signalsLeaveNothing();
    void environments_data();
    void environments();
    void numbers_data();
    void numbers();
    void namesThatAreNoText_data();
    void namesThatAreNoText();
    void escapeCodes_data();
    void escapeCodes();
    void escapeCodesOnATerminal();
    void randomCommandLines();
    void window_data();
    void window();
    void cleanupTestCase() { (void)sh("rm -rf $T/*"); } // also names that Qt cannot spell

private:
    /// Runs a line of shell; $B is belfry-cli, $W the window's program, $M a golden model, $A its
    /// adapter, $T the folder of the test.
    HostileOutcome sh(const QByteArray& line);
    /// And checks what holds of every run.
    HostileOutcome checked(const QByteArray& line);
    void copyModel(const fs::path& to) const;

    QTemporaryDir folder_;
    fs::path path_; ///< Path of folder_.
};

#define CHECKED(outcome, line)                                                                     \
    const HostileOutcome outcome = checked(line);                                                  \
    if (QTest::currentTestFailed()) {                                                              \
        return;                                                                                    \
    }

HostileOutcome TestHostile::sh(const QByteArray& line) {
    QProcess process;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert("B", qEnvironmentVariable("BELFRY_CLI"));
    environment.insert("W", qEnvironmentVariable("BELFRY_WINDOW", QStringLiteral(BELFRY_PROGRAM)));
    environment.insert("M", QString::fromStdString((support::goldenDir() / "e2b/model").string()));
    environment.insert(
        "A", QString::fromStdString((support::goldenDir() / "e2b/adapters/text").string()));
    environment.insert("T", folder_.path());
    environment.insert("HOME", folder_.path());
    environment.insert("XDG_CACHE_HOME", folder_.path() + "/cache");
    environment.insert("QT_QPA_PLATFORM", "offscreen");
    environment.insert("SHELL", "/bin/bash"); // script starts it; /bin/sh where it is not set
    process.setProcessEnvironment(environment);
    process.setWorkingDirectory(folder_.path());
    process.setStandardInputFile(QProcess::nullDevice());
    process.start("/bin/bash", {"-c", QString::fromLatin1(line)}); // bytes as \xff in $'...'
    HostileOutcome outcome;
    if (!process.waitForFinished(kTimeLimit_ms)) {
        process.kill();
        process.waitForFinished();
        outcome.err = "takes more than a minute";
        return outcome;
    }
    outcome.code = process.exitStatus() == QProcess::NormalExit ? process.exitCode() : 255;
    outcome.out = process.readAllStandardOutput();
    outcome.err = process.readAllStandardError();
    return outcome;
}

HostileOutcome TestHostile::checked(const QByteArray& line) {
    const HostileOutcome outcome = sh(line);
    const auto told = [&](const char* what) {
        return line + "\n" + what + "; exit code " + QByteArray::number(outcome.code) + "\n" +
               outcome.err.left(2000).replace('\x1b', "<ESC>");
    };
    [&] {
        QVERIFY2(outcome.code >= 0 && outcome.code <= 2, told("no exit code of its own"));
        QVERIFY2(!isObeyed(outcome.err), told("a terminal obeys stderr"));
        const bool is_json = line.contains("--json") && !line.contains('>');
        // A reply is the model's, and exact where it goes into a pipe.
        const bool is_reply = line.contains("$B chat");
        QVERIFY2(is_json || is_reply || !isObeyed(outcome.out), told("a terminal obeys stdout"));
        QVERIFY2(!is_json || QJsonDocument::fromJson(outcome.out).isObject(), told("not JSON"));
        QVERIFY2(outcome.code == 0 || !outcome.err.isEmpty() || line.contains("2>&-"),
                 told("not a word"));
    }();
    return outcome;
}

void TestHostile::copyModel(const fs::path& to) const {
    fs::copy(support::goldenDir() / "e2b/model", to, fs::copy_options::recursive);
}

void TestHostile::initTestCase() {
    if (qEnvironmentVariable("BELFRY_CLI").isEmpty()) {
        QSKIP("BELFRY_CLI names no program: run through ctest");
    }
    QVERIFY(folder_.isValid());
    path_ = folder_.path().toStdString();
    QCOMPARE(sh("$B plan demo").code, 0); // the speed of this computer is measured here
}

void TestHostile::streams_data() {
    QTest::addColumn<QByteArray>("line");
    QTest::addColumn<int>("code");
    QTest::addColumn<QByteArray>("said"); ///< On stderr.
    const QByteArray chat = "$B chat demo --max-tokens 3 --prompt x";
    const QByteArray lost = "standard output could not be written";
    QTest::newRow("chat, no input") << QByteArray("$B chat demo <&-") << 0 << QByteArray("> ");
    QTest::newRow("tokenize, no input")
        << QByteArray("$B tokenize demo --stdin --json <&-") << 0 << QByteArray();
    QTest::newRow("tokenize, a folder as input")
        << QByteArray("$B tokenize demo --stdin --json </") << 1 << QByteArray("standard input");
    QTest::newRow("chat, a folder as input")
        << QByteArray("$B chat demo </") << 1 << QByteArray("standard input");
    QTest::newRow("no output") << chat + " >&-" << 1 << lost;
    QTest::newRow("no errors") << chat + " 2>&-" << 0 << QByteArray();
    QTest::newRow("neither") << chat + " >&- 2>&-" << 1 << QByteArray();
    QTest::newRow("none of three") << chat + " <&- >&- 2>&-" << 1 << QByteArray();
    QTest::newRow("conversation, none of three")
        << QByteArray("$B chat demo <&- >&- 2>&-") << 0 << QByteArray();
    for (const char* command :
         {"chat demo --max-tokens 3 --prompt x", "plan demo", "plan demo --export accelerate",
          "inspect demo", "inspect $M --adapter $A", "tokenize demo --text x",
          "logits demo --raw-prompt x --out $T/lost.safetensors", "--help", "plan --help"}) {
        for (const char* json : {"", " --json"}) {
            const QByteArray line = QByteArray("$B ") + command + json;
            QTest::addRow("full: %s%s", command, json) << line + " >/dev/full" << 1 << lost;
        }
        QTest::addRow("given up: %s", command)
            << QByteArray("{ $B ") + command +
                   " 2>$T/said; echo $? >$T/code; } | true; "
                   "sleep 0.1; cat $T/said >&2; exit $(cat $T/code)"
            << -1 << QByteArray();
    }
    QTest::newRow("full, wrong words: what is wrong counts")
        << QByteArray("$B chat --json >/dev/full") << 2 << QByteArray("no model given");
    QTest::newRow("full, merge") << QByteArray("$B merge $M --adapter $A --out $T/m1 >/dev/full")
                                 << 1 << lost;
    QTest::newRow("full, conversation")
        << QByteArray("printf 'Hello!\\nMore?\\n' | $B chat demo --max-tokens 3 >/dev/full") << 1
        << lost;
    QTest::newRow("full stderr") << chat + " 2>/dev/full" << 0 << QByteArray();
}

void TestHostile::streams() {
    QFETCH(QByteArray, line);
    QFETCH(int, code);
    QFETCH(QByteArray, said);
    CHECKED(outcome, line);
    // A reader that is gone before anything is written: 0 only where it took all.
    QVERIFY2(code < 0 || outcome.code == code, line + "\n" + outcome.err);
    QVERIFY2(code >= 0 || outcome.code == 0 || outcome.err.contains("Broken pipe"), outcome.err);
    QVERIFY2(outcome.err.contains(said), line + "\n" + outcome.err);
    QVERIFY2(!outcome.err.contains("tokens/s") || !line.contains("<&-") || line.contains("prompt"),
             outcome.err);
}

/// A file opened later never takes a stream's number: nothing that is printed gets into it.
void TestHostile::filesStayRightWithoutStreams() {
    const QByteArray logits = "$B logits $M --ids 5,6,7 --last 2 --out $T/";
    QCOMPARE(sh(logits + "good.safetensors").code, 0);
    for (const char* closed : {"<&-", ">&-", "2>&-", "<&- >&-", "<&- >&- 2>&-", ">&- 2>&-"}) {
        CHECKED(outcome, logits + "same.safetensors " + closed);
        QCOMPARE(outcome.code, QByteArray(closed).contains(" >&-") || closed[0] == '>' ? 1 : 0);
        QCOMPARE(sh("cmp $T/good.safetensors $T/same.safetensors && rm $T/same.safetensors").code,
                 0);
    }
    QCOMPARE(sh("$B merge $M --adapter $A --out $T/merged").code, 0);
    CHECKED(merged, "$B merge $M --adapter $A --out $T/merged2 <&- >&- 2>&-");
    QCOMPARE(merged.code, 1);
    QCOMPARE(sh("diff -rq $T/merged $T/merged2").code, 0);
}

void TestHostile::outputThatIsNoPlainFile_data() {
    support::addColumns<QByteArray, int>("line", "code");
    const QByteArray logits = "$B logits $M --ids 5,6 --out ";
    QTest::newRow("pipe") << "mkfifo p1; cat p1 >got & " + logits +
                                 "p1 && wait && test -p p1 && cmp got good.safetensors"
                          << 0;
    QTest::newRow("pipe that nobody reads")
        << "mkfifo p2; " + logits + "p2; r=$?; test -p p2 || exit 9; exit $r" << 1;
    QTest::newRow("process substitution")
        << logits + ">(cat >got2) && sleep 0.3 && cmp got2 good.safetensors" << 0;
    QTest::newRow("link") << "echo x >real; ln -s real link; " + logits +
                                 "link && test -L link && cmp real good.safetensors"
                          << 0;
    QTest::newRow("link to nothing yet")
        << "ln -s later link2; " + logits + "link2 && test -L link2 && cmp later good.safetensors"
        << 0;
    QTest::newRow("link in a circle")
        << "ln -s round round; " + logits + "round; r=$?; test -L round || exit 9; exit $r" << 1;
    // Through a link of our own, never the system's: a fault must not replace that.
    const QByteArray out = "ln -s /proc/self/fd/1 out$$; " + logits + "out$$";
    QTest::newRow("standard output") << "{ " + out + "; } >s && cmp s good.safetensors" << 0;
    QTest::newRow("standard output into a pipe")
        << "{ " + out + "; } | cat >s2; cmp s2 good.safetensors" << 0;
    QTest::newRow("standard output, JSON")
        << "{ " + out + " --json; } >s3 && cmp s3 good.safetensors" << 0;
    QTest::newRow("folder") << logits + "$T" << 1;
    QTest::newRow("no such folder") << logits + "$T/none/x" << 1;
    QTest::newRow("empty name") << logits + "''" << 2;
    QTest::newRow("merge into a pipe")
        << QByteArray("mkfifo p3; $B merge $M --adapter $A --out p3; r=$?; test -p p3 || exit 9; "
                      "exit $r")
        << 1;
    QTest::newRow("merge into a link to a folder")
        << QByteArray("mkdir d; ln -s d dl; $B merge $M --adapter $A --out dl >o; r=$?; test -L "
                      "dl -a -f d/merge_report.json || exit 9; exit $r")
        << 0;
    if (::geteuid() == 0) { // nodes of our own, never the system's
        QTest::newRow("null device")
            << "mknod n c 1 3 || exit 0; " + logits + "n; r=$?; test -c n || exit 9; exit $r" << 0;
        QTest::newRow("full device")
            << "mknod f c 1 7 || exit 1; " + logits + "f; r=$?; test -c f || exit 9; exit $r" << 1;
        QTest::newRow("link to a device") << "mknod n2 c 1 3 || exit 0; ln -s n2 nl; " + logits +
                                                 "nl; r=$?; test -c n2 -a -L nl || exit 9; exit $r"
                                          << 0;
        QTest::newRow("disk") << "mknod b b 240 77 || exit 1; " + logits +
                                     "b; r=$?; test -b b || exit 9; exit $r"
                              << 1;
        QTest::newRow("cache folder's file is a device")
            << QByteArray("mkdir ca; c() { $B chat $M --quant nf4 --cache ca --raw-prompt x "
                          "--max-tokens 1 >o; }; c; f=$(ls ca/* | head -1); rm ca/*; mknod $f c 1 "
                          "7 || exit 0; c; test -c $f || exit 9")
            << 0;
    }
}

void TestHostile::outputThatIsNoPlainFile() {
    QFETCH(QByteArray, line);
    QFETCH(int, code);
    QCOMPARE(sh("$B logits $M --ids 5,6 --out good.safetensors").code, 0);
    CHECKED(outcome, "cd $T; " + line);
    QVERIFY2(outcome.code == code, line + "\n" + outcome.err);
}

void TestHostile::specialModelFiles_data() {
    QTest::addColumn<QByteArray>("name");
    for (const char* name :
         {"config.json", "model.safetensors", "model.safetensors.index.json", "tokenizer.json",
          "tokenizer_config.json", "generation_config.json", "processor_config.json",
          "chat_template.jinja", "special_tokens_map.json"}) {
        QTest::newRow(name) << QByteArray(name);
    }
}

void TestHostile::specialModelFiles() {
    QFETCH(QByteArray, name);
    const fs::path model = path_ / "special";
    copyModel(model);
    const fs::path file = model / name.toStdString();
    for (const char* make : {"mkfifo %", "mkdir %", "ln -s /dev/zero %", "ln -s % %",
                             "ln -s /etc/passwd %", "touch %", "mknod % c 1 5 || true"}) {
        fs::remove_all(file);
        const QByteArray made = QByteArray(make).replace("%", QByteArray::fromStdString(file));
        QCOMPARE(sh(made).code, 0);
        CHECKED(inspected, "$B inspect $T/special --json");
        CHECKED(asked, "$B tokenize $T/special --text x --json");
    }
    fs::remove_all(model);
}

void TestHostile::specialDeviceMaps_data() {
    support::addColumns<QByteArray, int>("make", "code");
    QTest::newRow("pipe") << QByteArray("mkfifo map") << 2;
    QTest::newRow("endless") << QByteArray("ln -s /dev/zero map") << 2;
    QTest::newRow("folder") << QByteArray("mkdir map") << 2;
    QTest::newRow("large") << QByteArray("truncate -s 40G map") << 2;
    QTest::newRow("process memory") << QByteArray("ln -s /proc/self/mem map") << 2;
    QTest::newRow("a file without a size") << QByteArray("ln -s /proc/self/status map") << 1;
    QTest::newRow("not there") << QByteArray("true") << 2;
    QTest::newRow("not UTF-8") << QByteArray("printf '{\"\\xff\":\"cpu\"}' >map") << 1;
    QTest::newRow("escape code") << QByteArray("printf '{\"\\033[31m\":\"cpu\"}' >map") << 1;
    QTest::newRow("deep") << QByteArray("head -c 100000 /dev/zero | tr '\\0' '{' >map") << 1;
}

void TestHostile::specialDeviceMaps() {
    QFETCH(QByteArray, make);
    QFETCH(int, code);
    QCOMPARE(sh("rm -rf $T/map; cd $T; " + make).code, 0);
    CHECKED(json, "$B plan demo --device-map $T/map --json");
    QVERIFY2(json.code == code, json.out + json.err);
    CHECKED(text, "$B plan demo --device-map $T/map");
    QVERIFY2(text.code == code, text.err);
    QVERIFY2(text.err.contains("map"), text.err);
}

void TestHostile::limits_data() {
    support::addColumns<QByteArray, QByteArray>("limit", "command");
    for (const char* limit : {"-f 0", "-f 4", "-f 100", "-n 4", "-n 12", "-v 60000", "-v 200000",
                              "-u 1", "-s 64", "-S -s 64", "-l 0"}) {
        const QByteArray l = limit;
#ifdef BELFRY_SANITIZED
        if (l.startsWith("-v") || l.startsWith("-s")) {
            continue; // sanitizers need terabytes of addresses
        }
#endif
        QTest::addRow("%s chat", limit) << l
                                        << QByteArray("$B chat $M --raw-prompt x --max-tokens "
                                                      "2 --quant nf4 --cache $T/limited --json");
        QTest::addRow("%s logits", limit)
            << l << QByteArray("$B logits $M --ids 5,6,7,8 --last 4 --out $T/limited.st --json");
        if (l.startsWith("-f") || l.startsWith("-n")) {
            QTest::addRow("%s merge", limit)
                << l << QByteArray("$B merge $M --adapter $A --out $T/limited.m --json");
        }
    }
}

/// A limit is an error with a message and leaves nothing behind, never a signal.
void TestHostile::limits() {
    QFETCH(QByteArray, limit);
    QFETCH(QByteArray, command);
    // stdout is a pipe: limits of files do not touch it.
    const HostileOutcome outcome = sh("rm -rf $T/limited*; ulimit " + limit + "; exec " + command);
    // A program that cannot be started at all is the system's word, not ours.
    const bool is_started = !outcome.err.contains("error while loading shared libraries") &&
                            outcome.code != 126 && outcome.code != 127;
    if (!is_started) {
        return;
    }
    QVERIFY2(outcome.code >= 0 && outcome.code <= 2,
             limit + ": " + QByteArray::number(outcome.code) + outcome.err);
    QVERIFY2(outcome.code == 0 || outcome.err.startsWith("error: "), outcome.err);
    QVERIFY2(QJsonDocument::fromJson(outcome.out).isObject() || outcome.code != 0, outcome.out);
    const HostileOutcome left =
        sh("cd $T; ls -d limited* limited/* 2>/dev/null | grep -E 'tmp|incomplete'");
    QVERIFY2(left.out.isEmpty(), left.out);
    if (outcome.code != 0) {
        QVERIFY(!fs::exists(path_ / "limited.st") && !fs::exists(path_ / "limited.m"));
    }
}

void TestHostile::signalsLeaveNothing_data() {
    support::addColumns<QByteArray, bool>("name", "is_asked_nicely");
    QTest::newRow("interrupt") << QByteArray("INT") << true;
    QTest::newRow("end") << QByteArray("TERM") << true;
    QTest::newRow("terminal closed") << QByteArray("HUP") << true;
    QTest::newRow("killed") << QByteArray("KILL") << false;
}

/// At any moment of a merge: a folder with the asked for name is a complete one.
void TestHostile::signalsLeaveNothing() {
    QFETCH(QByteArray, name);
    QFETCH(bool, is_asked_nicely);
    for (const char* delay : {"0.03", "0.1", "0.2", "0.3", "0.5"}) {
        const HostileOutcome outcome =
            sh("rm -rf $T/ended*; set -m; $B merge $M --adapter $A --out "
               "$T/ended >/dev/null & sleep " +
               QByteArray(delay) + "; kill -" + name + " $!; wait $!");
        QVERIFY2(!isObeyed(outcome.err), outcome.err);
        if (is_asked_nicely && fs::exists(path_ / "ended")) {
            QVERIFY2(fs::exists(path_ / "ended/merge_report.json"), delay);
        }
        QVERIFY2(!fs::exists(path_ / "ended") || fs::exists(path_ / "ended/merge_report.json"),
                 delay);
        const HostileOutcome left = sh("cd $T; ls -d ended.* ended/*tmp* 2>/dev/null");
        QVERIFY2(!is_asked_nicely || left.out.isEmpty(), left.out);
    }
    // A reply that was cut is not a whole one. The signal comes when its first words are there: a
    // fast machine writes all of it within a second.
    const HostileOutcome reply =
        sh("rm -f $T/reply; set -m; $B chat $M --ignore-eos --max-tokens 100000 "
           "--context 100100 --prompt x >$T/reply & for i in $(seq 500); do "
           "[ -s $T/reply ] && break; sleep 0.01; done; kill -" +
           name + " $!; wait $!");
    QVERIFY2(reply.code != 0, reply.err);
    QVERIFY2(!is_asked_nicely || reply.code == 1, reply.err);
    (void)sh("rm -rf $T/ended*");
}

void TestHostile::environments_data() {
    QTest::addColumn<QByteArray>("setting");
    for (const char* setting :
         {"LC_ALL=nothing.such", "LC_ALL=de_DE.UTF-8", "LC_ALL=tr_TR.UTF-8", "LANG=$'\\xff'",
          "HOME=", "HOME=/nonexistent", "HOME=/dev/null", "HOME=$'/\\xff'",
          "XDG_CACHE_HOME=/dev/null", "XDG_CACHE_HOME=relative", "TMPDIR=/nonexistent",
          "TERM=$'\\033[31m'", "OMP_NUM_THREADS=-1", "MALLOC_PERTURB_=85",
          "XDG_CACHE_HOME=$T/pipes", "XDG_CACHE_HOME=$T/endless", "XDG_CACHE_HOME=$T/unwritable"}) {
        QTest::newRow(setting) << QByteArray(setting);
    }
}

void TestHostile::environments() {
    QFETCH(QByteArray, setting);
    (void)sh("cd $T; mkdir -p pipes/Belfry endless/Belfry; mkfifo pipes/Belfry/machine-rates; "
             "ln -sf /dev/zero endless/Belfry/machine-rates; touch unwritable");
    CHECKED(chat, "env " + setting +
                      " $B chat demo --max-tokens 2 --temperature 0 --prompt Hello --json");
    QVERIFY2(chat.code == 0, chat.err);
    // 0.7 s of measuring 128 MiB for an estimate that nobody sees.
    QVERIFY2(!fs::is_regular_file(path_ / "pipes/Belfry/machine-rates"), "replaced");
    CHECKED(plan, "env " + setting + " $B plan demo --json");
    QVERIFY2(plan.code == 0, plan.err);
}

void TestHostile::numbers_data() {
    QTest::addColumn<QByteArray>("option");
    for (const char* option :
         {"--context", "--prefill-chunk", "--threads", "--max-tokens", "--top-k", "--seed",
          "--temperature", "--top-p", "--min-p", "--repetition-penalty", "--image-tokens",
          "--quant-block", "--sim-gpu", "--limit", "--last", "--ids"}) {
        QTest::newRow(option) << QByteArray(option);
    }
}

void TestHostile::numbers() {
    QFETCH(QByteArray, option);
    for (const char* value : {"nan", "inf", "1e309", "-2", "18446744073709551616", "", "0x10", "1,",
                              "$'\\xff'", "$'\\033[31m'", "cpu=nan", "cpu=-1GiB"}) {
        const QByteArray word = *value != '\0' ? QByteArray(value) : QByteArray("''");
        const bool is_of_logits = option == "--last" || option == "--ids";
        CHECKED(outcome,
                (is_of_logits ? QByteArray("$B logits demo --raw-prompt x --json --out $T/n ")
                              : QByteArray("$B chat demo --prompt x --json ")) +
                    option + " " + word);
        QVERIFY2(outcome.code == 2, word + ": " + outcome.err);
    }
}

void TestHostile::namesThatAreNoText_data() {
    support::addColumns<QByteArray, int>("line", "code");
    const QByteArray odd = "$'o\\xff\\xfe'";
    QTest::newRow("merge") << "$B merge $M --adapter $A --json --out $T/" + odd << 0;
    QTest::newRow("inspect") << "cp -r $M $T/" + odd + "m; $B inspect --json $T/" + odd + "m" << 0;
    QTest::newRow("bench") << "$B bench --json --no-towers --no-ceiling --prefill 4 --decode 2 "
                              "--depth 0 $T/" +
                                  odd + "m"
                           << 0;
    QTest::newRow("plan") << "$B plan --json $T/" + odd + "m" << 0;
    QTest::newRow("export") << "$B plan --json --export accelerate $T/" + odd + "m" << 0;
    QTest::newRow("logits") << "$B logits $T/" + odd + "m --json --ids 5 --out $T/" + odd + ".st"
                            << 0;
    QTest::newRow("chat") << "$B chat $T/" + odd + "m --json --max-tokens 2 --prompt " + odd << 0;
    QTest::newRow("tokenize") << "$B tokenize demo --json --text " + odd << 0;
    QTest::newRow("adapter") << "cp -r $A $T/" + odd + "a; $B inspect $M --json --adapter $T/" +
                                    odd + "a"
                             << 0;
    QTest::newRow("adapter in use")
        << "$B chat $M --json --max-tokens 2 --prompt x --adapter $T/" + odd + "a" << 0;
    QTest::newRow("merge of an adapter")
        << "$B merge $M --json --adapter $T/" + odd + "a --out $T/plain" << 0;
    QTest::newRow("missing model") << "$B chat --json --prompt x $T/" + odd + "none" << 1;
    QTest::newRow("missing picture") << "$B chat demo --json --prompt x --image $T/" + odd << 1;
    QTest::newRow("missing map") << "$B plan demo --json --device-map $T/" + odd + "none" << 2;
    QTest::newRow("command") << "$B " + odd + " --json" << 2;
    QTest::newRow("option") << "$B plan demo --json --" + odd << 2;
    QTest::newRow("choice") << "$B plan demo --json --quant " + odd << 2;
    QTest::newRow("cache")
        << "$B chat $M --json --max-tokens 2 --prompt x --quant nf4 --cache $T/" + odd + "c" << 0;
}

void TestHostile::namesThatAreNoText() {
    QFETCH(QByteArray, line);
    QFETCH(int, code);
    CHECKED(json, line);
    QVERIFY2(json.code == code, json.out + json.err);
    (void)sh("rm -rf $T/$'o\\xff\\xfe' $T/plain");
    CHECKED(text, QByteArray(line).replace("--json", ""));
    QVERIFY2(text.code == code, text.err);
    (void)sh("rm -rf $T/$'o\\xff\\xfe' $T/plain");
}

void TestHostile::escapeCodes_data() {
    support::addColumns<QByteArray, QByteArray>("file", "key");
    const auto row = [](const char* file, const char* key) {
        QTest::newRow(key) << QByteArray(file) << QByteArray(key);
    };
    row("model/config.json", "architectures");
    row("model/config.json", "model_type");
    row("model/config.json", "dtype");
    row("model/config.json", "hidden_activation");
    row("model/config.json", "layer_types");
    row("model/config.json", "quantization_config");
    row("model/generation_config.json", "eos_token_id");
    row("model/tokenizer.json", "model");
    row("model/tokenizer.json", "content");
    row("adapter/adapter_config.json", "peft_type");
    row("adapter/adapter_config.json", "target_modules");
    row("adapter/adapter_config.json", "bias");
    row("adapter/adapter_config.json", "base_model_name_or_path");
    row("adapter/adapter_config.json", "an_unknown_member");
    row("", "folder name");
    row("", "picture name");
    row("", "word");
}

namespace {

/// The value of every member with this name, wherever it stands.
void replaceMember(nlohmann::ordered_json& json, const std::string& key, const std::string& text) {
    if (json.is_object()) {
        for (auto& [name, value] : json.items()) {
            if (name == key) {
                value = text;
            } else {
                replaceMember(value, key, text);
            }
        }
    }
}

} // namespace

void TestHostile::escapeCodes() {
    QFETCH(QByteArray, file);
    QFETCH(QByteArray, key);
    const std::string code = "\x1b]0;x\x07\x1b[31m\xc2\x9b"
                             "5m\xe2\x80\xae";
    const fs::path folder = path_ / (key == "folder name" ? "esc" + code : "esc");
    fs::create_directories(folder);
    copyModel(folder / "model");
    fs::copy(support::goldenDir() / "e2b/adapters/text", folder / "adapter");
    if (!file.isEmpty()) {
        const fs::path changed = folder / file.toStdString();
        std::ifstream in(changed);
        auto json = nlohmann::ordered_json::parse(in, nullptr, false);
        if (json.is_discarded()) {
            json = nlohmann::ordered_json::object();
        }
        replaceMember(json, key.toStdString(), code);
        json[key.toStdString()] = code;
        std::ofstream(changed) << json.dump();
    }
    const QByteArray at = "cd $T/esc*; ";
    CHECKED(inspected, at + "$B inspect $PWD/model --adapter $PWD/adapter");
    CHECKED(planned, at + "$B plan $PWD/model --adapter $PWD/adapter");
    CHECKED(asked, at + "$B chat $PWD/model --adapter $PWD/adapter --context 64 --max-tokens 1 "
                        "--raw-prompt x >o");
    CHECKED(as_json, at + "$B inspect --json $PWD/model --adapter $PWD/adapter");
    if (key == "picture name") {
        CHECKED(picture, "$B chat demo --prompt x --image $'\\033[31m\\xc2\\x9b5m.png'");
        CHECKED(piped, "printf '/image \\033[31m\\302\\2335m.png\\nx\\n' | $B chat demo");
        QCOMPARE(piped.code, 1);
    } else if (key == "word") {
        CHECKED(command, "$B $'\\033[31m'");
        CHECKED(option, "$B plan demo --$'\\033[31m\\xe2\\x80\\xae'");
        CHECKED(map, "$B plan demo --device-map $'\\033[31m'");
        CHECKED(text, "$B tokenize demo --text $'\\033[31m'");
    }
    fs::remove_all(folder);
}

/// What goes to other programs as it is, a terminal gets filtered: a reply, JSON, an exported map.
void TestHostile::escapeCodesOnATerminal() {
    if (sh("script -qec true /dev/null").code != 0) {
        QSKIP("needs script of util-linux");
    }
    const QByteArray name = "$T/$'esc\\xe2\\x80\\xae\\xc2\\x9b5m'";
    QCOMPARE(sh("cp -r $M " + name).code, 0);
    QCOMPARE(
        sh("printf '{\"version\": 1, \"default\": \"cpu\", \"notes\": \"A long note, turned around "
           "from here on: \\342\\200\\256 so that a terminal would show it backwards\"}' "
           ">$T/notes.json")
            .code,
        0);
    const QByteArray exported = "$B plan demo --export belfry --device-map $T/notes.json";
    const QByteArray model = " $(printf %q " + name + ")";
    for (const QByteArray& line :
         {"$B inspect --json" + model, "$B plan --json" + model, "$B inspect" + model, exported}) {
        const HostileOutcome outcome = sh("script -qec \"" + line + "\" /dev/null");
        QVERIFY2(outcome.code == 0, outcome.out);
        QVERIFY2(outcome.out.size() > 100, outcome.out);
        QVERIFY2(!isObeyed(QByteArray(outcome.out).replace('\r', "")), outcome.out);
    }
    // Through a pipe the map is exact, with its notes.
    QVERIFY(sh(exported).out.contains("\xe2\x80\xae"));
}

void TestHostile::randomCommandLines() {
    const QByteArrayList words = {"chat",        "plan",     "inspect",      "logits",
                                  "tokenize",    "merge",    "bench",        "demo",
                                  "$M",          "$A",       "--json",       "--help",
                                  "--prompt",    "x",        "''",           "--adapter",
                                  "--adapter=1", "--out",    "--device-map", "cpu",
                                  "fit",         "--quant",  "nf4",          "--context",
                                  "1",           "0",        "-1",           "--",
                                  "-",           "=",        "--image",      "/",
                                  "/dev/null",   "--ids",    "1,2",          "--text",
                                  "--stdin",     "$'\\033'", "$'\\xff'",     "--limit",
                                  "cpu=1KiB",    "--export", "accelerate",   "--sim-gpu",
                                  "1GiB",        "--effect"};
    std::mt19937 random(11);
    for (int i = 0; i < 60; ++i) {
        QByteArray line = "$B";
        const int count = 1 + static_cast<int>(random() % 6);
        for (int k = 0; k < count; ++k) {
            const auto at = k == 0 ? random() % 7 : random() % static_cast<size_t>(words.size());
            line += " " + words[static_cast<qsizetype>(at)];
        }
        // Nothing of it may write outside.
        const HostileOutcome outcome =
            checked(line.replace("--out", "--system").replace("--json", ""));
        if (QTest::currentTestFailed()) {
            return;
        }
        (void)outcome;
    }
}

void TestHostile::window_data() {
    QTest::addColumn<QByteArray>("line");
    // Ends by the signal that a session's end sends; exit code 0 is an orderly end.
    const QByteArray end = " & w=$!; sleep 3; kill -TERM $w; wait $w";
    const QByteArray home = "mkdir -p $T/w; export XDG_DATA_HOME=$T/w XDG_CONFIG_HOME=$T/w "
                            "XDG_CACHE_HOME=$T/w; ";
    const QByteArray log = "p=$(dirname $(find $T/w -name belfry.log | head -1)); ";
    QTest::newRow("first start") << home + "$W" + end;
    QTest::newRow("no streams") << home + "$W <&- >&- 2>&-" + end;
    QTest::newRow("full output") << home + "$W >/dev/full 2>/dev/full" + end;
    QTest::newRow("file size limit") << home + "ulimit -f 20; $W demo" + end;
    QTest::newRow("few open files")
        << home +
               "(ulimit -n 16; $W) 2>$T/w/few; test $? = 1 || exit 9; grep -q 'ulimit -n' $T/w/few";
    QTest::newRow("few open files, more allowed") << home + "ulimit -Sn 16; $W" + end;
    QTest::newRow("log is a pipe") << home + log + "rm $p/belfry.log; mkfifo $p/belfry.log; $W" +
                                          end +
                                          "; r=$?; test -p $p/belfry.log || exit 9; rm "
                                          "$p/belfry.log; touch $p/belfry.log; exit $r";
    QTest::newRow("session is a pipe")
        << home + log + "rm -f $p/session.json; mkfifo $p/session.json; $W" + end +
               "; r=$?; test -p $p/session.json || exit 9; rm $p/session.json; exit $r";
    QTest::newRow("settings are a pipe")
        << home +
               "rm -rf $T/w/Belfry/belfry.ini; mkdir -p $T/w/Belfry; mkfifo "
               "$T/w/Belfry/belfry.ini; $W" +
               end +
               "; r=$?; test -p $T/w/Belfry/belfry.ini || exit 9; rm $T/w/Belfry/belfry.ini; "
               "exit $r";
    QTest::newRow("rates are endless")
        << home +
               "f=$(find $T/w -name machine-rates | head -1); test -n \"$f\" || f=$T/w/machine-"
               "rates; rm -f $f; ln -s /dev/zero $f; $W demo" +
               end + "; r=$?; rm $f; exit $r";
    QTest::newRow("version to a full disk")
        << QByteArray("$W --version >/dev/full; test $? = 1 || exit 9; $W --help >&-; test $? = 1");
}

void TestHostile::window() {
    QFETCH(QByteArray, line);
    if (QByteArray(BELFRY_PROGRAM).isEmpty()) {
        QSKIP("built without the window");
    }
    const HostileOutcome outcome = sh(line);
    QVERIFY2(outcome.code == 0, QByteArray::number(outcome.code) + " " + outcome.err);
    QVERIFY2(!isObeyed(outcome.err), outcome.err);
}

TEST_CLASS_WITH(QCoreApplication, TestHostile)
#include "tst_hostile.moc"
