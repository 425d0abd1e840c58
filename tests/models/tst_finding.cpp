// SPDX-License-Identifier: Apache-2.0
// What is found in file trees: caches, folders, halves of downloads, other formats, traps.
#include "engine/api/load_request.h"
#include "engine/base/paths.h"
#include "tests/models/scanning.h"
#include "tests/support/program/test_class.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>

#include "models/removal.h"

#ifndef _WIN32
#include <sys/stat.h>
#include <unistd.h>
#endif

using namespace models;
using namespace support;

class TestFinding : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init();
    void hubCache();
    void hubCacheWithoutLinks();
    void sharedBlobs();
    void beginningOfADownload();
    void ollamasFolder();
    void missingFiles_data();
    void missingFiles();
    void unusable_data();
    void unusable();
    void plainFolders();
    void lmStudio();
    void adaptersUnderTheirBase();
    void sameThingOnce();
    void traps();
    void unreadable();
    void manyEntries();
    void deepFolders();
    void namesThatAreNoText();
    void noSuchFolder();

private:
    [[nodiscard]] fs::path path(const char* below = "") const {
        return engine::pathFromUtf8(dir_->path().toStdString()) / below;
    }
    std::unique_ptr<QTemporaryDir> dir_;
};

void TestFinding::init() {
    dir_ = std::make_unique<QTemporaryDir>();
    QVERIFY(dir_->isValid());
}

void TestFinding::hubCache() {
#ifdef _WIN32
    QSKIP("links need a right that not everybody has");
#endif
    const HubRepository gemma(path(), "models--google--gemma-4-E2B-it");
    gemma.linkModel(kCommitA, '3');
    gemma.linkModel(kCommitB, '4');
    gemma.ref("main", kCommitA);
    gemma.ref("refs/pr/7", kCommitB);
    const HubRepository lora(path(), "models--me--my-lora");
    lora.link(kCommitA, "sub/adapter_config.json", '5',
              R"({"peft_type":"LORA","base_model_name_or_path":"google/gemma-4-E2B-it"})");
    lora.link(kCommitA, "sub/adapter_model.safetensors", '6', "weights");
    put(path("datasets--x--y/snapshots") / kCommitA / "config.json", kGemmaConfig);
    const ScanResult found = scan({root(path(), Place::HubCache)});
    QCOMPARE(found.entries.size(), size_t{3});
    QVERIFY(found.is_complete);
    const Entry& main = found.entries[0];
    QCOMPARE(main.name, std::string("google/gemma-4-E2B-it"));
    QCOMPARE(main.commit, kCommitA);
    QCOMPARE(main.revisionShown(), std::string("main"));
    QVERIFY(main.state == State::Usable);
    QCOMPARE(main.bytes, uint64_t{2000 + 2} + kGemmaConfig.size());
    QVERIFY(main.modified > 1'600'000'000);
    QCOMPARE(main.family, std::string("gemma4"));
    QCOMPARE(main.precision, std::string("bfloat16"));
    QCOMPARE(found.entries[1].revisionShown(), std::string("refs/pr/7"));
    const Entry* adapter = named(found, "me/my-lora/sub");
    QVERIFY(adapter != nullptr && adapter->kind == Kind::Adapter);
    QCOMPARE(adapter->base, main.name);
    QVERIFY(adapter->state == State::Usable);
    QCOMPARE(adapter->rank, int64_t{8});
}

void TestFinding::hubCacheWithoutLinks() {
    const HubRepository gemma(path(), "models--google--gemma-4-E2B-it");
    putModel(gemma.snapshot(kCommitA));
    const ScanResult found = scan({root(path(), Place::HubCache)});
    QCOMPARE(found.entries.size(), size_t{1});
    QVERIFY(found.entries[0].state == State::Usable);
    QCOMPARE(found.entries[0].revisionShown(), kCommitA.substr(0, 7));
}

/// huggingface_hub 2 keeps large files of all repositories in hub/blobs: a second link leads there.
void TestFinding::sharedBlobs() {
#ifdef _WIN32
    QSKIP("links need a right that not everybody has");
#endif
    const HubRepository gemma(path(), "models--google--gemma-4-E2B-it");
    gemma.linkModel(kCommitA, '3');
    const std::string shared(64, 'f');
    put(path("blobs/ff") / shared, std::string(3000, 's'));
    const fs::path blob = gemma.folder() / "blobs" / std::string(64, '3');
    fs::remove(blob);
    fs::create_symlink(fs::path("../../blobs/ff") / shared, blob);
    const ScanResult found = scan({root(path(), Place::HubCache)});
    QCOMPARE(found.entries.size(), size_t{1});
    QVERIFY(found.entries[0].state == State::Usable);
    QVERIFY(found.entries[0].bytes > 3000);
}

void TestFinding::beginningOfADownload() {
    put(path("models--google--gemma-4-E4B-it/blobs/abc.incomplete"), std::string(700, 'x'));
    const ScanResult found = scan({root(path(), Place::HubCache)});
    QCOMPARE(found.entries.size(), size_t{1});
    QVERIFY(found.entries[0].state == State::Incomplete);
    QCOMPARE(found.entries[0].bytes, uint64_t{700});
    QVERIFY(engine::inEnglish(found.entries[0].trouble->way_out)
                .find("belfry-cli get google/gemma-4-E4B-it") == 0);
}

void TestFinding::ollamasFolder() {
    const std::string digest(64, 'd');
    const auto manifest = [&](const std::string& file, const std::string& blob) {
        put(path("manifests") / file,
            R"({"layers":[{"mediaType":"application/vnd.ollama.image.model","size":5000,)"
            R"("digest":"sha256:)" +
                blob + R"("},{"mediaType":"application/vnd.ollama.image.license","size":7}]})");
    };
    manifest("registry.ollama.ai/library/gemma4/e2b", digest);
    manifest("registry.ollama.ai/library/gone/latest", std::string(64, 'e'));
    const std::string towers(64, 'f');
    put(path("manifests/hf.co/me/mine/latest"),
        R"({"layers":[{"mediaType":"application/vnd.ollama.image.model","digest":"sha256:)" +
            digest +
            R"("},{"mediaType":"application/vnd.ollama.image.projector","digest":"sha256:)" +
            towers + R"("}]})");
    put(path("blobs") / ("sha256-" + towers), "GGUF");
    manifest("registry.ollama.ai/library/evil/latest", "../../../../etc/passwd");
    put(path("manifests/registry.ollama.ai/library/broken/latest"), "{");
    put(path("blobs") / ("sha256-" + digest), "GGUF");
    const ScanResult found = scan({root(path(), Place::Ollama)});
    QCOMPARE(found.entries.size(), size_t{3});
    const Entry* const gemma = named(found, "gemma4:e2b");
    QVERIFY(gemma != nullptr && gemma->projector.empty());
    const Entry* const mine = named(found, "me/mine:latest");
    QVERIFY(mine != nullptr);
    QCOMPARE(mine->projector, path("blobs") / ("sha256-" + towers));
    const Entry* const gone = named(found, "gone:latest");
    QVERIFY(gone != nullptr && gone->state == State::Incomplete);
    QVERIFY(engine::inEnglish(gone->trouble->way_out).find("ollama pull gone:latest") == 1);
    QCOMPARE(gemma->bytes, uint64_t{5007});
    QCOMPARE(gemma->path, path("blobs") / ("sha256-" + digest));
    QVERIFY(gemma->state == State::Usable && gemma->form == Form::Gguf);
    const auto removal = models::planRemoval(*gemma);
    QVERIFY(!removal.has_value());
    QVERIFY(removal.error().message.find("ollama rm gemma4:e2b") != std::string::npos);
}

void TestFinding::missingFiles_data() {
    support::addColumns<QByteArrayList, QByteArrayList>("removed", "missing");
    QTest::newRow("whole") << QByteArrayList{} << QByteArrayList{};
    QTest::newRow("a shard") << QByteArrayList{"model-00002-of-00003.safetensors"}
                             << QByteArrayList{"model-00002-of-00003.safetensors"};
    QTest::newRow("the index") << QByteArrayList{"model.safetensors.index.json",
                                                 "model-00001-of-00003.safetensors"}
                               << QByteArrayList{"model.safetensors.index.json",
                                                 "model-00001-of-00003.safetensors"};
    QTest::newRow("tokenizer") << QByteArrayList{"tokenizer.json"}
                               << QByteArrayList{"tokenizer.json"};
    QTest::newRow("config") << QByteArrayList{"config.json"} << QByteArrayList{"config.json"};
    QTest::newRow("all weights") << QByteArrayList{"model.safetensors.index.json",
                                                   "model-00001-of-00003.safetensors",
                                                   "model-00002-of-00003.safetensors",
                                                   "model-00003-of-00003.safetensors"}
                                 << QByteArrayList{"model.safetensors"};
}

void TestFinding::missingFiles() {
    QFETCH(QByteArrayList, removed);
    QFETCH(QByteArrayList, missing);
    const fs::path folder = path("m");
    put(folder / "config.json", kGemmaConfig);
    put(folder / "tokenizer.json", "{}");
    put(folder / "model.safetensors.index.json",
        R"({"weight_map":{"a":"model-00001-of-00003.safetensors",)"
        R"("b":"model-00002-of-00003.safetensors","c":"model-00003-of-00003.safetensors"}})");
    for (const char* shard : {"1", "2", "3"}) {
        put(folder / ("model-0000" + std::string(shard) + "-of-00003.safetensors"),
            std::string(2000, 'w'));
    }
    for (const QByteArray& name : removed) {
        fs::remove(folder / name.toStdString());
    }
    const ScanResult found = scan({root(path())});
    QCOMPARE(found.entries.size(), size_t{1});
    const Entry& entry = found.entries[0];
    QCOMPARE(entry.missing.size(), static_cast<size_t>(missing.size()));
    for (const QByteArray& name : missing) {
        QVERIFY2(std::count(entry.missing.begin(), entry.missing.end(), name.toStdString()) == 1,
                 name.constData());
    }
    QVERIFY((entry.state == State::Usable) == missing.isEmpty());
    QVERIFY(missing.isEmpty() ||
            engine::inEnglish(entry.trouble->sentence).find(missing[0].toStdString()) !=
                std::string::npos);
}

void TestFinding::unusable_data() {
    support::addColumns<QByteArray, QByteArray, QByteArray, QByteArray, QByteArray>(
        "file", "text", "name", "reason", "says");
    const QByteArray config = QByteArray::fromStdString(kGemmaConfig);
    QTest::newRow("pickle in a zip")
        << QByteArray("m/pytorch_model.bin") << QByteArray("PK\x03\x04 and more") << QByteArray("m")
        << QByteArray("pickle") << QByteArray("never opens one");
    QTest::newRow("old pickle") << QByteArray("m/pytorch_model-00001-of-00002.bin")
                                << QByteArray("\x80\x02}q") << QByteArray("m")
                                << QByteArray("pickle") << QByteArray("Python pickle");
    QTest::newRow("no GGUF") << QByteArray("m/x.gguf") << QByteArray("something else")
                             << QByteArray("m/x.gguf") << QByteArray("broken")
                             << QByteArray("does not begin as a GGUF file");
    QTest::newRow("MLX") << QByteArray("m/config.json")
                         << QByteArray(R"({"model_type":"gemma4","quantization":)"
                                       R"({"group_size":64,"bits":4}})")
                         << QByteArray("m") << QByteArray("mlx") << QByteArray("MLX");
    QTest::newRow("LFS pointer") << QByteArray("m/model.safetensors")
                                 << QByteArray("version https://git-lfs.github.com/spec/v1\n")
                                 << QByteArray("m") << QByteArray("files-missing")
                                 << QByteArray("model.safetensors is a Git LFS pointer");
    for (const char* file :
         {"tokenizer.json", "config.json", "adapter_config.json", "adapter_model.safetensors"}) {
        QTest::addRow("LFS pointer: %s", file)
            << QByteArray("m/") + file << QByteArray("version https://git-lfs.github.com/spec/v1\n")
            << QByteArray("m") << QByteArray("files-missing")
            << QByteArray(file) + " is a Git LFS pointer";
    }
    QTest::newRow("a page of the hub")
        << QByteArray("m/tokenizer.json") << QByteArray("<!doctype html><html>Sign in")
        << QByteArray("m") << QByteArray("files-missing") << QByteArray("is a web page");
    QTest::newRow("adapter of another kind")
        << QByteArray("m/adapter_config.json") << QByteArray(R"({"peft_type":"IA3"})")
        << QByteArray("m") << QByteArray("not-supported") << QByteArray("IA3");
    QTest::newRow("adapter that is no JSON")
        << QByteArray("m/adapter_config.json") << QByteArray("{") << QByteArray("m")
        << QByteArray("broken") << QByteArray("adapter_config.json");
}

void TestFinding::unusable() {
    QFETCH(QByteArray, file);
    QFETCH(QByteArray, text);
    QFETCH(QByteArray, name);
    QFETCH(QByteArray, reason);
    QFETCH(QByteArray, says);
    if (file.contains("adapter")) {
        put(path("m/adapter_config.json"), R"({"peft_type":"LORA","target_modules":["q_proj"]})");
        put(path("m/adapter_model.safetensors"), "weights");
    } else {
        put(path("m/config.json"), kGemmaConfig);
        put(path("m/tokenizer.json"), "{}");
        if (file == "m/config.json" || file == "m/tokenizer.json") {
            put(path("m/model.safetensors"), std::string(2000, 'w'));
        }
    }
    put(path(file.constData()), std::string_view(text.constData(), size_t(text.size())));
    const ScanResult found = scan({root(path())});
    const Entry* entry = named(found, name.toStdString());
    QVERIFY(entry != nullptr);
    QVERIFY(entry->state != State::Usable && entry->trouble.has_value());
    QCOMPARE(QByteArray::fromStdString(std::string(reasonName(entry->trouble->reason))), reason);
    QVERIFY2(engine::inEnglish(entry->trouble->sentence).find(says.toStdString()) !=
                 std::string::npos,
             engine::inEnglish(entry->trouble->sentence).c_str());
}

void TestFinding::plainFolders() {
    putModel(path("one"));
    putModel(path("group/two"));
    putAdapter(path("group/two/checkpoint-5"), "group/two");
    put(path("project/config.json"), R"({"name":"a program"})"); // no model's
    put(path("project/weights.safetensors"), "x");
    putModel(path(".hidden/three"));
    put(path("cache/models--a--b/snapshots") / kCommitA / "config.json", kGemmaConfig);
    const ScanResult found = scan({root(path())});
    std::vector<std::string> names;
    for (const Entry& entry : found.entries) {
        names.push_back(entry.name);
    }
    QCOMPARE(names,
             (std::vector<std::string>{"a/b", "group/two", "group/two/checkpoint-5", "one"}));
    // The model's folder itself: by its own name.
    QCOMPARE(scan({root(path("one"))}).entries.at(0).name, std::string("one"));
}

void TestFinding::lmStudio() {
    put(path("models/pub/name/x-Q4_K_M.gguf"), "GGUF....");
    put(path("models/pub/name/mmproj-x.gguf"), "GGUF......");
    put(path("models/pub/name/mtp-x.gguf"), "GGUF....");
    put(path("models/pub/name/config.json"), kGemmaConfig); // stands for no model of its own
    put(path("models/pub/name/y-00001-of-00002.gguf"), "GGUF....");
    put(path("elsewhere/pub/moved/z.gguf"), "GGUF....");
    put(path("models/pub/name/lora.gguf"),
        std::string(24, 'G').replace(0, 4, "GGUF") + std::string(engine::kGgufAdapterMark));
    const ScanResult found = scan({root(path(), Place::LmStudio)});
    QCOMPARE(found.entries.size(), size_t{3});
    const Entry* adapter = named(found, "pub/name/lora.gguf");
    QVERIFY(adapter != nullptr && adapter->kind == Kind::Adapter);
    QVERIFY(adapter->state == State::Usable && adapter->form == Form::Gguf);
    QCOMPARE(adapter->bytes, uint64_t{24 + 31}); // the others go with the model
    const Entry* whole = named(found, "pub/name/x-Q4_K_M.gguf");
    QVERIFY(whole != nullptr && whole->state == State::Usable);
    QCOMPARE(whole->precision, std::string("Q4_K_M"));
    QCOMPARE(whole->bytes, uint64_t{8 + 10 + 8}); // with projector and assistant
    const Entry* half = named(found, "pub/name/y-00001-of-00002.gguf");
    QVERIFY(half != nullptr);
    QCOMPARE(half->missing, std::vector<std::string>{"y-00002-of-00002.gguf"});
    put(path("settings.json"),
        "{\"downloadsFolder\":\"" + engine::utf8Of(path("elsewhere").generic_string()) + "\"}");
    QVERIFY(named(scan({root(path(), Place::LmStudio)}), "pub/moved/z.gguf") != nullptr);
}

void TestFinding::adaptersUnderTheirBase() {
    putModel(path("gemma-4-E2B-it"));
    putModel(path("other"));
    putAdapter(path("exact"), "other");
    putAdapter(path("last-part"), "google/gemma-4-E2B-it");
    putAdapter(path("unsloth"), "unsloth/gemma-4-e2b-it-unsloth-bnb-4bit");
    putAdapter(path("by-path"), engine::utf8Of(path("other").generic_string()));
    putAdapter(path("other/inside"), "");
    putAdapter(path("orphan"), "google/gemma-4-31B-it");
    const ScanResult found = scan({root(path())});
    std::string text;
    for (const Group& group : groupByBase(found.entries)) {
        text += group.model < 0 ? "-" : found.entries[size_t(group.model)].name;
        for (const int i : group.adapters) {
            text += " " + found.entries[size_t(i)].name;
        }
        text += "; ";
    }
    QCOMPARE(text,
             std::string(
                 "gemma-4-E2B-it last-part unsloth; other by-path exact other/inside; - orphan; "));
}

void TestFinding::sameThingOnce() {
    putModel(path("a/m"));
    const ScanResult found = scan({root(path()), root(path("a")), root(path("a/m"))});
    QCOMPARE(found.entries.size(), size_t{1});
    QCOMPARE(found.roots.size(), size_t{3});
}

/// Loops, pipes, links that lead out or nowhere, folders in the place of files.
void TestFinding::traps() {
#ifdef _WIN32
    QSKIP("links need a right that not everybody has");
#else
    QTemporaryDir outside;
    const fs::path out = engine::pathFromUtf8(outside.path().toStdString());
    putModel(out / "secret");
    putModel(path("good"));
    fs::create_directory_symlink(path(), path("good/loop"));
    fs::create_directory_symlink(out, path("leads-out"));
    fs::create_directories(path("leaks"));
    put(path("leaks/config.json"), kGemmaConfig);
    put(path("leaks/tokenizer.json"), "{}");
    fs::create_symlink(out / "secret/model.safetensors", path("leaks/model.safetensors"));
    fs::create_directories(path("dangling"));
    put(path("dangling/config.json"), kGemmaConfig);
    put(path("dangling/tokenizer.json"), "{}");
    fs::create_symlink("nowhere", path("dangling/model.safetensors"));
    fs::create_directories(path("pipe"));
    QCOMPARE(mkfifo(path("pipe/config.json").c_str(), 0600), 0);
    QCOMPARE(mkfifo(path("pipe/model.safetensors").c_str(), 0600), 0);
    QCOMPARE(mkfifo(path("pipe/x.gguf").c_str(), 0600), 0);
    fs::create_directories(path("folder/model.safetensors"));
    fs::create_directories(path("folder/config.json"));
    const ScanResult found = scan({root(path())});
    std::vector<std::string> names;
    for (const Entry& entry : found.entries) {
        names.push_back(entry.name);
        QVERIFY(entry.state == State::Usable || !entry.missing.empty());
    }
    QCOMPARE(names, (std::vector<std::string>{"dangling", "good", "leaks"}));
    QVERIFY(named(found, "leaks")->state == State::Incomplete);
    QVERIFY(named(found, "good")->state == State::Usable);
    // A snapshot that is a link, a blob that leads out of the repository.
    const HubRepository evil(path("hub"), "models--e--vil");
    fs::create_directories(evil.folder() / "snapshots");
    fs::create_directory_symlink(out / "secret", evil.snapshot(kCommitA));
    evil.link(kCommitB, "config.json", '1', kGemmaConfig);
    fs::create_symlink(out / "secret/model.safetensors",
                       evil.snapshot(kCommitB) / "model.safetensors");
    const ScanResult cache = scan({root(path("hub"), Place::HubCache)});
    QCOMPARE(cache.entries.size(), size_t{1});
    QCOMPARE(cache.entries[0].commit, kCommitB);
    QVERIFY(cache.entries[0].state == State::Incomplete);
#endif
}

void TestFinding::unreadable() {
#ifndef _WIN32
    if (geteuid() == 0) {
        QSKIP("root reads everything");
    }
    putModel(path("closed/m"));
    putModel(path("open"));
    fs::permissions(path("closed"), fs::perms::none);
    const ScanResult found = scan({root(path()), root(path("closed"))});
    fs::permissions(path("closed"), fs::perms::owner_all);
    QCOMPARE(found.entries.size(), size_t{1});
    const auto report = std::find_if(found.roots.begin(), found.roots.end(), [](const auto& r) {
        return r.outcome == RootReport::Outcome::Unreadable;
    });
    QVERIFY(report != found.roots.end());
    QVERIFY(engine::inEnglish(report->sentence).find("may open it") != std::string::npos);
#endif
}

void TestFinding::manyEntries() {
    putModel(path("a"));
    for (int i = 0; i < 300; ++i) {
        put(path("huge") / ("file" + std::to_string(i)), "x");
    }
    Limits limits;
    limits.max_entries = 100;
    const ScanResult found = scan({root(path())}, limits);
    QVERIFY(named(found, "a") != nullptr);
    QVERIFY(found.roots.at(0).outcome == RootReport::Outcome::Cut);
    QVERIFY(engine::inEnglish(found.roots.at(0).sentence).find("100 entries") != std::string::npos);
}

void TestFinding::deepFolders() {
    putModel(path("1/2/3/4"));
    putModel(path("1/2/3/4/5"));
    const ScanResult found = scan({root(path())});
    QCOMPARE(found.entries.size(), size_t{1});
    QCOMPARE(found.entries[0].name, std::string("1/2/3/4"));
}

void TestFinding::namesThatAreNoText() {
#ifndef _WIN32
    putModel(path() / "b\xff\xfe");
    put(path() / "m" / "odd\x80.safetensors", "x");
    putModel(path("m"));
    put(path("m") / "line\nbreak", "x");
    const ScanResult found = scan({root(path())});
    QCOMPARE(found.entries.size(), size_t{2});
    QVERIFY(named(found, "b\xff\xfe") != nullptr);
    QVERIFY(named(found, "b\xff\xfe")->state == State::Usable);
    QVERIFY(named(found, "m")->state == State::Usable);
#endif
}

void TestFinding::noSuchFolder() {
    const ScanResult found = scan({root(path("nowhere"))});
    QVERIFY(found.roots.at(0).outcome == RootReport::Outcome::Missing);
    put(path("file"), "x");
    QVERIFY(scan({root(path("file"))}).roots.at(0).outcome == RootReport::Outcome::Unreadable);
}

TEST_CLASS(TestFinding)
#include "tst_finding.moc"
