// SPDX-License-Identifier: Apache-2.0
// Who is let in: 240 requests that a hostile page, a rebound name or a program without a token
// would send (Host x Origin x method x type x token), heads that two readers could take for two
// requests, and the comparison and the files of tokens.
#include "app/serve/access_token.h"
#include "app/serve/gate.h"
#include "app/serve/own_names.h"
#include "tests/support/program/test_class.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <map>
#include <set>

using namespace serve;

namespace {

const std::string kToken = "bf-0123456789abcdef0123456789abcdef";

GateRules rules() {
    GateRules rules;
    rules.tokens = {"bf-another-token-of-another-program", kToken};
    rules.hosts = {"host.docker.internal"};
    rules.origins = {"http://localhost:3000"};
    rules.most_body_bytes = 1000;
    return rules;
}

HttpHead head(const char* method, const char* target) {
    HttpHead out;
    out.method = method;
    out.target = target;
    out.local_address = "127.0.0.1";
    out.local_port = 8642;
    return out;
}

/// One that is let in.
HttpHead rightHead() {
    HttpHead out = head("POST", "/v1/chat/completions");
    out.fields = {{"host", "127.0.0.1:8642"},
                  {"authorization", "Bearer " + kToken},
                  {"content-type", "application/json"},
                  {"content-length", "10"}};
    return out;
}

int statusOf(const std::variant<HttpAnswer, Admission>& verdict) {
    const auto* answer = std::get_if<HttpAnswer>(&verdict);
    return answer == nullptr ? 0 : answer->status;
}

int check(const HttpHead& asked) {
    Gate gate(rules());
    return statusOf(gate.check(asked, Gate::Clock::now()));
}

} // namespace

class TestGate : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void letsIn();
    void hostile_data();
    void hostile();
    void pages();
    void preflights_data();
    void preflights();
    void namesOfPages_data();
    void namesOfPages();
    void namesOfHosts();
    void paths();
    void heads_data();
    void heads();
    void rawHeads_data();
    void rawHeads();
    void wrongTokensWait();
    void comparesTokens();
    void tokenFiles();
};

void TestGate::letsIn() {
    Gate gate(rules());
    const auto verdict = gate.check(rightHead(), Gate::Clock::now());
    QVERIFY(std::holds_alternative<Admission>(verdict));
    QCOMPARE(std::get<Admission>(verdict).token, size_t{1});
    QVERIFY(std::get<Admission>(verdict).fields.empty()); // no CORS for who is no page
    for (const char* host :
         {"localhost:8642", "[::1]:8642", "host.docker.internal", "HOST.docker.internal:8642",
          // Without the port that a scheme has anyway, behind proxies with ports of their own.
          "localhost", "LOCALHOST.", "localhost.:8642", "127.0.0.1", "127.0.0.1:80",
          "127.0.0.1:443", "127.0.0.1:", "127.8.9.1:1234", "[::1]", "[0:0:0:0:0:0:0:1]:443",
          "[::ffff:127.0.0.1]", "host.docker.internal:443", "Host.Docker.Internal."}) {
        HttpHead asked = rightHead();
        asked.fields[0].second = host;
        QVERIFY2(check(asked) == 0, host);
    }
    // Nothing secret is behind these.
    for (const char* path : {"/health", "/v1/health", "/"}) {
        HttpHead asked = head("GET", path);
        asked.fields = {{"host", "127.0.0.1:8642"}};
        QVERIFY2(check(asked) == 0, path);
    }
}

void TestGate::hostile_data() {
    support::addColumns<QByteArray, QByteArray, QByteArray, QByteArray, QByteArray, int>(
        "host", "origin", "method", "type", "token", "status");
    const char* const hosts[] = {"127.0.0.1:8642", "evil.example:8642", "127.0.0.1.evil:8642",
                                 "localhost.evil:8642", "10.0.0.7:8642"};
    const char* const origins[] = {"", "https://evil.example", "null", "http://localhost:8642"};
    const char* const methods[] = {"POST", "OPTIONS"};
    const char* const types[] = {"application/json", "text/plain",
                                 "application/x-www-form-urlencoded"};
    const QByteArray tokens[] = {QByteArray::fromStdString(kToken), QByteArray("wrong-token")};
    for (const char* host : hosts) {
        for (const char* origin : origins) {
            for (const char* method : methods) {
                for (const char* type : types) {
                    for (const QByteArray& token : tokens) {
                        const bool is_right = host == hosts[0] && origin == origins[0] &&
                                              method == methods[0] && type == types[0] &&
                                              token == tokens[0];
                        const int status = is_right               ? 0
                                           : host != hosts[0]     ? 421
                                           : origin != origins[0] ? 403
                                           : method != methods[0] ? 403
                                           : token != tokens[0]   ? 401
                                                                  : 415;
                        QTest::addRow("%s | %s | %s | %s | %s", host, origin, method, type,
                                      token == tokens[0] ? "token" : "no token")
                            << QByteArray(host) << QByteArray(origin) << QByteArray(method)
                            << QByteArray(type) << token << status;
                    }
                }
            }
        }
    }
}

void TestGate::hostile() {
    QFETCH(QByteArray, host);
    QFETCH(QByteArray, origin);
    QFETCH(QByteArray, method);
    QFETCH(QByteArray, type);
    QFETCH(QByteArray, token);
    QFETCH(int, status);
    HttpHead asked = head(method.constData(), "/v1/chat/completions");
    asked.fields = {{"host", host.toStdString()},
                    {"content-type", type.toStdString()},
                    {"authorization", "Bearer " + token.toStdString()},
                    {"content-length", "2"}};
    if (!origin.isEmpty()) {
        asked.fields.emplace_back("origin", origin.toStdString());
    }
    Gate gate(rules());
    const auto verdict = gate.check(asked, Gate::Clock::now());
    QCOMPARE(statusOf(verdict), status);
    if (status != 0) {
        const auto& answer = std::get<HttpAnswer>(verdict);
        for (const auto& [name, value] : answer.fields) {
            QVERIFY2(!name.starts_with("Access-Control"), name.c_str());
        }
        QVERIFY(answer.body.find("\"error\"") != std::string::npos);
    }
}

void TestGate::pages() {
    HttpHead asked = head("OPTIONS", "/v1/chat/completions");
    asked.fields = {{"host", "127.0.0.1:8642"}, {"origin", "http://localhost:3000"}};
    Gate gate(rules());
    const auto preflight = gate.check(asked, Gate::Clock::now());
    QCOMPARE(statusOf(preflight), 204);
    const HttpFields fields = std::get<HttpAnswer>(preflight).fields;
    const HttpFields expected = {{"Access-Control-Allow-Origin", "http://localhost:3000"},
                                 {"Vary", "Origin"},
                                 {"Access-Control-Allow-Methods", "GET, POST"},
                                 {"Access-Control-Allow-Headers", "Authorization, Content-Type"},
                                 {"Access-Control-Max-Age", "600"},
                                 {"Vary", "Access-Control-Request-Method, "
                                          "Access-Control-Request-Headers"}};
    QCOMPARE(fields == expected, true);

    asked = rightHead();
    asked.fields.emplace_back("origin", "http://localhost:3000");
    asked.fields.emplace_back("sec-fetch-site", "cross-site");
    const auto verdict = gate.check(asked, Gate::Clock::now());
    QVERIFY(std::holds_alternative<Admission>(verdict));
    QCOMPARE(std::get<Admission>(verdict).fields[0].second, std::string("http://localhost:3000"));

    // A page that may ask may read why it was refused, too.
    asked.fields.emplace_back("content-encoding", "gzip");
    const auto packed = gate.check(asked, Gate::Clock::now());
    QCOMPARE(statusOf(packed), 415);
    QCOMPARE(std::get<HttpAnswer>(packed).fields ==
                 HttpFields(expected.begin(), expected.begin() + 2),
             true);
    std::erase_if(asked.fields, [](const auto& field) { return field.first == "authorization"; });
    const auto unknown = gate.check(asked, Gate::Clock::now());
    QCOMPARE(statusOf(unknown), 401);
    QCOMPARE(std::get<HttpAnswer>(unknown).fields.front(), expected.front());

    asked = rightHead();
    asked.fields.emplace_back("sec-fetch-site", "cross-site"); // a form without Origin
    QCOMPARE(check(asked), 403);
}

void TestGate::preflights_data() {
    support::addColumns<QByteArray, QByteArray>("asked", "allowed");
    const auto row = [](const char* what, const QByteArray& asked, const QByteArray& allowed) {
        QTest::newRow(what) << asked << allowed;
    };
    row("OpenAI's client", "authorization,content-type,x-stainless-arch,x-stainless-lang",
        "authorization, content-type, x-stainless-arch, x-stainless-lang");
    row("blanks", " http-referer ,\tx-title", "http-referer, x-title");
    row("no names", " , ,", "Authorization, Content-Type");
    row("not names", "x-a, b c, d:e, \xc3\xa4, x-b", "x-a, x-b");
    row("too many", QByteArray("a,").repeated(500), QByteArray("a, ").repeated(64).chopped(2));
    row("too long", "a," + QByteArray(5000, 'b'), "a");
}

/// Clients send fields of their own, and a browser stops where one of them is not allowed.
void TestGate::preflights() {
    QFETCH(QByteArray, asked);
    HttpHead preflight = head("OPTIONS", "/v1/chat/completions");
    preflight.fields = {{"host", "127.0.0.1:8642"},
                        {"origin", "http://localhost:3000"},
                        {"access-control-request-method", "POST"},
                        {"access-control-request-private-network", "true"},
                        {"access-control-request-headers", asked.toStdString()}};
    Gate gate(rules());
    const auto verdict = gate.check(preflight, Gate::Clock::now());
    QCOMPARE(statusOf(verdict), 204);
    std::map<std::string, std::string> fields;
    for (const auto& [name, value] : std::get<HttpAnswer>(verdict).fields) {
        fields[name] += fields[name].empty() ? value : ", " + value;
    }
    QTEST(QByteArray::fromStdString(fields["Access-Control-Allow-Headers"]), "allowed");
    QVERIFY(fields["Vary"].find("Access-Control-Request-Headers") != std::string::npos);
    QCOMPARE(fields["Access-Control-Allow-Private-Network"], std::string("true"));
    preflight.fields[1].second = "https://evil.example";
    QCOMPARE(check(preflight), 403);
}

void TestGate::namesOfPages_data() {
    QTest::addColumn<QByteArray>("origin"); ///< Empty: refused.
    QTest::addColumn<QByteArray>("says");
    const auto row = [](const char* word, const char* origin, const char* says = "") {
        QTest::newRow(word) << QByteArray(origin) << QByteArray(says);
    };
    row("http://localhost:3000", "http://localhost:3000");
    row("http://localhost:3000/", "http://localhost:3000");
    row("HTTP://LocalHost:3000//", "http://localhost:3000");
    row("https://example.org:443", "https://example.org");
    row("http://example.org:80/", "http://example.org");
    row("http://example.org:443", "http://example.org:443");
    row("http://[0:0::1]:3000", "http://[::1]:3000");
    row("app://obsidian.md", "app://obsidian.md");
    row("vscode-webview://ABC", "vscode-webview://ABC");
    row("tauri://localhost", "tauri://localhost");
    row("file://", "file://");
    row("null", "null");
    row("*", "", "every page");
    row("http://*.example.org", "", "every page");
    row("localhost:3000", "", "no scheme");
    row("example.org", "", "no scheme");
    row("//example.org", "", "no scheme");
    row("http://localhost:3000/app", "", "expected http://localhost:3000");
    row("https://Example.org/#x", "", "expected https://example.org");
    row("http://user@example.org", "", "no browser");
    row("http://example.org:99999", "", "no browser");
    row("http://", "", "no browser");
    row("http://b\xc3\xbc"
        "cher.example",
        "", "xn--");
    row("http://a b", "", "no browser");
    row("", "", "no scheme");
}

void TestGate::namesOfPages() {
    QFETCH(QByteArray, origin);
    QFETCH(QByteArray, says);
    const std::string word = QTest::currentDataTag();
    const auto read = allowedOrigin(word);
    QCOMPARE(QByteArray::fromStdString(read.has_value() ? *read : ""), origin);
    if (!read.has_value()) {
        const QByteArray told = QByteArray::fromStdString(read.error().message);
        QVERIFY2(told.contains(says) && told.startsWith("--allow-origin "), told.constData());
    }
}

void TestGate::namesOfHosts() {
    for (const char* word : {"belfry.example", "BELFRY.example.", "belfry.example:443",
                             "https://belfry.example/", "http://belfry.example:8642"}) {
        QCOMPARE(allowedHost(word).value(), std::string("belfry.example"));
    }
    QCOMPARE(allowedHost("[fe80:0::1%eth0]:80").value(), std::string("fe80::1"));
    QCOMPARE(allowedHost("fe80::1").value(), std::string("fe80::1"));
    for (const char* word : {"*", "*.example", "a/b", "http://a/b", "a b", "", "a:b", "a@b"}) {
        QVERIFY2(!allowedHost(word).has_value(), word);
    }
    // For other computers the address that they reached it at counts, with any port.
    HttpHead asked = rightHead();
    asked.local_address = "192.168.0.7";
    for (const auto& [host, status] :
         {std::pair("192.168.0.7", 0), std::pair("192.168.0.7:443", 0), std::pair("localhost", 421),
          std::pair("127.0.0.1:8642", 421), std::pair("192.168.0.8", 421)}) {
        asked.fields[0].second = host;
        QCOMPARE(check(asked), status);
    }
}

void TestGate::paths() {
    for (const auto& [target, status] :
         {std::pair("/v1/models", 0), std::pair("/v1/models/", 0), std::pair("//v1/models", 0),
          std::pair("/v1//models?x=//", 0), std::pair("/v1/models/a/b", 0),
          std::pair("http://127.0.0.1:8642/v1/models", 0),
          std::pair("http://localhost//v1/models/", 0),
          std::pair("http://evil.example/v1/models", 421),
          std::pair("http://user@localhost/v1/models", 421), std::pair("v1/models", 400),
          std::pair("localhost:8642", 400), std::pair("/models", 404)}) {
        HttpHead asked = head("GET", target);
        asked.fields = {{"host", "127.0.0.1:8642"}, {"authorization", "Bearer " + kToken}};
        QVERIFY2(check(asked) == status, target);
    }
    HttpHead foreign = head("GET", "http://localhost/v1/models");
    foreign.fields = {{"host", "evil.example"}, {"authorization", "Bearer " + kToken}};
    QCOMPARE(check(foreign), 421);
}

void TestGate::heads_data() {
    QTest::addColumn<QByteArray>("name");
    QTest::addColumn<QByteArray>("value"); ///< "-": the field is taken out
    QTest::addColumn<int>("status");
    const auto row = [](const char* what, const char* name, const char* value, int status) {
        QTest::newRow(what) << QByteArray(name) << QByteArray(value) << status;
    };
    row("no host", "host", "-", 400);
    row("two hosts", "+host", "127.0.0.1:8642", 400);
    row("no token", "authorization", "-", 401);
    row("token of another scheme", "authorization", "Basic YTpi", 401);
    row("token without scheme", "authorization", kToken.c_str(), 401);
    row("beginning of a token", "authorization", "Bearer bf-0123456789abcdef", 401);
    row("token and more", "authorization", ("Bearer " + kToken + "x").c_str(), 401);
    row("two tokens", "+authorization", "Bearer x", 400);
    row("scheme in small letters", "authorization", ("bearer " + kToken).c_str(), 0);
    row("no type", "content-type", "-", 415);
    row("type with charset", "content-type", "application/json; charset=utf-8", 0);
    row("type in capitals", "content-type", "Application/JSON", 0);
    row("type that begins so", "content-type", "application/jsonp", 415);
    row("compressed", "+content-encoding", "gzip", 415);
    row("too large", "content-length", "1001", 413);
    row("much too large", "content-length", "99999999999999999999999", 413);
    row("as large as may be", "content-length", "1000", 0);
    row("negative length", "content-length", "-1", 400);
    row("hexadecimal length", "content-length", "0x10", 400);
    row("two lengths", "+content-length", "10", 400);
    row("length and chunks", "+transfer-encoding", "chunked", 400);
    row("expectation", "+expect", "100-continue", 0);
    row("another expectation", "+expect", "payment", 417);
    row("host with a path", "host", "127.0.0.1:8642/x", 421);
    row("host with a user", "host", "a@127.0.0.1:8642", 421);
    row("host without port", "host", "127.0.0.1", 0);
    row("host with a port that is none", "host", "127.0.0.1:x", 421);
    row("host with two ports", "host", "127.0.0.1:1:2", 421);
    row("host with half a bracket", "host", "[::1", 421);
    row("a name below localhost", "host", "localhost.evil.example", 421);
    row("a name that looks like an address", "host", "127.0.0.1.evil.example", 421);
    row("an empty host", "host", "", 421);
    row("host with a blank", "host", "127.0.0.1:8642 evil", 421);
    row("same site, no origin", "+sec-fetch-site", "same-site", 403);
    row("typed by the user", "+sec-fetch-site", "none", 0);
}

void TestGate::heads() {
    QFETCH(QByteArray, name);
    QFETCH(QByteArray, value);
    HttpHead asked = rightHead();
    if (name.startsWith('+')) {
        asked.fields.emplace_back(name.mid(1).toStdString(), value.toStdString());
    } else {
        std::erase_if(asked.fields,
                      [&](const auto& field) { return field.first == name.toStdString(); });
        if (value != "-") {
            asked.fields.emplace_back(name.toStdString(), value.toStdString());
        }
    }
    QTEST(check(asked), "status");
    // Unknown paths and methods, with a right token.
    asked = rightHead();
    asked.target = "/v1/embeddings";
    QCOMPARE(check(asked), 404);
    asked.target = "http://127.0.0.1:8642/v1/models";
    QCOMPARE(check(asked), 405);
    asked.target = "/v1/chat/completions?key=1";
    QCOMPARE(check(asked), 0);
    asked.method = "GET";
    QCOMPARE(check(asked), 405);
    // In front of the token nobody learns which paths there are.
    asked = head("GET", "/v1/embeddings");
    asked.fields = {{"host", "127.0.0.1:8642"}};
    QCOMPARE(check(asked), 401);
}

void TestGate::rawHeads_data() {
    support::addColumns<QByteArray, int>("text", "status");
    const QByteArray line = "GET / HTTP/1.1\r\n";
    QTest::newRow("right") << line + "Host: a\r\nX: b\tc\r\n\r\n" << 0;
    QTest::newRow("folded") << line + "Host: a\r\n b\r\n\r\n" << 400;
    QTest::newRow("folded by a tab") << line + "Host: a\r\n\tb\r\n\r\n" << 400;
    QTest::newRow("bare line feed") << line + "Host: a\nX: b\r\n\r\n" << 400;
    QTest::newRow("bare return") << line + "Host: a\rX: b\r\n\r\n" << 400;
    QTest::newRow("zero byte") << line + QByteArray("Host: a\0b\r\n\r\n", 12) << 400;
    QTest::newRow("escape") << line + "Host: a\x1b[0m\r\n\r\n" << 400;
    QTest::newRow("long line") << "GET /" + QByteArray(9000, 'a') + " HTTP/1.1\r\n\r\n" << 414;
    QByteArray many = line;
    for (int i = 0; i < 65; ++i) {
        many += "A: b\r\n";
    }
    QTest::newRow("65 fields") << many + "\r\n" << 431;
    QTest::newRow("64 fields") << many.chopped(6) + "\r\n" << 0;
}

void TestGate::rawHeads() {
    QFETCH(QByteArray, text);
    const auto refused = checkRawHead(std::string_view(text.constData(), size_t(text.size())));
    QTEST(refused.has_value() ? refused->status : 0, "status");
}

void TestGate::wrongTokensWait() {
    Gate gate(rules());
    HttpHead asked = rightHead();
    asked.fields[1].second = "Bearer wrong";
    const auto start = Gate::Clock::now();
    const auto delay = [&](std::chrono::seconds after) {
        return std::get<HttpAnswer>(gate.check(asked, start + after)).delay.count();
    };
    for (int i = 0; i < 10; ++i) {
        QCOMPARE(delay(std::chrono::seconds(i)), 0);
    }
    QCOMPARE(delay(std::chrono::seconds(10)), 1000);
    // Who has a token does not wait for who has none.
    QCOMPARE(statusOf(gate.check(rightHead(), start + std::chrono::seconds(10))), 0);
    QCOMPARE(delay(std::chrono::seconds(120)), 0);
}

void TestGate::comparesTokens() {
    const std::vector<std::string> tokens = {"abcdefgh", "abcdefgi"};
    QCOMPARE(findToken(tokens, "abcdefgh").value_or(9), size_t{0});
    QCOMPARE(findToken(tokens, "abcdefgi").value_or(9), size_t{1});
    for (const char* wrong : {"", "abcdefg", "abcdefghabcdefgh", "abcdefgj", "Abcdefgh"}) {
        QVERIFY2(!findToken(tokens, wrong).has_value(), wrong);
    }
    QVERIFY(!findToken({}, "a").has_value());
    QVERIFY(!findToken({""}, "").has_value());
    std::set<std::string> made;
    for (int i = 0; i < 1000; ++i) {
        const std::string token = makeToken();
        QVERIFY(token.starts_with("bf-"));
        QCOMPARE(token.size(), size_t{46});
        made.insert(token);
    }
    QCOMPARE(made.size(), size_t{1000});
}

void TestGate::tokenFiles() {
    QTemporaryDir folder;
    const auto path = [&](const char* name) {
        return std::filesystem::path(folder.filePath(QLatin1String(name)).toStdU16String());
    };
    const auto save = [&](const char* name, const QByteArray& text) {
        QFile file(folder.filePath(QLatin1String(name)));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.setPermissions(QFileDevice::ReadOwner | QFileDevice::WriteOwner);
        file.write(text);
    };
    const auto fresh = tokensOf(path("fresh"));
    QVERIFY(fresh.has_value());
    QCOMPARE(fresh->size(), size_t{1});
    QCOMPARE(tokensOf(path("fresh")).value(), fresh.value());
#ifndef _WIN32
    QCOMPARE(std::filesystem::status(path("fresh")).permissions(),
             std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    std::filesystem::permissions(path("fresh"), std::filesystem::perms(0644));
    QVERIFY(tokensOf(path("fresh")).error().message.find("chmod 600") != std::string::npos);
#endif
    save("two", "first-token-of-mine\r\n\nsecond-token-of-mine");
    QCOMPARE(tokensOf(path("two")).value(),
             (std::vector<std::string>{"first-token-of-mine", "second-token-of-mine"}));
    save("short", "first-token-of-mine\nshort\n");
    QVERIFY(tokensOf(path("short")).error().message.find("line 2") != std::string::npos);
    save("empty", "\n\n");
    QVERIFY(tokensOf(path("empty")).error().message.find("empty") != std::string::npos);
    QVERIFY(!tokensOf(path("no/such/folder")).has_value());
}

TEST_CLASS(TestGate)
#include "tst_gate.moc"
