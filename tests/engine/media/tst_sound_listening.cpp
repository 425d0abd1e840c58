// SPDX-License-Identifier: Apache-2.0
// What the user hears and sees of a recording: level and length at every rate, parts that join
// without a seam, peaks where the sound is, and clear errors.
#include "engine/media/audio.h"
#include "engine/media/sound_listening.h"
#include "tests/engine/media/sound_files.h"
#include "tests/support/program/test_class.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <cmath>

class TestSoundListening : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void wholeSound_data();
    void wholeSound();
    void partsJoin_data();
    void partsJoin();
    void channels();
    void peaks();
    void peaksOfLongRecordings();
    void errors();

private:
    std::filesystem::path write(const support::ByteVector& bytes) {
        const QString name = folder_.filePath(QStringLiteral("sound%1").arg(++files_));
        QFile file(name);
        if (file.open(QIODevice::WriteOnly)) {
            file.write(reinterpret_cast<const char*>(bytes.data()),
                       static_cast<qint64>(bytes.size()));
        }
        return name.toStdString();
    }
    QTemporaryDir folder_;
    int files_ = 0;
};

void TestSoundListening::wholeSound_data() {
    support::addColumns<int, int>("rate", "format");
    for (const int rate : {8000, 11025, 16000, 44100, 48000, 96000}) {
        QTest::addRow("WAV %d Hz", rate) << rate << (SF_FORMAT_WAV | SF_FORMAT_PCM_16);
    }
    QTest::addRow("FLAC 44100 Hz") << 44100 << (SF_FORMAT_FLAC | SF_FORMAT_PCM_16);
    QTest::addRow("Ogg Vorbis 44100 Hz") << 44100 << (SF_FORMAT_OGG | SF_FORMAT_VORBIS);
}

void TestSoundListening::wholeSound() {
    QFETCH(int, rate);
    QFETCH(int, format);
    const auto file =
        write(support::encodeSound(support::sine(440.0, 0.5, rate, rate), 1, rate, format));
    const auto part = engine::readListeningPart(file, 0.0, 20.0);
    QVERIFY2(part.has_value(), part ? "" : part.error().message.c_str());
    QVERIFY(part->is_last);
    QCOMPARE(part->samples.size(), size_t{2 * 48000});
    int highest = 0;
    for (size_t i = 0; i < part->samples.size(); i += 2) {
        QCOMPARE(part->samples[i], part->samples[i + 1]); // mono on both sides
        highest = std::max(highest, std::abs(int{part->samples[i]}));
    }
    // Half of full scale; a lossy format and the ends of a resampled clip may go a little beyond.
    QVERIFY2(highest > 16000 && highest < 18000, qPrintable(QString::number(highest)));
}

void TestSoundListening::partsJoin_data() {
    QTest::addColumn<int>("rate");
    for (const int rate : {11025, 44100, 48000}) {
        QTest::addRow("%d Hz", rate) << rate;
    }
}

void TestSoundListening::partsJoin() {
    QFETCH(int, rate);
    const auto file = write(support::encodeSound(support::sine(440.0, 0.5, rate, 7 * rate), 1, rate,
                                                 SF_FORMAT_WAV | SF_FORMAT_FLOAT));
    const auto whole = engine::readListeningPart(file, 0.0, 10.0);
    QVERIFY(whole.has_value());
    std::vector<int16_t> joined;
    for (const double start : {0.0, 2.0, 4.0, 6.0}) {
        const auto part = engine::readListeningPart(file, start, 2.0);
        QVERIFY(part.has_value());
        QCOMPARE(part->start_s, start);
        QCOMPARE(part->is_last, start == 6.0);
        joined.insert(joined.end(), part->samples.begin(), part->samples.end());
    }
    QCOMPARE(joined.size(), whole->samples.size());
    int largest = 0;
    for (size_t i = 0; i < joined.size(); ++i) {
        largest = std::max(largest, std::abs(joined[i] - whole->samples[i]));
    }
    QCOMPARE_LE(largest, 2); // rounding, no click
}

void TestSoundListening::channels() {
    // Left and right differ; of four channels both sides get the mean.
    const auto stereo = write(support::encodeSound({0.5F, -0.25F, 0.5F, -0.25F}, 2, 48000,
                                                   SF_FORMAT_WAV | SF_FORMAT_FLOAT));
    const auto two = engine::readListeningPart(stereo, 0.0, 1.0);
    QVERIFY(two.has_value());
    QCOMPARE(two->samples, (std::vector<int16_t>{16384, -8192, 16384, -8192}));
    const auto four = write(support::encodeSound({1.0F, 0.5F, 0.25F, 0.25F}, 4, 48000,
                                                 SF_FORMAT_WAV | SF_FORMAT_FLOAT));
    const auto mixed = engine::readListeningPart(four, 0.0, 1.0);
    QVERIFY(mixed.has_value());
    QCOMPARE(mixed->samples, (std::vector<int16_t>{16384, 16384}));
}

void TestSoundListening::peaks() {
    // A quiet second, then a loud one.
    std::vector<float> samples = support::sine(200.0, 0.1, 16000, 16000);
    const std::vector<float> loud = support::sine(200.0, 0.4, 16000, 16000);
    samples.insert(samples.end(), loud.begin(), loud.end());
    const auto file =
        write(support::encodeSound(samples, 1, 16000, SF_FORMAT_FLAC | SF_FORMAT_PCM_16));
    const auto peaks = engine::readSoundPeaks(file, 4000, {});
    QVERIFY2(peaks.has_value(), peaks ? "" : peaks.error().message.c_str());
    QCOMPARE(peaks->seconds, 2.0);
    QCOMPARE(peaks->peaks.size(), size_t{200}); // 10 ms each
    for (size_t i = 0; i < 200; ++i) {
        const double expected = i < 100 ? 0.25 : 1.0;
        QVERIFY2(std::abs(static_cast<double>(peaks->peaks[i]) - expected) < 0.01,
                 qPrintable(QString::number(i)));
    }
}

void TestSoundListening::peaksOfLongRecordings() {
    // 60 s in at most 100 peaks: pieces are joined, the one loud place stays where it is.
    std::vector<int16_t> samples(size_t{60} * 8000, 100);
    samples[size_t{45} * 8000] = 10000;
    const auto file = write(support::wavFile(support::pcm16(samples), {.rate = 8000}));
    const auto peaks = engine::readSoundPeaks(file, 100, {});
    QVERIFY(peaks.has_value());
    QCOMPARE(peaks->seconds, 60.0);
    QVERIFY(peaks->peaks.size() > 50 && peaks->peaks.size() <= 100);
    const auto loudest = std::max_element(peaks->peaks.begin(), peaks->peaks.end());
    const double piece_s = 0.64; // 10 ms, doubled six times
    QCOMPARE(static_cast<double>(loudest - peaks->peaks.begin()), std::floor(45.0 / piece_s));

    std::stop_source stop;
    stop.request_stop();
    const auto stopped = engine::readSoundPeaks(file, 100, stop.get_token());
    QVERIFY(!stopped.has_value());
    QCOMPARE(stopped.error().code, engine::ErrorCode::Cancelled);
}

void TestSoundListening::errors() {
    const auto file = write(support::smallWav());
    QCOMPARE(engine::readListeningPart(file, 0.0, 0.0).error().code,
             engine::ErrorCode::InvalidRequest);
    QCOMPARE(engine::readListeningPart(file, std::nan(""), 1.0).error().code,
             engine::ErrorCode::InvalidRequest);
    QCOMPARE(engine::readListeningPart(file, 5.0, 1.0).error().code,
             engine::ErrorCode::InvalidRequest); // the file has a quarter of a second
    const auto missing = engine::readListeningPart("/nonexistent/a.wav", 0.0, 1.0);
    QCOMPARE(missing.error().code, engine::ErrorCode::InvalidFile);
    QVERIFY(missing.error().message.find("a.wav") != std::string::npos);
    const auto text = write(support::fromText("no sound at all, only words"));
    QVERIFY(!engine::readListeningPart(text, 0.0, 1.0).has_value());
    QVERIFY(!engine::readSoundPeaks(text, 100, {}).has_value());
}

TEST_CLASS_WITH(QCoreApplication, TestSoundListening)
#include "tst_sound_listening.moc"
