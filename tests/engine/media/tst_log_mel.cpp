// SPDX-License-Identifier: Apache-2.0
// Log-mel frames against golden data, token counts against the published checks.
#include "engine/media/audio.h"
#include "tests/support/golden.h"
#include "tests/support/program/test_class.h"

#include <QTest>

#include <chrono>
#include <cmath>
#include <limits>
#include <numbers>

class TestLogMel : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void matchesGolden_data();
    void matchesGolden();
    void tokenCounts_data();
    void tokenCounts();
    void silenceIsTheFloor();
    void sineHasItsMagnitude();
    void shortestAndLongestClips();
    void refusals();
};

void TestLogMel::matchesGolden_data() {
    support::addColumns<QString, int>("file", "valid_frames");
    QTest::newRow("clip0") << "clip0.wav" << 59;
    QTest::newRow("clip1, one invalid frame in the reference") << "clip1.wav" << 136;
}

void TestLogMel::matchesGolden() {
    QFETCH(QString, file);
    QFETCH(int, valid_frames);
    const auto folder = support::goldenDir() / "media";
    const auto golden = support::readSafetensors(folder / "mel.safetensors");
    const std::string key = "media_" + file.toStdString();
    const std::vector<float> expected = golden.at(key + ".mel").floats();
    const std::vector<uint8_t>& mask = golden.at(key + ".mask").bytes;

    const auto audio = engine::readAudioFile(folder / file.toStdString());
    VERIFY_VALUE(audio);
    const auto mel = engine::logMel(audio->samples);
    QVERIFY(mel.has_value());
    QCOMPARE(mel->frames, int64_t{valid_frames});
    QCOMPARE(mel->frames, engine::audioFrames(static_cast<int64_t>(audio->samples.size())));
    QCOMPARE(mel->values.size(), static_cast<size_t>(valid_frames) * 128);
    size_t valid = 0;
    for (const uint8_t m : mask) {
        valid += m;
    }
    QCOMPARE(valid, static_cast<size_t>(valid_frames));

    double largest = 0.0;
    for (size_t i = 0; i < mel->values.size(); ++i) {
        const double difference =
            std::abs(static_cast<double>(mel->values[i]) - static_cast<double>(expected[i]));
        QVERIFY(!std::isnan(difference));
        largest = std::max(largest, difference);
    }
    qInfo("largest difference %.3g", largest);
    QVERIFY(largest <= 1e-5);
}

void TestLogMel::tokenCounts_data() {
    support::addColumns<int, int>("samples", "tokens");
    for (const auto& [samples, tokens] : {std::pair{16000, 25},
                                          {80000, 125},
                                          {123521, 193},
                                          {160000, 250},
                                          {480000, 750},
                                          {160, 0},
                                          {161, 1},
                                          {0, 0},
                                          {-5, 0},
                                          {801, 2},         // T = 5 -> 3 -> 2
                                          {800, 1},         // T = 4 -> 2 -> 1
                                          {960000, 750}}) { // capped
        QTest::addRow("%d samples", samples) << samples << tokens;
    }
}

void TestLogMel::tokenCounts() {
    QFETCH(int, samples);
    QFETCH(int, tokens);
    QCOMPARE(engine::audioTokens(samples), int64_t{tokens});
}

void TestLogMel::silenceIsTheFloor() {
    const std::vector<float> silence(16000, 0.0F);
    const auto mel = engine::logMel(silence);
    QVERIFY(mel.has_value());
    QCOMPARE(mel->frames, int64_t{99}); // floor((16000 - 161) / 160) + 1
    for (const float value : mel->values) {
        QCOMPARE(value, static_cast<float>(std::log(0.001)));
    }
}

void TestLogMel::sineHasItsMagnitude() {
    // 1000 Hz is bin 32 exactly. The periodic Hann window of 320 sums to 160, so a sine of
    // amplitude 1 has magnitude 80 there, whatever its phase.
    std::vector<float> sine(16000);
    for (size_t i = 0; i < sine.size(); ++i) {
        sine[i] = static_cast<float>(
            std::sin(2.0 * std::numbers::pi * 1000.0 * static_cast<double>(i) / 16000.0));
    }
    const auto mel = engine::logMel(sine);
    QVERIFY(mel.has_value());
    // A channel's centre is at mel 2840.023 * (j + 1) / 129; 1000 Hz is mel 1000 (999.99), so
    // channel 44 (centre 45 * 22.0157 = 990.7, next centre 1012.7) has the most weight on it.
    const float* frame = mel->values.data() + ptrdiff_t{50} * 128;
    const auto peak = std::max_element(frame, frame + 128) - frame;
    QVERIFY(peak == 44 || peak == 45);
    // Both channels together weigh bin 32 with 1 (the triangles of neighbours add up to one), and
    // the window's side bins 31 and 33 add to it: between 80 and 80 + 2 * 80.
    const double sum =
        std::exp(static_cast<double>(frame[44])) + std::exp(static_cast<double>(frame[45])) - 0.002;
    QVERIFY(sum > 80.0 && sum < 240.0);
    QCOMPARE(frame[0], static_cast<float>(std::log(0.001))); // the empty triangle
}

void TestLogMel::shortestAndLongestClips() {
    const std::vector<float> shortest(161, 0.25F);
    QCOMPARE(engine::logMel(shortest)->frames, int64_t{1});
    const std::vector<float> longest(480000, 0.1F);
    const auto start = std::chrono::steady_clock::now();
    const auto mel = engine::logMel(longest);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    qInfo("30 s of audio to log-mel: %.1f ms", took.count());
    QVERIFY(mel.has_value());
    QCOMPARE(mel->frames, int64_t{2999});
}

void TestLogMel::refusals() {
    QVERIFY(!engine::logMel({}).has_value());
    std::vector<float> clip(160, 0.0F);
    QCOMPARE(engine::logMel(clip).error().code, engine::ErrorCode::InvalidRequest);
    clip.resize(480001);
    QVERIFY(engine::logMel(clip).error().message.find("480001") != std::string::npos);
    clip.resize(1000);
    clip[777] = std::numeric_limits<float>::quiet_NaN();
    QVERIFY(engine::logMel(clip).error().message.find("sample 777") != std::string::npos);
    clip[777] = std::numeric_limits<float>::infinity();
    QVERIFY(!engine::logMel(clip).has_value());
}

TEST_CLASS(TestLogMel)
#include "tst_log_mel.moc"
