// SPDX-License-Identifier: Apache-2.0
// Texts and paths: what is not ASCII, and names that are no UTF-8 at all.
#include "engine/base/paths.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <fstream>

class TestPaths : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void namesTheFile_data();
    void namesTheFile();
    void keepsEveryByte();
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

void TestPaths::keepsEveryByte() {
#ifdef _WIN32
    QSKIP("names are UTF-16 there");
#else
    const std::string name = "a\xff\xc3(\x80";
    QCOMPARE(engine::pathFromUtf8(name).native(), name);
    QCOMPARE(engine::utf8Of(engine::pathFromUtf8(name)), name);
#endif
}

QTEST_APPLESS_MAIN(TestPaths)
#include "tst_paths.moc"
