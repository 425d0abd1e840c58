// SPDX-License-Identifier: Apache-2.0
// Which folder holds a model's drafting assistant: beside it, inside it, in the hub's cache.
#include "engine/base/assistant_folder.h"
#include "engine/base/paths.h"
#include "tests/support/program/test_class.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

class TestAssistantFolder : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void isFound_data();
    void isFound();
};

void TestAssistantFolder::isFound_data() {
    QTest::addColumn<QStringList>("files"); ///< "PATH" or "PATH=TEXT".
    QTest::addColumn<QString>("model");
    QTest::addColumn<QString>("found");
    const QString hub = "hub/models--google--gemma-4-E2B-it";
    QTest::newRow("none") << QStringList{"m/config.json"} << "m"
                          << "";
    QTest::newRow("beside") << QStringList{"m/config.json", "m-assistant/config.json"} << "m"
                            << "m-assistant";
    QTest::newRow("beside, a slash at the end")
        << QStringList{"m/config.json", "m-assistant/config.json"} << "m/"
        << "m-assistant";
    QTest::newRow("a folder without config.json is none")
        << QStringList{"m/config.json", "m-assistant/model.safetensors"} << "m"
        << "";
    QTest::newRow("inside") << QStringList{"m/config.json", "m/assistant/config.json"} << "m"
                            << "m/assistant";
    QTest::newRow("beside comes before inside")
        << QStringList{"m/assistant/config.json", "m-assistant/config.json"} << "m"
        << "m-assistant";
    QTest::newRow("the cache's main")
        << QStringList{hub + "/snapshots/aa/config.json",
                       hub + "-assistant/refs/main=bb\n", // with an end of line as an editor leaves
                       hub + "-assistant/snapshots/bb/config.json",
                       hub + "-assistant/snapshots/cc/config.json"}
        << hub + "/snapshots/aa" << hub + "-assistant/snapshots/bb";
    QTest::newRow("the cache without refs")
        << QStringList{hub + "/snapshots/aa/config.json",
                       hub + "-assistant/snapshots/bb/config.json",
                       hub + "-assistant/snapshots/cc/config.json"}
        << hub + "/snapshots/aa" << hub + "-assistant/snapshots/cc";
    QTest::newRow("main names what is not there")
        << QStringList{hub + "/snapshots/aa/config.json", hub + "-assistant/refs/main=dd",
                       hub + "-assistant/snapshots/bb/config.json"}
        << hub + "/snapshots/aa" << hub + "-assistant/snapshots/bb";
    QTest::newRow("a download that has only begun")
        << QStringList{hub + "/snapshots/aa/config.json", hub + "-assistant/refs/main=bb",
                       hub + "-assistant/snapshots/bb/model.safetensors"}
        << hub + "/snapshots/aa"
        << "";
    QTest::newRow("no cache, though it looks like one")
        << QStringList{"other/snapshots/aa/config.json", "other-assistant/snapshots/bb/config.json"}
        << "other/snapshots/aa"
        << "";
    QTest::newRow("beside a GGUF file")
        << QStringList{"m/m-Q8_0.gguf", "m/mtp-m-Q8_0.gguf", "m/assistant/config.json"}
        << "m/m-Q8_0.gguf"
        << "m/mtp-m-Q8_0.gguf";
    QTest::newRow("in the folder of one") << QStringList{"m/m-Q8_0.gguf", "m/MTP-m.gguf"} << "m"
                                          << "m/MTP-m.gguf";
    QTest::newRow("nowhere") << QStringList() << "nothing/here"
                             << "";
}

void TestAssistantFolder::isFound() {
    QFETCH(QStringList, files);
    QFETCH(QString, model);
    QFETCH(QString, found);
    const QTemporaryDir root;
    for (const QString& entry : files) {
        const QString path = root.filePath(entry.section('=', 0, 0));
        QVERIFY(QDir().mkpath(path.section('/', 0, -2)));
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(entry.contains('=') ? entry.section('=', 1).toUtf8() : QByteArray("{}"));
    }
    const auto folder =
        engine::assistantFolderOf(engine::pathFromUtf8(root.filePath(model).toStdString()));
    const std::filesystem::path wanted =
        found.isEmpty() ? "" : engine::pathFromUtf8(root.filePath(found).toStdString());
    QVERIFY2(folder == wanted, engine::utf8Of(folder).c_str());
    QVERIFY(engine::assistantFolderOf({}).empty());
}

TEST_CLASS(TestAssistantFolder)
#include "tst_assistant_folder.moc"
