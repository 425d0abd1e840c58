// SPDX-License-Identifier: Apache-2.0
// Who is let in: 240 requests that a hostile page, a rebound name or a program without a token
// would send (Host x Origin x method x type x token), heads that two readers could take for two
// requests, and the comparison and the files of tokens.
#include "app/serve/access_token.h"
#include "app/serve/gate.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

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
         {"localhost:8642", "[::1]:8642", "host.docker.internal", "HOST.docker.internal:8642"}) {
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
    QTest::addColumn<QByteArray>("host");
    QTest::addColumn<QByteArray>("origin");
    QTest::addColumn<QByteArray>("method");
    QTest::addColumn<QByteArray>("type");
    QTest::addColumn<QByteArray>("token");
    QTest::addColumn<int>("status");
    const char* const hosts[] = {"127.0.0.1:8642", "evil.example:8642", "127.0.0.1:8643",
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
                                 {"Access-Control-Allow-Headers", "Authorization, Content-Type"}};
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
    row("host without port", "host", "127.0.0.1", 421);
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
    QCOMPARE(check(asked), 400);
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
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<int>("status");
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

QTEST_APPLESS_MAIN(TestGate)
#include "tst_gate.moc"
