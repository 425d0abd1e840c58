// SPDX-License-Identifier: Apache-2.0
// Opening folders: shards and their index, single files, header-only folders, links (rule ST07),
// files that change while they are open (rule ST08), bounded reads of small files.
#include "engine/base/sentence_english.h"
#include "engine/files/checkpoint.h"
#include "engine/files/model_files.h"
#include "engine/files/safetensors.h"
#include "tests/engine/files/malformed_index.h"
#include "tests/support/links.h"
#include "tests/support/program/test_class.h"
#include "tests/support/results.h"

#include <QTemporaryDir>
#include <QTest>

#ifndef _WIN32
#include <sys/stat.h>
#endif

#include <algorithm>
#include <chrono>
#include <system_error>
#include <thread>

namespace {

namespace fs = std::filesystem;
using support::headerEntry;
using support::rawSafetensors;
using support::smallShard;
using support::writeBytes;

const std::string kIndex = "model.safetensors.index.json";
const std::string kFirst = "model-00001-of-00002.safetensors";
const std::string kSecond = "model-00002-of-00002.safetensors";

/// "rule: message" of a failed open, "opened" otherwise.
template <typename T>
std::string outcome(const engine::Result<T>& result) {
    return result ? "opened" : support::detailOf(result.error()) + ": " + result.error().message;
}

} // namespace

class TestModelFolder : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init();
    void shards();
    void shardWarnings_data();
    void shardWarnings();
    void singleFileWinsOverIndex();
    void headerOnlyFolders();
    void standInsAreNamed_data();
    void standInsAreNamed();
    void notAFolder();
    void links_data();
    void links();
    void hubCacheLinks_data();
    void hubCacheLinks();
    void specialFiles();
    void changedWhileOpen_data();
    void changedWhileOpen();
    void replacedWhileOpen();
    void readsFromManyThreads();
    void pickleDisguises();
    void smallFiles();

private:
    void writeShards();
    std::unique_ptr<QTemporaryDir> root_;
    fs::path folder_, outside_;
};

void TestModelFolder::init() {
    root_ = std::make_unique<QTemporaryDir>();
    QVERIFY(root_->isValid());
    folder_ = fs::path(root_->path().toStdString()) / "model";
    outside_ = fs::path(root_->path().toStdString()) / "outside";
    fs::create_directory(folder_);
    fs::create_directory(outside_);
}

void TestModelFolder::writeShards() {
    writeBytes(folder_ / kFirst, smallShard("a"));
    writeBytes(folder_ / kSecond, smallShard("b"));
    writeBytes(folder_ / kIndex, "{\"metadata\":{\"total_size\":4},\"weight_map\":{\"a\":\"" +
                                     kFirst + "\",\"b\":\"" + kSecond + "\"}}");
}

void TestModelFolder::shards() {
    writeShards();
    const auto source = engine::openModelFolder(folder_);
    QVERIFY2(source.has_value(), outcome(source).c_str());
    QVERIFY((*source)->warnings().empty());
    QVERIFY(!(*source)->isHeaderOnly());
    QCOMPARE((*source)->fileNames(), (std::vector<std::string>{kFirst, kSecond}));
    QCOMPARE((*source)->tensors().size(), size_t{2});
    for (const char* name : {"a", "b"}) {
        const engine::TensorInfo* info = (*source)->find(name);
        QVERIFY(info != nullptr);
        QCOMPARE(info->file_index, name == std::string("a") ? 0 : 1);
        std::vector<std::byte> bytes(2);
        QVERIFY((*source)->read(*info, 0, bytes).has_value());
        QCOMPARE(static_cast<int>(bytes[1]), 1);
    }
}

void TestModelFolder::shardWarnings_data() {
    support::addColumns<QByteArray, QByteArray, QByteArray>("metadata", "extra_tensor", "warning");
    QTest::newRow("no metadata") << QByteArray() << QByteArray() << QByteArray();
    QTest::newRow("right total") << QByteArray(R"("metadata":{"total_size":4},)") << QByteArray()
                                 << QByteArray();
    QTest::newRow("metadata null")
        << QByteArray(R"("metadata":null,)") << QByteArray() << QByteArray();
    QTest::newRow("wrong total") << QByteArray(R"("metadata":{"total_size":400},)") << QByteArray()
                                 << QByteArray("total_size is 400, the tensors have 4 bytes");
    QTest::newRow("total as a float")
        << QByteArray(R"("metadata":{"total_size":4.0},)") << QByteArray()
        << QByteArray("total_size is not a plain whole number");
    QTest::newRow("tensor that the index does not name")
        << QByteArray() << QByteArray("extra")
        << QByteArray("does not name these tensors of its shards, they are ignored: extra");
    QTest::newRow("the same, sorted before all others")
        << QByteArray() << QByteArray("A") << QByteArray("they are ignored: A");
}

void TestModelFolder::shardWarnings() {
    QFETCH(QByteArray, metadata);
    QFETCH(QByteArray, extra_tensor);
    QFETCH(QByteArray, warning);
    writeBytes(folder_ / kFirst, smallShard("a"));
    const std::string extra = extra_tensor.isEmpty()
                                  ? ""
                                  : "," + headerEntry(extra_tensor.toStdString(), "U8", "1", "2,3");
    writeBytes(folder_ / kSecond,
               rawSafetensors("{" + headerEntry("b", "U8", "2", "0,2") + extra + "}",
                              extra.empty() ? 2 : 3));
    writeBytes(folder_ / kIndex, "{" + metadata.toStdString() + R"("weight_map":{"b":")" + kSecond +
                                     R"(","a":")" + kFirst + "\"}}");
    const auto source = engine::openModelFolder(folder_);
    QVERIFY2(source.has_value(), outcome(source).c_str());
    QCOMPARE((*source)->tensors().size(), size_t{2});
    QVERIFY((*source)->find(extra_tensor.toStdString()) == nullptr);
    const auto warnings = engine::inEnglish((*source)->warnings());
    QCOMPARE(warnings.size(), size_t{warning.isEmpty() ? 0U : 1U});
    if (!warning.isEmpty()) {
        QVERIFY2(warnings[0].find(warning.toStdString()) != std::string::npos, warnings[0].c_str());
    }
}

void TestModelFolder::singleFileWinsOverIndex() {
    writeShards();
    writeBytes(folder_ / "model.safetensors", smallShard("single"));
    const auto source = engine::openModelFolder(folder_);
    QVERIFY2(source.has_value(), outcome(source).c_str());
    QVERIFY((*source)->find("single") != nullptr);
    QVERIFY((*source)->find("a") == nullptr);
    QCOMPARE((*source)->warnings().size(), size_t{1});
    QVERIFY(engine::inEnglish((*source)->warnings()[0]).find("the single file is used") !=
            std::string::npos);
}

void TestModelFolder::headerOnlyFolders() {
    engine::OpenOptions options;
    options.is_header_only_allowed = true;
    QCOMPARE(support::detailOf(engine::openModelFolder(folder_, options).error()),
             std::string("WeightsMissing"));
    writeBytes(folder_ / "config.json", "{}");
    QCOMPARE(support::detailOf(engine::openModelFolder(folder_).error()),
             std::string("WeightsMissing"));
    const auto config_only = engine::openModelFolder(folder_, options);
    QVERIFY2(config_only.has_value(), outcome(config_only).c_str());
    QVERIFY((*config_only)->isHeaderOnly());
    QVERIFY((*config_only)->tensors().empty());
    engine::TensorInfo made_up;
    made_up.size_bytes = 1;
    std::vector<std::byte> byte(1);
    QCOMPARE(support::detailOf((*config_only)->read(made_up, 0, byte).error()),
             std::string("DataAbsent"));
    // Shards of which one has only its header.
    writeShards();
    const std::string second = smallShard("b");
    writeBytes(folder_ / kSecond, second.substr(0, second.size() - 2));
    QCOMPARE(support::detailOf(engine::openModelFolder(folder_).error()),
             std::string("MetadataIncompleteBuffer"));
    auto headers = engine::openModelFolder(folder_, options);
    QVERIFY2(headers.has_value(), outcome(headers).c_str());
    QVERIFY((*headers)->isHeaderOnly());
    QCOMPARE((*headers)->tensors().size(), size_t{2});
    // Which of them is told, as it is the one to download again.
    QCOMPARE((*headers)->warnings().size(), size_t{1});
    QCOMPARE(engine::inEnglish((*headers)->warnings()[0]),
             std::string(kSecond) +
                 ": holds only its header, no weights; download the whole file to load it");
    headers->reset(); // Windows takes no file away that is open
    // The index is there, a shard is not; then a pointer stands in its place.
    std::filesystem::remove(folder_ / kSecond);
    QCOMPARE(support::detailOf(engine::openModelFolder(folder_).error()),
             std::string("ShardMissing"));
    writeBytes(folder_ / kIndex, "{\"weight_map\":{}");
    QVERIFY(!engine::openModelFolder(folder_, options).has_value()); // broken stays broken
    writeShards();
    for (const bool is_pointer : {false, true}) {
        std::filesystem::remove(folder_ / kSecond);
        if (is_pointer) {
            writeBytes(folder_ / kSecond,
                       "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 2\n");
            QCOMPARE(support::detailOf(engine::openModelFolder(folder_).error()),
                     std::string("LfsPointer"));
        }
        const auto partly = engine::openModelFolder(folder_, options);
        QVERIFY2(partly.has_value(), outcome(partly).c_str());
        QVERIFY((*partly)->isHeaderOnly());
        QVERIFY((*partly)->tensors().empty());
        QCOMPARE((*partly)->warnings().size(), size_t{1});
        const std::string warning = engine::inEnglish((*partly)->warnings().front());
        QVERIFY2(warning.find(kSecond) != std::string::npos, warning.c_str());
    }
}

void TestModelFolder::standInsAreNamed_data() {
    QTest::addColumn<QByteArray>("name");
    for (const char* name :
         {"config.json", "generation_config.json", "processor_config.json", "tokenizer.json",
          "tokenizer_config.json", "chat_template.jinja", "adapter_config.json",
          "model.safetensors.index.json", "model.safetensors"}) {
        QTest::newRow(name) << QByteArray(name);
    }
}

/// A file that was not fetched is told by what lies in its place, whatever reads it.
void TestModelFolder::standInsAreNamed() {
    QFETCH(QByteArray, name);
    const std::string file = name.toStdString();
    const bool is_weights = file.ends_with(".safetensors");
    const auto errorOf = [&] {
        return is_weights || file.ends_with(".index.json")
                   ? engine::openModelFolder(folder_).error()
                   : engine::readModelText(folder_, file, size_t{1} << 20U).error();
    };
    writeBytes(folder_ / file,
               "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 33384568\n");
    QCOMPARE(support::detailOf(errorOf()), std::string("LfsPointer"));
    QVERIFY2(errorOf().message.find(file + ": is a Git LFS pointer") != std::string::npos,
             errorOf().message.c_str());
    if (file == "tokenizer.json") { // a plan looks no further
        const auto told = engine::folderCheckpoint(folder_)->standIn(engine::ModelText::Tokenizer);
        QVERIFY(told.has_value());
        QCOMPARE(engine::inEnglish(*told), errorOf().message);
    }
    for (const char* page : {"<!DOCTYPE html>\n<html>Sign in</html>", "\n  <html><body>",
                             "\xef\xbb\xbf<!doctype html>",
                             "<?xml version=\"1.0\"?><Error><Code>NoSuchKey</Code></Error>"}) {
        if (is_weights && page[0] != '<') {
            continue;
        }
        writeBytes(folder_ / file, page);
        QCOMPARE(support::detailOf(errorOf()), std::string("HtmlFile"));
    }
}

void TestModelFolder::notAFolder() {
    writeBytes(folder_ / "model.safetensors", smallShard("a"));
    QCOMPARE(support::detailOf(engine::openModelFolder(folder_ / "model.safetensors").error()),
             std::string("NotAFolder"));
    QCOMPARE(support::detailOf(engine::openModelFolder(folder_ / "none").error()),
             std::string("FileMissing"));
    QCOMPARE(support::detailOf(engine::openSafetensorsFile(folder_ / "none.safetensors").error()),
             std::string("FileMissing"));
    QCOMPARE(support::detailOf(engine::openSafetensorsFile(folder_).error()), std::string("ST07"));
    QCOMPARE(outcome(engine::openSafetensorsFile(folder_ / "model.safetensors")),
             std::string("opened"));
}

void TestModelFolder::links_data() {
    QTest::addColumn<QByteArray>("link_text"); // relative to the model folder; OUTSIDE is replaced
    QTest::addColumn<QByteArray>("rule");
    QTest::addColumn<bool>("opens_with_consent");
    QTest::newRow("inside") << QByteArray("real.safetensors") << QByteArray("opened") << true;
    QTest::newRow("inside, by way of the parent")
        << QByteArray("../model/real.safetensors") << QByteArray("opened") << true;
    QTest::newRow("outside, relative")
        << QByteArray("../outside/x.safetensors") << QByteArray("ST07") << true;
    QTest::newRow("outside, absolute")
        << QByteArray("OUTSIDE/x.safetensors") << QByteArray("ST07") << true;
    QTest::newRow("into a subfolder")
        << QByteArray("sub/x.safetensors") << QByteArray("ST07") << true;
    QTest::newRow("link to a link that leaves") << QByteArray("hop") << QByteArray("ST07") << true;
    QTest::newRow("leads nowhere") << QByteArray("nothing") << QByteArray("ST07") << false;
    QTest::newRow("to itself") << QByteArray("model.safetensors") << QByteArray("ST07") << false;
    QTest::newRow("to a folder") << QByteArray("sub") << QByteArray("ST07") << false;
    QTest::newRow("to a device") << QByteArray("/dev/zero") << QByteArray("ST07") << false;
    QTest::newRow("blobs without a cache around them")
        << QByteArray("../blobs/0123456789012345678901234567890123456789") << QByteArray("ST07")
        << true;
}

void TestModelFolder::links() {
    QFETCH(QByteArray, link_text);
    QFETCH(QByteArray, rule);
    QFETCH(bool, opens_with_consent);
    const std::string file = smallShard("a");
    writeBytes(folder_ / "real.safetensors", file);
    writeBytes(outside_ / "x.safetensors", file);
    fs::create_directory(folder_ / "sub");
    writeBytes(folder_ / "sub" / "x.safetensors", file);
    fs::create_directory(folder_.parent_path() / "blobs");
    writeBytes(folder_.parent_path() / "blobs" /
                   std::string("0123456789012345678901234567890123456789"),
               file);
    BELFRY_LINK_OR_SKIP("../outside/x.safetensors", folder_ / "hop");
    const QByteArray text =
        link_text.replace("OUTSIDE", QByteArray::fromStdString(outside_.string()));
    BELFRY_LINK_OR_SKIP(text.toStdString(), folder_ / "model.safetensors");

    const auto source = engine::openModelFolder(folder_);
    QCOMPARE(QByteArray::fromStdString(outcome(source)).left(rule.size()), rule);
    engine::OpenOptions consent;
    consent.are_outside_links_allowed = true;
    QCOMPARE(engine::openModelFolder(folder_, consent).has_value(), opens_with_consent);
}

void TestModelFolder::hubCacheLinks_data() {
    QTest::addColumn<QByteArray>("folder"); // of the link, below the repository
    QTest::addColumn<QByteArray>("link_text");
    QTest::addColumn<QByteArray>("rule");
    const QByteArray sha1("0123456789abcdef0123456789abcdef01234567");
    const QByteArray sha256 = QByteArray(32, 'a') + QByteArray(32, '0');
    QTest::newRow("git hash") << QByteArray("snapshots/rev") << "../../blobs/" + sha1
                              << QByteArray("opened");
    QTest::newRow("sha256") << QByteArray("snapshots/rev") << "../../blobs/" + sha256
                            << QByteArray("opened");
    QTest::newRow("subfolder") << QByteArray("snapshots/rev/checkpoint-500")
                               << "../../../blobs/" + sha256 << QByteArray("opened");
    QTest::newRow("subfolder of a subfolder")
        << QByteArray("snapshots/rev/loras/v1") << "../../../../blobs/" + sha1
        << QByteArray("opened");
    QTest::newRow("subfolder, blobs of another repository")
        << QByteArray("snapshots/rev/v1") << "../../../../other/blobs/" + sha1
        << QByteArray("ST07");
    QTest::newRow("subfolder, name that is no hash")
        << QByteArray("snapshots/rev/v1") << QByteArray("../../../blobs/weights")
        << QByteArray("ST07");
    QTest::newRow("snapshots themselves are no revision")
        << QByteArray("snapshots") << "../blobs/" + sha1 << QByteArray("ST07");
    QTest::newRow("name that is no hash")
        << QByteArray("snapshots/rev") << QByteArray("../../blobs/weights") << QByteArray("ST07");
    QTest::newRow("hash in capitals") << QByteArray("snapshots/rev")
                                      << "../../blobs/" + QByteArray(40, 'A') << QByteArray("ST07");
    QTest::newRow("blobs of another repository")
        << QByteArray("snapshots/rev") << "../../../other/blobs/" + sha1 << QByteArray("ST07");
    QTest::newRow("not under snapshots")
        << QByteArray("pictures/rev") << "../../blobs/" + sha1 << QByteArray("ST07");
    QTest::newRow("blob that is itself a link out of the cache")
        << QByteArray("snapshots/rev") << "../../blobs/" + QByteArray(40, 'f')
        << QByteArray("ST07");
}

void TestModelFolder::hubCacheLinks() {
    QFETCH(QByteArray, folder);
    QFETCH(QByteArray, link_text);
    QFETCH(QByteArray, rule);
    const fs::path repository = folder_ / "models--org--name";
    const fs::path blobs = repository / "blobs";
    const fs::path snapshot = repository / folder.toStdString();
    fs::create_directories(blobs);
    fs::create_directories(snapshot);
    fs::create_directories(folder_ / "other" / "blobs");
    const std::string file = smallShard("a");
    for (const std::string& name : {std::string("0123456789abcdef0123456789abcdef01234567"),
                                    std::string(32, 'a') + std::string(32, '0'),
                                    std::string("weights"), std::string(40, 'A')}) {
        writeBytes(blobs / name, file);
        writeBytes(folder_ / "other" / "blobs" / name, file);
    }
    writeBytes(outside_ / "x.safetensors", file);
    BELFRY_LINK_OR_SKIP(outside_ / "x.safetensors", blobs / std::string(40, 'f'));
    BELFRY_LINK_OR_SKIP(link_text.toStdString(), snapshot / "model.safetensors");
    const auto source = engine::openModelFolder(snapshot);
    QCOMPARE(QByteArray::fromStdString(outcome(source)).left(rule.size()), rule);
    if (source) { // messages show the file's name in the model, not the blob's
        QCOMPARE((*source)->fileNames(), (std::vector<std::string>{"model.safetensors"}));
    }
    // The snapshot folder itself may be reached through a link.
    BELFRY_LINK_OR_SKIP(snapshot, folder_ / "alias");
    QCOMPARE(engine::openModelFolder(folder_ / "alias").has_value(), source.has_value());
}

void TestModelFolder::specialFiles() {
#ifndef _WIN32
    QCOMPARE(::mkfifo((folder_ / "model.safetensors").c_str(), 0600), 0);
    QCOMPARE(support::detailOf(engine::openModelFolder(folder_).error()),
             std::string("ST07")); // and returns
    fs::remove(folder_ / "model.safetensors");
#endif
    fs::create_directory(folder_ / "model.safetensors");
    QCOMPARE(support::detailOf(engine::openModelFolder(folder_).error()), std::string("ST07"));
}

void TestModelFolder::changedWhileOpen_data() {
    support::addColumns<int, QByteArray>("change", "message");
    QTest::newRow("shortened") << 0 << QByteArray("it had");
    QTest::newRow("emptied") << 1 << QByteArray("now it has 0");
    QTest::newRow("grown") << 2 << QByteArray("it had");
    QTest::newRow("rewritten in place, same size")
        << 3 << QByteArray("its modification time is another one");
}

void TestModelFolder::changedWhileOpen() {
    QFETCH(int, change);
    QFETCH(QByteArray, message);
    const fs::path file = folder_ / "model.safetensors";
    const std::string bytes = smallShard("a");
    writeBytes(file, bytes);
    const auto source = engine::openModelFolder(folder_);
    QVERIFY(source.has_value());
    const engine::TensorInfo& info = *(*source)->find("a");
    std::vector<std::byte> data(2);
    QVERIFY((*source)->read(info, 0, data).has_value());
    std::error_code failure;
    if (change == 3) {
        writeBytes(file, bytes);
        fs::last_write_time(file, fs::last_write_time(file) + std::chrono::seconds(5), failure);
    } else {
        const size_t size = change == 0 ? bytes.size() - 1 : change == 1 ? 0 : bytes.size() + 1;
        fs::resize_file(file, size, failure);
    }
#ifdef _WIN32
    QVERIFY(failure); // nobody changes it meanwhile
    QVERIFY((*source)->read(info, 0, data).has_value());
    return;
#endif
    const auto read = (*source)->read(info, 0, data);
    QVERIFY(!read.has_value());
    QCOMPARE(support::detailOf(read.error()), std::string("ST08"));
    QVERIFY2(read.error().message.find(message.toStdString()) != std::string::npos,
             read.error().message.c_str());
}

/// A file replaced by renaming another over it stays readable: the old one is still open.
void TestModelFolder::replacedWhileOpen() {
    writeBytes(folder_ / "model.safetensors", smallShard("a"));
    const auto source = engine::openModelFolder(folder_);
    QVERIFY(source.has_value());
    writeBytes(folder_ / "new", std::string(500, 'x'));
    std::error_code refused; // by Windows, where programs keep a file from being replaced
    fs::rename(folder_ / "new", folder_ / "model.safetensors", refused);
#ifndef _WIN32
    QVERIFY(!refused);
#endif
    std::vector<std::byte> data(2);
    QVERIFY((*source)->read(*(*source)->find("a"), 0, data).has_value());
    QCOMPARE(static_cast<int>(data[1]), 1);
}

void TestModelFolder::readsFromManyThreads() {
    constexpr size_t kBytes = 100'000;
    writeBytes(folder_ / "model.safetensors",
               rawSafetensors("{" + headerEntry("a", "U8", "100000", "0,100000") + "}", kBytes));
    const auto source = engine::openModelFolder(folder_);
    QVERIFY(source.has_value());
    const engine::TensorInfo& info = *(*source)->find("a");
    std::vector<int> wrong(4, 0);
    std::vector<std::thread> threads;
    for (size_t thread = 0; thread < wrong.size(); ++thread) {
        threads.emplace_back([&, thread] {
            std::vector<std::byte> piece(97);
            for (size_t offset = thread; offset + piece.size() <= kBytes; offset += 611) {
                if (!(*source)->read(info, offset, piece)) {
                    ++wrong[thread];
                    continue;
                }
                for (size_t i = 0; i < piece.size(); ++i) {
                    wrong[thread] += static_cast<size_t>(piece[i]) != (offset + i) % 251 ? 1 : 0;
                }
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    QCOMPARE(wrong, std::vector<int>(4, 0));
}

/// Pickles and archives under every usual name: refused by content, never "missing" or parsed.
void TestModelFolder::pickleDisguises() {
    const std::pair<std::string, std::string> contents[] = {
        {"PickleFile", std::string("\x80\x02}q\x01(X\x05\0\0\0", 11) + std::string(40, 'x')},
        {"PickleFile",
         std::string("\x80\x04\x95\x20\0\0\0\0\0\0\0}\x94.", 14) + std::string(40, 'x')},
        {"ZipFile", std::string("PK\x03\x04\0\0\0\0", 8) + std::string(80, '\0')},
    };
    int num_cases = 0;
    for (const auto& [rule, content] : contents) {
        for (const std::string name :
             {"model.safetensors", "adapter_model.safetensors", "pytorch_model.bin", "model.pt",
              "model.pth", "model.ckpt", "MODEL.SAFETENSORS", "weights.SafeTensors",
              "model.safetensors.bin", "data.pkl"}) {
            writeBytes(folder_ / name, content);
            QCOMPARE(support::detailOf(engine::openSafetensorsFile(folder_ / name).error()), rule);
            if (support::makeLink(name, folder_ / "link")) {
                QCOMPARE(support::detailOf(engine::openSafetensorsFile(folder_ / "link").error()),
                         rule);
                fs::remove(folder_ / "link");
            }
            fs::remove(folder_ / name);
            ++num_cases;
        }
    }
    QCOMPARE(num_cases, 30);
}

void TestModelFolder::smallFiles() {
    writeBytes(folder_ / "config.json", "12345");
    const auto text = engine::readModelText(folder_, "config.json", 5);
    QVERIFY2(text.has_value(), outcome(text).c_str());
    QCOMPARE(**text, std::string("12345"));
    QCOMPARE(support::detailOf(engine::readModelText(folder_, "config.json", 4).error()),
             std::string("FileTooLarge"));
    const auto absent = engine::readModelText(folder_, "none.json", 5);
    QVERIFY(absent.has_value() && !absent->has_value());
    QCOMPARE(support::detailOf(engine::readModelText(folder_, "../model/config.json", 5).error()),
             std::string("ShardName"));
    QCOMPARE(support::detailOf(engine::readModelText(folder_, "", 5).error()),
             std::string("ShardName"));
    writeBytes(outside_ / "secret.json", "1");
    BELFRY_LINK_OR_SKIP("../outside/secret.json", folder_ / "generation_config.json");
    QCOMPARE(support::detailOf(engine::readModelText(folder_, "generation_config.json", 5).error()),
             std::string("ST07"));
    QVERIFY(engine::readModelText(folder_, "generation_config.json", 5, true).has_value());
}

TEST_CLASS(TestModelFolder)
#include "tst_model_folder.moc"
