// SPDX-License-Identifier: Apache-2.0
// Redirects between hosts that a test cannot have: encrypted ones, with the network replaced by a
// list of answers. Where the token goes, and what is refused before anything is asked.
#include "tests/support/program/test_class.h"

#include <QTest>

#include <algorithm>
#include <map>

#include "models/hub/hub_client.h"

namespace hub = models::hub;

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
        hub::HttpHead head = found->second;
        std::string body = "12345";
        if (const std::string range = rangeOf(request); head.status == 200 && !range.empty()) {
            const size_t begin = std::stoul(range.substr(6));
            const size_t end = range.back() == '-' ? body.size() : std::stoul(range.substr(8)) + 1;
            head = {206,
                    {{"content-range",
                      "bytes " + std::to_string(begin) + "-" + std::to_string(end - 1) + "/5"}}};
            body = body.substr(begin, end - begin);
        }
        if (sink.onHead(head) && head.status < 300) {
            sink.onBytes(std::as_bytes(std::span(body.data(), body.size())));
        }
        return {};
    }
    void prepare(const hub::HttpRequest& next) override { prepared.push_back(next); }
    std::vector<hub::HttpRequest> prepared;

private:
    static std::string rangeOf(const hub::HttpRequest& request) {
        const auto found =
            std::find_if(request.headers.begin(), request.headers.end(),
                         [](const hub::HttpHeader& header) { return header.name == "Range"; });
        return found == request.headers.end() ? std::string() : found->value;
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
    void nextRangeGoesDirectly_data();
    void nextRangeGoesDirectly();
    void leadsToEncrypted();
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
    const hub::ListedFile file{"f", nullptr, 5, std::string(64, 'a'), true};
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

void TestRedirects::nextRangeGoesDirectly_data() {
    QTest::addColumn<QByteArrayList>("path"); // as follows_data()
    QTest::addColumn<QByteArray>("second");   // where the second range is asked for
    QTest::addColumn<QByteArray>("tokens");   // of both ranges' requests
    QTest::addColumn<bool>("is_prepared");
    const auto row = [](const char* name, const QByteArrayList& path, const char* second,
                        const char* tokens, bool is_prepared) {
        QTest::newRow(name) << path << QByteArray(second) << QByteArray(tokens) << is_prepared;
    };
    row("the hub's own", {}, kStart.c_str(), "yy", true);
    row("another host", {"https://cdn.example/x"}, "https://cdn.example/x", "ynn", true);
    // What leads back was written by the other host.
    row("and back", {"https://cdn.example/x", "https://hub.example/y"}, "https://hub.example/y",
        "ynnn", true);
    // A renamed file: the hub tells where, each time.
    row("the same host", {"https://hub.example/x"}, kStart.c_str(), "yyyy", false);
}

void TestRedirects::nextRangeGoesDirectly() {
    QFETCH(QByteArrayList, path);
    QFETCH(QByteArray, second);
    QFETCH(QByteArray, tokens);
    QFETCH(bool, is_prepared);
    ScriptedHttp http;
    std::string from = kStart;
    for (const QByteArray& next : path) {
        http.answers[from] = to(next.toStdString());
        from = next.toStdString();
    }
    http.answers[from] = {200, {}};
    hub::HubOptions options;
    options.endpoint = "https://hub.example";
    options.token = "hf_secret";
    auto client = hub::HubClient::create(options, http);
    const hub::ListedFile file{"f", nullptr, 5, std::string(64, 'a'), true};
    std::string bytes;
    hub::FileSink sink;
    sink.begin = [](uint64_t) { return engine::Result<void>(); };
    sink.bytes = [&](std::span<const std::byte> piece) {
        bytes.append(reinterpret_cast<const char*>(piece.data()), piece.size());
        return engine::Result<void>();
    };
    sink.next_end = [] { return uint64_t{5}; };
    QVERIFY(client->read("org/m", "c", file, 0, 2, sink, {}).has_value());
    const size_t num_first = http.asked.size();
    QVERIFY(client->read("org/m", "c", file, 2, 5, sink, {}).has_value());
    QCOMPARE(bytes, std::string("12345"));
    QCOMPARE(http.asked.at(num_first).url, second.toStdString());
    QByteArray sent;
    for (const hub::HttpRequest& request : http.asked) {
        sent += hasToken(request) ? 'y' : 'n';
    }
    QCOMPARE(sent, tokens);
    // What was prepared is what was asked for next, headers and all.
    QCOMPARE(http.prepared.size(), size_t{is_prepared ? 1U : 0U});
    if (is_prepared) {
        QCOMPARE(http.prepared[0].url, http.asked.at(num_first).url);
        QVERIFY(http.prepared[0].headers == http.asked.at(num_first).headers);
    }
}

/// A mirror whose unencrypted address leads to its encrypted one, also for what no other host may
/// answer.
void TestRedirects::leadsToEncrypted() {
    ScriptedHttp http;
    http.answers["http://hub.example/api/x"] = to("https://hub.example/api/x");
    http.answers["https://hub.example/api/x"] = {200, {}};
    http.answers["http://hub.example/api/y"] = to("https://other.example/api/y");
    http.answers["https://other.example/api/y"] = {200, {}};
    hub::HubOptions options;
    options.endpoint = "http://hub.example";
    options.limits.attempts = 1;
    auto client = hub::HubClient::create(options, http);
    QVERIFY(client.has_value());
    const auto same = client->answer("/api/x", client->askedForSearch(), nullptr, {});
    QVERIFY(same.has_value());
    QCOMPARE(*same, std::string("12345"));
    const auto other = client->answer("/api/y", client->askedForSearch(), nullptr, {});
    QVERIFY(!other.has_value());
    QVERIFY(other.error().message.find("another host") != std::string::npos);
}

TEST_CLASS(TestRedirects)
#include "tst_redirects.moc"
