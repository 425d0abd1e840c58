// SPDX-License-Identifier: Apache-2.0
// Long exports of nothing but one or two of what chats are made of, and long texts for the search:
// imported, folded or refused in linear time and bounded memory.
#include "app/store/export_files.h"
#include "app/store/search_text.h"
#include "app/store/session_file.h"
#include "tests/app/store/sample_chats.h"
#include "tests/support/growth.h"
#include "tests/support/program/test_class.h"

#include <QTemporaryDir>

namespace {

engine::Result<app::StoredFile> takeNothing(QFile& /*opened*/, const QString& /*name*/) {
    return app::StoredFile();
}

const std::vector<std::string>& units() {
    static const std::vector<std::string> kUnits = {"{",
                                                    "[",
                                                    "\"",
                                                    "1,",
                                                    "{},",
                                                    "[],",
                                                    "[{}],",
                                                    "\"a#\":1,",
                                                    "\"a\",",
                                                    R"({"role":"user","text":"a"},)",
                                                    R"({"versions":[)",
                                                    R"({"attachments":[{"file":"a#"}]},)",
                                                    R"({"file":"a","name":"b"},)"};
    return kUnits;
}

} // namespace

class TestLongTexts : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void imports_data();
    void imports();
    void sessions();
    void search();
};

void TestLongTexts::imports_data() {
    support::addColumns<QByteArray, QByteArray>("before", "after");
    const QByteArray chat = R"({"format":"belfry-chat","version":1,)";
    const QByteArray turns = chat + R"("turns":[)";
    QTest::newRow("bare") << QByteArray() << QByteArray();
    QTest::newRow("members") << chat << QByteArray(R"("turns":[{}]})");
    QTest::newRow("turns") << turns << QByteArray("{}]}");
    for (const char* const member : {"versions", "attachments", "notes", "adapters"}) {
        QTest::newRow(member) << turns + "{\"" + member + "\":[" << QByteArray("[{}]]}]}");
    }
    QTest::newRow("text") << turns + R"({"text":")" << QByteArray("\"}]}");
    QTest::newRow("file") << turns + R"({"attachments":[{"file":")" << QByteArray("\"}]}]}");
}

void TestLongTexts::imports() {
    QFETCH(QByteArray, before);
    QFETCH(QByteArray, after);
    const QTemporaryDir folder;
    const QString file = folder.filePath(QStringLiteral("chat.json"));
    const auto import = [&](const std::string& text) {
        support::writeFile(file, QByteArray::fromStdString(support::numbered(text)));
        QStringList notes;
        (void)app::readExport(file, takeNothing, notes);
        QVERIFY(notes.join(QString()).size() < 1000);
    };
    std::vector<std::string> tokens = units();
    tokens.insert(tokens.end(),
                  {"a", "\\n", "\\ud800", "/", "./", "a/", "../", "\xc3\xa4", "\xff"});
    support::checkLinear(
        {import, tokens, before.toStdString(), after.toStdString(), size_t{16} << 20, 0});
}

void TestLongTexts::sessions() {
    const QTemporaryDir folder;
    const app::SessionFile session(folder.path());
    QVERIFY(session.write({}).has_value());
    const QStringList files = QDir(folder.path()).entryList(QDir::Files);
    QCOMPARE(files.size(), 1);
    const auto read = [&](const std::string& text) {
        support::writeFile(folder.filePath(files.first()),
                           QByteArray::fromStdString(support::numbered(text)));
        (void)session.read();
    };
    support::checkLinear({read, units(), {}, {}, size_t{1} << 20, 0});
    support::checkLinear({read, units(), "{\"drafts\":[", "{}]}", size_t{1} << 20, 0});
}

void TestLongTexts::search() {
    const auto fold = [](const std::string& bytes) {
        const QString text = QString::fromStdString(bytes);
        (void)app::foldForSearch(text);
        (void)app::searchWords(text);
        (void)app::excerptAround(text, {QStringLiteral("b"), QStringLiteral("aab")});
    };
    // The last ones are marks above and below: a decomposition puts them in order.
    support::checkLinear(
        {fold,
         {"a", " ", "\n", "\xc3\xa4", "\xc3\x9f", "\xef\xbd\x81", "\xf0\x9f\x98\x80",
          "\xef\xb7\xba", "\xff", "\xcc\x81\xcc\xa3", "\xe3\x80\xae\xe1\xad\x84"},
         {},
         {},
         size_t{1} << 20,
         size_t{4} << 10});
}

TEST_CLASS_WITH(QCoreApplication, TestLongTexts)
#include "tst_long_texts.moc"
