// SPDX-License-Identifier: Apache-2.0
// The strict JSON reader: what it accepts and refuses (by the grammar of RFC 8259), the events it
// gives, its limits, and agreement with nlohmann/json on changed texts.
#include "engine/base/json/events.h"
#include "tests/support/files.h"
#include "tests/support/golden.h"
#include "tests/support/program/test_class.h"

#include <QTest>

#include <fstream>
#include <iterator>
#include <random>

namespace {

/// Writes the events down.
class Recorder : public engine::JsonHandler {
public:
    std::string log;
    int stop_after = -1;

    bool onObjectBegin() override { return add("{"); }
    bool onObjectEnd() override { return add("}"); }
    bool onArrayBegin() override { return add("["); }
    bool onArrayEnd() override { return add("]"); }
    bool onKey(std::string_view key) override { return add("k:" + std::string(key)); }
    bool onString(std::string_view value) override { return add("s:" + std::string(value)); }
    bool onNumber(std::string_view literal) override { return add("n:" + std::string(literal)); }
    bool onBool(bool value) override { return add(value ? "true" : "false"); }
    bool onNull() override { return add("null"); }

private:
    bool add(const std::string& event) {
        log += (log.empty() ? "" : " ") + event;
        return stop_after < 0 || --stop_after > 0;
    }
};

} // namespace

class TestJsonEvents : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void events_data();
    void events();
    void refused_data();
    void refused();
    void limits();
    void handlerStops();
    void duplicates_data();
    void duplicates();
    void agreesWithTreeParser();
    void utf8_data();
    void utf8();
};

void TestJsonEvents::events_data() {
    support::addColumns<QByteArray, QByteArray>("text", "log");
    QTest::newRow("number") << QByteArray(" 12 ") << QByteArray("n:12");
    QTest::newRow("minus zero") << QByteArray("-0") << QByteArray("n:-0");
    QTest::newRow("fraction and exponent")
        << QByteArray("[1.50e+07,2E-3]") << QByteArray("[ n:1.50e+07 n:2E-3 ]");
    QTest::newRow("words") << QByteArray("[true,false,null]") << QByteArray("[ true false null ]");
    QTest::newRow("empty containers")
        << QByteArray("{\"a\":{},\"b\":[]}") << QByteArray("{ k:a { } k:b [ ] }");
    QTest::newRow("nested") << QByteArray("[[1],{\"x\":[2,3]}]")
                            << QByteArray("[ [ n:1 ] { k:x [ n:2 n:3 ] } ]");
    QTest::newRow("escapes") << QByteArray(R"("\"\\\/\b\f\n\r\t")")
                             << QByteArray("s:\"\\/\b\f\n\r\t");
    QTest::newRow("unicode escapes") << QByteArray(R"("\u0041\u00e9\u20AC\ud83d\ude00")")
                                     << QByteArray("s:A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
    QTest::newRow("escape in the middle") << QByteArray(R"("ab\ncd")") << QByteArray("s:ab\ncd");
    QTest::newRow("raw UTF-8") << QByteArray("\"\xe2\x96\x81\"") << QByteArray("s:\xe2\x96\x81");
    QTest::newRow("white space") << QByteArray("\t{\r\n \"a\" : 1 , \"b\" : 2 } \n")
                                 << QByteArray("{ k:a n:1 k:b n:2 }");
}

void TestJsonEvents::events() {
    QFETCH(QByteArray, text);
    QFETCH(QByteArray, log);
    Recorder recorder;
    const auto outcome = engine::readJson(text.toStdString(), {}, recorder);
    QVERIFY(outcome.detail.isEmpty());
    QVERIFY(outcome.stop == engine::JsonStop::Done);
    QCOMPARE(QByteArray::fromStdString(recorder.log), log);
}

void TestJsonEvents::refused_data() {
    QTest::addColumn<QByteArray>("text");
    for (const char* text : {"",
                             " ",
                             "{",
                             "[",
                             "\"",
                             "tru",
                             "nul",
                             "True",
                             "NaN",
                             "Infinity",
                             "-",
                             "+1",
                             ".5",
                             "1.",
                             "1e",
                             "1e+",
                             "01",
                             "-01",
                             "0x10",
                             "1 2",
                             "[1,]",
                             "[,1]",
                             "[1 2]",
                             "{,}",
                             "{\"a\"}",
                             "{\"a\":}",
                             "{\"a\":1,}",
                             "{\"a\":1 \"b\":2}",
                             "{a:1}",
                             "{1:1}",
                             "]",
                             "}",
                             "[}",
                             "{]",
                             "'a'",
                             "\"\\a\"",
                             "\"\\u12g4\"",
                             "\"\\ud800\"",
                             "\"\\ud800\\u0041\"",
                             "\"\\udc00\"",
                             "\"\t\"",
                             "\"\n\"",
                             "// x\n1",
                             "1,",
                             "\xef\xbb\xbf"
                             "1",
                             "\"\xc0\x80\"",
                             "\"\xff\"",
                             "\xff"}) {
        QTest::addRow("%s", QByteArray(text).toPercentEncoding().constData()) << QByteArray(text);
    }
    QTest::newRow("NUL") << QByteArray("\0", 1);
    QTest::newRow("NUL after a value") << QByteArray("1\0", 2);
    QTest::newRow("NUL in a string") << QByteArray("\"a\0b\"", 5);
}

void TestJsonEvents::refused() {
    QFETCH(QByteArray, text);
    Recorder recorder;
    const auto outcome = engine::readJson(text.toStdString(), {}, recorder);
    QVERIFY(outcome.stop != engine::JsonStop::Done);
    QVERIFY(outcome.stop != engine::JsonStop::Handler);
    QVERIFY(!outcome.detail.isEmpty());
    QVERIFY(outcome.offset <= static_cast<size_t>(text.size()));
}

void TestJsonEvents::limits() {
    Recorder recorder;
    const engine::JsonLimits limits{.max_depth = 3, .max_string_bytes = 4};
    QVERIFY(engine::readJson("[[[1]]]", limits, recorder).stop == engine::JsonStop::Done);
    QVERIFY(engine::readJson("[[[[1]]]]", limits, recorder).stop == engine::JsonStop::TooDeep);
    QVERIFY(engine::readJson("{\"a\":[{\"b\":[]}]}", limits, recorder).stop ==
            engine::JsonStop::TooDeep);
    QVERIFY(engine::readJson("\"abcd\"", limits, recorder).stop == engine::JsonStop::Done);
    QVERIFY(engine::readJson("\"abcde\"", limits, recorder).stop ==
            engine::JsonStop::StringTooLong);
    QVERIFY(engine::readJson("\"ab\\ncd\"", limits, recorder).stop ==
            engine::JsonStop::StringTooLong);
    QVERIFY(engine::readJson("{\"abcde\":1}", limits, recorder).stop ==
            engine::JsonStop::StringTooLong);
    QVERIFY(engine::readJson("\"\\u20ac\\u20ac\"", limits, recorder).stop ==
            engine::JsonStop::StringTooLong);
    const std::string bomb(10'000'000, '[');
    QVERIFY(engine::readJson(bomb, {}, recorder).stop == engine::JsonStop::TooDeep);
}

void TestJsonEvents::handlerStops() {
    for (int events = 1; events <= 6; ++events) {
        Recorder recorder;
        recorder.stop_after = events;
        const auto outcome = engine::readJson("{\"a\":[1]}", {}, recorder);
        QVERIFY(outcome.stop == engine::JsonStop::Handler);
    }
}

void TestJsonEvents::duplicates_data() {
    support::addColumns<QByteArray, QByteArray>("text", "rule");
    QTest::newRow("none") << QByteArray(R"({"a":1,"b":{"a":2},"c":[{"a":3},{"a":4}]})")
                          << QByteArray();
    QTest::newRow("at the top") << QByteArray(R"({"a":1,"b":2,"a":3})")
                                << QByteArray("JsonDuplicate");
    QTest::newRow("in two spellings")
        << QByteArray(R"({"a":1,"\u0061":2})") << QByteArray("JsonDuplicate");
    QTest::newRow("inside") << QByteArray(R"({"x":{"a":1,"a":1}})") << QByteArray("JsonDuplicate");
    QTest::newRow("inside a list")
        << QByteArray(R"([{"a":1},{"b":1,"b":1}])") << QByteArray("JsonDuplicate");
    QTest::newRow("after an inner object")
        << QByteArray(R"({"a":{"b":1},"b":1,"a":2})") << QByteArray("JsonDuplicate");
    QTest::newRow("syntax") << QByteArray("{") << QByteArray("JsonSyntax");
    QTest::newRow("UTF-8") << QByteArray("\"\x80\"") << QByteArray("JsonUtf8");
    QTest::newRow("depth") << QByteArray(100, '[') << QByteArray("JsonDepth");
    QTest::newRow("string") << "\"" + QByteArray(2'000'000, 'x') + "\"" << QByteArray("JsonString");
}

void TestJsonEvents::duplicates() {
    QFETCH(QByteArray, text);
    QFETCH(QByteArray, rule);
    const auto checked = engine::checkJson(text.toStdString(), "x.json");
    QCOMPARE(checked.has_value(), rule.isEmpty());
    if (!checked) {
        QCOMPARE(QByteArray::fromStdString(checked.error().details[0].second), rule);
        QVERIFY(checked.error().message.starts_with("x.json: "));
    }
}

/// 20000 changed texts: accepted by both parsers or by neither. Ours alone may refuse for its
/// limits and for a byte-order mark, which do not occur here; numbers beyond a double are refused
/// only by the tree parser.
void TestJsonEvents::agreesWithTreeParser() {
    const std::string sound = support::textOf(support::goldenDir() / "e2b/model/config.json");
    QVERIFY(sound.size() > 1000);
    const std::string alphabet = "{}[]\",:0123456789-+.eE\\utrfalsn \n\x01\x80\xc3\xa9/";
    std::mt19937 random(3);
    int num_accepted = 0;
    for (int i = 0; i < 20'000; ++i) {
        const size_t begin = random() % (sound.size() - 200);
        // A piece of the file that starts at a brace has a chance of being valid.
        std::string text = i % 2 == 0 ? sound : sound.substr(sound.find('{', begin) % sound.size());
        const size_t num_changes = 1 + random() % 2;
        for (size_t change = 0; change < num_changes; ++change) {
            const size_t at = random() % text.size();
            switch (random() % 3) {
            case 0:
                text[at] = alphabet[random() % alphabet.size()];
                break;
            case 1:
                text.erase(at, 1);
                break;
            default:
                text.insert(at, 1, alphabet[random() % alphabet.size()]);
                break;
            }
        }
        Recorder recorder;
        const bool is_ours = engine::readJson(text, {}, recorder).stop == engine::JsonStop::Done;
        const bool is_theirs = !nlohmann::json::parse(text, nullptr, false).is_discarded();
        if (is_ours != is_theirs) {
            QFAIL(("differs on: " + text).c_str());
        }
        num_accepted += is_ours ? 1 : 0;
    }
    QVERIFY(num_accepted > 1000);
}

void TestJsonEvents::utf8_data() {
    support::addColumns<QByteArray, bool>("text", "is_valid");
    QTest::newRow("empty") << QByteArray() << true;
    QTest::newRow("ASCII") << QByteArray("abc") << true;
    QTest::newRow("U+0080") << QByteArray("\xc2\x80") << true;
    QTest::newRow("U+0800") << QByteArray("\xe0\xa0\x80") << true;
    QTest::newRow("U+D7FF") << QByteArray("\xed\x9f\xbf") << true;
    QTest::newRow("U+FFFF") << QByteArray("\xef\xbf\xbf") << true;
    QTest::newRow("U+10000") << QByteArray("\xf0\x90\x80\x80") << true;
    QTest::newRow("U+10FFFF") << QByteArray("\xf4\x8f\xbf\xbf") << true;
    QTest::newRow("continuation alone") << QByteArray("\x80") << false;
    QTest::newRow("overlong 2") << QByteArray("\xc1\xbf") << false;
    QTest::newRow("overlong 3") << QByteArray("\xe0\x9f\xbf") << false;
    QTest::newRow("overlong 4") << QByteArray("\xf0\x8f\xbf\xbf") << false;
    QTest::newRow("surrogate") << QByteArray("\xed\xa0\x80") << false;
    QTest::newRow("beyond") << QByteArray("\xf4\x90\x80\x80") << false;
    QTest::newRow("F5") << QByteArray("\xf5\x80\x80\x80") << false;
    QTest::newRow("cut 2") << QByteArray("a\xc2") << false;
    QTest::newRow("cut 3") << QByteArray("\xe2\x82") << false;
    QTest::newRow("cut 4") << QByteArray("\xf0\x9f\x98") << false;
}

void TestJsonEvents::utf8() {
    QFETCH(QByteArray, text);
    QFETCH(bool, is_valid);
    QCOMPARE(engine::isValidUtf8(text.toStdString()), is_valid);
}

TEST_CLASS(TestJsonEvents)
#include "tst_events.moc"
