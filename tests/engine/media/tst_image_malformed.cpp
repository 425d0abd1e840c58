// SPDX-License-Identifier: Apache-2.0
// Broken, hostile and foreign files given as pictures: each has its own expected answer, and the
// probe refuses by header whatever the decoder refuses by header.
#include "engine/media/image.h"
#include "tests/engine/media/picture_files.h"
#include "tests/engine/media/refusal_row.h"
#include "tests/support/program/test_class.h"

#include <QTest>

#include <algorithm>
#include <filesystem>

using engine::ErrorCode;
using support::ByteVector;

namespace {

/// The probe refuses the header already, as a broken file or, with kUnlikePicture, as one of
/// another kind.
void headerRow(const char* name,
               const ByteVector& bytes,
               const char* message,
               ErrorCode code = ErrorCode::InvalidFile) {
    support::refusalRow(name, bytes, code, message) << true;
}
constexpr ErrorCode kUnlikePicture = ErrorCode::Unsupported;

/// Only decoding shows that the file is broken.
void dataRow(const char* name, const ByteVector& bytes, const char* message) {
    support::refusalRow(name, bytes, ErrorCode::InvalidFile, message) << false;
}

ByteVector pngOf(const support::PngHeader& h, const ByteVector& more = {}) {
    ByteVector out = support::pngSignature();
    support::putBytes(out, support::pngHeaderChunk(h));
    support::putBytes(out, more);
    return out;
}

ByteVector pngSized(uint32_t width, uint32_t height) {
    support::PngHeader h;
    h.width = width;
    h.height = height;
    return pngOf(h, support::pngChunk("IDAT", support::deflated(ByteVector(1000))));
}

ByteVector pngTyped(uint8_t depth, uint8_t colour) {
    support::PngHeader h;
    h.depth = depth;
    h.colour = colour;
    return pngOf(h);
}

/// An 11 x 9 RGB picture whose packed data is given.
ByteVector pngWithData(const ByteVector& idat) {
    ByteVector out = pngOf({}, support::pngChunk("IDAT", idat));
    support::putBytes(out, support::pngChunk("IEND", {}));
    return out;
}

/// Offset of the frame header's marker code in a JPEG of ours (baseline or progressive).
size_t frameOf(const ByteVector& jpeg) {
    const size_t baseline = support::findText(jpeg, "\xff\xc0");
    return std::min(baseline, support::findText(jpeg, "\xff\xc2"));
}

ByteVector withoutSegment(ByteVector jpeg, std::string_view marker) {
    const size_t at = support::findText(jpeg, marker);
    const size_t size = 2 + (static_cast<size_t>(jpeg[at + 2]) << 8U) + jpeg[at + 3];
    jpeg.erase(jpeg.begin() + static_cast<ptrdiff_t>(at),
               jpeg.begin() + static_cast<ptrdiff_t>(at + size));
    return jpeg;
}

void addPngRows() {
    const ByteVector png = support::smallPng();
    const size_t idat = support::findText(png, "IDAT");
    headerRow("png: signature only", support::pngSignature(), "the header alone has 33");
    headerRow("png: cut in the header", support::cutTo(png, 25), "ends after 25 bytes");
    headerRow("png: cut before the header's checksum", support::cutTo(png, 32), "32");
    dataRow("png: cut behind the header", support::cutTo(png, 33), "ends too early");
    dataRow("png: cut in the data", support::cutTo(png, idat + 60), "ends too early");
    dataRow("png: cut one byte into the data", support::cutTo(png, idat + 5), "early");
    headerRow("png: header checksum", support::patched(png, 29, "xyz"), "CRC");
    headerRow("png: size changed, checksum not", support::patched(png, 19, "\x7f"), "CRC");
    dataRow("png: data checksum", support::patched(png, png.size() - 16, "abcd"), "CRC");
    dataRow("png: one data byte changed", support::patched(png, idat + 40, "\x55\xaa"), "damaged");
    ByteVector long_header = support::pngSignature();
    support::putBytes(long_header, support::pngChunk("IHDR", ByteVector(14)));
    headerRow("png: header of 14 bytes", long_header, "not an IHDR of 13");
    ByteVector other_first = support::pngSignature();
    support::putBytes(other_first, support::pngChunk("tEXt", ByteVector(20)));
    headerRow("png: another chunk first", other_first, "not an IHDR");
    ByteVector apple = support::pngSignature();
    support::putBytes(apple, support::pngChunk("CgBI", ByteVector(4)));
    headerRow("png: Apple's variant", apple, "CgBI", kUnlikePicture);
    headerRow("png: width 0", pngSized(0, 10), "0 x 10");
    headerRow("png: height 0", pngSized(10, 0), "10 x 0");
    headerRow("png: 200 megapixels", pngSized(20000, 10000), "200.0 megapixels", kUnlikePicture);
    headerRow("png: one row over the limit", pngSized(16000, 8001), "128.0 megapixels",
              kUnlikePicture);
    headerRow("png: 30000 x 30000 bomb", pngSized(30000, 30000), "900.0 megapixels",
              kUnlikePicture);
    headerRow("png: very wide", pngSized(131073, 1), "along one side", kUnlikePicture);
    headerRow("png: largest sizes", pngSized(0xffffffffU, 0xffffffffU), "4294967295",
              kUnlikePicture);
    headerRow("png: 2^31 wide", pngSized(0x80000000U, 1), "along one side", kUnlikePicture);
    headerRow("png: colour type 1", pngTyped(8, 1), "colour type 1");
    headerRow("png: colour type 7", pngTyped(8, 7), "colour type 7");
    headerRow("png: 3 bits", pngTyped(3, 0), "3 bits");
    headerRow("png: 0 bits", pngTyped(0, 2), "0 bits");
    headerRow("png: palette of 16 bits", pngTyped(16, 3), "16 bits");
    headerRow("png: colour of 4 bits", pngTyped(4, 2), "4 bits");
    support::PngHeader h;
    h.interlace = 2;
    headerRow("png: interlace 2", pngOf(h), "interlace");
    h = {};
    h.compression = 1;
    headerRow("png: compression 1", pngOf(h), "compression");
    h = {};
    h.filter = 1;
    headerRow("png: filter method 1", pngOf(h), "filter");
    dataRow("png: no data", pngOf({}, support::pngChunk("IEND", {})), "damaged");
    h = {};
    h.colour = 3;
    dataRow("png: no palette", support::pngFile(h, ByteVector(108)), "damaged");
    dataRow("png: palette of 4 bytes",
            support::pngFile(h, ByteVector(108), support::pngChunk("PLTE", ByteVector(4))),
            "damaged");
    ByteVector palette_chunk = support::pngChunk("PLTE", ByteVector(30));
    palette_chunk.back() ^= 1U;
    dataRow("png: palette checksum", support::pngFile(h, ByteVector(108), palette_chunk), "CRC");
    const ByteVector raw(size_t{34} * 9);
    const ByteVector packed = support::deflated(raw);
    dataRow("png: no zlib data", pngWithData(ByteVector(20, 0x99)), "damaged");
    dataRow("png: zlib data cut", pngWithData(support::cutTo(packed, 8)), "damaged");
    dataRow("png: data empty", pngWithData({}), "damaged");
    dataRow("png: one row too few",
            pngWithData(support::deflated(support::cutTo(raw, size_t{8} * 34))), "damaged");
    dataRow("png: filter type 9", pngWithData(support::deflated(ByteVector(raw.size(), 9))),
            "damaged");
    ByteVector endless = pngOf({});
    support::putBig(endless, 0xffffffffU, 4);
    support::putText(endless, "IDAT");
    dataRow("png: chunk of 4 GiB", endless, "damaged");
    ByteVector unknown_critical = pngOf({}, support::pngChunk("ABCD", ByteVector(4)));
    dataRow("png: unknown critical chunk", unknown_critical, "damaged");
}

void addJpegRows() {
    const ByteVector jpeg = support::smallJpeg();
    const size_t frame =
        frameOf(jpeg); // ff c0, length (2), precision, height (2), width (2), count
    const size_t scan = support::findText(jpeg, "\xff\xda");
    headerRow("jpeg: start marker only", support::cutTo(jpeg, 3), "before the frame");
    headerRow("jpeg: cut in a segment", support::cutTo(jpeg, 12), "before the frame");
    headerRow("jpeg: cut in the frame header", support::cutTo(jpeg, frame + 6), "before the frame");
    dataRow("jpeg: cut behind the frame header", support::cutTo(jpeg, frame + 19), "damaged");
    dataRow("jpeg: cut at the scan", support::cutTo(jpeg, scan), "damaged");
    dataRow("jpeg: cut behind the scan header", support::cutTo(jpeg, scan + 14), "truncated");
    dataRow("jpeg: half of the data", support::cutTo(jpeg, (scan + jpeg.size()) / 2), "truncated");
    const ByteVector progressive = support::smallJpeg({.quality = 80, .is_progressive = true});
    dataRow("jpeg: progressive, half", support::cutTo(progressive, progressive.size() / 2),
            "truncated");
    dataRow("jpeg: progressive, end marker lost",
            support::cutTo(progressive, progressive.size() - 2), "truncated");
    headerRow("jpeg: ends at once", support::fromText("\xff\xd8\xff\xd9"), "before any frame");
    ByteVector scan_first = support::fromText("\xff\xd8");
    scan_first.insert(scan_first.end(), jpeg.begin() + static_cast<ptrdiff_t>(scan), jpeg.end());
    headerRow("jpeg: scan first", scan_first, "before any frame");
    headerRow("jpeg: segment of 0 bytes", support::patched(jpeg, 4, std::string_view("\0\0", 2)),
              "declares 0 bytes");
    headerRow("jpeg: segment of 1 byte", support::patched(jpeg, 4, std::string_view("\0\1", 2)),
              "declares 1 bytes");
    headerRow("jpeg: segment longer than the file", support::patched(jpeg, 4, "\xff\xff"),
              "before the frame");
    dataRow("jpeg: a table's marker destroyed", support::patched(jpeg, 20, "x"), "damaged");
    headerRow("jpeg: height 0", support::patched(jpeg, frame + 5, std::string_view("\0\0", 2)),
              "40 x 0");
    headerRow("jpeg: width 0", support::patched(jpeg, frame + 7, std::string_view("\0\0", 2)),
              "0 x 30");
    headerRow("jpeg: 4 gigapixels", support::patched(jpeg, frame + 5, "\xff\xdc\xff\xdc"),
              "megapixels", kUnlikePicture);
    headerRow("jpeg: 12 bits", support::patched(jpeg, frame + 4, "\x0c"), "12 bits per value",
              kUnlikePicture);
    headerRow("jpeg: 0 bits", support::patched(jpeg, frame + 4, std::string_view("\0", 1)),
              "0 bits per value", kUnlikePicture);
    headerRow("jpeg: lossless", support::patched(jpeg, frame + 1, "\xc3"), "lossless",
              kUnlikePicture);
    headerRow("jpeg: hierarchical", support::patched(jpeg, frame + 1, "\xc5"), "hierarchical",
              kUnlikePicture);
    headerRow("jpeg: arithmetic", support::patched(jpeg, frame + 1, "\xc9"), "arithmetic",
              kUnlikePicture);
    headerRow("jpeg: 2 components", support::patched(jpeg, frame + 9, "\x02"), "2 components",
              kUnlikePicture);
    headerRow("jpeg: 0 components", support::patched(jpeg, frame + 9, std::string_view("\0", 1)),
              "0 components", kUnlikePicture);
    dataRow("jpeg: 4 components declared, 3 given", support::patched(jpeg, frame + 9, "\x04"),
            "damaged");
    dataRow("jpeg: sampling factor 0",
            support::patched(jpeg, frame + 11, std::string_view("\0", 1)), "damaged");
    dataRow("jpeg: sampling factor 15", support::patched(jpeg, frame + 11, "\xff"), "damaged");
    dataRow("jpeg: quantization table 9", support::patched(jpeg, frame + 12, "\x09"), "damaged");
    dataRow("jpeg: no quantization tables",
            withoutSegment(withoutSegment(jpeg, "\xff\xdb"), "\xff\xdb"), "damaged");
    dataRow("jpeg: Huffman table with 255 codes of 1 bit",
            support::patched(jpeg, support::findText(jpeg, "\xff\xc4") + 5, "\xff"), "damaged");
    dataRow("jpeg: scan of an unknown component", support::patched(jpeg, scan + 5, "\x63"),
            "damaged");
    dataRow("jpeg: larger than its data",
            support::patched(jpeg, frame + 5, std::string_view("\x0f\0\x0f\0", 4)),
            "incomplete: it ends before the last of its 3840 rows");
}

void addForeignRowsImageMalformed() {
    const auto row = [](const char* name, std::string_view head, const char* found) {
        headerRow(name, support::fromText(head, 200), found, kUnlikePicture);
    };
    using namespace std::string_view_literals;
    headerRow("empty", {}, "0 bytes");
    row("one byte", "\x89"sv, "unknown data");
    row("gif", "GIF89a\x10\0\x10\0"sv, "a GIF picture");
    row("bmp", "BM\x3e\x00\x00\x00\0\0\0\0\x36\0\0\0\x28\0\0\0"sv, "a BMP picture");
    row("tiff, little-endian", "II*\0\x08\0\0\0"sv, "a TIFF");
    row("tiff, big-endian", "MM\0*\0\0\0\x08"sv, "a TIFF");
    row("heic",
        "\0\0\0\x18"
        "ftypheic\0\0\0\0"sv,
        "a HEIC picture");
    row("heif",
        "\0\0\0\x18"
        "ftypmif1\0\0\0\0"sv,
        "a HEIF picture");
    row("avif",
        "\0\0\0\x1c"
        "ftypavif\0\0\0\0"sv,
        "an AVIF picture");
    row("jpeg xl", "\xff\x0a\xfa\x1f"sv, "a JPEG XL picture");
    row("jpeg 2000", "\0\0\0\x0cjP  \r\n\x87\n"sv, "a JPEG 2000 picture");
    row("ico", "\0\0\1\0\1\0"sv, "a Windows icon");
    row("photoshop", "8BPS\0\1"sv, "a Photoshop document");
    row("netpbm", "P6\n16 16\n255\n"sv, "a Netpbm picture");
    row("mp4",
        "\0\0\0\x18"
        "ftypisom"sv,
        "an MP4 video");
    row("webm", "\x1a\x45\xdf\xa3"sv, "a Matroska or WebM video");
    row("pdf", "%PDF-1.7\n"sv, "a PDF document");
    row("zip", "PK\3\4"sv, "a ZIP archive");
    row("program",
        "\x7f"
        "ELF"sv,
        "a program");
    row("wav", "RIFF\x24\0\0\0WAVEfmt "sv, "a WAV recording");
    row("flac", "fLaC\0\0\0\x22"sv, "a FLAC recording");
    row("mp3", "\xff\xfb\x90\x64"sv, "an MP3 recording");
    row("riff of another kind", "RIFF\x24\0\0\0ACONxxxx"sv, "an unknown RIFF file");
    headerRow("svg", support::fromText("<?xml version=\"1.0\"?>\n<svg width=\"1\"/>"),
              "an SVG drawing", kUnlikePicture);
    headerRow("html error page", support::fromText("<!DOCTYPE html><html>404"), "an HTML page",
              kUnlikePicture);
    headerRow("text", support::fromText("not a picture at all"), "found text", kUnlikePicture);
    headerRow("LFS pointer",
              support::fromText("version https://example.org/spec/v1\noid sha256:0\n"),
              "found text", kUnlikePicture);
#ifdef BELFRY_HAS_WEBP
    headerRow("webp: header only", support::fromText("RIFF\x10\0\0\0WEBPVP8 "sv), "truncated");
    headerRow("webp: damaged frame",
              support::fromText("RIFF\x20\0\0\0WEBPVP8 \x14\0\0\0aaaaaaaaaaaaaaaaaaaa"sv),
              "WebP header");
    ByteVector animated =
        support::fromText("RIFF\x2e\0\0\0WEBPVP8X\x0a\0\0\0\x02\0\0\0\x0f\0\0\x0f\0\0"sv);
    support::putText(animated, "ANIM\x06\0\0\0\xff\xff\xff\xff\0\0"sv);
    animated.resize(100);
    headerRow("webp: an animation without frames", animated, "without a whole frame");
    ByteVector huge =
        support::fromText("RIFF\x2e\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\xff\x3f\0\xff\x3f\0"sv);
    support::putText(huge, "VP8L\x10\0\0\0\x2f\xff\xff\xff\x0f\0\0\0\0\0\0\0\0\0\0\0"sv);
    headerRow("webp: 16384 x 16384", huge, "268.4 megapixels", kUnlikePicture);
#else
    headerRow("webp, in a build without it", support::fromText("RIFF\x10\0\0\0WEBPVP8 "sv),
              "built without libwebp", kUnlikePicture);
#endif
}

} // namespace

class TestImageMalformed : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void refused_data();
    void refused();
    void addressesForPaths_data();
    void addressesForPaths();
    void everyCutIsAnsweredOrWhole();
    void elongatedPicturesWork();
};

void TestImageMalformed::refused_data() {
    support::addColumns<QByteArray, ErrorCode, QByteArray, bool>("bytes", "code", "message",
                                                                 "probe_refuses");
    addPngRows();
    addJpegRows();
    addForeignRowsImageMalformed();
}

void TestImageMalformed::refused() {
    QFETCH(QByteArray, bytes);
    QFETCH(ErrorCode, code);
    QFETCH(QByteArray, message);
    QFETCH(bool, probe_refuses);
    const ByteVector file(bytes.begin(), bytes.end());
    const auto image = engine::decodeImage(support::asBytes(file));
    QVERIFY2(!image.has_value(), "decoded");
    const QByteArray found = QByteArray::fromStdString(image.error().message);
    QVERIFY2(found.contains(message), found.constData());
    QVERIFY2(image.error().code == code, found.constData());
    const auto info = engine::probeImage(support::asBytes(file));
    QCOMPARE(!info.has_value(), probe_refuses);
    if (probe_refuses) {
        QCOMPARE(info.error().message, image.error().message);
    }
}

void TestImageMalformed::addressesForPaths_data() {
    support::addColumns<QByteArray, QByteArray>("path", "message");
    const auto row = [](const char* name, const QByteArray& path, const char* message) {
        QTest::newRow(name) << path << QByteArray(message);
    };
    row("https", "https://example.org/a.png",
        "https://example.org/a.png: is an address, expected the path of a file; give the path of "
        "a copy on this computer");
    row("a key in the query", "HTTP://example.org/a.png?key=1",
        "HTTP://example.org/a.png: is an address, expected the path");
    row("file", "file:///nowhere/a.png", "file:///nowhere/a.png: is an address");
    row("data", "data:image/png;base64,iVBORw0KGgo=",
        "data:image/png;base64: is a data: address, expected the path of a file; save what it "
        "holds as a file and give its path");
    row("long data", "data:image/png;base64," + QByteArray(100000, 'A'),
        "data:image/png;base64: is a data: address");
    row("a colon in a name", "notes: one.png", "no such file");
    row("a drive", "q:/nowhere.png", "no such file");
}

void TestImageMalformed::addressesForPaths() {
    QFETCH(QByteArray, path);
    QFETCH(QByteArray, message);
    const auto image = engine::readImageFile(std::filesystem::path(path.toStdString()));
    QVERIFY(!image.has_value());
    const QByteArray found = QByteArray::fromStdString(image.error().message);
    QVERIFY2(found.contains(message), found.left(500).constData());
}

void TestImageMalformed::everyCutIsAnsweredOrWhole() {
    for (const ByteVector& whole : {support::smallPng(), support::smallJpeg(),
                                    support::smallJpeg({.quality = 80, .is_progressive = true})}) {
        const auto expected = engine::decodeImage(support::asBytes(whole));
        QVERIFY(expected.has_value());
        for (size_t size = 0; size < whole.size(); ++size) {
            const ByteVector part = support::cutTo(whole, size);
            const auto image = engine::decodeImage(support::asBytes(part));
            if (image.has_value()) {
                // Only what stands behind the pixels may be missing.
                QVERIFY2(size + 16 >= whole.size(), qPrintable(QString::number(size)));
                QVERIFY(image->rgb == expected->rgb);
            } else {
                QVERIFY(!image.error().message.empty());
            }
        }
    }
}

void TestImageMalformed::elongatedPicturesWork() {
    for (const auto& [w, h] :
         {std::pair{1U, 20000U}, {20000U, 1U}, {3U, 5000U}, {131072U, 1U}, {1U, 1U}}) {
        const auto image = engine::decodeImage(support::asBytes(support::smallPng(w, h)));
        QVERIFY(image.has_value());
        const auto grid = engine::preprocessImage(*image, 70);
        VERIFY_VALUE(grid);
        QVERIFY(grid->soft_tokens >= 1 && grid->soft_tokens <= 70);
    }
}

TEST_CLASS(TestImageMalformed)
#include "tst_image_malformed.moc"
