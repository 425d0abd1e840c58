// SPDX-License-Identifier: Apache-2.0
// Paths as terminals, file managers and shells write them lead to the file that is meant; a name
// that has such characters of its own is found as it stands.
#include "app/common/pasted_path.h"
#include "tests/support/program/test_class.h"

#include <QTemporaryDir>
#include <QTest>

#include <filesystem>
#include <fstream>

namespace fs = std::filesystem;
using app::PathFor;

/// What stands before the temporary folder's path in an address of a file in it.
#ifdef _WIN32
constexpr const char* kScheme = "file:///";
#else
constexpr const char* kScheme = "file://";
#endif

class TestPastedPath : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void readings_data();
    void readings();
    void severalAtOnce_data();
    void severalAtOnce();
    void newFiles_data();
    void newFiles();
    void cleanupTestCase() { fs::current_path(before_); }

private:
    /// @ stands for the temporary folder.
    [[nodiscard]] std::string filled(QByteArray text) const {
        return text.replace("@", folder_.path().toUtf8()).toStdString();
    }
    QTemporaryDir folder_;
    fs::path before_ = fs::current_path();
};

void TestPastedPath::initTestCase() {
    QVERIFY(folder_.isValid());
    const fs::path folder = folder_.path().toStdString();
    for (const char* name : {"plain.png", "a b.png", "it's.png", "say \"hi\".png", "100%.png",
                             "%20.png", "b\\ c.png", "'quoted'.png", "gr\xc3\xbc\xc3\x9f.png",
                             "$HOME.png", "~tilde.png", "end ", "x;y&(z).png", "line\nbreak.png"}) {
        std::ofstream(folder / name) << "x";
    }
    fs::create_directory(folder / "of many");
    std::ofstream(folder / "of many" / "a.png") << "x";
#ifdef _WIN32
    qputenv("USERPROFILE", folder_.path().toUtf8());
#else
    qputenv("HOME", folder_.path().toUtf8());
#endif
    fs::current_path(folder);
}

void TestPastedPath::readings_data() {
    support::addColumns<QByteArray, QByteArray>("word", "path");
    const auto row = [](const char* name, const char* word, const char* path) {
        QTest::newRow(name) << QByteArray(word) << QByteArray(path);
    };
#ifdef _WIN32
    // There a backslash stands between folders, and no name has quotation marks.
    row("backslashes", "@\\plain.png", "@\\plain.png");
    // Windows leaves a blank at the end of a name out, so that this one is there as it stands.
    row("backslashes and a blank", "@\\of many\\a.png ", "@\\of many\\a.png ");
    row("backslashes in quotation marks", "\"@\\a b.png\"", "@\\a b.png");
    row("not there, backslashes", "@\\no ne.png", "@\\no ne.png");
    row("not there, quoted", "\"@\\no ne.png\"", "@\\no ne.png");
    row("typographic marks", "\xE2\x80\x9C@\\a b.png\xE2\x80\x9D", "@\\a b.png");
    row("home", "~/plain.png", "@/plain.png");
    row("address", "file:///@/plain.png", "@/plain.png");
    row("address, blank", "file:///@/a%20b.png", "@/a b.png");
    row("address, letters", "file:///@/gr%C3%BC%c3%9f.png", "@/gr\xc3\xbc\xc3\x9f.png");
    row("another computer's", "file://server/share/a.png", "file://server/share/a.png");
    row("a name of the hub", "google/gemma-4-E2B-it", "google/gemma-4-E2B-it");
    row("nothing", "", "");
    row("a backslash", "\\", "\\");
#else
    row("as it is", "@/plain.png", "@/plain.png");
    row("relative", "plain.png", "plain.png");
    row("blanks around it", "  @/plain.png \t", "@/plain.png");
    row("carriage return", "@/plain.png\r", "@/plain.png");
    row("byte order mark", "\xEF\xBB\xBF@/plain.png", "@/plain.png");
    row("a blank inside", "@/a b.png", "@/a b.png");
    row("escaped blank", "@/a\\ b.png", "@/a b.png");
    row("two escaped blanks", "@/of\\ many/a.png ", "@/of many/a.png");
    row("apostrophes", "'@/a b.png'", "@/a b.png");
    row("quotation marks", "\"@/a b.png\"", "@/a b.png");
    row("typographic marks", "\xE2\x80\x9C@/a b.png\xE2\x80\x9D", "@/a b.png");
    row("escaped apostrophe", "@/it\\'s.png", "@/it's.png");
    row("apostrophe in apostrophes", "'@/it'\\''s.png'", "@/it's.png");
    row("apostrophe in quotation marks", "\"@/it's.png\"", "@/it's.png");
    row("apostrophe bare", "@/it's.png", "@/it's.png");
    row("quotation marks inside", "\"@/say \\\"hi\\\".png\"", "@/say \"hi\".png");
    row("dollar quotes", "$'@/line\\nbreak.png'", "@/line\nbreak.png");
    row("dollar quotes, octal", "$'@/gr\\303\\274\\303\\237.png'", "@/gr\xc3\xbc\xc3\x9f.png");
    row("dollar quotes, apostrophe", "$'@/it\\'s.png'", "@/it's.png");
    row("escaped signs", "@/x\\;y\\&\\(z\\).png", "@/x;y&(z).png");
    row("escaped dollar", "@/\\$HOME.png", "@/$HOME.png");
    row("home", "~/plain.png", "@/plain.png");
    row("home, escaped blank", "~/a\\ b.png", "@/a b.png");
    row("home in quotes", "'~/a b.png'", "@/a b.png");
    row("home itself", "~", "@");
    row("a name that begins so", "~tilde.png", "~tilde.png");
    row("address", "file://@/plain.png", "@/plain.png");
    row("address, blank", "file://@/a%20b.png", "@/a b.png");
    row("address, letters", "file://@/gr%C3%BC%c3%9f.png", "@/gr\xc3\xbc\xc3\x9f.png");
    row("address, percent sign", "file://@/100%25.png", "@/100%.png");
    row("address, bare percent sign", "file://@/100%.png", "@/100%.png");
    row("address, apostrophe", "file://@/it%27s.png", "@/it's.png");
    row("address of this computer", "file://localhost@/plain.png", "@/plain.png");
    row("address, one stroke", "file:@/plain.png", "@/plain.png");
    row("address in capitals", "FILE://@/plain.png", "@/plain.png");
    row("address in quotes", "'file://@/a%20b.png'", "@/a b.png");
    row("percent sign that is one", "@/%20.png", "@/%20.png");
    row("backslash that is one", "@/b\\ c.png", "@/b\\ c.png");
    row("quotes that are the name's", "'quoted'.png", "'quoted'.png");
    row("blank at the end", "@/end ", "@/end ");
    row("not there", "@/none.png", "@/none.png");
    row("not there, escaped", "@/no\\ ne.png", "@/no ne.png");
    row("not there, address", "file://@/no%20ne.png", "@/no ne.png");
    row("not there, home", "~/none.png", "@/none.png");
    row("not there, quoted", "'@/no ne.png'", "@/no ne.png");
    row("quote left open", "'@/none.png", "'@/none.png");
    row("another computer's", "file://server/share/a.png", "file://server/share/a.png");
    row("a name of the hub", "google/gemma-4-E2B-it", "google/gemma-4-E2B-it");
    row("web", "https://example.org/a%20b.png", "https://example.org/a%20b.png");
    row("nothing", "", "");
    row("a backslash", "\\", "\\");
    row("percent sign at the end", "file:///%", "/%");
#endif
}

void TestPastedPath::readings() {
    QFETCH(QByteArray, word);
    QFETCH(QByteArray, path);
    QCOMPARE(QByteArray::fromStdString(app::pastedPath(filled(word))),
             QByteArray::fromStdString(filled(path)));
}

void TestPastedPath::severalAtOnce_data() {
    support::addColumns<QByteArray, QByteArrayList>("word", "paths");
    QTest::newRow("one") << QByteArray("'@/a b.png'") << QByteArrayList{"@/a b.png"};
    QTest::newRow("two") << QByteArray("'@/a b.png' @/plain.png")
                         << QByteArrayList{"@/a b.png", "@/plain.png"};
    QTest::newRow("two addresses") << QByteArray(kScheme) + "@/a%20b.png " + kScheme + "@/plain.png"
                                   << QByteArrayList{"@/a b.png", "@/plain.png"};
    QTest::newRow("one with blanks") << QByteArray("@/a b.png") << QByteArrayList{"@/a b.png"};
    QTest::newRow("one is missing")
        << QByteArray("@/plain.png @/none.png") << QByteArrayList{"@/plain.png @/none.png"};
}

void TestPastedPath::severalAtOnce() {
    QFETCH(QByteArray, word);
    QFETCH(QByteArrayList, paths);
    QByteArrayList found;
    for (const std::string& path : app::pastedPaths(filled(word))) {
        found << QByteArray::fromStdString(path);
    }
    for (QByteArray& path : paths) {
        path = QByteArray::fromStdString(filled(path));
    }
    QCOMPARE(found, paths);
}

void TestPastedPath::newFiles_data() {
    support::addColumns<QByteArray, QByteArray>("word", "path");
    QTest::newRow("as it is") << QByteArray("new.st") << QByteArray("new.st");
    QTest::newRow("in a folder") << QByteArray("@/new.st") << QByteArray("@/new.st");
    QTest::newRow("home") << QByteArray("~/new.st") << QByteArray("@/new.st");
    QTest::newRow("address") << QByteArray(kScheme) + "@/ne%20w.st" << QByteArray("@/ne w.st");
    QTest::newRow("quoted") << QByteArray("'ne w.st'") << QByteArray("ne w.st");
#ifndef _WIN32
    QTest::newRow("escaped blank") << QByteArray("ne\\ w.st") << QByteArray("ne w.st");
#endif
    QTest::newRow("an apostrophe in it") << QByteArray("it's new.st") << QByteArray("it's new.st");
    QTest::newRow("no such folder") << QByteArray("@/none/new.st") << QByteArray("@/none/new.st");
}

void TestPastedPath::newFiles() {
    QFETCH(QByteArray, word);
    QFETCH(QByteArray, path);
    QCOMPARE(QByteArray::fromStdString(app::pastedPath(filled(word), PathFor::Writing)),
             QByteArray::fromStdString(filled(path)));
}

TEST_CLASS(TestPastedPath)
#include "tst_pasted_path.moc"
