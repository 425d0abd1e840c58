// SPDX-License-Identifier: Apache-2.0
// The libraries that read PNG and JPEG run out of memory at every allocation of theirs, once and
// from then on: an OutOfMemory error or the same picture as with memory, and never a word about a
// damaged file. Those for WebP and for sounds would crash (they do not look at every answer): there
// the check before each of them fails instead. (Our own allocations: tst_every_allocation.)
#include "engine/media/audio.h"
#include "engine/media/image.h"
#include "tests/engine/media/media_files.h"
#include "tests/support/memory/failing_library_memory.h"
#include "tests/support/program/test_class.h"

#include <QTest>

using support::ByteVector;
using support::LibraryMemoryFault;

namespace {

/// What was read: bytes of a picture or samples of a clip.
struct Content {
    std::vector<uint8_t> pixels;
    std::vector<float> samples;
    bool operator==(const Content&) const = default;
};

engine::Result<Content> read(const ByteVector& file, bool is_picture) {
    const auto bytes = std::as_bytes(std::span(file));
    Content content;
    if (is_picture) {
        engine::Result<engine::DecodedImage> image = engine::decodeImage(bytes);
        if (!image.has_value()) {
            return std::move(image).error();
        }
        content.pixels = std::move(image->rgb);
        return content;
    }
    engine::Result<engine::DecodedAudio> sound = engine::decodeAudio(bytes);
    if (!sound.has_value()) {
        return std::move(sound).error();
    }
    content.samples = std::move(sound->samples);
    return content;
}

} // namespace

class TestMediaMemory : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void everyAllocation_data();
    void everyAllocation();
};

void TestMediaMemory::everyAllocation_data() {
    QTest::addColumn<bool>("is_picture");
    for (const char* kind : {"png", "png palette", "jpeg", "jpeg progressive", "jpeg cmyk",
                             "webp lossy", "webp lossless"}) {
        QTest::newRow(kind) << true;
    }
    for (const char* kind :
         {"wav", "wav float", "wav adpcm", "aiff", "flac", "mp3", "vorbis", "opus"}) {
        QTest::newRow(kind) << false;
    }
}

void TestMediaMemory::everyAllocation() {
    QFETCH(bool, is_picture);
    const ByteVector file = support::mediaFile(QTest::currentDataTag());
    if (file.empty()) {
        QSKIP("no library here writes it");
    }
#ifdef __SANITIZE_ADDRESS__
    QSKIP("the address sanitizer's malloc cannot be replaced");
#endif
    // The program: libpng asks through it, and the checks are there.
    const bool is_safe = is_picture && !QByteArray(QTest::currentDataTag()).startsWith("webp");
    const std::vector<std::string> libraries =
        is_safe ? std::vector<std::string>{"program", "libpng", "libz.", "libjpeg"}
                : std::vector<std::string>{"program"};
    (void)read(file, is_picture); // what is made once in a program
    const engine::Result<Content> expected = read(file, is_picture);
    VERIFY_VALUE(expected);
    int64_t calls = 0;
    {
        LibraryMemoryFault fault(libraries, 0, false);
        (void)read(file, is_picture);
        fault.end();
        calls = LibraryMemoryFault::calls();
        QVERIFY(LibraryMemoryFault::libraries() > (is_safe ? 1 : 0));
    }
    QVERIFY(calls > 0);
    int64_t errors = 0;
    for (const bool is_sticky : {false, true}) {
        for (int64_t n = 1; n <= calls; ++n) {
            LibraryMemoryFault fault(libraries, n, is_sticky);
            const engine::Result<Content> result = read(file, is_picture);
            fault.end();
            const QByteArray at = (is_sticky ? "from allocation " : "allocation ") +
                                  QByteArray::number(static_cast<qlonglong>(n));
            QVERIFY2(LibraryMemoryFault::failed() > 0, at);
            if (result.has_value()) {
                QVERIFY2(*result == *expected, at);
                continue;
            }
            ++errors;
            QVERIFY2(result.error().code == engine::ErrorCode::OutOfMemory,
                     at + ": " + result.error().message.c_str());
        }
    }
    qInfo("%s allocations, each once and from then on: %s errors",
          qPrintable(QString::number(calls)), qPrintable(QString::number(errors)));
    QVERIFY(errors > 0);
    const engine::Result<Content> again = read(file, is_picture);
    QVERIFY(again.has_value() && *again == *expected);
}

TEST_CLASS(TestMediaMemory)
#include "tst_media_memory.moc"
