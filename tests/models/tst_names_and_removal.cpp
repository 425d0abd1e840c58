// SPDX-License-Identifier: Apache-2.0
// Which entry a name means, the folders that the user named, and what deleting takes and leaves.
#include "engine/base/paths.h"
#include "tests/models/scanning.h"
#include "tests/support/program/test_class.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>

#include "models/names.h"
#include "models/removal.h"
#include "models/user_folders.h"

using namespace models;
using namespace support;

namespace {

/// Everything below a folder, relative, links not followed.
std::vector<std::string> listing(const fs::path& folder) {
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        if (!fs::is_directory(entry.symlink_status())) {
            names.push_back(
                engine::utf8Of(entry.path().lexically_relative(folder).generic_string()));
        }
    }
    std::sort(names.begin(), names.end());
    return names;
}

std::string messageOf(const engine::Result<void>& outcome) {
    return outcome.has_value() ? std::string() : outcome.error().message;
}

} // namespace

class TestNamesAndRemoval : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init();
    void words_data();
    void words();
    void names_data();
    void names();
    void ambiguity();
    void folderList();
    void deletesARevision();
    void deletesTheLastRevision();
    void deletesOnlyTheModelsFiles();
    void deletesParts();
    void deletesAQuantization();
    void ggufNames();
    void refuses();
    void followsNoLink();

private:
    [[nodiscard]] fs::path path(const std::string& below = "") const {
        return fs::canonical(engine::pathFromUtf8(dir_->path().toStdString())) / below;
    }
    std::unique_ptr<QTemporaryDir> dir_;
};

void TestNamesAndRemoval::init() {
    dir_ = std::make_unique<QTemporaryDir>();
    QVERIFY(dir_->isValid());
}

void TestNamesAndRemoval::words_data() {
    support::addColumns<QByteArray, bool, bool>("word", "is_name", "is_id");
    const auto row = [](const char* word, bool is_name, bool is_id) {
        QTest::newRow(word) << QByteArray(word) << is_name << is_id;
    };
    row("google/gemma-4-E2B-it", true, true);
    row("gemma", true, false);
    row("./gemma", false, false);
    row("/models/gemma", false, false);
    row("~/gemma", false, false);
    row("C:\\models", false, false);
    row("a/b/c", true, false);
    row("a/b/", false, false);
    row("a/../b", true, false);
    row("a b/c", true, false);
}

void TestNamesAndRemoval::words() {
    QFETCH(QByteArray, word);
    QFETCH(bool, is_name);
    QFETCH(bool, is_id);
    QCOMPARE(canBeName(word.toStdString()), is_name);
    QCOMPARE(isHubId(word.toStdString()), is_id);
}

void TestNamesAndRemoval::names_data() {
    QTest::addColumn<QByteArray>("word");
    QTest::addColumn<QByteArray>("path"); // "" none
    const auto row = [](const char* word, const char* expected) {
        QTest::newRow(word) << QByteArray(word) << QByteArray(expected);
    };
    row("google/gemma-4-E2B-it", "main");
    row("GOOGLE/gemma-4-e2b-it", "main");
    row("gemma-4-E2B-it", "main");
    row("google/gemma-4-E2B-it@main", "main");
    row("google/gemma-4-E2B-it@refs/pr/7", "other");
    row("google/gemma-4-E2B-it@bbbbbbb", "other");
    row("google/gemma-4-E2B-it@bbb", ""); // too few digits
    row("google/gemma-4-E2B-it@nowhere", "");
    row("odd@name", "odd");
    row("half", "half");
    row("lora", ""); // an adapter
    row("E2B-it", "");
}

void TestNamesAndRemoval::names() {
    QFETCH(QByteArray, word);
    QFETCH(QByteArray, path);
    std::vector<Entry> entries(5);
    entries[0].name = entries[1].name = "google/gemma-4-E2B-it";
    entries[0].repository = entries[1].repository = "repository";
    entries[0].path = "other";
    entries[0].commit = kCommitB;
    entries[0].refs = {"refs/pr/7"};
    entries[0].modified = 9; // newer, but not main
    entries[1].path = "main";
    entries[1].commit = kCommitA;
    entries[1].refs = {"main"};
    entries[2].name = "odd@name";
    entries[2].path = "odd";
    entries[3].name = "lora";
    entries[3].kind = Kind::Adapter;
    entries[4].name = "half";
    entries[4].path = "half";
    entries[4].state = State::Incomplete;
    const auto found = resolveName(word.toStdString(), Kind::Model, entries);
    QCOMPARE(found.has_value(), !path.isEmpty());
    QCOMPARE(found.has_value() ? engine::utf8Of(found->path) : std::string(), path.toStdString());
}

void TestNamesAndRemoval::ambiguity() {
    std::vector<Entry> entries(2);
    entries[0].name = "a/gemma";
    entries[0].path = "/one";
    entries[1].name = "b/gemma";
    entries[1].path = "/two";
    const auto found = resolveName("gemma", Kind::Model, entries);
    QVERIFY(!found.has_value());
    for (const char* part : {"several", "a/gemma", "/one", "b/gemma", "/two"}) {
        QVERIFY2(found.error().message.find(part) != std::string::npos, part);
    }
    QVERIFY(resolveName("b/gemma", Kind::Model, entries).has_value());
    entries[0].state = State::Unusable; // does not stand in the way
    QCOMPARE(resolveName("gemma", Kind::Model, entries)->name, std::string("b/gemma"));
}

void TestNamesAndRemoval::folderList() {
    const fs::path file = path("settings/library-folders");
    QCOMPARE(readFolderList(file)->size(), size_t{0});
    const std::vector<fs::path> folders = {path("models"), path("m\xc3\xb6"
                                                                "dels two")};
    QVERIFY(writeFolderList(file, folders).has_value());
    QCOMPARE(*readFolderList(file), folders);
    QVERIFY(!writeFolderList(file, {"relative"}).has_value());
    QVERIFY(!writeFolderList(file, {path("line\nbreak")}).has_value());
    QCOMPARE(*readFolderList(file), folders);
    put(file, "# note\r\nrelative\n\n" + engine::utf8Of(path("x")) + "\r\n");
    QCOMPARE(*readFolderList(file), std::vector<fs::path>{path("x")});
    fs::remove(file);
    fs::create_directories(file);
    QVERIFY(!readFolderList(file).has_value());
}

void TestNamesAndRemoval::deletesARevision() {
#ifdef _WIN32
    QSKIP("links need a right that not everybody has");
#endif
    const HubRepository gemma(path("hub"), "models--google--gemma-4-E2B-it");
    gemma.linkModel(kCommitA, '3');
    gemma.linkModel(kCommitB, '4'); // the same config and tokenizer
    gemma.ref("main", kCommitA);
    gemma.ref("other", kCommitB);
    put(gemma.folder() / ".no_exist" / kCommitA / "x", "");
    put(gemma.folder() / "trees" / (kCommitA + ".json"), "{}");
    put(path("hub/blobs/ff/shared"), "of all");
    const ScanResult found = scan({root(path("hub"), Place::HubCache)});
    const auto removal =
        planRemoval(*resolveName("google/gemma-4-E2B-it@main", Kind::Model, found.entries));
    QVERIFY(removal.has_value());
    QCOMPARE(removal->bytes, uint64_t{2000}); // the weights: the rest is in use
    QVERIFY(!removal->is_whole_repository && removal->is_shared);
    const auto before = listing(path("hub"));
    VERIFY_VALUE(models::remove(*removal));
    const std::string b = "models--google--gemma-4-E2B-it/";
    const std::vector<std::string> left = {"blobs/ff/shared",
                                           b + "blobs/" + std::string(64, '1'),
                                           b + "blobs/" + std::string(64, '2'),
                                           b + "blobs/" + std::string(64, '4'),
                                           b + "refs/other",
                                           b + "snapshots/" + kCommitB + "/config.json",
                                           b + "snapshots/" + kCommitB + "/model.safetensors",
                                           b + "snapshots/" + kCommitB + "/tokenizer.json"};
    QCOMPARE(listing(path("hub")), left);
    QVERIFY(before.size() > left.size());
    QVERIFY(scan({root(path("hub"), Place::HubCache)}).entries.at(0).state == State::Usable);
}

void TestNamesAndRemoval::deletesTheLastRevision() {
    const HubRepository gemma(path("hub"), "models--google--gemma-4-E2B-it");
    putModel(gemma.snapshot(kCommitA)); // without links
    gemma.ref("main", kCommitA);
    put(path("hub/.locks/models--google--gemma-4-E2B-it/x.lock"), "");
    put(path("hub/.locks/other/x.lock"), "");
    put(path("hub/models--b--c/refs/main"), kCommitA);
    const ScanResult found = scan({root(path("hub"), Place::HubCache)});
    const auto removal = planRemoval(found.entries.at(0));
    QVERIFY(removal.has_value() && removal->is_whole_repository);
    QVERIFY(removal->bytes > 2000);
    VERIFY_VALUE(models::remove(*removal));
    QCOMPARE(listing(path("hub")),
             (std::vector<std::string>{".locks/other/x.lock", "models--b--c/refs/main"}));
}

void TestNamesAndRemoval::deletesOnlyTheModelsFiles() {
    putModel(path("models/m"));
    put(path("models/m/thesis.odt"), "mine");
    put(path("models/m/notes/x"), "mine");
    put(path("models/m/.cache/huggingface/download/x.lock"), "");
    putModel(path("models/alone"));
    putModel(path("models/other"));
    const ScanResult found = scan({root(path("models"))});
    const auto removal = planRemoval(*named(found, "m"));
    QVERIFY(removal.has_value());
    QCOMPARE(removal->kept, (std::vector<std::string>{"notes/", "thesis.odt"}));
    VERIFY_VALUE(models::remove(*removal));
    const auto alone = planRemoval(*named(found, "alone"));
    QVERIFY(alone.has_value() && alone->kept.empty());
    VERIFY_VALUE(models::remove(*alone));
    QCOMPARE(listing(path("models")),
             (std::vector<std::string>{"m/notes/x", "m/thesis.odt", "other/config.json",
                                       "other/model.safetensors", "other/tokenizer.json"}));
    QVERIFY(!fs::exists(path("models/alone")));
}

void TestNamesAndRemoval::deletesParts() {
    for (const char* name :
         {"x-00001-of-00002.gguf", "x-00002-of-00002.gguf", "y.gguf", "mmproj-x.gguf", "notes"}) {
        put(path("lm/models/p/n") / name, "GGUF");
    }
    const ScanResult found = scan({root(path("lm"), Place::LmStudio)});
    const auto removal = planRemoval(*named(found, "p/n/x-00001-of-00002.gguf"));
    QVERIFY(removal.has_value());
    VERIFY_VALUE(models::remove(*removal));
    using Names = std::vector<std::string>;
    QCOMPARE(listing(path("lm")),
             (Names{"models/p/n/mmproj-x.gguf", "models/p/n/notes", "models/p/n/y.gguf"}));
    const auto last = planRemoval(*named(found, "p/n/y.gguf"));
    QVERIFY(last.has_value());
    VERIFY_VALUE(models::remove(*last));
    QCOMPARE(listing(path("lm")), Names{"models/p/n/notes"});
}

/// One quantization of a download, then the last one with all that was fetched for it.
void TestNamesAndRemoval::deletesAQuantization() {
    const support::HubRepository repository(path("hub"), "models--me--m-GGUF");
    repository.link(support::kCommitA, "m-Q4_0.gguf", '1', "GGUF four");
    repository.link(support::kCommitA, "m-Q8_0.gguf", '2', "GGUF eight");
    repository.link(support::kCommitA, "mmproj-BF16.gguf", '3', "GGUF towers");
    const ScanResult found = scan({root(path("hub"), Place::HubCache)});
    QCOMPARE(found.entries.size(), size_t{2});
    const auto removal = planRemoval(*named(found, "me/m-GGUF/m-Q8_0.gguf"));
    VERIFY_VALUE(removal);
    QCOMPARE(removal->bytes, uint64_t{10});
    VERIFY_VALUE(models::remove(*removal));
    const fs::path snapshot = repository.snapshot(support::kCommitA);
    QVERIFY(fs::exists(snapshot / "m-Q4_0.gguf") && fs::exists(snapshot / "mmproj-BF16.gguf"));
    QVERIFY(!fs::exists(repository.folder() / "blobs" / std::string(64, '2')));
    const auto last = planRemoval(*named(found, "me/m-GGUF/m-Q4_0.gguf"));
    VERIFY_VALUE(last);
    VERIFY_VALUE(models::remove(*last));
    QVERIFY(!fs::exists(repository.folder()));
}

/// By the folder, by folder and quantization as llama.cpp and Ollama have it, and Ollama's own.
void TestNamesAndRemoval::ggufNames() {
    for (const char* name : {"m-Q4_K_M.gguf", "m-Q8_0.gguf", "mmproj-BF16.gguf"}) {
        put(path("lm/models/me/m-GGUF") / name, "GGUF");
    }
    put(path("lm/models/me/one/m-Q8_0.gguf"), "GGUF");
    const ScanResult found = scan({root(path("lm"), Place::LmStudio)});
    const auto nameOf = [&](const char* word) {
        const auto entry = models::resolveName(word, models::Kind::Model, found.entries);
        return entry.has_value() ? entry->name : entry.error().message;
    };
    QCOMPARE(nameOf("me/m-GGUF:q4_k_m"), std::string("me/m-GGUF/m-Q4_K_M.gguf"));
    QCOMPARE(nameOf("m-GGUF:Q8_0"), std::string("me/m-GGUF/m-Q8_0.gguf"));
    QCOMPARE(nameOf("me/one"), std::string("me/one/m-Q8_0.gguf"));
    QVERIFY(nameOf("me/m-GGUF").find("several in the library") != std::string::npos);
    QVERIFY(nameOf("me/m-GGUF:Q2_K").find("no model of this name") != std::string::npos);
    QVERIFY(models::canBeName("gemma4:e2b"));
    QVERIFY(!models::canBeName("C:\\models"));
}

void TestNamesAndRemoval::refuses() {
    putModel(path("models/m"));
    Entry entry = *named(scan({root(path("models"))}), "m");
    entry.root.folder = path("elsewhere");
    fs::create_directories(path("elsewhere"));
    const auto outside = planRemoval(entry);
    QVERIFY(!outside.has_value());
    QVERIFY(outside.error().message.find("does not lie in") != std::string::npos);
    entry.root.folder = path("models");
    fs::remove_all(path("models/m"));
    QVERIFY(!planRemoval(entry).has_value());
    const HubRepository lora(path("hub"), "models--me--loras");
    putAdapter(lora.snapshot(kCommitA) / "one", "x");
    putAdapter(lora.snapshot(kCommitA) / "two", "x");
    const ScanResult found = scan({root(path("hub"), Place::HubCache)});
    const auto part = planRemoval(*named(found, "me/loras/one"));
    QVERIFY(!part.has_value());
    QVERIFY(part.error().message.find("others would go with it") != std::string::npos);
}

void TestNamesAndRemoval::followsNoLink() {
#ifdef _WIN32
    QSKIP("links need a right that not everybody has");
#endif
    putModel(path("outside/m"));
    const HubRepository gemma(path("hub"), "models--a--b");
    gemma.linkModel(kCommitA, '3');
    fs::create_directory_symlink(path("outside"), gemma.snapshot(kCommitA) / "extra");
    fs::create_symlink(path("outside/m/config.json"), gemma.snapshot(kCommitA) / "more.json");
    const auto removal = planRemoval(scan({root(path("hub"), Place::HubCache)}).entries.at(0));
    QVERIFY(removal.has_value());
    VERIFY_VALUE(models::remove(*removal));
    QCOMPARE(listing(path("outside")).size(), size_t{3});
    // Between planning and deleting a folder becomes a link: nothing behind it goes.
    putModel(path("models/m"));
    const auto late = planRemoval(*named(scan({root(path("models"))}), "m"));
    QVERIFY(late.has_value());
    fs::rename(path("models/m"), path("models/moved"));
    fs::create_directory_symlink(path("outside/m"), path("models/m"));
    QVERIFY(messageOf(models::remove(*late)).find("has changed") != std::string::npos);
    QCOMPARE(listing(path("outside")).size(), size_t{3});
    // And a model's folder that is a link itself.
    QVERIFY(scan({root(path("models"))}).entries.size() == 1);
}

TEST_CLASS(TestNamesAndRemoval)
#include "tst_names_and_removal.moc"
