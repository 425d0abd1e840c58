// SPDX-License-Identifier: Apache-2.0
// What is said of a path that is no model or adapter folder, from what lies there.
#include "engine/files/folder_advice.h"
#include "tests/engine/files/raw_safetensors.h"
#include "tests/support/program/test_class.h"

#include <QTemporaryDir>
#include <QTest>

#ifndef Q_OS_WIN
#include <sys/stat.h>
#include <unistd.h>
#endif

namespace fs = std::filesystem;
using namespace engine;

class TestFolderAdvice : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void says_data();
    void says();
    void pipesAreNotWaitedFor();
    void repositoryNames();
};

void TestFolderAdvice::says_data() {
    QTest::addColumn<QByteArrayList>("files"); // to be made
    QTest::addColumn<QByteArray>("path");      // below the folder; "" the folder itself
    QTest::addColumn<QByteArray>("model");     // fragment of what is said of it as a model
    QTest::addColumn<QByteArray>("adapter");
    const auto row = [](const char* title, const QByteArrayList& files, const char* path,
                        const char* model, const char* adapter) {
        QTest::newRow(title) << files << QByteArray(path) << QByteArray(model)
                             << QByteArray(adapter);
    };
    row("nothing there", {}, "nowhere", "there is no such folder", "there is no such folder");
    row("bytes that are not UTF-8", {}, "a\xff\xc3(", "there is no such folder",
        "there is no such folder");
    row("empty", {}, "", "is empty; choose the folder that holds a Hugging Face model",
        "an adapter folder holds");
    row("a file of a model", {"config.json", "model.safetensors"}, "model.safetensors",
        "model.safetensors is a file; choose its folder: ",
        "is a file, not a folder; give the folder");
    row("a file of an adapter", {"adapter_config.json", "adapter_model.safetensors"},
        "adapter_model.safetensors", "is a file, not a folder; choose the folder",
        "is a file; choose its folder: ");
    row("a GGUF file", {"m.gguf"}, "m.gguf", "is a GGUF file", "is a GGUF file");
    row("a folder with a GGUF file", {"m-Q4_K_M.gguf"}, "", "m-Q4_K_M.gguf is a GGUF file",
        "but m-Q4_K_M.gguf is; if that is the adapter, give the file");
    const auto form = [&](const QByteArrayList& files, const char* path, const char* words) {
        row(words, files, path, words, *path == '\0' ? "an adapter folder holds" : words);
    };
    row("capitals", {"MODEL.GGUF"}, "", "MODEL.GGUF is a GGUF file: give the file itself",
        "give the file");
    form({"README", "sha256-0123=GGUF\3"}, "", "sha256-0123 is a GGUF file");
    form({"blob=GGUF\3"}, "blob", "blob is a GGUF file");
    row("several files", {"a.gguf", "mmproj-a.gguf", "b.zip"}, "", "a.gguf is a GGUF file",
        "but a.gguf is; if");
    form({"consolidated.00.pth", "params.json"}, "", "consolidated.00.pth is a file of PyTorch's");
    form({"model.ckpt"}, "model.ckpt", "model.ckpt is a file of PyTorch's");
    form({"training_args.bin", "model.safetensors"}, "", "there is no such file in the folder");
    form({"model.onnx", "model.onnx_data"}, "", "model.onnx is a model in the form of ONNX");
    form({"tf_model.h5"}, "", "in the form of TensorFlow");
    form({"gemma-4-E2B-it.litertlm"}, "", "in the form of LiteRT");
    form({"gemma.tar.gz"}, "", "gemma.tar.gz is an archive");
    form({"gemma.zip"}, "gemma.zip", "gemma.zip is an archive");
    form({"notes.txt"}, "", "choose the folder that holds a Hugging Face model");
    row("some file", {"notes.txt"}, "notes.txt", "a file, not a folder; choose",
        "a file, not a folder; give");
    row("an adapter as model", {"adapter_config.json"}, "", "this is an adapter",
        "adapter_config.json: not found");
    row("a model as adapter", {"config.json"}, "", "config.json: there is no such file",
        "this is a model, not an adapter");
    row("a repository in the cache", {"snapshots/0123/config.json", "blobs/x", "refs/main"}, "",
        "below it there is one in: snapshots/0123", "an adapter folder holds");
    row("a trainer's output",
        {"checkpoint-100/adapter_config.json", "checkpoint-50/adapter_config.json"}, "",
        "choose the folder", "in: checkpoint-100, checkpoint-50. Choose that folder");
    row("a collection in the cache", {"snapshots/0123/loras/adapter_config.json"}, "",
        "choose the folder", "below it there is one in: snapshots/0123/loras");
}

void TestFolderAdvice::says() {
    QFETCH(QByteArrayList, files);
    QFETCH(QByteArray, path);
    QFETCH(QByteArray, model);
    QFETCH(QByteArray, adapter);
    QTemporaryDir root;
    const fs::path folder = root.path().toStdString();
    for (const QByteArray& name : files) { // "name" or "name=first bytes"
        const QByteArrayList parts = name.split('=');
        const fs::path file = folder / parts.first().toStdString();
        fs::create_directories(file.parent_path());
        support::writeBytes(file, parts.size() > 1 ? parts.last().toStdString() : "{}");
    }
    const fs::path given = path.isEmpty() ? folder : folder / path.toStdString();
    const Error as_model = notAModelFolder(given);
    QVERIFY2(as_model.message.find(model.toStdString()) != std::string::npos,
             as_model.message.c_str());
    const Error as_adapter = notAnAdapterFolder(given);
    QVERIFY2(as_adapter.message.find(adapter.toStdString()) != std::string::npos,
             as_adapter.message.c_str());
}

void TestFolderAdvice::pipesAreNotWaitedFor() {
#ifdef Q_OS_WIN
    QSKIP("folders hold no pipes there");
#else
    const QTemporaryDir root;
    const fs::path folder = root.path().toStdString();
    QCOMPARE(::mkfifo((folder / "blob").c_str(), 0600), 0);
    QVERIFY(notAModelFolder(folder).message.find("GGUF") == std::string::npos);
    QVERIFY(notAModelFolder(folder / "blob").message.find("is a file") != std::string::npos);
    if (::geteuid() != 0) {
        QCOMPARE(::chmod(folder.c_str(), 0), 0);
        for (const fs::path& path : {folder, folder / "blob"}) {
            QVERIFY(notAModelFolder(path).message.find("may not be looked into") !=
                    std::string::npos);
        }
        ::chmod(folder.c_str(), 0700);
    }
#endif
}

/// The name of a repository where a folder is meant; one that has been downloaded is named.
void TestFolderAdvice::repositoryNames() {
    QTemporaryDir home;
    const fs::path cache = fs::path(home.path().toStdString()) / "hub";
    const HubCaches caches = {{}, cache.parent_path() / "another", cache};
    const auto modelAdvice = [&](const char* name) {
        const Error error = withDownload(notAModelFolder(name), caches);
        for (const auto& [key, value] : error.details) {
            if (key == "repository") {
                return "a detail that is of no use to anybody: " + value;
            }
        }
        return error.message;
    };
    const std::string absent = modelAdvice("google/gemma-4-E2B-it");
    QVERIFY2(absent.find("belfry-cli get google/gemma-4-E2B-it") != std::string::npos,
             absent.c_str());
    const fs::path snapshot = cache / "models--google--gemma-4-E2B-it" / "snapshots" / "0123";
    fs::create_directories(snapshot);
    support::writeBytes(snapshot / "config.json", "{}");
    const std::string present = modelAdvice("google/gemma-4-E2B-it");
    QVERIFY2(present.find(snapshot.string()) != std::string::npos, present.c_str());
    const std::string adapter = withDownload(notAnAdapterFolder("someone/my-lora"), caches).message;
    QVERIFY2(adapter.find("belfry-cli get someone/my-lora") != std::string::npos, adapter.c_str());
    const std::string path = modelAdvice("./models/gemma");
    QVERIFY2(path.find("belfry-cli get") == std::string::npos, path.c_str());
}

TEST_CLASS(TestFolderAdvice)
#include "tst_folder_advice.moc"
