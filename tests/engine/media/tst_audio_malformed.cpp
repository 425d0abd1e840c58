// SPDX-License-Identifier: Apache-2.0
// Broken, hostile and foreign files given as recordings: each has its own expected answer.
#include "engine/media/audio.h"
#include "tests/engine/media/picture_files.h"
#include "tests/engine/media/refusal_row.h"
#include "tests/engine/media/sound_files.h"
#include "tests/support/program/test_class.h"

#include <QTest>

#include <cmath>
#include <limits>

using engine::ErrorCode;
using support::ByteVector;

namespace {

constexpr auto kUnlikeSound = ErrorCode::Unsupported;
constexpr auto kRequest = ErrorCode::InvalidRequest;

void row(const char* name,
         const ByteVector& bytes,
         const char* message,
         ErrorCode code = ErrorCode::InvalidFile) {
    support::refusalRow(name, bytes, code, message);
}

ByteVector zeros(size_t count) {
    return ByteVector(count);
}

/// A WAV body made of whole chunks, with a right RIFF size.
ByteVector riff(const ByteVector& chunks) {
    ByteVector out = support::fromText("RIFF");
    support::putLittle(out, chunks.size() + 4, 4);
    support::putText(out, "WAVE");
    support::putBytes(out, chunks);
    return out;
}

ByteVector chunk(std::string_view name, const ByteVector& data) {
    ByteVector out = support::fromText(name);
    support::putLittle(out, data.size(), 4);
    support::putBytes(out, data);
    return out;
}

ByteVector join(ByteVector a, const ByteVector& b) {
    support::putBytes(a, b);
    return a;
}

ByteVector floatsWith(float bad) {
    std::vector<float> samples(1000, 0.25F);
    samples[700] = bad;
    return support::wavFile(support::float32(samples), {.format = 3, .bits = 32});
}

ByteVector encoded(int format, int rate = 44100) {
    return support::encodeSound(support::sine(440.0, 0.5, rate, rate), 1, rate, format);
}

void addWavRows() {
    const ByteVector wav = support::smallWav();
    const ByteVector data = zeros(2000);
    row("wav: cut behind RIFF", support::cutTo(wav, 12), "without a 'fmt ' chunk");
    row("wav: cut in the format", support::cutTo(wav, 30), "'fmt ' chunk declares 16 bytes");
    row("wav: cut behind the format", support::cutTo(wav, 36), "without a 'data' chunk");
    row("wav: cut in the data header", support::cutTo(wav, 41), "without a 'data' chunk");
    row("wav: cut behind the data header", support::cutTo(wav, 44),
        "declares 8000 bytes of them, 0 follow");
    row("wav: data of 0 bytes", support::wavFile({}), "holds no samples");
    row("wav: data of 0 bytes, then a comment",
        join(support::wavFile({}), chunk("LIST", zeros(30))), "holds no samples");
    row("wav: 0 channels", support::wavFile(data, {.channels = 0}), "0 channels");
    row("wav: 17 channels", support::wavFile(data, {.channels = 17}), "17 channels", kUnlikeSound);
    row("wav: 65535 channels", support::wavFile(data, {.channels = 65535}), "65535 channels",
        kUnlikeSound);
    row("wav: 0 Hz", support::wavFile(data, {.rate = 0}), "sample rate of 0 Hz");
    row("wav: 999 Hz", support::wavFile(data, {.rate = 999}), "999 Hz", kUnlikeSound);
    row("wav: 768001 Hz", support::wavFile(data, {.rate = 768001}), "768001 Hz", kUnlikeSound);
    row("wav: 4 GHz", support::wavFile(data, {.rate = 0xffffffffU}), "4294967295 Hz", kUnlikeSound);
    row("wav: 0 bits", support::wavFile(data, {.bits = 0}), "0 bytes");
    row("wav: 65535 bits", support::wavFile(data, {.bits = 65535}), "65535 bits per sample");
    row("wav: 64-bit integers", support::wavFile(data, {.bits = 64}), "cannot be opened");
    row("wav: 20-bit float", support::wavFile(data, {.format = 3, .bits = 24}), "cannot be opened");
    row("wav: unknown coding", support::wavFile(data, {.format = 0x1234}), "cannot be opened");
    row("wav: MPEG coding", support::wavFile(data, {.format = 0x55}), "");
    row("wav: GSM coding",
        support::encodeSound(support::sine(440.0, 0.5, 8000, 8000), 1, 8000,
                             SF_FORMAT_WAV | SF_FORMAT_GSM610),
        "encoding that is not read", kUnlikeSound);
    const ByteVector format =
        chunk("fmt ", ByteVector{1, 0, 1, 0, 0x80, 0x3e, 0, 0, 0, 0x7d, 0, 0, 2, 0, 16, 0});
    row("wav: format of 14 bytes", riff(join(chunk("fmt ", zeros(14)), chunk("data", data))),
        "has 14 bytes, at least 16");
    row("wav: format of 0 bytes", riff(join(chunk("fmt ", {}), chunk("data", data))),
        "has 0 bytes");
    row("wav: no format", riff(chunk("data", data)), "before any 'fmt '");
    row("wav: format behind the data", riff(join(chunk("data", data), format)),
        "before any 'fmt '");
    row("wav: no data", riff(join(format, chunk("LIST", zeros(30)))), "without a 'data'");
    row("wav: comment of 4 GB", join(riff(format), support::fromText("LIST\xff\xff\xff\xff")),
        "'LIST' chunk declares 4294967295 bytes");
    row("wav: chunk name of zeros",
        join(riff(format), join(zeros(4), support::fromText("\xff\xff\xff\x7f"))),
        "chunk declares 2147483647 bytes");
    row("wav: block of 0 bytes", support::patched(wav, 32, std::string_view("\0\0", 2)), "0 bytes");
    row("wav: NaN", floatsWith(std::numeric_limits<float>::quiet_NaN()),
        "sample 700 of channel 1 is");
    row("wav: infinity", floatsWith(std::numeric_limits<float>::infinity()), "is inf");
    row("wav: minus infinity", floatsWith(-std::numeric_limits<float>::infinity()), "is -inf");
    row("wav: integers stored as float", floatsWith(32767.0F), "is 32767, expected a number");
    row("wav: largest float", floatsWith(3.4e38F), "sample 700");
    row("wav: 10 samples", support::smallWav(10), "10 samples at 16 kHz", kRequest);
    row("wav: 160 samples", support::smallWav(160), "160 samples", kRequest);
    row("wav: 31 s", support::smallWav(int64_t{31} * 16000), "31.00 seconds", kRequest);
    row("wav: 5 h", support::wavFile(zeros(size_t{5} * 3600 * 1000), {.rate = 1000, .bits = 8}),
        "300 minutes", kUnlikeSound);
}

void addFlacRows() {
    const ByteVector flac = encoded(SF_FORMAT_FLAC | SF_FORMAT_PCM_16);
    row("flac: signature only", support::cutTo(flac, 4), "inside the stream information");
    row("flac: cut in the stream information", support::cutTo(flac, 20),
        "inside the stream information");
    row("flac: cut behind it", support::cutTo(flac, 42), "");
    row("flac: another block first", support::patched(flac, 4, "\x04"), "not a stream information");
    row("flac: stream information of 35 bytes", support::patched(flac, 7, "\x23"), "34 bytes");
    row("flac: 0 Hz", support::patched(flac, 18, std::string_view("\0\0\x02", 3)), "0 Hz");
    row("flac: 16 Hz", support::patched(flac, 18, std::string_view("\0\x01\x02", 3)), "16 Hz",
        kUnlikeSound);
    row("flac: 2^36 samples declared", support::patched(flac, 21, "\xff\xff\xff\xff\xff"),
        "minutes", kUnlikeSound);
}

void addStreamRows() {
    const ByteVector vorbis = encoded(SF_FORMAT_OGG | SF_FORMAT_VORBIS);
    row("ogg: signature only", support::cutTo(vorbis, 4), "inside the first page");
    row("ogg: cut in the first page", support::cutTo(vorbis, 40),
        "the page at byte 0 is longer than the 40");
    row("ogg: first page only", support::cutTo(vorbis, 58), "cannot be opened");
    row("ogg: 0 channels", support::patched(vorbis, 28 + 11, std::string_view("\0", 1)), "");
    row("ogg: page checksum", support::patched(vorbis, 24, "\x77\x77"), "");
    row("ogg: Speex", support::patched(vorbis, 28, "Speex   "), "Speex speech", kUnlikeSound);
    row("ogg: Theora video", support::patched(vorbis, 28, "\x80theora"), "video", kUnlikeSound);
    row("ogg: unknown codec", support::patched(vorbis, 28, "notknown"), "cannot be opened");
    const ByteVector mp3 = encoded(SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III);
    row("mp3: two bytes", support::cutTo(mp3, 2), "unknown data", kUnlikeSound);
    row("mp3: one frame header", support::cutTo(mp3, 4), "inside the first frame");
    row("mp3: tag longer than the file", support::fromText("ID3\x04\x01\x01\x7f\x7f\x7f\x7f", 100),
        "ends inside its ID3 tag");
    row("mp3: tag and nothing else",
        join(support::fromText(std::string_view("ID3\x04\0\0\0\0\0\x0a", 10), 20), zeros(3)), "");
    ByteVector sync = zeros(0);
    for (int i = 0; i < 500; ++i) {
        support::putText(sync, "\xff\xfb");
    }
    row("mp3: sync words only", sync, "unknown data", kUnlikeSound);
    const ByteVector aiff = encoded(SF_FORMAT_AIFF | SF_FORMAT_PCM_16);
    row("aiff: cut behind FORM", support::cutTo(aiff, 12), "without a 'COMM'");
    const size_t comm = support::findText(aiff, "COMM");
    row("aiff: 0 channels", support::patched(aiff, comm + 8, std::string_view("\0\0", 2)),
        "0 channels");
    row("aiff: 255 channels", support::patched(aiff, comm + 8, std::string_view("\0\xff", 2)),
        "255 channels", kUnlikeSound);
    row("aiff: format of 2 bytes",
        support::patched(aiff, comm + 4, std::string_view("\0\0\0\x02", 4)), "at least 18");
    row("aiff: rate of 0",
        support::patched(aiff, comm + 16, std::string_view("\0\0\0\0\0\0\0\0\0\0", 10)),
        "sample rate of", kUnlikeSound);
    row("aiff: 2^62 Hz", support::patched(aiff, comm + 16, "\x40\x3d"), "sample rate of",
        kUnlikeSound);
}

void addForeignRows() {
    const auto foreign = [](const char* name, std::string_view head, const char* found) {
        row(name, support::fromText(head, 200), found, kUnlikeSound);
    };
    using namespace std::string_view_literals;
    row("empty", {}, "0 bytes");
    foreign("one byte", "\x01"sv, "unknown data");
    foreign("m4a",
            "\0\0\0\x20"
            "ftypM4A "sv,
            "an M4A recording");
    foreign("mp4",
            "\0\0\0\x20"
            "ftypisom"sv,
            "an MP4 video");
    // Recorders of phones give no brand: the tracks say that there is sound alone.
    const auto recorded = [](const char* track) {
        const std::string handler =
            std::string("\0\0\0\x20hdlr\0\0\0\0\0\0\0\0", 16) + track + std::string(12, '\0');
        return support::fromText(std::string("\0\0\0\x18"
                                             "ftypmp42\0\0\0\0isommp42"
                                             "\0\0\0\x10mdat12345678"
                                             "\0\0\0\x28moov",
                                             48) +
                                 handler);
    };
    row("mp4 with sound alone", recorded("soun"), "an M4A recording", kUnlikeSound);
    row("mp4 with pictures", recorded("vide"), "an MP4 video", kUnlikeSound);
    foreign("aac", "\xff\xf1\x50\x80"sv, "an AAC recording");
    foreign("amr", "#!AMR\n"sv, "an AMR recording");
    foreign("webm", "\x1a\x45\xdf\xa3"sv, "a Matroska or WebM video");
    foreign("wma", "\x30\x26\xb2\x75\x8e\x66\xcf\x11"sv, "a Windows Media file");
    foreign("midi", "MThd\0\0\0\6"sv, "a MIDI file");
    foreign("caf", "caff\0\1\0\0"sv, "a CAF recording");
    foreign("wave64", "riff\x2e\x91\xcf\x11"sv, "a Sony Wave64 recording");
    foreign("voc", "Creative Voice File\x1a"sv, "a VOC recording");
    foreign("wavpack", "wvpk"sv, "a WavPack recording");
    foreign("avi", "RIFF\x24\0\0\0AVI LIST"sv, "an AVI video");
    foreign("pdf", "%PDF-1.4"sv, "a PDF document");
    row("png", support::smallPng(), "a PNG picture", kUnlikeSound);
    row("jpeg", support::smallJpeg(), "a JPEG picture", kUnlikeSound);
    row("text", support::fromText("just some words"), "found text", kUnlikeSound);
}

} // namespace

class TestAudioMalformed : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void refused_data();
    void refused();
    void cutShort_data();
    void cutShort();
    void everyCutIsAnswered_data();
    void everyCutIsAnswered();
};

void TestAudioMalformed::refused_data() {
    support::addColumns<QByteArray, ErrorCode, QByteArray>("bytes", "code", "message");
    addWavRows();
    addFlacRows();
    addStreamRows();
    addForeignRows();
}

void TestAudioMalformed::refused() {
    QFETCH(QByteArray, bytes);
    QFETCH(ErrorCode, code);
    QFETCH(QByteArray, message);
    const ByteVector file(bytes.begin(), bytes.end());
    const auto audio = engine::decodeAudio(support::asBytes(file));
    QVERIFY2(!audio.has_value(), "decoded");
    const QByteArray found = QByteArray::fromStdString(audio.error().message);
    QVERIFY2(found.contains(message) && !found.isEmpty(), found.constData());
    QVERIFY2(audio.error().code == code, found.constData());
    // The probe may say more than the decoder takes (a clip that is too long), never less.
    const auto info = engine::probeAudio(support::asBytes(file));
    if (code == ErrorCode::Unsupported) {
        QVERIFY(!info.has_value());
    }
}

/// Recordings that hold less than they declare, or nothing at all: what is there is played.
void TestAudioMalformed::cutShort_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<int>("least"); // frames that must come out, of those that were written
    QTest::addColumn<int>("most");
    QTest::addColumn<bool>("has_note");
    const auto row = [](const char* name, const ByteVector& bytes, int least, int most,
                        bool has_note = true) {
        QTest::newRow(name) << QByteArray(reinterpret_cast<const char*>(bytes.data()),
                                          static_cast<qsizetype>(bytes.size()))
                            << least << most << has_note;
    };
    const ByteVector wav = support::smallWav(); // 4000 frames of 2 bytes
    const ByteVector data(wav.begin() + 44, wav.end());
    row("wav: half of the data", support::cutTo(wav, 4044), 2000, 2000);
    row("wav: last byte lost", support::cutTo(wav, wav.size() - 1), 3999, 3999);
    for (const uint32_t length : {0x7ffff000U, 2000000000U, 1900000000U, 0U, 8001U, 0x10000000U}) {
        row(("wav: data of " + std::to_string(length)).c_str(),
            support::wavFile(data, {.declared_data = length}), 4000, 4000);
    }
    for (const uint32_t length :
         {0xffffffffU, 0xffffffdbU, 0x80000000U, 0x80000024U, 0x7fffffffU}) {
        row(("wav: no length, " + std::to_string(length)).c_str(),
            support::wavFile(data, {.declared_data = length}), 4000, 4000, false);
    }
    row("wav: 10 h declared",
        support::wavFile(zeros(2000), {.rate = 1000, .bits = 8, .declared_data = 36000000}), 2000,
        2000);
    const auto cut = [&](const char* name, int format, int rate, double part, int least, int most) {
        const ByteVector whole =
            support::encodeSound(support::sine(440.0, 0.5, rate, rate), 1, rate, format);
        if (!whole.empty()) {
            row(name,
                support::cutTo(whole,
                               static_cast<size_t>(static_cast<double>(whole.size()) * part)),
                least, most);
        }
    };
    cut("wav: RF64", SF_FORMAT_RF64 | SF_FORMAT_PCM_16, 16000, 0.5, 7900, 8000);
    cut("wav: IMA ADPCM", SF_FORMAT_WAV | SF_FORMAT_IMA_ADPCM, 16000, 0.5, 7000, 8300);
    cut("wav: MP3 inside", SF_FORMAT_WAV | SF_FORMAT_MPEG_LAYER_III, 44100, 0.5, 10000, 24000);
    cut("aiff: half", SF_FORMAT_AIFF | SF_FORMAT_PCM_16, 16000, 0.5, 7900, 8000);
    cut("aiff: float", SF_FORMAT_AIFF | SF_FORMAT_FLOAT, 16000, 0.5, 7900, 8000);
    cut("au: half", SF_FORMAT_AU | SF_FORMAT_PCM_16, 16000, 0.5, 7900, 8000);
    cut("flac: half", SF_FORMAT_FLAC | SF_FORMAT_PCM_16, 44100, 0.5, 8000, 23000);
    cut("flac: last bytes lost", SF_FORMAT_FLAC | SF_FORMAT_PCM_16, 44100, 0.99, 30000, 44100);
    cut("mp3: half", SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III, 44100, 0.5, 10000, 26000);
    for (const auto& [name, format] : {std::pair{"vorbis: half", SF_FORMAT_OGG | SF_FORMAT_VORBIS},
                                       std::pair{"opus: half", SF_FORMAT_OGG | SF_FORMAT_OPUS}}) {
        const ByteVector whole = support::encodeSound(support::sine(440.0, 0.5, 48000, 960000), 1,
                                                      48000, format); // 20 s: many pages
        row(name, support::cutTo(whole, whole.size() * 3 / 5), 48000, 900000);
    }
    ByteVector noise = support::encodeSound(support::sine(440.0, 0.5, 44100, 44100), 1, 44100,
                                            SF_FORMAT_FLAC | SF_FORMAT_PCM_16);
    for (size_t i = noise.size() / 3; i < noise.size(); ++i) {
        noise[i] = static_cast<uint8_t>(i * 167);
    }
    row("flac: noise from a third on", noise, 4096, 16000);
    const ByteVector aiff = support::encodeSound(support::sine(440.0, 0.5, 16000, 16000), 1, 16000,
                                                 SF_FORMAT_AIFF | SF_FORMAT_PCM_16);
    const size_t sound = support::findText(aiff, "SSND") + 4;
    const size_t frames = support::findText(aiff, "COMM") + 10;
    const auto placeholders = [&](std::string_view size, std::string_view count) {
        return support::patched(support::patched(aiff, sound, size), frames, count);
    };
    using namespace std::string_view_literals;
    row("aiff: placeholders of sox", placeholders("\x7f\0\0\x08"sv, "\x3f\x80\0\0"sv), 16000,
        16000);
    row("aiff: zeros", placeholders("\0\0\0\x08"sv, "\0\0\0\0"sv), 16000, 16000);
    const ByteVector au = support::encodeSound(support::sine(440.0, 0.5, 16000, 16000), 1, 16000,
                                               SF_FORMAT_AU | SF_FORMAT_PCM_16);
    row("au: whole", au, 16000, 16000, false);
    row("au: no length", support::patched(au, 8, "\xff\xff\xff\xff"), 16000, 16000, false);
    row("au: 2 GB declared", support::patched(au, 8, "\x77\x35\x94\x01"), 16000, 16000);
}

void TestAudioMalformed::cutShort() {
    QFETCH(QByteArray, bytes);
    QFETCH(int, least);
    QFETCH(int, most);
    QFETCH(bool, has_note);
    const ByteVector file(bytes.begin(), bytes.end());
    const auto audio = engine::decodeAudio(support::asBytes(file));
    VERIFY_VALUE(audio);
    const int64_t frames = audio->source.frames;
    QVERIFY2(frames >= least && frames <= most, std::to_string(frames).c_str());
    QCOMPARE(!audio->source.notes.empty(), has_note);
    QVERIFY(engine::probeAudio(support::asBytes(file)).has_value());
}

void TestAudioMalformed::everyCutIsAnswered_data() {
    QTest::addColumn<int>("format");
    QTest::newRow("wav") << (SF_FORMAT_WAV | SF_FORMAT_PCM_16);
    QTest::newRow("au") << (SF_FORMAT_AU | SF_FORMAT_PCM_16);
    QTest::newRow("aiff") << (SF_FORMAT_AIFF | SF_FORMAT_PCM_16);
    QTest::newRow("flac") << (SF_FORMAT_FLAC | SF_FORMAT_PCM_16);
    QTest::newRow("vorbis") << (SF_FORMAT_OGG | SF_FORMAT_VORBIS);
    QTest::newRow("opus") << (SF_FORMAT_OGG | SF_FORMAT_OPUS);
    QTest::newRow("mp3") << (SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III);
}

void TestAudioMalformed::everyCutIsAnswered() {
    QFETCH(int, format);
    const ByteVector whole =
        support::encodeSound(support::sine(440.0, 0.5, 16000, 4000), 1, 16000, format);
    if (whole.empty()) {
        QSKIP("this libsndfile cannot write the format");
    }
    const auto expected = engine::decodeAudio(support::asBytes(whole));
    VERIFY_VALUE(expected);
    size_t accepted = 0;
    size_t noted = 0;
    const size_t step = whole.size() / 400 + 1;
    for (size_t size = 0; size < whole.size(); size += step) {
        const auto audio = engine::decodeAudio(support::asBytes(support::cutTo(whole, size)));
        if (audio.has_value()) {
            ++accepted;
            noted += audio->source.notes.empty() ? 0 : 1;
            QVERIFY(audio->samples.size() <= expected->samples.size());
        } else {
            QVERIFY(!audio.error().message.empty());
        }
    }
    qInfo("%zu of %zu cuts accepted", accepted, whole.size() / step);
    // Formats that declare their length are noted to be short; streams may end at a page boundary.
    const bool has_length = format == (SF_FORMAT_WAV | SF_FORMAT_PCM_16) ||
                            format == (SF_FORMAT_AIFF | SF_FORMAT_PCM_16) ||
                            format == (SF_FORMAT_AU | SF_FORMAT_PCM_16) ||
                            format == (SF_FORMAT_FLAC | SF_FORMAT_PCM_16);
    QVERIFY(!has_length || accepted == noted);
    const bool is_plain = has_length && format != (SF_FORMAT_FLAC | SF_FORMAT_PCM_16);
    QVERIFY(!is_plain || accepted > 0); // the others have one block or page of this length
}

TEST_CLASS(TestAudioMalformed)
#include "tst_audio_malformed.moc"
