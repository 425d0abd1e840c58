// SPDX-License-Identifier: Apache-2.0
// Downloads that outlive the program: kept, paused, gone on with; and where a token is kept.
#include "app/network/qt_http.h"
#include "tests/support/hub/fetching.h"
#include "tests/support/program/test_class.h"

#include <QTemporaryDir>
#include <QTest>

#include <mutex>

#include "models/hub/queue.h"
#include "models/hub/token_store.h"

namespace fs = std::filesystem;
namespace hub = models::hub;
using State = hub::QueueItem::State;

namespace {

#ifdef _WIN32 // where a path from the root alone is relative, and folders keep their users' files
              // apart
const std::string kDrive = "C:";
constexpr bool kHasModes = false;
#else
const std::string kDrive;
constexpr bool kHasModes = true;
#endif

class Rig {
public:
    explicit Rig(support::HubContent content) : standin(std::move(content)) {
        cache = fs::path(folder.path().toStdString()) / "hub";
        file = fs::path(folder.path().toStdString()) / "downloads.json";
    }

    hub::QueueOptions options() {
        hub::QueueOptions out;
        out.file = file;
        out.fetch.hub = support::hubOptions(standin, {});
        out.fetch.make_http = app::qtHttp([] { return std::string(); });
        out.fetch.connections = 2;
        return out;
    }

    hub::FetchPlan plan(const std::string& id = "org/m") {
        hub::FetchRequest request;
        request.address = {id, "main"};
        request.target.cache = cache;
        const auto http = app::qtHttp([] { return std::string(); })();
        auto client = hub::HubClient::create(support::hubOptions(standin, {}), *http);
        return *hub::planFetch(request, *client, {});
    }

    QTemporaryDir folder;
    fs::path cache;
    fs::path file;
    support::HubStandin standin;
};

State stateOf(const hub::DownloadQueue& queue) {
    return queue.items().at(0).state;
}

} // namespace

class TestQueue : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void fetches();
    void outlivesTheProgram();
    void resumesWhatWasPaused();
    void tellsWhatFailed();
    void forgetsWhatWasCancelled();
    void fetchesSeveralAtOnce();
    void asksForATokenOnDemand();
    void refusesAFileThatIsNotIts_data();
    void refusesAFileThatIsNotIts();
    void leavesOutItemsThatCannotBe();
    void keepsATokenForItsOwner();
    void choosesAToken_data();
    void choosesAToken();
    void showsLittleOfAToken();
};

void TestQueue::fetches() {
    Rig rig(support::smallModel());
    std::mutex mutex;
    std::vector<State> states;
    hub::QueueOptions options = rig.options();
    options.on_change = [&](const hub::QueueItem& item) {
        const std::lock_guard lock(mutex);
        if (states.empty() || states.back() != item.state) {
            states.push_back(item.state);
        }
    };
    auto queue = hub::DownloadQueue::open(options);
    QVERIFY(queue.has_value());
    const hub::FetchPlan plan = rig.plan();
    const auto number = (*queue)->add(plan);
    QVERIFY(number.has_value());
    (*queue)->waitUntilIdle();
    QVERIFY(stateOf(**queue) == State::Done);
    QCOMPARE((*queue)->items()[0].done_bytes, plan.total_bytes);
    QVERIFY(fs::exists(plan.model_folder / "config.json"));
    QVERIFY((states == std::vector<State>{State::Fetching, State::Done}));
    // What is done is not there after a restart.
    queue->reset();
    QCOMPARE(hub::readQueueFile(rig.file)->size(), size_t{0});
}

void TestQueue::outlivesTheProgram() {
    support::HubContent content = support::smallModel();
    content.bytes_per_second = 400'000;
    Rig rig(std::move(content));
    {
        auto queue = hub::DownloadQueue::open(rig.options());
        QVERIFY((*queue)->add(rig.plan()).has_value());
        QTRY_VERIFY((*queue)->items()[0].done_bytes > 50'000);
    } // the program ends
    uint64_t sent = 0;
    // The stand-in notices that nobody listens when it sends its next block, 160 ms later.
    for (int i = 0; i < 20 && rig.standin.bytesSent() != sent; ++i) {
        sent = rig.standin.bytesSent();
        QTest::qWait(500);
    }
    auto queue = hub::DownloadQueue::open(rig.options());
    QVERIFY(queue.has_value());
    QCOMPARE((*queue)->items().size(), size_t{1});
    QVERIFY(stateOf(**queue) == State::Paused);
    const hub::QueueItem item = (*queue)->items()[0];
    QCOMPARE(item.request.address.id, std::string("org/m"));
    QCOMPARE(item.commit, rig.standin.content().commit);
    QTest::qWait(50);
    QCOMPARE(rig.standin.bytesSent(), sent); // nothing begins by itself
    (*queue)->resume(item.number);
    (*queue)->waitUntilIdle();
    QVERIFY(stateOf(**queue) == State::Done);
}

void TestQueue::resumesWhatWasPaused() {
    support::HubContent content = support::smallModel();
    content.bytes_per_second = 400'000;
    Rig rig(std::move(content));
    auto queue = hub::DownloadQueue::open(rig.options());
    const auto number = *(*queue)->add(rig.plan());
    QTRY_VERIFY((*queue)->items()[0].done_bytes > 50'000);
    (*queue)->pause(number);
    (*queue)->resume(number); // before it has stopped
    (*queue)->waitUntilIdle();
    QVERIFY(stateOf(**queue) == State::Done);
    (*queue)->clearDone();
    QVERIFY((*queue)->items().empty());
}

void TestQueue::tellsWhatFailed() {
    support::HubContent content = support::smallModel();
    content.token = "hf_right";
    Rig rig(std::move(content));
    hub::QueueOptions options = rig.options();
    auto queue = hub::DownloadQueue::open(options);
    hub::FetchPlan plan;
    plan.request.address = {"org/m", "main"};
    plan.request.target.cache = rig.cache;
    plan.commit = rig.standin.content().commit;
    const auto number = *(*queue)->add(plan);
    (*queue)->waitUntilIdle();
    const hub::QueueItem item = (*queue)->items()[0];
    QVERIFY(item.state == State::Failed && item.error.has_value());
    QVERIFY(item.error->message.find("private") != std::string::npos);
    // It stays in the file, and goes on with a token that was typed meanwhile.
    QCOMPARE(hub::readQueueFile(rig.file)->size(), size_t{1});
    queue->reset();
    options.token = [] { return std::string("hf_right"); };
    queue = hub::DownloadQueue::open(options);
    (*queue)->resume(number);
    (*queue)->waitUntilIdle();
    QVERIFY(stateOf(**queue) == State::Done);
    QVERIFY(support::textOf(rig.file).find("hf_") == std::string::npos);
}

void TestQueue::forgetsWhatWasCancelled() {
    support::HubContent content = support::smallModel();
    content.bytes_per_second = 400'000;
    Rig rig(std::move(content));
    auto queue = hub::DownloadQueue::open(rig.options());
    const auto number = *(*queue)->add(rig.plan());
    QTRY_VERIFY((*queue)->items()[0].done_bytes > 50'000);
    (*queue)->cancel(number, /*removes_parts=*/true);
    QVERIFY((*queue)->items().empty());
    (*queue)->waitUntilIdle();
    QCOMPARE(hub::readQueueFile(rig.file)->size(), size_t{0});
    const hub::RepositoryLayout layout(rig.cache, "org/m");
    for (const auto& entry : fs::directory_iterator(layout.blobs())) {
        QVERIFY2(entry.path().extension() != ".incomplete", entry.path().string().c_str());
    }
}

void TestQueue::fetchesSeveralAtOnce() {
    support::HubContent content = support::smallModel();
    content.also_called = {"org/other", "org/third"};
    content.bytes_per_second = 250'000;
    Rig rig(std::move(content));
    auto queue = hub::DownloadQueue::open(rig.options()); // two at a time
    const auto first = *(*queue)->add(rig.plan());
    const auto second = *(*queue)->add(rig.plan("org/other"));
    const auto third = *(*queue)->add(rig.plan("org/third"));
    const auto item = [&](uint64_t number) {
        for (const hub::QueueItem& one : (*queue)->items()) {
            if (one.number == number) {
                return one;
            }
        }
        return hub::QueueItem();
    };
    QTRY_VERIFY(item(first).done_bytes > 70'000 && item(second).done_bytes > 70'000);
    QVERIFY(item(first).state == State::Fetching && item(second).state == State::Fetching);
    QVERIFY(item(third).state == State::Waiting);
    // A pause of one leaves the other, and lets the third begin.
    (*queue)->pause(first);
    QTRY_VERIFY(item(first).state == State::Paused);
    const uint64_t paused_at = item(first).done_bytes;
    QTRY_VERIFY(item(third).state == State::Fetching);
    QVERIFY(item(second).state == State::Fetching || item(second).state == State::Done);
    (*queue)->waitUntilIdle();
    QVERIFY(item(second).state == State::Done && item(third).state == State::Done);
    QVERIFY(item(first).state == State::Paused);
    QCOMPARE(item(first).done_bytes, paused_at);
    (*queue)->resume(first);
    (*queue)->waitUntilIdle();
    QVERIFY(item(first).state == State::Done);
    for (const uint64_t number : {first, second, third}) {
        for (const char* name : {"config.json", "model-00001-of-00002.safetensors"}) {
            QVERIFY(support::textOf(item(number).model_folder / name) ==
                    rig.standin.content().files.at(name));
        }
    }
}

void TestQueue::asksForATokenOnDemand() {
    int num_asked = 0;
    const auto fetched = [&](const std::string& wanted, const std::string& implied) {
        support::HubContent content = support::smallModel();
        content.token = wanted;
        Rig rig(std::move(content));
        hub::QueueOptions options = rig.options();
        options.fetch.hub.token = implied;
        options.token = [&] {
            ++num_asked;
            return std::string("hf_right");
        };
        auto queue = hub::DownloadQueue::open(options);
        hub::FetchPlan plan;
        plan.request.address = {"org/m", "main"};
        plan.request.target.cache = rig.cache;
        plan.commit = rig.standin.content().commit;
        (void)(*queue)->add(plan);
        (*queue)->waitUntilIdle();
        return stateOf(**queue) == State::Done;
    };
    QVERIFY(fetched("", ""));
    QVERIFY(fetched("hf_implied", "hf_implied"));
    QCOMPARE(num_asked, 0); // no keyring was touched
    QVERIFY(fetched("hf_right", ""));
    QCOMPARE(num_asked, 1);
    QVERIFY(fetched("hf_right", "hf_old"));
    QVERIFY(!fetched("hf_other", ""));
    QCOMPARE(num_asked, 3); // once each, whatever comes of it
}

void TestQueue::refusesAFileThatIsNotIts_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::newRow("no JSON") << QByteArray("{");
    QTest::newRow("another's") << QByteArray(R"({"items": []})");
    QTest::newRow("of a later version")
        << QByteArray(R"({"kind": "belfry-downloads", "version": 2, "items": []})");
}

void TestQueue::refusesAFileThatIsNotIts() {
    QFETCH(QByteArray, text);
    const QTemporaryDir folder;
    const fs::path file = fs::path(folder.path().toStdString()) / "downloads.json";
    support::writeText(file, text.toStdString());
    const auto items = hub::readQueueFile(file);
    QVERIFY(!items.has_value());
    QVERIFY2(items.error().message.find("move it away") != std::string::npos,
             items.error().message.c_str());
    QCOMPARE(support::textOf(file), text.toStdString());
}

void TestQueue::leavesOutItemsThatCannotBe() {
    const QTemporaryDir folder;
    const fs::path file = fs::path(folder.path().toStdString()) / "downloads.json";
    hub::QueueItem item;
    item.request.address = {"org/m", "main"};
    item.request.target.cache = kDrive + "/a \"quoted\" \\ folder\n";
    item.commit = std::string(40, 'c');
    item.total_bytes = 7;
    item.done_bytes = 3;
    hub::QueueItem relative = item;
    relative.request.target.cache = "here";
    hub::QueueItem hostile = item;
    hostile.request.address.id = "../../etc";
    hub::QueueItem branch = item; // the hub's come by commits
    branch.commit = "master";
    hub::QueueItem other = branch;
    other.request.source = hub::Source::ModelScope;
    other.request.target = {{}, kDrive + "/models/org/m", true};
    QVERIFY(hub::writeQueueFile(file, {item, relative, hostile, branch, other}).has_value());
    const auto items = hub::readQueueFile(file);
    VERIFY_VALUE(items);
    QCOMPARE(items->size(), size_t{2});
    QVERIFY((*items)[0].request.source == hub::Source::Hub);
    QVERIFY((*items)[1].request.source == hub::Source::ModelScope);
    QCOMPARE((*items)[1].request.target.folder, other.request.target.folder);
    QCOMPARE((*items)[0].request.target.cache, item.request.target.cache);
    QCOMPARE((*items)[0].done_bytes, uint64_t{3});
    QVERIFY(!kHasModes || (fs::status(file).permissions() & fs::perms(077)) == fs::perms::none);
}

void TestQueue::keepsATokenForItsOwner() {
    const QTemporaryDir folder;
    const fs::path file = fs::path(folder.path().toStdString()) / "home" / "token";
    const auto store = hub::fileTokenStore(file);
    QCOMPARE(store->read().value(), std::string());
    QVERIFY(store->remove().has_value());
    QVERIFY(!store->write("two words").has_value());
    QVERIFY(!store->write("  ").has_value());
    QVERIFY(store->write(" hf_abcdefghijkl\n").has_value());
    QCOMPARE(support::textOf(file), std::string("hf_abcdefghijkl"));
    QVERIFY(!kHasModes || (fs::status(file).permissions() & fs::perms(0777)) == fs::perms(0600));
    QVERIFY(store->write("hf_another").has_value());
    QCOMPARE(store->read().value(), std::string("hf_another"));
    QCOMPARE(std::distance(fs::directory_iterator(file.parent_path()), {}), std::ptrdiff_t{1});
    QVERIFY(store->remove().has_value());
    QVERIFY(!fs::exists(file));
}

void TestQueue::choosesAToken_data() {
    support::addColumns<QString, QString, QString, bool, QString>("variable", "stored", "in_file",
                                                                  "is_implicit", "token");
    const auto row = [](const char* name, const char* variable, const char* stored,
                        const char* in_file, bool is_implicit, const char* token) {
        QTest::newRow(name) << QString::fromUtf8(variable) << QString::fromUtf8(stored)
                            << QString::fromUtf8(in_file) << is_implicit
                            << QString::fromUtf8(token);
    };
    row("none", "", "", "", true, "");
    row("the environment first", "hf_e", "hf_s", "hf_f", true, "hf_e");
    row("then the store", "", "hf_s", "hf_f", true, "hf_s");
    row("then the file", "", "", "hf_f", true, "hf_f");
    row("the store alone", "hf_e", "hf_s", "hf_f", false, "hf_s");
    row("none of itself", "hf_e", "", "hf_f", false, "");
}

void TestQueue::choosesAToken() {
    QFETCH(QString, variable);
    QFETCH(QString, stored);
    QFETCH(QString, in_file);
    QFETCH(bool, is_implicit);
    QFETCH(QString, token);
    const QTemporaryDir folder;
    const fs::path home = folder.path().toStdString();
    hub::Environment environment;
    environment.hf_home = home;
    environment.hf_token = variable.toStdString();
    environment.hf_hub_disable_implicit_token = is_implicit ? "" : "1";
    if (!in_file.isEmpty()) {
        support::writeText(home / "token", in_file.toStdString());
    }
    const auto store = hub::fileTokenStore(home / "other");
    if (!stored.isEmpty()) {
        QVERIFY(store->write(stored.toStdString()).has_value());
    }
    const auto found = hub::chooseToken(environment, store.get());
    QVERIFY(found.has_value());
    QCOMPARE(found->token, token.toStdString());
}

void TestQueue::showsLittleOfAToken() {
    QCOMPARE(hub::shownToken("hf_abcdefghijklwxyz"), std::string("hf_...wxyz"));
    QCOMPARE(hub::shownToken("hf_short"), std::string("..."));
    QCOMPARE(hub::shownToken(""), std::string("..."));
}

TEST_CLASS_WITH(QCoreApplication, TestQueue)
#include "tst_queue.moc"
