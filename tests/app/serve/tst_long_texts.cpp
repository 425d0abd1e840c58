// SPDX-License-Identifier: Apache-2.0
// Long requests of nothing but one or two of what requests are made of: heads, bodies, chunks,
// messages, pictures, texts to stop at. Read or refused in linear time and bounded memory.
#include "app/serve/api_request.h"
#include "app/serve/body_reader.h"
#include "app/serve/gate.h"
#include "app/serve/media_data.h"
#include "app/serve/own_names.h"
#include "app/serve/stop_strings.h"
#include "tests/support/growth.h"
#include "tests/support/program/test_class.h"

using namespace serve;

namespace {

void readBody(const std::string& text) {
    const std::string body = support::numbered(text);
    ApiRequest chat;
    (void)readChatRequest(body, chat);
    ApiRequest completion;
    (void)readCompletionRequest(body, completion);
}

/// Texts of messages, their parts and their calls.
const std::vector<std::string>& units() {
    static const std::vector<std::string> kUnits = {
        "{",
        "[",
        "\"",
        "1,",
        "{},",
        "[],",
        "null,",
        "\"a#\",",
        "\"a#\":1,",
        R"({"role":"user","content":"a"},)",
        R"({"role":"assistant","content":null,"tool_calls":[]},)",
        R"({"role":"tool","tool_call_id":"a","content":[1]},)",
        R"({"type":"text","text":"a"},)",
        R"({"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw"}},)",
        R"({"type":"function","function":{"name":"a#","arguments":"{}"}},)",
        R"({"id":"a","type":"function","function":{"name":"a","arguments":{"b":[1]}}},)"};
    return kUnits;
}

} // namespace

class TestLongTexts : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void bodies();
    void members_data();
    void members();
    void strings_data();
    void strings();
    void chunks();
    void heads();
    void names();
    void media();
    void stops();
};

void TestLongTexts::bodies() {
    support::checkLinear({readBody, units()});
    support::checkLinear({readBody, {"\"a#\":1,", "\"a#\":{},"}, "{\"model\":\"m\",", "\"z\":1}"});
}

void TestLongTexts::members_data() {
    support::addColumns<QByteArray, QByteArray>("before", "after");
    const QByteArray chat = R"({"model":"m","messages":[)";
    const QByteArray user = R"({"role":"user","content":"a"})";
    QTest::newRow("messages") << chat << user + "]}";
    QTest::newRow("parts") << chat + R"({"role":"user","content":[)" << QByteArray("{}]}]}");
    QTest::newRow("results") << chat + R"({"role":"tool","tool_call_id":"a","content":[)"
                             << QByteArray("{}]}]}");
    QTest::newRow("calls") << chat + R"({"role":"assistant","tool_calls":[)"
                           << "{}]}," + user + "]}";
    const QByteArray rest = "],\"messages\":[" + user + "]}";
    for (const char* const member : {"tools", "stop", "modalities", "functions", "prompt"}) {
        QTest::newRow(member) << QByteArray(R"({"model":"m",")") + member + "\":["
                              << "\"z\"" + rest;
    }
    QTest::newRow("schema") << QByteArray(R"({"model":"m","tools":[{"type":"function","function":)"
                                          R"({"name":"a","parameters":{"b":[)")
                            << "1]}}}" + rest;
}

void TestLongTexts::members() {
    QFETCH(QByteArray, before);
    QFETCH(QByteArray, after);
    support::checkLinear({readBody, units(), before.toStdString(), after.toStdString(),
                          size_t{16} << 20, size_t{4} << 10});
}

void TestLongTexts::strings_data() {
    support::addColumns<QByteArray, QByteArray>("before", "after");
    const QByteArray user = R"([{"role":"user","content":)";
    QTest::newRow("content") << QByteArray(R"({"model":"m","messages":)") + user + "\""
                             << QByteArray("\"}]}");
    QTest::newRow("picture") << QByteArray(R"({"model":"m","messages":)") + user +
                                    R"([{"type":"image_url","image_url":{"url":")"
                             << QByteArray("\"}}]}]}");
    QTest::newRow("base64") << QByteArray(R"({"model":"m","messages":)") + user +
                                   R"([{"type":"image_url","image_url":{"url":"data:;base64,)"
                            << QByteArray("\"}}]}]}");
    QTest::newRow("sound") << QByteArray(R"({"model":"m","messages":)") + user +
                                  R"([{"type":"input_audio","input_audio":{"data":")"
                           << QByteArray("\"}}]}]}");
    for (const char* const member : {"model", "prompt", "stop", "reasoning_effort", "suffix"}) {
        QTest::newRow(member) << QByteArray("{\"") + member + "\":\""
                              << QByteArray(R"(","messages":[{"role":"user","content":"a"}]})");
    }
}

void TestLongTexts::strings() {
    QFETCH(QByteArray, before);
    QFETCH(QByteArray, after);
    support::checkLinear({readBody,
                          {"a", "\\n", "\\u0061", "\\ud800", "\xc3\xa4", " ", "%", "%41", "=",
                           "AAAA", "data:", ";base64", ",", ";"},
                          before.toStdString(),
                          after.toStdString(),
                          size_t{16} << 20,
                          size_t{4} << 10});
}

void TestLongTexts::chunks() {
    for (const size_t piece : {size_t{1} << 30U, size_t{1000}, size_t{1}}) {
        const auto take = [piece](const std::string& text) {
            BodyReader reader(std::nullopt, size_t{64} << 20U);
            for (size_t at = 0; at < text.size(); at += piece) {
                (void)reader.take(std::string_view(text).substr(at, piece));
            }
        };
        support::checkLinear({take,
                              {"1\r\na\r\n", "01\r\na\r\n", "1;a\r\nb\r\n", "0", "0\r\n",
                               "0\r\n\r\n", "a", ";", " ", "\r", "\n", "\r\n", "f", "-1\r\n"}});
        support::checkLinear({take, {"a: b\r\n", "a", ":", "\r\n", " "}, "0\r\n"});
    }
}

/// Longer than the server reads them: only how the time grows counts.
void TestLongTexts::heads() {
    const auto raw = [](const std::string& text) { (void)checkRawHead(text); };
    support::checkLinear({raw, {"a: b\r\n", "a", ":", "\r", "\n", "\r\n", " ", "\t", "\x01"}});
    const auto fields = [](const std::string& text) {
        HttpHead head;
        head.method = "OPTIONS";
        head.target = text;
        head.local_address = "127.0.0.1";
        for (const char* const name :
             {"host", "origin", "authorization", "content-type", "content-length", "expect",
              "transfer-encoding", "access-control-request-headers"}) {
            for (const char* const method : {"OPTIONS", "POST"}) {
                HttpHead asked = head;
                asked.method = method;
                asked.target = "/v1/chat/completions";
                asked.fields = {{"host", "localhost"}, {"origin", "http://localhost:3000"}};
                asked.fields.emplace_back(name, text);
                GateRules rules;
                rules.tokens = {"bf-0123456789abcdef0123456789abcdef"};
                rules.origins = {"http://localhost:3000"};
                (void)Gate(rules).check(asked, Gate::Clock::now());
            }
        }
        (void)head.path();
        (void)head.authority();
    };
    support::checkLinear(
        {fields,
         {"a", ",", "a,", " ", "/", "?", ":", "[", "]", ".", "http://", "0", "Bearer ", ";", "%"},
         {},
         {},
         size_t{1} << 20});
}

void TestLongTexts::names() {
    const auto name = [](const std::string& text) {
        (void)hostName(text);
        (void)allowedHost(text);
        (void)allowedOrigin(text);
        (void)isLoopback(text);
    };
    for (const char* const before : {"", "[", "http://"}) {
        support::checkLinear(
            {name, {"a", ".", ":", "/", "[", "]", "::", "0", "://", "%", "*", " "}, before});
    }
}

void TestLongTexts::media() {
    const auto url = [](const std::string& text) {
        (void)fromBase64(text);
        if (const auto data = splitDataUrl(text)) {
            (void)fromBase64(data->base64);
        }
        (void)looksLikeMedium(text);
    };
    const std::vector<std::string> parts = {"A",  "AAAA", "=", "%",        "%41",   "%2",  " ",
                                            "\n", ";",    ",", ";base64,", "data:", "\xff"};
    for (const char* const before : {"", "data:", "data:image/png;base64,"}) {
        support::checkLinear({url, parts, before});
    }
}

/// The longest that a request may have, and replies that all but hold them.
void TestLongTexts::stops() {
    for (const size_t piece : {size_t{1}, size_t{4}}) {
        const auto push = [piece](const std::string& text) {
            const std::string same(1023, 'a');
            StopStrings stops({same + "b", same + "c", "b" + same, "ab"});
            for (size_t at = 0; at < text.size(); at += piece) {
                (void)stops.push(std::string_view(text).substr(at, piece));
            }
            (void)stops.flush();
        };
        support::checkLinear({push, {"a", "b", "aaac", "x"}, {}, {}, size_t{1} << 20});
    }
}

TEST_CLASS(TestLongTexts)
#include "tst_long_texts.moc"
