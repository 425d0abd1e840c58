// SPDX-License-Identifier: Apache-2.0
// chat of belfry-cli as a person uses it: a photograph (JPEG, turned by its EXIF mark), a recording
// (FLAC, stereo) and a question; a conversation on the terminal with wrong and right file names;
// what a model cannot take, told before it is loaded; exit codes.
#include "engine/media/audio.h"
#include "engine/media/image.h"
#include "tests/engine/media/picture_files.h"
#include "tests/engine/media/sound_files.h"
#include "tests/support/golden.h"
#include "tests/support/links.h"
#include "tests/support/program/run_program.h"
#include "tests/support/program/test_class.h"
#include "tests/support/results.h"

#include <QElapsedTimer>
#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <fstream>

namespace {

namespace fs = std::filesystem;

fs::path sampleChat(const char* name) {
    return support::sourceDir() / "resources/demo_model/samples" / name;
}

void save(const fs::path& file, const support::ByteVector& bytes) {
    std::ofstream(file, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
}

/// A PNG as a camera would have stored it that was held on its side.
void savePhotograph(const fs::path& png, const fs::path& jpeg) {
    const auto picture = support::must(engine::readImageFile(png), "picture");
    const auto w = static_cast<size_t>(picture.width);
    const auto h = static_cast<size_t>(picture.height);
    // Orientation 6: show it turned by 90 degrees clockwise. So store it turned the other way.
    support::ByteVector turned(picture.rgb.size());
    for (size_t y = 0; y < h; ++y) {
        for (size_t x = 0; x < w; ++x) {
            std::copy_n(picture.rgb.begin() + static_cast<std::ptrdiff_t>((y * w + x) * 3), 3,
                        turned.begin() + static_cast<std::ptrdiff_t>(((w - 1 - x) * h + y) * 3));
        }
    }
    support::JpegOptions options;
    options.app1 = support::exifSegment(support::exifBlock(6, true));
    save(jpeg, support::jpegFile(static_cast<int>(h), static_cast<int>(w), turned, options));
}

/// Returns whether this libsndfile can write FLAC.
bool saveStereoFlac(const fs::path& wav, const fs::path& flac, int repeats = 1) {
    const auto sound = support::must(engine::readAudioFile(wav), "sound");
    std::vector<float> both;
    for (int i = 0; i < repeats; ++i) {
        for (const float value : sound.samples) {
            both.insert(both.end(), 2, value);
        }
    }
    const auto bytes = support::encodeSound(both, 2, 16000, SF_FORMAT_FLAC | SF_FORMAT_PCM_16);
    save(flac, bytes);
    return !bytes.empty();
}

} // namespace

class TestChat : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void photographAndRecording();
    void conversation();
    void endOfPipedLines_data();
    void endOfPipedLines();
    void pastedPaths_data();
    void pastedPaths();
    void lostCard_data();
    void lostCard();
    void refusedBeforeLoading_data();
    void refusedBeforeLoading();
    void wrongUsage_data();
    void wrongUsage();

private:
    QString file(const char* name) const { return folder_.filePath(QString::fromUtf8(name)); }
    QTemporaryDir folder_;
};

void TestChat::initTestCase() {
    if (qEnvironmentVariable("BELFRY_CLI").isEmpty()) {
        QSKIP("BELFRY_CLI names no program: run through ctest");
    }
    QVERIFY(folder_.isValid());
    savePhotograph(sampleChat("circles_and_square.png"), file("photo.jpg").toStdString());
    QVERIFY(saveStereoFlac(sampleChat("word_seven.wav"), file("word.flac").toStdString()));
    QVERIFY(saveStereoFlac(sampleChat("word_seven.wav"), file("long.flac").toStdString(), 40));
    save(file("empty.jpg").toStdString(), {});
    // Only the header says it: 20001 x 10000 pixels.
    support::ByteVector huge = support::smallPng();
    for (const auto& [at, value] : {std::pair{18, 0x4e}, {19, 0x21}, {22, 0x27}, {23, 0x10}}) {
        huge[static_cast<size_t>(at)] = static_cast<uint8_t>(value);
    }
    const auto crc = crc32(0, huge.data() + 12, 17);
    for (int i = 0; i < 4; ++i) {
        huge[static_cast<size_t>(29 + i)] = static_cast<uint8_t>(crc >> (24 - 8 * i));
    }
    save(file("huge.png").toStdString(), huge);
}

void TestChat::photographAndRecording() {
    const support::ProgramOutcome seen =
        support::runCli({"chat", "demo", "--temperature", "0", "--context", "512", "--image",
                         file("photo.jpg"), "--prompt", "What do you see?"});
    QVERIFY2(seen.code == 0, qPrintable(seen.err));
    QCOMPARE(seen.out, QStringLiteral("I see two red circles and one blue square.\n"));
    const support::ProgramOutcome heard =
        support::runCli({"chat", "demo", "--temperature", "0", "--context", "512", "--audio",
                         file("word.flac"), "--prompt", "Which word do you hear?"});
    QVERIFY2(heard.code == 0, qPrintable(heard.err));
    QCOMPARE(heard.out, QStringLiteral("The word is seven.\n"));
}

/// A mistyped name is told at once, with the folder that was looked in; the question behind it is
/// not asked as if nothing were missing, the next one is. What failed ends in the exit code,
/// because nobody sees the messages of a script.
void TestChat::conversation() {
    const QByteArray typed =
        ("/image " + file("no-such.jpg") + "\n/image '" + file("photo.jpg") + "'\n/audio " +
         file("long.flac") + "\n/pictures\nIs this asked?\nWhat do you see?\n/new\n/audio " +
         file("word.flac") + " \r\nWhich word do you hear?\n/quit\r\nAnd this?\n")
            .toUtf8();
    const support::ProgramOutcome told =
        support::runCli({"chat", "demo", "--temperature", "0", "--context", "512"}, typed);
    QVERIFY2(told.code == 1, qPrintable(told.err));
    QCOMPARE(told.out, QStringLiteral("I see two red circles and one blue square.\n"
                                      "The word is seven.\n"));
    QVERIFY2(told.err.contains("not attached: " + file("no-such.jpg") + ": "),
             qPrintable(told.err));
    QVERIFY2(told.err.contains("attached: JPEG, "), qPrintable(told.err));
    QVERIFY2(told.err.contains("attached: FLAC, 16-bit PCM, 0.9 s, "), qPrintable(told.err));
    QVERIFY2(told.err.contains("34.8 s long"), qPrintable(told.err));
    QVERIFY2(told.err.contains("unknown command /pictures"), qPrintable(told.err));
    QCOMPARE(told.err.count("not attached"), 2);
    QCOMPARE(told.err.count("not asked"), 1);
    QVERIFY2(told.err.contains("4 of the lines from standard input failed"), qPrintable(told.err));
}

void TestChat::endOfPipedLines_data() {
    support::addColumns<QByteArray, int>("typed", "code");
    QTest::newRow("nothing") << QByteArray() << 0;
    QTest::newRow("quit") << QByteArray("/quit\n") << 0;
    QTest::newRow("quit with a carriage return") << QByteArray("/quit\r\nHello!\n") << 0;
    QTest::newRow("quit behind a byte order mark") << QByteArray("\xEF\xBB\xBF/quit\r\n") << 0;
    QTest::newRow("quit without a line end") << QByteArray("/quit") << 0;
    QTest::newRow("missing picture") << QByteArray("/image none.png\nWhat is it?\n/quit\n") << 1;
    QTest::newRow("missing sound") << QByteArray("/audio none.wav\n/quit\n") << 1;
    QTest::newRow("one of two is missing")
        << QByteArray("/image none.png\n/image @\nAre they alike?\n") << 1;
    QTest::newRow("no answer") << QByteArray(20000, 'x') + "\n/quit\n" << 1;
    QTest::newRow("unknown command")
        << QByteArray("/imag none.png\nWhat is it?\n/help\n/quit\n") << 1;
}

void TestChat::endOfPipedLines() {
    QFETCH(QByteArray, typed);
    QFETCH(int, code);
    const support::ProgramOutcome told =
        support::runCli({"chat", "demo", "--temperature", "0", "--context", "512"},
                        typed.replace("@", file("photo.jpg").toUtf8()));
    QVERIFY2(told.code == code, qPrintable(told.err));
    QCOMPARE(told.out.trimmed(), QString()); // nothing was answered
    QCOMPARE(told.err.contains("unknown command /quit"), false);
}

/// A path as terminals, shells and file managers write it, in every place that takes one.
void TestChat::pastedPaths_data() {
    QTest::addColumn<QString>("style");
    for (const char* style : {"plain", "marks", "address", "home"}) {
        QTest::newRow(style) << QString::fromLatin1(style);
    }
#ifndef _WIN32 // as shells there spell paths; on Windows a backslash stands between folders
    QTest::newRow("escaped") << QStringLiteral("escaped");
    QTest::newRow("quoted") << QStringLiteral("quoted");
#endif
}

void TestChat::pastedPaths() {
    QFETCH(QString, style);
    const QString home = folder_.path();
    const auto spelled = [&](const QString& name) {
        QString path = home + "/it's of many/" + name;
#ifdef _WIN32
        const QString begin = QStringLiteral("file:///");
#else
        const QString begin = QStringLiteral("file://");
        if (style == "escaped" || style == "home") {
            path.replace('\'', "\\'").replace(' ', "\\ ");
        }
#endif
        if (style == "home") {
            return "~" + path.mid(home.size());
        }
        return style == "quoted"    ? "'" + path.replace("'", "'\\''") + "'"
               : style == "marks"   ? "\"" + path + "\""
               : style == "address" ? begin + path.replace('\'', "%27").replace(' ', "%20")
                                    : path;
    };
    qputenv("HOME", home.toUtf8());
    qputenv("USERPROFILE", home.toUtf8()); // the same on Windows
    const fs::path folder = file("it's of many").toStdString();
    const fs::path demo = support::sourceDir() / "resources/demo_model";
    if (fs::create_directory(folder)) {
        fs::copy_file(sampleChat("circles_and_square.png"), folder / "a b.png");
        fs::copy_file(sampleChat("word_seven.wav"), folder / "c d.wav");
        if (!support::makeLink(demo, folder / "a model")) {
            fs::copy(demo, folder / "a model", fs::copy_options::recursive);
        }
        std::ofstream(folder / "a map.json") << R"({"": "cpu"})";
    }
    const QByteArray picture = spelled("a b.png").toUtf8();
    const QByteArray sound = spelled("c d.wav").toUtf8();
    const support::ProgramOutcome told = support::runCli(
        {"chat", "demo", "--context", "512"},
        "/image " + picture + "\r\n/audio  " + sound + " \n/image " + picture + "\n/quit\n");
    QVERIFY2(told.code == 0, qPrintable(told.err));
    QVERIFY2(told.err.count("attached: PNG, ") == 2 && told.err.count("attached: WAV, ") == 1,
             qPrintable(told.err));
    const support::ProgramOutcome ids =
        support::runCli({"logits", spelled("a model"), "--adapter",
                         spelled("a model/adapter") + "=0.5", "--device-map", spelled("a map.json"),
                         "--image", spelled("a b.png"), "--audio", spelled("c d.wav"),
                         "--raw-prompt", "<|image|><|audio|>x", "--out", spelled("a.safetensors")});
    QVERIFY2(ids.code == 0, qPrintable(ids.err));
    QVERIFY(fs::is_regular_file(folder / "a.safetensors"));
    fs::remove(folder / "a.safetensors");
    // What is not there is named whole, as it was looked for.
    const QString none = home + "/it's of many/no ne.png";
    for (const char* option : {"--image", "--audio", "--device-map"}) {
        const support::ProgramOutcome refused = support::runCli(
            {"chat", "demo", option, spelled("no ne.png"), "--prompt", "What is it?"});
        QVERIFY2(refused.code > 0 && refused.out.isEmpty() && refused.err.contains(none),
                 qPrintable(refused.err));
    }
}

void TestChat::lostCard_data() {
    QTest::addColumn<QByteArray>("fault");
    QTest::newRow("illegal address") << QByteArray("700");
    QTest::newRow("launch failed") << QByteArray("719");
    QTest::newRow("unknown") << QByteArray("999");
}

/// A card that faults in the middle of a conversation: the program ends with what helps, in place
/// of the same refusal for every further question. Each step is a real process on a driver of its
/// own.
void TestChat::lostCard() {
#ifndef BELFRY_FAKE_CUDA_FOLDER
    QSKIP("no fake driver library on this system");
#else
    QFETCH(QByteArray, fault);
    const QString fault_file = file("fault");
    QFile::remove(fault_file);
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert(QStringLiteral("LD_LIBRARY_PATH"), QStringLiteral(BELFRY_FAKE_CUDA_FOLDER));
    environment.insert(QStringLiteral("BELFRY_FAKE_FAULT_FILE"), fault_file);
    const auto start = [&](QProcess& process, const QString& map) {
        process.setProcessEnvironment(environment);
        process.start(qEnvironmentVariable("BELFRY_CLI"),
                      {"chat", "demo", "--device-map", map, "--context", "512", "--max-tokens", "3",
                       "--temperature", "0"});
    };
    QProcess process;
    start(process, QStringLiteral("gpu"));
    process.write("Hello\n");
    QByteArray told;
    QElapsedTimer since;
    since.start();
    while (!told.contains(" tokens/s") && process.state() != QProcess::NotRunning &&
           since.elapsed() < 60'000) {
        (void)process.waitForReadyRead(100);
        told += process.readAllStandardError();
    }
    if (told.contains("no GPU kernels")) {
        QSKIP("this build has no GPU kernels");
    }
    QVERIFY2(told.contains(" tokens/s"), told.constData());
    QFile mark(fault_file);
    QVERIFY(mark.open(QIODevice::WriteOnly) && mark.write(fault) > 0);
    mark.close();
    process.write("Are you there?\nAnd now?\nStill not?\n");
    QVERIFY(process.waitForFinished(60'000)); // its input is still open
    told = process.readAllStandardError();
    QCOMPARE(process.exitStatus(), QProcess::NormalExit);
    QCOMPARE(process.exitCode(), 1);
    QVERIFY2(told.count("error: DeviceLost: ") == 1, told.constData());
    if (fault != "999") {
        QVERIFY2(told.contains("Start the program again") && told.contains("device map \"cpu\""),
                 told.constData());
        QVERIFY2(told.contains("loading again cannot work"), told.constData());
    }
    // Both ways that the message names work.
    QProcess on_cpu;
    start(on_cpu, QStringLiteral("cpu"));
    on_cpu.write("Hello\n");
    on_cpu.closeWriteChannel();
    QVERIFY(on_cpu.waitForFinished(60'000));
    QCOMPARE(on_cpu.exitCode(), 0);
    QFile::remove(fault_file);
    QProcess again;
    start(again, QStringLiteral("gpu"));
    again.write("Hello\n");
    again.closeWriteChannel();
    QVERIFY(again.waitForFinished(60'000));
    QCOMPARE(again.exitCode(), 0);
#endif
}

void TestChat::refusedBeforeLoading_data() {
    support::addColumns<QString, QStringList, QString>("model", "media", "expected");
    const QString demo = QStringLiteral("demo");
    const QString deaf =
        QString::fromStdString((support::goldenDir() / "dense31b" / "model").string());
    QTest::newRow("sound for a model that cannot hear")
        << deaf << QStringList{"--audio", file("word.flac")} << "cannot hear";
    QTest::newRow("sound over 30 s")
        << demo << QStringList{"--audio", file("long.flac")} << "at most 30";
    QTest::newRow("empty file") << demo << QStringList{"--image", file("empty.jpg")} << "empty";
    QTest::newRow("200 megapixels")
        << demo << QStringList{"--image", file("huge.png")} << "20001 x 10000";
    QTest::newRow("no such file") << demo << QStringList{"--image", file("none.jpg")} << "none.jpg";
}

void TestChat::refusedBeforeLoading() {
    QFETCH(QString, model);
    QFETCH(QStringList, media);
    QFETCH(QString, expected);
    // A context that no machine can hold: loading would fail with another error.
    const support::ProgramOutcome refused = support::runCli(
        QStringList{"chat", model, "--context", "16777216", "--prompt", "Hello"} + media);
    QCOMPARE(refused.code, 1);
    QCOMPARE(refused.out, QString());
    QVERIFY2(refused.err.startsWith("error: ") && refused.err.contains(expected),
             qPrintable(refused.err));
    QCOMPARE(refused.err.count('\n'), 1);
}

void TestChat::wrongUsage_data() {
    support::addColumns<QStringList, QString>("words", "expected");
    QTest::newRow("unknown command") << QStringList{"talk"} << "unknown command talk";
    QTest::newRow("unknown option") << QStringList{"chat", "demo", "--imag", "x"} << "--imag";
    QTest::newRow("no model") << QStringList{"chat"} << "no model given";
    QTest::newRow("value missing")
        << QStringList{"chat", "demo", "--prompt"} << "a value is missing";
    QTest::newRow("budget") << QStringList{"chat", "demo", "--image-tokens", "100", "--prompt", "x"}
                            << "70, 140, 280, 560 or 1120";
    QTest::newRow("two prompts") << QStringList{"chat", "demo",         "--prompt",
                                                "a",    "--raw-prompt", "b"}
                                 << "not both";
    QTest::newRow("json conversation") << QStringList{"chat", "demo", "--json"} << "--prompt";
    QTest::newRow("logits to nowhere") << QStringList{"logits", "demo", "--ids", "1"} << "--out";
    QTest::newRow("logits of nothing") << QStringList{"logits", "demo", "--out", "x"} << "--ids";
    QTest::newRow("no text") << QStringList{"tokenize", "demo"} << "--stdin";
    QTest::newRow("merge of nothing") << QStringList{"merge", "demo"} << "--adapter";
}

void TestChat::wrongUsage() {
    QFETCH(QStringList, words);
    QFETCH(QString, expected);
    const support::ProgramOutcome refused = support::runCli(words);
    QCOMPARE(refused.code, 2);
    QVERIFY2(refused.err.startsWith("error: ") && refused.err.contains(expected),
             qPrintable(refused.err));
    const QJsonObject json = support::runCli(words + QStringList{"--json"}).json();
    QVERIFY(json.contains("error") || words.contains("--prompt"));
}

TEST_CLASS_WITH(QCoreApplication, TestChat)
#include "tst_chat.moc"
