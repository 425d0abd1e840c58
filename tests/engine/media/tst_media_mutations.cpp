// SPDX-License-Identifier: Apache-2.0
// Random byte changes in good files: whatever comes back is an error with a message or a picture or
// clip whose sizes agree. Meant to be run under the address and undefined-behaviour sanitizers,
// too. The seeds are fixed, so a failure repeats.
#include "engine/media/audio.h"
#include "engine/media/image.h"
#include "tests/engine/media/media_files.h"

#include <QTest>

#include <cmath>
#include <random>

using support::ByteVector;

namespace {

constexpr int kRuns = 200;

/// 1 to 4 changes; half of them fall in the first 120 bytes, where the headers are.
ByteVector mutated(ByteVector bytes, std::mt19937& random) {
    const unsigned changes = 1 + random() % 4;
    for (unsigned i = 0; i < changes && !bytes.empty(); ++i) {
        const size_t range = random() % 2 == 0 ? std::min<size_t>(bytes.size(), 120) : bytes.size();
        const size_t at = random() % range;
        switch (random() % 6) {
        case 0:
            bytes[at] = 0;
            break;
        case 1:
            bytes[at] = 0xff;
            break;
        case 2:
            bytes[at] ^= static_cast<uint8_t>(1U << (random() % 8));
            break;
        case 3:
            bytes.erase(bytes.begin() + static_cast<ptrdiff_t>(at));
            break;
        case 4:
            bytes.insert(bytes.begin() + static_cast<ptrdiff_t>(at), bytes[at]);
            break;
        default:
            bytes[at] = static_cast<uint8_t>(random());
            break;
        }
    }
    return bytes;
}

/// Makes the checksum of every chunk right again, so that changes get past libpng's first door.
ByteVector withRightChecksums(ByteVector png) {
    size_t at = 8;
    while (at + 12 <= png.size()) {
        const size_t length = (size_t{png[at]} << 24U) | (size_t{png[at + 1]} << 16U) |
                              (size_t{png[at + 2]} << 8U) | png[at + 3];
        if (length > png.size() - at - 12) {
            break;
        }
        const auto crc =
            static_cast<uint32_t>(crc32(0, png.data() + at + 4, static_cast<uInt>(length + 4)));
        for (size_t i = 0; i < 4; ++i) {
            png[at + 8 + length + i] = static_cast<uint8_t>(crc >> (24 - 8 * i));
        }
        at += 12 + length;
    }
    return png;
}

} // namespace

class TestMediaMutations : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void pictures_data();
    void pictures();
    void recordings_data();
    void recordings();
};

void TestMediaMutations::pictures_data() {
    QTest::addColumn<QByteArray>("kind");
    for (const char* kind :
         {"png", "png, right checksums", "png palette", "png palette, right checksums", "jpeg",
          "jpeg progressive", "jpeg cmyk", "webp lossy", "webp lossless"}) {
        QTest::newRow(kind) << QByteArray(kind);
    }
}

void TestMediaMutations::pictures() {
    QFETCH(QByteArray, kind);
    const ByteVector good = support::mediaFile(kind.toStdString());
    if (good.empty()) {
        QSKIP("this build cannot make the format");
    }
    QVERIFY(engine::decodeImage(support::asBytes(good)).has_value());
    std::mt19937 random(20260101);
    int decoded = 0;
    for (int run = 0; run < kRuns; ++run) {
        ByteVector file = mutated(good, random);
        if (kind.endsWith("checksums")) {
            file = withRightChecksums(std::move(file));
        }
        const auto info = engine::probeImage(support::asBytes(file));
        const auto image = engine::decodeImage(support::asBytes(file));
        if (!image.has_value()) {
            QVERIFY(!image.error().message.empty());
            continue;
        }
        ++decoded;
        QVERIFY(info.has_value());
        QCOMPARE(image->width, info->displayed.width);
        QCOMPARE(image->height, info->displayed.height);
        QCOMPARE(image->rgb.size(), static_cast<size_t>(image->width * image->height * 3));
        if (run % 16 == 0) {
            QVERIFY(engine::preprocessImage(*image, 70).has_value());
        }
    }
    qInfo("%d of %d decoded", decoded, kRuns);
}

void TestMediaMutations::recordings_data() {
    QTest::addColumn<QByteArray>("kind");
    for (const char* kind :
         {"wav", "wav float", "wav adpcm", "flac", "vorbis", "opus", "mp3", "aiff"}) {
        QTest::newRow(kind) << QByteArray(kind);
    }
}

void TestMediaMutations::recordings() {
    QFETCH(QByteArray, kind);
    const ByteVector good = support::mediaFile(kind.toStdString());
    if (good.empty()) {
        QSKIP("this libsndfile cannot write the format");
    }
    QVERIFY(engine::decodeAudio(support::asBytes(good)).has_value());
    std::mt19937 random(20260102);
    int decoded = 0;
    for (int run = 0; run < kRuns; ++run) {
        const ByteVector file = mutated(good, random);
        const auto info = engine::probeAudio(support::asBytes(file));
        const auto audio = engine::decodeAudio(support::asBytes(file));
        const auto part = engine::decodeAudio(support::asBytes(file), engine::AudioCut{0.02, 0.05});
        QVERIFY(info.has_value() || !info.error().message.empty());
        QVERIFY(part.has_value() || !part.error().message.empty());
        if (!audio.has_value()) {
            QVERIFY(!audio.error().message.empty());
            continue;
        }
        ++decoded;
        const auto count = static_cast<int64_t>(audio->samples.size());
        QVERIFY(count >= engine::kMinAudioSamples && count <= engine::kMaxAudioSamples);
        QCOMPARE(count, audio->source.samples_16k);
        for (const float sample : audio->samples) {
            QVERIFY(std::isfinite(sample));
        }
        if (run % 16 == 0) {
            QVERIFY(engine::logMel(audio->samples).has_value());
        }
    }
    qInfo("%d of %d decoded", decoded, kRuns);
}

QTEST_APPLESS_MAIN(TestMediaMutations)
#include "tst_media_mutations.moc"
