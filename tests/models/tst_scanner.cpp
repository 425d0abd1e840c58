// SPDX-License-Identifier: Apache-2.0
// The scan as a whole: several roots at once, one that does not answer, cancelling, and what the
// engine says of real headers.
#include "engine/base/paths.h"
#include "tests/models/scanning.h"
#include "tests/support/golden.h"
#include "tests/support/program/test_class.h"

#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

using namespace models;
using namespace support;

namespace {

/// A disk that stops answering: operations below `folder` wait until it is let go.
struct DeadDisk {
    std::mutex mutex;
    std::condition_variable changed;
    bool is_let_go = false;
    std::atomic<int> waiting = 0;

    void wait() {
        ++waiting;
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return is_let_go; });
        lock.unlock();
        --waiting;
    }
    void letGo() {
        {
            const std::lock_guard lock(mutex);
            is_let_go = true;
        }
        changed.notify_all();
        while (waiting > 0) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }
};

EngineAssessor* cpuAssessor() {
    engine::EngineOptions options;
    options.library_path = "/nonexistent";
    return new EngineAssessor(options);
}

} // namespace

class TestScanner : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init();
    void tellsAsItFinds();
    void skipsWhatDoesNotAnswer();
    void skipsWhenTheEngineWaits();
    void cancels();
    void startsAgain();
    void survivesWhatThrows();
    void readsHeaders();
    void tellsWhatIsNotSupported();
    void tellsAShortFile();

private:
    [[nodiscard]] fs::path path(const std::string& below = "") const {
        return engine::pathFromUtf8(dir_->path().toStdString()) / below;
    }
    [[nodiscard]] ScanResult assessed(const fs::path& folder) const;
    std::unique_ptr<QTemporaryDir> dir_;
};

void TestScanner::init() {
    dir_ = std::make_unique<QTemporaryDir>();
    QVERIFY(dir_->isValid());
}

ScanResult TestScanner::assessed(const fs::path& folder) const {
    Scanner scanner;
    ScanOptions options;
    options.roots = {root(folder)};
    options.answer_limit = std::chrono::seconds(60);
    options.make_assessor = [] { return std::unique_ptr<Assessor>(cpuAssessor()); };
    scanner.start(options);
    scanner.wait();
    return scanner.result();
}

void TestScanner::tellsAsItFinds() {
    putModel(path("a/m"));
    putModel(path("b/n"));
    std::vector<std::string> names;
    std::vector<std::string> folders;
    int ends = 0;
    std::thread::id teller;
    bool is_one_thread = true;
    ScanListener listener;
    listener.on_entry = [&](const Entry& entry) {
        is_one_thread = is_one_thread && (names.empty() || teller == std::this_thread::get_id());
        teller = std::this_thread::get_id();
        names.push_back(entry.name);
    };
    listener.on_root = [&](const RootReport& report) {
        folders.push_back(engine::utf8Of(report.root.folder.filename()));
    };
    listener.on_end = [&] { ++ends; };
    Scanner scanner;
    ScanOptions options;
    options.roots = {root(path("a")), root(path("b"))};
    options.answer_limit = std::chrono::seconds(60);
    scanner.start(options, listener);
    scanner.wait();
    scanner.cancel();
    std::sort(names.begin(), names.end());
    std::sort(folders.begin(), folders.end());
    QCOMPARE(names, (std::vector<std::string>{"m", "n"}));
    QCOMPARE(folders, (std::vector<std::string>{"a", "b"}));
    QCOMPARE(ends, 1);
    QVERIFY(is_one_thread);
    QVERIFY(scanner.result().is_complete);
}

void TestScanner::skipsWhatDoesNotAnswer() {
    putModel(path("good/m"));
    putModel(path("dead/m"));
    const auto disk = std::make_shared<DeadDisk>();
    const fs::path dead = path("dead/m");
    ScanOptions options;
    options.roots = {root(path("dead")), root(path("good"))};
    options.answer_limit = std::chrono::milliseconds(1000);
    options.before_operation = [disk, dead](const fs::path& at) {
        if (at == dead) {
            disk->wait();
        }
    };
    Scanner scanner;
    scanner.start(options);
    scanner.wait();
    const ScanResult result = scanner.result();
    QVERIFY(named(result, "m") != nullptr);
    const auto report = std::find_if(result.roots.begin(), result.roots.end(), [](const auto& r) {
        return r.outcome == RootReport::Outcome::NotAnswering;
    });
    QVERIFY(report != result.roots.end());
    QCOMPARE(report->root.folder, path("dead"));
    QVERIFY(engine::inEnglish(report->sentence).find("did not answer within 1 s") !=
            std::string::npos);
    QVERIFY(result.is_complete);
    // What it finds when it comes back is nobody's any more.
    const size_t count = result.entries.size();
    disk->letGo();
    scanner.cancel();
    QCOMPARE(scanner.result().entries.size(), count);
}

void TestScanner::skipsWhenTheEngineWaits() {
    class Waiting final : public Assessor {
    public:
        explicit Waiting(std::shared_ptr<DeadDisk> disk) : disk_(std::move(disk)) {}
        void assess(Entry& /*entry*/, const std::stop_token& /*stop*/) override { disk_->wait(); }

    private:
        std::shared_ptr<DeadDisk> disk_;
    };
    putModel(path("m"));
    const auto disk = std::make_shared<DeadDisk>();
    ScanOptions options;
    options.roots = {root(path())};
    options.answer_limit = std::chrono::seconds(60);
    options.assess_limit = std::chrono::milliseconds(300);
    options.make_assessor = [disk] { return std::make_unique<Waiting>(disk); };
    Scanner scanner;
    scanner.start(options);
    scanner.wait();
    QVERIFY(scanner.result().roots.at(0).outcome == RootReport::Outcome::NotAnswering);
    QVERIFY(named(scanner.result(), "m") != nullptr); // by its names it is there
    disk->letGo();
}

void TestScanner::cancels() {
    for (int i = 0; i < 50; ++i) {
        putModel(path("m" + std::to_string(i)));
    }
    std::atomic<int> operations = 0;
    std::atomic<int> calls = 0;
    ScanOptions options;
    options.roots = {root(path())};
    options.before_operation = [&](const fs::path&) {
        ++operations;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    };
    ScanListener listener;
    listener.on_entry = [&](const Entry&) { ++calls; };
    listener.on_end = [&] { calls = 1000; };
    Scanner scanner;
    scanner.start(options, listener);
    while (operations < 3) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    scanner.cancel();
    const int after = calls;
    const int done = operations;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    QCOMPARE(calls.load(), after);
    QCOMPARE(operations.load(), done); // no thread works on
    QVERIFY(done < 50 * 4);
    QVERIFY(!scanner.result().is_complete);
    QVERIFY(scanner.result().roots.at(0).outcome == RootReport::Outcome::Cancelled);
}

void TestScanner::startsAgain() {
    putModel(path("a/m"));
    putModel(path("b/n"));
    Scanner scanner;
    ScanOptions options;
    options.answer_limit = std::chrono::seconds(60);
    options.roots = {root(path("a"))};
    scanner.start(options);
    options.roots = {root(path("b"))};
    scanner.start(options);
    scanner.wait();
    QCOMPARE(scanner.result().entries.size(), size_t{1});
    QCOMPARE(scanner.result().entries[0].name, std::string("n"));
    options.roots.clear();
    scanner.start(options);
    scanner.wait();
    QVERIFY(scanner.result().is_complete && scanner.result().entries.empty());
}

void TestScanner::survivesWhatThrows() {
    putModel(path("m"));
    ScanOptions options;
    options.roots = {root(path())};
    options.before_operation = [](const fs::path&) { throw std::bad_alloc(); };
    Scanner scanner;
    scanner.start(options);
    scanner.wait();
    QVERIFY(scanner.result().roots.at(0).outcome == RootReport::Outcome::Unreadable);
}

void TestScanner::readsHeaders() {
    fs::copy(goldenDir() / "e2b/model", path("m"), fs::copy_options::recursive);
    const ScanResult result = assessed(path());
    const Entry* entry = named(result, "m");
    QVERIFY(entry != nullptr);
    QVERIFY2(entry->state == State::Usable,
             entry->trouble ? engine::inEnglish(entry->trouble->sentence).c_str() : "");
    QVERIFY(entry->parameters > 1'000'000);
    QCOMPARE(entry->precision, std::string("bfloat16"));
    QVERIFY(entry->fit == Fit::Fits);
    QVERIFY(entry->needs_bytes > entry->bytes / 2);
    // Without its weights config.json still tells what it would take.
    fs::remove(path("m/model.safetensors"));
    const ScanResult half = assessed(path());
    QVERIFY(named(half, "m")->state == State::Incomplete);
    QVERIFY(named(half, "m")->fit == Fit::Fits);
    QCOMPARE(named(half, "m")->missing, std::vector<std::string>{"model.safetensors"});
}

void TestScanner::tellsWhatIsNotSupported() {
    putModel(path("m"));
    put(path("m/config.json"), R"({"model_type":"qwen3","architectures":["Qwen3ForCausalLM"]})");
    const ScanResult result = assessed(path());
    const Entry* entry = named(result, "m");
    QVERIFY(entry != nullptr && entry->state == State::Unusable);
    QVERIFY(entry->trouble->reason == Trouble::Reason::NotSupported);
    QVERIFY2(engine::inEnglish(entry->trouble->sentence).find("qwen3") != std::string::npos,
             engine::inEnglish(entry->trouble->sentence).c_str());
}

void TestScanner::tellsAShortFile() {
    fs::copy(goldenDir() / "e2b/model", path("m"), fs::copy_options::recursive);
    const fs::path weights = path("m/model.safetensors");
    fs::permissions(weights, fs::perms::owner_all);
    fs::resize_file(weights, fs::file_size(weights) - 1000);
    const ScanResult result = assessed(path());
    const Entry* entry = named(result, "m");
    QVERIFY(entry != nullptr && entry->state != State::Usable);
    QVERIFY2(engine::inEnglish(entry->trouble->sentence).find("model.safetensors") !=
                 std::string::npos,
             engine::inEnglish(entry->trouble->sentence).c_str());
}

TEST_CLASS(TestScanner)
#include "tst_scanner.moc"
