// SPDX-License-Identifier: Apache-2.0
// What is chosen as a model and is none: named for what it is, whatever it is called.
#include "app/folder_facts.h"
#include "tests/support/program/test_class.h"
#include "ui/shell/folder_words.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QTemporaryDir>
#include <QTest>

#ifndef Q_OS_WIN
#include <sys/stat.h>
#include <unistd.h>
#endif

#include <initializer_list>

class TestFolderFacts : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void whatItIs_data();
    void whatItIs();
    void pipesAreNotWaitedFor();
};

void TestFolderFacts::whatItIs_data() {
    QTest::addColumn<QStringList>("files"); // "name" or "name=first bytes"; "name/" is a folder
    QTest::addColumn<QString>("choose");    // relative; empty: the folder itself
    QTest::addColumn<QString>("missing");   // what the engine misses; empty: another error
    QTest::addColumn<QStringList>("words"); // all of these are said
    using Texts = std::initializer_list<const char*>;
    const auto list = [](Texts texts) {
        QStringList out;
        for (const char* text : texts) {
            out.append(QString::fromLatin1(text));
        }
        return out;
    };
    const auto row = [&](const char* name, Texts files, const char* choose, const char* missing,
                         Texts words) {
        QTest::newRow(name) << list(files) << QString::fromLatin1(choose)
                            << QString::fromLatin1(missing) << list(words);
    };
    const char* config = "config.json";
    row("GGUF", {"gemma-4-E2B-it-Q4_K_M.gguf", "README.md"}, "", config,
        {"GGUF", "gemma-4-E2B-it-Q4_K_M.gguf", "llama.cpp", ".safetensors"});
    row("GGUF in capitals", {"MODEL.GGUF"}, "", config, {"GGUF", "MODEL.GGUF"});
    row("GGUF under another name", {"sha256-0123=GGUF\3"}, "", config, {"GGUF", "sha256-0123"});
    row("GGUF file", {"model.gguf=GGUF\3"}, "model.gguf", "", {"GGUF", "model.gguf"});
    row("GGUF file without a suffix", {"blob=GGUF\3"}, "blob", "", {"GGUF", "blob"});
    row("GGUF and mmproj", {"a.gguf", "mmproj-a.gguf"}, "", config, {"GGUF", "a.gguf"});
    row("GGUF beside a config", {"config.json={}", "a.gguf"}, "", "model.safetensors",
        {"GGUF", "a.gguf"});
    row("PyTorch", {"pytorch_model.bin"}, "", config, {"pytorch_model.bin", "PyTorch"});
    row("PyTorch beside a config", {"config.json={}", "pytorch_model-00001-of-00002.bin"}, "",
        "model.safetensors", {"pytorch_model-00001-of-00002.bin", ".safetensors"});
    row("consolidated", {"consolidated.00.pth", "params.json"}, "", config,
        {"consolidated.00.pth", "PyTorch"});
    row("checkpoint file", {"model.ckpt"}, "model.ckpt", "", {"model.ckpt", "PyTorch"});
    row("ONNX", {"model.onnx", "model.onnx_data"}, "", config, {"ONNX", "model.onnx"});
    row("TensorFlow", {"tf_model.h5"}, "", config, {"TensorFlow"});
    row("LiteRT", {"gemma-4-E2B-it.litertlm"}, "", config, {"LiteRT"});
    row("Flax", {"flax_model.msgpack"}, "", config, {"Flax"});
    row("adapter", {"adapter_config.json={}", "adapter_model.safetensors"}, "", config,
        {"adapter", "no model"});
    row("hub's cache", {"snapshots/", "snapshots/abc/", "snapshots/abc/config.json={}", "refs/"},
        "", config, {"snapshots/abc", "inside"});
    row("one level up", {"gemma/", "gemma/config.json={}"}, "", config, {"gemma", "inside"});
    row("archive", {"gemma.tar.gz"}, "", config, {"gemma.tar.gz", "Unpack"});
    row("archive file", {"gemma.zip"}, "gemma.zip", "", {"gemma.zip", "Unpack"});
    row("file of a model", {"config.json={}", "model.safetensors"}, "model.safetensors", "",
        {"one file of a model", "Choose its folder"});
    row("some file", {"notes.txt"}, "notes.txt", "", {"a file, not a folder"});
    row("empty folder", {}, "", config, {"empty"});
    row("gone", {}, "not-here", "", {"not there any more"});
    row("other files", {"notes.txt"}, "", config, {"no config.json"});
    row("shard", {"config.json={}", "model.safetensors"}, "", "tokenizer.json",
        {"tokenizer.json is missing"});
}

void TestFolderFacts::whatItIs() {
    QFETCH(QStringList, files);
    QFETCH(QString, choose);
    QFETCH(QString, missing);
    QFETCH(QStringList, words);
    const QTemporaryDir folder;
    for (const QString& file : files) {
        const QString name = file.section(QLatin1Char('='), 0, 0);
        if (name.endsWith(QLatin1Char('/'))) {
            QVERIFY(QDir(folder.path()).mkpath(name));
            continue;
        }
        QFile output(folder.filePath(name));
        QVERIFY(output.open(QIODevice::WriteOnly));
        output.write(file.section(QLatin1Char('='), 1).toLatin1());
    }
    const QString path = choose.isEmpty() ? folder.path() : folder.filePath(choose);
    const ui::FolderFacts facts = app::readFolderFacts(path);
    engine::Error error{engine::ErrorCode::InvalidFile, "--quant: an error of the engine"};
    if (!missing.isEmpty()) {
        error.details = {{"rule", "FileMissing"}, {"file", missing.toStdString()}};
    }
    const QString said = ui::folderProblem(error, facts);
    for (const QString& word : words) {
        // Folders stand there as the system writes them.
        QVERIFY2(said.contains(word) || said.contains(QDir::toNativeSeparators(word)),
                 qPrintable(said));
    }
    // "not there any more" only of what is not there.
    QCOMPARE(said.contains(QStringLiteral("not there any more")), !QFileInfo::exists(path));
    QVERIFY2(!said.contains(QStringLiteral("--")), qPrintable(said));
    if (missing == QStringLiteral("model.safetensors")) {
        const QString weights = ui::weightsProblem(facts);
        QVERIFY2(weights.contains(words.first()), qPrintable(weights));
    }
}

void TestFolderFacts::pipesAreNotWaitedFor() {
#ifdef Q_OS_WIN
    QSKIP("folders hold no pipes there");
#else
    const QTemporaryDir folder;
    QCOMPARE(::mkfifo(QFile::encodeName(folder.filePath(QStringLiteral("blob"))).constData(), 0600),
             0);
    QVERIFY(app::readFolderFacts(folder.path()).gguf.isEmpty());
    const ui::FolderFacts facts = app::readFolderFacts(folder.filePath(QStringLiteral("blob")));
    QVERIFY(facts.place == ui::FolderFacts::Place::File);
    if (::geteuid() != 0) {
        QCOMPARE(::chmod(QFile::encodeName(folder.path()).constData(), 0), 0);
        QVERIFY(app::readFolderFacts(folder.path()).place == ui::FolderFacts::Place::Unreadable);
        ::chmod(QFile::encodeName(folder.path()).constData(), 0700);
    }
#endif
}

TEST_CLASS_WITH(QCoreApplication, TestFolderFacts)
#include "tst_folder_facts.moc"
