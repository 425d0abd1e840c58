// SPDX-License-Identifier: Apache-2.0
// Random byte changes in good files: whatever comes back is an error with a message or a picture or
// clip whose sizes agree. Pictures are changed anywhere, and behind the checks that stop such
// changes: a good share of those must come back as pictures, or nothing was tried of the decoders.
// Meant to be run under the address and undefined-behaviour sanitizers, too. The seeds are fixed,
// so a failure repeats.
#include "engine/media/audio.h"
#include "engine/media/image.h"
#include "tests/engine/media/media_files.h"
#include "tests/engine/media/picture_mutations.h"
#include "tests/support/program/test_class.h"

#include <QTest>

#include <cmath>
#include <functional>
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

/// A picture or an error of the mutated file, both as they must be. True: a picture.
bool isPicture(const ByteVector& file, bool has_patches) {
    const auto info = engine::probeImage(support::asBytes(file));
    const auto image = engine::decodeImage(support::asBytes(file));
    if (!image.has_value()) {
        [&] { QVERIFY(!image.error().message.empty()); }();
        return false;
    }
    [&] {
        QVERIFY(info.has_value());
        QCOMPARE(image->width, info->displayed.width);
        QCOMPARE(image->height, info->displayed.height);
        QVERIFY(image->width * image->height <= engine::kMaxImagePixels);
        QCOMPARE(image->rgb.size(), static_cast<size_t>(image->width * image->height * 3));
        if (has_patches) {
            QVERIFY(engine::preprocessImage(*image, 70).has_value());
        }
    }();
    return true;
}

} // namespace

class TestMediaMutations : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void pictures_data();
    void pictures();
    void picturesInside_data();
    void picturesInside();
    void recordings_data();
    void recordings();
};

void TestMediaMutations::pictures_data() {
    QTest::addColumn<QByteArray>("kind");
    for (const char* kind : {"png", "png palette", "jpeg", "jpeg progressive", "jpeg cmyk",
                             "webp lossy", "webp lossless"}) {
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
        decoded += isPicture(mutated(good, random), run % 16 == 0) ? 1 : 0;
    }
    qInfo("%d of %d decoded", decoded, kRuns);
}

using Change = std::function<ByteVector(const ByteVector&, support::Random&)>;
Q_DECLARE_METATYPE(Change)

void TestMediaMutations::picturesInside_data() {
    QTest::addColumn<QByteArray>("kind");
    QTest::addColumn<Change>("change");
    QTest::addColumn<int>("at_least"); ///< How many of 200 must decode; half of what was seen.
    const auto row = [](const char* kind, const char* what, int at_least, const Change& change) {
        QTest::addRow("%s: %s", kind, what) << QByteArray(kind) << change << at_least;
    };
    row("png", "scan lines", 90, support::changedScanLines);
    row("png", "filters", 100, [](const ByteVector& png, support::Random& random) {
        return support::changedFilters(png, 1 + 40 * 3, random);
    });
    row("png", "deflated stream", 0, support::changedDeflate);
    row("png", "chunks", 70, support::changedChunkOrder);
    row("png palette", "scan lines", 30, support::changedScanLines);
    row("png palette", "palette", 90, support::changedPalette);
    row("png palette", "chunks", 60, support::changedChunkOrder);
    for (const char* kind : {"jpeg", "jpeg progressive", "jpeg cmyk"}) {
        row(kind, "entropy-coded data", 100, support::changedEntropyData);
        row(kind, "tables", 50, support::changedJpegTables);
    }
    row("webp lossy", "coded data", 95, support::changedWebpData);
    row("webp lossless", "coded data", 10, support::changedWebpData);
    row("webp lossless noise", "coded data", 60, support::changedWebpData);
    for (const char* kind : {"webp lossy", "webp lossless"}) {
        row(kind, "chunks", 65, support::changedWebpChunks);
    }
}

/// Changes that leave a picture a picture, as far as the outer form goes.
void TestMediaMutations::picturesInside() {
    QFETCH(QByteArray, kind);
    QFETCH(Change, change);
    QFETCH(int, at_least);
    const ByteVector good = support::mediaFile(kind.toStdString());
    if (good.empty()) {
        QSKIP("this build cannot make the format");
    }
    const auto original = engine::decodeImage(support::asBytes(good));
    QVERIFY(original.has_value());
    support::Random random(20261125);
    int decoded = 0;
    int other = 0;
    for (int run = 0; run < kRuns; ++run) {
        const ByteVector file = change(good, random);
        if (isPicture(file, run % 16 == 0)) {
            ++decoded;
            other += engine::decodeImage(support::asBytes(file))->rgb != original->rgb ? 1 : 0;
        }
    }
    qInfo("%d of %d decoded, %d to other pixels", decoded, kRuns, other);
    QVERIFY2(decoded >= at_least, qPrintable(QString::number(decoded)));
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

TEST_CLASS(TestMediaMutations)
#include "tst_media_mutations.moc"
