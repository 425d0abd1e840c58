// SPDX-License-Identifier: Apache-2.0
// Long texts for the tokenizer, of nothing but one or two of what texts are made of: encoded and
// decoded in linear time and bounded memory. Long tokenizer.json files likewise.
#include "engine/text/detokenizer.h"
#include "tests/engine/text/vocabularies.h"
#include "tests/support/growth.h"
#include "tests/support/program/test_class.h"

using engine::Segment;
using engine::TokenId;
using engine::Tokenizer;

namespace {

/// All ways there are, and back.
void encode(const Tokenizer& tokenizer, const std::string& text) {
    const std::vector<TokenId> ids = tokenizer.encode(text);
    (void)tokenizer.encode(text, {.matches_added_tokens = false});
    std::vector<Segment> segments;
    for (size_t at = 0; at < text.size(); at += 7) {
        segments.push_back({text.substr(at, 7), at % 2 == 0});
    }
    (void)tokenizer.encodeSegments(segments);
    (void)tokenizer.decode(ids);
    engine::StreamingDetokenizer pieces(tokenizer);
    for (const TokenId id : ids) {
        (void)pieces.push(id);
    }
    (void)pieces.flush();
}

/// n added tokens behind the vocabulary, some the beginnings of others.
std::string withAddedTokens(const std::string& json, size_t count, const char* flags) {
    nlohmann::json file = nlohmann::json::parse(json);
    const size_t first = file["model"]["vocab"].size();
    std::string list;
    for (size_t i = 0; i < count; ++i) {
        list += ",{\"id\":" + std::to_string(first + i) + ",\"content\":\"<w" + std::to_string(i) +
                "\"," + flags + "}";
    }
    file["added_tokens"].push_back("mark");
    std::string text = file.dump();
    const std::string mark = ",\"mark\"";
    return text.replace(text.find(mark), mark.size(), list);
}

} // namespace

class TestLongTexts : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void texts_data();
    void texts();
    void bytes();
    void files();
    void addedTokens_data();
    void addedTokens();
};

void TestLongTexts::texts_data() {
    QTest::addColumn<bool>("is_gemma");
    QTest::newRow("small vocabulary") << false;
    QTest::newRow("Gemma's") << true;
}

void TestLongTexts::texts() {
    QFETCH(bool, is_gemma);
    const Tokenizer tokenizer = support::loadOrExit(is_gemma ? support::gemma4TokenizerJson()
                                                             : support::goldenTokenizerJson());
    const auto read = [&](const std::string& text) { encode(tokenizer, text); };
    support::checkLinear({read,
                          {"a", "the ", " ", "\n", "\t", "0", "-", "\xe2\x96\x81", "<", "<bos>",
                           "<|turn>", "<0x0A>", "\xc3\xa4", "\xcc\x81", "\xf0\x9f\x98\x80", "\xff"},
                          {},
                          {},
                          size_t{1} << 20,
                          size_t{4} << 10});
    const auto whole = [&](const std::string& text) {
        (void)tokenizer.decode(tokenizer.encode(text));
    };
    support::checkLinear({whole, {" ", "the "}, {}, {}, size_t{16} << 20, 0});
}

/// Tokens of single bytes, of which no characters come.
void TestLongTexts::bytes() {
    const Tokenizer tokenizer = support::loadOrExit(support::goldenTokenizerJson());
    const auto decode = [&](const std::string& text) {
        std::vector<TokenId> ids;
        for (const char c : text) {
            std::string name = "<0x" + QByteArray(1, c).toHex().toUpper().toStdString() + ">";
            ids.push_back(tokenizer.idOf(name).value_or(0));
        }
        (void)tokenizer.decode(ids);
        engine::StreamingDetokenizer pieces(tokenizer);
        for (const TokenId id : ids) {
            (void)pieces.push(id);
        }
    };
    support::checkLinear(
        {decode, {"\xc3", "\xa4", "\xff", "\xf0\x9f\x98"}, {}, {}, size_t{1} << 20});
}

void TestLongTexts::files() {
    const auto file = [](const std::string& text) {
        (void)Tokenizer::fromJson(support::numbered(text));
    };
    support::checkLinear({file, {"[", "{", "\"", "1,", "{\"a\":", "\"#\":1,"}, {}, {}});
    support::checkLinear({file, {"\"#\":1,", "\"#\":{},", "[],"}, "{\"a\":{", "\"\":1}}"});
    support::checkLinear(
        {file, {"\"t#\":#,", "\"\":1,"}, "{\"model\":{\"type\":\"BPE\",\"vocab\":{", "\"z\":1}}}"});
    support::checkLinear({file,
                          {"[\"a\",\"b#\"],", "\"a b#\",", "[", "[],"},
                          "{\"model\":{\"type\":\"BPE\",\"merges\":[",
                          "[\"a\",\"b\"]]}}"});
    support::checkLinear({file,
                          {"{\"id\":#,\"content\":\"<#>\"},", "{},", "{\"id\":#},"},
                          "{\"added_tokens\":[",
                          "{}]}"});
}

void TestLongTexts::addedTokens_data() {
    QTest::addColumn<QByteArray>("flags");
    const QByteArray rest = R"(,"special":false)";
    for (const char* strips : {"true", "false"}) {
        for (const char* is_normalized : {"true", "false"}) {
            const QByteArray flags = QByteArray("\"single_word\":") + strips +
                                     ",\"lstrip\":" + strips + ",\"rstrip\":" + strips +
                                     ",\"normalized\":" + is_normalized + rest;
            QTest::newRow(flags.constData()) << flags;
        }
    }
}

void TestLongTexts::addedTokens() {
    QFETCH(QByteArray, flags);
    const std::string json = support::goldenTokenizerJson();
    const auto load = [&](const std::string& text) {
        (void)Tokenizer::fromJson(withAddedTokens(json, text.size() / 64, flags.constData()));
    };
    support::checkLinear({load, {"."}, {}, {}, size_t{1} << 20});

    const Tokenizer tokenizer = support::loadOrExit(withAddedTokens(json, 1111, flags.constData()));
    const auto read = [&](const std::string& text) { encode(tokenizer, text); };
    support::checkLinear({read,
                          {"<w1", "<w11", "<w111", "<", " <w1 ", " ", "\xe2\x96\x81", "<w1a"},
                          {},
                          {},
                          size_t{1} << 20,
                          size_t{4} << 10});
}

TEST_CLASS(TestLongTexts)
#include "tst_long_texts.moc"
