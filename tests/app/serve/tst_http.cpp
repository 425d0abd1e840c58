// SPDX-License-Identifier: Apache-2.0
// The server on real sockets with a handler of the test's: half requests and slow ones, several on
// one connection, bodies in chunks, heads and bodies beyond their limits, clients that go away or
// do not read, more connections than there may be, random bytes; how it ends.
#include "app/serve/http_server.h"
#include "tests/support/program/test_class.h"
#include "tests/support/serve/raw_client.h"

#include <QRandomGenerator>
#include <QTest>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

using namespace serve;
using namespace std::chrono_literals;

namespace {

/// Answers with what it was asked; "/stream" in pieces, "/later" never, "/refused" at the head.
class Echo final : public Handler {
public:
    std::variant<HttpAnswer, Admission> onHead(const HttpHead& head) override {
        ++heads;
        if (head.path() == "/refused") {
            HttpAnswer answer;
            answer.status = 403;
            answer.body = "no";
            return answer;
        }
        if (head.path() == "/delayed") {
            HttpAnswer answer;
            answer.status = 401;
            answer.delay = 600ms;
            return answer;
        }
        Admission admission;
        admission.has_token = head.path() != "/open";
        admission.fields = {{"X-Admitted", "yes"}};
        return admission;
    }

    void onRequest(HttpRequest request, std::shared_ptr<Exchange> exchange) override {
        ++requests;
        exchange->onGone([this] { ++gone; });
        if (request.head.path() == "/later") {
            const std::lock_guard lock(mutex);
            kept.push_back(exchange);
            return;
        }
        if (request.head.path() == "/stream") {
            HttpAnswer head;
            head.content_type = "text/event-stream";
            exchange->begin(head);
            for (const char* piece : {"one ", "two ", "three"}) {
                exchange->send(piece);
            }
            exchange->finish();
            return;
        }
        if (request.head.path() == "/flood") {
            exchange->begin({});
            for (int i = 0; i < 64; ++i) {
                exchange->send(std::string(size_t{1} << 20U, 'x'));
            }
            return;
        }
        HttpAnswer answer;
        answer.content_type = "text/plain";
        answer.body = request.head.method + " " + request.head.target + " " + request.body;
        exchange->answer(std::move(answer));
    }

    void onTick() override { ++ticks; }

    std::atomic<int> heads{0}, requests{0}, gone{0}, ticks{0};
    std::mutex mutex;
    std::vector<std::shared_ptr<Exchange>> kept;
};

ServerLimits quickLimits() {
    ServerLimits limits;
    limits.most_body_bytes = 100'000;
    limits.most_connections = 20;
    limits.fresh_time = 1000ms;
    limits.head_time = 700ms;
    limits.body_time = 700ms;
    limits.idle_time = 1500ms;
    limits.write_time = 700ms;
    limits.linger_time = 500ms;
    return limits;
}

struct Fixture {
    explicit Fixture(const ServerLimits& limits = quickLimits())
        : server(HttpServer::open({"127.0.0.1"}, 0, limits, echo).value()), port(server->port()) {}
    Echo echo;
    std::unique_ptr<HttpServer> server;
    uint16_t port;
};

std::string post(const std::string& path, const std::string& body) {
    return "POST " + path +
           " HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
           body;
}

const std::string kGet = "GET /x HTTP/1.1\r\nHost: a\r\n\r\n";

} // namespace

class TestHttp : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void answers();
    void oneConnection();
    void bodies();
    void stream();
    void oldClients();
    void refusedAtTheHead();
    void limits_data();
    void limits();
    void slow_data();
    void slow();
    void clientsGoAway_data();
    void clientsGoAway();
    void halfClosed_data();
    void halfClosed();
    void chunks_data();
    void chunks();
    void endlessWords_data();
    void endlessWords();
    void strangersGiveWay();
    void doesNotRead();
    void tooMany();
    void randomBytes();
    void addresses();
    void ends();
};

void TestHttp::answers() {
    Fixture f;
    QVERIFY(f.port != 0);
    support::RawClient client(f.port);
    client.send(kGet);
    const auto answer = client.answer(10s);
    QCOMPARE(answer.status, 200);
    QCOMPARE(answer.body, std::string("GET /x "));
    QCOMPARE(answer.fields.at("x-admitted"), std::string("yes"));
    QCOMPARE(answer.fields.at("cache-control"), std::string("no-store"));
    QCOMPARE(answer.fields.at("x-content-type-options"), std::string("nosniff"));
    QCOMPARE(answer.fields.at("connection"), std::string("keep-alive"));
    client.send("HEAD /x HTTP/1.1\r\nHost: a\r\n\r\n");
    const auto head = client.answer(10s, true);
    QCOMPARE(head.status, 200);
    QCOMPARE(head.fields.at("content-length"), std::string("8"));
    QVERIFY(client.pending().empty());
}

void TestHttp::oneConnection() {
    Fixture f;
    support::RawClient client(f.port);
    // Three at once, with a line end too much behind a body; answers come in their order.
    client.send(post("/1", "a") + "\r\n" + kGet + post("/3", "ccc"));
    QCOMPARE(client.answer(10s).body, std::string("POST /1 a"));
    QCOMPARE(client.answer(10s).body, std::string("GET /x "));
    QCOMPARE(client.answer(10s).body, std::string("POST /3 ccc"));
    for (int i = 0; i < 200; ++i) {
        client.send(post("/n", std::to_string(i)));
        QCOMPARE(client.answer(10s).body, "POST /n " + std::to_string(i));
    }
    client.send("GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    QCOMPARE(client.answer(10s).fields.at("connection"), std::string("close"));
    QVERIFY(client.isClosedWithin(10s));
}

void TestHttp::bodies() {
    Fixture f;
    support::RawClient client(f.port);
    const std::string large(99'000, 'b');
    client.send(post("/large", large));
    QCOMPARE(client.answer(10s).body, "POST /large " + large);
    client.send("POST /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
    std::this_thread::sleep_for(50ms);
    client.send("2;x=y\r\nde\r\n0\r\n\r\n");
    QCOMPARE(client.answer(10s).body, std::string("POST /c abcde"));
    // Byte by byte.
    for (const char c : post("/slow", "xyz")) {
        client.send(std::string(1, c));
    }
    QCOMPARE(client.answer(10s).body, std::string("POST /slow xyz"));
    client.send("POST /e HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
    QVERIFY(client.waitFor("HTTP/1.1 100 Continue\r\n\r\n", 10s));
    static_cast<void>(client.answer(0ms)); // that one
    client.send("ok");
    QVERIFY(client.waitFor("POST /e ok", 10s));
}

void TestHttp::stream() {
    Fixture f;
    support::RawClient client(f.port);
    client.send("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n");
    const auto answer = client.answer(10s);
    QVERIFY(answer.is_whole);
    QCOMPARE(answer.fields.at("transfer-encoding"), std::string("chunked"));
    QCOMPARE(answer.body, std::string("one two three"));
    client.send(kGet); // and the connection goes on
    QCOMPARE(client.answer(10s).status, 200);
}

void TestHttp::oldClients() {
    Fixture f;
    support::RawClient client(f.port);
    client.send("GET /stream HTTP/1.0\r\nHost: a\r\n\r\n");
    QVERIFY(client.isClosedWithin(10s));
    QVERIFY(client.pending().ends_with("\r\n\r\none two three"));
}

void TestHttp::refusedAtTheHead() {
    Fixture f;
    support::RawClient client(f.port);
    // Nothing of the body is waited for; what was sent of it does not hide the answer.
    client.send("POST /refused HTTP/1.1\r\nHost: a\r\nContent-Length: 90000\r\n\r\n" +
                std::string(60'000, 'x'));
    const auto answer = client.answer(10s);
    QCOMPARE(answer.status, 403);
    QCOMPARE(answer.fields.at("connection"), std::string("close"));
    QVERIFY(client.isClosedWithin(10s));
    QCOMPARE(f.echo.requests.load(), 0);
    support::RawClient kept(f.port);
    kept.send("GET /refused HTTP/1.1\r\nHost: a\r\n\r\n");
    QCOMPARE(kept.answer(10s).fields.at("connection"), std::string("keep-alive"));
    const auto before = std::chrono::steady_clock::now();
    kept.send("GET /delayed HTTP/1.1\r\nHost: a\r\n\r\n");
    QCOMPARE(kept.answer(10s).status, 401);
    QVERIFY(std::chrono::steady_clock::now() - before >= 600ms);
}

void TestHttp::limits_data() {
    support::addColumns<QByteArray, int>("text", "status");
    const QByteArray line = "POST /x HTTP/1.1\r\nHost: a\r\n";
    QTest::newRow("no HTTP") << QByteArray("hello\r\n\r\n") << 400;
    QTest::newRow("TLS") << QByteArray("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11) << 400;
    QTest::newRow("SSL 2") << QByteArray("\x80\x2e\x01\x03\x01", 5) << 400;
    QTest::newRow("announced too large") << line + "Content-Length: 100001\r\n\r\n" << 413;
    QTest::newRow("HTTP/2") << QByteArray("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") << 400;
    QTest::newRow("head without end") << line + "X: " + QByteArray(20'000, 'x') << 431;
    QTest::newRow("head too large") << line + "X: " + QByteArray(17'000, 'x') + "\r\n\r\n" << 431;
    QTest::newRow("chunks too large")
        << line + "Transfer-Encoding: chunked\r\n\r\n20000\r\n" + QByteArray(0x20000, 'x') + "\r\n"
        << 413;
    QTest::newRow("chunk of no size") << line + "Transfer-Encoding: chunked\r\n\r\nxyz\r\nabc\r\n"
                                      << 400;
    QTest::newRow("chunk of huge size")
        << line + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\nabc\r\n"
        << 400;
    QTest::newRow("negative length") << line + "Content-Length: -5\r\n\r\n" << 400;
    QTest::newRow("huge length") << line + "Content-Length: 99999999999999999999\r\n\r\n" << 400;
    QTest::newRow("blank before colon") << line + "X : y\r\n\r\n" << 400;
    QTest::newRow("folded") << line + "X: y\r\n z\r\n\r\n" << 400;
}

void TestHttp::limits() {
    QFETCH(QByteArray, text);
    Fixture f;
    support::RawClient client(f.port);
    client.send(text.toStdString());
    QTEST(client.answer(10s).status, "status");
    QVERIFY(client.isClosedWithin(10s));
    QCOMPARE(f.echo.requests.load(), 0);
}

void TestHttp::slow_data() {
    support::addColumns<QByteArray, int>("text", "status");
    QTest::newRow("nothing") << QByteArray() << 0;
    QTest::newRow("half a head") << QByteArray("GET /x HTTP/1.1\r\nHost") << 408;
    QTest::newRow("half a body")
        << QByteArray("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc") << 408;
}

void TestHttp::slow() {
    QFETCH(QByteArray, text);
    Fixture f;
    support::RawClient client(f.port);
    client.send(text.toStdString());
    QTEST(client.answer(10s).status, "status");
    QVERIFY(client.isClosedWithin(10s));
    QCOMPARE(f.echo.requests.load(), 0);
    // A byte now and then does not help.
    support::RawClient dripping(f.port);
    bool is_closed = false;
    for (int i = 0; i < 40 && !is_closed; ++i) {
        is_closed = !dripping.send("G") || dripping.waitFor("408", 100ms);
    }
    QVERIFY(is_closed);
}

void TestHttp::clientsGoAway_data() {
    QTest::addColumn<QByteArray>("behind"); ///< Its request.
    QTest::addColumn<bool>("is_reset");
    for (const bool is_reset : {false, true}) {
        const char* const how = is_reset ? "resets" : "ends";
        QTest::addRow("nothing behind, %s", how) << QByteArray() << is_reset;
        QTest::addRow("a line end, %s", how) << QByteArray("\r\n") << is_reset;
        QTest::addRow("half a request, %s", how) << QByteArray("GET /x HT") << is_reset;
        QTest::addRow("a request, %s", how) << QByteArray::fromStdString(kGet) << is_reset;
        QTest::addRow("a request with a body, %s", how)
            << QByteArray::fromStdString(post("/x", std::string(20'000, 'x'))) << is_reset;
        QTest::addRow("more than is read ahead, %s", how)
            << QByteArray::fromStdString(post("/x", std::string(99'000, 'x'))) << is_reset;
    }
}

/// It is noticed at once, and nobody computes for it.
void TestHttp::clientsGoAway() {
    QFETCH(QByteArray, behind);
    QFETCH(bool, is_reset);
    Fixture f;
    {
        support::RawClient client(f.port);
        client.send("GET /later HTTP/1.1\r\nHost: a\r\n\r\n" + behind.toStdString());
        QTRY_COMPARE(f.echo.requests.load(), 1);
        std::this_thread::sleep_for(50ms);
        QCOMPARE(f.echo.gone.load(), 0);
        if (is_reset) {
            client.abort();
        }
    }
    QTRY_COMPARE_WITH_TIMEOUT(f.echo.gone.load(), 1, 4000);
    QCOMPARE(f.echo.requests.load(), 1); // what stood behind it is not begun
    const std::lock_guard lock(f.echo.mutex);
    for (const auto& exchange : f.echo.kept) {
        exchange->send("too late"); // nobody is there, nothing happens
        exchange->answer({});
    }
}

void TestHttp::halfClosed_data() {
    support::addColumns<bool, int>("is_streamed", "wait_ms");
    QTest::newRow("answer at once") << false << 0;
    QTest::newRow("answer later") << false << 900;
    QTest::newRow("stream later") << true << 900;
}

/// A client that shuts its writing side still waits for its answers, all of them.
void TestHttp::halfClosed() {
    QFETCH(bool, is_streamed);
    QFETCH(int, wait_ms);
    Fixture f;
    support::RawClient client(f.port);
    client.send("GET /later HTTP/1.1\r\nHost: a\r\n\r\n" + kGet + post("/2", "two"));
    client.endSending();
    QTRY_COMPARE(f.echo.requests.load(), 1);
    std::this_thread::sleep_for(std::chrono::milliseconds(wait_ms));
    QCOMPARE(f.echo.gone.load(), 0);
    {
        const std::lock_guard lock(f.echo.mutex);
        HttpAnswer answer;
        answer.body = "at last";
        if (is_streamed) {
            f.echo.kept[0]->begin(answer);
            f.echo.kept[0]->send(answer.body);
            f.echo.kept[0]->finish();
        } else {
            f.echo.kept[0]->answer(answer);
        }
    }
    const auto answer = client.answer(10s);
    QCOMPARE(answer.status, 200);
    QVERIFY(answer.is_whole);
    QCOMPARE(answer.body, std::string("at last"));
    QCOMPARE(client.answer(10s).body, std::string("GET /x "));
    QCOMPARE(client.answer(10s).body, std::string("POST /2 two"));
    QVERIFY(client.isClosedWithin(10s));
    QCOMPARE(f.echo.gone.load(), 0);
}

void TestHttp::chunks_data() {
    support::addColumns<QByteArray, int>("text", "status");
    const auto row = [](const char* what, const QByteArray& text, int status) {
        QTest::newRow(what) << text << status;
    };
    row("right", "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n", 200);
    row("extensions and trailers", "3;a=b\r\nabc\r\n02 ; c\r\nde\r\n000\r\nX: y\r\nZ:\r\n\r\n",
        200);
    row("capitals", "A\r\n0123456789\r\n0\r\n\r\n", 200);
    row("prefix", "0x10\r\n0123456789abcdef\r\n0\r\n\r\n", 400);
    row("prefix of nothing", "0x0\r\n\r\n", 400);
    row("sign", "+3\r\nabc\r\n0\r\n\r\n", 400);
    row("minus", "-3\r\n", 400);
    row("nothing", "\r\n", 400);
    row("blank in front", " 3\r\nabc\r\n0\r\n\r\n", 400);
    row("two sizes", "3 3\r\nabc\r\n0\r\n\r\n", 400);
    row("line feeds", "3\nabc\n0\n\n", 400);
    row("line feed behind a size", "3\n", 400);
    row("line feed behind data", "3\r\nabc\n", 400);
    row("return alone", "3\rx", 400);
    row("line feed in an extension", "3;a\nb\r\n", 400);
    row("data too long", "3\r\nabcd", 400);
    row("trailer without colon", "0\r\nX\r\n\r\n", 400);
    row("trailer with a line feed", "0\r\nX: y\n", 400);
    row("folded trailer", "0\r\nX: y\r\n z\r\n\r\n", 400);
    row("17 digits", "00000000000000003\r\n", 400);
}

/// Refused at once, where more does not have to be waited for.
void TestHttp::chunks() {
    QFETCH(QByteArray, text);
    QFETCH(int, status);
    Fixture f;
    support::RawClient client(f.port);
    client.send("POST /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" +
                text.toStdString());
    const auto answer = client.answer(600ms);
    QCOMPARE(answer.status, status);
    QCOMPARE(f.echo.requests.load(), status == 200 ? 1 : 0);
    if (status == 200) { // what follows is the next request
        client.send(kGet);
        QCOMPARE(client.answer(10s).body, std::string("GET /x "));
    }
}

void TestHttp::endlessWords_data() {
    support::addColumns<QByteArray, QByteArray, int>("first", "piece", "status");
    QTest::newRow("extension") << QByteArray("5;a=") << QByteArray(65536, 'x') << 431;
    QTest::newRow("extensions") << QByteArray() << QByteArray("1;a=bcdefgh\r\n \r\n").repeated(999)
                                << 431;
    QTest::newRow("trailer") << QByteArray("0\r\nX: ") << QByteArray(65536, 'y') << 431;
    QTest::newRow("trailers") << QByteArray("0\r\n") << QByteArray("X: y\r\n").repeated(9999)
                              << 431;
    QTest::newRow("zeros") << QByteArray() << QByteArray(65536, '0') << 431;
    QTest::newRow("chunks of one byte")
        << QByteArray() << QByteArray("1\r\n \r\n").repeated(9999) << 413;
}

/// What comes around chunks has an end, and the client is told.
void TestHttp::endlessWords() {
    QFETCH(QByteArray, first);
    QFETCH(QByteArray, piece);
    Fixture f;
    support::RawClient client(f.port);
    client.send("POST /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" +
                first.toStdString());
    int sent = 0;
    while (sent < 20 && client.send(piece.toStdString()) && !client.waitFor("\r\n\r\n", 50ms)) {
        ++sent;
    }
    QVERIFY(sent < 20);
    QTEST(client.answer(1s).status, "status");
    QVERIFY(client.isClosedWithin(10s));
}

/// Connections without a token shut nobody out: neither silent ones nor those that begin and stop.
void TestHttp::strangersGiveWay() {
    Fixture f; // 20 connections, 2 of them not for strangers
    support::RawClient kept(f.port);
    kept.send(kGet);
    QCOMPARE(kept.answer(10s).status, 200);
    std::vector<std::unique_ptr<support::RawClient>> strangers;
    const std::string words[] = {
        "", "G", "GET /open HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nx",
        "GET /open HTTP/1.1\r\nHost: a\r\n\r\n", "GET /delayed HTTP/1.1\r\nHost: a\r\n\r\n"};
    for (size_t i = 0; i < 100; ++i) {
        strangers.push_back(std::make_unique<support::RawClient>(f.port));
        strangers.back()->send(words[i % std::size(words)]);
        if (i % 10 == 9) {
            support::RawClient client(f.port);
            client.send(kGet);
            QCOMPARE(client.answer(10s).status, 200);
        }
    }
    kept.send(kGet); // it was not sent away for them
    QCOMPARE(kept.answer(10s).status, 200);
    QVERIFY(strangers[0]->isClosedWithin(10s));
    // Nor do those who have a token and wait without a request.
    std::vector<std::unique_ptr<support::RawClient>> idle;
    for (int i = 0; i < 25; ++i) {
        idle.push_back(std::make_unique<support::RawClient>(f.port));
        idle.back()->send(kGet);
        QCOMPARE(idle.back()->answer(10s).status, 200);
    }
}

void TestHttp::doesNotRead() {
    Fixture f;
    support::RawClient client(f.port);
    client.send("GET /flood HTTP/1.1\r\nHost: a\r\n\r\n");
    QTRY_COMPARE(f.echo.gone.load(), 1);
}

void TestHttp::tooMany() {
    Fixture f;
    std::vector<std::unique_ptr<support::RawClient>> clients;
    for (int i = 0; i < 20; ++i) {
        clients.push_back(std::make_unique<support::RawClient>(f.port));
        clients.back()->send("GET /later HTTP/1.1\r\nHost: a\r\n\r\n");
    }
    QTRY_COMPARE(f.echo.requests.load(), 20);
    support::RawClient over(f.port);
    const auto answer = over.answer(10s);
    QCOMPARE(answer.status, 503);
    QCOMPARE(answer.fields.at("retry-after"), std::string("5"));
    clients.clear();
    QTRY_COMPARE(f.echo.gone.load(), 20);
    support::RawClient again(f.port);
    again.send(kGet);
    QCOMPARE(again.answer(10s).status, 200);
}

void TestHttp::randomBytes() {
    Fixture f;
    QRandomGenerator random(1);
    for (int round = 0; round < 300; ++round) {
        support::RawClient client(f.port);
        QVERIFY(client.isConnected());
        std::string text = round % 2 == 0 ? kGet : post("/x", "body");
        for (int i = random.bounded(1, 12); i > 0; --i) {
            text[size_t(random.bounded(int(text.size())))] = char(random.bounded(256));
        }
        if (round % 5 == 0) {
            text.assign(1000, '\0');
            for (char& c : text) {
                c = char(random.bounded(256));
            }
        }
        client.send(text);
    }
    support::RawClient client(f.port);
    client.send(kGet);
    QCOMPARE(client.answer(30s).status, 200);
}

void TestHttp::addresses() {
    Echo echo;
    const auto no_name = HttpServer::open({"localhost"}, 0, ServerLimits(), echo);
    QVERIFY(!no_name.has_value());
    QVERIFY(no_name.error().message.find("in numbers") != std::string::npos);
    const auto first = HttpServer::open({"127.0.0.1", "::1"}, 0, ServerLimits(), echo);
    QVERIFY(first.has_value());
    const auto second = HttpServer::open({"127.0.0.1"}, (*first)->port(), ServerLimits(), echo);
    QVERIFY(!second.has_value());
    QVERIFY(second.error().message.find("another program") != std::string::npos);
}

void TestHttp::ends() {
    auto f = std::make_unique<Fixture>();
    const uint16_t port = f->port;
    support::RawClient idle(port);
    support::RawClient busy(port);
    busy.send("GET /later HTTP/1.1\r\nHost: a\r\n\r\n");
    QTRY_COMPARE(f->echo.requests.load(), 1);
    QTRY_VERIFY(f->echo.ticks.load() > 0);
    const std::vector<std::shared_ptr<Exchange>> kept = f->echo.kept;
    const auto before = std::chrono::steady_clock::now();
    f->server.reset();
    QVERIFY(std::chrono::steady_clock::now() - before < 5s);
    QVERIFY(idle.isClosedWithin(5s));
    QVERIFY(busy.isClosedWithin(5s));
    QVERIFY(!support::RawClient(port).isConnected());
    kept[0]->answer({}); // whoever answers late finds nobody
}

TEST_CLASS_WITH(QCoreApplication, TestHttp)
#include "tst_http.moc"
