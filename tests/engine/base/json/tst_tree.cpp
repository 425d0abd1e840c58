// SPDX-License-Identifier: Apache-2.0
// The JSON tree: order, spelling and places of what was read, its numbers, and its limits.
#include "engine/base/json/tree.h"
#include "engine/base/sentence_english.h"
#include "tests/support/program/test_class.h"

#include <QTest>

#include <cmath>

using engine::Json;

class TestJsonTree : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void replacesSurrogates();
    void keepsOrderAndSpelling();
    void knowsPlaces();
    void tellsPlaceOfFailure_data();
    void tellsPlaceOfFailure();
    void readsIntegers_data();
    void readsIntegers();
    void readsNumbers_data();
    void readsNumbers();
    void limits();
    void neverDeeperThanItMayBe();
    void builderServesAPart();
};

void TestJsonTree::keepsOrderAndSpelling() {
    const auto tree = engine::parseJson(
        R"({"b": [1.50, null, true], "a": {"x": "\u00e4"}, "c": {}, "": []})", "x.json");
    QVERIFY(tree.has_value());
    QVERIFY(tree->is(Json::Kind::Object));
    QCOMPARE(tree->members.size(), size_t{4});
    QCOMPARE(tree->members[0].key, std::string("b"));
    QCOMPARE(tree->members[1].key, std::string("a"));
    QCOMPARE(tree->members[3].key, std::string());
    const Json& list = tree->members[0].value;
    QCOMPARE(list.items.size(), size_t{3});
    QCOMPARE(list.items[0].text, std::string("1.50"));
    QVERIFY(list.items[1].is(Json::Kind::Null));
    QVERIFY(list.items[2].boolean);
    QVERIFY(tree->find("a")->find("x")->isString("\xc3\xa4"));
    QVERIFY(tree->find("d") == nullptr);
    QVERIFY(list.find("b") == nullptr);
    QCOMPARE(std::string(tree->find("c")->kindName().text), std::string("an object"));
}

void TestJsonTree::knowsPlaces() {
    const auto tree = engine::parseJson("{\"\xc3\xa4\": 1,\n  \"b\": [\n\t{}]}", "x.json");
    QVERIFY(tree.has_value());
    const auto isAt = [](engine::JsonPosition at, int line, int column) {
        return at.line == line && at.column == column;
    };
    QVERIFY(isAt(tree->at, 1, 1));
    QVERIFY(isAt(tree->members[0].key_at, 1, 2));
    QVERIFY(isAt(tree->members[0].value.at, 1, 7)); // columns are characters, not bytes
    QVERIFY(isAt(tree->members[1].key_at, 2, 3));
    QVERIFY(isAt(tree->members[1].value.at, 2, 8));
    QVERIFY(isAt(tree->members[1].value.items[0].at, 3, 2));
}

void TestJsonTree::tellsPlaceOfFailure_data() {
    support::addColumns<QByteArray, int, QByteArray, QByteArray>("text", "offset", "brief", "full");
    const auto row = [](const char* name, const char* text, int offset, const char* brief,
                        const char* full) {
        QTest::newRow(name) << QByteArray(text) << offset << QByteArray(brief) << QByteArray(full);
    };
    row("nothing", "", 0, "the text ends in the middle of a JSON value",
        "expected a value, found the end of the text");
    row("no value", "{\"a\": x}", 6, "expected a value", "expected a value, found \"x\"");
    row("no colon", "{\"a\" 1}", 5, "expected ':'", "expected ':' after \"a\", found \"1\"");
    row("no name", "{\"a\":1,}", 7, "expected a member name",
        "expected a member name in double quotes, found \"}\"");
    row("no comma", "[1 2]", 3, "expected ',' or ']'", "expected ',' or ']', found \"2\"");
    row("more", "1 {", 2, "text after the end of the JSON value",
        "expected the end of the text, found \"{\"");
    row("leading zero", "[012]", 2, "malformed number", "a number must not start with 0");
    row("no digit", "[1.x]", 3, "malformed number", "expected a digit, found \"x\"");
    row("line break in a string", "\"a\nb\"", 2, "control character in a string",
        "a control character or line break inside a string");
    row("escape", "\"\\q\"", 2, "unknown escape in a string", "unknown escape: \"q\" after \\");
    row("hexadecimal", "\"\\u12g4\"", 5, "malformed \\u escape",
        "expected four hexadecimal digits after \\u, found \"g\"");
    row("half a pair", "\"a\\ud800\"", 2, "lone surrogate in a \\u escape",
        "half of a surrogate pair");
    row("not UTF-8", "\"a\xff\"", 2, "not UTF-8", "a byte that is not UTF-8");
    row("twice", R"({"a": {}, "b": 1, "a": 2, "b": 3})", 18,
        "the member \"a\" occurs twice in one object", "the key \"a\" stands twice in one object");
}

void TestJsonTree::tellsPlaceOfFailure() {
    QFETCH(QByteArray, text);
    QFETCH(int, offset);
    QFETCH(QByteArray, brief);
    QFETCH(QByteArray, full);
    Json tree;
    const auto outcome = engine::readJsonTree(text.toStdString(), {}, tree);
    QCOMPARE(static_cast<int>(outcome.offset), offset);
    QCOMPARE(QByteArray::fromStdString(engine::inEnglish(outcome.detail)), brief);
    QCOMPARE(QByteArray::fromStdString(engine::inEnglish(outcome.seen)), full);
    const auto parsed = engine::parseJson(text.toStdString(), "x.json");
    QVERIFY(!parsed.has_value());
    QVERIFY(parsed.error().message.starts_with("x.json: "));
}

void TestJsonTree::readsIntegers_data() {
    support::addColumns<QByteArray, bool, qlonglong>("text", "is_integer", "value");
    QTest::newRow("0") << QByteArray("0") << true << 0LL;
    QTest::newRow("-0") << QByteArray("-0") << true << 0LL;
    QTest::newRow("largest") << QByteArray("9223372036854775807") << true
                             << std::numeric_limits<qlonglong>::max();
    QTest::newRow("beyond") << QByteArray("9223372036854775808") << false << 0LL;
    QTest::newRow("smallest") << QByteArray("-9223372036854775808") << true
                              << std::numeric_limits<qlonglong>::min();
    QTest::newRow("fraction") << QByteArray("1.0") << false << 0LL;
    QTest::newRow("exponent") << QByteArray("1e3") << false << 0LL;
    QTest::newRow("text") << QByteArray("\"1\"") << false << 0LL;
    QTest::newRow("null") << QByteArray("null") << false << 0LL;
}

void TestJsonTree::readsIntegers() {
    QFETCH(QByteArray, text);
    QFETCH(bool, is_integer);
    QFETCH(qlonglong, value);
    const auto tree = engine::parseJson(text.toStdString(), "x.json");
    QVERIFY(tree.has_value());
    QCOMPARE(tree->integer().has_value(), is_integer);
    QCOMPARE(qlonglong{tree->integer().value_or(0)}, value);
}

void TestJsonTree::readsNumbers_data() {
    support::addColumns<QByteArray, bool, double>("text", "is_number", "value");
    const auto row = [](const QByteArray& text, bool is_number, double value) {
        QTest::newRow(text.left(40)) << text << is_number << value;
    };
    row("0.1", true, 0.1);
    row("-2.5E-3", true, -2.5e-3);
    row("18446744073709551616", true, 0x1p64);
    row("1.7976931348623157e308", true, 1.7976931348623157e308);
    row("1e309", false, 0.0);
    row("-1e999", false, 0.0);
    row("1e99999999999999999999", false, 0.0);
    row("5e-324", true, 5e-324);
    row("1e-999", true, 0.0);
    row("1e-99999999999999999999", true, 0.0);
    row("0." + QByteArray(400, '0') + "1", true, 0.0);
    row(QByteArray(400, '9') + ".5e-10", false, 0.0);
    row("0e999", true, 0.0);
    row("true", false, 0.0);
}

void TestJsonTree::readsNumbers() {
    QFETCH(QByteArray, text);
    QFETCH(bool, is_number);
    QFETCH(double, value);
    const auto tree = engine::parseJson(text.toStdString(), "x.json");
    QVERIFY(tree.has_value());
    QCOMPARE(tree->number().has_value(), is_number);
    QVERIFY(tree->number().value_or(0.0) == value);
}

void TestJsonTree::limits() {
    Json tree;
    const engine::JsonLimits limits{.max_depth = 2, .max_string_bytes = 3, .max_values = 4};
    QVERIFY(engine::readJsonTree("[1,[2]]", limits, tree).stop == engine::JsonStop::Done);
    tree = {};
    const auto many = engine::readJsonTree("[1,[2],3]", limits, tree);
    QVERIFY(many.stop == engine::JsonStop::TooManyValues);
    QCOMPARE(engine::inEnglish(many.detail), std::string("more than 4 values"));
    tree = {};
    QVERIFY(engine::readJsonTree("[[[]]]", limits, tree).stop == engine::JsonStop::TooDeep);
    tree = {};
    QVERIFY(engine::readJsonTree("\"abcd\"", limits, tree).stop == engine::JsonStop::StringTooLong);
    std::string many_values = "[0";
    for (size_t i = 2; i < engine::kMostJsonTreeValues; ++i) {
        many_values += ",0";
    }
    tree = {};
    QVERIFY(engine::readJsonTree(many_values + "]", {}, tree).stop == engine::JsonStop::Done);
    tree = {};
    QVERIFY(engine::readJsonTree(many_values + ",0]", {}, tree).stop ==
            engine::JsonStop::TooManyValues);
    const auto error = engine::parseJson("[1,2,3,4,5]", "x.json", limits).error();
    QCOMPARE(error.message, std::string("x.json: holds more than 4 values"));
    QCOMPARE(error.details[0].second, std::string("JsonValues"));
}

void TestJsonTree::neverDeeperThanItMayBe() {
    const size_t deepest = engine::kDeepestJsonTree;
    const auto nested = [](size_t depth) {
        return std::string(depth, '[') + std::string(depth, ']');
    };
    const engine::JsonLimits limits{.max_depth = 1'000'000};
    Json tree;
    QVERIFY(engine::readJsonTree(nested(deepest), limits, tree).stop == engine::JsonStop::Done);
    tree = {};
    QVERIFY(engine::readJsonTree(nested(deepest + 1), limits, tree).stop ==
            engine::JsonStop::TooDeep);
    tree = {};
    QVERIFY(engine::readJsonTree(nested(10'000'000), limits, tree).stop ==
            engine::JsonStop::TooDeep);
}

/// A handler that keeps one member for itself hands the others on.
void TestJsonTree::builderServesAPart() {
    class Part : public engine::JsonHandler {
    public:
        Json root;
        int sum = 0;

        bool onObjectBegin() override { return builder_.onObjectBegin(); }
        bool onObjectEnd() override { return builder_.onObjectEnd(); }
        bool onArrayBegin() override { return builder_.onArrayBegin(); }
        bool onArrayEnd() override { return builder_.onArrayEnd(); }
        bool onKey(std::string_view key) override { return builder_.onKey(key); }
        bool onString(std::string_view value) override { return builder_.onString(value); }
        bool onBool(bool value) override { return builder_.onBool(value); }
        bool onNull() override { return builder_.onNull(); }
        bool onNumber(std::string_view literal) override {
            if (builder_.depth() == 2 && builder_.innermost().is(Json::Kind::Array) &&
                builder_.key() == "long") {
                sum += std::stoi(std::string(literal));
                return true;
            }
            return builder_.onNumber(literal);
        }

    private:
        engine::JsonTreeBuilder builder_{root, {}};
    };
    Part part;
    const auto outcome = engine::readJson(R"({"a": [1], "long": [2, 3], "b": 4})", {}, part);
    QVERIFY(outcome.stop == engine::JsonStop::Done);
    QCOMPARE(part.sum, 5);
    QCOMPARE(part.root.members.size(), size_t{3});
    QCOMPARE(part.root.find("a")->items.size(), size_t{1});
    QVERIFY(part.root.find("long")->items.empty());
    QCOMPARE(part.root.find("b")->at.line, 0);
}

void TestJsonTree::replacesSurrogates() {
    engine::JsonLimits limits;
    limits.replaces_surrogates = true;
    engine::Json tree;
    const auto text = [&](std::string_view json) {
        const engine::JsonOutcome outcome = engine::readJsonTree(json, limits, tree);
        return outcome.stop == engine::JsonStop::Done ? tree.text : "refused";
    };
    QCOMPARE(text("\"a\\ud83d\""), std::string("a\xef\xbf\xbd"));
    QCOMPARE(text("\"\\ude00b\""), std::string("\xef\xbf\xbd"
                                               "b"));
    QCOMPARE(text("\"\\ud83d\\u0041\""), std::string("\xef\xbf\xbd"
                                                     "A"));
    QCOMPARE(text("\"\\ud83d\\ud83d\\ude00\""), std::string("\xef\xbf\xbd\xf0\x9f\x98\x80"));
    QCOMPARE(text("\"\\ud83d\\u00\""), std::string("refused"));
}

TEST_CLASS(TestJsonTree)
#include "tst_tree.moc"
