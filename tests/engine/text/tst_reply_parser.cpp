// SPDX-License-Identifier: Apache-2.0
// Replies as the models stream them, split into thinking and answer.
#include "engine/families/gemma4/turns.h"
#include "engine/text/reply_parser.h"
#include "tests/engine/text/vocabularies.h"
#include "tests/support/program/test_class.h"

#include <QTest>

using engine::ChatTokens;
using engine::ReplyDelta;
using engine::ReplyParser;
using engine::TokenId;
using engine::Tokenizer;

class TestReplyParser : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void splits_data();
    void splits();
    void streams();
    void holdsBackHalfCharacters();
    void spelledMarkersAreText();
    void withoutChatTokens();
    void byteTokensInTheHeader();

private:
    std::optional<Tokenizer> tokenizer_;
    ChatTokens tokens_;
};

void TestReplyParser::initTestCase() {
    tokenizer_ = support::loadOrExit(support::goldenTokenizerJson());
    const auto tokens = engine::findChatTokens(*tokenizer_);
    QVERIFY(tokens.has_value());
    tokens_ = *tokens;
}

void TestReplyParser::splits_data() {
    support::addColumns<QByteArray, QByteArray, QByteArray>("reply", "thinking", "answer");
    const auto row = [](const char* name, const char* reply, const char* thinking,
                        const char* answer) {
        QTest::addRow("%s", name) << QByteArray(reply) << QByteArray(thinking)
                                  << QByteArray(answer);
    };
    row("plain", "Hello there.<turn|>", "", "Hello there.");
    row("thinking", "<|channel>thought\nFirst, add.\n<channel|>It is 4.<turn|>", "First, add.",
        "It is 4.");
    row("thought without a last newline", "<|channel>thought\nabc<channel|>Hi.", "abc", "Hi.");
    row("thought of several lines", "<|channel>thought\na\n\nb\n\n<channel|>Hi.", "a\n\nb", "Hi.");
    row("empty channel", "<|channel>thought\n<channel|>Hi.", "", "Hi.");
    row("empty channel without a newline", "<|channel>thought<channel|>Hi.", "", "Hi.");
    row("channel without anything", "<|channel><channel|>Hi.", "", "Hi.");
    row("a stray channel after the thought",
        "<|channel>thought\nabc\n<channel|><|channel>thought\n<channel|>Hi.", "abc", "Hi.");
    row("a lone closing mark at the end", "Hi.<channel|><turn|>", "", "Hi.");
    row("a lone closing mark at the start", "<channel|>Hi.", "", "Hi.");
    row("a stray channel inside the answer", "Hi<|channel>thought\n<channel|> there.", "",
        "Hi there.");
    row("two thoughts", "<|channel>thought\na\n<channel|>x<|channel>thought\nb\n<channel|>y",
        "a\nb", "xy");
    row("a thought within a thought", "<|channel>thought\na<|channel>thought\nb<channel|>x", "a\nb",
        "x");
    row("a channel of another name", "<|channel>think of it\nb<channel|>x", "think of it\nb", "x");
    row("cut short in the thought", "<|channel>thought\nFirst, ad", "First, ad", "");
    row("cut short in the header", "<|channel>thou", "", "");
    row("cut short after the mark", "Hi<|channel>", "", "Hi");
    row("turn markers are hidden", "<|turn>Hi<turn|><eos><pad>", "", "Hi");
    row("newlines in the answer stay", "<|channel>thought\na\n<channel|>\nHi\n\n", "a", "\nHi\n\n");
    row("nothing", "", "", "");
}

void TestReplyParser::splits() {
    QFETCH(QByteArray, reply);
    QFETCH(QByteArray, thinking);
    QFETCH(QByteArray, answer);
    ReplyParser parser(*tokenizer_, tokens_);
    std::string all_thinking;
    std::string all_answer;
    const auto take = [&](const ReplyDelta& delta) {
        all_thinking += delta.thinking;
        all_answer += delta.answer;
        QCOMPARE(parser.thinking(), all_thinking);
        QCOMPARE(parser.answer(), all_answer);
    };
    for (const TokenId id : tokenizer_->encode(reply.toStdString())) {
        take(parser.push(id));
    }
    take(parser.flush());
    QCOMPARE(QByteArray::fromStdString(parser.thinking()), thinking);
    QCOMPARE(QByteArray::fromStdString(parser.answer()), answer);
    QVERIFY(!parser.isThinking());
}

void TestReplyParser::streams() {
    ReplyParser parser(*tokenizer_, tokens_);
    parser.push(tokens_.channel_begin);
    QVERIFY(parser.isThinking());
    for (const TokenId id : tokenizer_->encode("thought\n")) {
        const ReplyDelta delta = parser.push(id);
        QVERIFY(delta.thinking.empty() && delta.answer.empty());
    }
    QCOMPARE(parser.push(*tokenizer_->idOf("a")).thinking, std::string("a"));
    QCOMPARE(parser.push(*tokenizer_->idOf("\n")).thinking, std::string());
    QCOMPARE(parser.push(*tokenizer_->idOf("x")).thinking, std::string("\nx"));
    parser.push(tokens_.channel_end);
    QVERIFY(!parser.isThinking());
    QCOMPARE(parser.push(*tokenizer_->idOf("x")).answer, std::string("x"));
}

void TestReplyParser::holdsBackHalfCharacters() {
    ReplyParser parser(*tokenizer_, tokens_);
    const auto bytes = tokenizer_->encode("🦙");
    QCOMPARE(bytes.size(), size_t{4});
    for (size_t i = 0; i < 3; ++i) {
        QCOMPARE(parser.push(bytes[i]).answer, std::string());
    }
    QCOMPARE(parser.push(bytes[3]).answer, std::string("🦙"));
    // Half a character before a marker belongs to the text before it.
    parser.push(bytes[0]);
    QCOMPARE(parser.push(tokens_.channel_begin).answer, std::string("\xef\xbf\xbd"));
}

void TestReplyParser::spelledMarkersAreText() {
    ReplyParser parser(*tokenizer_, tokens_);
    const std::string text = "The mark <|channel>thought and <channel|> and <turn|>.";
    for (const TokenId id : tokenizer_->encode(text, {false, false})) {
        parser.push(id);
    }
    parser.flush();
    QCOMPARE(parser.answer(), text);
    QVERIFY(parser.thinking().empty());
}

void TestReplyParser::withoutChatTokens() {
    ReplyParser parser(*tokenizer_, ChatTokens{});
    for (const TokenId id : tokenizer_->encode("<|channel>thought\na<channel|>b")) {
        parser.push(id);
    }
    parser.push(-1);
    parser.flush();
    QCOMPARE(parser.answer(), std::string("thought\nab"));
}

void TestReplyParser::byteTokensInTheHeader() {
    ReplyParser parser(*tokenizer_, tokens_);
    parser.push(tokens_.channel_begin);
    for (const char c : std::string("thought\nx")) {
        parser.push(*tokenizer_->idOf("<0x00>") + static_cast<uint8_t>(c));
    }
    parser.push(tokens_.channel_end);
    QCOMPARE(parser.thinking(), std::string("x"));
}

TEST_CLASS(TestReplyParser)
#include "tst_reply_parser.moc"
