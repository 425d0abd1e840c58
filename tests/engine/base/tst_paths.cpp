// SPDX-License-Identifier: Apache-2.0
// Texts and paths: what is not ASCII, and names that are no UTF-8 at all.
#include "engine/base/paths.h"
#include "tests/support/program/test_class.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <filesystem>
#include <fstream>
#include <system_error>

class TestPaths : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void namesTheFile_data();
    void namesTheFile();
    void takesEveryByte();
    void keepsEveryUnit();
};

void TestPaths::namesTheFile_data() {
    QTest::addColumn<QString>("name");
    QTest::newRow("ASCII") << QStringLiteral("model");
    QTest::newRow("umlaut") << QString::fromUtf8("M\xc3\xbcller");
    QTest::newRow("Greek") << QString::fromUtf8("\xce\xb4");
    QTest::newRow("beyond the first plane") << QString::fromUtf8("\xf0\x9f\x94\x94");
}

/// Qt, which names files in UTF-16 where the system does, finds what was written.
void TestPaths::namesTheFile() {
    QFETCH(QString, name);
    const QTemporaryDir folder;
    const auto path = engine::pathFromUtf8(folder.path().toStdString()) /
                      engine::pathFromUtf8(name.toStdString());
    std::ofstream(path) << "x";
    QCOMPARE(QDir(folder.path()).entryList(QDir::Files), QStringList{name});
    QCOMPARE(QDir::fromNativeSeparators(QString::fromStdString(engine::utf8Of(path))),
             folder.filePath(name));
}

/// Windows' names are no bytes: what is not UTF-8 names no file there, and nothing throws.
void TestPaths::takesEveryByte() {
    const std::string name = "a\xff\xc3(\x80";
#ifdef _WIN32
    QVERIFY(engine::pathFromUtf8(name).native() == L"a||(|");
    const QTemporaryDir folder;
    const auto path =
        engine::pathFromUtf8(folder.path().toStdString()) / engine::pathFromUtf8(name);
    std::error_code failure;
    QVERIFY(!std::filesystem::exists(path, failure));
    QVERIFY(!(std::ofstream(path) << "x"));
    QVERIFY(QDir(folder.path()).entryList(QDir::Files).isEmpty());
#else
    QCOMPARE(engine::pathFromUtf8(name).native(), name);
    QCOMPARE(engine::utf8Of(engine::pathFromUtf8(name)), name);
#endif
}

/// Units that are half a pair, which Windows allows in names: read in a folder, and found again.
void TestPaths::keepsEveryUnit() {
#ifndef _WIN32
    QSKIP("names are bytes here");
#else
    for (const std::wstring& units :
         {std::wstring(L"a\xd800"), std::wstring(L"\xdc00z"), std::wstring(L"\xdbff\xd83d\xdd14"),
          std::wstring(L"\xe000\xffff")}) {
        const std::string text = engine::utf8Of(units);
        QVERIFY2(engine::pathFromUtf8(text).native() == units, text.c_str());
        const QTemporaryDir folder;
        const auto root = engine::pathFromUtf8(folder.path().toStdString());
        if (!(std::ofstream(root / units) << "x")) {
            continue; // a drive of another system's, as under wine
        }
        int num_files = 0;
        for (const auto& entry : std::filesystem::directory_iterator(root)) {
            QVERIFY(std::filesystem::exists(engine::pathFromUtf8(engine::utf8Of(entry.path()))));
            ++num_files;
        }
        QCOMPARE(num_files, 1);
    }
#endif
}

TEST_CLASS(TestPaths)
#include "tst_paths.moc"
