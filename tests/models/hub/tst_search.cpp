// SPDX-License-Identifier: Apache-2.0
// The hub's search: what is asked for, page after page, and what is made of answers that lie.
#include "app/network/qt_http.h"
#include "tests/support/hub/fetching.h"
#include "tests/support/program/test_class.h"

#include <QTest>

#include "models/hub/search.h"

namespace hub = models::hub;
using Kind = hub::SearchQuery::Kind;

namespace {

const char* const kGemma = R"({"id":"google/gemma-4-E2B-it","author":"google","downloads":1200,
    "likes":34,"gated":"manual","private":false,"lastModified":"2026-11-03T12:00:00.000Z",
    "pipeline_tag":"image-text-to-text","library_name":"transformers",
    "safetensors":{"parameters":{"BF16":5123178979},"total":5123178979},
    "tags":["transformers","safetensors","gemma4","license:apache-2.0"]})";
const char* const kAdapter = R"({"id":"me/my-lora","gated":false,"library_name":"peft",
    "tags":["peft","safetensors","base_model:google/gemma-4-E2B-it",
            "base_model:adapter:google/gemma-4-E2B-it"]})";

struct Found {
    engine::Result<hub::SearchPage> page;
    engine::Result<hub::SearchPage> second = hub::SearchPage();
    std::vector<support::HubRequest> requests = {};
};

Found find(support::HubContent content,
           const hub::SearchQuery& query,
           support::HubFault fault = {}) {
    const support::HubStandin standin(std::move(content), std::move(fault));
    const auto http = app::qtHttp([] { return std::string(); })();
    auto client = hub::HubClient::create(support::hubOptions(standin, {}), *http);
    if (!client.has_value()) {
        return {client.error()};
    }
    Found found{hub::search(*client, query, {})};
    if (found.page.has_value() && !found.page->next.empty()) {
        found.second = hub::searchOn(*client, *found.page, {});
    }
    found.requests = standin.requests();
    return found;
}

} // namespace

class TestSearch : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void asksFor_data();
    void asksFor();
    void readsWhatIsFound();
    void goesOnPageByPage();
    void refusesWhatLies_data();
    void refusesWhatLies();
    void leavesOutImpossibleNames();
    void readsTimes_data();
    void readsTimes();
};

void TestSearch::asksFor_data() {
    support::addColumns<QString, QString, int, QString>("words", "base", "kind", "path");
    const auto row = [](const char* name, const char* words, const char* base, Kind kind,
                        const char* path) {
        QTest::newRow(name) << QString::fromUtf8(words) << QString::fromUtf8(base)
                            << static_cast<int>(kind) << QString::fromUtf8(path);
    };
    row("models", "gemma 4", "", Kind::Models,
        "/api/models?search=gemma%204&filter=safetensors&sort=downloads&limit=30&expand=author");
    row("adapters of a base", "", "google/gemma-4-E2B-it", Kind::Adapters,
        "/api/models?filter=base_model%3Aadapter%3Agoogle%2Fgemma-4-E2B-it&sort=downloads");
    row("adapters", "", "", Kind::Adapters, "/api/models?filter=peft&sort=downloads");
    row("gguf of a base", "x", "o/m", Kind::Gguf,
        "/api/models?search=x&filter=gguf&filter=base_model%3Ao%2Fm&sort=");
    row("no way out of the query", "a&b=c#d", "", Kind::Anything,
        "/api/models?search=a%26b%3Dc%23d&sort=downloads");
}

void TestSearch::asksFor() {
    QFETCH(QString, words);
    QFETCH(QString, base);
    QFETCH(int, kind);
    QFETCH(QString, path);
    hub::SearchQuery query;
    query.words = words.toStdString();
    query.base = base.toStdString();
    query.kind = static_cast<Kind>(kind);
    const std::string asked = hub::searchPath(query);
    QVERIFY2(asked.starts_with(path.toStdString()), asked.c_str());
    QVERIFY(asked.find("expand=tags") != std::string::npos);
}

void TestSearch::readsWhatIsFound() {
    support::HubContent content = support::smallModel();
    content.search_pages = {"[" + std::string(kGemma) + "," + kAdapter + "]"};
    const Found found = find(content, {});
    VERIFY_VALUE(found.page);
    QCOMPARE(found.page->hits.size(), size_t{2});
    const hub::SearchHit& gemma = found.page->hits[0];
    QCOMPARE(gemma.id, std::string("google/gemma-4-E2B-it"));
    QVERIFY(gemma.gate == hub::Gate::Manual);
    QCOMPARE(gemma.parameters, uint64_t{5123178979});
    QCOMPARE(gemma.licence, std::string("apache-2.0"));
    QCOMPARE(gemma.changed, int64_t{1793707200});
    QVERIFY(gemma.has_safetensors && !gemma.is_adapter && !gemma.has_gguf);
    const hub::SearchHit& adapter = found.page->hits[1];
    QVERIFY(adapter.is_adapter && adapter.gate == hub::Gate::None);
    QCOMPARE(adapter.author, std::string("me"));
    QCOMPARE(adapter.bases, std::vector<std::string>{"google/gemma-4-E2B-it"});
    // One click, one request, to the hub alone.
    QCOMPARE(found.requests.size(), size_t{1});
    QVERIFY(!found.requests[0].is_other_host);
}

void TestSearch::goesOnPageByPage() {
    support::HubContent content = support::smallModel();
    content.search_pages = {"[" + std::string(kGemma) + "]", "[" + std::string(kAdapter) + "]"};
    const Found found = find(content, {});
    QVERIFY(found.page.has_value() && !found.page->next.empty());
    QVERIFY(found.second.has_value());
    QCOMPARE(found.second->hits.size(), size_t{1});
    QCOMPARE(found.second->hits[0].id, std::string("me/my-lora"));
    QVERIFY(found.second->next.empty());
}

void TestSearch::refusesWhatLies_data() {
    support::addColumns<QByteArray, QByteArray, QByteArray>("page", "link", "says");
    const auto row = [](const char* name, const char* page, const char* link, const char* says) {
        QTest::newRow(name) << QByteArray(page) << QByteArray(link) << QByteArray(says);
    };
    row("no list", R"({"error":"x"})", "", "expected a list of models");
    row("no JSON", "<html>", "", "is no JSON");
    row("on at another host", "[]", "<http://elsewhere.example/api/models>; rel=\"next\"",
        "another host");
}

void TestSearch::refusesWhatLies() {
    QFETCH(QByteArray, page);
    QFETCH(QByteArray, link);
    QFETCH(QByteArray, says);
    support::HubFault fault;
    fault.where = support::HubFault::Where::Search;
    fault.edit = [&](const support::HubRequest&, support::HubReply& reply) {
        reply.setBody(page.toStdString());
        if (!link.isEmpty()) {
            reply.headers["Link"] = link.toStdString();
        }
    };
    const Found found = find(support::smallModel(), {}, fault);
    const auto& outcome = link.isEmpty() ? found.page : found.second;
    QVERIFY(!outcome.has_value());
    QVERIFY2(QByteArray::fromStdString(outcome.error().message).contains(says),
             outcome.error().message.c_str());
}

void TestSearch::leavesOutImpossibleNames() {
    support::HubContent content = support::smallModel();
    content.search_pages = {
        R"([{"id":"../../etc"},{"id":"a/b/c"},{"id":"ok/model@x"},{"no":"id"},7,)" +
        std::string(kAdapter) + "]"};
    const Found found = find(content, {});
    QVERIFY(found.page.has_value());
    QCOMPARE(found.page->hits.size(), size_t{1});
}

void TestSearch::readsTimes_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<qint64>("seconds"); // -1: none
    QTest::newRow("epoch") << QStringLiteral("1970-01-01T00:00:00Z") << qint64{0};
    QTest::newRow("leap day") << QStringLiteral("2024-02-29T23:59:59.999Z") << qint64{1709251199};
    QTest::newRow("after it") << QStringLiteral("2024-03-01T00:00:00") << qint64{1709251200};
    QTest::newRow("no time") << QStringLiteral("yesterday") << qint64{-1};
    QTest::newRow("month 13") << QStringLiteral("2024-13-01T00:00:00") << qint64{-1};
    QTest::newRow("letters") << QStringLiteral("2024-0x-01T00:00:00") << qint64{-1};
}

void TestSearch::readsTimes() {
    QFETCH(QString, text);
    QFETCH(qint64, seconds);
    QCOMPARE(qint64{hub::secondsOfTime(text.toStdString()).value_or(-1)}, seconds);
}

TEST_CLASS_WITH(QCoreApplication, TestSearch)
#include "tst_search.moc"
