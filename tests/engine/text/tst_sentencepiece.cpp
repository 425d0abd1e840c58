// SPDX-License-Identifier: Apache-2.0
// GGUF files with a SentencePiece vocabulary, which have scores in the place of merges: Mistral's,
// against the ids and texts of `sentencepiece` (tests/golden/make_sentencepiece_vectors.py).
#include "engine/families/gguf/checkpoint.h"
#include "engine/text/detokenizer.h"
#include "tests/engine/files/raw_safetensors.h"
#include "tests/engine/files/small_gguf.h"
#include "tests/engine/text/vocabularies.h"
#include "tests/support/files.h"
#include "tests/support/places.h"
#include "tests/support/program/test_class.h"
#include "tests/support/results.h"

#include <QTemporaryDir>
#include <QTest>

#include <limits>
#include <sstream>

using engine::TokenId;
using engine::Tokenizer;

namespace {

using Ids = std::vector<TokenId>;
namespace gguf = support::gguf;

/// As llama.cpp's converter writes it.
gguf::File mistral() {
    std::istringstream lines(
        support::textOf(support::testDataDir() / "mistral" / "vocabulary.txt"));
    std::vector<std::string> words;
    std::vector<float> scores;
    std::vector<int32_t> kinds;
    for (std::string word; std::getline(lines, word); words.push_back(word)) {
        const size_t id = words.size();
        const bool is_run = word.find_first_not_of("\xe2\x96\x81") == std::string::npos;
        kinds.push_back(id == 0 ? 2 : id < 3 ? 3 : id < 259 ? 6 : 1);
        scores.push_back(id < 259 ? 0.0F : is_run ? -1e9F : 259.0F - static_cast<float>(id));
    }
    gguf::File file = gguf::llama();
    file.set("tokenizer.ggml.model", gguf::value("llama"))
        .set("tokenizer.ggml.pre", gguf::value("default"))
        .set("tokenizer.ggml.tokens", gguf::list(words))
        .set("tokenizer.ggml.scores", gguf::list(scores))
        .set("tokenizer.ggml.token_type", gguf::list(kinds))
        .set("tokenizer.ggml.bos_token_id", gguf::value(uint32_t{1}))
        .remove("tokenizer.ggml.merges");
    file.tensor("token_embd.weight").dims[1] = words.size();
    return file;
}

} // namespace

class TestSentencePiece : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void publishedCases();
    void turns();
    void withoutSpace();
    void typedTextIsNoToken();
    void refuses_data();
    void refuses();

private:
    /// tokenizer.json of a file of which there is the header alone.
    [[nodiscard]] engine::Result<std::string> textOf(const gguf::File& file) const {
        const auto path = std::filesystem::path(folder_.path().toStdString()) / "model.gguf";
        support::writeBytes(path, file.header());
        ENGINE_ASSIGN(const auto checkpoint, engine::ggufCheckpoint(path, {}));
        ENGINE_ASSIGN(auto text, checkpoint->read(engine::ModelText::Tokenizer));
        return *std::move(text);
    }
    QTemporaryDir folder_;
    nlohmann::json told_;
    std::optional<Tokenizer> tokenizer_;
};

void TestSentencePiece::initTestCase() {
    told_ = support::readJson(support::testDataDir() / "mistral" / "tokenizer_cases.json");
    tokenizer_ = support::loadOrExit(support::must(textOf(mistral()), "tokenizer"));
    QVERIFY(tokenizer_->warnings().empty());
    QVERIFY(tokenizer_->hasSpacePrefix());
    const auto prefix = tokenizer_->prefixTokens();
    QCOMPARE(Ids(prefix.begin(), prefix.end()), Ids{1});
}

void TestSentencePiece::publishedCases() {
    QCOMPARE(told_["cases"].size(), size_t{40});
    for (const auto& one : told_["cases"]) {
        const auto text = one["text"].get<std::string>();
        const auto ids = one["ids"].get<Ids>();
        const auto decoded = one["decoded"].get<std::string>();
        QVERIFY2(tokenizer_->encode(text) == ids, text.c_str());
        QCOMPARE(tokenizer_->decode(ids), decoded);
        engine::StreamingDetokenizer stream(*tokenizer_);
        std::string streamed;
        for (const TokenId id : ids) {
            streamed += stream.push(id);
        }
        QCOMPARE(streamed + stream.flush(), decoded);
    }
}

/// What stands between markers is a text of its own, with a space before it.
void TestSentencePiece::turns() {
    for (const auto& one : told_["turns"]) {
        const auto text = one["text"].get<std::string>();
        QVERIFY2(tokenizer_->encode(text, {.matches_added_tokens = true}) == one["ids"].get<Ids>(),
                 text.c_str());
    }
    // A text that goes on keeps its space.
    const Ids world = tokenizer_->encode("world");
    engine::StreamingDetokenizer stream(*tokenizer_, {.continues_text = true});
    QCOMPARE(stream.push(world.front()), std::string(" world"));
}

void TestSentencePiece::withoutSpace() {
    gguf::File file = mistral();
    file.set("tokenizer.ggml.add_space_prefix", gguf::value(false))
        .set("tokenizer.ggml.add_bos_token", gguf::value(false));
    const Tokenizer tokenizer = support::loadOrExit(support::must(textOf(file), "tokenizer"));
    QVERIFY(tokenizer.prefixTokens().empty());
    // The second word's ids with a space are those of " world" without one.
    QVERIFY(tokenizer.encode(" world") == tokenizer_->encode("world"));
    QVERIFY(tokenizer.encode("world") != tokenizer_->encode("world"));
    QCOMPARE(tokenizer.decode(tokenizer.encode(" world")), std::string(" world"));
}

void TestSentencePiece::typedTextIsNoToken() {
    for (const char* text : {"</s>", "<s>", "<unk>", "<0x41>"}) {
        const Ids ids = tokenizer_->encode(text, {.matches_added_tokens = false});
        QVERIFY2(ids.size() > 1, text);
        QCOMPARE(tokenizer_->decode(ids), std::string(text));
    }
}

void TestSentencePiece::refuses_data() {
    support::addColumns<QByteArray, QByteArray>("key", "value");
    const auto row = [](const char* name, const char* key, const std::string& value) {
        QTest::newRow(name) << QByteArray("tokenizer.ggml.") + key
                            << QByteArray::fromStdString(value);
    };
    std::vector<float> scores(32'000);
    row("fewer scores", "scores", gguf::list(std::vector<float>(31'999)));
    row("no scores", "scores", "");
    row("no kinds", "token_type", "");
    row("whole numbers", "scores", gguf::list(std::vector<int32_t>(32'000)));
    scores[31'999] = std::numeric_limits<float>::quiet_NaN();
    row("NaN", "scores", gguf::list(scores));
    scores[31'999] = std::numeric_limits<float>::infinity();
    row("infinity", "scores", gguf::list(scores));
    row("a space of another kind", "add_space_prefix", gguf::value("yes"));
}

void TestSentencePiece::refuses() {
    QFETCH(QByteArray, key);
    QFETCH(QByteArray, value);
    gguf::File file = mistral();
    if (value.isEmpty()) {
        file.remove(key.toStdString());
    } else {
        file.set(key.toStdString(), value.toStdString());
    }
    const auto text = textOf(file);
    QVERIFY(!text);
    QVERIFY(!support::detailOf(text.error(), "rule").empty());
}

TEST_CLASS(TestSentencePiece)
#include "tst_sentencepiece.moc"
