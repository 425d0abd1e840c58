// SPDX-License-Identifier: Apache-2.0
// What a fetch leaves on the disk, in the cache and in a folder, and what it asks of the network.
#include "app/network/qt_http.h"
#include "tests/support/hub/fetching.h"
#include "tests/support/program/test_class.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <set>
#include <thread>

#include "models/hub/disk_file.h"
#include "models/hub/preview.h"
#include "models/hub/snapshot_store.h"

namespace fs = std::filesystem;
namespace hub = models::hub;

namespace {

const std::string kFirst = "model-00001-of-00002.safetensors";
const std::set<std::string> kWanted = {"config.json", "tokenizer.json", "README.md", kFirst,
                                       "model-00002-of-00002.safetensors"};

std::set<std::string> namesBelow(const fs::path& folder) {
    std::set<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        if (!entry.is_directory()) {
            names.insert(entry.path().lexically_relative(folder).generic_string());
        }
    }
    return names;
}

} // namespace

class TestFetch : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void init();
    void fillsTheCache_data();
    void fillsTheCache();
    void asksOnce();
    void readsOnceWhatIsThere();
    void fillsAFolder();
    void overwritesNothing();
    void takesAll();
    void readsPages();
    void notesNoRevisionForACommit();
    void linksWhatIsThere();
    void waitsForALock();
    void asksNothingOffline();
    void sendsNoTokenInTheClear();
    void needsRoom();
    void stops();
    void previewsHeaders();

private:
    support::FetchSetup setup() const {
        support::FetchSetup out;
        out.cache = cache_->path().toStdString();
        return out;
    }
    std::unique_ptr<QTemporaryDir> cache_;
};

void TestFetch::init() {
    cache_ = std::make_unique<QTemporaryDir>();
}

void TestFetch::fillsTheCache_data() {
    QTest::addColumn<bool>("has_links");
    QTest::newRow("links") << true;
    QTest::newRow("no links") << false;
}

void TestFetch::fillsTheCache() {
    QFETCH(bool, has_links);
    const support::HubStandin standin(support::smallModel());
    support::FetchSetup how = setup();
    how.has_links = has_links;
    const support::Fetched fetched = support::fetchFrom(standin, how);
    QVERIFY2(fetched.is_done, fetched.error.message.c_str());
    const hub::RepositoryLayout layout(how.cache, "org/m");
    const fs::path snapshot = layout.snapshot(standin.content().commit);
    QCOMPARE(fetched.plan.model_folder, snapshot);
    QVERIFY(namesBelow(snapshot) == kWanted);
    for (const std::string& name : kWanted) {
        const fs::path path = snapshot / name;
        QVERIFY(support::textOf(path) == standin.content().files.at(name));
        QCOMPARE(fs::is_symlink(path), has_links && support::kMakesLinks);
        if (has_links && support::kMakesLinks) {
            QCOMPARE(fs::read_symlink(path), fs::path("../../blobs") / standin.etag(name));
        }
    }
    QCOMPARE(namesBelow(layout.blobs()).size(),
             has_links && support::kMakesLinks ? kWanted.size() : size_t{0});
    QCOMPARE(support::textOf(layout.ref("main")), standin.content().commit);
    QCOMPARE(namesBelow(layout.refs()).size(), size_t{1});
}

void TestFetch::asksOnce() {
    const support::HubStandin standin(support::smallModel());
    QVERIFY(support::fetchFrom(standin, setup()).is_done);
    // Model, list, three small files, two large ones with their redirect.
    QCOMPARE(standin.requests().size(), size_t{2 + 3 + 2 * 2});
    const uint64_t sent = standin.bytesSent();
    const support::Fetched again = support::fetchFrom(standin, setup());
    QVERIFY(again.is_done);
    QCOMPARE(again.plan.missingBytes(), uint64_t{0});
    QCOMPARE(standin.bytesSent(), sent);
    QCOMPARE(standin.requests().size(), size_t{2 + 3 + 2 * 2 + 2});
}

void TestFetch::readsOnceWhatIsThere() {
    const support::HubStandin standin(support::smallModel());
    const support::Fetched first = support::fetchFrom(standin, setup());
    QVERIFY(first.is_done);
    const hub::SnapshotStore store({setup().cache, {}, true}, "org/m", standin.content().commit);
    const auto verified = [&] {
        return std::all_of(first.plan.files.begin(), first.plan.files.end(),
                           [&](const auto& planned) { return store.isVerified(planned.file); });
    };
    QVERIFY(verified());
    const std::string right = standin.content().files.at(kFirst);
    const hub::RepositoryLayout layout(setup().cache, "org/m");
    const fs::path entry = layout.file(standin.content().commit, kFirst);
    for (const bool has_entry : {true, false}) {
        // Right name, right size, right time, another content: a power cut, or another program.
        const auto time = fs::last_write_time(entry);
        const fs::path bytes = fs::canonical(entry);
        support::writeText(bytes, std::string(right.size(), 'x'));
        fs::last_write_time(bytes, has_entry ? time : time + std::chrono::hours(1));
        if (!has_entry && support::kMakesLinks) {
            fs::remove(entry); // the blob alone
        }
        QVERIFY(!verified());
        const uint64_t sent = standin.bytesSent();
        const support::Fetched again = support::fetchFrom(standin, setup());
        QVERIFY2(again.is_done, again.error.message.c_str());
        QVERIFY(support::textOf(entry) == right);
        QVERIFY(standin.bytesSent() >= sent + right.size());
        QVERIFY(verified());
    }
}

void TestFetch::fillsAFolder() {
    const support::HubStandin standin(support::smallModel());
    support::FetchSetup how = setup();
    how.folder = how.cache / "model";
    QVERIFY(support::fetchFrom(standin, how).is_done);
    for (const std::string& name : kWanted) {
        QVERIFY(support::textOf(how.folder / name) == standin.content().files.at(name));
    }
    QVERIFY(!fs::exists(how.cache / "models--org--m"));
    const uint64_t sent = standin.bytesSent();
    QVERIFY(support::fetchFrom(standin, how).is_done); // checked, not fetched
    QCOMPARE(standin.bytesSent(), sent);
}

void TestFetch::overwritesNothing() {
    const support::HubStandin standin(support::smallModel());
    support::FetchSetup how = setup();
    how.folder = how.cache / "model";
    support::writeText(how.folder / "config.json", "mine");
    const support::Fetched other_size = support::fetchFrom(standin, how);
    QCOMPARE(other_size.rule, std::string("HubFolder"));
    const std::string same_size(standin.content().files.at("config.json").size(), 'x');
    support::writeText(how.folder / "config.json", same_size);
    const support::Fetched other_bytes = support::fetchFrom(standin, how);
    QCOMPARE(other_bytes.rule, std::string("HubFolder"));
    QCOMPARE(support::textOf(how.folder / "config.json"), same_size);
}

void TestFetch::takesAll() {
    const support::HubStandin standin(support::smallModel());
    support::FetchSetup how = setup();
    how.takes_all = true;
    const support::Fetched fetched = support::fetchFrom(standin, how);
    QVERIFY2(fetched.is_done, fetched.error.message.c_str());
    const fs::path inner = fetched.plan.model_folder / "original/consolidated.safetensors";
    if (support::kMakesLinks) {
        QCOMPARE(fs::read_symlink(inner),
                 fs::path("../../../blobs") / standin.etag("original/consolidated.safetensors"));
    }
    QVERIFY(support::textOf(inner) ==
            standin.content().files.at("original/consolidated.safetensors"));
    QCOMPARE(namesBelow(fetched.plan.model_folder).size(), standin.content().files.size());
}

void TestFetch::readsPages() {
    support::HubContent content = support::smallModel();
    content.page_size = 2;
    const support::HubStandin standin(content);
    const support::Fetched fetched = support::fetchFrom(standin, setup());
    QVERIFY2(fetched.is_done, fetched.error.message.c_str());
    QVERIFY(namesBelow(fetched.plan.model_folder) == kWanted);
}

void TestFetch::notesNoRevisionForACommit() {
    const support::HubStandin standin(support::smallModel());
    support::FetchSetup how = setup();
    how.revision = standin.content().commit;
    QVERIFY(support::fetchFrom(standin, how).is_done);
    const hub::RepositoryLayout layout(how.cache, "org/m");
    QVERIFY(!fs::exists(layout.refs()));
    how.revision = "refs/pr/7";
    QVERIFY(support::fetchFrom(standin, how).is_done);
    QCOMPARE(support::textOf(layout.refs() / "refs" / "pr" / "7"), standin.content().commit);
}

void TestFetch::linksWhatIsThere() {
    if (!support::kMakesLinks) {
        QSKIP("without links a new commit's files are fetched again");
    }
    support::HubContent content = support::smallModel();
    {
        const support::HubStandin before(content);
        QVERIFY(support::fetchFrom(before, setup()).is_done);
    }
    content.commit = std::string(40, 'c'); // a new commit: only its config is another
    content.files["config.json"] = "{\"model_type\": \"new\"}";
    const support::HubStandin standin(content);
    const support::Fetched fetched = support::fetchFrom(standin, setup());
    QVERIFY2(fetched.is_done, fetched.error.message.c_str());
    QCOMPARE(standin.bytesSent(), uint64_t{content.files["config.json"].size()});
    QVERIFY(support::textOf(fetched.plan.model_folder / kFirst) == content.files[kFirst]);
    const hub::RepositoryLayout layout(setup().cache, "org/m");
    QCOMPARE(support::textOf(layout.ref("main")), content.commit);
}

void TestFetch::waitsForALock() {
    const support::HubStandin standin(support::smallModel());
    const hub::RepositoryLayout layout(setup().cache, "org/m");
    auto lock =
        hub::CacheLock::take(layout.lock(standin.etag(kFirst)), std::chrono::seconds(1), {});
    QVERIFY(lock.has_value());
    const support::Fetched locked = support::fetchFrom(standin, setup());
    QVERIFY2(locked.rule == "HubLocked", (locked.rule + ": " + locked.error.message).c_str());
    std::thread other([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        lock->reset();
    });
    support::FetchSetup how = setup();
    how.limits.lock = std::chrono::seconds(20);
    const support::Fetched fetched = support::fetchFrom(standin, how);
    other.join();
    QVERIFY2(fetched.is_done, fetched.error.message.c_str());
}

void TestFetch::asksNothingOffline() {
    const support::HubStandin standin(support::smallModel());
    hub::HubOptions options = support::hubOptions(standin, setup());
    const auto http = app::qtHttp([] { return std::string("HF_HUB_OFFLINE"); })();
    auto client = hub::HubClient::create(options, *http);
    QVERIFY(client.has_value());
    const auto model = client->model("org/m", "main", {});
    QVERIFY(!model.has_value());
    QVERIFY(model.error().message.find("HF_HUB_OFFLINE") != std::string::npos);
    QVERIFY(standin.requests().empty());
}

void TestFetch::sendsNoTokenInTheClear() {
    const auto http = app::qtHttp([] { return std::string(); })();
    hub::HubOptions options;
    options.endpoint = "http://hub.example";
    options.token = "hf_secret";
    const auto client = hub::HubClient::create(options, *http);
    QVERIFY(!client.has_value());
    QVERIFY(client.error().message.find("hf_secret") == std::string::npos);
    QVERIFY(client.error().message.find("https") != std::string::npos);
}

void TestFetch::needsRoom() {
    hub::FetchPlan plan;
    plan.total_bytes = uint64_t{10} << 30;
    plan.present_bytes = uint64_t{4} << 30;
    plan.free_bytes = uint64_t{7} << 30;
    QVERIFY(hub::checkRoom(plan).has_value());
    plan.free_bytes -= 1;
    QVERIFY(!hub::checkRoom(plan).has_value());
    plan.free_bytes = 0; // the disk does not tell
    QVERIFY(hub::checkRoom(plan).has_value());
}

void TestFetch::stops() {
    support::HubContent content = support::smallModel();
    content.bytes_per_second = 300'000;
    const support::HubStandin standin(content);
    hub::FetchOptions options;
    options.hub = support::hubOptions(standin, setup());
    options.make_http = app::qtHttp([] { return std::string(); });
    const auto http = options.make_http();
    auto client = hub::HubClient::create(options.hub, *http);
    const hub::FetchRequest request{
        {"org/m", "main"}, {setup().cache, {}, support::kMakesLinks}, false};
    const auto plan = hub::planFetch(request, *client, {});
    QVERIFY(plan.has_value());
    std::stop_source stop;
    options.on_progress = [&](const hub::FetchProgress& progress) {
        if (progress.fetched_bytes > 100'000) {
            stop.request_stop();
        }
    };
    const auto outcome = hub::fetch(*plan, options, stop.get_token());
    QVERIFY(!outcome.has_value());
    QCOMPARE(outcome.error().code, engine::ErrorCode::Cancelled);
    const hub::RepositoryLayout layout(setup().cache, "org/m");
    QVERIFY(!fs::exists(layout.ref("main")));
    // Whatever had come is there, and goes on.
    uint64_t sent = standin.bytesSent();
    for (uint64_t before = sent + 1; before != sent; sent = standin.bytesSent()) {
        before = sent; // the server sends its piece before it sees that nobody listens any more
        QTest::qWait(500);
    }
    support::FetchSetup patient = setup(); // a busy machine's pause is no silence
    patient.limits = {};
    QVERIFY(support::fetchFrom(standin, patient).is_done);
    const uint64_t again = standin.bytesSent() - sent;
    QVERIFY2(again < 500'000, std::to_string(again).c_str());
}

void TestFetch::previewsHeaders() {
    const std::string header = R"({"a":{"dtype":"BF16","shape":[2,3],"data_offsets":[0,12]},)"
                               R"("b":{"dtype":"F32","shape":[1],"data_offsets":[12,16]}})";
    support::HubContent content;
    std::string text = header;
    text.insert(0, std::string(8, '\0'));
    text[0] = static_cast<char>(header.size());
    content.files["model.safetensors"] = text + std::string(16, 'w');
    content.files["config.json"] = "{}";
    const support::HubStandin standin(content);
    const auto http = app::qtHttp([] { return std::string(); })();
    auto client = hub::HubClient::create(support::hubOptions(standin, setup()), *http);
    const hub::FetchRequest request{
        {"org/m", "main"}, {setup().cache, {}, support::kMakesLinks}, false};
    const auto plan = hub::planFetch(request, *client, {});
    QVERIFY(plan.has_value());
    QTemporaryDir folder;
    const fs::path path = folder.path().toStdString();
    const auto sums = hub::writePreview(*plan, *client, path, {});
    VERIFY_VALUE(sums);
    QCOMPARE(sums->at("BF16"), uint64_t{12});
    QCOMPARE(sums->at("F32"), uint64_t{4});
    QCOMPARE(support::textOf(path / "model.safetensors"), text);
    QCOMPARE(support::textOf(path / "config.json"), std::string("{}"));
}

TEST_CLASS_WITH(QCoreApplication, TestFetch)
#include "tst_fetch.moc"
