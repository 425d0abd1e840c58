// SPDX-License-Identifier: Apache-2.0
// Bodies of requests: what is honoured, what is passed over, what is refused and with which member
// named; each number with values that no engine should see; pictures and sounds; texts to stop at.
#include "app/serve/api_request.h"
#include "app/serve/fair_queue.h"
#include "app/serve/media_data.h"
#include "app/serve/stop_strings.h"
#include "tests/support/program/test_class.h"

#include <QRandomGenerator>
#include <QTest>

using namespace serve;

namespace {

/// A chat request with these members besides what every one needs.
std::string chatBody(const QByteArray& members) {
    QByteArray body = R"({"model":"m","messages":[{"role":"user","content":"Hi"}])";
    if (!members.isEmpty()) {
        body += "," + members;
    }
    return (body + "}").toStdString();
}

std::string messagesBody(const QByteArray& messages) {
    return (R"({"model":"m","messages":)" + messages + "}").toStdString();
}

} // namespace

class TestRequests : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void honours();
    void switchedOff_data();
    void switchedOff();
    void tools();
    void passesOver();
    void refuses_data();
    void refuses();
    void wrongNumbers_data();
    void wrongNumbers();
    void media();
    void mediaLabels_data();
    void mediaLabels();
    void histories_data();
    void histories();
    void wrongMessages_data();
    void wrongMessages();
    void completions();
    void randomBytes();
    void base64_data();
    void base64();
    void stops();
    void takesTurns();
};

void TestRequests::honours() {
    ApiRequest read;
    const auto wrong = readChatRequest(
        chatBody(R"("stream":true,"stream_options":{"include_usage":true},"temperature":0.5,)"
                 R"("top_p":0.9,"top_k":-1,"min_p":0.1,"repetition_penalty":1.1,"seed":7,)"
                 R"("stop":["a","b"],"max_tokens":5,"max_completion_tokens":9.0,"logprobs":true,)"
                 R"("top_logprobs":3,"chat_template_kwargs":{"enable_thinking":true})"),
        read);
    QVERIFY2(!wrong.has_value(), wrong.has_value() ? wrong->message.c_str() : "");
    QCOMPARE(read.model, std::string("m"));
    QVERIFY(read.is_streamed && read.includes_usage && read.generate.is_thinking);
    const engine::SamplingParameters& sampling = read.generate.sampling;
    QCOMPARE(sampling.temperature, 0.5);
    QCOMPARE(sampling.top_p, 0.9);
    QCOMPARE(sampling.top_k, int64_t{0});
    QCOMPARE(sampling.min_p, 0.1);
    QCOMPARE(sampling.repetition_penalty, 1.1);
    QCOMPARE(sampling.seed, int64_t{7});
    QCOMPARE(sampling.max_tokens, int64_t{9});
    QCOMPARE(read.generate.logprobs, int64_t{3});
    QCOMPARE(read.stops, (std::vector<std::string>{"a", "b"}));

    // Without them the model's own hold.
    ApiRequest plain;
    QVERIFY(!readChatRequest(chatBody(R"("temperature":null,"stop":null)"), plain).has_value());
    QCOMPARE(plain.generate.sampling.temperature, -1.0);
    QCOMPARE(plain.generate.sampling.max_tokens, int64_t{0});
    QCOMPARE(plain.generate.logprobs, int64_t{-1});
    QVERIFY(!plain.generate.is_thinking && !plain.is_streamed && plain.stops.empty());

    for (const auto& [effort, thinks] : {std::pair("none", false), std::pair("high", true)}) {
        ApiRequest asked;
        QVERIFY(
            !readChatRequest(chatBody(QByteArray("\"reasoning_effort\":\"") + effort + "\""), asked)
                 .has_value());
        QCOMPARE(asked.generate.is_thinking, thinks);
    }
}

void TestRequests::switchedOff_data() {
    support::addColumns<QByteArray, double, double, int, int>("members", "top_p", "penalty",
                                                              "top_k", "max_tokens");
    const auto row = [](const char* members, double top_p = -1, double penalty = -1, int top_k = -1,
                        int max_tokens = 0) {
        QTest::newRow(members) << QByteArray(members) << top_p << penalty << top_k << max_tokens;
    };
    row(R"("top_p":0)", 0.0);
    row(R"("top_p":0.0,"temperature":1)", 0.0);
    row(R"("repetition_penalty":0)", -1, 1.0);
    row(R"("repetition_penalty":0.0,"top_k":-1)", -1, 1.0, 0);
    row(R"("top_k":0,"min_p":0,"presence_penalty":0,"frequency_penalty":0,"seed":-1)", -1, -1, 0);
    row(R"("max_tokens":-1)");
    row(R"("max_tokens":0)");
    row(R"("max_tokens":null)");
    row(R"("max_tokens":-2.0)");
    row(R"("max_completion_tokens":-1)");
    row(R"("max_completion_tokens":-1,"max_tokens":8)", -1, -1, -1, 8);
    row(R"("max_completion_tokens":null,"max_tokens":8)", -1, -1, -1, 8);
    row(R"("max_completion_tokens":4,"max_tokens":-1)", -1, -1, -1, 4);
    row(R"("stop":"")");
    row(R"("stop":[""])");
    row(R"("stop":["","",null])");
}

/// Values with which other programs say that something shall not happen.
void TestRequests::switchedOff() {
    QFETCH(QByteArray, members);
    ApiRequest read;
    const auto wrong = readChatRequest(chatBody(members), read);
    QVERIFY2(!wrong.has_value(), wrong.has_value() ? wrong->message.c_str() : "");
    const engine::SamplingParameters& sampling = read.generate.sampling;
    QTEST(sampling.top_p, "top_p");
    QTEST(sampling.repetition_penalty, "penalty");
    QTEST(int(sampling.top_k), "top_k");
    QTEST(int(sampling.max_tokens), "max_tokens");
    QVERIFY(read.stops.empty());
    ApiRequest some;
    QVERIFY(!readChatRequest(chatBody(R"("stop":["","END",""])"), some).has_value());
    QCOMPARE(some.stops, std::vector<std::string>{"END"});
}

/// A whole round: what may be asked for, what was, and what came of it.
void TestRequests::tools() {
    const std::string body =
        R"({"model":"m","parallel_tool_calls":false,"tool_choice":"auto","tools":[{"type":"function",)"
        R"("function":{"name":"get_weather","description":"Weather.","strict":true,"parameters":)"
        R"({"type":"object","properties":{"city":{"type":"string"},"days":{"maximum":1e2}}}}},)"
        R"({"type":"function","function":{"name":"now"}}],"messages":[)"
        R"({"role":"user","content":"Weather in Paris?"},)"
        R"({"role":"assistant","content":null,"reasoning_content":"I must ask.","tool_calls":)"
        R"([{"id":"c1","type":"function","function":{"name":"get_weather","arguments":)"
        R"("{\"city\": \"Paris\"}"}},{"id":"c2","function":{"name":"now","arguments":""}}]},)"
        R"({"role":"tool","tool_call_id":"c1","content":"18 C"},)"
        R"({"role":"tool","tool_call_id":"c2","content":[{"type":"text","text":"noon"}]}]})";
    ApiRequest read;
    const auto wrong = readChatRequest(body, read);
    QVERIFY2(!wrong.has_value(), wrong.has_value() ? wrong->message.c_str() : "");
    QVERIFY(read.is_one_call);
    const auto& tools = read.generate.tools;
    QCOMPARE(tools.size(), size_t{2});
    QCOMPARE(tools[0].name, std::string("get_weather"));
    QCOMPARE(tools[0].description, std::string("Weather."));
    QCOMPARE(tools[0].parameters,
             std::string(R"({"type":"object","properties":{"city":{"type":"string"},)"
                         R"("days":{"maximum":1e2}}})"));
    QVERIFY(tools[1].description.empty() && tools[1].parameters.empty());
    const auto& messages = read.generate.messages;
    QCOMPARE(messages.size(), size_t{4});
    QVERIFY(messages[1].parts.empty());
    QCOMPARE(messages[1].thinking, std::string("I must ask."));
    QCOMPARE(messages[1].calls.size(), size_t{2});
    QVERIFY(
        (messages[1].calls[0] == engine::ToolCall{"c1", "get_weather", R"({"city": "Paris"})"}));
    QVERIFY((messages[1].calls[1] == engine::ToolCall{"c2", "now", ""}));
    QVERIFY(messages[2].role == engine::Message::Role::Tool);
    QCOMPARE(messages[2].call_id, std::string("c1"));
    QCOMPARE(messages[3].parts[0].text, std::string("noon"));
}

void TestRequests::passesOver() {
    ApiRequest read;
    const auto wrong = readChatRequest(
        chatBody(R"("user":"u","metadata":{"a":1},"store":true,"service_tier":"auto",)"
                 R"("parallel_tool_calls":true,"logit_bias":{},"n":1,"tools":[],"unknown":[{}],)"
                 R"("presence_penalty":0,"frequency_penalty":0.0,"tool_choice":"none",)"
                 R"("response_format":{"type":"text"},"stream_options":{"other":1})"),
        read);
    QVERIFY2(!wrong.has_value(), wrong.has_value() ? wrong->message.c_str() : "");
    ApiRequest unused;
    QVERIFY(
        !readChatRequest(chatBody(R"("tools":[{"type":"function"}],"tool_choice":"none")"), unused)
             .has_value());
}

void TestRequests::refuses_data() {
    support::addColumns<QByteArray, QByteArray>("members", "param");
    const auto row = [](const char* members, const char* param) {
        QTest::newRow(members) << QByteArray(members) << QByteArray(param);
    };
    row(R"("n":2)", "n");
    row(R"("logit_bias":{"5":1})", "logit_bias");
    row(R"("response_format":{"type":"json_object"})", "response_format");
    row(R"("response_format":{"type":"json_schema"})", "response_format");
    row(R"("response_format":"text")", "response_format");
    row(R"("tools":[{"type":"function"}])", "tools[0]");
    row(R"("tools":{})", "tools");
    row(R"("tools":[{"type":"retrieval","function":{"name":"f"}}])", "tools[0]");
    row(R"("tools":[{"function":{"name":"f"}},{"function":{"name":"f"}}])",
        "tools[1].function.name");
    row(R"("tools":[{"function":{"name":"a b"}}])", "tools[0].function.name");
    row(R"("tools":[{"function":{"name":"<turn|>"}}])", "tools[0].function.name");
    row(R"("tools":[{"function":{"name":""}}])", "tools[0].function.name");
    row(R"("tools":[{"function":{"name":"f","description":5}}])", "tools[0].function.description");
    row(R"("tools":[{"function":{"name":"f","parameters":[]}}])", "tools[0].function.parameters");
    row(R"("parallel_tool_calls":1)", "parallel_tool_calls");
    row(R"("functions":[{"name":"f"}])", "functions");
    row(R"("tool_choice":"required")", "tool_choice");
    row(R"("tool_choice":{"type":"function"})", "tool_choice");
    row(R"("modalities":["text","audio"])", "modalities");
    row(R"("audio":{"voice":"x"})", "audio");
    row(R"("chat_template":"{{ x }}")", "chat_template");
    row(R"("presence_penalty":0.5)", "presence_penalty");
    row(R"("frequency_penalty":-0.5)", "frequency_penalty");
    row(R"("stop":[1])", "stop");
    row(R"("stop":["1","2","3","4","5","6","7","8","9","10","11","12","13","14","15","16","17"])",
        "stop");
    row(R"("stream":"yes")", "stream");
    row(R"("stream":1)", "stream");
    row(R"("top_logprobs":2)", "top_logprobs");
    row(R"("logprobs":5)", "logprobs");
    row(R"("chat_template_kwargs":{"enable_thinking":"yes"})",
        "chat_template_kwargs.enable_thinking");
    row(R"("reasoning_effort":3)", "reasoning_effort");
}

void TestRequests::refuses() {
    QFETCH(QByteArray, members);
    QFETCH(QByteArray, param);
    ApiRequest read;
    const auto wrong = readChatRequest(chatBody(members), read);
    QVERIFY(wrong.has_value());
    QCOMPARE(wrong->status, 400);
    QCOMPARE(wrong->type, std::string("invalid_request_error"));
    QCOMPARE(QByteArray::fromStdString(wrong->param), param);
    QVERIFY(wrong->message.starts_with(wrong->param + ": "));
    // What to do instead stands in every one.
    const QByteArray told = QByteArray::fromStdString(wrong->message);
    QVERIFY2(told.contains("leave it out") || told.contains("leave them out") ||
                 told.contains("expected") || told.contains("ask ") || told.contains("needs "),
             told.constData());
}

void TestRequests::wrongNumbers_data() {
    support::addColumns<QByteArray, QByteArray>("member", "value");
    for (const char* member :
         {"temperature", "top_p", "top_k", "min_p", "repetition_penalty", "seed", "max_tokens",
          "max_completion_tokens", "n", "top_logprobs", "presence_penalty", "frequency_penalty"}) {
        for (const char* value :
             {"-2.5", "-99999999999999999999", "1e400", "1e308", "99999999999999999999", "\"1\"",
              "[1]", "{}", "true", "-1e-400"}) {
            const QByteArray name = QByteArray(member) + " " + value;
            // As good as zero, which these may be.
            const bool is_zero = QByteArray(value) == "-1e-400";
            if (!is_zero) {
                QTest::newRow(name.constData()) << QByteArray(member) << QByteArray(value);
            }
        }
    }
}

void TestRequests::wrongNumbers() {
    QFETCH(QByteArray, member);
    QFETCH(QByteArray, value);
    ApiRequest read;
    const auto wrong =
        readChatRequest(chatBody("\"logprobs\":true,\"" + member + "\":" + value), read);
    QVERIFY(wrong.has_value());
    QCOMPARE(wrong->status, 400);
    QCOMPARE(QByteArray::fromStdString(wrong->param), member);
    QVERIFY(wrong->message.find("expected") != std::string::npos);
}

void TestRequests::media() {
    ApiRequest read;
    const auto wrong = readChatRequest(
        messagesBody(R"([{"role":"developer","content":"Be short."},{"role":"user","content":[)"
                     R"({"type":"image_url","image_url":{"url":"data:image/png;base64,AQID",)"
                     R"("detail":"high"}},{"type":"input_audio","input_audio":{"data":"BAUG",)"
                     R"("format":"wav"}},{"type":"text","text":"What?"}]},)"
                     R"({"role":"assistant","content":"A cat."},{"role":"user","content":[)"
                     R"({"type":"audio_url","audio_url":"data:audio/mp3;base64,Bw=="},)"
                     R"({"type":"text","text":"And?"}]}])"),
        read);
    QVERIFY2(!wrong.has_value(), wrong.has_value() ? wrong->message.c_str() : "");
    using engine::Message;
    using engine::MessagePart;
    const auto& messages = read.generate.messages;
    QCOMPARE(messages.size(), size_t{4});
    QCOMPARE(messages[0].role, Message::Role::System);
    QCOMPARE(messages[1].parts.size(), size_t{3});
    QCOMPARE(messages[1].parts[0].kind, MessagePart::Kind::Image);
    QCOMPARE(messages[1].parts[0].text, read.media[0].label);
    QCOMPARE(messages[1].parts[1].kind, MessagePart::Kind::Audio);
    QCOMPARE(messages[1].parts[2].text, std::string("What?"));
    QCOMPARE(messages[2].role, Message::Role::Assistant);
    QCOMPARE(read.media.size(), size_t{3});
    QCOMPARE(read.media[0].label, std::string("messages[1].content[0]"));
    QCOMPARE(read.media[0].bytes, std::string("\1\2\3"));
    QCOMPARE(read.media[1].bytes, std::string("\4\5\6"));
    QCOMPARE(read.media[2].bytes, std::string("\7"));
}

void TestRequests::mediaLabels_data() {
    support::addColumns<QByteArray, bool>("url", "is_taken");
    // "\x89PNG" and a byte of which base64 makes the signs 62 and 63.
    for (const char* url :
         {"data:image/png;base64,iVBORw/+", "data:image/png;base64, iVBO\tRw/+\f ",
          "data:image/png;base64,iVBORw_-", "data:image/png;base64,iVBORw%2F%2B",
          "data:image/png;base64,iVBORw%2f%2b", "data:image/png ;base64,iVBORw/+",
          "data: image/png; base64,iVBORw/+", " data:image/png;base64,iVBORw/+\n",
          "data:binary/octet-stream;base64,iVBORw/+", "data:text/plain;base64,iVBORw/+",
          "data:undefined;base64,iVBORw/+", "data:audio/wav;base64,iVBORw/+",
          "data:image/jpeg;name=a.jpg;base64,iVBORw/+"}) {
        QTest::newRow(url) << QByteArray(url) << true;
    }
    for (const char* url : {"data:image/png;base64,iVBORw%/+", "data:image/png;base64,iVBORw%252F",
                            "data:text/plain;base64,aGVsbG8h", "data:image/png;base64,"}) {
        QTest::newRow(url) << QByteArray(url) << false;
    }
}

/// As clients spell and label what they send: the bytes decide.
void TestRequests::mediaLabels() {
    QFETCH(QByteArray, url);
    QFETCH(bool, is_taken);
    QByteArray escaped = url;
    escaped.replace('\t', "\\t").replace('\f', "\\f").replace('\n', "\\n");
    ApiRequest read;
    const auto wrong = readChatRequest(
        messagesBody(R"([{"role":"user","content":[{"type":"image_url","image_url":{"url":")" +
                     escaped + R"("}}]}])"),
        read);
    QCOMPARE(!wrong.has_value(), is_taken);
    if (is_taken) {
        QCOMPARE(read.media[0].bytes, std::string("\x89PNG\x0f\xfe"));
    }
}

void TestRequests::histories_data() {
    QTest::addColumn<QByteArray>("messages");
    QTest::addColumn<QByteArray>("arguments"); ///< For the first call.
    QTest::addColumn<QByteArray>("result");    ///< The last message's text.
    const auto call = [](const char* what, const QByteArray& arguments, const QByteArray& kept,
                         const QByteArray& result = "\"r\"", const QByteArray& text = "r") {
        QTest::newRow(what)
            << R"([{"role":"user","content":"Hi"},{"role":"assistant","tool_calls":[{"id":"c",)"
               R"("type":"function","function":{"name":"f","arguments":)" +
                   arguments + R"(}}]},{"role":"tool","tool_call_id":"c","content":)" + result +
                   "}]"
            << kept << text;
    };
    call("cut", R"("{\"path\": ")", R"({"path": )");
    call("words", R"("not json")", "not json");
    call("list", R"("[1]")", "[1]");
    call("null", "null", "");
    call("object itself", R"({"a":[1]})", R"({"a":[1]})");
    call("Python", R"("{'a': None}")", "{'a': None}");
    const QByteArray deep = QByteArray(R"({\"a\":)").repeated(70) + "1" + QByteArray(70, '}');
    call("70 levels", "\"" + deep + "\"", QByteArray(deep).replace("\\", ""));
    const QByteArray large = R"({\"a\":\")" + QByteArray(2'000'000, 'x') + R"(\"})";
    call("2 MB", "\"" + large + "\"", QByteArray(large).replace("\\", ""));
    call("result null", R"("{}")", "{}", "null", "");
    call("result is a number", R"("{}")", "{}", "42.50", "42.50");
    call("result is false", R"("{}")", "{}", "false", "false");
    call("result is an object", R"("{}")", "{}", R"({"a": [1, null]})", R"({"a":[1,null]})");
    call("result is a list", R"("{}")", "{}", R"([1, "b"])", R"([1,"b"])");
    call("result is empty", R"("{}")", "{}", "[]", "");
    call("part of another type", R"("{}")", "{}", R"([{"type":"json","json":{"a":1}}])",
         R"({"type":"json","json":{"a":1}})");
    const auto reply = [](const char* what, const char* members) {
        QTest::newRow(what) << QByteArray(R"([{"role":"assistant")") + members +
                                   R"(},{"role":"user","content":"Hi"}])"
                            << QByteArray() << QByteArray("Hi");
    };
    reply("empty reply", R"(,"content":null)");
    reply("reply without content", "");
    reply("reply without parts", R"(,"content":[])");
    reply("thoughts alone", R"(,"content":null,"reasoning_content":"hm")");
    reply("no words in a part", R"(,"content":[{"type":"text","text":null}])");
    reply("half a character", R"(,"content":"cut \ud83d")");
    reply("refusal", R"(,"content":[{"type":"refusal","refusal":"No."}])");
    reply("no calls", R"(,"content":null,"tool_calls":[])");
    reply("odd name",
          R"(,"tool_calls":[{"id":"c","function":{"name":"mcp:a/b c","arguments":"{}"}}])");
}

/// What a client can only repeat never ends its conversation.
void TestRequests::histories() {
    QFETCH(QByteArray, messages);
    QFETCH(QByteArray, arguments);
    QFETCH(QByteArray, result);
    ApiRequest read;
    const auto wrong = readChatRequest(messagesBody(messages), read);
    QVERIFY2(!wrong.has_value(), wrong.has_value() ? wrong->message.c_str() : "");
    const auto& all = read.generate.messages;
    if (all[1].role == engine::Message::Role::Assistant) {
        QCOMPARE(QByteArray::fromStdString(all[1].calls.at(0).arguments), arguments);
    }
    QCOMPARE(QByteArray::fromStdString(all.back().parts.at(0).text), result);
    for (const engine::Message& message : all) {
        QVERIFY(!message.parts.empty() || !message.calls.empty());
    }
}

void TestRequests::wrongMessages_data() {
    support::addColumns<QByteArray, QByteArray>("messages", "param");
    const auto row = [](const char* messages, const char* param) {
        QTest::newRow(messages) << QByteArray(messages) << QByteArray(param);
    };
    row("[]", "messages");
    row("{}", "messages");
    row("null", "messages");
    row(R"(["Hi"])", "messages[0]");
    row(R"([{"content":"Hi"}])", "messages[0].role");
    row(R"([{"role":"robot","content":"Hi"}])", "messages[0].role");
    row(R"([{"role":"function","content":"Hi"}])", "messages[0].role");
    row(R"([{"role":"tool","content":"Hi"}])", "messages[0].tool_call_id");
    row(R"([{"role":"tool","tool_call_id":"c"}])", "messages[0].content");
    row(R"([{"role":"tool","tool_call_id":"c","content":[{"type":"image_url","image_url":"data:image/png;base64,AA=="}]}])",
        "messages[0].content[0]");
    row(R"([{"role":"user","content":"Hi","tool_calls":[{}]}])", "messages[0].tool_calls");
    row(R"([{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":"{}"}}]}])",
        "messages[0].tool_calls[0].id");
    row(R"([{"role":"assistant","tool_calls":[{"id":"c","function":{"arguments":"{}"}}]}])",
        "messages[0].tool_calls[0].function.name");
    row(R"([{"role":"user"}])", "messages[0].content");
    row(R"([{"role":"user","content":5}])", "messages[0].content");
    row(R"([{"role":"user","content":[]}])", "messages[0].content");
    row(R"([{"role":"user","content":["Hi"]}])", "messages[0].content[0]");
    row(R"([{"role":"user","content":[{"type":"video_url"}]}])", "messages[0].content[0].type");
    row(R"([{"role":"user","content":[{"type":"text","text":1}]}])", "messages[0].content[0].text");
    row(R"([{"role":"assistant","content":null,"tool_calls":[{}]}])", "messages[0].tool_calls[0]");
    row(R"([{"role":"assistant","content":"Hi"}])", "messages[0].role");
    row(R"([{"role":"system","content":[{"type":"image_url","image_url":"data:image/png;base64,AA=="}]}])",
        "messages[0].content[0]");
    for (const char* url :
         {"http://169.254.169.254/latest", "https://example.org/a.png", "file:///etc/passwd",
          "/etc/passwd", "C:\\\\secret.png", "data:image/png,plain",
          "data:text/html;base64,AA==", "ftp://a/b", ""}) {
        const QByteArray messages =
            QByteArray(R"([{"role":"user","content":[{"type":"image_url","image_url":{"url":")") +
            url + R"("}}]}])";
        QTest::newRow(url[0] == '\0' ? "empty url" : url)
            << messages << QByteArray("messages[0].content[0].image_url");
    }
    row(R"([{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,A*=="}}]}])",
        "messages[0].content[0]");
    row(R"([{"role":"user","content":[{"type":"input_audio","input_audio":{"data":"https://a/b.wav"}}]}])",
        "messages[0].content[0]");
    row(R"([{"role":"user","content":[{"type":"input_audio","input_audio":{"path":"/etc/passwd"}}]}])",
        "messages[0].content[0].input_audio");
}

void TestRequests::wrongMessages() {
    QFETCH(QByteArray, messages);
    QFETCH(QByteArray, param);
    ApiRequest read;
    const auto wrong = readChatRequest(messagesBody(messages), read);
    QVERIFY(wrong.has_value());
    QCOMPARE(wrong->status, 400);
    QCOMPARE(QByteArray::fromStdString(wrong->param), param);
}

void TestRequests::completions() {
    ApiRequest read;
    QVERIFY(!readCompletionRequest(R"({"model":"m","prompt":["Once"],"logprobs":2})", read)
                 .has_value());
    QCOMPARE(read.generate.raw_prompt, std::string("Once"));
    QCOMPARE(read.generate.sampling.max_tokens, int64_t{16});
    QCOMPARE(read.generate.logprobs, int64_t{2});
    for (const auto& [members, param] :
         {std::pair(R"("prompt":[1,2])", "prompt"), std::pair(R"("prompt":["a","b"])", "prompt"),
          std::pair(R"("prompt":"")", "prompt"), std::pair(R"("prompt":"a","echo":true)", "echo"),
          std::pair(R"("prompt":"a","suffix":"b")", "suffix"),
          std::pair(R"("prompt":"a","best_of":2)", "best_of"),
          std::pair(R"("prompt":"a","n":3)", "n")}) {
        ApiRequest other;
        const auto wrong =
            readCompletionRequest(std::string(R"({"model":"m",)") + members + "}", other);
        QVERIFY2(wrong.has_value() && wrong->param == param, members);
    }
}

void TestRequests::randomBytes() {
    QRandomGenerator random(33);
    const std::string right = chatBody(R"("stop":["a"],"temperature":0.5)");
    for (int round = 0; round < 20000; ++round) {
        std::string body = right;
        const int changes = random.bounded(1, 6);
        for (int i = 0; i < changes; ++i) {
            const size_t at = size_t(random.bounded(int(body.size())));
            switch (random.bounded(3)) {
            case 0:
                body[at] = char(random.bounded(256));
                break;
            case 1:
                body.erase(at, size_t(random.bounded(1, 8)));
                break;
            default:
                body.insert(at, body.substr(size_t(random.bounded(int(body.size()))), 5));
                break;
            }
            if (body.empty()) {
                body = "{";
            }
        }
        ApiRequest read;
        const auto wrong = readChatRequest(body, read);
        QVERIFY(!wrong.has_value() || (wrong->status == 400 && !wrong->message.empty()));
    }
    ApiRequest read;
    QCOMPARE(readChatRequest(std::string(100000, '['), read)->code, std::string("invalid_json"));
    QCOMPARE(readChatRequest("", read)->code, std::string("invalid_json"));
    QCOMPARE(readChatRequest("[]", read)->code, std::string("invalid_json"));
    QCOMPARE(readChatRequest(R"({"model":"a","model":"b"})", read)->code,
             std::string("invalid_json"));
}

void TestRequests::base64_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QByteArray>("bytes"); ///< "!": none
    const auto row = [](const char* text, const char* bytes) {
        QTest::newRow(text[0] == '\0' ? "empty" : text) << QByteArray(text) << QByteArray(bytes);
    };
    // RFC 4648, chapter 10.
    row("", "");
    row("Zg==", "f");
    row("Zm8=", "fo");
    row("Zm9v", "foo");
    row("Zm9vYg==", "foob");
    row("Zm9vYmE=", "fooba");
    row("Zm9vYmFy", "foobar");
    row("Zg", "f");
    row("Zm9v\r\nYmFy", "foobar");
    row(" Zm 9v\tYm\fFy\n", "foobar");
    row("-_-_", "\xfb\xff\xbf");
    row("+/%2B%2F", "\xfb\xff\xbf");
    row("Zg%3D%3D", "f");
    row("Zm9v%", "!");
    row("Zm9v%4", "!");
    row("Zm9v%zz", "!");
    row("Zm9v%25", "!");
    row("Zm9v\v", "!");
    row("Z", "!");
    row("Zg=", "!");
    row("Zg===", "!");
    row("Zm9v=", "!");
    row("Zm=9v", "!");
    row("=", "!");
}

void TestRequests::base64() {
    QFETCH(QByteArray, text);
    QFETCH(QByteArray, bytes);
    const auto read = fromBase64(text.toStdString());
    QCOMPARE(read.has_value(), bytes != "!");
    if (read.has_value()) {
        QCOMPARE(QByteArray::fromStdString(*read), bytes);
    }
}

void TestRequests::stops() {
    StopStrings stops({"END", "N!"});
    QCOMPARE(stops.push("one E"), std::string("one "));
    QCOMPARE(stops.push("N"), std::string());
    QCOMPARE(stops.push("!x"), std::string("E")); // "N!" it was, not "END"
    QVERIFY(stops.isStopped());
    QCOMPARE(stops.push("more"), std::string());
    StopStrings held({"aab"});
    QCOMPARE(held.push("xaaa"), std::string("xa"));
    QCOMPARE(held.push("c"), std::string("aac"));
    QCOMPARE(held.push("aa"), std::string());
    QCOMPARE(held.flush(), std::string("aa"));
    QVERIFY(!held.isStopped());
    StopStrings none({});
    QCOMPARE(none.push("all"), std::string("all"));
}

void TestRequests::takesTurns() {
    FairQueue<int> queue(6);
    for (const int item : {1, 2, 3}) {
        QVERIFY(queue.push(7, item)); // one program asks much
    }
    QVERIFY(queue.push(2, 20));
    QVERIFY(queue.push(9, 90));
    QVERIFY(queue.push(2, 21));
    QVERIFY(!queue.push(1, 10)); // full
    std::vector<int> order;
    while (const auto item = queue.pop()) {
        order.push_back(*item);
    }
    QCOMPARE(order, (std::vector<int>{20, 1, 90, 21, 2, 3}));
    QVERIFY(queue.push(1, 10) && queue.push(1, 11) && queue.push(3, 30));
    queue.removeIf([](int item) { return item == 10 || item == 30; });
    QCOMPARE(queue.size(), size_t{1});
    QCOMPARE(queue.pop().value_or(0), 11);
    QVERIFY(!queue.pop().has_value());
}

TEST_CLASS(TestRequests)
#include "tst_requests.moc"
