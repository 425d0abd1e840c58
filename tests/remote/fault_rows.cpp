// SPDX-License-Identifier: Apache-2.0
#include "tests/remote/fault_rows.h"

using namespace support;

namespace {

/// A stream that begins as it should, with "Good ", and then does this.
ChatScript afterGood(ChatScript rest) {
    ChatScript script = {streamHead(), chunk(wordEvent("Good "))};
    script.insert(script.end(), rest.begin(), rest.end());
    return script;
}

/// The same, with its end behind it.
ChatScript insideGood(ChatScript rest) {
    ChatScript script = afterGood(std::move(rest));
    for (ChatStep& step : ChatScript{chunk(wordEvent("day")), chunk(deltaEvent("{}", "\"stop\"")),
                                     chunk(event("[DONE]")), streamEnd()}) {
        script.push_back(std::move(step));
    }
    return script;
}

FaultRow status(const std::string& name,
                const std::string& line,
                const std::string& body,
                const std::string& rule,
                const std::string& says = {},
                const std::string& type = "application/json",
                const std::string& headers = {}) {
    return {name, wholeAnswer(line, body, type, headers), rule, "", "", says};
}

FaultRow broken(const std::string& name,
                ChatScript rest,
                const std::string& rule,
                const std::string& says = {}) {
    return {name, afterGood(std::move(rest)), rule, "Good ", "", says};
}

FaultRow fine(const std::string& name,
              ChatScript answer,
              const std::string& kept = "Good day",
              const std::string& finish = "stop") {
    return {name, std::move(answer), "", kept, finish, {}};
}

} // namespace

std::vector<FaultRow> statusFaults() {
    const std::string object = R"({"error":{"message":"no","type":"x","param":null,"code":null}})";
    return {
        status("400 of vLLM", "400 Bad Request",
               R"({"error":{"message":"maximum context length is 8","type":"BadRequestError",)"
               R"("param":null,"code":400}})",
               "RemoteRequest", "maximum context length is 8"),
        status("400 of llama-server", "400 Bad Request",
               R"({"error":{"code":400,"message":"too long","type":"exceed_context_size_error",)"
               R"("n_prompt_tokens":9,"n_ctx":8}})",
               "RemoteRequest", "too long"),
        status("401 as a string", "401 Unauthorized", R"({"error":"Unauthorized"})",
               "RemoteRefused", "Unauthorized"),
        status("401 that asks for a password", "401 Unauthorized", object, "RemoteRefused", "key",
               "application/json", "WWW-Authenticate: Basic realm=\"x\"\r\n"),
        status("401 that repeats the key", "401 Unauthorized",
               R"({"error":{"message":"Incorrect API key provided: k3y. Ask for another."}})",
               "RemoteRefused", "provided: (the key). Ask"),
        status("403 without a body", "403 Forbidden", "", "RemoteRefused", "key"),
        status("404 of a model", "404 Not Found",
               R"({"object":"error","message":"The model `m` does not exist.","code":404})",
               "RemoteMissing", "does not exist"),
        status("405 of FastAPI", "405 Method Not Allowed", R"({"detail":"Method Not Allowed"})",
               "RemoteRequest", "Method Not Allowed"),
        status("407", "407 Proxy Authentication Required", "", "RemoteRequest|RemoteNetwork"),
        status("413 of nginx", "413 Payload Too Large",
               "<html><head><title>413 Too Large</title></head></html>", "RemoteRequest",
               "fewer or smaller", "text/html"),
        status("422 of FastAPI", "422 Unprocessable Entity",
               R"({"detail":[{"loc":["body"],"msg":"field required"}]})", "RemoteRequest",
               "field required"),
        status("429 with a time", "429 Too Many Requests", object, "RemoteBusy", "in 17 seconds",
               "application/json", "Retry-After: 17\r\n"),
        status("429 with a date", "429 Too Many Requests", object, "RemoteBusy", "in a minute",
               "application/json", "Retry-After: Wed, 21 Oct 2026 07:28:00 GMT\r\n"),
        status("500 with a list", "500 Internal Server Error", R"([{"error":{"message":"no"}}])",
               "RemoteFailed", "no"),
        status("502 as a page", "502 Bad Gateway",
               "<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>",
               "RemoteFailed", "502 Bad Gateway", "text/html"),
        status("503 while loading", "503 Service Unavailable",
               R"({"error":{"code":503,"message":"Loading model","type":"unavailable_error"}})",
               "RemoteBusy", "Loading model"),
        status("504 with control characters", "504 Gateway Timeout",
               std::string("a\0b\x1b[31mc\xff\n", 11), "RemoteFailed", "a b [31mc", "text/plain"),
        status("530, which nobody knows", "530 Origin", "", "RemoteFailed"),
        status("status 99", "099 Odd", "", "RemoteAnswer|RemoteNetwork"),
        status("a redirect to another host", "307 Temporary Redirect", "", "RemoteRedirect",
               "https://elsewhere.example/v1", "text/plain",
               "Location: https://elsewhere.example/v1\r\n"),
        status("a redirect to a page of this host", "302 Found", "", "RemoteRedirect", "/login",
               "text/plain", "Location: /login\r\n"),
        status("a redirect to nowhere", "308 Permanent Redirect", "", "RemoteRedirect"),
        status("204", "204 No Content", "", "RemoteNetwork|RemoteAnswer"),
        status("a page with 200", "200 OK",
               "<!doctype html><html><head><title>Sign in</title></head></html>", "RemoteAnswer",
               "Sign in", "text/html"),
        status("an error with 200", "200 OK", object, "RemoteFailed", "no"),
        status("JSON of another kind", "200 OK", R"({"hello":"world"})", "RemoteAnswer"),
        status("half of an object", "200 OK", R"({"choices":[{"message":)", "RemoteAnswer"),
        status("nothing at all", "200 OK", "", "RemoteNetwork", {}, "text/event-stream"),
        status("an error of 1 MB", "500 Internal Server Error", std::string(1 << 20, 'x'),
               "RemoteFailed", "xxx", "text/plain"),
    };
}

std::vector<FaultRow> eventFaults() {
    const std::string open = R"({"choices":[{"index":0,"delta":)";
    return {
        broken("an error in the middle",
               {chunk(event(R"({"error":{"message":"gpu lost","type":"server_error"}})")),
                chunk(event("[DONE]")), streamEnd()},
               "RemoteFailed", "gpu lost"),
        broken("an error as a string", {chunk(event(R"({"error":"gone"})")), streamEnd()},
               "RemoteFailed", "gone"),
        broken("an error of SGLang",
               {chunk(event(R"({"object":"error","message":"abort","code":500})")), streamEnd()},
               "RemoteFailed", "abort"),
        broken("no JSON", {chunk(event("nonsense")), streamEnd()}, "RemoteAnswer"),
        broken("a cut line", {chunk("data: {\"choices\":[{\"ind"), streamEnd()},
               "RemoteInterrupted"),
        broken("a list", {chunk(event("[1,2]")), streamEnd()}, "RemoteAnswer"),
        broken("a number", {chunk(event("7")), streamEnd()}, "RemoteAnswer"),
        broken("choices is a number", {chunk(event(R"({"choices":7})")), streamEnd()},
               "RemoteAnswer"),
        broken("a choice is a string", {chunk(event(R"({"choices":["x"]})")), streamEnd()},
               "RemoteAnswer"),
        broken("a delta is a list", {chunk(event(open + "[]}]}")), streamEnd()}, "RemoteAnswer"),
        broken("content is a number", {chunk(event(open + R"({"content":7}}]})")), streamEnd()},
               "RemoteAnswer"),
        broken("thoughts are an object",
               {chunk(event(open + R"({"reasoning":{}}}]})")), streamEnd()}, "RemoteAnswer"),
        broken("calls are a string", {chunk(event(open + R"({"tool_calls":"f"}}]})")), streamEnd()},
               "RemoteAnswer"),
        broken("the call with number two thousand million",
               {chunk(event(open + R"({"tool_calls":[{"index":2000000000}]}}]})")), streamEnd()},
               "RemoteAnswer"),
        broken("a call below zero",
               {chunk(event(open + R"({"tool_calls":[{"index":-1}]}}]})")), streamEnd()},
               "RemoteAnswer"),
        broken("a name twice", {chunk(event(R"({"choices":[],"choices":[]})")), streamEnd()},
               "RemoteAnswer"),
        broken("a thousand brackets", {chunk(event(std::string(1000, '['))), streamEnd()},
               "RemoteAnswer"),
        broken("half a character", {chunk(wordEvent("\xc3")), streamEnd()}, "RemoteAnswer"),
        broken("bytes that are no text", {chunk(wordEvent("\xff\xfe")), streamEnd()},
               "RemoteAnswer"),
        broken("a line of 9 MB", {chunk("data: " + std::string(size_t{9} << 20, 'x'))},
               "RemoteAnswer"),
        broken("an event of 17 MB in short lines", {chunk([] {
                   std::string lines;
                   for (int i = 0; i < 17; ++i) {
                       lines += "data: " + std::string(size_t{1} << 20, 'x') + "\n";
                   }
                   return lines;
               }())},
               "RemoteAnswer"),
        broken("a page in the middle", {chunk("<html>502</html>\n\n"), streamEnd()},
               "RemoteInterrupted"),
    };
}

std::vector<FaultRow> connectionFaults() {
    return {
        {"closed before a byte", {}, "RemoteNetwork", "", "", {}},
        {"reset before a byte", {reset()}, "RemoteNetwork", "", "", {}},
        {"silence from the beginning", {hold()}, "RemoteNetwork", "", "", "nothing"},
        {"half a head",
         {sendBytes("HTTP/1.1 200 OK\r\nContent-Ty"), hold()},
         "RemoteNetwork",
         "",
         "",
         {}},
        {"half a head and the end",
         {sendBytes("HTTP/1.1 200 OK\r\nContent-Ty")},
         "RemoteNetwork",
         "",
         "",
         {}},
        {"no HTTP", {sendBytes("SSH-2.0-OpenSSH_9.2\r\n\r\n")}, "RemoteNetwork", "", "", {}},
        {"a head of 1 MB",
         {sendBytes("HTTP/1.1 200 OK\r\nX: " + std::string(size_t{1} << 20, 'x') + "\r\n\r\n")},
         "RemoteNetwork",
         "",
         "",
         {}},
        {"a head without a body", {streamHead(), hold()}, "RemoteNetwork", "", "", {}},
        {"a chunk of the wrong length",
         {streamHead(), sendBytes("zz\r\nxx\r\n")},
         "RemoteNetwork",
         "",
         "",
         {}},
        broken("cut behind a word", {}, "RemoteInterrupted"),
        broken("cut within a chunk", {sendBytes("ff\r\ndata: {\"choi")}, "RemoteInterrupted"),
        broken("reset behind a word", {wait(100), reset()}, "RemoteInterrupted"),
        broken("silence behind a word", {hold()}, "RemoteInterrupted", "nothing"),
        broken("the end without a reason", {streamEnd()}, "RemoteInterrupted", "middle"),
        broken("a byte at a time of a line without end",
               {drip("data: " + std::string(1000, 'x'), 20)}, "RemoteInterrupted",
               "nothing of use"),
        broken("signs of life without end", {drip(std::string(1000, ':') + "\n", 20)},
               "RemoteInterrupted", "nothing of use"),
        broken("blank lines without end", {drip(std::string(1000, '\n'), 20)}, "RemoteInterrupted",
               "nothing of use"),
        broken(
            "empty words without end",
            [] {
                ChatScript script;
                for (int i = 0; i < 200; ++i) {
                    script.push_back(chunk(wordEvent("")));
                    script.push_back(wait(20));
                }
                return script;
            }(),
            "RemoteInterrupted", "nothing of use"),
        {"a cut behind an empty reason",
         {streamHead(), chunk(deltaEvent(R"({"content":"Good "})", R"("")")), streamEnd()},
         "RemoteInterrupted",
         "Good ",
         "",
         {}},
        {"a length that is too long",
         {sendBytes("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: "
                    "100000\r\n\r\n" +
                    wordEvent("Good "))},
         "RemoteInterrupted",
         "Good ",
         "",
         {}},
    };
}

std::vector<FaultRow> oddities() {
    const std::string whole = R"({"object":"chat.completion","choices":[{"index":0,"message":)"
                              R"({"role":"assistant","content":"Good day"},)"
                              R"("finish_reason":"stop"}]})";
    std::string all;
    for (const ChatStep& step : goodAnswer({"Good ", "day"})) {
        all += step.kind == ChatStep::Kind::Chunk ? step.bytes : "";
    }
    std::string returns = all;
    for (size_t at = 0; (at = returns.find('\n', at)) != std::string::npos; at += 2) {
        returns.replace(at, 1, "\r\n");
    }
    std::string no_blanks = all;
    for (size_t at = 0; (at = no_blanks.find("\n\n", at)) != std::string::npos; ++at) {
        no_blanks.erase(at, 1);
    }
    std::string fields = "event: message\nid: 1\nretry: 10\n" + all;
    return {
        fine("as it should be", goodAnswer({"Good ", "day"})),
        fine("not a stream", wholeAnswer("200 OK", whole)),
        fine("a stream without its type", {sendBytes("HTTP/1.1 200 OK\r\n\r\n" + all)}),
        fine("a byte at a time", {streamHead(), drip(all, 0), streamEnd()}),
        fine("\\r\\n", {streamHead(), drip(returns, 0), streamEnd()}),
        fine("without blank lines", {streamHead(), chunk(no_blanks), streamEnd()}),
        fine("other fields", {streamHead(), chunk(fields), streamEnd()}),
        fine("a byte-order mark", {streamHead(), chunk("\xef\xbb\xbf" + all), streamEnd()}),
        fine("signs of life between", insideGood({chunk(": keep-alive\n\n"), wait(300),
                                                  chunk(": keep-alive\n\n"), wait(300)})),
        fine("notes of the server's own", insideGood({chunk(event(R"({"type":"ping"})"))})),
        fine("null in all places",
             insideGood({chunk(event(
                 R"({"choices":[{"index":0,"delta":{"content":null,"reasoning":null,)"
                 R"("tool_calls":null},"finish_reason":null}],"usage":null,"error":null})"))})),
        fine("another choice beside",
             insideGood({chunk(event(R"({"choices":[{"index":1,"delta":{"content":"x"}}]})"))})),
        fine("\"[DONE]\" twice",
             [] {
                 ChatScript script = insideGood({});
                 script.insert(script.end() - 1, chunk(event("[DONE]")));
                 return script;
             }()),
        fine("words behind \"[DONE]\"",
             [] {
                 ChatScript script = insideGood({});
                 script.insert(script.end() - 1, chunk(wordEvent("?!")));
                 return script;
             }()),
        fine("silence behind \"[DONE]\"",
             [] {
                 ChatScript script = insideGood({});
                 script.back() = hold();
                 return script;
             }()),
        fine("no \"[DONE]\"",
             [] {
                 ChatScript script = insideGood({});
                 script.erase(script.end() - 2);
                 return script;
             }()),
        fine("the last event without its line",
             afterGood(
                 {chunk(wordEvent("day")),
                  chunk(R"(data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]})"),
                  streamEnd()})),
        fine("cut behind the reason",
             afterGood({chunk(wordEvent("day")), chunk(deltaEvent("{}", "\"stop\""))})),
        fine("no reason but \"[DONE]\"",
             afterGood({chunk(wordEvent("day")), chunk(event("[DONE]")), streamEnd()})),
        fine("\"[DONE]\" in quotes",
             afterGood({chunk(wordEvent("day")), chunk(event("\"[DONE]\"")), streamEnd()})),
        fine("\"[DONE]\" in small letters",
             afterGood({chunk(wordEvent("day")), chunk(event("[done]")), streamEnd()})),
        fine("text as of /completions",
             afterGood({chunk(event(R"({"choices":[{"index":0,"text":"day"}]})")),
                        chunk(event("[DONE]")), streamEnd()})),
        fine("NaN in what nobody reads",
             insideGood({chunk(event(R"({"choices":[{"index":0,"delta":{},"logprobs":)"
                                     R"({"x":[NaN,-Infinity,Infinity]}}]})"))})),
        fine("a line of JSON for each piece",
             wholeAnswer("200 OK", R"({"choices":[{"index":0,"delta":{"content":"Good "}}]})"
                                   "\n\r\n"
                                   R"({"choices":[{"index":0,"delta":{"content":"day"}}]})"
                                   "\n"
                                   R"({"choices":[{"delta":{},"finish_reason":"stop"}]})"
                                   "\n")),
        fine("a reason that is a number", afterGood({chunk(deltaEvent(R"({"content":"day"})", "7")),
                                                     chunk(event("[DONE]")), streamEnd()})),
        fine("length", goodAnswer({"Good ", "day"}, "length"), "Good day", "length"),
        fine("a reason of its own", goodAnswer({"Good ", "day"}, "repetition")),
        fine(
            "counts that cannot be",
            insideGood({chunk(event(R"({"choices":[],"usage":{"prompt_tokens":-5,)"
                                    R"("completion_tokens":1e300,"prompt_tokens_details":7}})"))})),
        fine("thoughts of vLLM",
             {streamHead(), chunk(deltaEvent(R"({"reasoning":"Hm"})")),
              chunk(wordEvent("Good day")), chunk(deltaEvent("{}", "\"stop\"")), streamEnd()},
             "[Hm]Good day"),
        fine("thoughts of SGLang",
             {streamHead(), chunk(deltaEvent(R"({"reasoning_content":"Hm"})")),
              chunk(wordEvent("Good day")), chunk(deltaEvent("{}", "\"stop\"")), streamEnd()},
             "[Hm]Good day"),
        fine("thoughts in both spellings",
             {streamHead(), chunk(deltaEvent(R"({"reasoning":"Hm","reasoning_content":"Hm"})")),
              chunk(wordEvent("Good day")), chunk(deltaEvent("{}", "\"stop\"")), streamEnd()},
             "[Hm]Good day"),
        fine("thoughts in the text", goodAnswer({"<thi", "nk>Hm</", "think>", "\\n\\nGood day"}),
             "[Hm]Good day"),
        fine("thoughts in Gemma's channel",
             goodAnswer({"<|channel>", "thought\\nHm", "<channel|>Good day"}), "[Hm]Good day"),
        fine("thoughts in square brackets", goodAnswer({"[THINK]Hm", "[/THINK]Good day"}),
             "[Hm]Good day"),
        fine("the closing mark is what the answer is about",
             goodAnswer({"A template ends with `</thi", "nk>`."}),
             "A template ends with `</think>`."),
        fine("half of a pair of surrogates", goodAnswer({"Good \\ud83d", "day"}),
             "Good \xef\xbf\xbd"
             "day"),
        fine("an empty reason in each piece",
             {streamHead(), chunk(deltaEvent(R"({"content":"Good "})", R"("")")),
              chunk(deltaEvent(R"({"content":"day"})", R"("null")")),
              chunk(deltaEvent("{}", R"("length")")), chunk(deltaEvent("{}", R"("")")),
              streamEnd()},
             "Good day", "length"),
        fine("a whole answer that is called a stream", {streamHead(), chunk(whole), streamEnd()}),
        fine("content in parts",
             insideGood({chunk(deltaEvent(R"({"content":[{"type":"text","text":"old "}]})"))}),
             "Good old day"),
    };
}
