// SPDX-License-Identifier: Apache-2.0
// The player of the chat, sample by sample, with a loudspeaker that takes samples when the test
// says so; and the real loudspeaker on a machine without one.
#include "tests/support/program/test_class.h"
#include "tests/ui/media/fake_sound.h"
#include "ui/media/sound_player.h"

#include <QSignalSpy>
#include <QTest>

using support::FakeDecoder;
using support::FakeDevices;
using support::fakeSample;
using support::settle;
using ui::SoundClip;
using ui::SoundPlayer;

namespace {

constexpr qint64 kSecond = ui::kSoundRate;

struct Fixture {
    explicit Fixture(double seconds = 50.0) : decoder(std::make_shared<FakeDecoder>(seconds)) {
        auto own = std::make_unique<FakeDevices>();
        devices = own.get();
        player.setDevices(std::move(own));
        player.setDecoder(decoder);
    }
    std::shared_ptr<FakeDecoder> decoder;
    FakeDevices* devices = nullptr;
    SoundPlayer player;
};

/// Whether `samples` are those of the recording from `frame` on.
bool areFrom(qint64 frame, const std::vector<int16_t>& samples) {
    for (size_t i = 0; i < samples.size(); i += 2) {
        const int16_t expected = fakeSample(frame + static_cast<qint64>(i / 2));
        if (samples[i] != expected || samples[i + 1] != -expected) {
            return false;
        }
    }
    return !samples.empty();
}

const SoundClip kTalk{QStringLiteral("/sounds/talk.wav")};
const SoundClip kSong{QStringLiteral("/sounds/song.wav")};

} // namespace

class TestSoundPlayer : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void playsEverySampleOnce();
    void pausesAndResumes();
    void seeks();
    void placeIsWhatIsHeard();
    void endsAndBeginsAgain();
    void playsAPart();
    void oneAtATime();
    void stopsWithItsMessage();
    void followsAMovedFile();
    void deviceProblems_data();
    void deviceProblems();
    void deviceLost();
    void brokenFile();
    void withoutTheLibrary();
    void realDeviceMissing();
};

void TestSoundPlayer::playsEverySampleOnce() {
    Fixture f;
    f.player.toggle(kTalk);
    QVERIFY(f.player.isPlaying(kTalk));
    settle();
    QCOMPARE(f.player.state(), SoundPlayer::State::Playing);
    // Over the seams between the decoded pieces, the last of them shorter.
    for (qint64 second = 0; second < 50; ++second) {
        QVERIFY2(areFrom(second * kSecond, f.devices->out.pull(kSecond)),
                 qPrintable(QString::number(second)));
        settle();
    }
    QCOMPARE(f.decoder->parts_read.load(), 3);
    QCOMPARE(f.player.state(), SoundPlayer::State::Stopped);
    QCOMPARE(f.devices->out.opened, 1);
}

void TestSoundPlayer::pausesAndResumes() {
    Fixture f;
    f.player.toggle(kTalk);
    settle();
    f.devices->out.pull(kSecond);
    f.player.toggle(kTalk);
    QCOMPARE(f.player.state(), SoundPlayer::State::Paused);
    QVERIFY(!f.player.isPlaying(kTalk));
    QVERIFY(f.devices->out.pull(kSecond).empty());
    QCOMPARE(f.player.position(kTalk), 1.0);
    f.player.toggle(kTalk);
    QCOMPARE(f.player.state(), SoundPlayer::State::Playing);
    QVERIFY(areFrom(kSecond, f.devices->out.pull(kSecond))); // nothing lost, nothing twice
    QCOMPARE(f.devices->out.opened, 1);
    // Paused before the first piece is there: it does not start by itself.
    f.player.toggle(kSong);
    f.player.toggle(kSong);
    settle();
    QCOMPARE(f.player.state(), SoundPlayer::State::Paused);
    QVERIFY(!f.devices->out.isRunning());
}

void TestSoundPlayer::seeks() {
    Fixture f;
    f.player.seek(kTalk, 41.5); // before it ever played: waits there
    settle();
    QCOMPARE(f.player.state(), SoundPlayer::State::Paused);
    QCOMPARE(f.player.position(kTalk), 41.5);
    QCOMPARE(f.devices->out.opened, 0);
    f.player.toggle(kTalk);
    settle();
    QVERIFY(areFrom(41 * kSecond + kSecond / 2, f.devices->out.pull(kSecond)));
    f.player.seek(kTalk, 3.0); // while it plays
    settle();
    QCOMPARE(f.player.state(), SoundPlayer::State::Playing);
    QVERIFY(areFrom(3 * kSecond, f.devices->out.pull(kSecond)));
    f.player.toggle(kTalk);
    f.player.seek(kTalk, 20.0); // while it is paused, on a seam
    QCOMPARE(f.player.state(), SoundPlayer::State::Paused);
    f.player.toggle(kTalk);
    settle();
    QVERIFY(areFrom(20 * kSecond, f.devices->out.pull(kSecond)));
}

void TestSoundPlayer::placeIsWhatIsHeard() {
    // What the device holds back is not heard yet; at the end it is waited for.
    Fixture f(1.0);
    f.devices->out.pending = kSecond / 4;
    f.player.toggle(kTalk);
    settle();
    f.devices->out.pull(kSecond / 2);
    QCOMPARE(f.player.position(kTalk), 0.25);
    f.devices->out.pull(kSecond / 2);
    QCOMPARE(f.player.state(), SoundPlayer::State::Playing); // a quarter is still in the device
    f.devices->out.pull(kSecond / 4);
    QCOMPARE(f.player.state(), SoundPlayer::State::Stopped);
}

void TestSoundPlayer::endsAndBeginsAgain() {
    Fixture f(2.0);
    f.player.toggle(kTalk);
    settle();
    f.devices->out.pull(2 * kSecond);
    f.devices->out.pull(1);
    QCOMPARE(f.player.state(), SoundPlayer::State::Stopped);
    QCOMPARE(f.player.position(kTalk), 0.0);
    QVERIFY(!f.devices->out.isRunning());
    f.player.toggle(kTalk);
    settle();
    QVERIFY(areFrom(0, f.devices->out.pull(kSecond)));
    f.player.seek(kTalk, 2.0); // the very end: from the beginning
    settle();
    QVERIFY(areFrom(0, f.devices->out.pull(kSecond)));
}

void TestSoundPlayer::playsAPart() {
    Fixture f(90.0);
    const SoundClip part{kTalk.file, 12.5, 30.0};
    f.player.toggle(part);
    settle();
    QVERIFY(areFrom(12 * kSecond + kSecond / 2, f.devices->out.pull(kSecond)));
    QCOMPARE(f.player.position(part), 1.0);
    QCOMPARE(f.player.position(kTalk), 0.0); // the whole recording is another clip
    f.player.seek(part, 29.0);
    settle();
    QVERIFY(areFrom(41 * kSecond + kSecond / 2, f.devices->out.pull(kSecond)));
    const std::vector<int16_t> after = f.devices->out.pull(10);
    QVERIFY(std::all_of(after.begin(), after.end(), [](int16_t value) { return value == 0; }));
    QCOMPARE(f.player.state(), SoundPlayer::State::Stopped);
}

void TestSoundPlayer::oneAtATime() {
    Fixture f;
    f.player.toggle(kTalk);
    settle();
    f.devices->out.pull(5 * kSecond);
    f.player.toggle(kSong);
    settle();
    QVERIFY(f.player.isPlaying(kSong));
    QVERIFY(!f.player.isPlaying(kTalk));
    QVERIFY(areFrom(0, f.devices->out.pull(kSecond)));
    // Late news of the first sound change nothing.
    Q_EMIT f.devices->out.finished(1);
    Q_EMIT f.devices->out.failed(1, ui::SoundProblem::Lost, {});
    QVERIFY(f.player.isPlaying(kSong));
}

void TestSoundPlayer::stopsWithItsMessage() {
    Fixture f;
    f.player.toggle(kTalk);
    settle();
    f.player.keepOnly({kSong.file, kTalk.file});
    QVERIFY(f.player.isPlaying(kTalk));
    f.player.keepOnly({kSong.file});
    QCOMPARE(f.player.state(), SoundPlayer::State::Stopped);
    QVERIFY(!f.devices->out.isRunning());
}

void TestSoundPlayer::followsAMovedFile() {
    Fixture f;
    f.player.toggle(kTalk);
    settle();
    f.player.moved(kTalk.file, QStringLiteral("/store/ab12.wav"));
    QVERIFY(f.player.isPlaying({QStringLiteral("/store/ab12.wav")}));
    QVERIFY(areFrom(0, f.devices->out.pull(kSecond)));
}

void TestSoundPlayer::deviceProblems_data() {
    support::addColumns<int, QString>("problem", "expected");
    QTest::addRow("none") << static_cast<int>(ui::SoundProblem::NoDevice)
                          << QStringLiteral("No sound device");
    QTest::addRow("busy") << static_cast<int>(ui::SoundProblem::CannotOpen)
                          << QStringLiteral("busy");
}

void TestSoundPlayer::deviceProblems() {
    QFETCH(int, problem);
    QFETCH(QString, expected);
    Fixture f;
    f.devices->out.to_open = static_cast<ui::SoundProblem>(problem);
    QSignalSpy failed(&f.player, &SoundPlayer::failed);
    f.player.toggle(kTalk);
    settle();
    QCOMPARE(f.player.state(), SoundPlayer::State::Stopped);
    QCOMPARE(failed.size(), 1);
    QVERIFY2(f.player.problem(kTalk).contains(expected), qPrintable(f.player.problem(kTalk)));
    f.devices->out.to_open.reset(); // connected now: the same button works
    f.player.toggle(kTalk);
    settle();
    QCOMPARE(f.player.problem(kTalk), QString());
    QVERIFY(areFrom(0, f.devices->out.pull(kSecond)));
}

void TestSoundPlayer::deviceLost() {
    Fixture f;
    f.player.toggle(kTalk);
    settle();
    f.devices->out.pull(7 * kSecond);
    f.devices->out.lose();
    QCOMPARE(f.player.state(), SoundPlayer::State::Stopped);
    QVERIFY(f.player.problem(kTalk).contains(QStringLiteral("is gone")));
    f.player.toggle(kTalk); // goes on where it was
    settle();
    QVERIFY(areFrom(7 * kSecond, f.devices->out.pull(kSecond)));
}

void TestSoundPlayer::brokenFile() {
    Fixture f;
    const SoundClip broken{QStringLiteral("/sounds/broken.wav")};
    f.player.toggle(broken);
    settle();
    QCOMPARE(f.player.state(), SoundPlayer::State::Stopped);
    QVERIFY(f.player.problem(broken).contains(QStringLiteral("damaged")));
    QCOMPARE(f.devices->out.opened, 0);
}

void TestSoundPlayer::withoutTheLibrary() {
    Fixture f;
    f.devices->has_devices = false;
    f.player.toggle(kTalk);
    settle();
    QVERIFY(f.player.problem(kTalk).contains(QStringLiteral("Qt Multimedia")));
}

void TestSoundPlayer::realDeviceMissing() {
    // The real path to the sound system, told that there is none: a sentence, no hang, no crash.
    SoundPlayer player;
    player.setDecoder(std::make_shared<FakeDecoder>(5.0));
    QSignalSpy failed(&player, &SoundPlayer::failed);
    player.toggle(kTalk);
    QTRY_COMPARE_WITH_TIMEOUT(failed.size(), 1, 20000);
    QCOMPARE(player.state(), SoundPlayer::State::Stopped);
    const QString why = player.problem(kTalk);
    if (player.devices()->output() == nullptr) {
        QVERIFY2(why.contains(QStringLiteral("Qt Multimedia")), qPrintable(why));
    } else {
        QVERIFY2(why.contains(QStringLiteral("No sound device")), qPrintable(why));
    }
    failed.clear();
    player.toggle(kTalk); // a second time as well
    QTRY_COMPARE_WITH_TIMEOUT(failed.size(), 1, 20000);
}

static int runPlayer(int argc, char** argv) {
    qputenv("PULSE_SERVER", "unix:/nonexistent/pulse"); // also where there is a device
    QCoreApplication program(argc, argv);
    TestSoundPlayer test;
    return QTest::qExec(&test, argc, argv);
}
TEST_MAIN(runPlayer)
#include "tst_sound_player.moc"
