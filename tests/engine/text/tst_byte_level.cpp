// SPDX-License-Identifier: Apache-2.0
// Byte-level tokenizers: SmolLM2's vocabulary with its own rules for words and with those of GPT-2
// and Llama 3, against what `tokenizers` gives (tests/golden/make_byte_level_vectors.py).
#include "engine/text/detokenizer.h"
#include "tests/engine/text/vocabularies.h"
#include "tests/support/places.h"
#include "tests/support/program/test_class.h"

#include <QElapsedTimer>
#include <QTest>

using engine::TokenId;
using engine::Tokenizer;

using FileChange = void (*)(nlohmann::json&);
Q_DECLARE_METATYPE(FileChange)

namespace {

using Ids = std::vector<TokenId>;

std::filesystem::path folder() {
    return support::testDataDir() / "smollm2";
}

std::string streamed(const Tokenizer& tokenizer, const Ids& ids) {
    engine::StreamingDetokenizer stream(tokenizer, {.skips_special = false});
    std::string out;
    for (const TokenId id : ids) {
        out += stream.push(id);
    }
    return out + stream.flush();
}

constexpr const char* kGpt2Words =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

/// Puts a Split in front.
nlohmann::json& split(nlohmann::json& file, const char* pattern) {
    nlohmann::json& step = file["pre_tokenizer"]["pretokenizers"][0];
    step = {{"type", "Split"},
            {"pattern", {{"Regex", pattern}}},
            {"behavior", "Isolated"},
            {"invert", false}};
    return step;
}

} // namespace

class TestByteLevel : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void publishedCases();
    void rules_data();
    void rules();
    void typedTextIsNoToken();
    void tokensOfRawText();
    void bytesThatAreNoText();
    void longTexts_data();
    void longTexts();
    void refuses_data();
    void refuses();

private:
    nlohmann::json file_;
    std::optional<Tokenizer> tokenizer_;
};

void TestByteLevel::initTestCase() {
    file_ = support::readJson(folder() / "tokenizer.json");
    tokenizer_ = support::loadOrExit(file_.dump());
    QVERIFY(tokenizer_->isByteLevel());
    QVERIFY(tokenizer_->warnings().empty());
}

void TestByteLevel::publishedCases() {
    const auto cases = support::readJson(folder() / "tokenizer_cases.json");
    QCOMPARE(cases.size(), size_t{40});
    for (const auto& item : cases) {
        const auto text = item["text"].get<std::string>();
        const Ids ids = tokenizer_->encode(text);
        QVERIFY2(ids == item["ids"].get<Ids>(), text.c_str());
        QCOMPARE(tokenizer_->decode(ids), item["decoded"].get<std::string>());
        QCOMPARE(streamed(*tokenizer_, ids), item["decoded"].get<std::string>());
    }
    const auto chats = support::readJson(folder() / "chat_cases.json");
    QCOMPARE(chats.size(), size_t{10});
    for (const auto& chat : chats) {
        QCOMPARE(tokenizer_->encode(chat["prompt"].get<std::string>()), chat["ids"].get<Ids>());
    }
}

void TestByteLevel::rules_data() {
    QTest::addColumn<int>("set");
    QTest::newRow("SmolLM2") << 0;
    QTest::newRow("GPT-2, words before merges") << 1;
    QTest::newRow("Llama 3") << 2;
    QTest::newRow("runs of digits, added words") << 3;
}

void TestByteLevel::rules() {
    QFETCH(int, set);
    const auto cases = support::readJson(folder() / "rule_cases.json")["sets"][set];
    nlohmann::json file = file_;
    for (const auto& [name, value] : cases["changes"].items()) {
        if (name == "added_tokens") {
            file[name].insert(file[name].end(), value.begin(), value.end());
        } else {
            (name == "ignore_merges" ? file["model"] : file)[name] = value;
        }
    }
    const Tokenizer tokenizer = support::loadOrExit(file.dump());
    QCOMPARE(cases["texts"].size(), size_t{150});
    for (const auto& item : cases["texts"]) {
        const auto text = item[0].get<std::string>();
        QVERIFY2(tokenizer.encode(text) == item[1].get<Ids>(), text.c_str());
        std::string bytes;
        for (const TokenId id : tokenizer.encode(text, {.matches_added_tokens = false})) {
            QVERIFY2(!tokenizer.isAdded(id), text.c_str());
            bytes += tokenizer.bytesOf(id);
        }
        std::string known = text; // the vocabulary lacks some control characters
        for (const char c : {'\0', '\x07', '\x1c'}) {
            std::erase(known, c);
            std::erase(bytes, c);
        }
        QCOMPARE(bytes, known);
    }
    for (const auto& item : cases["decoded"]) {
        QCOMPARE(tokenizer.decode(item[0].get<Ids>()), item[1].get<std::string>());
        QCOMPARE(streamed(tokenizer, item[0].get<Ids>()), item[1].get<std::string>());
    }
}

/// Neither where a word is looked up as a whole.
void TestByteLevel::typedTextIsNoToken() {
    nlohmann::json file = file_;
    file["model"]["ignore_merges"] = true;
    file["model"]["vocab"].erase("<|im_end|>");
    file["model"]["vocab"]["IMEND"] = 2;
    file["added_tokens"][2]["content"] = "IMEND";
    const Tokenizer tokenizer = support::loadOrExit(file.dump());
    QCOMPARE(tokenizer.encode("IMEND"), Ids{2});
    const Ids typed = tokenizer.encode("IMEND", {.matches_added_tokens = false});
    QVERIFY(typed.size() > 1);
    QCOMPARE(tokenizer.decode(typed), std::string("IMEND"));
    // Half of a marker from each side is none.
    const std::vector<engine::Segment> split = {
        {"<|im_start|>", true}, {"<|im_", false}, {"start|>", true}};
    const Ids ids = tokenizer_->encodeSegments(split);
    QCOMPARE(std::count(ids.begin(), ids.end(), 1), 1);
    QCOMPARE(tokenizer_->decode(ids), std::string("<|im_start|><|im_start|>"));
}

void TestByteLevel::tokensOfRawText() {
    nlohmann::json file = file_;
    file["post_processor"] =
        support::readJson(folder() / "rule_cases.json")["sets"][2]["changes"]["post_processor"];
    const Tokenizer tokenizer = support::loadOrExit(file.dump());
    QVERIFY(tokenizer.warnings().empty());
    QCOMPARE(tokenizer.encode("", {.adds_special_tokens = true}), Ids{1});
}

void TestByteLevel::bytesThatAreNoText() {
    const Ids ids = tokenizer_->encode("a\x80 \xe6\x97");
    std::string bytes;
    for (const TokenId id : ids) {
        bytes += tokenizer_->bytesOf(id);
    }
    QCOMPARE(bytes, std::string("a\x80 \xe6\x97"));
    QCOMPARE(tokenizer_->decode(ids), std::string("a\xef\xbf\xbd \xef\xbf\xbd"));
    QVERIFY(tokenizer_->encode(std::string(1, '\xff')).empty()); // the vocabulary lacks it
    QVERIFY(tokenizer_->bytesOf(-1).empty());
}

void TestByteLevel::longTexts_data() {
    QTest::addColumn<QString>("piece");
    QTest::newRow("one word") << "a";
    QTest::newRow("spaces") << " ";
    QTest::newRow("line breaks") << "\n ";
    QTest::newRow("digits") << "1";
    QTest::newRow("words") << "the quick brown fox, ";
}

/// Time grows with the length alone.
void TestByteLevel::longTexts() {
    QFETCH(QString, piece);
    const std::string text = piece.repeated(1'000'000 / piece.size()).toStdString();
    for (const int set : {0, 2}) {
        nlohmann::json file = file_;
        file["pre_tokenizer"] =
            support::readJson(folder() / "rule_cases.json")["sets"][set]["changes"].value(
                "pre_tokenizer", file["pre_tokenizer"]);
        const Tokenizer tokenizer = support::loadOrExit(file.dump());
        QElapsedTimer timer;
        timer.start();
        const Ids ids = tokenizer.encode(text);
        QVERIFY2(timer.elapsed() < 10'000, qPrintable(QString::number(timer.elapsed())));
        QVERIFY(tokenizer.decode(ids) == text);
    }
}

void TestByteLevel::refuses_data() {
    QTest::addColumn<FileChange>("change");
    QTest::addColumn<QString>("rule");
    QTest::addColumn<QString>("words");
    const auto row = [](const char* name, const char* rule, const char* words, FileChange change) {
        QTest::addRow("%s", name) << change << QString::fromLatin1(rule)
                                  << QString::fromLatin1(words);
    };
    row("a normalizer", "TK07", "found type \"NFC\"", [](nlohmann::json& f) {
        f["normalizer"] = {{"type", "NFC"}};
    });
    row("no pre-tokenizer", "TK08", "found none",
        [](nlohmann::json& f) { f.erase("pre_tokenizer"); });
    row("an empty Sequence", "TK08", "found none",
        [](nlohmann::json& f) { f["pre_tokenizer"]["pretokenizers"] = nlohmann::json::array(); });
    row("steps without end", "TK08", "found type \"Digits\" as one of 5001 steps",
        [](nlohmann::json& f) {
            auto& steps = f["pre_tokenizer"]["pretokenizers"];
            steps.insert(steps.begin(), 5001 - steps.size(), {{"type", "Digits"}});
        });
    row("another step", "TK08", "found type \"Punctuation\"", [](nlohmann::json& f) {
        f["pre_tokenizer"]["pretokenizers"][0] = {{"type", "Punctuation"}};
    });
    row("a prefix space", "TK08", "found type \"ByteLevel\"", [](nlohmann::json& f) {
        f["pre_tokenizer"]["pretokenizers"][1]["add_prefix_space"] = true;
    });
    row("ByteLevel not at the end", "TK08", "found type \"ByteLevel\"", [](nlohmann::json& f) {
        nlohmann::json& steps = f["pre_tokenizer"]["pretokenizers"];
        std::swap(steps[0], steps[1]);
    });
    row("another expression", "TK08", "found type \"Split\"",
        [](nlohmann::json& f) { split(f, R"(\w+|\s+)"); });
    row("Split that removes", "TK08", "found type \"Split\"",
        [](nlohmann::json& f) { split(f, kGpt2Words)["behavior"] = "Removed"; });
    row("Split that is inverted", "TK08", "found type \"Split\"",
        [](nlohmann::json& f) { split(f, kGpt2Words)["invert"] = true; });
    row("byte tokens", "TK14", "expected false",
        [](nlohmann::json& f) { f["model"]["byte_fallback"] = true; });
    row("Gemma's decoder", "TK14", "expected true", [](nlohmann::json& f) {
        f["decoder"] = nlohmann::json::parse(support::goldenTokenizerJson())["decoder"];
    });
}

void TestByteLevel::refuses() {
    QFETCH(FileChange, change);
    QFETCH(QString, rule);
    QFETCH(QString, words);
    nlohmann::json file = file_;
    change(file);
    const auto result = Tokenizer::fromJson(file.dump());
    QVERIFY2(!result.has_value(), "it was accepted");
    QCOMPARE(result.error().code, engine::ErrorCode::Unsupported);
    QCOMPARE(QString::fromStdString(result.error().details.at(0).second), rule);
    QVERIFY2(QString::fromStdString(result.error().message).contains(words),
             result.error().message.c_str());
}

TEST_CLASS(TestByteLevel)
#include "tst_byte_level.moc"
