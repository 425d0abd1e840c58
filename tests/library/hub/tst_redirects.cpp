// SPDX-License-Identifier: Apache-2.0
// Redirects between hosts that a test cannot have: encrypted ones, with the network replaced by a
// list of answers. Where the token goes, and what is refused before anything is asked.
#include <QTest>

#include <algorithm>
#include <map>

#include "library/hub/hub_client.h"

namespace hub = library::hub;

namespace {

/// Answers from a table, by address; remembers what was asked.
class ScriptedHttp : public hub::HttpClient {
public:
    std::map<std::string, hub::HttpHead> answers;
    std::vector<hub::HttpRequest> asked;

    hub::HttpEnd
    run(const hub::HttpRequest& request, hub::HttpSink& sink, std::stop_token) override {
        asked.push_back(request);
        const auto found = answers.find(request.url);
        if (found == answers.end()) {
            return {hub::HttpEnd::Kind::NoHost};
        }
        if (sink.onHead(found->second) && found->second.status == 200) {
            const std::string body = "12345";
            sink.onBytes(std::as_bytes(std::span(body.data(), body.size())));
        }
        return {};
    }
};

bool hasToken(const hub::HttpRequest& request) {
    return std::any_of(
        request.headers.begin(), request.headers.end(),
        [](const hub::HttpHeader& header) { return header.name == "Authorization"; });
}

hub::HttpHead to(const std::string& location) {
    return {302, {{"location", location}}};
}

const std::string kStart = "https://hub.example/org/m/resolve/c/f";

} // namespace

class TestRedirects : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void follows_data();
    void follows();
};

void TestRedirects::follows_data() {
    QTest::addColumn<QByteArrayList>("path"); // what leads to what, from kStart
    QTest::addColumn<QByteArray>("tokens");   // a letter for each request
    QTest::addColumn<bool>("is_done");
    const auto row = [](const char* name, const QByteArrayList& path, const char* tokens,
                        bool is_done) {
        QTest::newRow(name) << path << QByteArray(tokens) << is_done;
    };
    row("none", {}, "y", true);
    row("the same host", {"https://hub.example/x"}, "yy", true);
    row("another host", {"https://cdn.example/x"}, "yn", true);
    row("another port", {"https://hub.example:8443/x"}, "yn", true);
    row("a part of the same name", {"https://hub.example.evil.example/x"}, "yn", true);
    row("and back", {"https://cdn.example/x", "https://hub.example/y"}, "ynn", true);
    row("unencrypted", {"http://cdn.example/x"}, "y", false);
    row("unencrypted, the same host", {"http://hub.example/x"}, "y", false);
    row("later unencrypted", {"https://cdn.example/x", "http://hub.example/y"}, "yn", false);
}

void TestRedirects::follows() {
    QFETCH(QByteArrayList, path);
    QFETCH(QByteArray, tokens);
    QFETCH(bool, is_done);
    ScriptedHttp http;
    std::string from = kStart;
    for (const QByteArray& next : path) {
        http.answers[from] = to(next.toStdString());
        from = next.toStdString();
    }
    http.answers[from] = {200, {{"content-length", "5"}}};
    hub::HubOptions options;
    options.endpoint = "https://hub.example";
    options.token = "hf_secret";
    auto client = hub::HubClient::create(options, http);
    QVERIFY(client.has_value());
    const hub::ListedFile file{"f", 5, std::string(64, 'a'), true};
    std::string bytes;
    const hub::FileSink sink{[](uint64_t) { return engine::Result<void>(); },
                             [&](std::span<const std::byte> piece) {
                                 bytes.append(reinterpret_cast<const char*>(piece.data()),
                                              piece.size());
                                 return engine::Result<void>();
                             }};
    const auto outcome = client->read("org/m", "c", file, 0, 0, sink, {});
    QCOMPARE(outcome.has_value(), is_done);
    QCOMPARE(bytes, std::string(is_done ? "12345" : ""));
    QByteArray sent;
    for (const hub::HttpRequest& request : http.asked) {
        sent += hasToken(request) ? 'y' : 'n';
    }
    QCOMPARE(sent, tokens);
    if (!is_done) {
        QVERIFY(outcome.error().message.find("not encrypted") != std::string::npos);
    }
}

QTEST_APPLESS_MAIN(TestRedirects)
#include "tst_redirects.moc"
