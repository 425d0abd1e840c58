// SPDX-License-Identifier: Apache-2.0
// Checked access to JSON members: what is given, what is refused, and in which words.
#include "engine/base/json/section.h"
#include "engine/base/sentence_english.h"
#include "tests/support/program/test_class.h"

#include <QTest>

using engine::Json;
using engine::JsonProblems;
using engine::JsonSection;

class TestJsonSection : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void givesValues();
    void fallsBack();
    void refuses_data();
    void refuses();
    void keepsTheFirstProblem();
    void showsValues_data();
    void showsValues();
};

namespace {

Json read(const QByteArray& text) {
    auto tree = engine::parseJson(text.toStdString(), "x.json");
    return tree ? std::move(tree).value() : Json{};
}

} // namespace

void TestJsonSection::givesValues() {
    const Json tree = read(R"({"i": -7, "n": 2.5, "b": true, "t": "x", "l": [1, 2], "one": 3,
                               "w": ["a", "b"], "o": {"i": 1}})");
    JsonProblems problems;
    const JsonSection root(&tree, "x.json", "", problems);
    QCOMPARE(root.integer("i", -10, 10), int64_t{-7});
    QCOMPARE(root.number("n", 0.0, 3.0, 0.0), 2.5);
    QCOMPARE(root.number("i", -10.0, 3.0, 0.0), -7.0);
    QVERIFY(root.boolean("b", false));
    QCOMPARE(root.text("t", ""), std::string("x"));
    QVERIFY(root.integers("l", 0, 9) == (std::vector<int64_t>{1, 2}));
    QVERIFY(root.integers("one", 0, 9) == std::vector<int64_t>{3});
    QVERIFY(root.texts("w", 2) == (std::vector<std::string>{"a", "b"}));
    QCOMPARE(root.section("o").integer("i", 0, 9), int64_t{1});
    QVERIFY(root.has("o") && root.section("o").exists());
    QVERIFY(!problems.error.has_value());
}

void TestJsonSection::fallsBack() {
    const Json tree = read(R"({"nothing": null})");
    JsonProblems problems;
    const JsonSection root(&tree, "x.json", "", problems);
    for (const char* key : {"nothing", "absent"}) {
        QVERIFY(!root.has(key));
        QVERIFY(root.find(key) == nullptr);
        QVERIFY(!root.section(key).exists());
        QCOMPARE(root.integer(key, 0, 9, 4), int64_t{4});
        QCOMPARE(root.number(key, 0.0, 1.0, 0.5), 0.5);
        QVERIFY(root.boolean(key, true));
        QCOMPARE(root.text(key, "y"), std::string("y"));
        QVERIFY(root.integers(key, 0, 9).empty());
        QVERIFY(root.texts(key, 9).empty());
        QCOMPARE(root.section(key).integer("i", 0, 9, 5), int64_t{5});
    }
    QVERIFY(!problems.error.has_value());
}

void TestJsonSection::refuses_data() {
    support::addColumns<QByteArray, QByteArray, QByteArray, QByteArray>("value", "read_as", "rule",
                                                                        "message");
    const auto row = [](const char* value, const char* read_as, const char* rule,
                        const char* message) {
        QTest::addRow("%s as %s", value, read_as)
            << QByteArray(value) << QByteArray(read_as) << QByteArray(rule) << QByteArray(message);
    };
    row("1.5", "integer", "ConfigType", "is 1.5, expected a whole number from 0 to 9");
    row("1e0", "integer", "ConfigType", "is 1e0, expected a whole number from 0 to 9");
    row("10", "integer", "ConfigRange", "is 10, expected a whole number from 0 to 9");
    row("-1", "integer", "ConfigRange", "is -1, expected a whole number from 0 to 9");
    row("18446744073709551615", "integer", "ConfigRange",
        "is 18446744073709551615, expected a whole number from 0 to 9");
    row("\"3\"", "integer", "ConfigType", "is \"3\", expected a whole number from 0 to 9");
    row("null", "integer", "ConfigMissing", "is missing, expected a whole number from 0 to 9");
    row("2", "number", "ConfigRange", "is 2, expected a number from 0.0 to 1.0");
    row("1e999", "number", "ConfigRange", "is 1e999, expected a number from 0.0 to 1.0");
    row("[]", "number", "ConfigType", "is a list, expected a number from 0.0 to 1.0");
    row("0", "boolean", "ConfigType", "is 0, expected true or false");
    row("true", "text", "ConfigType", "is true, expected a text");
    row("[1, 10]", "integers", "ConfigRange", "is 10, expected a whole number from 0 to 9");
    row("{}", "integers", "ConfigType", "is an object, expected a whole number from 0 to 9");
    row("\"a\"", "texts", "ConfigType", "is \"a\", expected a list of texts");
    row("[\"a\", 1]", "texts", "ConfigType", "holds 1, expected only texts");
    row("[1, 2, 3]", "texts", "ConfigRange", "is a list of 3 entries, expected at most 2");
    row("[1]", "section", "ConfigType", "is a list, expected an object");
}

void TestJsonSection::refuses() {
    QFETCH(QByteArray, value);
    QFETCH(QByteArray, read_as);
    QFETCH(QByteArray, rule);
    QFETCH(QByteArray, message);
    const Json tree = read("{\"part\": {\"key\": " + value + "}}");
    JsonProblems problems;
    const JsonSection part = JsonSection(&tree, "x.json", "", problems).section("part");
    if (read_as == "integer") {
        part.integer("key", 0, 9);
    } else if (read_as == "number") {
        QCOMPARE(part.number("key", 0.0, 1.0, 0.5), 0.5);
    } else if (read_as == "boolean") {
        QVERIFY(part.boolean("key", true));
    } else if (read_as == "text") {
        QCOMPARE(part.text("key", "y"), std::string("y"));
    } else if (read_as == "integers") {
        QVERIFY(part.integers("key", 0, 9).empty());
    } else if (read_as == "texts") {
        QVERIFY(part.texts("key", 2).empty());
    } else {
        QVERIFY(!part.section("key").exists());
    }
    QVERIFY(problems.error.has_value());
    QCOMPARE(QByteArray::fromStdString(problems.error->message), "x.json: part.key " + message);
    QVERIFY(problems.error->code == engine::ErrorCode::InvalidFile);
    QCOMPARE(QByteArray::fromStdString(problems.error->details[0].second), rule);
}

void TestJsonSection::keepsTheFirstProblem() {
    const Json tree = read(R"({"a": 1, "b": 2})");
    JsonProblems problems;
    const JsonSection root(&tree, "x.json", "", problems);
    root.warn("a", engine::said("is missing; taken as %1", "b"));
    root.unsupported("a", engine::phrase("is 1"));
    root.invalid("ConfigRange", "b", engine::phrase("is 2"));
    QCOMPARE(problems.error->message, std::string("x.json: a is 1"));
    QVERIFY(problems.error->code == engine::ErrorCode::Unsupported);
    QCOMPARE(engine::inEnglish(problems.warnings.at(0)),
             std::string("x.json: a is missing; taken as b"));
}

void TestJsonSection::showsValues_data() {
    support::addColumns<QByteArray, QByteArray>("text", "shown");
    QTest::newRow("null") << QByteArray("null") << QByteArray("null");
    QTest::newRow("number as written") << QByteArray("1.50e1") << QByteArray("1.50e1");
    QTest::newRow("text") << QByteArray(R"("a\"\n\u00e4")") << QByteArray(R"("a\"\n\u00e4")");
    QTest::newRow("long text") << "\"" + QByteArray(100, 'x') + "\""
                               << "\"" + QByteArray(59, 'x') + "...";
    QTest::newRow("list") << QByteArray("[1]") << QByteArray("a list");
    QTest::newRow("object") << QByteArray("{}") << QByteArray("an object");
}

void TestJsonSection::showsValues() {
    QFETCH(QByteArray, text);
    QFETCH(QByteArray, shown);
    QCOMPARE(QByteArray::fromStdString(engine::inEnglish(engine::shownJson(read(text)))), shown);
}

TEST_CLASS(TestJsonSection)
#include "tst_section.moc"
