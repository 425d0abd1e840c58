// SPDX-License-Identifier: Apache-2.0
// Every kind of PNG, JPEG and WebP the decoder takes, against pixels worked out by hand.
#include "engine/media/image.h"
#include "tests/engine/media/picture_files.h"
#include "tests/support/program/test_class.h"

#include <QTemporaryDir>
#include <QTest>

#include <array>
#include <cmath>
#include <cstdlib>
#include <fstream>

#ifdef BELFRY_HAS_WEBP
#include <webp/encode.h>
#endif

using support::ByteVector;

namespace {

/// The sample patterns: any value that differs between neighbours and channels and fits the depth.
unsigned sampleAt(int64_t x, int64_t y, int channel, unsigned depth) {
    const auto value =
        static_cast<unsigned>(x * 2749 + y * 5471 + int64_t{channel} * 9973 + x * y * 131);
    return value & ((1U << depth) - 1U);
}

/// Palette entry i, as hand-made as the samples.
std::array<uint8_t, 3> paletteEntry(unsigned i) {
    return {static_cast<uint8_t>(255 - i), static_cast<uint8_t>(i * 37),
            static_cast<uint8_t>(i / 2)};
}

/// Grey of any depth as 8 bits: repeated bits below 8, the high byte above.
uint8_t greyTo8(unsigned value, unsigned depth) {
    switch (depth) {
    case 1:
        return value != 0 ? 255 : 0;
    case 2:
        return static_cast<uint8_t>(value * 85);
    case 4:
        return static_cast<uint8_t>(value * 17);
    case 16:
        return static_cast<uint8_t>(value >> 8U);
    default:
        return static_cast<uint8_t>(value);
    }
}

/// Six fields of 16 x 16 pixels, letters A B C / D E F.
constexpr std::string_view kStored = "ABC/DEF";

std::array<uint8_t, 3> fieldColour(char letter) {
    switch (letter) {
    case 'A':
        return {255, 0, 0};
    case 'B':
        return {0, 255, 0};
    case 'C':
        return {0, 0, 255};
    case 'D':
        return {255, 255, 0};
    case 'E':
        return {0, 255, 255};
    default:
        return {255, 0, 255};
    }
}

ByteVector fieldPixels() {
    ByteVector pixels;
    for (size_t y = 0; y < 32; ++y) {
        for (size_t x = 0; x < 48; ++x) {
            for (const uint8_t v : fieldColour(kStored[(y / 16) * 4 + x / 16])) {
                pixels.push_back(v);
            }
        }
    }
    return pixels;
}

/// The letters of an upright picture, by the colour at each field's centre; '?' for others.
std::string readFields(const engine::DecodedImage& image) {
    std::string text;
    for (int64_t y = 8; y < image.height; y += 16) {
        for (int64_t x = 8; x < image.width; x += 16) {
            char found = '?';
            for (const char letter : std::string_view("ABCDEF")) {
                const auto colour = fieldColour(letter);
                bool is_same = true;
                for (size_t c = 0; c < 3; ++c) {
                    const int got = image.rgb[static_cast<size_t>((y * image.width + x) * 3) + c];
                    is_same = is_same && std::abs(got - colour[c]) <= 6;
                }
                found = is_same ? letter : found;
            }
            text.push_back(found);
        }
        text.push_back('/');
    }
    text.pop_back();
    return text;
}

/// How the six fields look upright, from the meaning of the tag: which corner row 0, column 0 is.
constexpr std::array<const char*, 9> kUpright = {
    "",         // unused
    "ABC/DEF",  // 1: as stored
    "CBA/FED",  // 2: mirrored
    "FED/CBA",  // 3: upside down
    "DEF/ABC",  // 4: mirrored upside down
    "AD/BE/CF", // 5: row 0 is the left side, column 0 the top
    "DA/EB/FC", // 6: row 0 is the right side, column 0 the top
    "FC/EB/DA", // 7: row 0 is the right side, column 0 the bottom
    "CF/BE/AD", // 8: row 0 is the left side, column 0 the bottom
};

} // namespace

class TestImageFormats : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void pngPixels_data();
    void pngPixels();
    void pngWithSkippedChunks();
    void orientation_data();
    void orientation();
    void damagedOrientationIsIgnored_data();
    void damagedOrientationIsIgnored();
    void jpegColours_data();
    void jpegColours();
    void jpegWithoutEndMarkerIsTaken();
    void jpegWithJunkBetweenSegmentsIsTaken();
    void webp();
    void animatedWebp();
    void probeReadsOnlyTheHeader();
    void files();
};

void TestImageFormats::pngPixels_data() {
    support::addColumns<int, int, int, bool>("colour", "depth", "interlace", "has_trns");
    const auto rows = [](const char* name, int colour, std::initializer_list<int> depths,
                         bool trns) {
        for (const int depth : depths) {
            for (const int interlace : {0, 1}) {
                QTest::addRow("%s, %d bits, %s%s", name, depth,
                              interlace != 0 ? "interlaced" : "plain", trns ? ", tRNS" : "")
                    << colour << depth << interlace << trns;
            }
        }
    };
    rows("grey", 0, {1, 2, 4, 8, 16}, false);
    rows("grey", 0, {1, 2, 4, 8, 16}, true);
    rows("colour", 2, {8, 16}, false);
    rows("colour", 2, {8, 16}, true);
    rows("palette", 3, {1, 2, 4, 8}, false);
    rows("palette", 3, {1, 2, 4, 8}, true);
    rows("grey and alpha", 4, {8, 16}, false);
    rows("colour and alpha", 6, {8, 16}, false);
}

void TestImageFormats::pngPixels() {
    QFETCH(int, colour);
    QFETCH(int, depth);
    QFETCH(int, interlace);
    QFETCH(bool, has_trns);
    support::PngHeader h;
    h.colour = static_cast<uint8_t>(colour);
    h.depth = static_cast<uint8_t>(depth);
    h.interlace = static_cast<uint8_t>(interlace);
    const auto bits = static_cast<unsigned>(depth);
    ByteVector chunks;
    if (colour == 3) {
        ByteVector palette;
        for (unsigned i = 0; i < (1U << bits); ++i) {
            for (const uint8_t v : paletteEntry(i)) {
                palette.push_back(v);
            }
        }
        chunks = support::pngChunk("PLTE", palette);
    }
    if (has_trns) {
        // Palette: two half transparent entries. Otherwise one sample value that is transparent.
        ByteVector data = colour == 3 ? ByteVector{128, 0} : ByteVector{0, 1};
        if (colour == 2) {
            data = {0, 1, 0, 2, 0, 3};
        }
        support::putBytes(chunks, support::pngChunk("tRNS", data));
    }
    const auto sample = [&](int64_t x, int64_t y, int c) { return sampleAt(x, y, c, bits); };
    const ByteVector file = support::pngFile(h, support::pngScanLines(h, sample), chunks);

    const auto image = engine::decodeImage(support::asBytes(file));
    VERIFY_VALUE(image);
    QCOMPARE(image->width, int64_t{11});
    QCOMPARE(image->height, int64_t{9});
    size_t at = 0;
    for (int64_t y = 0; y < 9; ++y) {
        for (int64_t x = 0; x < 11; ++x) {
            for (int c = 0; c < 3; ++c) {
                const bool is_grey = colour == 0 || colour == 4;
                const unsigned value = sample(x, y, is_grey ? 0 : c);
                const uint8_t expected = colour == 3
                                             ? paletteEntry(sample(x, y, 0))[static_cast<size_t>(c)]
                                             : greyTo8(value, bits);
                QCOMPARE(int{image->rgb[at++]}, int{expected});
            }
        }
    }
}

void TestImageFormats::pngWithSkippedChunks() {
    // A text chunk that unpacks to 64 MiB, an unknown profile, a broken checksum in a comment: none
    // of them concerns the pixels.
    ByteVector text = support::fromText(std::string_view("Comment\0\0", 9));
    support::putBytes(text, support::deflated(ByteVector(64U << 20U)));
    ByteVector chunks = support::pngChunk("zTXt", text);
    ByteVector profile = support::fromText(std::string_view("ICC\0\0", 5));
    support::putBytes(profile, support::deflated(ByteVector(1U << 20U)));
    support::putBytes(chunks, support::pngChunk("iCCP", profile));
    ByteVector comment = support::pngChunk("tEXt", support::fromText(std::string_view("A\0B", 3)));
    comment.back() ^= 1U;
    support::putBytes(chunks, comment);
    support::PngHeader h;
    const auto sample = [](int64_t x, int64_t y, int c) { return sampleAt(x, y, c, 8); };
    const ByteVector raw = support::pngScanLines(h, sample);
    const auto with = engine::decodeImage(support::asBytes(support::pngFile(h, raw, chunks)));
    const auto without = engine::decodeImage(support::asBytes(support::pngFile(h, raw)));
    VERIFY_VALUE(with);
    QVERIFY(without.has_value());
    QVERIFY(with->rgb == without->rgb);
}

void TestImageFormats::orientation_data() {
    support::addColumns<QByteArray, int, bool, int>("format", "value", "big_endian", "type");
    for (int value = 1; value <= 8; ++value) {
        for (const bool big_endian : {false, true}) {
            for (const char* format : {"jpeg", "png", "png, behind the data"}) {
                QTest::addRow("%s, %d, %s", format, value, big_endian ? "MM" : "II")
                    << QByteArray(format) << value << big_endian << 3;
            }
        }
    }
    QTest::newRow("jpeg, 6, stored as LONG") << QByteArray("jpeg") << 6 << true << 4;
#ifdef BELFRY_HAS_WEBP
    for (int value = 1; value <= 8; ++value) {
        QTest::addRow("webp, %d", value) << QByteArray("webp") << value << false << 3;
    }
#endif
}

void TestImageFormats::orientation() {
    QFETCH(QByteArray, format);
    QFETCH(int, value);
    QFETCH(bool, big_endian);
    QFETCH(int, type);
    const ByteVector block =
        support::exifBlock(static_cast<unsigned>(value), big_endian, static_cast<uint16_t>(type));
    ByteVector file;
    if (format == "jpeg") {
        file = support::jpegFile(48, 32, fieldPixels(), {.app1 = support::exifSegment(block)});
    } else if (format.startsWith("png")) {
        support::PngHeader h;
        h.width = 48;
        h.height = 32;
        const ByteVector pixels = fieldPixels();
        const ByteVector raw = support::pngScanLines(h, [&](int64_t x, int64_t y, int c) {
            return pixels[static_cast<size_t>((y * 48 + x) * 3 + c)];
        });
        const ByteVector chunk = support::pngChunk("eXIf", block);
        if (format == "png") {
            file = support::pngFile(h, raw, chunk);
        } else {
            file = support::pngFile(h, raw);
            file.insert(file.end() - 12, chunk.begin(), chunk.end());
        }
    }
#ifdef BELFRY_HAS_WEBP
    if (format == "webp") {
        uint8_t* memory = nullptr;
        const size_t size = WebPEncodeLosslessRGB(fieldPixels().data(), 48, 32, 48 * 3, &memory);
        QVERIFY(size > 12);
        // Rewrapped as an extended file: VP8X (flag EXIF, size - 1), the picture, EXIF.
        ByteVector body = support::fromText("WEBPVP8X");
        support::putLittle(body, 10, 4);
        support::putLittle(body, 8, 4);
        support::putLittle(body, 47, 3);
        support::putLittle(body, 31, 3);
        body.insert(body.end(), memory + 12, memory + size);
        support::putText(body, "EXIF");
        support::putLittle(body, block.size(), 4);
        support::putBytes(body, block);
        file = support::fromText("RIFF");
        support::putLittle(file, body.size(), 4);
        support::putBytes(file, body);
        WebPFree(memory);
    }
#endif
    const auto info = engine::probeImage(support::asBytes(file));
    VERIFY_VALUE(info);
    QCOMPARE(info->orientation, value);
    QCOMPARE(info->stored.width, int64_t{48});
    QCOMPARE(info->displayed.width, int64_t{value >= 5 ? 32 : 48});
    const auto image = engine::decodeImage(support::asBytes(file));
    VERIFY_VALUE(image);
    QCOMPARE(image->width, info->displayed.width);
    QCOMPARE(image->height, info->displayed.height);
    QCOMPARE(readFields(*image), std::string(kUpright[static_cast<size_t>(value)]));
}

void TestImageFormats::damagedOrientationIsIgnored_data() {
    QTest::addColumn<QByteArray>("segment");
    const ByteVector good = support::exifSegment(support::exifBlock(6, false));
    const auto row = [](const char* name, const ByteVector& bytes) {
        QTest::newRow(name) << QByteArray(reinterpret_cast<const char*>(bytes.data()),
                                          static_cast<qsizetype>(bytes.size()));
    };
    row("value 0", support::exifSegment(support::exifBlock(0, false)));
    row("value 9", support::exifSegment(support::exifBlock(9, true)));
    row("value 65535", support::exifSegment(support::exifBlock(65535, true)));
    row("no byte order", support::patched(good, 6, "XX"));
    row("wrong magic", support::patched(good, 8, "\x2b"));
    row("directory outside", support::patched(good, 10, "\xff\xff\xff\xff"));
    row("directory at the last byte",
        support::patched(good, 10, std::string_view("\x1f\0\0\0", 4)));
    row("directory cut", support::cutTo(good, 30));
    row("header cut", support::cutTo(good, 9));
    row("65535 entries, value type text",
        support::patched(support::patched(good, 14, "\xff\xff"), 30, "\x02"));
    row("count 0", support::patched(good, 32, std::string_view("\0\0\0\0", 4)));
    row("empty", support::fromText(std::string_view("Exif\0\0", 6)));
}

void TestImageFormats::damagedOrientationIsIgnored() {
    QFETCH(QByteArray, segment);
    const ByteVector app1(segment.begin(), segment.end());
    const ByteVector file = support::jpegFile(48, 32, fieldPixels(), {.app1 = app1});
    const auto image = engine::decodeImage(support::asBytes(file));
    VERIFY_VALUE(image);
    QCOMPARE(readFields(*image), std::string(kStored));
}

void TestImageFormats::jpegColours_data() {
    support::addColumns<int, int, bool, QByteArray, QByteArray>("input", "stored", "is_progressive",
                                                                "pixel", "rgb");
    const auto row = [](const char* name, J_COLOR_SPACE input, J_COLOR_SPACE stored,
                        const char* pixel, const char* rgb) {
        for (const bool progressive : {false, true}) {
            QTest::addRow("%s%s", name, progressive ? ", progressive" : "")
                << int{input} << int{stored} << progressive << QByteArray::fromHex(pixel)
                << QByteArray::fromHex(rgb);
        }
    };
    row("YCbCr", JCS_RGB, JCS_YCbCr, "c86432", "c86432");
    row("RGB", JCS_RGB, JCS_RGB, "c86432", "c86432");
    row("grey", JCS_GRAYSCALE, JCS_GRAYSCALE, "4d", "4d4d4d");
    // Four components are stored inverted: ff is no ink. colour = c * k / 255.
    row("CMYK, no ink", JCS_CMYK, JCS_CMYK, "ffffffff", "ffffff");
    row("CMYK, black", JCS_CMYK, JCS_CMYK, "ffffff00", "000000");
    row("CMYK, yellow ink", JCS_CMYK, JCS_CMYK, "ffff00ff", "ffff00");
    row("CMYK, half", JCS_CMYK, JCS_CMYK, "80ff4080", "408020"); // 128*128/255=64, 64*128/255=32
    row("YCCK, cyan ink", JCS_CMYK, JCS_YCCK, "00ffffff", "00ffff");
    row("YCCK, half", JCS_CMYK, JCS_YCCK, "80ff4080", "408020");
}

void TestImageFormats::jpegColours() {
    QFETCH(int, input);
    QFETCH(int, stored);
    QFETCH(bool, is_progressive);
    QFETCH(QByteArray, pixel);
    QFETCH(QByteArray, rgb);
    ByteVector pixels;
    for (int i = 0; i < 17 * 13; ++i) {
        support::putBytes(pixels, ByteVector(pixel.begin(), pixel.end()));
    }
    support::JpegOptions options;
    options.input = static_cast<J_COLOR_SPACE>(input);
    options.stored = static_cast<J_COLOR_SPACE>(stored);
    options.is_progressive = is_progressive;
    const ByteVector file = support::jpegFile(17, 13, pixels, options);
    const auto image = engine::decodeImage(support::asBytes(file));
    VERIFY_VALUE(image);
    QCOMPARE(image->rgb.size(), size_t{17} * 13 * 3);
    for (size_t i = 0; i < image->rgb.size(); ++i) {
        const int expected = static_cast<uint8_t>(rgb[static_cast<qsizetype>(i % 3)]);
        QVERIFY2(std::abs(image->rgb[i] - expected) <= 3,
                 qPrintable(QString::number(image->rgb[i]) + QStringLiteral(" for ") +
                            QString::number(expected)));
    }
}

void TestImageFormats::jpegWithoutEndMarkerIsTaken() {
    // Some cameras and uploads lose the last two bytes; nothing of the picture is missing.
    const ByteVector whole = support::smallJpeg();
    const ByteVector cut = support::cutTo(whole, whole.size() - 2);
    const auto a = engine::decodeImage(support::asBytes(whole));
    const auto b = engine::decodeImage(support::asBytes(cut));
    QVERIFY(a.has_value());
    VERIFY_VALUE(b);
    QVERIFY(a->rgb == b->rgb);
}

void TestImageFormats::jpegWithJunkBetweenSegmentsIsTaken() {
    const ByteVector whole = support::smallJpeg();
    ByteVector junk = whole;
    for (const uint8_t b : {'j', 'u', 'n', 'k'}) {
        junk.insert(junk.begin() + 20, b);
    }
    const auto a = engine::decodeImage(support::asBytes(whole));
    const auto b = engine::decodeImage(support::asBytes(junk));
    QVERIFY(a.has_value());
    VERIFY_VALUE(b);
    QVERIFY(a->rgb == b->rgb);
    QVERIFY(a->notes.empty());
    QCOMPARE(b->notes.size(), size_t{1}); // the decoder says what it skipped
}

void TestImageFormats::webp() {
#ifdef BELFRY_HAS_WEBP
    // Lossless with transparency: the colours stay, the alpha is dropped.
    ByteVector rgba;
    for (int i = 0; i < 20 * 10; ++i) {
        support::putBytes(rgba, {static_cast<uint8_t>(i), 100, 200, static_cast<uint8_t>(50 + i)});
    }
    uint8_t* memory = nullptr;
    const size_t size = WebPEncodeLosslessRGBA(rgba.data(), 20, 10, 80, &memory);
    const ByteVector file(memory, memory + size);
    WebPFree(memory);
    const auto image = engine::decodeImage(support::asBytes(file));
    VERIFY_VALUE(image);
    QCOMPARE(image->width, int64_t{20});
    QCOMPARE(image->height, int64_t{10});
    for (size_t i = 0; i < 200; ++i) {
        QCOMPARE(int{image->rgb[3 * i]}, static_cast<int>(i));
        QCOMPARE(int{image->rgb[3 * i + 1]}, 100);
        QCOMPARE(int{image->rgb[3 * i + 2]}, 200);
    }
#else
    QSKIP("built without libwebp");
#endif
}

/// As an animated PNG: the first frame, at its place in the picture.
void TestImageFormats::animatedWebp() {
#ifdef BELFRY_HAS_WEBP
    const ByteVector pixels(size_t{3} * 8 * 6, 77);
    uint8_t* memory = nullptr;
    const size_t size = WebPEncodeLosslessRGB(pixels.data(), 8, 6, 24, &memory);
    QVERIFY(size > 12);
    const auto file = [&](uint64_t x) {
        ByteVector body = support::fromText("WEBPVP8X");
        support::putLittle(body, 10, 4);
        support::putLittle(body, 2, 4); // animation
        support::putLittle(body, 19, 3);
        support::putLittle(body, 9, 3);
        support::putText(body, std::string_view("ANIM\x06\0\0\0\xff\xff\xff\xff\0\0", 14));
        for (int frame = 0; frame < 2; ++frame) {
            support::putText(body, "ANMF");
            support::putLittle(body, 16 + size - 12, 4);
            for (const uint64_t value : {frame == 0 ? x : uint64_t{0}, uint64_t{1}, uint64_t{7},
                                         uint64_t{5}, uint64_t{40}}) {
                support::putLittle(body, value, 3);
            }
            support::putLittle(body, 0, 1);
            body.insert(body.end(), memory + 12, memory + size);
        }
        ByteVector out = support::fromText("RIFF");
        support::putLittle(out, body.size(), 4);
        support::putBytes(out, body);
        return out;
    };
    const auto image = engine::decodeImage(support::asBytes(file(3)));
    VERIFY_VALUE(image);
    QCOMPARE(image->width, int64_t{20});
    QCOMPARE(image->height, int64_t{10});
    for (int64_t y = 0; y < 10; ++y) {
        for (int64_t x = 0; x < 20; ++x) {
            const bool is_inside = x >= 6 && x < 14 && y >= 2 && y < 8;
            QCOMPARE(int{image->rgb[static_cast<size_t>((y * 20 + x) * 3)]}, is_inside ? 77 : 0);
        }
    }
    const auto outside = engine::decodeImage(support::asBytes(file(7)));
    QVERIFY(!outside.has_value());
    QVERIFY(outside.error().message.find("within the picture") != std::string::npos);
    WebPFree(memory);
#else
    QSKIP("built without libwebp");
#endif
}

void TestImageFormats::probeReadsOnlyTheHeader() {
    // Only the header exists, of a picture of 108 megapixels.
    support::PngHeader h;
    h.width = 10000;
    h.height = 10800;
    ByteVector file = support::pngSignature();
    support::putBytes(file, support::pngHeaderChunk(h));
    const auto info = engine::probeImage(support::asBytes(file));
    QVERIFY(info.has_value());
    QCOMPARE(info->format, engine::ImageFormat::Png);
    QCOMPARE(info->displayed.width, int64_t{10000});
    QCOMPARE(engine::imageFormatName(info->format), std::string_view("PNG"));
    QVERIFY(!engine::decodeImage(support::asBytes(file)).has_value());

    const auto jpeg = engine::probeImage(support::asBytes(support::smallJpeg()));
    QVERIFY(jpeg.has_value());
    QCOMPARE(jpeg->format, engine::ImageFormat::Jpeg);
    QCOMPARE(jpeg->displayed.height, int64_t{30});
}

void TestImageFormats::files() {
    const auto missing = engine::readImageFile("no such folder/picture.png");
    QVERIFY(!missing.has_value());
    QVERIFY(missing.error().message.find("picture.png") != std::string::npos);
    const auto folder = engine::readImageFile(".");
    QVERIFY(!folder.has_value());
    QVERIFY(folder.error().message.find("not a regular file") != std::string::npos);

    QTemporaryDir temporary;
    QVERIFY(temporary.isValid());
    const std::filesystem::path path =
        std::filesystem::path(temporary.path().toStdString()) / u8"Größe.png";
    const ByteVector png = support::smallPng();
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(png.data()), static_cast<std::streamsize>(png.size()));
    QVERIFY(engine::readImageFile(path).has_value());
    QCOMPARE(engine::probeImageFile(path)->stored.width, int64_t{40});
    std::ofstream(path, std::ios::binary | std::ios::trunc).flush();
    const auto empty = engine::readImageFile(path);
    QVERIFY(!empty.has_value());
    QVERIFY(empty.error().message.find("0 bytes") != std::string::npos);
    QVERIFY(empty.error().message.find("Größe.png") != std::string::npos);
    QCOMPARE(empty.error().details.at(0).first, std::string("file"));
}

TEST_CLASS(TestImageFormats)
#include "tst_image_formats.moc"
