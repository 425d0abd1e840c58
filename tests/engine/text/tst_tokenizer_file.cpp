// SPDX-License-Identifier: Apache-2.0
// Every rule of engine/text/TOKENIZER.md broken once or more: the golden tokenizer.json with one
// change each, and the rule and words that the refusal must carry. Then what is accepted.
#include "engine/base/sentence_english.h"
#include "engine/text/tokenizer.h"
#include "tests/engine/text/vocabularies.h"
#include "tests/support/program/test_class.h"

#include <QTemporaryDir>
#include <QTest>

#include <functional>

using engine::ErrorCode;
using engine::Result;
using engine::Tokenizer;
using nlohmann::json;

using Change = std::function<void(json&)>;
using TextChange = std::function<void(std::string&)>;
Q_DECLARE_METATYPE(Change)
Q_DECLARE_METATYPE(TextChange)
Q_DECLARE_METATYPE(engine::ErrorCode)

namespace {

void replaceOnce(std::string& text, const std::string& from, const std::string& to) {
    const size_t at = text.find(from);
    if (at == std::string::npos) {
        qFatal("the golden tokenizer.json lacks %s", from.c_str());
    }
    text.replace(at, from.size(), to);
}

void checkRefusal(const Result<Tokenizer>& result,
                  ErrorCode code,
                  const QString& rule,
                  const QString& words) {
    QVERIFY2(!result.has_value(), "it was accepted");
    const auto& error = result.error();
    const auto message = QString::fromStdString(error.message);
    QVERIFY2(message.contains(words), qPrintable(message));
    QVERIFY2(message.startsWith(QStringLiteral("tokenizer.json: ")), qPrintable(message));
    QCOMPARE(error.code, code);
    QVERIFY(!error.details.empty());
    QCOMPARE(QString::fromStdString(error.details[0].second), rule);
}

} // namespace

class TestTokenizerFile : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void refusesContent_data();
    void refusesContent();
    void refusesText_data();
    void refusesText();
    void everyCutIsRefused();
    void randomDamageIsSurvived();
    void tooManyValues();
    void acceptsOtherSpellings_data();
    void acceptsOtherSpellings();
    void notesWhatHasNoEffect();
    void wordsFlaggedSpecialAreWords_data();
    void wordsFlaggedSpecialAreWords();
    void readsFolder();
    void refusesFolder();

private:
    std::string text_;
    json file_;
};

void TestTokenizerFile::initTestCase() {
    text_ = support::goldenTokenizerJson();
    file_ = json::parse(text_);
    QVERIFY(Tokenizer::fromJson(text_).has_value());
    QVERIFY(Tokenizer::fromJson(file_.dump()).has_value());
}

void TestTokenizerFile::refusesContent_data() {
    support::addColumns<Change, ErrorCode, QString, QString>("change", "code", "rule", "words");
    const auto row = [](const char* name, ErrorCode code, const char* rule, const char* words,
                        const Change& change) {
        QTest::addRow("%s", name) << change << code << QString::fromLatin1(rule)
                                  << QString::fromUtf8(words);
    };
    constexpr auto kBad = ErrorCode::InvalidFile;
    constexpr auto kOther = ErrorCode::Unsupported;

    row("version 2", kOther, "TK06", "expected \"1.0\"", [](json& f) { f["version"] = "2.0"; });
    row("no version", kOther, "TK06", "found none", [](json& f) { f.erase("version"); });

    row("normalizer NFKC", kOther, "TK07", "NFKC", [](json& f) {
        f["normalizer"] = {{"type", "NFKC"}};
    });
    row("normalizer Sequence", kOther, "TK07", "Sequence", [](json& f) {
        f["normalizer"] = {{"type", "Sequence"}, {"normalizers", json::array({f["normalizer"]})}};
    });
    const auto prepend = [](json& f, const char* sign) {
        const json step = {{"type", "Prepend"}, {"prepend", sign}};
        f["normalizer"] = {{"type", "Sequence"},
                           {"normalizers", json::array({step, f["normalizer"]})}};
    };
    row("normalizer prepends another sign", kOther, "TK07", "Sequence",
        [prepend](json& f) { prepend(f, "_"); });
    row("Prepend without Strip", kOther, "TK09", "Strip",
        [prepend](json& f) { prepend(f, "\xe2\x96\x81"); });
    row("Prepend beside a normalized token", kOther, "TK07", "as \"<pad>\" does",
        [prepend](json& f) {
            prepend(f, "\xe2\x96\x81");
            f["decoder"]["decoders"].push_back(
                {{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}});
            f["added_tokens"][0]["normalized"] = true;
        });
    row("normalizer null", kOther, "TK07", "found null",
        [](json& f) { f["normalizer"] = nullptr; });
    row("normalizer absent", kOther, "TK07", "found none", [](json& f) { f.erase("normalizer"); });
    row("normalizer replaces another text", kOther, "TK07", "Replace",
        [](json& f) { f["normalizer"]["pattern"]["String"] = "  "; });
    row("normalizer with a regular expression", kOther, "TK07", "Replace", [](json& f) {
        f["normalizer"]["pattern"] = {{"Regex", " "}};
    });
    row("normalizer writes another sign", kOther, "TK07", "Replace",
        [](json& f) { f["normalizer"]["content"] = "_"; });
    row("normalizer with one more member", kOther, "TK07", "Replace",
        [](json& f) { f["normalizer"]["lowercase"] = true; });

    row("pre_tokenizer ByteLevel", kOther, "TK08", "ByteLevel", [](json& f) {
        f["pre_tokenizer"] = {{"type", "ByteLevel"}, {"add_prefix_space", false}};
    });
    row("pre_tokenizer Metaspace", kOther, "TK08", "Metaspace", [](json& f) {
        f["pre_tokenizer"] = {{"type", "Metaspace"}};
    });
    row("pre_tokenizer isolates spaces", kOther, "TK08", "Split",
        [](json& f) { f["pre_tokenizer"]["behavior"] = "Isolated"; });
    row("pre_tokenizer inverted", kOther, "TK08", "Split",
        [](json& f) { f["pre_tokenizer"]["invert"] = true; });
    row("pre_tokenizer splits at digits", kOther, "TK08", "Split", [](json& f) {
        f["pre_tokenizer"]["pattern"] = {{"Regex", "\\d"}};
    });

    row("decoder absent", kOther, "TK09", "found none", [](json& f) { f.erase("decoder"); });
    row("decoder with a Strip step", kOther, "TK09", "Sequence", [](json& f) {
        f["decoder"]["decoders"].push_back({{"type", "Strip"}, {"content", " "}});
    });
    row("decoder without ByteFallback", kOther, "TK09", "Sequence",
        [](json& f) { f["decoder"]["decoders"].erase(1); });

    row("model WordPiece", kOther, "TK10", "WordPiece",
        [](json& f) { f["model"]["type"] = "WordPiece"; });
    row("model without type", kOther, "TK10", "without a type",
        [](json& f) { f["model"].erase("type"); });
    row("Unigram model", kBad, "TK17", "array", [](json& f) {
        f["model"] = {{"type", "Unigram"}, {"vocab", json::array({json::array({"a", -1.5})})}};
    });
    row("model absent", kBad, "TK05", "model: expected an object",
        [](json& f) { f.erase("model"); });
    row("model a string", kBad, "TK05", "model: expected an object",
        [](json& f) { f["model"] = "BPE"; });
    row("dropout", kOther, "TK11", "dropout", [](json& f) { f["model"]["dropout"] = 0.1; });
    row("subword prefix", kOther, "TK12", "continuing_subword_prefix",
        [](json& f) { f["model"]["continuing_subword_prefix"] = "##"; });
    row("word suffix", kOther, "TK12", "end_of_word_suffix",
        [](json& f) { f["model"]["end_of_word_suffix"] = "</w>"; });
    row("merges ignored", kOther, "TK13", "ignore_merges",
        [](json& f) { f["model"]["ignore_merges"] = true; });
    row("no byte fallback", kOther, "TK14", "byte_fallback",
        [](json& f) { f["model"]["byte_fallback"] = false; });
    row("byte fallback not mentioned", kOther, "TK14", "byte_fallback",
        [](json& f) { f["model"].erase("byte_fallback"); });
    row("unk_token unknown", kBad, "TK15", "[UNK]",
        [](json& f) { f["model"]["unk_token"] = "[UNK]"; });
    row("unk_token a number", kBad, "TK15", "unk_token",
        [](json& f) { f["model"]["unk_token"] = 3; });

    row("vocab absent", kBad, "TK05", "model.vocab", [](json& f) { f["model"].erase("vocab"); });
    row("vocab null", kBad, "TK05", "model.vocab", [](json& f) { f["model"]["vocab"] = nullptr; });
    row("vocab empty", kBad, "TK22", "<0x00>", [](json& f) {
        f["model"]["vocab"] = json::object();
        f["model"]["merges"] = json::array();
    });
    row("empty token", kBad, "TK16", "0 bytes", [](json& f) { f["model"]["vocab"][""] = 1024; });
    row("token of 1025 bytes", kBad, "TK16", "1025 bytes",
        [](json& f) { f["model"]["vocab"][std::string(1025, 'y')] = 1024; });
    row("id a string", kBad, "TK17", "a string", [](json& f) { f["model"]["vocab"]["in"] = "7"; });
    row("id negative", kBad, "TK17", "-1", [](json& f) { f["model"]["vocab"]["in"] = -1; });
    row("id with a fraction", kBad, "TK17", "7.5",
        [](json& f) { f["model"]["vocab"]["in"] = 7.5; });
    row("id null", kBad, "TK17", "null", [](json& f) { f["model"]["vocab"]["in"] = nullptr; });
    row("id an object", kBad, "TK17", "an object",
        [](json& f) { f["model"]["vocab"]["in"] = json::object(); });
    row("id an array", kBad, "TK17", "an array",
        [](json& f) { f["model"]["vocab"]["in"] = json::array(); });
    row("id true", kBad, "TK17", "true", [](json& f) { f["model"]["vocab"]["in"] = true; });
    row("id beyond 20 bits", kBad, "TK17", "1048576",
        [](json& f) { f["model"]["vocab"]["in"] = 1048576; });
    row("id beyond 64 bits", kBad, "TK17", "e+", [](json& f) { f["model"]["vocab"]["in"] = 1e30; });
    row("id past the end", kBad, "TK20", "1024 entries",
        [](json& f) { f["model"]["vocab"]["in"] = 1024; });
    row("two tokens with one id", kBad, "TK19", "both have the id 900",
        [](json& f) { f["model"]["vocab"]["in"] = 900; });
    row("a byte token is missing", kBad, "TK22", "<0x7F>", [](json& f) {
        const auto id = f["model"]["vocab"]["<0x7F>"];
        f["model"]["vocab"].erase("<0x7F>");
        f["model"]["vocab"]["<0x7G>"] = id;
    });
    row("byte tokens in lower case", kBad, "TK22", "<0xAB>", [](json& f) {
        const auto id = f["model"]["vocab"]["<0xAB>"];
        f["model"]["vocab"].erase("<0xAB>");
        f["model"]["vocab"]["<0xab>"] = id;
    });

    row("merges absent", kBad, "TK05", "model.merges", [](json& f) { f["model"].erase("merges"); });
    row("merges an object", kBad, "TK05", "model.merges", [](json& f) {
        f["model"]["merges"] = {{"a", "b"}};
    });
    row("merge of one token", kBad, "TK18", "entry 3",
        [](json& f) { f["model"]["merges"][3] = json::array({"th"}); });
    row("merge of three tokens", kBad, "TK18", "entry 3 holds more than two", [](json& f) {
        f["model"]["merges"][3] = json::array({"t", "h", "e"});
    });
    row("merge of nothing", kBad, "TK18", "entry 3",
        [](json& f) { f["model"]["merges"][3] = json::array(); });
    row("merge with a number", kBad, "TK18", "a number", [](json& f) {
        f["model"]["merges"][3] = json::array({"t", 5});
    });
    row("merge null", kBad, "TK18", "null", [](json& f) { f["model"]["merges"][3] = nullptr; });
    row("merge an object", kBad, "TK18", "an object",
        [](json& f) { f["model"]["merges"][3] = json::object(); });
    row("merge of an empty token", kBad, "TK18", "0 bytes", [](json& f) {
        f["model"]["merges"][3] = json::array({"t", ""});
    });
    row("merge string without a space", kBad, "TK18", "one space",
        [](json& f) { f["model"]["merges"][3] = "th"; });
    row("merge string with two spaces", kBad, "TK18", "one space",
        [](json& f) { f["model"]["merges"][3] = "t h e"; });
    row("merge of an unknown token", kBad, "TK23", "entry 3 names \"qqq\"", [](json& f) {
        f["model"]["merges"][3] = json::array({"t", "qqq"});
    });
    row("merge makes an unknown token", kBad, "TK24", "\"xx\"", [](json& f) {
        f["model"]["merges"][3] = json::array({"x", "x"});
    });
    row("merge twice", kBad, "TK25", "repeats",
        [](json& f) { f["model"]["merges"][3] = f["model"]["merges"][0]; });

    row("added_tokens absent", kBad, "TK05", "added_tokens",
        [](json& f) { f.erase("added_tokens"); });
    row("added_tokens an object", kBad, "TK05", "added_tokens",
        [](json& f) { f["added_tokens"] = json::object(); });
    row("added token a string", kBad, "TK26", "entry 5",
        [](json& f) { f["added_tokens"][5] = "<|turn>"; });
    row("added token without content", kBad, "TK26", "entry 5",
        [](json& f) { f["added_tokens"][5].erase("content"); });
    row("added token empty", kBad, "TK26", "entry 5",
        [](json& f) { f["added_tokens"][5]["content"] = ""; });
    row("added token without id", kBad, "TK26", "<|turn>",
        [](json& f) { f["added_tokens"][5].erase("id"); });
    row("added token with id as text", kBad, "TK26", "no id",
        [](json& f) { f["added_tokens"][5]["id"] = "5"; });
    row("added token with a negative id", kBad, "TK26", "-5",
        [](json& f) { f["added_tokens"][5]["id"] = -5; });
    row("added token with a flag that is no flag", kBad, "TK26", "special",
        [](json& f) { f["added_tokens"][5]["special"] = 1; });
    row("added token with another id than the vocabulary's", kBad, "TK28", "model.vocab says 5",
        [](json& f) { f["added_tokens"][5]["id"] = 6; });
    row("added token twice", kBad, "TK29", "twice",
        [](json& f) { f["added_tokens"].push_back(f["added_tokens"][5]); });
    row("added token outside the vocabulary, twice", kBad, "TK19", "1024", [](json& f) {
        json token = f["added_tokens"][5];
        token["content"] = "<new>";
        token["id"] = 1024;
        f["added_tokens"].push_back(token);
        f["added_tokens"].push_back(token);
    });
    row("added token leaves a gap", kBad, "TK20", "1025 tokens in all", [](json& f) {
        json token = f["added_tokens"][5];
        token["content"] = "<new>";
        token["id"] = 1025;
        f["added_tokens"].push_back(token);
    });
    row("added token takes another token's id", kBad, "TK19", "both have the id 900", [](json& f) {
        json token = f["added_tokens"][5];
        token["content"] = "<new>";
        token["id"] = 900;
        f["added_tokens"].push_back(token);
    });
    row("a byte token among the added tokens", kBad, "TK30", "<0x0A>", [](json& f) {
        json token = f["added_tokens"][5];
        token["content"] = "<0x0A>";
        token["id"] = f["model"]["vocab"]["<0x0A>"];
        token["special"] = false;
        f["added_tokens"].push_back(token);
    });

    row("post_processor with an unknown token", kBad, "TK31", "<start>",
        [](json& f) { f["post_processor"]["single"][0]["SpecialToken"]["id"] = "<start>"; });
    row("post_processor with an id out of range", kBad, "TK31", "1023",
        [](json& f) { f["post_processor"]["special_tokens"]["<bos>"]["ids"][0] = 1024; });
    row("post_processor without a text", kBad, "TK31", "no place for the text",
        [](json& f) { f["post_processor"]["single"].erase(1); });
    row("post_processor with two texts", kBad, "TK31", "step",
        [](json& f) { f["post_processor"]["single"].push_back(f["post_processor"]["single"][1]); });
    row("post_processor without steps", kBad, "TK31", "single",
        [](json& f) { f["post_processor"]["single"] = "A"; });
}

void TestTokenizerFile::refusesContent() {
    QFETCH(Change, change);
    QFETCH(ErrorCode, code);
    QFETCH(QString, rule);
    QFETCH(QString, words);
    json file = file_;
    change(file);
    checkRefusal(Tokenizer::fromJson(file.dump()), code, rule, words);
}

void TestTokenizerFile::refusesText_data() {
    support::addColumns<TextChange, QString, QString>("change", "rule", "words");
    const auto row = [](const char* name, const char* rule, const char* words,
                        const TextChange& change) {
        QTest::addRow("%s", name) << change << QString::fromLatin1(rule)
                                  << QString::fromUtf8(words);
    };
    row("empty", "TK01", "not valid JSON", [](std::string& t) { t.clear(); });
    row("only white space", "TK01", "not valid JSON", [](std::string& t) { t = " \n"; });
    row("an array", "TK05", "expected an object", [](std::string& t) { t = "[]"; });
    row("a number", "TK05", "expected an object", [](std::string& t) { t = "1"; });
    row("byte-order mark", "TK01", "not valid JSON",
        [](std::string& t) { t = "\xef\xbb\xbf" + t; });
    row("a pointer of Git LFS", "TK01", "not valid JSON", [](std::string& t) {
        t = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 32169626\n";
    });
    row("text behind the end", "TK01", "after the end", [](std::string& t) { t += "{}"; });
    row("trailing comma", "TK01", "not valid JSON",
        [](std::string& t) { replaceOnce(t, "\"padding\": null,", "\"padding\": null,,"); });
    row("comment", "TK01", "not valid JSON",
        [](std::string& t) { replaceOnce(t, "\"padding\": null,", "/* */ \"padding\": null,"); });
    row("single quotes", "TK01", "not valid JSON",
        [](std::string& t) { replaceOnce(t, "\"padding\"", "'padding'"); });
    row("control character in a token", "TK01", "control character",
        [](std::string& t) { replaceOnce(t, "\"in\":", "\"t\nhe\":"); });
    row("unknown escape", "TK01", "escape",
        [](std::string& t) { replaceOnce(t, "\"in\":", "\"t\\xhe\":"); });
    row("half of a surrogate pair", "TK01", "surrogate",
        [](std::string& t) { replaceOnce(t, "\"in\":", "\"\\ud83e\":"); });
    row("Latin-1", "TK04", "not UTF-8",
        [](std::string& t) { replaceOnce(t, "\"in\":", "\"t\xe4\":"); });
    row("overlong UTF-8", "TK04", "not UTF-8",
        [](std::string& t) { replaceOnce(t, "\"in\":", "\"\xc0\xaf\":"); });
    row("member twice", "TK03", "\"padding\" occurs twice", [](std::string& t) {
        replaceOnce(t, "\"padding\": null,", "\"padding\": null, \"padding\": null,");
    });
    row("model twice", "TK03", "\"model\" occurs twice",
        [](std::string& t) { t.insert(t.rfind('}'), ", \"model\": {}"); });
    row("vocab twice", "TK03", "\"vocab\" occurs twice",
        [](std::string& t) { replaceOnce(t, "\"merges\":", "\"vocab\": {}, \"merges\":"); });
    row("token twice with one id", "TK19", "both have the id 3",
        [](std::string& t) { replaceOnce(t, "\"vocab\": {", "\"vocab\": {\"<unk>\": 3,"); });
    row("token twice with two ids", "TK21", "\"<unk>\" has two ids: 3 and 1024",
        [](std::string& t) { replaceOnce(t, "\"vocab\": {", "\"vocab\": {\"<unk>\": 1024,"); });
    row("id with a leading zero", "TK01", "number",
        [](std::string& t) { replaceOnce(t, "\"<unk>\": 3", "\"<unk>\": 03"); });
    row("id as 3e0", "TK17", "3e0",
        [](std::string& t) { replaceOnce(t, "\"<unk>\": 3", "\"<unk>\": 3e0"); });
    row("id as -0", "TK17", "\"-0\"",
        [](std::string& t) { replaceOnce(t, "\"<pad>\": 0", "\"<pad>\": -0"); });
    row("17 levels", "TK02", "nested deeper", [](std::string& t) {
        replaceOnce(t, "\"padding\": null",
                    "\"padding\": " + std::string(17, '[') + std::string(17, ']'));
    });
    row("a million levels", "TK02", "nested deeper",
        [](std::string& t) { t = std::string(1000000, '['); });
    row("a member of 2 MiB", "TK02", "longer than", [](std::string& t) {
        replaceOnce(t, "\"padding\": null", "\"padding\": \"" + std::string(2 << 20, 'a') + '"');
    });
    row("an object of 257 members", "TK02", "256 members", [](std::string& t) {
        std::string members = "{";
        for (int i = 0; i < 257; ++i) {
            members += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":0";
        }
        replaceOnce(t, "\"padding\": null", "\"padding\": " + members + "}");
    });
}

void TestTokenizerFile::refusesText() {
    QFETCH(TextChange, change);
    QFETCH(QString, rule);
    QFETCH(QString, words);
    std::string text = text_;
    change(text);
    checkRefusal(Tokenizer::fromJson(text), ErrorCode::InvalidFile, rule, words);
}

void TestTokenizerFile::everyCutIsRefused() {
    const std::string text = file_.dump();
    for (size_t size = 0; size < text.size(); size += 1 + size / 97) {
        QVERIFY(!Tokenizer::fromJson(std::string_view(text).substr(0, size)).has_value());
    }
}

void TestTokenizerFile::randomDamageIsSurvived() {
    // Accepted or refused, but never worse; what is accepted must be usable.
    const std::string text = file_.dump();
    uint64_t state = 1;
    const auto random = [&state](size_t below) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        return static_cast<size_t>(state >> 33) % below;
    };
    for (int i = 0; i < 400; ++i) {
        std::string damaged = text;
        for (size_t n = 1 + random(3); n > 0; --n) {
            damaged[random(damaged.size())] = "{}[]\",:0a\\\xff "[random(12)];
        }
        const auto result = Tokenizer::fromJson(damaged);
        if (result.has_value()) {
            const std::string sample = "the tall tree in <|turn> ü";
            QVERIFY(result->decode(result->encode(sample)).size() <= 3 * sample.size());
        }
    }
}

void TestTokenizerFile::tooManyValues() {
    std::string many = "[0";
    for (int i = 0; i < (1 << 18); ++i) {
        many += ",0";
    }
    std::string text = text_;
    replaceOnce(text, "\"padding\": null", "\"padding\": " + many + "]");
    checkRefusal(Tokenizer::fromJson(text), ErrorCode::InvalidFile, QStringLiteral("TK02"),
                 QStringLiteral("values"));
    std::string vocab = "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0";
    for (int i = 1; i <= (1 << 20); ++i) {
        vocab += ",\"" + std::to_string(i) + "\":1";
    }
    checkRefusal(Tokenizer::fromJson(vocab + "}}}"), ErrorCode::InvalidFile, QStringLiteral("TK02"),
                 QStringLiteral("1048576 entries"));
}

void TestTokenizerFile::acceptsOtherSpellings_data() {
    QTest::addColumn<Change>("change");
    const auto row = [](const char* name, const Change& change) {
        QTest::addRow("%s", name) << change;
    };
    row("as it is", [](json&) {});
    row("merges as strings", [](json& f) {
        for (auto& merge : f["model"]["merges"]) {
            merge = merge[0].get<std::string>() + " " + merge[1].get<std::string>();
        }
    });
    row("no pre_tokenizer", [](json& f) { f.erase("pre_tokenizer"); });
    row("pre_tokenizer null", [](json& f) { f["pre_tokenizer"] = nullptr; });
    row("truncation and padding", [](json& f) {
        f["truncation"] = {{"max_length", 4}, {"strategy", "LongestFirst"}, {"stride", 0}};
        f["padding"] = {{"strategy", "BatchLongest"}, {"pad_id", 0}, {"pad_token", "<pad>"}};
    });
    row("no optional members of the model", [](json& f) {
        for (const char* name : {"dropout", "unk_token", "continuing_subword_prefix",
                                 "end_of_word_suffix", "fuse_unk", "ignore_merges"}) {
            f["model"].erase(name);
        }
    });
    row("added tokens without flags", [](json& f) {
        for (auto& token : f["added_tokens"]) {
            for (const char* flag : {"lstrip", "rstrip", "single_word", "normalized"}) {
                token.erase(flag);
            }
        }
    });
}

void TestTokenizerFile::acceptsOtherSpellings() {
    QFETCH(Change, change);
    json file = file_;
    change(file);
    const auto cases = support::readJson(support::goldenDir() / "tokenizer_cases.json");
    // Members in the golden order, in alphabetical order, and with every sign escaped.
    for (const std::string& text : {file.dump(2), file.dump(), file.dump(-1, ' ', true)}) {
        const auto tokenizer = Tokenizer::fromJson(text);
        VERIFY_VALUE(tokenizer);
        QVERIFY(tokenizer->warnings().empty());
        for (const auto& item : cases) {
            QVERIFY(tokenizer->encode(item["text"].get<std::string>()) ==
                    item["ids"].get<std::vector<engine::TokenId>>());
        }
    }
}

void TestTokenizerFile::notesWhatHasNoEffect() {
    json file = file_;
    file["post_processor"] = {{"type", "BertProcessing"}};
    file["model"]["surprise"] = 1;
    file["author"] = "nobody";
    const auto tokenizer = Tokenizer::fromJson(file.dump());
    QVERIFY(tokenizer.has_value());
    QCOMPARE(tokenizer->warnings().size(), size_t{3});
    QVERIFY(engine::inEnglish(tokenizer->warnings()[0]).find("BertProcessing") !=
            std::string::npos);
    QVERIFY(engine::inEnglish(tokenizer->warnings()[1]).find("author") != std::string::npos);
    QVERIFY(engine::inEnglish(tokenizer->warnings()[2]).find("model.surprise") !=
            std::string::npos);
    QVERIFY(tokenizer->prefixTokens().empty());
}

void TestTokenizerFile::wordsFlaggedSpecialAreWords_data() {
    QTest::addColumn<QString>("word");
    QTest::addRow("that letters make") << QStringLiteral("in");
    QTest::addRow("of one letter") << QStringLiteral("x");
}

/// A trainer flags a word of the vocabulary: it loads with the ids of `tokenizers`, and what people
/// type still never becomes a special token.
void TestTokenizerFile::wordsFlaggedSpecialAreWords() {
    QFETCH(QString, word);
    json file = file_;
    json token = file["added_tokens"][5];
    token["content"] = word.toStdString();
    token["id"] = file["model"]["vocab"][word.toStdString()];
    file["added_tokens"].push_back(token);
    const auto tokenizer = Tokenizer::fromJson(file.dump());
    QVERIFY2(tokenizer.has_value(), tokenizer ? "" : tokenizer.error().message.c_str());
    const auto id = token["id"].get<engine::TokenId>();
    QCOMPARE(tokenizer->encode("within xy" + word.toStdString()).back(), id);
    QVERIFY(tokenizer->isAdded(id));
    QVERIFY(!tokenizer->isSpecial(id));
    QCOMPARE(tokenizer->warnings().size(), size_t{1});
    const std::string note = engine::inEnglish(tokenizer->warnings()[0]);
    QVERIFY2(note.find('"' + word.toStdString() + '"') != std::string::npos, note.c_str());
}

void TestTokenizerFile::readsFolder() {
    const auto tokenizer =
        Tokenizer::fromCheckpoint(*engine::folderCheckpoint(support::goldenDir() / "e2b/model"));
    QVERIFY(tokenizer.has_value());
    QCOMPARE(tokenizer->vocabSize(), int64_t{1024});
}

void TestTokenizerFile::refusesFolder() {
    QTemporaryDir folder;
    const std::filesystem::path path = folder.path().toStdString();
    const auto missing = Tokenizer::fromCheckpoint(*engine::folderCheckpoint(path));
    QVERIFY(!missing.has_value());
    QCOMPARE(missing.error().code, ErrorCode::InvalidFile);
    QVERIFY(missing.error().message.find("tokenizer.json") != std::string::npos);

    QFile file(folder.filePath(QStringLiteral("tokenizer.json")));
    QVERIFY(file.open(QIODevice::WriteOnly));
    QVERIFY(file.resize(static_cast<qint64>(engine::maxTextBytes(engine::ModelText::Tokenizer)) +
                        1)); // sparse
    file.close();
    checkRefusal(Tokenizer::fromCheckpoint(*engine::folderCheckpoint(path)), ErrorCode::InvalidFile,
                 QStringLiteral("FileTooLarge"), QStringLiteral("134217729 bytes"));
    QVERIFY(file.remove());
    std::filesystem::create_directory(path / "tokenizer.json");
    QVERIFY(!Tokenizer::fromCheckpoint(*engine::folderCheckpoint(path)).has_value());
}

TEST_CLASS(TestTokenizerFile)
#include "tst_tokenizer_file.moc"
