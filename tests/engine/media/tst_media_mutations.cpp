// SPDX-License-Identifier: Apache-2.0
// Random byte changes in good files: whatever comes back is an error with a message or a picture or
// clip whose sizes agree. Meant to be run under the address and undefined-behaviour sanitizers,
// too. The seeds are fixed, so a failure repeats.
#include "engine/media/audio.h"
#include "engine/media/image.h"
#include "tests/engine/media/picture_files.h"
#include "tests/engine/media/sound_files.h"

#include <QTest>

#include <cmath>
#include <random>

#ifdef BELFRY_HAS_WEBP
#include <webp/encode.h>
#endif

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

ByteVector makeFile(const QByteArray& kind) {
    const auto clip = support::sine(440.0, 0.5, 16000, 3000);
    const auto sound = [&](int format) { return support::encodeSound(clip, 1, 16000, format); };
    if (kind.startsWith("png palette")) {
        support::PngHeader h;
        h.colour = 3;
        h.interlace = 1;
        ByteVector chunks = support::pngChunk("PLTE", ByteVector(48, 77));
        support::putBytes(chunks, support::pngChunk("tRNS", ByteVector(9, 5)));
        support::putBytes(chunks, support::pngChunk("eXIf", support::exifBlock(6, true)));
        return support::pngFile(
            h, support::pngScanLines(h, [](int64_t x, int64_t, int) { return unsigned(x); }),
            chunks);
    }
    if (kind.startsWith("png")) {
        return support::smallPng();
    }
    if (kind == "jpeg") {
        return support::smallJpeg({.quality = 80,
                                   .has_subsampling = true,
                                   .app1 = support::exifSegment(support::exifBlock(8, false))});
    }
    if (kind == "jpeg progressive") {
        return support::smallJpeg({.quality = 80, .is_progressive = true});
    }
    if (kind == "jpeg cmyk") {
        return support::jpegFile(17, 13, ByteVector(size_t{17} * 13 * 4, 99),
                                 {.input = JCS_CMYK, .stored = JCS_YCCK});
    }
#ifdef BELFRY_HAS_WEBP
    if (kind.startsWith("webp")) {
        ByteVector rgb;
        for (int i = 0; i < 40 * 30 * 3; ++i) {
            rgb.push_back(static_cast<uint8_t>(i * 7));
        }
        uint8_t* memory = nullptr;
        const size_t size = kind == "webp lossless"
                                ? WebPEncodeLosslessRGB(rgb.data(), 40, 30, 120, &memory)
                                : WebPEncodeRGB(rgb.data(), 40, 30, 120, 70.0F, &memory);
        ByteVector out(memory, memory + size);
        WebPFree(memory);
        return out;
    }
#endif
    if (kind == "wav") {
        return support::smallWav(3000);
    }
    if (kind == "wav float") {
        return support::wavFile(support::float32(clip), {.format = 3, .rate = 44100, .bits = 32});
    }
    if (kind == "wav adpcm") {
        return sound(SF_FORMAT_WAV | SF_FORMAT_IMA_ADPCM);
    }
    if (kind == "flac") {
        return sound(SF_FORMAT_FLAC | SF_FORMAT_PCM_16);
    }
    if (kind == "vorbis") {
        return sound(SF_FORMAT_OGG | SF_FORMAT_VORBIS);
    }
    if (kind == "opus") {
        return sound(SF_FORMAT_OGG | SF_FORMAT_OPUS);
    }
    if (kind == "mp3") {
        return sound(SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III);
    }
    return kind == "aiff" ? sound(SF_FORMAT_AIFF | SF_FORMAT_PCM_16) : ByteVector{};
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
    const ByteVector good = makeFile(kind);
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
    const ByteVector good = makeFile(kind);
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
