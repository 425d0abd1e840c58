// SPDX-License-Identifier: Apache-2.0
// Every kind of recording the decoder takes: exact samples where the format is exact, level and
// noise where it is not, and the resampler's quality.
#include "engine/media/audio.h"
#include "tests/engine/media/sound_files.h"
#include "tests/support/golden.h"
#include "tests/support/program/test_class.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <fstream>
#include <utility>

#ifdef _WIN32
#include <io.h>
#else
#include <unistd.h>
#endif

using support::ByteVector;

namespace {

engine::Result<engine::DecodedAudio> decode(const ByteVector& file,
                                            std::optional<engine::AudioCut> cut = std::nullopt) {
    return engine::decodeAudio(support::asBytes(file), cut);
}

/// Least-squares fit of a sine of known frequency to the middle of a clip.
struct SineFit {
    double amplitude = 0.0;
    double snr_db = 0.0;
};

SineFit fitSine(const std::vector<float>& clip, double hz, size_t margin) {
    const double step = 2.0 * std::numbers::pi * hz / 16000.0;
    double ss = 0.0;
    double cc = 0.0;
    double sc = 0.0;
    double xs = 0.0;
    double xc = 0.0;
    for (size_t i = margin; i + margin < clip.size(); ++i) {
        const double s = std::sin(step * static_cast<double>(i));
        const double c = std::cos(step * static_cast<double>(i));
        const auto x = static_cast<double>(clip[i]);
        ss += s * s;
        cc += c * c;
        sc += s * c;
        xs += x * s;
        xc += x * c;
    }
    const double det = ss * cc - sc * sc;
    const double a = (xs * cc - xc * sc) / det;
    const double b = (xc * ss - xs * sc) / det;
    double signal = 0.0;
    double noise = 0.0;
    for (size_t i = margin; i + margin < clip.size(); ++i) {
        const double model = a * std::sin(step * static_cast<double>(i)) +
                             b * std::cos(step * static_cast<double>(i));
        signal += model * model;
        noise += (static_cast<double>(clip[i]) - model) * (static_cast<double>(clip[i]) - model);
    }
    return {std::hypot(a, b), 10.0 * std::log10(signal / (noise + 1e-300))};
}

double rms(const std::vector<float>& clip, size_t margin) {
    double sum = 0.0;
    for (size_t i = margin; i + margin < clip.size(); ++i) {
        sum += static_cast<double>(clip[i]) * static_cast<double>(clip[i]);
    }
    return std::sqrt(sum / static_cast<double>(clip.size() - 2 * margin));
}

} // namespace

class TestAudioFormats : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void pcmSamplesAreExact_data();
    void pcmSamplesAreExact();
    void channelsAreAveraged();
    void goldenClip();
    void encodedFormats_data();
    void encodedFormats();
    void resamplerKeepsLevelAndPurity_data();
    void resamplerKeepsLevelAndPurity();
    void resamplerRemovesWhatCannotBeHeard();
    void mp3BehindOtherBytes_data();
    void mp3BehindOtherBytes();
    void broadcastWave64();
    void streamedWavWithoutLength();
    void lengthLimits();
    void cuts();
    void probe();
    void files();
};

void TestAudioFormats::pcmSamplesAreExact_data() {
    support::addColumns<QByteArray, int, int, QList<float>>("data", "format", "bits", "samples");
    const auto row = [](const char* name, const char* hex, int format, int bits,
                        const QList<float>& samples) {
        QTest::newRow(name) << QByteArray::fromHex(hex) << format << bits << samples;
    };
    // Little-endian values and what they mean, by the format's definition.
    row("8 bits, offset 128", "80ff00c0", 1, 8, {0.0F, 127.0F / 128.0F, -1.0F, 0.5F});
    row("16 bits", "0000ff7f00800040", 1, 16, {0.0F, 32767.0F / 32768.0F, -1.0F, 0.5F});
    row("24 bits", "000000000080000040ffffff", 1, 24, {0.0F, -1.0F, 0.5F, -1.0F / 8388608.0F});
    row("32 bits", "00000000000000800000004000000020", 1, 32, {0.0F, -1.0F, 0.5F, 0.25F});
    row("32-bit float", "000000000000003f0000c0bf0000803e", 3, 32, {0.0F, 0.5F, -1.5F, 0.25F});
    row("64-bit float", "0000000000000000000000000000e03f", 3, 64, {0.0F, 0.5F});
    // G.711: u-law ff is 0, 80 is 32124 of 32768, 00 the same below zero; A-law d5 is 8.
    row("u-law", "ff8000", 7, 8, {0.0F, 32124.0F / 32768.0F, -32124.0F / 32768.0F});
    row("A-law", "d555aa", 6, 8, {8.0F / 32768.0F, -8.0F / 32768.0F, 32256.0F / 32768.0F});
}

void TestAudioFormats::pcmSamplesAreExact() {
    QFETCH(QByteArray, data);
    QFETCH(int, format);
    QFETCH(int, bits);
    QFETCH(QList<float>, samples);
    ByteVector repeated;
    for (int i = 0; i < 100; ++i) {
        support::putBytes(repeated, ByteVector(data.begin(), data.end()));
    }
    const auto audio = decode(support::wavFile(
        repeated, {.format = static_cast<uint16_t>(format), .bits = static_cast<uint16_t>(bits)}));
    VERIFY_VALUE(audio);
    QCOMPARE(audio->samples.size(), static_cast<size_t>(samples.size()) * 100);
    for (size_t i = 0; i < audio->samples.size(); ++i) {
        QCOMPARE(audio->samples[i], samples[static_cast<qsizetype>(i) % samples.size()]);
    }
}

void TestAudioFormats::channelsAreAveraged() {
    std::vector<int16_t> values;
    for (int i = 0; i < 1000; ++i) {
        values.insert(values.end(), {16384, -8192, 4096});
    }
    const auto audio = decode(support::wavFile(support::pcm16(values), {.channels = 3}));
    QVERIFY(audio.has_value());
    QCOMPARE(audio->source.channels, int64_t{3});
    QCOMPARE(audio->samples.size(), size_t{1000});
    for (const float sample : audio->samples) {
        QCOMPARE(sample, 4096.0F / 32768.0F); // (16384 - 8192 + 4096) / 3
    }
    const auto many = decode(support::wavFile(
        support::pcm16(std::vector<int16_t>(size_t{16} * 500, 3200)), {.channels = 16}));
    QVERIFY(many.has_value());
    QCOMPARE(many->samples[17], 3200.0F / 32768.0F);
}

void TestAudioFormats::goldenClip() {
    const auto audio = engine::readAudioFile(support::goldenDir() / "media/clip1.wav");
    QVERIFY(audio.has_value());
    QCOMPARE(audio->samples.size(), size_t{21920});
    QCOMPARE(audio->source.sample_rate, int64_t{16000});
    QCOMPARE(audio->source.format, std::string("WAV, 16-bit PCM"));
    std::ifstream in(support::goldenDir() / "media/clip1.wav", std::ios::binary);
    const ByteVector file{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    QCOMPARE(file.size(), size_t{44 + 2 * 21920});
    for (size_t i = 0; i < audio->samples.size(); ++i) {
        const auto value = static_cast<int16_t>(file[44 + 2 * i] | (file[45 + 2 * i] << 8));
        QCOMPARE(audio->samples[i], static_cast<float>(value) / 32768.0F);
    }
}

void TestAudioFormats::encodedFormats_data() {
    QTest::addColumn<int>("format");
    QTest::addColumn<int>("rate");
    QTest::addColumn<int>("channels");
    QTest::addColumn<QByteArray>("name");
    QTest::addColumn<double>("snr_db"); ///< at least
    const auto row = [](const char* label, int format, int rate, int channels, const char* name,
                        double snr) {
        QTest::newRow(label) << format << rate << channels << QByteArray(name) << snr;
    };
    row("FLAC 16 bits", SF_FORMAT_FLAC | SF_FORMAT_PCM_16, 44100, 2, "FLAC, 16-bit PCM", 85.0);
    row("FLAC 24 bits", SF_FORMAT_FLAC | SF_FORMAT_PCM_24, 96000, 1, "FLAC, 24-bit PCM", 100.0);
    row("Ogg Vorbis", SF_FORMAT_OGG | SF_FORMAT_VORBIS, 44100, 2, "Ogg, Vorbis", 15.0);
    row("Ogg Opus", SF_FORMAT_OGG | SF_FORMAT_OPUS, 48000, 1, "Ogg, Opus", 15.0);
    row("MP3", SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III, 44100, 2, "MP3, layer III", 15.0);
    row("MP3 at 16 kHz", SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III, 16000, 1, "MP3, layer III",
        15.0);
    row("AIFF 16 bits", SF_FORMAT_AIFF | SF_FORMAT_PCM_16, 22050, 2, "AIFF, 16-bit PCM", 85.0);
    row("AIFC float", SF_FORMAT_AIFF | SF_FORMAT_FLOAT, 48000, 1, "AIFF, 32-bit float", 100.0);
    row("WAV extensible", SF_FORMAT_WAVEX | SF_FORMAT_PCM_24, 48000, 6, "WAV, 24-bit PCM", 100.0);
    row("RF64", SF_FORMAT_RF64 | SF_FORMAT_PCM_16, 8000, 1, "WAV, 16-bit PCM", 85.0);
    row("WAV IMA ADPCM", SF_FORMAT_WAV | SF_FORMAT_IMA_ADPCM, 22050, 1, "WAV, IMA ADPCM", 20.0);
    row("WAV Microsoft ADPCM", SF_FORMAT_WAV | SF_FORMAT_MS_ADPCM, 22050, 1, "WAV, Microsoft ADPCM",
        20.0);
    row("WAV big-endian", SF_FORMAT_WAV | SF_FORMAT_PCM_16 | SF_ENDIAN_BIG, 32000, 1,
        "WAV, 16-bit PCM", 85.0);
}

void TestAudioFormats::encodedFormats() {
    QFETCH(int, format);
    QFETCH(int, rate);
    QFETCH(int, channels);
    QFETCH(QByteArray, name);
    QFETCH(double, snr_db);
    const int64_t frames = 2 * int64_t{rate};
    const auto mono = support::sine(440.0, 0.5, rate, frames);
    std::vector<float> samples;
    for (const float s : mono) {
        samples.insert(samples.end(), static_cast<size_t>(channels), s);
    }
    const ByteVector file = support::encodeSound(samples, channels, rate, format);
    if (file.empty()) {
        QSKIP("this libsndfile cannot write the format");
    }
    const auto info = engine::probeAudio(support::asBytes(file));
    VERIFY_VALUE(info);
    const auto audio = decode(file);
    VERIFY_VALUE(audio);
    QCOMPARE(QByteArray::fromStdString(audio->source.format), name);
    QCOMPARE(audio->source.sample_rate, int64_t{rate});
    QCOMPARE(audio->source.channels, int64_t{channels});
    QCOMPARE(info->frames, audio->source.frames);
    QCOMPARE(info->samples_16k, static_cast<int64_t>(audio->samples.size()));
    // Coders with frames may add some silence, never drop sound.
    QVERIFY(audio->source.frames >= frames && audio->source.frames <= frames + 5000);
    const SineFit fit = fitSine(audio->samples, 440.0, 3000);
    qInfo("level %.5f, SNR %.1f dB, %lld frames more", fit.amplitude, fit.snr_db,
          static_cast<long long>(audio->source.frames - frames));
    QVERIFY(std::abs(fit.amplitude - 0.5) < 0.02);
    QVERIFY(fit.snr_db > snr_db);
}

void TestAudioFormats::resamplerKeepsLevelAndPurity_data() {
    support::addColumns<int, double>("rate", "hz");
    for (const int rate : {8000, 11025, 22050, 44100, 48000, 96000, 192000, 768000}) {
        QTest::addRow("%d Hz, low", rate) << rate << 200.0;
        QTest::addRow("%d Hz, high", rate) << rate << std::min(0.85 * rate / 2.0, 6800.0);
    }
    QTest::newRow("1000 Hz") << 1000 << 200.0;
}

void TestAudioFormats::resamplerKeepsLevelAndPurity() {
    QFETCH(int, rate);
    QFETCH(double, hz);
    const auto mono = support::sine(hz, 0.7, rate, 2 * int64_t{rate} + 1);
    const auto audio = decode(support::wavFile(
        support::float32(mono), {.format = 3, .rate = static_cast<uint32_t>(rate), .bits = 32}));
    VERIFY_VALUE(audio);
    // ceil((2 rate + 1) * 16000 / rate)
    QCOMPARE(static_cast<int64_t>(audio->samples.size()), 32000 + (16000 + rate - 1) / rate);
    const SineFit fit = fitSine(audio->samples, hz, 2000);
    qInfo("level %.6f, SNR %.1f dB", fit.amplitude, fit.snr_db);
    QVERIFY(std::abs(fit.amplitude - 0.7) < 0.0007); // 0.01 dB
    QVERIFY(fit.snr_db > 100.0);
}

void TestAudioFormats::resamplerRemovesWhatCannotBeHeard() {
    // 10 kHz does not exist at 16 kHz and must not come back as 6 kHz.
    const auto mono = support::sine(10000.0, 0.7, 44100, 88200);
    const auto audio =
        decode(support::wavFile(support::float32(mono), {.format = 3, .rate = 44100, .bits = 32}));
    QVERIFY(audio.has_value());
    const double left = 20.0 * std::log10(rms(audio->samples, 2000) / (0.7 / std::sqrt(2.0)));
    qInfo("alias %.1f dB", left);
    QVERIFY(left < -100.0);
}

namespace {

/// What C code prints to stderr while this lives.
class CapturedStderr {
public:
    CapturedStderr() : file_(std::tmpfile()), saved_(dup(2)) {
        std::fflush(stderr);
        dup2(fileno(file_), 2);
    }
    ~CapturedStderr() {
        stop();
        std::fclose(file_);
    }
    CapturedStderr(const CapturedStderr&) = delete;
    CapturedStderr& operator=(const CapturedStderr&) = delete;

    QByteArray stop() {
        if (saved_ >= 0) {
            std::fflush(stderr);
            dup2(saved_, 2);
            close(std::exchange(saved_, -1));
        }
        std::rewind(file_);
        QByteArray text(4096, '\0');
        text.resize(static_cast<int>(std::fread(text.data(), 1, 4096, file_)));
        return text;
    }

private:
    FILE* file_;
    int saved_;
};

} // namespace

void TestAudioFormats::mp3BehindOtherBytes_data() {
    QTest::addColumn<QByteArray>("before");
    QTest::addColumn<int>("cut"); ///< Bytes of the stream that are lost.
    const QByteArray tag = QByteArray("ID3\x04\0\0\0\0\0\x14", 10) + QByteArray(20, '\0');
    QTest::addRow("a recorder's zeros") << QByteArray(1000, '\0') << 0;
    QTest::addRow("many zeros") << QByteArray(60000, '\0') << 0;
    QTest::addRow("a few odd bytes") << QByteArray("\x01\xff\xe3junk\xff\xfb") << 0;
    QTest::addRow("a server's words") << QByteArray("ICY 200 OK\r\n\r\n") << 0;
    QTest::addRow("zeros behind a tag") << tag + QByteArray(500, '\0') << 0;
    QTest::addRow("two tags") << tag + tag << 0;
    QTest::addRow("the rest of a frame") << QByteArray() << 1777;
}

void TestAudioFormats::mp3BehindOtherBytes() {
    QFETCH(QByteArray, before);
    QFETCH(int, cut);
    const auto mono = support::sine(440.0, 0.5, 44100, 88200);
    const ByteVector whole =
        support::encodeSound(mono, 1, 44100, SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III);
    if (whole.empty()) {
        QSKIP("this libsndfile cannot write the format");
    }
    ByteVector file(before.begin(), before.end());
    file.insert(file.end(), whole.begin() + cut, whole.end());
    CapturedStderr captured;
    const auto audio = decode(file);
    const QByteArray printed = captured.stop();
    VERIFY_VALUE(audio);
    QCOMPARE(QByteArray::fromStdString(audio->source.format), QByteArray("MP3, layer III"));
    if (cut == 0) {
        QVERIFY(audio->samples == decode(whole)->samples);
    } else {
        QVERIFY(audio->source.frames > 70000);
        QVERIFY(fitSine(audio->samples, 440.0, 6000).snr_db > 15.0);
    }
#ifdef __GLIBC__
    QVERIFY2(printed.isEmpty(), printed.constData()); // of libmpg123
#endif
}

void TestAudioFormats::broadcastWave64() {
    const auto mono = support::sine(440.0, 0.5, 16000, 16000);
    ByteVector file = support::encodeSound(mono, 1, 16000, SF_FORMAT_RF64 | SF_FORMAT_PCM_16);
    QVERIFY(!file.empty());
    const auto plain = decode(file);
    const auto broadcast = decode(support::patched(file, 0, "BW64"));
    VERIFY_VALUE(broadcast);
    QVERIFY(broadcast->samples == plain->samples);
}

void TestAudioFormats::streamedWavWithoutLength() {
    const ByteVector data = support::pcm16(std::vector<int16_t>(1600, 1234));
    for (const int64_t declared : {int64_t{0xffffffff}, int64_t{0x7fffffff}, int64_t{0}}) {
        ByteVector file = support::wavFile(data, {.declared_data = declared});
        if (declared == 0) {
            file = support::patched(file, 4, std::string_view("\x08\0\0\0", 4)); // interrupted
        }
        const auto audio = decode(file);
        VERIFY_VALUE(audio);
        QCOMPARE(audio->samples.size(), size_t{1600});
    }
}

void TestAudioFormats::lengthLimits() {
    const auto clip = [](int64_t samples, uint32_t rate = 16000) {
        return decode(
            support::wavFile(ByteVector(static_cast<size_t>(samples) * 2), {.rate = rate}));
    };
    QVERIFY(clip(161).has_value());
    QVERIFY(clip(480000).has_value());
    QVERIFY(clip(1323000, 44100).has_value()); // exactly 30 s
    QCOMPARE(clip(1323000, 44100)->samples.size(), size_t{480000});
    const auto too_short = clip(160);
    QCOMPARE(too_short.error().code, engine::ErrorCode::InvalidRequest);
    QVERIFY(too_short.error().message.find("160 samples") != std::string::npos);
    QVERIFY(too_short.error().message.find("at least 161") != std::string::npos);
    const auto too_long = clip(480001);
    QCOMPARE(too_long.error().code, engine::ErrorCode::InvalidRequest);
    QVERIFY(too_long.error().message.find("30.00 seconds") != std::string::npos);
    QCOMPARE(too_long.error().details.at(1).second, std::string("480001"));
    const auto much_too_long = clip(683200);
    QVERIFY(much_too_long.error().message.find("42.70 seconds") != std::string::npos);
    QVERIFY(much_too_long.error().message.find("choose a part") != std::string::npos);
    QVERIFY(!clip(20, 1000).has_value() == false); // 20 ms at 1 kHz are 320 samples
}

void TestAudioFormats::cuts() {
    // 60 s at 8 kHz whose value says the second it belongs to.
    std::vector<int16_t> values;
    values.reserve(size_t{60} * 8000);
    for (int i = 0; i < 60 * 8000; ++i) {
        values.push_back(static_cast<int16_t>(256 * (i / 8000)));
    }
    const ByteVector file = support::wavFile(support::pcm16(values), {.rate = 8000});
    QVERIFY(!decode(file).has_value());
    const auto part = decode(file, engine::AudioCut{12.0, 3.0});
    VERIFY_VALUE(part);
    QCOMPARE(part->samples.size(), size_t{48000});
    for (int second = 0; second < 3; ++second) {
        const float middle = part->samples[static_cast<size_t>(second) * 16000 + 8000];
        QVERIFY(std::abs(middle - 256.0F * (12.0F + static_cast<float>(second)) / 32768.0F) <
                1e-4F);
    }
    QCOMPARE(part->source.frames, int64_t{480000}); // the file, not the part
    const auto tail = decode(file, engine::AudioCut{50.0, 30.0});
    QVERIFY(tail.has_value());
    QCOMPARE(tail->samples.size(), size_t{160000});
    QVERIFY(decode(file, engine::AudioCut{0.0, 30.0}).has_value());
    for (const auto& cut : {engine::AudioCut{60.0, 5.0}, engine::AudioCut{1e9, 5.0},
                            engine::AudioCut{-1.0, 5.0}, engine::AudioCut{0.0, 0.0},
                            engine::AudioCut{0.0, 31.0}, engine::AudioCut{std::nan(""), 5.0},
                            engine::AudioCut{0.0, std::nan("")}, engine::AudioCut{0.0, 0.001}}) {
        const auto bad = decode(file, cut);
        QVERIFY(!bad.has_value());
        QCOMPARE(bad.error().code, engine::ErrorCode::InvalidRequest);
    }
}

void TestAudioFormats::probe() {
    const auto info = engine::probeAudio(support::asBytes(support::smallWav(32000, 8000)));
    QVERIFY(info.has_value());
    QCOMPARE(info->frames, int64_t{32000});
    QCOMPARE(info->seconds, 4.0);
    QCOMPARE(info->samples_16k, int64_t{64000});
    QCOMPARE(engine::audioTokens(info->samples_16k), int64_t{100});
    // A clip too long to decode still tells its length.
    const auto long_clip = engine::probeAudio(support::asBytes(support::smallWav(800000)));
    QVERIFY(long_clip.has_value());
    QCOMPARE(long_clip->seconds, 50.0);
}

void TestAudioFormats::files() {
    QVERIFY(!engine::readAudioFile("no such folder/clip.wav").has_value());
    QTemporaryDir temporary;
    const std::filesystem::path path =
        std::filesystem::path(temporary.path().toStdString()) / "clip.mp3";
    const ByteVector wav = support::smallWav();
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(wav.data()), static_cast<std::streamsize>(wav.size()));
    // The content decides, not the suffix.
    QCOMPARE(engine::probeAudioFile(path)->format, std::string("WAV, 16-bit PCM"));
    QCOMPARE(engine::readAudioFile(path)->samples.size(), size_t{4000});
    std::ofstream(path, std::ios::binary | std::ios::trunc).flush();
    const auto empty = engine::readAudioFile(path);
    QVERIFY(empty.error().message.find("clip.mp3: the recording is empty") != std::string::npos);
}

TEST_CLASS(TestAudioFormats)
#include "tst_audio_formats.moc"
