// SPDX-License-Identifier: Apache-2.0
// Long answers of servers, of nothing but one or two of the tokens that answers are made of: read
// or refused in linear time and bounded memory, and without a call inside of a call for each.
#include "tests/support/growth.h"
#include "tests/support/program/test_class.h"

#include "remote/address.h"
#include "remote/model_list.h"
#include "remote/reply_reader.h"
#include "remote/server_error.h"

using models::hub::HttpEnd;

namespace {

engine::Result<engine::Reply> read(std::string_view body, const char* type, size_t piece) {
    const engine::UpdateCallback nobody;
    remote::ReplyReader reader("host", "model", std::chrono::hours(1), nobody);
    models::hub::HttpHead head;
    head.status = 200;
    head.headers = {{"content-type", type}};
    HttpEnd end;
    if (!reader.onHead(head)) {
        end.kind = HttpEnd::Kind::Sink;
    }
    for (size_t at = 0; at < body.size() && end.kind == HttpEnd::Kind::Done; at += piece) {
        const std::string_view some = body.substr(at, piece);
        if (!reader.onBytes(std::as_bytes(std::span(some.data(), some.size())))) {
            end.kind = HttpEnd::Kind::Sink;
        }
    }
    return reader.finish(end);
}

const std::vector<std::string>& tokens() {
    static const std::vector<std::string> kTokens = {
        "data: {}\n",
        "data: {\n",
        "data:\n",
        "data: [DONE]\n",
        "data: [\n",
        "data: 1\n",
        "data",
        ":",
        ":\n",
        "\n",
        "\r",
        "\r\n",
        " ",
        "event: a\n",
        "a",
        "{",
        "}",
        "[",
        "]",
        "\"",
        "\\",
        ",",
        "\xc3\xa4",
        "\xff",
        "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n",
        "data: {\"choices\":[{\"delta\":{\"content\":\" \"}}]}\n\n",
        "data: {\"choices\":[{\"delta\":{\"content\":\"<think>\"}}]}\n",
        "data: {\"choices\":[{\"delta\":{\"content\":\"</think>\"}}]}\n\n",
        "data: {\"choices\":[{\"delta\":{\"content\":\"<|channel>\"}}]}\n\n",
        "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":9,\"function\":{\"name\":\"a\","
        "\"arguments\":\"b\"}}]}}]}\n\n"};
    return kTokens;
}

} // namespace

class TestLongAnswers : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void manyLinesOfOneEvent();
    void blanksWithoutEnd();
    void streams();
    void wholeAnswers();
    void listsOfModels();
    void addresses();
};

/// What proxies that lose blank lines make of a long reply.
void TestLongAnswers::manyLinesOfOneEvent() {
    const std::string words = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n";
    std::string body = support::repeated("data: {}\n", size_t{8} << 20);
    body += words + words + "data: [DONE]\n" + words + "\n";
    const auto reply = read(body, "text/event-stream", 4096);
    VERIFY_VALUE(reply);
    QCOMPARE(reply->text, std::string("aa"));
}

/// Before the first word they are held back, as thoughts may follow.
void TestLongAnswers::blanksWithoutEnd() {
    const std::string event = support::repeated(
        " ", size_t{1} << 20, "data: {\"choices\":[{\"delta\":{\"content\":\"", "\"}}]}\n\n");
    const auto reply = read(support::repeated(event, size_t{66} << 20), "text/event-stream", 65536);
    QVERIFY(!reply.has_value());
    QVERIFY2(reply.error().message.find("no end") != std::string::npos,
             reply.error().message.c_str());
}

void TestLongAnswers::streams() {
    for (const size_t piece : {size_t{1} << 30, size_t{1000}}) {
        const auto stream = [piece](const std::string& body) {
            (void)read(body, "text/event-stream", piece);
        };
        support::checkLinear({stream, tokens()});
    }
    const auto inside = [](const std::string& body) {
        (void)read(body, "text/event-stream", 4096);
    };
    support::checkLinear({inside,
                          {"{", "[", "\\n", "\\u0061", "\\ud800", "a", "<", "\",\"a\":\""},
                          "data: {\"a\":\""});
}

void TestLongAnswers::wholeAnswers() {
    const auto whole = [](const std::string& body) {
        (void)read(body, "application/json", 4096);
        QVERIFY(remote::wordsOfBody(body).size() <= 304);
    };
    std::vector<std::string> units = tokens();
    for (const char* more : {"0", "[[", "{\"a\":", "{}", "\"a\":1,", "\\u0061", "<title>", "1,"}) {
        units.emplace_back(more);
    }
    support::checkLinear({whole, units});
    support::checkLinear({whole, units, "{\"choices\":[", {}, size_t{1} << 20, 0});
    support::checkLinear({whole, units, "{\"error\":{\"message\":\"", "\"}}", size_t{1} << 20, 0});
}

void TestLongAnswers::listsOfModels() {
    int next = 0;
    const auto list = [&next](const std::string& units) {
        std::string body = "{\"data\":[{\"id\":\"m\"}";
        for (size_t i = 0; i * 16 < units.size(); ++i) {
            body += ",{\"id\":\"model" + std::to_string(++next) + "\"}";
        }
        (void)remote::readModelList(body + "]}", "host");
    };
    support::checkLinear({list, {" "}});
    const auto any = [](const std::string& body) { (void)remote::readModelList(body, "host"); };
    support::checkLinear({any, {"[", "{", "\"", "{\"id\":\"a\"},", "1,"}, "{\"data\":["});
}

void TestLongAnswers::addresses() {
    const auto address = [](const std::string& text) { (void)remote::parseServer(text); };
    support::checkLinear({address, {"/", ":", ".", "a", "%", "[", "]", "@", "http://", " ", "?"}});
}

TEST_CLASS(TestLongAnswers)
#include "tst_long_answers.moc"
