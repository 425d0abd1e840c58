// SPDX-License-Identifier: Apache-2.0
// Recording with a microphone that hears what the test says: length, limit, level, the file, and
// what is told when there is no microphone or it goes away.
#include "tests/support/program/test_class.h"
#include "tests/ui/media/fake_sound.h"
#include "ui/media/sound_recorder.h"

#include <QFile>
#include <QSignalSpy>
#include <QTest>

using support::FakeInput;
using support::settle;
using ui::SoundRecorder;

namespace {

std::vector<int16_t> tone(size_t count, int16_t value) {
    std::vector<int16_t> samples(count, value);
    return samples;
}

} // namespace

class TestSoundRecorder : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void records();
    void stopsAtTheLimit();
    void cancels();
    void problems_data();
    void problems();
    void unplugged();
    void tooShort();
    void realMicrophoneMissing();
};

void TestSoundRecorder::records() {
    FakeInput input;
    input.rate = 44100;
    SoundRecorder recorder;
    QSignalSpy recorded(&recorder, &SoundRecorder::recorded);
    recorder.start(&input, 30.0);
    QCOMPARE(recorder.state(), SoundRecorder::State::Recording);
    QVERIFY(input.is_open);
    input.hear(tone(44100, 16384));
    QCOMPARE(recorder.seconds(), 1.0);
    QVERIFY(std::abs(recorder.level() - 0.5) < 0.001);
    input.hear(tone(22050, 100));
    QVERIFY(recorder.level() < 0.01);
    recorder.finish();
    QVERIFY(!input.is_open);
    QCOMPARE(recorder.state(), SoundRecorder::State::Writing);
    settle();
    QCOMPARE(recorded.size(), 1);
    QCOMPARE(recorder.state(), SoundRecorder::State::Idle);
    QFile file(recorded.first().first().toString());
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QByteArray bytes = file.readAll();
    std::vector<int16_t> all = tone(44100, 16384);
    const std::vector<int16_t> rest = tone(22050, 100);
    all.insert(all.end(), rest.begin(), rest.end());
    const QByteArray samples(reinterpret_cast<const char*>(all.data()),
                             static_cast<qsizetype>(all.size() * 2));
    QCOMPARE(bytes.size(), 44 + samples.size());
    QCOMPARE(bytes.left(4), QByteArray("RIFF"));
    QCOMPARE(bytes.mid(22, 2), QByteArray("\1\0", 2));         // mono
    QCOMPARE(bytes.mid(24, 4), QByteArray("\x44\xac\0\0", 4)); // 44100 Hz
    QCOMPARE(bytes.mid(44), samples);
    file.remove();
}

void TestSoundRecorder::stopsAtTheLimit() {
    FakeInput input;
    SoundRecorder recorder;
    QSignalSpy recorded(&recorder, &SoundRecorder::recorded);
    recorder.start(&input, 2.0);
    input.hear(tone(31000, 500));
    QCOMPARE(recorder.state(), SoundRecorder::State::Recording);
    input.hear(tone(5000, 500)); // over two seconds: ends by itself, cut exactly
    QVERIFY(!input.is_open);
    settle();
    QCOMPARE(recorded.size(), 1);
    QFile file(recorded.first().first().toString());
    QCOMPARE(file.size(), qint64{44 + 2 * 32000});
    file.remove();
}

void TestSoundRecorder::cancels() {
    FakeInput input;
    SoundRecorder recorder;
    QSignalSpy recorded(&recorder, &SoundRecorder::recorded);
    recorder.start(&input, 30.0);
    input.hear(tone(16000, 500));
    recorder.cancel();
    QVERIFY(!input.is_open);
    input.hear(tone(16000, 500)); // late news
    settle();
    QCOMPARE(recorded.size(), 0);
    QCOMPARE(recorder.state(), SoundRecorder::State::Idle);
    recorder.start(&input, 30.0); // and again, from nothing
    QCOMPARE(recorder.seconds(), 0.0);
    QCOMPARE(recorder.state(), SoundRecorder::State::Recording);
}

void TestSoundRecorder::problems_data() {
    support::addColumns<int, QString>("problem", "expected");
    QTest::addRow("no microphone")
        << static_cast<int>(ui::SoundProblem::NoDevice) << QStringLiteral("No microphone");
    QTest::addRow("not allowed") << static_cast<int>(ui::SoundProblem::CannotOpen)
                                 << QStringLiteral("denied");
    QTest::addRow("not built") << 0 << QStringLiteral("Qt Multimedia");
}

void TestSoundRecorder::problems() {
    QFETCH(int, problem);
    QFETCH(QString, expected);
    FakeInput input;
    input.to_open = static_cast<ui::SoundProblem>(problem);
    SoundRecorder recorder;
    QSignalSpy failed(&recorder, &SoundRecorder::failed);
    recorder.start(problem == 0 ? nullptr : &input, 30.0);
    QCOMPARE(failed.size(), 1);
    QCOMPARE(recorder.state(), SoundRecorder::State::Idle);
    QVERIFY2(recorder.problem().contains(expected), qPrintable(recorder.problem()));
    input.to_open.reset();
    recorder.start(&input, 30.0);
    QCOMPARE(recorder.state(), SoundRecorder::State::Recording);
    QCOMPARE(recorder.problem(), QString());
}

void TestSoundRecorder::unplugged() {
    FakeInput input;
    SoundRecorder recorder;
    QSignalSpy recorded(&recorder, &SoundRecorder::recorded);
    recorder.start(&input, 30.0);
    input.hear(tone(16000, 500));
    input.lose();
    settle();
    QCOMPARE(recorded.size(), 1); // what was said is kept, and the reason is told
    QVERIFY(recorder.problem().contains(QStringLiteral("gone")));
    QFile file(recorded.first().first().toString());
    QCOMPARE(file.size(), qint64{44 + 2 * 16000});
    file.remove();
}

void TestSoundRecorder::tooShort() {
    FakeInput input;
    SoundRecorder recorder;
    QSignalSpy failed(&recorder, &SoundRecorder::failed);
    recorder.start(&input, 30.0);
    input.hear(tone(100, 500));
    recorder.finish();
    settle();
    QCOMPARE(failed.size(), 1);
    QVERIFY(recorder.problem().contains(QStringLiteral("Nothing was recorded")));
}

void TestSoundRecorder::realMicrophoneMissing() {
    const std::unique_ptr<ui::SoundDevices> devices = ui::makeSoundDevices();
    SoundRecorder recorder;
    QSignalSpy failed(&recorder, &SoundRecorder::failed);
    recorder.start(devices->input(), 30.0);
    QTRY_COMPARE_WITH_TIMEOUT(failed.size(), 1, 20000);
    QCOMPARE(recorder.state(), SoundRecorder::State::Idle);
    QVERIFY2(recorder.problem().contains(devices->input() == nullptr
                                             ? QStringLiteral("Qt Multimedia")
                                             : QStringLiteral("No microphone")),
             qPrintable(recorder.problem()));
}

static int runRecorder(int argc, char** argv) {
    qputenv("PULSE_SERVER", "unix:/nonexistent/pulse"); // also where there is a microphone
    QCoreApplication program(argc, argv);
    TestSoundRecorder test;
    return QTest::qExec(&test, argc, argv);
}
TEST_MAIN(runRecorder)
#include "tst_sound_recorder.moc"
