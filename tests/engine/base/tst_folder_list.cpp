// SPDX-License-Identifier: Apache-2.0
// Names in a folder: all of them, so many as asked for, and why a folder cannot be read.
#include "engine/base/folder_list.h"
#include "tests/support/program/test_class.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <fstream>

namespace fs = std::filesystem;

class TestFolderList : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void names();
    void notAFolder();
};

void TestFolderList::names() {
    const QTemporaryDir temporary;
    const fs::path folder = temporary.path().toStdString();
    std::error_code failure = std::make_error_code(std::errc::io_error);
    QVERIFY(engine::listFolder(folder, 100, failure).empty());
    QVERIFY(!failure);
    const std::vector<fs::path> wanted = {".hidden", fs::path(u8"Grüße"), "a file", "folder"};
    for (const fs::path& name : wanted) {
        if (name == "folder") {
            fs::create_directory(folder / name);
        } else {
            std::ofstream(folder / name) << "x";
        }
    }
    std::vector<fs::path> found = engine::listFolder(folder, 100, failure);
    std::sort(found.begin(), found.end());
    QVERIFY(!failure);
    QVERIFY(found == wanted);
    QCOMPARE(engine::listFolder(folder, 2, failure).size(), size_t{2});
    QVERIFY(engine::listFolder(folder, 0, failure).empty());
}

void TestFolderList::notAFolder() {
    const QTemporaryDir temporary;
    const fs::path folder = temporary.path().toStdString();
    std::error_code failure;
    QVERIFY(engine::listFolder(folder / "absent", 100, failure).empty());
    QVERIFY(failure == std::errc::no_such_file_or_directory);
    std::ofstream(folder / "file") << "x";
    QVERIFY(engine::listFolder(folder / "file", 100, failure).empty());
    QVERIFY(failure == std::errc::not_a_directory);
}

TEST_CLASS(TestFolderList)
#include "tst_folder_list.moc"
