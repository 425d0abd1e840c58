// SPDX-License-Identifier: Apache-2.0
// The streaming detokenizer: whole characters only, the same text as decoding at once, valid UTF-8
// for any ids.
#include "engine/text/detokenizer.h"
#include "tests/engine/text/vocabularies.h"
#include "tests/support/program/test_class.h"

#include <QStringDecoder>
#include <QTest>

#include <random>

using engine::DetokenizerOptions;
using engine::StreamingDetokenizer;
using engine::TokenId;
using engine::Tokenizer;
using Ids = std::vector<TokenId>;

namespace {

constexpr TokenId kFirstByte = 24; // of the golden vocabulary
constexpr TokenId kByteEnd = kFirstByte + 256;

bool isByte(TokenId id) {
    return id >= kFirstByte && id < kByteEnd;
}

bool isUtf8(const std::string& text) {
    QStringDecoder decoder(QStringDecoder::Utf8, QStringDecoder::Flag::Stateless);
    const QString decoded =
        decoder(QByteArrayView(text.data(), static_cast<qsizetype>(text.size())));
    return !decoder.hasError() && decoded.toStdString() == text;
}

Ids byteTokens(const QByteArray& bytes) {
    Ids ids;
    for (const char byte : bytes) {
        ids.push_back(kFirstByte + static_cast<uint8_t>(byte));
    }
    return ids;
}

} // namespace

class TestDetokenizer : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void holdsBackHalfCharacters();
    void bytes_data();
    void bytes();
    void everyCharacterInBytes();
    void equalsDecodeForGoldenCases();
    void equalsDecodeForValidRuns();
    void randomIdsGiveValidUtf8();
    void specialTokens();
    void unknownIdsGiveNothing();

private:
    std::optional<Tokenizer> tokenizer_;
};

void TestDetokenizer::initTestCase() {
    tokenizer_ = support::loadOrExit(support::goldenTokenizerJson());
    QCOMPARE(tokenizer_->bytesOf(kFirstByte), std::string(1, '\0'));
    QCOMPARE(tokenizer_->bytesOf(kByteEnd - 1), std::string("\xff"));
}

void TestDetokenizer::holdsBackHalfCharacters() {
    StreamingDetokenizer stream(*tokenizer_);
    const Ids ids = byteTokens("\xf0\x9f\xa6\x99!");
    QCOMPARE(stream.push(ids[0]), std::string());
    QCOMPARE(stream.push(ids[1]), std::string());
    QCOMPARE(stream.push(ids[2]), std::string());
    QCOMPARE(stream.push(ids[3]), std::string("\xf0\x9f\xa6\x99"));
    QCOMPARE(stream.push(ids[4]), std::string("!"));
    QCOMPARE(stream.flush(), std::string());
}

void TestDetokenizer::bytes_data() {
    // What a byte-at-a-time reader must give: one U+FFFD per byte that became nothing.
    support::addColumns<QByteArray, QString>("bytes", "text");
    const QString bad(1, QChar(QChar::ReplacementCharacter));
    QTest::addRow("incomplete at the end") << QByteArray("\xe2\x82") << bad.repeated(2);
    QTest::addRow("incomplete, then ASCII") << QByteArray("\xe2\x82"
                                                          "A")
                                            << bad.repeated(2) + "A";
    QTest::addRow("incomplete, then a character")
        << QByteArray("\xe2\xc3\xa4") << bad + QStringLiteral("ä");
    QTest::addRow("lone continuation") << QByteArray("\x80") << bad;
    QTest::addRow("overlong slash") << QByteArray("\xc0\xaf") << bad.repeated(2);
    QTest::addRow("overlong in three") << QByteArray("\xe0\x80\x80") << bad.repeated(3);
    QTest::addRow("overlong in four") << QByteArray("\xf0\x80\x80\x80") << bad.repeated(4);
    QTest::addRow("surrogate") << QByteArray("\xed\xa0\x80") << bad.repeated(3);
    QTest::addRow("beyond Unicode") << QByteArray("\xf4\x90\x80\x80") << bad.repeated(4);
    QTest::addRow("bytes that never occur") << QByteArray("\xf5\xfe\xff") << bad.repeated(3);
    QTest::addRow("the last code point")
        << QByteArray("\xf4\x8f\xbf\xbf") << QString::fromUtf8("\xf4\x8f\xbf\xbf");
    QTest::addRow("good ones around a bad one") << QByteArray("ä\xff"
                                                              "ö")
                                                << QStringLiteral("ä") + bad + QStringLiteral("ö");
    QTest::addRow("NUL") << QByteArray(1, '\0') << QString(QChar(0));
}

void TestDetokenizer::bytes() {
    QFETCH(QByteArray, bytes);
    QFETCH(QString, text);
    StreamingDetokenizer stream(*tokenizer_);
    std::string out;
    for (const TokenId id : byteTokens(bytes)) {
        out += stream.push(id);
    }
    out += stream.flush();
    QCOMPARE(QString::fromStdString(out), text);
}

void TestDetokenizer::everyCharacterInBytes() {
    StreamingDetokenizer stream(*tokenizer_);
    for (char32_t c = 0; c <= 0x10ffff; c += c < 0x3000 ? 1 : 37) {
        if (c >= 0xd800 && c <= 0xdfff) {
            continue;
        }
        const QByteArray utf8 = QString::fromUcs4(&c, 1).toUtf8();
        const Ids ids = byteTokens(utf8);
        for (size_t i = 0; i + 1 < ids.size(); ++i) {
            QVERIFY(stream.push(ids[i]).empty());
        }
        QCOMPARE(stream.push(ids.back()), utf8.toStdString());
    }
}

void TestDetokenizer::equalsDecodeForGoldenCases() {
    for (const auto& item : support::readJson(support::goldenDir() / "tokenizer_cases.json")) {
        StreamingDetokenizer stream(*tokenizer_, DetokenizerOptions{false});
        std::string out;
        for (const TokenId id : item["ids"].get<Ids>()) {
            out += stream.push(id);
        }
        QCOMPARE(out + stream.flush(), item["decoded"].get<std::string>());
    }
}

void TestDetokenizer::equalsDecodeForValidRuns() {
    std::mt19937 random(3);
    const std::vector<QByteArray> characters = {"A", "\n", "ä", "€", "語", "😀", "\xf4\x8f\xbf\xbf"};
    for (int round = 0; round < 500; ++round) {
        Ids ids;
        for (size_t n = random() % 60; n > 0; --n) {
            if (random() % 2 == 0) {
                for (const TokenId id : byteTokens(characters[random() % characters.size()])) {
                    ids.push_back(id);
                }
            } else {
                ids.push_back(static_cast<TokenId>(random() % 1024));
                if (isByte(ids.back())) {
                    ids.pop_back();
                }
            }
        }
        for (const bool skips_special : {false, true}) {
            StreamingDetokenizer stream(*tokenizer_, DetokenizerOptions{skips_special});
            std::string out;
            for (const TokenId id : ids) {
                out += stream.push(id);
                QVERIFY(isUtf8(out));
            }
            QCOMPARE(stream.flush(), std::string());
            QCOMPARE(out, tokenizer_->decode(ids, skips_special));
        }
    }
}

void TestDetokenizer::randomIdsGiveValidUtf8() {
    std::mt19937 random(4);
    for (int round = 0; round < 300; ++round) {
        StreamingDetokenizer stream(*tokenizer_);
        std::string out;
        size_t num_bad = 0;
        size_t num_bytes = 0;
        for (int n = 0; n < 200; ++n) {
            // Mostly bytes, and among them mostly those above 0x7f.
            const auto kind = random() % 10;
            TokenId id = static_cast<TokenId>(random() % 1100) - 20;
            if (kind < 6) {
                id = kFirstByte + 0x80 + static_cast<TokenId>(random() % 0x80);
            } else if (kind < 8) {
                id = kFirstByte + static_cast<TokenId>(random() % 256);
            }
            num_bytes += isByte(id) ? 1 : 0;
            const std::string piece = stream.push(id);
            QVERIFY(isUtf8(piece));
            out += piece;
        }
        out += stream.flush();
        QVERIFY(isUtf8(out));
        for (size_t at = out.find("\xef\xbf\xbd"); at != std::string::npos;
             at = out.find("\xef\xbf\xbd", at + 3)) {
            ++num_bad;
        }
        QVERIFY(num_bad <= num_bytes + 1);
    }
}

void TestDetokenizer::specialTokens() {
    const Ids ids = {*tokenizer_->idOf("<|turn>"), *tokenizer_->idOf("a"),
                     *tokenizer_->idOf("<turn|>")};
    StreamingDetokenizer hiding(*tokenizer_);
    StreamingDetokenizer showing(*tokenizer_, DetokenizerOptions{false});
    std::string hidden;
    std::string shown;
    for (const TokenId id : ids) {
        hidden += hiding.push(id);
        shown += showing.push(id);
    }
    QCOMPARE(hidden, std::string("a"));
    QCOMPARE(shown, std::string("<|turn>a<turn|>"));
    // As in decode(): a hidden token between the bytes of a character does not break it.
    QCOMPARE(hiding.push(kFirstByte + 0xc3), std::string());
    QCOMPARE(hiding.push(ids[0]), std::string());
    QCOMPARE(hiding.push(kFirstByte + 0xa4), std::string("ä"));
    QCOMPARE(showing.push(kFirstByte + 0xc3), std::string());
    QCOMPARE(showing.push(ids[0]), std::string("\xef\xbf\xbd<|turn>"));
}

void TestDetokenizer::unknownIdsGiveNothing() {
    StreamingDetokenizer stream(*tokenizer_);
    for (const TokenId id : {-1, 1024, INT32_MAX, INT32_MIN}) {
        QCOMPARE(stream.push(id), std::string());
    }
}

TEST_CLASS(TestDetokenizer)
#include "tst_detokenizer.moc"
